//! Scans of rows as steps: in one kernel, or in three where a tile cannot wait for the sums of the tiles before it.

use super::{Heard, KernelName, Lowering, Parameters, Step, counted};
use crate::error::Error;
use crate::program::{Node, NodeId};
use crate::reduction::Reduction;
use pumice_kernel::skeletons::{
    ElementAt, Listener, Monoid, Scan as ScanSkeleton, ScanKind, ScanPhases, ScanPlan, ScanState, ScanTask,
    ScanWay, hand_on,
};
use pumice_kernel::{Ix, Scalars, parts_for, read};
use pumice_program::{Access, MemoryId};
use pumice_scalar::{Exp, Function, ScalarType};
use std::rc::Rc;

/// Input of a scan.
#[derive(Clone)]
pub(crate) enum ScanSource {
    /// The elements of an array, from row and column.
    Array(NodeId, Function),
    /// The sums of the tiles of each row, in a slot.
    Sums(usize),
}

/// Why a scan is divided like this.
pub(super) fn why(plan: &ScanPlan, columns: i64) -> String {
    match (plan.way, plan.phases) {
        (ScanWay::Lanes { lanes, .. }, _) => {
            format!("rows of {} are short: {lanes} lanes of a warp share one", counted(columns, "element"))
        }
        (ScanWay::Stretches, _) => {
            "the device has few threads: each goes through stretches of a row by itself".into()
        }
        (ScanWay::Tiles, ScanPhases::Alone) => {
            format!("a row of {} fits the threads of one block", counted(columns, "element"))
        }
        (ScanWay::Tiles, ScanPhases::LookBack) => format!(
            "{} tiles of {} elements in one pass: blocks of this device make progress, so that one can wait for those before it",
            plan.tiles, plan.tile
        ),
        (ScanWay::Tiles, ScanPhases::Three) => format!(
            "{} tiles of {} elements in three kernels: blocks of this device may not wait for each other",
            plan.tiles, plan.tile
        ),
    }
}

/// A scan in which everything but its division is decided.
pub(crate) struct ScanJob<'a, 'b> {
    pub lowering: &'a Lowering<'b>,
    pub node: &'a Node,
    pub reduction: &'a Reduction,
    pub source: ScanSource,
    pub kind: ScanKind,
    pub from_right: bool,
    pub rows: i64,
    pub columns: i64,
    /// The listeners to the elements, and those to the totals.
    pub elements: Vec<Heard>,
    pub totals: Vec<Heard>,
}

impl ScanJob<'_, '_> {
    /// The steps, with a kernel of this name that hands the results on.
    pub fn steps(&self, name: &str) -> Result<Vec<Step>, Error> {
        let Reduction { types, operator, .. } = self.reduction;
        let cost = match &self.source {
            ScanSource::Array(_, elements) => elements.cost(),
            ScanSource::Sums(..) => 1,
        };
        let commutes = operator.commutes();
        let task = ScanTask { rows: self.rows, columns: self.columns, types: types.clone(), cost, commutes };
        let plan = ScanPlan::new(self.lowering.profile, &task);
        let skeleton = match (plan.way, plan.phases) {
            (ScanWay::Lanes { .. }, _) => "scan by lanes",
            (ScanWay::Stretches, _) => "scan by stretches",
            (ScanWay::Tiles, ScanPhases::Alone) => "scan by blocks",
            (ScanWay::Tiles, ScanPhases::LookBack) => "scan with look-back",
            (ScanWay::Tiles, ScanPhases::Three) => "scan with sums",
        };
        self.lowering.because(why(&plan, self.columns));
        let called = KernelName { node: self.node, name, skeleton, threads: plan.threads };
        match plan.phases {
            ScanPhases::Alone => Ok(vec![self.kernel(called, plan, None, None)?]),
            ScanPhases::LookBack => {
                let Some(size) = plan.state(&task) else { return Ok(Vec::new()) };
                let (words, mut steps) = self.lowering.temporary(&[ScalarType::U64], size.words);
                steps.extend(self.lowering.buffers_of(words).into_iter().map(Step::Zero));
                let (sums, allocate) = self.lowering.temporary(&size.types, size.sums);
                steps.extend(allocate);
                steps.push(self.kernel(called, plan, Some((words, sums, size.types)), None)?);
                Ok(steps)
            }
            ScanPhases::Three => {
                let count = self.rows * plan.tiles;
                let (sums, mut steps) = self.lowering.temporary(types, count);
                let tile_sums = KernelName { name: "tile_sums", threads: plan.sums_threads(), ..called };
                let write = [self.lowering.heard_in(sums)];
                steps.push(self.lowering.launch(tile_sums, &[], |parameters| {
                    let push = self.skeleton(parameters, plan).tile_sums(plan);
                    hand_on(&push, &listening(parameters, &write));
                })?);
                let (before, allocate) = self.lowering.temporary(types, count);
                steps.extend(allocate);
                let again = ScanJob {
                    source: ScanSource::Sums(sums),
                    kind: ScanKind::Exclusive,
                    // The tiles are numbered in the order of the scan.
                    from_right: false,
                    columns: plan.tiles,
                    elements: vec![self.lowering.heard_in(before)],
                    totals: Vec::new(),
                    ..*self
                };
                self.lowering.because("the kernel before left the sum of each tile");
                steps.extend(again.steps("scan_sums")?);
                self.lowering.because("what comes before each tile is known from the kernels before");
                steps.push(self.kernel(called, plan, None, Some(before))?);
                Ok(steps)
            }
        }
    }

    /// The kernel that hands on elements and totals: with a state, or with the prefix of each tile in a slot.
    fn kernel(
        &self,
        called: KernelName<'_>,
        plan: ScanPlan,
        state: Option<(usize, usize, Vec<ScalarType>)>,
        before: Option<usize>,
    ) -> Result<Step, Error> {
        let ways: Vec<String> =
            self.elements.iter().chain(&self.totals).filter_map(|heard| heard.consumer.way()).collect();
        self.lowering.launch(called, &ways, |parameters| {
            let mut listeners = listening(parameters, &self.elements);
            let totals = listening(parameters, &self.totals);
            let mut scan = self.skeleton(parameters, plan);
            if !totals.is_empty() {
                listeners
                    .extend(totals.iter().cloned().map(|inner| Rc::new(Hooks(inner)) as Rc<dyn Listener>));
                scan.totals = Some(Rc::new(move |row, total: Scalars| {
                    totals.iter().for_each(|listener| listener.element(row, total.clone()));
                }));
            }
            let push = match (&state, before) {
                (_, Some(slot)) => {
                    let types = &self.reduction.types;
                    let memories = parameters.memories(slot, types, Access::Read);
                    scan.push_with_sums(plan, Rc::new(element_of(memories, types.clone())))
                }
                (state, None) => {
                    let state = state.as_ref().map(|(words, sums, types)| ScanState {
                        words: parameters.memory(*words, 0, ScalarType::U64, Access::ReadWrite),
                        sums: parameters.memories(*sums, types, Access::ReadWrite),
                    });
                    // SAFETY: the slots were added with the lengths that the plan says, for this launch alone, and the step
                    // before it zeroes the words.
                    unsafe { scan.push(plan, state) }
                }
            };
            hand_on(&push, &listeners);
        })
    }

    /// The skeleton's view of the scan.
    fn skeleton(&self, parameters: &Rc<Parameters>, plan: ScanPlan) -> ScanSkeleton {
        let lowering = self.lowering;
        let (columns, known, one_row) = match &self.source {
            ScanSource::Array(array, _) => {
                let rank = lowering.program.node(*array).rank;
                (lowering.column_count(*array, parameters), lowering.extents.is_known(*array), rank == 1)
            }
            ScanSource::Sums(..) => (parameters.number("columns", self.columns), true, self.rows == 1),
        };
        let rows = match (&self.source, one_row) {
            (_, true) => Exp::from(1),
            (ScanSource::Array(array, _), _) => lowering.row_count(*array, parameters),
            (ScanSource::Sums(..), _) => parameters.number("rows", self.rows),
        };
        let tiles = match plan.way {
            _ if plan.tiles == 1 => Exp::from(1),
            ScanWay::Tiles if !known => parts_for(columns, plan.tile as usize).max(1),
            _ => parameters.number("tiles", plan.tiles),
        };
        let tile = match plan.way {
            ScanWay::Stretches if plan.tiles > 1 => parameters.number("tile", plan.tile),
            _ => columns,
        };
        let at: ElementAt = match &self.source {
            ScanSource::Array(_, elements) => {
                let (parameters, elements) = (parameters.clone(), elements.clone());
                Rc::new(move |row: Ix, column: Ix| {
                    Scalars(parameters.apply(&elements, &[row.term(), column.term()]))
                })
            }
            ScanSource::Sums(slot) => {
                let types = &self.reduction.types;
                let element = element_of(parameters.memories(*slot, types, Access::Read), types.clone());
                Rc::new(move |row: Ix, column: Ix| element(row * columns + column))
            }
        };
        let Reduction { operator, neutral, .. } = self.reduction;
        let total = operator.is_total();
        let (apply, operator, flip) = (parameters.clone(), operator.clone(), self.from_right);
        // The skeleton exchanges the operator's sides itself.
        let combine = move |a: Scalars, b: Scalars| match flip {
            true => apply.apply_to(&operator, &[&b, &a]),
            false => apply.apply_to(&operator, &[&a, &b]),
        };
        let neutral = Scalars(parameters.apply(neutral, &[]));
        let monoid = Monoid { operator: Rc::new(combine), neutral, total };
        let (kind, from_right) = (self.kind, self.from_right);
        ScanSkeleton { rows, columns, tiles, tile, at, monoid, kind, from_right, totals: None }
    }
}

fn listening(parameters: &Rc<Parameters>, heard: &[Heard]) -> Vec<Rc<dyn Listener>> {
    heard.iter().map(|heard| heard.listener(parameters)).collect()
}

/// The element of memory with a number, which is below the memory's length.
pub(super) fn element_of(memories: Vec<MemoryId>, types: Vec<ScalarType>) -> impl Fn(Ix) -> Scalars {
    move |index| {
        let cells = memories.iter().zip(&types);
        // SAFETY: scans and sorts ask for elements of their matrix, or for those of its tiles, and the slot has as many.
        Scalars(cells.map(|(memory, ty)| unsafe { read(*memory, *ty, index.term(), false) }).collect())
    }
}

/// Runs a listener's hooks around a block, and hears no elements: those come to it another way.
struct Hooks(Rc<dyn Listener>);

impl Listener for Hooks {
    fn start(&self, block: Ix) {
        self.0.start(block);
    }
    fn element(&self, _: Ix, _: Scalars) {}
    fn finish(&self, block: Ix) {
        self.0.finish(block);
    }
}
