//! A program inside the kernel of a loop in one block: its functions over the arrays of the block.

use super::Body;
use super::block::InBlock;
use super::held::{Held, whole};
use super::jobs::Rows;
use crate::extents::Length;
use crate::lower::Source;
use pumice_kernel::Ix;
use pumice_scalar::{Exp, Function, Op, ScalarType, Term};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// A program inside the kernel, with everything that its functions mention.
pub(super) struct Inside {
    pub(super) block: Rc<InBlock>,
    /// By class of extents.
    extents: HashMap<usize, Term>,
    /// Whether floats need not be exact.
    pub(super) fast_math: bool,
}

impl Inside {
    pub(super) fn new(block: &Rc<InBlock>, body: &Body) -> Inside {
        let needed = body.program.nodes().iter().filter(|node| body.forms.of(node.id).is_some());
        // Indices are divided by the inner extents, and that is cheap if they are known.
        let inner: HashSet<usize> =
            needed.flat_map(|node| body.extents.classes(node.id).into_iter().skip(1)).collect();
        let extent = |(class, length): (usize, Length)| match inner.contains(&class) {
            true => (class, whole(length.bound)),
            false => (class, block.number(length.bound).term()),
        };
        let classes: Vec<_> = body.extents.all().collect();
        let extents = classes.into_iter().map(extent).collect();
        Inside { block: block.clone(), extents, fast_math: body.fast_math }
    }

    /// Computes a function.
    pub(super) fn apply(&self, function: &Function, arguments: &[Term]) -> Vec<Term> {
        let parameters = &self.block.parameters;
        let extent = |class: usize| {
            let known = self.extents.get(&class).copied();
            known.unwrap_or_else(|| {
                Term::invalid(ScalarType::I64, "an extent of an array that is not part of the program")
            })
        };
        let element = |slot: usize, column: usize, ty: ScalarType, index: Term| {
            let missing = || Source::Value(Term::invalid(ty, "a column is missing"));
            match self.block.at(slot) {
                Some(Held::Values(values)) => values.get(column).copied().map_or_else(missing, Source::Value),
                Some(Held::Shared(memories, start)) => memories
                    .get(column)
                    .map_or_else(missing, |memory| Source::Memory(*memory, start.binary(Op::Add, index))),
                None => parameters.source(slot, column, ty, index),
            }
        };
        // SAFETY: an array of the block has all its elements; the rest is the parameters' own.
        unsafe { parameters.apply_over(function, arguments, &extent, &element) }
    }

    /// Returns the number of rows that are reduced.
    pub(super) fn row_count(&self, rows: &Rows) -> Ix {
        match rows.size.0 {
            1 => Exp::from(1),
            count => self.block.number(count),
        }
    }

    /// Returns the length of rows that are reduced.
    pub(super) fn column_count(&self, rows: &Rows) -> Ix {
        match rows.size.0 {
            1 => self.block.number(rows.size.1),
            _ => Exp::from(rows.size.1),
        }
    }

    /// Finishes a row's result, and writes it.
    pub(super) fn finish(&self, rows: &Rows, index: Ix, reduced: Vec<Term>, held: &Held) {
        let terms = self.apply(&rows.finish, &[vec![index.term()], reduced].concat());
        if let [index, value @ ..] = &terms[..] {
            held.put(*index, value);
        }
    }
}
