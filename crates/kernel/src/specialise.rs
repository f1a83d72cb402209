//! A kernel for one launch: its program after the passes, what to bind to its parameters, how many blocks run, and how
//! long the result is.
//!
//! Everything here follows from lengths and scalar arguments; memory and devices are left to the launcher.

use crate::binding::{Binding, Launcher};
use crate::define::{Definition, ParameterKind};
use crate::error::BuildError;
use crate::passes::{Known, Passes, ready};
use crate::profile::Profile;
use pumice_program::{Operand, Param, Program, Stmt, Var, Verified};
use pumice_scalar::{Constant, ScalarType};
use std::fmt;
use std::sync::Arc;

/// The argument of a launch for one parameter of a kernel-language function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum KernelArgument {
    /// An array of this length.
    Length(usize),
    /// A scalar of this value.
    Scalar(Constant),
    /// A scalar whose value only the launch knows; see [`Definition::shaping`].
    Unknown(ScalarType),
}

/// The scalars among what is known of a launch, each with whether kernels may be made for its value.
struct Scalars<'a>(&'a [KernelArgument]);

impl Launcher for Scalars<'_> {
    type Argument = (Constant, bool);

    fn column(&self, _: usize, _: usize) -> Option<(Constant, bool)> {
        None
    }

    fn number(&self, parameter: usize) -> Option<(Constant, bool)> {
        Some(match self.0.get(parameter)? {
            KernelArgument::Length(length) => (Constant::from(*length as i64), true),
            KernelArgument::Scalar(value) => (*value, true),
            KernelArgument::Unknown(ty) => (Constant::zero(*ty), false),
        })
    }

    fn result(&self, _: usize) -> Option<(Constant, bool)> {
        None
    }

    fn failure(&self) -> Option<(Constant, bool)> {
        None
    }

    fn value(&self, value: Constant) -> Option<(Constant, bool)> {
        Some((value, false))
    }
}

/// A kernel for launches with certain lengths and scalars.
#[derive(Clone, Debug)]
pub struct Specialised {
    /// The program.
    pub program: Arc<Verified>,
    /// Bindings of its parameters.
    pub bindings: Vec<Binding>,
    /// The number of blocks.
    pub blocks: u64,
    /// The length of the result, if there is one.
    pub length: Option<usize>,
}

/// The largest number of elements of an array: byte offsets must fit.
const MOST_ELEMENTS: i128 = crate::bounds::MOST_ELEMENTS as i128;

impl Definition {
    /// For each parameter of the function whether a kernel must be made for its value: lengths, integers (what is known of
    /// them proves checks away), and other scalars on which the number of blocks or the length of the result depend.
    ///
    /// ```
    /// use pumice::Exp;
    /// use pumice::kernel::{Grid, Ix, Pull, define};
    /// let scaled = define("scale", 32, |by: Exp<f32>, xs: Pull<f32, Ix>| xs.map(move |x| x * by).push::<Grid>())?;
    /// assert_eq!(scaled.shaping(), [false, true]);
    /// # Ok::<(), pumice::kernel::BuildError>(())
    /// ```
    pub fn shaping(&self) -> Vec<bool> {
        let program = &self.kernel.program;
        let of = |binding: &Binding| match binding {
            Binding::Scalar { parameter } => Some(*parameter),
            _ => None,
        };
        let scalars = program.params.iter().zip(&self.bindings).filter_map(|(param, binding)| match param {
            Param::Scalar(var) => of(binding).map(|parameter| (parameter, *var)),
            Param::Memory(_) => None,
        });
        let mut shaping: Vec<bool> = self
            .parameters
            .iter()
            .map(|kind| !matches!(kind, ParameterKind::Scalar(ty) if !ty.is_integer()))
            .collect();
        for (parameter, var) in scalars {
            shaping[parameter] |= self.decides(var);
        }
        shaping
    }

    /// Whether the number of blocks, the length of the result or what a launch must fulfil depend on a scalar argument.
    fn decides(&self, var: Var) -> bool {
        let program = &self.kernel.program;
        let mut depends = vec![false; program.vars.len()];
        let mut mark = |var: Var| depends.get_mut(var.0 as usize).map(|mark| *mark = true);
        mark(var);
        for stmt in &program.prologue {
            if let Stmt::Let { var, operands, .. } = stmt
                && operands.iter().any(|operand| marked(&depends, *operand))
                && let Some(mark) = depends.get_mut(var.0 as usize)
            {
                *mark = true;
            }
        }
        let length = self.outcome.as_ref().map(|outcome| outcome.length);
        let required = self.kernel.requirements.iter().any(|requirement| marked(&depends, requirement.holds));
        required || marked(&depends, program.blocks) || length.is_some_and(|length| marked(&depends, length))
    }

    /// Whether a device can run it, whatever its arguments.
    ///
    /// ```
    /// use pumice::kernel::{Grid, Ix, Profile, Pull, define};
    /// let copy = define("copy", 256, |xs: Pull<i32, Ix>| xs.push::<Grid>())?;
    /// assert!(copy.fits(&Profile::large_gpu()).is_ok());
    /// assert!(copy.fits(&Profile { max_threads: 128, ..Profile::large_gpu() }).is_err());
    /// # Ok::<(), pumice::kernel::BuildError>(())
    /// ```
    pub fn fits(&self, profile: &Profile) -> Result<(), BuildError> {
        let program = &self.kernel.program;
        let (name, threads, most) = (&program.name, program.threads, profile.max_threads);
        pumice_program::check(program).map_err(|error| self.kernel.error(error))?;
        if threads > most {
            return Err(self.kernel.error(format!(
                "kernel `{name}` has {threads} threads in a block, and the limit is {most}"
            )));
        }
        pumice_program::plan(program, profile.shared_bytes)
            .map(drop)
            .map_err(|error| self.kernel.error(error))
    }

    /// Returns the scalar arguments of the program for a launch with these arguments, one per parameter of the function, and what is
    /// known of them.
    fn scalars(&self, actual: &[KernelArgument]) -> Result<(Vec<Constant>, Known), BuildError> {
        let program = &self.kernel.program;
        let mistake =
            |what: &dyn fmt::Display| self.kernel.error(format!("kernel `{}` {what}", program.name));
        let too_long = |actual: &&KernelArgument| matches!(actual, KernelArgument::Length(n) if *n as u128 > MOST_ELEMENTS as u128);
        if let Some(KernelArgument::Length(length)) = actual.iter().find(too_long) {
            return Err(mistake(&format_args!("cannot be given an array of {length} elements")));
        }
        let mut known = Known::default();
        let mut scalars = Vec::new();
        for (param, binding) in program.params.iter().zip(&self.bindings) {
            let Param::Scalar(var) = param else { continue };
            let (value, is_known) = binding
                .resolve(&Scalars(actual))
                .ok_or_else(|| mistake(&"is not given all of its arguments"))?;
            if let (true, Some(integer)) = (is_known && value.ty().is_integer(), value.as_integer()) {
                known.integer(*var, integer, integer);
            }
            scalars.push(value);
        }
        Ok((scalars, known))
    }

    /// Returns the length of the result of a launch with these arguments, one per parameter of the function; nothing if there is no
    /// result.
    ///
    /// ```
    /// use pumice::kernel::{Grid, Ix, Pull, define};
    /// use pumice::layers::kernel::KernelArgument;
    /// let pairs = define("pairs", 32, |xs: Pull<i32, Ix>| xs.split_up(2).map(|two| two.head()).push::<Grid>())?;
    /// assert_eq!(pairs.length_for(&[KernelArgument::Length(10)])?, Some(5));
    /// # Ok::<(), pumice::kernel::BuildError>(())
    /// ```
    pub fn length_for(&self, actual: &[KernelArgument]) -> Result<Option<usize>, BuildError> {
        let (scalars, _) = self.scalars(actual)?;
        self.length(&scalars)
    }

    fn length(&self, scalars: &[Constant]) -> Result<Option<usize>, BuildError> {
        self.kernel.check_launch(scalars)?;
        let program = &self.kernel.program;
        let Some(outcome) = &self.outcome else { return Ok(None) };
        let values = program.launch_values(scalars).map_err(|error| self.mistake(error))?;
        let length = result_length(program, outcome.length, &values);
        length.map(Some).map_err(|error| error.or_at(self.kernel.place))
    }

    fn mistake(&self, error: impl std::fmt::Display) -> BuildError {
        self.kernel.error(format!("{error} (kernel `{}`)", self.kernel.program.name))
    }

    /// Returns the kernel for a launch with these arguments, one per parameter of the function.
    pub fn specialise(
        &self,
        actual: &[KernelArgument],
        profile: &Profile,
        passes: Passes,
    ) -> Result<Specialised, BuildError> {
        let program = &self.kernel.program;
        let name = &program.name;
        let (scalars, known) = self.scalars(actual)?;
        // Lengths and blocks are values of the program as it was described: passes may drop what only they need.
        let blocks = program.blocks_for(&scalars).map_err(|error| self.mistake(error))?;
        let length = self.length(&scalars)?;
        let ready = ready(program.clone(), profile, passes, &known);
        let ready = ready.map_err(|error| self.kernel.error(error))?;
        let bindings = ready.bind(self.bindings.iter().copied(), Binding::Value);
        if bindings.len() != ready.program.params.len() {
            return Err(self.kernel.error(format!("the passes changed the parameters of kernel `{name}`")));
        }
        let program = Arc::new(ready.program);
        Ok(Specialised { program, bindings, blocks, length })
    }
}

fn marked(depends: &[bool], operand: Operand) -> bool {
    match operand {
        Operand::Var(var) => depends.get(var.0 as usize).copied().unwrap_or(true),
        Operand::Constant(_) => false,
    }
}

fn result_length(
    program: &Program,
    length: Operand,
    values: &[Option<Constant>],
) -> Result<usize, BuildError> {
    let name = &program.name;
    let value = match length {
        Operand::Constant(constant) => Some(constant),
        Operand::Var(var) => values.get(var.0 as usize).copied().flatten(),
    };
    let value = value.and_then(Constant::as_integer).filter(|_| program.operand_type(length).is_integer());
    match value {
        Some(value) if (0..=MOST_ELEMENTS).contains(&value) => Ok(value as usize),
        Some(value) => {
            Err(BuildError::new(format!("the result of kernel `{name}` cannot have {value} elements")))
        }
        None => Err(BuildError::new(format!(
            "the length of the result of kernel `{name}` is not known at its launch"
        ))),
    }
}
