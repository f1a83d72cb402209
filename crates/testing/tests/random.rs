//! Random well-typed programs, on devices and with each pass on and off, against the array interpreter.
//!
//! A program is made from a string of random bytes: each choice takes one, and where they end the first possibility is
//! taken. So every string is a program, and a shorter one with smaller bytes is a simpler program, which is what
//! proptest shrinks to. Everything that is computed is exact: floats are only given to functions that are, and never
//! summed in another order.

use proptest::prelude::*;
use proptest::test_runner::{TestCaseError, TestCaseResult};
use pumice::layers::array::{
    Acc, Array, ArrayData, Error as ArrayError, HostData, Node, Operation, in_order, interpret, print_program,
};
use pumice::layers::runtime::Inputs;
use pumice::layers::scalar::{
    Constant, FailureKind, Function, Lift, Op, ScalarType, Site, Term, Variable, branch, function, repeat,
    scope,
};
use pumice::{Compiler, Dim1, Dim2, Dim3, Dim4};
use std::panic::Location;
use std::sync::Arc;

struct Choices<'a>(std::slice::Iter<'a, u8>);

impl Choices<'_> {
    fn below(&mut self, count: usize) -> usize {
        self.0.next().map_or(0, |byte| usize::from(*byte) % count.max(1))
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }
}

const TYPES: [ScalarType; 7] = [
    ScalarType::I32,
    ScalarType::I64,
    ScalarType::F32,
    ScalarType::Bool,
    ScalarType::U32,
    ScalarType::U64,
    ScalarType::F64,
];

const EXTENTS: [usize; 15] = [3, 17, 1, 64, 2, 16, 33, 0, 130, 5, 257, 1000, 4, 40, 7];

/// More elements than this take too long in the simulator.
const MOST: usize = 3000;

const SCALARS: [i64; 3] = [7, -3, 1_000_000_007];

fn index(value: i64) -> Term {
    Constant::from(value).into()
}

// Functions on elements.

struct Pool<'a, 'b> {
    choices: &'a mut Choices<'b>,
    terms: Vec<Term>,
}

impl Pool<'_, '_> {
    fn constant(&mut self, ty: ScalarType) -> Term {
        let value = self.choices.pick(&[1i64, 0, 2, -1, 7, 31, 255, -100, i64::from(i32::MAX), i64::MIN]);
        Op::Cast.evaluate(ty, &[value.into()]).into()
    }

    /// A term of this type: one of those that there are, or one of them converted.
    fn term(&mut self, ty: ScalarType) -> Term {
        let fitting: Vec<Term> = self.terms.iter().rev().filter(|term| term.ty() == ty).copied().collect();
        match self.choices.below(8) {
            0 => self.constant(ty),
            _ if !fitting.is_empty() => self.choices.pick(&fitting),
            _ if self.terms.is_empty() => self.constant(ty),
            _ => {
                let all = self.terms.clone();
                self.choices.pick(&all).cast(ty)
            }
        }
    }

    fn operation(&mut self, ty: ScalarType) -> Op {
        let exact = |op: &&Op| {
            let vague = op.is_approximate() || matches!(op, Op::Select | Op::Cast | Op::Bitcast);
            let divides = ty.is_integer() && matches!(op, Op::Div | Op::Rem);
            !vague && !divides && !op.compares() && op.accepts(ty, &vec![ty; op.arity()])
        };
        let fitting: Vec<Op> = Op::ALL.iter().filter(exact).copied().collect();
        self.choices.pick(&fitting)
    }

    /// A division that is checked, as the user's is.
    fn quotient(&mut self, ty: ScalarType, a: Term, b: Term) -> Term {
        let op = self.choices.pick(&[Op::Div, Op::Rem]);
        let zero = Term::from(Constant::zero(ty));
        let site =
            Site { operation: "division", kind: FailureKind::DivisionByZero, location: Location::caller() };
        let checked = b.compare(Op::Ne, zero).check(site, index(0), index(0));
        Term::apply(Op::Select, ty, &[checked, a.binary(op, b), zero])
    }

    fn step(&mut self) -> Term {
        let ty = self.choices.pick(&TYPES);
        match self.choices.below(11) {
            0..=4 => {
                let op = self.operation(ty);
                let operands: Vec<Term> = (0..op.arity()).map(|_| self.term(ty)).collect();
                Term::apply(op, ty, &operands)
            }
            5 => {
                let op = self.choices.pick(&[Op::Lt, Op::Eq, Op::Ne, Op::Le]);
                let (a, b) = (self.term(ty), self.term(ty));
                a.compare(op, b)
            }
            6 => {
                let (c, a, b) = (self.term(ScalarType::Bool), self.term(ty), self.term(ty));
                Term::apply(Op::Select, ty, &[c, a, b])
            }
            7 => self.term(self.terms.last().map_or(ty, |term| term.ty())).cast(ty),
            8 => {
                // Divides where the divisor is not zero.
                let ty =
                    self.choices.pick(&[ScalarType::I32, ScalarType::I64, ScalarType::U32, ScalarType::U64]);
                let (a, b) = (self.term(ty), self.term(ty));
                let divided = self.quotient(ty, a, b);
                if self.choices.below(12) == 11 {
                    return divided; // This may fail.
                }
                let also = self.term(ty).binary(Op::Add, divided);
                let values = branch(b.compare(Op::Ne, Constant::zero(ty).into()), &[divided, also], &[a, b]);
                self.terms.push(values[1]);
                values[0]
            }
            9 => {
                let (start, limit, op) = (self.term(ty), self.term(ScalarType::I32), self.operation(ty));
                let limit = limit.binary(Op::And, Constant::from(7i32).into());
                let others: Vec<Term> = (1..op.arity()).map(|_| self.term(ty)).collect();
                let zero = Term::from(Constant::from(0i32));
                let values = repeat(
                    &[start, zero],
                    |now| now[1].compare(Op::Lt, limit),
                    |now| {
                        let operands: Vec<Term> =
                            std::iter::once(now[0]).chain(others.iter().copied()).collect();
                        vec![
                            Term::apply(op, ty, &operands),
                            now[1].binary(Op::Add, Constant::from(1i32).into()),
                        ]
                    },
                );
                self.terms.push(values[1]);
                values[0]
            }
            _ => {
                let (c, a, b) = (self.term(ScalarType::Bool), self.term(ty), self.term(ty));
                let op = self.operation(ty);
                let operands: Vec<Term> = (0..op.arity()).map(|_| self.term(ty)).collect();
                branch(
                    c,
                    &[Term::apply(op, ty, &operands)],
                    &[if self.choices.below(2) == 0 { a } else { b }],
                )[0]
            }
        }
    }
}

/// Results of these types, computed from these terms.
fn expressions(choices: &mut Choices<'_>, inputs: &[Term], results: &[ScalarType]) -> Vec<Term> {
    let mut terms = inputs.to_vec();
    terms.push(Term::variable(Variable::Argument(choices.below(SCALARS.len()) as u32 + 10), ScalarType::I64));
    let steps = 1 + choices.below(10);
    let mut pool = Pool { choices, terms };
    for _ in 0..steps {
        let term = pool.step();
        pool.terms.push(term);
    }
    results.iter().map(|ty| pool.term(*ty)).collect()
}

// Array programs.

#[derive(Clone)]
struct Known {
    node: Arc<Node>,
    extents: Vec<usize>,
}

struct Program {
    inputs: Inputs,
    arrays: Vec<Known>,
    root: Arc<Node>,
}

#[track_caller]
fn node(operation: Operation, extents: &[usize], types: &[ScalarType], name: &'static str) -> Known {
    let node = Node::new(operation, extents.len(), types.to_vec(), name, Location::caller());
    Known { node, extents: extents.to_vec() }
}

/// The extents of an array as expressions.
fn shape_of(known: &Known) -> Vec<Term> {
    let node = known.node.clone();
    match known.extents.len() {
        0 => vec![],
        1 => Acc::<Array<Dim1, bool>>::from_node(node).shape().terms(),
        2 => Acc::<Array<Dim2, bool>>::from_node(node).shape().terms(),
        3 => Acc::<Array<Dim3, bool>>::from_node(node).shape().terms(),
        _ => Acc::<Array<Dim4, bool>>::from_node(node).shape().terms(),
    }
}

/// A value for every scalar of an array.
fn data(choices: &mut Choices<'_>, extents: &[usize], types: &[ScalarType]) -> Arc<dyn ArrayData> {
    let seed = choices.below(256) as u64;
    let count: usize = extents.iter().product();
    let column = |(number, ty): (usize, &ScalarType)| -> Vec<u8> {
        let value = |position: usize| {
            let mut bits =
                (position as u64 ^ seed << 32 ^ (number as u64) << 48).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            bits ^= bits >> 29;
            let whole = (bits as i64) >> (bits >> 58);
            match ty {
                ScalarType::F32 | ScalarType::F64 => {
                    Op::Cast.evaluate(*ty, &[((whole as f64) / 64.0).into()])
                }
                _ => Constant::from_bits(*ty, whole as u64),
            }
        };
        (0..count).flat_map(|position| value(position).to_bytes()).collect()
    };
    let columns = types.iter().enumerate().map(column).collect();
    Arc::new(HostData::new(extents.to_vec(), types.to_vec(), columns))
}

struct Maker<'a, 'b> {
    choices: &'a mut Choices<'b>,
    /// The extents of a program are few, so that arrays fit each other.
    palette: [usize; 3],
    inputs: Inputs,
    arrays: Vec<Known>,
}

impl Maker<'_, '_> {
    fn types(&mut self) -> Vec<ScalarType> {
        (0..self.choices.pick(&[1, 1, 2, 3])).map(|_| self.choices.pick(&TYPES)).collect()
    }

    fn extents(&mut self) -> Vec<usize> {
        let mut extents: Vec<usize> = Vec::new();
        for _ in 0..self.choices.pick(&[1, 2, 1, 2, 3, 0, 4]) {
            let extent = self.choices.pick(&self.palette);
            let size = extents.iter().product::<usize>() * extent;
            extents.push(if size > MOST { 2 } else { extent });
        }
        extents
    }

    /// An array to go on with: mostly one that nothing uses yet.
    fn any(&mut self) -> Known {
        let unused = self.unused();
        match self.choices.below(3) {
            2 => self.arrays[self.choices.below(self.arrays.len())].clone(),
            _ => unused[unused.len() - 1 - self.choices.below(unused.len())].clone(),
        }
    }

    fn unused(&self) -> Vec<Known> {
        let used = |known: &&Known| {
            let uses = |other: &Known| other.node.inputs().iter().any(|input| input.id == known.node.id);
            !self.arrays.iter().any(uses)
        };
        self.arrays.iter().filter(used).cloned().collect()
    }

    /// Joins two arrays: the second is brought to the shape of the first.
    fn join(&mut self, first: &Known, second: &Known) -> Known {
        let mut second = second.clone();
        if second.extents != first.extents {
            let sizes = shape_of(&second);
            let index = function(&vec![ScalarType::I64; first.extents.len()], |at| {
                sizes.iter().map(|size| self.bounded(at, *size)).collect()
            });
            let shape = self.shape(&first.extents);
            let types = second.node.types.clone();
            let operation = Operation::Backpermute { shape, index, input: second.node };
            second = node(operation, &first.extents, &types, "backpermute");
        }
        let types = self.types();
        let parameters = [first.node.types.clone(), second.node.types.clone()].concat();
        let function = self.elements(&parameters, &types);
        let inputs = vec![first.node.clone(), second.node];
        node(Operation::ZipWith { function, inputs }, &first.extents, &types, "zip_with")
    }

    /// A shape with these extents: numbers, or the extents of other arrays.
    fn shape(&mut self, extents: &[usize]) -> Function {
        function(&[], |_| {
            let extent = |extent: &usize| {
                let named = |known: &Known| {
                    let place = known.extents.iter().position(|other| other == extent)?;
                    Some(shape_of(known)[place])
                };
                let named: Vec<Term> = self.arrays.iter().filter_map(named).collect();
                match self.choices.below(2) {
                    0 if !named.is_empty() => self.choices.pick(&named),
                    _ => index(*extent as i64),
                }
            };
            extents.iter().map(extent).collect()
        })
    }

    fn elements(&mut self, parameters: &[ScalarType], results: &[ScalarType]) -> Function {
        function(parameters, |terms| expressions(self.choices, terms, results))
    }

    fn given(&mut self, number: u32) -> Known {
        let (extents, types) = (self.extents(), self.types());
        let data = data(self.choices, &extents, &types);
        if self.choices.below(3) == 2 {
            return node(Operation::Use(data), &extents, &types, "use_");
        }
        self.inputs.arrays.insert(number, data);
        node(Operation::Argument(number), &extents, &types, "argument")
    }

    fn step(&mut self) -> Known {
        match self.choices.below(10) {
            0 | 1 => {
                let types = self.types();
                let input = self.any();
                let function = self.elements(&input.node.types, &types);
                node(Operation::ZipWith { function, inputs: vec![input.node] }, &input.extents, &types, "map")
            }
            2 | 3 => self.zip(),
            4 => {
                let (extents, types) = (self.extents(), self.types());
                let shape = self.shape(&extents);
                let element = self.elements(&vec![ScalarType::I64; extents.len()], &types);
                node(Operation::Generate { shape, element }, &extents, &types, "generate")
            }
            5 => self.reshape(),
            6 | 7 => self.backpermute(),
            _ => self.fold(),
        }
    }

    fn zip(&mut self) -> Known {
        let first = self.any();
        let fitting: Vec<Known> =
            self.arrays.iter().filter(|known| known.extents == first.extents).cloned().collect();
        let mut inputs = vec![first.clone()];
        for _ in 0..self.choices.pick(&[1, 1, 2, 3]) {
            inputs.push(fitting[self.choices.below(fitting.len())].clone());
        }
        let types = self.types();
        let parameters: Vec<ScalarType> = inputs.iter().flat_map(|input| input.node.types.clone()).collect();
        let function = self.elements(&parameters, &types);
        let inputs = inputs.into_iter().map(|input| input.node).collect();
        node(Operation::ZipWith { function, inputs }, &first.extents, &types, "zip_with")
    }

    fn reshape(&mut self) -> Known {
        let input = self.any();
        let size: usize = input.extents.iter().product();
        let divisor =
            [2, 3, 4, 5, 8, 13, 16].into_iter().find(|divisor| size.is_multiple_of(*divisor)).unwrap_or(1);
        let extents = match self.choices.below(6) {
            0 => vec![size],
            1 => vec![divisor, size / divisor],
            2 => vec![size / divisor, divisor],
            3 => vec![1, size],
            4 => vec![size, 1, 1],
            _ => input.extents.iter().rev().copied().collect(),
        };
        let shape = self.shape(&extents);
        node(Operation::Reshape { shape, input: input.node.clone() }, &extents, &input.node.types, "reshape")
    }

    /// Elements from other places: a transposition, a replication, or any index that is brought into bounds.
    fn backpermute(&mut self) -> Known {
        let input = self.any();
        let rank = input.extents.len();
        let (extents, index) = match self.choices.below(4) {
            0 if rank == 2 => {
                let extents = vec![input.extents[1], input.extents[0]];
                (extents, function(&[ScalarType::I64; 2], |at| vec![at[1], at[0]]))
            }
            1 if rank < 3 && input.extents.iter().product::<usize>() * 3 <= MOST => {
                let mut extents = input.extents.clone();
                let place = self.choices.below(rank + 1);
                extents.insert(place, 3);
                let index = function(&vec![ScalarType::I64; rank + 1], |at| {
                    (0..=rank)
                        .filter(|dimension| *dimension != place)
                        .map(|dimension| at[dimension])
                        .collect()
                });
                (extents, index)
            }
            _ => {
                let mut extents = self.extents();
                if input.extents.contains(&0) {
                    extents = vec![0];
                }
                let parameters = vec![ScalarType::I64; extents.len()];
                let sizes = shape_of(&input);
                let index =
                    function(&parameters, |at| sizes.iter().map(|size| self.bounded(at, *size)).collect());
                (extents, index)
            }
        };
        let shape = self.shape(&extents);
        let operation = Operation::Backpermute { shape, index, input: input.node.clone() };
        node(operation, &extents, &input.node.types, "backpermute")
    }

    /// An index below `size`, in one of many ways.
    fn bounded(&mut self, at: &[Term], size: Term) -> Term {
        let one = index(1);
        let last = size.binary(Op::Sub, one);
        let own = match at.is_empty() {
            true => index(self.choices.below(100) as i64),
            false => self.choices.pick(at),
        };
        let remainder = |a: Term| a.binary(Op::Rem, size);
        match self.choices.below(20) % 6 {
            0 => last.binary(Op::Sub, remainder(own)),
            1 => own.binary(Op::Min, last),
            2 => own.binary(Op::Sub, index(2)).binary(Op::Max, index(0)).binary(Op::Min, last),
            3 => remainder(own.binary(Op::Mul, index(7)).binary(Op::Add, index(3))),
            // This may fail.
            5 if self.choices.below(2) == 0 => own.binary(Op::Sub, index(1)),
            _ => {
                let value = expressions(self.choices, at, &[ScalarType::U32])[0];
                remainder(value.cast(ScalarType::I64))
            }
        }
    }

    /// Folds with an operator that is associative to the bit; other elements are made to fit first.
    fn fold(&mut self) -> Known {
        let mut input = self.any();
        if input.extents.is_empty() {
            return input;
        }
        if input.node.types.iter().any(|ty| ty.is_float()) {
            let types: Vec<ScalarType> = input
                .node
                .types
                .iter()
                .map(|_| self.choices.pick(&[ScalarType::I32, ScalarType::U64, ScalarType::Bool]))
                .collect();
            let function = self.elements(&input.node.types, &types);
            let operation = Operation::ZipWith { function, inputs: vec![input.node] };
            input = node(operation, &input.extents, &types, "map");
        }
        let types = input.node.types.clone();
        let double = [types.clone(), types.clone()].concat();
        let affine =
            types.len() == 2 && types[0] == types[1] && types[0].is_integer() && self.choices.below(2) == 0;
        let (operator, neutral) = if affine {
            // x ↦ ax + b after x ↦ cx + d: does not commute.
            let operator = function(&double, |t| {
                vec![t[0].binary(Op::Mul, t[2]), t[0].binary(Op::Mul, t[3]).binary(Op::Add, t[1])]
            });
            let neutral = [1, 0].map(|value| Constant::from_integer(types[0], value));
            (operator, neutral.to_vec())
        } else {
            let ops: Vec<Op> = types
                .iter()
                .map(|ty| match ty {
                    ScalarType::Bool => self.choices.pick(&[Op::Or, Op::And, Op::Xor]),
                    _ => self.choices.pick(&[Op::Add, Op::Max, Op::Mul, Op::Min, Op::Xor, Op::Or, Op::And]),
                })
                .collect();
            let count = types.len();
            let operator =
                function(&double, |t| (0..count).map(|k| t[k].binary(ops[k], t[count + k])).collect());
            let neutral = ops.iter().zip(&types).map(|(op, ty)| {
                let (low, high) = ty.range();
                let value = match op {
                    Op::Mul => 1,
                    Op::Max => low,
                    Op::Min => high,
                    Op::And => -1,
                    _ => 0,
                };
                Constant::from_integer(*ty, value)
            });
            (operator, neutral.collect())
        };
        let neutral = function(&[], |_| neutral.iter().map(|constant| Term::from(*constant)).collect());
        let extents = &input.extents[..input.extents.len() - 1];
        let operation = Operation::Fold { operator, initial: neutral, input: input.node.clone() };
        node(operation, extents, &types, "fold")
    }
}

fn program(bytes: &[u8]) -> Program {
    scope(|| {
        let mut choices = Choices(bytes.iter());
        let scalars = (0..13).map(|k: usize| Constant::from(SCALARS[k.saturating_sub(10)])).collect();
        let inputs = Inputs { arrays: Default::default(), scalars };
        let palette = [(); 3].map(|()| choices.pick(&EXTENTS));
        let mut maker = Maker { choices: &mut choices, palette, inputs, arrays: Vec::new() };
        for number in 0..1 + maker.choices.below(3) {
            let given = maker.given(number as u32);
            maker.arrays.push(given);
        }
        for _ in 0..1 + maker.choices.below(8) {
            let next = maker.step();
            maker.arrays.push(next);
        }
        // What nothing uses would not be computed: it becomes part of the result.
        for other in maker.unused() {
            let last = maker.arrays[maker.arrays.len() - 1].clone();
            if other.node.id != last.node.id && !other.extents.contains(&0) {
                let joined = maker.join(&last, &other);
                maker.arrays.push(joined);
            }
        }
        let root = maker.arrays[maker.arrays.len() - 1].node.clone();
        // Arguments that the result does not need may be there all the same.
        Program { inputs: maker.inputs, arrays: maker.arrays, root }
    })
}

fn columns(data: &dyn ArrayData) -> Result<Vec<Vec<Constant>>, String> {
    let columns = data.columns().map_err(|error| error.to_string())?;
    let column = |(ty, bytes): (&ScalarType, &std::borrow::Cow<'_, [u8]>)| {
        bytes.chunks(ty.bytes()).map(|bytes| Constant::from_bytes(*ty, bytes)).collect()
    };
    Ok(data.types().iter().zip(&columns).map(column).collect())
}

/// Whether this is a failure of the program, and not of the device.
fn is_failure(error: &str) -> bool {
    error.starts_with("index ") && error.contains(" out of bounds for length ")
        || error.starts_with("integer division by zero in ")
}

/// Compares the program's result on a device with the interpreter's.
fn agrees(program: &Program, compiler: &Compiler, fuses: bool, setting: &str) -> TestCaseResult {
    let text = || print_program(std::slice::from_ref(&program.root));
    let fail = |what: String| Err(TestCaseError::fail(format!("{setting}: {what}\n{}", text())));
    let expected = interpret(&program.root, &program.inputs.arrays, &program.inputs.scalars);
    let found = compiler
        .compile_node(program.root.clone())
        .and_then(|compiled| compiled.run(&program.inputs))
        .map_err(|error| error.to_string());
    let found = found.and_then(|found| Ok((found.extents().to_vec(), columns(&*found)?)));
    let (expected, found) = match (expected, found) {
        (Ok(expected), Ok(found)) => {
            ((expected.extents().to_vec(), columns(&expected).unwrap_or_default()), found)
        }
        (Ok(_), Err(error)) => return fail(error),
        (Err(ArrayError::Failure(_)), Err(error)) if is_failure(&error) => return Ok(()),
        // An element that nothing uses is not computed where operations are fused.
        (Err(ArrayError::Failure(_)), Ok(_)) if fuses => return Ok(()),
        (Err(expected), found) => {
            return fail(format!("{:?} instead of the failure: {expected}", found.err()));
        }
    };
    if found.0 != expected.0 {
        return fail(format!("extents {:?} instead of {:?}", found.0, expected.0));
    }
    let same = |a: Constant, b: Constant| {
        a == b || (a.as_float().is_some_and(f64::is_nan) && b.as_float().is_some_and(f64::is_nan))
    };
    for (number, (found, expected)) in found.1.iter().zip(&expected.1).enumerate() {
        for (position, (f, e)) in found.iter().zip(expected).enumerate() {
            if !same(*f, *e) {
                return fail(format!("scalar {number} at {position}: {f:?} instead of {e:?}"));
            }
        }
    }
    Ok(())
}

fn check(device: &str, cases: u32, length: usize) {
    let compiler = match Compiler::on(device) {
        Ok(compiler) => compiler,
        Err(error) if std::env::var("CI").as_deref() == Ok("true") => panic!("{error}"),
        Err(error) => return eprintln!("skipped: {error}"),
    };
    let settings = [
        ("as usual", compiler.clone()),
        ("without fusion", compiler.clone().fuse(false)),
        ("without wide accesses", compiler.clone().vectorise(false)),
        ("without narrow indices", compiler.clone().narrow(false)),
    ];
    // What needs no compiler is done in all settings, the rest in one of them.
    let all = device == "sim";
    // `PUMICE_RANDOM=100` takes a hundred times as long.
    let times = std::env::var("PUMICE_RANDOM").ok().and_then(|times| times.parse().ok()).unwrap_or(1);
    let cases = cases * times;
    let config =
        ProptestConfig { cases, max_shrink_iters: if all { 2000 } else { 150 }, ..ProptestConfig::default() };
    proptest!(config, |(bytes in prop::collection::vec(any::<u8>(), length / 4..length), setting in 0..settings.len())| {
        let program = program(&bytes);
        prop_assert!(in_order(std::slice::from_ref(&program.root)).len() <= 2 * program.arrays.len());
        for (number, (name, compiler)) in settings.iter().enumerate() {
            if all || number == 0 || number == setting {
                agrees(&program, compiler, number != 1, &format!("{device} {name}"))?;
            }
        }
    });
}

#[test]
fn the_simulator_agrees_with_the_interpreter() {
    check("sim", 400, 400);
}

#[test]
fn the_cpu_agrees_with_the_interpreter() {
    check("cpu", 50, 400);
}

#[test]
fn opencl_agrees_with_the_interpreter() {
    check("opencl", 25, 400);
}

#[test]
fn random_programs_are_worth_their_time() {
    // The bytes decide much: most programs must be more than a copy, and all operations must come up.
    let mut seen = std::collections::BTreeMap::<&str, usize>::new();
    for seed in 0..200u32 {
        let bytes: Vec<u8> =
            (0..250u32).map(|k| ((seed * 977 + k * 131) ^ (k * k + seed) >> 3) as u8).collect();
        for node in in_order(std::slice::from_ref(&program(&bytes).root)) {
            *seen.entry(node.name).or_default() += 1;
        }
    }
    for name in ["argument", "use_", "map", "zip_with", "generate", "reshape", "backpermute", "fold"] {
        assert!(seen.get(name).is_some_and(|count| *count > 20), "few of {name}: {seen:?}");
    }
}
