//! Items.

use super::super::kinds::SyntaxKind;
use super::super::node::{Node, Token};
use super::Lowering;
use super::docs::Docs;
use crate::ast::{
    Expr, Function, Ident, Import, Module, Parameter, Signature, TypeDeclaration, TypeDeclarationKind,
    TypeExpr, TypeExprKind,
};
use rowan::NodeOrToken;

impl Lowering<'_> {
    pub(super) fn module(&mut self, root: Node) -> Module {
        let mut module = Module::default();
        let mut comments = Docs::default();
        for child in root.children() {
            let node = match child {
                NodeOrToken::Token(token) => {
                    comments.token(token);
                    continue;
                }
                NodeOrToken::Node(node) => node,
            };
            let docs = comments.item();
            match node.kind() {
                SyntaxKind::Import => module.imports.push(self.import(node)),
                SyntaxKind::Signature => module.signatures.push(self.signature(node, docs)),
                SyntaxKind::Function => module.functions.push(self.function(node, docs)),
                SyntaxKind::TypeDeclaration => module.types.push(self.type_declaration(node, docs)),
                _ => {}
            }
        }
        comments.end();
        module.docs = comments.file;
        module
    }

    fn import(&mut self, node: Node) -> Import {
        let mut names = names(node);
        let module = match names.next() {
            Some(token) if token.kind == SyntaxKind::Lower => self.ident(token),
            _ => Ident { name: self.name(""), span: self.end(node) },
        };
        let names = names.map(|token| self.ident(token)).collect();
        Import { module, names, span: self.span(node) }
    }

    fn signature(&mut self, node: Node, docs: Option<String>) -> Signature {
        let name = self.ident_in(node);
        let mut constraints = Vec::new();
        let mut ty = None;
        for child in node.nodes() {
            if child.kind() == SyntaxKind::Constraint {
                let idents: Vec<Ident> = names(child).map(|token| self.ident(token)).collect();
                if let Ok([class, variable]) = <[Ident; 2]>::try_from(idents) {
                    constraints.push((class, variable));
                }
            } else {
                ty = Some(self.type_expr(child));
            }
        }
        let ty = ty.unwrap_or_else(|| TypeExpr { span: self.end(node), kind: TypeExprKind::Error });
        Signature { docs, name, constraints, ty, span: self.span(node) }
    }

    /// Lowers an item `fun`, or a binding of a function by `let`.
    pub(super) fn function(&mut self, node: Node, docs: Option<String>) -> Function {
        let name = self.ident_in(node);
        let (parameters, body) = self.parameters_and_body(node);
        Function { docs, name, parameters, body, span: self.span(node) }
    }

    /// Lowers the parameters and the body: all nodes but the last one are parameters.
    pub(super) fn parameters_and_body(&mut self, node: Node) -> (Vec<Parameter>, Expr) {
        let mut parts: Vec<Node> = node.nodes().collect();
        let body = parts.pop();
        let parameters = parts.into_iter().map(|part| self.parameter(part)).collect();
        let body = match body {
            Some(body) => self.expression(body),
            None => self.missing(node),
        };
        (parameters, body)
    }

    fn parameter(&mut self, node: Node) -> Parameter {
        match node.kind() {
            SyntaxKind::LevelParameter => Parameter::Level(self.ident_in(node)),
            _ => Parameter::Value(self.pattern(node)),
        }
    }

    fn type_declaration(&mut self, node: Node, docs: Option<String>) -> TypeDeclaration {
        let mut idents: Vec<Ident> = names(node).map(|token| self.ident(token)).collect();
        let named = names(node).next().is_some_and(|token| token.kind == SyntaxKind::Upper);
        let name = if named { idents.remove(0) } else { Ident { name: self.name(""), span: self.end(node) } };
        let is_sum = node.nodes().any(|child| child.kind() == SyntaxKind::Constructor);
        let kind = if is_sum {
            let constructors = node.nodes().filter(|child| child.kind() == SyntaxKind::Constructor);
            TypeDeclarationKind::Sum(
                constructors
                    .map(|child| {
                        (self.ident_in(child), child.nodes().map(|field| self.type_expr(field)).collect())
                    })
                    .collect(),
            )
        } else {
            let ty = node.nodes().next().map(|child| self.type_expr(child));
            self.alias(
                &name,
                ty.unwrap_or_else(|| TypeExpr { span: self.end(node), kind: TypeExprKind::Error }),
            )
        };
        TypeDeclaration { docs, name, parameters: idents, kind, span: self.span(node) }
    }

    /// Lowers a type without a bar, which is another name for a type. Only a type that would be its own alias, `type Metre = Metre f64`, is a
    /// constructor.
    fn alias(&mut self, name: &Ident, ty: TypeExpr) -> TypeDeclarationKind {
        match ty.kind {
            TypeExprKind::Name(path, fields) if path.module.is_none() && path.name.name == name.name => {
                TypeDeclarationKind::Sum(vec![(path.name, fields)])
            }
            kind => TypeDeclarationKind::Alias(TypeExpr { span: ty.span, kind }),
        }
    }
}

/// Iterates over the names among the tokens of a node.
fn names(node: Node) -> impl Iterator<Item = Token> {
    node.tokens().filter(|token| matches!(token.kind, SyntaxKind::Lower | SyntaxKind::Upper))
}
