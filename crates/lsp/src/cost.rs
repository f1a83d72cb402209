//! Costs of functions, for hovers: a kernel is run by the simulator on arrays of a usual size, a function without levels is
//! planned. A thread does this, one function at a time, and results are cached; a request waits for at most a second.

use crate::describe::{given, is_kernel};
use crossbeam_channel::{Receiver, Sender, bounded, unbounded};
use pumice::Compiler;
use pumice::layers::array::Plan;
use pumice::layers::runtime::Inputs;
use pumice::layers::runtime::devices::{Recorded, Sim};
use pumice_lang::evaluate::{Options, Placeholders, Sizes, compile};
use pumice_lang::program::Program;
use pumice_lang::types::{Checked, FunctionId, Type};
use std::collections::HashMap;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::time::Duration;

/// Maximum time that a request waits for a cost.
pub const PATIENCE: Duration = Duration::from_secs(1);

/// The sizes that are tried in turn: integers are often lengths of chunks, which must not be longer than the array that is cut.
const SIZES: [Sizes; 2] =
    [Sizes { extents: [1024, 64, 16], integer: 32 }, Sizes { extents: [1024, 64, 16], integer: 1024 }];

/// Maximum number of evaluation steps; the default is too many for a hover.
const MOST_STEPS: u64 = 1_000_000;

/// Maximum number of cached costs.
const MOST_KEPT: usize = 1_000;

/// A function of a program without errors.
#[derive(Clone)]
pub struct Subject {
    /// The program.
    pub program: Arc<Program>,
    /// Its types.
    pub checked: Arc<Checked>,
    /// The function.
    pub function: FunctionId,
}

/// Key of the cache: a hash of all source texts, and the function.
pub type Key = (u64, FunctionId);

impl Subject {
    /// Returns the key of its cost in the cache.
    pub fn key(&self) -> Key {
        let mut hasher = DefaultHasher::new();
        self.program.sources.iter().for_each(|(_, source)| source.text().hash(&mut hasher));
        (hasher.finish(), self.function)
    }
}

/// Computes costs in a thread, and caches them.
pub struct Costs {
    known: HashMap<Key, String>,
    /// The function that the thread is working on.
    busy: Option<Key>,
    jobs: Option<Sender<(Key, Subject)>>,
    /// Costs that the thread has computed.
    pub found: Receiver<(Key, String)>,
    /// Keeps [`Costs::found`] open where there is no thread: a closed channel would wake its receiver again and again.
    _tell: Sender<(Key, String)>,
}

impl Costs {
    /// Starts the thread. Where none can be started, nothing has a known cost.
    pub fn start() -> Costs {
        let (jobs, waiting) = bounded::<(Key, Subject)>(1);
        let (tell, found) = unbounded();
        let kept = tell.clone();
        let work = move || {
            for (key, subject) in waiting {
                let cost = std::panic::catch_unwind(|| cost(&subject)).unwrap_or_default();
                if tell.send((key, cost)).is_err() {
                    break;
                }
            }
        };
        let started = std::thread::Builder::new().name("costs".to_string()).spawn(work);
        Costs { known: HashMap::new(), busy: None, jobs: started.is_ok().then_some(jobs), found, _tell: kept }
    }

    /// Returns the cost of a function if it is known, or a message if the thread is busy with another function or does not run. `None`: it is being computed.
    pub fn ask(&mut self, subject: &Subject) -> Option<String> {
        let key = subject.key();
        if let Some(known) = self.known.get(&key) {
            return Some(known.clone());
        }
        if self.busy == Some(key) {
            return None;
        }
        if self.busy.is_some() {
            return Some("The cost of another function is still being found.".to_string());
        }
        let is_sent = self.jobs.as_ref().is_some_and(|jobs| jobs.try_send((key, subject.clone())).is_ok());
        if !is_sent {
            return Some("The cost cannot be found: the thread that finds it does not run.".to_string());
        }
        self.busy = Some(key);
        None
    }

    /// Caches a cost that the thread has computed.
    pub fn keep(&mut self, key: Key, cost: String) {
        self.busy = None;
        if self.known.len() >= MOST_KEPT {
            self.known.clear();
        }
        self.known.insert(key, cost);
    }
}

/// Describes the cost of running a function in words; empty for a function that cannot be run by itself, or has no arrays.
fn cost(subject: &Subject) -> String {
    let Subject { program, checked, function } = subject;
    let scheme = checked.scheme(*function);
    if !has_array(&scheme.ty) {
        return String::new();
    }
    let options = Options { most_steps: MOST_STEPS, ..Options::default() };
    let Ok(compiled) = compile(program, checked, *function, &[], options) else { return String::new() };
    let parameters: Vec<&Type> = compiled.parameters.iter().map(|(_, ty)| ty).collect();
    let mut wrong = String::new();
    for sizes in SIZES {
        let Some(inputs) = inputs(&parameters, sizes, checked) else { return String::new() };
        let sim = Arc::new(Sim::observing(Sim::gpu_profile()));
        let compiler = Compiler::with(sim.clone());
        let outcome = match is_kernel(&scheme.ty) {
            true => simulated(&compiler, &sim, &compiled.program, &inputs),
            false => planned(&compiler, &compiled.program, &inputs),
        };
        match outcome {
            Ok(text) => return format!("{}: {text}", words(&parameters, sizes)),
            Err(error) => wrong = format!("{} it fails: {error}", words(&parameters, sizes)),
        }
    }
    wrong
}

fn inputs(parameters: &[&Type], sizes: Sizes, checked: &Checked) -> Option<Inputs> {
    let mut made = Placeholders::default();
    parameters.iter().try_for_each(|ty| made.add(ty, sizes, checked.sums()))?;
    let mut inputs = Inputs::default();
    for (number, array) in (0..).zip(made.arrays) {
        inputs.arrays.insert(number, Arc::new(array));
    }
    inputs.scalars.extend(made.scalars);
    Some(inputs)
}

fn has_array(ty: &Type) -> bool {
    match ty {
        Type::Array { .. } => true,
        Type::Function(from, to) => has_array(from) || has_array(to),
        Type::Tuple(parts) => parts.iter().any(has_array),
        Type::Record(fields) => fields.iter().any(|(_, field)| has_array(field)),
        _ => false,
    }
}

/// Describes the sizes that matter for these parameters.
fn words(parameters: &[&Type], sizes: Sizes) -> String {
    let mut parts = Vec::new();
    let rank = |ty: &&&Type| match given(ty) {
        Some(Type::Array { sizes, .. }) => Some(sizes.len()),
        _ => None,
    };
    let ranks: std::collections::BTreeSet<usize> = parameters.iter().filter_map(|ty| rank(&ty)).collect();
    for rank in ranks {
        let extent = sizes.extents[rank.clamp(1, 3) - 1];
        parts.push(match rank {
            1 => format!("arrays of {extent} elements"),
            _ => format!("arrays of {} elements", vec![extent.to_string(); rank].join("×")),
        });
    }
    let is_integer = |ty: &&&Type| matches!(ty, Type::Scalar(scalar) if scalar.is_integer());
    if parameters.iter().any(|ty| is_integer(&ty)) {
        parts.push(format!("integers of {}", sizes.integer));
    }
    match parts.is_empty() {
        true => "On a GPU".to_string(),
        false => format!("On a GPU, for {}", parts.join(" and ")),
    }
}

fn simulated(
    compiler: &Compiler,
    sim: &Sim,
    program: &pumice::layers::array::ArrayProgram,
    inputs: &Inputs,
) -> Result<String, String> {
    let program = compiler.compile_program(program.clone()).map_err(|error| error.to_string())?;
    for result in program.run_all(inputs).map_err(|error| error.to_string())? {
        // A run that failed has no elements.
        pumice::layers::array::whole_columns(&*result).map_err(|error| error.to_string())?;
    }
    let launches = sim.recorded();
    let mut text = count(launches.len(), "kernel");
    for launch in &launches {
        text.push_str(&format!("\n- {}", launched(launch)));
    }
    Ok(text)
}

fn launched(launch: &Recorded) -> String {
    let (report, costs) = (&launch.report, &launch.report.costs);
    let conflicts = costs.shared_loads.conflicts + costs.shared_stores.conflicts;
    format!(
        "{} of {} threads; {} loaded ({}, {:.0} % of them used), {} stored ({}, {:.0} % used); {}; {}; {} of a block's memory",
        count(report.blocks as usize, "block"),
        report.threads,
        count(costs.global_loads.elements as usize, "element"),
        count(costs.global_loads.sectors as usize, "sector"),
        100.0 * costs.global_loads.efficiency(),
        costs.global_stores.elements,
        count(costs.global_stores.sectors as usize, "sector"),
        100.0 * costs.global_stores.efficiency(),
        count(conflicts as usize, "bank conflict"),
        count(costs.block_barriers as usize, "barrier"),
        bytes(report.shared_bytes as usize),
    )
}

fn planned(
    compiler: &Compiler,
    program: &pumice::layers::array::ArrayProgram,
    inputs: &Inputs,
) -> Result<String, String> {
    let program = compiler.compile_program(program.clone()).map_err(|error| error.to_string())?;
    let foreseen = program.foresee(inputs).map_err(|error| error.to_string())?;
    let plans: Vec<&Plan> = foreseen.iter().filter_map(|foreseen| foreseen.plan.as_ref().ok()).collect();
    let kernels = plans.iter().map(|plan| plan.launches().count()).sum();
    let memory = plans.iter().flat_map(|plan| plan.buffers()).map(|buffer| buffer.bytes()).sum();
    let rest = plans.iter().any(|plan| plan.reads().is_some());
    let more = if rest { ", as far as that can be said before it runs" } else { "" };
    Ok(format!("{} and {} of memory{more}", count(kernels, "kernel"), bytes(memory)))
}

fn count(number: usize, what: &str) -> String {
    if number == 1 { format!("1 {what}") } else { format!("{number} {what}s") }
}

fn bytes(number: usize) -> String {
    match number {
        0..10_240 => count(number, "byte"),
        10_240..10_485_760 => format!("{} KiB", number / 1024),
        _ => format!("{} MiB", number / (1024 * 1024)),
    }
}
