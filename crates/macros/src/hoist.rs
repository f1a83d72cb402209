//! Hoists reductions out of an expression that are computed for every element in any case: each becomes an array of
//! its results, computed before the expression, so that a device divides long ones among many threads.
//!
//! A reduction that is computed only sometimes (behind `&&` and `||`, in a branch, in a block or a closure) stays where it is, as a loop:
//! elsewhere it might fail, or take time in vain.

use crate::expression::{Outer, parsed};
use crate::parse::Comprehension;
use crate::reduction::{Expansion, Reduction, is_reduction};
use crate::tokens::{Names, mention};
use proc_macro2::{Ident, TokenStream};
use quote::ToTokens;
use syn::visit_mut::{VisitMut, visit_expr_mut};
use syn::{BinOp, Expr, Result};

/// A hoisted reduction: an array of its own.
pub struct Hoisted {
    /// The name of its results.
    pub name: Ident,
    /// The reduction for each element.
    pub expansion: Expansion,
    /// What it reduces, if computing one of that is a loop.
    pub elements: Option<Comprehension>,
}

/// Takes reductions over these variables out of an expression, and puts expressions of their results in their places.
pub fn hoist(tokens: &mut TokenStream, bound: &Names, outer: &mut Outer) -> Result<Vec<Hoisted>> {
    // Tokens that are not an expression are reported where they are used.
    let Ok(mut expr) = parsed(tokens.clone()) else { return Ok(Vec::new()) };
    let mut found = Ok(Vec::new());
    let mut visit = |call: &syn::Macro| match hoisted(call, bound, outer) {
        Ok(hoisted) => {
            let (hoisted, result) = hoisted?;
            found.as_mut().ok()?.push(hoisted);
            Some(result)
        }
        Err(error) => {
            found = Err(error);
            None
        }
    };
    Always { visit: &mut visit }.visit_expr_mut(&mut expr);
    let found = found?;
    if !found.is_empty() {
        *tokens = expr.into_token_stream();
    }
    Ok(found)
}

/// Whether an expression has a reduction over these variables that is computed in any case.
pub fn reduces(tokens: &TokenStream, bound: &Names) -> bool {
    let (Ok(mut expr), mut found) = (parsed(tokens.clone()), false) else { return false };
    let mut visit = |call: &syn::Macro| {
        found |= reduction_over(call, bound).is_some();
        None
    };
    Always { visit: &mut visit }.visit_expr_mut(&mut expr);
    found
}

/// Visits the macros that are computed whenever an expression is, and puts other expressions in their places.
struct Always<'a> {
    visit: &'a mut dyn FnMut(&syn::Macro) -> Option<TokenStream>,
}

impl VisitMut for Always<'_> {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        match expr {
            Expr::If(choice) => self.visit_expr_mut(&mut choice.cond),
            Expr::Binary(binary) if matches!(binary.op, BinOp::And(_) | BinOp::Or(_)) => {
                self.visit_expr_mut(&mut binary.left);
            }
            Expr::Closure(_) | Expr::Match(_) | Expr::Let(_) => (),
            Expr::Macro(call) => {
                if let Some(tokens) = (self.visit)(&call.mac) {
                    *expr = Expr::Verbatim(tokens);
                }
            }
            expr => visit_expr_mut(self, expr),
        }
    }

    fn visit_block_mut(&mut self, _: &mut syn::Block) {}
}

/// Returns the name of a reduction over these variables.
fn reduction_over<'a>(call: &'a syn::Macro, bound: &Names) -> Option<&'a Ident> {
    let name = call.path.get_ident()?;
    (is_reduction(name) && mention(&call.tokens, bound).is_some()).then_some(name)
}

/// Hoists a reduction, if it is one: returns it, and the expression of its result.
fn hoisted(call: &syn::Macro, bound: &Names, outer: &mut Outer) -> Result<Option<(Hoisted, TokenStream)>> {
    let Some(macro_name) = reduction_over(call, bound) else { return Ok(None) };
    let reduction = Reduction::parse(macro_name, call.tokens.clone())?;
    let Some(expansion) = reduction.of_expansion(bound, outer)? else { return Ok(None) };
    let name = outer.fresh(&macro_name.to_string());
    let (result, elements) = (reduction.of_results(&name), reduction.of_elements(bound));
    Ok(Some((Hoisted { name, expansion, elements }, result)))
}
