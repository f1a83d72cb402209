// Colours the `.pum` files of the repository with the grammar, as an editor does, and compares with what is known of their tokens: each has
// a scope of its kind, and no other. `npm test` runs this.

const fs = require("fs");
const path = require("path");
const { Registry, parseRawGrammar } = require("vscode-textmate");
const { loadWASM, OnigScanner, OnigString } = require("vscode-oniguruma");

const root = path.join(__dirname, "../../..");
const grammar = path.join(__dirname, "../syntaxes/pum.tmLanguage.json");

// Small texts, with the scope that each of these words of them must have.
const expected = [
  ["fun f xs = let y = 1 in y", { fun: "keyword.declaration", f: "entity.name.function", let: "keyword.control", in: "keyword.control", 1: "constant.numeric.integer" }],
  ["sig f : Number a => [a; n]<1+l> -> mem i8 -> (f16, bf16)", { sig: "keyword.declaration", f: "entity.name.function", Number: "support.class", a: "variable.parameter.type", n: "variable.parameter.type", "->": "keyword.operator.arrow", mem: "support.type", i8: "support.type", f16: "support.type", bf16: "support.type" }],
  ["sig f : Ground s => s -> u16", { Ground: "support.class", s: "variable.parameter.type", u16: "support.type" }],
  ["sig f : int\n-- About g.\nfun g x = x + 1", { "-- About g.": "comment.line", fun: "keyword.declaration", g: "entity.name.function", "+": "keyword.operator", 1: "constant.numeric" }],
  ["type Shape a = Circle f32 | Square { side : double } | Point", { type: "keyword.declaration", Shape: "entity.name.type", Circle: "entity.name.type", f32: "support.type", double: "support.type", "|": "keyword.operator" }],
  ["import shapes (area, round)\nfun g = shapes::area", { import: "keyword.control.import", shapes: "entity.name.namespace", fun: "keyword.declaration" }],
  ["fun f xs = push <block> (map (fn x => x * 2.5e-3f32) xs)", { block: "storage.modifier.level", fn: "keyword.control", "=>": "keyword.operator", "2.5e-3f32": "constant.numeric.float", "*": "keyword.operator" }],
  ["fun f = (200u8, 0xffu16, 0b1i8, 0.5f16, 1e3bf16, 1_000)", { "200u8": "constant.numeric.integer", "0xffu16": "constant.numeric.integer", "0b1i8": "constant.numeric.integer", "0.5f16": "constant.numeric.float", "1e3bf16": "constant.numeric.float", "1_000": "constant.numeric.integer" }],
  ["fun f x = case x of | Some y => y shl 2 | None => #BlockSize", { case: "keyword.control", of: "keyword.control", Some: "entity.name.type.constructor", shl: "keyword.operator.word", "#BlockSize": "constant.language" }],
  ["fun f xs = [ x | x <- xs, order by x descending then -x, group by x, take 3, distinct ]", { "order by": "keyword.other.comprehension", descending: "keyword.other.comprehension", "group by": "keyword.other.comprehension", take: "keyword.other.comprehension", distinct: "keyword.other.comprehension", "<-": "keyword.operator" }],
  ["fun f r = { r with x = true }", { with: "keyword.other", true: "constant.language" }],
  ["fun f x = (x : [f32; 3])", { f32: "support.type" }],
  ["-- >>> f 1\n-- 2\nfun f x = x", { ">>>": "keyword.other.test", "-- 2": "comment.line" }],
  ["-- bench: f 1\nfun f x = x", { "bench:": "keyword.other.bench" }],
];

// What every token of a file must be, by its first character alone.
const kinds = [
  [/^[0-9]/, /constant\.numeric|comment/],
  [/^(let|in|fn|if|then|else|case|of)$/, /keyword|comment/],
  [/^(sig|fun|type|import)$/, /keyword|comment/],
  [/^(div|mod|band|bor|xor|shl|shr)$/, /keyword\.operator\.word|comment/],
  [/^(i8|i16|i32|i64|u8|u16|u32|u64|f16|bf16|f32|f64|bool|int|double)$/, /support|entity\.name\.function|comment/],
  [/^[A-Z]/, /entity\.name\.type|support\.class|comment|constant\.language/],
  [/^(->|=>|<-|\|>)$/, /keyword\.operator|comment/],
];

function files(folder) {
  const skip = new Set(["target", "node_modules", ".git"]);
  return fs.readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const inside = path.join(folder, entry.name);
    if (entry.isDirectory()) return skip.has(entry.name) ? [] : files(inside);
    return entry.name.endsWith(".pum") ? [inside] : [];
  });
}

async function main() {
  await loadWASM(fs.readFileSync(require.resolve("vscode-oniguruma/release/onig.wasm")).buffer);
  const onigLib = Promise.resolve({
    createOnigScanner: (patterns) => new OnigScanner(patterns),
    createOnigString: (text) => new OnigString(text),
  });
  const loadGrammar = async () => parseRawGrammar(fs.readFileSync(grammar, "utf8"), grammar);
  const language = await new Registry({ onigLib, loadGrammar }).loadGrammar("source.pum");
  let wrong = 0;
  const tell = (message) => {
    if (++wrong <= 20) console.error(message);
  };
  const colour = (text) => {
    let state = null;
    return text.split("\n").map((line) => {
      const { tokens, ruleStack } = language.tokenizeLine(line, state);
      state = ruleStack;
      return { line, tokens };
    });
  };

  for (const [text, words] of expected) {
    const lines = colour(text);
    for (const [word, scope] of Object.entries(words)) {
      const found = lines.flatMap(({ line, tokens }) => {
        const starts = [];
        for (let at = line.indexOf(word); at >= 0; at = line.indexOf(word, at + 1)) {
          const whole = (character) => !character || !/[A-Za-z0-9_']/.test(character) || !/^[A-Za-z0-9_']/.test(word);
          if (whole(line[at - 1]) && whole(line[at + word.length])) starts.push(at);
        }
        return starts.map((at) => tokens.find((token) => token.startIndex <= at && at < token.endIndex).scopes.join(" "));
      });
      if (!found.some((scopes) => scopes.includes(scope))) tell(`${JSON.stringify(word)} in ${JSON.stringify(text)} is ${found}, and not ${scope}`);
    }
  }

  let tokens = 0;
  const all = files(root);
  for (const file of all) {
    // Files of texts that must be refused are no programs.
    if (/tests\/(errors|parse)/.test(file)) continue;
    for (const [number, { line, tokens: coloured }] of colour(fs.readFileSync(file, "utf8")).entries()) {
      for (const token of line.matchAll(/[0-9][A-Za-z0-9_]*|[A-Za-z_][A-Za-z0-9_']*|->|=>|<-|\|>/g)) {
        // A part of a tuple, and what is behind a sign that makes it part of a word.
        if (/[.#]$/.test(line.slice(0, token.index))) continue;
        const scopes = coloured.find(({ startIndex, endIndex }) => startIndex <= token.index && token.index < endIndex).scopes.join(" ");
        tokens += 1;
        for (const [word, scope] of kinds) {
          if (word.test(token[0]) && !scope.test(scopes)) tell(`${path.relative(root, file)}:${number + 1}: \`${token[0]}\` is ${scopes}`);
        }
        if (/invalid/.test(scopes)) tell(`${path.relative(root, file)}:${number + 1}: \`${token[0]}\` is invalid`);
      }
    }
  }
  console.log(`${tokens} tokens of ${all.length} files, ${wrong} wrong`);
  process.exitCode = wrong > 0 || tokens === 0 ? 1 : 0;
}

main();
