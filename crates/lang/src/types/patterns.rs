//! Types of patterns.

use super::arena::{Node, Ty};
use super::infer::{Checker, Local};
use super::ty::Kind;
use crate::ast::{Pattern, PatternKind};
use crate::diagnostic::Diagnostic;
use crate::source::Span;

impl Checker<'_> {
    /// Binds the names of a pattern for values of a type.
    pub fn pattern(&mut self, pattern: &Pattern, ty: Ty) {
        match &pattern.kind {
            PatternKind::Error | PatternKind::Any => {}
            PatternKind::Name(_) => {
                self.locals.insert(pattern.span, Local::Value(ty));
            }
            PatternKind::Tuple(parts) => {
                let types: Vec<Ty> = match self.arena.find(ty).1 {
                    Node::Tuple(types) if self.arena.parts(types).len() == parts.len() => {
                        self.arena.parts(types).to_vec()
                    }
                    _ => {
                        let types: Vec<Ty> = parts.iter().map(|_| self.arena.fresh(Kind::Type)).collect();
                        let tuple = self.arena.tuple(&types);
                        self.match_types(pattern.span, ty, tuple);
                        types
                    }
                };
                for (part, ty) in parts.iter().zip(types) {
                    self.pattern(part, ty);
                }
            }
            PatternKind::Record(fields) => {
                self.check_fields_differ(fields.iter().map(|(name, _)| name));
                for (name, field) in fields {
                    let ty = self.pattern_field(ty, name, pattern.span);
                    self.pattern(field, ty);
                }
            }
            PatternKind::Constructor(path, parts) => {
                let Some((sum, number)) = self.meanings.patterns.get(&pattern.span).copied() else {
                    return self.unknown_parts(parts);
                };
                let Some(scheme) = self.constructors[sum as usize].get(number as usize).cloned() else {
                    return self.unknown_parts(parts);
                };
                let mut rest = self.arena.instantiate(&scheme).0;
                let mut types = Vec::new();
                while let Node::Function(field, result) = self.arena.find(rest).1 {
                    types.push(field);
                    rest = result;
                }
                // The sum first: it says what the fields are.
                self.match_types(pattern.span, ty, rest);
                if types.len() != parts.len() {
                    let name = &path.name.name;
                    let fields =
                        |number| if number == 1 { "1 field".to_string() } else { format!("{number} fields") };
                    let message = format!(
                        "`{name}` has {}, and here {} matched",
                        fields(types.len()),
                        match parts.len() {
                            0 => "none is".to_string(),
                            1 => "1 is".to_string(),
                            more => format!("{more} are"),
                        }
                    );
                    self.errors.push(
                        Diagnostic::new(pattern.span, message).help(format!(
                            "write `{name}{}`",
                            types.iter().map(|_| " _").collect::<String>()
                        )),
                    );
                    return self.unknown_parts(parts);
                }
                for (part, ty) in parts.iter().zip(types) {
                    self.pattern(part, ty);
                }
            }
            PatternKind::Integer(_) => {
                let integer = self.arena.fresh(Kind::Integer);
                self.match_types(pattern.span, ty, integer);
            }
            PatternKind::Bool(_) => self.match_types(pattern.span, ty, self.bool()),
        }
    }

    fn match_types(&mut self, span: Span, value: Ty, pattern: Ty) {
        if let Err(clash) = self.arena.unify(value, pattern) {
            self.pattern_differs(span, value, pattern, clash);
        }
    }

    fn unknown_parts(&mut self, parts: &[Pattern]) {
        for part in parts {
            let ty = self.unknown();
            self.pattern(part, ty);
        }
    }
}
