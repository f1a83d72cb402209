//! The `.pum` language: text becomes a tree (`syntax/`, [`ast`]), the tree gets types ([`types`]), and is evaluated into array
//! programs and kernels of the layers below. Nothing is compiled in a way of its own, and nothing here knows a device.
//!
//! Files are untrusted: whatever is written in one, the answer is a program or a list of [`diagnostic::Diagnostic`], within bounds
//! of memory and time.

#![forbid(unsafe_code)]

pub mod additions;
pub mod ast;
pub mod bindings;
pub mod cases;
pub mod diagnostic;
pub mod document;
pub mod evaluate;
pub mod format;
pub mod interface;
pub mod meaning;
pub mod print;
pub mod program;
pub mod show;
pub mod source;
pub mod syntax;
pub mod types;
