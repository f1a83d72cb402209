-- Tries `pumice lsp` in Neovim (0.7 or later): opens a file, waits for what is wrong with it, and asks as a user would.
--
--   PUMICE=target/debug/pumice nvim --headless --clean -c 'luafile editors/neovim/check.lua'

local command = vim.env.PUMICE or "pumice"
local folder = vim.fn.tempname()
vim.fn.mkdir(folder, "p")
local file = folder .. "/a.pum"
local text = {
  "-- Twice as much.",
  "fun twice x = x * 2",
  "",
  "fun all xs = map   twice xs",
  "",
  "fun wrong = tvice 1",
}
vim.fn.writefile(text, file)

local function finish(message)
  io.stdout:write(message .. "\n")
  vim.cmd(message:match("^ok") and "qa!" or "cq!")
end

local function check()
  vim.cmd("edit " .. vim.fn.fnameescape(file))
  vim.bo.filetype = "pum"
  local buffer = vim.api.nvim_get_current_buf()
  local config = { name = "pumice", cmd = { command, "lsp" }, root_dir = folder }
  local client
  if vim.lsp.start then
    client = vim.lsp.start(config)
  else
    client = vim.lsp.start_client(config)
    assert(client and vim.lsp.buf_attach_client(buffer, client), "the server does not start")
  end
  local function ask(method, more)
    local parameters = vim.tbl_extend("force", { textDocument = { uri = vim.uri_from_bufnr(buffer) } }, more)
    local answers = assert(vim.lsp.buf_request_sync(buffer, method, parameters, 20000), method .. " is not answered")
    local answer = assert(answers[client], method .. " is answered by nobody")
    assert(not answer.error, method .. ": " .. vim.inspect(answer.error))
    return answer.result
  end

  assert(vim.wait(20000, function() return #vim.diagnostic.get(buffer) > 0 end, 50), "there are no diagnostics")
  local found = vim.diagnostic.get(buffer)[1]
  assert(found.lnum == 5 and found.message:match("tvice"), vim.inspect(found))

  local place = { position = { line = 3, character = 20 } }
  assert(vim.inspect(ask("textDocument/hover", place)):match("Number a => a %-> a"), "the hover has no type")
  local definition = ask("textDocument/definition", place)
  definition = definition[1] or definition
  assert((definition.range or definition.targetSelectionRange).start.line == 1, vim.inspect(definition))
  assert(#ask("textDocument/references", vim.tbl_extend("force", place, { context = { includeDeclaration = true } })) == 2, "there are two places")
  local completed = ask("textDocument/completion", { position = { line = 5, character = 13 } })
  assert(#(completed.items or completed) > 0, "nothing completes `t`")

  local edits = ask("textDocument/formatting", { options = { tabSize = 2, insertSpaces = true } })
  local encoding = vim.lsp.get_client_by_id(client).offset_encoding
  vim.lsp.util.apply_text_edits(edits, buffer, encoding)
  assert(vim.api.nvim_buf_get_lines(buffer, 3, 4, true)[1] == "fun all xs = map twice xs", "it is not laid out")

  local actions = ask("textDocument/codeAction", {
    range = { start = { line = 5, character = 12 }, ["end"] = { line = 5, character = 17 } },
    context = { diagnostics = { { message = found.message, range = { start = { line = 5, character = 12 }, ["end"] = { line = 5, character = 17 } } } } },
  })
  local change
  for _, action in ipairs(actions) do
    if action.edit then change = change or action.edit end
  end
  assert(change, "there is no change for `tvice`: " .. vim.inspect(actions))
  vim.lsp.util.apply_workspace_edit(change, encoding)
  assert(vim.api.nvim_buf_get_lines(buffer, 5, 6, true)[1] == "fun wrong = twice 1", vim.inspect(vim.api.nvim_buf_get_lines(buffer, 0, -1, true)))
  assert(vim.wait(20000, function() return #vim.diagnostic.get(buffer) == 0 end, 50), "the file is right now, and something is told")
end

local right, message = pcall(check)
vim.fn.delete(folder, "rf")
local version = vim.version()
finish(right and ("ok: Neovim " .. version.major .. "." .. version.minor .. " and " .. command) or tostring(message))
