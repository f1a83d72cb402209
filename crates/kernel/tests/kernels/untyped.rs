//! A front end without Rust's types: kernels as trees of a small language, interpreted into the kernel language through
//! values. They are the programs that typed Rust makes, and what rustc refuses is refused in the same words.

use pumice_kernel::{
    Any, AnyLevel, Block, BuildError, Definition, Forces, Grid, Ix, KernelFunction, Length, Loops, Mutable,
    ParameterKind, Pull, Push, Scalars, Storable, Value, Within, define, define_data, replicate,
};
use pumice_kernel::{AtomicOp, Dynamic};
use pumice_scalar::{Constant, Exp, Op, ScalarType, Term};
use std::collections::HashMap;
use std::rc::Rc;

/// A program of the small language.
enum Tree {
    Name(&'static str),
    Let(&'static str, Box<Tree>, Box<Tree>),
    Number(Constant),
    /// An operation on scalars of one type.
    Apply(Op, Vec<Tree>),
    /// Division of indices, or what is left, checked as Rust's operators are.
    Divide(Op, Box<Tree>, Box<Tree>),
    /// A number as an index.
    Cast(Box<Tree>),
    Replicate(usize, Constant),
    At(Box<Tree>, Box<Tree>),
    LengthOf(Box<Tree>),
    Generate(Box<Tree>, &'static str, Box<Tree>),
    Map(Box<Tree>, &'static str, Box<Tree>),
    ZipWith(Op, Box<Tree>, Box<Tree>),
    Half(Box<Tree>, usize),
    Shift(Box<Tree>, usize, Constant),
    SplitUp(Box<Tree>, usize),
    Tiles(Box<Tree>, usize),
    RowsOf(Box<Tree>, Box<Tree>),
    /// A matrix written tile by tile through shared memory, with rows and columns exchanged.
    TransposeTiles(Box<Tree>, Box<Tree>, Box<Tree>),
    /// Reduces in one thread.
    SeqReduce(Op, Constant, Box<Tree>),
    /// Does a step to an array as long as it plainly has more elements than one.
    WhileLong(Box<Tree>, &'static str, Box<Tree>),
    Push(AnyLevel, Box<Tree>),
    Force(Box<Tree>),
    Concat(AnyLevel, Box<Tree>),
    /// Statements: they have no value.
    Distribute(Box<Tree>, &'static str, Box<Tree>),
    ForEach(AnyLevel, Box<Tree>, &'static str, Box<Tree>),
    Shared(Box<Tree>),
    Freeze(Box<Tree>),
    Update(AtomicOp, Box<Tree>, Box<Tree>, Box<Tree>),
}
use Tree::*;

type Names = Rc<HashMap<&'static str, Value>>;

fn with(names: &Names, name: &'static str, value: Value) -> Names {
    let mut inner = (**names).clone();
    inner.insert(name, value);
    Rc::new(inner)
}

fn known(array: &Pull<Any, Length>) -> usize {
    match array.len() {
        Length::Known(length) => length,
        Length::Device(_) => 0,
    }
}

/// Returns the value of a tree. It does not outlive the program, which is `'static` so that arrays can hold on to its parts.
fn value(tree: &'static Tree, names: &Names) -> Value {
    let of = |tree| value(tree, names);
    match tree {
        Name(name) => names[name].clone(),
        Let(name, first, then) => value(then, &with(names, name, of(first))),
        Number(constant) => Term::from(*constant).into(),
        Apply(op, operands) => {
            let operands: Vec<Term> = operands.iter().map(|tree| of(tree).scalars().column(0)).collect();
            Term::apply(*op, operands[0].ty(), &operands).into()
        }
        Divide(op, a, b) => {
            let (a, b) = (of(a).index(), of(b).index());
            if *op == Op::Div { (a / b).into() } else { (a % b).into() }
        }
        Cast(number) => of(number).scalars().column(0).cast(ScalarType::I64).into(),
        Replicate(length, constant) => replicate(*length, Scalars(vec![(*constant).into()])).into(),
        At(array, index) => of(array).pull().at(of(index).index()),
        LengthOf(array) => match of(array).pull().len() {
            Length::Known(length) => Exp::<i64>::from(length as i64).into(),
            Length::Device(length) => length.into(),
        },
        Generate(length, name, body) => {
            let names = names.clone();
            let element = move |i: Ix| value(body, &with(&names, name, i.into()));
            Pull::<Any, _>::new(Length::Device(of(length).index()), element).into()
        }
        Map(array, name, body) => {
            let names = names.clone();
            of(array).pull().map(move |element| value(body, &with(&names, name, element))).into()
        }
        ZipWith(op, a, b) => {
            let op = *op;
            of(a).elements().zip_with(of(b).elements(), move |a, b| combine(op, a, b)).into()
        }
        Half(array, which) => {
            let (low, high) = of(array).pull().halve();
            if *which == 0 { low.into() } else { high.into() }
        }
        Shift(array, distance, fill) => {
            of(array).elements().shift(*distance, Scalars(vec![(*fill).into()])).into()
        }
        SplitUp(array, size) => of(array).pull().split_up(*size).into(),
        Tiles(array, size) => of(array).pull().tiles(*size).into(),
        RowsOf(array, columns) => of(array).pull().rows(of(columns).index()).into(),
        TransposeTiles(rows, down, across) => {
            let (down, across) = (of(down).index(), of(across).index());
            transpose_tiles::<Dynamic>(of(rows).rows(), down, across).into()
        }
        SeqReduce(op, initial, array) => {
            let (op, array) = (*op, of(array).elements());
            array.seq_reduce(Scalars(vec![(*initial).into()]), |a, b| combine(op, a, b)).into()
        }
        WhileLong(array, name, step) => {
            let mut array = of(array);
            while known(&array.clone().pull()) > 1 {
                array = value(step, &with(names, name, array));
            }
            array
        }
        Push(level, array) => of(array).elements().push_at(*level).into(),
        Force(array) => of(array).push().force().into(),
        Concat(level, array) => of(array).pull().map(|part| part.push().fixed()).concat_at(*level).into(),
        Distribute(blocks, name, body) => {
            AnyLevel::Block.distribute(AnyLevel::Grid, of(blocks).index(), &|block| {
                value(body, &with(names, name, block.into()));
            });
            Scalars(Vec::new()).into()
        }
        ForEach(level, extent, name, body) => {
            level.for_each(of(extent).index(), &|index| {
                value(body, &with(names, name, index.into()));
            });
            Scalars(Vec::new()).into()
        }
        Shared(array) => Mutable::shared(of(array).elements().fixed()).into(),
        Freeze(memory) => of(memory).memory().freeze().into(),
        Update(op, memory, index, operand) => {
            of(memory).memory().atomic(*op, of(index).index(), &[of(operand).scalars()]).into()
        }
    }
}

fn combine(op: Op, a: Scalars, b: Scalars) -> Scalars {
    Scalars(vec![a.column(0).binary(op, b.column(0))])
}

fn i64(value: i64) -> Box<Tree> {
    Box::new(Number(Constant::from(value)))
}

fn i32(value: i32) -> Constant {
    Constant::from(value)
}

fn name(name: &'static str) -> Box<Tree> {
    Box::new(Name(name))
}

fn bx(tree: Tree) -> Box<Tree> {
    Box::new(tree)
}

fn numbers(changes: bool) -> ParameterKind {
    ParameterKind::Array { types: vec![ScalarType::I32], changes }
}

/// The kernel of a tree whose names are its parameters.
fn interpreted(
    threads: u32,
    parameters: &[(&'static str, ParameterKind)],
    result: &[ScalarType],
    tree: Tree,
) -> Result<Definition, BuildError> {
    // As long as the test: values are functions that hold on to the tree.
    let tree: &'static Tree = Box::leak(Box::new(tree));
    let kinds: Vec<ParameterKind> = parameters.iter().map(|(_, kind)| kind.clone()).collect();
    define_data("kernel", threads, &kinds, result, |arguments| {
        let names = parameters.iter().map(|(name, _)| *name).zip(arguments).collect();
        match value(tree, &Rc::new(names)) {
            Value::Scalars(_) => None,
            array => Some(array),
        }
    })
}

/// The text of a kernel with what names lines left out (comments, sites), and with variables numbered as they occur: those
/// that were only looked at have numbers too.
fn text(definition: &Definition) -> String {
    let program = definition.kernel().program.to_string();
    let code = |line: &&str| !line.trim_start().starts_with("//") && !line.starts_with("spare ");
    let (mut numbers, mut text) = (HashMap::new(), String::new());
    for line in program.lines().filter(code) {
        let mut rest = match line.split_once("fail ") {
            Some((_, site)) => site.trim_start_matches(|c: char| c.is_ascii_digit()),
            None => line,
        };
        while let Some(at) = rest.find('%') {
            let end = rest[at + 1..].find(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '.');
            let end = end.map_or(rest.len(), |end| at + 1 + end);
            let next = numbers.len();
            let number = *numbers.entry(rest[at..end].to_string()).or_insert(next);
            let stem = rest[at..end].trim_end_matches(|c: char| c.is_ascii_digit()).trim_end_matches('.');
            text.push_str(&format!("{}{stem}.{number}", &rest[..at]));
            rest = &rest[end..];
        }
        text.push_str(rest);
        text.push('\n');
    }
    text
}

#[track_caller]
fn same<P>(
    threads: u32,
    typed: impl KernelFunction<P>,
    parameters: &[(&'static str, ParameterKind)],
    tree: Tree,
) {
    let typed = define("kernel", threads, typed).expect("the typed kernel is well formed");
    let result = typed.outcome().map_or(Vec::new(), |outcome| outcome.types.clone());
    let data = interpreted(threads, parameters, &result, tree).expect("the kernel from data is well formed");
    assert_eq!(typed.parameters(), data.parameters());
    assert_eq!(typed.bindings(), data.bindings());
    let outcome = |definition: &Definition| {
        definition.outcome().map(|outcome| (outcome.types.clone(), outcome.complete))
    };
    assert_eq!(outcome(&typed), outcome(&data));
    let (typed, data) = (text(&typed), text(&data));
    let first = typed.lines().zip(data.lines()).find(|(typed, data)| typed != data);
    assert!(typed == data, "{first:?} in\n{typed}\n{data}");
}

fn reduce<L: Forces, T: Storable>(
    mut xs: Pull<T>,
    f: impl Fn(T::Form, T::Form) -> T::Form + Copy + 'static,
) -> Push<L, T> {
    while xs.len() > 1 {
        let (low, high) = xs.halve();
        xs = low.zip_with(high, f).push::<L>().force();
    }
    xs.push()
}

/// The tree of [`reduce`], of an array with the name "part".
fn reduce_tree(level: AnyLevel) -> Box<Tree> {
    let half = |which| bx(Half(name("xs"), which));
    let step = Force(bx(Push(level, bx(ZipWith(Op::Add, half(0), half(1))))));
    bx(Push(level, bx(WhileLong(name("part"), "xs", bx(step)))))
}

#[test]
fn a_reduction_in_blocks() {
    let typed = |xs: Pull<i32, Ix>| -> Push<Grid, i32, Ix> {
        xs.split_up(64).map(|part| reduce::<Block, _>(part, |a, b| a + b)).concat()
    };
    let parts = Map(bx(SplitUp(name("xs"), 64)), "part", reduce_tree(AnyLevel::Block));
    same(32, typed, &[("xs", numbers(false))], Concat(AnyLevel::Grid, bx(parts)));
}

#[test]
fn a_reduction_in_warps_of_blocks() {
    use pumice_kernel::Warp;
    let typed = |xs: Pull<i32, Ix>| -> Push<Grid, i32, Ix> {
        let warps = |part: Pull<i32>| -> Push<Block, i32> {
            part.split_up(32).map(|part| reduce::<Warp, _>(part, |a, b| a + b)).concat()
        };
        xs.split_up(128).map(warps).concat()
    };
    let warps = Map(bx(SplitUp(name("block"), 32)), "part", reduce_tree(AnyLevel::Warp));
    let blocks = Map(bx(SplitUp(name("xs"), 128)), "block", bx(Concat(AnyLevel::Block, bx(warps))));
    same(64, typed, &[("xs", numbers(false))], Concat(AnyLevel::Grid, bx(blocks)));
}

#[test]
fn a_scan_of_blocks() {
    let typed = |xs: Pull<i32, Ix>| -> Push<Grid, i32, Ix> {
        let scan = |part: Pull<i32>| {
            let mut sums = part.push::<Block>().force();
            for distance in [1, 2, 4, 8, 16] {
                let moved = sums.clone().shift(distance, 0.into());
                sums = moved.zip_with(sums, |a, b| a + b).push::<Block>().force();
            }
            sums.push::<Block>()
        };
        xs.split_up(32).map(scan).concat()
    };
    let mut sums = Push(AnyLevel::Block, name("sums"));
    for distance in [16, 8, 4, 2, 1] {
        let moved = Shift(name("sums"), distance, i32(0));
        let step = Force(bx(Push(AnyLevel::Block, bx(ZipWith(Op::Add, bx(moved), name("sums"))))));
        sums = Let("sums", bx(step), bx(sums));
    }
    let scan = Let("sums", bx(Force(bx(Push(AnyLevel::Block, name("part"))))), bx(sums));
    let parts = Map(bx(SplitUp(name("xs"), 32)), "part", bx(scan));
    same(32, typed, &[("xs", numbers(false))], Concat(AnyLevel::Grid, bx(parts)));
}

/// The transpose of a matrix of `down` × `across` elements, tile by tile.
fn transpose_tiles<T: Storable>(rows: pumice_kernel::Rows<T>, down: Ix, across: Ix) -> Push<Grid, T, Ix> {
    let tiles = rows.split_2d(across, 32).map(|row| {
        row.map(|tile| {
            let (height, width) = (tile.len(), tile.at(0).len());
            tile.force_2d(height, width, 32).transpose(width)
        })
    });
    tiles.transpose(pumice_kernel::parts_for(across, 32)).concat_2d(32, across, down)
}

#[test]
fn a_transposition_in_tiles() {
    let typed = |xs: Pull<i32, Ix>, down: Exp<i64>, across: Exp<i64>| -> Push<Grid, i32, Ix> {
        transpose_tiles(xs.rows(across), down, across)
    };
    let index = ParameterKind::Scalar(ScalarType::I64);
    let rows = RowsOf(name("xs"), name("across"));
    same(
        256,
        typed,
        &[("xs", numbers(false)), ("down", index.clone()), ("across", index)],
        TransposeTiles(bx(rows), name("down"), name("across")),
    );
}

#[test]
fn a_product_of_matrices() {
    let typed = |a: Pull<i32, Ix>, b: Pull<i32, Ix>, n: Exp<i64>| -> Push<Grid, i32, Ix> {
        let (rows, columns) = (a.rows(n), b.rows(n));
        let element = move |i: Ix| {
            let (row, columns) = (rows.at(i / n), columns.clone());
            let products = Pull::<i32, Ix>::new(n, move |k| row.at(k) * columns.at(k).at(i % n));
            products.seq_reduce(0.into(), |a, b| a + b)
        };
        Pull::<i32, Ix>::new(n * n, element).push()
    };
    let index = ParameterKind::Scalar(ScalarType::I64);
    let apply = |op, a, b| bx(Apply(op, vec![a, b]));
    let by = |op| bx(Divide(op, name("i"), name("n")));
    let at = |array, index| bx(At(array, index));
    let product =
        apply(Op::Mul, *at(name("row"), name("k")), *at(at(name("columns"), name("k")), by(Op::Rem)));
    let products = Generate(name("n"), "k", product);
    let row = Let("row", at(name("rows"), by(Op::Div)), bx(SeqReduce(Op::Add, i32(0), bx(products))));
    let all = Generate(apply(Op::Mul, Name("n"), Name("n")), "i", bx(row));
    let columns = Let("columns", bx(RowsOf(name("b"), name("n"))), bx(Push(AnyLevel::Grid, bx(all))));
    let tree = Let("rows", bx(RowsOf(name("a"), name("n"))), bx(columns));
    same(64, typed, &[("a", numbers(false)), ("b", numbers(false)), ("n", index)], tree);
}

#[test]
fn a_histogram_in_shared_memory() {
    let typed = |bins: Mutable<i32>, xs: Pull<i32, Ix>| {
        let tiles = xs.tiles(128);
        Block::distribute(tiles.len(), &|block| {
            let tile = tiles.at(block);
            let counts = Mutable::<i32>::shared(replicate(16, Exp::from(0)));
            Block::for_each(tile.len(), &|i| {
                counts.atomic_add(tile.at(i).cast::<i64>(), 1);
            });
            let counts = counts.freeze();
            Block::for_each(counts.len(), &|bin| {
                bins.atomic_add(bin, counts.at(bin));
            });
        });
    };
    let one = || bx(Number(i32(1)));
    let count = Update(AtomicOp::Add, name("counts"), bx(Cast(bx(At(name("tile"), name("i"))))), one());
    let count = ForEach(AnyLevel::Block, bx(LengthOf(name("tile"))), "i", bx(count));
    let add = Update(AtomicOp::Add, name("bins"), name("bin"), bx(At(name("frozen"), name("bin"))));
    let add = ForEach(AnyLevel::Block, bx(LengthOf(name("frozen"))), "bin", bx(add));
    let after = Let("frozen", bx(Freeze(name("counts"))), bx(add));
    let zeros = Shared(bx(Replicate(16, i32(0))));
    let block = Let("counts", bx(zeros), bx(Let("_", bx(count), bx(after))));
    let block = Let("tile", bx(At(name("tiles"), name("block"))), bx(block));
    let grid = Distribute(bx(LengthOf(name("tiles"))), "block", bx(block));
    let tree = Let("tiles", bx(Tiles(name("xs"), 128)), bx(grid));
    same(64, typed, &[("bins", numbers(true)), ("xs", numbers(false))], tree);
}

/// Checks that a tree on numbers `xs` is refused, with a message that contains these words.
#[track_caller]
fn refused(tree: Tree, words: &[&str]) {
    let error =
        interpreted(32, &[("xs", numbers(false))], &[ScalarType::I32], tree).expect_err("it is not refused");
    for part in words {
        assert!(error.message().contains(part), "no {part:?} in: {error}");
    }
    let file = error.place().map(|place| place.file());
    assert_eq!(file, Some("crates/kernel/tests/kernels/untyped.rs"), "{error}");
}

#[test]
fn levels_that_do_not_nest_are_refused_in_the_words_of_rustc() {
    let pushed = |inner, outer| {
        let part = bx(Push(inner, name("part")));
        Concat(outer, bx(Map(bx(SplitUp(name("xs"), 32)), "part", part)))
    };
    let note = "threads are parts of a warp, a block or a grid; warps of a block or a grid; blocks of a grid";
    refused(pushed(AnyLevel::Grid, AnyLevel::Grid), &["a `Grid` is not a part of this level", note]);
    let inner = |inner, outer| {
        let blocks = bx(SplitUp(name("xs"), 64));
        let part = bx(Push(inner, name("part")));
        let parts = Concat(outer, bx(Map(bx(SplitUp(name("block"), 32)), "part", part)));
        Concat(AnyLevel::Grid, bx(Map(blocks, "block", bx(parts))))
    };
    refused(inner(AnyLevel::Block, AnyLevel::Warp), &["a `Block` is not a part of this level", note]);
    refused(inner(AnyLevel::Block, AnyLevel::Block), &["a `Block` is not a part of this level", note]);
}

#[test]
fn a_push_array_that_is_indexed_is_refused_in_the_words_of_rustc() {
    let indexed = At(bx(Push(AnyLevel::Block, name("part"))), i64(0));
    let parts = Map(bx(SplitUp(name("xs"), 32)), "part", bx(indexed));
    refused(
        Push(AnyLevel::Grid, bx(parts)),
        &["a push array cannot be indexed or taken apart", "force it first"],
    );
}

#[test]
fn memory_for_a_length_of_the_device_is_refused_in_the_words_of_rustc() {
    let forced = Push(AnyLevel::Block, bx(Force(bx(Push(AnyLevel::Block, name("tile"))))));
    let tiles = Map(bx(Tiles(name("xs"), 32)), "tile", bx(forced));
    refused(
        Concat(AnyLevel::Grid, bx(tiles)),
        &["the length of this array is known only on the device", "write `force_within(capacity)`"],
    );
}

#[test]
fn forcing_at_the_grid_is_refused_in_the_words_of_rustc() {
    let forced = Force(bx(Push(AnyLevel::Grid, bx(Replicate(64, i32(0))))));
    refused(
        Push(AnyLevel::Grid, bx(forced)),
        &["an array cannot be forced at `Grid`", "at `Block`, `Warp` or `Thread`", "cut it up first"],
    );
}

#[test]
fn a_result_that_is_not_the_grids_is_refused_in_the_words_of_rustc() {
    refused(
        Push(AnyLevel::Block, name("xs")),
        &["a kernel gives an array that its grid pushes", "bring a block's array up with `concat`"],
    );
}

#[test]
fn values_of_the_wrong_kind_are_refused() {
    refused(Push(AnyLevel::Grid, i64(1)), &["an element where a pull array is wanted"]);
    refused(Concat(AnyLevel::Grid, name("xs")), &["an element where a push array is wanted"]);
    refused(
        Push(AnyLevel::Grid, bx(Map(name("xs"), "x", bx(At(name("xs"), name("x")))))),
        &["(i32) where (i64) is wanted"],
    );
    refused(
        Push(AnyLevel::Grid, bx(ZipWith(Op::Add, name("xs"), bx(SplitUp(name("xs"), 1))))),
        &["a pull array where an element is wanted"],
    );
}
