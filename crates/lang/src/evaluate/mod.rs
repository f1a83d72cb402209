//! Evaluation of a checked program into an array program: functions are applied while it is built, which leaves operations of the
//! array language and kernels of the kernel language.
//!
//! An expression is evaluated in one of three modes (`Mode`): outside, where arrays are those of the array language; inside a
//! function on elements; and inside a kernel. The same function may be evaluated in all of them. Evaluation of every program ends:
//! the number of steps and the depth of calls are bounded.

mod builtins;
mod capture;
mod combining;
mod comprehension;
mod environment;
mod expression;
mod free;
mod host;
mod in_kernel;
mod lanes;
mod layout;
mod levels;
mod local;
mod loops;
mod memory;
mod ordering;
mod placeholders;
mod pushes;
mod scalar_functions;
mod scalars;
mod steps;
mod table;
mod tiles;
mod value;
mod whole;

use crate::ast::{Expr, ExprId, Name};
use crate::diagnostic::Diagnostic;
use crate::interface::parameter_name;
use crate::program::Program;
use crate::source::Span;
use crate::types::{
    Argument, Checked, FunctionId, Kind, Level, Scheme, Size, SumDeclaration, Type, Variable,
};
use environment::{Environment, Instance};
pub use layout::columns;
pub(crate) use layout::fields_of;
pub use placeholders::{Placeholders, Sizes};
use pumice_array::operations::Argument as ArgumentOperation;
use pumice_array::{ArrayProgram, Described};
use pumice_scalar::{Constant, Place, ScalarType, Term, Variable as ScalarVariable};
pub(crate) use scalar_functions::{constant_named, random_named};
use std::cell::{Cell, OnceCell, RefCell};
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;
use std::sync::Arc;
#[cfg(test)]
pub(crate) use table::names;
pub(crate) use table::{operation_of, without_rank};
use value::{Array, Host, Value};

/// A value, or an error.
pub(crate) type Outcome<T> = Result<T, Box<Diagnostic>>;

/// Names that an expression takes from outside.
pub(crate) type Names = Rc<[Name]>;

/// The declared sums, by number.
pub(crate) type Sums = [SumDeclaration];

/// Options for building programs.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Threads per block (`#BlockSize`) of the kernels that a program describes itself.
    pub block_size: u32,
    /// Maximum number of evaluation steps.
    pub most_steps: u64,
}

impl Default for Options {
    fn default() -> Options {
        Options { block_size: 256, most_steps: 20_000_000 }
    }
}

/// Maximum nesting depth of calls and expressions; the stack of [`compile`]'s thread has room for it.
const MOST_DEEP: u32 = 10_000;

/// Name of generated kernels.
const KERNEL: &str = "kernel";

/// Stack size in bytes, with room for `MOST_DEEP` nested calls.
const STACK: usize = 1 << 30;

/// A function that has been compiled to an array program.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// The program. Its arguments are the arrays of given values, then the leaves of the parameters, in order: one array per array, one scalar
    /// per number.
    pub program: ArrayProgram,
    /// The values of [`Program::given`] that it uses, by number.
    pub given: Vec<usize>,
    /// The function's parameters.
    pub parameters: Vec<(Name, Type)>,
    /// The type of the result. The program gives one array per leaf, of rank 0 for a leaf that is not an array. An array of arrays gives
    /// two: its elements, and the offsets at which rows begin, with the end of the last row behind them.
    pub result: Type,
}

/// Compiles a function to an array program; `types` are arguments for its type variables.
///
/// ```
/// use pumice_array::{ArrayData, CheckedProgram, interpret};
/// use pumice_lang::{evaluate, program::Program, show::show, types::check};
/// use std::{collections::HashMap, sync::Arc};
///
/// let text = "fun main = map (fn x => x * x) [1, 2, 3]";
/// let program = Arc::new(Program::load("squares.pum", text, &|_| Err(String::new())).unwrap());
/// let checked = Arc::new(check(&program).unwrap());
/// let main = checked.entry("main").unwrap();
/// let compiled = evaluate::compile(&program, &checked, main, &[], evaluate::Options::default()).unwrap();
/// let results = interpret(&CheckedProgram::new(compiled.program)?, &HashMap::new(), &[])?;
/// let results: Vec<Arc<dyn ArrayData>> = results.into_iter().map(|array| Arc::new(array) as _).collect();
/// assert_eq!(show(&compiled.result, &results, checked.sums())?, "[1, 4, 9]");
/// # Ok::<(), pumice_array::Error>(())
/// ```
pub fn compile(
    program: &Arc<Program>,
    checked: &Arc<Checked>,
    function: FunctionId,
    types: &[(Variable, Argument)],
    options: Options,
) -> Result<Compiled, Diagnostic> {
    // Evaluation recurses as deep as a program's calls are.
    let compiled = std::thread::scope(|scope| {
        let build = || {
            let evaluator = Rc::new(Evaluator::new(program.clone(), checked.clone(), options));
            pumice_scalar::scope(|| evaluator.compile(function, types.iter().cloned().collect()))
        };
        let thread = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, build);
        thread.map(|thread| thread.join())
    });
    let span = checked.function(function).0.name.span;
    match compiled {
        Ok(Ok(compiled)) => compiled.map_err(|diagnostic| *diagnostic),
        Ok(Err(_)) => Err(Diagnostic::new(span, "this function made Pumice fail: that is a fault of Pumice")),
        Err(error) => Err(Diagnostic::new(span, format!("no thread could be started to build it: {error}"))),
    }
}

/// The surroundings in which an expression is evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Outside of functions on elements and of kernels.
    Host,
    /// A function on elements of an array operation.
    Element,
    /// A kernel.
    Kernel,
}

/// Evaluates expressions of one program.
pub(crate) struct Evaluator {
    program: Arc<Program>,
    checked: Arc<Checked>,
    options: Options,
    mode: Cell<Mode>,
    steps: Cell<u64>,
    depth: Cell<u32>,
    /// Reductions of an expression that is computed for every row of a comprehension, if that expression is being evaluated directly.
    hoisting: RefCell<Option<comprehension::Hoisting>>,
    /// The first error inside a Rust function that cannot return one.
    failure: RefCell<Option<Box<Diagnostic>>>,
    /// Bodies of functions, shared by their closures.
    bodies: RefCell<HashMap<ExprId, Rc<Expr>>>,
    /// The free names of function bodies.
    free: RefCell<HashMap<(ExprId, usize), Names>>,
    /// Arrays that have been described, by number, kept alive: captured values of kernels mention their extents.
    alive: RefCell<HashMap<u64, Arc<Described>>>,
    /// The schemes and numbers of arguments of built-in functions, computed on first use.
    signatures: RefCell<HashMap<&'static str, (Rc<Scheme>, usize)>>,
    /// Number of kernels so far.
    kernels: Cell<u32>,
    /// The values from outside, in the form that they have where an expression is evaluated.
    given: RefCell<BTreeMap<FunctionId, Value>>,
}

impl Evaluator {
    fn new(program: Arc<Program>, checked: Arc<Checked>, options: Options) -> Evaluator {
        Evaluator {
            program,
            checked,
            options,
            mode: Cell::new(Mode::Host),
            steps: Cell::new(0),
            depth: Cell::new(0),
            hoisting: RefCell::default(),
            failure: RefCell::default(),
            bodies: RefCell::default(),
            free: RefCell::default(),
            alive: RefCell::default(),
            signatures: RefCell::default(),
            kernels: Cell::new(0),
            given: RefCell::default(),
        }
    }

    fn sums(&self) -> &Sums {
        self.checked.sums()
    }

    fn place(&self, operation: &str, span: Span) -> Place {
        self.program.sources.place(operation, span)
    }

    /// Evaluates in another mode, in which no reduction is hoisted for the rows of a comprehension.
    fn within<R>(&self, mode: Mode, f: impl FnOnce() -> R) -> R {
        let (before, hoisting) = (self.mode.replace(mode), self.hoisting.take());
        let result = f();
        self.mode.set(before);
        self.hoisting.replace(hoisting);
        result
    }

    /// Evaluates code that may run never or more than once, so that no reduction is hoisted out of it.
    fn sometimes<R>(&self, f: impl FnOnce() -> R) -> R {
        self.within(self.mode.get(), f)
    }

    /// Returns the value, or else the substitute: the error is recorded, and reported after Rust functions that cannot fail have returned.
    fn keep<T>(&self, outcome: Outcome<T>, otherwise: impl FnOnce() -> T) -> T {
        outcome.unwrap_or_else(|diagnostic| {
            self.failure.borrow_mut().get_or_insert(diagnostic);
            otherwise()
        })
    }

    /// Returns the recorded error, if there is one.
    fn kept<T>(&self, value: T) -> Outcome<T> {
        match self.failure.borrow_mut().take() {
            Some(diagnostic) => Err(diagnostic),
            None => Ok(value),
        }
    }

    fn compile(self: Rc<Self>, id: FunctionId, types: Instance) -> Outcome<Compiled> {
        let (function, _) = self.checked.function(id);
        let span = function.name.span;
        let scheme = self.checked.scheme(id).clone();
        let environment = Environment::of_types(with_defaults(types, &scheme));
        let mut ty = environment.resolve(&scheme.ty);
        let (mut parameters, mut leaves) = (Vec::new(), Leaves::default());
        // Before anything is evaluated: arrays that are described inside of a loop's function would belong to the loop.
        let given = self.bind_given(id, &mut leaves)?;
        let mut value = self.global(id, environment.clone())?;
        while let Type::Function(from, to) = ty {
            let name = parameter_name(function, parameters.len());
            let argument = self.argument(&from, &mut leaves, self.place(&name, span)).ok_or_else(|| {
                let message =
                    format!("`{}` cannot be run by itself: `{name}` is of type `{from}`", function.name.name);
                Box::new(
                    Diagnostic::new(span, message)
                        .help("arguments are numbers, arrays of them, and tuples and records of these"),
                )
            })?;
            parameters.push((name, *from));
            value = self.apply(&value, argument, span)?;
            ty = *to;
        }
        let mut results = Vec::new();
        self.results(&value, &ty, span, &mut results)?;
        let program = self.kept(ArrayProgram::of(&results))?;
        Ok(Compiled { program, given, parameters, result: ty })
    }

    /// Creates the given values that a function uses, and returns their numbers.
    fn bind_given(&self, function: FunctionId, leaves: &mut Leaves) -> Outcome<Vec<usize>> {
        let (mut used, mut bound) = (None, Vec::new());
        for (number, given) in self.program.given.iter().enumerate() {
            let Some(id) = self.checked.entry(&given.name) else { continue };
            if !used.get_or_insert_with(|| self.checked.reachable(function)).contains(&id) {
                continue;
            }
            // Sums are numbered anew in each program.
            let ty = &self.checked.scheme(id).ty;
            let mut scalars = given.scalars.iter().copied();
            let span = self.checked.function(id).0.span;
            let value = self.given_value(ty, leaves, &mut scalars, self.place(&given.name, span));
            let value = value.ok_or_else(|| {
                self.wrong(span, format!("the value of `{}` is not one of type `{ty}`", given.name))
            })?;
            self.given.borrow_mut().insert(id, value);
            bound.push(number);
        }
        Ok(bound)
    }

    /// Creates a value from outside: its arrays are the next arguments of the program, its numbers are constants.
    fn given_value(
        &self,
        ty: &Type,
        leaves: &mut Leaves,
        scalars: &mut dyn Iterator<Item = Constant>,
        place: Place,
    ) -> Option<Value> {
        match ty {
            Type::Array { .. } => self.argument(ty, leaves, place),
            Type::Tuple(parts) => {
                let parts = parts.iter().map(|part| self.given_value(part, leaves, scalars, place));
                Some(Value::Tuple(parts.collect::<Option<_>>()?))
            }
            Type::Record(fields) => {
                let fields = fields
                    .iter()
                    .map(|(name, ty)| Some((name.clone(), self.given_value(ty, leaves, scalars, place)?)));
                Some(Value::Record(fields.collect::<Option<_>>()?))
            }
            _ => {
                let columns = layout::columns(ty, self.sums())?;
                let own: Vec<Constant> = scalars.take(columns.len()).collect();
                let fits = own.iter().map(|scalar| scalar.ty()).eq(columns);
                fits.then(|| layout::from_terms(ty, self.sums(), true, &mut own.into_iter().map(Term::from)))?
            }
        }
    }

    /// Creates the argument of a type: its leaves are the next arguments of the program.
    fn argument(&self, ty: &Type, leaves: &mut Leaves, place: Place) -> Option<Value> {
        Some(match ty {
            Type::Scalar(scalar) => {
                leaves.scalars += 1;
                Value::scalar(Term::variable(ScalarVariable::Argument(leaves.scalars - 1), *scalar), true)
            }
            Type::Tuple(parts) => Value::Tuple(
                parts.iter().map(|part| self.argument(part, leaves, place)).collect::<Option<_>>()?,
            ),
            Type::Record(fields) => Value::Record(
                fields
                    .iter()
                    .map(|(name, ty)| Some((name.clone(), self.argument(ty, leaves, place)?)))
                    .collect::<Option<_>>()?,
            ),
            Type::Array { element, sizes, level: None } => {
                let columns = layout::columns(element, self.sums())?;
                let number = ArgumentOperation(leaves.arrays);
                leaves.arrays += 1;
                let described = self.alive(Described::new(number, Vec::new(), sizes.len(), columns, place));
                Value::Array(Array::Host(Rc::new(Host::given((**element).clone(), described))))
            }
            _ => return None,
        })
    }

    /// Collects the arrays of a result.
    fn results(
        self: &Rc<Self>,
        value: &Value,
        ty: &Type,
        span: Span,
        results: &mut Vec<Arc<Described>>,
    ) -> Outcome<()> {
        match (value, ty) {
            (Value::Array(Array::Host(array)), _) => match &array.element {
                Type::Array { element, .. } if array.rank == 1 => {
                    results.extend(self.flattened_rows(array, element, span)?);
                }
                _ => results.push(self.describe(array, span)?),
            },
            (Value::Array(array @ Array::Local(_)), _) => results.push(self.described(array, span)?),
            (Value::Suspended(suspended), _) => match self.force(suspended, span)? {
                Array::Host(array) => results.push(self.describe(&array, span)?),
                _ => return Err(self.wrong(span, "a kernel inside of another one")),
            },
            (Value::Tuple(parts), Type::Tuple(types)) => {
                parts.iter().zip(types).try_for_each(|(part, ty)| self.results(part, ty, span, results))?;
            }
            (Value::Record(fields), Type::Record(types)) => {
                fields
                    .iter()
                    .zip(types)
                    .try_for_each(|((_, field), (_, ty))| self.results(field, ty, span, results))?;
            }
            _ => {
                let terms = value.terms().ok_or_else(|| {
                    let message = format!("a result of type `{ty}` cannot be given");
                    Box::new(
                        Diagnostic::new(span, message)
                            .help("results are numbers, arrays of them, and tuples and records of these"),
                    )
                })?;
                results.push(self.unit(&terms, span));
            }
        }
        Ok(())
    }

    fn wrong(&self, span: Span, message: impl Into<String>) -> Box<Diagnostic> {
        Box::new(Diagnostic::new(span, message))
    }
}

/// Sets variables without an argument to their defaults: `double` for floats, the grid for levels, any size, `int` for everything else.
fn with_defaults(mut types: Instance, scheme: &Scheme) -> Instance {
    for (variable, kind, _) in &scheme.variables {
        types.entry(*variable).or_insert_with(|| match kind {
            Kind::Float => Argument::Type(Type::Scalar(ScalarType::F64)),
            Kind::Level => Argument::Level(Level { variable: None, above: 3 }),
            Kind::Size => Argument::Size(Size::Any),
            _ => Argument::Type(Type::Scalar(ScalarType::I64)),
        });
    }
    types
}

/// Numbers of arguments of a program so far.
#[derive(Default)]
struct Leaves {
    arrays: u32,
    scalars: u32,
}

impl Host {
    /// Creates an array of the array language.
    pub(crate) fn given(element: Type, described: Arc<Described>) -> Host {
        let rank = described.rank();
        Host { element, rank, made: None, described: OnceCell::from(described) }
    }
}
