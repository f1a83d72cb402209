//! Programs whose arguments and results have one column each. An array of several is put together of arguments, and taken apart into results,
//! inside the program, where both are fused with the operations around them.

use pumice_array::operations::{Argument, ZipWith};
use pumice_array::{ArrayProgram, CheckedProgram, Described, Passed};
use pumice_lang::interface::Export;
use pumice_scalar::{Place, ScalarType, Term, Variable, function, scope};
use std::sync::Arc;

/// The program of a function with a number of its own for each column: arrays and scalars are numbered apart.
pub(super) fn by_columns(program: &CheckedProgram, export: &Export) -> ArrayProgram {
    let place = Place::new(&export.name, "", 1, 1);
    scope(|| {
        let (mut passed, mut arrays) = (Passed::default(), 0);
        for (sizes, types) in export.parameters.iter().flat_map(|(_, datum)| datum.arrays()) {
            let Some(sizes) = sizes else {
                let number = passed.scalars.len() as u32;
                let ty = types.first().copied().unwrap_or(ScalarType::I64);
                passed.scalars.insert(number, Term::variable(Variable::Argument(number), ty));
                continue;
            };
            let columns = types.iter().map(|ty| {
                arrays += 1;
                Described::new(Argument(arrays - 1), Vec::new(), sizes.len(), vec![*ty], place)
            });
            let number = passed.arrays.len() as u32;
            passed.arrays.insert(number, zipped(columns.collect(), &types, sizes.len(), place));
        }
        let results = program.describe(&passed);
        ArrayProgram::of(&results.iter().flat_map(|result| apart(result, place)).collect::<Vec<_>>())
    })
}

fn zipped(columns: Vec<Arc<Described>>, types: &[ScalarType], rank: usize, place: Place) -> Arc<Described> {
    match <[_; 1]>::try_from(columns) {
        Ok([column]) => column,
        Err(columns) => {
            let function = function(types, |terms| terms.to_vec());
            Described::new(ZipWith { function }, columns, rank, types.to_vec(), place)
        }
    }
}

fn apart(array: &Arc<Described>, place: Place) -> Vec<Arc<Described>> {
    let types = array.types();
    if types.len() == 1 {
        return vec![array.clone()];
    }
    let column = |(number, ty): (usize, &ScalarType)| {
        let function = function(types, |terms| terms.get(number).into_iter().copied().collect());
        Described::new(ZipWith { function }, vec![array.clone()], array.rank(), vec![*ty], place)
    };
    types.iter().enumerate().map(column).collect()
}
