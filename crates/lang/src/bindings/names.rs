//! Names of a file as identifiers of other languages.

use crate::ast::Name;
use crate::interface::Export;

/// Returns the name of a library made of a file: the file's name without folder and ending, as an identifier.
///
/// ```
/// use pumice_lang::bindings::library_name;
/// assert_eq!(library_name("examples/dot-products.pum"), "dot_products");
/// ```
pub fn library_name(path: &str) -> String {
    let file = path.rsplit(['/', '\\']).next().unwrap_or(path);
    identifier(file.strip_suffix(".pum").unwrap_or(file), "")
}

/// Whether a library can have this name.
pub fn is_library_name(name: &str) -> bool {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    name.starts_with(|first: char| first.is_ascii_alphabetic()) && name.chars().all(plain)
}

/// Returns the functions that cannot have their names in a library for C, each with the reason.
pub fn clashes(exports: &[Export]) -> Vec<(Name, String)> {
    let own = ["context_", "new_", "values_", "shape_", "free_", "status"];
    let name = |export: &Export| identifier(&export.name, "");
    let mut clashes = Vec::new();
    for (number, export) in exports.iter().enumerate() {
        let wanted = name(export);
        if own.iter().any(|own| wanted.starts_with(own)) {
            let reason = format!("functions of the library itself are called `{wanted}` and the like");
            clashes.push((export.name.clone(), reason));
        } else if let Some(other) = exports.iter().take(number).find(|other| name(other) == wanted) {
            let reason = format!("in other languages it would be `{wanted}`, as `{}` is", other.name);
            clashes.push((export.name.clone(), reason));
        }
    }
    clashes
}

/// Whether a word is one of these, which have blanks between them.
fn is_among(word: &str, words: &str) -> bool {
    words.split(' ').any(|other| other == word)
}

/// Turns a name into an identifier of letters, digits and underscores that is not a reserved word.
pub(super) fn identifier(name: &str, reserved: &str) -> String {
    let mut text = String::new();
    for letter in name.chars() {
        match letter {
            'a'..='z' | 'A'..='Z' | '0'..='9' | '_' => text.push(letter),
            '\'' => text.push_str("_prime"),
            '-' | '.' | ' ' => text.push('_'),
            other => text.push_str(&format!("_u{:x}", other as u32)),
        }
    }
    if !text.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_') {
        text.insert(0, 'n');
    }
    if text == "_" || is_among(&text, reserved) {
        text.push('_');
    }
    text
}

/// Makes names distinct from each other and from those that are taken.
pub(super) fn distinct(names: impl IntoIterator<Item = String>, taken: &str) -> Vec<String> {
    let mut distinct: Vec<String> = Vec::new();
    for name in names {
        let is_free =
            |name: &str| !is_among(name, taken) && !distinct.iter().any(|other| other.as_str() == name);
        let number =
            (1u32..).map(|number| if number == 1 { name.clone() } else { format!("{name}_{number}") });
        let free = number.into_iter().find(|name| is_free(name)).unwrap_or(name);
        distinct.push(free);
    }
    distinct
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_identifiers() {
        assert_eq!(identifier("x'", ""), "x_prime");
        assert_eq!(identifier("int", "for int"), "int_");
        assert_eq!(identifier("2d", ""), "n2d");
        assert_eq!(identifier("größe", ""), "gr_uf6_udfe");
        assert!(
            is_library_name("f1")
                && !is_library_name("1f")
                && !is_library_name("_f")
                && !is_library_name("a-b")
        );
        assert_eq!(distinct(["a", "a", "b"].map(String::from), "b"), ["a", "a_2", "b_2"]);
    }
}
