//! Array IR that no typed program would build: refused with the place, or harmless, whatever safe code makes of it.

use pumice::kernel::{Grid, Ix, Pull, Push};
use pumice::layers::array::operations::{Backpermute, Fold, Generate, Reshape, Use, ZipWith};
use pumice::layers::array::{
    ArrayData, ArrayProgram, CheckedProgram, Described, Error, HostData, Operation, interpret,
};
use pumice::layers::runtime::Inputs;
use pumice::layers::scalar::{Constant, Function, Op, Place, ScalarType, Term, Variable, function};
use pumice::{Array, Compiler, Dim1};
use std::borrow::Cow;
use std::collections::HashMap;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

const I64: ScalarType = ScalarType::I64;
const F32: ScalarType = ScalarType::F32;

fn node(
    operation: impl Operation,
    inputs: &[&Arc<Described>],
    rank: usize,
    types: &[ScalarType],
) -> Arc<Described> {
    let inputs = inputs.iter().map(|input| Arc::clone(input)).collect();
    Described::new(operation, inputs, rank, types.to_vec(), Place::caller("wild"))
}

fn program(root: &Arc<Described>) -> ArrayProgram {
    ArrayProgram::of(std::slice::from_ref(root))
}

fn numbers(count: usize) -> Arc<Described> {
    let bytes = (0..count as i64).flat_map(i64::to_le_bytes).collect();
    node(Use(Arc::new(HostData::new(vec![count], vec![I64], vec![bytes]))), &[], 1, &[I64])
}

fn constants(values: &[i64]) -> Function {
    function(&[], |_| values.iter().map(|value| Constant::from(*value).into()).collect())
}

fn identity(types: &[ScalarType]) -> Function {
    function(types, |terms| terms.to_vec())
}

/// Returns the errors of the devices and of the interpreter for a program.
fn errors(root: &Arc<Described>) -> Vec<String> {
    let on = |device: &str| {
        let compiler = Compiler::on(device).unwrap_or_else(|error| panic!("{error}"));
        let data =
            compiler.compile_program(program(root)).and_then(|program| program.run(&Inputs::default()));
        match data.map(|data| data.columns().map(|_| ()).map_err(|error| error.to_string())) {
            Ok(looked) => looked.err(),
            Err(error) => Some(error.to_string()),
        }
    };
    let meant = CheckedProgram::new(program(root));
    let meant = meant.and_then(|program| interpret(&program, &HashMap::new(), &[]).map(drop));
    let meant = meant.err().map(|error| error.to_string());
    [on("sim"), on("cpu"), meant].map(|error| error.unwrap_or_else(|| "no error".into())).to_vec()
}

#[test]
fn what_does_not_fit_is_refused_with_its_place() {
    let pair = identity(&[I64, I64]);
    let scalar = node(Generate { shape: constants(&[]), element: constants(&[1]) }, &[], 0, &[I64]);
    let columns_too_few = HostData::new(vec![4], vec![I64, F32], vec![vec![0; 32]]);
    let zip = |function, inputs: Vec<Arc<Described>>, rank, types: &[ScalarType]| {
        node(ZipWith { function }, &inputs.iter().collect::<Vec<_>>(), rank, types)
    };
    let wild: Vec<Arc<Described>> = vec![
        // Ranks.
        zip(identity(&[I64]), vec![numbers(5)], 2, &[I64]),
        zip(pair.clone(), vec![numbers(5), scalar.clone()], 1, &[I64, I64]),
        node(Generate { shape: constants(&[4, 4]), element: identity(&[I64]) }, &[], 1, &[I64]),
        node(Fold { operator: pair.clone(), initial: Some(constants(&[0])) }, &[&scalar], 0, &[I64]),
        // Columns, and types.
        zip(identity(&[I64]), vec![numbers(5)], 1, &[I64, I64]),
        zip(identity(&[F32]), vec![numbers(5)], 1, &[F32]),
        zip(identity(&[I64]), vec![], 1, &[I64]),
        node(Reshape { shape: constants(&[5]) }, &[&numbers(5)], 1, &[F32]),
        node(Use(Arc::new(columns_too_few)), &[], 1, &[I64]),
        node(Fold { operator: pair, initial: Some(constants(&[0])) }, &[&numbers(5)], 0, &[I64]),
        // Values of kernels.
        zip(function(&[I64], |_| vec![Term::variable(Variable::Local(0), I64)]), vec![numbers(5)], 1, &[I64]),
    ];
    for root in wild {
        for error in errors(&root) {
            assert!(error.contains("wild at") && error.contains("array_ir.rs"), "{error}");
        }
    }
}

#[test]
fn wild_indices_are_checked_however_they_look() {
    let input = numbers(5);
    // As a replication has it, but longer than the input; and far outside.
    let same = function(&[I64], |at| vec![at[0]]);
    let far = function(&[I64], |at| vec![at[0].binary(Op::Mul, Constant::from(1i64 << 40).into())]);
    for (index, length, bad) in [(same, 9, 5), (far, 2, 1i64 << 40)] {
        let shape = constants(&[length]);
        let root = node(Backpermute { shape, index }, &[&input], 1, &[I64]);
        for error in errors(&root) {
            assert!(error.contains(&format!("index {bad} out of bounds for length 5 in wild")), "{error}");
        }
    }
}

/// An array whose length is another one each time somebody asks.
struct Fickle(AtomicUsize);

impl ArrayData for Fickle {
    fn extents(&self) -> &[usize] {
        [&[4][..], &[1 << 20]][self.0.fetch_add(1, Ordering::Relaxed) % 2]
    }
    fn types(&self) -> &[ScalarType] {
        &[I64]
    }
    fn columns(&self) -> Result<Vec<Cow<'_, [u8]>>, Error> {
        Ok(vec![Cow::Borrowed(&[7; 32])])
    }
}

#[test]
fn arrays_of_no_certain_length_are_refused_or_read_as_far_as_they_go() {
    let reversed = |xs: Pull<i64, Ix>| -> Push<Grid, i64, Ix> { xs.reverse().push() };
    for device in ["sim", "cpu"] {
        let compiler = Compiler::on(device).unwrap_or_else(|error| panic!("{error}"));
        let kernel = compiler.kernel("reverse", 64, reversed).unwrap_or_else(|error| panic!("{error}"));
        for first in 0..8 {
            let fickle = || Arc::new(Fickle(AtomicUsize::new(first)));
            // Whatever is said of it, nothing outside of it is read: all bytes in it are 7.
            let root = node(Use(fickle()), &[], 1, &[I64]);
            let root = node(ZipWith { function: identity(&[I64]) }, &[&root], 1, &[I64]);
            let run =
                compiler.compile_program(program(&root)).and_then(|program| program.run(&Inputs::default()));
            if let Ok(data) = run
                && let Ok(columns) = data.columns()
            {
                assert!(columns.iter().all(|column| column.iter().all(|byte| *byte == 7)), "on {device}");
            }
            if let Ok(array) = Array::<Dim1, i64>::from_data(fickle())
                && let Ok(result) = kernel.run(&array)
                && let Ok(values) = result.to_vec()
            {
                assert!(values.iter().all(|value| *value == 0x0707_0707_0707_0707), "on {device}");
            }
        }
    }
}

#[test]
fn arrays_that_lie_about_their_length_are_refused() {
    let short: Arc<dyn ArrayData> = Arc::new(HostData::new(vec![1000], vec![I64], vec![vec![0; 16]]));
    let root = node(Use(short), &[], 1, &[I64]);
    let root = node(ZipWith { function: identity(&[I64]) }, &[&root], 1, &[I64]);
    for error in errors(&root) {
        assert!(error.contains("columns"), "{error}");
    }
}
