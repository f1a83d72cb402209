//! What types the parts of a program have.

mod ty;

pub use ty::{Kind, Level, Scheme, Size, SumId, Type, Variable};
