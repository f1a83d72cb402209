//! Runs other programs. Every error names the command and how it ended; nothing here decides
//! what a failure means.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

use crate::error::{Error, Result};

/// Returns the command as a person would type it, for messages: without the program's folder.
fn describe(command: &Command) -> String {
    let program = Path::new(command.get_program());
    let mut words = vec![program.file_name().unwrap_or(program.as_os_str()).to_string_lossy().into_owned()];
    words.extend(command.get_args().map(|argument| argument.to_string_lossy().into_owned()));
    words.join(" ")
}

/// Runs a command on our own terminal; any exit but success is an error.
pub fn run(command: &mut Command) -> Result<()> {
    let status = command.status().map_err(|cause| cannot_start(command, &cause))?;
    require_success(command, status)
}

/// Output of a command on stdout, and how it ended. Its stderr goes to our own.
pub struct Captured {
    /// The whole output.
    pub stdout: String,
    /// An error if the command failed; its output may still be of use.
    pub ending: Result<()>,
}

/// Runs a command and captures its stdout. An error only if it could not be started at all.
pub fn capture(command: &mut Command) -> Result<Captured> {
    command.stdout(Stdio::piped()).stderr(Stdio::inherit());
    let output = command.output().map_err(|cause| cannot_start(command, &cause))?;
    let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
    Ok(Captured { stdout, ending: require_success(command, output.status) })
}

/// Runs a command and captures its stdout and stderr together, and also prints them at once if `is_shown`. An error only if
/// it could not be started at all.
pub fn run_and_keep(mut command: Command, is_shown: bool) -> Result<Captured> {
    let pipe = std::io::pipe().and_then(|(reader, writer)| Ok((reader, writer.try_clone()?, writer)));
    let (reader, stdout, stderr) = pipe.map_err(|cause| cannot_start(&command, &cause))?;
    command.stdin(Stdio::null()).stdout(stdout).stderr(stderr);
    let mut child = command.spawn().map_err(|cause| cannot_start(&command, &cause))?;
    // The command holds the pipe's other end too, so reading would never end.
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let mut text = String::new();
    for line in BufReader::new(reader).split(b'\n').map_while(std::result::Result::ok) {
        let line = String::from_utf8_lossy(&line);
        if is_shown {
            println!("{line}");
        }
        text.push_str(&line);
        text.push('\n');
    }
    let status = child.wait().map_err(|cause| cannot_start(&command, &cause))?;
    Ok(Captured { stdout: text, ending: require_success(&command, status) })
}

/// Returns whether a command runs and succeeds; its output is discarded.
pub fn succeeds(command: &mut Command) -> bool {
    let quiet = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    quiet.status().is_ok_and(|status| status.success())
}

/// Returns the first of these programs that is on the search path.
pub fn find_program(names: &[&str]) -> Option<PathBuf> {
    let search_path = std::env::var_os("PATH")?;
    names.iter().find_map(|name| {
        std::env::split_paths(&search_path).map(|folder| folder.join(name)).find(|program| program.is_file())
    })
}

fn cannot_start(command: &Command, cause: &std::io::Error) -> Error {
    Error::io("start", Path::new(command.get_program()), cause)
}

fn require_success(command: &Command, status: ExitStatus) -> Result<()> {
    if status.success() {
        return Ok(());
    }
    Err(Error::new(format!("`{}` ended with {status}", describe(command))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failing_command_is_named_with_its_status() {
        let mut command = Command::new("sh");
        command.args(["-c", "exit 3"]);
        let error = run(&mut command).unwrap_err().to_string();
        assert!(error.contains("sh -c exit 3"), "{error}");
        assert!(error.contains('3'), "{error}");
    }

    #[test]
    fn a_missing_program_is_an_error_and_not_a_panic() {
        let mut command = Command::new("no-such-program-anywhere");
        let error = run(&mut command).unwrap_err().to_string();
        assert!(error.contains("cannot start no-such-program-anywhere"), "{error}");
        assert!(!succeeds(&mut Command::new("no-such-program-anywhere")));
        assert_eq!(find_program(&["no-such-program-anywhere"]), None);
    }

    #[test]
    fn both_outputs_are_kept_in_order() {
        let mut command = Command::new("sh");
        command.args(["-c", "echo one; echo two >&2; echo three; exit 4"]);
        let kept = run_and_keep(command, false).unwrap();
        assert_eq!(kept.stdout, "one\ntwo\nthree\n");
        assert!(kept.ending.unwrap_err().to_string().contains('4'));
        assert!(run_and_keep(Command::new("no-such-program-anywhere"), false).is_err());
    }

    #[test]
    fn output_is_kept_even_when_the_command_fails() {
        let mut command = Command::new("sh");
        command.args(["-c", "echo rows; exit 1"]);
        let captured = capture(&mut command).unwrap();
        assert_eq!(captured.stdout, "rows\n");
        assert!(captured.ending.is_err());
    }
}
