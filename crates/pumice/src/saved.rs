//! Programs that are saved as text and loaded again: the text form of array programs (`docs/array-ir.md`), with a check of the
//! types that a loaded program is used with.

use crate::arguments::{MOST_PARAMETERS, ParameterTypes, Parameters};
use crate::compile::{Compiled, Compiler};
use crate::results::ProgramResult;
use pumice_array::operations::Argument;
use pumice_array::text::parse_program;
use pumice_array::{ArrayProgram, ArrayType, Node};
use pumice_runtime::{Error, Result};
use pumice_scalar::{Node as ScalarNode, ScalarType, Variable};

impl<P, R: ProgramResult> Compiled<P, R> {
    /// The program as text, which [`Compiler::load`] makes the same program of, in another process or on another device. Arrays
    /// that it holds ([`use_`](crate::use_)) are part of the text, to the bit.
    ///
    /// A program that calls a Rust function (`foreign`, `foreign_on`, `kernel::apply`) cannot be saved, and neither can one that
    /// holds an array of more than 2^24 elements; the error names the operation and where it was written.
    ///
    /// ```
    /// use pumice::{Compiler, prelude::*};
    /// let compiler = Compiler::on("sim")?;
    /// let weights = [0.5, 0.25];
    /// let weighted = compiler.compile(|xs: Acc<Vector<f32>>| xs.zip_with(use_(&weights), |x, w| x * w).sum())?;
    /// let text = weighted.to_text()?;
    /// let loaded = compiler.load::<(Acc<Vector<f32>>,), Acc<Scalar<f32>>>(&text)?;
    /// assert_eq!(loaded.run(&[4.0, 8.0])?.to_value()?, 4.0);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    pub fn to_text(&self) -> Result<String> {
        Ok(self.untyped.written().saved_text()?)
    }
}

impl Compiler {
    /// Compiles a program of text that [`Compiled::to_text`] gave, or that was written by hand, as one with parameters `P` that
    /// gives an `R`. The error of a text that takes or gives something else describes the difference.
    ///
    /// Element types are compared by their scalars, as `docs/array-ir.md` has them. A parameter that the program does not use is
    /// not in its text, and fits any type.
    ///
    /// ```
    /// use pumice::{Compiler, prelude::*};
    /// let compiler = Compiler::on("sim")?;
    /// let text = compiler.compile(|xs: Acc<Vector<f32>>, y: Exp<f32>| xs.map(|x| x + y))?.to_text()?;
    /// let other = compiler.load::<(Acc<Vector<f64>>, Exp<f32>), Acc<Vector<f32>>>(&text);
    /// let message = other.err().map(|error| error.to_string()).unwrap_or_default();
    /// assert!(message.starts_with("parameter 0 is the array [_] (f32) in the text, and is loaded as the array [_] (f64)"));
    /// # Ok::<(), pumice::Error>(())
    /// ```
    pub fn load<P: Parameters, R: ProgramResult>(&self, text: &str) -> Result<Compiled<P, R>> {
        let program =
            parse_program(text, "text").map_err(|error| Error::Invalid(error.to_string().into()))?;
        let untyped = self.compile_program(program)?;
        check(untyped.written(), &P::types()).map_err(|mistake| Error::Invalid(mistake.into()))?;
        let mut results = Vec::new();
        R::add_types(&mut results);
        check_results(untyped.written(), &results).map_err(|mistake| Error::Invalid(mistake.into()))?;
        Ok(Compiled::of(untyped))
    }
}

/// Checks that a program takes no other parameters than these.
fn check(program: &ArrayProgram, types: &ParameterTypes) -> std::result::Result<(), String> {
    for node in program.nodes() {
        if let Some(Argument(number)) = node.operation.as_any().downcast_ref() {
            let found = (node.rank, node.types.clone());
            if types.arrays.get(number) != Some(&found) {
                return Err(differs(types, *number, &format!("the array {}", printed(&found)), node));
            }
        }
        check_scalars(node, types)?;
    }
    Ok(())
}

/// Checks the scalar arguments in an operation's functions, and in those of the programs that it runs.
fn check_scalars(node: &Node, types: &ParameterTypes) -> std::result::Result<(), String> {
    for scalar in node.operation.functions().into_iter().flat_map(|function| function.nodes()) {
        let ScalarNode::Variable(Variable::Argument(number), ty) = scalar else { continue };
        if types.scalars.get(number) != Some(ty) {
            return Err(differs(types, *number, &format!("the scalar {ty}"), node));
        }
    }
    let nested = node.programs().iter().flat_map(ArrayProgram::nodes);
    nested.into_iter().try_for_each(|node| check_scalars(node, types))
}

fn differs(types: &ParameterTypes, number: u32, found: &str, node: &Node) -> String {
    // Rows of different lengths are two arrays; the second one has a number beyond those of parameters.
    let what = match number.checked_sub(MOST_PARAMETERS) {
        Some(number) => format!("where the rows of parameter {number} begin"),
        None => format!("parameter {number}"),
    };
    let loaded = match (types.arrays.get(&number), types.scalars.get(&number)) {
        (Some(array), _) => format!("is loaded as the array {}", printed(array)),
        (None, Some(ty)) => format!("is loaded as the scalar {}", ScalarType::name(*ty)),
        (None, None) => "there is no such parameter in the types that it is loaded as".into(),
    };
    format!("{what} is {found} in the text, and {loaded}: {}", node.place)
}

/// Checks that a program gives arrays of these types.
fn check_results(program: &ArrayProgram, types: &[ArrayType]) -> std::result::Result<(), String> {
    let count = program.results().len();
    if count != types.len() {
        let expected = types.len();
        return Err(format!(
            "the program of the text gives {count} arrays, and is loaded as one that gives {expected}"
        ));
    }
    for (number, (result, expected)) in program.results().iter().zip(types).enumerate() {
        let node = program.node(*result);
        let found = (node.rank, node.types.clone());
        if found != *expected {
            return Err(format!(
                "result {number} is the array {} in the text, and is loaded as the array {}: {}",
                printed(&found),
                printed(expected),
                node.place
            ));
        }
    }
    Ok(())
}

/// A rank and element types as the text has them.
fn printed((rank, types): &ArrayType) -> String {
    let types: Vec<&str> = types.iter().map(|ty| ty.name()).collect();
    format!("[{}] ({})", vec!["_"; *rank].join(", "), types.join(", "))
}
