//! A module for Rust: each function of a file as one on `Acc` arrays, which is compiled and run, or called inside other array programs, as
//! those are that are written in Rust. `pumice::include_pum!` writes the same.

use super::names::{distinct, identifier};
use super::{Library, doc_lines};
use crate::interface::{Datum, Export};
use std::fmt::Write;

/// Words that nothing can be called.
const RESERVED: &str = "\
    Self abstract as async await become box break const continue crate do dyn else enum extern false final fn \
    for gen if impl in let loop macro match mod move mut override priv pub ref return self static struct \
    super trait true try type typeof unsafe unsized use virtual where while yield";

/// Tuples of more parts than this are no elements and no results.
const MOST_PARTS: usize = 8;

/// The most dimensions of an array.
const MOST_DIMENSIONS: usize = 5;

/// The way in which the texts of files are included in the module.
#[derive(Clone, Copy, Debug)]
pub enum RustText<'a> {
    /// String literals.
    Literal,
    /// `include_str!` of files with these paths, in the order of the library's texts.
    Included(&'a [String]),
}

/// The functions that Rust has no types for, each with the reason.
pub type Unsupported = Vec<(String, String)>;

/// Writes the text of the module, and returns it with the functions that are not in it.
pub fn module(library: &Library<'_>, texts: RustText<'_>) -> (String, Unsupported) {
    let mut text = String::new();
    let files: Vec<String> = library
        .texts
        .iter()
        .enumerate()
        .map(|(number, file)| match texts {
            RustText::Literal => format!("({:?}, {:?})", file.name, file.text),
            RustText::Included(paths) => {
                let path = paths.get(number).map_or("", String::as_str);
                format!("({:?}, ::core::include_str!({path:?}))", file.name)
            }
        })
        .collect();
    let _ = write!(
        text,
        "static PUM_MODULE: ::pumice::pum::IncludedModule = ::pumice::pum::IncludedModule::new(&[\n    {},\n]);\n",
        files.join(",\n    ")
    );
    let mut unsupported = Unsupported::new();
    let names = distinct(library.exports.iter().map(|export| identifier(&export.name, RESERVED)), "");
    for (export, name) in library.exports.iter().zip(names) {
        match function(export, &name) {
            Ok(function) => text.push_str(&function),
            Err(reason) => unsupported.push((export.name.to_string(), reason)),
        }
    }
    (text, unsupported)
}

fn function(export: &Export, name: &str) -> Result<String, String> {
    let mut text = String::from("\n");
    let lines = doc_lines(export.docs.as_deref().unwrap_or_default());
    for line in lines.iter().copied().chain((!lines.is_empty()).then_some("")) {
        // As an attribute: text of a file cannot end it.
        let _ = writeln!(text, "#[doc = {:?}]", format!(" {line}"));
    }
    let _ = writeln!(text, "#[doc = {:?}]", format!(" `{} : {}`", export.name, export.scheme));
    if let Datum::Record(fields) = &export.result {
        let fields: Vec<String> = fields.iter().map(|(field, _)| format!("`{field}`")).collect();
        text.push_str("#[doc = \"\"]\n");
        let _ = writeln!(
            text,
            "#[doc = {:?}]",
            format!(" It gives a tuple of the fields {}.", fields.join(", "))
        );
    }
    let mut parameters = Vec::new();
    for (name, datum) in &export.parameters {
        add_parameters(datum, name.to_string(), &mut parameters)?;
    }
    let names = distinct(parameters.iter().map(|parameter| identifier(&parameter.name, RESERVED)), "");
    let result = result(&export.result)?;
    let written = names.iter().zip(&parameters).map(|(name, parameter)| format!("{name}: {}", parameter.ty));
    let written = written.collect::<Vec<_>>().join(", ");
    let add: String = names
        .iter()
        .zip(&parameters)
        .map(|(name, parameter)| match parameter.is_array {
            true => format!(".array(&{name})"),
            false => format!(".scalar({name})"),
        })
        .collect();
    let _ = write!(
        text,
        "#[track_caller]\n#[allow(dead_code, non_snake_case, clippy::too_many_arguments, clippy::type_complexity)]\n\
         pub fn {name}({written}) -> {result} {{\n    \
         PUM_MODULE.call({:?}, ::pumice::pum::ModuleArguments::default(){add})\n}}\n",
        &*export.name,
    );
    Ok(text)
}

/// A parameter of a function.
struct RustParameter {
    name: String,
    ty: String,
    is_array: bool,
}

/// Adds the parameters that a parameter of the file becomes: tuples and records are several.
fn add_parameters(datum: &Datum, name: String, all: &mut Vec<RustParameter>) -> Result<(), String> {
    match datum {
        Datum::Scalar(scalar) => {
            let ty = format!("::pumice::Exp<{}>", scalar.name());
            all.push(RustParameter { name, ty, is_array: false });
        }
        Datum::Array { element, sizes } => {
            let ty = array(element, sizes.len())?;
            all.push(RustParameter { name, ty, is_array: true });
        }
        Datum::Tuple(parts) => {
            let mut parts = parts.iter().enumerate();
            parts.try_for_each(|(number, part)| add_parameters(part, format!("{name}_{number}"), all))?;
        }
        Datum::Record(fields) => {
            let mut fields = fields.iter();
            fields.try_for_each(|(field, datum)| add_parameters(datum, format!("{name}_{field}"), all))?;
        }
        Datum::Sum(_) => return Err(format!("`{name}` is a sum")),
    }
    Ok(())
}

fn result(datum: &Datum) -> Result<String, String> {
    let tuple = |parts: Vec<&Datum>| {
        few(parts.len())?;
        let parts = parts.into_iter().map(result).collect::<Result<Vec<_>, _>>()?;
        Ok(tuple_of(&parts))
    };
    match datum {
        Datum::Array { element, sizes } => array(element, sizes.len()),
        Datum::Tuple(parts) => tuple(parts.iter().collect()),
        Datum::Record(fields) => tuple(fields.iter().map(|(_, field)| field).collect()),
        Datum::Scalar(_) | Datum::Sum(_) => array(datum, 0),
    }
}

fn array(datum: &Datum, rank: usize) -> Result<String, String> {
    match rank <= MOST_DIMENSIONS {
        true => {
            let element = element(datum)?;
            let array = match rank {
                0 => format!("::pumice::Scalar<{element}>"),
                1 => format!("::pumice::Vector<{element}>"),
                2 => format!("::pumice::Matrix<{element}>"),
                _ => format!("::pumice::Array<::pumice::Dim{rank}, {element}>"),
            };
            Ok(format!("::pumice::Acc<{array}>"))
        }
        false => Err(format!("an array has {rank} dimensions, and at most {MOST_DIMENSIONS} are possible")),
    }
}

/// Returns the type of elements. A record is the tuple of its fields, in the order of their names; a sum is that of its tag and the fields of all
/// constructors.
fn element(datum: &Datum) -> Result<String, String> {
    let tuple = |parts: Vec<String>| {
        few(parts.len())?;
        Ok(tuple_of(&parts))
    };
    let all = |parts: &[Datum]| parts.iter().map(element).collect::<Result<Vec<_>, _>>();
    match datum {
        Datum::Scalar(ty) => Ok(ty.name().to_string()),
        Datum::Tuple(parts) => tuple(all(parts)?),
        Datum::Record(fields) => {
            tuple(fields.iter().map(|(_, field)| element(field)).collect::<Result<Vec<_>, _>>()?)
        }
        Datum::Sum(constructors) => {
            let fields = constructors.iter().map(|(_, fields)| all(fields)).collect::<Result<Vec<_>, _>>()?;
            tuple(std::iter::once("i32".to_string()).chain(fields.into_iter().flatten()).collect())
        }
        Datum::Array { .. } => Err("an array of arrays".to_string()),
    }
}

fn tuple_of(parts: &[String]) -> String {
    match parts {
        [part] => format!("({part},)"),
        _ => format!("({})", parts.join(", ")),
    }
}

fn few(parts: usize) -> Result<(), String> {
    match parts <= MOST_PARTS {
        true => Ok(()),
        false => {
            Err(format!("a tuple, record or sum has {parts} parts, and at most {MOST_PARTS} are possible"))
        }
    }
}
