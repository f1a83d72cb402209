//! The language server of the `.pum` language, `pumice lsp`: an editor tells what is typed, and gets told what is wrong, what names mean and
//! what may be written.
//!
//! ```text
//! server.rs        messages in and out, in order; diagnostics when nothing else waits
//! requests.rs      which request is answered by what
//! workspace.rs     files as they are typed, and on disk;  analysis.rs: one file with what it imports, checked
//! index.rs         names, found in one walk (walk.rs);  text.rs: positions in UTF-16
//! the others       an answer each
//! ```
//!
//! What the language is, `pumice-lang` says; nothing here finds out a type. Whatever a client sends, the answer is a result or an error, and
//! whatever is typed, what can be known of it is told.

#![forbid(unsafe_code)]

mod actions;
mod analysis;
mod complete;
mod cost;
mod describe;
mod diagnostics;
mod hints;
mod hover;
mod index;
mod layout;
mod library;
mod navigate;
mod requests;
mod server;
mod signature;
mod symbols;
mod text;
mod tokens;
mod walk;
mod workspace;

pub use server::{serve, serve_stdio};
