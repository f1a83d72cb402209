//! Qualifiers of queries: joins, which are recognised by a condition behind a variable, and `group by`.

use super::super::layout::columns;
use super::super::scalars::whole;
use super::super::value::Value;
use super::super::{Evaluator, Mode, Names, Outcome};
use super::rows::{Part, Rows, Stretch, names_of};
use super::sorted;
use crate::ast::{Drawn, Expr, ExprKind, Name, Operator, Pattern};
use crate::diagnostic::Diagnostic;
use crate::source::Span;
use crate::types::Type;
use pumice_array::{Described, Falls, Table, untyped};
use pumice_scalar::{Op, ScalarType, Term};
use std::rc::Rc;
use std::sync::Arc;

impl Evaluator {
    /// Lowers a draw from an array to a join, if a condition behind it asks for equal keys: the array is sorted by its
    /// key, and each row is expanded to the elements with its own key. Returns whether it is one.
    pub(super) fn join(
        self: &Rc<Self>,
        rows: &mut Rows,
        draws: &[(Pattern, Drawn)],
        condition: &Expr,
        live: &Names,
        span: Span,
    ) -> Outcome<bool> {
        let (Some(_), [(pattern, Drawn::Array(array))]) = (&rows.array, draws) else { return Ok(false) };
        let Type::Array { element, .. } = rows.environment.resolve(&self.checked.type_of(array.id)) else {
            return Ok(false);
        };
        // An array that differs from row to row is not a table for all of them.
        if self.names_in(array).iter().any(|name| rows.binds(name))
            || columns(&element, self.sums()).is_none()
        {
            return Ok(false);
        }
        let Some(Keys { ours, theirs, others }) = self.keys(rows, pattern, condition) else {
            return Ok(false);
        };
        let Value::Array(table) = self.evaluate(array, &self.outside(rows)?)? else { return Ok(false) };
        let key_types: Vec<ScalarType> = theirs
            .iter()
            .filter_map(|key| columns(&rows.environment.resolve(&self.checked.type_of(key.id)), self.sums()))
            .flatten()
            .collect();
        let described = self.described(&table, array.span)?;
        let their_key = |terms: &[Term]| {
            let key = self.within(Mode::Element, || {
                let value = self.of_type(&element, terms, span)?;
                let environment = self.matched(pattern, &value, self.outside(rows)?)?;
                self.all_terms(&theirs, &environment)
            });
            self.keep(key, Vec::new)
        };
        let table = Table::new(&described, their_key, key_types, self.place("join", span));
        self.kept(())?;
        self.joined(rows, (pattern, &element), &table, &ours, &others, live, span)?;
        Ok(true)
    }

    /// Adds the operations of a join.
    #[allow(clippy::too_many_arguments)]
    fn joined(
        self: &Rc<Self>,
        rows: &mut Rows,
        (pattern, element): (&Pattern, &Type),
        table: &Table,
        ours: &[&Expr],
        others: &[&Expr],
        live: &Names,
        span: Span,
    ) -> Outcome<()> {
        let place = self.place("join", span);
        let Some(input) = rows.array.clone() else { return Ok(()) };
        let before = rows.clone();
        let found = |terms: &[Term]| {
            let range = self.within(Mode::Element, || {
                let key = self.all_terms(ours, &self.row(&before, terms, span)?)?;
                let (first, end) = table.range(&key);
                Ok([terms, &[first.term(), end.term()]].concat())
            });
            self.keep(range, Vec::new)
        };
        let types = [&self.row_types(rows, span)?[..], &[ScalarType::I64; 2]].concat();
        let ranges = self.alive(self.kept(untyped::zipped(&[&input], found, types, place))?);
        let new = self.names_of_pattern(pattern, element)?;
        rows.parts.extend(new.iter().map(|(name, ty)| Part::Column(name.clone(), ty.clone())));
        let mut used: Vec<Name> = live.to_vec();
        others.iter().for_each(|other| used.extend(self.names_in(other).iter().cloned()));
        let kept = rows.needed(self, &used.into(), 0..0);
        let types = self.part_types(rows, &kept, span)?;
        let size = |terms: &[Term]| match terms {
            [.., first, end] => end.binary(Op::Sub, *first),
            _ => whole(0),
        };
        let get = |terms: &[Term], number: Term| {
            let [row @ .., first, _] = terms else { return Vec::new() };
            let elements = self.within(Mode::Element, || {
                let value = self.of_type(element, &table.element(first.binary(Op::Add, number)), span)?;
                let all = [row, &self.bound_terms(pattern, &value, &new)?].concat();
                Ok(self.selected(rows, &kept, &all, span))
            });
            self.keep(elements, Vec::new)
        };
        let array = self.kept(untyped::expanded(&ranges, size, get, types, place))?;
        rows.retain(&kept);
        rows.array = Some(self.alive(array));
        others.iter().try_for_each(|other| self.guard(rows, other, live))
    }

    /// Splits a condition into equal keys, of rows and of drawn elements, and its other parts; `None` if there are no such keys.
    fn keys<'a>(&self, rows: &Rows, pattern: &Pattern, condition: &'a Expr) -> Option<Keys<'a>> {
        let new = names_of(pattern);
        let is_new = |name: &Name| new.contains(name);
        let is_old = |name: &Name| !new.contains(name) && rows.binds(name);
        let only = |expr: &Expr, some: &dyn Fn(&Name) -> bool, none: &dyn Fn(&Name) -> bool| {
            let names = self.names_in(expr);
            names.iter().any(some) && !names.iter().any(none)
        };
        let compares = |expr: &Expr| {
            let ty = rows.environment.resolve(&self.checked.type_of(expr.id));
            columns(&ty, self.sums()).is_some() && !has_sum(&ty)
        };
        let mut keys = Keys { ours: Vec::new(), theirs: Vec::new(), others: Vec::new() };
        for conjunct in conjuncts(condition) {
            match &conjunct.kind {
                ExprKind::Binary(Operator::Equal, _, left, right) if compares(left) => {
                    let sides = if only(left, &is_old, &is_new) && only(right, &is_new, &is_old) {
                        (&**left, &**right)
                    } else if only(right, &is_old, &is_new) && only(left, &is_new, &is_old) {
                        (&**right, &**left)
                    } else {
                        keys.others.push(conjunct);
                        continue;
                    };
                    keys.ours.push(sides.0);
                    keys.theirs.push(sides.1);
                }
                _ => keys.others.push(conjunct),
            }
        }
        (!keys.ours.is_empty()).then_some(keys)
    }

    /// Sorts by a key, and makes a row of all rows of each one: it has the key, and stretches of the others' values.
    pub(super) fn group_by(self: &Rc<Self>, rows: &mut Rows, key: &Expr, live: &Names) -> Outcome<()> {
        let place = self.place("group_by", key.span);
        self.start(rows, whole(1), key.span);
        let ty = rows.environment.resolve(&self.checked.type_of(key.id));
        let key_types = columns(&ty, self.sums()).ok_or_else(|| self.not_stored(&ty, key.span))?;
        // Groups of an inner comprehension are those of one row of the outer one.
        let number = vec![ScalarType::I64; rows.outer.iter().len()];
        let key_types = [&number[..], &key_types].concat();
        let staged = self.staged(rows, key.span, vec![key])?;
        let named = self.named_keys(key, &ty, rows);
        let is_key = |name: &Name| named.iter().any(|(own, ..)| own == name);
        let members: Names = live.iter().filter(|name| !is_key(name)).cloned().collect();
        let kept = rows.needed(self, &members, 0..0);
        let member_types = self.part_types(rows, &kept, key.span)?;
        let with_key = |terms: &[Term]| {
            let members = self.selected(rows, &kept, &terms[..staged.own.min(terms.len())], key.span);
            [terms[..number.len().min(terms.len())].to_vec(), staged.values(terms), members].concat()
        };
        let inputs: Vec<_> = staged.arrays.iter().collect();
        let count = key_types.len();
        let keyed = untyped::zipped(&inputs, with_key, [&key_types[..], &member_types].concat(), place);
        let keyed = self.kept(keyed)?;
        let rising = |terms: &[Term]| {
            let keys = terms.iter().take(count).skip(number.len());
            keys.map(|term| (*term, Falls(false))).collect()
        };
        let sorted = self.alive(sorted(&keyed, rows.outer, rising, place));
        let runs = self.alive(untyped::runs(&untyped::columns(&sorted, 0..count, place), place));
        let stretch = self.members(rows, &kept, count, &sorted, key.span)?;
        let is_number: Vec<bool> = (0..rows.parts.len()).map(|part| part < number.len()).collect();
        rows.retain(&is_number);
        // A run has where it begins, how long it is, and the key.
        rows.parts.push(Part::Stretch(Rc::new(stretch)));
        let keys = 2 + number.len();
        let mut which: Vec<usize> = (2..keys).chain([0, 1]).collect();
        for (name, ty, first) in named {
            let count = columns(&ty, self.sums()).map_or(0, |types| types.len());
            which.extend(keys + first..keys + first + count);
            rows.parts.push(Part::Column(name, ty));
        }
        let kept = rows.needed(self, live, 0..0);
        let types = self.part_types(rows, &kept, key.span)?;
        let row = |terms: &[Term]| {
            let all: Vec<Term> = which.iter().filter_map(|number| terms.get(*number).copied()).collect();
            self.selected(rows, &kept, &all, key.span)
        };
        let array = untyped::zipped(&[&runs], row, types, place);
        rows.retain(&kept);
        rows.array = Some(self.alive(array));
        Ok(())
    }

    /// Returns the inner arrays of a group: for each name the values of its rows.
    fn members(
        &self,
        rows: &Rows,
        kept: &[bool],
        first: usize,
        sorted: &Arc<Described>,
        span: Span,
    ) -> Outcome<Stretch> {
        let (mut names, mut from) = (Vec::new(), first);
        for (part, _) in rows.parts.iter().zip(kept).filter(|(_, kept)| **kept) {
            match part {
                Part::Column(name, ty) => {
                    let count = columns(ty, self.sums()).map_or(0, |types| types.len());
                    if name.as_ref() != super::ragged::ROW {
                        names.push((name.clone(), ty.clone(), from..from + count));
                    }
                    from += count;
                }
                Part::Same(..) => {}
                Part::Element(..) | Part::Stretch(_) | Part::Computed(..) => {
                    let message = "an inner array is used behind this `group by`, which would make an array of arrays of it";
                    let help = "reduce it before, and name the result: `let total = sum row`";
                    return Err(Box::new(Diagnostic::new(span, message).help(help)));
                }
            }
        }
        Ok(Stretch { of: sorted.clone(), names })
    }

    /// Returns the names that a key is made of, if it is a name or a tuple of names, with their types and the offsets of their scalars in it.
    fn named_keys(&self, key: &Expr, ty: &Type, rows: &Rows) -> Vec<(Name, Type, usize)> {
        let mut found = Vec::new();
        let mut open = vec![(key, ty, 0)];
        while let Some((key, ty, mut first)) = open.pop() {
            match (&key.kind, ty) {
                (ExprKind::Name(path), ty) if path.module.is_none() && rows.binds(&path.name.name) => {
                    found.push((path.name.name.clone(), ty.clone(), first));
                }
                (ExprKind::Tuple(parts), Type::Tuple(types)) => {
                    for (part, ty) in parts.iter().zip(types) {
                        open.push((part, ty, first));
                        first += columns(ty, self.sums()).map_or(0, |types| types.len());
                    }
                }
                _ => {}
            }
        }
        found
    }
}

/// The sides of equations between rows and drawn elements, and other conditions.
struct Keys<'a> {
    ours: Vec<&'a Expr>,
    theirs: Vec<&'a Expr>,
    others: Vec<&'a Expr>,
}

/// Splits a condition into its conjuncts.
fn conjuncts(condition: &Expr) -> Vec<&Expr> {
    let (mut all, mut open) = (Vec::new(), vec![condition]);
    while let Some(condition) = open.pop() {
        match &condition.kind {
            ExprKind::Binary(Operator::And, _, left, right) => open.extend([&**right, &**left]),
            _ => all.push(condition),
        }
    }
    all
}

/// Whether values of a type have scalars that mean nothing, so that equal ones may differ in them.
fn has_sum(ty: &Type) -> bool {
    match ty {
        Type::Sum(..) => true,
        Type::Tuple(parts) => parts.iter().any(has_sum),
        Type::Record(fields) => fields.iter().any(|(_, ty)| has_sum(ty)),
        _ => false,
    }
}
