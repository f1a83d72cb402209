//! A function of a file with the arguments of a command line, as an array program and its inputs. Arguments that are expressions become part
//! of the program; arrays of files are inputs of it, with the types that the files have.

use super::file::{Checks, Wrong, checks, text};
use super::files::{self, is_file};
use crate::error::{Error, Result};
use crate::subject::Subject;
use pumice::layers::array::{ArrayData, ArrayProgram, HostData, whole_columns};
use pumice::layers::runtime::Inputs;
use pumice::layers::scalar::Constant;
use pumice_lang::evaluate::{self, Compiled, Placeholders, Sizes, columns, compile};
use pumice_lang::program::{EXPRESSION, Expression};
use pumice_lang::types::{Checked, Scheme, SumDeclaration, Type};
use std::sync::Arc;

/// Default number of threads of a block, `#BlockSize`.
pub const BLOCK_SIZE: u32 = 256;

/// A program and its inputs.
pub struct Call {
    /// The program, and the types of its parameters and result.
    pub compiled: Compiled,
    /// Its inputs.
    pub inputs: Inputs,
    checked: Arc<Checked>,
}

impl Call {
    /// Returns a call of a program with these inputs.
    pub fn new(compiled: Compiled, inputs: Inputs, checked: Arc<Checked>) -> Call {
        Call { compiled, inputs, checked }
    }

    /// Returns the sum types that the program declares.
    pub fn sums(&self) -> &[SumDeclaration] {
        self.checked.sums()
    }
}

/// An expression over a file, with names for its inputs.
pub struct Written {
    /// Its place, for error messages.
    pub name: String,
    /// The expression.
    pub text: String,
    /// The names, each with its input.
    pub given: Vec<(String, Given)>,
}

/// Input for a name.
pub enum Given {
    /// An array of a file.
    File(HostData),
    /// The arrays and numbers of a value that was computed before.
    Computed(Vec<Arc<dyn ArrayData>>),
    /// No value: arrays have this many elements along each dimension, all zero, and integers are this number.
    Size(usize),
}

/// Returns the call that a command line describes. If a size is given, arguments may be missing.
pub fn call(subject: &Subject, size: Option<usize>, block_size: Option<u32>) -> Result<Call> {
    let (path, arguments) = subject.file()?;
    let source = text(path)?;
    let written = written(path, &source, subject.entry(), &arguments, size)?;
    build(path, &source, written, subject.block_size().or(block_size))
}

/// Writes a call of a function of a file with arguments that are expressions or files.
pub fn written(
    path: &str,
    source: &str,
    entry: &str,
    arguments: &[&str],
    size: Option<usize>,
) -> Result<Written> {
    let missing = missing(path, source, entry, arguments.len(), size.is_some())?;
    let mut written =
        Written { name: "command line".to_string(), text: entry.to_string(), given: Vec::new() };
    for argument in arguments {
        if is_file(argument) {
            let array = files::read(argument)?;
            let name = format!("file{}", written.given.len() + 1);
            written.text.push_str(&format!(" ({name} : {})", array_type(&array)));
            written.given.push((name, Given::File(array)));
        } else {
            // A comment at its end extends to the end of the line.
            let end = if argument.contains("--") { "\n" } else { "" };
            written.text.push_str(&format!(" ({argument}{end})"));
        }
    }
    for size in size.into_iter().cycle().take(missing) {
        let name = format!("argument{}", written.given.len() + 1);
        written.text.push_str(&format!(" {name}"));
        written.given.push((name, Given::Size(size)));
    }
    Ok(written)
}

/// Makes an array program and its inputs of a written call.
pub fn build(path: &str, source: &str, written: Written, block_size: Option<u32>) -> Result<Call> {
    let (names, given): (Vec<String>, Vec<Given>) = written.given.into_iter().unzip();
    let expression = Expression { name: &written.name, parameters: &names, text: &written.text, start: 0 };
    let (checked, compiled) = prepare(path, source, expression, block_size)?;
    let mut inputs = Inputs::default();
    let mut given = given.into_iter();
    for (name, ty) in &compiled.parameters {
        match given.next() {
            Some(Given::File(array)) => add_array(Arc::new(array), &mut inputs),
            Some(Given::Computed(arrays)) => {
                add_computed(ty, checked.sums(), &mut arrays.into_iter(), &mut inputs)?;
            }
            Some(Given::Size(size)) => add_missing(name, ty, size, checked.sums(), &mut inputs)?,
            None => return Err(gives_function()),
        }
    }
    Ok(Call { compiled, inputs, checked })
}

/// Makes an array program of an expression over the functions of a text and parameters of these types.
pub fn prepare_expression(
    text: &str,
    parameters: &[(&str, &str)],
    expression: &str,
) -> std::result::Result<ArrayProgram, String> {
    let typed = parameters.iter().map(|(name, ty)| format!("{name} = ({name} : {ty}); ")).collect::<String>();
    let text_of = format!("let {typed}in {expression}");
    let names: Vec<String> = parameters.iter().map(|(name, _)| name.to_string()).collect();
    let expression = Expression { name: "expression", parameters: &names, text: &text_of, start: 0 };
    let prepared = prepare("text.pum", text, expression, None);
    prepared.map(|(_, compiled)| compiled.program).map_err(|wrong| wrong.render(false))
}

/// Returns the error for a result that is a function.
pub fn gives_function() -> Error {
    Error::Failed("the call gives a function, which cannot be printed".to_string())
}

/// Makes an array program of an expression over a file, with this `#BlockSize`.
pub fn prepare(
    path: &str,
    source: &str,
    expression: Expression<'_>,
    block_size: Option<u32>,
) -> std::result::Result<(Arc<Checked>, Compiled), Wrong> {
    let checks = checks(path, source, Some(expression))?;
    let compiled = compiled(&checks, block_size)?;
    Ok((checks.checked, compiled))
}

/// Makes an array program of the expression of a program, with this `#BlockSize`.
pub fn compiled(
    Checks { program, checked }: &Checks,
    block_size: Option<u32>,
) -> std::result::Result<Compiled, Wrong> {
    let Some(entry) = checked.entry(EXPRESSION) else { return Err(Wrong::lost(program)) };
    let block_size = block_size.unwrap_or(BLOCK_SIZE);
    let options = evaluate::Options { block_size, ..evaluate::Options::default() };
    compile(program, checked, entry, &[], options).map_err(|error| Wrong::of(program, error))
}

/// Returns the number of missing arguments; an error if there are any and `may_miss` is false.
fn missing(path: &str, source: &str, entry: &str, given: usize, may_miss: bool) -> Result<usize> {
    let checked = checks(path, source, None)?.checked;
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

/// Returns the type of a file's array in the syntax of the language.
fn array_type(array: &HostData) -> String {
    let element = array.types().first().map_or("f64", |ty| ty.name());
    match array.extents() {
        [_] => format!("[{element}]"),
        extents => format!("[{element}; {}]", vec!["_"; extents.len()].join(", ")),
    }
}

/// Adds the next array to the inputs.
pub fn add_array(array: Arc<dyn ArrayData>, inputs: &mut Inputs) {
    let number = inputs.arrays.len() as u32;
    inputs.arrays.insert(number, array);
}

/// Adds a missing argument to the inputs: arrays and numbers in the order of the type.
pub fn add_missing(
    name: &str,
    ty: &Type,
    size: usize,
    sums: &[SumDeclaration],
    inputs: &mut Inputs,
) -> Result<()> {
    let wanted = || Error::Usage(format!("give `{name}` a value: it is of type `{ty}`"));
    let mut made = Placeholders::default();
    made.add(ty, Sizes::all(size), sums).ok_or_else(wanted)?;
    made.arrays.into_iter().for_each(|array| add_array(Arc::new(array), inputs));
    inputs.scalars.extend(made.scalars);
    Ok(())
}

/// Adds a computed value to the inputs: arrays as they are, numbers as scalars, in the order of the type.
fn add_computed(
    ty: &Type,
    sums: &[SumDeclaration],
    arrays: &mut std::vec::IntoIter<Arc<dyn ArrayData>>,
    inputs: &mut Inputs,
) -> Result<()> {
    let (element, rank) = match ty {
        Type::Tuple(parts) => {
            return parts.iter().try_for_each(|part| add_computed(part, sums, arrays, inputs));
        }
        Type::Record(fields) => {
            return fields.iter().try_for_each(|(_, field)| add_computed(field, sums, arrays, inputs));
        }
        Type::Array { element, sizes, .. } => (&**element, sizes.len()),
        other => (other, 0),
    };
    let other = || {
        Error::Failed(format!(
            "an argument of type `{ty}` is of another type by itself: say its type, `(e : type)`"
        ))
    };
    let array = arrays.next().ok_or_else(other)?;
    // Reading the elements reports a failure of the computation.
    let found = whole_columns(&*array).map_err(pumice::Error::from)?;
    if array.extents().len() != rank || columns(element, sums).as_deref() != Some(array.types()) {
        return Err(other());
    }
    match (ty, &found[..]) {
        (Type::Scalar(scalar), [bytes]) => inputs.scalars.push(Constant::from_bytes(*scalar, bytes)),
        _ => {
            drop(found);
            add_array(array, inputs);
        }
    }
    Ok(())
}
