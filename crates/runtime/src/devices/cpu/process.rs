//! Processes of the C compiler, with a time limit.
//!
//! A compiler may hang, or take hours for a large kernel. Past its limit it is killed together with the processes that it
//! started. It stays in the process group of its parent, so that Ctrl-C at a terminal ends it too; no signal handler is
//! installed here.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The variable that sets the limit, in seconds.
pub const SETTING: &str = "PUMICE_COMPILE_SECONDS";

/// Seconds that a compiler may take if nobody says otherwise.
static DEFAULT_SECONDS: AtomicU64 = AtomicU64::new(300);

/// Sets how long the C compiler may take where `PUMICE_COMPILE_SECONDS` is not set: 300 seconds, unless this is called
/// before the device is opened.
///
/// ```
/// // A program that only looks whether a compiler works does not wait for minutes.
/// pumice::layers::runtime::devices::set_default_compile_seconds(10);
/// ```
pub fn set_default_compile_seconds(seconds: u64) {
    DEFAULT_SECONDS.store(seconds.max(1), Ordering::Relaxed);
}

/// Returns the limit that a value of [`SETTING`] asks for, or what is wrong with it.
pub fn limit(value: Option<OsString>) -> Result<Duration, String> {
    let Some(value) = value else {
        return Ok(Duration::from_secs(DEFAULT_SECONDS.load(Ordering::Relaxed)));
    };
    let seconds = value.to_str().and_then(|text| text.trim().parse::<f64>().ok());
    let limit = seconds.filter(|seconds| *seconds > 0.0).map(Duration::try_from_secs_f64);
    limit
        .and_then(Result::ok)
        .ok_or_else(|| format!("{SETTING}={} is not a positive number of seconds", value.to_string_lossy()))
}

/// How a process ended.
pub enum Outcome {
    /// By itself, with this status and these messages.
    Ended(ExitStatus, String),
    /// It was killed, because it took longer than it may.
    Killed,
}

/// Runs a command, whose temporary files and messages go into `folder`, for at most so long.
pub fn run(command: &mut Command, folder: &Path, limit: Duration) -> io::Result<Outcome> {
    // Messages go to a file: a pipe would have to be read while waiting, and outlives a killed compiler in the hands
    // of whatever process it started.
    let log = folder.join("messages");
    command.env("TMPDIR", folder).stdin(Stdio::null()).stdout(Stdio::null()).stderr(File::create(&log)?);
    let start = Instant::now();
    let mut child = command.spawn()?;
    loop {
        if let Some(status) = child.try_wait()? {
            let messages = std::fs::read(&log).unwrap_or_default();
            return Ok(Outcome::Ended(status, String::from_utf8_lossy(&messages).into_owned()));
        }
        let elapsed = start.elapsed();
        if elapsed >= limit {
            kill(&mut child);
            return Ok(Outcome::Killed);
        }
        // Compilations take from 50 milliseconds to minutes: looking again after a small part of the time so far adds
        // little to either.
        let pause = (elapsed / 32).clamp(Duration::from_micros(500), Duration::from_millis(50));
        std::thread::sleep(pause.min(limit - elapsed));
    }
}

/// Kills a process and those that it started.
fn kill(child: &mut Child) {
    #[cfg(unix)]
    {
        let mut family = vec![child.id()];
        let mut known = 0;
        // Each is stopped before its children are listed, so that it cannot start others meanwhile.
        while let Some(process) = family.get(known).copied() {
            known += 1;
            signal(process, libc::SIGSTOP);
            family.extend(children(process));
        }
        family.iter().skip(1).rev().for_each(|process| signal(*process, libc::SIGKILL));
    }
    // Errors say that it has ended by itself.
    let _ = child.kill();
    let _ = child.wait();
}

#[cfg(unix)]
fn signal(process: u32, signal: libc::c_int) {
    let Ok(process) = libc::pid_t::try_from(process) else { return };
    // SAFETY: the call sends a signal and touches no memory. The process is our child, or a child of one that is
    // stopped, so its number is not in use for another one.
    unsafe { libc::kill(process, signal) };
}

/// Returns the processes that a process has started; none where the system does not say.
#[cfg(unix)]
fn children(process: u32) -> Vec<u32> {
    let tasks = std::fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
    let lists = tasks.filter_map(|task| std::fs::read_to_string(task.path().join("children")).ok());
    lists
        .flat_map(|list| list.split_whitespace().filter_map(|n| n.parse().ok()).collect::<Vec<_>>())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_setting_is_a_positive_number_of_seconds() {
        let limit = |value: &str| limit(Some(value.into()));
        assert_eq!(limit("2.5"), Ok(Duration::from_millis(2500)));
        for wrong in ["", "0", "-1", "soon", "nan", "1e300"] {
            let message = limit(wrong);
            assert_eq!(
                message,
                Err(format!("PUMICE_COMPILE_SECONDS={wrong} is not a positive number of seconds"))
            );
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_process_is_killed_with_those_that_it_started() -> io::Result<()> {
        let scratch = super::super::scratch::Scratch::new()?;
        let mut command = Command::new("sh");
        command.args(["-c", "sleep 61 & echo $! > \"$TMPDIR/started\"; wait"]);
        let start = Instant::now();
        // A busy machine takes its time to start the shell.
        let outcome = run(&mut command, scratch.path(), Duration::from_secs(3))?;
        assert!(matches!(outcome, Outcome::Killed) && start.elapsed() < Duration::from_secs(30));
        let started = std::fs::read_to_string(scratch.path().join("started"))?;
        let alive = || {
            let status = std::fs::read_to_string(format!("/proc/{}/status", started.trim()));
            // A zombie waits for whoever has become its parent.
            status.is_ok_and(|status| !status.contains("State:\tZ"))
        };
        while alive() && start.elapsed() < Duration::from_secs(30) {
            std::thread::sleep(Duration::from_millis(10));
        }
        assert!(!alive(), "process {started} goes on");
        Ok(())
    }
}
