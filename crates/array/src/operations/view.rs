//! `view`: an index of the input is some start and a sum of the result's indices, each times a fixed step. That is
//! transposition, replication, slices, reversal, every n-th element, diagonals and windows. In bounds by construction: the extents
//! are checked once, and no index ever is.

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

/// Other dimensions of the same elements.
#[derive(Clone)]
pub struct View {
    /// The extents of the result, from no parameters.
    pub shape: Function,
    /// The index of the element that the result begins with, from no parameters.
    pub starts: Function,
    /// For each of the input's dimensions, and for each of the result's, how far one step along the latter goes along the
    /// former.
    pub steps: Vec<Vec<i64>>,
}

/// The farthest step: sums of steps times indices stay far from the limits of an index.
const FARTHEST: u64 = i32::MAX as u64;

pub(super) const LISTED: Listed = Listed {
    keyword: "view",
    make: |Parts { attributes, functions, .. }| {
        let [shape, starts] = <[Function; 2]>::try_from(functions).ok()?;
        let (rows, columns) = (starts.results().len(), shape.results().len());
        let row = |row: usize| attributes.get(row * columns..(row + 1) * columns).map(<[i64]>::to_vec);
        let steps = (0..rows).map(row).collect::<Option<Vec<_>>>()?;
        (attributes.len() == rows * columns).then(|| Arc::new(View { shape, starts, steps }) as _)
    },
};

/// The result's dimension that is one of the input's as it is, from its steps.
fn same_dimension(steps: &[i64]) -> Option<usize> {
    let mut moving = steps.iter().enumerate().filter(|(_, step)| **step != 0);
    match (moving.next(), moving.next()) {
        (Some((dimension, 1)), None) => Some(dimension),
        _ => None,
    }
}

impl View {
    fn starts_at_zero(&self) -> bool {
        let zero = |constant: Constant| constant.as_integer() == Some(0);
        self.starts.constants().is_some_and(|starts| starts.into_iter().all(zero))
    }

    /// Whether every dimension of the result is one of the input's as it is, and the other way round.
    fn permutes(&self) -> bool {
        let dimensions = self.shape.results().len();
        let uses =
            |dimension| self.steps.iter().filter(|steps| same_dimension(steps) == Some(dimension)).count();
        self.steps.len() == dimensions && (0..dimensions).all(|dimension| uses(dimension) == 1)
    }
}

impl Operation for View {
    fn keyword(&self) -> &'static str {
        LISTED.keyword
    }
    fn attributes(&self) -> Vec<i64> {
        self.steps.concat()
    }
    fn functions(&self) -> Vec<&Function> {
        vec![&self.shape, &self.starts]
    }
    fn with_functions(&self, functions: Vec<Function>) -> Arc<dyn Operation> {
        let mut functions = functions.into_iter();
        let (shape, starts) = (next(&mut functions, &self.shape), next(&mut functions, &self.starts));
        Arc::new(View { shape, starts, steps: self.steps.clone() })
    }
    fn shaping(&self) -> Vec<&Function> {
        vec![&self.shape, &self.starts]
    }
    fn check(&self, signature: &Signature<'_>) -> Result<(), String> {
        let (rank, types) = signature.input()?;
        ensure(types == signature.types, TYPES)?;
        fits(&self.shape, &[], &Signature::index(signature.rank))?;
        fits(&self.starts, &[], &Signature::index(rank))?;
        let fits = self.steps.len() == rank && self.steps.iter().all(|steps| steps.len() == signature.rank);
        ensure(fits, "a view has not a step for each dimension of one array in each of the other")?;
        let near = |step: &i64| step.unsigned_abs() <= FARTHEST;
        ensure(self.steps.iter().flatten().all(near), "a view has steps that are too far for any array")
    }
    fn extents(&self, shapes: &Shapes<'_>) -> Result<Vec<Extent>, Unplanned> {
        let extents = shapes.shape(&self.shape)?;
        let own = shapes.same(0);
        let whole = |(steps, own): (&Vec<i64>, &Extent)| {
            let extent = same_dimension(steps).and_then(|dimension| extents.get(dimension));
            extent.is_some_and(|extent| shapes.is_same(*extent, *own))
        };
        if self.starts_at_zero() && self.steps.iter().zip(&own).all(whole) {
            return Ok(extents);
        }
        let numbers = extents.iter().map(|extent| shapes.number(*extent)).collect::<Result<Vec<_>, _>>()?;
        if numbers.contains(&0) {
            return Ok(extents);
        }
        let starts = shapes.values(&self.starts)?;
        for ((steps, start), length) in self.steps.iter().zip(starts).zip(shapes.numbers(0)?) {
            let start = start.as_integer().unwrap_or(-1);
            let reach = |step: &i64, extent: &i64| i128::from(*step) * i128::from(*extent - 1);
            let reaches = || steps.iter().zip(&numbers).map(|(step, extent)| reach(step, extent));
            let first = start + reaches().map(|reach| reach.min(0)).sum::<i128>();
            let end = start + reaches().map(|reach| reach.max(0)).sum::<i128>() + 1;
            if first < 0 || end > length.into() {
                return Err(shapes.mistake(match end == first + 1 {
                    true => format!("index {first} out of bounds for length {length}"),
                    false => format!("indices {first}..{end} of a dimension of {length}"),
                }));
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
        match self.permutes() && self.starts_at_zero() && (0..self.steps.len()).all(whole) {
            true => Listens::Reindexes,
            false => Listens::No,
        }
    }
    fn repeats(&self) -> bool {
        let moves = |dimension: usize| self.steps.iter().any(|steps| steps.get(dimension) != Some(&0));
        let overlaps = |steps: &Vec<i64>| steps.iter().filter(|step| **step != 0).count() > 1;
        !(0..self.shape.results().len()).all(moves) || self.steps.iter().any(overlaps)
    }
    fn cost(&self) -> u32 {
        0
    }
    fn demand(&self, fuser: &Fuser<'_>, _: &Node, index: &[Term]) -> Demand {
        let starts = fuser.apply(&self.starts, &[]);
        let part = |(steps, start): (&Vec<i64>, Term)| {
            let moving = steps.iter().zip(index).filter(|(step, _)| **step != 0);
            moving.fold(start, |sum, (step, index)| match step {
                1 => sum.binary(Op::Add, *index),
                -1 => sum.binary(Op::Sub, *index),
                step => sum.binary(Op::Add, index.binary(Op::Mul, Constant::from(*step).into())),
            })
        };
        Demand { elements: vec![(0, self.steps.iter().zip(starts).map(part).collect())], guard: None }
    }
    fn reindex(&self, _: &Fuser<'_>, _: &Node, index: Vec<Term>) -> Vec<Term> {
        let mut there = index.clone();
        for (steps, part) in self.steps.iter().zip(index) {
            if let Some(place) = same_dimension(steps).and_then(|dimension| there.get_mut(dimension)) {
                *place = part;
            }
        }
        there
    }
    fn interpret(&self, interpreter: &Interpreter<'_>, node: &Node) -> Result<Elements, Error> {
        let from = interpreter.input(node, 0);
        let starts = interpreter.evaluator(&self.starts)?(&[])?;
        let number = |constant: &Constant| constant.as_integer().unwrap_or(-1) as i64;
        let element = |index: Vec<Constant>| {
            let part = |(steps, start): (&Vec<i64>, &Constant)| {
                let moved = steps.iter().zip(&index).map(|(step, index)| step * number(index));
                Constant::from(number(start) + moved.sum::<i64>())
            };
            let there: Vec<Constant> = self.steps.iter().zip(&starts).map(part).collect();
            Ok(from[interpreter.checked_index(node, node.inputs[0], &there)?].clone())
        };
        interpreter.indices(node.id).into_iter().map(element).collect()
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
}
