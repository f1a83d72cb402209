//! The REPL: sessions in files (`*.txt` here) and in the documentation, which are typed in and must be answered as they say; and sessions at a
//! terminal, key by key.
//!
//! In a file, entries are marked with `>>> `, and their further lines with `... `.

use super::{file, repository, scratch};
use rexpect::reader::Options;
use rexpect::session::{PtySession, spawn_with_options};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

/// Returns the REPL on the simulator, with a history of its own.
fn repl(arguments: &[&str], state: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pumice"));
    command.arg("repl").args(arguments).args(["--device", "sim"]).current_dir(repository());
    command.env("PUMICE_CACHE_DIR", scratch("cache")).env("XDG_STATE_HOME", scratch(state));
    command.env("TERM", "xterm-256color").env_remove("NO_COLOR").env_remove("PUMICE_DEVICE");
    command
}

/// Returns a session's answers to a text, and whether all succeeded.
fn answers(arguments: &[&str], typed: &str) -> (String, bool) {
    let mut command = repl(arguments, "state");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap_or_else(|error| panic!("pumice cannot be started: {error}"));
    let mut input = child.stdin.take().unwrap_or_else(|| panic!("no standard input"));
    input.write_all(typed.as_bytes()).unwrap_or_else(|error| panic!("{error}"));
    drop(input);
    let output = child.wait_with_output().unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    (String::from_utf8_lossy(&output.stdout).into_owned(), output.status.success())
}

/// Types the entries of a session, and compares the answers.
fn replay(name: &str, session: &str) {
    let is_typed = |line: &&str| [">>>", "..."].iter().any(|prompt| line.starts_with(prompt));
    let typed: String =
        session.lines().filter(is_typed).map(|line| format!("{}\n", line.get(4..).unwrap_or(""))).collect();
    let expected: String =
        session.lines().filter(|line| !is_typed(line)).map(|line| format!("{line}\n")).collect();
    let (found, _) = answers(&[], &typed);
    assert_eq!(found, expected, "{name}: typed\n{typed}");
}

#[test]
fn sessions_in_files_are_answered_as_they_say() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/repl");
    let mut count = 0;
    for entry in std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{error}")) {
        let path = entry.unwrap_or_else(|error| panic!("{error}")).path();
        if path.extension().is_some_and(|extension| extension == "txt") {
            let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{error}"));
            replay(&path.display().to_string(), &text);
            count += 1;
        }
    }
    assert!(count > 0, "no session in {}", folder.display());
}

#[test]
fn the_session_in_the_documentation_is_answered_as_it_says() {
    let guide = include_str!("../../../../docs/pum.md");
    let blocks = guide.split("```").skip(1).step_by(2).filter_map(|block| block.strip_prefix("text\n"));
    let sessions: Vec<&str> = blocks.filter(|block| block.starts_with(">>> ")).collect();
    assert!(!sessions.is_empty());
    sessions.iter().for_each(|session| replay("docs/pum.md", session));
}

#[test]
fn the_exit_code_says_whether_all_went_well() {
    assert_eq!(answers(&[], "1 + 1\n"), ("2 : int\n".to_string(), true));
    let (text, went_well) = answers(&[], "1 + true\n2\n:quit\n3\n");
    assert!(!went_well && text.contains("input 1:1:") && text.ends_with("2 : int\n"), "{text}");
    let (text, went_well) = answers(&["examples/pum/dotp.pum"], "norm [3.0, 4.0]");
    assert!(went_well && text.ends_with("5.0 : double\n"), "{text}");
    let (text, went_well) = answers(&["no-such.pum"], "1");
    assert!(!went_well && text.contains("cannot read no-such.pum") && text.ends_with("1 : int\n"), "{text}");
}

#[test]
fn programs_are_shown_and_measured() {
    let shows = |typed: &str, parts: &[&str]| {
        let (text, went_well) = answers(&["examples/pum/dotp.pum"], typed);
        assert!(went_well && parts.iter().all(|part| text.contains(part)), "{typed}:\n{text}");
    };
    shows(":emit c norm [3.0, 4.0]", &["args[0]"]);
    shows(":emit array dotp", &["fold (", "argument 1"]);
    // A value is an argument: it is not computed again.
    shows("xs = generate 10 (fn i => i)\n:emit array sum xs", &["argument 0 at \"xs\""]);
    shows(":emit dotp", &["__global__", "dotp.pum:"]);
    shows(":explain dotp", &["allocate", "launch"]);
    shows(":time norm [3.0, 4.0]", &["built in ", "run again in "]);
    shows(":bench norm [3.0, 4.0]", &[" at best", " runs on sim"]);
    shows(":device", &["sim (there are "]);
    shows(":device cpu\n:device\nnorm [3.0, 4.0]", &["cpu (there are ", "5.0 : double"]);
}

#[test]
fn definitions_are_saved_to_new_files() {
    let path = scratch("saved.pum");
    let _ = std::fs::remove_file(&path);
    let path = path.to_string_lossy();
    let typed = format!(
        "-- Doubles.\nfun f x = 2 * x\nsig g : int -> int\nfun g x = f x\nn = f 4\n:save {path}\n:save {path}\n"
    );
    let (text, went_well) = answers(&[], &typed);
    assert!(!went_well && text.contains("cannot write"), "{text}");
    let (text, went_well) = answers(&[&path], "g n");
    assert!(went_well && text.ends_with("16 : int\n"), "{text}");
}

/// A session at a terminal.
struct Terminal(PtySession);

impl Terminal {
    fn start(arguments: &[&str], state: &str) -> Terminal {
        let options = Options::new().timeout_ms(Some(30_000)).strip_ansi_escape_codes(true);
        let session = spawn_with_options(repl(arguments, state), options);
        let mut terminal = Terminal(session.unwrap_or_else(|error| panic!("{error}")));
        terminal.sees("Ctrl-D leaves");
        terminal.sees(">>> ");
        terminal
    }

    #[track_caller]
    fn sees(&mut self, text: &str) -> String {
        // The terminal's output is read as one character per byte.
        let bytes: String = text.bytes().map(char::from).collect();
        self.0.exp_string(&bytes).unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    /// Sends keys unchanged.
    fn presses(&mut self, keys: &str) {
        let sent = self.0.send(keys).and_then(|_| self.0.flush());
        sent.unwrap_or_else(|error| panic!("{error}"));
    }

    /// Types a line, and waits for the answer and the next prompt.
    #[track_caller]
    fn says(&mut self, line: &str, answer: &str) -> String {
        self.presses(&format!("{line}\r"));
        let before = self.sees(answer);
        before + answer + &self.sees(">>> ")
    }

    fn leaves(mut self) {
        self.0.send_control('d').unwrap_or_else(|error| panic!("{error}"));
        self.0.exp_eof().unwrap_or_else(|error| panic!("{error}"));
    }
}

#[test]
fn a_session_at_a_terminal() {
    let _ = std::fs::remove_dir_all(scratch("state-1"));
    let mut terminal = Terminal::start(&[], "state-1");
    terminal.says("fun double x = 2 * x", "double : Number a => a -> a\r\n");
    terminal.says("xs = map double [1, 2, 3]", "xs : [int]\r\n");
    terminal.says("sum xs", "12 : int\r\n");
    // The last line again, with more behind it.
    terminal.presses("\x1b[A");
    terminal.says(" + 1", "13 : int\r\n");
    // The only name with this prefix.
    terminal.presses("doub\t");
    terminal.says(" 4", "8 : int\r\n");
    // A line that continues.
    terminal.presses("[1,\r");
    terminal.says("2]", "[1, 2] : [int; 2]\r\n");
    // The session continues after an error.
    let shown = terminal.says("1 + true", "bool");
    assert!(shown.contains("input "), "{shown}");
    terminal.says(":type double", "double : Number a => a -> a\r\n");
    terminal.says(":simulate sum (generate 100 (fn i => i))", "without a race");
    terminal.says(":plot map (fn x => x * x) (iota 50)", "\u{2514}\u{2500}");
    terminal
        .says(":picture generate2 4 4 (fn i j => (i * 64, j * 64, 0))", "\u{2580}\u{2580}\u{2580}\u{2580}");
    // Ctrl-C clears a line that is being typed. The line is drawn anew for each key, with its prompt; what is typed before the next
    // prompt may be lost.
    terminal.presses("1 + 1");
    terminal.sees("1 + 1");
    terminal.0.send_control('c').unwrap_or_else(|error| panic!("{error}"));
    terminal.sees(">>> ");
    terminal.says("it", "[1, 2] : [int; 2]\r\n");
    terminal.leaves();
    // The next session remembers this one.
    let mut terminal = Terminal::start(&[], "state-1");
    terminal.presses("\x1b[A\x1b[A");
    terminal.sees(":picture");
    // Ctrl-D leaves from an empty line.
    terminal.0.send_control('c').unwrap_or_else(|error| panic!("{error}"));
    terminal.sees(">>> ");
    terminal.leaves();
}

#[test]
fn a_run_is_stopped_by_a_key() {
    let mut terminal = Terminal::start(&[], "state-2");
    terminal.presses("iterateWhile (fn xs => sum xs > 0) (map (fn x => x)) [1, 2]\r");
    terminal.sees("[1, 2]");
    // Before the run starts, the key would clear the line.
    std::thread::sleep(Duration::from_millis(1500));
    terminal.0.send_control('c').unwrap_or_else(|error| panic!("{error}"));
    terminal.sees("cancelled");
    terminal.sees(">>> ");
    terminal.says("1 + 1", "2 : int\r\n");
    terminal.leaves();
}

#[test]
fn a_file_is_read_again_after_it_changed() {
    let path = file("reloaded.pum", "fun answer = 41\nfun wrong = 1 + true\n");
    let mut terminal = Terminal::start(&[], "state-3");
    let shown = terminal.says(&format!(":load {path}"), "1 function\r\n");
    assert!(shown.contains("wrong is wrong now"), "{shown}");
    terminal.says("answer", "41 : int\r\n");
    file("reloaded.pum", "fun answer = 42\n");
    terminal.says(":reload", "1 function\r\n");
    terminal.says("answer", "42 : int\r\n");
    terminal.leaves();
}
