//! Rows of different lengths: elements one after the other, and where each row begins. [`AccRagged`] in programs, [`Ragged`] on
//! the host. Operations on rows are in `rows.rs`.

use crate::acc::Acc;
use crate::comprehension::Rows;
use crate::create::use_;
use crate::data::Vector;
use crate::error::Error;
use crate::operations::Gives;
use pumice_scalar::{Elt, Exp, FailureKind, Place, Site};
use std::ops::Index;
use std::panic::Location;

/// Rows of different lengths, as a value of the host.
///
/// ```
/// use pumice::prelude::*;
/// let triangle = pumice::run(comp![[i * j | j <- 0..i] | i <- 0..4])?;
/// assert_eq!(triangle.to_vecs(), [vec![], vec![0], vec![0, 2], vec![0, 3, 6]]);
/// assert_eq!((triangle.len(), &triangle[2]), (4, &[0, 2][..]));
/// # Ok::<(), pumice::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Ragged<T> {
    values: Vec<T>,
    /// Start of each row, and end of the last one: at least one number, none smaller than the one before it.
    offsets: Vec<usize>,
}

impl<T> Ragged<T> {
    /// The rows of these elements that begin at all offsets but the last, which is where the last one ends. Fails if the offsets
    /// do not begin with 0, fall, or end elsewhere than the elements.
    ///
    /// ```
    /// use pumice::Ragged;
    /// let rows = Ragged::new(vec!['a', 'b', 'c'], vec![0, 1, 1, 3])?;
    /// assert_eq!(rows.to_vecs(), [vec!['a'], vec![], vec!['b', 'c']]);
    /// assert!(Ragged::new(vec![1, 2], vec![0, 3]).is_err());
    /// # Ok::<(), pumice::Error>(())
    /// ```
    #[track_caller]
    pub fn new(values: Vec<T>, offsets: Vec<usize>) -> Result<Ragged<T>, Error> {
        let fits =
            offsets.first() == Some(&0) && offsets.is_sorted() && offsets.last() == Some(&values.len());
        match fits {
            true => Ok(Ragged { values, offsets }),
            false => Err(Error::misfit(
                "Ragged::new",
                Location::caller(),
                format!(
                    "offsets of rows begin with 0, do not fall, and end with the number of elements, which is {}",
                    values.len()
                ),
            )),
        }
    }

    /// The rows of these elements by where each begins and where the last one ends, as Arrow's `LargeList` has them: one
    /// number more than there are rows, 64 bits each. As in Arrow, the first one may be larger than 0 and the last one smaller
    /// than the number of elements; elements outside of them are in no row and are left out.
    ///
    /// Fails if there is no offset, if offsets fall or are negative, or if the last one is beyond the elements.
    ///
    /// ```
    /// use pumice::Ragged;
    /// let rows = Ragged::from_parts(vec![1, 3, 3, 4], vec![9, 1, 2, 3, 9])?;
    /// assert_eq!(rows.to_vecs(), [vec![1, 2], vec![], vec![3]]);
    /// assert!(Ragged::from_parts(vec![0, 2, 1], vec![1, 2]).is_err());
    /// # Ok::<(), pumice::Error>(())
    /// ```
    #[track_caller]
    pub fn from_parts(offsets: Vec<i64>, mut values: Vec<T>) -> Result<Ragged<T>, Error> {
        let count = values.len();
        let ends = offsets.iter().map(|offset| usize::try_from(*offset).ok()).collect::<Option<Vec<usize>>>();
        match ends.as_deref() {
            Some(ends @ [first, .., last] | ends @ [first @ last]) if ends.is_sorted() && *last <= count => {
                values.truncate(*last);
                values.drain(..*first);
                Ok(Ragged { values, offsets: ends.iter().map(|end| end - first).collect() })
            }
            _ => Err(Error::misfit(
                "Ragged::from_parts",
                Location::caller(),
                format!(
                    "offsets of rows are at least one, do not fall, and are between 0 and the number of elements, which is {count}"
                ),
            )),
        }
    }

    /// The offsets and the elements, as [`Ragged::from_parts`] takes them and Arrow's `LargeList` has them. The first offset is 0,
    /// and the last one is the number of elements.
    ///
    /// ```
    /// use pumice::Ragged;
    /// let rows = Ragged::from(vec![vec![1.5, 2.5], vec![], vec![3.5]]);
    /// assert_eq!(rows.into_parts(), (vec![0, 2, 2, 3], vec![1.5, 2.5, 3.5]));
    /// ```
    pub fn into_parts(self) -> (Vec<i64>, Vec<T>) {
        (self.signed_offsets(), self.values)
    }

    fn signed_offsets(&self) -> Vec<i64> {
        // A vector has at most as many elements as there are positive `i64`.
        self.offsets.iter().map(|offset| *offset as i64).collect()
    }

    /// The number of rows.
    ///
    /// ```
    /// assert_eq!(pumice::Ragged::from(vec![vec![1, 2], vec![], vec![3]]).len(), 3);
    /// ```
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Whether there is no row.
    ///
    /// ```
    /// use pumice::Ragged;
    /// assert!(Ragged::<i32>::from(vec![]).is_empty());
    /// assert!(!Ragged::<i32>::from(vec![vec![]]).is_empty());
    /// ```
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A row, if there is one with this number.
    ///
    /// ```
    /// let rows = pumice::Ragged::from(vec![vec![1, 2], vec![]]);
    /// assert_eq!((rows.row(0), rows.row(1), rows.row(2)), (Some(&[1, 2][..]), Some(&[][..]), None));
    /// ```
    pub fn row(&self, number: usize) -> Option<&[T]> {
        let range = *self.offsets.get(number)?..*self.offsets.get(number + 1)?;
        self.values.get(range)
    }

    /// Iterates over the rows in order, as `for row in &rows` does.
    ///
    /// ```
    /// use pumice::Ragged;
    /// let rows = Ragged::from(vec![vec![1, 2], vec![], vec![3]]);
    /// assert_eq!(rows.rows().map(|row| row.len()).collect::<Vec<_>>(), [2, 0, 1]);
    /// for row in &rows {
    ///     assert!(row.len() < 3);
    /// }
    /// ```
    pub fn rows(&self) -> RaggedRows<'_, T> {
        self.into_iter()
    }

    /// The elements of all rows, one after the other.
    ///
    /// ```
    /// assert_eq!(pumice::Ragged::from(vec![vec![1, 2], vec![], vec![3]]).values(), [1, 2, 3]);
    /// ```
    pub fn values(&self) -> &[T] {
        &self.values
    }

    /// Returns the start of each row, and the end of the last one.
    ///
    /// ```
    /// assert_eq!(pumice::Ragged::from(vec![vec![1, 2], vec![], vec![3]]).offsets(), [0, 2, 2, 3]);
    /// ```
    pub fn offsets(&self) -> &[usize] {
        &self.offsets
    }

    /// The rows as vectors.
    ///
    /// ```
    /// use pumice::prelude::*;
    /// let divisors = pumice::run(comp![[d | d <- 1..=n, n % d == 0] | n <- 4..6])?;
    /// assert_eq!(divisors.to_vecs(), [vec![1, 2, 4], vec![1, 5]]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    pub fn to_vecs(&self) -> Vec<Vec<T>>
    where
        T: Clone,
    {
        self.rows().map(<[T]>::to_vec).collect()
    }
}

impl<'a, T> IntoIterator for &'a Ragged<T> {
    type Item = &'a [T];
    type IntoIter = RaggedRows<'a, T>;
    fn into_iter(self) -> RaggedRows<'a, T> {
        RaggedRows { values: &self.values, ends: self.offsets.windows(2) }
    }
}

/// The rows of a [`Ragged`], in order.
///
/// ```
/// let rows = pumice::Ragged::from(vec![vec![1, 2], vec![]]);
/// let mut lengths = rows.rows().map(<[i32]>::len);
/// assert_eq!((lengths.next(), lengths.next(), lengths.next()), (Some(2), Some(0), None));
/// ```
#[derive(Clone, Debug)]
pub struct RaggedRows<'a, T> {
    values: &'a [T],
    ends: std::slice::Windows<'a, usize>,
}

impl<'a, T> RaggedRows<'a, T> {
    fn row(&self, ends: Option<&[usize]>) -> Option<&'a [T]> {
        match ends {
            Some(&[first, end]) => self.values.get(first..end),
            _ => None,
        }
    }
}

impl<'a, T> Iterator for RaggedRows<'a, T> {
    type Item = &'a [T];
    fn next(&mut self) -> Option<&'a [T]> {
        let ends = self.ends.next();
        self.row(ends)
    }
    fn size_hint(&self) -> (usize, Option<usize>) {
        self.ends.size_hint()
    }
}

impl<T> DoubleEndedIterator for RaggedRows<'_, T> {
    fn next_back(&mut self) -> Option<Self::Item> {
        let ends = self.ends.next_back();
        self.row(ends)
    }
}

impl<T> ExactSizeIterator for RaggedRows<'_, T> {}

impl<T, R: IntoIterator<Item = T>> FromIterator<R> for Ragged<T> {
    fn from_iter<I: IntoIterator<Item = R>>(rows: I) -> Ragged<T> {
        let (mut values, mut offsets) = (Vec::new(), vec![0]);
        for row in rows {
            values.extend(row);
            offsets.push(values.len());
        }
        Ragged { values, offsets }
    }
}

macro_rules! from_vectors {
    ($($from:ty [$($generics:tt)*]),*) => { $(
        impl<T: Clone $($generics)*> From<$from> for Ragged<T> {
            fn from(rows: $from) -> Ragged<T> {
                rows.iter().map(|row| row.iter().cloned()).collect()
            }
        }
    )* };
}
from_vectors! { Vec<Vec<T>> [], &Vec<Vec<T>> [], &[Vec<T>] [], &[Vec<T>; N] [, const N: usize] }

impl<T: Clone> From<&Ragged<T>> for Ragged<T> {
    fn from(rows: &Ragged<T>) -> Ragged<T> {
        rows.clone()
    }
}

/// Rows of different lengths that exist, as an input of a program: a [`Ragged`], or vectors of vectors.
///
/// ```
/// use pumice::*;
/// let rows = use_ragged(&[vec![3, 1], vec![], vec![2]]);
/// assert_eq!(run(rows.sum())?.to_vec()?, [4, 0, 2]);
/// # Ok::<(), pumice::Error>(())
/// ```
#[track_caller]
pub fn use_ragged<T: Elt>(rows: impl Into<Ragged<T>>) -> AccRagged<T> {
    rows.into().use_()
}

impl<T> Index<usize> for Ragged<T> {
    type Output = [T];
    fn index(&self, number: usize) -> &[T] {
        let count = self.len();
        self.row(number).unwrap_or_else(|| panic!("row {number} of {count}"))
    }
}

impl<T: Elt> Ragged<T> {
    /// The rows as an input of a program.
    ///
    /// ```
    /// use pumice::Ragged;
    /// let rows: Ragged<i64> = [vec![1, 2], vec![], vec![3]].into_iter().collect();
    /// assert_eq!(pumice::run(rows.use_().fold(0, |a, b| a + b))?.to_vec()?, [3, 0, 3]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    #[track_caller]
    pub fn use_(&self) -> AccRagged<T> {
        AccRagged { values: use_(&self.values), offsets: use_(self.signed_offsets()) }
    }

    /// The rows of vectors that a program gave.
    ///
    /// ```
    /// use pumice::{Ragged, Vector};
    /// let (values, offsets) = (Vector::from(vec![1, 2, 3]), Vector::from(vec![0i64, 1, 3]));
    /// assert_eq!(Ragged::from_vectors(&values, &offsets)?.to_vecs(), [vec![1], vec![2, 3]]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    pub fn from_vectors(values: &Vector<T>, offsets: &Vector<i64>) -> Result<Ragged<T>, Error> {
        let offsets =
            offsets.to_vec()?.into_iter().map(|offset| usize::try_from(offset).unwrap_or(usize::MAX));
        Ragged::new(values.to_vec()?, offsets.collect())
    }
}

/// Rows of different lengths in a program, such as the result of a comprehension of comprehensions.
///
/// Rows of one can be drawn from by number: `x <- rows[i]`.
///
/// ```
/// use pumice::prelude::*;
/// let divisors = comp![[d | d <- 1..=n, n % d == 0] | n <- 1..=6];
/// let numbers = comp![sum![d | d <- divisors[i]] | i <- 0..6];
/// assert_eq!(pumice::run(numbers)?.to_vec()?, [1, 3, 4, 7, 6, 12]);
/// # Ok::<(), pumice::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct AccRagged<T: Elt> {
    pub(crate) values: Acc<Vector<T>>,
    pub(crate) offsets: Acc<Vector<i64>>,
}

impl<T: Elt> AccRagged<T> {
    /// The rows of these elements that begin at all offsets but the last, which is where the last one ends. An offset that the
    /// vector does not have is an error where its row is looked at.
    ///
    /// ```
    /// use pumice::*;
    /// let rows = AccRagged::new(use_(&[1, 2, 3]), use_(&[0i64, 0, 2, 3]));
    /// assert_eq!(run(rows.sum())?.to_vec()?, [0, 3, 3]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    pub fn new(values: Acc<Vector<T>>, offsets: Acc<Vector<i64>>) -> AccRagged<T> {
        AccRagged { values, offsets }
    }

    /// The rows of these elements that have these lengths.
    ///
    /// ```
    /// use pumice::*;
    /// let rows = AccRagged::from_lengths(use_(&[1, 2, 3]), use_(&[1i64, 0, 2]));
    /// assert_eq!(run(rows)?.to_vecs(), [vec![1], vec![], vec![2, 3]]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    #[track_caller]
    pub fn from_lengths(values: Acc<Vector<T>>, lengths: Acc<Vector<i64>>) -> AccRagged<T> {
        Self::with_lengths(values, lengths, Place::caller("from_lengths"))
    }

    pub(crate) fn with_lengths(
        values: Acc<Vector<T>>,
        lengths: Acc<Vector<i64>>,
        place: Place,
    ) -> AccRagged<T> {
        let offsets = lengths.scanned((Gives::Extended, false), Some(Exp::from(0)), |a, b| a + b, place);
        AccRagged { values, offsets }
    }

    /// The rows of elements that stand beside the number of their row, which do not fall: `count` rows.
    pub(crate) fn of_numbered(count: Exp<i64>, pairs: Acc<Vector<(i64, T)>>, place: Place) -> AccRagged<T> {
        let lengths = pairs.clone().histogram_at(count, |(row, _)| row, place);
        let lengths = lengths.mapped(|length| length.cast::<i64>(), place);
        Self::with_lengths(pairs.mapped(|(_, x)| x, place), lengths, place)
    }

    /// The elements of all rows, one after the other.
    ///
    /// ```
    /// use pumice::*;
    /// let triangle = comp![[j | j <- 0..i] | i <- 0..4];
    /// assert_eq!(run(triangle.flatten())?.to_vec()?, [0, 0, 1, 0, 1, 2]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    pub fn flatten(&self) -> Acc<Vector<T>> {
        self.values.clone()
    }

    /// Returns the start of each row, and the end of the last one.
    ///
    /// ```
    /// use pumice::*;
    /// let triangle = comp![[j | j <- 0..i] | i <- 0..4];
    /// assert_eq!(run(triangle.offsets())?.to_vec()?, [0, 0, 1, 3, 6]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    pub fn offsets(&self) -> Acc<Vector<i64>> {
        self.offsets.clone()
    }

    /// The number of rows, as an expression.
    ///
    /// ```
    /// use pumice::*;
    /// let triangle = comp![[j | j <- 0..i] | i <- 0..4];
    /// assert_eq!(run(unit(triangle.size()))?.to_value()?, 4);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    pub fn size(&self) -> Exp<i64> {
        self.offsets.size() - 1
    }

    /// The length of each row.
    ///
    /// ```
    /// use pumice::*;
    /// let triangle = comp![[j | j <- 0..i] | i <- 0..4];
    /// assert_eq!(run(triangle.lengths())?.to_vec()?, [0, 1, 2, 3]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    #[track_caller]
    pub fn lengths(&self) -> Acc<Vector<i64>> {
        let place = Place::caller("lengths");
        self.rows_at(place).mapped(|(first, end)| end - first, place)
    }

    /// Returns the start and end of each row in [`AccRagged::flatten`].
    ///
    /// ```
    /// use pumice::*;
    /// let triangle = comp![[j | j <- 0..i] | i <- 0..4];
    /// assert_eq!(run(triangle.rows())?.to_vec()?, [(0, 0), (0, 1), (1, 3), (3, 6)]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    #[track_caller]
    pub fn rows(&self) -> Acc<Vector<(i64, i64)>> {
        self.rows_at(Place::caller("rows"))
    }

    pub(crate) fn rows_at(&self, place: Place) -> Acc<Vector<(i64, i64)>> {
        let offset = |number: Exp<i64>| self.offsets.element(&[number.term()], None);
        crate::create::numbered(self.size(), |row| (offset(row), offset(row + 1)), place)
    }
}

impl<T: Elt> Rows for AccRagged<T> {
    type Elt = T;
    fn count(&self, row: Exp<i64>, place: Place) -> Exp<i64> {
        let site = Some(Site { place, kind: FailureKind::OutOfBounds });
        let offset = |number: Exp<i64>| self.offsets.element(&[number.term()], site);
        offset(row + 1) - offset(row)
    }
    fn element(&self, row: Exp<i64>, number: Exp<i64>, place: Place) -> T::Exp {
        let site = Some(Site { place, kind: FailureKind::OutOfBounds });
        let first: Exp<i64> = self.offsets.element(&[row.term()], site);
        self.values.element(&[(first + number).term()], site)
    }
    fn at(&self, row: Exp<i64>, number: Exp<i64>, place: Place) -> T::Exp {
        let (site, count) = (Site { place, kind: FailureKind::OutOfBounds }, self.count(row, place));
        let is_there = number.ge(0) & number.lt(count);
        let is_there = Exp::<bool>::from_term(is_there.term().check(site, number.term(), count.term()));
        let first: Exp<i64> = self.offsets.element(&[row.term()], Some(site));
        // Where it is not there, no element of another row is read either.
        self.values.element(&[is_there.select(first + number, Exp::from(-1)).term()], None)
    }
}
