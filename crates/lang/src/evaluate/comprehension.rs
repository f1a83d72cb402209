//! Comprehensions. Outside they are operations on arrays of rows, a row being what the variables so far stand for: drawing expands
//! each row, a condition filters them, `order by` sorts them. Inside a function on elements or a kernel they are loops of one thread, and
//! what they give can only be folded.

use super::environment::{Definition, Environment, Meaning};
use super::layout::{columns, from_terms};
use super::scalars::whole;
use super::value::{Array, Host, Local, Scalar, Stream, Value};
use super::{Evaluator, Mode, Outcome};
use crate::ast::{Drawn, Expr, Pattern, PatternKind, Qualifier};
use crate::diagnostic::Diagnostic;
use crate::source::Span;
use crate::types::Type;
use pumice_array::operations::{Expand, Filter, Generate, Order, Reshape, Sort, ZipWith};
use pumice_array::{Described, Falls, checked_size, in_order, is_fixed};
use pumice_scalar::{Constant, Exp, Function, Op, ScalarType, Term, Variable};
use std::rc::Rc;
use std::sync::Arc;

/// Rows: what is bound so far.
struct Rows {
    /// The array of rows; without one there is one row, of nothing.
    array: Option<Arc<Described>>,
    /// What a row is made of.
    parts: Vec<(Pattern, Type)>,
    /// The names that are the same in every row, or are computed where they are used.
    environment: Environment,
}

impl Evaluator {
    /// `[ element | qualifiers ]`.
    pub(super) fn comprehension(
        self: &Rc<Self>,
        element: &Expr,
        qualifiers: &[Qualifier],
        ty: &Type,
        environment: &Environment,
        span: Span,
    ) -> Outcome<Value> {
        let Type::Array { element: element_type, .. } = ty else {
            return Err(self.wrong(span, "a comprehension of no type"));
        };
        if self.mode.get() != Mode::Host {
            return self.stream(element, qualifiers, element_type, environment, span);
        }
        let mut rows = Rows { array: None, parts: Vec::new(), environment: environment.clone() };
        for qualifier in qualifiers {
            self.qualify(&mut rows, qualifier, span)?;
        }
        let function =
            self.of_row(&rows, span, |row| self.stored_value(&self.evaluate(element, row)?, element.span))?;
        let types = columns(element_type, self.sums()).ok_or_else(|| self.not_stored(element_type, span))?;
        let place = self.place("comprehension", span);
        let described = match &rows.array {
            Some(array) => Described::new(ZipWith { function }, vec![array.clone()], 1, types, place),
            None => {
                let one = self.constant_function(vec![whole(1)]);
                let element = self.function_of(&[ScalarType::I64], |_| Ok(function.apply(&[])))?;
                Described::new(Generate { shape: one, element }, Vec::new(), 1, types, place)
            }
        };
        Ok(Value::Array(Array::Host(Rc::new(Host::given((**element_type).clone(), self.alive(described))))))
    }

    fn stored_value(&self, value: &Value, span: Span) -> Outcome<Vec<Term>> {
        value.terms().ok_or_else(|| {
            let message = "what a comprehension gives cannot be stored in an array";
            let help = "its elements are numbers, and tuples, records and sums of them; fold inner arrays, or draw from them";
            Box::new(Diagnostic::new(span, message).help(help))
        })
    }

    /// The types of a row's scalars.
    fn row_types(&self, rows: &Rows, span: Span) -> Outcome<Vec<ScalarType>> {
        let part =
            |(_, ty): &(Pattern, Type)| columns(ty, self.sums()).ok_or_else(|| self.not_stored(ty, span));
        Ok(rows.parts.iter().map(part).collect::<Outcome<Vec<_>>>()?.concat())
    }

    /// What names mean in a row.
    fn row(&self, rows: &Rows, terms: &mut dyn Iterator<Item = Term>, span: Span) -> Outcome<Environment> {
        rows.parts.iter().try_fold(rows.environment.clone(), |environment, (pattern, ty)| {
            let value = from_terms(ty, self.sums(), false, terms)
                .ok_or_else(|| self.wrong(span, "a row of no type"))?;
            self.matched(pattern, &value, environment)
        })
    }

    /// A function of a row.
    fn of_row(
        self: &Rc<Self>,
        rows: &Rows,
        span: Span,
        f: impl FnOnce(&Environment) -> Outcome<Vec<Term>>,
    ) -> Outcome<Function> {
        self.function_of(&self.row_types(rows, span)?, |terms| {
            f(&self.row(rows, &mut terms.iter().copied(), span)?)
        })
    }

    /// The array of rows; where there was none yet, one row.
    fn rows_described(&self, rows: &Rows, span: Span) -> Arc<Described> {
        rows.array.clone().unwrap_or_else(|| {
            let shape = self.constant_function(vec![whole(1)]);
            let element = pumice_scalar::function(&[ScalarType::I64], |_| Vec::new());
            Described::new(
                Generate { shape, element },
                Vec::new(),
                1,
                Vec::new(),
                self.place("comprehension", span),
            )
        })
    }

    fn qualify(self: &Rc<Self>, rows: &mut Rows, qualifier: &Qualifier, span: Span) -> Outcome<()> {
        match qualifier {
            Qualifier::Draw(draws) => self.draw(rows, draws, span),
            Qualifier::Guard(condition) => {
                let keep = self.of_row(rows, span, |row| {
                    self.stored_value(&self.evaluate(condition, row)?, condition.span)
                })?;
                let (input, types) = (self.rows_described(rows, span), self.row_types(rows, span)?);
                let place = self.place("condition", condition.span);
                rows.array = Some(self.alive(Described::new(Filter { keep }, vec![input], 1, types, place)));
                Ok(())
            }
            Qualifier::Let(pattern, value) => self.let_in_rows(rows, pattern, value),
            Qualifier::OrderBy(keys) => {
                let function = self.of_row(rows, span, |row| {
                    let mut terms = Vec::new();
                    for (key, falls) in keys {
                        let key = self.stored_value(&self.evaluate(key, row)?, key.span)?;
                        terms.extend(key.into_iter().map(|term| in_order(term, Falls(*falls))));
                    }
                    Ok(terms)
                })?;
                let (input, types) = (self.rows_described(rows, span), self.row_types(rows, span)?);
                let sort = Sort { order: Order::Keys(function) };
                rows.array = Some(self.alive(Described::new(
                    sort,
                    vec![input],
                    1,
                    types,
                    self.place("order_by", span),
                )));
                Ok(())
            }
            Qualifier::Take(count) => {
                let number = self.evaluate(count, &rows.environment)?;
                let number = self.scalar(&number, count.span)?.term;
                let (input, types) = (self.rows_described(rows, span), self.row_types(rows, span)?);
                let all = input.extent(0);
                let fewer = whole(0).binary(Op::Max, number).binary(Op::Min, all);
                let shape = self.constant_function(vec![fewer]);
                let element = self.function_of(&[ScalarType::I64], |index| Ok(input.element(index, None)))?;
                let place = self.place("take", count.span);
                rows.array = Some(self.alive(Described::new(
                    Generate { shape, element },
                    Vec::new(),
                    1,
                    types,
                    place,
                )));
                Ok(())
            }
            Qualifier::GroupBy(key) => Err(self.not_yet("group by", key.span)),
            Qualifier::Distinct(span) => Err(self.not_yet("distinct", *span)),
        }
    }

    fn not_yet(&self, what: &str, span: Span) -> Box<Diagnostic> {
        let help = "`comp!` in Rust has it; here, sort and combine with `permute` or `histogram`";
        Box::new(Diagnostic::new(span, format!("`{what}` cannot be run in this language yet")).help(help))
    }

    /// A name for something in every row. What cannot be stored is computed where it is used.
    fn let_in_rows(self: &Rc<Self>, rows: &mut Rows, pattern: &Pattern, value: &Expr) -> Outcome<()> {
        let ty = rows.environment.resolve(&self.checked.type_of(value.id));
        if columns(&ty, self.sums()).is_none() || rows.array.is_none() {
            let PatternKind::Name(name) = &pattern.kind else {
                return Err(self.wrong(pattern.span, "an array in a comprehension needs a name"));
            };
            let definition = Definition {
                own_name: None,
                parameters: Rc::from([]),
                body: self.body(value),
                environment: rows.environment.clone(),
            };
            rows.environment = rows.environment.with(name, Meaning::Definition(Rc::new(definition)));
            return Ok(());
        }
        let function = self.function_of(&self.row_types(rows, value.span)?, |terms| {
            let row = self.row(rows, &mut terms.iter().copied(), value.span)?;
            let new = self.stored_value(&self.evaluate(value, &row)?, value.span)?;
            Ok(terms.iter().copied().chain(new).collect())
        })?;
        let input = self.rows_described(rows, value.span);
        rows.parts.push((pattern.clone(), ty));
        let (types, place) = (self.row_types(rows, value.span)?, self.place("let", value.span));
        rows.array = Some(self.alive(Described::new(ZipWith { function }, vec![input], 1, types, place)));
        Ok(())
    }

    /// What one or several variables are drawn from, in a row: how many there are, and the elements by number.
    fn drawn(
        self: &Rc<Self>,
        draws: &[(Pattern, Drawn)],
        environment: &Environment,
        span: Span,
    ) -> Outcome<Vec<(Scalar, Drawing)>> {
        let one = |(_, drawn): &(Pattern, Drawn)| match drawn {
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
        };
        draws.iter().map(one).collect()
    }

    fn element_of(self: &Rc<Self>, drawing: &Drawing, number: Term) -> Outcome<Value> {
        match drawing {
            Drawing::Array(array, span) => self.get(array, &[number], None, *span),
            Drawing::From(from) => Ok(Value::scalar(from.binary(Op::Add, number), false)),
        }
    }

    /// As many as all of them have, if they are drawn from in step.
    fn in_step(&self, drawn: &[(Scalar, Drawing)]) -> Term {
        drawn.iter().map(|(length, _)| length.term).reduce(|a, b| a.binary(Op::Min, b)).unwrap_or(whole(0))
    }

    /// The types of what is drawn.
    fn drawn_types(
        &self,
        draws: &[(Pattern, Drawn)],
        environment: &Environment,
        span: Span,
    ) -> Outcome<Vec<Type>> {
        let one = |(_, drawn): &(Pattern, Drawn)| match drawn {
            Drawn::Array(expr) => match environment.resolve(&self.checked.type_of(expr.id)) {
                Type::Array { element, .. } => Ok(*element),
                _ => Err(self.wrong(span, "an array is wanted here")),
            },
            Drawn::Range(..) => Ok(Type::Scalar(ScalarType::I64)),
        };
        draws.iter().map(one).collect()
    }

    fn draw(self: &Rc<Self>, rows: &mut Rows, draws: &[(Pattern, Drawn)], span: Span) -> Outcome<()> {
        let types = self.drawn_types(draws, &rows.environment, span)?;
        let place = self.place("draw", span);
        let new_parts = draws.iter().map(|(pattern, _)| pattern.clone()).zip(types);
        if rows.array.is_none() {
            // The first ones: a pull.
            let drawn = self.drawn(draws, &rows.environment, span)?;
            let shape = self.constant_function(vec![self.in_step(&drawn)]);
            let element = self.function_of(&[ScalarType::I64], |index| {
                let elements = drawn
                    .iter()
                    .map(|(_, drawing)| self.stored_value(&self.element_of(drawing, index[0])?, span));
                Ok(elements.collect::<Outcome<Vec<_>>>()?.concat())
            })?;
            rows.parts.extend(new_parts);
            let types = self.row_types(rows, span)?;
            rows.array =
                Some(self.alive(Described::new(Generate { shape, element }, Vec::new(), 1, types, place)));
            return Ok(());
        }
        let input = self.rows_described(rows, span);
        let size = self.of_row(rows, span, |row| Ok(vec![self.in_step(&self.drawn(draws, row, span)?)]))?;
        let row_types = self.row_types(rows, span)?;
        let with_number = [row_types.clone(), vec![ScalarType::I64]].concat();
        let get = self.function_of(&with_number, |terms| {
            let (row_terms, number) = terms.split_at(row_types.len());
            let row = self.row(rows, &mut row_terms.iter().copied(), span)?;
            let mut all = row_terms.to_vec();
            for (_, drawing) in self.drawn(draws, &row, span)? {
                all.extend(self.stored_value(&self.element_of(&drawing, number[0])?, span)?);
            }
            Ok(all)
        })?;
        rows.parts.extend(new_parts);
        let types = self.row_types(rows, span)?;
        let expanded = match is_fixed(&size) {
            false => {
                let size = self.function_of(&row_types, |row| {
                    let size = applied(&size, row).first().copied().unwrap_or(whole(0));
                    Ok(vec![checked_size(Exp::from_term(size), place).term()])
                })?;
                Described::new(Expand { size, get }, vec![input], 1, types, place)
            }
            // As many of each: a matrix, whose rows are one after the other.
            true => {
                let count = size.apply(&zeros(&row_types));
                let extents = vec![input.extent(0), count[0]];
                let all = extents[0].binary(Op::Mul, extents[1]);
                let element = self.function_of(&[ScalarType::I64, ScalarType::I64], |index| {
                    let arguments: Vec<Term> =
                        input.element(&index[..1], None).into_iter().chain([index[1]]).collect();
                    Ok(applied(&get, &arguments))
                })?;
                let matrix = Generate { shape: self.constant_function(extents), element };
                let matrix = self.alive(Described::new(matrix, Vec::new(), 2, types.clone(), place));
                Described::new(
                    Reshape { shape: self.constant_function(vec![all]) },
                    vec![matrix],
                    1,
                    types,
                    place,
                )
            }
        };
        rows.array = Some(self.alive(expanded));
        Ok(())
    }

    /// A comprehension inside of something else: a pull if it only draws once, and otherwise loops that can be folded.
    fn stream(
        self: &Rc<Self>,
        element: &Expr,
        qualifiers: &[Qualifier],
        ty: &Type,
        environment: &Environment,
        span: Span,
    ) -> Outcome<Value> {
        let element = self.body(element);
        let qualifiers: Rc<[Qualifier]> = qualifiers.into();
        if let [Qualifier::Draw(draws)] = &qualifiers[..] {
            let drawn = self.drawn(draws, environment, span)?;
            let length = self.in_step(&drawn);
            let (this, environment, draws) = (self.clone(), environment.clone(), draws.clone());
            let get = Rc::new(move |index: &[Term]| {
                let number = index.first().copied().unwrap_or(whole(0));
                let inner = this.bound(&draws, &drawn, number, environment.clone())?;
                this.evaluate(&element, &inner)
            });
            return self.pull(Local { element: ty.clone(), extents: vec![length], get }, span);
        }
        let (this, environment) = (self.clone(), environment.clone());
        let fold =
            Rc::new(move |initial: Value, of: &Type, step: &dyn Fn(Value, Value) -> Outcome<Value>| {
                this.looped(&element, &qualifiers, &environment, span, initial, of, step)
            });
        Ok(Value::Array(Array::Stream(Rc::new(Stream { element: ty.clone(), fold }))))
    }

    fn bound(
        self: &Rc<Self>,
        draws: &[(Pattern, Drawn)],
        drawn: &[(Scalar, Drawing)],
        number: Term,
        environment: Environment,
    ) -> Outcome<Environment> {
        draws.iter().zip(drawn).try_fold(environment, |environment, ((pattern, _), (_, drawing))| {
            self.matched(pattern, &self.element_of(drawing, number)?, environment)
        })
    }

    /// The loops of a comprehension, with what is carried through them.
    #[allow(clippy::too_many_arguments)]
    fn looped(
        self: &Rc<Self>,
        element: &Expr,
        qualifiers: &[Qualifier],
        environment: &Environment,
        span: Span,
        carried: Value,
        ty: &Type,
        step: &dyn Fn(Value, Value) -> Outcome<Value>,
    ) -> Outcome<Value> {
        let Some((qualifier, rest)) = qualifiers.split_first() else {
            return step(carried, self.evaluate(element, environment)?);
        };
        match qualifier {
            Qualifier::Draw(draws) => {
                let drawn = self.drawn(draws, environment, span)?;
                self.loop_times(self.in_step(&drawn), carried, ty, span, &|number, carried| {
                    let inner = self.bound(draws, &drawn, number, environment.clone())?;
                    self.looped(element, rest, &inner, span, carried, ty, step)
                })
            }
            Qualifier::Guard(condition) => {
                let holds = self.evaluate(condition, environment)?;
                let holds = self.scalar(&holds, condition.span)?;
                let yes = || self.looped(element, rest, environment, span, carried.clone(), ty, step);
                self.choose(holds, ty, &yes, &|| Ok(carried.clone()), span)
            }
            Qualifier::Let(pattern, value) => {
                let value = self.evaluate(value, environment)?;
                let inner = self.matched(pattern, &value, environment.clone())?;
                self.looped(element, rest, &inner, span, carried, ty, step)
            }
            Qualifier::OrderBy(_) | Qualifier::GroupBy(_) | Qualifier::Take(_) | Qualifier::Distinct(_) => {
                let message = "an inner comprehension can draw, test and name; sorting and the like need the whole array";
                Err(self.wrong(span, message))
            }
        }
    }

    /// How many elements a stream has.
    pub(super) fn count(&self, stream: &Stream) -> Outcome<Value> {
        let ty = Type::Scalar(ScalarType::I64);
        (stream.fold)(Value::scalar(whole(0), true), &ty, &|count, _| match count {
            Value::Scalar(count) => Ok(Value::scalar(count.term.binary(Op::Add, whole(1)), count.outside)),
            other => Ok(other),
        })
    }
}

/// What a variable is drawn from.
enum Drawing {
    /// The elements of an array.
    Array(Array, Span),
    /// The numbers from this one on.
    From(Term),
}

fn zeros(types: &[ScalarType]) -> Vec<Term> {
    types.iter().map(|ty| Constant::zero(*ty).into()).collect()
}

/// A function on these arguments, which may read elements of arrays of this program.
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
