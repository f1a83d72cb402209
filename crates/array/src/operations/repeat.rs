//! `repeat`: arrays that a program makes anew, as many times as a number says. Nothing is read between the rounds, so the host describes
//! them ahead of the device.
//!
//! The first input is the number of rounds, a whole number; none are made if it is not positive. The state before the first round
//! follows; its arrays may have other extents in every round, but always the same rank and element type. Further inputs are the same in
//! every round, and so are the results of a second program, which is run before the first round, if there is one. The result is the first
//! array of the state after the last round; [`Pick`](super::Pick) gives the others.

use super::{Generate, Listed, Parts};
use crate::control::{
    ArrayType, Arrays, Control, Loop, Nested, Rounds, RunNested, check_state, results_of, whole_number,
};
use crate::error::Error;
use crate::operation::{Operation, Signature, ensure};
use crate::program::{ArrayProgram, Node};
use pumice_scalar::{Place, ScalarType};
use std::sync::Arc;

/// A loop of a number of rounds.
#[derive(Clone)]
pub struct Repeat {
    /// Number of arrays of the state.
    state: usize,
    nested: Nested,
}

impl Repeat {
    /// The loop whose state is so many inputs after the first. `step` gives the next state.
    pub fn new(state: usize, step: ArrayProgram) -> Repeat {
        Repeat { state, nested: Nested::new(vec![step]) }
    }
}

pub(super) const LISTED: Listed = Listed {
    keyword: "repeat",
    make: |Parts { attributes, programs, .. }| {
        let [state] = attributes[..] else { return None };
        let state = usize::try_from(state).ok()?;
        matches!(programs.len(), 1 | 2)
            .then(|| Arc::new(Repeat { state, nested: Nested::new(programs) }) as Arc<dyn Operation>)
    },
};

impl Control for Repeat {
    fn keyword(&self) -> &'static str {
        LISTED.keyword
    }
    fn attributes(&self) -> Vec<i64> {
        vec![self.state as i64]
    }
    fn check(&self, signature: &Signature<'_>) -> Result<(), String> {
        let [step] = self.nested.check_loop(signature)?;
        ensure(
            signature.inputs.first() == Some(&(0, &[ScalarType::I64])),
            "the number of rounds of a loop is not one whole number",
        )?;
        check_state(signature, signature.inputs.get(1..).and_then(|rest| rest.get(..self.state)), step)
    }
    fn programs(&self) -> &[ArrayProgram] {
        self.nested.programs()
    }
    fn with_programs(&self, programs: Vec<ArrayProgram>) -> Arc<dyn Operation> {
        Arc::new(Repeat { state: self.state, nested: Nested::new(programs) })
    }
    fn names(&self) -> &'static [&'static str] {
        &["step", "before the first round"]
    }
    fn once(&self) -> Option<usize> {
        (self.programs().len() > 1).then_some(1)
    }
    fn with_once(&self, once: ArrayProgram) -> Option<Arc<dyn Operation>> {
        let programs = [self.programs(), &[once]].concat();
        Some(self.with_programs(programs))
    }
    fn always_runs(&self, program: usize, inputs: &[&Node]) -> bool {
        let rounds = inputs.first().and_then(|rounds| rounds.operation.as_any().downcast_ref::<Generate>());
        let rounds = rounds.and_then(|rounds| rounds.element.constants());
        let rounds = rounds.and_then(|rounds| rounds.first()?.as_integer());
        program == 0 && rounds.is_some_and(|rounds| rounds > 0)
    }
    fn looks_at(&self) -> usize {
        1
    }
    fn gives(&self) -> Vec<ArrayType> {
        self.programs().first().map(results_of).unwrap_or_default()
    }
    fn as_loop(&self) -> Option<Loop> {
        Some(Loop { state: 1..1 + self.state, rounds: Rounds::Times(0), step: 0 })
    }
    fn run(&self, _: Place, inputs: Arrays, run: &mut RunNested<'_>) -> Result<Arrays, Error> {
        let mut arrays = inputs;
        let rounds = arrays.first().ok_or_else(|| Error::Program("a loop has no number of rounds".into()))?;
        let mut once = self.once();
        for _ in 0..whole_number(&**rounds)? {
            if let Some(once) = once.take() {
                arrays.extend(run(once, &arrays)?);
            }
            let next = run(0, &arrays)?;
            // The state of the round before is dropped here, and its memory is used again.
            drop(arrays.splice(1..(self.state + 1).min(arrays.len()), next));
        }
        arrays.truncate(self.state + 1);
        Ok(arrays.split_off(1))
    }
    fn foresee(
        &self,
        inputs: &[Vec<usize>],
        programs: &[Option<Vec<Vec<usize>>>],
    ) -> Option<Vec<Vec<usize>>> {
        let state = inputs.get(1..)?.get(..self.state)?;
        (programs.first()?.as_deref() == Some(state)).then(|| state.to_vec())
    }
}
