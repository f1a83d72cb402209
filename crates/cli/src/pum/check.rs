//! `pumice check`: prints the types of the functions of files, or all errors in them.

use super::{each_file, file};
use crate::error::{Error, Result};
use crate::print;
use pumice_lang::types::FunctionId;
use serde_json::{Value, json};

/// What `pumice check` takes.
#[derive(clap::Args)]
pub struct Arguments {
    /// The files.
    #[arg(value_name = "FILE.pum", required = true)]
    files: Vec<String>,
    /// Print one JSON object instead: for each file its functions with types and places, and what is wrong (`docs/pum.md`).
    #[arg(long)]
    json: bool,
}

/// Prints a line per function; of several files, each after its name.
pub fn run(arguments: &Arguments) -> Result<()> {
    let Arguments { files, json } = arguments;
    if *json {
        return all_as_json(files);
    }
    each_file(files, |path| {
        let checked = file::checks(path, &file::text(path)?, None)?.checked;
        let line = |id| format!("{} : {}\n", checked.function(id).0.name.name, checked.scheme(id));
        let heading = if files.len() == 1 { String::new() } else { format!("-- {path}\n") };
        print(&(heading + &checked.own_functions().map(line).collect::<String>()))
    })
}

fn all_as_json(files: &[String]) -> Result<()> {
    let found: Vec<(Value, bool)> = files.iter().map(|path| as_json(path)).collect();
    let is_right = found.iter().all(|(_, is_right)| *is_right);
    let files: Vec<Value> = found.into_iter().map(|(file, _)| file).collect();
    print(&format!("{:#}\n", json!({ "files": files })))?;
    if is_right { Ok(()) } else { Err(Error::Told) }
}

/// Checks a file; returns its functions or errors as JSON, and whether it is free of errors.
fn as_json(path: &str) -> (Value, bool) {
    let found = |functions: Vec<Value>, errors: Vec<Value>| {
        let is_right = errors.is_empty();
        (json!({ "file": path, "functions": functions, "errors": errors }), is_right)
    };
    let text = match file::text(path) {
        Ok(text) => text,
        Err(error) => return found(Vec::new(), vec![json!({ "message": error.to_string() })]),
    };
    match file::checks(path, &text, None) {
        Ok(file::Checks { program, checked }) => {
            let function = |id: FunctionId| {
                let name = &checked.function(id).0.name;
                let place = file::place_as_json(&program.sources, name.span);
                json!({ "name": *name.name, "type": checked.scheme(id).to_string(), "place": place })
            };
            found(checked.own_functions().map(function).collect(), Vec::new())
        }
        Err(wrong) => found(Vec::new(), wrong.as_json()),
    }
}
