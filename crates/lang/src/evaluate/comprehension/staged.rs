//! Rows with the results of the reductions that expressions compute for each of them.

use super::super::environment::Environment;
use super::super::layout::{columns, from_terms};
use super::super::scalars::whole;
use super::super::{Evaluator, Mode, Outcome};
use super::hoist::{Found, Hoisting, Level};
use super::rows::Rows;
use crate::ast::Expr;
use crate::source::Span;
use crate::types::Type;
use pumice_array::Described;
use pumice_array::untyped;
use pumice_scalar::{Constant, Function, Node, Op, Place, ScalarType, Term, Variable};
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

/// Rows with the results of hoisted reductions, and the expressions that these were in.
pub(super) struct Staged<'a> {
    evaluator: Rc<Evaluator>,
    rows: Rows,
    results: Vec<Type>,
    expressions: Vec<&'a Expr>,
    /// The rows, and an array for each reduction.
    pub arrays: Vec<Arc<Described>>,
    /// Number of scalars of a row, with those of inner comprehensions that are arrays of their own.
    row: usize,
    /// Number of scalars of a row without those.
    pub own: usize,
    /// Source span of the expressions.
    pub span: Span,
}

impl Staged<'_> {
    /// Whether rows have more scalars than before.
    pub fn has_more(&self) -> bool {
        !self.results.is_empty() || self.row > self.own
    }

    /// Returns the rows with all results.
    pub fn array(&self, place: Place) -> Arc<Described> {
        self.evaluator.zipped_all(&self.arrays, place)
    }

    /// Computes the expressions from the scalars of a row and of its results. An error is recorded.
    pub fn values(&self, terms: &[Term]) -> Vec<Term> {
        let outcome = self.evaluated(std::slice::from_ref(&self.results), terms, None);
        self.evaluator.keep(outcome.map(|(values, _)| values), Vec::new)
    }

    /// Evaluates the expressions, and ends at a reduction of which the number of an element is given. `levels` has the types of the results
    /// of reductions that are known: of a row's, then of those of an element of the next one, and so on. The terms are those of the row,
    /// and at each level the results, with the number of an element of the next reduction behind them.
    fn evaluated(
        &self,
        levels: &[Vec<Type>],
        terms: &[Term],
        number: Option<Term>,
    ) -> Outcome<(Vec<Term>, Option<Found>)> {
        let evaluator = &self.evaluator;
        evaluator.within(Mode::Element, || {
            let (row, terms) = terms.split_at(self.row.min(terms.len()));
            let mut terms = terms.iter().copied().chain(number);
            let level = |results: &Vec<Type>| {
                let result = |ty: &Type| {
                    from_terms(ty, evaluator.sums(), false, &mut terms)
                        .ok_or_else(|| evaluator.wrong(self.span, "a result of no type"))
                };
                let known = results.iter().map(result).collect::<Outcome<_>>()?;
                Ok(Level { known, met: 0, number: terms.next() })
            };
            let levels = levels.iter().map(level).collect::<Outcome<_>>()?;
            let environment = evaluator.row(&self.rows, row, self.span)?;
            evaluator.hoisting.replace(Some(Hoisting::new(levels)));
            let values = evaluator.all_terms(&self.expressions, &environment);
            match evaluator.hoisting.take().and_then(Hoisting::found) {
                Some(Some(found)) => Ok((found.terms.clone(), Some(found))),
                Some(None) => Ok((Vec::new(), None)),
                None => Ok((values?, None)),
            }
        })
    }

    /// Finds all reductions, and makes an array of the results of each.
    fn reduce_all(&mut self) -> Outcome<()> {
        while let Some((array, ty)) = self.next(&self.arrays, std::slice::from_ref(&self.results))? {
            self.arrays.push(array);
            self.results.push(ty);
        }
        Ok(())
    }

    /// Finds the next reduction of the last level, and makes an array of its results. The first of the arrays has the terms before the
    /// results of that level, and the others these.
    fn next(
        &self,
        arrays: &[Arc<Described>],
        levels: &[Vec<Type>],
    ) -> Outcome<Option<(Arc<Described>, Type)>> {
        let evaluator = &self.evaluator;
        let Some(first) = arrays.first() else { return Ok(None) };
        let types: Vec<ScalarType> = arrays.iter().flat_map(|array| array.types().to_vec()).collect();
        let with_number = [&types[..], &[ScalarType::I64]].concat();
        let mut found = None;
        let function = evaluator.function_of(&with_number, |terms| {
            let (number, terms) = terms.split_last().map_or((whole(0), terms), |(n, terms)| (*n, terms));
            let (values, reduction) = self.evaluated(levels, terms, Some(number))?;
            found = reduction;
            Ok(values)
        })?;
        let Some(Found { terms, combination, ty, place, nests }) = found else { return Ok(None) };
        let source = match uses(&function, first.types().len()..types.len()) {
            true => evaluator.zipped_all(arrays, place),
            false => first.clone(),
        };
        let all = |source: &[Term], number: Term| {
            let missing = types.iter().skip(source.len()).map(|ty| Constant::zero(*ty).into());
            source.iter().copied().chain(missing).chain([number]).collect::<Vec<Term>>()
        };
        let of = |source: &[Term], number: Term| applied(&function, &all(source, number));
        let size = |source: &[Term]| of(source, whole(0)).first().copied().unwrap_or(whole(0));
        let element = |source: &[Term], number: Term| of(source, number).into_iter().skip(1).collect();
        let result_types = columns(&ty, evaluator.sums()).unwrap_or_default();
        if !nests {
            let reduced = untyped::reduced(&source, size, element, combination, result_types, place);
            return Ok(Some((evaluator.alive(reduced), ty)));
        }
        let (loops, divided) = untyped::by_size(&source, size, place);
        let elements = untyped::expanded(&divided, size, all, with_number, place);
        let types = terms.iter().skip(1).map(|term| term.ty()).collect();
        let values = self.elements(evaluator.alive(elements), levels, types, place)?;
        let by_loops =
            untyped::reduced(&loops, size, element, combination.clone(), result_types.clone(), place);
        let rows = evaluator.rows_of_lengths(&divided, size, place);
        let of_row = |row: &[Term], number: Term| match row {
            [.., first, _] => values.element(&[first.binary(Op::Add, number)], None),
            _ => Vec::new(),
        };
        let length = |row: &[Term]| row.last().copied().unwrap_or(whole(0));
        let by_rows = untyped::reduced(&rows, length, of_row, combination, result_types, place);
        Ok(Some((evaluator.alive(untyped::joined(&by_loops, &by_rows, place)), ty)))
    }

    /// The elements of the next reduction of the last level, whose own reductions are arrays before them: from an array of the terms
    /// before the results of these.
    fn elements(
        &self,
        numbered: Arc<Described>,
        levels: &[Vec<Type>],
        types: Vec<ScalarType>,
        place: Place,
    ) -> Outcome<Arc<Described>> {
        let evaluator = &self.evaluator;
        let (mut arrays, mut levels) = (vec![numbered], levels.to_vec());
        levels.push(Vec::new());
        while let Some((array, ty)) = self.next(&arrays, &levels)? {
            arrays.push(array);
            levels.iter_mut().last().into_iter().for_each(|own| own.push(ty.clone()));
        }
        let inputs: Vec<&Arc<Described>> = arrays.iter().collect();
        let value = |terms: &[Term]| {
            let values = self.evaluated(&levels, terms, None).map(|(values, _)| values);
            evaluator.keep(values, Vec::new).into_iter().skip(1).collect()
        };
        Ok(evaluator.alive(evaluator.kept(untyped::zipped(&inputs, value, types, place))?))
    }
}

/// Whether a function uses some of its parameters.
fn uses(function: &Function, parameters: Range<usize>) -> bool {
    function.nodes().iter().any(|node| match node {
        Node::Variable(Variable::Parameter(number), _) => parameters.contains(&(*number as usize)),
        _ => false,
    })
}

impl Evaluator {
    /// Rows for expressions, with the results of reductions that these compute for each of them.
    pub(super) fn staged<'a>(
        self: &Rc<Self>,
        rows: &Rows,
        span: Span,
        expressions: Vec<&'a Expr>,
    ) -> Outcome<Staged<'a>> {
        let own = self.row_types(rows, span)?.len();
        let (evaluator, mut rows) = (self.clone(), rows.clone());
        for expr in &expressions {
            self.materialise_inner(&mut rows, expr)?;
        }
        let row = self.row_types(&rows, span)?.len();
        let arrays = rows.array.iter().cloned().collect();
        let mut staged = Staged { evaluator, rows, results: Vec::new(), expressions, arrays, row, own, span };
        staged.reduce_all()?;
        Ok(staged)
    }

    /// Returns an array of the elements of several, side by side.
    fn zipped_all(&self, arrays: &[Arc<Described>], place: Place) -> Arc<Described> {
        let inputs: Vec<&Arc<Described>> = arrays.iter().collect();
        match inputs[..] {
            [only] => only.clone(),
            _ => {
                let types = inputs.iter().flat_map(|array| array.types().to_vec()).collect();
                self.alive(untyped::zipped(&inputs, <[Term]>::to_vec, types, place))
            }
        }
    }

    /// Returns the scalars of expressions, one after the other.
    pub(super) fn all_terms(
        self: &Rc<Self>,
        expressions: &[&Expr],
        environment: &Environment,
    ) -> Outcome<Vec<Term>> {
        let mut terms = Vec::new();
        for expr in expressions {
            terms.extend(self.stored_value(&self.evaluate(expr, environment)?, expr.span)?);
        }
        Ok(terms)
    }
}

/// Applies a function, which may read elements of arrays of this program, to these arguments.
fn applied(function: &Function, arguments: &[Term]) -> Vec<Term> {
    function.instantiate(
        &mut |variable, ty| match variable {
            Variable::Parameter(number) => {
                arguments.get(number as usize).copied().unwrap_or_else(|| Constant::zero(ty).into())
            }
            other => Term::variable(other, ty),
        },
        &mut |_, ty, _, _| Constant::zero(ty).into(),
        &mut Term::element,
    )
}
