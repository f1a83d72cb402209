//! The text of the crates whose compile time is compared: five parts, each with the items of `part.rs.txt`.

use std::path::Path;

/// The items of a part.
const PART: &str = include_str!("part.rs.txt");

/// Number of parts: 30 structs, 20 enums and 50 functions together.
const PARTS: usize = 5;

/// One of the two crates.
#[derive(Clone, Copy)]
pub enum Form {
    /// Without the attributes: structs, enums and functions of plain Rust.
    Without,
    /// With `#[derive(Elt)]` and `#[embed]`.
    With,
}

impl Form {
    /// Both, in the order in which they are printed.
    pub const BOTH: [Form; 2] = [Form::Without, Form::With];

    /// Returns the name of the crate.
    pub fn name(self) -> &'static str {
        match self {
            Form::Without => "without",
            Form::With => "with",
        }
    }
}

/// Returns the manifest of a crate.
pub fn manifest(form: Form, repository: &Path) -> String {
    let (name, pumice) = (form.name(), repository.join("crates").join("pumice"));
    format!(
        "[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n\
         [dependencies]\npumice = {{ path = {pumice:?} }}\n"
    )
}

/// Returns the manifest of the workspace with both. Only they are compiled as users compile theirs; dependencies have no debug information.
pub fn workspace_manifest(incremental: bool) -> String {
    format!(
        "[workspace]\nresolver = \"3\"\nmembers = [\"without\", \"with\"]\n\n\
         [profile.dev]\nincremental = {incremental}\n\n\
         [profile.dev.package.\"*\"]\nincremental = false\ndebug = false\n"
    )
}

/// Returns the text of a part.
pub fn part(form: Form) -> String {
    match form {
        Form::With => PART.to_string(),
        Form::Without => {
            let is_plain = |line: &&str| !line.starts_with("use pumice") && *line != "#[embed]";
            let lines: Vec<String> =
                PART.lines().filter(is_plain).map(|line| line.replace(", Elt)]", ")]")).collect();
            lines.join("\n") + "\n"
        }
    }
}

/// Returns the main program, which uses all of every part, and Pumice: with expressions, if functions take them. `number` makes the text differ.
pub fn main(form: Form, number: u32) -> String {
    let mut text = String::from("use pumice::prelude::*;\n\n");
    for part in 0..PARTS {
        text += &format!("#[allow(dead_code)]\n#[path = \"part.rs\"]\nmod part_{part};\n");
    }
    text +=
        &format!("\nfn main() -> pumice::Result<()> {{\n    let xs = use_(&[0.5f32, 1.5, {number}.0]);\n");
    for part in 0..PARTS {
        let on_element = match form {
            Form::With => format!("part_{part}::all(x, 9)"),
            Form::Without => "x + 1.0".to_string(),
        };
        text += &format!("    let ys = pumice::run(xs.clone().map(|x| {on_element}))?.to_vec()?;\n");
        text += &format!("    println!(\"{{ys:?}} {{}}\", part_{part}::all(0.5, 9));\n");
    }
    text + "    Ok(())\n}\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(text: &str, word: &str) -> usize {
        text.matches(word).count()
    }

    #[test]
    fn there_are_fifty_of_each_kind() {
        let part = part(Form::With);
        let types = [count(&part, "pub struct "), count(&part, "pub enum "), count(&part, "pub fn ")];
        assert_eq!(types.map(|found| found * PARTS), [30, 20, 50]);
        assert_eq!(count(&part, ", Elt)]") * PARTS, 50);
    }

    #[test]
    fn the_crate_to_compare_with_has_the_same_items_and_no_attributes() {
        let (with, without) = (part(Form::With), part(Form::Without));
        assert_eq!(count(&with, "pub "), count(&without, "pub "));
        assert!(!without.contains("embed") && !without.contains("Elt") && !without.contains("pumice"));
    }
}
