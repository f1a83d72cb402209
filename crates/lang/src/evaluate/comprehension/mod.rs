//! Comprehensions. Outside they are operations on arrays of rows; a row has the values of the variables so far. Drawing expands
//! each row, a condition filters them, `order by` sorts them. Inside a function on elements or a kernel they are streams (`stream.rs`):
//! loops of one thread, unless they are reduced for every row of a comprehension around them (`hoist.rs`, `staged.rs`).

mod draw;
mod hoist;
mod queries;
mod ragged;
mod rows;
mod staged;
mod stream;

pub(super) use hoist::{Hoisting, Initial, Reduction};
pub(super) use ragged::RAGGED;

use super::environment::{Environment, Meaning};
use super::layout::columns;
use super::scalars::whole;
use super::value::{Array, Host, Value};
use super::{Evaluator, Mode, Names, Outcome};
use crate::ast::{Expr, ExprKind, Pattern, PatternKind, Qualifier};
use crate::diagnostic::Diagnostic;
use crate::source::Span;
use crate::types::Type;
use pumice_array::{Described, Falls, joined_parts, untyped};
use pumice_scalar::{Exp, Op, Place, Term};
use rows::{Part, Rows};
use std::rc::Rc;
use std::sync::Arc;

/// Maximum number of qualifiers of a comprehension.
const MOST_QUALIFIERS: usize = 1_000;

/// The rest of a comprehension behind a qualifier.
#[derive(Clone, Copy)]
struct Rest<'a> {
    qualifiers: &'a [Qualifier],
    /// The names that are used there.
    live: &'a Names,
}

/// Sorts an array by keys; where its elements begin with the number of one of so many outer rows, in each of these.
fn sorted(
    array: &Arc<Described>,
    outer: Option<Term>,
    keys: impl Fn(&[Term]) -> Vec<(Term, Falls)>,
    place: Place,
) -> Arc<Described> {
    let number = |terms: &[Term]| terms.first().copied().unwrap_or(whole(0));
    match outer {
        Some(count) => untyped::sorted_in_rows(array, (Exp::from_term(count), number), keys, place),
        None => untyped::sorted(array, keys, place),
    }
}

impl Evaluator {
    /// Evaluates `[ element | qualifiers ]`.
    pub(super) fn comprehension(
        self: &Rc<Self>,
        (element, qualifiers): (&Expr, &[Qualifier]),
        ty: &Type,
        environment: &Environment,
        span: Span,
    ) -> Outcome<Value> {
        let Type::Array { element: element_type, .. } = ty else {
            return Err(self.wrong(span, "a comprehension of no type"));
        };
        if qualifiers.len() > MOST_QUALIFIERS {
            let message = format!("a comprehension has {MOST_QUALIFIERS} qualifiers at most");
            return Err(self.wrong(span, message));
        }
        if self.mode.get() != Mode::Host {
            if let Some(Meaning::Value(value)) = environment.get(&ragged::name_of(element)) {
                return Ok(value.clone());
            }
            let names = self.names_in_comprehension(element, qualifiers);
            // A comprehension that does not depend on the element is computed once.
            if self.mode.get() == Mode::Element && self.environment_is_outside(&names, environment) {
                return self
                    .within(Mode::Host, || self.comprehension((element, qualifiers), ty, environment, span));
            }
            return self.stream(element, qualifiers, element_type, environment, span);
        }
        let mut rows = Rows::new(environment.clone());
        let lives = self.live_names(qualifiers, element);
        let is_drawn = |qualifier: &Qualifier| matches!(qualifier, Qualifier::Draw(_));
        let first = qualifiers.iter().position(is_drawn).map_or(qualifiers.len(), |draw| draw + 1);
        let ((before, rest), (lives, rest_lives)) = (qualifiers.split_at(first), lives.split_at(first));
        self.qualify_all(&mut rows, before, lives, span)?;
        let result = |rows: &mut Rows| -> Outcome<Value> {
            self.qualify_all(rows, rest, rest_lives, span)?;
            if let Some(inner) = rows_of(element_type) {
                return self.ragged(rows, element, inner, span);
            }
            let described = self.results_of(rows, element, element_type, span)?;
            let described = match qualifiers.last() {
                Some(Qualifier::Distinct(span)) => self.distinct(&described, None, *span),
                _ => described,
            };
            Ok(self.vector(element_type, described))
        };
        match &rows.array {
            Some(array) if needs_memory(rest, element, element_type) => {
                let array = array.clone();
                self.in_parts(
                    &array,
                    element_type,
                    |part| result(&mut Rows { array: Some(part), ..rows }),
                    span,
                )
            }
            _ => result(&mut rows),
        }
    }

    fn vector(&self, element: &Type, described: Arc<Described>) -> Value {
        Value::Array(Array::Host(Rc::new(Host::given(element.clone(), self.alive(described)))))
    }

    /// Evaluates what stands behind the first variable for its values, or for parts of them if memory does not suffice.
    fn in_parts(
        self: &Rc<Self>,
        values: &Arc<Described>,
        element: &Type,
        result: impl FnOnce(Arc<Described>) -> Outcome<Value>,
        span: Span,
    ) -> Outcome<Value> {
        let inner = rows_of(element);
        let arrays = |part| -> Outcome<Vec<Arc<Described>>> {
            let Value::Array(Array::Host(host)) = result(part)? else {
                return Err(self.wrong(span, "a comprehension of nothing"));
            };
            match inner {
                Some(inner) => Ok(self.flattened_rows(&host, inner, span)?.into()),
                None => Ok(vec![self.described(&Array::Host(host), span)?]),
            }
        };
        let mut failed = None;
        let all = |part| {
            arrays(part).unwrap_or_else(|error| {
                failed = Some(error);
                Vec::new()
            })
        };
        let arrays = joined_parts(values, inner.is_some(), all, self.place("comprehension", span));
        match (failed, inner, &arrays[..]) {
            (Some(error), ..) => Err(error),
            (None, Some(inner), [values, offsets]) => {
                Ok(self.of_offsets(self.alive(values.clone()), self.alive(offsets.clone()), inner, span))
            }
            (None, None, [vector]) => Ok(self.vector(element, vector.clone())),
            _ => Err(self.wrong(span, "a comprehension of nothing")),
        }
    }

    /// Returns the array of an expression's values, one per row.
    fn results_of(
        self: &Rc<Self>,
        rows: &mut Rows,
        element: &Expr,
        ty: &Type,
        span: Span,
    ) -> Outcome<Arc<Described>> {
        let place = self.place("comprehension", span);
        let types = columns(ty, self.sums()).ok_or_else(|| self.not_stored(ty, span))?;
        self.start(rows, whole(1), span);
        if let (ExprKind::Name(path), [Part::Column(name, _)]) = (&element.kind, &rows.parts[..])
            && path.module.is_none()
            && path.name.name == *name
            && let Some(array) = &rows.array
        {
            return Ok(array.clone());
        }
        let staged = self.staged(rows, span, vec![element])?;
        let function = |terms: &[Term]| staged.values(terms);
        let inputs: Vec<&Arc<Described>> = staged.arrays.iter().collect();
        self.kept(untyped::zipped(&inputs, function, types, place))
    }

    /// Removes duplicates from results, and sorts them in ascending order.
    fn distinct(&self, results: &Arc<Described>, outer: Option<Term>, span: Span) -> Arc<Described> {
        let place = self.place("distinct", span);
        let number = outer.iter().len();
        let rising = |terms: &[Term]| terms.iter().skip(number).map(|term| (*term, Falls(false))).collect();
        untyped::unique(&sorted(results, outer, rising, place), place)
    }

    fn stored_value(&self, value: &Value, span: Span) -> Outcome<Vec<Term>> {
        value.terms().ok_or_else(|| {
            let message = "what a comprehension gives cannot be stored in an array";
            let help = "its elements are numbers, and tuples, records and sums of them; fold inner arrays, or draw from them";
            Box::new(Diagnostic::new(span, message).help(help))
        })
    }

    fn qualify_all(
        self: &Rc<Self>,
        rows: &mut Rows,
        qualifiers: &[Qualifier],
        lives: &[Names],
        span: Span,
    ) -> Outcome<()> {
        let mut number = 0;
        while let (Some(qualifier), Some(live)) = (qualifiers.get(number), lives.get(number)) {
            number += 1;
            let rest = Rest { qualifiers: qualifiers.get(number..).unwrap_or(&[]), live };
            if let (Qualifier::Draw(draws), Some(Qualifier::Guard(condition)), Some(live)) =
                (qualifier, rest.qualifiers.first(), lives.get(number))
                && self.join(rows, draws, condition, live, span)?
            {
                number += 1;
                continue;
            }
            self.qualify(rows, qualifier, rest, span)?;
        }
        Ok(())
    }

    fn qualify(
        self: &Rc<Self>,
        rows: &mut Rows,
        qualifier: &Qualifier,
        rest: Rest<'_>,
        span: Span,
    ) -> Outcome<()> {
        match qualifier {
            Qualifier::Draw(draws) => self.draw(rows, draws, rest.live, span),
            Qualifier::Guard(condition) => self.guard(rows, condition, rest.live),
            Qualifier::Let(pattern, value) => self.let_in_rows(rows, pattern, value, rest.live),
            Qualifier::OrderBy(keys) => self.order_by(rows, keys, rest.live, span),
            Qualifier::Take(count) => self.take(rows, count),
            Qualifier::GroupBy(key) => self.group_by(rows, key, rest.live),
            Qualifier::Distinct(_) if rest.qualifiers.is_empty() => Ok(()),
            Qualifier::Distinct(span) => {
                Err(self.wrong(*span, "`distinct` is of the results, and stands last"))
            }
        }
    }

    fn guard(self: &Rc<Self>, rows: &mut Rows, condition: &Expr, live: &Names) -> Outcome<()> {
        if rows.array.is_none() {
            let holds = self.evaluate(condition, &self.outside(rows)?)?;
            rows.pending.push(self.scalar(&holds, condition.span)?.term);
            return Ok(());
        }
        let place = self.place("condition", condition.span);
        let staged = self.staged(rows, condition.span, vec![condition])?;
        let input = staged.array(place);
        let kept = untyped::kept(&input, |terms| staged.values(terms), place);
        let kept = self.kept(kept)?;
        rows.array = Some(self.alive(kept));
        self.pruned(rows, live, &staged, place)
    }

    fn order_by(
        self: &Rc<Self>,
        rows: &mut Rows,
        keys: &[(Expr, bool)],
        live: &Names,
        span: Span,
    ) -> Outcome<()> {
        let place = self.place("order_by", span);
        self.start(rows, whole(1), span);
        let mut directions = Vec::new();
        for (key, falls) in keys {
            let ty = rows.environment.resolve(&self.checked.type_of(key.id));
            let columns = columns(&ty, self.sums()).ok_or_else(|| self.not_stored(&ty, key.span))?;
            directions.extend(columns.iter().map(|_| Falls(*falls)));
        }
        let staged = self.staged(rows, span, keys.iter().map(|(key, _)| key).collect())?;
        let input = staged.array(place);
        let keys =
            |terms: &[Term]| staged.values(terms).into_iter().zip(directions.iter().copied()).collect();
        let sorted = sorted(&input, rows.outer, keys, place);
        let sorted = self.kept(sorted)?;
        rows.array = Some(self.alive(sorted));
        self.pruned(rows, live, &staged, place)
    }

    fn take(self: &Rc<Self>, rows: &mut Rows, count: &Expr) -> Outcome<()> {
        if rows.outer.is_some() {
            return self.take_of_each(rows, count);
        }
        if let Some(name) = self.names_in(count).iter().find(|name| rows.binds(name)) {
            let message = format!("`take` is of all elements, and each has a `{name}` of its own");
            let help = "take a number that is the same for all, or keep those of which a condition holds";
            return Err(Box::new(Diagnostic::new(count.span, message).help(help)));
        }
        let number = self.evaluate(count, &self.outside(rows)?)?;
        let number = self.scalar(&number, count.span)?.term;
        self.start(rows, whole(1), count.span);
        if let Some(array) = &rows.array {
            let fewer = number.binary(Op::Max, whole(0)).binary(Op::Min, untyped::length(array));
            let first = untyped::first(array, fewer, self.place("take", count.span));
            rows.array = Some(self.alive(first));
        }
        Ok(())
    }

    /// Binds a name in every row. A value that is the same in all rows is computed once; one that cannot be stored, where it is used.
    fn let_in_rows(
        self: &Rc<Self>,
        rows: &mut Rows,
        pattern: &Pattern,
        value: &Expr,
        live: &Names,
    ) -> Outcome<()> {
        if self.names_in(value).iter().all(|name| !rows.binds(name)) {
            let value = self.evaluate(value, &self.outside(rows)?)?;
            rows.parts.push(Part::Same(pattern.clone(), value));
            return Ok(());
        }
        let ty = rows.environment.resolve(&self.checked.type_of(value.id));
        match (columns(&ty, self.sums()), &pattern.kind) {
            (Some(_), _) => self.let_column(rows, (pattern, value), live, rows.parts.len()),
            (None, PatternKind::Name(name)) if ragged::is_made_at_once(value) => {
                self.materialise(rows, value, name.clone())
            }
            (None, PatternKind::Name(name)) => {
                rows.parts.push(Part::Computed(name.clone(), self.body(value)));
                Ok(())
            }
            (None, _) => Err(self.wrong(pattern.span, "an array in a comprehension needs a name")),
        }
    }

    /// Binds a name to a value that is stored with every row. The parts from a number on go out of scope.
    fn let_column(
        self: &Rc<Self>,
        rows: &mut Rows,
        (pattern, value): (&Pattern, &Expr),
        live: &Names,
        inner: usize,
    ) -> Outcome<()> {
        let place = self.place("let", value.span);
        let ty = rows.environment.resolve(&self.checked.type_of(value.id));
        let staged = self.staged(rows, value.span, vec![value])?;
        let new = self.names_of_pattern(pattern, &ty)?;
        let before = rows.parts.len();
        rows.parts.extend(new.iter().map(|(name, ty)| Part::Column(name.clone(), ty.clone())));
        let kept = rows.needed(self, live, inner..before);
        let types = self.part_types(rows, &kept, value.span)?;
        let function = |terms: &[Term]| {
            let bound = self.of_type(&ty, &staged.values(terms), value.span);
            let bound = bound.and_then(|value| self.bound_terms(pattern, &value, &new));
            let all = [&terms[..staged.own.min(terms.len())], &self.keep(bound, Vec::new)].concat();
            self.selected(rows, &kept, &all, value.span)
        };
        let inputs: Vec<&Arc<Described>> = staged.arrays.iter().collect();
        let array = self.kept(untyped::zipped(&inputs, function, types, place))?;
        rows.retain(&kept);
        rows.array = Some(self.alive(array));
        Ok(())
    }
}

/// The type of an element of the rows that a comprehension with elements of this type gives.
fn rows_of(element: &Type) -> Option<&Type> {
    match element {
        Type::Array { element, sizes, level: None } if sizes.len() == 1 => Some(element),
        _ => None,
    }
}

/// Whether what stands behind the first variable may need much more memory than its values, and is of each of them by itself.
fn needs_memory(rest: &[Qualifier], element: &Expr, element_type: &Type) -> bool {
    let makes_array = |expr: &Expr| ragged::is_made_at_once(expr) || !ragged::of_the_whole(expr).is_empty();
    let makes_arrays = |qualifier: &Qualifier| match qualifier {
        Qualifier::Let(_, value) | Qualifier::Guard(value) => makes_array(value),
        _ => false,
    };
    let draws = rest.iter().filter(|qualifier| matches!(qualifier, Qualifier::Draw(_))).count();
    let has_rows = rows_of(element_type).is_some() || makes_array(element) || rest.iter().any(makes_arrays);
    (draws > 1 || has_rows) && !rest.iter().any(draw::is_of_the_whole)
}
