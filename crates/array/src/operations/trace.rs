//! `trace`: an array as it is, which is printed when the program gets there.
//!
//! It is run as a loop or a branch is, where the plan of the operations before it ends, so the host waits for the array.

use super::{Listed, Parts};
use crate::control::{ArrayType, Arrays, Control, RunNested};
use crate::data::{ArrayData, whole_columns};
use crate::error::Error;
use crate::operation::{Operation, RANK, Signature, TYPES, ensure};
use crate::program::ArrayProgram;
use pumice_scalar::{Constant, Place};
use std::sync::{Arc, PoisonError, RwLock};

/// An array that is printed.
#[derive(Clone, Copy)]
pub struct Trace;

pub(super) const LISTED: Listed = Listed {
    keyword: "trace",
    make: |Parts { attributes, functions, .. }| {
        (attributes.is_empty() && functions.is_empty()).then(|| Arc::new(Trace) as _)
    },
};

type Output = Arc<dyn Fn(&str) + Send + Sync>;

static OUTPUT: RwLock<Option<Output>> = RwLock::new(None);

/// Redirects the output of [`Acc::atrace`](crate::Acc::atrace) to this function from now on, in all of the process, instead of the standard
/// error.
///
/// ```
/// use pumice::*;
/// trace_to(|text| println!("{text}"));
/// run(use_(&[1, 2]).atrace())?;
/// # Ok::<(), pumice::Error>(())
/// ```
pub fn trace_to(output: impl Fn(&str) + Send + Sync + 'static) {
    *OUTPUT.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(output));
}

/// Elements that are printed of an array; of one that has more, the first ones.
const MOST_PRINTED: usize = 64;

/// An array for people: its extents, and its columns.
fn printed(data: &dyn ArrayData) -> Result<String, Error> {
    let extents: Vec<String> = data.extents().iter().map(ToString::to_string).collect();
    let mut text = format!("[{}]", extents.join(", "));
    for (column, ty) in whole_columns(data)?.iter().zip(data.types()) {
        let values = column.chunks_exact(ty.bytes());
        let more = if values.len() > MOST_PRINTED { ", …" } else { "" };
        let value = |bytes: &[u8]| Constant::from_bytes(*ty, bytes).to_string();
        let values: Vec<String> = values.take(MOST_PRINTED).map(value).collect();
        text.push_str(&format!(" {{{}{more}}}", values.join(", ")));
    }
    Ok(text)
}

impl Control for Trace {
    fn keyword(&self) -> &'static str {
        LISTED.keyword
    }
    fn check(&self, signature: &Signature<'_>) -> Result<(), String> {
        let (rank, types) = signature.input()?;
        ensure(rank == signature.rank, RANK)?;
        ensure(types == signature.types, TYPES)
    }
    fn programs(&self) -> &[ArrayProgram] {
        &[]
    }
    fn with_programs(&self, _: Vec<ArrayProgram>) -> Arc<dyn Operation> {
        Arc::new(*self)
    }
    fn is_seen(&self) -> bool {
        true
    }
    fn names(&self) -> &'static [&'static str] {
        &[]
    }
    fn gives(&self) -> Vec<ArrayType> {
        Vec::new()
    }
    fn run(&self, place: Place, inputs: Arrays, _: &mut RunNested<'_>) -> Result<Arrays, Error> {
        for array in &inputs {
            let text = format!("{place}: {}", printed(&**array)?);
            let output = OUTPUT.read().unwrap_or_else(PoisonError::into_inner).clone();
            match output {
                Some(output) => output(&text),
                None => eprintln!("{text}"),
            }
        }
        Ok(inputs)
    }
    fn foresee(&self, inputs: &[Vec<usize>], _: &[Option<Vec<Vec<usize>>>]) -> Option<Vec<Vec<usize>>> {
        Some(inputs.to_vec())
    }
}
