//! Child processes that run a batch of random programs, and their reports to the parent.

use pumice_testing::random::Recipe;
use std::io::Read;
use std::ops::Range;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// Time limit of a child. Batches take seconds, and so does opening a device.
const LIMIT: Duration = Duration::from_secs(180);

/// Settings that the children of a campaign share.
pub struct Children<'a> {
    /// The device that they run on.
    pub device: &'a str,
    /// The seed of all programs.
    pub seed: u64,
    /// Cache folder for compilers; it is removed with the campaign.
    pub folder: &'a Path,
}

/// The end of a child.
#[derive(Debug, PartialEq, Eq)]
pub enum Report {
    /// It ran every program; these failed.
    Ran(Vec<(u64, String)>),
    /// It ended early.
    Broken(String),
    /// It took too long and was stopped.
    Late(String),
}

impl Children<'_> {
    /// Runs the programs with these numbers.
    pub fn run(&self, numbers: Range<u64>) -> Report {
        self.start("--run", &format!("{}..{}", numbers.start, numbers.end))
    }

    /// Runs one program; returns its failure, if it fails.
    pub fn run_one(&self, recipe: &Recipe) -> Option<String> {
        match self.start("--program", &recipe.to_string()) {
            Report::Ran(failed) => failed.into_iter().next().map(|(_, message)| message),
            Report::Broken(how) | Report::Late(how) => Some(how),
        }
    }

    fn start(&self, option: &str, value: &str) -> Report {
        let mut command = match std::env::current_exe() {
            Ok(program) => Command::new(program),
            Err(error) => return Report::Broken(format!("this program's own file is not known: {error}")),
        };
        command.args(["random", "--device", self.device, "--seed", &self.seed.to_string(), option, value]);
        // Random kernels are never compiled again, so keeping them gains nothing.
        command.env("PUMICE_CACHE_DIR", "/dev/null").env("POCL_CACHE_DIR", self.folder);
        run_to_end(&mut command, LIMIT)
            .unwrap_or_else(|error| Report::Broken(format!("a child cannot be run: {error}")))
    }
}

/// Runs a child and parses its output.
fn run_to_end(command: &mut Command, limit: Duration) -> std::io::Result<Report> {
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let mut is_late = false;
    // Both pipes are read while the child runs: it would block on a full one.
    let [said, complained] = std::thread::scope(|scope| -> std::io::Result<_> {
        let stdout = scope.spawn(move || read_all(stdout));
        let stderr = scope.spawn(move || read_all(stderr));
        let start = Instant::now();
        while child.try_wait()?.is_none() {
            if start.elapsed() > limit {
                is_late = true;
                child.kill()?;
                break;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        Ok([stdout, stderr].map(|reader| reader.join().unwrap_or_default()))
    })?;
    let status = child.wait()?;
    Ok(match is_late {
        true => Report::Late(format!("it did not end within {} s", limit.as_secs())),
        false => Report::read(&said, &complained, status),
    })
}

fn read_all(pipe: Option<impl Read>) -> String {
    let mut bytes = Vec::new();
    // A read error loses the last line, which is then reported as missing.
    let _ = pipe.map(|mut pipe| pipe.read_to_end(&mut bytes));
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Returns the line about a program that failed.
pub fn failure_line(number: u64, message: &str) -> String {
    format!("failed {number} {message:?}\n")
}

/// Returns the last line of a child that ran to its end.
pub fn last_line(passed: usize, failed: usize) -> String {
    format!("{passed} passed, {failed} failed\n")
}

impl Report {
    fn read(said: &str, complained: &str, status: ExitStatus) -> Report {
        let is_whole = said.ends_with(" failed\n") && matches!(status.code(), Some(0 | 1));
        if !is_whole {
            let last = complained.trim_end().lines().last().unwrap_or_default();
            return Report::Broken(format!("the process ended with {status} {last}").trim_end().into());
        }
        let failed = said.lines().filter_map(|line| {
            let (number, message) = line.strip_prefix("failed ")?.split_once(' ')?;
            Some((number.parse().ok()?, message.trim_matches('"').into()))
        });
        Report::Ran(failed.collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str, limit: Duration) -> Report {
        run_to_end(Command::new("sh").args(["-c", script]), limit).unwrap_or_else(|error| panic!("{error}"))
    }

    #[test]
    fn a_child_tells_what_failed() {
        let said = failure_line(7, "1 instead\nof 2") + &last_line(9, 1);
        let report = shell(&format!("printf '%s' '{said}'; exit 1"), LIMIT);
        assert_eq!(report, Report::Ran(vec![(7, "1 instead\\nof 2".into())]));
        assert_eq!(shell("echo 3 passed, 0 failed", LIMIT), Report::Ran(vec![]));
    }

    #[test]
    fn a_crash_is_told_from_a_child_that_hangs() {
        for script in ["echo assertion >&2; kill -ABRT $$", "exit 0"] {
            let report = shell(script, LIMIT);
            assert!(matches!(report, Report::Broken(_)), "{script}: {report:?}");
        }
        let report = shell("exec sleep 100", Duration::from_millis(300));
        assert!(matches!(report, Report::Late(_)), "{report:?}");
    }
}
