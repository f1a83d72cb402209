//! Pull arrays of pull arrays: parts, tiles, rows and columns.

use super::Pull;
use crate::bounds::{area, natural};
use crate::builder::named;
use crate::check;
use crate::item::{Item, Ix};
use crate::place::here;
use crate::size::{Size, parts_for, quotient, remainder, whole};
use pumice_scalar::{Exp, FailureKind};

impl<T: Item, S: Size> Pull<T, S> {
    /// Parts of `size` elements. A length that is no multiple of that is an error; [`Pull::tiles`] takes any.
    ///
    /// ```
    /// use pumice::kernel::{Ix, Pull, preview};
    /// let result = preview(32, &[1, 2, 3, 4], |xs: Pull<i32, Ix>| xs.split_up(2).map(|part| part.at(0) * part.at(1)).push())?;
    /// assert_eq!(result, [2, 12]);
    /// # Ok::<(), pumice::kernel::PreviewError>(())
    /// ```
    #[track_caller]
    pub fn split_up(self, size: usize) -> Pull<Pull<T>, S> {
        let place = here("split_up");
        let parts = check::whole_parts(self.length, size, place);
        Pull::new(parts, move |part| {
            let start = named(part * whole(size), "start");
            self.clone().index_map(size, move |i| start + i)
        })
    }

    /// Parts of `size` elements that are far from each other: part `k` has every `n`-th element from the `k`-th on, where
    /// `n` is the number of parts. Neighbouring threads that each run through a part touch neighbouring elements. A length
    /// that is no multiple of `size` is an error.
    ///
    /// ```
    /// use pumice::kernel::{Ix, Pull, preview};
    /// let result = preview(32, &[1, 2, 3, 4], |xs: Pull<i32, Ix>| xs.coalesce(2).map(|part| (part.at(0), part.at(1))).push())?;
    /// assert_eq!(result, [(1, 3), (2, 4)]);
    /// # Ok::<(), pumice::kernel::PreviewError>(())
    /// ```
    #[track_caller]
    pub fn coalesce(self, size: usize) -> Pull<Pull<T>, S> {
        let place = here("coalesce");
        let parts = check::whole_parts(self.length, size, place);
        Pull::new(parts, move |part| self.clone().index_map(size, move |i| part + i * parts.to_ix()))
    }

    /// As [`Pull::coalesce`], with `items` neighbours taken together wherever a part takes one there: what wide loads
    /// need. A length that is no multiple of `size` is an error, and so is a `size` that is no multiple of `items`.
    ///
    /// ```
    /// use pumice::kernel::{Ix, Pull, Thread, preview};
    /// let parts = preview(32, &[0, 1, 2, 3, 4, 5, 6, 7], |xs: Pull<i32, Ix>| {
    ///     xs.coalesce_by(4, 2).map(|part| part.push::<Thread>()).concat()
    /// })?;
    /// assert_eq!(parts, [0, 1, 4, 5, 2, 3, 6, 7]);
    /// # Ok::<(), pumice::kernel::PreviewError>(())
    /// ```
    #[track_caller]
    pub fn coalesce_by(self, size: usize, items: usize) -> Pull<Pull<T>, S> {
        let place = here("coalesce_by");
        let (parts, items) = (check::whole_parts(self.length, size, place), items.max(1));
        let (size, row) = (check::whole_parts(size, items, place) * items, parts.times(items));
        Pull::new(parts, move |part| {
            let items = whole(items);
            let first = part * items;
            self.clone().index_map(size, move |i| first + (i / items) * row.to_ix() + i % items)
        })
    }

    /// Parts of `size` elements, the last one shorter if need be.
    ///
    /// ```
    /// use pumice::kernel::{Ix, Pull, preview};
    /// let result = preview(32, &[1, 2, 3], |xs: Pull<i32, Ix>| xs.tiles(2).map(|tile| tile.len()).push())?;
    /// assert_eq!(result, [2, 1]);
    /// # Ok::<(), pumice::kernel::PreviewError>(())
    /// ```
    pub fn tiles(self, size: usize) -> Pull<Pull<T, Ix>, Ix> {
        let (length, size) = (self.length.to_ix(), size.max(1));
        Pull::new(parts_for(length, size), move |tile| {
            let start = named(tile * whole(size), "start");
            let here = named((length - start).min(whole(size)), "length");
            self.clone().index_map(here, move |i| named(start + i, "i"))
        })
    }

    /// The rows of a matrix with this many columns. A length that is no multiple of that is an error.
    ///
    /// ```
    /// use pumice::kernel::{Ix, Pull, preview};
    /// let result = preview(32, &[1, 2, 3, 4], |xs: Pull<i32, Ix>| xs.rows(2.into()).map(|row| row.at(1)).push())?;
    /// assert_eq!(result, [2, 4]);
    /// # Ok::<(), pumice::kernel::PreviewError>(())
    /// ```
    #[track_caller]
    pub fn rows(self, columns: Ix) -> Pull<Pull<T, Ix>, Ix> {
        let place = here("rows");
        let (all, width) = (natural(self.length.to_ix()), columns.max(1));
        let filled = remainder(all, width).eq(0) & (columns.gt(0) | all.eq(0));
        let failure = (FailureKind::NotWhole, place);
        let count = check::require(quotient(all, width), filled, failure, all, columns);
        Pull::new(count, move |row| {
            let start = row * columns;
            self.clone().index_map(columns, move |column| start + column)
        })
    }
}

impl<T: Item> Pull<T> {
    /// Divides the array `times` times in two, does `f` to each of the 2^`times` parts, and puts the results side by
    /// side. A length that is no multiple of 2^`times` is an error.
    ///
    /// ```
    /// use pumice::kernel::{Block, Ix, Pull, preview};
    /// let result = preview(32, &[1, 2, 3, 4], |xs: Pull<i32, Ix>| xs.split_up(4).map(|four| four.bin_split(1, |two| two.reverse()).push::<Block>()).concat())?;
    /// assert_eq!(result, [2, 1, 4, 3]);
    /// # Ok::<(), pumice::kernel::PreviewError>(())
    /// ```
    #[track_caller]
    pub fn bin_split<U: Item>(self, times: u32, f: impl Fn(Pull<T>) -> Pull<U> + 'static) -> Pull<U> {
        let place = here("bin_split");
        let parts = 1usize.checked_shl(times).unwrap_or(usize::MAX);
        let size = check::whole_parts(self.length, parts, place);
        let part = move |number: Ix| f(self.clone().index_map(size, move |i| number * whole(size) + i));
        let each = part(Exp::from(0)).len();
        Pull::new(each.saturating_mul(parts), move |i| {
            let each = whole(each).max(1);
            part(i / each).get_below(i % each, Exp::from(each), place)
        })
    }
}

impl<T: Item, S: Size, N: Size> Pull<Pull<T, S>, N> {
    /// Columns for rows: the arrays inside are of one length, which is given. Reading from one that is shorter is an error
    /// when the kernel runs.
    ///
    /// ```
    /// use pumice::kernel::{Ix, Pull, preview};
    /// let result = preview(32, &[1, 2, 3, 4], |xs: Pull<i32, Ix>| xs.split_up(2).transpose(2).map(|row| row.at(0)).push())?;
    /// assert_eq!(result, [1, 2]);
    /// # Ok::<(), pumice::kernel::PreviewError>(())
    /// ```
    #[track_caller]
    pub fn transpose(self, columns: S) -> Pull<Pull<T, N>, S> {
        let place = here("transpose");
        let rows = self.length;
        Pull::new(columns, move |column| {
            let whole = self.clone();
            Pull::new(rows, move |row| (whole.at)(row).get_below(column, columns.to_ix(), place))
        })
    }

    /// The arrays, which are all of this length, one after the other as one array. Reading from one that is shorter is an
    /// error when the kernel runs.
    ///
    /// ```
    /// use pumice::kernel::{Ix, Pull, preview};
    /// let result = preview(32, &[1, 2, 3, 4], |xs: Pull<i32, Ix>| xs.rows(2.into()).transpose(2.into()).join(2.into()).push())?;
    /// assert_eq!(result, [1, 3, 2, 4]);
    /// # Ok::<(), pumice::kernel::PreviewError>(())
    /// ```
    #[track_caller]
    pub fn join(self, columns: S) -> Pull<T, Ix> {
        let place = here("join");
        let width = columns.to_ix();
        Pull::new(area(self.length.to_ix(), width), move |i| {
            (self.at)(quotient(i, width)).get_below(remainder(i, width), width, place)
        })
    }
}

/// A matrix in the kernel language: an array of rows, all of one length.
///
/// ```
/// use pumice::kernel::{Ix, Pull, Rows, preview};
/// fn turned(matrix: Rows<i32>, columns: Ix) -> Rows<i32> {
///     matrix.transpose(columns)
/// }
/// let columns = preview(32, &[1, 2, 3, 4], |xs: Pull<i32, Ix>| turned(xs.rows(2.into()), 2.into()).join(2.into()).push())?;
/// assert_eq!(columns, [1, 3, 2, 4]);
/// # Ok::<(), pumice::kernel::PreviewError>(())
/// ```
pub type Rows<T> = Pull<Pull<T, Ix>, Ix>;

impl<T: Item> Rows<T> {
    /// Cuts a matrix of `columns` columns into tiles of `size` × `size` elements, smaller at the lower and right edges:
    /// an array of rows of tiles, each a matrix itself. Rows that are shorter than that are an error when the kernel runs.
    ///
    /// ```
    /// use pumice::kernel::{Ix, Pull, preview};
    /// let result = preview(32, &[0, 1, 2, 3, 4, 5, 6, 7], |xs: Pull<i32, Ix>| {
    ///     let tiles = xs.rows(4.into()).split_2d(4.into(), 2);
    ///     tiles.map(|row| row.at(1)).map(|tile| tile.at(0).at(0)).push()
    /// })?;
    /// assert_eq!(result, [2]);
    /// # Ok::<(), pumice::kernel::PreviewError>(())
    /// ```
    #[track_caller]
    pub fn split_2d(self, columns: Ix, size: usize) -> Rows<Rows<T>> {
        let place = here("split_2d");
        let (rows, size) = (self.length, size.max(1));
        let side = whole(size);
        Pull::new(parts_for(rows, size), move |tile_row| {
            let (matrix, first_row) = (self.clone(), named(tile_row * side, "first_row"));
            let tile_rows = named((rows - first_row).min(side), "rows_here");
            Pull::new(parts_for(columns, size), move |tile_column| {
                let (matrix, first_column) = (matrix.clone(), named(tile_column * side, "first_column"));
                let tile_columns = named((columns - first_column).min(side), "columns_here");
                Pull::new(tile_rows, move |row| {
                    let matrix = matrix.clone();
                    Pull::new(tile_columns, move |column| {
                        (matrix.at)(first_row + row).get_below(first_column + column, columns, place)
                    })
                })
            })
        })
    }
}
