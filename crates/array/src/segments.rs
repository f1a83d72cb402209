//! Folds and scans of segments: stretches of a vector, one after the other, of any lengths and also of none.
//!
//! A scan of segments is one scan of pairs (whether a segment begins, element), whose operator does not combine across a
//! beginning. A fold by offsets goes through each segment by itself.

use crate::acc::{Acc, lifted, nullary};
use crate::create::numbered;
use crate::data::Vector;
use crate::expanding::{present, stretch_within};
use crate::operations::{Generate, Gives};
use crate::shape::Dim1;
use pumice_scalar::{Elt, Exp, FailureKind, Function, IntoExp, OptionExp, Place, Site, cond, some};

/// The segments of a vector.
///
/// ```
/// use pumice::*;
/// let same = [
///     Segments::Offsets(use_(&[0i64, 1, 3])),
///     Segments::Lengths(use_(&[1i64, 2])),
///     Segments::Heads(use_(&[true, true, false])),
/// ];
/// for segments in same {
///     assert_eq!(run(use_(&[5, 6, 7]).fold_segments(segments, 0, |a, b| a + b))?.to_vec()?, [5, 13]);
/// }
/// # Ok::<(), pumice::Error>(())
/// ```
#[derive(Clone, Debug)]
pub enum Segments {
    /// By where each begins, and where the last one ends: one number more than there are segments, none smaller than the one
    /// before it.
    Offsets(Acc<Vector<i64>>),
    /// By the length of each.
    Lengths(Acc<Vector<i64>>),
    /// By a flag for each element, whether a segment begins with it. One begins with the first in any case, and none is empty.
    Heads(Acc<Vector<bool>>),
}

/// Start of a segment, and the number of its elements.
type Stretch = (Exp<i64>, Exp<i64>);

impl Segments {
    /// The offsets, or the flags if those are given.
    fn offsets(self, place: Place) -> Result<Acc<Vector<i64>>, Acc<Vector<bool>>> {
        match self {
            Segments::Offsets(offsets) => Ok(offsets),
            Segments::Lengths(lengths) => {
                Ok(lengths.scanned((Gives::Extended, false), Some(Exp::from(0)), |a, b| a + b, place))
            }
            Segments::Heads(heads) => Err(heads),
        }
    }

    /// A flag for each of so many elements.
    pub(crate) fn heads(self, count: Exp<i64>, place: Place) -> Acc<Vector<bool>> {
        let offsets = match self.offsets(place) {
            Ok(offsets) => offsets,
            Err(heads) => return heads,
        };
        // Where the last one ends, and where empty ones behind it begin, there is no element.
        let target =
            move |_, offset: Exp<i64>| (OptionExp::present_if(offset.lt(count), offset), Exp::from(true));
        let none = Generate {
            shape: nullary(|| vec![count.term()]),
            element: lifted(|_: Exp<i64>| Exp::from(false)),
        };
        let none = Acc::<Vector<bool>>::new(none, Vec::new(), place);
        offsets.combined::<Dim1, bool>(|new, _| new, none, target, place)
    }
}

impl<T: Elt> Acc<Vector<T>> {
    /// Reduces each segment with an associative operator, which need not commute. `initial` stands before the elements of
    /// every segment; one that is empty gives just that. Offsets that are not in the vector are an error that names this place.
    ///
    /// ```
    /// use pumice::*;
    /// let xs = use_(&[1, 2, 3, 4]);
    /// let lengths = Segments::Lengths(use_(&[3, 0, 1]));
    /// assert_eq!(run(xs.clone().fold_segments(lengths, 0, |a, b| a + b))?.to_vec()?, [6, 0, 4]);
    /// let heads = Segments::Heads(use_(&[true, false, true, false]));
    /// assert_eq!(run(xs.fold_segments(heads, 0, |a, b| a + b))?.to_vec()?, [3, 7]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    #[track_caller]
    pub fn fold_segments(
        self,
        segments: Segments,
        initial: impl IntoExp<T>,
        f: impl Fn(T::Exp, T::Exp) -> T::Exp,
    ) -> Acc<Vector<T>> {
        let place = Place::caller("fold_segments");
        let initial = initial.into_exp();
        let offsets = match segments.offsets(place) {
            Ok(offsets) => offsets,
            Err(heads) => {
                return self.fold_heads(&heads, &f, place).mapped(|sum| f(initial, sum), place);
            }
        };
        self.fold_stretches(&offsets, |x, _| x, initial, f, place)
    }

    /// Reduces the values of a function of the elements of each segment and their numbers there.
    pub(crate) fn fold_stretches<U: Elt>(
        &self,
        offsets: &Acc<Vector<i64>>,
        get: impl FnOnce(T::Exp, Exp<i64>) -> U::Exp,
        initial: U::Exp,
        f: impl FnOnce(U::Exp, U::Exp) -> U::Exp,
        place: Place,
    ) -> Acc<Vector<U>> {
        let (stretches, most) = self.stretches(offsets, place);
        let get = |(start, _): Stretch, number: Exp<i64>| {
            get(self.element(&[(start + number).term()], None), number)
        };
        stretches.reduced(|(_, size)| size, get, initial, f, Some(most), place)
    }

    /// Like [`Acc::fold_stretches`], without an initial value: a segment without elements is an error.
    pub(crate) fn fold1_stretches<U: Elt>(
        &self,
        offsets: &Acc<Vector<i64>>,
        get: impl FnOnce(T::Exp, Exp<i64>) -> U::Exp,
        f: impl FnOnce(U::Exp, U::Exp) -> U::Exp,
        place: Place,
    ) -> Acc<Vector<U>> {
        let reduced = self.fold_stretches_some::<U>(offsets, get, f, place);
        reduced.mapped(|value| present(value, place), place)
    }

    /// Like [`Acc::fold_stretches`], without an initial value: a segment without elements gives `None`.
    pub(crate) fn fold_stretches_some<U: Elt>(
        &self,
        offsets: &Acc<Vector<i64>>,
        get: impl FnOnce(T::Exp, Exp<i64>) -> U::Exp,
        f: impl FnOnce(U::Exp, U::Exp) -> U::Exp,
        place: Place,
    ) -> Acc<Vector<Option<U>>> {
        let (stretches, most) = self.stretches(offsets, place);
        let get = |(start, _): Stretch, number: Exp<i64>| {
            some(get(self.element(&[(start + number).term()], None), number))
        };
        stretches.reduced_some(|(_, size)| size, get, f, Some(most), place)
    }

    /// Returns the start and length of each segment, all of whose elements are in the vector; and an upper bound of the total length of
    /// all segments.
    fn stretches(&self, offsets: &Acc<Vector<i64>>, place: Place) -> (Acc<Vector<(i64, i64)>>, Function) {
        let (site, length) = (Site { place, kind: FailureKind::OutOfBounds }, self.size());
        let segment = |number: Exp<i64>| {
            let at = |number: Exp<i64>| offsets.element(&[number.term()], Some(site));
            stretch_within((at(number), at(number + 1)), length, place)
        };
        (numbered(offsets.size() - 1, segment, place), nullary(|| vec![length.term()]))
    }

    /// The running results of reducing each segment from the left: every element combined with those before it in its
    /// segment.
    ///
    /// ```
    /// use pumice::*;
    /// let sums = use_(&[1, 2, 3, 4]).scan_segments(Segments::Offsets(use_(&[0i64, 1, 1, 4])), |a, b| a + b);
    /// assert_eq!(run(sums)?.to_vec()?, [1, 2, 5, 9]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    #[track_caller]
    pub fn scan_segments(
        self,
        segments: Segments,
        f: impl FnOnce(T::Exp, T::Exp) -> T::Exp,
    ) -> Acc<Vector<T>> {
        let place = Place::caller("scan_segments");
        self.scan_heads(&segments.heads(self.size(), place), f, place)
    }

    /// Like [`Acc::scan_segments`], but exclusive: each element becomes `initial` combined with all before it in its segment.
    ///
    /// ```
    /// use pumice::*;
    /// let lengths = Segments::Lengths(use_(&[3i64, 1]));
    /// assert_eq!(run(use_(&[1, 2, 3, 4]).prescan_segments(lengths, 10, |a, b| a + b))?.to_vec()?, [10, 11, 13, 10]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    #[track_caller]
    pub fn prescan_segments(
        self,
        segments: Segments,
        initial: impl IntoExp<T>,
        f: impl Fn(T::Exp, T::Exp) -> T::Exp,
    ) -> Acc<Vector<T>> {
        let (place, initial) = (Place::caller("prescan_segments"), initial.into_exp());
        let heads = segments.heads(self.size(), place);
        let scanned = self.scan_heads(&heads, &f, place);
        let before = |index: Exp<i64>, head: Exp<bool>| {
            let begins = head | index.eq(0);
            cond(begins, || initial, || f(initial, scanned.element(&[(index - 1).term()], None)))
        };
        heads.clone().with_index(before, place)
    }

    /// Folds each segment, none of which is empty: up to its last element, the one before the next begins.
    pub(crate) fn fold_heads(
        &self,
        heads: &Acc<Vector<bool>>,
        f: impl FnOnce(T::Exp, T::Exp) -> T::Exp,
        place: Place,
    ) -> Acc<Vector<T>> {
        let count = self.size();
        let sums = self.scan_heads(heads, f, place);
        let is_last = |index: Exp<i64>| {
            let next = index + 1;
            cond(next.lt(count), || heads.element(&[next.term()], None), || Exp::from(true))
        };
        let marked = sums.with_index(|index, sum| (is_last(index), sum), place);
        marked.kept(|(last, _)| last, place).mapped(|(_, sum)| sum, place)
    }

    pub(crate) fn scan_heads(
        &self,
        heads: &Acc<Vector<bool>>,
        f: impl FnOnce(T::Exp, T::Exp) -> T::Exp,
        place: Place,
    ) -> Acc<Vector<T>> {
        let pairs = heads.zipped(self, |head, x| (head, x), place);
        let combine = |(before, a): (Exp<bool>, T::Exp), (begins, b): (Exp<bool>, T::Exp)| {
            (before | begins, cond(begins, || b, || f(a, b)))
        };
        let scanned: Acc<Vector<(bool, T)>> = pairs.scanned((Gives::Inclusive, false), None, combine, place);
        scanned.mapped(|(_, sum)| sum, place)
    }
}
