//! Numbers and their suffixes.

use super::super::node::Token;
use super::Lowering;
use crate::ast::ExprKind;
use crate::diagnostic::Diagnostic;
use pumice_scalar::{Constant, ScalarType};

/// A suffix that ends in another one comes before it.
const SUFFIXES: [(&str, ScalarType); 12] = [
    ("i8", ScalarType::I8),
    ("i16", ScalarType::I16),
    ("u8", ScalarType::U8),
    ("u16", ScalarType::U16),
    ("bf16", ScalarType::BF16),
    ("f16", ScalarType::F16),
    ("i32", ScalarType::I32),
    ("i64", ScalarType::I64),
    ("u32", ScalarType::U32),
    ("u64", ScalarType::U64),
    ("f32", ScalarType::F32),
    ("f64", ScalarType::F64),
];

/// Splits off a suffix. In hexadecimal numbers `f32` is made of digits, so those have integer suffixes only.
fn without_suffix(text: &str) -> (&str, Option<ScalarType>) {
    let hexadecimal = text.starts_with("0x") || text.starts_with("0X");
    for (suffix, ty) in SUFFIXES {
        if let Some(digits) = text.strip_suffix(suffix)
            && !(hexadecimal && ty.is_float())
        {
            return (digits, Some(ty));
        }
    }
    (text, None)
}

/// Returns the value of an integer literal without suffix, or an error if it is not made of digits, or too large.
fn value(text: &str) -> Result<u64, &'static str> {
    let lower = text.to_ascii_lowercase();
    let (digits, radix) = match (lower.strip_prefix("0x"), lower.strip_prefix("0b")) {
        (Some(digits), _) => (digits, 16),
        (_, Some(digits)) => (digits, 2),
        _ => (lower.as_str(), 10),
    };
    let digits = digits.replace('_', "");
    if digits.is_empty() || !digits.chars().all(|digit| digit.is_digit(radix)) {
        return Err("is no number");
    }
    u64::from_str_radix(&digits, radix).map_err(|_| "is too large: numbers have at most 64 bits")
}

const SHAPES: &str = "numbers are written as `12`, `1_000`, `0xff`, `0b101`, `1.5`, `2.5e-3`, and with a suffix as \
                      `1i32`, `2u64`, `1.5f32`";

impl Lowering<'_> {
    fn bad_number(&mut self, token: Token, why: &str) {
        let error = Diagnostic::new(self.token_span(token), format!("`{}` {why}", shortened(token.text)));
        self.error(if why == "is no number" { error.help(SHAPES) } else { error });
    }

    /// Lowers an integer literal. Under a sign one more is in range.
    pub(super) fn integer(&mut self, token: Token, negated: bool) -> ExprKind {
        let (digits, ty) = without_suffix(token.text);
        let number = match value(digits) {
            Ok(number) => number,
            Err(why) => {
                self.bad_number(token, why);
                return ExprKind::Error;
            }
        };
        let largest = match ty {
            Some(float) if float.is_float() => return ExprKind::Float(number as f64, ty),
            Some(integer) => largest_literal(integer, negated),
            None => u64::MAX,
        };
        if number > largest {
            self.bad_number(token, "is too large for the type of its suffix");
            return ExprKind::Error;
        }
        ExprKind::Integer(number, ty)
    }

    pub(super) fn float(&mut self, token: Token) -> ExprKind {
        let (digits, ty) = without_suffix(token.text);
        if ty.is_some_and(|ty| !ty.is_float()) {
            self.bad_number(token, "has a suffix of integers");
            return ExprKind::Error;
        }
        match digits.replace('_', "").parse::<f64>() {
            Ok(number) if is_finite(number, ty.unwrap_or(ScalarType::F64)) => ExprKind::Float(number, ty),
            Ok(_) => {
                self.bad_number(token, "is too large for its type");
                ExprKind::Error
            }
            Err(_) => {
                self.bad_number(token, "is no number");
                ExprKind::Error
            }
        }
    }

    /// Lowers an integer where no suffix may be: a size, a level, a pattern.
    pub(super) fn plain_integer(&mut self, token: Token, what: &str) -> u64 {
        let (digits, ty) = without_suffix(token.text);
        match value(digits) {
            Ok(number) => {
                if ty.is_some() {
                    self.bad_number(token, &format!("has a suffix, and {what} has none"));
                }
                number
            }
            Err(why) => {
                self.bad_number(token, why);
                0
            }
        }
    }
}

/// Returns the largest literal of an integer type; under a sign one more is in range.
pub(crate) fn largest_literal(ty: ScalarType, negated: bool) -> u64 {
    let extra = u64::from(negated && ty.is_signed());
    u64::try_from(ty.range().1).unwrap_or(u64::MAX).saturating_add(extra)
}

fn is_finite(number: f64, ty: ScalarType) -> bool {
    Constant::from_float(ty, number).as_float().is_some_and(f64::is_finite)
}

fn shortened(text: &str) -> String {
    if text.len() > 30 {
        format!("{}…", text.chars().take(30).collect::<String>())
    } else {
        text.to_string()
    }
}
