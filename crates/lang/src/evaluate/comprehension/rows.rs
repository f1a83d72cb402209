//! Rows: the values of the variables of a comprehension so far, and liveness of these variables.

use super::super::environment::{Definition, Environment, Meaning};
use super::super::layout::{columns, fields_of, from_terms};
use super::super::scalars::whole;
use super::super::value::{Array, Local, Value};
use super::super::{Evaluator, Names, Outcome};
use super::staged::Staged;
use crate::ast::{Expr, Name, Pattern, PatternKind};
use crate::source::Span;
use crate::types::Type;
use pumice_array::{Described, untyped};
use pumice_scalar::{Constant, Op, Place, ScalarType, Term, branch};
use std::collections::HashSet;
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

/// The part of a row for one or several names.
#[derive(Clone)]
pub(super) enum Part {
    /// The scalars of a value.
    Column(Name, Type),
    /// The number of an element of an array of arrays that is not in memory.
    Element(Pattern, Array),
    /// A segment of an array, by its first element and its length: an inner array for each name.
    Stretch(Rc<Stretch>),
    /// No scalars: the value is computed where it is used.
    Computed(Name, Rc<Expr>),
    /// No scalars: the value is the same in every row.
    Same(Pattern, Value),
}

/// An array that rows have segments of.
pub(super) struct Stretch {
    /// The array.
    pub of: Arc<Described>,
    /// The names, with the type of an element and the columns that it is in.
    pub names: Vec<(Name, Type, Range<usize>)>,
}

/// Rows, with the names that are bound so far.
#[derive(Clone)]
pub(super) struct Rows {
    /// The array of rows; before the first variable there is none.
    pub array: Option<Arc<Described>>,
    /// Conditions before the first variable.
    pub pending: Vec<Term>,
    /// The parts of a row; later names hide earlier ones.
    pub parts: Vec<Part>,
    /// The names that are the same in every row.
    pub environment: Environment,
    /// The number of rows of an outer comprehension, where the first scalar of a row says to which of them it belongs. Sorting, grouping and
    /// `take` then apply among the rows of one number.
    pub outer: Option<Term>,
    /// For each inner comprehension that is being drawn from: the number of its first part, and the names that are used behind it.
    pub scopes: Vec<(usize, Names)>,
}

impl Part {
    /// Returns the names that it binds.
    fn names(&self) -> Vec<Name> {
        match self {
            Part::Column(name, _) | Part::Computed(name, _) => vec![name.clone()],
            Part::Element(pattern, _) | Part::Same(pattern, _) => names_of(pattern),
            Part::Stretch(stretch) => stretch.names.iter().map(|(name, ..)| name.clone()).collect(),
        }
    }
}

impl Rows {
    pub fn new(environment: Environment) -> Rows {
        let (pending, parts, scopes) = (Vec::new(), Vec::new(), Vec::new());
        Rows { array: None, pending, parts, environment, outer: None, scopes }
    }

    /// Whether each row has its own meaning of a name.
    pub fn binds(&self, name: &Name) -> bool {
        let last = self.parts.iter().rev().find(|part| part.names().contains(name));
        last.is_some_and(|part| !matches!(part, Part::Same(..)))
    }

    /// Returns which parts these names need, without the parts in a range, which go out of scope.
    pub fn needed(&self, evaluator: &Evaluator, live: &Names, without: Range<usize>) -> Vec<bool> {
        let mut needed: HashSet<Name> = live.iter().cloned().collect();
        let mut scopes = self.scopes.iter().rev().peekable();
        let mut kept = vec![false; self.parts.len()];
        for (number, part) in self.parts.iter().enumerate().rev() {
            while let Some((_, behind)) = scopes.next_if(|(first, _)| number < *first) {
                needed.extend(behind.iter().cloned());
            }
            if without.contains(&number) {
                continue;
            }
            kept[number] = part.names().iter().filter(|name| needed.remove(*name)).count() > 0;
            if let (true, Part::Computed(_, value)) = (kept[number], part) {
                needed.extend(evaluator.names_in(value).iter().cloned());
            }
        }
        kept
    }

    /// Keeps only these parts.
    pub fn retain(&mut self, kept: &[bool]) {
        for (first, _) in &mut self.scopes {
            *first = kept.iter().take(*first).filter(|kept| **kept).count();
        }
        let mut kept = kept.iter();
        self.parts.retain(|_| kept.next().copied().unwrap_or(true));
    }
}

impl Evaluator {
    /// Returns the types of a part's scalars.
    fn types_of_part(&self, part: &Part, span: Span) -> Outcome<Vec<ScalarType>> {
        match part {
            Part::Column(_, ty) => columns(ty, self.sums()).ok_or_else(|| self.not_stored(ty, span)),
            Part::Element(..) => Ok(vec![ScalarType::I64]),
            Part::Stretch(_) => Ok(vec![ScalarType::I64; 2]),
            Part::Computed(..) | Part::Same(..) => Ok(Vec::new()),
        }
    }

    /// Returns the types of the scalars of a row, for the parts that are kept.
    pub(super) fn part_types(&self, rows: &Rows, kept: &[bool], span: Span) -> Outcome<Vec<ScalarType>> {
        let parts = rows.parts.iter().zip(kept).filter(|(_, kept)| **kept);
        Ok(parts.map(|(part, _)| self.types_of_part(part, span)).collect::<Outcome<Vec<_>>>()?.concat())
    }

    /// Selects the scalars of a row, for the parts that are kept.
    pub(super) fn selected(&self, rows: &Rows, kept: &[bool], terms: &[Term], span: Span) -> Vec<Term> {
        let mut terms = terms.iter().copied();
        let mut selected = Vec::new();
        for (part, kept) in rows.parts.iter().zip(kept) {
            let count = self.types_of_part(part, span).map_or(0, |types| types.len());
            let own = terms.by_ref().take(count);
            if *kept { selected.extend(own) } else { own.for_each(drop) }
        }
        selected
    }

    /// Returns the types of all scalars of a row.
    pub(super) fn row_types(&self, rows: &Rows, span: Span) -> Outcome<Vec<ScalarType>> {
        self.part_types(rows, &vec![true; rows.parts.len()], span)
    }

    /// Returns the bindings of names that are the same in every row.
    pub(super) fn outside(&self, rows: &Rows) -> Outcome<Environment> {
        rows.parts.iter().try_fold(rows.environment.clone(), |environment, part| match part {
            Part::Same(pattern, value) => self.matched(pattern, value, environment),
            _ => Ok(environment),
        })
    }

    /// Returns the bindings of names in a row.
    pub(super) fn row(self: &Rc<Self>, rows: &Rows, terms: &[Term], span: Span) -> Outcome<Environment> {
        let mut terms = terms.iter().copied();
        rows.parts.iter().try_fold(rows.environment.clone(), |environment, part| match part {
            Part::Column(name, ty) => {
                let value = from_terms(ty, self.sums(), false, &mut terms);
                let value = value.ok_or_else(|| self.wrong(span, "a row of no type"))?;
                Ok(environment.with(name, Meaning::Value(value)))
            }
            Part::Element(pattern, array) => {
                let number = terms.next().unwrap_or(whole(0));
                self.matched(pattern, &self.get(array, &[number], None, span)?, environment)
            }
            Part::Stretch(stretch) => {
                let (first, length) = (terms.next().unwrap_or(whole(0)), terms.next().unwrap_or(whole(0)));
                let inner = |(_, ty, which): &(Name, Type, Range<usize>)| {
                    self.stretch(&stretch.of, (first, length), ty, which.clone(), span)
                };
                Ok(stretch.names.iter().fold(environment, |environment, member| {
                    environment.with(&member.0, Meaning::Value(inner(member)))
                }))
            }
            Part::Same(pattern, value) => self.matched(pattern, value, environment),
            Part::Computed(name, value) => {
                let definition = Definition {
                    own_name: None,
                    parameters: Rc::from([]),
                    body: value.clone(),
                    environment: environment.clone(),
                };
                Ok(environment.with(name, Meaning::Definition(Rc::new(definition))))
            }
        })
    }

    /// Returns some columns of a segment of an array, as an inner array.
    fn stretch(
        self: &Rc<Self>,
        of: &Arc<Described>,
        (first, length): (Term, Term),
        ty: &Type,
        which: Range<usize>,
        span: Span,
    ) -> Value {
        let (this, array, element) = (self.clone(), of.clone(), ty.clone());
        let get = Rc::new(move |index: &[Term]| {
            let number = index.first().copied().unwrap_or(whole(0));
            let terms = array.element(&[first.binary(Op::Add, number)], None);
            this.of_type(&element, terms.get(which.clone()).unwrap_or(&[]), span)
        });
        let most = Some(untyped::length(of));
        Value::Array(Array::Local(Rc::new(Local { element: ty.clone(), extents: vec![length], get, most })))
    }

    /// Returns the value of a type with these scalars.
    pub(super) fn of_type(&self, ty: &Type, terms: &[Term], span: Span) -> Outcome<Value> {
        from_terms(ty, self.sums(), false, &mut terms.iter().copied())
            .ok_or_else(|| self.wrong(span, "a value of no type"))
    }

    /// Returns the names that a pattern binds in a value of a type, with their types.
    pub(super) fn names_of_pattern(&self, pattern: &Pattern, ty: &Type) -> Outcome<Vec<(Name, Type)>> {
        let mut found = Vec::new();
        self.add_names(pattern, ty, &mut found)?;
        Ok(found)
    }

    fn add_names(&self, pattern: &Pattern, ty: &Type, found: &mut Vec<(Name, Type)>) -> Outcome<()> {
        let differs = || self.wrong(pattern.span, "a pattern of another type");
        match (&pattern.kind, ty) {
            (PatternKind::Name(name), ty) => found.push((name.clone(), ty.clone())),
            (PatternKind::Tuple(patterns), Type::Tuple(types)) => {
                patterns.iter().zip(types).try_for_each(|(part, ty)| self.add_names(part, ty, found))?;
            }
            (PatternKind::Record(patterns), Type::Record(fields)) => {
                for (name, part) in patterns {
                    let field = fields.iter().find(|(own, _)| *own == name.name).ok_or_else(differs)?;
                    self.add_names(part, &field.1, found)?;
                }
            }
            (PatternKind::Constructor(_, patterns), Type::Sum(..)) => {
                let number =
                    self.checked.constructor_of_pattern(pattern.span).map_or(0, |(_, number)| number);
                let fields = fields_of(ty, self.sums()).ok_or_else(differs)?;
                let own = fields.get(number).ok_or_else(differs)?;
                patterns.iter().zip(own).try_for_each(|(part, ty)| self.add_names(part, ty, found))?;
            }
            _ => {}
        }
        Ok(())
    }

    /// Returns the scalars of the names that a pattern binds, in their order.
    pub(super) fn bound_terms(
        &self,
        pattern: &Pattern,
        value: &Value,
        names: &[(Name, Type)],
    ) -> Outcome<Vec<Term>> {
        let bound = self.matched(pattern, value, Environment::default())?;
        let mut terms = Vec::new();
        for (name, _) in names {
            if let Some(Meaning::Value(value)) = bound.get(name) {
                terms.extend(self.stored_value(value, pattern.span)?);
            }
        }
        Ok(terms)
    }

    /// Creates the array of rows if there is none: `size` rows if all pending conditions hold, in which nothing is bound yet.
    pub(super) fn start(self: &Rc<Self>, rows: &mut Rows, size: Term, span: Span) {
        if rows.array.is_none() {
            let size = self.pending(rows, size);
            rows.pending.clear();
            let place = self.place("comprehension", span);
            rows.array = Some(self.alive(untyped::generated(size, |_| Vec::new(), Vec::new(), place)));
        }
    }

    /// Returns the size if all conditions before the first variable hold, and zero otherwise.
    pub(super) fn pending(&self, rows: &Rows, size: Term) -> Term {
        rows.pending.iter().rev().fold(size, |size, condition| match condition.constant() {
            Some(known) if known == Constant::from(true) => size,
            Some(_) => whole(0),
            None => branch(*condition, &[size], &[whole(0)]).first().copied().unwrap_or(size),
        })
    }

    /// Drops the results of reductions from the rows again, and with them everything that is no longer live.
    pub(super) fn pruned(
        self: &Rc<Self>,
        rows: &mut Rows,
        live: &Names,
        staged: &Staged<'_>,
        place: Place,
    ) -> Outcome<()> {
        let Some(array) = rows.array.as_ref().filter(|_| staged.has_more()) else { return Ok(()) };
        let kept = rows.needed(self, live, 0..0);
        let types = self.part_types(rows, &kept, staged.span)?;
        let select = |terms: &[Term]| self.selected(rows, &kept, terms, staged.span);
        let array = untyped::zipped(&[array], select, types, place);
        rows.retain(&kept);
        rows.array = Some(self.alive(array));
        Ok(())
    }
}

/// Returns the names that a pattern binds.
pub(super) fn names_of(pattern: &Pattern) -> Vec<Name> {
    let mut names = Vec::new();
    let mut open = vec![pattern];
    while let Some(pattern) = open.pop() {
        match &pattern.kind {
            PatternKind::Name(name) => names.push(name.clone()),
            PatternKind::Tuple(parts) | PatternKind::Constructor(_, parts) => open.extend(parts),
            PatternKind::Record(fields) => open.extend(fields.iter().map(|(_, part)| part)),
            PatternKind::Error | PatternKind::Any | PatternKind::Integer(_) | PatternKind::Bool(_) => {}
        }
    }
    names
}
