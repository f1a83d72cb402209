//! Lengths: known while the kernel is built, or only on the device.

use crate::bounds::{MOST_ELEMENTS, area, natural, total};
use crate::builder::with;
use crate::item::{Ix, sealed};
use pumice_scalar::{Exp, Op};

/// A length that is known while the kernel is built; more than any array has is a mistake.
pub(crate) fn whole(length: usize) -> i64 {
    let known = i64::try_from(length).ok().filter(|length| *length <= MOST_ELEMENTS);
    known.unwrap_or_else(|| {
        with(|builder| builder.mistake(format!("a length of {length}, which no array has")));
        MOST_ELEMENTS
    })
}

/// The side of a square that is known while the kernel is built, of one at least.
pub(crate) fn side(length: usize) -> i64 {
    const LONGEST: usize = 1 << 30;
    if length > LONGEST {
        with(|builder| builder.mistake(format!("a tile with {length} elements on a side")));
    }
    length.clamp(1, LONGEST) as i64
}

/// A length: `usize` when it is known while the kernel is built, [`Ix`] when it is known on the device. What holds for
/// both is written once over this. An array whose length turns out to be negative on the device has no elements.
///
/// ```
/// use pumice::kernel::{Item, Pull, Size};
/// // Of arrays whose length is known now, and of others.
/// fn without_the_first<T: Item, S: Size>(xs: Pull<T, S>) -> S {
///     xs.len().minus(S::of(1))
/// }
/// assert_eq!(without_the_first(Pull::<i64>::new(10, |i| i)), 9);
/// ```
pub trait Size: sealed::Size + Copy + 'static {
    /// A length that is known now.
    fn of(length: usize) -> Self;
    /// The length as an expression.
    fn to_ix(self) -> Ix;
    /// The length, if it is known now.
    fn known(self) -> Option<usize>;
    /// The length as data.
    fn to_length(self) -> Length;
    /// The sum, or the largest length if that is smaller.
    fn plus(self, other: Self) -> Self;
    /// The difference; of lengths of which the second is not larger.
    fn minus(self, other: Self) -> Self;
    /// A multiple, or nearly the largest length if that is smaller.
    fn times(self, factor: usize) -> Self;
    /// The number of whole parts of this size; none of size zero.
    fn parts(self, size: usize) -> Self;
    /// The smaller of the two.
    fn least(self, other: Self) -> Self;
    /// The length, or none if it is negative.
    fn natural(self) -> Self;
    /// The length as `check` returns it; one that is known now stays as it is.
    fn checked(self, check: impl FnOnce(Ix) -> Ix) -> Self;
}

impl Size for usize {
    fn of(length: usize) -> usize {
        length
    }
    fn to_ix(self) -> Ix {
        Exp::from(whole(self))
    }
    fn known(self) -> Option<usize> {
        Some(self)
    }
    fn to_length(self) -> Length {
        Length::Known(self)
    }
    fn plus(self, other: usize) -> usize {
        self.saturating_add(other)
    }
    fn minus(self, other: usize) -> usize {
        self.saturating_sub(other)
    }
    fn times(self, factor: usize) -> usize {
        self.saturating_mul(factor)
    }
    fn parts(self, size: usize) -> usize {
        self.checked_div(size).unwrap_or(0)
    }
    fn least(self, other: usize) -> usize {
        self.min(other)
    }
    fn natural(self) -> usize {
        self
    }
    fn checked(self, check: impl FnOnce(Ix) -> Ix) -> usize {
        check(self.to_ix());
        self
    }
}

impl Size for Ix {
    fn of(length: usize) -> Ix {
        Exp::from(whole(length))
    }
    fn to_ix(self) -> Ix {
        self
    }
    fn known(self) -> Option<usize> {
        self.term().integer().and_then(|length| usize::try_from(length).ok())
    }
    fn to_length(self) -> Length {
        Length::Device(self)
    }
    fn plus(self, other: Ix) -> Ix {
        total(self, other)
    }
    fn minus(self, other: Ix) -> Ix {
        self - other
    }
    fn times(self, factor: usize) -> Ix {
        area(self, Exp::from(whole(factor)))
    }
    fn parts(self, size: usize) -> Ix {
        if size == 0 { Exp::from(0) } else { self / whole(size) }
    }
    fn least(self, other: Ix) -> Ix {
        self.min(other)
    }
    fn natural(self) -> Ix {
        natural(self)
    }
    fn checked(self, check: impl FnOnce(Ix) -> Ix) -> Ix {
        check(self)
    }
}

/// A length as data: one that is known while the kernel is built, or one that is known on the device. What front ends use that
/// learn only when a kernel is built which of the two it is.
///
/// ```
/// use pumice::kernel::{Length, Pull, Size};
/// let numbers = Pull::<i64, Length>::new(Length::Known(10), |i| i);
/// assert_eq!(numbers.len().known(), Some(10));
/// ```
#[derive(Clone, Copy, Debug)]
pub enum Length {
    /// Known while the kernel is built.
    Known(usize),
    /// Known on the device.
    Device(Ix),
}

impl Length {
    /// The length that two of them make, by one function or the other.
    fn both(
        self,
        other: Length,
        known: impl FnOnce(usize, usize) -> usize,
        device: impl FnOnce(Ix, Ix) -> Ix,
    ) -> Length {
        match (self, other) {
            (Length::Known(a), Length::Known(b)) => Length::Known(known(a, b)),
            (a, b) => Length::Device(device(a.to_ix(), b.to_ix())),
        }
    }

    /// The length that this one makes, by one function or the other.
    fn one(self, known: impl FnOnce(usize) -> usize, device: impl FnOnce(Ix) -> Ix) -> Length {
        match self {
            Length::Known(length) => Length::Known(known(length)),
            Length::Device(length) => Length::Device(device(length)),
        }
    }
}

impl Size for Length {
    fn of(length: usize) -> Length {
        Length::Known(length)
    }
    fn to_ix(self) -> Ix {
        match self {
            Length::Known(length) => length.to_ix(),
            Length::Device(length) => length,
        }
    }
    fn known(self) -> Option<usize> {
        match self {
            Length::Known(length) => Some(length),
            Length::Device(length) => length.known(),
        }
    }
    fn to_length(self) -> Length {
        self
    }
    fn plus(self, other: Length) -> Length {
        self.both(other, Size::plus, Size::plus)
    }
    fn minus(self, other: Length) -> Length {
        self.both(other, Size::minus, Size::minus)
    }
    fn times(self, factor: usize) -> Length {
        self.one(|length| length.times(factor), |length| length.times(factor))
    }
    fn parts(self, size: usize) -> Length {
        self.one(|length| length.parts(size), |length| length.parts(size))
    }
    fn least(self, other: Length) -> Length {
        self.both(other, Size::least, Size::least)
    }
    fn natural(self) -> Length {
        self.one(Size::natural, Size::natural)
    }
    fn checked(self, check: impl FnOnce(Ix) -> Ix) -> Length {
        match self {
            Length::Known(length) => Length::Known(length.checked(check)),
            Length::Device(length) => Length::Device(check(length)),
        }
    }
}

/// A length that is known while the kernel is built.
///
/// ```
/// use pumice::kernel::{Forces, Pull, Push, StaticLength, Storable};
/// // Memory is allocated while the kernel is built, so the length is known then.
/// fn stored<L: Forces, T: Storable, S: StaticLength>(xs: Push<L, T, S>) -> Pull<T, S> {
///     xs.force()
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "the length of this array is known only on the device",
    label = "memory for it needs a length that is known while the kernel is built",
    note = "write `force_within(capacity)`, with the most elements that it can have"
)]
pub trait StaticLength: Size {
    /// The length.
    fn now(self) -> usize;
}

impl StaticLength for usize {
    fn now(self) -> usize {
        self
    }
}

impl StaticLength for Length {
    fn now(self) -> usize {
        self.known().unwrap_or_else(|| {
            with(|builder| {
                builder.mistake(
                    "the length of this array is known only on the device, and memory for it needs one that is known while \
                     the kernel is built: write `force_within(capacity)`, with the most elements that it can have",
                );
            });
            0
        })
    }
}

/// Limits how many neighbours a thread takes together, to one at least: they are written out one by one.
pub(crate) fn group_size(items: usize) -> usize {
    const MOST: usize = 1 << 10;
    if items > MOST {
        with(|builder| builder.mistake(format!("groups of {items} elements, which is more than {MOST}")));
    }
    items.clamp(1, MOST)
}

/// A value that can be given as a length: a `usize` where lengths are known while the kernel is built, an `i64` or an [`Ix`] where
/// they are known on the device.
///
/// ```
/// use pumice::kernel::{IntoSize, Ix, Pull};
/// fn first(xs: Pull<f32, Ix>, count: impl IntoSize<Ix>) -> Pull<f32, Ix> {
///     xs.take(count)
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a length here",
    note = "an array whose length is known while the kernel is built takes a `usize`; one whose length is known on the \
            device takes an `i64` or an `Ix`"
)]
pub trait IntoSize<S: Size> {
    /// The length.
    fn into_size(self) -> S;
}

impl<S: Size> IntoSize<S> for S {
    fn into_size(self) -> S {
        self
    }
}

impl IntoSize<Length> for usize {
    fn into_size(self) -> Length {
        Length::Known(self)
    }
}

impl IntoSize<Length> for Ix {
    fn into_size(self) -> Length {
        Length::Device(self)
    }
}

impl IntoSize<Ix> for i64 {
    fn into_size(self) -> Ix {
        Exp::from(self)
    }
}

/// Division of indices by a length that is known not to be zero where it is computed.
///
/// ```
/// use pumice::kernel::quotient;
/// assert_eq!(quotient(7.into(), 2.into()).term().integer(), Some(3));
/// ```
pub fn quotient(a: Ix, b: Ix) -> Ix {
    Exp::from_term(a.term().binary(Op::Div, b.term()))
}

/// The remainder that goes with [`quotient`].
///
/// ```
/// use pumice::kernel::remainder;
/// assert_eq!(remainder(7.into(), 2.into()).term().integer(), Some(1));
/// ```
pub fn remainder(a: Ix, b: Ix) -> Ix {
    Exp::from_term(a.term().binary(Op::Rem, b.term()))
}

/// Returns the number of parts of a size that hold so many: [`parts_for`] of numbers that are known.
pub(crate) fn divide_rounding_up(length: i64, size: i64) -> i64 {
    (length + size - 1) / size
}

/// Returns the number of parts of `size` elements that hold `length`, the last one shorter if need be.
///
/// ```
/// use pumice::kernel::parts_for;
/// assert_eq!(parts_for(7.into(), 2).term().integer(), Some(4));
/// ```
pub fn parts_for(length: Ix, size: usize) -> Ix {
    let size = whole(size).max(1);
    (length + (size - 1)) / size
}
