//! A page of HTML about files of a program: their documentation, and each function with its type, its examples and its text.
//!
//! Only text is made here. Files are untrusted: whatever they have in them is escaped, a page has no scripts and loads nothing.

use crate::ast::{Import, Module, TypeDeclaration};
use crate::program::{LoadedModule, Program};
use crate::source::Span;
use crate::syntax::{SyntaxKind, tokens};
use crate::types::Checked;
use std::collections::{BTreeSet, HashMap};

const STYLE: &str = include_str!("document.css");

/// Writes a page about some of a program's files. Files that they import are linked as `name.html`.
///
/// ```
/// use pumice_lang::{document::page, program::Program, types::check};
///
/// let text = "-- Twice as much.\n-- >>> twice 2\n-- 4\nfun twice x = x + x";
/// let program = Program::load("twice.pum", text, &|_| Err(String::new())).unwrap();
/// let checked = check(&program).unwrap();
/// let page = page(&program, &checked, "twice", &program.modules[2..]);
/// assert!(page.contains("<section id=\"fun.twice\">") && page.contains("Twice as much."));
/// ```
pub fn page(program: &Program, checked: &Checked, title: &str, modules: &[LoadedModule]) -> String {
    let contents: Vec<(&LoadedModule, Vec<Item<'_>>)> =
        modules.iter().map(|loaded| (loaded, items(program, checked, loaded))).collect();
    let all = || contents.iter().flat_map(|(_, items)| items);
    let types = all().filter(|item| item.kind == ItemKind::Type).map(|item| item.name).collect();
    let writer = Writer { types };
    let mut body = format!("<h1>{}</h1>\n", escaped(title));
    for (loaded, _) in &contents {
        writer.add_docs(loaded.module.docs.as_deref().unwrap_or_default(), &mut body);
        add_imports(&loaded.module.imports, &mut body);
    }
    add_index(all(), &mut body);
    for kind in [ItemKind::Type, ItemKind::Function] {
        let mut some = all().filter(|item| item.kind == kind).peekable();
        if some.peek().is_some() {
            body.push_str(&format!("<h2>{}</h2>\n", kind.heading()));
        }
        some.for_each(|item| writer.add_item(item, &mut body));
    }
    let policy = "default-src 'none'; style-src 'unsafe-inline'";
    format!(
        "<!DOCTYPE html>\n<html>\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n{body}</body>\n</html>\n",
        escaped(title)
    )
}

/// A function or a type.
struct Item<'a> {
    kind: ItemKind,
    name: &'a str,
    /// Text behind the name: a function's type.
    scheme: String,
    docs: Vec<&'a str>,
    /// Its source text, signature and function; empty if it has none.
    text: String,
    start: u32,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ItemKind {
    Type,
    Function,
}

impl ItemKind {
    fn heading(self) -> &'static str {
        match self {
            ItemKind::Type => "Types",
            ItemKind::Function => "Functions",
        }
    }

    fn word(self) -> &'static str {
        match self {
            ItemKind::Type => "type",
            ItemKind::Function => "fun",
        }
    }
}

impl Item<'_> {
    fn anchor(&self) -> String {
        format!("{}.{}", self.kind.word(), escaped(self.name))
    }
}

/// Returns the items that a file declares, in source order.
fn items<'a>(program: &'a Program, checked: &'a Checked, loaded: &'a LoadedModule) -> Vec<Item<'a>> {
    let module: &Module = &loaded.module;
    let text = |span: Span| program.sources.text(span);
    let docs = |all: [Option<&'a String>; 2]| all.into_iter().flatten().map(String::as_str).collect();
    let declared = |declaration: &'a TypeDeclaration| Item {
        kind: ItemKind::Type,
        name: &declaration.name.name,
        scheme: String::new(),
        docs: docs([declaration.docs.as_ref(), None]),
        text: text(declaration.span).to_string(),
        start: declaration.span.start,
    };
    let mut items: Vec<Item<'a>> = module.types.iter().map(declared).collect();
    let mut signatures: HashMap<&str, _> =
        module.signatures.iter().map(|signature| (&*signature.name.name, signature)).collect();
    let own = checked.functions().filter(|id| checked.function(*id).1 == loaded.file);
    for id in own {
        let function = checked.function(id).0;
        let signature = signatures.remove(&*function.name.name);
        items.push(Item {
            kind: ItemKind::Function,
            name: &function.name.name,
            scheme: checked.scheme(id).to_string(),
            docs: docs([signature.and_then(|signature| signature.docs.as_ref()), function.docs.as_ref()]),
            text: signature.map_or(String::new(), |signature| format!("{}\n", text(signature.span)))
                + text(function.span),
            start: signature.map_or(function.span.start, |signature| signature.span.start),
        });
    }
    // Built-ins have no source text.
    items.extend(
        signatures.into_values().map(|signature| Item {
            kind: ItemKind::Function,
            name: &signature.name.name,
            scheme: checked
                .scheme_of_builtin(&signature.name.name)
                .map_or(String::new(), |scheme| scheme.to_string()),
            docs: docs([signature.docs.as_ref(), None]),
            text: String::new(),
            start: signature.span.start,
        }),
    );
    items.sort_by_key(|item| item.start);
    items
}

fn add_imports(imports: &[Import], out: &mut String) {
    if imports.is_empty() {
        return;
    }
    out.push_str("<p>Imports ");
    for (number, import) in imports.iter().enumerate() {
        let name = escaped(&import.module.name);
        let comma = if number == 0 { "" } else { ", " };
        out.push_str(&format!("{comma}<a href=\"{name}.html\"><code>{name}</code></a>"));
        let names: Vec<String> = import.names.iter().map(|name| escaped(&name.name)).collect();
        if !names.is_empty() {
            out.push_str(&format!(" (<code>{}</code>)", names.join(", ")));
        }
    }
    out.push_str(".</p>\n");
}

/// Links to all items, by name.
fn add_index<'a>(items: impl Iterator<Item = &'a Item<'a>>, out: &mut String) {
    let links: BTreeSet<(&str, String)> = items.map(|item| (item.name, item.anchor())).collect();
    if links.is_empty() {
        return;
    }
    out.push_str("<nav>\n<ul>\n");
    for (name, anchor) in links {
        out.push_str(&format!("<li><a href=\"#{anchor}\"><code>{}</code></a></li>\n", escaped(name)));
    }
    out.push_str("</ul>\n</nav>\n");
}

struct Writer<'a> {
    /// The types that the page has.
    types: BTreeSet<&'a str>,
}

impl Writer<'_> {
    fn add_item(&self, item: &Item<'_>, out: &mut String) {
        let anchor = item.anchor();
        let heading = match item.kind {
            ItemKind::Type => format!("<span class=\"k\">type</span> <b>{}</b>", escaped(item.name)),
            ItemKind::Function => {
                format!("<b>{}</b> : {}", escaped(item.name), self.highlighted(&item.scheme))
            }
        };
        out.push_str(&format!(
            "<section id=\"{anchor}\">\n<h3><a class=\"p\" href=\"#{anchor}\">#</a> <code>{heading}</code></h3>\n"
        ));
        item.docs.iter().for_each(|docs| self.add_docs(docs, out));
        let text = self.highlighted(&item.text);
        match item.kind {
            ItemKind::Type => out.push_str(&format!("<pre>{text}</pre>\n")),
            ItemKind::Function if item.text.is_empty() => {}
            ItemKind::Function => {
                out.push_str(&format!("<details><summary>Text</summary><pre>{text}</pre></details>\n"));
            }
        }
        out.push_str("</section>\n");
    }

    /// Writes paragraphs, examples (`>>>` and the lines below, `bench:`), and code, which is indented.
    fn add_docs(&self, docs: &str, out: &mut String) {
        let mut open = Block::None;
        for line in docs.lines() {
            let trimmed = line.trim();
            let is_example = trimmed.starts_with(">>>") || trimmed.starts_with("bench:");
            let block = match open {
                _ if trimmed.is_empty() => Block::None,
                _ if is_example => Block::Example,
                Block::Example => Block::Example,
                _ if line.starts_with("  ") => Block::Code,
                _ => Block::Paragraph,
            };
            if block != open {
                out.push_str(open.end());
                out.push_str(block.start());
                open = block;
            } else if block != Block::None {
                out.push('\n');
            }
            match block {
                Block::None => {}
                Block::Paragraph => add_prose(trimmed, out),
                Block::Code => out.push_str(&self.highlighted(line.strip_prefix("  ").unwrap_or(line))),
                Block::Example => self.add_example(trimmed, out),
            }
        }
        out.push_str(open.end());
    }

    fn add_example(&self, line: &str, out: &mut String) {
        let sign = [">>>", "bench:"].into_iter().find(|sign| line.starts_with(sign)).unwrap_or_default();
        if !sign.is_empty() {
            out.push_str(&format!("<span class=\"p\">{}</span>", escaped(sign)));
        }
        out.push_str(&self.highlighted(line.strip_prefix(sign).unwrap_or(line)));
    }

    /// Writes code with its words in colours, and the page's types as links.
    fn highlighted(&self, text: &str) -> String {
        let mut out = String::new();
        for (kind, word) in tokens(text) {
            let class = match kind {
                SyntaxKind::Comment | SyntaxKind::ForeignComment => "c",
                SyntaxKind::Integer | SyntaxKind::Float => "n",
                SyntaxKind::Upper => "t",
                SyntaxKind::BlockSize => "k",
                kind if (SyntaxKind::KwSig..=SyntaxKind::KwShr).contains(&kind) => "k",
                _ => "",
            };
            let word_text = escaped(word);
            if kind == SyntaxKind::Upper && self.types.contains(word) {
                out.push_str(&format!("<a class=\"t\" href=\"#type.{word_text}\">{word_text}</a>"));
            } else if class.is_empty() {
                out.push_str(&word_text);
            } else {
                out.push_str(&format!("<span class=\"{class}\">{word_text}</span>"));
            }
        }
        out
    }
}

/// Kind of block that a line of documentation belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Block {
    None,
    Paragraph,
    Code,
    Example,
}

impl Block {
    fn start(self) -> &'static str {
        match self {
            Block::None => "",
            Block::Paragraph => "<p>",
            Block::Code | Block::Example => "<pre>",
        }
    }

    fn end(self) -> &'static str {
        match self {
            Block::None => "",
            Block::Paragraph => "</p>\n",
            Block::Code | Block::Example => "</pre>\n",
        }
    }
}

/// Writes a line of prose, in which `words` between such signs are code.
fn add_prose(line: &str, out: &mut String) {
    let mut rest = line;
    while let Some((before, code, after)) = rest
        .split_once('`')
        .and_then(|(before, behind)| behind.split_once('`').map(|(code, after)| (before, code, after)))
    {
        out.push_str(&format!("{}<code>{}</code>", escaped(before), escaped(code)));
        rest = after;
    }
    out.push_str(&escaped(rest));
}

/// Escapes a text for HTML, also between quotation marks. Characters that are invisible, or change the direction of
/// others, are replaced.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\t' => out.push(letter),
            '\r' => {}
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => out.push('\u{fffd}'),
            _ if letter.is_control() => out.push('\u{fffd}'),
            _ => out.push(letter),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::STANDARD;
    use crate::types::check;

    fn page_of(text: &str) -> String {
        let import = |name: &str| match name {
            "shapes" => Ok("fun area w h = w * h".to_string()),
            _ => Err("there is none".to_string()),
        };
        let program = Program::load("main.pum", text, &import)
            .unwrap_or_else(|(sources, errors)| panic!("{}", errors[0].render(&sources, false)));
        let checked =
            check(&program).unwrap_or_else(|errors| panic!("{}", errors[0].render(&program.sources, false)));
        let own = program.modules.last().map(std::slice::from_ref).unwrap_or_default();
        page(&program, &checked, "main", own)
    }

    fn body(page: &str) -> &str {
        page.split_once("<body>\n").map_or("", |(_, body)| body)
    }

    #[test]
    fn a_page_has_all_that_a_file_documents() {
        let page = page_of(
            "-- Points, and what is done to them.\n--\n-- They are records:\n--   let p = { x = 1.0, y = 2.0 } in length p\n\n\
             import shapes (area)\n\n\
             -- A point of the plane.\ntype Point = { x : f64, y : f64 }\n\
             type Shape = Circle Point f64 | Nothing\n\n\
             -- How far it is from the origin, as `sqrt` gives it.\n-- >>> length { x = 3.0, y = 4.0 }\n-- 5.0\n\
             -- bench: length { x = 3.0, y = 4.0 }\n\
             sig length : Point -> f64\nfun length p = sqrt (p.x * p.x + p.y * p.y)\n\n\
             fun round s = case s of | Circle c _ => length c | Nothing => 0.0 -- no point\n\
             fun twice x = area x 2\n",
        );
        insta::with_settings!({ snapshot_path => "../tests/snapshots", prepend_module_to_snapshot => false }, {
            insta::assert_snapshot!("document", body(&page));
        });
    }

    #[test]
    fn nothing_of_a_file_is_html() {
        let hostile = "<script>alert('x')</script> \" onload=\"x & <!-- \u{202e} \u{7}";
        let text = format!(
            "-- {hostile}\n-- `{hostile}`\n\n-- {hostile}\n--   {hostile}\n-- >>> f \"{hostile}\"\n-- {hostile}\nfun f' x = x -- {hostile}\n"
        );
        let page = page_of(&text);
        let body = body(&page);
        assert!(body.matches("alert(").count() > 4, "{body}");
        let known = [
            "h1", "p", "code", "nav", "ul", "li", "a", "b", "h2", "section", "h3", "pre", "span", "details",
            "summary", "body", "html",
        ];
        for tag in body.split('<').skip(1) {
            let name = tag.trim_start_matches('/').split(['>', ' ']).next().unwrap_or_default();
            assert!(known.contains(&name), "<{tag}");
            let inside = tag.split_once('>').map_or(tag, |(inside, _)| inside);
            assert!(!inside.contains("onload") && inside.matches('"').count() % 2 == 0, "<{inside}>");
        }
        assert!(!page.contains(['\u{202e}', '\u{7}']) && !page.contains("<!-- "));
    }

    #[test]
    fn the_language_has_a_page() {
        let program = Program::load("", "", &|_| Err(String::new())).unwrap_or_else(|_| panic!("no program"));
        let checked = check(&program).unwrap_or_else(|_| panic!("no types"));
        let page = page(&program, &checked, "The language", &program.modules[..STANDARD.len()]);
        for name in ["generate", "zipWith", "reverse", "reduce"] {
            assert!(page.contains(&format!("<section id=\"fun.{name}\">")), "{name}");
        }
        let reverse = page.split("<section id=\"fun.reverse\">").nth(1).unwrap_or_default();
        assert!(
            reverse.contains("<b>reverse</b> : [a] -&gt; [a]")
                && reverse.contains("&gt;&gt;&gt;</span> reverse ["),
            "{reverse}"
        );
    }
}
