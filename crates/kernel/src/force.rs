//! Forcing: a push array is written to its level's memory, and read from there as a pull array.
//!
//! A thread's memory is its registers (or what the compiler makes of an array of its own), a warp's and a block's is
//! shared memory. Forced arrays are written once.

use crate::builder::{probe, with};
use crate::check;
use crate::effects;
use crate::item::{ItemForm, Ix, Storable};
use crate::level::{AnyLevel, Forces, Level};
use crate::place::{at_place, here};
use crate::pull::Rows;
use crate::push::{for_tile, now};
use crate::size::{Size, StaticLength, side, whole};
use crate::{Pull, Push};
use pumice_program::MemoryId;
use pumice_scalar::{Exp, Place, ScalarType, Term};
use std::cell::RefCell;

/// Layout of a forced array in memory.
///
/// ```
/// use pumice::kernel::{Block, Ix, Layout, Pull, preview};
/// for layout in [Layout::Plain, Layout::Padded, Layout::Swizzled] {
///     let reversed = preview(32, &[1, 2, 3, 4], move |xs: Pull<i32, Ix>| {
///         xs.split_up(4).map(move |four| four.push::<Block>().force_as(layout).reverse().push::<Block>()).concat()
///     })?;
///     assert_eq!(reversed, [4, 3, 2, 1]);
/// }
/// # Ok::<(), pumice::kernel::PreviewError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Layout {
    /// One after the other.
    #[default]
    Plain,
    /// With an empty cell after every 32: elements whose indices differ by a multiple of 32 are in different banks.
    Padded,
    /// Every 32 in an order of their own, with the same effect and no empty cells.
    Swizzled,
}

/// Banks of shared memory, each a word wide.
const BANKS: i64 = 32;

impl Layout {
    /// Cells that an array takes.
    fn cells(self, length: usize) -> usize {
        match self {
            Layout::Plain => length,
            Layout::Padded => length.saturating_add(length / BANKS as usize),
            Layout::Swizzled => length.checked_next_multiple_of(BANKS as usize).unwrap_or(length),
        }
    }

    /// The cell of an element.
    fn cell(self, index: Ix) -> Ix {
        match self {
            Layout::Plain => index,
            Layout::Padded => index + (index >> 5),
            Layout::Swizzled => index ^ ((index >> 5) & (BANKS - 1)),
        }
    }
}

/// Memory of an array that is being written: one per scalar. The scalars of an element are known when the first one comes.
pub(crate) struct Target {
    level: AnyLevel,
    capacity: usize,
    cells: RefCell<Vec<(MemoryId, ScalarType, Ix)>>,
}

impl Target {
    /// Memory of a level, of this many cells.
    pub fn new(level: AnyLevel, capacity: usize) -> Self {
        Target { level, capacity, cells: RefCell::default() }
    }

    /// Writes an element.
    pub fn write<T: Storable>(&self, cell: Ix, value: &T::Form) {
        self.store(cell, &T::terms(value));
    }

    fn store(&self, cell: Ix, terms: &[Term]) {
        let mut cells = self.cells.borrow_mut();
        if cells.is_empty() {
            cells.extend(terms.iter().map(|term| {
                let (memory, start) = self.level.allocate(term.ty(), effects::cells(self.capacity));
                (memory, term.ty(), start)
            }));
        }
        if cells.len() != terms.len() {
            let (wanted, found) = (cells.len(), terms.len());
            with(|builder| {
                builder.mistake(format!("elements of {wanted} and of {found} columns in one array"));
            });
        }
        for ((memory, _, start), term) in cells.iter().zip(terms) {
            effects::store(*memory, (*start + cell).term(), *term);
        }
    }

    /// Zeroes `count` cells from `first` on and waits, if an array that is to be written there may leave some out.
    pub fn prepare<L: Level, T: Storable, S: Size>(&self, array: &Push<L, T, S>, first: Ix, count: usize) {
        if array.is_complete() {
            return;
        }
        let zeros = RefCell::new(Vec::new());
        probe(|| array.write(&|_, value| *zeros.borrow_mut() = effects::zeros(&T::terms(&value))));
        let zeros = zeros.into_inner();
        self.level.for_each(count.to_ix(), &|cell| self.store(first + cell, &zeros));
        self.level.sync();
    }

    /// A function that reads what was written.
    pub fn reader<T: Storable>(&self) -> impl Fn(Ix) -> T::Form + Clone + 'static {
        let cells = self.cells.borrow().clone();
        move |cell| {
            let read = |(memory, ty, start): &(MemoryId, ScalarType, Ix)| {
                effects::read(*memory, *ty, (*start + cell).term())
            };
            T::from_terms(cells.iter().map(read).collect())
        }
    }
}

impl<L: Level, T: Storable, S: Size> Push<L, T, S> {
    /// Writes the array, of at most `capacity` elements, to the level's memory, waits, and reads it from there. More
    /// elements than that are an error when the kernel runs.
    ///
    /// ```
    /// use pumice::kernel::{Block, Ix, Pull, preview};
    /// let result = preview(32, &[1, 2, 3], |xs: Pull<i32, Ix>| {
    ///     let length = xs.len();
    ///     let block = xs.tiles(2).map(|tile| tile.push::<Block>().force_within(2).reverse().push::<Block>());
    ///     block.concat_by(2, length)
    /// })?;
    /// assert_eq!(result, [2, 1, 3]);
    /// # Ok::<(), pumice::kernel::PreviewError>(())
    /// ```
    #[track_caller]
    pub fn force_within(self, capacity: usize) -> Pull<T, S>
    where
        L: Forces,
    {
        self.force_at(capacity, Layout::Plain, true, here("force"))
    }

    /// As [`Push::force_within`], with a layout.
    ///
    /// ```
    /// use pumice::kernel::{Block, Ix, Layout, Pull, preview};
    /// let reversed = preview(32, &[1, 2, 3], |xs: Pull<i32, Ix>| {
    ///     let length = xs.len();
    ///     let tile = |tile: Pull<i32, Ix>| tile.push::<Block>().force_within_as(2, Layout::Padded).reverse().push::<Block>();
    ///     xs.tiles(2).map(tile).concat_by(2, length)
    /// })?;
    /// assert_eq!(reversed, [2, 1, 3]);
    /// # Ok::<(), pumice::kernel::PreviewError>(())
    /// ```
    #[track_caller]
    pub fn force_within_as(self, capacity: usize, layout: Layout) -> Pull<T, S>
    where
        L: Forces,
    {
        self.force_at(capacity, layout, true, here("force"))
    }

    fn force_at(self, capacity: usize, layout: Layout, wait: bool, place: Place) -> Pull<T, S>
    where
        L: Forces,
    {
        at_place(place, || {
            let target = Target::new(self.level(), layout.cells(capacity));
            let limit = Exp::from(whole(capacity));
            let fits = check::at_most(self.len().to_ix(), limit);
            target.prepare(&self, Exp::from(0), layout.cells(capacity));
            self.write(&|index, value| {
                let write = |index| target.write::<T>(layout.cell(index), &value);
                match fits {
                    true => write(index),
                    false => check::if_within(index, limit, place, write),
                }
            });
            if wait {
                self.level().sync();
            }
            let read = target.reader::<T>();
            let length = if fits { self.len() } else { self.len().least(S::of(capacity)) };
            Pull::new(length, move |i| read(layout.cell(i)))
        })
    }

    /// Writes the array to the level's memory, waits, and reads it from there.
    ///
    /// ```
    /// use pumice::kernel::{Block, Ix, Pull, preview};
    /// let result = preview(32, &[1, 2], |xs: Pull<i32, Ix>| xs.split_up(2).map(|two| two.push::<Block>().force().reverse().push::<Block>()).concat())?;
    /// assert_eq!(result, [2, 1]);
    /// # Ok::<(), pumice::kernel::PreviewError>(())
    /// ```
    #[track_caller]
    pub fn force(self) -> Pull<T, S>
    where
        L: Forces,
        S: StaticLength,
    {
        let length = self.len().now();
        self.force_at(length, Layout::Plain, true, here("force"))
    }

    /// As [`Push::force`], with a layout that avoids bank conflicts.
    ///
    /// ```
    /// use pumice::kernel::{Block, Ix, Layout, Pull, preview};
    /// let result = preview(32, &[1, 2], |xs: Pull<i32, Ix>| {
    ///     let block = xs.split_up(2).map(|two| {
    ///         two.push::<Block>().force_as(Layout::Padded).reverse().push::<Block>()
    ///     });
    ///     block.concat()
    /// })?;
    /// assert_eq!(result, [2, 1]);
    /// # Ok::<(), pumice::kernel::PreviewError>(())
    /// ```
    #[track_caller]
    pub fn force_as(self, layout: Layout) -> Pull<T, S>
    where
        L: Forces,
        S: StaticLength,
    {
        let length = self.len().now();
        self.force_at(length, layout, true, here("force"))
    }

    /// Writes the array to the level's memory and does not wait.
    ///
    /// # Safety
    ///
    /// Before the next barrier, an element is read only by the thread that wrote it; otherwise threads race, and what they
    /// read is anything.
    ///
    /// ```
    /// use pumice::kernel::{Block, Ix, Pull, preview};
    /// let doubled = preview(32, &[1, 2], |xs: Pull<i32, Ix>| {
    ///     let block = |two: Pull<i32>| {
    ///         // SAFETY: each thread reads what it wrote itself.
    ///         let written = unsafe { two.map(|x| x * 2).push::<Block>().unsafe_write() };
    ///         written.push::<Block>()
    ///     };
    ///     xs.split_up(2).map(block).concat()
    /// })?;
    /// assert_eq!(doubled, [2, 4]);
    /// # Ok::<(), pumice::kernel::PreviewError>(())
    /// ```
    #[track_caller]
    pub unsafe fn unsafe_write(self) -> Pull<T, S>
    where
        L: Forces,
        S: StaticLength,
    {
        let length = self.len().now();
        self.force_at(length, Layout::Plain, false, here("force"))
    }
}

/// A push array that can be indexed. None can, so that rustc says what to write instead.
#[diagnostic::on_unimplemented(
    message = "a push array cannot be indexed or taken apart",
    label = "force it first",
    note = "`force()` writes it to its level's memory and gives a `Pull`; `force_within(capacity)` does for a length that is \
            known on the device"
)]
pub trait Forced {
    #[doc(hidden)]
    fn never<R>(&self) -> R;
}

/// Names that only pull arrays have, for the message of [`Forced`].
#[doc(hidden)]
impl<L: Level, T: Storable, S: Size> Push<L, T, S> {
    pub fn at(&self, _index: impl Into<Ix>) -> T::Form
    where
        Self: Forced,
    {
        self.never()
    }
    pub fn reverse(self) -> Self
    where
        Self: Forced,
    {
        self.never()
    }
    pub fn halve(self) -> (Self, Self)
    where
        Self: Forced,
    {
        self.never()
    }
}

/// Computes a value now, once, and keeps it in a register.
///
/// ```
/// use pumice::kernel::{Ix, Pull, force_scalar, preview};
/// let result = preview(32, &[1, 2], |xs: Pull<i32, Ix>| xs.map(|x| force_scalar(x * x)).push())?;
/// assert_eq!(result, [1, 4]);
/// # Ok::<(), pumice::kernel::PreviewError>(())
/// ```
#[track_caller]
pub fn force_scalar<F: ItemForm>(value: F) -> F
where
    F::Item: Storable,
{
    let place = here("force_scalar");
    at_place(place, || now::<F::Item>(&value))
}

impl<T: Storable> Rows<T> {
    /// Writes a tile of at most `size` × `size` elements to the block's memory, waits, and reads it from there. Rows are a
    /// cell longer than the tile, so that a column is as fast to read as a row. A matrix that is smaller than `rows` ×
    /// `columns` is an error when the kernel runs, and so are more rows or columns than `size`.
    ///
    /// ```
    /// use pumice::kernel::{Ix, Pull, preview};
    /// let result = preview(32, &[1, 2, 3, 4], |xs: Pull<i32, Ix>| {
    ///     let tiles = xs.rows(2.into()).split_2d(2.into(), 2);
    ///     let turned = tiles.map(|row| row.map(|tile| {
    ///         tile.force_2d(2.into(), 2.into(), 2).transpose(2.into())
    ///     }));
    ///     turned.concat_2d(2, 2.into(), 2.into())
    /// })?;
    /// assert_eq!(result, [1, 3, 2, 4]);
    /// # Ok::<(), pumice::kernel::PreviewError>(())
    /// ```
    #[track_caller]
    pub fn force_2d(self, rows: Ix, columns: Ix, size: usize) -> Rows<T> {
        self.force_2d_as(rows, columns, size, Layout::Padded)
    }

    /// As [`Rows::force_2d`], with another layout.
    ///
    /// ```
    /// use pumice::kernel::{Ix, Layout, Pull, preview};
    /// let turned = preview(32, &[1, 2, 3, 4], |xs: Pull<i32, Ix>| {
    ///     let tiles = xs.rows(2.into()).split_2d(2.into(), 2);
    ///     let turned = tiles.map(|row| row.map(|tile| {
    ///         tile.force_2d_as(2.into(), 2.into(), 2, Layout::Swizzled).transpose(2.into())
    ///     }));
    ///     turned.concat_2d(2, 2.into(), 2.into())
    /// })?;
    /// assert_eq!(turned, [1, 3, 2, 4]);
    /// # Ok::<(), pumice::kernel::PreviewError>(())
    /// ```
    #[track_caller]
    pub fn force_2d_as(self, rows: Ix, columns: Ix, size: usize, layout: Layout) -> Rows<T> {
        let place = here("force_2d");
        let side = side(size);
        let (width, swizzled) = match layout {
            Layout::Plain => (side, false),
            Layout::Padded => (side + 1, false),
            Layout::Swizzled => (side, true),
        };
        let cell = move |row: Ix, column: Ix| match swizzled && side.count_ones() == 1 {
            true => row * width + (column ^ (row & (side - 1))),
            false => row * width + column,
        };
        at_place(place, || {
            let target = Target::new(AnyLevel::Block, (side * width) as usize);
            let fits = |length| check::no_longer_than(length, Exp::from(side), place).min(side);
            let (rows, columns) = (fits(rows), fits(columns));
            let read = |row, column| self.get_below(row, rows, place).get_below(column, columns, place);
            for_tile::<T>((rows, columns), size, &read, &|row, column, value| {
                target.write::<T>(cell(row, column), &value);
            });
            effects::sync();
            let read = target.reader::<T>();
            Pull::new(rows, move |row| {
                let read = read.clone();
                Pull::new(columns, move |column| read(cell(row, column)))
            })
        })
    }
}
