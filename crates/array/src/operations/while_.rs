//! `while`: arrays that a program makes anew, again and again, as long as another program says so.
//!
//! The first inputs are the state before the first round; its arrays may have other extents in every round, but always the
//! same rank and element type. Further inputs are the same in every round, and so are the results of a third program, which is run before
//! the first round, if there is one. The result is the first array of the state after the last round; [`Pick`](super::Pick) gives the
//! others.

use super::{Listed, Parts};
use crate::control::{
    ArrayType, Arrays, Control, Loop, Nested, Rounds, RunNested, check_state, is_true, results_of,
};
use crate::error::Error;
use crate::operation::{Operation, Signature, ensure};
use crate::program::{ArrayProgram, Node};
use pumice_scalar::{Place, ScalarType};
use std::sync::Arc;

/// A loop.
#[derive(Clone)]
pub struct While {
    /// Number of arrays of the state.
    state: usize,
    nested: Nested,
}

impl While {
    /// The loop whose state is the first so many inputs. `condition` gives one truth value, and `step` the next state.
    pub fn new(state: usize, condition: ArrayProgram, step: ArrayProgram) -> While {
        While { state, nested: Nested::new(vec![condition, step]) }
    }
}

pub(super) const LISTED: Listed = Listed {
    keyword: "while",
    make: |Parts { attributes, programs, .. }| {
        let [state] = attributes[..] else { return None };
        let state = usize::try_from(state).ok()?;
        matches!(programs.len(), 2 | 3)
            .then(|| Arc::new(While { state, nested: Nested::new(programs) }) as Arc<dyn Operation>)
    },
};

impl Control for While {
    fn keyword(&self) -> &'static str {
        LISTED.keyword
    }
    fn attributes(&self) -> Vec<i64> {
        vec![self.state as i64]
    }
    fn check(&self, signature: &Signature<'_>) -> Result<(), String> {
        let [condition, step] = self.nested.check_loop(signature)?;
        ensure(
            results_of(condition) == [(0, vec![ScalarType::Bool])],
            "the condition of a loop is not one truth value",
        )?;
        check_state(signature, signature.inputs.get(..self.state), step)
    }
    fn programs(&self) -> &[ArrayProgram] {
        self.nested.programs()
    }
    fn with_programs(&self, programs: Vec<ArrayProgram>) -> Arc<dyn Operation> {
        Arc::new(While { state: self.state, nested: Nested::new(programs) })
    }
    fn names(&self) -> &'static [&'static str] {
        &["condition", "step", "before the first round"]
    }
    fn once(&self) -> Option<usize> {
        (self.programs().len() > 2).then_some(2)
    }
    fn with_once(&self, once: ArrayProgram) -> Option<Arc<dyn Operation>> {
        let programs = [self.programs(), &[once]].concat();
        Some(self.with_programs(programs))
    }
    fn always_runs(&self, program: usize, _: &[&Node]) -> bool {
        program == 0
    }
    fn gives(&self) -> Vec<ArrayType> {
        self.programs().get(1).map(results_of).unwrap_or_default()
    }
    fn as_loop(&self) -> Option<Loop> {
        Some(Loop { state: 0..self.state, rounds: Rounds::While(0), step: 1 })
    }
    fn run(&self, _: Place, inputs: Arrays, run: &mut RunNested<'_>) -> Result<Arrays, Error> {
        let (mut arrays, mut once) = (inputs, self.once());
        loop {
            let condition = run(0, &arrays)?;
            let condition =
                condition.first().ok_or_else(|| Error::Program("a loop has no condition".into()))?;
            if !is_true(&**condition)? {
                arrays.truncate(self.state);
                return Ok(arrays);
            }
            if let Some(once) = once.take() {
                arrays.extend(run(once, &arrays)?);
            }
            let next = run(1, &arrays)?;
            // The state of the round before is dropped here, and its memory is used again.
            drop(arrays.splice(..self.state.min(arrays.len()), next));
        }
    }
    fn foresee(
        &self,
        inputs: &[Vec<usize>],
        programs: &[Option<Vec<Vec<usize>>>],
    ) -> Option<Vec<Vec<usize>>> {
        let state = inputs.get(..self.state)?;
        (programs.get(1)?.as_deref() == Some(state)).then(|| state.to_vec())
    }
}
