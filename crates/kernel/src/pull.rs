//! Pull arrays: a length and a function from index to element. Nothing is computed until somebody asks.

use crate::Push;
use crate::builder::{self, named};
use crate::item::{Form, Item, Ix, Loops, Storable};
use pumice_program::MemoryId;
use pumice_scalar::{Exp, Op, ScalarType, Term};
use std::rc::Rc;

/// A length: `usize` when it is known while the kernel is built, [`Ix`] when it is known on the device.
pub trait Size: Copy + 'static {
    /// The length as an expression.
    fn to_ix(self) -> Ix;
    /// The smaller of the two.
    fn least(self, other: Self) -> Self;
}

impl Size for usize {
    fn to_ix(self) -> Ix {
        Exp::from(self as i64)
    }
    fn least(self, other: usize) -> usize {
        self.min(other)
    }
}

impl Size for Ix {
    fn to_ix(self) -> Ix {
        self
    }
    fn least(self, other: Ix) -> Ix {
        self.min(other)
    }
}

/// A pull array.
///
/// ```
/// use pumice_kernel::Pull;
/// let squares = Pull::<i64>::new(10, |i| i * i);
/// let (low, high) = squares.halve();
/// let sums = low.zip_with(high, |a, b| a + b);
/// assert_eq!(sums.len(), 5);
/// ```
pub struct Pull<T: Item, S: Size = usize> {
    length: S,
    at: Rc<dyn Fn(Ix) -> T::Form>,
}

impl<T: Item, S: Size> Clone for Pull<T, S> {
    fn clone(&self) -> Self {
        Pull { length: self.length, at: self.at.clone() }
    }
}

impl<T: Item, S: Size> Pull<T, S> {
    /// The array with this length and these elements.
    pub fn new(length: S, at: impl Fn(Ix) -> T::Form + 'static) -> Self {
        Pull { length, at: Rc::new(at) }
    }

    /// The length.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> S {
        self.length
    }

    /// The element at an index.
    pub fn at(&self, index: impl Into<Ix>) -> T::Form {
        (self.at)(index.into())
    }

    /// A function of every element.
    pub fn map<F: Form>(self, f: impl Fn(T::Form) -> F + 'static) -> Pull<F::Item, S> {
        Pull::new(self.length, move |i| f((self.at)(i)))
    }

    /// A function of two arrays' elements, as far as both go.
    pub fn zip_with<U: Item, F: Form>(
        self,
        other: Pull<U, S>,
        f: impl Fn(T::Form, U::Form) -> F + 'static,
    ) -> Pull<F::Item, S> {
        let length = self.length.least(other.length);
        Pull::new(length, move |i| f((self.at)(i), (other.at)(i)))
    }

    /// Other indices into the same elements.
    pub fn index_map<R: Size>(self, length: R, f: impl Fn(Ix) -> Ix + 'static) -> Pull<T, R> {
        Pull::new(length, move |i| (self.at)(f(i)))
    }
}

impl<T: Item> Pull<T> {
    /// The first half and the rest.
    pub fn halve(self) -> (Self, Self) {
        let (half, rest) = (self.length / 2, self.length - self.length / 2);
        let low = self.clone().index_map(half, |i| i);
        (low, self.index_map(rest, move |i| i + half as i64))
    }

    /// The elements with even and those with odd indices.
    pub fn even_odds(self) -> (Self, Self) {
        let (odd, even) = (self.length / 2, self.length - self.length / 2);
        let evens = self.clone().index_map(even, |i| i * 2);
        (evens, self.index_map(odd, |i| i * 2 + 1))
    }

    /// Parts of `size` elements; elements that do not fill a part are left out.
    pub fn split_up(self, size: usize) -> Pull<Pull<T>> {
        let parts = self.length.checked_div(size).unwrap_or(0);
        Pull::new(parts, move |part| self.clone().index_map(size, move |i| part * size as i64 + i))
    }
}

impl<T: Item> Pull<T, Ix> {
    /// Parts of `size` elements, the last one shorter if need be.
    pub fn tiles(self, size: usize) -> Pull<Pull<T, Ix>, Ix> {
        let size = size.max(1) as i64;
        let count = (self.length + (size - 1)) / size;
        Pull::new(count, move |tile| {
            let start = named(tile * size, "start");
            let length = named((self.length - start).min(size), "length");
            self.clone().index_map(length, move |i| named(start + i, "i"))
        })
    }
}

impl<T: Storable, S: Size> Pull<T, S> {
    /// The array in memory.
    pub fn from_memory(length: S, cells: Vec<(MemoryId, ScalarType)>) -> Self {
        Pull::new(length, move |i| {
            T::from_terms(cells.iter().map(|(memory, ty)| builder::read(*memory, *ty, i.term())).collect())
        })
    }

    /// The elements, written in a loop at a level.
    pub fn push<L: Loops>(self) -> Push<L, T, S> {
        Push::new(self.length, move |write| {
            L::for_each(self.length.to_ix(), &|i| write(i, (self.at)(i)));
        })
    }

    /// Reduces in order, in one thread, starting from `initial`.
    pub fn seq_reduce(self, initial: T::Form, f: impl Fn(T::Form, T::Form) -> T::Form) -> T::Form {
        seq_for::<T>(self.length.to_ix(), 1, initial, |accumulator, i| f(accumulator, (self.at)(i)))
    }

    /// One more element, if there is one: `f(accumulator, element)` where the index is in the array.
    pub fn reduce_if_within(
        &self,
        index: Ix,
        accumulator: T::Form,
        f: impl Fn(T::Form, T::Form) -> T::Form,
    ) -> T::Form {
        let within = index.lt(self.length.to_ix());
        match within.term().constant() {
            Some(known) if known.is_true() => f(accumulator, (self.at)(index)),
            Some(_) => accumulator,
            None => {
                let element = builder::guarded(|| (self.at)(index));
                let more = T::terms(&f(accumulator.clone(), element));
                T::from_terms(pumice_scalar::branch(within.term(), &more, &T::terms(&accumulator)))
            }
        }
    }
}

/// Steps through the indices 0, `step`, 2 `step`, … below `end` in one thread, carrying a value along. Without a loop if
/// there are only a few steps.
pub fn seq_for<T: Storable>(
    end: Ix,
    step: i64,
    initial: T::Form,
    body: impl Fn(T::Form, Ix) -> T::Form,
) -> T::Form {
    const FEW: i64 = 16;
    let step = step.max(1);
    if let Some(known) = end.term().integer()
        && known <= FEW * step
    {
        let indices = (0..known).step_by(step as usize);
        return indices.fold(initial, |accumulator, index| body(accumulator, index.into()));
    }
    let whole = |value: i64| Exp::<i64>::from(value).term();
    let results = builder::sequential(
        whole(0)..end.term(),
        whole(step),
        &T::terms(&initial),
        |index, carried: &[Term]| T::terms(&body(T::from_terms(carried.to_vec()), Exp::from_term(index))),
    );
    T::from_terms(results)
}

/// Division of indices by a length that is known not to be zero where it is computed.
pub fn quotient(a: Ix, b: Ix) -> Ix {
    Exp::from_term(a.term().binary(Op::Div, b.term()))
}

/// The remainder that goes with [`quotient`].
pub fn remainder(a: Ix, b: Ix) -> Ix {
    Exp::from_term(a.term().binary(Op::Rem, b.term()))
}
