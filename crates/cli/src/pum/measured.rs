//! Timed calls. Their arguments are computed beforehand, so that computing them is no part of the program and nothing of them can be
//! evaluated while the program is built.
//!
//! Arrays and floats become inputs of the program. Integers, truth values and functions stay in it, because sizes and chunks must be known
//! when kernels are built.

use super::call::{Call, Given, Written, build, prepare};
use super::file::{Checks, checks};
use crate::bench::timing::{Spread, Timing};
use crate::error::{Error, Result};
use pumice::layers::array::{ArrayData, whole_columns};
use pumice::layers::runtime::{Engine, Inputs};
use pumice::{Compiler, Untyped};
use pumice_lang::ast::{Expr, ExprKind};
use pumice_lang::evaluate::columns;
use pumice_lang::program::{EXPRESSION, Expression, LoadedModule, Program};
use pumice_lang::types::{Checked, SumDeclaration, Type};
use std::ops::Range;
use std::sync::Arc;

/// A program whose inputs are on the device.
pub struct Prepared {
    program: Untyped,
    inputs: Inputs,
    /// Bytes of its input arrays.
    pub argument_bytes: usize,
    /// Bytes of its results.
    pub result_bytes: usize,
}

impl Prepared {
    /// Compiles a call, computes its arguments, and runs it once.
    pub fn new(
        path: &str,
        source: &str,
        written: Written,
        block_size: Option<u32>,
        compiler: &Compiler,
    ) -> Result<Prepared> {
        let written = with_computed(path, source, written, compiler)?;
        let Call { compiled, mut inputs, .. } = build(path, source, written, block_size)?;
        let engine = Engine::of(compiler.device().clone());
        for array in inputs.arrays.values_mut() {
            *array = engine.upload(array)?;
        }
        let program = compiler.compile_program(compiled.program)?;
        let results = program.run_all(&inputs)?;
        for result in &results {
            // Reading the elements reports a failure of the run.
            whole_columns(&**result).map_err(pumice::Error::from)?;
        }
        let first = program.plan(&inputs)?;
        if first.launches().next().is_none() && first.reads().is_none() {
            return Err(Error::Failed("nothing is launched, so there is nothing to time".to_string()));
        }
        let (argument_bytes, result_bytes) = (bytes(inputs.arrays.values()), bytes(&results));
        Ok(Prepared { program, inputs, argument_bytes, result_bytes })
    }

    /// Runs it once; returns the milliseconds.
    pub fn time(&self) -> pumice::Result<f64> {
        let times = self.program.time(&self.inputs, 1)?;
        times.first().copied().ok_or_else(|| pumice::Error::Invalid("a run has no time".into()))
    }

    /// Runs it as often as `timing` chooses, and returns the spread of the times.
    pub fn measure(&self, timing: &Timing) -> pumice::Result<Spread> {
        timing.spread(|| self.time())
    }
}

fn bytes<'a>(arrays: impl IntoIterator<Item = &'a Arc<dyn ArrayData>>) -> usize {
    let size = |array: &Arc<dyn ArrayData>| {
        let element: usize = array.types().iter().map(|ty| ty.bytes()).sum();
        array.extents().iter().fold(element, |bytes, extent| bytes.saturating_mul(*extent))
    };
    arrays.into_iter().map(size).fold(0, usize::saturating_add)
}

/// Computes the arguments that contain arrays or floats, and replaces them in the call by names.
fn with_computed(path: &str, source: &str, written: Written, compiler: &Compiler) -> Result<Written> {
    let names: Vec<String> = written.given.iter().map(|(name, _)| name.clone()).collect();
    let expression = Expression { name: &written.name, parameters: &names, text: &written.text, start: 0 };
    let Checks { program, checked } = checks(path, source, Some(expression))?;
    let Written { name: place, mut text, given } = written;
    let mut all = Vec::new();
    // From the last to the first, so that the earlier ranges stay valid.
    for (number, (range, ty)) in data_arguments(&checked).into_iter().enumerate() {
        let Some(argument) = text.get(range.clone()).map(str::to_string) else { continue };
        if is_given(&argument, &names) {
            continue;
        }
        let typed = format!(" : {}", written_type(&ty, &program));
        let value = computed(path, source, &place, &format!("({argument}\n{typed})"), compiler)?;
        let name = format!("computed{}", number + 1);
        text.replace_range(range, &format!("({name}{typed})"));
        all.push((name, Given::Computed(value)));
    }
    all.extend(given);
    Ok(Written { name: place, text, given: all })
}

/// Returns whether an argument is one of these names, with a type annotation or without.
fn is_given(argument: &str, names: &[String]) -> bool {
    let name = argument.trim_start_matches('(').split([' ', ')']).next().unwrap_or_default();
    names.iter().any(|known| known == name)
}

/// Returns the arguments of the call that are data, with their ranges and types, last first.
fn data_arguments(checked: &Checked) -> Vec<(Range<usize>, Type)> {
    let Some(call) = checked.entry(EXPRESSION) else { return Vec::new() };
    let mut rest: &Expr = &checked.function(call).0.body;
    let mut found = Vec::new();
    loop {
        rest = match &rest.kind {
            ExprKind::Apply(function, argument) => {
                let ty = checked.type_of(argument.id);
                if is_data(&ty, checked.sums()) == Some(true) {
                    found.push((argument.span.range(), ty));
                }
                function
            }
            ExprKind::ApplyLevel(function, _) => function,
            _ => return found,
        };
    }
}

/// Returns whether a type contains arrays or floats; `None` if its values cannot be inputs of a program.
fn is_data(ty: &Type, sums: &[SumDeclaration]) -> Option<bool> {
    let or = |found: bool, part: &Type| Some(is_data(part, sums)? || found);
    match ty {
        Type::Scalar(scalar) => Some(scalar.is_float()),
        Type::Tuple(parts) => parts.iter().try_fold(false, or),
        Type::Record(fields) => fields.iter().try_fold(false, |found, (_, field)| or(found, field)),
        Type::Array { element, level: None, .. } => columns(element, sums).map(|_| true),
        _ => None,
    }
}

/// Writes a type as the program's own file would: sum types of another file are qualified with that file's name where needed.
fn written_type(ty: &Type, program: &Program) -> String {
    let Some((own, others)) = program.modules.split_last() else { return ty.to_string() };
    let declares =
        |module: &LoadedModule, name: &str| module.module.types.iter().any(|ty| &*ty.name.name == name);
    let is_known = |name: &str| {
        let mut listed = own.module.imports.iter().flat_map(|import| &import.names);
        declares(own, name) || listed.any(|listed| &*listed.name == name)
    };
    let is_end = |letter: char| !(letter.is_alphanumeric() || letter == '_' || letter == '\'');
    let qualified = |piece: &str| {
        let name = piece.trim_end_matches(is_end);
        match others.iter().find(|module| !module.is_built_in() && declares(module, name)) {
            Some(module) if !is_known(name) => format!("{}::{piece}", module.name),
            _ => piece.to_string(),
        }
    };
    ty.to_string().split_inclusive(is_end).map(qualified).collect()
}

/// Computes an expression over a file.
fn computed(
    path: &str,
    source: &str,
    name: &str,
    text: &str,
    compiler: &Compiler,
) -> Result<Vec<Arc<dyn ArrayData>>> {
    let expression = Expression { name, parameters: &[], text, start: 0 };
    let (_, compiled) = prepare(path, source, expression, None)?;
    Ok(compiler.compile_program(compiled.program)?.run_all(&Inputs::default())?)
}
