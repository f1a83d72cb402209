//! Loops, `break` and `continue`.

use super::super::steps::{Code, Exit, Loop, Step, Var, assigned, exits};
use super::{Around, Lowering, code, refuse};
use syn::spanned::Spanned;
use syn::{Expr, ExprForLoop, ExprLoop, ExprRange, ExprWhile, Label, Lit, LitInt, Pat, RangeLimits, Result};

/// The numbers that a `for` iterates over.
struct Numbers<'e> {
    range: &'e ExprRange,
    reversed: bool,
    step: Option<&'e LitInt>,
}

impl Lowering<'_> {
    /// Lowers the inside of a loop, given its number.
    fn inside<T>(
        &mut self,
        label: Option<&Label>,
        value: Option<Var>,
        is_loop: bool,
        f: impl FnOnce(&mut Self, usize) -> Result<T>,
    ) -> Result<T> {
        let number = self.loop_count;
        self.loop_count += 1;
        let label = label.map(|label| label.name.ident.clone());
        self.loops.push(Around { number, label, value, is_loop });
        let result = self.scoped(|this| f(this, number));
        self.loops.pop();
        result
    }

    pub(super) fn endless(
        &mut self,
        repeated: &ExprLoop,
        target: Option<Var>,
        out: &mut Vec<Step>,
    ) -> Result<()> {
        let span = repeated.loop_token.span;
        let repeated = self.inside(repeated.label.as_ref(), target, true, |this, number| {
            let mut body = Vec::new();
            this.block(&repeated.body, None, &mut body)?;
            Ok(Loop { number, condition: None, body, next: Vec::new(), span })
        })?;
        out.push(Step::Loop(repeated));
        Ok(())
    }

    pub(super) fn while_loop(&mut self, repeated: &ExprWhile, out: &mut Vec<Step>) -> Result<()> {
        let span = repeated.while_token.span;
        let repeated = self.inside(repeated.label.as_ref(), None, false, |this, number| {
            let mut before = Vec::new();
            let (holds, bindings) = this.condition(&repeated.cond, &mut before)?;
            let mut round = bindings;
            this.block(&repeated.body, None, &mut round)?;
            // A condition is evaluated before each round, and its bindings are those of the round: its steps belong to both.
            if exits(&before).is_empty() && assigned(&before).is_empty() {
                let body = before.iter().cloned().chain(round).collect();
                let condition = this.closed(before, holds, span);
                return Ok(Loop { number, condition, body, next: Vec::new(), span });
            }
            let mut body = before;
            let otherwise = vec![Step::Exit(Exit::Break(number))];
            body.push(Step::Branch { condition: holds, then: round, otherwise, span });
            Ok(Loop { number, condition: None, body, next: Vec::new(), span })
        })?;
        out.push(Step::Loop(repeated));
        Ok(())
    }

    pub(super) fn for_loop(&mut self, repeated: &ExprForLoop, out: &mut Vec<Step>) -> Result<()> {
        let span = repeated.for_token.span;
        let numbers = numbers(&repeated.expr)?;
        let name = match &*repeated.pat {
            Pat::Ident(name) if name.by_ref.is_none() && name.subpat.is_none() => Some(&name.ident),
            Pat::Wild(_) => None,
            pattern => return refuse(pattern.span(), "`for` goes over numbers: write one variable here"),
        };
        let mut rounds = self.rounds(&numbers, out)?;
        let repeated = self.inside(repeated.label.as_ref(), None, false, |this, number| {
            let mut body = Vec::new();
            if let Some(name) = name {
                let var = this.named(name);
                body.extend([Step::Declare(var), Step::set(var, rounds.value)]);
            }
            this.block(&repeated.body, None, &mut body)?;
            Ok(Loop {
                number,
                condition: Some(rounds.goes_on),
                body,
                next: std::mem::take(&mut rounds.next),
                span,
            })
        })?;
        out.push(Step::Loop(repeated));
        Ok(())
    }

    /// Lowers `break` and `continue`.
    pub(super) fn leave(&mut self, expr: &Expr, out: &mut Vec<Step>) -> Result<()> {
        let (label, value, is_break, span) = match expr {
            Expr::Break(left) => (&left.label, &left.expr, true, left.break_token.span),
            Expr::Continue(left) => (&left.label, &None, false, left.continue_token.span),
            other => return refuse(other.span(), "neither `break` nor `continue`"),
        };
        let wanted = label.as_ref().map(|label| &label.ident);
        let is_meant = |around: &&Around| wanted.is_none_or(|wanted| around.label.as_ref() == Some(wanted));
        let Some(around) = self.loops.iter().rev().find(is_meant) else {
            return refuse(span, "there is no such loop around this");
        };
        let (number, target, is_loop) = (around.number, around.value, around.is_loop);
        if let Some(value) = value {
            if !is_loop {
                return refuse(value.span(), "only a `loop` has a value");
            }
            self.expr_into(value, target, out)?;
        }
        out.push(Step::Exit(if is_break { Exit::Break(number) } else { Exit::Continue(number) }));
        Ok(())
    }

    /// Lowers the range of a `for`: bounds are evaluated once, before it.
    fn rounds(&mut self, numbers: &Numbers<'_>, out: &mut Vec<Step>) -> Result<Rounds> {
        let ExprRange { start, limits, end, .. } = numbers.range;
        let span = limits.span();
        let (Some(start), Some(end)) = (start, end) else {
            return refuse(
                span,
                "`for` needs both ends of its range: write `0..n`, or use `loop` and `break`",
            );
        };
        let values = self.operands([&**start, &**end], out)?;
        let mut values = values.into_iter();
        let (Some(low), Some(high)) = (values.next(), values.next()) else {
            return refuse(span, "a range has two ends");
        };
        let (low, high) = (self.keep(low, start.span(), out), self.keep(high, end.span(), out));
        let closed = matches!(limits, RangeLimits::Closed(_));
        // Both ends have one type, also where the loop does not compare them.
        let nonempty = if closed {
            code!(span, [low, high] (#low).le(#high))
        } else {
            code!(span, [low, high] (#low).lt(#high))
        };
        let counter = self.hidden("counter", span);
        let at = self.read(counter);
        let begins =
            |out: &mut Vec<Step>, at: Code| out.extend([Step::Declare(counter), Step::set(counter, at)]);
        let one = || code!(span, [] ::pumice::embedding::literal(1));
        if numbers.step.is_none() && !closed {
            let by = one();
            if !numbers.reversed {
                begins(out, low);
                let goes_on = code!(span, [at, high] (#at).lt(#high));
                let next = vec![Step::set(counter, code!(span, [at, by] #at + #by))];
                return Ok(Rounds { goes_on, value: at, next });
            }
            begins(out, high);
            let goes_on = code!(span, [low, at] (#low).lt(#at));
            let value = code!(span, [at, by] #at - #by);
            return Ok(Rounds { goes_on, next: vec![Step::set(counter, value.clone())], value });
        }
        // The number after the last one may not exist in the type, so the test for another round comes before counting.
        let more = self.hidden("more", span);
        out.extend([Step::Declare(more), Step::set(more, nonempty)]);
        let by = numbers.step.map_or_else(one, |step| code!(span, [] ::pumice::embedding::literal(#step)));
        let first = one();
        let (next, next_exists, within) = if numbers.reversed {
            begins(out, if closed { high } else { code!(span, [high, first] #high - #first) });
            let next = code!(span, [at, by] #at - #by);
            let exists = code!(span, [next, at] (#next).lt(#at));
            let within = code!(span, [low, next] (#low).le(#next));
            (next, exists, within)
        } else {
            begins(out, low);
            let next = code!(span, [at, by] #at + #by);
            let exists = code!(span, [at, next] (#at).lt(#next));
            let within = match closed {
                true => code!(span, [next, high] (#next).le(#high)),
                false => code!(span, [next, high] (#next).lt(#high)),
            };
            (next, exists, within)
        };
        let goes_on = code!(span, [next_exists, within] (#next_exists) & (#within));
        let steps = vec![Step::set(more, goes_on), Step::set(counter, next)];
        Ok(Rounds { goes_on: self.read(more), value: at, next: steps })
    }
}

/// The rounds of a `for`: whether there is one more, the number in it, and the steps after it.
struct Rounds {
    goes_on: Code,
    value: Code,
    next: Vec<Step>,
}

/// Finds the range under `.rev()` and `.step_by(n)`.
fn numbers(expr: &Expr) -> Result<Numbers<'_>> {
    const HINT: &str = "`for` goes over ranges: `a..b`, `a..=b`, `(a..b).rev()` and `(a..b).step_by(2)`";
    match expr {
        Expr::Paren(inner) => numbers(&inner.expr),
        Expr::Group(inner) => numbers(&inner.expr),
        Expr::Range(range) => Ok(Numbers { range, reversed: false, step: None }),
        Expr::MethodCall(call) => {
            let of = numbers(&call.receiver)?;
            let argument = call.args.first();
            match (call.method.to_string().as_str(), argument) {
                ("rev", None) if of.step.is_none() => Ok(Numbers { reversed: !of.reversed, ..of }),
                ("rev", None) => refuse(
                    call.method.span(),
                    "write `.rev()` before `.step_by(n)`, with the end that it begins at",
                ),
                ("step_by", Some(Expr::Lit(literal))) if of.step.is_none() => match &literal.lit {
                    Lit::Int(step) if step.base10_parse::<u64>().is_ok_and(|step| step > 0) => {
                        Ok(Numbers { step: Some(step), ..of })
                    }
                    other => refuse(other.span(), "a step is a number from 1 on"),
                },
                ("step_by", Some(step)) => {
                    refuse(step.span(), "a step is written as a number here; count with `while` for others")
                }
                _ => refuse(call.method.span(), HINT),
            }
        }
        other => refuse(other.span(), HINT),
    }
}
