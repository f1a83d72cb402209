//! A function of a file with the arguments of a command line, as an array program and its inputs. Arguments that are expressions become part
//! of the program; arrays of files are given when it runs, with the types that the files have.

use super::file::{Checks, Wrong, checks, text};
use super::files::{self, is_file};
use crate::error::{Error, Result};
use crate::options::Options;
use pumice::layers::array::{ArrayData, HostData};
use pumice::layers::runtime::Inputs;
use pumice_lang::diagnostic::Diagnostic;
use pumice_lang::evaluate::{self, Compiled, Placeholders, Sizes, compile};
use pumice_lang::program::{EXPRESSION, Expression};
use pumice_lang::source::{FileId, Span};
use pumice_lang::types::{Checked, Scheme, SumDeclaration, Type};
use std::sync::Arc;

/// The threads of a block: `#BlockSize`.
const BLOCK_SIZE: u32 = 256;

/// A program and what it is run with.
pub struct Call {
    /// The program, and the types of what it is given and gives.
    pub compiled: Compiled,
    /// What it is given.
    pub inputs: Inputs,
    checked: Arc<Checked>,
}

impl Call {
    /// The sums that the program declares.
    pub fn sums(&self) -> &[SumDeclaration] {
        self.checked.sums()
    }
}

/// The call that a command line describes. Where a size is given, arguments may be missing: then arrays have this many elements along each
/// dimension, all zero, and integers are this number.
pub fn call(options: &Options, size: Option<usize>) -> Result<Call> {
    let [path, arguments @ ..] = options.words() else {
        return Err(Error::Usage("name a `.pum` file".to_string()));
    };
    if !path.ends_with(".pum") {
        return Err(Error::Usage(format!("`{path}` is no `.pum` file, and the file comes first")));
    }
    let source = text(path)?;
    let entry = options.value("--entry").unwrap_or("main");
    let missing = missing(path, &source, entry, arguments.len(), size.is_some())?;
    let (mut expression, mut names, mut given) = (entry.to_string(), Vec::new(), Vec::new());
    for argument in arguments {
        if is_file(argument) {
            let array = files::read(argument)?;
            let name = format!("file{}", names.len() + 1);
            expression.push_str(&format!(" ({name} : {})", array_type(&array)));
            names.push(name);
            given.push(array);
        } else {
            // A comment at its end goes as far as the line does.
            let end = if argument.contains("--") { "\n" } else { "" };
            expression.push_str(&format!(" ({argument}{end})"));
        }
    }
    for _ in 0..missing {
        let name = format!("argument{}", names.len() + 1);
        expression.push_str(&format!(" {name}"));
        names.push(name);
    }
    let expression = Expression { name: "command line", parameters: &names, text: &expression };
    let (checked, compiled) = prepare(path, &source, expression).map_err(|wrong| wrong.tell())?;
    let mut inputs = Inputs::default();
    let mut given = given.into_iter();
    for (name, ty) in &compiled.parameters {
        match (given.next(), size) {
            (Some(array), _) => add_array(array, &mut inputs),
            (None, Some(size)) => {
                let mut made = Placeholders::default();
                made.add(ty, Sizes::all(size), checked.sums())
                    .ok_or_else(|| Error::Usage(format!("give `{name}` a value: it is of type `{ty}`")))?;
                made.arrays.into_iter().for_each(|array| add_array(array, &mut inputs));
                inputs.scalars.extend(made.scalars);
            }
            (None, None) => {
                return Err(Error::Failed(format!("`{entry}` gives a function, which cannot be printed")));
            }
        }
    }
    Ok(Call { compiled, inputs, checked })
}

/// Makes an array program of an expression over a file.
pub fn prepare(
    path: &str,
    source: &str,
    expression: Expression<'_>,
) -> std::result::Result<(Arc<Checked>, Compiled), Wrong> {
    let Checks { program, checked } = checks(path, source, Some(expression))?;
    let Some(entry) = checked.entry(EXPRESSION) else {
        let nowhere = Span { file: FileId(0), start: 0, end: 0 };
        let error = Diagnostic::new(nowhere, "the expression got lost: that is a fault of Pumice");
        return Err(Wrong::of(&program, error));
    };
    let options = evaluate::Options { block_size: BLOCK_SIZE, ..evaluate::Options::default() };
    match compile(&program, &checked, entry, &[], options) {
        Ok(compiled) => Ok((checked, compiled)),
        Err(error) => Err(Wrong::of(&program, error)),
    }
}

/// How many arguments the function has that are not given; an error if there are any and none may be.
fn missing(path: &str, source: &str, entry: &str, given: usize, may_miss: bool) -> Result<usize> {
    let checked = checks(path, source, None).map_err(|wrong| wrong.tell())?.checked;
    let Some(function) = checked.entry(entry) else {
        let names = checked.own_functions().map(|id| checked.function(id).0.name.name.to_string());
        let names = names.collect::<Vec<_>>().join(", ");
        let names = if names.is_empty() { "it has none".to_string() } else { format!("it has {names}") };
        return Err(Error::Usage(format!("{path} has no function `{entry}`; {names}; --entry names one")));
    };
    let scheme = checked.scheme(function);
    let takes = arity(scheme);
    match takes.checked_sub(given) {
        Some(missing) if missing > 0 && !may_miss => {
            let arguments = if takes == 1 { "argument" } else { "arguments" };
            let are = if given == 1 { "is" } else { "are" };
            Err(Error::Usage(format!(
                "`{entry}` takes {takes} {arguments}, and {given} {are} given: {entry} : {scheme}"
            )))
        }
        missing => Ok(missing.unwrap_or(0)),
    }
}

fn arity(scheme: &Scheme) -> usize {
    let (mut ty, mut count) = (&scheme.ty, 0);
    while let Type::Function(_, to) = ty {
        (ty, count) = (to, count + 1);
    }
    count
}

/// The type of a file's array, as it is written.
fn array_type(array: &HostData) -> String {
    let element = array.types().first().map_or("f64", |ty| ty.name());
    match array.extents() {
        [_] => format!("[{element}]"),
        extents => format!("[{element}; {}]", vec!["_"; extents.len()].join(", ")),
    }
}

fn add_array(array: HostData, inputs: &mut Inputs) {
    let number = inputs.arrays.len() as u32;
    inputs.arrays.insert(number, Arc::new(array));
}
