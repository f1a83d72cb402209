//! Type checking and inference: finds the types of a program's parts, or its errors.
//!
//! [`check`] goes over a program like this:
//! - `names.rs`: the definitions of all files; `resolve.rs`: the definition that each name refers to, and which functions use which;
//! - `declare.rs`, `elaborate.rs`: declared types and signatures, whose kinds are checked;
//! - `order.rs`: functions in groups that use each other, those with a signature each by itself;
//! - `infer.rs`, with `bindings.rs`, `application.rs`, `patterns.rs`, `fields.rs`, `comprehension.rs` and `exhaustive.rs`: the type of
//!   every expression, by Hindley and Milner's method with depths for generalisation, over the nodes of `arena.rs` and `unify.rs`;
//! - `levels.rs`: that levels nest.
//!
//! `functions.rs` does these in turn. `scheme.rs` makes schemes and uses of them, `export.rs` makes types data, and `messages.rs`,
//! `explain.rs` and `print.rs` say them. `lookup.rs` answers what editors ask.

mod application;
mod arena;
mod bindings;
mod checked;
mod comprehension;
mod declare;
mod elaborate;
mod elsewhere;
mod exhaustive;
mod explain;
mod export;
mod fields;
mod functions;
mod hash;
mod infer;
mod levels;
mod lookup;
mod messages;
mod names;
mod order;
mod patterns;
mod print;
mod resolve;
mod scheme;
mod ty;
mod unify;

pub use checked::{Checked, FunctionId, Resolved, SumDeclaration};
pub use functions::{check, check_with_errors};
pub use ty::{Argument, Kind, Level, Scheme, Size, SumId, Type, Variable};
