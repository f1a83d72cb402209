// Loads the extension as an editor does, but without one: `vscode` is a stand-in that keeps what the extension registers, and the server is
// the real `pumice lsp`. `PUMICE=target/debug/pumice npm test` says which command that is.

const assert = require("assert");
const fs = require("fs");
const Module = require("module");
const os = require("os");
const path = require("path");

const command = path.resolve(process.env.PUMICE || "pumice");
const registered = {};
const diagnostics = new Map();
const messages = [];
const events = {};

class Disposable {
  constructor(dispose) {
    this.dispose = dispose || (() => {});
  }
}
class Position {
  constructor(line, character) {
    Object.assign(this, { line, character });
  }
}
class Range {
  constructor(start, end, toLine, toCharacter) {
    if (typeof start === "number") [start, end] = [new Position(start, end), new Position(toLine, toCharacter)];
    Object.assign(this, { start, end });
  }
}
class Uri {
  constructor(fsPath) {
    Object.assign(this, { scheme: "file", authority: "", path: fsPath, query: "", fragment: "", fsPath });
  }
  static file(name) {
    return new Uri(name);
  }
  static parse(text) {
    return new Uri(decodeURIComponent(text.replace(/^file:\/\//, "")));
  }
  with() {
    return this;
  }
  toString() {
    return `file://${this.fsPath}`;
  }
}
class EventEmitter {
  constructor() {
    const listeners = (this.listeners = []);
    this.event = (listener, of) => {
      listeners.push(of ? listener.bind(of) : listener);
      return new Disposable();
    };
  }
  fire(event) {
    for (const listener of this.listeners) listener(event);
  }
  dispose() {}
}
class CancellationTokenSource {
  constructor() {
    this.token = { isCancellationRequested: false, onCancellationRequested: () => new Disposable() };
  }
  cancel() {}
  dispose() {}
}

// A class that keeps what it is made with.
const kept = (name, ...fields) =>
  ({
    [name]: class {
      constructor(...given) {
        fields.forEach((field, number) => (this[field] = given[number]));
      }
    },
  })[name];

// Something of which whatever is asked for is there, and does nothing.
const anything = (known) =>
  new Proxy(known, {
    get(of, name) {
      if (name in of || typeof name === "symbol" || name === "then") return of[name];
      if (/^on(Did|Will)/.test(name)) return (of[name] = (events[name] = new EventEmitter()).event);
      if (/^[A-Z]/.test(name)) return (of[name] = anything(class {}));
      return (of[name] = () => new Disposable());
    },
  });

const documents = [];
const channel = { append() {}, appendLine() {}, replace() {}, clear() {}, show() {}, hide() {}, dispose() {}, trace() {}, debug() {}, info() {}, warn() {}, error() {} };
const vscode = anything({
  version: "1.90.0",
  Disposable,
  Position,
  Range,
  Uri,
  EventEmitter,
  CancellationTokenSource,
  Diagnostic: kept("Diagnostic", "range", "message", "severity"),
  Location: kept("Location", "uri", "range"),
  Hover: kept("Hover", "contents", "range"),
  TextEdit: kept("TextEdit", "range", "newText"),
  CompletionItem: kept("CompletionItem", "label", "kind"),
  CompletionList: kept("CompletionList", "items", "isIncomplete"),
  InlayHint: kept("InlayHint", "position", "label", "kind"),
  SemanticTokens: kept("SemanticTokens", "data", "resultId"),
  MarkdownString: class {
    constructor(value) {
      this.value = value || "";
    }
    appendCodeblock(value) {
      this.value += value;
    }
  },
  DiagnosticSeverity: { Error: 0, Warning: 1, Information: 2, Hint: 3 },
  env: anything({ appName: "a test", language: "en" }),
  commands: anything({
    registerCommand: (name, run) => {
      (registered.commands ??= {})[name] = run;
      return new Disposable();
    },
  }),
  window: anything({
    visibleTextEditors: [],
    tabGroups: anything({ all: [] }),
    createOutputChannel: () => channel,
    showErrorMessage: async (message) => void messages.push(message),
  }),
  workspace: anything({
    textDocuments: documents,
    notebookDocuments: [],
    workspaceFolders: undefined,
    getConfiguration: () => ({ get: (name, otherwise) => (name === "path" ? command : otherwise), inspect: () => undefined }),
    createFileSystemWatcher: () => anything({ dispose() {} }),
    getWorkspaceFolder: () => undefined,
  }),
  languages: new Proxy(
    {},
    {
      get: (_, name) => {
        if (name === "match") return (selector, document) => (selector.some?.((one) => one.language === document.languageId) ? 10 : 0);
        if (name === "createDiagnosticCollection") {
          return () => ({
            set: (uri, all) => diagnostics.set(uri.toString(), all),
            delete: (uri) => diagnostics.delete(uri.toString()),
            clear: () => diagnostics.clear(),
            dispose() {},
          });
        }
        return (selector, provider, ...rest) => {
          (registered[name] ??= []).push({ selector, provider, rest });
          return new Disposable();
        };
      },
    },
  ),
});

const load = Module._load;
Module._load = (name, ...rest) => (name === "vscode" ? vscode : load(name, ...rest));

function open(file, text) {
  const lines = text.split("\n");
  const document = {
    uri: Uri.file(file),
    languageId: "pum",
    version: 1,
    isClosed: false,
    lineCount: lines.length,
    getText: () => text,
    lineAt: (line) => ({ text: lines[line] }),
  };
  fs.writeFileSync(file, text);
  documents.push(document);
  events.onDidOpenTextDocument.fire(document);
  return document;
}

// A text after edits.
function edited(text, edits) {
  const lines = text.split("\n");
  const offset = ({ line, character }) => lines.slice(0, line).reduce((sum, before) => sum + before.length + 1, 0) + Math.min(character, (lines[line] || "").length);
  const last = [...edits].sort((a, b) => offset(b.range.start) - offset(a.range.start));
  return last.reduce((changed, { range, newText }) => changed.slice(0, offset(range.start)) + newText + changed.slice(offset(range.end)), text);
}

async function until(holds, what) {
  for (let tries = 0; tries < 300; tries++) {
    const found = await holds();
    if (found) return found;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`${what} did not come; the extension said ${messages}`);
}

async function main() {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "pumice-extension-"));
  const extension = require("../extension.js");
  const context = { subscriptions: [] };
  await extension.activate(context);
  assert.deepStrictEqual(messages, []);
  assert.ok(registered.commands["pumice.restart"]);

  const text = "-- Twice as much.\nfun twice x = x * 2\n\nfun all xs = map   twice xs\nfun wrong = tvice 1\n";
  const document = open(path.join(folder, "a.pum"), text);
  const found = await until(() => diagnostics.get(document.uri.toString()), "diagnostics");
  assert.match(found[0].message, /tvice/);
  assert.strictEqual(found[0].range.start.line, 4);

  const token = new CancellationTokenSource().token;
  const ask = async (name, method, ...given) => {
    const providers = await until(() => registered[name], name);
    return providers[providers.length - 1].provider[method](document, ...given, token, { triggerKind: 0 });
  };
  const hover = await ask("registerHoverProvider", "provideHover", new Position(3, 20));
  assert.match(JSON.stringify(hover), /Number a => a -> a/);
  const definition = await ask("registerDefinitionProvider", "provideDefinition", new Position(3, 20));
  assert.strictEqual([definition].flat()[0].range.start.line, 1);
  const edits = await ask("registerDocumentFormattingEditProvider", "provideDocumentFormattingEdits", { tabSize: 2, insertSpaces: true });
  assert.strictEqual(edited(text, edits), text.replace("map   twice", "map twice"));
  const completions = await ask("registerCompletionItemProvider", "provideCompletionItems", new Position(4, 14));
  assert.ok((completions.items || completions).length > 0);

  await registered.commands["pumice.restart"]();
  await extension.deactivate();
  fs.rmSync(folder, { recursive: true });
  console.log(`providers: ${Object.keys(registered).length - 1}, hover, definition, formatting, completion and restart work`);
  process.exit(0);
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
