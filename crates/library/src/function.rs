//! A function of a file on a device, with arguments and results that are scalars and arrays of scalars. Knows no pointers.

use crate::context::{Failed, Outcome};
use pumice::layers::array::{ArrayData, whole_columns};
use pumice::layers::runtime::Inputs;
use pumice::layers::scalar::Constant;
use pumice::pum::{Datum, Leaf, ModuleFunction, Size};
use pumice::{Compiler, Untyped};
use std::collections::HashMap;
use std::sync::Arc;

/// A function that is compiled for a device.
pub struct LibraryFunction {
    name: String,
    program: Untyped,
    parameters: Vec<NamedLeaf>,
    results: Vec<NamedLeaf>,
}

/// A parameter or result.
pub struct NamedLeaf {
    /// Name of the parameter or result.
    pub name: String,
    /// Its type.
    pub leaf: Leaf,
}

/// Arguments of a call.
#[derive(Default)]
pub struct Given {
    /// The arrays, in order.
    pub arrays: Vec<Arc<dyn ArrayData>>,
    /// The scalars, in order.
    pub scalars: Vec<Constant>,
}

/// A result of a call.
pub enum Computed {
    /// An array, which is perhaps still being computed.
    Array(Arc<dyn ArrayData>),
    /// A scalar.
    Scalar(Constant),
}

impl LibraryFunction {
    /// Compiles a function for a device.
    pub fn new(compiler: &Compiler, function: &ModuleFunction) -> Outcome<LibraryFunction> {
        let export = function.export();
        Ok(LibraryFunction {
            name: export.name.to_string(),
            program: compiler.compile_program(function.columns())?,
            parameters: export.parameters.iter().flat_map(|(name, datum)| named(name, datum)).collect(),
            results: named("result", &export.result),
        })
    }

    /// Its parameters, each a scalar or an array of scalars.
    pub fn parameters(&self) -> &[NamedLeaf] {
        &self.parameters
    }

    /// An error if it takes and gives another number of things.
    pub fn check_counts(&self, arguments: usize, results: usize) -> Outcome<()> {
        match (arguments, results) == (self.parameters.len(), self.results.len()) {
            true => Ok(()),
            false => {
                let (takes, gives) = (self.parameters.len(), self.results.len());
                Err(Failed::invalid(format!(
                    "{} takes {takes} arguments and gives {gives} results, and is called with {arguments} and {results}",
                    self.name
                )))
            }
        }
    }

    /// Calls the function. Scalars are waited for, arrays are not.
    pub fn call(&self, given: &Given) -> Outcome<Vec<Computed>> {
        self.check_sizes(given)?;
        let arrays = (0..).zip(given.arrays.iter().cloned()).collect();
        let inputs = Inputs { arrays, scalars: given.scalars.clone(), computed: HashMap::new() };
        let arrays = self.program.run_all(&inputs)?;
        let computed = |(array, result): (Arc<dyn ArrayData>, &NamedLeaf)| match result.leaf.sizes {
            Some(_) => Ok(Computed::Array(array)),
            None => {
                let columns = whole_columns(&*array).map_err(pumice::Error::from)?;
                let bytes = columns.first().map_or(&[][..], |column| column);
                Ok(Computed::Scalar(Constant::from_bytes(result.leaf.ty, bytes)))
            }
        };
        arrays.into_iter().zip(&self.results).map(computed).collect()
    }

    /// Checks that arrays have the type, the rank and the extents that the function's type says, and that those that it calls the same are.
    fn check_sizes(&self, given: &Given) -> Outcome<()> {
        let mut known: HashMap<u32, (usize, &str)> = HashMap::new();
        let arrays =
            self.parameters.iter().filter_map(|parameter| Some((parameter, parameter.leaf.sizes.as_ref()?)));
        for ((parameter, sizes), array) in arrays.zip(&given.arrays) {
            let (function, name) = (&self.name, &parameter.name);
            if array.extents().len() != sizes.len() || array.types() != [parameter.leaf.ty] {
                return Err(Failed::invalid(format!("{function}: `{name}` is an array of another type")));
            }
            for (dimension, (extent, size)) in array.extents().iter().zip(sizes).enumerate() {
                let (expected, other) = match size {
                    Size::Any => continue,
                    Size::Number(number) => (usize::try_from(*number).unwrap_or(usize::MAX), None),
                    Size::Variable(variable) => {
                        let (extent, other) = known.entry(*variable).or_insert((*extent, name));
                        (*extent, Some(*other))
                    }
                };
                if expected != *extent {
                    let other = other.map_or(String::new(), |other| format!(", as `{other}` has"));
                    return Err(Failed::invalid(format!(
                        "{function}: `{name}` has the extent {extent} in dimension {dimension}, and should have {expected}{other}"
                    )));
                }
            }
        }
        Ok(())
    }
}

fn named(name: &str, datum: &Datum) -> Vec<NamedLeaf> {
    let of = |leaf: Leaf| {
        let parts: Vec<&str> = [name].into_iter().chain(leaf.path.iter().map(String::as_str)).collect();
        NamedLeaf { name: parts.join("."), leaf }
    };
    datum.leaves().into_iter().map(of).collect()
}
