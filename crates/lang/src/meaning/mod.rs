//! Reference semantics of programs and their costs: evaluates checked programs on actual values, by the small-step rules of FCL and those
//! that `docs/semantics-of-pum.md` adds. It is independent of `evaluate/`, which makes array programs and kernels: it shares the tree,
//! types and scalar operations with it and nothing else, and the two are tested against each other.
//!
//! Rules become an environment machine: `Evaluator` evaluates an expression to a value at a location, and counts the steps of the
//! rules (`costs.rs`). `expressions.rs`, `functions.rs` and `scalars.rs` have the rules of expressions, and `calls.rs` says which rule is behind
//! each function. `pulls.rs`, `pushes.rs`, `running.rs` and `lanes.rs` have those of arrays and levels, `memory.rs` those of mutable memory,
//! `lists.rs`, `folds.rs`, `sorting.rs` and `placing.rs` the meanings of operations of whole arrays, `rows.rs` those of comprehensions, and
//! `results.rs` arguments and results. Evaluation of every program ends: steps, depth and memory are bounded.

mod calls;
mod costs;
mod expressions;
mod folds;
mod functions;
mod lanes;
mod lists;
mod memory;
mod placing;
mod pulls;
mod pushes;
mod results;
mod rows;
mod running;
mod scalars;
mod sorting;
mod stores;
mod tiles;
mod types;
mod value;

use crate::ast::{ExprId, Name};
use crate::diagnostic::Diagnostic;
use crate::program::Program;
use crate::source::Span;
use crate::types::{Argument, Checked, FunctionId, Scheme, Type, Variable};
use costs::Meter;
pub use costs::{CostCounts, CostLevel, LevelCosts, LineCosts, MeaningCosts};
use pumice_array::{ArrayData, HostData};
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;
use value::{Environment, Value};

type Outcome<T> = Result<T, Box<Diagnostic>>;

/// Arguments for the variables of a polymorphic name at a use, in variables of its surroundings.
type Instance = Rc<[(Variable, Argument)]>;

/// Number of lanes of a warp.
const WARP: usize = 32;

/// Maximum nesting depth of expressions and elements, and of values that refer to each other; the stack of
/// [`evaluate`]'s thread has room for it.
const MOST_DEEP: u32 = 10_000;

/// Stack size in bytes.
const STACK: usize = 1 << 30;

/// The machine on which programs are evaluated, and the limits of an evaluation.
#[derive(Clone, Copy, Debug)]
pub struct MeaningOptions {
    /// Threads per block: `#BlockSize`.
    pub block_size: u32,
    /// Maximum number of evaluation steps, administrative ones included.
    pub most_steps: u64,
}

impl Default for MeaningOptions {
    fn default() -> MeaningOptions {
        MeaningOptions { block_size: 256, most_steps: 20_000_000 }
    }
}

/// The result of a program, and its costs.
pub struct Evaluated {
    /// The type of the result.
    pub result: Type,
    /// The arrays of the result, in order; of rank 0 for a value that is not an array.
    pub arrays: Vec<HostData>,
    /// Its costs.
    pub costs: MeaningCosts,
}

/// Evaluates a function of a program on these arrays, one for each parameter. Fails where the program has no meaning (an index out
/// of bounds, a division by zero), or takes too many steps.
///
/// ```
/// use pumice_array::ArrayData;
/// use pumice_lang::meaning::{CostLevel, MeaningOptions, evaluate};
/// use pumice_lang::{program::Program, show::show, types::check};
/// use std::sync::Arc;
///
/// let text = "fun main = force (push <thread> (map (fn x => x * x) [1, 2, 3]))";
/// let program = Program::load("squares.pum", text, &|_| Err(String::new())).unwrap();
/// let checked = check(&program).unwrap();
/// let main = checked.entry("main").unwrap();
/// let evaluated = evaluate(&program, &checked, main, &[], MeaningOptions::default()).unwrap();
/// let arrays: Vec<Arc<dyn ArrayData>> = evaluated.arrays.into_iter().map(|array| Arc::new(array) as _).collect();
/// assert_eq!(show(&evaluated.result, &arrays, checked.sums())?, "[1, 4, 9]");
/// // Three multiplications and three elements that are written, one after the other.
/// assert_eq!(evaluated.costs.steps, 3 + 3);
/// assert_eq!(evaluated.costs.at(CostLevel::Thread).counts.written, 3);
/// # Ok::<(), pumice_array::Error>(())
/// ```
pub fn evaluate(
    program: &Program,
    checked: &Checked,
    function: FunctionId,
    arguments: &[Arc<dyn ArrayData>],
    options: MeaningOptions,
) -> Result<Evaluated, Diagnostic> {
    let span = checked.function(function).0.name.span;
    // Evaluation recurses as deep as a program's calls are.
    let evaluated = std::thread::scope(|scope| {
        let run = || Evaluator::new(program, checked, options).run(function, arguments);
        let thread = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, run);
        thread.map(|thread| thread.join())
    });
    match evaluated {
        Ok(Ok(evaluated)) => evaluated.map_err(|diagnostic| *diagnostic),
        Ok(Err(_)) => Err(Diagnostic::new(span, "this function made Pumice fail: that is a fault of Pumice")),
        Err(error) => {
            Err(Diagnostic::new(span, format!("no thread could be started to evaluate it: {error}")))
        }
    }
}

/// The location of an evaluation: the host, a group of threads, or a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Location {
    /// Outside of threads and groups.
    Host,
    /// A warp, block or grid as a whole.
    Group(CostLevel),
    /// A thread that computes elements of an iteration of this level.
    Thread(CostLevel),
}

impl Location {
    /// Returns the level at which costs are counted.
    fn level(self) -> CostLevel {
        match self {
            Location::Host => CostLevel::Array,
            Location::Group(level) | Location::Thread(level) => level,
        }
    }
}

/// Evaluates expressions of one program.
struct Evaluator<'p> {
    program: &'p Program,
    checked: &'p Checked,
    options: MeaningOptions,
    meter: Rc<Meter>,
    location: Cell<Location>,
    /// Number of the current thread in its block; for a group, that of its first thread.
    thread: Cell<usize>,
    /// Number of the current block.
    block: Cell<usize>,
    /// Number of barriers so far.
    barriers: Cell<u64>,
    taken: Cell<u64>,
    depth: Cell<u32>,
    /// Types of expressions, computed on first use.
    types: RefCell<HashMap<ExprId, Rc<Type>>>,
    /// Arguments for the variables of polymorphic names at their uses.
    instances: RefCell<HashMap<ExprId, Instance>>,
    /// Schemes of built-in functions.
    builtins: RefCell<HashMap<Name, Rc<Scheme>>>,
}

impl<'p> Evaluator<'p> {
    fn new(program: &'p Program, checked: &'p Checked, options: MeaningOptions) -> Evaluator<'p> {
        Evaluator {
            program,
            checked,
            options,
            meter: Rc::default(),
            location: Cell::new(Location::Host),
            thread: Cell::new(0),
            block: Cell::new(0),
            barriers: Cell::new(0),
            taken: Cell::new(0),
            depth: Cell::new(0),
            types: RefCell::default(),
            instances: RefCell::default(),
            builtins: RefCell::default(),
        }
    }

    fn run(&self, function: FunctionId, arguments: &[Arc<dyn ArrayData>]) -> Outcome<Evaluated> {
        let (written, _) = self.checked.function(function);
        let span = written.name.span;
        let scheme = self.checked.scheme(function);
        let environment = Environment::of_types(types::defaults(scheme));
        let mut ty = types::resolve(&scheme.ty, &environment.types);
        let mut value = self.written_function(written, &environment)?;
        for argument in arguments {
            let Type::Function(from, to) = ty else {
                return Err(self.wrong(span, "more arguments are given than it takes"));
            };
            let given = self.given(&**argument, &from, span)?;
            value = self.apply(&value, given, span)?;
            ty = *to;
        }
        let mut arrays = Vec::new();
        self.results(&value, &ty, span, &mut arrays)?;
        drop(value);
        Ok(Evaluated { result: ty, arrays, costs: self.meter.costs(&self.program.sources) })
    }

    /// Evaluates at another location.
    fn at<T>(&self, location: Location, f: impl FnOnce() -> T) -> T {
        let before = self.location.replace(location);
        let result = f();
        self.location.set(before);
        result
    }

    /// Counts a step of the current thread.
    fn step(&self, span: Span) {
        self.meter.steps(span, self.location.get().level(), 1, 1);
    }

    /// Takes steps from the budget of the evaluation, or fails when it is spent.
    fn take(&self, count: u64, span: Span) -> Outcome<()> {
        let taken = self.taken.get().saturating_add(count);
        if taken > self.options.most_steps {
            let message = format!("evaluating this takes more than {} steps", self.options.most_steps);
            let help = "costs are counted by evaluating every element: try it with smaller arrays";
            return Err(Box::new(Diagnostic::new(span, message).help(help)));
        }
        self.taken.set(taken);
        Ok(())
    }

    /// Evaluates a part of an expression, one level deeper.
    fn nested<T>(&self, span: Span, f: impl FnOnce() -> Outcome<T>) -> Outcome<T> {
        self.take(1, span)?;
        let depth = self.depth.get() + 1;
        self.bounded(depth, span)?;
        self.depth.set(depth);
        let result = f();
        self.depth.set(depth - 1);
        result
    }

    /// Returns the depth, or an error if it is too great.
    fn bounded(&self, depth: u32, span: Span) -> Outcome<u32> {
        if depth <= MOST_DEEP {
            return Ok(depth);
        }
        let help = "for many rounds there are loops: `seqfor`, `whileLoop`, `while` and `iterate`; `force` or `compute` an array that each round builds on";
        Err(Box::new(Diagnostic::new(span, "calls or arrays are nested too deeply").help(help)))
    }

    fn wrong(&self, span: Span, message: impl Into<String>) -> Box<Diagnostic> {
        Box::new(Diagnostic::new(span, message))
    }

    /// Returns the error for a case that the type checker excludes.
    fn fault(&self, span: Span, message: impl std::fmt::Display) -> Box<Diagnostic> {
        self.wrong(span, format!("{message}: that is a fault of Pumice"))
    }

    /// Returns a number, or an error if the value is not one.
    fn scalar(&self, value: &Value<'p>, span: Span) -> Outcome<pumice_scalar::Constant> {
        match value {
            Value::Scalar(scalar) => Ok(*scalar),
            _ => Err(self.fault(span, "a number is wanted here")),
        }
    }

    /// Returns an integer, or an error if the value is not one.
    fn integer(&self, value: &Value<'p>, span: Span) -> Outcome<i64> {
        let integer = self.scalar(value, span)?.as_integer();
        integer
            .and_then(|value| i64::try_from(value).ok())
            .ok_or_else(|| self.fault(span, "an integer is wanted here"))
    }
}
