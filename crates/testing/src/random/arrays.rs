//! Random array programs. Results do not depend on the order of evaluation: floats are never summed.

use super::choices::Choices;
use super::scalars::{FIRST_SCALAR, SCALARS, expressions, index, scalar_type};
use pumice::layers::array::operations::{
    Argument, Backpermute, Concat, Expand, ExpandReduce, Filter, Fold, Generate, Gives, Order, Permute,
    Product, Reshape, Scan, Sort, Use, View, ZipWith,
};
use pumice::layers::array::{Acc, Array, ArrayData, Described, HostData, Operation};
use pumice::layers::runtime::Inputs;
use pumice::layers::scalar::{
    Constant, FailureKind, Function, Lift, Op, Place, ScalarType, Site, Term, function, scope,
};
use pumice::{AccTuple, Dim1, Dim2, Dim3, Dim4};
use std::sync::Arc;

/// Extents of arrays: mostly small, some of several blocks, and rarely 0.
const EXTENTS: [usize; 30] = [
    3, 17, 1, 64, 2, 16, 33, 0, 130, 5, 257, 1000, 4, 40, 7, 8, 31, 32, 12, 65, 6, 128, 9, 300, 2, 3, 19, 63,
    5, 10,
];

/// Limit on elements of an array: more take too long in the simulator.
const MOST: usize = 3000;

/// An array program with its arguments.
pub struct GivenProgram {
    /// The arguments.
    pub inputs: Inputs,
    /// The results.
    pub roots: Vec<Arc<Described>>,
}

/// Returns the program that these choices make.
pub fn program(choices: &mut Choices<'_>) -> GivenProgram {
    scope(|| {
        let scalars = (0..FIRST_SCALAR + SCALARS.len())
            .map(|number| Constant::from(SCALARS[number.saturating_sub(FIRST_SCALAR)]))
            .collect();
        let inputs = Inputs { scalars, ..Inputs::default() };
        let palette = [(); 3].map(|()| choices.pick(&EXTENTS));
        let mut maker = Maker { choices, palette, inputs, arrays: Vec::new(), nested: 0 };
        for number in 0..1 + maker.choices.below(3) {
            let given = maker.given(number as u32);
            maker.arrays.push(given);
        }
        for number in 0..2 + maker.choices.below(14) {
            if number > 0 && maker.choices.is_at_end() {
                break;
            }
            let next = maker.step();
            maker.arrays.push(next);
        }
        let count = if maker.choices.is_at_end() { 0 } else { maker.choices.below(5) };
        // An array that nothing uses would not be computed: it is made a result, or joined with one.
        let (mut roots, unused) = (Vec::new(), maker.unused());
        let (results, joined) = unused.split_at(count.min(unused.len().saturating_sub(1)));
        roots.extend(results.iter().map(|known| known.array.clone()));
        for other in joined {
            let last = maker.arrays[maker.arrays.len() - 1].clone();
            if other.array.id() != last.array.id() && !other.extents.contains(&0) {
                let joined = maker.join(&last, other);
                maker.arrays.push(joined);
            }
        }
        roots.push(maker.arrays[maker.arrays.len() - 1].array.clone());
        // Inputs may have arguments that no result needs.
        GivenProgram { inputs: maker.inputs, roots }
    })
}

/// An array with known extents.
#[derive(Clone)]
pub(super) struct Known {
    pub array: Arc<Described>,
    pub extents: Vec<usize>,
}

impl AccTuple for Known {
    fn map_described(&self, f: &mut dyn FnMut(&Arc<Described>) -> Arc<Described>) -> Known {
        Known { array: f(&self.array), extents: self.extents.clone() }
    }
}

#[track_caller]
pub(super) fn node(
    operation: impl Operation,
    inputs: &[&Known],
    extents: &[usize],
    types: &[ScalarType],
    name: &'static str,
) -> Known {
    let inputs = inputs.iter().map(|input| input.array.clone()).collect();
    let array = Described::new(operation, inputs, extents.len(), types.to_vec(), Place::caller(name));
    Known { array, extents: extents.to_vec() }
}

/// Returns the extents of an array as expressions.
fn shape_of(known: &Known) -> Vec<Term> {
    let array = known.array.clone();
    match known.extents.len() {
        0 => vec![],
        1 => Acc::<Array<Dim1, bool>>::from_described(array).shape().terms(),
        2 => Acc::<Array<Dim2, bool>>::from_described(array).shape().terms(),
        3 => Acc::<Array<Dim3, bool>>::from_described(array).shape().terms(),
        _ => Acc::<Array<Dim4, bool>>::from_described(array).shape().terms(),
    }
}

/// Makes values for the scalars of an array.
fn data(choices: &mut Choices<'_>, extents: &[usize], types: &[ScalarType]) -> Arc<dyn ArrayData> {
    let seed = choices.below(256) as u64;
    let count: usize = extents.iter().product();
    let column = |(number, ty): (usize, &ScalarType)| -> Vec<u8> {
        let value = |position: usize| {
            let mut bits =
                (position as u64 ^ seed << 32 ^ (number as u64) << 48).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            bits ^= bits >> 29;
            let whole = (bits as i64) >> (bits >> 58);
            match ty.is_float() {
                true => Op::Cast.evaluate(*ty, &[((whole as f64) / 64.0).into()]),
                false => Constant::from_bits(*ty, whole as u64),
            }
        };
        (0..count).flat_map(|position| value(position).to_bytes()).collect()
    };
    let columns = types.iter().enumerate().map(column).collect();
    Arc::new(HostData::new(extents.to_vec(), types.to_vec(), columns))
}

pub(super) struct Maker<'a, 'b> {
    pub choices: &'a mut Choices<'b>,
    /// The extents that the program uses: few, so that the shapes of arrays match.
    palette: [usize; 3],
    inputs: Inputs,
    pub arrays: Vec<Known>,
    /// Number of loops and branches around the place where operations are added.
    pub nested: usize,
}

impl Maker<'_, '_> {
    fn types(&mut self) -> Vec<ScalarType> {
        (0..self.choices.pick(&[1, 1, 2, 3])).map(|_| scalar_type(self.choices)).collect()
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

    /// Chooses an array as the next input: mostly one that nothing uses yet.
    pub(super) fn any(&mut self) -> Known {
        let unused = self.unused();
        match self.choices.below(3) {
            2 => self.arrays[self.choices.below(self.arrays.len())].clone(),
            _ => unused[unused.len() - 1 - self.choices.below(unused.len())].clone(),
        }
    }

    fn unused(&self) -> Vec<Known> {
        let used = |known: &&Known| {
            let uses =
                |other: &Known| other.array.inputs().iter().any(|input| input.id() == known.array.id());
            !self.arrays.iter().any(uses)
        };
        self.arrays.iter().filter(used).cloned().collect()
    }

    /// Permutes `second`, which is not empty, into the shape of `first`.
    pub(super) fn in_shape_of(&mut self, first: &Known, second: &Known) -> Known {
        if second.extents == first.extents {
            return second.clone();
        }
        let sizes = shape_of(second);
        let index = function(&vec![ScalarType::I64; first.extents.len()], |at| {
            sizes.iter().map(|size| self.bounded(at, *size)).collect()
        });
        let shape = self.shape(&first.extents);
        let types = second.array.types().to_vec();
        node(Backpermute { shape, index }, &[second], &first.extents, &types, "backpermute")
    }

    /// Joins two arrays: the second is brought to the shape of the first, and the result depends on every scalar of both.
    fn join(&mut self, first: &Known, second: &Known) -> Known {
        let second = self.in_shape_of(first, second);
        let types = [ScalarType::I64];
        let parameters = [first.array.types(), second.array.types()].concat();
        let function = function(&parameters, |terms| {
            let join = |sum: Term, term: &Term| sum.binary(Op::Xor, term.cast(ScalarType::I64));
            vec![terms.iter().fold(index(0), join)]
        });
        node(ZipWith { function }, &[first, &second], &first.extents, &types, "zip_with")
    }

    /// Makes a shape with these extents: constants, or the extents of other arrays.
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

    pub(super) fn elements(&mut self, parameters: &[ScalarType], results: &[ScalarType]) -> Function {
        function(parameters, |terms| expressions(self.choices, terms, results))
    }

    fn given(&mut self, number: u32) -> Known {
        let (extents, types) = (self.extents(), self.types());
        let data = data(self.choices, &extents, &types);
        if self.choices.below(3) == 2 {
            return node(Use(data), &[], &extents, &types, "use_");
        }
        self.inputs.arrays.insert(number, data);
        node(Argument(number), &[], &extents, &types, "argument")
    }

    pub(super) fn step(&mut self) -> Known {
        match self.choices.below(22) {
            0 | 1 => {
                let types = self.types();
                let input = self.any();
                let function = self.elements(input.array.types(), &types);
                node(ZipWith { function }, &[&input], &input.extents, &types, "map")
            }
            2 | 3 => self.zip(),
            4 => {
                let (extents, types) = (self.extents(), self.types());
                let shape = self.shape(&extents);
                let element = self.elements(&vec![ScalarType::I64; extents.len()], &types);
                node(Generate { shape, element }, &[], &extents, &types, "generate")
            }
            5 => self.reshape(),
            6 | 7 => self.backpermute(),
            8 => self.scan(),
            9 => self.filter(),
            10 => self.permute(),
            11 => self.view(),
            12 => self.concat(),
            13 => self.look_up(),
            14 | 18..=20 => self.control(),
            15 => self.sort(),
            16 => self.product(),
            17 => self.expand_reduce(),
            _ => self.fold(),
        }
    }

    pub(super) fn zip(&mut self) -> Known {
        let first = self.any();
        let fitting: Vec<Known> =
            self.arrays.iter().filter(|known| known.extents == first.extents).cloned().collect();
        let mut inputs = vec![first.clone()];
        for _ in 0..self.choices.pick(&[1, 1, 2, 3]) {
            inputs.push(fitting[self.choices.below(fitting.len())].clone());
        }
        let types = self.types();
        let parameters: Vec<ScalarType> =
            inputs.iter().flat_map(|input| input.array.types().to_vec()).collect();
        let function = self.elements(&parameters, &types);
        let inputs: Vec<&Known> = inputs.iter().collect();
        node(ZipWith { function }, &inputs, &first.extents, &types, "zip_with")
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
        node(Reshape { shape }, &[&input], &extents, input.array.types(), "reshape")
    }

    /// Makes a `backpermute`: a transposition, a replication, or any index that is brought into bounds.
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
        node(Backpermute { shape, index }, &[&input], &extents, input.array.types(), "backpermute")
    }

    /// Makes an index below `size`, in one of many ways.
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
            // This index may be out of bounds.
            5 if self.choices.below(2) == 0 => own.binary(Op::Sub, index(1)),
            _ => {
                let value = expressions(self.choices, at, &[ScalarType::U32])[0];
                remainder(value.cast(ScalarType::I64))
            }
        }
    }

    /// Makes a view with constant steps: some dimensions reversed, some at one index, some in
    /// part, in any order, and maybe one that is replicated.
    fn view(&mut self) -> Known {
        let input = self.any();
        let rank = input.extents.len();
        // Per dimension of the result: its extent, the dimension of the input that it steps along, and the step.
        let mut walks: Vec<(usize, Option<usize>, i64)> = Vec::new();
        let mut starts = Vec::new();
        for (dimension, extent) in input.extents.iter().copied().enumerate() {
            let (start, walk) = match self.choices.below(5) {
                0 if extent > 0 => (self.choices.below(extent), None),
                1 if extent > 0 => (extent - 1, Some((extent, -1))),
                2 => (extent / 3, Some((extent - extent / 3, 1))),
                3 => (0, Some((extent.div_ceil(2), 2))),
                _ => (0, Some((extent, 1))),
            };
            starts.push(start as i64);
            if let Some((extent, step)) = walk {
                let place = self.choices.below(walks.len() + 1);
                walks.insert(place, (extent, Some(dimension), step));
            }
        }
        let size: usize = walks.iter().map(|(extent, ..)| extent).product();
        if walks.len() < 3 && size * 3 <= MOST && self.choices.below(3) == 0 {
            walks.push((3, None, 0));
        }
        let extents: Vec<usize> = walks.iter().map(|(extent, ..)| *extent).collect();
        let row = |dimension: usize| {
            walks.iter().map(|(_, along, step)| if *along == Some(dimension) { *step } else { 0 }).collect()
        };
        let steps = (0..rank).map(row).collect();
        let shape = self.shape(&extents);
        let starts = function(&[], |_| starts.iter().map(|start| Constant::from(*start).into()).collect());
        node(View { shape, starts, steps }, &[&input], &extents, input.array.types(), "view")
    }

    /// Concatenates an array with others of matching extents along a dimension.
    fn concat(&mut self) -> Known {
        let first = self.any();
        let rank = first.extents.len();
        if rank == 0 {
            return self.zip();
        }
        let dimension = self.choices.below(rank);
        let beside = |known: &Known| {
            let others = known.extents.iter().enumerate().filter(|(other, _)| *other != dimension);
            others.map(|(_, extent)| *extent).collect::<Vec<_>>()
        };
        let fits = |known: &&Known| {
            known.extents.len() == rank
                && beside(known) == beside(&first)
                && known.array.types() == first.array.types()
        };
        let fitting: Vec<Known> = self.arrays.iter().filter(fits).cloned().collect();
        let mut parts = vec![first.clone()];
        for _ in 0..self.choices.pick(&[1, 2, 0]) {
            parts.push(fitting[self.choices.below(fitting.len())].clone());
        }
        let mut extents = first.extents.clone();
        extents[dimension] = parts.iter().map(|part| part.extents[dimension]).sum();
        if extents.iter().product::<usize>() > 2 * MOST {
            return self.zip();
        }
        let parts: Vec<&Known> = parts.iter().collect();
        node(Concat { dimension }, &parts, &extents, first.array.types(), "concat")
    }

    /// Gathers elements of one array at indices computed from the elements of another one.
    fn look_up(&mut self) -> Known {
        let (input, table) = (self.any(), self.any());
        if table.extents.contains(&0) {
            return self.zip();
        }
        let sizes = shape_of(&table);
        let place = Place::caller("at");
        let site = Site { place, kind: FailureKind::OutOfBounds };
        let site = if self.choices.below(2) == 0 { Some(site) } else { None };
        let function = function(input.array.types(), |terms| {
            let at: Vec<Term> = expressions(self.choices, terms, &[ScalarType::U32])
                .into_iter()
                .map(|term| term.cast(ScalarType::I64))
                .collect();
            let there: Vec<Term> = sizes.iter().map(|size| self.bounded(&at, *size)).collect();
            table.array.element(&there, site)
        });
        node(ZipWith { function }, &[&input], &input.extents, table.array.types(), "map")
    }

    /// Combines elements of one array into another one, with an operator that is associative and commutes to the bit.
    fn permute(&mut self) -> Known {
        let defaults = self.any();
        let source = self.any();
        let by_index = self.choices.below(2) == 0;
        self.permute_into(defaults, source, by_index)
    }

    /// Like [`Maker::permute`], with targets computed from the index, or from the value alone.
    fn permute_into(&mut self, defaults: Known, source: Known, by_index: bool) -> Known {
        let defaults = self.without_floats(defaults);
        let types = defaults.array.types().to_vec();
        let ops = self.operators(&types);
        let count = types.len();
        let combine = function(&[types.clone(), types.clone()].concat(), |t| {
            (0..count).map(|k| t[k].binary(ops[k], t[count + k])).collect()
        });
        let rank = source.extents.len();
        let parameters = [&vec![ScalarType::I64; rank][..], source.array.types()].concat();
        let empty = defaults.extents.contains(&0);
        let sizes = shape_of(&defaults);
        let target = function(&parameters, |terms| {
            let goes = match (empty, self.choices.below(3)) {
                (true, _) => Term::from(Constant::from(false)),
                (_, 0) => expressions(self.choices, &terms[rank..], &[ScalarType::Bool])[0],
                _ => Term::from(Constant::from(true)),
            };
            let values = &terms[rank..];
            let at = match by_index {
                true => terms[..rank].to_vec(),
                false => expressions(self.choices, values, &[ScalarType::U32])
                    .into_iter()
                    .map(|term| term.cast(ScalarType::I64))
                    .collect(),
            };
            let there: Vec<Term> = sizes.iter().map(|size| self.bounded(&at, *size)).collect();
            let value = expressions(self.choices, values, &types);
            [vec![goes], there, value].concat()
        });
        let permute = Permute { rank, combine, target, distinct: false };
        node(permute, &[&defaults, &source], &defaults.extents, &types, "permute")
    }

    /// Returns the array, or one without floats made of it: sums of floats depend on the order.
    fn without_floats(&mut self, input: Known) -> Known {
        if !input.array.types().iter().any(|ty| ty.is_float()) {
            return input;
        }
        let count = input.array.types().len();
        let types: Vec<ScalarType> = (0..count)
            .map(|_| self.choices.pick(&[ScalarType::I32, ScalarType::U64, ScalarType::Bool]))
            .collect();
        let function = self.elements(input.array.types(), &types);
        node(ZipWith { function }, &[&input], &input.extents, &types, "map")
    }

    /// Chooses for each type an operation that is associative and commutes.
    fn operators(&mut self, types: &[ScalarType]) -> Vec<Op> {
        let op = |ty: &ScalarType| match ty {
            ScalarType::Bool => self.choices.pick(&[Op::Or, Op::And, Op::Xor]),
            _ => self.choices.pick(&[Op::Add, Op::Max, Op::Mul, Op::Min, Op::Xor, Op::Or, Op::And]),
        };
        types.iter().map(op).collect()
    }

    /// Folds with an operator that is associative to the bit.
    fn fold(&mut self) -> Known {
        let input = self.any();
        if input.extents.is_empty() {
            return input;
        }
        let (input, operator, initial) = self.associative(input);
        let extents = &input.extents[..input.extents.len() - 1];
        let from_nothing = input.extents.last() != Some(&0) && self.choices.below(4) == 0;
        let initial = (!from_nothing).then_some(initial);
        node(Fold { operator, initial }, &[&input], extents, input.array.types(), "fold")
    }

    /// Multiplies the matrices of an array and the same ones transposed, over an operator that is associative to the bit.
    fn product(&mut self) -> Known {
        let input = self.any();
        let rank = input.extents.len();
        let size = |extents: &[usize]| extents.iter().product::<usize>();
        let [outer @ .., rows, columns] = &input.extents[..] else { return input };
        let (turned, extents) = ([outer, &[*columns, *rows]].concat(), [outer, &[*rows, *rows]].concat());
        if size(&extents) > MOST {
            return input;
        }
        let (left, add, initial) = self.associative(input);
        let from = |dimension: usize| match rank - dimension {
            1 => rank - 2,
            2 => rank - 1,
            _ => dimension,
        };
        let row = |dimension: usize| (0..rank).map(|place| i64::from(place == from(dimension))).collect();
        let steps = (0..rank).map(row).collect();
        let shape = self.shape(&turned);
        let starts = function(&[], |_| vec![index(0); rank]);
        let types = left.array.types().to_vec();
        let right = node(View { shape, starts, steps }, &[&left], &turned, &types, "view");
        let multiply = self.elements(&[&types[..], &types].concat(), &types);
        node(Product { multiply, add, initial }, &[&left, &right], &extents, &types, "product")
    }

    /// Scans with an operator that is associative to the bit.
    fn scan(&mut self) -> Known {
        let input = self.any();
        if input.extents.is_empty() {
            return input;
        }
        let (input, operator, initial) = self.associative(input);
        let gives = self.choices.pick(&[Gives::Inclusive, Gives::Exclusive, Gives::Extended, Gives::Total]);
        let begins = gives != Gives::Inclusive || self.choices.below(2) == 0;
        let mut extents = input.extents.clone();
        match (gives, extents.last_mut()) {
            (Gives::Extended, Some(columns)) => *columns += 1,
            (Gives::Total, _) => drop(extents.pop()),
            _ => {}
        }
        let from_right = self.choices.below(2) == 1;
        let scan = Scan { operator, initial: begins.then_some(initial), gives, from_right };
        node(scan, &[&input], &extents, input.array.types(), "scan")
    }

    /// Sorts by keys, or by a comparison that is equivalent to one of keys.
    fn sort(&mut self) -> Known {
        let input = self.any();
        if input.extents.is_empty() {
            return input;
        }
        let types = input.array.types().to_vec();
        let order = match self.choices.below(3) {
            0 => {
                let key = self.elements(&types, &[ScalarType::U32]);
                Order::Before(function(&[&types[..], &types].concat(), |terms| {
                    let (a, b) = terms.split_at(types.len());
                    key.apply(a).into_iter().zip(key.apply(b)).map(|(a, b)| a.compare(Op::Lt, b)).collect()
                }))
            }
            1 => Order::Keys(self.elements(&types, &[ScalarType::Bool, ScalarType::U32])),
            _ => Order::Keys(self.elements(&types, &[ScalarType::U64])),
        };
        node(Sort { order }, &[&input], &input.extents, &types, "sort")
    }

    /// Makes an expansion of elements of these types: the size, below 8, and the function from element and number to the new element.
    fn expansion(&mut self, types: &[ScalarType]) -> (Function, Function) {
        let any = self.elements(types, &[ScalarType::I64]);
        let size = function(types, |terms| {
            any.apply(terms).into_iter().map(|size| size.binary(Op::And, index(7))).collect()
        });
        (size, self.elements(&[types, &[ScalarType::I64]].concat(), types))
    }

    /// Expands each element of a vector, and reduces the elements that it expands to.
    fn expand_reduce(&mut self) -> Known {
        let input = self.any();
        if input.extents.len() != 1 {
            return input;
        }
        let (input, operator, initial) = self.associative(input);
        let types = input.array.types().to_vec();
        let (size, get) = self.expansion(&types);
        if self.choices.below(2) == 0 {
            let reduce = ExpandReduce { size, get, operator, initial: Some(initial), most: None };
            return node(reduce, &[&input], &input.extents, &types, "expand_reduce");
        }
        let flag = self.elements(get.parameters(), &[ScalarType::Bool]);
        let option = function(get.parameters(), |terms| {
            let present = flag.apply(terms)[0];
            // An absent value is zero.
            let value = |term: Term| {
                Term::apply(Op::Select, term.ty(), &[present, term, Constant::zero(term.ty()).into()])
            };
            std::iter::once(present).chain(get.apply(terms).into_iter().map(value)).collect()
        });
        let reduce = ExpandReduce { size, get: option, operator, initial: None, most: None };
        let types = [&[ScalarType::Bool], &types[..]].concat();
        node(reduce, &[&input], &input.extents, &types, "expand_reduce")
    }

    /// Filters an array or an expansion, and folds or permutes the kept elements, whose number only the device
    /// knows. Sometimes it folds a scan of them, which needs the kept elements compacted.
    fn filter(&mut self) -> Known {
        let mut input = self.any();
        if input.extents.len() == 1 && self.choices.below(2) == 0 {
            let types = input.array.types().to_vec();
            let (size, get) = self.expansion(&types);
            input = node(Expand { size, get, has_ends: false }, &[&input], &[0], &types, "expand");
        }
        let keep = self.elements(input.array.types(), &[ScalarType::Bool]);
        let types = input.array.types().to_vec();
        let mut kept = node(Filter { keep }, &[&input], &[0], &types, "filter");
        let next = self.choices.below(3);
        if next == 2 {
            let defaults = self.any();
            return self.permute_into(defaults, kept, false);
        }
        if next == 0 {
            let (scanned, operator, initial) = self.associative(kept);
            let (initial, gives, from_right) = (Some(initial), Gives::Inclusive, false);
            let types = scanned.array.types().to_vec();
            kept = node(Scan { operator, initial, gives, from_right }, &[&scanned], &[0], &types, "scan");
        }
        let (kept, operator, initial) = self.associative(kept);
        node(Fold { operator, initial: Some(initial) }, &[&kept], &[], kept.array.types(), "fold")
    }

    /// Makes an operator that is associative to the bit, and an initial value, for the elements of an array; other elements are
    /// converted first.
    fn associative(&mut self, input: Known) -> (Known, Function, Function) {
        let input = self.without_floats(input);
        let types = input.array.types().to_vec();
        let double = [types.clone(), types.clone()].concat();
        let affine =
            types.len() == 2 && types[0] == types[1] && types[0].is_integer() && self.choices.below(2) == 0;
        let (operator, neutral) = if affine {
            // x ↦ ax + b after x ↦ cx + d: not commutative.
            let operator = function(&double, |t| {
                vec![t[0].binary(Op::Mul, t[2]), t[0].binary(Op::Mul, t[3]).binary(Op::Add, t[1])]
            });
            let neutral = [1, 0].map(|value| Constant::from_integer(types[0], value));
            (operator, neutral.to_vec())
        } else {
            let ops = self.operators(&types);
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
        // The neutral element, or another one.
        let shift = self.choices.pick(&[0, 0, 3]);
        let initial = neutral.iter().map(|constant| match constant.as_integer() {
            Some(value) => Constant::from_integer(constant.ty(), value + shift),
            None => *constant,
        });
        let initial = function(&[], |_| initial.map(Term::from).collect());
        (input, operator, initial)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Recipe;
    use pumice::layers::array::{ArrayProgram, CheckedProgram, Node};

    #[test]
    fn random_programs_read_back() {
        let (mut loops, mut counted, mut branches, mut deep) = (0, 0, 0, 0);
        for number in 0..400 {
            let recipe = Recipe::from_seed(11, number);
            let roots = program(&mut Choices::new(&recipe.bytes)).roots;
            let program = ArrayProgram::of(&roots);
            let text = program.full_text();
            loops += text.matches(") = while ").count();
            counted += text.matches(") = repeat ").count();
            let is_deep = |line: &&str| line.starts_with("            a") && line.contains(" = ");
            deep += usize::from(text.lines().any(|line| is_deep(&line)));
            branches += text.matches(") = branch ").count();
            let again: ArrayProgram = text.parse().unwrap_or_else(|error| panic!("{error}\n{text}"));
            assert_eq!(again.full_text(), text);
            assert_eq!(again.results(), program.results());
            for (one, other) in again.nodes().iter().zip(program.nodes()) {
                let parts =
                    |node: &Node| (node.id, node.inputs.clone(), node.rank, node.types.clone(), node.place);
                assert_eq!(parts(one), parts(other), "{text}");
                assert_eq!(one.operation.functions(), other.operation.functions(), "{text}");
            }
            assert!(CheckedProgram::new(again).is_ok(), "{text}");
        }
        assert!(
            loops > 20 && counted > 20 && branches > 20,
            "{loops}, {counted} loops and {branches} branches"
        );
        assert!(deep > 10, "{deep} programs have loops and branches three deep");
    }
}
