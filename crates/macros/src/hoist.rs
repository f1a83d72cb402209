//! Reductions inside of an expression that are computed for every element whatever the others are: each becomes an array of
//! its results, which is made before the expression is, so that a device divides long ones among many threads.
//!
//! What is computed only sometimes (behind `&&` and `||`, in a branch, in a block or a closure) stays where it is, as a loop:
//! elsewhere it might fail, or take time in vain.

use crate::expression::{Outer, parsed};
use crate::reduction::{Expansion, Reduction, is_reduction};
use crate::tokens::{Names, mention};
use proc_macro2::{Ident, TokenStream};
use quote::ToTokens;
use syn::visit_mut::{VisitMut, visit_expr_mut};
use syn::{BinOp, Expr, Result};

/// A reduction that is an array of its own, by the name of its results.
pub struct Hoisted {
    /// The name.
    pub name: Ident,
    /// What is reduced for each element.
    pub expansion: Expansion,
}

/// Takes reductions over these variables out of an expression. In their place stands what is made of their results.
pub fn hoist(tokens: &mut TokenStream, bound: &Names, outer: &mut Outer) -> Result<Vec<Hoisted>> {
    // What is not an expression is reported where it is used.
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
