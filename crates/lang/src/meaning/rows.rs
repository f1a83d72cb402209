//! Comprehensions (rules 76 to 82): lists of rows, where a row binds the names so far. The result is a pull array
//! whose elements are the head in each row, not evaluated.

use super::pulls::whole;
use super::value::{Elements, Environment, Meaning, Pull, Shape, Value};
use super::{Evaluator, Outcome};
use crate::ast::{Drawn, Expr, ExprKind, Pattern, PatternKind, Qualifier};
use crate::source::Span;
use pumice_scalar::{Constant, Op};
use std::cmp::Ordering;
use std::rc::Rc;

/// The source of one name's values.
enum Drawing<'p> {
    Array(Rc<Pull<'p>>),
    From(Constant),
}

/// The rows so far.
struct Rows<'p> {
    /// The environment outside of the comprehension.
    outside: Environment<'p>,
    rows: Vec<Environment<'p>>,
    /// Whether anything is drawn so far.
    drawn: bool,
    /// The spans of the names that are bound so far.
    bound: Vec<Span>,
}

impl<'p> Evaluator<'p> {
    /// Evaluates `[ head | qualifiers ]`.
    pub(super) fn comprehension(
        &self,
        head: &'p Expr,
        qualifiers: &'p [Qualifier],
        environment: &Environment<'p>,
        span: Span,
    ) -> Outcome<Value<'p>> {
        let mut rows = Rows {
            outside: environment.clone(),
            rows: vec![environment.clone()],
            drawn: false,
            bound: Vec::new(),
        };
        let mut distinct = false;
        for qualifier in qualifiers {
            distinct |= matches!(qualifier, Qualifier::Distinct(_));
            self.qualify(&mut rows, qualifier, span)?;
        }
        let rows = rows.rows;
        let depth = rows.iter().map(Environment::depth).max().unwrap_or(0);
        let (shape, elements) = (Shape::vector(rows.len()), Elements::Comprehended(head, rows));
        let array = self.made(shape, elements, depth, span)?;
        if !distinct {
            return Ok(array);
        }
        let mut values = self.all(&self.pull(&array, span)?, span)?;
        self.charge_sort(values.len(), span);
        values.sort_by(|a, b| self.order(a, b, false));
        values.dedup_by(|a, b| self.order(a, b, false) == Ordering::Equal);
        let shape = Shape::vector(values.len());
        self.stored(values, shape, span)
    }

    /// Does something for each row; before anything is drawn there is one, which is outside.
    fn each_row<T>(
        &self,
        rows: &Rows<'p>,
        mut f: impl FnMut(&Environment<'p>) -> Outcome<T>,
    ) -> Outcome<Vec<T>> {
        match (rows.drawn, &rows.rows[..]) {
            (false, [row]) => Ok(vec![f(row)?]),
            (_, all) => self.each(all.len(), |number| f(&all[number])),
        }
    }

    fn qualify(&self, rows: &mut Rows<'p>, qualifier: &'p Qualifier, span: Span) -> Outcome<()> {
        let count = rows.rows.len();
        match qualifier {
            Qualifier::Draw(draws) => self.draw(rows, draws, span),
            Qualifier::Guard(condition) => {
                let holds = self.each_row(rows, |row| {
                    let holds = self.evaluate(condition, row)?;
                    Ok(self.scalar(&holds, condition.span)?.is_true())
                })?;
                self.charge_scan(count, condition.span);
                let mut holds = holds.into_iter();
                rows.rows.retain(|_| holds.next().unwrap_or(false));
                Ok(())
            }
            Qualifier::Let(pattern, value) => {
                rows.rows = self.each_row(rows, |row| {
                    let value = self.evaluate(value, row)?;
                    self.matched(pattern, &value, row.clone())
                })?;
                names_of(pattern, &mut rows.bound);
                Ok(())
            }
            Qualifier::OrderBy(keys) => {
                let found = self.each_row(rows, |row| {
                    keys.iter().map(|(key, _)| self.evaluate(key, row)).collect::<Outcome<Vec<_>>>()
                })?;
                self.charge_sort(count, span);
                let mut keyed: Vec<_> = found.into_iter().zip(std::mem::take(&mut rows.rows)).collect();
                keyed.sort_by(|(a, _), (b, _)| {
                    let orders = keys.iter().zip(a.iter().zip(b));
                    let mut orders = orders.map(|((_, falls), (a, b))| self.order(a, b, *falls));
                    orders.find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
                });
                rows.rows = keyed.into_iter().map(|(_, row)| row).collect();
                Ok(())
            }
            Qualifier::Take(number) => {
                let most = self.integer(&self.evaluate(number, &rows.outside)?, number.span)?;
                rows.rows.truncate(usize::try_from(most).unwrap_or(0));
                Ok(())
            }
            Qualifier::GroupBy(key) => self.group(rows, key),
            Qualifier::Distinct(_) => Ok(()),
        }
    }

    /// Draws for each row: all combinations of a row and an element that is drawn in it, in order.
    fn draw(&self, rows: &mut Rows<'p>, draws: &'p [(Pattern, Drawn)], span: Span) -> Outcome<()> {
        let drawn = self.each_row(rows, |row| self.drawn(draws, row))?;
        if std::mem::replace(&mut rows.drawn, true) {
            self.charge_scan(rows.rows.len(), span);
        }
        let total = drawn.iter().fold(0usize, |total, (count, _)| total.saturating_add(*count));
        self.memory(total, span)?;
        let numbers: Vec<(usize, usize)> = drawn
            .iter()
            .enumerate()
            .flat_map(|(row, (count, _))| (0..*count).map(move |number| (row, number)))
            .collect();
        rows.rows = self.each(numbers.len(), |at| {
            let (row, number) = numbers[at];
            let (_, drawings) = &drawn[row];
            let mut parts = draws.iter().zip(drawings);
            parts.try_fold(rows.rows[row].clone(), |environment, ((pattern, _), drawing)| {
                let value = match drawing {
                    Drawing::Array(pull) => self.element(pull, number, pattern.span)?,
                    Drawing::From(from) => {
                        let number = self.scalar(&whole(number), span)?;
                        Value::Scalar(self.operate(Op::Add, &[*from, number], pattern.span))
                    }
                };
                self.matched(pattern, &value, environment)
            })
        })?;
        draws.iter().for_each(|(pattern, _)| names_of(pattern, &mut rows.bound));
        Ok(())
    }

    /// Evaluates the sources in a row, and returns them with the number of elements: as many as the shortest has.
    fn drawn(
        &self,
        draws: &'p [(Pattern, Drawn)],
        row: &Environment<'p>,
    ) -> Outcome<(usize, Vec<Drawing<'p>>)> {
        let (mut least, mut drawings) = (usize::MAX, Vec::new());
        for (_, drawn) in draws {
            let (count, drawing) = match drawn {
                Drawn::Array(array) => {
                    let pull = self.pull(&self.evaluate(array, row)?, array.span)?;
                    (pull.shape.extents[0], Drawing::Array(pull))
                }
                Drawn::Range(from, to) => {
                    let (first, behind) = (self.evaluate(from, row)?, self.evaluate(to, row)?);
                    let (a, b) = (self.integer(&first, from.span)?, self.integer(&behind, to.span)?);
                    let count = usize::try_from(b.wrapping_sub(a)).unwrap_or(0);
                    (count, Drawing::From(self.scalar(&first, from.span)?))
                }
            };
            least = least.min(count);
            drawings.push(drawing);
        }
        Ok((least, drawings))
    }

    /// `group by`: one row for all with equal keys, in the order of keys. Names that are the key keep their value, others are arrays.
    fn group(&self, rows: &mut Rows<'p>, key: &'p Expr) -> Outcome<()> {
        let count = rows.rows.len();
        let keys = self.each_row(rows, |row| self.evaluate(key, row))?;
        self.charge_sort(count, key.span);
        let mut keyed: Vec<_> = keys.into_iter().zip(std::mem::take(&mut rows.rows)).collect();
        keyed.sort_by(|(a, _), (b, _)| self.order(a, b, false));
        let mut key_names = Vec::new();
        self.key_names(key, &mut key_names);
        for group in keyed.chunk_by(|(a, _), (b, _)| self.order(a, b, false) == Ordering::Equal) {
            let mut environment = rows.outside.clone();
            for place in &rows.bound {
                let of_row = |(_, row): &(Value<'p>, Environment<'p>)| match row.get(*place) {
                    Some(Meaning::Value(_, value)) => Ok(value.clone()),
                    _ => Err(self.fault(*place, "a name of no value")),
                };
                let mut values = group.iter().map(of_row);
                let value = match key_names.contains(place) {
                    true => values.next().unwrap_or_else(|| Err(self.fault(*place, "a group of none")))?,
                    false => {
                        let values = values.collect::<Outcome<Vec<_>>>()?;
                        let shape = Shape::vector(values.len());
                        self.stored(values, shape, key.span)?
                    }
                };
                environment = environment.with(Meaning::Value(*place, value));
            }
            rows.rows.push(environment);
        }
        Ok(())
    }

    /// Collects the spans of the names that a key is made of, if it is a name or a tuple of names.
    fn key_names(&self, key: &Expr, names: &mut Vec<Span>) {
        match &key.kind {
            ExprKind::Name(_) => names.extend(self.checked.binding(key.id)),
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
            parts.iter().for_each(|part| names_of(part, names));
        }
        PatternKind::Record(fields) => fields.iter().for_each(|(_, field)| names_of(field, names)),
        PatternKind::Error | PatternKind::Any | PatternKind::Integer(_) | PatternKind::Bool(_) => {}
    }
}
