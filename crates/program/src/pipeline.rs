//! The pipeline: every program on its way to a device takes these passes, in this order.
//!
//! Kernels of array programs and kernels of users come in here alike. A program is verified on entry and at the end; in
//! debug builds (and so in tests) after every pass too, and a failure names the pass. What is known of the launch comes
//! in as ranges and multiples of scalar arguments ([`Known`]); no pass may assume more.

use std::collections::BTreeMap;
use std::fmt;

use pumice_scalar::Constant;

use crate::capabilities::Target;
use crate::interval::Ranges;
use crate::ir::{Program, Var};
use crate::passes::dead::{drop_spare_vars, eliminate_dead};
use crate::passes::exact::mark_exact;
use crate::passes::hoist::{drop_spare_params, hoist};
use crate::passes::legalise::{Unsupported, legalise};
use crate::passes::narrow::narrow;
use crate::passes::predicate::predicate;
use crate::passes::settle::settle;
use crate::passes::unsign::unsign;
use crate::passes::vectorise::{VectorOptions, vectorise};
use crate::verify::{Verified, VerifyError, check, verify};

/// The optional passes; the others always run.
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

/// Facts about the scalar arguments of a launch.
#[derive(Clone, Debug, Default)]
pub struct Known {
    /// Bounds of their values.
    pub ranges: Ranges,
    /// Numbers that they are multiples of.
    pub multiples: BTreeMap<Var, u64>,
    /// Their values in this launch.
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

/// A program that has been through the pipeline, and what became of its parameters.
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
    /// Returns the launch arguments of the program, given those before the passes and how a value becomes one.
    pub fn bind<T>(&self, before: impl IntoIterator<Item = T>, value: impl Fn(Constant) -> T) -> Vec<T> {
        let all = before.into_iter().enumerate();
        let kept = all.filter(|(position, _)| !self.dropped.contains(position)).map(|(_, item)| item);
        kept.chain(self.added.iter().copied().map(value)).collect()
    }
}

/// Failure of the pipeline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PipelineError {
    /// The program was not well formed on entry.
    Malformed(VerifyError),
    /// A pass left it malformed: a mistake of Pumice's.
    Broken {
        /// The pass.
        pass: &'static str,
        /// The verifier's error after the pass.
        error: VerifyError,
    },
    /// The device lacks something that it needs.
    Unsupported(Unsupported),
}

impl fmt::Display for PipelineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PipelineError::Malformed(error) => error.fmt(f),
            PipelineError::Broken { pass, error } => write!(f, "after the pass `{pass}`, {error}"),
            PipelineError::Unsupported(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for PipelineError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            PipelineError::Malformed(error) | PipelineError::Broken { error, .. } => Some(error),
            PipelineError::Unsupported(error) => Some(error),
        }
    }
}

impl From<Unsupported> for PipelineError {
    fn from(error: Unsupported) -> PipelineError {
        PipelineError::Unsupported(error)
    }
}

/// Runs the passes for a device and a launch. The result is right for every launch whose scalar arguments are as `known`
/// says.
///
/// # Errors
/// Fails if the program is not well formed, or needs what the target lacks; then with the place in the user's program.
pub fn run(program: Program, target: &Target, passes: Passes, known: &Known) -> Result<Ready, PipelineError> {
    run_passes(program, target, passes, known, PASSES)
}

/// A program on its way through the pipeline.
struct State<'a> {
    program: Program,
    target: &'a Target,
    passes: Passes,
    known: &'a Known,
    /// The positions that the parameters left had at first. Those added come after them.
    left: Vec<usize>,
    /// The positions, at first, of the parameters that are gone.
    dropped: Vec<usize>,
    /// The values of those that were added.
    added: Vec<Constant>,
}

impl State<'_> {
    /// Notes that the parameters at these positions are gone.
    fn drop(&mut self, positions: &[usize]) {
        self.dropped.extend(positions.iter().filter_map(|&position| self.left.get(position)));
        let mut position = 0;
        self.left.retain(|_| {
            position += 1;
            !positions.contains(&(position - 1))
        });
    }
}

type Pass = (&'static str, fn(&mut State<'_>) -> Result<(), PipelineError>);

/// Every pass, in order.
const PASSES: &[Pass] = &[
    // First of all, as the others gain by what is decided already.
    ("settle", |state| {
        let dropped = settle(&mut state.program, &state.known.ranges);
        state.drop(&dropped);
        Ok(())
    }),
    ("predicate", |state| {
        // A CPU's lanes load together anyway.
        if state.target.vector_bytes > 0 {
            predicate(&mut state.program);
        }
        Ok(())
    }),
    ("vectorise", |state| {
        let bytes = state.target.vector_bytes as usize;
        if state.passes.vectorise && bytes > 0 {
            let multiples = state.known.multiples.clone();
            vectorise(&mut state.program, &VectorOptions { bytes, multiples });
        }
        Ok(())
    }),
    ("narrow", |state| {
        if state.passes.narrow {
            state.program = narrow(&state.program, &state.known.ranges);
        }
        Ok(())
    }),
    ("mark_exact", |state| {
        mark_exact(&mut state.program, &state.known.ranges);
        Ok(())
    }),
    ("unsign", |state| {
        unsign(&mut state.program, &state.known.ranges);
        Ok(())
    }),
    ("eliminate_dead", |state| {
        eliminate_dead(&mut state.program);
        Ok(())
    }),
    ("hoist", |state| {
        let program = &mut state.program;
        let constant = |(var, value): (&Var, &i128)| {
            let info = program.vars.get(var.0 as usize)?;
            Some((*var, Constant::from_integer(info.ty, *value)))
        };
        let values = state.known.values.iter().filter_map(constant).collect();
        state.added = hoist(program, &values);
        Ok(())
    }),
    ("drop_spare_params", |state| {
        // What was added is needed, so these are among the others.
        let dropped = drop_spare_params(&mut state.program);
        state.drop(&dropped);
        Ok(())
    }),
    ("legalise", |state| Ok(legalise(&mut state.program, state.target)?)),
    ("drop_spare_vars", |state| {
        drop_spare_vars(&mut state.program);
        Ok(())
    }),
];

fn run_passes(
    program: Program,
    target: &Target,
    passes: Passes,
    known: &Known,
    list: &[Pass],
) -> Result<Ready, PipelineError> {
    check(&program).map_err(PipelineError::Malformed)?;
    let left = (0..program.params.len()).collect();
    let mut state = State { program, target, passes, known, left, dropped: Vec::new(), added: Vec::new() };
    let mut last = "none";
    for (pass, run) in list {
        run(&mut state)?;
        last = pass;
        if cfg!(debug_assertions) {
            check(&state.program).map_err(|error| PipelineError::Broken { pass, error })?;
        }
    }
    let State { program, dropped, added, .. } = state;
    let program = verify(program).map_err(|error| PipelineError::Broken { pass: last, error })?;
    Ok(Ready { program, dropped, added })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::{Operand, Param};

    const TEXT: &str = "kernel k memory @f: global readwrite i64 memory @out: global write i64
        params @f, %base: i64, @out, %n: i64, %spare: i64 failure @f + %base threads 4
        prologue { %q: i64 = div %n, 4:i64 }
        blocks %block: i64 < %q
        body {
          parallel %i: i64 < 4:i64 {
            %inside: bool = lt %i, %n
            fail 0 unless %inside, index %i, bound %n
            %at: i64 = mul %block, 4:i64
            %place: i64 = add %at, %i
            store @out[%place] = %place
          }
        }";

    fn program() -> Program {
        crate::parse(TEXT).unwrap_or_else(|error| panic!("{error:?}"))
    }

    fn known(program: &Program) -> Known {
        let mut known = Known::default();
        if let Param::Scalar(n) = program.params[3] {
            known.integer(n, 8, 8);
        }
        known
    }

    #[test]
    fn parameters_that_are_dropped_and_added_keep_their_launch_arguments() {
        let program = program();
        let known = known(&program);
        let ready = run(program, &Target::ALL, Passes::default(), &known).unwrap_or_else(|e| panic!("{e}"));
        // No check is left, and so no failure; the length is only needed for the number of blocks, which the host computes.
        assert_eq!(ready.dropped, [0, 1, 3, 4]);
        assert_eq!(ready.added, [Constant::from(2i32)]);
        assert_eq!(ready.bind(["f", "base", "out", "n", "spare"], |_| "blocks"), ["out", "blocks"]);
        assert_eq!(ready.program.params.len(), 2);
    }

    #[test]
    fn a_program_is_verified_on_entry() {
        let mut program = program();
        program.blocks = Operand::Var(Var(99));
        let error = run(program, &Target::ALL, Passes::default(), &Known::default()).map(drop);
        assert!(matches!(error, Err(PipelineError::Malformed(_))), "{error:?}");
    }

    #[test]
    fn a_pass_that_breaks_a_program_is_named() {
        const BREAKING: &[Pass] = &[
            PASSES[0],
            ("lose_the_blocks", |state| {
                state.program.blocks = Operand::Var(Var(99));
                Ok(())
            }),
            // Would make it whole again.
            ("mend", |state| {
                state.program.blocks = Operand::Constant(1i64.into());
                Ok(())
            }),
        ];
        let result = run_passes(program(), &Target::ALL, Passes::default(), &Known::default(), BREAKING);
        let error = result.map(drop).unwrap_err();
        assert!(matches!(error, PipelineError::Broken { pass: "lose_the_blocks", .. }), "{error:?}");
        assert!(error.to_string().starts_with("after the pass `lose_the_blocks`, kernel `k`"), "{error}");
    }
}
