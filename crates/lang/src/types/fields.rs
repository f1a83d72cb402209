//! Fields of records and parts of tuples. Where the type is not known yet, the answer waits until the function around is known;
//! if it is not known then either, a declared record with these fields is taken, if there is only one.

use super::arena::{Node, Ty};
use super::hash::NumberMap;
use super::infer::Checker;
use super::names::{nearest, suggest};
use super::ty::Kind;
use crate::ast::{Ident, Name, TypeDeclarationKind};
use crate::diagnostic::Diagnostic;
use crate::source::Span;
use std::collections::HashSet;

/// A use of a field of a value whose type is not known yet.
#[derive(Clone)]
pub struct PendingField {
    record: Ty,
    name: Name,
    span: Span,
    /// Source span of the record.
    whole: Span,
    /// The type of the field.
    ty: Ty,
    /// Whether the field is in a pattern. Patterns may name all fields of a record.
    pattern: bool,
}

impl Checker<'_> {
    /// Infers the type of a field of a value of type `record`.
    pub fn field(&mut self, record: Ty, name: &Ident, whole: Span) -> Ty {
        self.field_or_wait(record, name, whole, false)
    }

    /// Infers the type of a field in a pattern.
    pub fn pattern_field(&mut self, record: Ty, name: &Ident, whole: Span) -> Ty {
        self.field_or_wait(record, name, whole, true)
    }

    fn field_or_wait(&mut self, record: Ty, name: &Ident, whole: Span, pattern: bool) -> Ty {
        match self.known_field(record, &name.name, name.span, whole) {
            Some(ty) => ty,
            None => {
                let ty = self.arena.fresh(Kind::Type);
                self.pending.push(PendingField {
                    record,
                    name: name.name.clone(),
                    span: name.span,
                    whole,
                    ty,
                    pattern,
                });
                ty
            }
        }
    }

    /// Returns the type of a field, or `None` if the record is not known.
    fn known_field(&mut self, record: Ty, name: &Name, span: Span, whole: Span) -> Option<Ty> {
        let (record, node) = self.arena.find(record);
        let error = match node {
            Node::Flexible { kind, .. } if Kind::Ordered.implies(kind) => return None,
            Node::Error => return Some(record),
            Node::Record(shape, fields) => {
                let names = self.arena.shape(shape);
                if let Some(number) = names.iter().position(|known| known == name) {
                    return Some(self.arena.part(fields, number));
                }
                let error = Diagnostic::new(span, format!("this record has no field `{name}`"));
                suggest(
                    error.other(whole, format!("this is `{}`", self.show(record))),
                    nearest(name, names.iter()),
                )
            }
            Node::Tuple(parts) => {
                let parts = self.arena.parts(parts);
                let number: Option<usize> = name.parse().ok();
                if let Some(part) = number.and_then(|number| parts.get(number)) {
                    return Some(*part);
                }
                let error =
                    Diagnostic::new(span, format!("a tuple of {} parts has no part `{name}`", parts.len()));
                error
                    .other(whole, format!("this is `{}`", self.show(record)))
                    .help("parts are called `.0`, `.1`, …")
            }
            _ => {
                let error = Diagnostic::new(span, format!("this has no field `{name}`: it is no record"));
                error.other(whole, format!("this is `{}`", self.show(record)))
            }
        };
        self.errors.push(error);
        Some(self.unknown())
    }

    /// Answers those that wait, from this one on: all whose record is known now, and those that nothing outside can make known.
    pub fn settle_fields(&mut self, from: usize) {
        loop {
            let waiting = self.pending.split_off(from);
            let before = waiting.len();
            for pending in waiting {
                match self.known_field(pending.record, &pending.name, pending.span, pending.whole) {
                    None => self.pending.push(pending),
                    Some(ty) => self.settle_field(&pending, ty),
                }
            }
            if self.pending.len() - from < before {
                continue;
            }
            if !self.decide_some(from) {
                break;
            }
        }
        // A field that stays pending belongs to a record that is known outside, and so does the type of the field.
        for at in from..self.pending.len() {
            let (record, ty, span) = (self.pending[at].record, self.pending[at].ty, self.pending[at].span);
            if let Node::Flexible { depth, .. } = self.arena.look(record).1
                && let Err(clash) = self.arena.lower(ty, depth)
            {
                self.clash(span, clash);
            }
        }
    }

    fn settle_field(&mut self, pending: &PendingField, ty: Ty) {
        if let Err(clash) = self.arena.unify(pending.ty, ty) {
            self.clash(pending.span, clash);
        }
    }

    /// Decides records that nothing outside can determine; false if there are none. A record that is a field of another one waits for that.
    fn decide_some(&mut self, from: usize) -> bool {
        let mut records: Vec<(Ty, Vec<PendingField>)> = Vec::new();
        let mut numbers: NumberMap<Ty, usize> = NumberMap::default();
        for pending in &self.pending[from..] {
            let (record, node) = self.arena.look(pending.record);
            if matches!(node, Node::Flexible { depth, .. } if depth > self.arena.depth) {
                let number = *numbers.entry(record).or_insert(records.len());
                if number == records.len() {
                    records.push((record, Vec::new()));
                }
                records[number].1.push(pending.clone());
            }
        }
        let inner = self.pending[from..]
            .iter()
            .filter_map(|pending| numbers.get(&self.arena.look(pending.ty).0).copied());
        let inner: HashSet<usize> = inner.collect();
        let all_inner = inner.len() == records.len();
        let visible = if records.is_empty() { Vec::new() } else { self.names.visible_types(self.module) };
        let some = !records.is_empty();
        for (number, (record, fields)) in records.into_iter().enumerate() {
            let is_unknown =
                matches!(self.arena.look(record), (root, Node::Flexible { .. }) if root == record);
            if is_unknown && (!inner.contains(&number) || all_inner && number == 0) {
                self.decide(record, &fields, &visible);
            }
        }
        some
    }

    /// Chooses a record type for a value whose type nothing else determines, or reports that there is none.
    fn decide(&mut self, record: Ty, same: &[PendingField], visible: &[u32]) {
        let has_all = |names: &[Name]| same.iter().all(|field| names.contains(&field.name));
        let mut candidates = visible
            .iter()
            .copied()
            .filter(|ty| self.record_aliases.get(ty).is_some_and(|names| has_all(names)));
        let (first, second) = (candidates.next(), candidates.next());
        let chosen = match (first, second) {
            (Some(alias), None) => Some(self.alias(alias)),
            _ if same.iter().all(|field| field.pattern) => {
                let fields = same.iter().map(|field| (field.name.clone(), field.ty)).collect();
                Some(self.arena.record(fields))
            }
            _ => None,
        };
        let outcome = match chosen {
            Some(chosen) => self.arena.unify(record, chosen),
            None => {
                let field = &same[0];
                let error = Diagnostic::new(
                    field.span,
                    format!("the type of what has the field `{}` is not known", field.name),
                );
                let error = error.other(field.whole, "nothing says what this is");
                self.errors.push(match (first, second) {
                    (Some(one), Some(other)) => {
                        let names = [one, other].map(|ty| self.declared_name(ty));
                        error.help(format!(
                            "`{}` and `{}` have this field: write which one, as in `(x : {})`",
                            names[0], names[1], names[0]
                        ))
                    }
                    _ => error.help("write its type, as in `(x : { … })`, or a `sig` for the function"),
                });
                let unknown = self.unknown();
                self.arena.unify(record, unknown)
            }
        };
        if let Err(clash) = outcome {
            self.clash(same[0].span, clash);
        }
        if matches!(self.arena.look(record).1, Node::Flexible { .. }) {
            // The error has been reported; the field must not be looked up again.
            let unknown = self.unknown();
            self.arena.set(record, Node::Link(unknown));
        }
    }

    fn declared_name(&self, number: u32) -> Name {
        let declared = self.names.declared[number as usize];
        self.program.modules[declared.module].module.types[declared.index].name.name.clone()
    }

    /// Returns a declared record with new variables for its parameters.
    fn alias(&mut self, number: u32) -> Ty {
        let declared = self.names.declared[number as usize];
        let program = self.program;
        let declaration = &program.modules[declared.module].module.types[declared.index];
        let TypeDeclarationKind::Alias(body) = &declaration.kind else { return self.unknown() };
        // As deep as what it is for: one more than the surroundings.
        self.arena.depth += 1;
        let mut scope = super::elaborate::TypeScope::default();
        for parameter in &declaration.parameters {
            let ty = self.arena.fresh(Kind::Type);
            scope.types.insert(parameter.name.clone(), ty);
        }
        let ty = self.elaborate(declared.module, body, &mut scope);
        self.arena.depth -= 1;
        ty
    }
}
