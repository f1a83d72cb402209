//! Variables that are drawn: each row becomes as many as there are elements to draw.

use super::super::environment::Environment;
use super::super::layout::columns;
use super::super::scalars::whole;
use super::super::value::{Array, Scalar, Value};
use super::super::{Evaluator, Mode, Names, Outcome};
use super::rows::{Part, Rows, names_of};
use crate::ast::{Drawn, Expr, ExprKind, Pattern, Qualifier};
use crate::source::Span;
use crate::types::Type;
use pumice_array::{Described, untyped};
use pumice_scalar::{Op, ScalarType, Term};
use std::rc::Rc;
use std::sync::Arc;

/// The source of a variable's values.
#[derive(Clone)]
pub(super) enum Drawing {
    /// The elements of an array.
    Array(Array, Span),
    /// The numbers from this one on.
    From(Term),
}

/// One or several variables that are drawn in step.
type Draws = [(Pattern, Drawn)];

/// Computes the scalars of a row with the drawn elements: from the scalars before, the environment there, and the element's number.
type Elements<'a> = &'a dyn Fn(&[Term], &Environment, Term) -> Outcome<Vec<Term>>;

impl Evaluator {
    /// Evaluates the sources of one or several variables in a row: for each, the number of elements, and the elements by number.
    pub(super) fn drawn(
        self: &Rc<Self>,
        draws: &Draws,
        environment: &Environment,
        span: Span,
    ) -> Outcome<Vec<(Scalar, Drawing)>> {
        draws.iter().map(|(_, drawn)| self.drawing(drawn, environment, span)).collect()
    }

    fn drawing(
        self: &Rc<Self>,
        drawn: &Drawn,
        environment: &Environment,
        span: Span,
    ) -> Outcome<(Scalar, Drawing)> {
        match drawn {
            Drawn::Array(expr) => match self.evaluate(expr, environment)? {
                Value::Array(array) => {
                    let length = self.extents(&array, expr.span)?.into_iter().next();
                    let length = length.ok_or_else(|| self.wrong(expr.span, "an array of no dimension"))?;
                    Ok((length, Drawing::Array(array, expr.span)))
                }
                _ => Err(self.wrong(expr.span, "an array is wanted here")),
            },
            Drawn::Range(from, to) => {
                let (from, to) = (self.evaluate(from, environment)?, self.evaluate(to, environment)?);
                let (from, to) = (self.scalar(&from, span)?, self.scalar(&to, span)?);
                let size = to.term.binary(Op::Sub, from.term).binary(Op::Max, whole(0));
                Ok((Scalar { term: size, outside: from.outside && to.outside }, Drawing::From(from.term)))
            }
        }
    }

    /// Evaluates the sources that are the same in every row; `None` for the others.
    fn same_for_all(
        self: &Rc<Self>,
        draws: &Draws,
        rows: &Rows,
        span: Span,
    ) -> Outcome<Vec<Option<(Scalar, Drawing)>>> {
        let outside = self.outside(rows)?;
        let one = |(_, drawn): &(Pattern, Drawn)| {
            let parts = match drawn {
                Drawn::Array(expr) => vec![expr],
                Drawn::Range(from, to) => vec![from, to],
            };
            let same = parts.iter().all(|expr| self.names_in(expr).iter().all(|name| !rows.binds(name)));
            same.then(|| self.drawing(drawn, &outside, span)).transpose()
        };
        draws.iter().map(one).collect()
    }

    pub(super) fn element_of(self: &Rc<Self>, drawing: &Drawing, number: Term) -> Outcome<Value> {
        match drawing {
            Drawing::Array(array, span) => self.get(array, &[number], None, *span),
            Drawing::From(from) => Ok(Value::scalar(from.binary(Op::Add, number), false)),
        }
    }

    /// Returns the number of elements of sources that are drawn from in step: as many as the shortest has.
    pub(super) fn in_step(&self, drawn: &[(Scalar, Drawing)]) -> Term {
        drawn.iter().map(|(length, _)| length.term).reduce(|a, b| a.binary(Op::Min, b)).unwrap_or(whole(0))
    }

    /// Returns the types of the drawn elements.
    fn drawn_types(&self, draws: &Draws, environment: &Environment, span: Span) -> Outcome<Vec<Type>> {
        let one = |(_, drawn): &(Pattern, Drawn)| match drawn {
            Drawn::Array(expr) => match environment.resolve(&self.checked.type_of(expr.id)) {
                Type::Array { element, .. } => Ok(*element),
                _ => Err(self.wrong(span, "an array is wanted here")),
            },
            Drawn::Range(..) => Ok(Type::Scalar(ScalarType::I64)),
        };
        draws.iter().map(one).collect()
    }

    pub(super) fn draw(
        self: &Rc<Self>,
        rows: &mut Rows,
        draws: &Draws,
        live: &Names,
        span: Span,
    ) -> Outcome<()> {
        if let (Some(_), [(pattern, Drawn::Array(expr))]) = (&rows.array, draws)
            && let ExprKind::Comprehension(element, qualifiers) = &expr.kind
            && self.names_in(expr).iter().any(|name| rows.binds(name))
        {
            if qualifiers.iter().any(is_of_the_whole) {
                let name = super::ragged::name_of(element);
                self.materialise(rows, expr, name.clone())?;
                rows.scopes.push((rows.parts.len(), [name].into()));
                let drawn = self.draw_elements(rows, draws, live, span);
                rows.scopes.pop();
                return drawn;
            }
            return self.draw_from_inner(rows, pattern, (element, qualifiers), live, expr.span);
        }
        self.draw_elements(rows, draws, live, span)
    }

    fn draw_elements(
        self: &Rc<Self>,
        rows: &mut Rows,
        draws: &Draws,
        live: &Names,
        span: Span,
    ) -> Outcome<()> {
        let types = self.drawn_types(draws, &rows.environment, span)?;
        let before = rows.clone();
        let mut new = Vec::new();
        for ((pattern, drawn), ty) in draws.iter().zip(&types) {
            let names = match columns(ty, self.sums()) {
                Some(_) => self.names_of_pattern(pattern, ty)?,
                None => {
                    let array = self.array_of_arrays(&before, drawn, span)?;
                    rows.parts.push(Part::Element(pattern.clone(), array));
                    new.push(None);
                    continue;
                }
            };
            rows.parts.extend(names.iter().map(|(name, ty)| Part::Column(name.clone(), ty.clone())));
            new.push(Some(names));
        }
        let same = self.same_for_all(draws, &before, span)?;
        let drawn_in = |environment: &Environment| {
            let one = |((_, drawn), same): (&(Pattern, Drawn), &Option<(Scalar, Drawing)>)| match same {
                Some(same) => Ok(same.clone()),
                None => self.drawing(drawn, environment, span),
            };
            draws.iter().zip(&same).map(one).collect::<Outcome<Vec<_>>>()
        };
        let kept = rows.needed(self, live, 0..0);
        let row_types = self.part_types(rows, &kept, span)?;
        // The scalars of a row with the drawn elements, by number.
        let get = |row: &[Term], environment: &Environment, number: Term| -> Outcome<Vec<Term>> {
            let mut all = row.to_vec();
            let drawn = drawn_in(environment)?;
            for (((pattern, _), names), (_, drawing)) in draws.iter().zip(&new).zip(drawn) {
                match names {
                    None => all.push(number),
                    Some(names) => {
                        let element = self.element_of(&drawing, number)?;
                        all.extend(self.bound_terms(pattern, &element, names)?);
                    }
                }
            }
            Ok(self.selected(rows, &kept, &all, span))
        };
        let array = match &before.array {
            None => {
                let drawn = drawn_in(&rows.environment)?;
                self.first_drawn(rows, (draws, &drawn), &kept, (row_types, &get), span)?
            }
            Some(input) => {
                let place = self.place("draw", span);
                let size = |terms: &[Term]| {
                    let size = self.within(Mode::Element, || {
                        let row = self.row(&before, terms, span)?;
                        Ok(self.in_step(&drawn_in(&row)?))
                    });
                    self.keep(size, || whole(0))
                };
                let get = |terms: &[Term], number: Term| {
                    let elements =
                        self.within(Mode::Element, || get(terms, &self.row(&before, terms, span)?, number));
                    self.keep(elements, Vec::new)
                };
                self.kept(untyped::expanded(input, size, get, row_types, place))?
            }
        };
        rows.retain(&kept);
        rows.pending.clear();
        rows.array = Some(self.alive(array));
        Ok(())
    }

    /// Creates the rows of the first variables: the array itself if there is nothing else, else a pull.
    fn first_drawn(
        self: &Rc<Self>,
        rows: &Rows,
        (draws, drawn): (&Draws, &[(Scalar, Drawing)]),
        kept: &[bool],
        (types, get): (Vec<ScalarType>, Elements<'_>),
        span: Span,
    ) -> Outcome<Arc<Described>> {
        let place = self.place("draw", span);
        let environment = self.outside(rows)?;
        if let ([(pattern, _)], [(_, Drawing::Array(array, _))]) = (draws, drawn)
            && let (true, Array::Host(host)) = (rows.pending.is_empty(), array)
            && let (Some(_), [Part::Column(..), ..]) = (array.columns(self.sums()), &rows.parts[..])
        {
            let described = self.describe(host, span)?;
            if matches!(pattern.kind, crate::ast::PatternKind::Name(_)) && kept == [true] {
                return Ok(described);
            }
            let names = self.names_of_pattern(pattern, &host.element)?;
            let bound = |terms: &[Term]| {
                let bound = self.within(Mode::Element, || {
                    let value = self.of_type(&host.element, terms, span)?;
                    Ok(self.selected(rows, kept, &self.bound_terms(pattern, &value, &names)?, span))
                });
                self.keep(bound, Vec::new)
            };
            return self.kept(untyped::zipped(&[&described], bound, types, place));
        }
        let size = self.in_step(drawn);
        let element = |number: Term| {
            let elements = self.within(Mode::Element, || get(&[], &environment, number));
            self.keep(elements, Vec::new)
        };
        let size = self.pending(rows, size);
        self.kept(untyped::generated(size, element, types, place))
    }

    /// Evaluates an array whose elements are arrays. It must be the same for all rows, which then have numbers of its elements.
    fn array_of_arrays(self: &Rc<Self>, rows: &Rows, drawn: &Drawn, span: Span) -> Outcome<Array> {
        let Drawn::Array(expr) = drawn else { return Err(self.wrong(span, "a range of arrays")) };
        if let Some(name) = self.names_in(expr).iter().find(|name| rows.binds(name)) {
            let message = format!(
                "arrays of arrays are drawn from where they are the same for all, and this one has `{name}` in it"
            );
            return Err(self.wrong(expr.span, message));
        }
        match self.within(Mode::Host, || self.evaluate(expr, &self.outside(rows)?))? {
            Value::Array(array) => Ok(array),
            _ => Err(self.wrong(expr.span, "an array is wanted here")),
        }
    }

    /// Draws from an inner comprehension: its qualifiers replace the generator, and the variable is bound to its element.
    fn draw_from_inner(
        self: &Rc<Self>,
        rows: &mut Rows,
        pattern: &Pattern,
        (element, qualifiers): (&Expr, &[Qualifier]),
        live: &Names,
        span: Span,
    ) -> Outcome<()> {
        // Whatever inner names are called, those outside are there again behind it.
        let behind: Names = live.iter().filter(|name| !names_of(pattern).contains(name)).cloned().collect();
        rows.scopes.push((rows.parts.len(), behind));
        self.qualify_all(rows, qualifiers, &self.live_names(qualifiers, element), span)?;
        let inner = rows.scopes.pop().map_or(rows.parts.len(), |(first, _)| first);
        self.let_column(rows, (pattern, element), live, inner)
    }
}

/// Whether a qualifier needs all elements.
pub(super) fn is_of_the_whole(qualifier: &Qualifier) -> bool {
    matches!(
        qualifier,
        Qualifier::OrderBy(_) | Qualifier::GroupBy(_) | Qualifier::Take(_) | Qualifier::Distinct(_)
    )
}
