//! A program: its file, the files that it imports, the prelude and the built-ins. Reads and parses; does not check types.

use crate::additions::{Additions, Given, add_given, leave_out, replace_items};
use crate::ast::{Function, Ident, Module, Name, Parameter, Pattern, PatternKind};
use crate::diagnostic::Diagnostic;
use crate::source::{FileId, Source, Sources, Span};
use crate::syntax::{parse, parse_expression};
use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

/// Maximum number of files in a program.
const MAX_FILES: usize = 1_000;

/// Standard files that every program can use: first the signatures of the built-ins, then functions written in the language.
pub const STANDARD: [(&str, &str); 9] = [
    ("builtins", include_str!("../pum/builtins.pum")),
    ("scalars", include_str!("../pum/scalars.pum")),
    ("prelude", include_str!("../pum/prelude.pum")),
    ("arrays", include_str!("../pum/arrays.pum")),
    ("stencils", include_str!("../pum/stencils.pum")),
    ("folds", include_str!("../pum/folds.pum")),
    ("selecting", include_str!("../pum/selecting.pum")),
    ("segments", include_str!("../pum/segments.pum")),
    ("tuples", include_str!("../pum/tuples.pum")),
];

/// Whether a file is one of [`STANDARD`].
pub fn is_standard(file: FileId) -> bool {
    (file.0 as usize) < STANDARD.len()
}

/// Files that every program may import, by name, where it has none of that name itself.
pub const LIBRARY: &[(&str, &str)] = &[("sorters", include_str!("../pum/sorters.pum"))];

/// A program, read and parsed.
#[derive(Clone, Debug)]
pub struct Program {
    /// The text of all files.
    pub sources: Sources,
    /// The files of [`STANDARD`] and those of the user: each after those that it imports, so the program's own is the last.
    pub modules: Vec<LoadedModule>,
    /// Number of expressions in all files.
    pub expressions: u32,
    /// Values from outside that the program's own file uses by name.
    pub given: Arc<[Given]>,
}

/// Name under which [`Checked::entry`](crate::types::Checked::entry) finds the function of an [`Expression`]. No file can use or declare it.
pub const EXPRESSION: &str = "(expression)";

/// An expression over the names of a program's own file, which is not written in it: a command line, a test in a comment.
#[derive(Clone, Copy, Debug)]
pub struct Expression<'a> {
    /// Name of the place where it is written, for messages.
    pub name: &'a str,
    /// Names that it mentions and that are given when it is run; it is at least as many bytes long as there are.
    pub parameters: &'a [String],
    /// The expression.
    pub text: &'a str,
    /// Byte offset of the expression in the text. The text before it, such as a command at a prompt, is only shown in messages.
    pub start: usize,
}

impl Expression<'_> {
    /// Returns the text with blanks in place of everything before the expression, so that byte offsets stay the same.
    fn read(&self) -> String {
        let (before, own) = self.text.split_at_checked(self.start).unwrap_or(("", self.text));
        let blanks = before.bytes().map(|byte| if byte == b'\n' { '\n' } else { ' ' });
        blanks.chain(own.chars()).collect()
    }
}

/// A file of a program.
#[derive(Clone, Debug)]
pub struct LoadedModule {
    /// The file.
    pub file: FileId,
    /// Its name in imports.
    pub name: Name,
    /// Its syntax tree.
    pub module: Arc<Module>,
}

impl LoadedModule {
    /// Whether this is one of [`STANDARD`].
    pub fn is_built_in(&self) -> bool {
        is_standard(self.file)
    }
}

impl Program {
    /// Reads a program: a file and all that it imports. `read` returns the text of the file that is imported under a name.
    ///
    /// ```
    /// use pumice_lang::program::Program;
    ///
    /// let read = |name: &str| match name {
    ///     "shapes" => Ok("fun area w h = w * h".to_string()),
    ///     _ => Err("there is no such file".to_string()),
    /// };
    /// let program = Program::load("main.pum", "import shapes\nfun main = shapes::area 3 4", &read).unwrap();
    /// assert_eq!(&*program.modules.last().unwrap().name, "main");
    /// ```
    pub fn load(
        name: &str,
        text: &str,
        read: &dyn Fn(&str) -> Result<String, String>,
    ) -> Result<Program, (Sources, Vec<Diagnostic>)> {
        Program::load_more(Additions::default(), name, text, read)
    }

    /// Reads a program as [`Program::load`] does, for editors: returns what could be read, and all errors. Files that cannot be imported are missing.
    pub fn load_with_errors(
        name: &str,
        text: &str,
        read: &dyn Fn(&str) -> Result<String, String>,
    ) -> (Program, Vec<Diagnostic>) {
        Program::read(Additions::default(), name, text, read)
    }

    /// Reads a program as [`Program::load`] does, with an expression as one more function of the file: [`EXPRESSION`].
    ///
    /// ```
    /// use pumice_lang::program::{EXPRESSION, Expression, Program};
    ///
    /// let none = |name: &str| Err(format!("there is no `{name}`"));
    /// let expression = Expression { name: "command line", parameters: &["y".to_string()], text: "twice y", start: 0 };
    /// let program = Program::load_with(expression, "main.pum", "fun twice x = x + x", &none).unwrap();
    /// let checked = pumice_lang::types::check(&program).unwrap();
    /// assert!(checked.entry(EXPRESSION).is_some());
    /// ```
    pub fn load_with(
        expression: Expression<'_>,
        name: &str,
        text: &str,
        read: &dyn Fn(&str) -> Result<String, String>,
    ) -> Result<Program, (Sources, Vec<Diagnostic>)> {
        let additions = Additions { expression: Some(expression), ..Additions::default() };
        Program::load_more(additions, name, text, read)
    }

    /// Reads a program as [`Program::load`] does, with additions to the file that are not written in it.
    ///
    /// ```
    /// use pumice_lang::{additions::{Additions, Text}, program::Program, types::check};
    ///
    /// let texts = [Text { name: "line 1".to_string(), text: "fun f x = x / 2.0f32".to_string() }];
    /// let additions = Additions { texts: &texts, ..Additions::default() };
    /// let none = |name: &str| Err(format!("there is no `{name}`"));
    /// let program = Program::load_more(additions, "main.pum", "fun f x = not x\nfun main = f 1.0f32", &none).unwrap();
    /// let checked = check(&program).unwrap();
    /// assert_eq!(checked.scheme(checked.entry("f").unwrap()).to_string(), "f32 -> f32");
    /// ```
    pub fn load_more(
        additions: Additions<'_>,
        name: &str,
        text: &str,
        read: &dyn Fn(&str) -> Result<String, String>,
    ) -> Result<Program, (Sources, Vec<Diagnostic>)> {
        let (program, errors) = Program::read(additions, name, text, read);
        if errors.is_empty() { Ok(program) } else { Err((program.sources, errors)) }
    }

    fn read(
        additions: Additions<'_>,
        name: &str,
        text: &str,
        read: &dyn Fn(&str) -> Result<String, String>,
    ) -> (Program, Vec<Diagnostic>) {
        let mut loader = Loader { program: BUILT_IN.clone(), errors: Vec::new(), states: HashMap::new() };
        loader.program.given = additions.given.into();
        loader.load(name, text, additions, read);
        (loader.program, loader.errors)
    }
}

/// Returns the path and the text of a file that comes with the language.
fn shipped(name: &str) -> Option<(String, String)> {
    let known = LIBRARY.iter().find(|(known, _)| *known == name);
    known.map(|(name, text)| (format!("{name}.pum"), text.to_string()))
}

/// The files of [`STANDARD`], with which every program begins, parsed once. A test checks that they have no errors.
static BUILT_IN: LazyLock<Program> = LazyLock::new(|| {
    let program =
        Program { sources: Sources::default(), modules: Vec::new(), expressions: 0, given: [].into() };
    let mut loader = Loader { program, errors: Vec::new(), states: HashMap::new() };
    for (name, text) in STANDARD {
        let loaded = loader.parse(name, &format!("{name}.pum"), text);
        loader.program.modules.push(loaded);
    }
    loader.program
});

struct Loader {
    program: Program,
    errors: Vec<Diagnostic>,
    states: HashMap<Name, State>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// Its imports are being read.
    Open,
    Done,
}

impl Loader {
    /// Reads imports depth first, with a list of files whose imports are being read in place of recursion.
    fn load(
        &mut self,
        name: &str,
        text: &str,
        additions: Additions<'_>,
        read: &dyn Fn(&str) -> Result<String, String>,
    ) {
        let (folder, file) = match name.rfind(['/', '\\']) {
            Some(at) => name.split_at(at + 1),
            None => ("", name),
        };
        let mut main = self.parse(file.strip_suffix(".pum").unwrap_or(file), name, text);
        self.add_all(additions, Arc::make_mut(&mut main.module));
        self.states.insert(main.name.clone(), State::Open);
        let mut open = vec![(main, 0)];
        while let Some((loaded, next)) = open.last_mut() {
            let Some(import) = loaded.module.imports.get(*next).cloned() else {
                let Some((loaded, _)) = open.pop() else { break };
                self.states.insert(loaded.name.clone(), State::Done);
                self.program.modules.push(loaded);
                continue;
            };
            *next += 1;
            let wanted = import.module.name;
            match self.states.get(&wanted) {
                Some(State::Done) => {}
                Some(State::Open) => {
                    let chain = open
                        .iter()
                        .map(|(loaded, next)| (loaded.name.clone(), loaded.module.imports[next - 1].span));
                    let chain: Vec<(Name, Span)> = chain.skip_while(|(name, _)| *name != wanted).collect();
                    self.errors.push(cycle(&chain));
                }
                None if self.program.modules.len() + open.len() >= MAX_FILES => {
                    let message = format!("more than {MAX_FILES} files are imported");
                    self.errors.push(Diagnostic::new(import.span, message).label("this one is too many"));
                    return;
                }
                None => match read(&wanted)
                    .map(|text| (format!("{folder}{wanted}.pum"), text))
                    .or_else(|reason| shipped(&wanted).ok_or(reason))
                {
                    Ok((path, text)) => {
                        let loaded = self.parse(&wanted, &path, &text);
                        self.states.insert(wanted, State::Open);
                        open.push((loaded, 0));
                    }
                    Err(reason) => {
                        let message = format!("`{wanted}` cannot be imported: {reason}");
                        self.errors.push(Diagnostic::new(import.module.span, message));
                        self.states.insert(wanted, State::Done);
                    }
                },
            }
        }
    }

    /// Adds to a file the items and values that are not written in it.
    fn add_all(&mut self, additions: Additions<'_>, module: &mut Module) {
        let own = self.program.sources.len();
        for text in additions.texts {
            let added = self.parse("", &text.name, &text.text).module;
            replace_items(module, Arc::unwrap_or_clone(added));
        }
        for given in additions.given {
            let signed = self.parse("", &given.name, &given.signature()).module;
            add_given(module, Arc::unwrap_or_clone(signed), &mut self.program.expressions);
        }
        leave_out(module, additions.without, FileId(own as u32));
        if let Some(expression) = additions.expression {
            self.add(expression, module);
        }
    }

    /// Adds an expression to the functions of a file.
    fn add(&mut self, expression: Expression<'_>, module: &mut Module) {
        let file = self.program.sources.add(Source::new(expression.name, expression.text));
        let (body, errors) = parse_expression(file, &expression.read(), &mut self.program.expressions);
        self.errors.extend(errors);
        // Parameters are not written in the source, so each gets a span of its own: binders are told apart by their spans.
        let parameter = |(at, name): (u32, &String)| {
            let span = Span { file, start: at, end: at };
            Parameter::Value(Pattern { span, kind: PatternKind::Name(name.as_str().into()) })
        };
        let span = body.span;
        module.functions.push(Function {
            docs: None,
            name: Ident { name: EXPRESSION.into(), span },
            parameters: (0..).zip(expression.parameters).map(parameter).collect(),
            body,
            span,
        });
    }

    fn parse(&mut self, name: &str, path: &str, text: &str) -> LoadedModule {
        let file = self.program.sources.add(Source::new(path, text));
        let parsed = parse(file, text, &mut self.program.expressions);
        self.errors.extend(parsed.errors);
        LoadedModule { file, name: name.into(), module: Arc::new(parsed.module) }
    }
}

/// Returns the error for files that import each other, with the import of each.
fn cycle(chain: &[(Name, Span)]) -> Diagnostic {
    let Some(((_, last), rest)) = chain.split_last() else {
        return Diagnostic::new(Span { file: FileId(0), start: 0, end: 0 }, "a file imports itself");
    };
    let mut error = Diagnostic::new(
        *last,
        if rest.is_empty() { "a file imports itself" } else { "files import each other" },
    );
    for (_, span) in rest {
        error = error.other(*span, "which is imported here");
    }
    error.label("this file is being imported already").help("move what both need into a file of its own")
}
