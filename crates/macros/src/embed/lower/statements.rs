//! Blocks, `let`, assignments, `if`, `match` and `return`.

use super::super::names::expression_type;
use super::super::steps::{Code, Exit, Step, Var};
use super::patterns::{expect_test, is_variable};
use super::{Lowering, code, plain_name, refuse};
use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Arm, BinOp, Block, Error, Expr, ExprIf, ExprMatch, Item, Local, Member, Pat, Result, Stmt, Type};

impl Lowering<'_> {
    /// Lowers a block, whose value goes to `target`. Reports the mistakes of all its statements.
    pub(super) fn block(&mut self, block: &Block, target: Option<Var>, out: &mut Vec<Step>) -> Result<()> {
        self.scoped(|this| {
            let mut mistakes: Option<Error> = None;
            for (position, statement) in block.stmts.iter().enumerate() {
                let target = target.filter(|_| position + 1 == block.stmts.len());
                if let Err(mistake) = this.statement(statement, target, out) {
                    match &mut mistakes {
                        Some(mistakes) => mistakes.combine(mistake),
                        None => mistakes = Some(mistake),
                    }
                }
            }
            mistakes.map_or(Ok(()), Err)
        })
    }

    fn statement(&mut self, statement: &Stmt, target: Option<Var>, out: &mut Vec<Step>) -> Result<()> {
        match statement {
            Stmt::Local(local) => self.local(local, out),
            Stmt::Item(Item::Const(item)) => {
                out.push(Step::Item(item.to_token_stream()));
                Ok(())
            }
            Stmt::Item(item) => refuse(
                item.span(),
                "an embedded function has no items but constants: write it before the function",
            ),
            Stmt::Expr(expr, None) => self.expr_into(expr, target, out),
            Stmt::Expr(expr, Some(_)) => self.expr_into(expr, None, out),
            Stmt::Macro(call) => refuse(call.mac.path.span(), super::expressions::macro_message(&call.mac)),
        }
    }

    /// Lowers an expression whose value goes to `target`, or that is evaluated for its effects.
    pub(super) fn expr_into(&mut self, expr: &Expr, target: Option<Var>, out: &mut Vec<Step>) -> Result<()> {
        match expr {
            Expr::Paren(inner) => return self.expr_into(&inner.expr, target, out),
            Expr::Group(inner) => return self.expr_into(&inner.expr, target, out),
            Expr::Block(inner) if inner.label.is_none() => return self.block(&inner.block, target, out),
            Expr::If(branch) => return self.branch(branch, target, out),
            Expr::Match(matched) => return self.matched(matched, target, out),
            Expr::Loop(repeated) => return self.endless(repeated, target, out),
            Expr::While(repeated) => return self.while_loop(repeated, out),
            Expr::ForLoop(repeated) => return self.for_loop(repeated, out),
            Expr::Assign(assign) => return self.assign(&assign.left, &assign.right, out),
            Expr::Binary(binary) => {
                if let Some(op) = plain_operator(&binary.op) {
                    return self.assign_with(op, &binary.left, &binary.right, out);
                }
            }
            Expr::Return(returned) => {
                let Some(value) = &returned.expr else {
                    return refuse(
                        returned.return_token.span,
                        "an embedded function gives a value: `return` one",
                    );
                };
                self.expr_into(value, Some(self.result), out)?;
                out.push(Step::Exit(Exit::Return));
                return Ok(());
            }
            Expr::Break(_) | Expr::Continue(_) => return self.leave(expr, out),
            _ => {}
        }
        let value = self.expr(expr, out)?;
        if let Some(target) = target {
            out.push(Step::set(target, value));
        }
        Ok(())
    }

    fn local(&mut self, local: &Local, out: &mut Vec<Step>) -> Result<()> {
        let (pattern, ty) = match &local.pat {
            Pat::Type(typed) => (&*typed.pat, self.annotation(&typed.ty)?),
            pattern => (pattern, None),
        };
        let Some(init) = &local.init else {
            let Pat::Ident(name) = pattern else {
                return refuse(pattern.span(), "give these variables a value, or declare each by itself");
            };
            let var = self.named(&name.ident);
            out.push(Step::Declare(var));
            return Ok(());
        };
        // The name keeps its old meaning until its value is known.
        let simple = match pattern {
            Pat::Ident(name) if is_variable(name) && name.subpat.is_none() => Some(&name.ident),
            _ => None,
        };
        let value = match simple {
            Some(name) => self.hidden(&plain_name(name), name.span()),
            None => self.hidden("value", init.expr.span()),
        };
        out.push(Step::Declare(value));
        self.expr_into(&init.expr, Some(value), out)?;
        if let Some(annotation) = ty {
            match out.last_mut() {
                Some(Step::Set { var, ty, .. }) if *var == value => *ty = Some(annotation),
                _ => {
                    let ty = Some(annotation);
                    out.push(Step::Set { var: value, part: TokenStream::new(), ty, value: self.read(value) });
                }
            }
        }
        if let Some(name) = simple {
            self.bind(&name.to_string(), value);
            return Ok(());
        }
        let value = self.read(value);
        // Names of the pattern are not bound where it does not match.
        if let Some((_, otherwise)) = &init.diverge {
            let mut left = Vec::new();
            self.expr_into(otherwise, None, &mut left)?;
            let (test, bindings) = self.pattern(pattern, &value)?;
            expect_test(pattern, test.as_ref())?;
            if let Some(condition) = test {
                out.push(Step::Branch { condition, then: Vec::new(), otherwise: left, span: pattern.span() });
            }
            out.extend(bindings);
            return Ok(());
        }
        out.extend(self.pattern(pattern, &value)?.1);
        Ok(())
    }

    /// Returns the type of a variable's expression, if no part of it is left to be inferred.
    fn annotation(&self, ty: &Type) -> Result<Option<TokenStream>> {
        let is_open = ty.to_token_stream().into_iter().any(has_hole);
        if is_open { Ok(None) } else { expression_type(ty, self.source.own).map(Some) }
    }

    fn branch(&mut self, branch: &ExprIf, target: Option<Var>, out: &mut Vec<Step>) -> Result<()> {
        let span = branch.if_token.span;
        let mut then = Vec::new();
        let condition = self.scoped(|this| {
            let (condition, bindings) = this.condition(&branch.cond, out)?;
            then.extend(bindings);
            this.block(&branch.then_branch, target, &mut then)?;
            Ok(condition)
        })?;
        let mut otherwise = Vec::new();
        if let Some((_, other)) = &branch.else_branch {
            self.expr_into(other, target, &mut otherwise)?;
        }
        out.push(Step::Branch { condition, then, otherwise, span });
        Ok(())
    }

    /// Lowers a condition, with `let` in it, to its value and the steps that bind names where it holds.
    pub(super) fn condition(&mut self, expr: &Expr, out: &mut Vec<Step>) -> Result<(Code, Vec<Step>)> {
        let mut parts = Vec::new();
        conjuncts(expr, &mut parts);
        if !parts.iter().any(|part| matches!(part, Expr::Let(_))) {
            return Ok((self.expr(expr, out)?, Vec::new()));
        }
        let is_alone = parts.len() == 1;
        let mut holds: Option<Code> = None;
        let mut bindings: Vec<Step> = Vec::new();
        for part in parts {
            let mut steps = Vec::new();
            let (test, bound) = match part {
                Expr::Let(test) => {
                    let value = self.expr(&test.expr, &mut steps)?;
                    let value = self.keep(value, test.expr.span(), &mut steps);
                    let (matches, bound) = self.pattern(&test.pat, &value)?;
                    if is_alone {
                        expect_test(&test.pat, matches.as_ref())?;
                    }
                    (matches.unwrap_or_else(|| truth(test.pat.span(), true)), bound)
                }
                part => (self.expr(part, &mut steps)?, Vec::new()),
            };
            holds = Some(match holds {
                None => {
                    out.append(&mut steps);
                    test
                }
                Some(before) => {
                    let inside = bindings.iter().chain(&steps).cloned().collect();
                    let Some(test) = self.closed(inside, test, part.span()) else {
                        return refuse(
                            part.span(),
                            "this changes variables or leaves: write an `if` inside of the `if`",
                        );
                    };
                    code!(part.span(), [before, test] ::pumice::embedding::and(#before, ::pumice::embedding::mark(), #test))
                }
            });
            bindings.append(&mut steps);
            bindings.extend(bound);
        }
        Ok((holds.unwrap_or_else(|| truth(expr.span(), true)), bindings))
    }

    fn matched(&mut self, matched: &ExprMatch, target: Option<Var>, out: &mut Vec<Step>) -> Result<()> {
        let value = self.expr(&matched.expr, out)?;
        let value = self.keep(value, matched.expr.span(), out);
        self.arms(&matched.arms, &value, target, out)
    }

    /// Lowers the arms to a chain of branches. rustc checks that one of them matches, in the function for plain values: the last one
    /// matches if no other does.
    fn arms(&mut self, arms: &[Arm], value: &Code, target: Option<Var>, out: &mut Vec<Step>) -> Result<()> {
        let Some((first, others)) = arms.split_first() else { return Ok(()) };
        let (pattern, guard) = match &first.pat {
            Pat::Guard(guarded) => (&*guarded.pat, Some(&*guarded.guard)),
            pattern => (pattern, None),
        };
        let span = pattern.span();
        let mut then = Vec::new();
        let condition = self.scoped(|this| {
            let (test, bindings) = this.guarded(pattern, guard, value)?;
            if !others.is_empty() {
                expect_test(pattern, test.as_ref())?;
            }
            then.extend(bindings);
            this.expr_into(&first.body, target, &mut then)?;
            Ok(test)
        })?;
        let mut otherwise = Vec::new();
        self.arms(others, value, target, &mut otherwise)?;
        match condition.filter(|_| !others.is_empty()) {
            Some(condition) => out.push(Step::Branch { condition, then, otherwise, span }),
            None => out.append(&mut then),
        }
        Ok(())
    }

    fn assign(&mut self, left: &Expr, right: &Expr, out: &mut Vec<Step>) -> Result<()> {
        let value = self.expr(right, out)?;
        self.assign_value(left, value, out)
    }

    fn assign_value(&mut self, left: &Expr, value: Code, out: &mut Vec<Step>) -> Result<()> {
        match left {
            Expr::Infer(_) => return Ok(()),
            Expr::Tuple(tuple) => {
                let value = self.keep(value, tuple.span(), out);
                for (position, place) in tuple.elems.iter().enumerate() {
                    let (member, span) = (Member::from(position), place.span());
                    let part = code!(span, [value] #value.#member);
                    self.assign_value(place, part, out)?;
                }
                return Ok(());
            }
            _ => {}
        }
        let (var, part) = self.place(left)?;
        out.push(Step::Set { var, part, ty: None, value });
        Ok(())
    }

    fn assign_with(&mut self, op: TokenStream, left: &Expr, right: &Expr, out: &mut Vec<Step>) -> Result<()> {
        let (var, part) = self.place(left)?;
        let by = self.expr(right, out)?;
        let (before, span) = (self.read(var), left.span());
        let value = match op.to_string().as_str() {
            "<<" => code!(span, [before, by] ::pumice::embedding::shift_left(#before #part, #by)),
            ">>" => code!(span, [before, by] ::pumice::embedding::shift_right(#before #part, #by)),
            _ => code!(span, [before, by] #before #part #op (#by)),
        };
        out.push(Step::Set { var, part, ty: None, value });
        Ok(())
    }

    /// Resolves the target of an assignment: a variable, or a part of one.
    fn place(&mut self, expr: &Expr) -> Result<(Var, TokenStream)> {
        match expr {
            Expr::Paren(inner) => self.place(&inner.expr),
            Expr::Path(path) => {
                let var = path.path.get_ident().and_then(|name| self.find(&name.to_string()));
                match var {
                    Some(var) => Ok((var, TokenStream::new())),
                    None => refuse(path.span(), "only variables of this function are assigned to"),
                }
            }
            Expr::Field(field) => {
                let ((var, part), member) = (self.place(&field.base)?, &field.member);
                Ok((var, quote_spanned!(field.span()=> #part.#member)))
            }
            Expr::Index(index) => {
                let (var, part) = self.place(&index.expr)?;
                let Expr::Lit(number) = &*index.index else {
                    return refuse(
                        index.index.span(),
                        "a part of an array is assigned to by a number: write `[0]`, or make the array anew",
                    );
                };
                Ok((var, quote_spanned!(index.span()=> #part[#number])))
            }
            _ => refuse(expr.span(), "not a variable, or a field or element of one"),
        }
    }
}

/// Emits `true` or `false` as an expression.
pub(super) fn truth(span: Span, value: bool) -> Code {
    Code::new(quote_spanned!(span=> ::pumice::embedding::literal(#value)))
}

/// Whether a type leaves something to be inferred.
fn has_hole(token: proc_macro2::TokenTree) -> bool {
    match token {
        proc_macro2::TokenTree::Group(group) => group.stream().into_iter().any(has_hole),
        proc_macro2::TokenTree::Ident(name) => name == "_",
        proc_macro2::TokenTree::Punct(_) | proc_macro2::TokenTree::Literal(_) => false,
    }
}

/// Splits a condition into its conjuncts.
fn conjuncts<'e>(expr: &'e Expr, parts: &mut Vec<&'e Expr>) {
    match expr {
        Expr::Binary(binary) if matches!(binary.op, BinOp::And(_)) => {
            conjuncts(&binary.left, parts);
            conjuncts(&binary.right, parts);
        }
        part => parts.push(part),
    }
}

/// Returns `+` for `+=`, and so on.
fn plain_operator(op: &BinOp) -> Option<TokenStream> {
    let span = op.span();
    Some(match op {
        BinOp::AddAssign(_) => quote_spanned!(span=> +),
        BinOp::SubAssign(_) => quote_spanned!(span=> -),
        BinOp::MulAssign(_) => quote_spanned!(span=> *),
        BinOp::DivAssign(_) => quote_spanned!(span=> /),
        BinOp::RemAssign(_) => quote_spanned!(span=> %),
        BinOp::BitAndAssign(_) => quote_spanned!(span=> &),
        BinOp::BitOrAssign(_) => quote_spanned!(span=> |),
        BinOp::BitXorAssign(_) => quote_spanned!(span=> ^),
        BinOp::ShlAssign(_) => quote!(<<),
        BinOp::ShrAssign(_) => quote!(>>),
        _ => return None,
    })
}
