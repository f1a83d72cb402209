//! Commands on files of the `.pum` language. Each reads the file, has `pumice-lang` check it and make an array program of it, and does
//! with that what its name says.

pub mod call;
pub mod cases;
pub mod check;
pub mod cost;
pub mod file;
pub mod files;
pub mod fmt;
pub mod lower;
pub mod run;

pub use call::prepare_expression;
