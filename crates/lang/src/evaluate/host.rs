//! Arrays outside of kernels and of functions on elements: descriptions of the array language.

use super::comprehension::RAGGED;
use super::layout::{columns, from_terms};
use super::scalars::whole;
use super::table::without_rank;
use super::value::{Array, Host, LIST, Local, Made, Scalar, Value};
use super::{Evaluator, Mode, Outcome};
use crate::diagnostic::Diagnostic;
use crate::source::Span;
use crate::types::Type;
use pumice_array::operations::{Generate, Reshape, Use, View, ZipWith};
use pumice_array::{Described, HostData, Operation, building, part_within};
use pumice_scalar::{Constant, Exp, FailureKind, Function, Op, Place, ScalarType, Site, Term, function};
use std::rc::Rc;
use std::sync::Arc;

impl Evaluator {
    /// Builds a function of the array language from scalars of these types to values.
    pub(super) fn element_function(
        self: &Rc<Self>,
        types: &[ScalarType],
        span: Span,
        f: impl FnOnce(&[Term]) -> Outcome<Value>,
    ) -> Outcome<Function> {
        self.function_of(types, |terms| {
            f(terms)?
                .terms()
                .ok_or_else(|| self.wrong(span, "what this function gives cannot be stored in an array"))
        })
    }

    /// Builds a function as [`Evaluator::element_function`] does, from the scalars of its result.
    pub(super) fn function_of(
        self: &Rc<Self>,
        types: &[ScalarType],
        f: impl FnOnce(&[Term]) -> Outcome<Vec<Term>>,
    ) -> Outcome<Function> {
        let built = building(|| {
            function(types, |terms| {
                let outcome = self.within(Mode::Element, || f(terms));
                self.keep(outcome, Vec::new)
            })
        });
        self.kept(built)
    }

    /// Builds a function without parameters, of values outside.
    pub(super) fn constant_function(&self, terms: Vec<Term>) -> Function {
        building(|| function(&[], |_| terms))
    }

    /// Keeps an array, so that it is found by its number.
    pub(super) fn alive(&self, described: Arc<Described>) -> Arc<Described> {
        self.alive.borrow_mut().insert(described.id(), described.clone());
        described
    }

    /// Creates the array that an operation gives, with elements of a type.
    pub(super) fn operation(
        &self,
        name: &str,
        operation: impl Operation,
        inputs: Vec<Arc<Described>>,
        (element, rank): (&Type, usize),
        span: Span,
    ) -> Outcome<Value> {
        let types = columns(element, self.sums()).ok_or_else(|| self.not_stored(element, span))?;
        let described = self.alive(Described::new(operation, inputs, rank, types, self.place(name, span)));
        Ok(Value::Array(Array::Host(Rc::new(Host::given(element.clone(), described)))))
    }

    pub(super) fn not_stored(&self, element: &Type, span: Span) -> Box<Diagnostic> {
        let message = format!("an array of `{element}` cannot be written to memory");
        let help = "elements in memory are numbers, and tuples, records and sums of them; arrays of arrays are pulls that \
                    something takes apart, or matrices `[a; n, m]`";
        Box::new(Diagnostic::new(span, message).help(help))
    }

    /// Returns the array of the array language for an array outside, and describes it on first use.
    pub(super) fn describe(self: &Rc<Self>, host: &Host, span: Span) -> Outcome<Arc<Described>> {
        if let Some(described) = host.described.get() {
            return Ok(described.clone());
        }
        let Some(made) = &host.made else { return Err(self.wrong(span, "an array of nothing")) };
        let described = self.alive(self.within(Mode::Host, || self.describe_made(host, made))?);
        Ok(host.described.get_or_init(|| described).clone())
    }

    /// Returns an array as one of the array language.
    pub(super) fn described(self: &Rc<Self>, array: &Array, span: Span) -> Outcome<Arc<Described>> {
        match array {
            Array::Host(host) => self.describe(host, span),
            // An element of an array of arrays.
            Array::Local(local) if self.mode.get() == Mode::Host => {
                let types = columns(&local.element, self.sums());
                let types = types.ok_or_else(|| self.not_stored(&local.element, span))?;
                let indices = vec![ScalarType::I64; local.extents.len()];
                let element = self.element_function(&indices, span, |index| (local.get)(index))?;
                let generate = Generate { shape: self.constant_function(local.extents.clone()), element };
                let rank = local.extents.len();
                Ok(self.alive(Described::new(generate, Vec::new(), rank, types, self.place("array", span))))
            }
            _ => {
                let message = "this operation works on whole arrays, and none is computed for each element of another one";
                let help = "sums and other folds of inner arrays are loops; for the rest use a comprehension, or levels";
                Err(Box::new(Diagnostic::new(span, message).help(help)))
            }
        }
    }

    fn describe_made(self: &Rc<Self>, host: &Host, made: &Made) -> Outcome<Arc<Described>> {
        let span = made.span;
        let types =
            columns(&host.element, self.sums()).ok_or_else(|| self.not_stored(&host.element, span))?;
        let place = self.place(made.name, span);
        let inputs = made.arguments.iter().filter_map(|argument| match argument {
            Value::Array(array) => Some(array),
            _ => None,
        });
        let stored = inputs.clone().all(|array| array.columns(self.sums()).is_some());
        let new = |operation: Arc<dyn Operation>, inputs: Vec<Arc<Described>>| {
            Described::of_shared(operation, inputs, host.rank, types.clone(), place)
        };
        let extents = || -> Outcome<Function> {
            let extents = self.made_extents(made)?.iter().map(|extent| extent.term).collect();
            Ok(self.constant_function(extents))
        };
        match without_rank(made.name) {
            "map" | "mapPull" | "zipWith" if stored => {
                let arrays: Vec<&Array> = inputs.collect();
                let parameters: Vec<ScalarType> =
                    arrays.iter().filter_map(|array| array.columns(self.sums())).flatten().collect();
                let function = self.element_function(&parameters, span, |terms| {
                    let mut terms = terms.iter().copied();
                    let element = |array: &&Array| {
                        from_terms(array.element(), self.sums(), false, &mut terms)
                            .ok_or_else(|| self.wrong(span, "an element of no type"))
                    };
                    let elements = arrays.iter().map(element).collect::<Outcome<Vec<_>>>()?;
                    self.apply_all(&made.arguments[0], &elements, span)
                })?;
                let described =
                    arrays.iter().map(|array| self.described(array, span)).collect::<Outcome<Vec<_>>>()?;
                Ok(new(Arc::new(ZipWith { function }), described))
            }
            "transpose" | "transposeInner" | "transposeOuter" if stored => {
                let input = inputs.map(|array| self.described(array, span)).collect::<Outcome<Vec<_>>>()?;
                let order = dimensions(made.name);
                let row = |from: usize| order.iter().map(|own| i64::from(*own == from)).collect();
                let starts = self.constant_function(vec![whole(0); order.len()]);
                let steps = (0..order.len()).map(row).collect();
                Ok(new(Arc::new(View { shape: extents()?, starts, steps }), input))
            }
            "reshape" | "flatten" if stored => {
                let input = inputs.map(|array| self.described(array, span)).collect::<Outcome<Vec<_>>>()?;
                Ok(new(Arc::new(Reshape { shape: extents()? }), input))
            }
            _ => {
                let indices = vec![ScalarType::I64; host.rank];
                let element =
                    self.element_function(&indices, span, |index| self.made_element(made, index))?;
                Ok(new(Arc::new(Generate { shape: extents()?, element }), Vec::new()))
            }
        }
    }

    /// Returns the extents of an array.
    pub(super) fn host_extents(self: &Rc<Self>, host: &Host, span: Span) -> Outcome<Vec<Scalar>> {
        if let (None, Some(made)) = (host.described.get(), &host.made) {
            return self.made_extents(made);
        }
        let described = self.describe(host, span)?;
        let extent = |dimension: usize| {
            let known = described.known_extents().and_then(|extents| extents.get(dimension).copied());
            Scalar { term: known.map_or_else(|| described.extent(dimension), whole), outside: true }
        };
        Ok((0..described.rank()).map(extent).collect())
    }

    /// Returns an element of an array, inside a function on elements or outside.
    pub(super) fn host_element(
        self: &Rc<Self>,
        host: &Host,
        index: &[Term],
        checked: Option<&str>,
        span: Span,
    ) -> Outcome<Value> {
        if columns(&host.element, self.sums()).is_none() {
            // An array of arrays is not in memory: its elements are computed from its definition.
            return match &host.made {
                Some(made) => self.made_element(made, index),
                None => Err(self.not_stored(&host.element, span)),
            };
        }
        let described = self.describe(host, span)?;
        let site = checked
            .map(|operation| Site { place: self.place(operation, span), kind: FailureKind::OutOfBounds });
        let terms = described.element(index, site);
        let outside = self.mode.get() == Mode::Host || index.iter().all(|index| index.constant().is_some());
        from_terms(&host.element, self.sums(), outside, &mut terms.into_iter())
            .ok_or_else(|| self.wrong(span, "an element of no type"))
    }

    /// Returns the extents of a pull, from its definition.
    pub(super) fn made_extents(self: &Rc<Self>, made: &Made) -> Outcome<Vec<Scalar>> {
        let span = made.span;
        let array = |number: usize| match made.arguments.get(number) {
            Some(Value::Array(array)) => self.extents(array, span),
            _ => Err(self.wrong(span, "an array is wanted here")),
        };
        let first = |extents: Vec<Scalar>| extents.into_iter().take(1).collect();
        match without_rank(made.name) {
            LIST => Ok(vec![Scalar { term: whole(made.arguments.len() as i64), outside: true }]),
            // The extents stand before the last argument.
            "generate" | "reshape" => {
                let count = made.arguments.len().saturating_sub(1);
                made.arguments.iter().take(count).map(|extent| self.scalar(extent, span)).collect()
            }
            "map" | "mapPull" | "zipWith" => array(1),
            "rows" => array(0).map(first),
            RAGGED => {
                let offsets = array(1)?;
                let row = |end: &Scalar| {
                    let count = end.term.binary(Op::Sub, whole(1));
                    Scalar { term: count, outside: end.outside }
                };
                Ok(offsets.iter().take(1).map(row).collect())
            }
            "slice" => {
                let number = |number: usize| match made.arguments.get(number) {
                    Some(value) => self.scalar(value, span),
                    None => Err(self.wrong(span, "a number is wanted here")),
                };
                let (from, to, extents) = (number(0)?, number(1)?, array(2)?);
                let length = extents.first().map_or(Scalar { term: whole(0), outside: true }, |all| *all);
                let outside = from.outside && to.outside && length.outside;
                let place = self.place(made.name, span);
                Ok(vec![Scalar { term: stretch(from, to, length, place).1.term(), outside }])
            }
            "transpose" | "transposeInner" | "transposeOuter" => {
                let extents = array(0)?;
                Ok(dimensions(made.name).iter().filter_map(|from| extents.get(*from).copied()).collect())
            }
            "flatten" => {
                let all = array(0)?;
                let outside = all.iter().all(|extent| extent.outside);
                let product =
                    all.iter().map(|extent| extent.term).reduce(|all, one| all.binary(Op::Mul, one));
                Ok(vec![Scalar { term: product.unwrap_or(whole(1)), outside }])
            }
            other => Err(self.wrong(span, format!("`{other}` is not a pull"))),
        }
    }

    /// Returns an element of a pull, from its definition.
    pub(super) fn made_element(self: &Rc<Self>, made: &Made, index: &[Term]) -> Outcome<Value> {
        let span = made.span;
        let indices = || index.iter().map(|index| Value::scalar(*index, false)).collect::<Vec<_>>();
        let array = |number: usize| match made.arguments.get(number) {
            Some(Value::Array(array)) => Ok(array),
            _ => Err(self.wrong(span, "an array is wanted here")),
        };
        let at = |number: usize, index: &[Term]| self.get(array(number)?, index, None, span);
        let last = made.arguments.len().saturating_sub(1);
        match (without_rank(made.name), made.arguments.last()) {
            (LIST, _) => self.listed(&made.arguments, index.first().copied().unwrap_or(whole(0)), span),
            ("generate", Some(f)) => self.apply_all(f, &indices(), span),
            ("map" | "mapPull", _) => self.apply_all(&made.arguments[0], &[at(1, index)?], span),
            ("zipWith", _) => {
                // Where extents are not plainly the same, an element that the second array does not have is an error.
                let (first, second) = (self.extents(array(1)?, span)?, self.extents(array(2)?, span)?);
                let plain = Some(Constant::from(true));
                let is_same = |(a, b): (&Scalar, &Scalar)| a.term.compare(Op::Eq, b.term).constant() == plain;
                let checked = (!first.iter().zip(&second).all(is_same)).then_some(made.name);
                let second = self.get(array(2)?, index, checked, span)?;
                self.apply_all(&made.arguments[0], &[at(1, index)?, second], span)
            }
            (RAGGED, _) => self.ragged_row(made, index.first().copied().unwrap_or(whole(0))),
            ("slice", _) => {
                let from = self.scalar(&made.arguments[0], span)?.term;
                let extents = self.extents(array(2)?, span)?;
                let length = extents.first().map_or(whole(0), |extent| extent.term);
                // Its length is 0 where it is not in the array.
                let first = from.binary(Op::Max, whole(0)).binary(Op::Min, length);
                let number = index.first().copied().unwrap_or(whole(0));
                at(2, &[first.binary(Op::Add, number)])
            }
            ("transpose" | "transposeInner" | "transposeOuter", _) => {
                let order = dimensions(made.name);
                let turned = (0..order.len()).filter_map(|from| {
                    order.iter().position(|own| *own == from).and_then(|own| index.get(own).copied())
                });
                at(0, &turned.collect::<Vec<Term>>())
            }
            ("rows", _) => {
                let extents = self.extents(array(0)?, span)?;
                let columns = extents.get(1).map_or(whole(0), |extent| extent.term);
                let (this, matrix, row) =
                    (self.clone(), array(0)?.clone(), index.first().copied().unwrap_or(whole(0)));
                let get = Rc::new(move |column: &[Term]| {
                    // The row may be one that there is not.
                    this.get(&matrix, &[&[row], column].concat(), Some("rows"), span)
                });
                self.pull(
                    Local { element: array(0)?.element().clone(), extents: vec![columns], get, most: None },
                    span,
                )
            }
            ("reshape" | "flatten", _) => {
                let from: Vec<Term> =
                    self.extents(array(last)?, span)?.iter().map(|extent| extent.term).collect();
                let to: Vec<Term> = self.made_extents(made)?.iter().map(|extent| extent.term).collect();
                let number = flattened(index, &to);
                self.get(array(last)?, &super::local::unflattened(number, &from), Some(made.name), span)
            }
            (other, _) => Err(self.wrong(span, format!("`{other}` is not a pull"))),
        }
    }

    /// Returns a value that is not an array, as an array of rank 0.
    pub(super) fn unit(&self, terms: &[Term], span: Span) -> Arc<Described> {
        let element = self.constant_function(terms.to_vec());
        let types = terms.iter().map(|term| term.ty()).collect();
        let shape = self.constant_function(Vec::new());
        Described::new(Generate { shape, element }, Vec::new(), 0, types, self.place("value", span))
    }

    /// `[a, b, c]`.
    pub(super) fn list(self: &Rc<Self>, parts: Vec<Value>, element: Type, span: Span) -> Outcome<Value> {
        let constants = parts.iter().map(|part| {
            let terms = part.terms()?;
            terms.iter().map(|term| term.constant()).collect::<Option<Vec<_>>>()
        });
        let constants = constants.collect::<Option<Vec<_>>>();
        if let (Mode::Host, Some(types), Some(elements)) =
            (self.mode.get(), columns(&element, self.sums()), constants)
        {
            let column =
                |number: usize| elements.iter().flat_map(|element| element[number].to_bytes()).collect();
            let bytes = (0..types.len()).map(column).collect();
            let data = HostData::new(vec![elements.len()], types, bytes);
            return self.operation("list", Use(Arc::new(data)), Vec::new(), (&element, 1), span);
        }
        let (this, length) = (self.clone(), parts.len());
        let of = element.clone();
        let get = Rc::new(move |index: &[Term]| {
            let index = index.first().copied().unwrap_or(whole(0));
            this.nth(&parts, 0, index, &of, span)
        });
        match self.mode.get() {
            // Elements that are computed: a pull, as `generate` makes one.
            Mode::Host => {
                let shape = self.constant_function(vec![whole(length as i64)]);
                let function = self.element_function(&[ScalarType::I64], span, |index| get(index))?;
                self.operation("list", Generate { shape, element: function }, Vec::new(), (&element, 1), span)
            }
            _ => self.pull(Local { element, extents: vec![whole(length as i64)], get, most: None }, span),
        }
    }

    fn nth(
        self: &Rc<Self>,
        parts: &[Value],
        number: i64,
        index: Term,
        ty: &Type,
        span: Span,
    ) -> Outcome<Value> {
        match parts {
            [] => Ok(self.zero(ty)),
            [last] => Ok(last.clone()),
            [first, rest @ ..] => {
                let here = Scalar { term: index.compare(Op::Eq, whole(number)), outside: false };
                self.choose(
                    here,
                    ty,
                    &|| Ok(first.clone()),
                    &|| self.nth(rest, number + 1, index, ty, span),
                    span,
                )
            }
        }
    }
}

/// Returns the permutation of a transposition: the dimension of the array for each dimension of the transposed one.
fn dimensions(name: &str) -> &'static [usize] {
    match name {
        "transposeInner" => &[0, 2, 1],
        "transposeOuter" => &[1, 0, 2],
        _ => &[1, 0],
    }
}

/// Returns the offset and the length of a segment of an array, with the checks that generators of comprehensions in Rust have.
fn stretch(from: Scalar, to: Scalar, length: Scalar, place: Place) -> (Exp<i64>, Exp<i64>) {
    let [from, to, length] = [from, to, length].map(|scalar| Exp::<i64>::from_term(scalar.term));
    part_within((from, to), length, place)
}

/// Returns the number of an element by its index in each dimension.
pub(super) fn flattened(index: &[Term], extents: &[Term]) -> Term {
    let mut number = whole(0);
    for (index, extent) in index.iter().zip(extents) {
        number = number.binary(Op::Mul, *extent).binary(Op::Add, *index);
    }
    number
}
