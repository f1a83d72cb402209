//! `expand_reduce`: for each element of a vector, a source, the elements that it is expanded to, reduced with an associative
//! operator.
//!
//! A push with a result per source, at the source's index: nothing of the expansion is in memory.

use super::{Listed, Parts};
use crate::error::Error;
use crate::extents::{Extent, Shapes, Unplanned};
use crate::interpret::{Elements, Interpreter};
use crate::lower::{Listeners, Lowering, Step};
use crate::operation::{Nature, Operation, RANK, Signature, TYPES, ensure, fits, next};
use crate::program::Node;
use pumice_scalar::{Constant, Function, ScalarType};
use std::any::Any;
use std::sync::Arc;

/// A reduction of each source's elements.
#[derive(Clone)]
pub struct ExpandReduce {
    /// The number of elements of a source; none if that is negative.
    pub size: Function,
    /// An element, from its source and its number there.
    pub get: Function,
    /// An associative operator, from two elements.
    pub operator: Function,
    /// The value that a source's elements are combined with, once and from the left; from no parameters. Without it, elements and results
    /// are options, which begin with a flag: absent elements do not count, and the result is absent where all elements are.
    pub initial: Option<Function>,
    /// Upper bound of the number of elements of all sources, if they are stretches of an array, one after the other; from no
    /// parameters. It decides the division of work and fusion, and nothing else.
    pub most: Option<Function>,
}

pub(super) const LISTED: Listed = Listed {
    keyword: "expand_reduce",
    make: |Parts { attributes, functions, .. }| {
        let mut functions = functions.into_iter();
        let (size, get, operator) = (functions.next()?, functions.next()?, functions.next()?);
        let initial = match attributes[..] {
            [] => Some(functions.next()?),
            [OF_OPTIONS] => None,
            _ => return None,
        };
        let most = functions.next();
        let operation = ExpandReduce { size, get, operator, initial, most };
        functions.next().is_none().then(|| Arc::new(operation) as _)
    },
};

/// The attribute of a reduction that has no initial value.
const OF_OPTIONS: i64 = 1;

impl Operation for ExpandReduce {
    fn keyword(&self) -> &'static str {
        LISTED.keyword
    }
    fn attributes(&self) -> Vec<i64> {
        self.initial.is_none().then_some(OF_OPTIONS).into_iter().collect()
    }
    fn functions(&self) -> Vec<&Function> {
        let ExpandReduce { size, get, operator, initial, most } = self;
        [size, get, operator].into_iter().chain(initial).chain(most).collect()
    }
    fn with_functions(&self, functions: Vec<Function>) -> Arc<dyn Operation> {
        let mut functions = functions.into_iter();
        let mut replace = |old: &Function| next(&mut functions, old);
        let (size, get) = (replace(&self.size), replace(&self.get));
        let operator = replace(&self.operator);
        let initial = self.initial.as_ref().map(&mut replace);
        let most = self.most.as_ref().map(&mut replace);
        Arc::new(ExpandReduce { size, get, operator, initial, most })
    }
    fn shaping(&self) -> Vec<&Function> {
        self.most.iter().collect()
    }
    fn check(&self, signature: &Signature<'_>) -> Result<(), String> {
        let (rank, types) = signature.input()?;
        let results = signature.types;
        ensure(rank == 1 && signature.rank == 1, RANK)?;
        fits(&self.size, types, &[ScalarType::I64])?;
        fits(&self.get, &[types, &[ScalarType::I64]].concat(), results)?;
        let values = match &self.initial {
            Some(initial) => fits(initial, &[], results).map(|()| results)?,
            None => results.strip_prefix(&[ScalarType::Bool]).ok_or(TYPES)?,
        };
        fits(&self.operator, &[values, values].concat(), values)?;
        self.most.as_ref().map_or(Ok(()), |most| fits(most, &[], &[ScalarType::I64]))
    }
    fn extents(&self, shapes: &Shapes<'_>) -> Result<Vec<Extent>, Unplanned> {
        Ok(shapes.same(0))
    }
    fn nature(&self) -> Nature {
        Nature::Push
    }
    fn cost(&self) -> u32 {
        0
    }
    fn reads_once(&self) -> bool {
        self.most.is_some()
    }
    fn produce(&self, lowering: &Lowering<'_>, group: Vec<Listeners>) -> Result<Vec<Step>, Error> {
        let steps = group.iter().map(|listeners| {
            lowering.because("what each source is expanded to is folded at once: none of it is in memory");
            lowering.expand_reduce(self, listeners)
        });
        Ok(steps.collect::<Result<Vec<_>, Error>>()?.concat())
    }
    fn interpret(&self, interpreter: &Interpreter<'_>, node: &Node) -> Result<Elements, Error> {
        let (size, get) = (interpreter.evaluator(&self.size)?, interpreter.evaluator(&self.get)?);
        let operator = interpreter.evaluator(&self.operator)?;
        let initial = match &self.initial {
            Some(initial) => Some(interpreter.evaluator(initial)?(&[])?),
            None => None,
        };
        let is_present = |option: &[Constant]| option.first().is_some_and(|flag| flag.is_true());
        let combined = |so_far: Vec<Constant>, element: Vec<Constant>| match &initial {
            Some(_) => operator(&[so_far, element].concat()),
            None if !is_present(&element) => Ok(so_far),
            None if !is_present(&so_far) => Ok(element),
            None => Ok([vec![true.into()], operator(&[&so_far[1..], &element[1..]].concat())?].concat()),
        };
        let first =
            initial.clone().unwrap_or_else(|| node.types.iter().map(|ty| Constant::zero(*ty)).collect());
        let reduced = |source: &Vec<Constant>| {
            let size = size(source)?.first().and_then(|size| size.as_integer()).unwrap_or(0);
            (0..size as i64).try_fold(first.clone(), |so_far, number| {
                combined(so_far, get(&[&source[..], &[Constant::from(number)]].concat())?)
            })
        };
        interpreter.input(node, 0).iter().map(reduced).collect()
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
}
