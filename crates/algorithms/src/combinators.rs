//! Combinators that do something to every element and its partner: `ilv`, `vee` and `ilv_vee`, of section 3 of "Expressive
//! Array Constructs in an Embedded GPU Kernel Programming Language", and the blocks of 2^k elements that section 4 of it asks for.
//!
//! Combinators that end in 1 give pull arrays: a thread computes one element, and a condition on its index decides which of the two
//! functions it is. Those that end in 2 give push arrays: a thread computes both elements of a pair, and there is no
//! condition. [`in_registers`] goes on from there: a thread has 2^k elements and does several stages to them.
//!
//! All of them work on arrays whose length is a power of two, which is not smaller than the parts that they work on.

use crate::fuse::{Group, fuse};
use crate::networks::{self, Stage};
use pumice::kernel::{Block, Ix, Layout, Loops, Pull, Push, force_scalar};
use pumice::{Elt, Exp, Lift, Number};
use std::rc::Rc;

/// A step of a kernel: an array, from its elements in a block's memory.
pub type Step<T> = Box<dyn Fn(Pull<T>) -> Push<Block, T>>;

/// Whether bit `i` of an index is zero.
fn low_bit(i: u32, index: Ix) -> Exp<bool> {
    (index & 1i64.wrapping_shl(i)).eq(0)
}

/// The partner of an index in a stage.
fn partner(stage: Stage, index: Ix) -> Ix {
    index ^ i64::from(stage.mask())
}

/// The common form of `ilv1`, `vee1` and `ilv_vee1`: each element becomes `f` of itself and its partner, or `g` if it is the upper one.
pub fn pairwise1<T: Elt, U: Elt>(
    stage: Stage,
    f: impl Fn(T::Exp, T::Exp) -> U::Exp + 'static,
    g: impl Fn(T::Exp, T::Exp) -> U::Exp + 'static,
    xs: Pull<T>,
) -> Pull<U> {
    Pull::new(xs.len(), move |i| {
        let (l, r) = (xs.at(i), xs.at(partner(stage, i)));
        low_bit(stage.top(), i).select(f(l, r), g(l, r))
    })
}

/// The common form of `ilv2`, `vee2` and `ilv_vee2`: for each pair, `f` of both at the lower index and `g` of both at the upper one.
pub fn pairwise2<T: Elt, U: Elt>(
    stage: Stage,
    f: impl Fn(T::Exp, T::Exp) -> U::Exp + 'static,
    g: impl Fn(T::Exp, T::Exp) -> U::Exp + 'static,
    xs: Pull<T>,
) -> Push<Block, U> {
    xs.pairwise(stage.mask(), f, g)
}

macro_rules! combinators {
    ($($doc:literal $one:ident $two:ident ($($i:ident),*) $stage:ident;)*) => { $(
        #[doc = $doc]
        ///
        /// As a pull array: one index a thread.
        pub fn $one<T: Elt, U: Elt>(
            $($i: u32,)*
            f: impl Fn(T::Exp, T::Exp) -> U::Exp + 'static,
            g: impl Fn(T::Exp, T::Exp) -> U::Exp + 'static,
            xs: Pull<T>,
        ) -> Pull<U> {
            pairwise1(Stage::$stage($($i),*), f, g, xs)
        }

        #[doc = $doc]
        ///
        /// As a push array: two indices a thread.
        pub fn $two<T: Elt, U: Elt>(
            $($i: u32,)*
            f: impl Fn(T::Exp, T::Exp) -> U::Exp + 'static,
            g: impl Fn(T::Exp, T::Exp) -> U::Exp + 'static,
            xs: Pull<T>,
        ) -> Push<Block, U> {
            pairwise2(Stage::$stage($($i),*), f, g, xs)
        }
    )* };
}
combinators! {
    "`f` and `g` of elements that are 2^`i` apart." ilv1 ilv2 (i) ilv;
    "`f` and `g` of elements in mirrored places of parts of 2^(`i` + 1)." vee1 vee2 (i) vee;
    "`f` and `g` of elements in mirrored places of parts of 2^(`j` + 1), in each of 2^`i` interleaved arrays."
        ilv_vee1 ilv_vee2 (i, j) ilv_vee;
}

/// The stages of a group, with 2^k elements a thread: all are read, the stages happen in registers, and all are written.
pub fn in_registers<T: Elt>(
    group: Group,
    f: impl Fn(T::Exp, T::Exp) -> T::Exp + 'static,
    g: impl Fn(T::Exp, T::Exp) -> T::Exp + 'static,
    xs: Pull<T>,
) -> Push<Block, T> {
    let all = u64::from(group.cosets()) * u64::from(group.elements()) == xs.len() as u64;
    let grouped = Push::new(xs.len(), move |write| {
        Block::for_each(i64::from(group.cosets()).into(), &|coset| {
            let base = base_of(&group, coset);
            let index = |element: u32| {
                let offset = i64::from(group.offset(element));
                // A sum says more than an exclusive or: neighbours are seen, and addresses have constant offsets.
                if group.adds(element) { base + offset } else { base ^ offset }
            };
            let mut elements: Vec<T::Exp> = (0..group.elements()).map(|k| xs.at(index(k))).collect();
            group.apply(&mut elements, |a, b| (f(*a, *b), g(*a, *b)));
            let elements = computed(elements);
            for (k, element) in elements.into_iter().enumerate() {
                write(index(k as u32), element);
            }
        });
    });
    if !all {
        return grouped;
    }
    // SAFETY: the cosets of a group divide the indices among them, so as many different ones are written as there are
    // elements; they are in the array, or a check fails.
    unsafe { grouped.assume_complete() }
}

/// Values that are computed now, before anything is done with the first of them.
pub(crate) fn computed<L: Lift>(values: Vec<L>) -> Vec<L> {
    let mut all = Vec::with_capacity(values.len());
    for value in values {
        all.push(force_scalar(value));
    }
    all
}

/// The base of a coset.
fn base_of(group: &Group, coset: Ix) -> Ix {
    let all = group.cosets() - 1;
    let moved = |(bits, distance): (u32, i32)| {
        let here = if bits == all { coset } else { coset & i64::from(bits) };
        if distance < 0 { here >> i64::from(-distance) } else { here << i64::from(distance) }
    };
    let base = group.moves().into_iter().map(moved).reduce(|base, part| base + part);
    force_scalar(base.unwrap_or(Exp::from(0)))
}

/// `compose`: steps one after the other, each reading the output of the one before it in the block's memory.
pub fn compose<T: Elt>(steps: Vec<Step<T>>, layout: Layout, xs: Pull<T>) -> Push<Block, T> {
    let mut steps = steps.into_iter();
    let Some(first) = steps.next() else { return xs.push() };
    steps.fold(first(xs), |before, step| step(before.force_as(layout)))
}

/// Elements that a thread writes in one access if they are neighbours, as a power of two.
const WIDE: u32 = 2;

/// Returns how many of the last stages should be a group of their own: those among a few neighbours, which each thread then writes in
/// one access, next to those of the next thread. With more neighbours to a thread, the accesses of a warp would lie apart,
/// which costs more than another way through shared memory.
fn tail(stages: &[Stage], n: u32, k: u32) -> usize {
    if k <= WIDE || n <= k {
        return 0;
    }
    stages.iter().rev().take_while(|stage| stage.top() < WIDE).count()
}

/// Division of a network's work among the threads of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Threading {
    /// One thread per element: pull arrays.
    One,
    /// One thread per pair: push arrays.
    Two,
    /// One thread per 2^k elements, which does as many stages at once as stay within those elements.
    Registers(u32),
}

impl Threading {
    /// Threads of a block that works on 2^`n` elements.
    pub fn threads(self, n: u32) -> u32 {
        match self {
            Threading::One => 1 << n,
            Threading::Two => 1 << n.saturating_sub(1),
            Threading::Registers(k) => 1 << n.saturating_sub(k),
        }
    }

    /// The steps of a network on 2^`n` elements.
    pub fn steps<T: Number + Elt<Exp = Exp<T>>>(self, stages: &[Stage], n: u32) -> Vec<Step<T>> {
        fn min<T: Number>(a: Exp<T>, b: Exp<T>) -> Exp<T> {
            a.min(b)
        }
        fn max<T: Number>(a: Exp<T>, b: Exp<T>) -> Exp<T> {
            a.max(b)
        }
        let one = |stage: Stage| -> Step<T> { Box::new(move |xs| pairwise1(stage, min, max, xs).push()) };
        let two = |stage: Stage| -> Step<T> { Box::new(move |xs| pairwise2(stage, min, max, xs)) };
        let several =
            |group: Group| -> Step<T> { Box::new(move |xs| in_registers(group.clone(), min, max, xs)) };
        match self {
            Threading::One => stages.iter().copied().map(one).collect(),
            Threading::Two => stages.iter().copied().map(two).collect(),
            Threading::Registers(k) => {
                let (first, last) = stages.split_at(stages.len() - tail(stages, n, k));
                fuse(first, n, k).into_iter().chain(fuse(last, n, k)).map(several).collect()
            }
        }
    }

    /// Returns the layout in memory of arrays that are forced between the steps.
    pub fn layout(self) -> Layout {
        match self {
            Threading::One | Threading::Two => Layout::Plain,
            Threading::Registers(_) => Layout::Padded,
        }
    }

    /// A network on blocks of 2^`n` elements, as a function of a block.
    pub fn network<T: Number + Elt<Exp = Exp<T>>>(
        self,
        stages: Vec<Stage>,
        n: u32,
    ) -> impl Fn(Pull<T>) -> Push<Block, T> + Clone + 'static {
        let stages: Rc<[Stage]> = stages.into();
        move |xs| compose(self.steps(&stages, n), self.layout(), xs)
    }
}

macro_rules! paper {
    ($($name:ident $network:ident $threading:expr, $doc:literal;)*) => { $(
        #[doc = $doc]
        /// On 2^`n` elements, for [`compose`].
        pub fn $name<T: Number + Elt<Exp = Exp<T>>>(n: u32) -> Vec<Step<T>> {
            $threading.steps(&networks::$network(n), n)
        }
    )* };
}
paper! {
    bmerge bmerge Threading::One, "Batcher's bitonic merger, one index a thread.";
    bmerge2 bmerge Threading::Two, "Batcher's bitonic merger, two indices a thread.";
    tmerge tmerge Threading::One, "The merger of two sorted halves, one index a thread.";
    tmerge2 tmerge Threading::Two, "The merger of two sorted halves, two indices a thread.";
    tsort1 tsort Threading::One, "The tree of `tmerge`.";
    tsort2 tsort Threading::Two, "The tree of `tmerge2`.";
    bpmerge2 bpmerge Threading::Two, "The balanced periodic merger, two indices a thread.";
    vsort1 vsort Threading::One, "The tree of balanced periodic mergers, one index a thread.";
    vsort2 vsort Threading::Two, "The tree of balanced periodic mergers, two indices a thread: the paper's `vsort`.";
    vsort vsort Threading::Registers(4), "The tree of balanced periodic mergers, sixteen indices a thread.";
}
