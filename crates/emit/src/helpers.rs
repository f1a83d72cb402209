//! The prelude: small functions for what C cannot say in an expression. Only those that a program uses are written.
//! They are total, like [`Op::evaluate`]: no input is undefined behaviour.

use std::collections::{BTreeMap, BTreeSet};

use pumice_scalar::{Constant, Op, ScalarType};

use crate::EmitOptions;
use crate::atomics::Atomic;
use crate::dialect::Language;
use crate::expression::literal;
use crate::halves;
use crate::text::Text;

/// A function of the prelude.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Helper {
    /// An operation on operands of one type, which is also the result's.
    Operation(Op, ScalarType),
    /// Integer division through doubles, of numbers so small that it is exact: unlike integer division, it
    /// vectorises.
    DivideInDoubles {
        /// Division or remainder.
        op: Op,
        /// The type of everything.
        ty: ScalarType,
        /// Whether the divisor is known to be.
        positive: bool,
    },
    /// The same bits as another type.
    Bits {
        /// The type that comes out.
        to: ScalarType,
        /// The type that goes in.
        from: ScalarType,
    },
    /// A float as the nearest integer of a type that has room for it, after dropping the fraction.
    Saturate {
        /// The type that comes out.
        to: ScalarType,
        /// The type that goes in.
        from: ScalarType,
    },
    /// A float of 16 bits as an `f32`, or the other way round.
    Half {
        /// The type of 16 bits.
        ty: ScalarType,
        /// Whether it goes in, and not comes out.
        widens: bool,
    },
    /// Keeps the first failure.
    Fail,
    /// The votes of a warp's lanes as bits, from memory that has a cell for each.
    Ballot,
    /// Whether any of several votes, from memory that has a cell for each, is not zero.
    AnyOf,
    /// An atomic operation on an element of memory.
    Atomic(Atomic),
    /// A section of the dialect's library that others build on.
    Section(&'static str),
}

/// A piece of a dialect's library.
pub(crate) struct Section {
    /// The names of the sections (and of [`Helper::Bits`]) that it builds on.
    needs: &'static str,
    /// Its text.
    text: &'static str,
}

/// Functions of the prelude that are written in a dialect itself, by name.
pub(crate) type Library = BTreeMap<&'static str, Section>;

/// Reads a library: sections, each after a line `//@ name: needs`.
pub(crate) fn library(text: &'static str) -> Library {
    let sections = text.split("\n//@ ").skip(1).filter_map(|section| {
        let (head, text) = section.split_once('\n')?;
        let (name, needs) = head.split_once(':').unwrap_or((head, ""));
        Some((name, Section { needs, text: text.trim_end() }))
    });
    sections.collect()
}

/// Writes functions, and before each what it builds on.
pub(crate) fn write_all(
    helpers: &BTreeSet<Helper>,
    language: &dyn Language,
    options: &EmitOptions,
    text: &mut Text,
) {
    let mut written = BTreeSet::new();
    for helper in helpers {
        helper.write_once(language, options, &mut written, text);
    }
}

impl Helper {
    /// The function's name; ends in a type's name, so that no value is called so.
    pub(crate) fn name(self) -> String {
        match self {
            Helper::Operation(op, ty) => format!("{}_{ty}", op.name()),
            Helper::DivideInDoubles { op, ty, positive } => {
                format!("{}_{}_{ty}", op.name(), if positive { "positive" } else { "small" })
            }
            Helper::Bits { to, from } => format!("bits_{from}_{to}"),
            Helper::Saturate { to, from } => format!("saturate_{from}_{to}"),
            Helper::Half { ty, widens } => format!("{}_{ty}", if widens { "widen" } else { "round" }),
            Helper::Fail => "fail_i64".to_owned(),
            Helper::Ballot => "ballot_u32".to_owned(),
            Helper::AnyOf => "any_of_u32".to_owned(),
            Helper::Atomic(atomic) => atomic.name(),
            Helper::Section(name) => name.to_owned(),
        }
    }

    fn write_once(
        self,
        language: &dyn Language,
        options: &EmitOptions,
        written: &mut BTreeSet<String>,
        text: &mut Text,
    ) {
        let name = self.name();
        if !written.insert(name.clone()) {
            return;
        }
        let Some(section) = language.library().and_then(|library| library.get(name.as_str())) else {
            if let Helper::Half { .. } = self {
                for need in halves::needs(language) {
                    need.write_once(language, options, written, text);
                }
            }
            self.write(language, options, text);
            return;
        };
        for need in section.needs.split_whitespace() {
            needed(need).write_once(language, options, written, text);
        }
        section.text.lines().for_each(|line| text.directive(line));
    }

    fn write(self, language: &dyn Language, options: &EmitOptions, text: &mut Text) {
        let name = self.name();
        let prefix = language.helper();
        let function = |text: &mut Text, result: &str, parameters: &str, body: &str| {
            if body.contains('\n') {
                text.line(&format!("{prefix} {result} {name}({parameters}) {{"));
                text.line(&format!("    {body}"));
                text.line("}");
            } else {
                text.line(&format!("{prefix} {result} {name}({parameters}) {{ {body} }}"));
            }
        };
        match self {
            Helper::Operation(op, ty) => {
                let register = language.register(ty);
                let parameters = match op.arity() {
                    1 => format!("{register} a"),
                    _ => format!("{register} a, {register} b"),
                };
                function(text, register, &parameters, &operation_body(op, ty, language));
            }
            Helper::DivideInDoubles { op, ty, positive } => {
                let register = language.register(ty);
                let body = divide_in_doubles(op, ty, positive, options);
                function(text, register, &format!("{register} a, {register} b"), &body);
            }
            Helper::Bits { to, from } => {
                let (result, parameter) = (language.register(to), language.register(from));
                let body = format!("{result} b; __builtin_memcpy(&b, &a, {}); return b;", to.bytes());
                function(text, result, &format!("{parameter} a"), &body);
            }
            Helper::Saturate { to, from } => {
                let (result, parameter) = (language.register(to), language.register(from));
                let truncated = language.truncate(to, from, "a");
                let body = if language.truncation_saturates() {
                    format!("return a != a ? 0 : {truncated};")
                } else {
                    saturate_body(to, from, &truncated)
                };
                function(text, result, &format!("{parameter} a"), &body);
            }
            Helper::Half { ty, widens } => {
                let [half, single] = [ty, ScalarType::F32].map(|ty| language.register(ty));
                let (result, parameter) = if widens { (single, half) } else { (half, single) };
                let body = halves::body(ty, widens, language);
                function(text, result, &format!("{parameter} a"), &body);
            }
            Helper::Fail => {
                let body = format!(
                    "{}\n        failure[1] = index;\n        failure[2] = bound;\n    }}",
                    language.keep_failure()
                );
                let pointer = format!("{}i64 *failure", language.space(false));
                function(text, "void", &format!("{pointer}, i64 code, i64 index, i64 bound"), &body);
            }
            Helper::Ballot => {
                let body = "u32 bits = 0;\n    for (u32 k = 0; k < lanes; k++) bits |= votes[k] << k;\n    return bits;";
                let pointer = format!("{}const u32 *votes", language.space(true));
                function(text, "u32", &format!("{pointer}, u32 lanes"), body);
            }
            Helper::AnyOf => {
                let body = "u32 any = 0;\n    for (u32 k = 0; k < count; k++) any |= votes[k];\n    return any != 0;";
                let pointer = format!("{}const u32 *votes", language.space(true));
                function(text, "bool", &format!("{pointer}, u32 count"), body);
            }
            Helper::Atomic(atomic) => {
                let space = language.space(atomic.shared);
                let (result, parameters) = atomic.signature(language.element(atomic.ty), space);
                function(text, &result, &parameters, &language.atomic_body(atomic));
            }
            // Written from the library.
            Helper::Section(_) => {}
        }
    }
}

/// The helper that a section means by a name.
fn needed(name: &'static str) -> Helper {
    let mut types = name.strip_prefix("bits_").into_iter().flat_map(|types| types.split('_'));
    let mut next = || types.next().and_then(ScalarType::from_name);
    match (next(), next()) {
        (Some(from), Some(to)) => Helper::Bits { to, from },
        _ => Helper::Section(name),
    }
}

fn saturate_body(to: ScalarType, from: ScalarType, truncated: &str) -> String {
    let (low, high) = to.range();
    let float = |value: i128| literal(Constant::from_integer(from, value), false);
    let integer = |value: i128| literal(Constant::from_integer(to, value), true);
    // One above the largest is a power of two, so both bounds are exact.
    format!(
        "return a != a ? 0 : a < {} ? {} : a >= {} ? {} : {truncated};",
        float(low),
        integer(low),
        float(high + 1),
        integer(high)
    )
}

/// The quotient of two integers below 2^53, rounded, has the right integer part: it is nearer to the next integer than
/// the rounding only if it is that integer.
fn divide_in_doubles(op: Op, ty: ScalarType, positive: bool, options: &EmitOptions) -> String {
    // Of the divisors, zero and -1 are kept away: one has no quotient, the other's may not fit.
    let divisor = match (positive, ty.is_signed()) {
        (true, _) => "b",
        (false, true) => "(b == 0) | (b == -1) ? 1 : b",
        (false, false) => "b == 0 ? 1 : b",
    };
    let mut lines = vec![format!("{ty} c = {divisor};"), format!("{ty} q = ({ty})((double)a / (double)c);")];
    if options.fast_math {
        // Then compilers may multiply by the reciprocal, and the quotient may be one off.
        lines.extend(correction(ty));
    }
    lines.push(match (op, positive, ty.is_signed()) {
        (Op::Rem, _, _) => "return a - q * c;".to_owned(),
        (_, true, _) => "return q;".to_owned(),
        (_, false, true) => format!("return b == 0 ? 0 : b == -1 ? ({ty})(0 - (u64)a) : q;"),
        (_, false, false) => "return b == 0 ? 0 : q;".to_owned(),
    });
    lines.join("\n    ")
}

/// Moves a quotient `q` of `a` and `c` that is off by one at most.
fn correction(ty: ScalarType) -> Vec<String> {
    let rest = "i64 r = (i64)a - (i64)q * (i64)c;".to_owned();
    if !ty.is_signed() {
        return vec![rest, "q = r < 0 ? q - 1 : (u64)r >= c ? q + 1 : q;".to_owned()];
    }
    vec![
        rest,
        "i64 s = a < 0 ? -r : r;".to_owned(),
        "u64 m = c < 0 ? 0 - (u64)c : (u64)c;".to_owned(),
        format!("{ty} away = (a < 0) != (c < 0) ? -1 : 1;"),
        "q = s < 0 ? q - away : (u64)s >= m ? q + away : q;".to_owned(),
    ]
}

/// Returns the body of an operation's helper.
fn operation_body(op: Op, ty: ScalarType, language: &dyn Language) -> String {
    if ty.is_float() {
        return language.float_body(op, ty);
    }
    let unsigned = if ty.bytes() == 8 { "u64" } else { "u32" };
    let bits = 8 * ty.bytes();
    let zero = if ty.bytes() == 8 { "(u64)0" } else { "0u" };
    let count = |op, value: &str| language.count_bits(op, ty, value);
    match op {
        Op::Div if ty.is_signed() => {
            format!("return b == 0 ? 0 : b == -1 ? ({ty})({zero} - ({unsigned})a) : a / b;")
        }
        Op::Div => "return b == 0 ? 0 : a / b;".to_owned(),
        // By -1 nothing remains; by 0 the language says 0. Dividing by 1 instead gives the same without a trap.
        Op::Rem if ty.is_signed() => "return a % ((b == 0) | (b == -1) ? 1 : b);".to_owned(),
        Op::Rem => "return a % (b == 0 ? 1 : b);".to_owned(),
        Op::Abs => format!("return a < 0 ? ({ty})({zero} - ({unsigned})a) : a;"),
        Op::Min => "return b < a ? b : a;".to_owned(),
        Op::Max => "return a < b ? b : a;".to_owned(),
        Op::CountOnes => format!("return ({ty}){};", count(op, &format!("({unsigned})a"))),
        Op::LeadingZeros => {
            format!("return a == 0 ? {bits} : ({ty}){};", count(op, &format!("({unsigned})a")))
        }
        Op::TrailingZeros => {
            // The ones below the lowest one.
            let below = format!("~({unsigned})a & (({unsigned})a - 1)");
            format!("return ({ty}){};", count(Op::CountOnes, &below))
        }
        // Every other operation is written as an expression.
        _ => "return a;".to_owned(),
    }
}
