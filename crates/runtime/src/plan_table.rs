//! Plans that a device's engine keeps, so that a program which is written again is not planned again.
//!
//! Programs are identified by what plans depend on ([`Identity`]), not by their author: a second description of the same program
//! with the same choices finds the plans that were made before. What is kept holds neither arrays nor kernels; a program that
//! lives holds the kernels of its plans.

use crate::error::Result;
use crate::execute::{KeptPlan, PreparedPlan};
use pumice_array::{ArrayProgram, Identity, Knowledge, NodeId, PlanOptions};
use pumice_emit::EmitOptions;
use pumice_scalar::Constant;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Programs whose plans are kept, plans of each, and choices that they are made with. Kernels are kept elsewhere, so a plan
/// is cheap to make again.
const MOST_PROGRAMS: usize = 256;
const MOST_PLANS: usize = 64;
const MOST_CHOICES: usize = 16;

/// Choices that decide about a program's plans, besides the program.
#[derive(Clone, PartialEq, Eq)]
pub struct Choices {
    /// Options of planning.
    pub plan: PlanOptions,
    /// Options of emission.
    pub emit: EmitOptions,
    /// Time limit of a run.
    pub limit: Option<Duration>,
}

/// The plans of programs that are the same.
type Shared = Arc<Mutex<HashMap<Key, KeptPlan>>>;
/// The plans of one program, by the choices that they were made with.
type ByChoices = Vec<(Choices, Shared)>;

/// The plans of all programs.
#[derive(Default)]
pub struct PlanTable {
    programs: Mutex<HashMap<Identity, ByChoices>>,
}

impl PlanTable {
    /// The plans of a program.
    pub fn of(&self, program: &ArrayProgram, choices: &Choices) -> Plans {
        let kept = program.identity().map(|identity| self.shared(identity, choices)).unwrap_or_default();
        Plans { shaping: program.shaping_arguments(), own: Mutex::default(), kept }
    }

    fn shared(&self, identity: Identity, choices: &Choices) -> Shared {
        let mut programs = locked(&self.programs);
        if programs.len() >= MOST_PROGRAMS && !programs.contains_key(&identity) {
            programs.clear();
        }
        let known = programs.entry(identity).or_default();
        if let Some((_, shared)) = known.iter().find(|(theirs, _)| theirs == choices) {
            return shared.clone();
        }
        if known.len() >= MOST_CHOICES {
            known.clear();
        }
        let shared = Shared::default();
        known.push((choices.clone(), shared.clone()));
        shared
    }
}

/// Key of a program's plan: the extents of array arguments, scalars that extents depend on, what has been
/// read so far, and arguments that may be overwritten.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Key {
    arguments: Vec<(u32, Vec<usize>)>,
    scalars: Vec<Option<Constant>>,
    computed: Vec<(NodeId, Vec<usize>)>,
    counted: Vec<(NodeId, i64)>,
    values: Vec<(NodeId, Vec<Constant>)>,
    overwritten: Range<u32>,
}

/// The plans of one program.
pub struct Plans {
    /// The scalar arguments that extents depend on.
    shaping: Vec<u32>,
    own: Mutex<HashMap<Key, Arc<PreparedPlan>>>,
    kept: Shared,
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
            values: sorted(&knowledge.values),
            overwritten: knowledge.overwritten.clone(),
        };
        if let Some(prepared) = locked(&self.own).get(&key) {
            return Ok(prepared.clone());
        }
        let known = locked(&self.kept).get(&key).and_then(KeptPlan::prepared);
        let prepared = match known {
            Some(prepared) => Arc::new(prepared),
            None => {
                let prepared = Arc::new(make()?);
                add(&self.kept, key.clone(), prepared.kept());
                prepared
            }
        };
        add(&self.own, key, prepared.clone());
        Ok(prepared)
    }
}

/// Adds a plan; if there are too many, the others go.
fn add<P>(plans: &Mutex<HashMap<Key, P>>, key: Key, plan: P) {
    let mut plans = locked(plans);
    if plans.len() >= MOST_PLANS {
        plans.clear();
    }
    plans.insert(key, plan);
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn sorted<K: Ord + Copy, V: Clone>(map: &HashMap<K, V>) -> Vec<(K, V)> {
    let mut entries: Vec<(K, V)> = map.iter().map(|(key, value)| (*key, value.clone())).collect();
    entries.sort_unstable_by_key(|(key, _)| *key);
    entries
}
