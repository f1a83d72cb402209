//! The commands of the REPL: their names and help. `perform.rs` carries them out.

use std::fmt::Write;

/// A command of the REPL.
pub struct Command {
    /// Word after the colon. Any prefix of it that no earlier command shares is accepted as well.
    pub name: &'static str,
    /// Its argument, as the help shows it.
    pub takes: &'static str,
    /// Its description in the help.
    pub about: &'static str,
}

const fn command(name: &'static str, takes: &'static str, about: &'static str) -> Command {
    Command { name, takes, about }
}

/// Name of an expression argument in the help.
const EXPRESSION: &str = "EXPRESSION";

/// All commands, in the order of the help. A prefix that several names share means the first of them.
pub const COMMANDS: [Command; 18] = [
    command("type", EXPRESSION, "its type; nothing is run"),
    command("doc", "NAME", "the type and the documentation of a name"),
    command("list", "", "what was loaded and defined"),
    command("load", "FILE.pum", "read a file; its names replace those that there are"),
    command("reload", "", "read it again, and what it imports"),
    command("save", "FILE.pum", "write all definitions to a new file"),
    command("plot", "[A..B] EXPRESSION", "a vector of numbers or of pairs (x, y), or a function from A to B"),
    command("picture", EXPRESSION, "a matrix of grey values, or of colours (red, green, blue)"),
    command("time", EXPRESSION, "how long it takes to build, compile and run it"),
    command("bench", EXPRESSION, "how long it takes to run it, many times"),
    command("simulate", EXPRESSION, "what its kernels cost on a GPU, line by line"),
    command("emit", "[TARGET] EXPRESSION", "what it becomes: array, program, c, opencl or cuda (else cuda)"),
    command("explain", EXPRESSION, "what is allocated and launched for it"),
    command("device", "[NAME]", "the device, or another one from now on"),
    command(
        "set",
        "[NAME VALUE]",
        "settings: `plots on` or `off`; `limit SECONDS` or `off`, for how long a run may take",
    ),
    command("forget", "NAME", "no longer keep a value"),
    command("help", "", "this text"),
    command("quit", "", "leave, as Ctrl-D does"),
];

/// Returns the command with this name or prefix.
pub fn find(name: &str) -> Option<&'static Command> {
    let exact = COMMANDS.iter().find(|command| command.name == name);
    exact.or_else(|| COMMANDS.iter().find(|command| !name.is_empty() && command.name.starts_with(name)))
}

/// Returns whether a command's argument is an expression, which may take several lines.
pub fn takes_expression(name: &str) -> bool {
    find(name).is_some_and(|command| command.takes.ends_with(EXPRESSION))
}

/// Returns the text of `:help`.
pub fn help() -> String {
    let mut text = String::from(
        "EXPRESSION                its value and type; `it` is the last value\n\
         NAME = EXPRESSION         compute a value once, and keep it (also `let NAME = …`)\n\
         fun, sig, type, import    as in a file; a new definition replaces the old one\n",
    );
    for Command { name, takes, about } in &COMMANDS {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{:<26}{about}", format!(":{name} {takes}"));
    }
    text + "A line whose end is missing goes on in the next one; an empty line ends it. Ctrl-C stops what runs, or clears the line.\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beginnings_are_commands_too() {
        let name = |text: &str| find(text).map(|command| command.name);
        assert_eq!(name("type"), Some("type"));
        assert_eq!(
            (name("t"), name("q"), name("l"), name("lo")),
            (Some("type"), Some("quit"), Some("list"), Some("load"))
        );
        assert_eq!((name(""), name("nothing")), (None, None));
        assert!(takes_expression("plot") && takes_expression("emit") && !takes_expression("load"));
    }
}
