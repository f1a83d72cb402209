//! `view`: transposition, replication and slices: each dimension of the input is one of the result's, from some start on, or
//! fixed at one index. In bounds by construction: the extents are checked once, and no index ever is.

use super::{Listed, Parts};
use crate::error::Error;
use crate::extents::{Extent, Shapes, Unplanned};
use crate::fuser::Fuser;
use crate::interpret::{Elements, Interpreter};
use crate::operation::{Demand, Listens, Nature, Operation, Signature, TYPES, ensure, fits, next};
use crate::program::Node;
use pumice_scalar::{Constant, Function, Op, Term};
use std::any::Any;
use std::sync::Arc;

/// Where an index of the input comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Axis {
    /// From this dimension of the result.
    Of(u32),
    /// It is the same for all elements.
    Fixed,
}

/// Other dimensions of the same elements.
#[derive(Clone)]
pub struct View {
    /// The extents of the result, from no parameters.
    pub shape: Function,
    /// The first index of each of the input's dimensions, from no parameters.
    pub starts: Function,
    /// For each of the input's dimensions where its index comes from.
    pub axes: Vec<Axis>,
}

const FIXED: i64 = -1;

pub(super) const LISTED: Listed = Listed {
    keyword: "view",
    make: |Parts { attributes, functions, .. }| {
        let axis = |number: i64| match number {
            FIXED => Some(Axis::Fixed),
            dimension => Some(Axis::Of(u32::try_from(dimension).ok()?)),
        };
        let axes = attributes.into_iter().map(axis).collect::<Option<Vec<_>>>()?;
        match <[Function; 2]>::try_from(functions) {
            Ok([shape, starts]) => Some(Arc::new(View { shape, starts, axes })),
            Err(_) => None,
        }
    },
};

impl View {
    fn starts_at_zero(&self) -> bool {
        let zero = |constant: Constant| constant.as_integer() == Some(0);
        self.starts.constants().is_some_and(|starts| starts.into_iter().all(zero))
    }

    /// Whether every dimension of the result is one of the input's, and the other way round.
    fn permutes(&self) -> bool {
        let dimensions = self.shape.results().len();
        let uses =
            |dimension: usize| self.axes.iter().filter(|axis| **axis == Axis::Of(dimension as u32)).count();
        self.axes.len() == dimensions && (0..dimensions).all(|dimension| uses(dimension) == 1)
    }
}

impl Operation for View {
    fn keyword(&self) -> &'static str {
        LISTED.keyword
    }
    fn attributes(&self) -> Vec<i64> {
        let number = |axis: &Axis| match axis {
            Axis::Of(dimension) => i64::from(*dimension),
            Axis::Fixed => FIXED,
        };
        self.axes.iter().map(number).collect()
    }
    fn functions(&self) -> Vec<&Function> {
        vec![&self.shape, &self.starts]
    }
    fn with_functions(&self, functions: Vec<Function>) -> Arc<dyn Operation> {
        let mut functions = functions.into_iter();
        let (shape, starts) = (next(&mut functions, &self.shape), next(&mut functions, &self.starts));
        Arc::new(View { shape, starts, axes: self.axes.clone() })
    }
    fn shaping(&self) -> Vec<&Function> {
        vec![&self.shape, &self.starts]
    }
    fn check(&self, signature: &Signature<'_>) -> Result<(), String> {
        let (rank, types) = signature.input()?;
        ensure(types == signature.types, TYPES)?;
        fits(&self.shape, &[], &Signature::index(signature.rank))?;
        fits(&self.starts, &[], &Signature::index(rank))?;
        let exists = |axis: &Axis| match axis {
            Axis::Of(dimension) => (*dimension as usize) < signature.rank,
            Axis::Fixed => true,
        };
        let fits = self.axes.len() == rank && self.axes.iter().all(exists);
        ensure(fits, "a view names a dimension that there is not")
    }
    fn extents(&self, shapes: &Shapes<'_>) -> Result<Vec<Extent>, Unplanned> {
        let extents = shapes.shape(&self.shape)?;
        let own = shapes.same(0);
        let whole = |(axis, own): (&Axis, &Extent)| match axis {
            Axis::Of(dimension) => {
                extents.get(*dimension as usize).is_some_and(|extent| shapes.is_same(*extent, *own))
            }
            Axis::Fixed => false,
        };
        if self.starts_at_zero() && self.axes.iter().zip(&own).all(whole) {
            return Ok(extents);
        }
        let numbers = extents.iter().map(|extent| shapes.number(*extent)).collect::<Result<Vec<_>, _>>()?;
        let starts = shapes.values(&self.starts)?;
        for ((axis, start), length) in self.axes.iter().zip(starts).zip(shapes.numbers(0)?) {
            let start = start.as_integer().unwrap_or(-1);
            let count = match axis {
                Axis::Of(dimension) => i128::from(numbers[*dimension as usize]),
                Axis::Fixed => 1,
            };
            let empty = numbers.contains(&0);
            if !empty && (start < 0 || start + count > length.into()) {
                let end = start + count;
                return Err(shapes.mistake(format!("indices {start}..{end} of a dimension of {length}")));
            }
        }
        Ok(extents)
    }
    fn nature(&self) -> Nature {
        Nature::Pull
    }
    fn listens(&self, _: usize) -> Listens {
        // A slice leaves elements out.
        let whole = |extent: usize| {
            let id = self.shape.results().get(extent).map(|id| &self.shape.nodes()[id.0 as usize]);
            matches!(id, Some(pumice_scalar::Node::Variable(..)))
        };
        match self.permutes() && self.starts_at_zero() && (0..self.axes.len()).all(whole) {
            true => Listens::Reindexes,
            false => Listens::No,
        }
    }
    fn repeats(&self) -> bool {
        let used = |dimension: usize| self.axes.contains(&Axis::Of(dimension as u32));
        !(0..self.shape.results().len()).all(used)
    }
    fn cost(&self) -> u32 {
        0
    }
    fn demand(&self, fuser: &Fuser<'_>, _: &Node, index: &[Term]) -> Demand {
        let starts = fuser.apply(&self.starts, &[]);
        let part = |(axis, start): (&Axis, Term)| match axis {
            Axis::Of(dimension) => start.binary(Op::Add, index[*dimension as usize]),
            Axis::Fixed => start,
        };
        Demand { elements: vec![(0, self.axes.iter().zip(starts).map(part).collect())], guard: None }
    }
    fn reindex(&self, _: &Fuser<'_>, _: &Node, index: Vec<Term>) -> Vec<Term> {
        let mut there = index.clone();
        for (axis, part) in self.axes.iter().zip(index) {
            if let Axis::Of(dimension) = axis {
                there[*dimension as usize] = part;
            }
        }
        there
    }
    fn interpret(&self, interpreter: &Interpreter<'_>, node: &Node) -> Result<Elements, Error> {
        let from = interpreter.input(node, 0);
        let starts = interpreter.evaluator(&self.starts)?(&[])?;
        let number = |constant: &Constant| constant.as_integer().unwrap_or(-1) as i64;
        let element = |index: Vec<Constant>| {
            let part = |(axis, start): (&Axis, &Constant)| match axis {
                Axis::Of(dimension) => Constant::from(number(start) + number(&index[*dimension as usize])),
                Axis::Fixed => *start,
            };
            let there: Vec<Constant> = self.axes.iter().zip(&starts).map(part).collect();
            Ok(from[interpreter.checked_index(node, node.inputs[0], &there)?].clone())
        };
        interpreter.indices(node.id).into_iter().map(element).collect()
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
}
