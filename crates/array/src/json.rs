//! JSON as text: values, and how they are written. For explanations and traces; nothing is read here.
//!
//! A large crate for JSON compares its values with numbers, and with that in reach rustc no longer knows what `[]` is in
//! `assert_eq!(numbers, [])`: users would pay for our traces with annotations in their tests.

use std::fmt::{self, Display, Write};

/// A value of JSON.
#[derive(Clone, Debug)]
pub enum Json {
    /// Nothing.
    Null,
    /// A truth value.
    Truth(bool),
    /// A number, as its text.
    Number(String),
    /// A text.
    Text(String),
    /// Values in order.
    List(Vec<Json>),
    /// Values with names, in order.
    Object(Vec<(&'static str, Json)>),
}

/// Whole numbers, and those floats that JSON has: of others, nothing.
macro_rules! numbers {
    ($($t:ty)*) => { $(
        impl From<$t> for Json {
            fn from(number: $t) -> Json {
                Json::Number(number.to_string())
            }
        }
    )* };
}
numbers!(u32 u64 usize);

impl From<f64> for Json {
    fn from(number: f64) -> Json {
        if number.is_finite() { Json::Number(format!("{number:?}")) } else { Json::Null }
    }
}

impl From<bool> for Json {
    fn from(truth: bool) -> Json {
        Json::Truth(truth)
    }
}

impl From<&str> for Json {
    fn from(text: &str) -> Json {
        Json::Text(text.into())
    }
}

impl From<&String> for Json {
    fn from(text: &String) -> Json {
        Json::Text(text.clone())
    }
}

impl<T: Into<Json>> From<Option<T>> for Json {
    fn from(value: Option<T>) -> Json {
        value.map_or(Json::Null, Into::into)
    }
}

impl Json {
    /// A list of the values of an iterator.
    ///
    /// ```
    /// use pumice_array::Json;
    /// assert_eq!(Json::list([1u32, 2]).to_string(), "[1,2]");
    /// assert_eq!(Json::Object(vec![("name", "a\n\"b\"".into())]).to_string(), r#"{"name":"a\n\"b\""}"#);
    /// ```
    pub fn list<T: Into<Json>>(values: impl IntoIterator<Item = T>) -> Json {
        Json::List(values.into_iter().map(Into::into).collect())
    }

    /// Writes it; in several lines, of which the first is so deep, if there is a depth.
    fn write(&self, f: &mut fmt::Formatter<'_>, depth: Option<usize>) -> fmt::Result {
        let inside = depth.map(|depth| depth + 1);
        match self {
            Json::Null => f.write_str("null"),
            Json::Truth(truth) => truth.fmt(f),
            Json::Number(number) => f.write_str(number),
            Json::Text(text) => write_text(f, text),
            Json::List(values) if values.is_empty() => f.write_str("[]"),
            Json::Object(values) if values.is_empty() => f.write_str("{}"),
            Json::List(values) => {
                for (position, value) in values.iter().enumerate() {
                    f.write_char(if position == 0 { '[' } else { ',' })?;
                    write_line(f, inside)?;
                    value.write(f, inside)?;
                }
                write_line(f, depth)?;
                f.write_char(']')
            }
            Json::Object(values) => {
                for (position, (name, value)) in values.iter().enumerate() {
                    f.write_char(if position == 0 { '{' } else { ',' })?;
                    write_line(f, inside)?;
                    write_text(f, name)?;
                    f.write_str(if depth.is_some() { ": " } else { ":" })?;
                    value.write(f, inside)?;
                }
                write_line(f, depth)?;
                f.write_char('}')
            }
        }
    }
}

/// Begins a line so deep, if there is a depth.
fn write_line(f: &mut fmt::Formatter<'_>, depth: Option<usize>) -> fmt::Result {
    match depth {
        Some(depth) => write!(f, "\n{:1$}", "", 2 * depth),
        None => Ok(()),
    }
}

fn write_text(f: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    f.write_char('"')?;
    for letter in text.chars() {
        match letter {
            '"' | '\\' => write!(f, "\\{letter}")?,
            '\n' => f.write_str("\\n")?,
            letter if letter < ' ' => write!(f, "\\u{:04x}", letter as u32)?,
            letter => f.write_char(letter)?,
        }
    }
    f.write_char('"')
}

/// In one line, or with `{:#}` in several.
impl Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, f.alternate().then_some(0))
    }
}
