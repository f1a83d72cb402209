//! Types of comprehensions: the names that qualifiers bind, and their types behind a `group by`.

use super::arena::{Node, Ty};
use super::infer::{Checker, Local};
use super::messages::Why;
use super::resolve::Target;
use super::ty::Kind;
use crate::ast::{Drawn, Expr, ExprKind, Pattern, PatternKind, Qualifier};
use crate::diagnostic::Diagnostic;
use crate::source::Span;

impl Checker<'_> {
    pub fn comprehension(&mut self, head: &Expr, qualifiers: &[Qualifier]) -> Ty {
        // The places of all names that are bound so far.
        let mut bound = Vec::new();
        let mut distinct = false;
        for qualifier in qualifiers {
            match qualifier {
                Qualifier::Draw(draws) => {
                    let types: Vec<Ty> = draws.iter().map(|(_, drawn)| self.drawn(drawn)).collect();
                    for ((pattern, _), ty) in draws.iter().zip(types) {
                        self.bind_in_comprehension(pattern, ty, &mut bound);
                    }
                }
                Qualifier::Guard(condition) => self.check(condition, self.bool(), Why::Guard),
                Qualifier::Let(pattern, value) => {
                    let ty = self.infer(value);
                    self.bind_in_comprehension(pattern, ty, &mut bound);
                }
                Qualifier::OrderBy(keys) => {
                    for (key, _) in keys {
                        let ty = self.infer(key);
                        self.require(key, ty, Kind::Ordered, Why::Key("order by"));
                    }
                }
                Qualifier::GroupBy(key) => self.group_by(key, &bound),
                Qualifier::Take(number) => self.check(number, self.int(), Why::Take),
                Qualifier::Distinct(_) => distinct = true,
            }
        }
        let element = self.infer(head);
        let kind = if distinct { Kind::Ordered } else { Kind::Ground };
        self.require(head, element, kind, if distinct { Why::Key("distinct") } else { Why::Element });
        self.arena.vector(element)
    }

    fn bind_in_comprehension(&mut self, pattern: &Pattern, ty: Ty, bound: &mut Vec<Span>) {
        self.pattern(pattern, ty);
        self.check_irrefutable(pattern);
        names_of(pattern, bound);
    }

    /// Infers the element type of a generator's source.
    fn drawn(&mut self, drawn: &Drawn) -> Ty {
        match drawn {
            Drawn::Range(from, to) => {
                self.check(from, self.int(), Why::Range);
                self.check(to, self.int(), Why::Range);
                self.int()
            }
            Drawn::Array(array) => {
                let ty = self.infer(array);
                match self.arena.find(ty).1 {
                    Node::Array { element, sizes, level: None }
                        if self.arena.size_parts(sizes).len() == 1 =>
                    {
                        element
                    }
                    _ => {
                        let element = self.arena.fresh(Kind::Ground);
                        let vector = self.arena.vector(element);
                        self.expect(array, ty, vector, Why::Draw);
                        element
                    }
                }
            }
        }
    }

    /// Infers `group by`: behind it, names that are the key keep its type, and all others are arrays of the values of a group.
    fn group_by(&mut self, key: &Expr, bound: &[Span]) {
        let ty = self.infer(key);
        self.require(key, ty, Kind::Ordered, Why::Key("group by"));
        let mut keys = Vec::new();
        self.key_names(key, &mut keys);
        for span in bound.iter().filter(|span| !keys.contains(span)) {
            let Some(Local::Value(ty)) = self.locals.get(span).cloned() else { continue };
            if self.arena.require(ty, Kind::Base).is_err() {
                let error = Diagnostic::new(
                    *span,
                    format!("this is `{}`, which `group by` cannot make an array of", self.show(ty)),
                );
                self.errors.push(
                    error
                        .other(key.span, "behind this `group by`, what was bound before are arrays")
                        .help("only what can be stored can be grouped: neither functions nor arrays"),
                );
            }
            let array = self.arena.vector(ty);
            self.locals.insert(*span, Local::Value(array));
        }
    }

    /// Collects the names that a key is made of, if it is a name or a tuple of names.
    fn key_names(&self, key: &Expr, names: &mut Vec<Span>) {
        match &key.kind {
            ExprKind::Name(_) => {
                if let Some(Target::Local(span)) = self.meanings.names.get(key.id.0 as usize) {
                    names.push(*span);
                }
            }
            ExprKind::Tuple(parts) => parts.iter().for_each(|part| self.key_names(part, names)),
            _ => {}
        }
    }
}

/// Collects the spans of the names that a pattern binds.
fn names_of(pattern: &Pattern, names: &mut Vec<Span>) {
    match &pattern.kind {
        PatternKind::Name(_) => names.push(pattern.span),
        PatternKind::Tuple(parts) | PatternKind::Constructor(_, parts) => {
            parts.iter().for_each(|part| names_of(part, names))
        }
        PatternKind::Record(fields) => fields.iter().for_each(|(_, field)| names_of(field, names)),
        PatternKind::Error | PatternKind::Any | PatternKind::Integer(_) | PatternKind::Bool(_) => {}
    }
}
