//! The passes over Program IR that stand between a kernel as it was described and one that a device compiles.
//!
//! Array programs and kernels of users take the same way. What is known of the launch comes in as ranges and multiples
//! of scalar arguments; nothing here may assume more.

use crate::Profile;
use pumice_program::{
    Program, Ranges, Var, VectorOptions, Verified, VerifyError, drop_spare_vars, eliminate_dead, mark_exact,
    narrow, settle, vectorise, verify,
};
use std::collections::BTreeMap;

/// Which passes run; the others always do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Passes {
    /// Whether neighbouring accesses become wide ones, where the device has them.
    pub vectorise: bool,
    /// Whether index arithmetic is done in 32 bits where that provably suffices.
    pub narrow: bool,
}

impl Default for Passes {
    fn default() -> Self {
        Passes { vectorise: true, narrow: true }
    }
}

/// What is known of the scalar arguments of a launch.
#[derive(Clone, Debug, Default)]
pub struct Known {
    /// Between which values they are.
    pub ranges: Ranges,
    /// What they are multiples of.
    pub multiples: BTreeMap<Var, u64>,
}

impl Known {
    /// Notes the value of an integer argument, which is between `low` and `value`.
    pub fn integer(&mut self, var: Var, low: i128, value: i128) {
        self.ranges.insert(var, (low, value));
        self.multiples.insert(var, if value % 4 == 0 { 4 } else { 1 + u64::from(value % 2 == 0) });
    }
}

/// A kernel that a device can compile.
#[derive(Clone, Debug)]
pub struct Ready {
    /// The program.
    pub program: Verified,
    /// The positions of parameters that it does not have any more, in order: those for failures, where none can happen.
    pub dropped: Vec<usize>,
}

impl Ready {
    /// What stands for the program's parameters, given what stood for them before the passes.
    pub fn keep<T>(&self, before: impl IntoIterator<Item = T>) -> Vec<T> {
        let all = before.into_iter().enumerate();
        all.filter(|(position, _)| !self.dropped.contains(position)).map(|(_, item)| item).collect()
    }
}

/// Runs the passes for a device and a launch. The kernel is right for every launch whose scalar arguments are as `known`
/// says.
pub fn ready(
    program: Program,
    profile: &Profile,
    passes: Passes,
    known: &Known,
) -> Result<Ready, VerifyError> {
    let mut program = program;
    let ranges = &known.ranges;
    // First of all, as the others gain by what is decided already.
    let dropped = settle(&mut program, ranges);
    if passes.vectorise && profile.vector_bytes > 0 {
        let multiples = known.multiples.clone();
        vectorise(&mut program, &VectorOptions { bytes: profile.vector_bytes as usize, multiples });
    }
    if passes.narrow {
        program = narrow(&program, ranges);
    }
    mark_exact(&mut program, ranges);
    eliminate_dead(&mut program);
    drop_spare_vars(&mut program);
    Ok(Ready { program: verify(program)?, dropped })
}
