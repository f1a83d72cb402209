//! The plans of a program that can be made before it runs, for people to read and for kernels that are compiled
//! ahead. A run makes its plans one by one ([`Plan::new`]) and relies on none of this.

use crate::error::Error;
use crate::extents::Knowledge;
use crate::operation::Given;
use crate::plan::{Plan, PlanOptions, Read};
use crate::program::Node;
use crate::verify::CheckedProgram;
use pumice_kernel::Profile;
use std::collections::HashMap;

/// A plan that can be made before a program runs.
pub struct Foreseen {
    /// The nested program that it is for, with the loops and branches around it, outermost first; empty for the program itself.
    pub within: Vec<String>,
    /// The plan. A nested program that does not fit its arrays is an error only if it is run.
    pub plan: Result<Plan, Error>,
}

/// Plans a program as far as the known facts allow. Programs of a loop are planned for the extents of its first round. The operations
/// behind a loop or a branch are planned if the extents of its arrays do not depend on how it goes on. After a
/// plan that reads a length, nothing more is foreseen.
pub fn foresee(
    program: &CheckedProgram,
    profile: &Profile,
    knowledge: &Knowledge,
    options: &PlanOptions,
) -> Result<Vec<Foreseen>, Error> {
    let mut foreseeing = Foreseeing { profile, options, plans: Vec::new() };
    foreseeing.program(program, knowledge.clone(), &[])?;
    Ok(foreseeing.plans)
}

struct Foreseeing<'a> {
    profile: &'a Profile,
    options: &'a PlanOptions,
    plans: Vec<Foreseen>,
}

impl Foreseeing<'_> {
    /// Adds the plans of a program; returns the extents of its results, if they are known.
    fn program(
        &mut self,
        program: &CheckedProgram,
        mut knowledge: Knowledge,
        within: &[String],
    ) -> Result<Option<Vec<Vec<usize>>>, Error> {
        loop {
            let plan = Plan::new(program, self.profile, &knowledge, self.options)?;
            let known = |cells: &[Option<usize>]| cells.iter().all(Option::is_none);
            let mut results = plan.results().iter();
            let kept = plan.keeps().iter().rev().zip(results.by_ref().rev());
            for (array, result) in kept.filter(|(_, result)| known(&result.cells)) {
                knowledge.computed.insert(*array, result.extents.clone());
            }
            let results = results.map(|result| known(&result.cells).then(|| result.extents.clone()));
            let results: Option<Vec<Vec<usize>>> = results.collect();
            let reads = plan.reads();
            self.plans.push(Foreseen { within: within.to_vec(), plan: Ok(plan) });
            let (node, inputs) = match (reads, results) {
                (None, results) => return Ok(results),
                (Some(Read::Run { control, .. }), Some(inputs)) => (program.node(control), inputs),
                (Some(Read::Inputs(control)), Some(inputs)) => {
                    knowledge.computed.extend(program.node(control).inputs.iter().copied().zip(inputs));
                    continue;
                }
                (Some(Read::Given(control)), Some(given)) => {
                    let ids = program.given_by(control).map(|(id, _)| id);
                    knowledge.computed.extend(ids.zip(given));
                    continue;
                }
                _ => return Ok(None),
            };
            let Some(control) = node.operation.control() else { return Ok(None) };
            let mut results = vec![None; control.programs().len()];
            // The program that is run once comes first: its results are arguments of the step.
            let once = control.once();
            let others = (0..results.len()).filter(|number| Some(*number) != once);
            for number in once.into_iter().chain(others) {
                let (nested, name) = (&control.programs()[number], control.names()[number]);
                let within = [within, &[format!("{name} of {}", node.place)]].concat();
                let further = once.and_then(|once| results[once].clone()).unwrap_or_default();
                let arguments: HashMap<u32, Vec<usize>> =
                    (0..).zip(inputs.iter().cloned().chain(further)).collect();
                let is_missing = |node: &Node| matches!(node.operation.given(), Some(Given::Argument(k)) if !arguments.contains_key(&k));
                if nested.nodes().iter().any(is_missing) {
                    continue;
                }
                let knowledge = Knowledge::of(arguments, &knowledge.scalars);
                let nested =
                    CheckedProgram::new(nested.clone()).and_then(|nested| nested.ready(self.options));
                let found = nested.and_then(|nested| self.program(&nested, knowledge, &within));
                results[number] = found.unwrap_or_else(|error| {
                    self.plans.push(Foreseen { within, plan: Err(error) });
                    None
                });
            }
            let Some(gives) = control.foresee(&inputs, &results) else { return Ok(None) };
            knowledge.computed.extend(node.inputs.iter().copied().zip(inputs));
            for (id, number) in program.given_by(node.id) {
                let Some(extents) = gives.get(number) else { return Ok(None) };
                knowledge.computed.insert(id, extents.clone());
            }
        }
    }
}
