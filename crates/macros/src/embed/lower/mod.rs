//! Lowering of Rust's syntax to [steps](super::steps): names are resolved, effects are taken out of expressions, and unsupported syntax is
//! reported at its token.

mod calls;
mod expressions;
mod loops;
mod patterns;
mod statements;

use super::render::Renderer;
use super::steps::{Code, Step, Var, Vars, assigned, exits};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote_spanned};
use std::collections::BTreeMap;
use syn::ext::IdentExt;
use syn::{Block, Error, Pat, Result, Type};

/// A function to be generated for expressions.
pub struct Source<'a> {
    /// The function's name.
    pub name: &'a Ident,
    /// The type of `Self`, in an `impl` block.
    pub own: Option<&'a Type>,
    pub output: &'a Type,
    /// Patterns of the parameters after `self`, and the names under which their values are passed.
    pub parameters: Vec<(&'a Pat, Ident)>,
    pub takes_self: bool,
    pub body: &'a Block,
}

/// A loop around the code that is being lowered.
struct Around {
    number: usize,
    label: Option<Ident>,
    /// The variable for the value of a `loop`.
    value: Option<Var>,
    is_loop: bool,
}

struct Lowering<'a> {
    source: &'a Source<'a>,
    /// The names of the variables in the generated code.
    names: Vec<Ident>,
    scopes: Vec<BTreeMap<String, Var>>,
    loops: Vec<Around>,
    loop_count: usize,
    result: Var,
}

/// Generates the body of the function for expressions.
pub fn function(source: &Source<'_>) -> Result<TokenStream> {
    let mut lowering = Lowering {
        source,
        names: Vec::new(),
        scopes: vec![BTreeMap::new()],
        loops: Vec::new(),
        loop_count: 0,
        result: 0,
    };
    lowering.result = lowering.hidden("result", source.name.span());
    let mut steps = Vec::new();
    let mut given = Vars::new();
    if source.takes_self {
        let this = lowering.hidden("this", source.name.span());
        lowering.bind("self", this);
        steps.extend([Step::Declare(this), Step::set(this, Code::new(quote::quote!(self)))]);
    }
    for (pattern, name) in &source.parameters {
        let var = lowering.names.len();
        lowering.names.push(name.clone());
        given.insert(var);
        let (_, bindings) = lowering.pattern(pattern, &lowering.read(var))?;
        steps.extend(bindings);
    }
    let result = lowering.result;
    lowering.block(source.body, Some(result), &mut steps)?;
    steps.push(Step::Exit(super::steps::Exit::Return));
    Ok(Renderer { names: &lowering.names }.function(&steps, result, given))
}

/// Code of the scalar language.
macro_rules! code {
    ($span:expr, [$($part:ident),*] $($tokens:tt)*) => {{
        let tokens = { $(let $part = &$part.tokens;)* quote::quote_spanned!($span=> $($tokens)*) };
        $crate::embed::steps::Code::of(tokens, &[$(&$part),*])
    }};
}
use code;

/// The message at `&mut`.
const NO_MUTABLE_REFERENCE: &str =
    "an embedded function changes only variables of its own: give the changed value back";

fn refuse<T>(span: Span, message: impl std::fmt::Display) -> Result<T> {
    Err(Error::new(span, message))
}

/// Returns a name without `r#`.
fn plain_name(name: &Ident) -> String {
    name.unraw().to_string()
}

impl Lowering<'_> {
    /// Creates a variable that the user has not named.
    fn hidden(&mut self, name: &str, span: Span) -> Var {
        let number = self.names.len();
        let span = span.resolved_at(Span::mixed_site());
        self.names.push(format_ident!("{name}_{number}", span = span));
        number
    }

    /// Creates a variable of the user's, which hides others of its name from here on.
    fn named(&mut self, name: &Ident) -> Var {
        let var = self.hidden(&plain_name(name), name.span());
        self.bind(&name.to_string(), var);
        var
    }

    fn bind(&mut self, name: &str, var: Var) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(name.to_string(), var);
        }
    }

    fn find(&self, name: &str) -> Option<Var> {
        self.scopes.iter().rev().find_map(|scope| scope.get(name).copied())
    }

    /// Returns the value of a variable.
    fn read(&self, var: Var) -> Code {
        let name = &self.names[var];
        Code { tokens: quote_spanned!(name.span()=> #name), reads: Vars::from([var]) }
    }

    /// Lowers in a scope of its own.
    fn scoped<T>(&mut self, f: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.scopes.push(BTreeMap::new());
        let result = f(self);
        self.scopes.pop();
        result
    }

    /// Gives a value a name, so that steps after it cannot change it.
    fn keep(&mut self, value: Code, span: Span, out: &mut Vec<Step>) -> Code {
        let var = self.hidden("kept", span);
        out.extend([Step::Declare(var), Step::set(var, value)]);
        self.read(var)
    }

    /// Returns the value after these steps as one expression, if they neither leave nor change variables from before.
    fn closed(&mut self, mut steps: Vec<Step>, value: Code, span: Span) -> Option<Code> {
        if steps.is_empty() {
            return Some(value);
        }
        if !exits(&steps).is_empty() || !assigned(&steps).is_empty() {
            return None;
        }
        let mut reads = super::steps::reads(&steps);
        reads.extend(&value.reads);
        let var = self.hidden("value", span);
        steps.extend([Step::Declare(var), Step::set(var, value)]);
        let tokens = Renderer { names: &self.names }.closed(&steps, var);
        Some(Code { tokens: quote_spanned!(span=> { #tokens }), reads })
    }
}
