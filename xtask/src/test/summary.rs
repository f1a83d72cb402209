//! How the stages ended, for people, and how many tests there were.

use std::fmt::Write as _;
use std::time::Duration;

/// How a stage ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    Ok,
    Failed(String),
    Skipped(String),
}

/// A stage that is over.
pub struct Finished {
    pub name: &'static str,
    pub outcome: Outcome,
    pub time: Duration,
    pub counts: Counts,
}

/// How many tests passed and failed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    pub passed: u64,
    pub failed: u64,
}

impl Counts {
    /// Reads them from what a stage printed: the lines `test result: ok. 3 passed; 0 failed; …` of each of cargo's test
    /// programs, or `3 passed, 0 failed` of `pumice selftest`.
    pub fn read(printed: &str) -> Counts {
        let mut counts = Counts::default();
        for line in printed.lines() {
            let result = match line.strip_prefix("test result: ") {
                Some(result) => result.split_once(". ").map(|(_, numbers)| numbers),
                None => Some(line).filter(|line| line.ends_with(" failed")),
            };
            let Some(result) = result else { continue };
            let mut parts = result.split([';', ',']).map(str::trim);
            let number =
                |part: Option<&str>, word: &str| part?.strip_suffix(word)?.trim_end().parse::<u64>().ok();
            if let (Some(passed), Some(failed)) =
                (number(parts.next(), "passed"), number(parts.next(), "failed"))
            {
                counts = counts.plus(Counts { passed, failed });
            }
        }
        counts
    }

    fn plus(self, other: Counts) -> Counts {
        Counts { passed: self.passed + other.passed, failed: self.failed + other.failed }
    }
}

impl Finished {
    /// The stage in one line.
    pub fn line(&self) -> String {
        let (word, reason) = match &self.outcome {
            Outcome::Ok => ("ok", ""),
            Outcome::Failed(reason) => ("FAILED", reason.as_str()),
            Outcome::Skipped(reason) => ("skipped", reason.as_str()),
        };
        let line = format!("{:<22} {:<8} {:>9}  {reason}", self.name, word, seconds(self.time));
        line.trim_end().to_string()
    }
}

/// A time as it is shown.
pub fn seconds(time: Duration) -> String {
    format!("{:.1} s", time.as_secs_f64())
}

/// Every stage in a line, and at the end the number of tests.
pub fn summary(finished: &[Finished], time: Duration) -> String {
    let mut text = String::from("══ summary\n");
    let mut add_line = |line: &str| {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{line}");
    };
    for stage in finished {
        add_line(&stage.line());
    }
    let count =
        |is_counted: fn(&Outcome) -> bool| finished.iter().filter(|stage| is_counted(&stage.outcome)).count();
    add_line(&format!(
        "stages: {} ok, {} failed, {} skipped in {}",
        count(|outcome| matches!(outcome, Outcome::Ok)),
        count(|outcome| matches!(outcome, Outcome::Failed(_))),
        count(|outcome| matches!(outcome, Outcome::Skipped(_))),
        seconds(time),
    ));
    let tests = finished.iter().fold(Counts::default(), |sum, stage| sum.plus(stage.counts));
    add_line(&format!("tests: {} passed, {} failed", tests.passed, tests.failed));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finished(name: &'static str, outcome: Outcome, passed: u64) -> Finished {
        Finished { name, outcome, time: Duration::from_millis(1500), counts: Counts { passed, failed: 1 } }
    }

    #[test]
    fn tests_are_counted_wherever_they_are_told() {
        let printed = "running 3 tests\ntest a ... ok\n\
            test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.01s\n\
            test result: FAILED. 10 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out\n\
            40 passed, 5 failed\nsomething has failed\ntest result: strange";
        assert_eq!(Counts::read(printed), Counts { passed: 53, failed: 7 });
        assert_eq!(Counts::read(""), Counts::default());
    }

    #[test]
    fn the_summary_names_every_stage_and_every_reason() {
        let stages = [
            finished("format", Outcome::Ok, 0),
            finished("clippy", Outcome::Failed("`cargo clippy` ended with exit status: 101".into()), 4),
            finished("conformance-opencl-1", Outcome::Skipped("no OpenCL: no apt-get".into()), 5),
        ];
        let text = summary(&stages, Duration::from_secs(12));
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 6, "{text}");
        assert_eq!(lines[1].split_whitespace().collect::<Vec<_>>(), ["format", "ok", "1.5", "s"]);
        assert!(lines[2].contains("FAILED") && lines[2].ends_with("exit status: 101"), "{text}");
        assert!(lines[3].contains("skipped") && lines[3].ends_with("no apt-get"), "{text}");
        assert_eq!(lines[4], "stages: 1 ok, 1 failed, 1 skipped in 12.0 s");
        assert_eq!(lines[5], "tests: 9 passed, 3 failed");
    }
}
