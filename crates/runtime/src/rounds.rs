//! Loops over arrays whose rounds are all alike: bound to memory once, and then only launched.
//!
//! The state alternates between two places, so no round copies it, except what a round can write over what it was given. How a loop goes on is a test on the device ([`Rounds`]); a
//! device that can make it itself never waits for the host.

use crate::device_array::DeviceArray;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::execute::{Execution, Inputs, PreparedPlan, Target};
use crate::pool::Pooled;
use crate::status::Status;
use crate::work::{self, Memo, Rounds, Test, Work};
use pumice_array::{ArrayData, ArrayProgram, Arrays, ResultArray};
use pumice_program::FAILURE_BYTES;
use pumice_scalar::Constant;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

/// A loop, with the plans of its programs for the arrays of the first round.
pub struct UniformLoop<'a> {
    /// Makes the next state.
    pub step: (&'a ArrayProgram, Arc<PreparedPlan>),
    /// When it ends.
    pub until: Until<'a>,
    /// Positions of the state among the inputs.
    pub state: Range<usize>,
    /// The inputs of the first round.
    pub inputs: &'a [Arc<dyn ArrayData>],
    /// The program's scalar arguments.
    pub scalars: &'a [Constant],
}

/// When a loop ends.
pub enum Until<'a> {
    /// When this program, given the same inputs, gives `false`.
    Condition(&'a ArrayProgram, Arc<PreparedPlan>),
    /// After so many rounds.
    Count(u64),
}

/// Fewer rounds than these are not worth a copy of the state.
const FEWEST_ROUNDS: u64 = 8;

impl Until<'_> {
    /// Whether there are so many rounds, as far as one knows, that binding them once is worth while.
    pub fn is_worth_while(&self) -> bool {
        !matches!(self, Until::Count(rounds) if *rounds < FEWEST_ROUNDS)
    }
}

impl UniformLoop<'_> {
    /// Whether its rounds are alike: nothing is read between them, the state has the same extents after each, and there is no
    /// deadline, which is for single plans.
    pub fn is_uniform(&self) -> bool {
        let whole = |plan: &PreparedPlan| plan.plan().reads().is_none() && !plan.has_limit();
        let fixed = |result: &ResultArray, extents: &[usize]| {
            result.extents == extents && result.cells.iter().all(Option::is_none)
        };
        let Some(state) = self.inputs.get(self.state.clone()) else { return false };
        let results = self.step.1.plan().results();
        let until = match &self.until {
            Until::Condition(_, plan) => {
                whole(plan) && plan.plan().results().first().is_some_and(|result| fixed(result, &[]))
            }
            Until::Count(_) => true,
        };
        until
            && self.until.is_worth_while()
            && whole(&self.step.1)
            && results.len() == state.len()
            && results.iter().zip(state).all(|(result, data)| fixed(result, data.extents()))
    }

    /// Runs a loop that is [uniform](UniformLoop::is_uniform), and returns its last state. An error of `go_on` ends it; without one the
    /// device need not ask the host.
    pub fn run(
        &self,
        engine: &Arc<Engine>,
        memo: &Memo,
        go_on: Option<&dyn Fn() -> Result<()>>,
    ) -> Result<Arrays> {
        let device = engine.device();
        let perform = |work: &[Work<'_>]| match go_on {
            // SAFETY: see `Execution::work`. No round reads the place that it writes: both places are new memory, and `back` is
            // bound to inputs of which none is in the first place, except one that no round changes, or that the step's plan
            // itself writes over.
            None => unsafe { device.perform(work, memo) },
            // SAFETY: as above.
            Some(go_on) => unsafe { work::in_order(&**device, work, go_on) },
        };
        let mut before = Vec::new();
        for data in self.inputs {
            before.extend(engine.resident(data)?.1);
        }
        let mut bound = self.bind(engine)?;
        let last = match &self.until {
            Until::Count(rounds) => bound.run_counted(engine, *rounds, &perform)?,
            Until::Condition(program, plan) => {
                // On what a failed run leaves behind, it might never end.
                before.iter().try_for_each(|status| status.check())?;
                before.push(self.run_while(engine, (program, plan), &mut bound, &perform)?);
                &bound.first
            }
        };
        let sites = self.step.1.plan().sites().into();
        let status = Status::new(device.clone(), bound.there.record().cloned(), sites, before);
        let result = |data| Ok(on_device(engine, data, engine.resident(data)?.0, status.clone()));
        last.iter().map(result).collect()
    }

    /// Binds the step to two places of the state, there and back.
    fn bind(&self, engine: &Arc<Engine>) -> Result<BoundStep<'_>> {
        let (mut first, mut brought) = (Vec::new(), Vec::new());
        for data in self.inputs.get(self.state.clone()).unwrap_or(&[]) {
            first.push(copied(engine, data, &mut brought)?);
        }
        let (program, plan) = &self.step;
        let mut target = Target::default();
        let there = plan.bind_to(engine, program, &self.inputs_with(&first), &mut target)?;
        // The second place is where the step puts its results. A result that is an input is copied, since the way back writes to the
        // first place; one that is never changed may stay, and one that the plan writes over the input in its place.
        let (mut second, mut moved) = (Vec::new(), Vec::new());
        for (result, data) in there.results()?.into_iter().zip(&first) {
            let is_input = first.iter().chain(self.inputs).any(|input| Arc::ptr_eq(input, &result));
            let stays = !is_input || Arc::ptr_eq(&result, data);
            second.push(if stays { result } else { copied(engine, &result, &mut moved)? });
        }
        let changing = || first.iter().zip(&second).map(|(first, second)| !Arc::ptr_eq(first, second));
        let place = |(data, changes): (_, bool)| changes.then(|| Ok(engine.resident(data)?.0)).transpose();
        target.results = first.iter().zip(changing()).map(place).collect::<Result<_>>()?;
        target.record = there.record().cloned();
        let back = plan.bind_to(engine, program, &self.inputs_with(&second), &mut target)?;
        let (mut returned, mut settled) = (Vec::new(), Vec::new());
        for (((result, first), second), _) in
            back.results()?.iter().zip(&first).zip(&second).zip(changing()).filter(|(_, changes)| *changes)
        {
            returned.extend(copy(engine, result, first)?);
            settled.extend(copy(engine, second, first)?);
        }
        let spare = target.spare;
        Ok(BoundStep { first, second, there, back, brought, moved, returned, settled, spare })
    }

    /// Runs rounds as long as a condition holds; its status is that of the condition. The last state is in the first place.
    fn run_while(
        &self,
        engine: &Arc<Engine>,
        (program, plan): (&ArrayProgram, &PreparedPlan),
        bound: &mut BoundStep<'_>,
        perform: &dyn Fn(&[Work<'_>]) -> Result<()>,
    ) -> Result<Arc<Status>> {
        let mut target = Target { spare: std::mem::take(&mut bound.spare), ..Target::default() };
        let at_first = plan.bind_to(engine, program, &self.inputs_with(&bound.first), &mut target)?;
        target.record = at_first.record().cloned();
        let at_second = plan.bind_to(engine, program, &self.inputs_with(&bound.second), &mut target)?;
        let truths = [truth(engine, &at_first)?, truth(engine, &at_second)?];
        let records = [&bound.there, &at_first].map(|bound| bound.record().map(|record| record.memory()));
        let [step_record, condition_record] = records.map(Option::transpose);
        let failures = [step_record?, condition_record?];
        let mut work = bound.begin()?;
        work.extend(clearing(&at_first)?);
        work.extend(at_first.work()?);
        let (mut there, mut back) = (bound.there()?, bound.back()?);
        there.extend(at_second.work()?);
        back.extend(at_first.work()?);
        let [at_first_test, at_second_test] = truths.each_ref().map(|truth| truth.memory());
        work.push(Work::Rounds(Rounds {
            at_first: Test { condition: at_first_test?, failures },
            there,
            at_second: Test { condition: at_second_test?, failures },
            back,
            settle: works(&bound.settled)?,
        }));
        perform(&work)?;
        Ok(at_first.status().clone())
    }

    /// The inputs of a round.
    fn inputs_with(&self, state: &[Arc<dyn ArrayData>]) -> Inputs {
        let mut arrays: HashMap<u32, _> = (0..).zip(self.inputs.iter().cloned()).collect();
        arrays.extend((self.state.start as u32..).zip(state.iter().cloned()));
        Inputs { arrays, scalars: self.scalars.to_vec(), computed: HashMap::new() }
    }
}

/// The step of a loop, bound to two places between which the state alternates.
struct BoundStep<'a> {
    first: Arrays,
    second: Arrays,
    /// From the first place to the second.
    there: Execution<'a>,
    /// From the second place to the first.
    back: Execution<'a>,
    /// Copies: of the given state to the first place, after a round there of what the step gave elsewhere, after one back of the same,
    /// and at the end from the second place to the first.
    brought: Vec<Move>,
    moved: Vec<Move>,
    returned: Vec<Move>,
    settled: Vec<Move>,
    /// Memory that no round needs any more when it has ended.
    spare: HashMap<usize, Vec<Arc<Pooled>>>,
}

impl BoundStep<'_> {
    /// The work before the first round.
    fn begin(&self) -> Result<Vec<Work<'_>>> {
        let mut work = works(&self.brought)?;
        work.extend(clearing(&self.there)?);
        Ok(work)
    }

    /// A round from the first place to the second.
    fn there(&self) -> Result<Vec<Work<'_>>> {
        let mut work = self.there.work()?;
        work.extend(works(&self.moved)?);
        Ok(work)
    }

    /// A round from the second place to the first.
    fn back(&self) -> Result<Vec<Work<'_>>> {
        let mut work = self.back.work()?;
        work.extend(works(&self.returned)?);
        Ok(work)
    }

    /// Runs so many rounds, two at a time; gives the last state.
    fn run_counted(
        &self,
        engine: &Engine,
        rounds: u64,
        perform: &dyn Fn(&[Work<'_>]) -> Result<()>,
    ) -> Result<&Arrays> {
        perform_once(engine, &self.begin()?)?;
        let mut both = self.there()?;
        both.extend(self.back()?);
        (0..rounds / 2).try_for_each(|_| perform(&both))?;
        if rounds.is_multiple_of(2) {
            return Ok(&self.first);
        }
        perform_once(engine, &self.there()?)?;
        Ok(&self.second)
    }
}

/// A column that is copied to another one.
struct Move {
    from: Arc<Pooled>,
    to: Arc<Pooled>,
    bytes: usize,
}

/// Returns the copies that bring the columns of an array to another one, where they are not there already.
fn copy(engine: &Engine, from: &Arc<dyn ArrayData>, to: &Arc<dyn ArrayData>) -> Result<Vec<Move>> {
    let count: usize = to.extents().iter().product();
    let columns = engine.resident(from)?.0.into_iter().zip(engine.resident(to)?.0).zip(to.types());
    let moves = columns.map(|((from, to), ty)| Move { from, to, bytes: count * ty.bytes() });
    Ok(moves.filter(|Move { from, to, .. }| !Arc::ptr_eq(from, to)).collect())
}

/// A place for a copy of an array.
fn copied(
    engine: &Arc<Engine>,
    data: &Arc<dyn ArrayData>,
    moves: &mut Vec<Move>,
) -> Result<Arc<dyn ArrayData>> {
    let count: usize = data.extents().iter().product();
    let columns = data.types().iter().map(|ty| engine.allocate(count * ty.bytes()));
    let status = Status::new(engine.device().clone(), None, [].into(), []);
    let place = on_device(engine, data, columns.collect::<Result<_>>()?, status);
    moves.extend(copy(engine, data, &place)?);
    Ok(place)
}

fn works(moves: &[Move]) -> Result<Vec<Work<'_>>> {
    let memories = moves.iter().map(|Move { from, to, bytes }| Ok((from.memory()?, to.memory()?, *bytes)));
    memories.map(|found: Result<_>| found.map(|(from, to, bytes)| Work::Copy { from, to, bytes })).collect()
}

/// Clears the record of failures.
fn clearing<'a>(bound: &'a Execution<'_>) -> Result<Option<Work<'a>>> {
    let zero = |record: &'a Arc<Pooled>| Ok(Work::Zero { memory: record.memory()?, bytes: FAILURE_BYTES });
    bound.record().map(zero).transpose()
}

/// Does what will not come again.
fn perform_once(engine: &Engine, work: &[Work<'_>]) -> Result<()> {
    // SAFETY: see `UniformLoop::run`.
    unsafe { work::in_order(&**engine.device(), work, &|| Ok(())) }
}

/// An array like another one, in this memory.
fn on_device(
    engine: &Arc<Engine>,
    like: &Arc<dyn ArrayData>,
    columns: Vec<Arc<Pooled>>,
    status: Arc<Status>,
) -> Arc<dyn ArrayData> {
    let (extents, types) = (like.extents().to_vec(), like.types().into());
    Arc::new(DeviceArray::new(engine.clone(), extents, types, columns, status))
}

/// The memory of a condition's value.
fn truth(engine: &Engine, condition: &Execution<'_>) -> Result<Arc<Pooled>> {
    let result = condition.results()?.into_iter().next();
    let columns = result.map(|result| engine.resident(&result)).transpose()?;
    let column = columns.and_then(|(columns, _)| columns.into_iter().next());
    column.ok_or_else(|| Error::Invalid("a loop has no condition".into()))
}
