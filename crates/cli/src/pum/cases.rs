//! `pumice test`: runs the cases in the documentation of files, `-- >>> expression` with the expected value on the lines below, on devices
//! and by the rules of the language's semantics.
//!
//! Scripts read the last line, `N passed, N failed`; a case counts once per device, and once for the semantics.

use super::call::prepare;
use super::{cost, each_file, file};
use crate::device::DeviceOption;
use crate::error::{Error, Result};
use crate::progress::Progress;
use crate::{doctor, print};
use pumice::Compiler;
use pumice_lang::ast::Module;
use pumice_lang::cases::{Case, cases};
use pumice_lang::program::Expression;
use pumice_lang::show::show;
use pumice_lang::source::Source;

/// Name of the evaluator that follows the semantics, as a value of `--device`.
const SEMANTICS: &str = "semantics";

/// Evaluator of a case.
enum Judge {
    Device(Compiler),
    Semantics,
}

impl Judge {
    fn name(&self) -> String {
        match self {
            Judge::Device(compiler) => compiler.device().name().to_string(),
            Judge::Semantics => SEMANTICS.to_string(),
        }
    }
}

/// What `pumice test` takes.
#[derive(clap::Args)]
pub struct Arguments {
    /// The files.
    #[arg(value_name = "FILE.pum", required = true)]
    files: Vec<String>,
    /// Without it, all that work here and the semantics; `semantics` is for the latter alone.
    #[command(flatten)]
    device: DeviceOption,
}

/// Runs all cases of the files. A file with errors counts as a case that fails.
pub fn run(arguments: &Arguments) -> Result<()> {
    let judges = match arguments.device.name() {
        Some(SEMANTICS) => vec![Judge::Semantics],
        Some(device) => vec![Judge::Device(Compiler::on(device)?)],
        None => {
            let devices = doctor::working().into_iter().map(|device| Judge::Device(Compiler::with(device)));
            devices.chain([Judge::Semantics]).collect()
        }
    };
    let (mut passed, mut failed) = (0, 0);
    let outcome = each_file(&arguments.files, |path| {
        let of_file = run_file(path, &judges).inspect_err(|_| failed += 1)?;
        (passed, failed) = (passed + of_file.0, failed + of_file.1);
        Ok(())
    });
    print(&format!("{passed} passed, {failed} failed\n"))?;
    if failed == 0 { outcome } else { Err(Error::Told) }
}

/// Runs the cases of a file and prints those that fail; returns the numbers of passed and failed ones.
fn run_file(path: &str, judges: &[Judge]) -> Result<(usize, usize)> {
    let text = file::text(path)?;
    let program = file::checks(path, &text, None)?.program;
    let module = program.modules.last().map(|loaded| loaded.module.clone()).unwrap_or_default();
    let found = all_cases(&module, &Source::new(path, &text));
    let mut progress = Progress::new();
    let mut failed = 0;
    for (number, (line, case)) in found.iter().enumerate() {
        progress.step(number, found.len(), &case.expression);
        for judge in judges {
            let Err(message) = try_out(path, &text, *line, case, judge) else { continue };
            failed += 1;
            progress.clear();
            let device = judge.name();
            print(&format!("{path}:{line}: {} on {device}\n{}", case.expression, indented(&message)))?;
        }
    }
    progress.clear();
    Ok((found.len() * judges.len() - failed, failed))
}

/// Returns the cases of a file, each with its line, in the file's order.
fn all_cases(module: &Module, source: &Source) -> Vec<(u32, Case)> {
    let all = documentation(module, source);
    let found = all
        .into_iter()
        .flat_map(|(first, docs)| cases(docs).into_iter().map(move |case| (first + case.line as u32, case)));
    found.collect()
}

/// Returns the comments that are documentation, each with its first line, in the file's order.
pub fn documentation<'a>(module: &'a Module, source: &Source) -> Vec<(u32, &'a str)> {
    let mut found = Vec::new();
    let mut add = |docs: &'a Option<String>, first: &dyn Fn(u32) -> u32| {
        let Some(docs) = docs.as_deref() else { return };
        found.push((first(docs.split('\n').count() as u32), docs));
    };
    let above = |start: u32| move |lines: u32| source.line_column(start).0.saturating_sub(lines);
    // The documentation of the file itself is its first comment.
    let comment = source.text().lines().position(|line| line.trim_start().starts_with("--"));
    add(&module.docs, &|_| comment.unwrap_or(0) as u32 + 1);
    module.signatures.iter().for_each(|item| add(&item.docs, &above(item.span.start)));
    module.functions.iter().for_each(|item| add(&item.docs, &above(item.span.start)));
    module.types.iter().for_each(|item| add(&item.docs, &above(item.span.start)));
    found.sort_by_key(|(line, _)| *line);
    found
}

/// Runs a case; the error says why it fails.
fn try_out(path: &str, text: &str, line: u32, case: &Case, judge: &Judge) -> std::result::Result<(), String> {
    let name = format!("{path}, case in line {line}");
    let found = value(path, text, &name, &case.expression, judge)?;
    if same(&found, &case.expected) {
        return Ok(());
    }
    // The expected value need not be written as results are printed: `2 * pi`, `1e3`.
    match value(path, text, &name, &case.expected, judge) {
        Ok(expected) if expected == found => Ok(()),
        _ => Err(format!("expected {}\nfound    {found}", case.expected.replace('\n', "\n         "))),
    }
}

/// Evaluates an expression over a file, and returns the value as text.
fn value(
    path: &str,
    text: &str,
    name: &str,
    expression: &str,
    judge: &Judge,
) -> std::result::Result<String, String> {
    let expression = Expression { name, parameters: &[], text: expression, start: 0 };
    let compiler = match judge {
        Judge::Device(compiler) => compiler,
        Judge::Semantics => return meaning(path, text, expression),
    };
    let (checked, compiled) = prepare(path, text, expression, None).map_err(|wrong| wrong.render(false))?;
    if !compiled.parameters.is_empty() {
        return Err("it gives a function, which cannot be printed\n".to_string());
    }
    let arrays =
        compiler.compile_program(compiled.program).and_then(|program| program.run_all(&Default::default()));
    let arrays = arrays.map_err(|error| error.to_string())?;
    show(&compiled.result, &arrays, checked.sums()).map_err(|error| error.to_string())
}

/// Evaluates an expression over a file by the semantics, and returns the value as text.
fn meaning(path: &str, text: &str, expression: Expression<'_>) -> std::result::Result<String, String> {
    let checks = file::checks(path, text, Some(expression)).map_err(|wrong| wrong.render(false))?;
    let evaluated = cost::evaluated(&checks, &[], None).map_err(|wrong| wrong.render(false))?;
    show(&evaluated.result, &cost::shared(evaluated.arrays), checks.checked.sums())
        .map_err(|error| error.to_string())
}

/// Returns whether two texts differ only in blanks and line breaks.
fn same(found: &str, expected: &str) -> bool {
    normal(found) == normal(expected)
}

/// Normalises a text: one blank between words, and none at brackets and commas.
fn normal(text: &str) -> String {
    let mut normal = String::new();
    let joins = |letter: char| "()[]{},=".contains(letter);
    for word in text.split_whitespace() {
        let apart = !normal.ends_with(joins) && !word.starts_with(joins);
        if apart && !normal.is_empty() {
            normal.push(' ');
        }
        normal.push_str(word);
    }
    normal
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("  {line}\n")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanks_and_ends_of_lines_do_not_matter() {
        assert!(same("[[1, 2], [3, 4]]", "[[1,2],\n [3,4]]"));
        assert!(same("{ x = 1, y = Some 2 }", "{x=1, y=Some  2}"));
        assert!(!same("Some 2", "Some2") && !same("[1, 2]", "[12]") && !same("1", "1.0"));
    }

    #[test]
    fn cases_know_their_lines() {
        let text = "-- A file.\n-- >>> 1\n-- 1\n\n-- One.\n-- >>> one\n-- 1\n--\nsig one : int\n-- >>> one + 1\n-- 2\nfun one = 1\n";
        let module = pumice_lang::syntax::parse(pumice_lang::source::FileId(0), text, &mut 0).module;
        let found = all_cases(&module, &Source::new("test.pum", text));
        let found: Vec<(u32, &str)> =
            found.iter().map(|(line, case)| (*line, case.expression.as_str())).collect();
        assert_eq!(found, [(2, "1"), (6, "one"), (10, "one + 1")]);
    }
}
