//! Hoists reductions out of an expression that are computed for every element in any case: each becomes an array of
//! its results, computed before the expression, so that a device divides long ones among many threads.
//!
//! A reduction that is computed only sometimes (behind `&&` and `||`, in a branch, in a block or a closure) stays where it is, as a loop:
//! elsewhere it might fail, or take time in vain.

use crate::expression::{Outer, parsed};
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
}

/// Takes reductions over these variables out of an expression, and puts expressions of their results in their places.
pub fn hoist(tokens: &mut TokenStream, bound: &Names, outer: &mut Outer) -> Result<Vec<Hoisted>> {
    // Tokens that are not an expression are reported where they are used.
    let Ok(mut expr) = parsed(tokens.clone()) else { return Ok(Vec::new()) };
    let mut hoister = Hoister { bound, outer, found: Ok(Vec::new()) };
    hoister.visit_expr_mut(&mut expr);
    let found = hoister.found?;
    if !found.is_empty() {
        *tokens = expr.into_token_stream();
    }
    Ok(found)
}

struct Hoister<'a> {
    bound: &'a Names,
    outer: &'a mut Outer,
    found: Result<Vec<Hoisted>>,
}

impl VisitMut for Hoister<'_> {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        match expr {
            Expr::If(choice) => self.visit_expr_mut(&mut choice.cond),
            Expr::Binary(binary) if matches!(binary.op, BinOp::And(_) | BinOp::Or(_)) => {
                self.visit_expr_mut(&mut binary.left);
            }
            Expr::Closure(_) | Expr::Match(_) | Expr::Let(_) => (),
            Expr::Macro(call) => match self.replaced(&call.mac) {
                Ok(Some(tokens)) => *expr = Expr::Verbatim(tokens),
                Ok(None) => (),
                Err(error) => self.found = Err(error),
            },
            expr => visit_expr_mut(self, expr),
        }
    }

    fn visit_block_mut(&mut self, _: &mut syn::Block) {}
}

impl Hoister<'_> {
    fn replaced(&mut self, call: &syn::Macro) -> Result<Option<TokenStream>> {
        let (Some(macro_name), Ok(found)) = (call.path.get_ident(), &mut self.found) else { return Ok(None) };
        if !is_reduction(macro_name) || mention(&call.tokens, self.bound).is_none() {
            return Ok(None);
        }
        let reduction = Reduction::parse(macro_name, call.tokens.clone())?;
        let Some(expansion) = reduction.of_expansion(self.bound, self.outer)? else { return Ok(None) };
        let name = self.outer.fresh(&macro_name.to_string());
        let result = reduction.of_results(&name);
        found.push(Hoisted { name, expansion });
        Ok(Some(result))
    }
}
