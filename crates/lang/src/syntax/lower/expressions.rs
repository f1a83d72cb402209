//! Expressions and qualifiers.

use super::super::grammar::operator;
use super::super::kinds::SyntaxKind;
use super::super::node::Node;
use super::Lowering;
use crate::ast::{Binding, Drawn, Expr, ExprKind, Ident, Pattern, PatternKind, Qualifier};
use crate::diagnostic::Diagnostic;
use crate::source::Span;

impl Lowering<'_> {
    pub(super) fn expression(&mut self, node: Node) -> Expr {
        let kind = match node.kind() {
            SyntaxKind::Paren => return self.nth_expression(node, 0),
            SyntaxKind::Apply => return self.application(node),
            SyntaxKind::Literal => self.literal(node, false),
            SyntaxKind::PathExpr => ExprKind::Name(self.path(node)),
            SyntaxKind::BlockSizeExpr => ExprKind::BlockSize,
            SyntaxKind::Tuple => ExprKind::Tuple(self.expressions(node)),
            SyntaxKind::List => ExprKind::List(self.expressions(node)),
            SyntaxKind::Record => ExprKind::Record(self.field_values(node)),
            SyntaxKind::Update => {
                ExprKind::Update(Box::new(self.nth_expression(node, 0)), self.field_values(node))
            }
            SyntaxKind::Field => self.field(node),
            SyntaxKind::Fn => {
                let (parameters, body) = self.parameters_and_body(node);
                // One without parameters could not be parsed.
                if parameters.is_empty() { ExprKind::Error } else { ExprKind::Fn(parameters, Box::new(body)) }
            }
            SyntaxKind::Let => self.let_(node),
            SyntaxKind::If => ExprKind::If(
                Box::new(self.nth_expression(node, 0)),
                Box::new(self.nth_expression(node, 1)),
                Box::new(self.nth_expression(node, 2)),
            ),
            SyntaxKind::Case => self.case(node),
            SyntaxKind::Binary => self.binary(node),
            SyntaxKind::Negate => self.negation(node),
            SyntaxKind::Section => match node.tokens().find_map(|token| operator(token.kind)) {
                Some(operator) => ExprKind::Section(operator),
                None => ExprKind::Error,
            },
            SyntaxKind::Typed => {
                let value = self.nth_expression(node, 0);
                match node.nodes().nth(1) {
                    Some(ty) => ExprKind::Typed(Box::new(value), self.type_expr(ty)),
                    None => value.kind,
                }
            }
            SyntaxKind::Comprehension => {
                let element = self.nth_expression(node, 0);
                let qualifiers = node.nodes().skip(1).map(|child| self.qualifier(child)).collect();
                ExprKind::Comprehension(Box::new(element), qualifiers)
            }
            _ => ExprKind::Error,
        };
        self.expr(self.span(node), kind)
    }

    /// Lowers one of the nodes of a node to an expression.
    fn nth_expression(&mut self, node: Node, number: usize) -> Expr {
        match node.nodes().nth(number) {
            Some(child) => self.expression(child),
            None => self.missing(node),
        }
    }

    fn expressions(&mut self, node: Node) -> Vec<Expr> {
        node.nodes().map(|child| self.expression(child)).collect()
    }

    fn literal(&mut self, node: Node, negated: bool) -> ExprKind {
        match node.tokens().next() {
            Some(token) => match token.kind {
                SyntaxKind::Integer => self.integer(token, negated),
                SyntaxKind::Float => self.float(token),
                kind => ExprKind::Bool(kind == SyntaxKind::KwTrue),
            },
            None => ExprKind::Error,
        }
    }

    fn negation(&mut self, node: Node) -> ExprKind {
        let operand = match node.nodes().next() {
            Some(child) if child.kind() == SyntaxKind::Literal => {
                let kind = self.literal(child, true);
                self.expr(self.span(child), kind)
            }
            Some(child) => self.expression(child),
            None => self.missing(node),
        };
        ExprKind::Negate(Box::new(operand))
    }

    fn field_values(&mut self, node: Node) -> Vec<(Ident, Expr)> {
        let fields = node.nodes().filter(|child| child.kind() == SyntaxKind::FieldValue);
        fields.map(|field| (self.ident_in(field), self.nth_expression(field, 0))).collect()
    }

    fn field(&mut self, node: Node) -> ExprKind {
        let record = self.nth_expression(node, 0);
        let Some(token) = node.tokens().last() else { return ExprKind::Error };
        // Parts of tuples are numbers without zeros before them and without signs between digits.
        if token.kind == SyntaxKind::Integer {
            let number: Option<u32> = token.text.parse().ok();
            if number.is_none_or(|number| number.to_string() != token.text) {
                let message = format!("`{}` is no part of a tuple", token.text);
                let error = Diagnostic::new(self.token_span(token), message);
                self.error(error.help("parts are `.0`, `.1` and so on"));
                return ExprKind::Error;
            }
        }
        ExprKind::Field(Box::new(record), self.ident(token))
    }

    /// Lowers an application. One node has all arguments; in the result each of them is an application.
    fn application(&mut self, node: Node) -> Expr {
        let mut parts = node.nodes();
        let mut function = match parts.next() {
            Some(child) => self.expression(child),
            None => self.missing(node),
        };
        for part in parts {
            let span = Span { end: part.end(), ..self.span(node) };
            let kind = if part.kind() == SyntaxKind::LevelArgument {
                match part.nodes().next() {
                    Some(level) => ExprKind::ApplyLevel(Box::new(function), self.level(level)),
                    None => ExprKind::Error,
                }
            } else {
                ExprKind::Apply(Box::new(function), Box::new(self.expression(part)))
            };
            function = self.expr(span, kind);
        }
        function
    }

    fn binary(&mut self, node: Node) -> ExprKind {
        let sign = node.tokens().next();
        let left = self.nth_expression(node, 0);
        let right = self.nth_expression(node, 1);
        let Some(sign) = sign else { return ExprKind::Error };
        // A single `=` has been reported, and is read as `==`.
        let kind = if sign.kind == SyntaxKind::Equal { SyntaxKind::EqualEqual } else { sign.kind };
        match operator(kind) {
            Some(operator) => {
                ExprKind::Binary(operator, self.token_span(sign), Box::new(left), Box::new(right))
            }
            None => ExprKind::Error,
        }
    }

    fn let_(&mut self, node: Node) -> ExprKind {
        let mut bindings = Vec::new();
        let mut body = None;
        for child in node.nodes() {
            match child.kind() {
                SyntaxKind::Binding => {
                    let mut parts = child.nodes();
                    if let Some(pattern) = parts.next() {
                        let pattern = self.pattern(pattern);
                        bindings.push(Binding::Value(pattern, self.nth_expression(child, 1)));
                    }
                }
                SyntaxKind::FunctionBinding => bindings.push(self.function_binding(child)),
                _ => body = Some(self.expression(child)),
            }
        }
        let body = body.unwrap_or_else(|| self.missing(node));
        ExprKind::Let(bindings, Box::new(body))
    }

    fn function_binding(&mut self, node: Node) -> Binding {
        let function = self.function(node, None);
        if function.parameters.is_empty() {
            // Its name is followed by something other than `=`, which has been reported.
            let name = Pattern { span: function.name.span, kind: PatternKind::Name(function.name.name) };
            return Binding::Value(name, function.body);
        }
        Binding::Function(function)
    }

    fn case(&mut self, node: Node) -> ExprKind {
        let value = self.nth_expression(node, 0);
        let arms = node.nodes().filter(|child| child.kind() == SyntaxKind::Arm);
        let arms = arms.filter_map(|arm| {
            let pattern = arm.nodes().next()?;
            Some((self.pattern(pattern), self.nth_expression(arm, 1)))
        });
        ExprKind::Case(Box::new(value), arms.collect())
    }

    fn qualifier(&mut self, node: Node) -> Qualifier {
        match node.kind() {
            SyntaxKind::Draw => {
                let sources = node.nodes().filter(|child| child.kind() == SyntaxKind::Source);
                Qualifier::Draw(
                    sources
                        .filter_map(|source| {
                            let pattern = self.pattern(source.nodes().next()?);
                            let from = self.nth_expression(source, 1);
                            Some(match source.nodes().nth(2) {
                                Some(to) => (pattern, Drawn::Range(from, self.expression(to))),
                                None => (pattern, Drawn::Array(from)),
                            })
                        })
                        .collect(),
                )
            }
            SyntaxKind::LetQualifier => {
                let value = self.nth_expression(node, 1);
                match node.nodes().next() {
                    Some(pattern) => Qualifier::Let(self.pattern(pattern), value),
                    None => Qualifier::Guard(value),
                }
            }
            SyntaxKind::OrderBy => {
                let keys = node.nodes().filter(|child| child.kind() == SyntaxKind::OrderKey);
                Qualifier::OrderBy(
                    keys.map(|key| (self.nth_expression(key, 0), key.tokens().next().is_some())).collect(),
                )
            }
            SyntaxKind::GroupBy => Qualifier::GroupBy(self.nth_expression(node, 0)),
            SyntaxKind::Take => Qualifier::Take(self.nth_expression(node, 0)),
            SyntaxKind::Distinct => Qualifier::Distinct(self.span(node)),
            _ => Qualifier::Guard(self.nth_expression(node, 0)),
        }
    }
}
