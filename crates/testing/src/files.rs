//! Cases that are files: array programs in text form, with inputs and expected results, or the message with which they must
//! be refused. The interpreter runs each before the device does.

use crate::harness::{Harness, Outcome};
use pumice::layers::array::file_test::{Case, read};
use pumice::layers::array::{ArrayData, ArrayProgram, CheckedProgram, interpret, whole_columns};
use pumice::layers::runtime::Inputs;
use std::sync::Arc;

/// A file, embedded in the test program: a machine with a device need not have the repository.
#[derive(Clone, Copy, Debug)]
pub struct File {
    /// Its name without its ending.
    pub name: &'static str,
    /// Its text.
    pub text: &'static str,
}

macro_rules! files {
    ($($name:literal)*) => {
        /// Every file of `tests/array`.
        pub const FILES: &[File] = &[
            $(File { name: $name, text: include_str!(concat!("../tests/array/", $name, ".pum-array")) }),*
        ];
    };
}

files! {
    "affine_maps"
    "affine_scan"
    "before_rounds"
    "branches"
    "collatz"
    "combined_maxima"
    "division"
    "dot_product"
    "elements"
    "expansions"
    "extent_of_element"
    "extents_outside"
    "filtered_sum"
    "filters"
    "floating"
    "foreign"
    "gather"
    "histogram"
    "kept"
    "long_scan"
    "loops"
    "parts"
    "permute"
    "permute_distinct"
    "product"
    "refused_concat"
    "refused_condition"
    "refused_element"
    "refused_expand"
    "refused_extent"
    "refused_filter"
    "refused_inputs"
    "refused_nested"
    "refused_keys"
    "refused_once"
    "refused_order"
    "refused_outside"
    "refused_permute"
    "refused_pick"
    "refused_product"
    "refused_rank"
    "refused_rounds"
    "refused_scan"
    "refused_shape"
    "refused_sides"
    "refused_signature"
    "refused_state"
    "refused_steps"
    "refused_types"
    "repeated"
    "reshape"
    "row_maxima"
    "running_sums"
    "scans"
    "sort_rows"
    "sorts"
    "traced"
    "used_arrays"
    "views"
}

impl File {
    /// Runs all cases of the file, with the interpreter and then on a device.
    pub fn run(&self, harness: &Harness) -> Outcome {
        let test = read(self.text, &format!("{}.pum-array", self.name)).map_err(|error| error.to_string())?;
        test.cases.iter().try_for_each(|case| {
            let at = |who: &str, message: String| format!("case `{}`, {who}: {message}", case.name);
            interpreted(&test.program, case).map_err(|message| at("interpreted", message))?;
            on_device(harness, &test.program, case).map_err(|message| at("on the device", message))
        })
    }
}

fn interpreted(program: &ArrayProgram, case: &Case) -> Outcome {
    let results = CheckedProgram::new(program.clone()).and_then(|checked| match case.is_refused() {
        true => Ok(Vec::new()),
        false => interpret(&checked, &case.arrays, &case.scalars),
    });
    let results: Result<Vec<Arc<dyn ArrayData>>, String> = match results {
        Ok(results) => Ok(results.into_iter().map(|data| Arc::new(data) as Arc<dyn ArrayData>).collect()),
        Err(error) => Err(error.to_string()),
    };
    case.compare(results.as_deref().map_err(String::clone))
}

fn on_device(harness: &Harness, program: &ArrayProgram, case: &Case) -> Outcome {
    let inputs = Inputs { arrays: case.arrays.clone(), scalars: case.scalars.clone(), ..Inputs::default() };
    let results = match harness.run_results(program.clone(), &inputs) {
        // Programs are only planned: a failure at run time does not occur.
        Ok(None) => return Ok(()),
        Ok(Some(results)) => {
            // A failure is reported when a result is read.
            let looked = results.iter().try_for_each(|result| whole_columns(&**result).map(drop));
            looked.map(|()| results).map_err(|error| error.to_string())
        }
        Err(error) => Err(error),
    };
    case.compare(results.as_deref().map_err(String::clone))
}
