//! Compiled programs without Rust's types, and their execution, plan after plan.
//!
//! A plan ends where something must be known before the rest can be planned ([`Plan::reads`]): a length, a count, or the result of
//! a loop or a branch. The programs of loops and branches are compiled programs too, which are run like this one; they
//! find their plans again in every round that has the same extents. A loop whose rounds are all alike is bound once ([`UniformLoop`]).
//! A run for which the device has no memory begins again in parts, if the program says how ([`in_parts`](crate::Acc::in_parts)).

use crate::profile::{Ceilings, RunReport};
use pumice_array::{
    Array, ArrayData, ArrayProgram, Arrays, CheckedProgram, Dim0, Error as ArrayError, Explanation, Foreseen,
    Knowledge, Loop, NodeId, Plan, Read, Rounds, foresee, is_true, whole_columns, whole_number,
};
use pumice_runtime::profile::{Activity, Facts, Span, at, collect};
use pumice_runtime::work::Memo;
use pumice_runtime::{
    Choices, Device, Engine, Error, Execution, Inputs, Plans, PreparedPlan, Result, UniformLoop, Until,
};
use pumice_scalar::{Constant, Place, PlacedMessage};
use std::cell::Cell;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// A compiled program without Rust's types: the untyped part of [`Compiled`](crate::Compiled), which other front ends run too.
///
/// ```
/// use pumice::{Compiler, prelude::*};
/// use pumice::layers::{array::ArrayProgram, runtime::Inputs};
/// // What a front end describes, without types of Rust.
/// let described = use_(&[1, 2, 3, 4]).sum();
/// let program = ArrayProgram::of(&[described.described().clone()]);
/// let sum = Compiler::on("sim")?.compile_program(program)?.run(&Inputs::default())?;
/// assert_eq!(Scalar::<i32>::from_data(sum)?.to_value()?, 10);
/// # Ok::<(), pumice::Error>(())
/// ```
pub struct Untyped {
    engine: Arc<Engine>,
    /// The program as it was written, and as it is planned.
    written: CheckedProgram,
    program: CheckedProgram,
    choices: Choices,
    plans: Plans,
    /// The programs of its loops and branches.
    nested: HashMap<NodeId, Nested>,
    /// What came of the last run for which memory did not suffice.
    cut: Mutex<Option<Cut>>,
}

/// A program in more parts, and the arguments that it took them for: extents, and scalars.
struct Cut {
    arguments: (HashMap<u32, Vec<usize>>, Vec<Constant>),
    program: Arc<Untyped>,
}

/// Factor by which there are more parts when memory did not suffice, and parts that are not cut any more.
const MORE_PARTS: u32 = 8;
const MOST_PARTS: u32 = 1 << 18;

/// The programs of a loop or a branch, and the state of its rounds that the device keeps.
struct Nested {
    programs: Vec<Untyped>,
    memo: Memo,
}

impl Untyped {
    /// Compiles a program; its plans are made when it runs.
    pub(crate) fn new(engine: Arc<Engine>, program: CheckedProgram, choices: Choices) -> Result<Untyped> {
        let written = program;
        let program = written.ready(&choices.plan)?;
        let mut nested = HashMap::new();
        for node in program.nodes() {
            let compile = |program: &ArrayProgram| {
                let program = CheckedProgram::new(program.clone())?;
                Untyped::new(engine.clone(), program, choices.clone())
            };
            let programs = node.programs().iter().map(compile).collect::<Result<Vec<_>>>()?;
            if !programs.is_empty() {
                nested.insert(node.id, Nested { programs, memo: Memo::default() });
            }
        }
        let plans = engine.plans().of(&program, &choices);
        Ok(Untyped { engine, written, program, choices, plans, nested, cut: Mutex::default() })
    }

    /// Runs the program. Its first result stays on the device until it is looked at.
    ///
    /// ```
    /// use pumice::layers::{array::ArrayProgram, runtime::Inputs};
    /// use pumice::{Compiler, prelude::*};
    /// let doubled = Acc::<Vector<i64>>::argument(0).map(|x| x + x);
    /// let doubled = Compiler::on("sim")?.compile_program(ArrayProgram::of(&[doubled.described().clone()]))?;
    /// let inputs = Inputs { arrays: [(0, Vector::from(vec![1i64, 2]).data().clone())].into(), ..Inputs::default() };
    /// assert_eq!(Vector::<i64>::from_data(doubled.run(&inputs)?)?.to_vec()?, [2, 4]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    pub fn run(&self, inputs: &Inputs) -> Result<Arc<dyn ArrayData>> {
        first(self.run_all(inputs)?)
    }

    /// Runs the program. All its results stay on the device until they are looked at.
    ///
    /// ```
    /// use pumice::layers::{array::ArrayProgram, runtime::Inputs};
    /// use pumice::{Compiler, prelude::*};
    /// let doubled = Acc::<Vector<i64>>::argument(0).map(|x| x + x);
    /// let doubled = Compiler::on("sim")?.compile_program(ArrayProgram::of(&[doubled.described().clone()]))?;
    /// let inputs = Inputs { arrays: [(0, Vector::from(vec![1i64, 2]).data().clone())].into(), ..Inputs::default() };
    /// assert_eq!(doubled.run_all(&inputs)?.len(), 1);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    pub fn run_all(&self, inputs: &Inputs) -> Result<Arrays> {
        self.run_until(inputs, &Clock::new(self.choices.limit))
    }

    /// Runs as [`Untyped::run_all`] does until `cancelled` is set. No further work begins then, and the run is an
    /// [`Error::Cancelled`]. A kernel that was launched runs to its end.
    ///
    /// ```
    /// use std::sync::atomic::AtomicBool;
    /// use pumice::layers::{array::ArrayProgram, runtime::Inputs};
    /// use pumice::{Compiler, prelude::*};
    /// let doubled = Acc::<Vector<i64>>::argument(0).map(|x| x + x);
    /// let doubled = Compiler::on("sim")?.compile_program(ArrayProgram::of(&[doubled.described().clone()]))?;
    /// let inputs = Inputs { arrays: [(0, Vector::from(vec![1i64, 2]).data().clone())].into(), ..Inputs::default() };
    /// assert!(doubled.run_unless(&AtomicBool::new(false), &inputs).is_ok());
    /// assert!(matches!(doubled.run_unless(&AtomicBool::new(true), &inputs), Err(pumice::Error::Cancelled)));
    /// # Ok::<(), pumice::Error>(())
    /// ```
    pub fn run_unless(&self, cancelled: &AtomicBool, inputs: &Inputs) -> Result<Arrays> {
        self.run_until(inputs, &Clock { cancelled: Some(cancelled), ..Clock::new(self.choices.limit) })
    }

    /// Runs the program as a part of a run.
    fn run_until(&self, inputs: &Inputs, clock: &Clock<'_>) -> Result<Arrays> {
        self.placed(|| {
            if let Some(in_parts) = self.known_in_parts(inputs) {
                return in_parts.run_until(inputs, clock);
            }
            let span = Span::begin();
            let results = match self.run_plans(inputs, clock) {
                Err(full @ Error::OutOfMemory { .. }) if self.can_be_cut() => {
                    self.run_in_more_parts(inputs, clock, &full)
                }
                results => results,
            };
            span.end(Activity::Run, || self.facts("run"));
            results
        })
    }

    /// Whether it may need less memory in more parts.
    fn can_be_cut(&self) -> bool {
        self.choices.plan.parts < MOST_PARTS && self.written.asks_for_parts()
    }

    /// The program in as many parts as it took when memory did not suffice last time, if that was for arguments like these.
    fn known_in_parts(&self, inputs: &Inputs) -> Option<Arc<Untyped>> {
        let cut = self.cut.lock().unwrap_or_else(PoisonError::into_inner);
        let cut = cut.as_ref().filter(|cut| cut.arguments == arguments(inputs))?;
        Some(cut.program.clone())
    }

    /// Runs the program in more parts, after a run for which memory did not suffice.
    fn run_in_more_parts(&self, inputs: &Inputs, clock: &Clock<'_>, full: &Error) -> Result<Arrays> {
        let mut choices = self.choices.clone();
        choices.plan.parts = choices.plan.parts.max(1).saturating_mul(MORE_PARTS);
        tracing::warn!(target: "pumice::memory", parts = choices.plan.parts, "{full}; begins again in parts");
        let program = Arc::new(Untyped::new(self.engine.clone(), self.written.clone(), choices)?);
        let results = program.run_until(inputs, clock)?;
        let cut = Cut { arguments: arguments(inputs), program };
        *self.cut.lock().unwrap_or_else(PoisonError::into_inner) = Some(cut);
        Ok(results)
    }

    /// Does work on the whole program, for its first result: what names no operation of it names that one.
    fn placed<R>(&self, work: impl FnOnce() -> Result<R>) -> Result<R> {
        let place = self.program.results().first().map(|result| self.program.node(*result).place);
        at(place, work)
    }

    fn run_plans(&self, inputs: &Inputs, clock: &Clock<'_>) -> Result<Arrays> {
        let (last, reading) = self.read(inputs, clock)?;
        let execution = last.bind(&self.engine, &self.program, reading.inputs(inputs))?;
        clock.launch(&execution)?;
        execution.results()
    }

    /// Describes work on the whole program for a profile. The work is named by the program's first result.
    fn facts(&self, name: &str) -> Facts {
        let place = self.program.results().first().map(|result| self.program.node(*result).place.to_string());
        Facts { name: name.into(), place: place.unwrap_or_default(), ..Facts::default() }
    }

    /// Describes for a profile the host's read or run between two plans.
    fn waited(&self, read: Read) -> Facts {
        let (name, node) = match read {
            Read::Extents(node) => ("read a length", node),
            Read::Count(node) => ("read a count", node),
            Read::Value(node) => ("read an element", node),
            Read::Inputs(node) => ("read checks", node),
            Read::Given(node) => ("take what a loop gives", node),
            Read::Run { control, .. } => ("run a loop or branch", control),
        };
        Facts { name: name.into(), place: self.program.node(node).place.to_string(), ..Facts::default() }
    }

    /// Describes for a profile the making of a plan.
    fn planned(&self, plan: &Plan) -> Facts {
        let (kernels, operations) = (plan.launches().count(), self.program.nodes().len());
        let why = if plan.reads().is_some() { ", up to what the host reads or runs next" } else { "" };
        Facts { detail: format!("{operations} operations in {kernels} kernels{why}"), ..self.facts("plan") }
    }

    /// See [`Compiled::time`](crate::Compiled::time).
    ///
    /// ```
    /// use pumice::layers::{array::ArrayProgram, runtime::Inputs};
    /// use pumice::{Compiler, prelude::*};
    /// let doubled = Acc::<Vector<i64>>::argument(0).map(|x| x + x);
    /// let doubled = Compiler::on("sim")?.compile_program(ArrayProgram::of(&[doubled.described().clone()]))?;
    /// let inputs = Inputs { arrays: [(0, Vector::from(vec![1i64, 2]).data().clone())].into(), ..Inputs::default() };
    /// assert_eq!(doubled.time(&inputs, 3)?.len(), 3);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    pub fn time(&self, inputs: &Inputs, runs: usize) -> Result<Vec<f64>> {
        let reading = Reading::default();
        let first = self.prepare(reading.inputs(inputs), &reading)?;
        if first.plan().reads().is_none() {
            return self.placed(|| {
                let execution: Execution<'_> =
                    first.bind(&self.engine, &self.program, reading.inputs(inputs))?;
                (0..runs).map(|_| execution.time()).collect()
            });
        }
        let once = |_| {
            let device = self.engine.device();
            device.synchronize()?;
            let start = Instant::now();
            let results = self.run_all(inputs)?;
            device.synchronize()?;
            drop(results);
            Ok(start.elapsed().as_secs_f64() * 1e3)
        };
        (0..runs).map(once).collect()
    }

    /// Runs the plans that end where something is read or run. Returns the last plan, and the facts that planned it.
    fn read(&self, inputs: &Inputs, clock: &Clock<'_>) -> Result<(Arc<PreparedPlan>, Reading)> {
        let mut reading = Reading::default();
        loop {
            clock.check_cancelled()?;
            let prepared = clock.while_preparing(|| self.prepare(reading.inputs(inputs), &reading))?;
            let Some(read) = prepared.plan().reads() else { return Ok((prepared, reading)) };
            let execution = prepared.bind(&self.engine, &self.program, reading.inputs(inputs))?;
            clock.launch(&execution)?;
            let mut results = execution.results()?;
            let keeps = prepared.plan().keeps();
            let kept = results.split_off(results.len().saturating_sub(keeps.len()));
            let span = Span::begin();
            match read {
                Read::Extents(node) => {
                    let result = first(results)?;
                    // A failure has no extents.
                    result.extents();
                    reading.add(inputs, node, result);
                }
                Read::Count(node) => {
                    let count = Array::<Dim0, i64>::from_data(first(results)?)?.to_value()?;
                    reading.counted.insert(node, count);
                }
                Read::Value(node) => {
                    let result = first(results)?;
                    reading.values.insert(node, element(&*result)?);
                    reading.add(inputs, node, result);
                }
                Read::Inputs(control) => {
                    for (input, result) in self.program.node(control).inputs.iter().zip(results) {
                        // A failure has no elements.
                        whole_columns(&*result)?;
                        reading.add(inputs, *input, result);
                    }
                }
                Read::Given(control) => {
                    let given = self.program.given_by(control).map(|(id, _)| id);
                    given.zip(results).for_each(|(id, result)| reading.add(inputs, id, result));
                }
                Read::Run { control, .. } => {
                    let place = self.program.node(control).place;
                    at(place, || self.run_control(inputs, control, results, &mut reading, clock))?;
                }
            }
            keeps.iter().zip(kept).for_each(|(array, data)| reading.add(inputs, *array, data));
            span.end(Activity::Run, || self.waited(read));
        }
    }

    /// Runs a loop or a branch on its inputs. Adds the inputs and the results to `reading`.
    fn run_control(
        &self,
        inputs: &Inputs,
        id: NodeId,
        given: Arrays,
        reading: &mut Reading,
        clock: &Clock<'_>,
    ) -> Result<()> {
        let node = self.program.node(id);
        let lost = || Error::Invalid(format!("{} has nothing to run", node.place).into());
        let control = node.operation.control().ok_or_else(lost)?;
        let nested = self.nested.get(&id);
        let programs = nested.map_or(&[][..], |nested| &nested.programs);
        for (input, data) in node.inputs.iter().zip(&given) {
            reading.add(inputs, *input, data.clone());
        }
        let mut run = |number: usize, arrays: &Arrays| {
            let round = || {
                clock.check(node.place)?;
                let arrays = (0..).zip(arrays.iter().cloned()).collect();
                let inputs = Inputs { arrays, scalars: inputs.scalars.clone(), computed: HashMap::new() };
                programs.get(number).ok_or_else(lost)?.run_until(&inputs, clock)
            };
            round().map_err(|error| ArrayError::Device(Arc::new(error)))
        };
        let given = match control.wants_on_device(self.engine.device().name().kind()) {
            true => given.iter().map(|data| self.engine.shared(data)).collect::<Result<_>>()?,
            false => given,
        };
        let alike = nested.zip(control.as_loop());
        let alike = alike.map(|(nested, shape)| {
            nested.rounds(&self.engine, (&shape, control.once()), &given, &inputs.scalars, clock)
        });
        let found = match alike.transpose()?.flatten() {
            Some(found) => found,
            None => control.run(node.place, given, &mut run)?,
        };
        for (id, number) in self.program.given_by(id) {
            reading.add(inputs, id, found.get(number).ok_or_else(lost)?.clone());
        }
        Ok(())
    }

    /// See [`Compiled::plan`](crate::Compiled::plan). Of a program that reads a length or runs a loop on the way, it is the
    /// first plan.
    ///
    /// ```
    /// use pumice::layers::{array::ArrayProgram, runtime::Inputs};
    /// use pumice::{Compiler, prelude::*};
    /// let doubled = Acc::<Vector<i64>>::argument(0).map(|x| x + x);
    /// let doubled = Compiler::on("sim")?.compile_program(ArrayProgram::of(&[doubled.described().clone()]))?;
    /// let inputs = Inputs { arrays: [(0, Vector::from(vec![1i64, 2]).data().clone())].into(), ..Inputs::default() };
    /// assert_eq!(doubled.plan(&inputs)?.launches().count(), 1);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    pub fn plan(&self, inputs: &Inputs) -> Result<Plan> {
        Ok(self.prepare(inputs, &Reading::default())?.plan().clone())
    }

    /// The plans that can be made for these inputs without running anything.
    ///
    /// ```
    /// use pumice::layers::{array::ArrayProgram, runtime::Inputs};
    /// use pumice::{Compiler, prelude::*};
    /// let doubled = Acc::<Vector<i64>>::argument(0).map(|x| x + x);
    /// let doubled = Compiler::on("sim")?.compile_program(ArrayProgram::of(&[doubled.described().clone()]))?;
    /// let inputs = Inputs { arrays: [(0, Vector::from(vec![1i64, 2]).data().clone())].into(), ..Inputs::default() };
    /// assert_eq!(doubled.foresee(&inputs)?.len(), 1);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    pub fn foresee(&self, inputs: &Inputs) -> Result<Vec<Foreseen>> {
        let (profile, knowledge) = (self.engine.device().profile(), known(inputs, &Reading::default()));
        Ok(foresee(&self.program, profile, &knowledge, &self.choices.plan)?)
    }

    /// See [`Compiled::explain`](crate::Compiled::explain).
    ///
    /// ```
    /// use pumice::layers::{array::ArrayProgram, runtime::Inputs};
    /// use pumice::{Compiler, prelude::*};
    /// let doubled = Acc::<Vector<i64>>::argument(0).map(|x| x + x);
    /// let doubled = Compiler::on("sim")?.compile_program(ArrayProgram::of(&[doubled.described().clone()]))?;
    /// let inputs = Inputs { arrays: [(0, Vector::from(vec![1i64, 2]).data().clone())].into(), ..Inputs::default() };
    /// assert!(doubled.explain(&inputs)?.contains("kernel map"));
    /// # Ok::<(), pumice::Error>(())
    /// ```
    pub fn explain(&self, inputs: &Inputs) -> Result<Explanation> {
        let mut explanation = Explanation::of(self.foresee(inputs)?);
        explanation.device = Some(self.engine.device().description());
        Ok(explanation)
    }

    /// See [`Compiled::profile`](crate::Compiled::profile).
    pub fn profile(&self, inputs: &Inputs) -> Result<RunReport> {
        let run = || -> Result<()> {
            for result in self.run_all(inputs)? {
                // A copy of the host's own is not asked for: results are brought to the host once.
                whole_columns(&*result)?;
            }
            Ok(())
        };
        let (outcome, first) = collect(run);
        outcome?;
        let start = Instant::now();
        let (outcome, again) = collect(run);
        let took = start.elapsed();
        outcome?;
        let ceilings = Ceilings::of(self.engine.device())?;
        let mut report = RunReport::new(self.explain(inputs)?, took, &first, &again, ceilings);
        // Adds the resources that the device reports for its kernels.
        for foreseen in self.foresee(inputs)? {
            for launch in foreseen.plan.iter().flat_map(Plan::launches) {
                let resources =
                    at(launch.place, || self.engine.resources(&launch.program, &self.choices.emit))?;
                report.add_resources(&launch.program.name, &launch.place.to_string(), resources);
            }
        }
        Ok(report)
    }

    /// The program in the array language's text form.
    ///
    /// ```
    /// use pumice::layers::array::ArrayProgram;
    /// use pumice::{Compiler, prelude::*};
    /// let doubled = Acc::<Vector<i64>>::argument(0).map(|x| x + x);
    /// let doubled = Compiler::on("sim")?.compile_program(ArrayProgram::of(&[doubled.described().clone()]))?;
    /// assert!(doubled.describe().contains("a0: [_] (i64) = argument 0"));
    /// # Ok::<(), pumice::Error>(())
    /// ```
    pub fn describe(&self) -> String {
        self.program.to_string()
    }

    /// The program.
    ///
    /// ```
    /// use pumice::layers::array::ArrayProgram;
    /// use pumice::{Compiler, prelude::*};
    /// let doubled = Acc::<Vector<i64>>::argument(0).map(|x| x + x);
    /// let doubled = Compiler::on("sim")?.compile_program(ArrayProgram::of(&[doubled.described().clone()]))?;
    /// assert_eq!(doubled.program().results().len(), 1);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    pub fn program(&self) -> &CheckedProgram {
        &self.program
    }

    /// The program as it was written, before it was made ready to be planned.
    ///
    /// ```
    /// use pumice::layers::array::ArrayProgram;
    /// use pumice::{Compiler, prelude::*};
    /// let doubled = Acc::<Vector<i64>>::argument(0).map(|x| x + x);
    /// let doubled = Compiler::on("sim")?.compile_program(ArrayProgram::of(&[doubled.described().clone()]))?;
    /// assert_eq!(doubled.written().nodes().len(), 2);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    pub fn written(&self) -> &CheckedProgram {
        &self.written
    }

    /// The engine of the device that it runs on.
    pub(crate) fn engine(&self) -> &Arc<Engine> {
        &self.engine
    }

    /// The device that it runs on.
    ///
    /// ```
    /// use pumice::layers::array::ArrayProgram;
    /// use pumice::{Compiler, prelude::*};
    /// let doubled = Acc::<Vector<i64>>::argument(0).map(|x| x + x);
    /// let doubled = Compiler::on("sim")?.compile_program(ArrayProgram::of(&[doubled.described().clone()]))?;
    /// assert_eq!(doubled.device().name().to_string(), "sim");
    /// # Ok::<(), pumice::Error>(())
    /// ```
    pub fn device(&self) -> &Arc<dyn Device> {
        self.engine.device()
    }

    fn prepare(&self, inputs: &Inputs, reading: &Reading) -> Result<Arc<PreparedPlan>> {
        self.prepare_for(known(inputs, reading), inputs)
    }

    fn prepare_for(&self, knowledge: Knowledge, inputs: &Inputs) -> Result<Arc<PreparedPlan>> {
        self.plans.get_or_make(&knowledge, || {
            let Choices { plan, emit, limit } = &self.choices;
            let span = Span::begin();
            let plan = Plan::new(&self.program, self.engine.device().profile(), &knowledge, plan)?;
            span.end(Activity::Planning, || self.planned(&plan));
            self.placed(|| PreparedPlan::new(&self.engine, &self.program, plan, emit, inputs, *limit))
        })
    }
}

impl Nested {
    /// Runs a loop whose rounds are alike; nothing if they are not, or if that is not known before it has run.
    fn rounds(
        &self,
        engine: &Arc<Engine>,
        (shape, once): (&Loop, Option<usize>),
        given: &Arrays,
        scalars: &[Constant],
        clock: &Clock<'_>,
    ) -> Result<Option<Arrays>> {
        let inputs_of = |given: &Arrays| Inputs {
            arrays: (0..).zip(given.iter().cloned()).collect(),
            scalars: scalars.to_vec(),
            computed: HashMap::new(),
        };
        // An error of planning is reported when the program is run.
        let planned = |number: usize, overwritten: Range<usize>, inputs: &Inputs| {
            let program = self.programs.get(number)?;
            let overwritten = overwritten.start as u32..overwritten.end as u32;
            let knowledge = Knowledge { overwritten, ..known(inputs, &Reading::default()) };
            let plan = clock.while_preparing(|| program.prepare_for(knowledge, inputs)).ok()?;
            plan.plan().reads().is_none().then(|| (&**program.program(), plan))
        };
        let mut inputs = inputs_of(given);
        let until = match shape.rounds {
            Rounds::While(number) => {
                planned(number, 0..0, &inputs).map(|(program, plan)| Until::Condition(program, plan))
            }
            Rounds::Times(input) => match given.get(input) {
                Some(count) => Some(Until::Count(whole_number(&**count)?.try_into().unwrap_or(0))),
                None => None,
            },
        };
        // Told here, so that no kernels are compiled for rounds which are run one by one after all; a deadline is for single plans.
        let Some(until) = until.filter(|until| until.is_worth_while() && clock.limit.is_none()) else {
            return Ok(None);
        };
        let mut given = given.clone();
        // The program before the first round is only run if there is a round.
        if let Some(once) = once {
            if planned(once, 0..0, &inputs).is_none() {
                return Ok(None);
            }
            let run = |number: usize| match self.programs.get(number) {
                Some(program) => program.run_until(&inputs, clock),
                None => Ok(Vec::new()),
            };
            let begins = match shape.rounds {
                Rounds::While(number) => is_true(&*first(run(number)?)?)?,
                Rounds::Times(_) => matches!(until, Until::Count(1..)),
            };
            if !begins {
                return Ok(given.get(shape.state.clone()).map(<[_]>::to_vec));
            }
            given.extend(run(once)?);
            inputs = inputs_of(&given);
        }
        // The first round is given a copy of the state, every other one the results of the round before. Kernels that were compiled ahead
        // write elsewhere.
        let over_state = planned(shape.step, shape.state.clone(), &inputs);
        let Some(step) = over_state.or_else(|| planned(shape.step, 0..0, &inputs)) else { return Ok(None) };
        let looped = UniformLoop { step, until, state: shape.state.clone(), inputs: &given, scalars };
        if !looped.is_uniform() {
            return Ok(None);
        }
        let go_on = || clock.check_cancelled();
        looped.run(engine, &self.memo, clock.cancelled.map(|_| &go_on as &dyn Fn() -> _)).map(Some)
    }
}

/// What arguments look like: their extents, and scalars.
fn arguments(inputs: &Inputs) -> (HashMap<u32, Vec<usize>>, Vec<Constant>) {
    let extents = inputs.arrays.iter().map(|(number, data)| (*number, data.extents().to_vec()));
    (extents.collect(), inputs.scalars.clone())
}

/// Collects the facts that planning may use: extents, scalar arguments, and counts and values that were read.
fn known(inputs: &Inputs, reading: &Reading) -> Knowledge {
    let extents = |data: &Arc<dyn ArrayData>| data.extents().to_vec();
    let (arguments, scalars) = arguments(inputs);
    Knowledge {
        arguments,
        scalars,
        computed: inputs.computed.iter().map(|(node, data)| (*node, extents(data))).collect(),
        counted: reading.counted.clone(),
        values: reading.values.clone(),
        overwritten: 0..0,
    }
}

/// The time that a run may take, and whether it is to go on. Every plan has a deadline of its own, from its first launch on; this one is for runs of many
/// plans, and does not count the time in which kernels are compiled.
struct Clock<'a> {
    limit: Option<Duration>,
    start: Instant,
    preparing: Cell<Duration>,
    /// Set by another thread if nothing more is to be begun.
    cancelled: Option<&'a AtomicBool>,
}

impl Clock<'_> {
    fn new(limit: Option<Duration>) -> Clock<'static> {
        Clock { limit, start: Instant::now(), preparing: Cell::default(), cancelled: None }
    }

    /// An error if the run is not to go on.
    fn check_cancelled(&self) -> Result<()> {
        match self.cancelled {
            Some(cancelled) if cancelled.load(Ordering::Relaxed) => Err(Error::Cancelled),
            _ => Ok(()),
        }
    }

    /// Starts a plan's launches; one by one if the run may be cancelled.
    fn launch(&self, execution: &Execution<'_>) -> Result<()> {
        match self.cancelled {
            Some(_) => execution.launch_while(&|| self.check_cancelled()),
            None => execution.launch(),
        }
    }

    /// Runs `prepare`, whose time does not count as time of the run.
    fn while_preparing<R>(&self, prepare: impl FnOnce() -> R) -> R {
        let start = Instant::now();
        let result = prepare();
        self.preparing.set(self.preparing.get() + start.elapsed());
        result
    }

    /// An error if the run has taken too long and is about to go on in the loop at this place.
    fn check(&self, place: Place) -> Result<()> {
        self.check_cancelled()?;
        let taken = self.start.elapsed().saturating_sub(self.preparing.get());
        match self.limit.filter(|limit| taken > *limit) {
            Some(limit) => {
                Err(Error::Deadline { limit, place: PlacedMessage::naming(place, place.to_string()) })
            }
            None => Ok(()),
        }
    }
}

/// Facts that were found out during a run: arrays whose extents were unknown before, counts, and elements that extents depend on.
#[derive(Default)]
struct Reading {
    /// The program's inputs and the arrays computed so far; `None` before the first of them.
    inputs: Option<Inputs>,
    counted: HashMap<NodeId, i64>,
    values: HashMap<NodeId, Vec<Constant>>,
}

impl Reading {
    fn inputs<'a>(&'a self, given: &'a Inputs) -> &'a Inputs {
        self.inputs.as_ref().unwrap_or(given)
    }

    fn add(&mut self, given: &Inputs, node: NodeId, data: Arc<dyn ArrayData>) {
        let inputs = self.inputs.get_or_insert_with(|| given.clone());
        inputs.computed.insert(node, data);
    }
}

/// The scalars of an array's first element.
fn element(data: &dyn ArrayData) -> Result<Vec<Constant>> {
    let columns = whole_columns(data)?;
    Ok(data.types().iter().zip(&columns).map(|(ty, column)| Constant::from_bytes(*ty, column)).collect())
}

/// The first result of a program.
fn first(results: Arrays) -> Result<Arc<dyn ArrayData>> {
    results.into_iter().next().ok_or_else(|| Error::Invalid("a program without a result".into()))
}
