//! `pumice tune FILE.pum`: finds the fastest `#BlockSize` of a function, and the fastest values of integers that the command line varies.
//!
//! The best block size is kept for the file, the function and the device, whatever the sizes of arguments were: `pumice run`
//! and `pumice bench` use it from then on.

use super::call::{Written, build, written};
use super::file;
use super::measured::Prepared;
use crate::error::{Error, Result};
use crate::print;
use crate::progress::Progress;
use crate::subject::Subject;
use crate::tune::{Arguments, WARM_UP_RUNS, table};
use pumice::Compiler;
use pumice::layers::array::{ArrayProgram, Node};
use pumice::tune::{Choice, Space, Strategy, Tuned, best, kept_in, search, tune};
use pumice_lang::ast::{Parameter, Pattern, PatternKind};

/// Name of the block size in the search space.
const NAME: &str = "#BlockSize";

/// The block sizes that are tried.
const BLOCK_SIZES: [i64; 6] = [32, 64, 128, 256, 512, 1024];

/// An integer parameter of a function, and the values to try for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Vary {
    name: String,
    values: Vec<i64>,
}

/// Parses `chunk=256,512`.
pub fn parse_vary(text: &str) -> std::result::Result<Vary, String> {
    let read = |(name, values): (&str, &str)| {
        let values: Option<Vec<i64>> = values.split(',').map(|value| value.trim().parse().ok()).collect();
        Some(Vary { name: name.trim().to_string(), values: values? })
    };
    text.split_once('=')
        .and_then(read)
        .ok_or_else(|| "write a parameter and integers, such as chunk=256,512".to_string())
}

/// Returns the best block size for the function of a command line on this device, if it was tuned.
pub fn kept(compiler: &Compiler, subject: &Subject) -> Result<Option<u32>> {
    Ok(kept_of(compiler, subject.file()?.0, subject.entry()))
}

/// Like [`kept`], for a function of a file.
pub fn kept_of(compiler: &Compiler, path: &str, entry: &str) -> Option<u32> {
    let choice = best(compiler, &program_name(path, entry), &block_sizes())?;
    u32::try_from(choice.get(NAME)).ok()
}

/// Returns the space of all block sizes that can be kept; it does not depend on which were tried.
fn block_sizes() -> Space {
    Space::new(0).with(NAME, 1..=1024)
}

/// Returns the key under which choices of a function are kept.
fn program_name(path: &str, entry: &str) -> String {
    let path = std::fs::canonicalize(path).unwrap_or_else(|_| path.into());
    format!("{} {entry}", path.display())
}

/// Tunes the function that the command line names.
pub fn run(arguments: &Arguments) -> Result<()> {
    let (path, words) = arguments.subject.file()?;
    let (entry, source) = (arguments.subject.entry(), file::text(path)?);
    let compiler = Compiler::with(arguments.device.open_timed()?);
    let order = order(path, &source, entry, &arguments.vary)?;
    let calls = Calls { path, source: &source, entry, words, order, compiler: &compiler };
    // Errors that all calls share are reported before one is tried.
    let first = calls.written(|vary| vary.values.first().copied().unwrap_or(0))?;
    let has_kernels = has_kernels(&build(path, &source, first, None)?.compiled.program);
    if arguments.vary.is_empty() && !has_kernels {
        let reason = "it has no kernels of its own, so `#BlockSize` decides nothing";
        return Err(Error::Usage(format!(
            "there is nothing to choose about `{entry}`: {reason}, and --vary names no parameter"
        )));
    }
    let tuned = calls.tune(&space(arguments, has_kernels), arguments.strategy.strategy())?;
    let kept = match has_kernels {
        true => keep(&compiler, path, entry, &tuned)?,
        false => String::new(),
    };
    print(&format!("{entry} of {path} on {}\n{}{kept}", compiler.device().name(), table(&tuned)))
}

/// Returns the search space: the block size, if the program has kernels, and the parameters that are varied.
fn space(arguments: &Arguments, has_kernels: bool) -> Space {
    let none = Space::new(0);
    let space = match (has_kernels, arguments.subject.block_size()) {
        (false, _) => none,
        (true, Some(threads)) => none.with(NAME, [i64::from(threads)]),
        (true, None) => none.with(NAME, BLOCK_SIZES),
    };
    let add = |space: Space, vary: &Vary| space.with(vary.name.clone(), vary.values.iter().copied());
    arguments.vary.iter().fold(space, add)
}

/// Calls that differ in the chosen values.
struct Calls<'a> {
    path: &'a str,
    source: &'a str,
    entry: &'a str,
    /// The arguments of parameters that are not varied.
    words: Vec<&'a str>,
    /// For each parameter, its values if it is varied.
    order: Vec<Option<&'a Vary>>,
    compiler: &'a Compiler,
}

impl Calls<'_> {
    /// Writes the call with these values of the varied parameters.
    fn written(&self, value: impl Fn(&Vary) -> i64) -> Result<Written> {
        let values: Vec<Option<String>> =
            self.order.iter().map(|vary| vary.map(|vary| value(vary).to_string())).collect();
        let mut words = self.words.iter().copied();
        let mut all: Vec<&str> =
            values.iter().map_while(|value| value.as_deref().or_else(|| words.next())).collect();
        all.extend(words);
        written(self.path, self.source, self.entry, &all, None)
    }

    /// Prepares the program of a choice and warms it up.
    fn prepare(&self, choice: &Choice) -> Result<Prepared> {
        let call = self.written(|vary| choice.get(&vary.name))?;
        // The block size of a choice without one is 0.
        let block_size = u32::try_from(choice.get(NAME)).ok().filter(|threads| *threads > 0);
        let prepared = Prepared::new(self.path, self.source, call, block_size, self.compiler)?;
        (0..WARM_UP_RUNS).try_for_each(|_| prepared.time().map(drop))?;
        Ok(prepared)
    }

    fn tune(&self, space: &Space, strategy: Strategy) -> Result<Tuned> {
        let mut progress = Progress::new();
        let (mut number, of) = (0, usize::try_from(space.len()).unwrap_or(usize::MAX));
        // A choice is timed several times in a row; it is prepared once.
        let mut current: Option<(Choice, Prepared)> = None;
        let tuned = search(space, strategy, |choice| {
            let prepared = match &mut current {
                Some((known, prepared)) if known == choice => prepared,
                other => {
                    progress.step(number, of, &choice.to_string());
                    number += 1;
                    let prepared = self
                        .prepare(choice)
                        .map_err(|error| pumice::Error::Invalid(error.to_string().into()))?;
                    &mut other.insert((choice.clone(), prepared)).1
                }
            };
            prepared.time()
        });
        Ok(tuned?)
    }
}

/// Keeps the block size of the fastest choice; returns where as text.
fn keep(compiler: &Compiler, path: &str, entry: &str, tuned: &Tuned) -> Result<String> {
    let (name, sizes) = (program_name(path, entry), block_sizes());
    // The time of a block size is its fastest one, whatever the other values were.
    tune(compiler, &name, &sizes, Strategy::Exhaustive, |choice| {
        let same = tuned.measurements.iter().filter(|found| found.choice.get(NAME) == choice.get(NAME));
        let fastest = same.map(|found| found.milliseconds).min_by(f64::total_cmp);
        fastest.ok_or_else(|| pumice::Error::Invalid("it was not tried".into()))
    })?;
    let kept = kept_in(compiler, &name, &sizes);
    let kept = kept.map_or("nowhere".into(), |file| file.display().to_string());
    Ok(format!("{NAME} is kept in {kept}\n"))
}

/// Returns whether a program has kernels that the file writes itself: their number of threads is the block size.
fn has_kernels(program: &ArrayProgram) -> bool {
    let is_kernel = |node: &Node| node.operation.keyword() == "kernel";
    program.nodes().iter().any(|node| is_kernel(node) || node.programs().iter().any(has_kernels))
}

/// Returns, for each parameter of a function, its values if it is varied.
fn order<'a>(path: &str, source: &str, entry: &str, all: &'a [Vary]) -> Result<Vec<Option<&'a Vary>>> {
    let checked = file::checks(path, source, None)?.checked;
    // A missing function is reported with the call.
    let Some(function) = checked.entry(entry) else { return Ok(Vec::new()) };
    let name = |parameter: &Parameter| match parameter {
        Parameter::Value(Pattern { kind: PatternKind::Name(name), .. }) => Some(name.to_string()),
        Parameter::Value(_) => Some(String::new()),
        Parameter::Level(_) => None,
    };
    let names: Vec<String> = checked.function(function).0.parameters.iter().filter_map(name).collect();
    for (number, Vary { name, .. }) in all.iter().enumerate() {
        if all.iter().take(number).any(|other| other.name == *name) {
            return Err(Error::Usage(format!("--vary names `{name}` twice")));
        }
        if !names.contains(name) {
            let names = names.join(", ");
            return Err(Error::Usage(format!(
                "`{entry}` has no parameter `{name}`; its parameters are {names}"
            )));
        }
    }
    Ok(names.iter().map(|name| all.iter().find(|vary| vary.name == *name)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_integers_behind_a_name() {
        let vary = Vary { name: "chunk".to_string(), values: vec![256, -1] };
        assert_eq!(parse_vary("chunk=256,-1"), Ok(vary));
        for wrong in ["chunk", "chunk=", "chunk=1,", "chunk=a", "chunk=1.5", "chunk=99999999999999999999"] {
            assert!(parse_vary(wrong).is_err(), "{wrong}");
        }
    }
}
