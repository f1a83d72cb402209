//! Carries out the commands of the REPL.

use super::answer::{Repl, Screen, told};
use super::command::{find, help};
use super::session::{Typed, is_function};
use super::trouble::Trouble;
use super::{names, show};
use crate::pum::call::{Call, add_missing};
use crate::pum::lower::{SIZE, emitted, explained, simulated};
use crate::target::Target;
use clap::ValueEnum;
use pumice::layers::emit::Dialect;
use pumice::layers::runtime::device_names;
use pumice::layers::scalar::ScalarType;
use pumice_lang::format::format as laid_out;
use pumice_lang::types::{Kind, Scheme, Type};
use std::fs::OpenOptions;
use std::io::Write;
use std::time::{Duration, Instant};

/// Number of samples in the plot of a function.
const SAMPLES: usize = 400;

/// Default range of the plot of a function.
const RANGE: (f64, f64) = (-10.0, 10.0);

/// Performs a command. Returns `None` for the command that ends the session.
pub fn perform(
    repl: &mut Repl,
    name: &str,
    typed: Typed<'_>,
    screen: Screen,
) -> Result<Option<String>, Trouble> {
    let argument = typed.text.get(typed.start..).unwrap_or("").trim();
    let Some(command) = find(name) else {
        return Err(format!("there is no command `:{name}`; `:help` shows those that there are").into());
    };
    let is_optional = command.takes.is_empty()
        || (command.takes.starts_with('[') && !command.takes.ends_with("EXPRESSION"));
    if argument.is_empty() && !is_optional {
        return Err(format!("`:{}` wants more: `:{} {}`", command.name, command.name, command.takes).into());
    }
    let text = match command.name {
        "quit" => return Ok(None),
        "help" => help(),
        "type" => format!("{argument}{}\n", screen.faint(&format!(" : {}", repl.scheme(typed)?))),
        "doc" => doc(repl, argument)?,
        "list" => names::list(&repl.session),
        "load" => repl.load(argument, screen)?,
        "reload" => {
            let file = repl.session.file().map(str::to_string);
            let file = file.ok_or_else(|| "no file was loaded: `:load FILE.pum`".to_string())?;
            repl.load(&file, screen)?
        }
        "save" => save(repl, argument)?,
        "plot" => plot(repl, typed, screen)?,
        "picture" => {
            let call = repl.call(typed, false)?;
            show::pictured(&repl.machine.run(&call)?, screen)?
        }
        "time" => time(repl, typed)?,
        "bench" => bench(repl, typed)?,
        "simulate" => simulated(&repl.call(typed, false)?)?,
        "emit" => emit(repl, typed)?,
        "explain" => explained(&whole(repl, typed)?, Dialect::Cuda)?,
        "device" => device(repl, argument)?,
        "set" => set(repl, argument)?,
        "forget" => match repl.session.forget(argument)? {
            Some(change) => told(&change, screen),
            None => return Err(format!("there is no value `{argument}`").into()),
        },
        other => return Err(format!("nobody knows how `:{other}` is done: that is a fault of Pumice").into()),
    };
    Ok(Some(text))
}

fn doc(repl: &Repl, name: &str) -> Result<String, Trouble> {
    let told = names::doc(&repl.session, name);
    told.ok_or_else(|| format!("there is nothing that is called `{name}`").into())
}

/// Writes the definitions to a new file. An existing file is not overwritten: it may contain more than the session knows.
fn save(repl: &Repl, path: &str) -> Result<String, Trouble> {
    let failed = |error: std::io::Error| format!("cannot write {path}: {error}");
    let text = names::source(&repl.session);
    let text = laid_out(&text).unwrap_or(text);
    let mut file = OpenOptions::new().write(true).create_new(true).open(path).map_err(failed)?;
    file.write_all(text.as_bytes()).map_err(failed)?;
    Ok(format!("{path}: {} lines\n", text.lines().count()))
}

/// Splits an argument at the end of its first word.
fn first_word(typed: Typed<'_>) -> (&str, Typed<'_>) {
    let argument = typed.text.get(typed.start..).unwrap_or("");
    let word = argument.split(char::is_whitespace).next().unwrap_or("");
    let rest = argument.get(word.len()..).unwrap_or("");
    let start = typed.start + word.len() + (rest.len() - rest.trim_start().len());
    (word, Typed { start, ..typed })
}

fn plot(repl: &mut Repl, typed: Typed<'_>, screen: Screen) -> Result<String, Trouble> {
    let (range, rest) = first_word(typed);
    let range = range.split_once("..").and_then(|(from, to)| Some((from.parse().ok()?, to.parse().ok()?)));
    let typed = if range.is_some() { rest } else { typed };
    let scheme = repl.scheme(typed)?;
    if !is_function(&scheme.ty) {
        let call = repl.call(typed, false)?;
        return show::plotted(&repl.machine.run(&call)?, screen);
    }
    let (from, to): (f64, f64) = range.unwrap_or(RANGE);
    if !(from < to && (to - from).is_finite()) {
        return Err(
            format!("a plot goes from a smaller number to a larger one, as in `0..{}`", RANGE.1).into()
        );
    }
    let convert = sample_type(&scheme).ok_or_else(|| {
        format!("a function that is plotted takes a float and gives a number, and this is of type `{scheme}`")
    })?;
    let (function, step) = (typed.text.get(typed.start..).unwrap_or(""), (to - from) / (SAMPLES - 1) as f64);
    // The function may end with a comment.
    let text =
        format!("map ({function}\n) (generate {SAMPLES} (fn i => {convert} ({from:?} + f64 i * {step:?})))");
    let call = repl.call(Typed { text: &text, start: 0 }, false)?;
    show::sampled(&repl.machine.run(&call)?, (from, to), screen)
}

/// Returns the float type that a function takes, if it is a function from a float to a number.
fn sample_type(scheme: &Scheme) -> Option<&'static str> {
    let Type::Function(from, to) = &scheme.ty else { return None };
    let kind = |ty: &Type| match ty {
        Type::Variable(variable) => {
            scheme.variables.iter().find(|(other, ..)| other == variable).map(|(_, kind, _)| *kind)
        }
        _ => None,
    };
    let gives = matches!(&**to, Type::Scalar(_) | Type::Variable(_));
    match &**from {
        _ if !gives => None,
        Type::Scalar(ScalarType::F32) => Some("f32"),
        Type::Scalar(ScalarType::F64) => Some("f64"),
        ty => kind(ty).filter(|kind| Kind::Float.implies(*kind)).map(|_| "f64"),
    }
}

fn time(repl: &mut Repl, typed: Typed<'_>) -> Result<String, Trouble> {
    let start = Instant::now();
    let call = repl.call(typed, false)?;
    let built = milliseconds(start.elapsed().as_secs_f64() * 1e3);
    let [first, again] = repl.machine.time(&call)?.map(milliseconds);
    Ok(format!("built in {built}, compiled and run in {first}, run again in {again}\n"))
}

fn bench(repl: &mut Repl, typed: Typed<'_>) -> Result<String, Trouble> {
    let call = repl.call(typed, false)?;
    let mut times = repl.machine.bench(&call)?;
    times.sort_by(f64::total_cmp);
    let at =
        |part: usize| times.get(times.len() * part / 100).copied().map_or_else(String::new, milliseconds);
    Ok(format!(
        "{} at best, {} mostly, {} at the 95th percentile, of {} runs on {}\n",
        at(0),
        at(50),
        at(95),
        times.len(),
        repl.machine.name()
    ))
}

/// Formats a time with three digits.
fn milliseconds(time: f64) -> String {
    let (value, unit) = match time {
        ..1e-3 => (time * 1e6, "ns"),
        ..1.0 => (time * 1e3, "µs"),
        ..1e3 => (time, "ms"),
        _ => (time / 1e3, "s"),
    };
    let digits = if value < 10.0 { 2 } else { usize::from(value < 100.0) };
    format!("{value:.digits$} {unit}")
}

fn emit(repl: &mut Repl, typed: Typed<'_>) -> Result<String, Trouble> {
    let (target, rest) = first_word(typed);
    let has_more = rest.text.get(rest.start..).is_some_and(|rest| !rest.trim().is_empty());
    let (target, typed) = match Target::from_str(target, false) {
        Ok(target) if has_more => (target, rest),
        _ => (Target::Cuda, typed),
    };
    Ok(emitted(&whole(repl, typed)?, target)?)
}

/// Makes a call for planning only; a function gets arguments of a default size.
fn whole(repl: &mut Repl, typed: Typed<'_>) -> Result<Call, Trouble> {
    let mut call = repl.call(typed, true)?;
    let (parameters, sums) = (call.compiled.parameters.clone(), call.sums().to_vec());
    for (name, ty) in &parameters {
        add_missing(name, ty, SIZE, &sums, &mut call.inputs)?;
    }
    Ok(call)
}

fn device(repl: &mut Repl, name: &str) -> Result<String, Trouble> {
    if !name.is_empty() {
        repl.machine.change(name)?;
        return Ok(String::new());
    }
    Ok(format!("{} (there are {})\n", repl.machine.name(), device_names().join(", ")))
}

fn set(repl: &mut Repl, argument: &str) -> Result<String, Trouble> {
    match argument.split_whitespace().collect::<Vec<_>>()[..] {
        [] => {
            let plots = if repl.plots { "on" } else { "off" };
            let limit =
                repl.machine.limit().map_or("off".to_string(), |limit| limit.as_secs_f64().to_string());
            return Ok(format!("plots {plots}\nlimit {limit}\n"));
        }
        ["plots", "on"] => repl.plots = true,
        ["plots", "off"] => repl.plots = false,
        ["limit", "off"] => repl.machine.set_limit(None),
        ["limit", seconds] => {
            let limit = seconds.parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
            let limit = limit.filter(|limit| !limit.is_zero());
            let limit = limit.ok_or_else(|| format!("`{seconds}` is no number of seconds"))?;
            repl.machine.set_limit(Some(limit));
        }
        _ => {
            return Err("the settings are `plots on`, `plots off`, `limit SECONDS` and `limit off`"
                .to_string()
                .into());
        }
    }
    Ok(String::new())
}
