//! From a function in the kernel language to a kernel with a typed interface.
//!
//! A kernel takes what its function takes: arrays ([`Pull`]), scalars ([`Exp`]) and memory that changes
//! ([`Mutable`]). It gives a push array at the grid, or nothing where it only changes memory. This file knows what
//! the parameters of the program stand for; the launcher binds their values (see `binding.rs`).

use crate::binding::Binding;
use crate::builder::{build, known_length_parameter, memory_parameter, scalar_parameter, with};
use crate::built::{BuiltKernel, known_at_launch};
use crate::error::BuildError;
use crate::item::{Ix, Storable};
use crate::level::Grid;
use crate::size::Size;
use crate::{Mutable, Pull, Push};
use pumice_program::{Access, MemoryId, Operand, Param};
use pumice_scalar::{Elt, Exp, Primitive, ScalarType};

/// The kind of a parameter of a kernel-language function.
///
/// ```
/// use pumice::kernel::{Ix, KernelParameter, Mutable, ParameterKind, Pull};
/// use pumice::layers::scalar::ScalarType;
/// let types = vec![ScalarType::F32];
/// assert_eq!(Pull::<f32, Ix>::kind(), ParameterKind::Array { types: types.clone(), changes: false });
/// assert_eq!(Mutable::<f32>::kind(), ParameterKind::Array { types, changes: true });
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ParameterKind {
    /// An array, one column a scalar of its elements, and its length.
    Array {
        /// The types of the columns.
        types: Vec<ScalarType>,
        /// Whether the kernel changes it.
        changes: bool,
    },
    /// A scalar.
    Scalar(ScalarType),
}

/// The result of a kernel.
///
/// ```
/// use pumice::kernel::{Grid, Ix, Pull, define};
/// use pumice::layers::scalar::ScalarType;
/// let pairs = define("pairs", 32, |xs: Pull<f32, Ix>| xs.map(|x| (x, x.gt(0.0))).push::<Grid>())?;
/// let outcome = pairs.outcome();
/// assert!(outcome.is_some_and(|outcome| outcome.types == [ScalarType::F32, ScalarType::Bool] && outcome.complete));
/// # Ok::<(), pumice::kernel::BuildError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The types of the columns.
    pub types: Vec<ScalarType>,
    /// The length: a value of the program's prologue, or a constant.
    pub length: Operand,
    /// Whether the kernel writes every element. Otherwise the launcher zeroes the memory first.
    pub complete: bool,
}

/// A kernel with what its parameters stand for. Only [`define`] makes one: its program stays within the memories that are
/// bound as it says.
///
/// ```
/// use pumice::kernel::{Grid, Ix, Pull, Push, define};
/// fn reversed(xs: Pull<f32, Ix>) -> Push<Grid, f32, Ix> {
///     xs.reverse().push()
/// }
/// let kernel = define("reverse", 256, reversed)?;
/// println!("{}", kernel.kernel().program);
/// # Ok::<(), pumice::kernel::BuildError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Definition {
    pub(crate) kernel: BuiltKernel,
    pub(crate) parameters: Vec<ParameterKind>,
    pub(crate) bindings: Vec<Binding>,
    pub(crate) outcome: Option<Outcome>,
}

impl Definition {
    /// The kernel.
    ///
    /// ```
    /// use pumice::kernel::{Grid, Ix, Pull, define};
    /// let copy = define("copy", 32, |xs: Pull<i32, Ix>| xs.push::<Grid>())?;
    /// assert_eq!(copy.kernel().program.threads, 32);
    /// # Ok::<(), pumice::kernel::BuildError>(())
    /// ```
    pub fn kernel(&self) -> &BuiltKernel {
        &self.kernel
    }

    /// The kernel's name.
    ///
    /// ```
    /// use pumice::kernel::{Grid, Ix, Pull, define};
    /// assert_eq!(define("copy", 32, |xs: Pull<i32, Ix>| xs.push::<Grid>())?.name(), "copy");
    /// # Ok::<(), pumice::kernel::BuildError>(())
    /// ```
    pub fn name(&self) -> &str {
        &self.kernel.program.name
    }

    /// The parameters of the function.
    ///
    /// ```
    /// use pumice::Exp;
    /// use pumice::kernel::{Grid, Ix, Pull, define};
    /// let scaled = define("scale", 32, |by: Exp<f32>, xs: Pull<f32, Ix>| xs.map(move |x| x * by).push::<Grid>())?;
    /// assert_eq!(scaled.parameters().len(), 2);
    /// # Ok::<(), pumice::kernel::BuildError>(())
    /// ```
    pub fn parameters(&self) -> &[ParameterKind] {
        &self.parameters
    }

    /// Returns the bindings of the program's parameters.
    ///
    /// ```
    /// use pumice::kernel::{Grid, Ix, Pull, define};
    /// let copy = define("copy", 32, |xs: Pull<i32, Ix>| xs.push::<Grid>())?;
    /// assert_eq!(copy.bindings().len(), copy.kernel().program.params.len());
    /// # Ok::<(), pumice::kernel::BuildError>(())
    /// ```
    pub fn bindings(&self) -> &[Binding] {
        &self.bindings
    }

    /// Returns the result, if there is one.
    ///
    /// ```
    /// use pumice::kernel::{Grid, Ix, Loops, Mutable, Pull, define};
    /// assert!(define("copy", 32, |xs: Pull<i32, Ix>| xs.push::<Grid>())?.outcome().is_some());
    /// let clear = |xs: Mutable<i32>| Grid::for_each(xs.len(), &|i| xs.write(i, 0.into()));
    /// assert!(define("clear", 32, clear)?.outcome().is_none());
    /// # Ok::<(), pumice::kernel::BuildError>(())
    /// ```
    pub fn outcome(&self) -> Option<&Outcome> {
        self.outcome.as_ref()
    }
}

/// Only what is here is a part of a kernel's interface: the launch relies on what they say.
mod sealed {
    use super::{Elt, Exp, Grid, Ix, Mutable, Primitive, Pull, Push, Size};

    pub trait KernelParameter {}
    pub trait KernelResult {}
    pub trait KernelFunction<P> {}

    impl<T: Elt> KernelParameter for Pull<T, Ix> {}
    impl<T: Elt> KernelParameter for Mutable<T> {}
    impl<T: Primitive> KernelParameter for Exp<T> {}
    impl<T: Elt, S: Size> KernelResult for Push<Grid, T, S> {}
    impl KernelResult for () {}
}

/// A parameter of a kernel-language function.
///
/// ```
/// use pumice::Exp;
/// use pumice::kernel::{KernelParameter, ParameterKind};
/// use pumice::layers::scalar::ScalarType;
/// assert_eq!(Exp::<f32>::kind(), ParameterKind::Scalar(ScalarType::F32));
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a parameter of a kernel",
    note = "a kernel takes arrays `Pull<T, Ix>`, scalars `Exp<T>`, and memory to change `Mutable<T>`"
)]
pub trait KernelParameter: sealed::KernelParameter + Sized + 'static {
    /// The kind of the parameter.
    fn kind() -> ParameterKind;
    /// Adds it to the program being built, as the parameter with this number.
    ///
    /// # Safety
    ///
    /// The launcher knows of this parameter. (Others rely on the kernel having those that they have added.)
    unsafe fn declare(number: usize) -> Self;
}

/// Adds memory for the columns of a parameter.
pub(crate) fn columns(types: &[ScalarType], number: usize, access: Access) -> Vec<(MemoryId, ScalarType)> {
    let name =
        |column: usize| if column == 0 { format!("in{number}") } else { format!("in{number}_{column}") };
    let types = types.iter().enumerate();
    types.map(|(column, ty)| (memory_parameter(&name(column), *ty, access), *ty)).collect()
}

/// Adds the length of a parameter.
pub(crate) fn length(number: usize) -> Ix {
    Exp::from_term(known_length_parameter(&format!("n{number}")))
}

impl<T: Elt> KernelParameter for Pull<T, Ix> {
    fn kind() -> ParameterKind {
        ParameterKind::Array { types: T::types(), changes: false }
    }
    unsafe fn declare(number: usize) -> Self {
        let cells = columns(&T::types(), number, Access::Read);
        Pull::in_memory(length(number), cells)
    }
}

impl<T: Elt> KernelParameter for Mutable<T> {
    fn kind() -> ParameterKind {
        ParameterKind::Array { types: T::types(), changes: true }
    }
    unsafe fn declare(number: usize) -> Self {
        let cells = columns(&T::types(), number, Access::ReadWrite);
        Mutable::global(cells, length(number))
    }
}

impl<T: Primitive> KernelParameter for Exp<T> {
    fn kind() -> ParameterKind {
        ParameterKind::Scalar(T::TYPE)
    }
    unsafe fn declare(number: usize) -> Self {
        Exp::from_term(scalar_parameter(&format!("argument{number}"), T::TYPE))
    }
}

/// The result of a kernel-language function.
///
/// ```
/// use pumice::kernel::{Definition, Grid, Ix, KernelResult, Pull, define};
/// fn of_floats<R: KernelResult>(f: impl Fn(Pull<f32, Ix>) -> R) -> Option<Definition> {
///     define("of_floats", 32, f).ok()
/// }
/// assert!(of_floats(|xs| xs.push::<Grid>()).is_some());
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the result of a kernel",
    note = "a kernel gives an array that its grid pushes, `Push<Grid, T>` or `Push<Grid, T, Ix>`, or `()` if it only \
            changes memory: bring a block's array up with `concat`, or push at `Grid`"
)]
pub trait KernelResult: sealed::KernelResult {
    /// The element type of the result.
    type Elt: Elt;
    /// Writes it to memory, which becomes parameters of the program being built.
    ///
    /// # Safety
    ///
    /// The launcher knows of these parameters, and gives them as much memory as the outcome says.
    unsafe fn write(self) -> Option<Outcome>;
}

impl<T: Elt, S: Size> KernelResult for Push<Grid, T, S> {
    type Elt = T;
    unsafe fn write(self) -> Option<Outcome> {
        write_result(&self, T::types())
    }
}

/// Writes a result with columns of these types to memory, which becomes parameters of the program being built.
pub(crate) fn write_result<T: Storable, S: Size>(
    result: &Push<Grid, T, S>,
    types: Vec<ScalarType>,
) -> Option<Outcome> {
    let length = known_at_launch(result.len().to_ix().term());
    if length.is_none() {
        with(|builder| builder.mistake("the length of a kernel's result is known only while it runs"));
    }
    let name = |column: usize| if column == 0 { "out".to_string() } else { format!("out_{column}") };
    let memories: Vec<MemoryId> = types
        .iter()
        .enumerate()
        .map(|(column, ty)| memory_parameter(&name(column), *ty, Access::Write))
        .collect();
    let complete = result.is_complete();
    result.write_in(&memories);
    Some(Outcome { types, length: length?, complete })
}

impl KernelResult for () {
    type Elt = ();
    unsafe fn write(self) -> Option<Outcome> {
        None
    }
}

/// A function of the kernel language that can become a kernel: a closure or function of up to six parameters.
///
/// ```
/// use pumice::kernel::{BuildError, Definition, Grid, Ix, KernelFunction, Pull, define};
/// fn in_small_blocks<P, F: KernelFunction<P>>(name: &str, f: F) -> Result<Definition, BuildError> {
///     define(name, 32, f)
/// }
/// assert!(in_small_blocks("copy", |xs: Pull<f32, Ix>| xs.push::<Grid>()).is_ok());
/// ```
#[diagnostic::on_unimplemented(
    message = "this function is not a kernel",
    label = "expected a function of the kernel language",
    note = "a kernel takes up to six arrays `Pull<T, Ix>`, scalars `Exp<T>` and memories `Mutable<T>`, and gives an array \
            of its grid, `Push<Grid, T>` or `Push<Grid, T, Ix>`, or `()` if it only changes memory"
)]
pub trait KernelFunction<P>: sealed::KernelFunction<P> {
    /// The result.
    type Result: KernelResult;
    /// The parameters.
    fn parameters() -> Vec<ParameterKind>;
    /// Describes the kernel.
    ///
    /// # Safety
    ///
    /// The launcher knows of its parameters.
    unsafe fn describe(&self) -> Self::Result;
}

macro_rules! functions {
    ($($name:ident $number:tt)*) => {
        impl<F, R: KernelResult, $($name: KernelParameter),*> sealed::KernelFunction<($($name,)*)> for F
        where
            F: Fn($($name),*) -> R,
        {
        }
        impl<F, R: KernelResult, $($name: KernelParameter),*> KernelFunction<($($name,)*)> for F
        where
            F: Fn($($name),*) -> R,
        {
            type Result = R;
            fn parameters() -> Vec<ParameterKind> {
                vec![$($name::kind()),*]
            }
            unsafe fn describe(&self) -> R {
                // SAFETY: the caller says so.
                self($(unsafe { $name::declare($number) }),*)
            }
        }
    };
}
functions!();
functions!(A 0);
functions!(A 0 B 1);
functions!(A 0 B 1 C 2);
functions!(A 0 B 1 C 2 D 3);
functions!(A 0 B 1 C 2 D 3 E 4);
functions!(A 0 B 1 C 2 D 3 E 4 F0 5);

/// Makes a kernel of a function, with blocks of this many threads.
///
/// ```
/// use pumice::kernel::{Grid, Ix, Pull, Push, define};
/// fn doubled(xs: Pull<i32, Ix>) -> Push<Grid, i32, Ix> {
///     xs.map(|x| x + x).push()
/// }
/// let kernel = define("doubled", 256, doubled)?;
/// assert_eq!(kernel.parameters().len(), 1);
/// # Ok::<(), pumice::kernel::BuildError>(())
/// ```
#[track_caller]
pub fn define<P, F: KernelFunction<P>>(name: &str, threads: u32, f: F) -> Result<Definition, BuildError> {
    let mut outcome = None;
    // SAFETY: the definition says what each parameter stands for, and has no others; how long memory for the result must be,
    // it computes for the arguments of each launch.
    let kernel = build(name, threads, || outcome = unsafe { f.describe().write() })?;
    Definition::new(kernel, F::parameters(), outcome)
}

impl Definition {
    /// The definition of a kernel with these parameters; an error unless the program has them.
    pub(crate) fn new(
        kernel: BuiltKernel,
        parameters: Vec<ParameterKind>,
        outcome: Option<Outcome>,
    ) -> Result<Definition, BuildError> {
        let bindings = bindings(&kernel, &parameters);
        let definition = Definition { kernel, parameters, bindings, outcome };
        definition.check()?;
        Ok(definition)
    }

    /// An error unless the program's parameters are those of the function, and memory for each column of the result: then
    /// each length is bound beside the memory that has it.
    fn check(&self) -> Result<(), BuildError> {
        let program = &self.kernel.program;
        let result = self.outcome.as_ref().map_or(&[][..], |outcome| &outcome.types);
        let scalar = |ty: ScalarType| Some((false, ty));
        let wanted = |binding: &Binding| match *binding {
            Binding::Column { parameter, column } => match self.parameters.get(parameter)? {
                ParameterKind::Array { types, .. } => types.get(column).map(|ty| (true, *ty)),
                ParameterKind::Scalar(_) => None,
            },
            Binding::Scalar { parameter } => match self.parameters.get(parameter)? {
                ParameterKind::Array { .. } => None,
                ParameterKind::Scalar(ty) => scalar(*ty),
            },
            Binding::Result { column } => result.get(column).map(|ty| (true, *ty)),
            Binding::Length { .. } | Binding::FailureBase => scalar(ScalarType::I64),
            Binding::Failure => Some((true, ScalarType::I64)),
            Binding::Value(_) => None,
        };
        let found = |param: &Param| match *param {
            Param::Memory(memory) => program.memories.get(memory.0 as usize).map(|memory| (true, memory.ty)),
            Param::Scalar(var) => program.vars.get(var.0 as usize).map(|info| (false, info.ty)),
        };
        let columns = |kind: &ParameterKind| match kind {
            ParameterKind::Array { types, .. } => types.len() + 1,
            ParameterKind::Scalar(_) => 1,
        };
        let count = self.parameters.iter().map(columns).sum::<usize>() + result.len();
        let count = count + if program.failure.is_some() { 2 } else { 0 };
        let same = program.params.len() == count
            && self.bindings.len() == count
            && self.bindings.iter().zip(&program.params).all(|(binding, param)| {
                let wanted = wanted(binding);
                wanted.is_some() && wanted == found(param)
            });
        match same {
            true => Ok(()),
            false => Err(self
                .kernel
                .error(format!("kernel `{}` has parameters that its function has not", program.name))),
        }
    }
}

/// The program's parameters are those of the function in order, with those for failures where the first check stands, and
/// the result's at the end.
fn bindings(kernel: &BuiltKernel, parameters: &[ParameterKind]) -> Vec<Binding> {
    let mut expected = Vec::new();
    for (parameter, kind) in parameters.iter().enumerate() {
        match kind {
            ParameterKind::Array { types, .. } => {
                expected.extend((0..types.len()).map(|column| Binding::Column { parameter, column }));
                expected.push(Binding::Length { parameter });
            }
            ParameterKind::Scalar(_) => expected.push(Binding::Scalar { parameter }),
        }
    }
    let mut expected = expected.into_iter();
    let mut results = (0..).map(|column| Binding::Result { column });
    let failure = kernel.program.failure;
    let binding = |param: &Param| match (param, failure) {
        (Param::Memory(memory), Some(failure)) if *memory == failure.memory => Some(Binding::Failure),
        (Param::Scalar(var), Some(failure)) if *var == failure.base => Some(Binding::FailureBase),
        _ => expected.next().or_else(|| results.next()),
    };
    kernel.program.params.iter().filter_map(binding).collect()
}
