//! A function of a file with the arguments of a command line, as an array program and its inputs. Arguments that are expressions become part
//! of the program; arrays of files are given when it runs, with the types that the files have.

use super::file::{Checks, Wrong, checks, text};
use super::files::{self, is_file};
use crate::error::{Error, Result};
use crate::options::Options;
use pumice::layers::array::{ArrayData, HostData};
use pumice::layers::runtime::Inputs;
use pumice::layers::scalar::{Constant, ScalarType};
use pumice_lang::evaluate::{self, Compiled, columns, compile};
use pumice_lang::program::{EXPRESSION, Expression};
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
        Expression { name: "command line", parameters: &self.names, text: &self.expression }
    }
}

/// The call that a command line writes. Where arguments may be missing, they are names without a value.
pub fn written(options: &Options, may_miss: bool) -> Result<WrittenCall> {
    let [path, arguments @ ..] = options.words() else {
        return Err(Error::Usage("name a `.pum` file".to_string()));
    };
    if !path.ends_with(".pum") {
        return Err(Error::Usage(format!("`{path}` is no `.pum` file, and the file comes first")));
    }
    let source = text(path)?;
    let entry = options.value("--entry").unwrap_or("main").to_string();
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
    Ok(WrittenCall { path: path.clone(), source, entry, expression, names, arrays })
}

/// The call that a command line describes. Where a size is given, arguments may be missing: then arrays have this many elements along each
/// dimension, all zero, and integers are this number.
pub fn call(options: &Options, size: Option<usize>) -> Result<Call> {
    let mut written = written(options, size.is_some())?;
    let (checked, compiled) =
        prepare(&written.path, &written.source, written.expression()).map_err(|wrong| wrong.tell())?;
    let mut inputs = Inputs::default();
    let mut given = std::mem::take(&mut written.arrays).into_iter();
    for (name, ty) in &compiled.parameters {
        match (given.next(), size) {
            (Some(array), _) => add_array(array, &mut inputs),
            (None, Some(size)) => add_zeros(ty, size, checked.sums(), &mut inputs)
                .ok_or_else(|| Error::Usage(format!("give `{name}` a value: it is of type `{ty}`")))?,
            (None, None) => {
                let entry = &written.entry;
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
    let Some(entry) = checked.entry(EXPRESSION) else { return Err(Wrong::lost(&program)) };
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

/// Adds an argument of a type that nobody gave: arrays and numbers in the order of the type.
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
            add_array(HostData::new(extents, types, data), inputs);
        }
        _ => return None,
    }
    Some(())
}
