//! `parts`: in how many parts a run does what would need too much memory at once.
//!
//! It is a constant of the run: the pass `decide` puts the number in its place before a program is planned, and takes the sides of the branches
//! that it decides. Whatever it is, a program gives the same.

use super::{Listed, Parts};
use crate::error::Error;
use crate::extents::{Extent, Shapes, Unplanned};
use crate::fuser::{Element, Fuser};
use crate::interpret::{Elements, Interpreter};
use crate::operation::{Nature, Operation, Signature, ensure};
use crate::program::Node;
use pumice_scalar::{Exp, Function, ScalarType, Term, function};
use std::any::Any;
use std::sync::Arc;

/// The number of parts: 1, unless memory did not suffice.
#[derive(Clone, Copy)]
pub struct PartsOfRun;

pub(super) const LISTED: Listed = Listed {
    keyword: "parts",
    make: |Parts { attributes, functions, .. }| {
        (attributes.is_empty() && functions.is_empty()).then(|| Arc::new(PartsOfRun) as _)
    },
};

impl Operation for PartsOfRun {
    fn keyword(&self) -> &'static str {
        LISTED.keyword
    }
    fn with_functions(&self, _: Vec<Function>) -> Arc<dyn Operation> {
        Arc::new(*self)
    }
    fn check(&self, signature: &Signature<'_>) -> Result<(), String> {
        signature.no_input()?;
        ensure((signature.rank, signature.types) == (0, &[ScalarType::I64]), "`parts` is one `i64`")
    }
    fn extents(&self, _: &Shapes<'_>) -> Result<Vec<Extent>, Unplanned> {
        Ok(Vec::new())
    }
    fn nature(&self) -> Nature {
        Nature::Pull
    }
    fn cost(&self) -> u32 {
        0
    }
    fn element(&self, _: &Fuser<'_>, _: &Node, _: &[Term], _: Vec<Element>) -> Element {
        vec![Exp::<i64>::from(1).term()].into()
    }
    fn interpret(&self, interpreter: &Interpreter<'_>, node: &Node) -> Result<Elements, Error> {
        interpreter.generated(node, &function(&[], |_| vec![Exp::<i64>::from(1).term()]))
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
}
