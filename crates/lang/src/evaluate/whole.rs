//! Operations on whole arrays, outside of kernels and of functions on elements: each is one of the array language.

use super::builtins::Call;
use super::layout::{columns, from_terms};
use super::scalars::whole;
use super::value::{Array, Host, Value};
use super::{Evaluator, Outcome};
use crate::diagnostic::Diagnostic;
use crate::source::Span;
use crate::types::Type;
use pumice_array::operations::{
    Compute, Concat, Expand, Filter, Fold, Generate, Gives, Order, Permute, Product, Scan, Sort,
};
use pumice_array::{Acc, Described, Falls, checked_size, in_order};
use pumice_scalar::{Constant, Exp, Function, Op, ScalarType, Term};
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

impl Evaluator {
    /// The operator of a fold or scan.
    pub(super) fn operator(
        self: &Rc<Self>,
        ty: &Type,
        span: Span,
        operator: &dyn Fn(Value, Value) -> Outcome<Value>,
    ) -> Outcome<Function> {
        let types = columns(ty, self.sums()).ok_or_else(|| self.not_stored(ty, span))?;
        let both = [types.clone(), types].concat();
        self.element_function(&both, span, |terms| {
            let mut terms = terms.iter().copied();
            let mut next = || {
                from_terms(ty, self.sums(), false, &mut terms)
                    .ok_or_else(|| self.wrong(span, "an element of no type"))
            };
            let (a, b) = (next()?, next()?);
            operator(a, b)
        })
    }

    /// A fold of rows: the result has so many dimensions.
    pub(super) fn fold(
        self: &Rc<Self>,
        name: &str,
        array: &Array,
        initial: Option<&Value>,
        ty: &Type,
        (rank, span): (usize, Span),
        operator: &dyn Fn(Value, Value) -> Outcome<Value>,
    ) -> Outcome<Array> {
        let operator = self.operator(ty, span, operator)?;
        let initial = initial.map(|initial| self.stored(initial, span)).transpose()?;
        let initial = initial.map(|terms| self.constant_function(terms));
        let input = self.described(array, span)?;
        match self.operation(name, Fold { operator, initial }, vec![input], (ty, rank), span)? {
            Value::Array(array) => Ok(array),
            _ => Err(self.wrong(span, "a fold of nothing")),
        }
    }

    /// The scalars of a value that can be stored.
    fn stored(&self, value: &Value, span: Span) -> Outcome<Vec<Term>> {
        value.terms().ok_or_else(|| self.wrong(span, "this cannot be stored in an array"))
    }

    /// Operations on whole arrays, outside of everything.
    pub(super) fn whole_array(self: &Rc<Self>, call: Call) -> Outcome<Value> {
        let (span, name, arguments) = (call.span, call.name, &call.arguments);
        let (element, rank) = self.element_type(&call)?;
        let array = |number: usize| self.array(&arguments[number], span);
        let described = |number: usize| self.described(array(number)?, span);
        let types = |ty: &Type| columns(ty, self.sums()).ok_or_else(|| self.not_stored(ty, span));
        let value = |ty: &Type, terms: &mut dyn Iterator<Item = Term>| {
            from_terms(ty, self.sums(), false, terms).ok_or_else(|| self.wrong(span, "an element of no type"))
        };
        // A function of one element of an argument.
        let of_element = |number: usize, function: &Value| {
            let from = array(number)?.element().clone();
            self.element_function(&types(&from)?, span, |terms| {
                self.apply(function, value(&from, &mut terms.iter().copied())?, span)
            })
        };
        let applied = |function: &Value| {
            let function = function.clone();
            move |a: Value, b: Value| self.apply_all(&function, &[a, b], span)
        };
        match name {
            "scan" | "prescan" => {
                let operator = self.operator(&element, span, &applied(&arguments[0]))?;
                let initial = Some(self.constant_function(self.stored(&arguments[1], span)?));
                let gives = if name == "scan" { Gives::Inclusive } else { Gives::Extended };
                let scan = Scan { operator, initial, gives, from_right: false };
                self.operation(name, scan, vec![described(2)?], (&element, rank), span)
            }
            "reduceRows" => {
                let operator = applied(&arguments[0]);
                let folded =
                    self.fold(name, array(2)?, Some(&arguments[1]), &element, (rank, span), &operator)?;
                Ok(Value::Array(folded))
            }
            "filter" => {
                let keep = of_element(1, &arguments[0])?;
                self.operation(name, Filter { keep }, vec![described(1)?], (&element, rank), span)
            }
            "sort" => {
                let keys = self.function_of(&types(&element)?, |terms| {
                    Ok(terms.iter().map(|term| in_order(*term, Falls(false))).collect())
                })?;
                self.operation(
                    name,
                    Sort { order: Order::Keys(keys) },
                    vec![described(0)?],
                    (&element, rank),
                    span,
                )
            }
            "sortByKey" => {
                let keys = self.function_of(&types(&element)?, |terms| {
                    let key =
                        self.apply(&arguments[0], value(&element, &mut terms.iter().copied())?, span)?;
                    Ok(self
                        .stored(&key, span)?
                        .into_iter()
                        .map(|term| in_order(term, Falls(false)))
                        .collect())
                })?;
                self.operation(
                    name,
                    Sort { order: Order::Keys(keys) },
                    vec![described(1)?],
                    (&element, rank),
                    span,
                )
            }
            "matmul" => {
                let operator = |op: Op| {
                    self.operator(&element, span, &move |a, b| {
                        let (a, b) = (self.scalar(&a, span)?, self.scalar(&b, span)?);
                        Ok(self.operate(op, a.term.ty(), &[a, b]))
                    })
                };
                let initial = self.constant_function(self.stored(&self.zero(&element), span)?);
                let product = Product { multiply: operator(Op::Mul)?, add: operator(Op::Add)?, initial };
                self.operation(name, product, vec![described(0)?, described(1)?], (&element, rank), span)
            }
            "permute" | "scatter" | "histogram" => self.combined(&call, &element, rank),
            "expand" => {
                let from = array(2)?.element().clone();
                let place = self.place(name, span);
                let size = self.function_of(&types(&from)?, |terms| {
                    let size = self.apply(&arguments[0], value(&from, &mut terms.iter().copied())?, span)?;
                    let size = self.scalar(&size, span)?.term;
                    Ok(vec![checked_size(Exp::from_term(size), place).term()])
                })?;
                let with_number = [types(&from)?, vec![ScalarType::I64]].concat();
                let get = self.element_function(&with_number, span, |terms| {
                    let mut terms = terms.iter().copied();
                    let source = value(&from, &mut terms)?;
                    let number = Value::scalar(terms.next().unwrap_or(whole(0)), false);
                    self.apply_all(&arguments[1], &[source, number], span)
                })?;
                self.operation(name, Expand { size, get }, vec![described(2)?], (&element, rank), span)
            }
            "append" => {
                let parts = vec![described(0)?, described(1)?];
                self.operation(name, Concat { dimension: 0 }, parts, (&element, rank), span)
            }
            "compute" => self.operation(name, Compute, vec![described(0)?], (&element, rank), span),
            "iterate" | "iterateWhile" => self.iterated(&call, &element),
            other => Err(self.wrong(span, format!("`{other}` has a type and no meaning yet"))),
        }
    }

    /// Combinations at an index: of values that come with one.
    fn combined(self: &Rc<Self>, call: &Call, element: &Type, rank: usize) -> Outcome<Value> {
        let (span, name, arguments) = (call.span, call.name, &call.arguments);
        let types = columns(element, self.sums()).ok_or_else(|| self.not_stored(element, span))?;
        let always = Term::from(Constant::from(true));
        let (defaults, source, operator): (Arc<Described>, &Value, _) = match name {
            "permute" => {
                let f = arguments[0].clone();
                let operator =
                    self.operator(element, span, &move |a, b| self.apply_all(&f, &[a, b], span))?;
                (self.described(self.array(&arguments[1], span)?, span)?, &arguments[2], operator)
            }
            "scatter" => {
                let operator = self.operator(element, span, &|new, _| Ok(new))?;
                (self.described(self.array(&arguments[0], span)?, span)?, &arguments[1], operator)
            }
            _ => {
                let operator = self.operator(element, span, &|a, b| {
                    let (a, b) = (self.scalar(&a, span)?, self.scalar(&b, span)?);
                    Ok(self.operate(Op::Add, a.term.ty(), &[a, b]))
                })?;
                let bins = self.scalar(&arguments[0], span)?;
                let shape = self.constant_function(vec![bins.term]);
                let zero = self.element_function(&[ScalarType::I64], span, |_| Ok(self.zero(element)))?;
                let zeros = Generate { shape, element: zero };
                let zeros = Described::new(zeros, Vec::new(), 1, types.clone(), self.place(name, span));
                (zeros, &arguments[1], operator)
            }
        };
        let source = self.described(self.array(source, span)?, span)?;
        // The index of the element, then its scalars: the target, and what is combined there.
        let parameters = [vec![ScalarType::I64], source.types().to_vec()].concat();
        let counts = name == "histogram";
        let target = self.function_of(&parameters, |terms| {
            let one: Term = Constant::from(1i64).into();
            Ok(match counts {
                true => vec![always, terms[1], one],
                false => [&[always], &terms[1..]].concat(),
            })
        })?;
        let permute = Permute { rank: 1, combine: operator, target };
        self.operation(name, permute, vec![defaults, source], (element, rank), span)
    }

    /// Loops over arrays.
    fn iterated(self: &Rc<Self>, call: &Call, element: &Type) -> Outcome<Value> {
        let (span, arguments) = (call.span, &call.arguments);
        let initial = self.described(self.array(&arguments[2], span)?, span)?;
        let failure: RefCell<Option<Box<Diagnostic>>> = RefCell::default();
        let state = |arrays: &[Arc<Described>]| {
            Value::Array(Array::Host(Rc::new(Host::given(element.clone(), arrays[0].clone()))))
        };
        let keep = |outcome: Outcome<Arc<Described>>, like: &Arc<Described>| {
            outcome.unwrap_or_else(|diagnostic| {
                failure.borrow_mut().get_or_insert(diagnostic);
                like.clone()
            })
        };
        let next = |arrays: Vec<Arc<Described>>| {
            let next = self.apply(&arguments[1], state(&arrays), span);
            let next = next.and_then(|next| self.described(self.array(&next, span)?, span));
            vec![keep(next, &arrays[0])]
        };
        let last = match call.name {
            "iterate" => {
                let rounds = Exp::<i64>::from_term(self.scalar(&arguments[0], span)?.term);
                pumice_array::iterate_at(self.place(call.name, span), rounds, vec![initial], next)
            }
            _ => {
                let condition = |arrays: Vec<Arc<Described>>| {
                    let holds = self.apply(&arguments[0], state(&arrays), span);
                    let holds =
                        holds.and_then(|holds| Ok(self.unit(&[self.scalar(&holds, span)?.term], span)));
                    let never = self.unit(&[Constant::from(false).into()], span);
                    Acc::from_described(keep(holds, &never))
                };
                pumice_array::awhile_at(self.place(call.name, span), vec![initial], condition, next)
            }
        };
        if let Some(diagnostic) = failure.into_inner() {
            return Err(diagnostic);
        }
        Ok(state(&last))
    }
}
