//! `branch`: the arrays that one of two programs gives, as a truth value says. The other program is not run.
//!
//! The first input is the truth value, the others are for the programs. Both give arrays of the same ranks and element
//! types, but not of the same extents. The result is the first of them; [`Pick`](super::Pick) gives the others.

use super::{Listed, Parts};
use crate::control::{ArrayType, Arrays, Control, Nested, RunNested, is_true, results_of};
use crate::error::Error;
use crate::operation::{Operation, Signature, ensure};
use crate::program::ArrayProgram;
use pumice_scalar::{Place, ScalarType};
use std::sync::Arc;

/// A branch.
#[derive(Clone)]
pub struct Branch(Nested);

impl Branch {
    /// The branch between these programs.
    pub fn new(then: ArrayProgram, otherwise: ArrayProgram) -> Branch {
        Branch(Nested::new(vec![then, otherwise]))
    }
}

pub(super) const LISTED: Listed = Listed {
    keyword: "branch",
    make: |Parts { programs, .. }| {
        let [then, otherwise] = <[ArrayProgram; 2]>::try_from(programs).ok()?;
        Some(Arc::new(Branch::new(then, otherwise)))
    },
};

impl Control for Branch {
    fn keyword(&self) -> &'static str {
        LISTED.keyword
    }
    fn check(&self, signature: &Signature<'_>) -> Result<(), String> {
        let [then, otherwise] = self.0.check(signature)?;
        ensure(
            signature.inputs.first() == Some(&(0, &[ScalarType::Bool])),
            "the condition of a branch is not one truth value",
        )?;
        let gives = results_of(then);
        ensure(
            gives == results_of(otherwise),
            "the sides of a branch give arrays of different ranks or element types",
        )?;
        let first = (signature.rank, signature.types.to_vec());
        ensure(
            gives.first() == Some(&first),
            "the result of a branch has another rank or element type than its sides",
        )
    }
    fn programs(&self) -> &[ArrayProgram] {
        self.0.programs()
    }
    fn with_programs(&self, programs: Vec<ArrayProgram>) -> Arc<dyn Operation> {
        Arc::new(Branch(Nested::new(programs)))
    }
    fn names(&self) -> &'static [&'static str] {
        &["then", "otherwise"]
    }
    fn looks_at(&self) -> usize {
        1
    }
    fn gives(&self) -> Vec<ArrayType> {
        self.programs().first().map(results_of).unwrap_or_default()
    }
    fn run(&self, _: Place, inputs: Arrays, run: &mut RunNested<'_>) -> Result<Arrays, Error> {
        let condition = inputs.first().ok_or_else(|| Error::Program("a branch has no condition".into()))?;
        let side = if is_true(&**condition)? { 0 } else { 1 };
        run(side, &inputs)
    }
    fn foresee(&self, _: &[Vec<usize>], programs: &[Option<Vec<Vec<usize>>>]) -> Option<Vec<Vec<usize>>> {
        match programs {
            [then, otherwise] if then == otherwise => then.clone(),
            _ => None,
        }
    }
}
