//! `foreign`: an array that a function of the user's computes on the host, from arrays that are brought there, or in the memory of
//! a kind of device; or that a program computes, where the function declines. The program defines the operation's meaning.

use super::{Listed, Parts};
use crate::control::{ArrayType, Arrays, Control, Nested, RunNested, results_of};
use crate::data::ArrayData;
use crate::error::Error;
use crate::operation::{Operation, Signature, ensure};
use crate::program::ArrayProgram;
use pumice_scalar::Place;
use pumice_scalar::PlacedMessage;
use std::sync::Arc;

/// A user's function on arrays; it returns `None` if it declines.
pub type ForeignFunction = dyn Fn(&Arrays) -> Option<Result<Arc<dyn ArrayData>, Error>> + Send + Sync;

/// A function of the user's, with a program for where it declines.
#[derive(Clone)]
pub struct Foreign {
    /// `None` in a program that was read from text.
    function: Option<Arc<ForeignFunction>>,
    /// The kind of device in whose memory the function wants its arrays.
    device: Option<&'static str>,
    fallback: Nested,
}

impl Foreign {
    /// The function with its fallback, whose arguments are the operation's inputs.
    pub fn new(
        function: Arc<ForeignFunction>,
        device: Option<&'static str>,
        fallback: ArrayProgram,
    ) -> Foreign {
        Foreign { function: Some(function), device, fallback: Nested::new(vec![fallback]) }
    }
}

pub(super) const LISTED: Listed = Listed {
    keyword: "foreign",
    make: |Parts { programs, .. }| {
        let fallback = Nested::new(<[ArrayProgram; 1]>::try_from(programs).ok()?.into());
        Some(Arc::new(Foreign { function: None, device: None, fallback }))
    },
};

impl Control for Foreign {
    fn keyword(&self) -> &'static str {
        LISTED.keyword
    }
    fn is_said_by_text(&self) -> bool {
        self.function.is_none()
    }
    fn check(&self, signature: &Signature<'_>) -> Result<(), String> {
        let [fallback] = self.fallback.check(signature)?;
        let result = (signature.rank, signature.types.to_vec());
        ensure(results_of(fallback) == [result], "the fallback gives another array than the function")
    }
    fn wants_on_device(&self, kind: &str) -> bool {
        self.device == Some(kind)
    }
    fn programs(&self) -> &[ArrayProgram] {
        self.fallback.programs()
    }
    fn with_programs(&self, programs: Vec<ArrayProgram>) -> Arc<dyn Operation> {
        Arc::new(Foreign { fallback: Nested::new(programs), ..self.clone() })
    }
    fn is_seen(&self) -> bool {
        true
    }
    fn names(&self) -> &'static [&'static str] {
        &["fallback"]
    }
    fn gives(&self) -> Vec<ArrayType> {
        self.programs().first().map(results_of).unwrap_or_default()
    }
    fn run(&self, place: Place, inputs: Arrays, run: &mut RunNested<'_>) -> Result<Arrays, Error> {
        let result = self.function.as_ref().and_then(|function| function(&inputs));
        let Some(result) = result.transpose()? else { return run(0, &inputs) };
        let found = (result.extents().len(), result.types().to_vec());
        match self.gives().first() == Some(&found) {
            true => Ok(vec![result]),
            false => Err(Error::Program(PlacedMessage::at(
                "a function gives another array than its fallback",
                place,
            ))),
        }
    }
    fn foresee(&self, _: &[Vec<usize>], programs: &[Option<Vec<Vec<usize>>>]) -> Option<Vec<Vec<usize>>> {
        programs.first().cloned().flatten()
    }
}
