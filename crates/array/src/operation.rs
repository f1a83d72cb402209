//! Operations of the array language: everything that the layers ask of one, in one trait.
//!
//! An operation is a file under [`crate::operations`]. It has the operation's keyword, signature, result extents,
//! form, cost, lowering and meaning. Nothing outside of that file
//! asks which operation it is.

use crate::control::{ArrayType, Control};
use crate::data::ArrayData;
use crate::error::Error;
use crate::extents::{Extent, Shapes, Unplanned};
use crate::fuser::{Element, Fuser};
use crate::interpret::{Elements, Interpreter};
use crate::lower::{Common, Hearing, Listeners, Lowering, Step};
use crate::program::{Node, NodeId};
use pumice_scalar::{Constant, Function, PlacedMessage, ScalarType, Term};
use std::any::Any;
use std::sync::Arc;

/// An operation of the array language.
pub trait Operation: Send + Sync + 'static {
    /// The word that it begins with in text.
    fn keyword(&self) -> &'static str;

    /// Numbers that belong to it, for its text.
    fn attributes(&self) -> Vec<i64> {
        Vec::new()
    }

    /// Its scalar functions.
    fn functions(&self) -> Vec<&Function> {
        Vec::new()
    }

    /// The same operation with other functions, as many and of the same signatures.
    fn with_functions(&self, functions: Vec<Function>) -> Arc<dyn Operation>;

    /// The functions, from no parameters, whose values decide extents or are fixed in a plan.
    fn shaping(&self) -> Vec<&Function> {
        Vec::new()
    }

    /// The array that it stands for, if it is one that exists before the program runs.
    fn given(&self) -> Option<Given<'_>> {
        None
    }

    /// Its programs and how they are run, if it is a loop or a branch.
    fn control(&self) -> Option<&dyn Control> {
        None
    }

    /// Position of its array among the results of its input, a loop or a branch; `None` for other operations.
    fn picks(&self) -> Option<usize> {
        None
    }

    /// Whether keyword, attributes, functions, programs and given array determine the operation: two that agree in these are
    /// the same.
    fn is_said_by_text(&self) -> bool {
        true
    }

    /// Checks that ranks, types and functions fit each other; the error is a sentence without the place.
    fn check(&self, signature: &Signature<'_>) -> Result<(), String>;

    /// The extents of its result, given those of its inputs.
    fn extents(&self, shapes: &Shapes<'_>) -> Result<Vec<Extent>, Unplanned>;

    /// The only element of its result, where extents alone decide what that is.
    fn known_element(&self, _shapes: &Shapes<'_>) -> Option<Vec<Constant>> {
        None
    }

    /// The form in which its result exists by itself.
    fn nature(&self) -> Nature;

    /// The use that it can make of an input that is handed on element by element instead of being in memory.
    fn listens(&self, _input: usize) -> Listens {
        Listens::No
    }

    /// Whether it can listen to the producer of an input that is a push, as [`Listens::Gathers`] says.
    fn gathers(&self, _node: &Node, input: usize) -> bool {
        self.listens(input) == Listens::Gathers
    }

    /// Whether it takes an input from which elements are missing as that is, in order and without an index.
    fn takes_loose(&self, input: usize) -> bool {
        self.listens(input) == Listens::Gathers
    }

    /// Whether its result is always in memory, independent of its uses.
    fn is_in_memory(&self) -> bool {
        false
    }

    /// Whether its kernel must be launched even if it gives no element, because it can fail.
    fn speaks_when_empty(&self) -> bool {
        false
    }

    /// Whether the elements that a push hands on are loose: they come in any order, and without an index. Its kernels then have
    /// as many blocks as a consumer asks for.
    fn hands_on_loose(&self) -> bool {
        false
    }

    /// The functions of an expansion that can run where an element is heard: the number of elements made of one, and each of them. See
    /// [`Listens::Expands`].
    fn expands(&self) -> Option<(&Function, &Function)> {
        None
    }

    /// Whether a push reads its inputs from memory only.
    fn needs_memory(&self) -> bool {
        false
    }

    /// Whether an operation that has a kernel of its own reads an input as a pull.
    fn reads_pulls(&self, _input: usize) -> bool {
        false
    }

    /// The input whose elements it takes in any order, in the form that it has here: it can then hear them with others.
    fn gathered(&self, _lowering: &Lowering<'_>, _node: &Node) -> Option<NodeId> {
        None
    }

    /// Whether it hears its input as well in a kernel of so many operations as alone.
    fn hears_as_well(&self, _lowering: &Lowering<'_>, _node: &Node, _hearers: u32) -> bool {
        true
    }

    /// Whether it hears elements as well from a producer that divides its work in a way of its own, as from one that it has
    /// chosen the blocks of.
    fn hears_from_any_blocks(&self) -> bool {
        false
    }

    /// The steps around the kernels of a producer that it hears ([`Operation::gathered`]). There is one entry for this operation,
    /// or several of the same keyword; each has the listeners to its result.
    fn hear<'a>(
        &'a self,
        _lowering: &'a Lowering<'a>,
        _common: &Common,
        _group: Vec<Listeners>,
    ) -> Result<Hearing<'a>, Error> {
        Err(Error::Program(format!("nothing hears the elements of `{}`", self.keyword()).into()))
    }

    /// Instructions, roughly, that one element of the result takes besides those of its inputs' elements.
    fn cost(&self) -> u32;

    /// Whether its kernels take long: its result stays in memory while the host reads something, if it is needed again behind that.
    fn takes_long(&self) -> bool {
        false
    }

    /// Whether it reads elements of its input many times.
    fn repeats(&self) -> bool {
        false
    }

    /// Whether the elements that its functions read by index are each read about once.
    fn reads_once(&self) -> bool {
        false
    }

    /// The elements of inputs that one element of a pull needs.
    fn demand(&self, _fuser: &Fuser<'_>, _node: &Node, _index: &[Term]) -> Demand {
        Demand::default()
    }

    /// One element of a pull, at an index, from the elements that it demanded.
    fn element(&self, _fuser: &Fuser<'_>, _node: &Node, _index: &[Term], inputs: Vec<Element>) -> Element {
        inputs.into_iter().next().unwrap_or_else(|| Element::from(Vec::new()))
    }

    /// The index that an element of its input has in its result, for operations that listen with [`Listens::Reindexes`].
    fn reindex(&self, _fuser: &Fuser<'_>, _node: &Node, index: Vec<Term>) -> Vec<Term> {
        index
    }

    /// Key of a producer of elements: those with equal keys can be computed by one kernel; see
    /// [`Operation::produce`].
    fn shares(&self, _lowering: &Lowering<'_>, _node: &Node) -> Option<Vec<i64>> {
        None
    }

    /// The steps that compute the elements of a push and hand them to listeners. There is one entry for this operation,
    /// or several of the same keyword with an equal key ([`Operation::shares`]).
    fn produce(&self, _lowering: &Lowering<'_>, _group: Vec<Listeners>) -> Result<Vec<Step>, Error> {
        Err(Error::Program(format!("nothing produces the elements of `{}`", self.keyword()).into()))
    }

    /// The steps that write its result to memory, for operations that do that in a way of their own.
    fn consume(&self, _lowering: &Lowering<'_>, node: &Node) -> Result<Vec<Step>, Error> {
        Err(Error::Program(PlacedMessage::naming(
            node.place,
            format!("nothing writes the elements of {}", node.place),
        )))
    }

    /// Its meaning: the elements of its result, row by row.
    fn interpret(&self, interpreter: &Interpreter<'_>, node: &Node) -> Result<Elements, Error>;

    /// Itself, for those that share a kernel with others of their kind.
    fn as_any(&self) -> &dyn Any;
}

/// An array that exists before a program runs.
#[derive(Clone, Copy)]
pub enum Given<'a> {
    /// Data.
    Data(&'a Arc<dyn ArrayData>),
    /// The argument with this number.
    Argument(u32),
}

/// The form of an operation's result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nature {
    /// It is in memory before the plan is executed in which it is used.
    Given,
    /// It is in memory, because it takes a kernel of its own to make it ([`Operation::consume`]).
    Memory,
    /// A function of the index.
    Pull,
    /// A function of the index of its input that tells for each element whether it is there: loose.
    Loose,
    /// A program that hands elements on, each with its index ([`Operation::produce`]).
    Push,
}

/// The use that an operation makes of an input that comes element by element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Listens {
    /// Nothing: it needs an index of its own choice.
    No,
    /// It hands each element on, changed, at the same index. Other inputs are read at that index.
    Maps,
    /// It hands each element on at another index.
    Reindexes,
    /// It hands several elements on for each, without an index.
    Expands,
    /// It takes each element once, in any order, and needs no index: elements may also be absent.
    Gathers,
}

/// The elements of inputs that an element of a pull is made of.
#[derive(Default)]
pub struct Demand {
    /// The elements that are read: the number of the input, and the index in it.
    pub elements: Vec<(usize, Vec<Term>)>,
    /// Where this is false, nothing is read and the element is zero.
    pub guard: Option<Term>,
}

/// Ranks and types around an operation.
pub struct Signature<'a> {
    /// The number of dimensions of its result.
    pub rank: usize,
    /// The scalar types of an element of its result.
    pub types: &'a [ScalarType],
    /// Its inputs' ranks and types.
    pub inputs: Vec<(usize, &'a [ScalarType])>,
    /// For each input that is a loop or a branch, the ranks and types of all arrays that it gives.
    pub gives: Vec<Vec<ArrayType>>,
}

/// A number of dimensions that does not fit.
pub const RANK: &str = "an array has another number of dimensions than the operation is for";
/// Element types that do not fit.
pub const TYPES: &str = "an array has elements of another type than the operation is for";

impl Signature<'_> {
    /// The only input.
    pub fn input(&self) -> Result<(usize, &[ScalarType]), String> {
        match self.inputs[..] {
            [input] => Ok(input),
            _ => Err(format!("an operation on one array is given {}", self.inputs.len())),
        }
    }

    /// No input.
    pub fn no_input(&self) -> Result<(), String> {
        ensure(self.inputs.is_empty(), "an operation on no array is given one")
    }

    /// The types of an index of this many dimensions.
    pub fn index(rank: usize) -> Vec<ScalarType> {
        vec![ScalarType::I64; rank]
    }
}

/// An error unless something holds.
pub fn ensure(holds: bool, mistake: &str) -> Result<(), String> {
    if holds { Ok(()) } else { Err(mistake.to_string()) }
}

/// An error unless a function has this signature.
pub fn fits(function: &Function, parameters: &[ScalarType], results: &[ScalarType]) -> Result<(), String> {
    let fits = function.parameters() == parameters && function.result_types() == results;
    ensure(fits, "a function does not fit the arrays that it is applied to")
}

/// The next of the functions that an operation is remade with; the old one if there is none.
pub(crate) fn next(functions: &mut std::vec::IntoIter<Function>, old: &Function) -> Function {
    functions.next().unwrap_or_else(|| old.clone())
}
