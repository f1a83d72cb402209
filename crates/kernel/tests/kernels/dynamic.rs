//! Elements whose columns are data: everything that typed elements can do, they can do, and build the same program.

use pumice_kernel::{
    AtomicOp, Block, Dynamic, Grid, ItemForm, Ix, Mutable, Pull, Push, Scalars, Storable, Warp, define,
    preview, warp,
};
use pumice_scalar::{Constant, Exp, Op, Term};

/// The columns of a typed expression, as data.
fn columns<F: ItemForm>(form: F) -> Scalars
where
    F::Item: Storable,
{
    Scalars(<F::Item as Storable>::terms(&form))
}

/// The expression that has these columns.
fn typed<T: Storable>(value: Scalars) -> T::Form {
    T::from_terms(value.0)
}

fn constant(value: i32) -> Term {
    Constant::from(value).into()
}

/// The text of a kernel on numbers, without the comments: they name lines of this file.
fn text(kernel: impl Fn(Pull<i32, Ix>) -> Push<Grid, i32, Ix>) -> String {
    let definition = define("kernel", 32, kernel).expect("the kernel is well formed");
    let program = definition.kernel().program.to_string();
    program.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
}

/// Returns the message with which a kernel on four numbers is refused when it is built.
fn refused(kernel: impl Fn(Pull<Dynamic>) -> Scalars + Copy + 'static) -> String {
    let blocks = move |xs: Pull<i32, Ix>| {
        let block = move |part: Pull<i32>| {
            let value = kernel(part.map(columns));
            Pull::<i32>::new(1, move |_| typed::<i32>(value.clone())).push::<Block>()
        };
        xs.split_up(4).map(block).concat()
    };
    match preview(32, &[1, 2, 3, 4], blocks) {
        Ok(result) => panic!("it was not refused: {result:?}"),
        Err(error) => error.to_string(),
    }
}

/// Sums and products of blocks through memory that the block shares, by atomics and by turns.
fn through_memory<T: Storable>(part: Pull<T>, zero: T::Form) -> Pull<T, Ix> {
    let sum = Mutable::<T>::shared(replicate_item(1, zero));
    let update = sum.clone();
    let added = Pull::<T>::new(part.len(), move |i| update.atomic(AtomicOp::Add, 0, &[part.at(i)]));
    added.push::<Block>().force();
    sum.freeze()
}

fn replicate_item<T: Storable>(length: usize, value: T::Form) -> Pull<T> {
    Pull::new(length, move |_| value.clone())
}

#[test]
fn memory_and_atomics_of_columns_that_are_data_are_those_of_types() {
    let with_types = |xs: Pull<i32, Ix>| {
        xs.split_up(64)
            .map(|part| through_memory::<i32>(part, 0.into()).push::<Block>())
            .concat_by::<Grid, _>(1, Exp::from(2))
    };
    let with_data = |xs: Pull<i32, Ix>| {
        xs.split_up(64)
            .map(|part| {
                let sums = through_memory::<Dynamic>(part.map(columns), Scalars(vec![constant(0)]));
                sums.map(typed::<i32>).push::<Block>()
            })
            .concat_by::<Grid, _>(1, Exp::from(2))
    };
    assert_eq!(text(with_types), text(with_data));
    let input: Vec<i32> = (0..128).collect();
    let result = preview(32, &input, with_data).expect("the kernel runs");
    assert_eq!(result, [(0..64).sum::<i32>(), (64..128).sum()]);
}

#[test]
fn shuffles_of_columns_that_are_data_are_those_of_types() {
    let with_types = |xs: Pull<i32, Ix>| {
        xs.split_up(32)
            .map(|lanes| lanes.map(|x| warp::shuffle_xor((x, x * 2), 1).1).push::<Warp>())
            .concat::<Grid>()
    };
    let with_data = |xs: Pull<i32, Ix>| {
        let both = |x: Exp<i32>| warp::shuffle_xor(columns((x, x * 2)), 1);
        let second = |value: Scalars| Exp::<i32>::from_term(value.0[1]);
        xs.split_up(32).map(move |lanes| lanes.map(both).map(second).push::<Warp>()).concat::<Grid>()
    };
    assert_eq!(text(with_types), text(with_data));
    let input: Vec<i32> = (0..32).collect();
    let result = preview(32, &input, with_data).expect("the kernel runs");
    assert_eq!(result[..4], [2, 0, 6, 4]);
}

#[test]
fn own_memory_filter_and_scatter_take_columns_that_are_data() {
    let result = preview(32, &[5, 2, 7, 4], |xs: Pull<i32, Ix>| {
        let blocks = xs.split_up(4).map(|part| {
            let own = Mutable::<Dynamic>::own(replicate_item(1, Scalars(vec![constant(3)])));
            let odd = |value: Scalars| (typed::<i32>(value) % 2).eq(1);
            let kept = part.map(columns).filter::<Block>(odd).force_within(4);
            let scaled = kept.map(move |value: Scalars| {
                let factor = own.read(0);
                Scalars(vec![value.0[0].binary(Op::Mul, factor.0[0])])
            });
            let length = scaled.len();
            let turned = scaled.imap(|i, value| (i, typed::<i32>(value)));
            turned
                .scatter_by::<Block, _, _>(length, move |(i, x)| (length - 1 - i, columns(x)))
                .map(typed::<i32>)
        });
        blocks.concat_by(4, 2usize)
    });
    assert_eq!(result.expect("the kernel runs"), [21, 15]);
}

#[test]
fn updates_that_a_type_has_not_are_refused_when_the_kernel_is_built() {
    let message = refused(|xs| {
        let float: Term = Constant::from(0f32).into();
        let cell = Mutable::<Dynamic>::shared(replicate_item(1, Scalars(vec![float])));
        let update = xs.map(move |_| cell.atomic(AtomicOp::Xor, 0, &[Scalars(vec![float])]));
        update.push::<Block>().force().at(0)
    });
    assert!(message.contains("`atomic xor` is not there for elements of f32"), "{message}");
    assert!(message.contains("kernels/dynamic.rs"), "{message}");

    let message = refused(|xs| {
        let both = Scalars(vec![constant(0), constant(0)]);
        let cell = Mutable::<Dynamic>::shared(replicate_item(1, both.clone()));
        let update = xs.map(move |_| cell.atomic(AtomicOp::Add, 0, std::slice::from_ref(&both)));
        update.push::<Block>().force().at(0)
    });
    assert!(message.contains("an element of 2 columns is updated at once"), "{message}");

    let message = refused(|xs| {
        let cell = Mutable::<Dynamic>::shared(xs.clone());
        let update = xs.map(move |x| Scalars(vec![cell.atomic_column(AtomicOp::Add, 1, 0, &x.0)]));
        update.push::<Block>().force().at(0)
    });
    assert!(message.contains("column 1 of an element that has 1"), "{message}");

    let message = refused(|xs| {
        let cell = Mutable::<Dynamic>::shared(xs.clone());
        let wide = |x: Scalars| x.0[0].cast(pumice_scalar::ScalarType::I64);
        let update = xs.map(move |x| Scalars(vec![cell.atomic_column(AtomicOp::Add, 0, 0, &[wide(x)])]));
        update.push::<Block>().force().at(0)
    });
    assert!(message.contains("`atomic add`: (i64) where (i32) is wanted"), "{message}");
}

#[test]
fn columns_that_do_not_fit_their_memory_are_refused_when_the_kernel_is_built() {
    let message = refused(|xs| {
        let cell = Mutable::<Dynamic>::shared(xs.clone());
        cell.write(0, Scalars(vec![constant(0), constant(1)]));
        xs.at(0)
    });
    assert!(message.contains("an element of 2 columns is written to memory of 1"), "{message}");

    let message = refused(|xs| {
        let cell = Mutable::<Dynamic>::shared(xs.clone());
        cell.write(0, Scalars(vec![Constant::from(1f32).into()]));
        xs.at(0)
    });
    assert!(message.contains("an element is written: (f32) where (i32) is wanted"), "{message}");

    let message = refused(|xs| {
        let other = Scalars(vec![Constant::from(1f64).into()]);
        xs.shift(1, other).push::<Block>().force().at(0)
    });
    assert!(message.contains("the sides of a condition differ: (i32) where (f64) is wanted"), "{message}");
}
