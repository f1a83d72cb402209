//! The passes over Program IR that stand between a kernel as it was described and one that a device compiles.
//!
//! Array programs and kernels of users take the same way. What is known of the launch comes in as ranges and multiples
//! of scalar arguments; nothing here may assume more.

use crate::Profile;
use pumice_program::{
    Program, Ranges, Var, VectorOptions, Verified, VerifyError, drop_spare_params, drop_spare_vars,
    eliminate_dead, hoist, mark_exact, narrow, settle, vectorise, verify,
};
use pumice_scalar::Constant;
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
    /// What they are, in this launch.
    pub values: BTreeMap<Var, i128>,
}

impl Known {
    /// Notes the value of an integer argument, which is between `low` and `value`.
    pub fn integer(&mut self, var: Var, low: i128, value: i128) {
        self.ranges.insert(var, (low, value));
        self.values.insert(var, value);
        self.multiples.insert(var, if value % 4 == 0 { 4 } else { 1 + u64::from(value % 2 == 0) });
    }
}

/// A kernel that a device can compile.
#[derive(Clone, Debug)]
pub struct Ready {
    /// The program.
    pub program: Verified,
    /// The positions of parameters that it does not have any more: those for failures, where none can happen, and scalars
    /// that nothing needs.
    pub dropped: Vec<usize>,
    /// The values, in this launch, of parameters that it has in addition, after the others: what it computed at first.
    pub added: Vec<Constant>,
}

impl Ready {
    /// What stands for the program's parameters, given what stood for them before the passes and what stands for a value.
    pub fn bind<T>(&self, before: impl IntoIterator<Item = T>, value: impl Fn(Constant) -> T) -> Vec<T> {
        let all = before.into_iter().enumerate();
        let kept = all.filter(|(position, _)| !self.dropped.contains(position)).map(|(_, item)| item);
        kept.chain(self.added.iter().copied().map(value)).collect()
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
    let mut left: Vec<usize> = (0..program.params.len()).collect();
    let mut dropped = settle(&mut program, ranges);
    left.retain(|position| !dropped.contains(position));
    if passes.vectorise && profile.vector_bytes > 0 {
        let multiples = known.multiples.clone();
        vectorise(&mut program, &VectorOptions { bytes: profile.vector_bytes as usize, multiples });
    }
    if passes.narrow {
        program = narrow(&program, ranges);
    }
    mark_exact(&mut program, ranges);
    eliminate_dead(&mut program);
    let value = |(var, value): (&Var, &i128)| {
        let ty = program.var_type(*var);
        (*var, Constant::from_integer(ty, *value))
    };
    let values = known.values.iter().map(value).collect();
    let added = hoist(&mut program, &values);
    // What was added is needed, so these are among the others.
    dropped.extend(drop_spare_params(&mut program).iter().filter_map(|position| left.get(*position)));
    drop_spare_vars(&mut program);
    Ok(Ready { program: verify(program)?, dropped, added })
}
