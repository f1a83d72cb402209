//! Kernels of a library that are compiled ahead of time, so that it needs no C compiler where it runs: those of plans for arrays of given sizes.

use crate::error::{Error, Result};
use pumice::Compiler;
use pumice::layers::array::{ArrayData, Error as ArrayError, Plan};
use pumice::layers::program::Verified;
use pumice::layers::runtime::devices::{KernelsAhead, Sim};
use pumice::layers::runtime::{EmitOptions, Inputs};
use pumice::layers::scalar::{Constant, ScalarType};
use pumice::pum::{Export, Leaf, Module, ModuleFunction, Size};
use pumice_lang::bindings::FileText;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The sizes of `usual`: the smallest ones, whose loops are unrolled, and then some for each way in which work is divided.
const USUAL: [usize; 25] = [
    0,
    1,
    2,
    3,
    4,
    5,
    6,
    7,
    8,
    9,
    10,
    11,
    12,
    13,
    14,
    15,
    16,
    31,
    100,
    1_000,
    1_024,
    3_000,
    10_000,
    1_000_000,
    100_000_000,
];

/// Parses `--size`: numbers of elements, or `usual`.
pub fn sizes(text: &str) -> Result<Vec<usize>> {
    if text == "usual" {
        return Ok(USUAL.to_vec());
    }
    let wrong = || {
        Error::Usage(format!(
            "--size takes numbers of elements, such as 10,1000, or `usual`, and not `{text}`"
        ))
    };
    let size = |text: &str| text.trim().parse().ok().filter(|size| i32::try_from(*size).is_ok());
    text.split(',').map(|text| size(text).ok_or_else(wrong)).collect()
}

/// Compiles the kernels of functions for arrays of these sizes.
pub fn kernels(texts: &[FileText<'_>], exports: &[Export], sizes: &[usize]) -> Result<KernelsAhead> {
    let texts: Vec<(&str, &str)> = texts.iter().map(|file| (file.name, file.text)).collect();
    let module = Module::load(&texts)?;
    let mut programs: BTreeMap<String, Arc<Verified>> = BTreeMap::new();
    for export in exports {
        let function = module.function(&export.name)?;
        for plan in plans(&function, sizes)? {
            programs
                .extend(plan.launches().map(|launch| (launch.program.key_text(), launch.program.clone())));
        }
    }
    let programs: Vec<&Verified> = programs.values().map(|program| &**program).collect();
    Ok(KernelsAhead::compile(&programs, &EmitOptions::default())?)
}

/// Returns the plans of a function for arrays of these sizes. A size that is impossible, as where extents must be equal, has none.
fn plans(function: &ModuleFunction, sizes: &[usize]) -> Result<Vec<Plan>> {
    let device = Arc::new(Sim::observing(KernelsAhead::profile()));
    let program = Compiler::with(device).compile_program(function.columns())?;
    let foreseen =
        sizes.iter().flat_map(|size| program.foresee(&inputs(function.export(), *size)).unwrap_or_default());
    Ok(foreseen.filter_map(|foreseen| foreseen.plan.ok()).collect())
}

/// Returns arguments with this many elements in each array; integers are that number too.
fn inputs(export: &Export, size: usize) -> Inputs {
    let mut inputs = Inputs::default();
    let leaves = export.parameters.iter().flat_map(|(_, datum)| datum.leaves());
    for Leaf { ty, sizes, .. } in leaves {
        match sizes {
            Some(sizes) => {
                let array = Unseen { extents: extents(&sizes, size), types: [ty] };
                inputs.arrays.insert(inputs.arrays.len() as u32, Arc::new(array));
            }
            None => inputs.scalars.push(match ty {
                float if float.is_float() => Constant::from_float(float, 1.0),
                ScalarType::Bool => Constant::from(true),
                integer => Constant::from_integer(integer, size as i128),
            }),
        }
    }
    inputs
}

/// Returns extents of an array of about this many elements, equal in each dimension whose extent is not fixed.
fn extents(sizes: &[Size], elements: usize) -> Vec<usize> {
    let side = (elements as f64).powf(1.0 / sizes.len().max(1) as f64).round() as usize;
    let extent = |size: &Size| match size {
        Size::Number(number) => usize::try_from(*number).unwrap_or(side),
        _ => side,
    };
    sizes.iter().map(extent).collect()
}

/// An array of which only the extents are known. It is for planning; nothing is run.
struct Unseen {
    extents: Vec<usize>,
    types: [ScalarType; 1],
}

impl ArrayData for Unseen {
    fn extents(&self) -> &[usize] {
        &self.extents
    }
    fn types(&self) -> &[ScalarType] {
        &self.types
    }
    fn columns(&self) -> std::result::Result<Vec<Cow<'_, [u8]>>, ArrayError> {
        Err(ArrayError::Program("an array that stands for others of its size has no elements".into()))
    }
}
