//! Paths, calls and struct literals: meanings of names outside of the function among expressions.
//!
//! Names say what they are: `circle` is a function, `Circle` a type or variant, `PI` a constant.

use super::super::names::{VariantNames, expression_path, is_scalar, is_upper_case, replace_self};
use super::super::steps::{Code, Step};
use super::{Lowering, refuse};
use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote_spanned};
use syn::spanned::Spanned;
use syn::{Expr, ExprCall, ExprMethodCall, ExprPath, ExprStruct, Member, Path, Result, Type};

/// Methods whose result is a `u32` in Rust.
const COUNTS: [&str; 8] = [
    "count_ones",
    "count_zeros",
    "leading_zeros",
    "leading_ones",
    "trailing_zeros",
    "trailing_ones",
    "ilog2",
    "ilog10",
];

impl Lowering<'_> {
    /// Lowers a variable, a constant, or a variant without fields.
    pub(super) fn path(&mut self, path: &ExprPath) -> Result<Code> {
        let span = path.span();
        if let Some(var) = path.path.get_ident().and_then(|name| self.find(&name.to_string())) {
            let mut value = self.read(var);
            value.tokens = respanned(value.tokens, span);
            return Ok(value);
        }
        if path.path.is_ident("None") {
            return Ok(Code::new(quote_spanned!(span=> ::pumice::none())));
        }
        if let (Some(names), None) = (self.variant(&path.path, false), &path.qself) {
            let (path, constructor) = (self.expression_type_of(&path.path, 1)?, names.constructor);
            return Ok(Code::new(quote_spanned!(span=> #path::#constructor())));
        }
        let constant = replace_self(path.to_token_stream(), self.source.own);
        Ok(Code::new(quote_spanned!(span=> ::pumice::constant(#constant))))
    }

    /// Returns the expression type whose name is so far from the end of a path, with the path up to there.
    fn expression_type_of(&self, path: &Path, from_end: usize) -> Result<TokenStream> {
        let mut path = path.clone();
        for _ in 0..from_end {
            path.segments.pop();
        }
        path.segments.pop_punct();
        if path.is_ident("Self") {
            return match self.source.own {
                Some(Type::Path(own)) => Ok(expression_path(own.path.clone(), 0).into_token_stream()),
                _ => refuse(path.span(), "`Self` has no name here"),
            };
        }
        Ok(expression_path(path, 0).into_token_stream())
    }

    pub(super) fn call(&mut self, call: &ExprCall, out: &mut Vec<Step>) -> Result<Code> {
        let Expr::Path(function) = &*call.func else {
            return refuse(call.func.span(), "only functions with a name are called in embedded functions");
        };
        let span = call.span();
        // It depends on constants only, so it is called when the program is built.
        if call.args.is_empty() {
            let call = replace_self(call.to_token_stream(), self.source.own);
            return Ok(Code::new(quote_spanned!(span=> ::pumice::constant(#call))));
        }
        let target = self.callee(function)?;
        let mut arguments = self.operands(&call.args, out)?;
        if let Callee::Embedded(_) = target {
            if let Some(reference) = call.args.iter().find(|argument| matches!(argument, Expr::Reference(_)))
            {
                return refuse(
                    reference.span(),
                    "an embedded function takes elements: pass the value itself",
                );
            }
            // The type of an absent value is inferred from the parameter if it is a plain one.
            let given = arguments.iter_mut().zip(&call.args);
            for (argument, expr) in given.filter(|(_, expr)| is_none(expr)) {
                argument.tokens = quote_spanned!(expr.span()=> ::core::option::Option::None);
            }
        }
        let tokens = arguments.iter().map(|argument| &argument.tokens);
        let called = match target {
            Callee::Embedded(path) if call.args.iter().all(is_none) => {
                quote_spanned!(span=> ::pumice::embedding::Argument::lifted(#path(#(#tokens),*)))
            }
            Callee::Embedded(path) | Callee::Function(path) => quote_spanned!(span=> #path(#(#tokens),*)),
            Callee::Count(path) => quote_spanned!(span=> #path(#(#tokens),*).cast::<u32>()),
            Callee::Struct(path) => {
                let members = (0..arguments.len()).map(Member::from);
                quote_spanned!(span=> #path { #(#members: #tokens),* })
            }
        };
        Ok(Code::of(called, &arguments.iter().collect::<Vec<_>>()))
    }

    /// Resolves a path that is called.
    fn callee(&self, function: &ExprPath) -> Result<Callee> {
        let (path, span) = (&function.path, function.span());
        let mut backwards = path.segments.iter().rev();
        let (Some(last), of) = (backwards.next(), backwards.next()) else {
            return refuse(span, "a function has a name");
        };
        let name = &last.ident;
        let own = |of: &Ident| of == "Self" || self.own_name().is_some_and(|own| own == of);
        if name == self.source.name && of.map_or(self.source.own.is_none(), |of| own(&of.ident)) {
            return refuse(span, "an embedded function cannot call itself: write a loop");
        }
        if !last.arguments.is_empty() {
            return refuse(
                last.arguments.span(),
                "the types of an embedded function are found from its arguments",
            );
        }
        if let Some(constructor) = ["Some", "Ok", "Err"].iter().find(|known| name == *known) {
            let constructor = Ident::new(&constructor.to_lowercase(), name.span());
            return Ok(Callee::Function(quote_spanned!(span=> ::pumice::#constructor)));
        }
        if is_upper_case(name) {
            return Ok(match self.variant(path, true) {
                Some(VariantNames { constructor, .. }) => {
                    let of = self.expression_type_of(path, 1)?;
                    Callee::Embedded(quote_spanned!(span=> #of::#constructor))
                }
                None => Callee::Struct(self.expression_type_of(path, 0)?),
            });
        }
        Ok(Callee::Function(match of {
            Some(of) if is_scalar(&of.ident) && name == "from" => {
                quote_spanned!(span=> ::pumice::embedding::convert::<#of, _>)
            }
            Some(of) if is_scalar(&of.ident) => {
                let path = quote_spanned!(span=> ::pumice::Exp::<#of>::#name);
                return Ok(if is_count(name) { Callee::Count(path) } else { Callee::Function(path) });
            }
            Some(of) if is_upper_case(&of.ident) => {
                let of = self.expression_type_of(path, 1)?;
                quote_spanned!(span=> #of::#name)
            }
            _ => return Ok(Callee::Embedded(path.to_token_stream())),
        }))
    }

    /// Returns the name of the type whose methods these are.
    fn own_name(&self) -> Option<&Ident> {
        match self.source.own {
            Some(Type::Path(own)) => own.path.segments.last().map(|last| &last.ident),
            _ => None,
        }
    }

    pub(super) fn method(&mut self, call: &ExprMethodCall, out: &mut Vec<Step>) -> Result<Code> {
        let (method, span) = (&call.method, call.method.span());
        let on_self = matches!(&*call.receiver, Expr::Path(path) if path.path.is_ident("self"));
        if on_self && method == self.source.name {
            return refuse(span, "an embedded function cannot call itself: write a loop");
        }
        if method == "clone" {
            return self.expr(&call.receiver, out);
        }
        let operands = self.method_operands(std::iter::once(&*call.receiver).chain(&call.args), out)?;
        let Some((receiver, arguments)) = operands.split_first() else {
            return refuse(span, "a method is called on a value");
        };
        let turbofish = &call.turbofish;
        let (on, tokens) = (&receiver.tokens, arguments.iter().map(|argument| &argument.tokens));
        let counted = is_count(method).then(|| quote_spanned!(span=> .cast::<u32>()));
        let called = quote_spanned!(span=> (#on).#method #turbofish(#(#tokens),*) #counted);
        Ok(Code::of(called, &operands.iter().collect::<Vec<_>>()))
    }

    pub(super) fn struct_literal(&mut self, literal: &ExprStruct, out: &mut Vec<Step>) -> Result<Code> {
        let span = literal.span();
        let exprs = literal.fields.iter().map(|field| &field.expr).chain(literal.rest.as_deref());
        let mut values = self.operands(exprs, out)?;
        if let (Some(rest), Some(value)) = (&literal.rest, values.last_mut()) {
            // By a variable of its own: rustc fails on closures that capture fields for `..rest` whose types are projections.
            *value = self.keep(value.clone(), rest.span(), out);
        }
        let tokens: Vec<&TokenStream> = values.iter().map(|value| &value.tokens).collect();
        let (fields, rest) = tokens.split_at(literal.fields.len());
        let members = literal.fields.iter().map(|field| &field.member);
        let rest = rest.first().map(|rest| quote_spanned!(span=> ..#rest));
        let made = match self.variant(&literal.path, true) {
            Some(VariantNames { pack, .. }) => {
                let path = self.expression_type_of(&literal.path, 1)?;
                quote_spanned!(span=> #path::#pack(|fields| { #(fields.#members = #fields;)* }))
            }
            None => {
                let path = self.expression_type_of(&literal.path, 0)?;
                quote_spanned!(span=> #path { #(#members: #fields,)* #rest })
            }
        };
        Ok(Code::of(made, &values.iter().collect::<Vec<_>>()))
    }
}

/// The kind of a called function.
enum Callee {
    /// A function that takes expressions.
    Function(TokenStream),
    /// An embedded function, which takes expressions and plain values.
    Embedded(TokenStream),
    /// A function whose result is a `u32` in Rust.
    Count(TokenStream),
    /// A tuple struct.
    Struct(TokenStream),
}

fn is_count(method: &Ident) -> bool {
    COUNTS.iter().any(|count| method == count)
}

fn is_none(expr: &Expr) -> bool {
    matches!(expr, Expr::Path(path) if path.path.is_ident("None"))
}

/// Moves tokens to the span where the user mentions them.
fn respanned(tokens: TokenStream, span: proc_macro2::Span) -> TokenStream {
    let at = |mut token: proc_macro2::TokenTree| {
        token.set_span(span.resolved_at(token.span()));
        token
    };
    tokens.into_iter().map(at).collect()
}
