//! The server's answers, as a user types.

mod client;

use client::{Client, behind, edited, position, uri};
use lsp_types::request::*;
use lsp_types::*;
use proptest::prelude::*;
use serde_json::json;

const SHAPES: &str = "-- Shapes.

type Point = { x : f64, y : f64 }
type Shape = Circle f64 | Square f64

-- What it covers.
sig area : Shape -> f64
fun area shape =
  case shape of
  | Circle r => 3.0 * r * r
  | Square side => side * side

fun move p = { p with x = p.x + 1.0 }
";

const MAIN: &str = "import shapes (Shape)

-- Turns each chunk round in a block's memory.
sig revDistribute : int -> [a] -> [a]<grid>
fun revDistribute chunkSize arr =
  splitUp chunkSize arr
  |> map (fn chunk => push <block> (reverse chunk))
  |> reverse
  |> concat chunkSize

fun total shapes' = sum (map shapes::area shapes')

fun halves n =
  let half = n div 2
      twice = fn z => (z, z)
  in (half, twice n)
";

fn open_both(client: &mut Client) -> (Url, Url) {
    let (main, shapes) = (uri("main.pum"), uri("shapes.pum"));
    client.open(&shapes, SHAPES);
    client.open(&main, MAIN);
    assert_eq!(client.messages(&main), Vec::<String>::new());
    assert_eq!(client.messages(&shapes), Vec::<String>::new());
    (main, shapes)
}

fn hover(client: &mut Client, uri: &Url, position: Position) -> String {
    match client.ask_at::<HoverRequest>(uri, position).map(|hover| hover.contents) {
        Some(HoverContents::Markup(markup)) => markup.value,
        _ => String::new(),
    }
}

/// The same with the cost of a function, which may take a while.
fn hover_with_cost(client: &mut Client, uri: &Url, position: Position) -> String {
    let unknown =
        |said: &String| said.contains("not known within a second") || said.contains("still being found");
    let said = (0..60).map(|_| hover(client, uri, position)).find(|said| !unknown(said));
    said.expect("the cost is found")
}

fn labels(client: &mut Client, uri: &Url, position: Position) -> Vec<CompletionItem> {
    match client.ask_at::<Completion>(uri, position) {
        Some(CompletionResponse::Array(items)) => items,
        _ => Vec::new(),
    }
}

#[track_caller]
fn offers<'i>(items: &'i [CompletionItem], label: &str) -> &'i CompletionItem {
    let known: Vec<&str> = items.iter().map(|item| item.label.as_str()).collect();
    items.iter().find(|item| item.label == label).unwrap_or_else(|| panic!("no `{label}` in {known:?}"))
}

#[test]
fn what_is_wrong_is_told_while_it_is_typed_with_both_places() {
    let mut client = Client::start();
    let (main, shapes) = open_both(&mut client);
    // A mistake, at the place where it is typed.
    let (start, new) = (position(MAIN, "n div 2"), "if n == 1 then n else true");
    let at = |units: u32| Position { character: start.character + units, ..start };
    client.change(&main, Some(Range::new(start, at(7))), new);
    let wrong = client.diagnostics(&main);
    assert_eq!(wrong.len(), 1, "{wrong:?}");
    assert_eq!(wrong[0].range, Range::new(at(22), at(26)));
    assert!(wrong[0].message.starts_with("the branches have different types\n"), "{wrong:?}");
    let related = wrong[0].related_information.clone().unwrap_or_default();
    assert_eq!(related.len(), 1, "{wrong:?}");
    assert_eq!(related[0].location, Location::new(main.clone(), Range::new(at(15), at(16))));
    client.change(&main, Some(Range::new(start, at(26))), "n div 2");
    assert_eq!(client.messages(&main), Vec::<String>::new());
    // A file that is imported: the files that import it get diagnostics, too.
    let name = position(SHAPES, "area : Shape");
    client.change(&shapes, Some(Range::new(name, behind(SHAPES, "sig area"))), "surface");
    assert!(client.messages(&shapes)[0].contains("there is no `fun surface`"));
    let name = position(SHAPES, "area shape");
    client.change(&shapes, Some(Range::new(name, behind(SHAPES, "fun area"))), "surface");
    assert_eq!(client.messages(&shapes), Vec::<String>::new());
    client.wait_for(&main, 1);
    client.stop();
}

#[test]
fn only_the_last_of_several_changes_is_checked_and_syntax_errors_hide_no_others() {
    let mut client = Client::start();
    let file = uri("several.pum");
    client.open(&file, "fun f = 1 +\nfun g = true + 1\nfun h x = f + x\n");
    let messages = client.messages(&file);
    assert_eq!(messages.len(), 2, "{messages:?}");
    assert!(messages[0].contains("expected"), "{messages:?}");
    for number in 0..100 {
        client.change(&file, None, &format!("fun f = {number} + true"));
    }
    assert_eq!(client.messages(&file).len(), 1);
    client.stop();
}

#[test]
fn files_that_cannot_be_imported_are_told_once() {
    let mut client = Client::start();
    let (main, shapes) = (uri("main.pum"), uri("shapes.pum"));
    client.open(&main, MAIN);
    let messages = client.messages(&main);
    assert!(messages.len() == 1 && messages[0].contains("`shapes` cannot be imported"), "{messages:?}");
    // The text of an open file is read before the one on disk.
    client.open(&shapes, SHAPES);
    assert!(client.next_diagnostics(&main).is_empty());
    client.close(&shapes);
    assert_eq!(client.next_diagnostics(&main).len(), 1);
    client.stop();
}

#[test]
fn hovers_say_types_documentation_levels_and_costs() {
    let mut client = Client::start();
    let (main, shapes) = open_both(&mut client);
    let said = hover_with_cost(&mut client, &main, position(MAIN, "revDistribute chunkSize"));
    assert!(said.contains("revDistribute : int -> [a] -> [a]<grid>"), "{said}");
    assert!(said.contains("Turns each chunk round") && said.contains("An array of the grid"), "{said}");
    assert!(said.contains("for arrays of 1024 elements and integers of 32: 1 kernel"), "{said}");
    assert!(
        said.contains("32 blocks") && said.contains("1024 elements loaded (256 sectors, 100 %"),
        "{said}"
    );
    assert!(said.contains("0 bank conflicts; 0 barriers"), "{said}");
    let said = hover(&mut client, &main, position(MAIN, "reverse chunk"));
    assert!(
        said.contains("reverse : [a] -> [a]") && said.contains("The elements in the opposite order."),
        "{said}"
    );
    let said = hover(&mut client, &main, position(MAIN, "map shapes"));
    assert!(said.contains("here `(Shape -> double) -> [Shape] -> [double]`"), "{said}");
    let said = hover(&mut client, &main, position(MAIN, "arr =\n"));
    assert!(said.contains("arr : [a]"), "{said}");
    let said = hover(&mut client, &main, position(MAIN, "twice n"));
    assert!(said.contains("twice : a -> (a, a)"), "{said}");
    let said = hover(&mut client, &main, position(MAIN, "<block> (rev"));
    assert!(said.contains("An array of the block: its threads compute the elements."), "{said}");
    let said = hover(&mut client, &shapes, position(SHAPES, "x + 1.0"));
    assert!(said.contains(".x : double"), "{said}");
    let said = hover(&mut client, &shapes, position(SHAPES, "Circle r"));
    assert!(said.contains("Circle : double -> Shape"), "{said}");
    let said = hover(&mut client, &shapes, position(SHAPES, "Shape -> f64"));
    assert!(said.contains("type Shape = Circle f64 | Square f64"), "{said}");
    // A function without levels is planned.
    let plain = uri("plain.pum");
    client.open(&plain, "fun dotp xs ys = sum (zipWith (fn x y => x * y) xs (map double ys))\n");
    let said = hover_with_cost(&mut client, &plain, Position::new(0, 5));
    assert!(said.contains("for arrays of 1024 elements: ") && said.contains(" of memory"), "{said}");
    client.stop();
}

#[test]
fn definitions_are_found_in_all_files_and_in_the_prelude() {
    let mut client = Client::start();
    let (main, shapes) = open_both(&mut client);
    let mut defined =
        |of: &Url, text: &str, part: &str| match client.ask_at::<GotoDefinition>(of, position(text, part)) {
            Some(GotoDefinitionResponse::Scalar(location)) => (location.uri, location.range.start),
            other => panic!("{part}: {other:?}"),
        };
    assert_eq!(defined(&main, MAIN, "area shapes'"), (shapes.clone(), position(SHAPES, "area shape =")));
    assert_eq!(defined(&main, MAIN, "shapes::"), (shapes.clone(), Position::new(0, 0)));
    assert_eq!(defined(&main, MAIN, "Shape)"), (shapes.clone(), position(SHAPES, "Shape =")));
    assert_eq!(defined(&main, MAIN, "half, twice"), (main.clone(), position(MAIN, "half =")));
    assert_eq!(defined(&main, MAIN, "chunk)"), (main.clone(), position(MAIN, "chunk =>")));
    assert_eq!(defined(&shapes, SHAPES, "Square side"), (shapes.clone(), position(SHAPES, "Square f64")));
    assert_eq!(defined(&shapes, SHAPES, "x + 1.0"), (shapes.clone(), position(SHAPES, "x : f64")));
    let (library, at) = defined(&main, MAIN, "reverse chunk");
    let text = std::fs::read_to_string(library.to_file_path().unwrap()).unwrap();
    assert_eq!(at, position(&text, "reverse arr ="));
    // A file of the prelude can be viewed, and gets no diagnostics.
    client.open(&library, &text);
    assert!(hover(&mut client, &library, at).contains("reverse"));
    client.stop();
}

#[test]
fn references_and_highlights_are_those_of_the_same_thing() {
    let mut client = Client::start();
    let (main, shapes) = open_both(&mut client);
    let found = client.ask_at::<References>(&shapes, position(SHAPES, "area shape")).unwrap();
    let mut places: Vec<_> = found.iter().map(|found| (found.uri.clone(), found.range.start)).collect();
    places.sort();
    let mut expected = vec![
        (main.clone(), position(MAIN, "area shapes'")),
        (shapes.clone(), position(SHAPES, "area :")),
        (shapes.clone(), position(SHAPES, "area shape")),
    ];
    expected.sort();
    assert_eq!(places, expected);
    let lines =
        |found: Vec<DocumentHighlight>| found.iter().map(|one| one.range.start.line).collect::<Vec<_>>();
    let found = client.ask_at::<DocumentHighlightRequest>(&main, position(MAIN, "chunkSize arr =")).unwrap();
    assert_eq!(lines(found), [4, 5, 8]);
    client.stop();
}

#[test]
fn names_are_changed_everywhere_or_not_at_all() {
    let mut client = Client::start();
    let (main, shapes) = open_both(&mut client);
    let params = |of: &Url, at: Position, new: &str| json!({ "textDocument": { "uri": of }, "position": at, "newName": new });
    let edit = client.ask::<Rename>(params(&main, position(MAIN, "area shapes'"), "surface")).unwrap();
    let changes = edit.changes.unwrap();
    let (new_main, new_shapes) = (edited(MAIN, &changes[&main]), edited(SHAPES, &changes[&shapes]));
    assert!(new_main.contains("map shapes::surface shapes'"), "{new_main}");
    assert!(
        new_shapes.contains("sig surface : ") && new_shapes.contains("fun surface shape"),
        "{new_shapes}"
    );
    assert_eq!(changes.values().map(Vec::len).sum::<usize>(), 3);
    // A pattern that is a field and a variable at once.
    let pun = uri("pun.pum");
    let text = "fun norm { x, y } = x * x + y * y\n";
    client.open(&pun, text);
    let edit = client.ask::<Rename>(params(&pun, position(text, "x *"), "a")).unwrap();
    let text = edited(text, &edit.changes.unwrap()[&pun]);
    assert_eq!(text, "fun norm { x = a, y } = a * a + y * y\n");
    let mut refused = |of: &Url, at: Position, new: &str, why: &str| {
        let error = client.send(Rename::METHOD, params(of, at, new)).error.unwrap_or_else(|| panic!("{new}"));
        assert!(error.message.contains(why), "{new}: {}", error.message);
    };
    refused(&main, position(MAIN, "halves n"), "in", "is a word of the language");
    refused(&main, position(MAIN, "halves n"), "Halves", "begin with a lower-case letter");
    refused(&main, position(MAIN, "halves n"), "a b", "is no name");
    refused(&main, position(MAIN, "halves n"), "total", "defined in the same file");
    refused(&main, position(MAIN, "halves n"), "map", "a name of the language");
    refused(&main, position(MAIN, "half ="), "n", "something else");
    refused(&main, position(MAIN, "reverse chunk"), "turn", "belongs to the language");
    refused(&main, position(MAIN, "shapes::"), "forms", "rename the file");
    refused(&shapes, position(SHAPES, "x + 1.0"), "u", "by hand");
    let prepared = client.ask_at::<PrepareRenameRequest>(&main, position(MAIN, "halves n"));
    assert!(
        matches!(prepared, Some(PrepareRenameResponse::Range(range)) if range.start == position(MAIN, "halves n"))
    );
    client.stop();
}

#[test]
fn completions_fit_where_they_are_asked_for() {
    let mut client = Client::start();
    let (main, shapes) = open_both(&mut client);
    // After a dot, fields; what is typed there is not a program yet.
    let text = "type Point = { x : f64, y : f64 }\nsig f : Point -> f64\nfun f p = p.\n";
    let broken = uri("broken.pum");
    client.open(&broken, text);
    let items = labels(&mut client, &broken, behind(text, "= p."));
    assert_eq!(items.iter().map(|item| item.label.as_str()).collect::<Vec<_>>(), ["x", "y"]);
    assert_eq!(offers(&items, "y").detail.as_deref(), Some("double"));
    // Names in scope, the innermost first, with types and documentation.
    let items = labels(&mut client, &main, behind(MAIN, "in (ha"));
    assert_eq!(offers(&items, "half").detail.as_deref(), Some("a"));
    assert_eq!(offers(&items, "n").kind, Some(CompletionItemKind::VARIABLE));
    let item = offers(&items, "revDistribute");
    assert!(item.detail.as_deref() == Some("int -> [a] -> [a]<grid>") && item.documentation.is_some());
    offers(&items, "zipWith");
    offers(&items, "Circle");
    offers(&items, "let");
    assert_eq!(offers(&items, "shapes").insert_text.as_deref(), Some("shapes::"));
    assert!(!items.iter().any(|item| item.label.contains("pumice") || item.label == "chunk"));
    let items = labels(&mut client, &main, behind(MAIN, "map shapes::ar"));
    offers(&items, "area");
    assert!(!items.iter().any(|item| item.label == "zipWith"));
    // Types where types stand, and all arms of a sum.
    let items = labels(&mut client, &main, behind(MAIN, "sig revDistribute : in"));
    offers(&items, "Shape");
    offers(&items, "grid");
    let text = "import shapes (Shape)\nsig f : Shape -> int\nfun f s =\n  case s of\n  | Circle _ => 1\n  | ";
    client.open(&broken, text);
    let items = labels(&mut client, &broken, Position::new(5, 4));
    offers(&items, "Square");
    assert_eq!(offers(&items, "all arms of Shape").insert_text.as_deref(), Some("Square ${1:x} => ${2:_}"));
    // None in comments.
    assert!(labels(&mut client, &shapes, behind(SHAPES, "-- What it")).is_empty());
    client.stop();
}

#[test]
fn the_argument_that_is_written_is_shown() {
    let mut client = Client::start();
    let file = uri("signature.pum");
    let text = "fun g xs = zipWith (fn x y => x + y) xs \nfun h = map \n";
    client.open(&file, text);
    let mut active = |at: Position| {
        let help = client.ask_at::<SignatureHelpRequest>(&file, at).unwrap();
        let signature = help.signatures[0].clone();
        let number = signature.active_parameter.unwrap();
        let ParameterLabel::LabelOffsets([from, to]) =
            signature.parameters.unwrap()[number as usize].label.clone()
        else {
            panic!("places of parameters")
        };
        (signature.label.clone(), signature.label[from as usize..to as usize].to_string())
    };
    let (label, parameter) = active(behind(text, "x + y) xs "));
    assert_eq!((label.as_str(), parameter.as_str()), ("zipWith : (a -> b -> c) -> [a] -> [b] -> [c]", "[b]"));
    assert_eq!(active(behind(text, "x + y) x")).1, "[a]");
    assert_eq!(active(behind(text, "h = map ")).1, "(a -> b)");
    client.stop();
}

#[test]
fn outlines_and_searches_have_what_is_declared() {
    let mut client = Client::start();
    let (_, shapes) = open_both(&mut client);
    let outline = client.ask::<DocumentSymbolRequest>(json!({ "textDocument": { "uri": shapes } }));
    let Some(DocumentSymbolResponse::Nested(symbols)) = outline else { panic!("{outline:?}") };
    let names: Vec<&str> = symbols.iter().map(|symbol| symbol.name.as_str()).collect();
    assert_eq!(names, ["Point", "Shape", "area", "move"]);
    assert_eq!(symbols[1].children.as_ref().unwrap()[1].name, "Square");
    assert_eq!(symbols[2].detail.as_deref(), Some("Shape -> double"));
    assert_eq!(symbols[2].range.start, position(SHAPES, "sig area"));
    let found = client.ask::<WorkspaceSymbolRequest>(json!({ "query": "rdist" }));
    let Some(WorkspaceSymbolResponse::Flat(found)) = found else { panic!("{found:?}") };
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].location.range.start, position(MAIN, "revDistribute chunkSize"));
    client.stop();
}

#[test]
fn files_and_items_are_laid_out() {
    let mut client = Client::start();
    let file = uri("layout.pum");
    let text = "fun  f x =   x+1\nfun  g x =   x+2\n";
    client.open(&file, text);
    let options = json!({ "tabSize": 2, "insertSpaces": true });
    let edits =
        client.ask::<Formatting>(json!({ "textDocument": { "uri": file }, "options": options })).unwrap();
    assert_eq!(edited(text, &edits), "fun f x = x + 1\nfun g x = x + 2\n");
    let range = Range::new(Position::new(1, 0), Position::new(1, 3));
    let params = json!({ "textDocument": { "uri": file }, "options": options, "range": range });
    let edits = client.ask::<RangeFormatting>(params).unwrap();
    assert_eq!(edited(text, &edits), "fun  f x =   x+1\nfun g x = x + 2\n");
    client.change(&file, None, "fun f = (");
    assert_eq!(
        client.ask::<Formatting>(json!({ "textDocument": { "uri": file }, "options": options })),
        None
    );
    let shapes = uri("shapes.pum");
    client.open(&shapes, SHAPES);
    let folds = client.ask::<FoldingRangeRequest>(json!({ "textDocument": { "uri": shapes } })).unwrap();
    let lines: Vec<(u32, u32)> = folds.iter().map(|fold| (fold.start_line, fold.end_line)).collect();
    assert!(lines.contains(&(7, 10)) && lines.contains(&(8, 10)), "{lines:?}");
    client.stop();
}

#[test]
fn types_that_nobody_wrote_are_shown() {
    let mut client = Client::start();
    let (main, shapes) = open_both(&mut client);
    let mut hints = |of: &Url| {
        let range = Range::new(Position::new(0, 0), Position::new(99, 0));
        let hints =
            client.ask::<InlayHintRequest>(json!({ "textDocument": { "uri": of }, "range": range })).unwrap();
        let text = |hint: &InlayHint| match &hint.label {
            InlayHintLabel::String(text) => text.clone(),
            _ => String::new(),
        };
        hints.iter().map(|hint| (hint.position, text(hint))).collect::<Vec<_>>()
    };
    let shown = hints(&main);
    let has = |shown: &[(Position, String)], at: Position, ty: &str| {
        assert!(shown.contains(&(at, format!(" : {ty}"))), "{ty}: {shown:?}");
    };
    has(&shown, behind(MAIN, "fn chunk"), "[a]");
    has(&shown, behind(MAIN, "fun total shapes'"), "[Shape]");
    has(&shown, behind(MAIN, "twice"), "a -> (a, a)");
    // Parameters of functions that have a signature are there to be read.
    assert!(!shown.iter().any(|(at, _)| *at == behind(MAIN, "revDistribute chunkSize")));
    has(&hints(&shapes), behind(SHAPES, "Circle r"), "double");
    client.stop();
}

#[test]
fn tokens_say_what_names_are() {
    let mut client = Client::start();
    let (main, _) = open_both(&mut client);
    let tokens = client.ask::<SemanticTokensFullRequest>(json!({ "textDocument": { "uri": main } }));
    let Some(SemanticTokensResult::Tokens(tokens)) = tokens else { panic!("{tokens:?}") };
    let legend =
        client.capabilities["capabilities"]["semanticTokensProvider"]["legend"]["tokenTypes"].clone();
    let (mut line, mut character, mut found) = (0, 0, Vec::new());
    for token in &tokens.data {
        character = if token.delta_line == 0 { character + token.delta_start } else { token.delta_start };
        line += token.delta_line;
        let text = MAIN.lines().nth(line as usize).unwrap();
        let word = &text[character as usize..(character + token.length) as usize];
        found.push((
            word,
            legend[token.token_type as usize].as_str().unwrap().to_string(),
            token.token_modifiers_bitset,
        ));
    }
    let has = |word: &str, ty: &str, modifiers: u32| {
        assert!(found.contains(&(word, ty.to_string(), modifiers)), "{word}: {found:?}");
    };
    has("import", "keyword", 0);
    has("shapes", "namespace", 0);
    has("revDistribute", "function", 1);
    has("reverse", "function", 2);
    has("arr", "parameter", 1);
    has("half", "variable", 1);
    has("Shape", "type", 0);
    has("|>", "operator", 0);
    has("block", "typeParameter", 0);
    has("2", "number", 0);
    has("-- Turns each chunk round in a block's memory.", "comment", 0);
    client.stop();
}

#[test]
fn what_a_message_says_to_write_can_be_written() {
    let mut client = Client::start();
    let file = uri("fix.pum");
    let mut fixed = |text: &str, part: &str, title: &str| {
        client.open(&file, text);
        let at = position(text, part);
        let context = json!({ "diagnostics": [] });
        let params =
            json!({ "textDocument": { "uri": file }, "range": Range::new(at, at), "context": context });
        let actions = client.ask::<CodeActionRequest>(params).unwrap_or_default();
        let actions = actions.into_iter().filter_map(|action| match action {
            CodeActionOrCommand::CodeAction(action) => Some(action),
            CodeActionOrCommand::Command(_) => None,
        });
        let mut titles = Vec::new();
        for action in actions {
            if action.title == title {
                let text = edited(text, &action.edit.unwrap().changes.unwrap()[&file]);
                client.change(&file, None, &text);
                assert_eq!(client.messages(&file), Vec::<String>::new(), "{text}");
                return text;
            }
            titles.push(action.title);
        }
        panic!("no `{title}` in {titles:?}")
    };
    let text = fixed("sig f : [int]<block> -> int\nfun f xs = index xs 0\n", "xs 0", "write `force`");
    assert!(text.contains("index (force xs) 0"), "{text}");
    fixed("fun f xs = index (push <block> (map (fn x => x) xs)) 0\n", "push", "write `force`");
    let text = fixed(
        "sig f : [int] -> [int]<block>\nfun f xs = map (fn x => x) xs\n",
        "map",
        "write `push <block>`",
    );
    assert!(text.contains("(push <block> (map (fn x => x) xs))"), "{text}");
    let text = fixed("sig f : [int] -> [int]<block>\nfun f xs = push xs\n", "push xs", "write `<block>`");
    assert!(text.contains("push <block> xs"), "{text}");
    assert_eq!(fixed("fun f xs = lenght xs\n", "lenght", "write `length`"), "fun f xs = length xs\n");
    let text = fixed("fun f xs = sum xs\n", "f xs", "write the signature of `f`");
    assert_eq!(text, "sig f : Number a => [a] -> a\nfun f xs = sum xs\n");
    client.stop();
}

#[test]
fn positions_count_utf_16() {
    let mut client = Client::start();
    let file = uri("unicode.pum");
    let text = "fun f x = -- 𝄞 é\n  x -- 𝄞\n  + true\n";
    client.open(&file, text);
    assert!(!client.diagnostics(&file).is_empty());
    let end = behind(text, "  x -- 𝄞");
    assert_eq!(end.character, 9);
    // Behind the two units of the last character, and in the middle of them.
    client.change(&file, Some(Range::new(end, end)), "é");
    client.change(&file, Some(Range::new(position(text, "true"), behind(text, "true"))), "1");
    assert_eq!(client.messages(&file), Vec::<String>::new());
    assert!(hover(&mut client, &file, Position::new(1, 2)).contains("x : "));
    client.change(&file, Some(Range::new(Position::new(1, 8), Position::new(1, 99))), "");
    assert_eq!(client.messages(&file), Vec::<String>::new());
    client.stop();
}

#[test]
fn broken_messages_are_answered_and_the_server_goes_on() {
    let mut client = Client::start();
    let code = |response: lsp_server::Response| response.error.map(|error| error.code);
    assert_eq!(code(client.send("textDocument/hover", json!({ "position": "here" }))), Some(-32602));
    assert_eq!(code(client.send("textDocument/rename", json!(7))), Some(-32602));
    assert_eq!(code(client.send("textDocument/never", json!({}))), Some(-32601));
    client.notify("textDocument/didOpen", json!({ "textDocument": 3 }));
    client.notify(
        "textDocument/didChange",
        json!({ "textDocument": { "uri": "file:///no", "version": 1 }, "contentChanges": [] }),
    );
    client.notify("$/never", json!(null));
    // Files that are not open, and positions that there are not.
    assert_eq!(client.ask_at::<HoverRequest>(&uri("closed.pum"), Position::new(0, 0)), None);
    let (main, _) = open_both(&mut client);
    assert_eq!(client.ask_at::<HoverRequest>(&main, Position::new(9999, 9999)), None);
    client.stop();
}

#[test]
fn who_leaves_without_a_word_is_an_error() {
    assert!(Client::start().exit().unwrap_err().contains("before `shutdown`"));
    let mut client = Client::start();
    client.send("shutdown", json!(null));
    assert_eq!(client.send("textDocument/hover", json!({})).error.map(|error| error.code), Some(-32600));
    assert_eq!(client.exit(), Ok(()));
}

#[test]
fn what_editors_read_is_json() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../editors/vscode");
    let read = |name: &str| -> serde_json::Value {
        let text = std::fs::read_to_string(folder.join(name)).unwrap();
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}"))
    };
    let package = read("package.json");
    let grammar = package["contributes"]["grammars"][0].clone();
    assert_eq!(read(grammar["path"].as_str().unwrap())["scopeName"], grammar["scopeName"]);
    read(package["contributes"]["languages"][0]["configuration"].as_str().unwrap());
    assert!(folder.join(package["main"].as_str().unwrap()).exists());
    assert_eq!(package["contributes"]["configuration"]["properties"]["pumice.path"]["default"], "pumice");
}

fn any_edit() -> impl Strategy<Value = (u32, u32, u32, u32, &'static str)> {
    let words = prop::sample::select(vec![
        "",
        "x",
        " ",
        "\n",
        "fun f = ",
        "(",
        ")",
        "[",
        "]",
        "let y = x in ",
        "case x of | ",
        "::",
        ".",
        "-- ",
        "é",
        "𝄞",
        "1",
        "<block>",
        "push ",
        "sig area : ",
        "import main\n",
        "|> map",
        "{ x = 1 }",
        "type T = A | B\n",
    ]);
    (0..22u32, 0..40u32, 0..3u32, 0..12u32, words)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 24, ..ProptestConfig::default() })]

    /// After any edits all requests are answered, and diagnostics are those of a server that sees the last text only.
    #[test]
    fn random_edits_end_as_a_fresh_check(edits in prop::collection::vec(any_edit(), 1..12), which in any::<bool>()) {
        let mut client = Client::start();
        let (main, shapes) = (uri("main.pum"), uri("shapes.pum"));
        client.open(&shapes, SHAPES);
        client.open(&main, MAIN);
        let (file, mut text) = if which { (&main, MAIN.to_string()) } else { (&shapes, SHAPES.to_string()) };
        for (line, character, lines, characters, new) in edits {
            let start = Position::new(line, character);
            let range = Range::new(start, Position::new(line + lines, character + characters));
            let clamped = |at: Position| {
                let lines: Vec<&str> = text.split('\n').collect();
                let line = (at.line as usize).min(lines.len() - 1);
                let units = if (at.line as usize) < lines.len() { at.character } else { u32::MAX };
                let mut end = Position::new(line as u32, 0);
                for sign in lines[line].chars() {
                    if end.character + sign.len_utf16() as u32 > units { break }
                    end.character += sign.len_utf16() as u32;
                }
                end
            };
            let (start, end) = (clamped(range.start), clamped(range.end));
            let end = if end < start { start } else { end };
            text = edited(&text, &[TextEdit { range: Range::new(start, end), new_text: new.to_string() }]);
            client.change(file, Some(range), new);
            let at = json!({ "textDocument": { "uri": file }, "position": start, "newName": "other", "context": client::context(),
                "range": range, "options": { "tabSize": 2, "insertSpaces": true }, "query": "a" });
            for method in METHODS {
                let response = client.send(method, at.clone());
                let fault = response.error.filter(|error| error.code != -32803);
                prop_assert!(fault.is_none(), "{method}: {fault:?} in\n{text}");
            }
        }
        let texts = [(&shapes, if which { SHAPES } else { &text }), (&main, if which { &text } else { MAIN })];
        let mut fresh = Client::start();
        texts.iter().for_each(|(file, text)| fresh.open(file, text));
        // Files that import each other get diagnostics several times: those after a last change are about all of it.
        let settled = |client: &mut Client| {
            texts.iter().for_each(|(file, text)| client.change(file, None, text));
            texts.map(|(file, _)| client.diagnostics(file))
        };
        let [before, after] = [&mut client, &mut fresh].map(settled);
        prop_assert_eq!(before, after, "{}", text);
        fresh.stop();
        client.stop();
    }
}

const METHODS: [&str; 15] = [
    "textDocument/hover",
    "textDocument/definition",
    "textDocument/references",
    "textDocument/documentHighlight",
    "textDocument/prepareRename",
    "textDocument/rename",
    "textDocument/completion",
    "textDocument/signatureHelp",
    "textDocument/documentSymbol",
    "workspace/symbol",
    "textDocument/formatting",
    "textDocument/foldingRange",
    "textDocument/inlayHint",
    "textDocument/semanticTokens/full",
    "textDocument/codeAction",
];
