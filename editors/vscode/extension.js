// Starts `pumice lsp` and connects the editor with it. What the language is, the server says.

const { execFile } = require("child_process");
const { workspace, window, commands } = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

async function start() {
  const command = workspace.getConfiguration("pumice").get("path") || "pumice";
  const missing = await new Promise((resolve) => execFile(command, ["version"], (error) => resolve(error)));
  if (missing) {
    window.showErrorMessage(`Pumice: \`${command}\` cannot be run (${missing.message}). Set "pumice.path" to the pumice command.`);
    return;
  }
  const server = { command, args: ["lsp"] };
  const options = {
    documentSelector: [{ language: "pum" }],
    synchronize: { fileEvents: workspace.createFileSystemWatcher("**/*.pum") },
  };
  client = new LanguageClient("pumice", "Pumice", server, options);
  await client.start();
}

async function stop() {
  const running = client;
  client = undefined;
  if (running) await running.stop();
}

async function restart() {
  await stop();
  await start();
}

exports.activate = async (context) => {
  context.subscriptions.push(commands.registerCommand("pumice.restart", restart));
  context.subscriptions.push(
    workspace.onDidChangeConfiguration((change) => change.affectsConfiguration("pumice.path") && restart()),
  );
  await start();
};

exports.deactivate = stop;
