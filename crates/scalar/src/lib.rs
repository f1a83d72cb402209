//! The scalar language: what a function on elements is, how it is written in Rust, simplified, placed and evaluated.
//!
//! [`Exp`] and [`Elt`] are how users write it; [`Term`] is the same without Rust's types; [`Function`] is the result, as
//! data. Nothing here knows what an array or a device is.

#[macro_use]
mod example;

mod accuracy;
mod arena;
mod arithmetic;
mod character;
mod composed;
mod control;
mod elt;
pub mod embedding;
mod evaluate;
mod exp;
mod float;
mod floats;
mod function;
mod graph;
mod integers;
mod message;
mod number;
mod op;
mod option;
mod overflow;
mod place;
mod schedule;
mod simplify;
pub mod text;
mod types;

pub use accuracy::FAR_ANGLE;
pub use arena::{
    Replacement, Term, branch, function, inspect, keep, release_kept, repeat, scope, scope_depth,
};
#[cfg(feature = "num-complex")]
pub use composed::ComplexExp;
pub use composed::{ElementArray, ResultExp, equal, err, ok};
pub use control::{RangeEnd, cond, for_, let_, repeat_, while_};
pub use elt::{Elt, Lift, Primitive};
pub use evaluate::{CheckFailure, Environment, Evaluator};
pub use exp::{Exp, IntoExp, constant};
pub use float::FloatOrder;
pub use function::Function;
pub use graph::{ElementOf, FailureKind, Graph, Id, Node, Operands, Site, Variable};
pub use half::{bf16, f16};
pub use message::PlacedMessage;
pub use number::{Bits, Float, Integer, Number, Ordered, Signed, number};
pub use op::Op;
pub use option::{OptionExp, none, some};
pub use place::Place;
pub use schedule::{Item, MAX_NESTING, Schedule, TooDeep};
pub use types::{Constant, ScalarType};

/// What `#[derive(Elt)]` calls.
#[doc(hidden)]
pub mod derived {
    pub use crate::composed::{
        ReadVariants, Tag, WrittenVariants, add_variant_constants, add_variant_terms, add_variant_types,
        debug_expression, either, make_variant, take_variants, unequal, variant,
    };
    pub use crate::{Constant, ScalarType, Term};
    pub use std::borrow::Cow;
    pub use std::collections::TryReserveError;
}
