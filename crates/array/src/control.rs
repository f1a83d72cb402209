//! Control over arrays: the common part of loops and branches.
//!
//! Such an operation has array programs of its own, which are closed: everything they need besides scalar arguments is an array
//! argument, the operation's input of the same number. The elements of an array decide how it goes on, so the interpreter or runtime
//! runs it where the plan of the operations before it ends ([`crate::Read::Run`]), one nested program
//! after the other ([`Control::run`]). Interpreter and runtime share that: it defines the meaning of a loop or a branch. Loops whose arrays are
//! small are not run in this way on a device: they are kernels (`lower/small_loop.rs`).

use crate::data::{ArrayData, whole_columns};
use crate::error::Error;
use crate::extents::{Extent, Shapes, Unplanned};
use crate::interpret::{Elements, Interpreter};
use crate::operation::{Given, Nature, Operation, RANK, Signature, TYPES, ensure};
use crate::program::{ArrayProgram, Node};
use pumice_scalar::{Function, Place, ScalarType};
use std::any::Any;
use std::ops::Range;
use std::sync::Arc;

/// Loops and branches nest at most so deep: nothing recurses to a depth that a text decides.
pub const MOST_NESTED: usize = 32;

/// The rank and the element types of an array.
pub type ArrayType = (usize, Vec<ScalarType>);

/// The arrays that a program is given or gives, in order.
pub type Arrays = Vec<Arc<dyn ArrayData>>;

/// Runs the nested program of this number on arrays that are its arguments.
pub type RunNested<'a> = dyn FnMut(usize, &Arrays) -> Result<Arrays, Error> + 'a;

/// An operation that is run by itself: a loop, a branch, a function of the host. With this it is an [`Operation`].
pub trait Control: Send + Sync + 'static {
    /// The word that it begins with in text.
    fn keyword(&self) -> &'static str;

    /// See [`Operation::attributes`].
    fn attributes(&self) -> Vec<i64> {
        Vec::new()
    }

    /// See [`Operation::is_said_by_text`].
    fn is_said_by_text(&self) -> bool {
        true
    }

    /// Whether its inputs are to be in the device's memory before it is run on a device of this kind.
    fn wants_on_device(&self, _kind: &str) -> bool {
        false
    }

    /// See [`Operation::check`].
    fn check(&self, signature: &Signature<'_>) -> Result<(), String>;

    /// The programs.
    fn programs(&self) -> &[ArrayProgram];

    /// The same operation with other programs, as many and with the same results.
    fn with_programs(&self, programs: Vec<ArrayProgram>) -> Arc<dyn Operation>;

    /// Names of the programs, for people.
    fn names(&self) -> &'static [&'static str];

    /// Number of leading inputs that the operation itself reads, independent of its programs' arguments.
    fn looks_at(&self) -> usize {
        0
    }

    /// The program, if there is one, that is run once before the first round of a loop, and not at all if there is no round. Its
    /// results are further arguments of the step, after the inputs: the loop invariants.
    fn once(&self) -> Option<usize> {
        None
    }

    /// The same loop with one more program, which it runs once.
    fn with_once(&self, _once: ArrayProgram) -> Option<Arc<dyn Operation>> {
        None
    }

    /// Whether a program is run at least once whenever the operation is, for these inputs.
    fn always_runs(&self, _program: usize, _inputs: &[&Node]) -> bool {
        false
    }

    /// Whether others than the program see that it is run, and how often.
    fn is_seen(&self) -> bool {
        false
    }

    /// The ranks and element types of the arrays that it gives.
    fn gives(&self) -> Vec<ArrayType>;

    /// Its loop, if it is one whose state is made anew as long as an element says so, or so many times.
    fn as_loop(&self) -> Option<Loop> {
        None
    }

    /// Its meaning: the arrays that it gives for these inputs, where the user wrote it at a place.
    fn run(&self, place: Place, inputs: Arrays, run: &mut RunNested<'_>) -> Result<Arrays, Error>;

    /// The extents of its results, as far as they do not depend on how it goes on, from those of its inputs and of the
    /// programs' results.
    fn foresee(&self, inputs: &[Vec<usize>], programs: &[Option<Vec<Vec<usize>>>])
    -> Option<Vec<Vec<usize>>>;
}

/// A loop: its state, its rounds and its step.
#[derive(Clone)]
pub struct Loop {
    /// The inputs that are the state before the first round.
    pub state: Range<usize>,
    /// When the loop ends.
    pub rounds: Rounds,
    /// The number of the program that makes the next state.
    pub step: usize,
}

/// Condition or number of rounds of a loop.
#[derive(Clone, Copy)]
pub enum Rounds {
    /// As long as the program of this number gives true.
    While(usize),
    /// As many times as the input of this number says.
    Times(usize),
}

/// Checks that a loop's state, which are inputs of these types, is made anew by its step, and begins with its result.
pub(crate) fn check_state(
    signature: &Signature<'_>,
    state: Option<&[(usize, &[ScalarType])]>,
    step: &ArrayProgram,
) -> Result<(), String> {
    let state: Vec<ArrayType> =
        state.unwrap_or(&[]).iter().map(|(rank, types)| (*rank, types.to_vec())).collect();
    ensure(!state.is_empty(), "a loop has fewer inputs than its state, or no state")?;
    ensure(
        results_of(step) == state,
        "the next state of a loop has other ranks or element types than the first",
    )?;
    ensure(
        state.first() == Some(&(signature.rank, signature.types.to_vec())),
        "the result of a loop has another rank or element type than its state",
    )
}

/// Nothing is known of its results before it has run; then they are in memory.
impl<C: Control + Clone> Operation for C {
    fn keyword(&self) -> &'static str {
        Control::keyword(self)
    }
    fn attributes(&self) -> Vec<i64> {
        Control::attributes(self)
    }
    fn with_functions(&self, _: Vec<Function>) -> Arc<dyn Operation> {
        Arc::new(self.clone())
    }
    fn is_said_by_text(&self) -> bool {
        Control::is_said_by_text(self)
    }
    fn control(&self) -> Option<&dyn Control> {
        Some(self)
    }
    fn check(&self, signature: &Signature<'_>) -> Result<(), String> {
        Control::check(self, signature)
    }
    fn extents(&self, shapes: &Shapes<'_>) -> Result<Vec<Extent>, Unplanned> {
        shapes.after_run()
    }
    fn nature(&self) -> Nature {
        Nature::Given
    }
    fn cost(&self) -> u32 {
        0
    }
    fn interpret(&self, interpreter: &Interpreter<'_>, node: &Node) -> Result<Elements, Error> {
        interpreter.computed(node)
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// The programs of an operation, which do not nest too deep.
#[derive(Clone)]
pub struct Nested(Option<Arc<[ArrayProgram]>>);

impl Nested {
    /// Takes these programs. If they nest too deep they are dropped, and the verifier refuses the operation.
    pub fn new(programs: Vec<ArrayProgram>) -> Nested {
        let fits = programs.iter().all(|program| program.nesting() < MOST_NESTED);
        Nested(fits.then(|| programs.into()))
    }

    /// The programs.
    pub fn programs(&self) -> &[ArrayProgram] {
        self.0.as_deref().unwrap_or(&[])
    }

    /// The programs, if they are as many as the operation needs and their arguments are its inputs.
    pub(crate) fn check<const N: usize>(
        &self,
        signature: &Signature<'_>,
    ) -> Result<&[ArrayProgram; N], String> {
        let programs: Option<&[ArrayProgram; N]> = self.shallow()?.try_into().ok();
        let programs = programs.ok_or_else(|| format!("an operation has other than {N} programs"))?;
        programs.iter().try_for_each(|program| check_arguments(program, &signature.inputs))?;
        Ok(programs)
    }

    /// Like [`Nested::check`], for the programs of a loop, of which the last is its step; one more may be there, which is run once and
    /// gives further arguments of the step.
    pub(crate) fn check_loop<const N: usize>(
        &self,
        signature: &Signature<'_>,
    ) -> Result<&[ArrayProgram; N], String> {
        let programs = self.shallow()?;
        let split = programs.split_first_chunk::<N>().filter(|(_, once)| once.len() <= 1);
        let (programs, once) = split.ok_or_else(|| format!("a loop has other than {N} programs"))?;
        let given: Vec<ArrayType> = once.iter().flat_map(results_of).collect();
        let given = given.iter().map(|(rank, types)| (*rank, &types[..]));
        let inputs = &signature.inputs;
        let further: Vec<(usize, &[ScalarType])> = inputs.iter().copied().chain(given).collect();
        for (number, program) in programs.iter().chain(once).enumerate() {
            check_arguments(program, if number + 1 == N { &further } else { inputs })?;
        }
        Ok(programs)
    }

    fn shallow(&self) -> Result<&[ArrayProgram], String> {
        self.0.as_deref().ok_or_else(|| format!("loops and branches nest more than {MOST_NESTED} deep"))
    }
}

/// Checks that the arguments of a program are arrays of these types.
fn check_arguments(program: &ArrayProgram, inputs: &[(usize, &[ScalarType])]) -> Result<(), String> {
    for node in program.nodes() {
        let Some(Given::Argument(number)) = node.operation.given() else { continue };
        let missing = || format!("the operation has no input {number}, which its program takes");
        let (rank, types) = inputs.get(number as usize).ok_or_else(missing)?;
        ensure(*rank == node.rank, RANK)?;
        ensure(*types == node.types, TYPES)?;
    }
    Ok(())
}

/// The ranks and element types of a program's results.
pub(crate) fn results_of(program: &ArrayProgram) -> Vec<ArrayType> {
    let node = |id| program.nodes().get(usize::try_from(id).unwrap_or(usize::MAX));
    let results = program.results().iter().filter_map(|result| node(result.0));
    results.map(|node| (node.rank, node.types.clone())).collect()
}

/// The value of an array that is one truth value.
pub fn is_true(data: &dyn ArrayData) -> Result<bool, Error> {
    match whole_columns(data)?.first().and_then(|column| column.first()) {
        Some(byte) => Ok(*byte != 0),
        None => Err(Error::Program("a condition has no value".into())),
    }
}

/// The value of an array that is one whole number.
pub fn whole_number(data: &dyn ArrayData) -> Result<i64, Error> {
    let columns = whole_columns(data)?;
    match columns.first().and_then(|column| column.first_chunk()) {
        Some(bytes) => Ok(i64::from_ne_bytes(*bytes)),
        None => Err(Error::Program("a number has no value".into())),
    }
}
