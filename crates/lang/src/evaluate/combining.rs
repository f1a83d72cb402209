//! Operations that put elements where they say themselves, and those that replace elements by several.

use super::Outcome;
use super::scalars::whole;
use super::value::Value;
use super::whole::Whole;
use crate::types::Type;
use pumice_array::operations::{ExpandReduce, Generate, Permute};
use pumice_array::untyped::{self, Combination};
use pumice_array::{Described, stretch_within};
use pumice_scalar::{Constant, Exp, FailureKind, Function, Op, ScalarType, Site, Term};
use std::sync::Arc;

impl Whole<'_> {
    /// `permute` and its like, of an operator, the array of defaults, and elements with their indices; if `conditional`, a flag before these
    /// says whether an element counts.
    pub fn permute(&self, conditional: bool) -> Outcome<Value> {
        let (defaults, source) = (self.described(1)?, self.described(2)?);
        self.combined(self.operator(0)?, defaults, source, |terms| match conditional {
            true => terms.to_vec(),
            false => [&[always()], terms].concat(),
        })
    }

    /// `scatter` and its like: as `permute`, but one of several elements is written.
    pub fn scatter(&self, conditional: bool) -> Outcome<Value> {
        let operator = self.evaluator.operator(&self.element, self.call.span, &|new, _| Ok(new))?;
        let (defaults, source) = (self.described(0)?, self.described(1)?);
        self.combined(operator, defaults, source, |terms| match conditional {
            true => terms.to_vec(),
            false => [&[always()], terms].concat(),
        })
    }

    /// `histogram`, of the number of bins, and the bin of each element.
    pub fn histogram(&self) -> Outcome<Value> {
        let shape = self.evaluator.constant_function(vec![self.scalar(0)?]);
        let (evaluator, span) = (self.evaluator, self.call.span);
        let zero =
            evaluator.element_function(&[ScalarType::I64], span, |_| Ok(evaluator.zero(&self.element)))?;
        let (types, place) = (self.types(&self.element)?, self.place());
        let zeros = Described::new(Generate { shape, element: zero }, Vec::new(), 1, types, place);
        let one = Term::from(Constant::from(1i64));
        self.combined(self.arithmetic(Op::Add)?, zeros, self.described(1)?, |terms| {
            [&[always()], terms, &[one]].concat()
        })
    }

    /// Combines elements into an array; `target` gives, from an element's scalars, whether it counts, its index, and its value.
    fn combined(
        &self,
        combine: Function,
        defaults: Arc<Described>,
        source: Arc<Described>,
        target: impl FnOnce(&[Term]) -> Vec<Term>,
    ) -> Outcome<Value> {
        // The index of the element, which does not matter, then its scalars.
        let parameters = [vec![ScalarType::I64], source.types().to_vec()].concat();
        let target = self.evaluator.function_of(&parameters, |terms| Ok(target(&terms[1..])))?;
        self.give(Permute { rank: 1, combine, target, distinct: false }, vec![defaults, source])
    }

    /// `expand`, of a function to the number of elements of each source, and one to an element by its number.
    pub fn expand(&self) -> Outcome<Value> {
        let source = self.described(2)?;
        let from = self.array(2)?.element();
        let (size, get) = (self.source_size(from), self.source_element(from));
        self.given(untyped::expanded(&source, size, get, self.types(&self.element)?, self.place()))
    }

    /// `expandReduce`: as `expand`, with an operator, and an initial value for each source.
    pub fn expand_reduce(&self) -> Outcome<Value> {
        let (source, initial) = (self.described(4)?, Some(self.initial(3)?));
        let combination = Combination { operator: self.operator(2)?, initial, most: None };
        let from = self.array(4)?.element();
        let (size, get) = (self.source_size(from), self.source_element(from));
        self.given(untyped::reduced(
            &source,
            size,
            get,
            combination,
            self.types(&self.element)?,
            self.place(),
        ))
    }

    /// Returns a function to the size of a source, from the first argument.
    fn source_size(&self, from: &Type) -> impl Fn(&[Term]) -> Term {
        |source| self.of_element(0, &[from], source).first().copied().unwrap_or(whole(0))
    }

    /// Returns a function to an element of a source by its number, from the second argument.
    fn source_element(&self, from: &Type) -> impl FnOnce(&[Term], Term) -> Vec<Term> {
        |source, number| {
            let index = Type::Scalar(ScalarType::I64);
            self.of_element(1, &[from, &index], &[source, &[number]].concat())
        }
    }

    /// `reduceSegments`, of an operator, an initial value for each segment, offsets, and the elements.
    pub fn fold_segments(&self) -> Outcome<Value> {
        let (evaluator, place) = (self.evaluator, self.place());
        let (offsets, elements) = (self.described(2)?, self.described(3)?);
        let length = elements.extent(0);
        let stretch = evaluator.function_of(&[ScalarType::I64], |terms| {
            let site = Some(Site { place, kind: FailureKind::OutOfBounds });
            let at = |number: Term| {
                let offset = offsets.element(&[number], site).first().copied();
                Exp::from_term(offset.unwrap_or(whole(0)))
            };
            let ends = (at(terms[0]), at(terms[0].binary(Op::Add, whole(1))));
            let (first, size) = stretch_within(ends, Exp::from_term(length), place);
            Ok(vec![first.term(), size.term()])
        })?;
        let count = offsets.extent(0).binary(Op::Sub, whole(1));
        let shape = evaluator.constant_function(vec![count]);
        let pair = vec![ScalarType::I64; 2];
        let stretches =
            Described::new(Generate { shape, element: stretch }, Vec::new(), 1, pair.clone(), place);
        let size = evaluator.function_of(&pair, |terms| Ok(vec![terms[1]]))?;
        let get = evaluator.function_of(&[ScalarType::I64; 3], |terms| {
            Ok(elements.element(&[terms[0].binary(Op::Add, terms[2])], None))
        })?;
        let operation = ExpandReduce {
            size,
            get,
            operator: self.operator(0)?,
            initial: Some(self.initial(1)?),
            most: Some(evaluator.constant_function(vec![length])),
        };
        self.give(operation, vec![evaluator.alive(stretches)])
    }
}

/// Returns the flag of an element that counts.
fn always() -> Term {
    Constant::from(true).into()
}
