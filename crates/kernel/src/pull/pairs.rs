//! Pull arrays of tuples: arrays beside each other, and neighbours as pairs.

use super::{Pull, choose};
use crate::check;
use crate::place::here;
use crate::size::Size;
use pumice_scalar::Elt;

impl<T: Elt, S: Size> Pull<T, S> {
    /// Pairs of the elements of two arrays of the same length. Other lengths are an error.
    ///
    /// ```
    /// use pumice::kernel::{Ix, Pull, preview};
    /// let result = preview(32, &[1, 2], |xs: Pull<i32, Ix>| xs.clone().zip(xs.reverse()).push())?;
    /// assert_eq!(result, [(1, 2), (2, 1)]);
    /// # Ok::<(), pumice::kernel::PreviewError>(())
    /// ```
    #[track_caller]
    pub fn zip<U: Elt>(self, other: Pull<U, S>) -> Pull<(T, U), S> {
        self.zip_at(other, here("zip"), |a, b| (a, b))
    }

    /// Triples of the elements of three arrays of the same length. Other lengths are an error.
    ///
    /// ```
    /// use pumice::kernel::{Ix, Pull, preview};
    /// let result = preview(32, &[1], |xs: Pull<i32, Ix>| xs.clone().zip3(xs.clone(), xs).push())?;
    /// assert_eq!(result, [(1, 1, 1)]);
    /// # Ok::<(), pumice::kernel::PreviewError>(())
    /// ```
    #[track_caller]
    pub fn zip3<U: Elt, V: Elt>(self, second: Pull<U, S>, third: Pull<V, S>) -> Pull<(T, U, V), S> {
        let place = here("zip3");
        self.zip3_at(second, third, place, |a, b, c| (a, b, c))
    }

    /// Neighbours as pairs. An odd length is an error.
    ///
    /// ```
    /// use pumice::kernel::{Ix, Pull, preview};
    /// let result = preview(32, &[1, 2, 3, 4], |xs: Pull<i32, Ix>| xs.pair().push())?;
    /// assert_eq!(result, [(1, 2), (3, 4)]);
    /// # Ok::<(), pumice::kernel::PreviewError>(())
    /// ```
    #[track_caller]
    pub fn pair(self) -> Pull<(T, T), S> {
        let place = here("pair");
        Pull::new(check::whole_parts(self.length, 2, place), move |i| {
            ((self.at)(i * 2), (self.at)(i * 2 + 1))
        })
    }
}

impl<T: Elt, S: Size> Pull<(T, T), S> {
    /// Pairs as neighbours. Every access asks whether its index is even; [`Push::unpair`](crate::Push::unpair) does not.
    ///
    /// ```
    /// use pumice::kernel::{Ix, Pull, preview};
    /// let result = preview(32, &[(1, 2), (3, 4)], |xs: Pull<(i32, i32), Ix>| xs.unpair().push())?;
    /// assert_eq!(result, [1, 2, 3, 4]);
    /// # Ok::<(), pumice::kernel::PreviewError>(())
    /// ```
    pub fn unpair(self) -> Pull<T, S> {
        Pull::new(self.length.times(2), move |i| {
            // The pair is the same on both sides, and only one of its elements is needed.
            choose::<T>((i % 2).eq(0), || (self.at)(i >> 1).0, || (self.at)(i >> 1).1)
        })
    }

    /// The arrays of the first and of the second elements.
    ///
    /// ```
    /// use pumice::kernel::{Ix, Pull, preview};
    /// let result = preview(32, &[(1, 2), (3, 4)], |xs: Pull<(i32, i32), Ix>| { let (a, b) = xs.unzip(); b.append(a).push() })?;
    /// assert_eq!(result, [2, 4, 1, 3]);
    /// # Ok::<(), pumice::kernel::PreviewError>(())
    /// ```
    pub fn unzip(self) -> (Pull<T, S>, Pull<T, S>) {
        (self.clone().map(|(a, _)| a), self.map(|(_, b)| b))
    }
}
