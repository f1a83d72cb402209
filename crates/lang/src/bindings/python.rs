//! A module for Python, which calls the library for C and takes and gives NumPy arrays. The code that all modules share is `runtime.py`; here
//! are the functions with their types. A part of a tuple or record is one in Python too, and an array of them is a tuple of arrays.

use super::names::{distinct, identifier};
use super::{Library, doc_lines};
use crate::interface::{Datum, Export};
use pumice_scalar::ScalarType;
use std::fmt::Write;

const RUNTIME: &str = include_str!("runtime.py");

/// Words that nothing can be called, and names that modules have themselves.
const RESERVED: &str = "\
    False None True and as assert async await break class continue def del elif else except finally for from \
    global if import in is lambda nonlocal not or pass raise return try while with yield context Context \
    Failure ctypes operator pathlib threading typing numpy float int bool tuple self";

/// Writes the text of the module, which is placed beside the library for C.
pub fn module(library: &Library<'_>) -> String {
    let mut introduction = doc_lines(library.docs.unwrap_or_default()).join("\n");
    if introduction.is_empty() {
        introduction = format!("Functions of {}.pum.", library.name);
    }
    introduction.push_str("\n\nMade by `pumice build`; do not edit.");
    let mut text = docstring("", &introduction);
    let _ = write!(
        text,
        "\nfrom __future__ import annotations\n\n_NAME = {}\n\n{RUNTIME}",
        literal(library.name)
    );
    let mut records = Records::default();
    let names = distinct(library.exports.iter().map(|export| public(&export.name)), RESERVED);
    let functions: Vec<String> = library
        .exports
        .iter()
        .zip(&names)
        .map(|(export, name)| function(export, name, &mut records))
        .collect();
    for record in &records.0 {
        let _ = write!(text, "\n\n{}", record.definition());
    }
    text.push_str(&functions.concat());
    text
}

/// Turns a name into one that differs from the module's own, which begin with an underscore.
fn public(name: &str) -> String {
    let name = identifier(name, RESERVED);
    if name.starts_with('_') { format!("n{name}") } else { name }
}

/// The named tuples of a module. Two records with the same fields are one.
#[derive(Default)]
struct Records(Vec<PythonRecord>);

struct PythonRecord {
    name: String,
    /// Names and type hints.
    fields: Vec<(String, String)>,
}

impl PythonRecord {
    fn definition(&self) -> String {
        let fields: String = self.fields.iter().map(|(name, hint)| format!("    {name}: {hint}\n")).collect();
        format!("class {}(typing.NamedTuple):\n{fields}", self.name)
    }
}

impl Records {
    /// Returns the name of the record with these fields; a new record gets the wanted name, or a similar one that is free.
    fn name(&mut self, wanted: &str, fields: Vec<(String, String)>) -> String {
        if let Some(known) = self.0.iter().find(|record| record.fields == fields) {
            return known.name.clone();
        }
        let taken = self.0.iter().fold(RESERVED.to_string(), |taken, record| taken + " " + &record.name);
        let name = distinct([wanted.to_string()], &taken).concat();
        self.0.push(PythonRecord { name: name.clone(), fields });
        name
    }
}

/// A value's description for the Python runtime, and its type hint.
struct PythonValue {
    value: String,
    hint: String,
}

fn function(export: &Export, name: &str, records: &mut Records) -> String {
    let names = distinct(export.parameters.iter().map(|(name, _)| public(name)), RESERVED);
    let mut described = Vec::new();
    for (name, (_, datum)) in names.iter().zip(&export.parameters) {
        described.push(describe(datum, None, &format!("{} {name}", export.name), records));
    }
    let result = describe(&export.result, None, &export.name, records);
    let values: String = names
        .iter()
        .zip(&described)
        .map(|(name, described)| format!("({}, {}), ", literal(name), described.value))
        .collect();
    let parameters: String = names
        .iter()
        .zip(&described)
        .map(|(name, described)| format!("{name}: {}, ", described.hint))
        .collect();
    let mut docs = doc_lines(export.docs.as_deref().unwrap_or_default()).join("\n");
    if !docs.is_empty() {
        docs.push_str("\n\n");
    }
    let _ = write!(docs, "{} : {}", export.name, export.scheme);
    let arguments: String = names.iter().map(|name| format!(", {name}")).collect();
    format!(
        "\n\n_{name} = _Function({}, {}, [{values}], {})\n\n\ndef {name}({parameters}*, context: typing.Optional[Context] = None) -> {}:\n{}    \
         return _{name}(context{arguments})\n",
        literal(&export.name),
        literal(&identifier(&export.name, "")),
        result.value,
        result.hint,
        docstring("    ", &docs),
    )
}

/// Describes something; inside of an array, everything is one of this rank.
fn describe(datum: &Datum, rank: Option<usize>, wanted: &str, records: &mut Records) -> PythonValue {
    match datum {
        Datum::Scalar(ty) => leaf(*ty, rank),
        Datum::Array { element, sizes } => describe(element, Some(sizes.len()), wanted, records),
        Datum::Tuple(parts) => {
            let parts: Vec<PythonValue> =
                parts.iter().map(|part| describe(part, rank, &format!("{wanted} part"), records)).collect();
            let names: String = (0..parts.len()).map(|number| format!("\"{number}\", ")).collect();
            let hints: Vec<&str> = parts.iter().map(|part| part.hint.as_str()).collect();
            PythonValue {
                value: of_parts("tuple", &names, &parts),
                hint: format!("tuple[{}]", hints.join(", ")),
            }
        }
        Datum::Record(fields) => {
            let fields = fields.iter().map(|(name, field)| (name.to_string(), field));
            record(fields.collect(), rank, wanted, records)
        }
        Datum::Sum(constructors) => {
            let tag = ("tag".to_string(), &Datum::Scalar(ScalarType::I32));
            let fields = constructors.iter().flat_map(|(name, fields)| {
                (0..).zip(fields).map(move |(number, field): (u32, _)| (format!("{name}_{number}"), field))
            });
            record(std::iter::once(tag).chain(fields).collect(), rank, wanted, records)
        }
    }
}

fn record(
    fields: Vec<(String, &Datum)>,
    rank: Option<usize>,
    wanted: &str,
    records: &mut Records,
) -> PythonValue {
    let names = distinct(fields.iter().map(|(name, _)| public(name)), "");
    let parts: Vec<PythonValue> = fields
        .iter()
        .map(|(name, field)| describe(field, rank, &format!("{wanted} {name}"), records))
        .collect();
    let hints = names.iter().cloned().zip(parts.iter().map(|part| part.hint.clone())).collect();
    let name = records.name(&class_name(wanted), hints);
    let names: String = names.iter().map(|name| format!("{}, ", literal(name))).collect();
    PythonValue { value: of_parts(&format!("{name}._make"), &names, &parts), hint: name }
}

fn of_parts(make: &str, names: &str, parts: &[PythonValue]) -> String {
    let values: Vec<&str> = parts.iter().map(|part| part.value.as_str()).collect();
    format!("_Parts({make}, [{names}], [{}])", values.join(", "))
}

fn leaf(ty: ScalarType, rank: Option<usize>) -> PythonValue {
    let (number, dtype) = match ty {
        ScalarType::Bool => ("bool", "bool_"),
        ScalarType::I32 => ("int", "int32"),
        ScalarType::I64 => ("int", "int64"),
        ScalarType::U32 => ("int", "uint32"),
        ScalarType::U64 => ("int", "uint64"),
        ScalarType::F32 => ("float", "float32"),
        ScalarType::F64 => ("float", "float64"),
        ScalarType::I8 => ("int", "int8"),
        ScalarType::I16 => ("int", "int16"),
        ScalarType::U8 => ("int", "uint8"),
        ScalarType::U16 => ("int", "uint16"),
        // Single ones are their bits in C; NumPy has no bf16, whose arrays are bits too.
        ScalarType::F16 => ("int", "float16"),
        ScalarType::BF16 => ("int", "uint16"),
    };
    match rank {
        None => PythonValue { value: format!("_Scalar(\"{}\")", ty.name()), hint: number.to_string() },
        Some(rank) => PythonValue {
            value: format!("_Array(\"{}\", {rank})", ty.name()),
            hint: format!("numpy.typing.NDArray[numpy.{dtype}]"),
        },
    }
}

/// Words as the name of a class.
fn class_name(words: &str) -> String {
    let capital = |word: &str| {
        let mut letters = word.chars();
        let first = letters.next().map(|first| first.to_ascii_uppercase());
        first.into_iter().chain(letters).collect::<String>()
    };
    public(&words.split([' ', '_']).map(capital).collect::<String>())
}

/// Writes a text as a docstring with this indentation. Text of a file must not end it.
fn docstring(indentation: &str, text: &str) -> String {
    let text = text.replace('\\', "\\\\").replace('"', "\\\"");
    let lines: Vec<String> = text
        .lines()
        .enumerate()
        .map(|(number, line)| match number == 0 || line.is_empty() {
            true => line.to_string(),
            false => format!("{indentation}{line}"),
        })
        .collect();
    match lines.len() {
        0 | 1 => format!("{indentation}\"\"\"{}\"\"\"\n", lines.concat()),
        _ => format!("{indentation}\"\"\"{}\n{indentation}\"\"\"\n", lines.join("\n")),
    }
}

/// Writes a text as a literal.
fn literal(text: &str) -> String {
    let mut literal = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' | '\\' => literal.extend(['\\', letter]),
            ' '..='~' => literal.push(letter),
            other => {
                let _ = write!(literal, "\\U{:08x}", other as u32);
            }
        }
    }
    literal.push('"');
    literal
}
