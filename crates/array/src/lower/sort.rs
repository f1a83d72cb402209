//! Sorts of rows as steps: passes over digits of keys, or runs that are merged.

mod rows;
mod stretches;

use super::place::counts_reduction;
use super::scan::element_of;
use super::{KernelName, Listeners, Lowering, Parameters, ScanJob, ScanSource, Step, counted};
use crate::error::Error;
use crate::fuser::rows_and_columns;
use crate::operations::Order;
use crate::program::{Node, NodeId};
use pumice_kernel::skeletons::{
    CountAt, Digit, ElementAt, KeyOf, Less, PassDigit, Runs, ScanKind, Sort, SortPlan, SortState, SortTask,
    SortWay, merge, sort_runs,
};
use pumice_kernel::{Ix, Scalars, parts_for, quotient};
use pumice_program::Access;
use pumice_scalar::{Constant, Exp, Function, Op, ScalarType, Term, function};
use std::rc::Rc;

/// Elements of a run that is sorted by counting, which takes the square of this in comparisons.
const RUN: i64 = 32;
/// Elements that a thread merges, where there are many threads.
const SHARE: i64 = 16;

/// A sort in which everything but its division is decided.
pub(crate) struct SortJob<'a, 'b> {
    lowering: &'a Lowering<'b>,
    node: &'a Node,
    input: NodeId,
    order: Order,
    rows: i64,
    columns: i64,
}

/// Source of the elements of a pass.
#[derive(Clone)]
enum Source {
    /// The sorted array, from row and column.
    Array(Function),
    /// A slot.
    Slot(usize),
}

/// A pass over one digit.
#[derive(Clone, Copy)]
struct Pass {
    /// Its number.
    number: i64,
    /// Number of the key, and the lowest bit of the digit in it.
    key: usize,
    shift: u32,
}

impl<'a, 'b> SortJob<'a, 'b> {
    pub fn new(lowering: &'a Lowering<'b>, node: &'a Node, input: NodeId, order: Order) -> Self {
        let (rows, columns) = rows_and_columns(&lowering.extents.bounds(input));
        SortJob { lowering, node, input, order, rows, columns }
    }

    /// The steps after which the listeners have heard the sorted array.
    pub fn steps(&self, listeners: &Listeners) -> Result<Vec<Step>, Error> {
        if self.rows == 0 || self.columns == 0 {
            return Ok(Vec::new());
        }
        match &self.order {
            Order::Before(before) => {
                self.lowering.because("the order is a function of two elements: sorted runs are merged");
                self.merged(before, listeners)
            }
            Order::Keys(keys) if self.columns <= RUN || keys.result_types().is_empty() => {
                let columns = counted(self.columns, "element");
                self.lowering.because(format!(
                    "rows of {columns} are short: each is one run, which is sorted by comparisons"
                ));
                self.merged(&before_by_keys(keys), listeners)
            }
            Order::Keys(keys) => {
                self.lowering.because("the keys are numbers: passes over their digits compare nothing");
                self.by_digits(keys, listeners)
            }
        }
    }

    fn called(&self, skeleton: &'static str, threads: u32) -> KernelName<'_> {
        KernelName { node: self.node, name: self.node.place.operation(), skeleton, threads }
    }

    fn given(&self) -> Source {
        Source::Array(self.lowering.fuser.rows_of_input(self.input).function)
    }

    /// Two slots to write in turns, and the steps that allocate them: as many as so many passes need besides the result.
    fn slots(&self, passes: usize) -> (Vec<usize>, Vec<Step>) {
        let slots =
            (1..passes.min(3)).map(|_| self.lowering.temporary(&self.node.types, self.rows * self.columns));
        let (slots, steps): (Vec<usize>, Vec<Vec<Step>>) = slots.unzip();
        (slots, steps.into_iter().flatten().collect())
    }

    /// Passes one after the other: each reads the output of the one before, and the last one is heard.
    fn one_after_the_other(
        &self,
        passes: usize,
        listeners: &Listeners,
        pass: impl FnMut(usize, Source, &Listeners) -> Result<Vec<Step>, Error>,
    ) -> Result<Vec<Step>, Error> {
        let (slots, mut steps) = self.slots(passes);
        steps.extend(self.through(&slots, passes, listeners, pass)?);
        Ok(steps)
    }

    /// Passes one after the other, which write these slots in turns.
    fn through(
        &self,
        slots: &[usize],
        passes: usize,
        listeners: &Listeners,
        mut pass: impl FnMut(usize, Source, &Listeners) -> Result<Vec<Step>, Error>,
    ) -> Result<Vec<Step>, Error> {
        let mut steps = Vec::new();
        let mut source = self.given();
        for number in 0..passes {
            if number > 0 {
                self.lowering.because(format!(
                    "it is pass {} of {passes}, over what the one before wrote",
                    number + 1
                ));
            }
            match slots.get(number % 2).filter(|_| number + 1 < passes) {
                None => steps.extend(pass(number, source.clone(), listeners)?),
                Some(slot) => {
                    steps.extend(pass(number, source, &self.written_to(*slot))?);
                    source = Source::Slot(*slot);
                }
            }
        }
        Ok(steps)
    }

    /// Returns the listener that writes elements to a slot.
    fn written_to(&self, slot: usize) -> Listeners {
        Listeners { producer: self.node.id, heard: vec![self.lowering.heard_in(slot)] }
    }

    /// Number of rows, and elements of a row, inside a kernel.
    fn extents(&self, parameters: &Parameters) -> [Ix; 2] {
        let one_row = self.lowering.program.node(self.input).rank == 1;
        let rows = if one_row { Exp::from(1) } else { self.lowering.row_count(self.input, parameters) };
        [rows, self.lowering.column_count(self.input, parameters)]
    }

    fn at(&self, source: &Source, parameters: &Rc<Parameters>) -> ElementAt {
        match source {
            Source::Array(elements) => {
                let (parameters, elements) = (parameters.clone(), elements.clone());
                Rc::new(move |row: Ix, column: Ix| {
                    Scalars(parameters.apply(&elements, &[row.term(), column.term()]))
                })
            }
            Source::Slot(slot) => {
                let types = &self.node.types;
                let [_, columns] = self.extents(parameters);
                let element = element_of(parameters.memories(*slot, types, Access::Read), types.clone());
                Rc::new(move |row: Ix, column: Ix| element(row * columns + column))
            }
        }
    }

    /// Sorts runs, and merges them.
    fn merged(&self, before: &Function, listeners: &Listeners) -> Result<Vec<Step>, Error> {
        let profile = self.lowering.profile;
        let widths = std::iter::successors(Some(RUN), |width| width.checked_mul(2));
        let widths: Vec<i64> = match before.constants().is_some() {
            // Nothing comes before anything.
            true => Vec::new(),
            false => widths.take_while(|width| *width < self.columns).collect(),
        };
        let threads = if profile.coalesces { profile.threads } else { 1 };
        // Of a CPU's workers each has a few large shares. All are powers of two, as widths are.
        let busy = i64::try_from(profile.busy_blocks).unwrap_or(i64::MAX).max(1);
        let share = match profile.coalesces {
            true => SHARE,
            false => 1 << (self.rows * self.columns / busy).max(RUN).ilog2(),
        };
        self.one_after_the_other(widths.len() + 1, listeners, |number, source, listeners| {
            let runs = |parameters: &Rc<Parameters>| {
                let [rows, columns] = self.extents(parameters);
                Runs {
                    rows,
                    columns,
                    at: self.at(&source, parameters),
                    less: less(parameters, before),
                    threads,
                }
            };
            let Some(width) = number.checked_sub(1).and_then(|number| widths.get(number)) else {
                let called = self.called("sort runs", threads);
                return self
                    .lowering
                    .kernel(called, listeners, |parameters| sort_runs(runs(parameters), RUN));
            };
            let called = self.called("merge runs", threads);
            self.lowering.kernel(called, listeners, |parameters| {
                let share = parameters.number("share", share.min(2 * width));
                merge(runs(parameters), parameters.number("width", *width), share)
            })
        })
    }

    /// Sorts by the digits of keys, the lowest of the last key first.
    fn by_digits(&self, keys: &Function, listeners: &Listeners) -> Result<Vec<Step>, Error> {
        let types = self.node.types.clone();
        let task = SortTask { rows: self.rows, columns: self.columns, types };
        let plan = SortPlan::new(self.lowering.profile, &task);
        let bits: Vec<u32> = keys.result_types().iter().map(|ty| key_bits(*ty)).collect();
        match plan.way {
            SortWay::Alone => return self.alone(plan, keys, &bits, listeners),
            SortWay::Stretches => return self.by_stretches(plan, keys, &bits, listeners),
            _ => {}
        }
        let digits = (0..bits.len())
            .rev()
            .flat_map(|key| (0..plan.passes(bits[key])).map(move |digit| (key, digit * plan.bits)));
        let passes: Vec<Pass> =
            (0..).zip(digits).map(|(number, (key, shift))| Pass { number, key, shift }).collect();
        let (state, mut steps) = match plan.way {
            SortWay::LookBack => {
                let (state, steps) = self.count_all(plan, &task, keys, &passes)?;
                (Some(state), steps)
            }
            _ => (None, Vec::new()),
        };
        steps.extend(self.one_after_the_other(passes.len(), listeners, |number, source, listeners| {
            let Some(pass) = passes.get(number).copied() else { return Ok(Vec::new()) };
            match state {
                Some(state) => self.with_look_back(plan, keys, pass, state, &source, listeners),
                None => {
                    let digit = |parameters: &Rc<Parameters>| PassDigit::Fixed(digit(keys, pass, parameters));
                    self.with_counts(plan, "sort with counts", &digit, &source, listeners)
                }
            }
        })?);
        Ok(steps)
    }

    /// Sorts rows that fit one block each.
    fn alone(
        &self,
        plan: SortPlan,
        keys: &Function,
        bits: &[u32],
        listeners: &Listeners,
    ) -> Result<Vec<Step>, Error> {
        let called = self.called("sort by blocks", plan.threads);
        self.lowering.kernel(called, listeners, |parameters| {
            let keys = bits.iter().enumerate().map(|(key, bits)| (*bits, key_of(keys, key, parameters)));
            self.skeleton(&self.given(), plan, parameters).push_alone(plan, keys.collect())
        })
    }

    /// The skeleton's view of the sort.
    fn skeleton(&self, source: &Source, plan: SortPlan, parameters: &Rc<Parameters>) -> Sort {
        let [rows, columns] = self.extents(parameters);
        let known = self.lowering.extents.is_known(self.input);
        let tiles = match plan.way {
            _ if plan.tiles == 1 => Exp::from(1),
            SortWay::LookBack if !known => parts_for(columns, plan.tile as usize).max(1),
            _ => parameters.number("tiles", plan.tiles),
        };
        let tile = match plan.way {
            SortWay::Stretches if plan.tiles > 1 => quotient(columns + (tiles - 1), tiles),
            _ => columns,
        };
        let (types, at) = (self.node.types.clone(), self.at(source, parameters));
        let values = parameters.number("values", plan.values()).cast();
        Sort { rows, columns, tiles, tile, types, at, values }
    }

    /// One pass, after tiles have been counted by themselves.
    fn with_counts(
        &self,
        plan: SortPlan,
        skeleton: &'static str,
        digit: &dyn Fn(&Rc<Parameters>) -> PassDigit,
        source: &Source,
        listeners: &Listeners,
    ) -> Result<Vec<Step>, Error> {
        let (before, mut steps) = self.counted(plan, skeleton, digit, source)?;
        steps.extend(self.moved(plan, (skeleton, before), digit, source, listeners)?);
        Ok(steps)
    }

    /// Counts the digits of each tile, and those before it. Returns the slot of the latter, and the steps that compute it.
    fn counted(
        &self,
        plan: SortPlan,
        skeleton: &'static str,
        digit: &dyn Fn(&Rc<Parameters>) -> PassDigit,
        source: &Source,
    ) -> Result<(usize, Vec<Step>), Error> {
        let columns = plan.tiles * plan.values();
        let (counts, mut steps) = self.lowering.temporary(&[ScalarType::I64], self.rows * columns);
        let (before, allocate) = self.lowering.temporary(&[ScalarType::I64], self.rows * columns);
        steps.extend(allocate);
        let called = KernelName { name: "count_digits", ..self.called(skeleton, plan.threads) };
        steps.extend(self.lowering.kernel(called, &self.written_to(counts), |parameters| {
            let digit = digit(parameters);
            self.skeleton(source, plan, parameters).tile_counts(plan, digit)
        })?);
        self.lowering.because(TILES_COUNTED);
        steps.extend(self.scan(counts, before, self.rows, columns)?);
        Ok((before, steps))
    }

    /// Moves elements by a digit, after they have been counted.
    fn moved(
        &self,
        plan: SortPlan,
        (skeleton, before): (&'static str, usize),
        digit: &dyn Fn(&Rc<Parameters>) -> PassDigit,
        source: &Source,
        listeners: &Listeners,
    ) -> Result<Vec<Step>, Error> {
        self.lowering.because("the kernels before found where each tile writes the elements of each digit");
        self.lowering.kernel(self.called(skeleton, plan.threads), listeners, |parameters| {
            let digit = digit(parameters);
            let sort = self.skeleton(source, plan, parameters);
            let before = before_tiles(before, &sort, plan, parameters);
            sort.push_with_counts(plan, digit, before)
        })
    }

    /// The steps that scan counts.
    fn scan(&self, counts: usize, before: usize, rows: i64, columns: i64) -> Result<Vec<Step>, Error> {
        let scan = ScanJob {
            lowering: self.lowering,
            node: self.node,
            reduction: &counts_reduction(),
            source: ScanSource::Sums(counts),
            kind: ScanKind::Exclusive,
            from_right: false,
            rows,
            columns,
            elements: vec![self.lowering.heard_in(before)],
            totals: Vec::new(),
        };
        scan.steps("scan_counts")
    }

    /// Counts the values of all digits at once, and makes the memory through which tiles ask each other.
    fn count_all(
        &self,
        plan: SortPlan,
        task: &SortTask,
        keys: &Function,
        passes: &[Pass],
    ) -> Result<(LookBack, Vec<Step>), Error> {
        let lowering = self.lowering;
        let zero = |slot: usize| lowering.buffers_of(slot).into_iter().map(Step::Zero);
        let rows = self.rows * passes.len() as i64;
        let (counts, mut steps) = lowering.temporary(&[ScalarType::I64], rows * plan.values());
        steps.extend(zero(counts));
        let (starts, allocate) = lowering.temporary(&[ScalarType::I64], rows * plan.values());
        steps.extend(allocate);
        let (length, ty) = plan.words(task);
        let (words, allocate) = lowering.temporary(&[ty], length * passes.len() as i64);
        steps.extend(allocate);
        steps.extend(zero(words));
        let called = KernelName { name: "count_digits", ..self.called("sort with look-back", plan.threads) };
        steps.push(lowering.launch(called, &[], |parameters| {
            let constant = |pass: &Pass| {
                let shift = Exp::from(pass.shift);
                Digit { key: key_of(keys, pass.key, parameters), shift, shift_again: shift, is_cheap: true }
            };
            let digits: Vec<Digit> = passes.iter().map(constant).collect();
            let memory = parameters.memory(counts, 0, ScalarType::I64, Access::ReadWrite);
            // SAFETY: the slot was added with so many elements, for this launch, and the step before zeroes it.
            unsafe { self.skeleton(&self.given(), plan, parameters).count_all(plan, &digits, memory) };
        })?);
        lowering
            .because("the kernel before counted the digits of all passes: the sums say where each begins");
        steps.extend(self.scan(counts, starts, rows, plan.values())?);
        Ok((LookBack { starts, words, length, ty, passes: passes.len() as i64 }, steps))
    }

    /// One pass in which tiles ask each other for their counts.
    fn with_look_back(
        &self,
        plan: SortPlan,
        keys: &Function,
        pass: Pass,
        state: LookBack,
        source: &Source,
        listeners: &Listeners,
    ) -> Result<Vec<Step>, Error> {
        self.lowering
            .because("where each digit begins is known, and a tile asks those before it for the rest");
        let called = self.called("sort with look-back", plan.threads);
        self.lowering.kernel(called, listeners, |parameters| {
            let digit = digit(keys, pass, parameters);
            let first = parameters.number("first_start", pass.number * plan.values());
            let row_length = state.passes * plan.values();
            let starts =
                counts_at(state.starts, parameters, move |row, value| row * row_length + first + value);
            let words = parameters.memory(state.words, 0, state.ty, Access::ReadWrite);
            let first = parameters.number("first_word", pass.number * state.length);
            let words = SortState { words, ty: state.ty, first };
            let sort = self.skeleton(source, plan, parameters);
            // SAFETY: each pass has words of its own, which a step before zeroes, and the starts of the values of its digit;
            // the passes before have changed the order of elements and nothing else.
            unsafe { sort.push_with_look_back(plan, digit, words, starts) }
        })
    }
}

/// Whether an element comes before another one, inside a kernel.
fn less(parameters: &Rc<Parameters>, before: &Function) -> Less {
    let (parameters, before) = (parameters.clone(), before.clone());
    Rc::new(move |a: &Scalars, b: &Scalars| {
        let flag = parameters.apply_to(&before, &[a, b]).0.into_iter().next();
        flag.map_or(Exp::from(false), Exp::from_term)
    })
}

/// Why the counts of tiles are scanned.
const TILES_COUNTED: &str =
    "the kernel before counted the digits of each tile: the sums say where each begins";

/// State that the passes with look-back share.
#[derive(Clone, Copy)]
struct LookBack {
    /// Start of each value of each digit in a row.
    starts: usize,
    words: usize,
    /// Words of one pass, and their type.
    length: i64,
    ty: ScalarType,
    passes: i64,
}

/// The bits of a key of a type.
fn key_bits(ty: ScalarType) -> u32 {
    if ty == ScalarType::Bool { 1 } else { 8 * ty.bytes() as u32 }
}

/// A key, inside a kernel.
fn key_of(keys: &Function, number: usize, parameters: &Rc<Parameters>) -> KeyOf {
    let (keys, apply) = (keys.clone(), parameters.clone());
    Rc::new(move |element: &Scalars| {
        let key = apply.apply_to(&keys, &[element]).0.get(number).copied();
        let zero = || Term::from(Constant::zero(ScalarType::U32));
        match key.unwrap_or_else(zero) {
            small if small.ty().bytes() < 4 => small.cast(ScalarType::U32),
            key => key,
        }
    })
}

/// Keys that cost no more than this are computed wherever they are needed.
const CHEAP: u32 = 8;

/// The digit of a pass, inside a kernel.
fn digit(keys: &Function, pass: Pass, parameters: &Rc<Parameters>) -> Digit {
    let [shift, shift_again] =
        ["shift", "shift_again"].map(|name| parameters.number(name, pass.shift.into()).cast());
    let is_cheap = keys.cost() <= CHEAP;
    Digit { key: key_of(keys, pass.key, parameters), shift, shift_again, is_cheap }
}

/// The number of elements before those of a row, a value and a tile, in a slot.
fn before_tiles(slot: usize, sort: &Sort, plan: SortPlan, parameters: &Rc<Parameters>) -> CountAt {
    let columns = sort.tiles * plan.values();
    counts_at(slot, parameters, move |row, place| row * columns + place)
}

/// Numbers in a slot, from a row and a place in it.
fn counts_at(slot: usize, parameters: &Rc<Parameters>, index: impl Fn(Ix, Ix) -> Ix + 'static) -> CountAt {
    let types = vec![ScalarType::I64];
    let count = element_of(parameters.memories(slot, &types, Access::Read), types);
    Rc::new(move |row, place| {
        count(index(row, place)).0.first().map_or(Exp::from(0), |term| Exp::from_term(*term))
    })
}

/// Whether an element comes before another one by its keys.
fn before_by_keys(keys: &Function) -> Function {
    let types = keys.parameters();
    function(&[types, types].concat(), |terms| {
        let (a, b) = terms.split_at(types.len());
        let keys = keys.apply(a).into_iter().zip(keys.apply(b)).rev();
        let before = keys.fold(Exp::from(false), |rest, (a, b)| {
            let [a, b] =
                [a, b].map(|key| if key.ty() == ScalarType::Bool { key.cast(ScalarType::U32) } else { key });
            let less = Exp::<bool>::from_term(a.compare(Op::Lt, b));
            less | (Exp::<bool>::from_term(a.compare(Op::Eq, b)) & rest)
        });
        vec![before.term()]
    })
}
