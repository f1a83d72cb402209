//! The language server of the `.pum` language, `pumice lsp`: an editor sends the text as it is typed, and gets errors, the meanings of names and
//! completions.
//!
//! ```text
//! server.rs        messages in and out, in order; diagnostics when nothing else waits
//! requests.rs      the handler of each request
//! workspace.rs     files as they are typed, and on disk;  analysis.rs: one file with what it imports, checked
//! index.rs         names, found in one walk (walk.rs);  text.rs: positions in UTF-16
//! the others       an answer each
//! ```
//!
//! The language is defined in `pumice-lang`; nothing here infers a type. Every message of a client is answered with a result or an error, and
//! every text, however broken, is analysed as far as possible.

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
