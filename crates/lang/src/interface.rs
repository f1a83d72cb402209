//! Functions of a file that other languages can call, on numbers, arrays and records, with the types that are seen from outside. Says why
//! the others are not offered; writes no text of any language (`bindings/` does) and runs nothing.

use crate::ast::{Function, Name, Parameter, PatternKind};
use crate::program::Program;
use crate::types::{Checked, FunctionId, Kind, Level, Scheme, Size, Type};
use pumice_scalar::ScalarType;

/// Maximum number of scalars in a parameter or result.
const MOST_LEAVES: usize = 1024;

/// Maximum nesting depth of types.
const MOST_DEEP: usize = 64;

/// The level of the grid above that of threads.
const GRID: Level = Level { variable: None, above: 3 };

/// The functions of a file that other languages can call.
///
/// ```
/// use pumice_lang::{interface::Interface, program::Program, types::check};
///
/// let text = "sig scale : f32 -> [f32] -> [f32]\nfun scale by = map (fn x => x * by)\nfun twice f x = f (f x)";
/// let program = Program::load("scale.pum", text, &|_| Err(String::new())).unwrap();
/// let interface = Interface::of(&program, &check(&program).unwrap());
/// assert_eq!((interface.exports.len(), interface.refused.len()), (1, 1));
/// ```
#[derive(Clone, Debug)]
pub struct Interface {
    /// The comments at the file's beginning.
    pub docs: Option<String>,
    /// The functions that can be called, in the file's order.
    pub exports: Vec<Export>,
    /// The others, each with the reason.
    pub refused: Vec<(Name, String)>,
}

/// A function that other languages can call.
///
/// ```
/// use pumice_lang::{interface::Interface, program::Program, types::check};
///
/// let text = "sig scale : f32 -> [f32] -> [f32]\nfun scale by = map (fn x => x * by)\nfun twice f x = f (f x)";
/// let program = Program::load("scale.pum", text, &|_| Err(String::new())).unwrap();
/// let interface = Interface::of(&program, &check(&program).unwrap());
/// assert_eq!(interface.exports[0].scheme, "f32 -> [f32] -> [f32]");
/// ```
#[derive(Clone, Debug)]
pub struct Export {
    /// The function in the checked program.
    pub function: FunctionId,
    /// Its name in the file.
    pub name: Name,
    /// Its comments in the file, those of its signature first.
    pub docs: Option<String>,
    /// Its type, as `pumice check` prints it.
    pub scheme: String,
    /// Its parameters.
    pub parameters: Vec<(Name, Datum)>,
    /// Its result.
    pub result: Datum,
}

/// Data type of a parameter or result, for languages that do not know the types of the file.
///
/// ```
/// use pumice_lang::{interface::{Datum, Interface}, program::Program, types::check};
///
/// let text = "sig scale : f32 -> [f32] -> [f32]\nfun scale by = map (fn x => x * by)\nfun twice f x = f (f x)";
/// let program = Program::load("scale.pum", text, &|_| Err(String::new())).unwrap();
/// let interface = Interface::of(&program, &check(&program).unwrap());
/// assert!(matches!(interface.exports[0].parameters[0].1, Datum::Scalar(_)));
/// assert!(matches!(interface.exports[0].result, Datum::Array { .. }));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Datum {
    /// A number or a truth value.
    Scalar(ScalarType),
    /// A tuple.
    Tuple(Vec<Datum>),
    /// A record, in the order of names.
    Record(Vec<(Name, Datum)>),
    /// A sum: a tag, which is the number of a constructor, and the fields of all constructors.
    Sum(Vec<(Name, Vec<Datum>)>),
    /// An array, with an extent for each dimension. Its element has no arrays.
    Array {
        /// The element.
        element: Box<Datum>,
        /// The extents.
        sizes: Vec<Size>,
    },
}

/// A scalar, or an array of scalars, that a parameter or result is made of.
///
/// ```
/// use pumice_lang::{interface::Interface, program::Program, types::check};
///
/// let text = "sig scale : f32 -> [f32] -> [f32]\nfun scale by = map (fn x => x * by)\nfun twice f x = f (f x)";
/// let program = Program::load("scale.pum", text, &|_| Err(String::new())).unwrap();
/// let interface = Interface::of(&program, &check(&program).unwrap());
/// let leaves = interface.exports[0].result.leaves();
/// assert_eq!(leaves[0].sizes.as_ref().map(Vec::len), Some(1));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leaf {
    /// The way to it from the whole: names of fields, numbers of parts, names of constructors.
    pub path: Vec<String>,
    /// The type of the scalar, or of the array's elements.
    pub ty: ScalarType,
    /// The extents of an array; nothing for a scalar.
    pub sizes: Option<Vec<Size>>,
}

impl Interface {
    /// Finds the functions that other languages can call. Of several with one name, which no checked program has, the last counts.
    ///
    /// ```
    /// use pumice_lang::{interface::Interface, program::Program, types::check};
    ///
    /// let text = "sig scale : f32 -> [f32] -> [f32]\nfun scale by = map (fn x => x * by)\nfun twice f x = f (f x)";
    /// let program = Program::load("scale.pum", text, &|_| Err(String::new())).unwrap();
    /// let interface = Interface::of(&program, &check(&program).unwrap());
    /// assert_eq!(&*interface.exports[0].name, "scale");
    /// assert!(interface.refused[0].1.contains("`(a -> a) -> a -> a`"));
    /// ```
    pub fn of(program: &Program, checked: &Checked) -> Interface {
        let module = program.modules.last().map(|loaded| loaded.module.clone()).unwrap_or_default();
        let mut interface = Interface { docs: module.docs.clone(), exports: Vec::new(), refused: Vec::new() };
        for id in checked.own_functions() {
            let function = checked.function(id).0;
            let signature =
                module.signatures.iter().find(|signature| signature.name.name == function.name.name);
            let docs = [signature.and_then(|signature| signature.docs.clone()), function.docs.clone()];
            let docs: Vec<String> = docs.into_iter().flatten().collect();
            match export(checked, id, (!docs.is_empty()).then(|| docs.join("\n"))) {
                Ok(export) => interface.exports.push(export),
                Err(reason) => interface.refused.push((function.name.name.clone(), reason)),
            }
        }
        interface
    }

    /// Returns the function with this name, or why it cannot be called.
    ///
    /// ```
    /// use pumice_lang::{interface::Interface, program::Program, types::check};
    ///
    /// let text = "sig scale : f32 -> [f32] -> [f32]\nfun scale by = map (fn x => x * by)\nfun twice f x = f (f x)";
    /// let program = Program::load("scale.pum", text, &|_| Err(String::new())).unwrap();
    /// let interface = Interface::of(&program, &check(&program).unwrap());
    /// assert!(interface.export("scale").is_ok());
    /// assert!(interface.export("twice").is_err_and(|reason| reason.contains("cannot be called from other languages")));
    /// ```
    pub fn export(&self, name: &str) -> Result<&Export, String> {
        if let Some(export) = self.exports.iter().find(|export| &*export.name == name) {
            return Ok(export);
        }
        match self.refused.iter().find(|(refused, _)| &**refused == name) {
            Some((_, reason)) => Err(format!("`{name}` cannot be called from other languages: {reason}")),
            None => {
                let names: Vec<&str> = self.exports.iter().map(|export| &*export.name).collect();
                let names = if names.is_empty() { "none".to_string() } else { names.join(", ") };
                Err(format!("the file has no function `{name}`; those that can be called are: {names}"))
            }
        }
    }
}

/// Describes a function for other languages, or returns why they cannot call it.
fn export(checked: &Checked, id: FunctionId, docs: Option<String>) -> Result<Export, String> {
    let (function, scheme) = (checked.function(id).0, checked.scheme(id));
    let name = function.name.name.clone();
    if scheme.variables.iter().any(|(_, kind, _)| *kind != Kind::Size) {
        return Err(open_type(&name, scheme));
    }
    let (mut parameters, mut ty) = (Vec::new(), &scheme.ty);
    let mut left = MOST_LEAVES;
    while let Type::Function(from, to) = ty {
        let parameter = parameter_name(function, parameters.len());
        let datum = datum(from, checked, 0, &mut left)
            .and_then(|datum| match has_plain_sum(&datum) {
                true => Err(SUM.to_string()),
                false => Ok(datum),
            })
            .map_err(|reason| format!("`{parameter}` is of type `{from}`: {reason}"))?;
        parameters.push((parameter, datum));
        ty = to;
    }
    let result = datum(ty, checked, 0, &mut left)
        .map_err(|reason| format!("it gives something of type `{ty}`: {reason}"))?;
    Ok(Export { function: id, name, docs, scheme: scheme.to_string(), parameters, result })
}

const SUM: &str = "a sum can be an element of an array, and not an argument by itself";

fn open_type(name: &str, scheme: &Scheme) -> String {
    format!(
        "its type `{scheme}` has variables; say for which types it is to be built with a signature without them, `sig {name} : …`"
    )
}

/// Returns the name of a function's parameter.
pub(crate) fn parameter_name(function: &Function, number: usize) -> Name {
    match function.parameters.get(number) {
        Some(Parameter::Value(pattern)) => match &pattern.kind {
            PatternKind::Name(name) => name.clone(),
            _ => format!("argument{number}").into(),
        },
        _ => format!("argument{number}").into(),
    }
}

fn datum(ty: &Type, checked: &Checked, depth: usize, left: &mut usize) -> Result<Datum, String> {
    if depth > MOST_DEEP {
        return Err(format!("its parts are more than {MOST_DEEP} deep in each other"));
    }
    let mut all = |types: &[Type]| {
        types.iter().map(|ty| datum(ty, checked, depth + 1, left)).collect::<Result<Vec<_>, _>>()
    };
    match ty {
        Type::Scalar(scalar) => {
            let too_many = || format!("it has more than {MOST_LEAVES} parts");
            *left = left.checked_sub(1).ok_or_else(too_many)?;
            Ok(Datum::Scalar(*scalar))
        }
        Type::Tuple(parts) if parts.is_empty() => Err("`()` has nothing that could be passed".to_string()),
        Type::Tuple(parts) => Ok(Datum::Tuple(all(parts)?)),
        Type::Record(fields) => {
            let types: Vec<Type> = fields.iter().map(|(_, ty)| ty.clone()).collect();
            let names = fields.iter().map(|(name, _)| name.clone());
            Ok(Datum::Record(names.zip(all(&types)?).collect()))
        }
        Type::Sum(id, _) => {
            let fields = crate::evaluate::fields_of(ty, checked.sums()).unwrap_or_default();
            let fields = fields.iter().map(|fields| all(fields)).collect::<Result<Vec<_>, _>>()?;
            let names = checked.sum(id).constructors.iter().map(|(name, _)| name.clone());
            Ok(Datum::Sum(names.zip(fields).collect()))
        }
        Type::Array { level: Some(level), .. } if *level != GRID => {
            Err("a push array must be one of the grid".to_string())
        }
        Type::Array { element, sizes, .. } => {
            let element = datum(element, checked, depth + 1, left)?;
            match has_array(&element) {
                true => {
                    Err("arrays of arrays cannot be passed; use one of more dimensions, `[a; _, _]`".into())
                }
                false => Ok(Datum::Array { element: Box::new(element), sizes: sizes.clone() }),
            }
        }
        Type::Function(..) | Type::LevelFunction(..) => Err("functions cannot be passed".to_string()),
        Type::Memory(_) => Err("memory that changes cannot be passed".to_string()),
        Type::Variable(_) => Err("it is not said which type that is".to_string()),
    }
}

fn has_array(datum: &Datum) -> bool {
    match datum {
        Datum::Scalar(_) => false,
        Datum::Array { .. } => true,
        Datum::Tuple(parts) => parts.iter().any(has_array),
        Datum::Record(fields) => fields.iter().any(|(_, field)| has_array(field)),
        Datum::Sum(constructors) => constructors.iter().any(|(_, fields)| fields.iter().any(has_array)),
    }
}

/// Whether a sum is a part of it that is no array's element.
fn has_plain_sum(datum: &Datum) -> bool {
    match datum {
        Datum::Scalar(_) | Datum::Array { .. } => false,
        Datum::Sum(_) => true,
        Datum::Tuple(parts) => parts.iter().any(has_plain_sum),
        Datum::Record(fields) => fields.iter().any(|(_, field)| has_plain_sum(field)),
    }
}

impl Datum {
    /// Returns the scalars and arrays of scalars that it is made of, in the order of the array program's columns.
    ///
    /// ```
    /// use pumice_lang::{interface::Interface, program::Program, types::check};
    ///
    /// let text = "sig scale : f32 -> [f32] -> [f32]\nfun scale by = map (fn x => x * by)\nfun twice f x = f (f x)";
    /// let program = Program::load("scale.pum", text, &|_| Err(String::new())).unwrap();
    /// let interface = Interface::of(&program, &check(&program).unwrap());
    /// assert_eq!(interface.exports[0].result.leaves().len(), 1);
    /// ```
    pub fn leaves(&self) -> Vec<Leaf> {
        let mut leaves = Vec::new();
        self.add_leaves(&mut Vec::new(), None, &mut leaves);
        leaves
    }

    /// Returns the parts that are arrays or scalars of the array program, in order, with the types of their columns. A sum outside of an array
    /// is one part of several columns.
    ///
    /// ```
    /// use pumice_lang::{interface::Interface, program::Program, types::check};
    ///
    /// let text = "sig scale : f32 -> [f32] -> [f32]\nfun scale by = map (fn x => x * by)\nfun twice f x = f (f x)";
    /// let program = Program::load("scale.pum", text, &|_| Err(String::new())).unwrap();
    /// let interface = Interface::of(&program, &check(&program).unwrap());
    /// assert_eq!(interface.exports[0].result.arrays().len(), 1);
    /// ```
    pub fn arrays(&self) -> Vec<(Option<&[Size]>, Vec<ScalarType>)> {
        let columns = |datum: &Datum| datum.leaves().into_iter().map(|leaf| leaf.ty).collect();
        match self {
            Datum::Scalar(ty) => vec![(None, vec![*ty])],
            Datum::Tuple(parts) => parts.iter().flat_map(Datum::arrays).collect(),
            Datum::Record(fields) => fields.iter().flat_map(|(_, field)| field.arrays()).collect(),
            Datum::Sum(_) => vec![(None, columns(self))],
            Datum::Array { element, sizes } => vec![(Some(sizes), columns(element))],
        }
    }

    fn add_leaves(&self, path: &mut Vec<String>, sizes: Option<&[Size]>, leaves: &mut Vec<Leaf>) {
        let mut add = |name: String, datum: &Datum, leaves: &mut Vec<Leaf>| {
            path.push(name);
            datum.add_leaves(path, sizes, leaves);
            path.pop();
        };
        match self {
            Datum::Scalar(ty) => {
                leaves.push(Leaf { path: path.clone(), ty: *ty, sizes: sizes.map(<[_]>::to_vec) });
            }
            Datum::Tuple(parts) => {
                (0..).zip(parts).for_each(|(number, part): (u32, _)| add(number.to_string(), part, leaves));
            }
            Datum::Record(fields) => {
                fields.iter().for_each(|(name, field)| add(name.to_string(), field, leaves));
            }
            Datum::Sum(constructors) => {
                add("tag".to_string(), &Datum::Scalar(ScalarType::I32), leaves);
                for (name, fields) in constructors {
                    (0..).zip(fields).for_each(|(number, field): (u32, _)| {
                        add(format!("{name}_{number}"), field, leaves);
                    });
                }
            }
            Datum::Array { element, sizes } => element.add_leaves(path, Some(sizes), leaves),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::check;

    fn interface(text: &str) -> Interface {
        let program =
            Program::load("test.pum", text, &|_| Err(String::new())).unwrap_or_else(|_| panic!("{text}"));
        Interface::of(&program, &check(&program).unwrap_or_else(|errors| panic!("{errors:?}")))
    }

    #[test]
    fn what_others_cannot_call_is_refused_with_the_reason() {
        let refused = |text: &str, part: &str| {
            let interface = interface(text);
            let reason = interface.refused.first().map_or("", |(_, reason)| reason);
            assert!(interface.exports.is_empty() && reason.contains(part), "{text}: {reason}");
        };
        refused("fun f x = x + 1", "`Number a => a -> a` has variables; say for which types");
        refused(
            "sig f : (int -> int) -> int\nfun f g = g 1",
            "`g` is of type `int -> int`: functions cannot be passed",
        );
        refused("sig f : [[int]] -> int\nfun f xs = length xs", "use one of more dimensions, `[a; _, _]`");
        refused("sig f : int -> ()\nfun f x = ()", "`()` has nothing that could be passed");
        refused("sig f : [int] -> [int]<block>\nfun f xs = push <block> xs", "must be one of the grid");
        refused("type S = A | B\nsig f : S -> int\nfun f s = 1", "not an argument by itself");
    }

    #[test]
    fn leaves_are_columns_in_order() {
        let text = "type S = A f32 | B (i64, bool)\nsig f : [{ s : S, n : u32 }] -> (f64, S)\nfun f xs = (0.0, A 1.0)";
        let interface = interface(text);
        let export = &interface.exports[0];
        let leaves = |datum: &Datum| {
            let leaf = |leaf: &Leaf| format!("{}:{}", leaf.path.join("."), leaf.ty.name());
            datum.leaves().iter().map(leaf).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(leaves(&export.parameters[0].1), "n:u32 s.tag:i32 s.A_0:f32 s.B_0.0:i64 s.B_0.1:bool");
        assert_eq!(leaves(&export.result), "0:f64 1.tag:i32 1.A_0:f32 1.B_0.0:i64 1.B_0.1:bool");
        assert_eq!(export.result.arrays().len(), 2);
    }
}
