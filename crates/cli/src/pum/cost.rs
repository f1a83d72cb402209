//! `pumice cost`: evaluates a function of a file by the rules of the language's semantics, and prints its value and cost. No
//! device and no compiled code is used.

use super::call::{BLOCK_SIZE, Given, written};
use super::file::{Checks, Wrong, checks, text};
use crate::error::Result;
use crate::print;
use crate::subject::Subject;
use pumice::layers::array::{ArrayData, HostData};
use pumice_lang::meaning::{CostCounts, Evaluated, MeaningCosts, MeaningOptions, evaluate};
use pumice_lang::program::{EXPRESSION, Expression};
use pumice_lang::show::{show, show_briefly};
use serde_json::{Value, json};
use std::fmt::Write;
use std::sync::Arc;

/// What `pumice cost` takes.
#[derive(clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    subject: Subject,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Evaluates the function that the command line names.
pub fn run(arguments: &Arguments) -> Result<()> {
    let subject = &arguments.subject;
    let (path, words) = subject.file()?;
    let source = text(path)?;
    let written = written(path, &source, subject.entry(), &words, None)?;
    let (names, given): (Vec<String>, Vec<Given>) = written.given.into_iter().unzip();
    let expression = Expression { name: &written.name, parameters: &names, text: &written.text, start: 0 };
    let checks = checks(path, &source, Some(expression))?;
    let files = given.into_iter().filter_map(|given| match given {
        Given::File(array) => Some(array),
        Given::Computed(_) | Given::Size(_) => None,
    });
    let block_size = subject.block_size().unwrap_or(BLOCK_SIZE);
    let Evaluated { result, arrays, costs } = evaluated(&checks, &shared(files.collect()), Some(block_size))?;
    let (arrays, sums) = (shared(arrays), checks.checked.sums());
    if arguments.json {
        let text = show(&result, &arrays, sums).map_err(pumice::Error::from)?;
        return print(&format!("{:#}\n", to_json(&text, block_size, &costs)));
    }
    let text = show_briefly(&result, &arrays, sums).map_err(pumice::Error::from)?;
    print(&format!("{text}\n\n{}", tables(block_size, &costs)))
}

/// Evaluates the expression of a program, with these arrays as its arguments and blocks of this many threads.
pub fn evaluated(
    checks: &Checks,
    arguments: &[Arc<dyn ArrayData>],
    block_size: Option<u32>,
) -> std::result::Result<Evaluated, Wrong> {
    let Checks { program, checked } = checks;
    let Some(entry) = checked.entry(EXPRESSION) else { return Err(Wrong::lost(program)) };
    let block_size = block_size.unwrap_or(BLOCK_SIZE);
    let machine = MeaningOptions { block_size, ..MeaningOptions::default() };
    evaluate(program, checked, entry, arguments, machine).map_err(|error| Wrong::of(program, error))
}

/// Wraps arrays for `show`, which takes them shared.
pub fn shared(arrays: Vec<HostData>) -> Vec<Arc<dyn ArrayData>> {
    arrays.into_iter().map(|array| Arc::new(array) as _).collect()
}

/// Formats the costs as tables.
fn tables(block_size: u32, costs: &MeaningCosts) -> String {
    let MeaningCosts { steps, work, administrative, .. } = costs;
    let places: Vec<String> =
        costs.lines.iter().map(|line| format!("{}:{} {}", line.file, line.line, line.level.name())).collect();
    let width = places.iter().map(|place| place.chars().count()).max().unwrap_or(0).max(14);
    // Writing to a String cannot fail.
    let mut text = format!(
        "{steps} parallel steps, {work} steps of all threads, {administrative} when it is built; blocks of {block_size} threads\n\n"
    );
    let _ = writeln!(text, "{:<width$}{HEADING}{:>12}{:>12}{:>12}", "level", "bytes", "busy", "idle");
    for level in &costs.levels {
        let (name, numbers) = (level.level.name(), line(&level.counts));
        let _ =
            writeln!(text, "{name:<width$}{numbers}{:>12}{:>12}{:>12}", level.memory, level.busy, level.idle);
    }
    let _ = writeln!(text, "\n{:<width$}{HEADING}", "line and level");
    for (place, costs) in places.iter().zip(&costs.lines) {
        let _ = writeln!(text, "{place:<width$}{}", line(&costs.counts));
    }
    text
}

const HEADING: &str = "        work      forces     written        read    barriers";

fn line(counts: &CostCounts) -> String {
    let CostCounts { work, forces, written, read, barriers } = counts;
    format!("{work:>12}{forces:>12}{written:>12}{read:>12}{barriers:>12}")
}

/// Returns the costs as JSON.
fn to_json(result: &str, block_size: u32, costs: &MeaningCosts) -> Value {
    let counts = |counts: &CostCounts| {
        json!({
            "work": counts.work,
            "forces": counts.forces,
            "written": counts.written,
            "read": counts.read,
            "barriers": counts.barriers,
        })
    };
    let levels = costs.levels.iter().map(|level| {
        let mut row = counts(&level.counts);
        row["level"] = level.level.name().into();
        row["bytes"] = level.memory.into();
        row["busy"] = level.busy.into();
        row["idle"] = level.idle.into();
        row
    });
    let lines = costs.lines.iter().map(|line| {
        let mut row = counts(&line.counts);
        row["file"] = line.file.as_str().into();
        row["line"] = line.line.into();
        row["level"] = line.level.name().into();
        row
    });
    json!({
        "result": result,
        "block_size": block_size,
        "steps": costs.steps,
        "work": costs.work,
        "administrative": costs.administrative,
        "levels": levels.collect::<Vec<_>>(),
        "lines": lines.collect::<Vec<_>>(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pum::call::prepare;
    use pumice::Compiler;
    use pumice::layers::runtime::devices::{Recorded, Sim};
    use pumice_lang::meaning::CostLevel;

    fn told<T>(wrong: Wrong) -> T {
        panic!("{}", wrong.render(false))
    }

    /// Returns the cost of an expression by the rules, and the launches of its kernels on a simulated GPU.
    fn both(expression: &str) -> (MeaningCosts, Vec<Recorded>) {
        let expression = Expression { name: "test", parameters: &[], text: expression, start: 0 };
        let checks = checks("test.pum", "", Some(expression)).unwrap_or_else(told);
        let costs = evaluated(&checks, &[], None).unwrap_or_else(told).costs;
        let (_, compiled) = prepare("test.pum", "", expression, None).unwrap_or_else(told);
        let sim = Arc::new(Sim::observing(Sim::gpu_profile()));
        let run = Compiler::with(sim.clone()).compile_program(compiled.program);
        let run = run.and_then(|program| program.run_all(&Default::default()));
        run.unwrap_or_else(|error| panic!("{error}"));
        (costs, sim.recorded())
    }

    /// Counts elements stored to block memory, elements loaded from it, and barriers: by the rules, and as the simulator counts them.
    fn of_blocks(expression: &str) -> ([u64; 3], [u64; 3]) {
        let (costs, launches) = both(expression);
        let block = costs.at(CostLevel::Block).counts;
        let mut simulated = [0; 3];
        for launch in &launches {
            let costs = launch.report.costs;
            simulated[0] += costs.shared_stores.elements;
            simulated[1] += costs.shared_loads.elements;
            simulated[2] += costs.block_barriers;
        }
        ([block.written, block.read, block.barriers], simulated)
    }

    #[test]
    fn the_simulator_counts_what_the_rules_say() {
        for expression in [
            "transposeTiled 4 16 8 (iota 128)",
            "splitUp 64 (iota 128) |> map (sklansky <block> (+)) |> concat 64",
            "splitUp 64 (iota 128) |> map (koggeStone <block> (+)) |> concat 64",
            "splitUp 64 (iota 128) |> map (brentKung <block> (+)) |> concat 64",
            "splitUp 64 (iota 128) |> map (bitonicSort <block>) |> concat 64",
            "reduceGrid (+) (iota 1024)",
        ] {
            let (rules, simulated) = of_blocks(expression);
            assert_eq!([rules[0], rules[2]], [simulated[0], simulated[2]], "{expression}");
            // An element that is used twice is read twice by the rules, and loaded once by the kernel.
            assert!(
                rules[1] >= simulated[1] && rules[1] <= 2 * simulated[1],
                "{expression}: {rules:?} {simulated:?}"
            );
        }
    }

    #[test]
    fn kernels_do_less_where_passes_see_it_and_more_in_loops_that_the_data_end() {
        // The rules compute an element for each use, and force unused arrays; passes load it once, and store nothing. Barriers stay.
        let twice = "splitUp 8 (iota 16) |> map (fn part =>
            let all = force (push <block> part)
                unused = force (push <block> (map (fn x => x + 1) part))
            in push <block> (generate 8 (fn i => index all i + index all i))) |> concat 8";
        assert_eq!(of_blocks(twice), ([32, 32, 4], [16, 16, 4]));
        // The last of four blocks does one step. In a loop whose end is not known when the kernel is built, each of eight warps
        // loads the condition, and a round has two barriers.
        let halved = "splitUp 4 (iota 16) |> map (fn part => push <block> (while (fn xs => index xs 0 > 8)
            (fn xs => push <block> (map (fn x => x / 2) xs)) (push <block> part))) |> concat 4";
        assert_eq!(of_blocks(halved), ([16 + 4, 5 + 4 + 16, 4 + 1], [20, 5 * 8 + 20, 6]));
    }
}
