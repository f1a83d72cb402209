//! The stage `dependencies`: whose code we build on, under which licence, and whether anything bad is known of it.
//!
//! Licences and sources are checked here, from `cargo metadata`, which needs the network once, for crates that only other
//! systems build. `cargo deny` checks them again and asks for known vulnerabilities (`deny.toml`), where it is installed
//! and its data can be had.

use serde_json::Value;

use super::summary::Outcome;
use crate::error::{Error, Result};
use crate::process;
use crate::workspace::Workspace;

/// Licences that we accept, as in `deny.toml`.
const LICENCES: &[&str] = &[
    "MIT",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "ISC",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
    "CC0-1.0",
    "BSL-1.0",
    "0BSD",
];

/// Where crates may come from.
const SOURCE: &str = "registry+https://github.com/rust-lang/crates.io-index";

/// Checks licences and sources, then runs `cargo deny`; gives what it said. Without the tool or its data the stage is skipped,
/// also where tests guard the main branch: the data comes over the network.
pub fn check(workspace: &Workspace) -> (Outcome, String) {
    let wrong = match metadata(workspace) {
        Ok(metadata) => mistakes(&metadata),
        // Crates for other systems than this one are not here before somebody asks for them.
        Err(error) => {
            return (Outcome::Skipped(format!("cargo does not have every crate: {error}")), String::new());
        }
    };
    let wrong = match wrong {
        Ok(wrong) => wrong,
        Err(error) => return (Outcome::Failed(error.to_string()), String::new()),
    };
    if !wrong.is_empty() {
        return (Outcome::Failed(format!("{} crates are not acceptable", wrong.len())), wrong.join("\n"));
    }
    if !process::succeeds(&mut workspace.cargo(&["deny", "--version"])) {
        let reason = "licences and sources are good; no cargo deny (`cargo install cargo-deny`) for the rest";
        return (Outcome::Skipped(reason.into()), String::new());
    }
    if let Err(error) =
        process::run_and_keep(workspace.cargo(&["deny", "fetch", "db"]), false).and_then(|kept| kept.ending)
    {
        let reason = format!("licences and sources are good; the advisory data cannot be had: {error}");
        return (Outcome::Skipped(reason), String::new());
    }
    match process::run_and_keep(workspace.cargo(&["deny", "check", "--disable-fetch"]), false) {
        Ok(kept) => (
            kept.ending.map_or_else(|error| Outcome::Failed(error.to_string()), |()| Outcome::Ok),
            kept.stdout,
        ),
        Err(error) => (Outcome::Failed(error.to_string()), String::new()),
    }
}

fn metadata(workspace: &Workspace) -> Result<Value> {
    let captured =
        process::capture(&mut workspace.cargo(&["metadata", "--format-version", "1", "--locked"]))?;
    captured.ending?;
    serde_json::from_str(&captured.stdout)
        .map_err(|cause| Error::new(format!("cargo metadata printed no JSON: {cause}")))
}

/// The crates that we may not use, and why.
fn mistakes(metadata: &Value) -> Result<Vec<String>> {
    let packages = metadata["packages"].as_array();
    let packages = packages.ok_or_else(|| Error::new("cargo metadata names no packages"))?;
    let mut wrong = Vec::new();
    for package in packages {
        let name = format!("{} {}", text(&package["name"]), text(&package["version"]));
        // Our own have none.
        if !package["source"].is_null() && package["source"].as_str() != Some(SOURCE) {
            wrong.push(format!("{name} comes from {}", text(&package["source"])));
        }
        if !package["license"].as_str().is_some_and(is_accepted) {
            wrong.push(format!("{name} has the licence {}", text(&package["license"])));
        }
    }
    Ok(wrong)
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or("(none)")
}

/// Whether one of the ways to read a licence expression needs accepted licences alone.
fn is_accepted(expression: &str) -> bool {
    // Before SPDX had expressions, a slash was an "or".
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut rest = &words[..];
    any_of(&mut rest) == Some(true) && rest.is_empty()
}

/// Licences with `OR` between them.
fn any_of(rest: &mut &[&str]) -> Option<bool> {
    let mut accepted = all_of(rest)?;
    while let ["OR", tail @ ..] = rest {
        *rest = tail;
        accepted |= all_of(rest)?;
    }
    Some(accepted)
}

/// Licences with `AND` between them, which binds tighter.
fn all_of(rest: &mut &[&str]) -> Option<bool> {
    let mut accepted = one(rest)?;
    while let ["AND", tail @ ..] = rest {
        *rest = tail;
        accepted &= one(rest)?;
    }
    Some(accepted)
}

fn one(rest: &mut &[&str]) -> Option<bool> {
    match *rest {
        ["(", tail @ ..] => {
            *rest = tail;
            let accepted = any_of(rest)?;
            let [")", tail @ ..] = *rest else { return None };
            *rest = tail;
            Some(accepted)
        }
        [name, "WITH", exception, tail @ ..] => {
            *rest = tail;
            Some(LICENCES.contains(&format!("{name} WITH {exception}").as_str()))
        }
        [name, tail @ ..] => {
            *rest = tail;
            Some(LICENCES.contains(name))
        }
        [] => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn licence_expressions_are_read_as_spdx_says() {
        for good in [
            "MIT",
            "MIT/Apache-2.0",
            "GPL-3.0 OR MIT",
            "(MIT OR GPL-2.0) AND Unicode-3.0",
            "Apache-2.0 WITH LLVM-exception OR GPL-2.0",
        ] {
            assert!(is_accepted(good), "{good}");
        }
        for bad in [
            "",
            "GPL-3.0",
            "MIT AND GPL-3.0",
            "MIT OR",
            "(MIT",
            "MIT)",
            "GPL-2.0 OR MIT AND GPL-3.0",
            "Apache-2.0 WITH Something-else",
        ] {
            assert!(!is_accepted(bad), "{bad}");
        }
    }

    #[test]
    fn foreign_sources_and_licences_are_named() {
        let package = |name: &str, licence: Value, source: Value| json!({"name": name, "version": "1.0.0", "license": licence, "source": source});
        let metadata = json!({"packages": [
            package("ours", json!("MIT OR Apache-2.0"), Value::Null),
            package("good", json!("ISC"), json!(SOURCE)),
            package("copyleft", json!("GPL-3.0"), json!(SOURCE)),
            package("silent", Value::Null, json!(SOURCE)),
            package("elsewhere", json!("MIT"), json!("git+https://example.org/x")),
        ]});
        assert_eq!(
            mistakes(&metadata).unwrap(),
            [
                "copyleft 1.0.0 has the licence GPL-3.0",
                "silent 1.0.0 has the licence (none)",
                "elsewhere 1.0.0 comes from git+https://example.org/x",
            ]
        );
        assert!(mistakes(&json!({})).is_err());
    }

    #[test]
    fn deny_toml_accepts_the_same_licences() {
        let file = include_str!("../../../deny.toml");
        let list = file.split_once("allow = [").and_then(|(_, rest)| rest.split_once(']')).unwrap().0;
        let allowed: Vec<&str> = list
            .split(',')
            .map(|name| name.trim().trim_matches('"'))
            .filter(|name| !name.is_empty())
            .collect();
        assert_eq!(allowed, LICENCES);
    }
}
