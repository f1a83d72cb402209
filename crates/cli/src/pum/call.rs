//! A function of a file with the arguments of a command line, as an array program and its inputs. Arguments that are expressions become part
//! of the program; arrays of files are given when it runs, with the types that the files have.

use super::file::{Checks, Wrong, checks, text};
use super::files::{self, is_file};
use crate::error::{Error, Result};
use crate::subject::Subject;
use pumice::layers::array::{ArrayData, ArrayProgram, HostData};
use pumice::layers::runtime::Inputs;
use pumice::layers::scalar::{Constant, ScalarType};
use pumice_lang::diagnostic::Diagnostic;
use pumice_lang::evaluate::{self, Compiled, columns, compile};
use pumice_lang::program::{EXPRESSION, Expression};
use pumice_lang::source::{FileId, Span};
use pumice_lang::types::{Checked, Scheme, Size, SumDeclaration, Type};
use std::sync::Arc;

/// The threads of a block: `#BlockSize`.
pub const BLOCK_SIZE: u32 = 256;

/// A program and what it is run with.
pub struct Call {
    /// The program, and the types of what it is given and gives.
    pub compiled: Compiled,
    /// What it is given.
    pub inputs: Inputs,
    checked: Arc<Checked>,
}

impl Call {
    /// A program with what it is run with.
    pub fn new(compiled: Compiled, inputs: Inputs, checked: Arc<Checked>) -> Call {
        Call { compiled, inputs, checked }
    }

    /// The sums that the program declares.
    pub fn sums(&self) -> &[SumDeclaration] {
        self.checked.sums()
    }
}

/// A function with the arguments of a command line, as an expression over its file.
pub struct WrittenCall {
    path: String,
    source: String,
    entry: String,
    expression: String,
    /// What the expression calls arguments that are no expressions.
    names: Vec<String>,
    /// The arrays of files, which are the first of them.
    pub arrays: Vec<HostData>,
}

impl WrittenCall {
    /// The program with the expression in it, or what is wrong with them.
    pub fn checks(&self) -> std::result::Result<Checks, Wrong> {
        checks(&self.path, &self.source, Some(self.expression()))
    }

    fn expression(&self) -> Expression<'_> {
        Expression { name: "command line", parameters: &self.names, text: &self.expression, start: 0 }
    }
}

/// The call that a command line writes. Where arguments may be missing, they are names without a value.
pub fn written(subject: &Subject, may_miss: bool) -> Result<WrittenCall> {
    let (path, arguments) = subject.file()?;
    let source = text(path)?;
    let entry = subject.entry().to_string();
    let missing = missing(path, &source, &entry, arguments.len(), may_miss)?;
    let (mut expression, mut names, mut arrays) = (entry.clone(), Vec::new(), Vec::new());
    for argument in arguments {
        if is_file(argument) {
            let array = files::read(argument)?;
            let name = format!("file{}", names.len() + 1);
            expression.push_str(&format!(" ({name} : {})", array_type(&array)));
            names.push(name);
            arrays.push(array);
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
    Ok(WrittenCall { path: path.to_string(), source, entry, expression, names, arrays })
}

/// The call that a command line describes. Where a size is given, arguments may be missing: then arrays have this many elements along each
/// dimension, all zero, and integers are this number.
pub fn call(subject: &Subject, size: Option<usize>) -> Result<Call> {
    let mut written = written(subject, size.is_some())?;
    let (checked, compiled) =
        prepare(&written.path, &written.source, written.expression(), subject.block_size())
            .map_err(|wrong| wrong.tell())?;
    let mut inputs = Inputs::default();
    let mut given = std::mem::take(&mut written.arrays).into_iter();
    for (name, ty) in &compiled.parameters {
        match (given.next(), size) {
            (Some(array), _) => add_array(Arc::new(array), &mut inputs),
            (None, Some(size)) => add_missing(name, ty, size, checked.sums(), &mut inputs)?,
            (None, None) => return Err(gives_function(&written.entry)),
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

/// What is wrong with a result that is a function.
pub fn gives_function(entry: &str) -> Error {
    Error::Failed(format!("`{entry}` gives a function, which cannot be printed"))
}

/// Makes an array program of an expression over a file, in which `#BlockSize` is this.
pub fn prepare(
    path: &str,
    source: &str,
    expression: Expression<'_>,
    block_size: Option<u32>,
) -> std::result::Result<(Arc<Checked>, Compiled), Wrong> {
    let checks = checks(path, source, Some(expression))?;
    let compiled = build(&checks, block_size)?;
    Ok((checks.checked, compiled))
}

/// Makes an array program of the expression of a program, in which `#BlockSize` is this.
pub fn build(
    Checks { program, checked }: &Checks,
    block_size: Option<u32>,
) -> std::result::Result<Compiled, Wrong> {
    let Some(entry) = checked.entry(EXPRESSION) else {
        let nowhere = Span { file: FileId(0), start: 0, end: 0 };
        let error = Diagnostic::new(nowhere, "the expression got lost: that is a fault of Pumice");
        return Err(Wrong::of(program, error));
    };
    let block_size = block_size.unwrap_or(BLOCK_SIZE);
    let options = evaluate::Options { block_size, ..evaluate::Options::default() };
    compile(program, checked, entry, &[], options).map_err(|error| Wrong::of(program, error))
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

/// Adds the next array.
pub fn add_array(array: Arc<dyn ArrayData>, inputs: &mut Inputs) {
    let number = inputs.arrays.len() as u32;
    inputs.arrays.insert(number, array);
}

/// Adds an argument that nobody gave: arrays and numbers in the order of the type.
pub fn add_missing(
    name: &str,
    ty: &Type,
    size: usize,
    sums: &[SumDeclaration],
    inputs: &mut Inputs,
) -> Result<()> {
    let wanted = || Error::Usage(format!("give `{name}` a value: it is of type `{ty}`"));
    add_zeros(ty, size, sums, inputs).ok_or_else(wanted)
}

fn add_zeros(ty: &Type, size: usize, sums: &[SumDeclaration], inputs: &mut Inputs) -> Option<()> {
    match ty {
        Type::Scalar(scalar) => inputs.scalars.push(match scalar {
            ScalarType::F32 => Constant::from(1f32),
            ScalarType::F64 => Constant::from(1f64),
            ScalarType::Bool => Constant::from(true),
            integer => Constant::from_integer(*integer, size as i128),
        }),
        Type::Tuple(parts) => {
            parts.iter().try_for_each(|part| add_zeros(part, size, sums, inputs))?;
        }
        Type::Record(fields) => {
            fields.iter().try_for_each(|(_, field)| add_zeros(field, size, sums, inputs))?;
        }
        Type::Array { element, sizes, level: None } => {
            let extent = |extent: &Size| match extent {
                Size::Number(number) => usize::try_from(*number).ok(),
                _ => Some(size),
            };
            let extents = sizes.iter().map(extent).collect::<Option<Vec<_>>>()?;
            let count = extents.iter().try_fold(1usize, |count, extent| count.checked_mul(*extent))?;
            let types = columns(element, sums)?;
            let column = |ty: &ScalarType| {
                let bytes = count.checked_mul(ty.bytes()).filter(|bytes| *bytes <= files::MOST_BYTES)?;
                Some(vec![0; bytes])
            };
            let data = types.iter().map(column).collect::<Option<Vec<_>>>()?;
            add_array(Arc::new(HostData::new(extents, types, data)), inputs);
        }
        _ => return None,
    }
    Some(())
}
