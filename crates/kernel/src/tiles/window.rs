//! Windows of matrices in a block's memory.

use crate::Pull;
use crate::bounds::natural;
use crate::builder::with;
use crate::effects;
use crate::item::{Ix, Storable};
use crate::level::{AnyLevel, Block, Forces};
use crate::place::{at_place, here};
use crate::pull::{Rows, choose};
use crate::push::{for_rounds, now};
use crate::size::{group_size, side, whole};
use pumice_scalar::Place;

/// A window of a matrix that a block keeps in its memory.
///
/// ```
/// use pumice::kernel::Window;
/// let tile = Window { rows: 16, columns: 64, items: 4, transposed: false, padding: 1 };
/// assert_eq!(tile.columns % tile.items, 0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Rows.
    pub rows: usize,
    /// Columns.
    pub columns: usize,
    /// Neighbours of a row that a thread takes together; a divisor of `columns`.
    pub items: usize,
    /// Whether it lies in memory column by column, and is read as an array of its columns.
    pub transposed: bool,
    /// Cells that are left empty after each row (or column), against bank conflicts.
    pub padding: usize,
}

/// A window at a place of a matrix, for [`force_windows`].
///
/// ```
/// use pumice::kernel::{Ix, Placed, Rows, Window};
/// fn corner(matrix: &Rows<f32>, columns: Ix, window: Window) -> Placed<f32> {
///     matrix.window(columns, (0.into(), 0.into()), window)
/// }
/// ```
pub struct Placed<T: Storable> {
    matrix: Rows<T>,
    columns: Ix,
    first: (Ix, Ix),
    window: Window,
    place: Place,
}

impl<T: Storable> Rows<T> {
    /// The window of this matrix of `columns` columns that starts at a row and column. It may go beyond every edge. Rows that
    /// are shorter than that are an error when the kernel runs. See [`force_windows`].
    ///
    /// ```
    /// use pumice::kernel::{Block, Ix, Pull, Window, force_windows, preview};
    /// let corner = preview(32, &[1, 2, 3, 4, 5, 6], |xs: Pull<i32, Ix>| {
    ///     let window = Window { rows: 2, columns: 2, items: 1, transposed: false, padding: 0 };
    ///     let block = move |_: Ix| {
    ///         let [rows] = force_windows([xs.clone().rows(3.into()).window(3.into(), (0.into(), 1.into()), window)], 0.into());
    ///         Pull::<i32>::new(4, move |i| rows.at(i / 2).at(i % 2)).push::<Block>()
    ///     };
    ///     Pull::new(1, block).concat()
    /// })?;
    /// assert_eq!(corner, [2, 3, 5, 6]);
    /// # Ok::<(), pumice::kernel::PreviewError>(())
    /// ```
    #[track_caller]
    pub fn window(&self, columns: Ix, first: (Ix, Ix), window: Window) -> Placed<T> {
        let place = here("window");
        Placed { matrix: self.clone(), columns, first, window, place }
    }
}

/// Writes windows of matrices to the block's memory, waits once for all, and reads them from there: arrays of rows, or of
/// columns where the window is transposed. Beyond the edges of a matrix stands `otherwise`.
///
/// ```
/// use pumice::kernel::{Block, Ix, Pull, Window, force_windows, preview};
/// // The columns of a window that starts at row 1 and column 1 of a matrix of 2 by 3 elements.
/// let columns = preview(32, &[1, 2, 3, 4, 5, 6], |xs: Pull<i32, Ix>| {
///     let window = Window { rows: 2, columns: 2, items: 1, transposed: true, padding: 1 };
///     let block = move |_: Ix| {
///         let placed = xs.clone().rows(3.into()).window(3.into(), (1.into(), 1.into()), window);
///         let [columns] = force_windows([placed], 0.into());
///         Pull::<i32>::new(4, move |i| columns.at(i / 2).at(i % 2)).push::<Block>()
///     };
///     Pull::new(1, block).concat()
/// })?;
/// assert_eq!(columns, [5, 0, 6, 0]);
/// # Ok::<(), pumice::kernel::PreviewError>(())
/// ```
#[track_caller]
pub fn force_windows<T: Storable, const N: usize>(
    windows: [Placed<T>; N],
    otherwise: T::Form,
) -> [Pull<Pull<T>>; N] {
    let place = here("force_windows");
    at_place(place, || {
        let written = windows.map(|placed| placed.write(&otherwise));
        Block::sync();
        written
    })
}

impl<T: Storable> Placed<T> {
    /// Writes the window; it can be read after a barrier.
    pub(crate) fn write(self, otherwise: &T::Form) -> Pull<Pull<T>> {
        let Placed { matrix, columns, first: (first_row, first_column), window, place } = self;
        let items = group_size(window.items);
        if !window.columns.is_multiple_of(items) {
            with(|builder| builder.mistake(format!("rows of {} in groups of {items}", window.columns)));
        }
        let (outer, inner) = match window.transposed {
            true => (window.columns, window.rows),
            false => (window.rows, window.columns),
        };
        let stride = inner.saturating_add(window.padding);
        let target = crate::force::Target::new(AnyLevel::Block, outer.saturating_mul(stride));
        let (stride, groups, items) = (whole(stride), whole(window.columns / items), whole(items));
        // Sums of these do not wrap, and neither do products.
        let (down, across) = (side(window.rows), side(window.columns));
        let fill = |at: &dyn Fn(Ix, Ix) -> T::Form| {
            let read = |row: Ix, group: Ix| {
                let values = (0..items).map(|k| now::<T>(&at(row, group * items + k)));
                values.collect::<Vec<T::Form>>()
            };
            for_rounds((whole(window.rows), groups), &read, &|row, group, values| {
                for (k, value) in (0..).zip(&values) {
                    let column = group * items + k;
                    let cell = match window.transposed {
                        true => column * stride + row,
                        false => row * stride + column,
                    };
                    target.write::<T>(cell, value);
                }
            });
        };
        let rows = matrix.len();
        let element = |row: Ix, column: Ix| {
            matrix.get(first_row + row).get_below(first_column + column, columns, place)
        };
        let whole = first_row.ge(0)
            & first_row.le(natural(rows) - down)
            & first_column.ge(0)
            & first_column.le(natural(columns) - across);
        let edge = |row: Ix, column: Ix| {
            let (at_row, at_column) = (first_row + row, first_column + column);
            let inside = at_row.ge(0) & at_row.lt(rows) & at_column.ge(0) & at_column.lt(columns);
            choose::<T>(inside, || element(row, column), || otherwise.clone())
        };
        effects::either(whole.term(), || fill(&element), || fill(&edge));
        let read = target.reader::<T>();
        Pull::new(outer, move |i| {
            let read = read.clone();
            Pull::new(inner, move |j| read(i * stride + j))
        })
    }
}
