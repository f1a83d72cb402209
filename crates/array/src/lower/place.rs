//! Placing a loose array: its elements that are there, in order and without gaps, and how many they are.

use super::{KernelName, Listeners, Lowering, Parameters, ScanJob, ScanSource, Step};
use crate::error::Error;
use crate::program::{Node, NodeId};
use crate::reduction::Reduction;
use pumice_kernel::skeletons::{Compact, CompactPlan, CompactTask, ScanKind, ScanPhases, ScanState, ScanWay};
use pumice_kernel::{Ix, Scalars, parts_for, read, store};
use pumice_program::Access;
use pumice_scalar::{Exp, Function, Op, PlacedMessage, ScalarType, Term, function};
use std::rc::Rc;

impl Lowering<'_> {
    /// The steps that write a loose array to its slot, and its length to its cell.
    pub(crate) fn place(&self, node: &Node, slot: usize) -> Result<Vec<Step>, Error> {
        let space = self.fuser.space(node.id);
        let elements = self.fuser.linear(node.id);
        if !elements.loose {
            return Err(Error::Program(PlacedMessage::at("there is nothing to leave out", node.place)));
        }
        let cell = self.extents.lengths(node.id).first().and_then(|length| length.cell);
        let placing = Placing {
            lowering: self,
            node,
            elements: elements.function,
            space,
            known: self.extents.is_known(space),
            cell: cell.and_then(|cell| self.cells.get(&cell)).copied(),
        };
        placing.steps(slot)
    }
}

struct Placing<'a, 'b> {
    lowering: &'a Lowering<'b>,
    node: &'a Node,
    /// From the number of an element in the filtered array to its flag and its scalars.
    elements: Function,
    space: NodeId,
    known: bool,
    /// The slot of the cell for the number of elements, if it is needed.
    cell: Option<usize>,
}

impl Placing<'_, '_> {
    fn steps(&self, slot: usize) -> Result<Vec<Step>, Error> {
        let lowering = self.lowering;
        let length = lowering.extents.size(self.space);
        let task = CompactTask { length, types: self.node.types.clone(), cost: self.elements.cost() };
        let plan = CompactPlan::new(lowering.profile, &task);
        let skeleton = match (plan.scan.way, plan.scan.phases) {
            (ScanWay::Stretches, _) => "compact by stretches",
            (_, ScanPhases::Alone) => "compact",
            (_, ScanPhases::LookBack) => "compact with look-back",
            (_, ScanPhases::Three) => "compact with counts",
        };
        lowering.because(super::scan::why(&plan.scan, length));
        let name = self.node.place.operation();
        let called = KernelName { node: self.node, name, skeleton, threads: plan.scan.threads };
        let listeners = Listeners { producer: self.node.id, heard: vec![lowering.heard_in(slot)] };
        if plan.scan.phases == ScanPhases::Three {
            let (counts, mut steps) = lowering.temporary(&[ScalarType::I64], plan.scan.tiles);
            if !self.known {
                // No block counts the tiles beyond the array's length, and their counts are added up with the others.
                steps.extend(lowering.buffers_of(counts).into_iter().map(Step::Zero));
            }
            let tile_counts = KernelName { name: "tile_counts", threads: plan.scan.sums_threads(), ..called };
            let write = Listeners { producer: self.node.id, heard: vec![lowering.heard_in(counts)] };
            steps.extend(lowering.kernel(tile_counts, &write, |parameters| {
                self.compaction(parameters, plan, None).tile_counts(plan)
            })?);
            let (before, allocate) = lowering.temporary(&[ScalarType::I64], plan.scan.tiles + 1);
            steps.extend(allocate);
            lowering
                .because("the kernel before counted what each tile keeps: the sums say where each writes");
            let scan = ScanJob {
                lowering,
                node: self.node,
                reduction: &counts_reduction(),
                source: ScanSource::Sums(counts),
                kind: ScanKind::Extended,
                from_right: false,
                rows: 1,
                columns: plan.scan.tiles,
                elements: vec![lowering.heard_in(before)],
                totals: self.cell.map(|cell| lowering.heard_in(cell)).into_iter().collect(),
            };
            steps.extend(scan.steps("scan_counts")?);
            lowering.because(
                "where each tile writes is known from the kernels before: no block waits for another",
            );
            steps.extend(lowering.kernel(called, &listeners, |parameters| {
                let memory = parameters.memory(before, 0, ScalarType::I64, Access::Read);
                // SAFETY: there is a count per tile, and the total behind them.
                let count = move |tile: Ix| unsafe { read(memory, ScalarType::I64, tile.term(), false) };
                let counts = Rc::new(move |tile: Ix| Scalars(vec![count(tile)]));
                // SAFETY: the kernels before have counted the elements of the same function.
                unsafe { self.compaction(parameters, plan, None).push_with_counts(plan, counts) }
            })?);
            return Ok(steps);
        }
        let mut steps = Vec::new();
        let words = plan.state().map(|state| {
            let (words, allocate) = lowering.temporary(&[ScalarType::U64], state.words);
            steps.extend(allocate);
            steps.extend(lowering.buffers_of(words).into_iter().map(Step::Zero));
            words
        });
        steps.extend(lowering.kernel(called, &listeners, |parameters| {
            let state = words.map(|words| ScanState {
                words: parameters.memory(words, 0, ScalarType::U64, Access::ReadWrite),
                sums: Vec::new(),
            });
            // SAFETY: the slot was added with the length that the plan says, for this launch alone, and the step before it
            // zeroes it; elements from the array's length on are never read.
            unsafe { self.compaction(parameters, plan, self.cell).push(plan, state) }
        })?);
        Ok(steps)
    }

    /// The skeleton's view, which writes the number of elements to a cell if there is one.
    fn compaction(&self, parameters: &Rc<Parameters>, plan: CompactPlan, cell: Option<usize>) -> Compact {
        let length = self.lowering.size(self.space, parameters);
        let tiles = match plan.scan.way {
            _ if plan.scan.tiles == 1 => Exp::from(1),
            ScanWay::Tiles if !self.known => parts_for(length, plan.scan.tile as usize).max(1),
            _ => parameters.number("tiles", plan.scan.tiles),
        };
        let tile = match plan.scan.way {
            ScanWay::Stretches if plan.scan.tiles > 1 => parameters.number("tile", plan.scan.tile),
            _ => length,
        };
        let (apply, elements) = (parameters.clone(), self.elements.clone());
        let at = move |index: Ix| {
            let mut terms = apply.apply(&elements, &[index.term()]).into_iter();
            let flag = terms.next().map_or(Exp::from(false), Exp::from_term);
            (flag, Scalars(terms.collect()))
        };
        let count = cell.map(|cell| write_count(parameters, cell));
        Compact { length, tiles, tile, at: Rc::new(at), kept: None, count }
    }
}

/// Writes a count to a cell.
fn write_count(parameters: &Parameters, cell: usize) -> Rc<dyn Fn(Ix)> {
    let memory = parameters.memory(cell, 0, ScalarType::I64, Access::Write);
    // SAFETY: the plan gives every cell an element, and one thread writes it.
    Rc::new(move |count| unsafe { store(memory, Exp::<i64>::from(0).term(), count.term()) })
}

/// The sum of counts.
pub(super) fn counts_reduction() -> Reduction {
    let types = vec![ScalarType::I64];
    Reduction {
        // The counts are in memory.
        elements: function(&[ScalarType::I64; 2], |_| vec![Exp::<i64>::from(0).term()]),
        operator: function(&[ScalarType::I64; 2], |terms| vec![terms[0].binary(Op::Add, terms[1])]),
        neutral: function(&[], |_| vec![Exp::<i64>::from(0).term()]),
        finish: function(&types, <[Term]>::to_vec),
        types,
    }
}
