//! Plans that a device's engine keeps, so that a program which is written again is not planned again.
//!
//! Programs are known by what plans depend on ([`Identity`]), not by who wrote them: whoever describes the same program
//! with the same choices finds the plans that were made before. No array is kept alive by a plan.

use crate::error::Result;
use crate::execute::PreparedPlan;
use pumice_array::{ArrayProgram, Identity, Knowledge, NodeId, PlanOptions};
use pumice_emit::EmitOptions;
use pumice_scalar::Constant;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Programs whose plans are kept, plans of each, and choices that they are made with. Kernels are kept elsewhere, so a plan is cheap to make again.
const MOST_PROGRAMS: usize = 256;
const MOST_PLANS: usize = 64;
const MOST_CHOICES: usize = 16;

/// What decides about a program's plans besides the program.
#[derive(Clone, PartialEq, Eq)]
pub struct Choices {
    /// How it is planned.
    pub plan: PlanOptions,
    /// How its kernels become text.
    pub emit: EmitOptions,
    /// How long a run may take.
    pub limit: Option<Duration>,
}

/// The plans of one program, by the choices that they were made with.
type ByChoices = Vec<(Choices, Arc<Plans>)>;

/// The plans of all programs.
#[derive(Default)]
pub struct PlanTable {
    programs: Mutex<HashMap<Identity, ByChoices>>,
}

impl PlanTable {
    /// The plans of a program.
    pub fn of(&self, program: &ArrayProgram, choices: &Choices) -> Arc<Plans> {
        let new = || Arc::new(Plans { shaping: program.shaping_arguments(), known: Mutex::default() });
        let Some(identity) = program.identity() else { return new() };
        let mut programs = self.programs.lock().unwrap_or_else(PoisonError::into_inner);
        let known = programs.get(&identity).into_iter().flatten();
        if let Some((_, plans)) = known.into_iter().find(|(theirs, _)| theirs == choices) {
            return plans.clone();
        }
        if programs.len() >= MOST_PROGRAMS {
            programs.clear();
        }
        let plans = new();
        let known = programs.entry(identity).or_default();
        if known.len() >= MOST_CHOICES {
            known.clear();
        }
        known.push((choices.clone(), plans.clone()));
        plans
    }
}

/// What a program's plan depends on: the extents of array arguments, scalars that extents depend on, and what has been
/// read so far.
#[derive(PartialEq, Eq, Hash)]
struct Key {
    arguments: Vec<(u32, Vec<usize>)>,
    scalars: Vec<Option<Constant>>,
    computed: Vec<(NodeId, Vec<usize>)>,
    counted: Vec<(NodeId, i64)>,
}

/// The plans of one program.
pub struct Plans {
    /// The scalar arguments that extents depend on.
    shaping: Vec<u32>,
    known: Mutex<HashMap<Key, Arc<PreparedPlan>>>,
}

impl Plans {
    /// The plan for what is known, which is made if there is none yet.
    pub fn get_or_make(
        &self,
        knowledge: &Knowledge,
        make: impl FnOnce() -> Result<PreparedPlan>,
    ) -> Result<Arc<PreparedPlan>> {
        let scalar = |number: &u32| knowledge.scalars.get(*number as usize).copied();
        let key = Key {
            arguments: sorted(&knowledge.arguments),
            scalars: self.shaping.iter().map(scalar).collect(),
            computed: sorted(&knowledge.computed),
            counted: sorted(&knowledge.counted),
        };
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner).get(&key).cloned();
        if let Some(prepared) = known {
            return Ok(prepared);
        }
        let prepared = Arc::new(make()?);
        let mut plans = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if plans.len() >= MOST_PLANS {
            plans.clear();
        }
        plans.insert(key, prepared.clone());
        Ok(prepared)
    }
}

fn sorted<K: Ord + Copy, V: Ord + Clone>(map: &HashMap<K, V>) -> Vec<(K, V)> {
    let mut entries: Vec<(K, V)> = map.iter().map(|(key, value)| (*key, value.clone())).collect();
    entries.sort_unstable();
    entries
}
