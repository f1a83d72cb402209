//! Expressions: operators, literals, casts, fields, tuples and arrays. Parts with effects become steps.

use super::super::names::expression_type;
use super::super::steps::{Code, Exit, Step, assigned};
use super::{Lowering, NO_MUTABLE_REFERENCE, code, refuse};
use quote::quote_spanned;
use syn::spanned::Spanned;
use syn::{
    BinOp, Expr, ExprBinary, ExprCast, ExprClosure, ExprIndex, ExprLit, ExprTry, ExprUnary, Lit, Macro, Pat,
    Result, Type, UnOp,
};

/// Returns what to write instead of a macro.
pub(super) fn macro_message(call: &Macro) -> &'static str {
    match call.path.segments.last().map(|last| last.ident.to_string()).as_deref() {
        Some(
            "panic" | "unreachable" | "todo" | "unimplemented" | "assert" | "assert_eq" | "debug_assert",
        ) => "an embedded function cannot panic: give a value for this case, or an `Option`",
        Some("print" | "println" | "eprintln" | "dbg") => {
            "an embedded function cannot print: give back what you want to see"
        }
        _ => "macros are not expanded in embedded functions: write what it stands for",
    }
}

impl Lowering<'_> {
    pub(super) fn expr(&mut self, expr: &Expr, out: &mut Vec<Step>) -> Result<Code> {
        let span = expr.span();
        match expr {
            Expr::Paren(inner) => self.expr(&inner.expr, out),
            Expr::Group(inner) => self.expr(&inner.expr, out),
            Expr::Lit(literal) => lifted_literal(literal),
            Expr::Path(path) => self.path(path),
            Expr::Unary(unary) => self.unary(unary, out),
            Expr::Binary(binary) => self.binary(binary, out),
            Expr::Cast(cast) => self.cast(cast, out),
            Expr::Call(call) => self.call(call, out),
            Expr::MethodCall(call) => self.method(call, out),
            Expr::Struct(literal) => self.struct_literal(literal, out),
            Expr::Field(field) => {
                let (base, member) = (self.expr(&field.base, out)?, &field.member);
                Ok(code!(span, [base] (#base).#member))
            }
            Expr::Index(index) => self.index(index, out),
            Expr::Tuple(tuple) => {
                let values = self.operands(&tuple.elems, out)?;
                let tokens = values.iter().map(|value| &value.tokens);
                Ok(Code::of(quote_spanned!(span=> (#(#tokens,)*)), &values.iter().collect::<Vec<_>>()))
            }
            Expr::Array(array) => {
                let values = self.operands(&array.elems, out)?;
                let tokens = values.iter().map(|value| &value.tokens);
                Ok(Code::of(quote_spanned!(span=> [#(#tokens),*]), &values.iter().collect::<Vec<_>>()))
            }
            Expr::Repeat(repeat) => {
                let (value, length) = (self.expr(&repeat.expr, out)?, &repeat.len);
                Ok(code!(span, [value] [#value; #length]))
            }
            // A reference that nothing is changed by is a copy.
            Expr::Reference(reference) if reference.mutability.is_none() => self.expr(&reference.expr, out),
            Expr::Try(tried) => self.tried(tried, out),
            Expr::If(_) | Expr::Match(_) | Expr::Loop(_) => self.value_of(expr, out),
            Expr::Block(block) => match &block.label {
                Some(label) => {
                    refuse(label.span(), "blocks have no labels in embedded functions: use a `loop`")
                }
                None => self.value_of(expr, out),
            },
            Expr::While(_) | Expr::ForLoop(_) | Expr::Assign(_) => {
                self.expr_into(expr, None, out)?;
                Ok(Code::new(quote_spanned!(span=> ())))
            }
            Expr::Return(_) | Expr::Break(_) | Expr::Continue(_) => {
                self.expr_into(expr, None, out)?;
                // This value is never reached.
                Ok(Code::new(quote_spanned!(span=> ::pumice::embedding::unset())))
            }
            other => refuse(span, unsupported(other)),
        }
    }

    /// Lowers an expression with branches or a loop in it to a variable.
    fn value_of(&mut self, expr: &Expr, out: &mut Vec<Step>) -> Result<Code> {
        let value = self.hidden("value", expr.span());
        out.push(Step::Declare(value));
        self.expr_into(expr, Some(value), out)?;
        Ok(self.read(value))
    }

    /// Lowers expressions that are evaluated in this order.
    pub(super) fn operands<'e>(
        &mut self,
        exprs: impl IntoIterator<Item = &'e Expr>,
        out: &mut Vec<Step>,
    ) -> Result<Vec<Code>> {
        self.in_order(exprs, out, Self::expr)
    }

    /// Lowers a method's operands, which may be closures.
    pub(super) fn method_operands<'e>(
        &mut self,
        exprs: impl IntoIterator<Item = &'e Expr>,
        out: &mut Vec<Step>,
    ) -> Result<Vec<Code>> {
        self.in_order(exprs, out, |this, expr, steps| match expr {
            Expr::Closure(closure) => this.closure(closure),
            expr => this.expr(expr, steps),
        })
    }

    fn in_order<'e>(
        &mut self,
        exprs: impl IntoIterator<Item = &'e Expr>,
        out: &mut Vec<Step>,
        lower: fn(&mut Self, &Expr, &mut Vec<Step>) -> Result<Code>,
    ) -> Result<Vec<Code>> {
        let mut values: Vec<Code> = Vec::new();
        for expr in exprs {
            let mut steps = Vec::new();
            let value = lower(self, expr, &mut steps)?;
            // Values that a later operand changes are kept.
            let changed = assigned(&steps);
            for earlier in values.iter_mut().filter(|earlier| !earlier.reads.is_disjoint(&changed)) {
                *earlier = self.keep(earlier.clone(), expr.span(), out);
            }
            out.append(&mut steps);
            values.push(value);
        }
        Ok(values)
    }

    fn pair(&mut self, a: &Expr, b: &Expr, out: &mut Vec<Step>) -> Result<(Code, Code)> {
        let mut values = self.operands([a, b], out)?.into_iter();
        match (values.next(), values.next()) {
            (Some(a), Some(b)) => Ok((a, b)),
            _ => refuse(a.span(), "an operator has two operands"),
        }
    }

    fn unary(&mut self, unary: &ExprUnary, out: &mut Vec<Step>) -> Result<Code> {
        let span = unary.span();
        match (&unary.op, &*unary.expr) {
            (UnOp::Neg(minus), Expr::Lit(literal)) => {
                let minus = quote_spanned!(minus.span=> -);
                Ok(Code::new(quote_spanned!(span=> ::pumice::embedding::literal(#minus #literal))))
            }
            (UnOp::Neg(_), inner) => {
                let value = self.expr(inner, out)?;
                Ok(code!(span, [value] -(#value)))
            }
            (UnOp::Not(_), inner) => {
                let value = self.expr(inner, out)?;
                Ok(code!(span, [value] !(#value)))
            }
            (UnOp::Deref(_), inner) => self.expr(inner, out),
            (op, _) => refuse(op.span(), "this operator is not supported in embedded functions"),
        }
    }

    fn binary(&mut self, binary: &ExprBinary, out: &mut Vec<Step>) -> Result<Code> {
        let (op, span) = (&binary.op, binary.op.span());
        if let BinOp::And(_) | BinOp::Or(_) = op {
            return self.lazy(binary, out);
        }
        if is_assignment(op) {
            self.expr_into(&Expr::Binary(binary.clone()), None, out)?;
            return Ok(Code::new(quote_spanned!(span=> ())));
        }
        let (a, b) = self.pair(&binary.left, &binary.right, out)?;
        Ok(match op {
            BinOp::Eq(_) => code!(span, [a, b] ::pumice::embedding::equal(#a, #b)),
            BinOp::Ne(_) => code!(span, [a, b] ::pumice::embedding::differ(#a, #b)),
            BinOp::Lt(_) => code!(span, [a, b] (#a).lt(#b)),
            BinOp::Le(_) => code!(span, [a, b] (#a).le(#b)),
            BinOp::Gt(_) => code!(span, [a, b] (#a).gt(#b)),
            BinOp::Ge(_) => code!(span, [a, b] (#a).ge(#b)),
            BinOp::Shl(_) => code!(span, [a, b] ::pumice::embedding::shift_left(#a, #b)),
            BinOp::Shr(_) => code!(span, [a, b] ::pumice::embedding::shift_right(#a, #b)),
            op => code!(span, [a, b] (#a) #op (#b)),
        })
    }

    /// Lowers `&&` and `||`, whose right side is evaluated only where it matters.
    fn lazy(&mut self, binary: &ExprBinary, out: &mut Vec<Step>) -> Result<Code> {
        let span = binary.op.span();
        let is_and = matches!(binary.op, BinOp::And(_));
        let a = self.expr(&binary.left, out)?;
        let mut steps = Vec::new();
        let b = self.expr(&binary.right, &mut steps)?;
        if let Some(b) = self.closed(steps.clone(), b.clone(), span) {
            return Ok(match is_and {
                true => code!(span, [a, b] ::pumice::embedding::and(#a, ::pumice::embedding::mark(), #b)),
                false => code!(span, [a, b] ::pumice::embedding::or(#a, ::pumice::embedding::mark(), #b)),
            });
        }
        let value = self.hidden("value", span);
        steps.push(Step::set(value, b));
        out.extend([Step::Declare(value), Step::set(value, a)]);
        let condition = self.read(value);
        let (then, otherwise) = if is_and { (steps, Vec::new()) } else { (Vec::new(), steps) };
        out.push(Step::Branch { condition, then, otherwise, span });
        Ok(self.read(value))
    }

    fn cast(&mut self, cast: &ExprCast, out: &mut Vec<Step>) -> Result<Code> {
        // Checked here so that the message is about the type.
        expression_type(&cast.ty, self.source.own)?;
        let (value, ty, span) = (self.expr(&cast.expr, out)?, &cast.ty, cast.as_token.span);
        Ok(code!(span, [value] (#value).cast::<#ty>()))
    }

    fn index(&mut self, index: &ExprIndex, out: &mut Vec<Step>) -> Result<Code> {
        let (array, span) = (self.expr(&index.expr, out)?, index.span());
        match &*index.index {
            Expr::Lit(ExprLit { lit: Lit::Int(number), .. }) => Ok(code!(span, [array] (#array)[#number])),
            // In Rust an index is a `usize`; here it is an `i64`.
            Expr::Cast(cast) if is_usize(&cast.ty) => {
                let at = self.expr(&cast.expr, out)?;
                Ok(code!(span, [array, at] ::pumice::ElementArray::at(#array, (#at).cast::<i64>())))
            }
            other => refuse(other.span(), "an index is a number, or an `i64` with `as usize` after it"),
        }
    }

    /// Lowers `?`, by the type of the function's result.
    fn tried(&mut self, tried: &ExprTry, out: &mut Vec<Step>) -> Result<Code> {
        let span = tried.question_token.span;
        let value = self.expr(&tried.expr, out)?;
        let value = self.keep(value, tried.expr.span(), out);
        let (holds, unpacked, left) = match last_name(self.source.output).as_deref() {
            Some("Option") => (
                code!(span, [value] #value.is_some()),
                code!(span, [value] #value.unpack_some().0),
                code!(span, [] ::pumice::none()),
            ),
            Some("Result") => (
                code!(span, [value] #value.is_ok()),
                code!(span, [value] #value.unpack_ok().0),
                code!(span, [value] ::pumice::err(#value.unpack_err().0)),
            ),
            _ => return refuse(span, "`?` needs a function that gives an `Option` or a `Result`"),
        };
        let otherwise = vec![Step::set(self.result, left), Step::Exit(Exit::Return)];
        out.push(Step::Branch { condition: holds, then: Vec::new(), otherwise, span });
        Ok(unpacked)
    }

    /// Lowers a closure that is an argument of a method, as in `x.map(|x| x + 1)`.
    fn closure(&mut self, closure: &ExprClosure) -> Result<Code> {
        let span = closure.span();
        let loops = std::mem::take(&mut self.loops);
        let lowered = self.scoped(|this| {
            let mut steps = Vec::new();
            let mut names = Vec::new();
            for pattern in &closure.inputs {
                let var = this.hidden("argument", pattern.span());
                names.push(this.names[var].clone());
                let pattern = if let Pat::Type(typed) = pattern { &typed.pat } else { pattern };
                let value = this.read(var);
                steps.extend(this.pattern(pattern, &value)?.1);
            }
            let body = this.expr(&closure.body, &mut steps)?;
            let Some(body) = this.closed(steps, body, closure.body.span()) else {
                return refuse(span, "a function in an embedded function changes no variables and does not return: use `match`");
            };
            Ok(code!(span, [body] |#(#names),*| #body))
        });
        self.loops = loops;
        lowered
    }
}

fn lifted_literal(literal: &ExprLit) -> Result<Code> {
    match &literal.lit {
        Lit::Int(_) | Lit::Float(_) | Lit::Bool(_) | Lit::Char(_) | Lit::Byte(_) => {
            Ok(Code::new(quote_spanned!(literal.span()=> ::pumice::embedding::literal(#literal))))
        }
        other => refuse(other.span(), "there are no strings in embedded functions"),
    }
}

/// Returns the last name of a type's path.
fn last_name(ty: &Type) -> Option<String> {
    match ty {
        Type::Path(path) => path.path.segments.last().map(|last| last.ident.to_string()),
        _ => None,
    }
}

fn is_usize(ty: &Type) -> bool {
    last_name(ty).as_deref() == Some("usize")
}

fn is_assignment(op: &BinOp) -> bool {
    use BinOp::*;
    matches!(
        op,
        AddAssign(_)
            | SubAssign(_)
            | MulAssign(_)
            | DivAssign(_)
            | RemAssign(_)
            | BitAndAssign(_)
            | BitOrAssign(_)
            | BitXorAssign(_)
            | ShlAssign(_)
            | ShrAssign(_)
    )
}

/// Returns what to write instead of an unsupported expression.
fn unsupported(expr: &Expr) -> &'static str {
    match expr {
        Expr::Closure(_) => {
            "a closure is only an argument of a method here, as in `x.map(|x| x + 1)`: write an `#[embed]` function"
        }
        Expr::Reference(_) => NO_MUTABLE_REFERENCE,
        Expr::RawAddr(_) => "there are no pointers in embedded functions: elements are copied",
        Expr::Unsafe(_) => "there is no `unsafe` in embedded functions",
        Expr::Async(_) | Expr::Await(_) | Expr::Yield(_) => "an embedded function does not wait",
        Expr::Macro(call) => macro_message(&call.mac),
        Expr::Range(_) => "a range is only what `for` goes over",
        Expr::Let(_) => "`let` stands in the condition of `if` or `while`",
        _ => "this is not supported in embedded functions",
    }
}
