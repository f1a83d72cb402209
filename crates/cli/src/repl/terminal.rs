//! The REPL at a terminal: `rustyline` edits, completes, colours and records lines. Does not interpret them.

use super::answer::{Answer, Repl, Screen};
use super::command::{COMMANDS, find};
use super::entry::{Progress, progress};
use super::names;
use crate::error::{Error, Result};
use crate::print;
use crate::pum::file::no_colours;
use pumice::layers::runtime::device_names;
use pumice_lang::syntax::{SyntaxKind, tokens};
use rustyline::completion::{Completer, FilenameCompleter, Pair};
use rustyline::error::ReadlineError;
use rustyline::highlight::{CmdKind, Highlighter};
use rustyline::hint::Hinter;
use rustyline::history::FileHistory;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{ColorMode, CompletionType, Config, Context, Editor, Helper};
use std::borrow::Cow;
use std::path::PathBuf;

const PROMPT: &str = ">>> ";

/// Reads and answers entries until the user leaves.
pub fn converse(mut repl: Repl) -> Result<()> {
    let colours = !no_colours();
    let config = Config::builder()
        .completion_type(CompletionType::List)
        .color_mode(if colours { ColorMode::Enabled } else { ColorMode::Disabled })
        .bracketed_paste(true)
        .history_ignore_space(true)
        .build();
    let mut editor: Editor<Assistant, FileHistory> = Editor::with_config(config).map_err(failed)?;
    editor.set_helper(Some(Assistant { names: names::all(&repl.session), files: FilenameCompleter::new() }));
    let history = history_file();
    if let Some(path) = &history {
        // The first session has no history yet.
        let _ = editor.load_history(path);
    }
    loop {
        let typed = match editor.readline(PROMPT) {
            Ok(typed) => typed,
            Err(ReadlineError::Interrupted) => continue,
            Err(ReadlineError::Eof) => return Ok(()),
            Err(error) => return Err(failed(error)),
        };
        if !typed.trim().is_empty() {
            let _ = editor.add_history_entry(typed.trim_end());
            // A history that cannot be written only misses entries.
            let _ = history.as_ref().map(|path| editor.append_history(path));
        }
        let (width, height) = editor.dimensions().unwrap_or((80, 24));
        let screen = Screen { colours, width: width.into(), height: height.into() };
        match repl.answer(&typed, screen) {
            Answer::Done(text) | Answer::Failed(text) => print(&text)?,
            Answer::Quit => return Ok(()),
        }
        if let Some(assistant) = editor.helper_mut() {
            assistant.names = names::all(&repl.session);
        }
    }
}

fn failed(error: ReadlineError) -> Error {
    Error::Failed(format!("cannot read from the terminal: {error}"))
}

/// Returns the file of the history: `pumice/history` in the user's folder for program state.
fn history_file() -> Option<PathBuf> {
    let variable = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let state = variable("XDG_STATE_HOME").or_else(|| Some(variable("HOME")?.join(".local/state")))?;
    let folder = state.join("pumice");
    std::fs::create_dir_all(&folder).ok()?;
    Some(folder.join("history"))
}

/// Completes, colours and validates a line while it is typed.
struct Assistant {
    /// All names that can be used.
    names: Vec<String>,
    files: FilenameCompleter,
}

impl Helper for Assistant {}

impl Hinter for Assistant {
    type Hint = String;
}

impl Validator for Assistant {
    fn validate(&self, context: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        Ok(match progress(context.input()) {
            Progress::Complete => ValidationResult::Valid(None),
            Progress::Open | Progress::Incomplete => ValidationResult::Incomplete,
        })
    }
}

impl Completer for Assistant {
    type Candidate = Pair;

    fn complete(&self, line: &str, at: usize, _: &Context<'_>) -> rustyline::Result<(usize, Vec<Pair>)> {
        let before = line.get(..at).unwrap_or("");
        match words_for(before, &self.names) {
            Some((start, words)) => {
                let pair = |word: String| Pair { display: word.clone(), replacement: word };
                Ok((start, words.into_iter().map(pair).collect()))
            }
            None => self.files.complete_path(line, at),
        }
    }
}

/// Returns the words that may complete the end of a text and where they begin, or `None` if files do.
fn words_for(before: &str, names: &[String]) -> Option<(usize, Vec<String>)> {
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || "_':".contains(letter);
    let start = before.trim_end_matches(is_part).len();
    let word = before.get(start..).unwrap_or("");
    let matching = |words: Vec<String>| {
        let mut words: Vec<String> = words.into_iter().filter(|other| other.starts_with(word)).collect();
        words.sort();
        words.dedup();
        Some((start, words))
    };
    if start == 0 && word.starts_with(':') {
        return matching(COMMANDS.iter().map(|command| format!(":{}", command.name)).collect());
    }
    let (command, rest) = before.strip_prefix(':').and_then(|text| text.split_once(' ')).unwrap_or(("", ""));
    let is_first = !rest.trim_start().contains(' ');
    let strings = |words: &[&str]| words.iter().map(|word| word.to_string()).collect::<Vec<String>>();
    match find(command).map_or("", |command| command.name) {
        "load" | "save" => None,
        "device" => matching(device_names()),
        "set" if is_first => matching(strings(&["plots", "limit"])),
        "set" => matching(strings(&["on", "off"])),
        "emit" if is_first => {
            matching([strings(&["array", "program", "c", "opencl", "cuda"]), names.to_vec()].concat())
        }
        _ => matching([strings(&KEYWORDS), names.to_vec()].concat()),
    }
}

/// Keywords that are long enough to complete.
const KEYWORDS: [&str; 8] = ["import", "type", "case", "then", "else", "true", "false", "#BlockSize"];

impl Highlighter for Assistant {
    fn highlight<'l>(&self, line: &'l str, _: usize) -> Cow<'l, str> {
        coloured(line).into()
    }

    fn highlight_prompt<'b, 's: 'b, 'p: 'b>(&'s self, prompt: &'p str, _: bool) -> Cow<'b, str> {
        format!("\x1b[1;36m{prompt}\x1b[0m").into()
    }

    fn highlight_char(&self, _: &str, _: usize, kind: CmdKind) -> bool {
        !matches!(kind, CmdKind::MoveCursor)
    }
}

/// Colours the tokens of a text, and the name of a command.
fn coloured(line: &str) -> String {
    let command = match line.strip_prefix(':') {
        Some(rest) => 1 + rest.split(char::is_whitespace).next().unwrap_or("").len(),
        None => 0,
    };
    let (name, rest) = line.split_at_checked(command).unwrap_or(("", line));
    let mut text = if name.is_empty() { String::new() } else { format!("\x1b[1;36m{name}\x1b[0m") };
    for (kind, word) in tokens(rest) {
        match colour(kind) {
            Some(colour) => text.push_str(&format!("\x1b[{colour}m{word}\x1b[0m")),
            None => text.push_str(word),
        }
    }
    text
}

fn colour(kind: SyntaxKind) -> Option<&'static str> {
    use SyntaxKind::*;
    match kind {
        KwSig | KwFun | KwType | KwImport | KwLet | KwIn | KwFn | KwIf | KwThen | KwElse | KwCase | KwOf => {
            Some("1;34")
        }
        KwDiv | KwMod | KwBand | KwBor | KwXor | KwShl | KwShr => Some("34"),
        Integer | Float | BlockSize | KwTrue | KwFalse => Some("33"),
        Upper => Some("32"),
        Comment => Some("90"),
        ForeignComment | Foreign | Quoted | Unknown => Some("31"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_commands_and_settings_are_completed() {
        let names = ["map".to_string(), "mapMaybe".to_string(), "shapes::area".to_string()];
        let words = |text: &str| words_for(text, &names).map(|(start, words)| (start, words.join(" ")));
        assert_eq!(words("sum (ma"), Some((5, "map mapMaybe".to_string())));
        assert_eq!(words(":type ma"), Some((6, "map mapMaybe".to_string())));
        assert_eq!(words(":pi"), Some((0, ":picture".to_string())));
        assert_eq!(words("1 + shapes::a"), Some((4, "shapes::area".to_string())));
        assert_eq!(words(":set pl"), Some((5, "plots".to_string())));
        assert_eq!(words(":set plots o"), Some((11, "off on".to_string())));
        assert_eq!(words(":emit op"), Some((6, "opencl".to_string())));
        assert_eq!(words(":load ma"), None);
    }

    #[test]
    fn colours_change_nothing_but_colours() {
        for text in [":type fun 1.5 -- x", "let x = \"é\u{0}\" in Some x", "", ":", "é", ":é x"] {
            let plain = regex_free(&coloured(text));
            assert_eq!(plain, text);
        }
        assert_eq!(coloured("fn 1"), "\x1b[1;34mfn\x1b[0m \x1b[33m1\x1b[0m");
    }

    /// Removes colour codes from a text.
    fn regex_free(text: &str) -> String {
        let mut parts = text.split('\x1b');
        let first = parts.next().unwrap_or("").to_string();
        first + &parts.map(|part| part.split_once('m').map_or("", |(_, rest)| rest)).collect::<String>()
    }
}
