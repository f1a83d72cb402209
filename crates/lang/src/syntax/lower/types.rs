//! Types, sizes, levels and patterns.

use super::super::kinds::SyntaxKind;
use super::super::node::Node;
use super::Lowering;
use crate::ast::{Ident, LevelExpr, Pattern, PatternKind, SizeExpr, TypeExpr, TypeExprKind};
use crate::diagnostic::Diagnostic;

impl Lowering<'_> {
    pub(super) fn type_expr(&mut self, node: Node) -> TypeExpr {
        let span = self.span(node);
        let kind = match node.kind() {
            SyntaxKind::FunctionType => return self.function_type(node),
            SyntaxKind::ParenType => return self.type_in(node),
            SyntaxKind::NamedType => {
                let path = self.path(node);
                let arguments = node.nodes().filter(|child| child.kind() != SyntaxKind::Path);
                TypeExprKind::Name(path, arguments.map(|child| self.type_expr(child)).collect())
            }
            SyntaxKind::TupleType => {
                TypeExprKind::Tuple(node.nodes().map(|child| self.type_expr(child)).collect())
            }
            SyntaxKind::RecordType => {
                let fields = node.nodes().filter(|child| child.kind() == SyntaxKind::TypeField);
                TypeExprKind::Record(
                    fields.map(|field| (self.ident_in(field), self.type_in(field))).collect(),
                )
            }
            SyntaxKind::ArrayType => self.array_type(node),
            _ => TypeExprKind::Error,
        };
        TypeExpr { span, kind }
    }

    /// Lowers the first type inside of a node.
    fn type_in(&mut self, node: Node) -> TypeExpr {
        match node.nodes().next() {
            Some(child) => self.type_expr(child),
            None => TypeExpr { span: self.end(node), kind: TypeExprKind::Error },
        }
    }

    /// Lowers a chain of arrows, which associate to the right.
    fn function_type(&mut self, node: Node) -> TypeExpr {
        let parts: Vec<Node> = node.nodes().collect();
        let mut result = match parts.last() {
            Some(last) if last.kind() != SyntaxKind::LevelParameter => self.type_expr(*last),
            _ => TypeExpr { span: self.end(node), kind: TypeExprKind::Error },
        };
        for part in parts.iter().rev().skip(1) {
            let span = self.span(*part).to(result.span);
            let kind = match part.kind() {
                SyntaxKind::LevelParameter => {
                    TypeExprKind::LevelFunction(self.ident_in(*part), Box::new(result))
                }
                _ => TypeExprKind::Function(Box::new(self.type_expr(*part)), Box::new(result)),
            };
            result = TypeExpr { span, kind };
        }
        result
    }

    fn array_type(&mut self, node: Node) -> TypeExprKind {
        let element = self.type_in(node);
        let (mut sizes, mut level) = (Vec::new(), None);
        for child in node.nodes() {
            match child.kind() {
                SyntaxKind::Size => sizes.extend(self.size(child)),
                SyntaxKind::Level => level = Some(self.level(child)),
                _ => {}
            }
        }
        TypeExprKind::Array(Box::new(element), sizes, level)
    }

    fn size(&mut self, node: Node) -> Option<SizeExpr> {
        let token = node.tokens().next()?;
        let span = self.token_span(token);
        Some(match token.kind {
            SyntaxKind::Underscore => SizeExpr::Any(span),
            SyntaxKind::Integer => SizeExpr::Number(self.plain_integer(token, "a size"), span),
            _ => SizeExpr::Name(self.ident(token)),
        })
    }

    /// Lowers a level; the numbers before a name are added up.
    pub(super) fn level(&mut self, node: Node) -> LevelExpr {
        let mut above: Option<u32> = None;
        for token in node.tokens().filter(|token| token.kind == SyntaxKind::Integer) {
            let number = self.plain_integer(token, "a level");
            let sum = u32::try_from(number).ok().and_then(|number| above.unwrap_or(0).checked_add(number));
            if sum.is_none() {
                self.error(Diagnostic::new(self.token_span(token), "there are not so many levels"));
            }
            above = sum.or(above);
        }
        let name = node.tokens().find(|token| token.kind == SyntaxKind::Lower);
        let ident = match name {
            Some(token) => self.ident(token),
            None => Ident { name: self.name(""), span: self.end(node) },
        };
        match above {
            Some(number) => LevelExpr::Above(number, Box::new(LevelExpr::Name(ident)), self.span(node)),
            None => LevelExpr::Name(ident),
        }
    }

    pub(super) fn pattern(&mut self, node: Node) -> Pattern {
        let span = self.span(node);
        let kind = match node.kind() {
            SyntaxKind::NamePattern => PatternKind::Name(self.ident_in(node).name),
            SyntaxKind::AnyPattern => PatternKind::Any,
            SyntaxKind::ParenPattern => return self.pattern_in(node),
            SyntaxKind::TuplePattern => {
                PatternKind::Tuple(node.nodes().map(|child| self.pattern(child)).collect())
            }
            SyntaxKind::RecordPattern => {
                let fields = node.nodes().filter(|child| child.kind() == SyntaxKind::PatternField);
                PatternKind::Record(fields.map(|field| self.pattern_field(field)).collect())
            }
            SyntaxKind::ConstructorPattern => {
                let path = self.path(node);
                let fields = node.nodes().filter(|child| child.kind() != SyntaxKind::Path);
                PatternKind::Constructor(path, fields.map(|child| self.pattern(child)).collect())
            }
            SyntaxKind::LiteralPattern => self.literal_pattern(node),
            _ => PatternKind::Error,
        };
        Pattern { span, kind }
    }

    fn pattern_in(&mut self, node: Node) -> Pattern {
        match node.nodes().next() {
            Some(child) => self.pattern(child),
            None => Pattern { span: self.end(node), kind: PatternKind::Error },
        }
    }

    /// Lowers `x = p`, or `x`, which binds the field's name.
    fn pattern_field(&mut self, node: Node) -> (Ident, Pattern) {
        let name = self.ident_in(node);
        let pattern = match node.nodes().next() {
            Some(child) => self.pattern(child),
            None => Pattern { span: name.span, kind: PatternKind::Name(name.name.clone()) },
        };
        (name, pattern)
    }

    fn literal_pattern(&mut self, node: Node) -> PatternKind {
        let negative = node.tokens().any(|token| token.kind == SyntaxKind::Minus);
        match node.tokens().last() {
            Some(token) if token.kind == SyntaxKind::Integer => {
                let number = i128::from(self.plain_integer(token, "a pattern"));
                PatternKind::Integer(if negative { -number } else { number })
            }
            Some(token) => PatternKind::Bool(token.kind == SyntaxKind::KwTrue),
            None => PatternKind::Error,
        }
    }
}
