//! Bindings of the parameters of a kernel's program, from which a launcher makes launch arguments.

use pumice_scalar::Constant;

/// Meaning of a parameter of the program. Bindings are in the order of the program's parameters.
///
/// ```
/// use pumice::kernel::{Binding, Grid, Ix, Pull, define};
/// let kernel = define("copy", 32, |xs: Pull<i32, Ix>| xs.push::<Grid>())?;
/// assert!(kernel.bindings().contains(&Binding::Column { parameter: 0, column: 0 }));
/// assert!(kernel.bindings().contains(&Binding::Length { parameter: 0 }));
/// assert!(kernel.bindings().contains(&Binding::Result { column: 0 }));
/// # Ok::<(), pumice::kernel::BuildError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binding {
    /// A column of the function's parameter with this number.
    Column {
        /// The parameter.
        parameter: usize,
        /// The column.
        column: usize,
    },
    /// The length of the array that is this parameter.
    Length {
        /// The parameter.
        parameter: usize,
    },
    /// The scalar that is this parameter.
    Scalar {
        /// The parameter.
        parameter: usize,
    },
    /// A column of the result.
    Result {
        /// The column.
        column: usize,
    },
    /// The failure record.
    Failure,
    /// The number that codes of failures start from.
    FailureBase,
    /// A value that was computed before the launch.
    Value(Constant),
}

/// Provides the memory and the values of a launch, in whatever form it launches kernels with. A method returns nothing where
/// the launch has no such thing.
pub trait Launcher {
    /// Launch argument for a parameter of the program.
    type Argument;

    /// Returns a column of the array that is this parameter of the function.
    fn column(&self, parameter: usize, column: usize) -> Option<Self::Argument>;

    /// Returns the length of the array, or the scalar, that is this parameter of the function.
    fn number(&self, parameter: usize) -> Option<Self::Argument>;

    /// Returns a column of the result.
    fn result(&self, column: usize) -> Option<Self::Argument>;

    /// Returns the memory in which failures are recorded.
    fn failure(&self) -> Option<Self::Argument>;

    /// Returns what is added to the codes of failures; 0 where a launch has its record for itself.
    fn failure_base(&self) -> Option<Self::Argument> {
        self.value(Constant::from(0i64))
    }

    /// Returns a value that is known.
    fn value(&self, value: Constant) -> Option<Self::Argument>;
}

impl Binding {
    /// Returns what a launch gives for this parameter of the program.
    ///
    /// ```
    /// use pumice::kernel::Binding;
    /// use pumice::layers::kernel::Launcher;
    /// use pumice::layers::scalar::Constant;
    /// /// Says in words what stands for a parameter.
    /// struct Words;
    /// impl Launcher for Words {
    ///     type Argument = String;
    ///     fn column(&self, parameter: usize, column: usize) -> Option<String> {
    ///         Some(format!("column {column} of argument {parameter}"))
    ///     }
    ///     fn number(&self, parameter: usize) -> Option<String> {
    ///         Some(format!("argument {parameter}"))
    ///     }
    ///     fn result(&self, column: usize) -> Option<String> {
    ///         Some(format!("column {column} of the result"))
    ///     }
    ///     fn failure(&self) -> Option<String> {
    ///         None
    ///     }
    ///     fn value(&self, value: Constant) -> Option<String> {
    ///         Some(format!("{value:?}"))
    ///     }
    /// }
    /// assert_eq!(Binding::Length { parameter: 1 }.resolve(&Words).as_deref(), Some("argument 1"));
    /// assert_eq!(Binding::Failure.resolve(&Words), None);
    /// ```
    pub fn resolve<L: Launcher + ?Sized>(&self, launcher: &L) -> Option<L::Argument> {
        match *self {
            Binding::Column { parameter, column } => launcher.column(parameter, column),
            Binding::Length { parameter } | Binding::Scalar { parameter } => launcher.number(parameter),
            Binding::Result { column } => launcher.result(column),
            Binding::Failure => launcher.failure(),
            Binding::FailureBase => launcher.failure_base(),
            Binding::Value(value) => launcher.value(value),
        }
    }
}
