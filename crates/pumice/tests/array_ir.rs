//! Array IR that no typed program would build: refused with the place, or harmless, whatever safe code makes of it.

use pumice::Compiler;
use pumice::layers::array::{ArrayData, HostData, Node, Operation, interpret};
use pumice::layers::runtime::Inputs;
use pumice::layers::scalar::{Constant, Function, Op, ScalarType, Term, Variable, function};
use std::collections::HashMap;
use std::panic::Location;
use std::sync::Arc;

const I64: ScalarType = ScalarType::I64;
const F32: ScalarType = ScalarType::F32;

fn node(operation: Operation, rank: usize, types: &[ScalarType]) -> Arc<Node> {
    Node::new(operation, rank, types.to_vec(), "wild", Location::caller())
}

fn numbers(count: usize) -> Arc<Node> {
    let bytes = (0..count as i64).flat_map(i64::to_le_bytes).collect();
    node(Operation::Use(Arc::new(HostData::new(vec![count], vec![I64], vec![bytes]))), 1, &[I64])
}

fn constants(values: &[i64]) -> Function {
    function(&[], |_| values.iter().map(|value| Constant::from(*value).into()).collect())
}

fn identity(types: &[ScalarType]) -> Function {
    function(types, |terms| terms.to_vec())
}

/// What devices and the interpreter say of a program.
fn errors(root: &Arc<Node>) -> Vec<String> {
    let on = |device: &str| {
        let compiler = Compiler::on(device).unwrap_or_else(|error| panic!("{error}"));
        let data = compiler.compile_node(root.clone()).and_then(|program| program.run(&Inputs::default()));
        match data.map(|data| data.columns().map(|_| ()).map_err(|error| error.to_string())) {
            Ok(looked) => looked.err(),
            Err(error) => Some(error.to_string()),
        }
    };
    let meant = interpret(root, &HashMap::new(), &[]).err().map(|error| error.to_string());
    [on("sim"), on("cpu"), meant].map(|error| error.unwrap_or_else(|| "no error".into())).to_vec()
}

#[test]
fn what_does_not_fit_is_refused_with_its_place() {
    let pair = identity(&[I64, I64]);
    let scalar = node(Operation::Generate { shape: constants(&[]), element: constants(&[1]) }, 0, &[I64]);
    let columns_too_few = HostData::new(vec![4], vec![I64, F32], vec![vec![0; 32]]);
    let zip = |function, inputs, rank, types: &[ScalarType]| {
        node(Operation::ZipWith { function, inputs }, rank, types)
    };
    let wild: Vec<Arc<Node>> = vec![
        // Ranks.
        zip(identity(&[I64]), vec![numbers(5)], 2, &[I64]),
        zip(pair.clone(), vec![numbers(5), scalar.clone()], 1, &[I64, I64]),
        node(Operation::Generate { shape: constants(&[4, 4]), element: identity(&[I64]) }, 1, &[I64]),
        node(
            Operation::Fold { operator: pair.clone(), initial: constants(&[0]), input: scalar.clone() },
            0,
            &[I64],
        ),
        // Columns, and types.
        zip(identity(&[I64]), vec![numbers(5)], 1, &[I64, I64]),
        zip(identity(&[F32]), vec![numbers(5)], 1, &[F32]),
        zip(identity(&[I64]), vec![], 1, &[I64]),
        node(Operation::Reshape { shape: constants(&[5]), input: numbers(5) }, 1, &[F32]),
        node(Operation::Use(Arc::new(columns_too_few)), 1, &[I64]),
        node(Operation::Fold { operator: pair, initial: constants(&[0]), input: numbers(5) }, 0, &[I64]),
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
        let root = node(Operation::Backpermute { shape, index, input: input.clone() }, 1, &[I64]);
        for error in errors(&root) {
            assert!(error.contains(&format!("index {bad} out of bounds for length 5 in wild")), "{error}");
        }
    }
}

#[test]
fn arrays_that_lie_about_their_length_are_refused() {
    let short: Arc<dyn ArrayData> = Arc::new(HostData::new(vec![1000], vec![I64], vec![vec![0; 16]]));
    let root = node(Operation::Use(short), 1, &[I64]);
    let root = node(Operation::ZipWith { function: identity(&[I64]), inputs: vec![root] }, 1, &[I64]);
    for error in errors(&root) {
        assert!(error.contains("columns"), "{error}");
    }
}
