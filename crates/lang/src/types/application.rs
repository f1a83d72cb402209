//! Applications and operators: rules 26, 27 and 30. A function is applied to all its arguments at once, so that messages can
//! name them, and functions among the arguments come last, because the other arguments tell the types of their parameters.

use super::arena::{LevelRef, Node, Ty};
use super::infer::Checker;
use super::messages::Why;
use super::names::Entity;
use super::resolve::Target;
use super::ty::Kind;
use crate::ast::{Expr, ExprKind, LevelExpr, Operator};
use crate::source::Span;

/// An argument of an application: a value or a level.
#[derive(Clone, Copy)]
pub enum Operand<'e> {
    Value(&'e Expr),
    Level(&'e LevelExpr),
    /// An expression whose type is known: the value that is piped in.
    Known(&'e Expr, Ty),
}

/// An argument, and the whole expression that ends with it.
pub type Step<'e> = (Operand<'e>, &'e Expr);

impl<'p> Checker<'p> {
    /// Infers the type of an application, with the values that are piped into it.
    pub fn application<'e>(&mut self, expr: &'e Expr, piped: Vec<Step<'e>>) -> Ty {
        let (head, mut steps) = spine(expr);
        steps.extend(piped);
        let ty = match &head.kind {
            ExprKind::Name(_) => {
                let ty = self.name(head);
                self.record(head, ty)
            }
            _ => self.infer(head),
        };
        let outer = self.region;
        if self.is_concat(head) {
            // A piped value was inferred in a region that was made for it.
            let inner = match steps.last() {
                Some((Operand::Known(..), _)) => self.piped_region,
                _ => self.new_region(outer),
            };
            let level = match self.uses.get(&head.id) {
                Some(super::checked::Use::Chosen { chosen, .. }) => {
                    chosen.iter().find_map(|chosen| match chosen {
                        super::scheme::Chosen::Level(level) => Some(*level),
                        _ => None,
                    })
                }
                _ => None,
            };
            self.regions[inner].ceiling = level.map(|level| (level, head.span));
            self.region = inner;
        }
        let ty = self.apply(head, ty, &steps);
        self.region = outer;
        ty
    }

    fn apply<'e>(&mut self, head: &'e Expr, mut ty: Ty, steps: &[Step<'e>]) -> Ty {
        let mut postponed: Vec<(&Expr, Ty, usize)> = Vec::new();
        let (mut number, mut levels) = (0, 0);
        let before = self.errors.len();
        for (at, (operand, whole)) in steps.iter().enumerate() {
            let mut node = self.arena.find(ty).1;
            if matches!(node, Node::Flexible { .. }) && !postponed.is_empty() {
                self.postponed(head, &mut postponed);
                node = self.arena.find(ty).1;
            }
            let is_level = matches!(operand, Operand::Level(_));
            if let (Node::LevelFunction(level, result), false) = (node, is_level) {
                self.missing_level(head, whole, number);
                let fresh = self.arena.fresh_level();
                ty = self.arena.substitute_level(result, level, fresh).unwrap_or(result);
                node = self.arena.find(ty).1;
            }
            if let (Node::Flexible { .. }, false) = (node, is_level) {
                let (parameter, result) = (self.arena.fresh(Kind::Type), self.arena.fresh(Kind::Type));
                let function = self.arena.function(parameter, result);
                if self.arena.unify(ty, function).is_ok() {
                    node = Node::Function(parameter, result);
                }
            }
            match (*operand, node) {
                (Operand::Value(argument), Node::Function(parameter, result)) => {
                    if matches!(argument.kind, ExprKind::Fn(..)) {
                        postponed.push((argument, parameter, number));
                    } else {
                        self.check(argument, parameter, Why::Argument { head, number });
                    }
                    ty = result;
                }
                (Operand::Known(argument, known), Node::Function(parameter, result)) => {
                    self.expect(argument, known, parameter, Why::Argument { head, number });
                    ty = result;
                }
                (Operand::Level(level), Node::LevelFunction(variable, result)) => {
                    let level = self.applied_level(level);
                    let told = self.levels_above(result, variable);
                    let above = level.above.saturating_add(told);
                    self.use_level(LevelRef { above, ..level }, whole.span);
                    self.use_level_of(head, levels, level, told, whole.span);
                    levels += 1;
                    ty = self.arena.substitute_level(result, variable, level).unwrap_or(result);
                }
                (operand, node) => {
                    if !matches!(node, Node::Error) {
                        self.cannot_apply(head, ty, operand, steps, at, number);
                    }
                    if let Operand::Value(argument) = operand {
                        self.infer(argument);
                    }
                    ty = self.unknown();
                }
            }
            if !is_level {
                number += 1;
            }
            self.record(whole, ty);
        }
        self.postponed(head, &mut postponed);
        // Errors that follow from a wrong argument would only repeat it.
        if self.errors.len() > before { self.unknown() } else { ty }
    }

    fn postponed(&mut self, head: &Expr, postponed: &mut Vec<(&Expr, Ty, usize)>) {
        for (argument, parameter, number) in postponed.drain(..) {
            self.check(argument, parameter, Why::Argument { head, number });
        }
    }

    /// Whether an expression is `concat` or `interleave`, whose parts are done at a lower level.
    fn is_concat(&self, head: &Expr) -> bool {
        let Some(Target::Global(Entity::Builtin(number))) = self.meanings.names.get(head.id.0 as usize)
        else {
            return false;
        };
        let signatures = &self.program.modules[0].module.signatures;
        matches!(head.kind, ExprKind::Name(_))
            && signatures
                .get(*number as usize)
                .is_some_and(|signature| matches!(&*signature.name.name, "concat" | "interleave"))
    }

    /// Infers the type of a chain of operators, which may be long, from its left end.
    pub fn operators(&mut self, expr: &Expr) -> Ty {
        let (mut chain, mut left) = (Vec::new(), expr);
        let outer = self.region;
        let mut region = outer;
        while let ExprKind::Binary(operator, span, next, right) = &left.kind {
            let around = region;
            if *operator == Operator::Pipe && self.is_concat(spine(right).0) {
                region = self.new_region(around);
            }
            chain.push((left, *operator, *span, &**right, around, region));
            left = next;
        }
        self.region = region;
        let mut ty = self.infer(left);
        while let Some((whole, operator, span, right, around, inner)) = chain.pop() {
            self.region = around;
            self.piped_region = inner;
            ty = self.binary(whole, left, ty, operator, span, right);
            self.record(whole, ty);
            left = whole;
        }
        self.region = outer;
        ty
    }

    fn binary<'e>(
        &mut self,
        whole: &'e Expr,
        left: &'e Expr,
        ty: Ty,
        operator: Operator,
        span: Span,
        right: &'e Expr,
    ) -> Ty {
        let sign = operator.sign();
        match operator {
            Operator::Pipe => self.application(right, vec![(Operand::Known(left, ty), whole)]),
            Operator::Or | Operator::And => {
                self.expect(left, ty, self.bool(), Why::Operator(sign));
                self.check(right, self.bool(), Why::Operator(sign));
                self.bool()
            }
            Operator::Compose => {
                let [a, b, c] = [(); 3].map(|_| self.arena.fresh(Kind::Type));
                let (first, second) = (self.arena.function(a, b), self.arena.function(b, c));
                self.expect(left, ty, second, Why::Operator(sign));
                self.check(right, first, Why::Operator(sign));
                self.arena.function(a, c)
            }
            _ => {
                let kind = operand_kind(operator);
                let there = self.infer(right);
                let before = self.errors.len();
                self.require(left, ty, kind, Why::Operator(sign));
                if self.errors.len() == before {
                    self.require(right, there, kind, Why::Operator(sign));
                }
                if self.errors.len() == before
                    && let Err(clash) = self.arena.unify(ty, there)
                {
                    self.operands_differ(span, sign, (left, ty), (right, there), clash);
                }
                if is_comparison(operator) { self.bool() } else { ty }
            }
        }
    }

    /// Returns the type of an operator as a function.
    pub fn section(&mut self, operator: Operator) -> Ty {
        let (parameters, result) = match operator {
            Operator::Pipe => {
                let (a, b) = (self.arena.fresh(Kind::Type), self.arena.fresh(Kind::Type));
                ([a, self.arena.function(a, b)], b)
            }
            Operator::Compose => {
                let [a, b, c] = [(); 3].map(|_| self.arena.fresh(Kind::Type));
                let (first, second) = (self.arena.function(a, b), self.arena.function(b, c));
                ([second, first], self.arena.function(a, c))
            }
            Operator::Or | Operator::And => ([self.bool(); 2], self.bool()),
            _ => {
                let ty = self.arena.fresh(operand_kind(operator));
                ([ty; 2], if is_comparison(operator) { self.bool() } else { ty })
            }
        };
        let rest = self.arena.function(parameters[1], result);
        self.arena.function(parameters[0], rest)
    }
}

/// Splits an application into its function and its arguments, each with the expression that ends with it.
pub fn spine(expr: &Expr) -> (&Expr, Vec<Step<'_>>) {
    let (mut head, mut steps) = (expr, Vec::new());
    loop {
        match &head.kind {
            ExprKind::Apply(function, argument) => {
                steps.push((Operand::Value(argument), head));
                head = function;
            }
            ExprKind::ApplyLevel(function, level) => {
                steps.push((Operand::Level(level), head));
                head = function;
            }
            _ => break,
        }
    }
    steps.reverse();
    (head, steps)
}

fn is_comparison(operator: Operator) -> bool {
    use Operator::{Equal, Greater, GreaterEqual, Less, LessEqual, NotEqual};
    matches!(operator, Equal | NotEqual | Less | LessEqual | Greater | GreaterEqual)
}

/// Returns the kind that both operands of an operator must have.
fn operand_kind(operator: Operator) -> Kind {
    match operator {
        Operator::Equal | Operator::NotEqual => Kind::Equal,
        Operator::Less | Operator::LessEqual | Operator::Greater | Operator::GreaterEqual => Kind::Ordered,
        Operator::BitOr
        | Operator::BitXor
        | Operator::BitAnd
        | Operator::ShiftLeft
        | Operator::ShiftRight => Kind::Integer,
        Operator::Div | Operator::Mod => Kind::Integer,
        _ => Kind::Number,
    }
}
