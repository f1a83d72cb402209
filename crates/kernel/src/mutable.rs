//! Memory that changes: arrays that threads read, write and update at once, in shared and in global memory.
//!
//! Everything here happens where it is written, in order. Indices are checked. Two threads that touch one element without
//! a barrier between them, one of them writing and not both atomically, race: what they read is anything, and the
//! simulator says so. Between blocks, [`Mutable::release`] and [`Mutable::acquire`] order what is not atomic, and so do
//! [`crate::fence_grid`] before and after the other atomics (`atomic.rs`). Those alone do not.

use crate::builder::probe;
use crate::check;
use crate::effects;
use crate::item::{Ix, Storable};
use crate::level::{Block, Forces, Loops, Thread};
use crate::place::{at_place, here};
use crate::{Pull, Push, Size};
use pumice_program::MemoryId;
use pumice_scalar::{Constant, Exp, Place, ScalarType, Term};
use std::marker::PhantomData;

/// Memory of a thread with more elements than this is in no registers: no GPU has so many.
const MOST_REGISTERS: usize = 256;

/// An array in memory that changes.
///
/// ```
/// use pumice::Compiler;
/// use pumice::kernel::{Grid, Loops, Mutable};
/// let sim = Compiler::on("sim")?;
/// let add = sim.kernel("add", 32, |xs: Mutable<i32>| Grid::for_each(xs.len(), &|i| xs.write(i, xs.read(i) + 1)))?;
/// let mut xs = sim.upload(&[1, 2])?;
/// add.run(&mut xs)?;
/// assert_eq!(xs.to_vec()?, [2, 3]);
/// # Ok::<(), pumice::Error>(())
/// ```
pub struct Mutable<T: Storable> {
    cells: Vec<(MemoryId, ScalarType)>,
    length: Ix,
    of: PhantomData<T>,
}

impl<T: Storable> Clone for Mutable<T> {
    fn clone(&self) -> Self {
        Mutable { cells: self.cells.clone(), length: self.length, of: PhantomData }
    }
}

impl<T: Storable> Mutable<T> {
    /// Memory that the block shares, with the elements of an array in it.
    ///
    /// ```
    /// use pumice::kernel::{Block, Ix, Mutable, Pull, preview, replicate};
    /// use pumice::Exp;
    /// let result = preview(32, &[5, 3, 6, 1], |xs: Pull<i32, Ix>| {
    ///     let blocks = xs.split_up(4).map(|part| {
    ///         let cell = Mutable::shared(replicate(1, Exp::<i32>::from(0)));
    ///         let update = cell.clone();
    ///         part.map(move |x| update.atomic_add(0, x)).push::<Block>().force();
    ///         cell.freeze().take(1).push_by::<Block>(1)
    ///     });
    ///     blocks.concat_by(1, 1usize)
    /// })?;
    /// assert_eq!(result, [15]);
    /// # Ok::<(), pumice::kernel::PreviewError>(())
    /// ```
    #[track_caller]
    pub fn shared(initial: Pull<T>) -> Mutable<T> {
        let place = here("shared");
        at_place(place, || {
            let array = Mutable::allocate(&initial, effects::allocate_shared);
            let memories = array.memories();
            initial.push::<Block>().write_in(&memories);
            Block::sync();
            array
        })
    }

    /// Memory that every thread of the block has for itself, with the elements of an array in it: registers, where every
    /// index is known while the kernel is built. It keeps its elements from one loop of the block's threads to the next.
    ///
    /// ```
    /// use pumice::kernel::{Block, Ix, Loops, Mutable, Pull, preview, replicate};
    /// use pumice::Exp;
    /// let doubled = preview(32, &[1, 2, 3, 4], |xs: Pull<i32, Ix>| {
    ///     let block = |four: Pull<i32>| {
    ///         let own = Mutable::<i32>::own(replicate(1, Exp::from(0)));
    ///         Block::for_each(4.into(), &|i| own.write(0, four.at(i)));
    ///         Pull::<i32>::new(4, move |_| own.read(0) * 2).push::<Block>()
    ///     };
    ///     xs.split_up(4).map(block).concat()
    /// })?;
    /// assert_eq!(doubled, [2, 4, 6, 8]);
    /// # Ok::<(), pumice::kernel::PreviewError>(())
    /// ```
    #[track_caller]
    pub fn own(initial: Pull<T>) -> Mutable<T> {
        let place = here("own");
        at_place(place, || {
            let array = Mutable::allocate(&initial, effects::allocate_private);
            let memories = array.memories();
            Block::each(Exp::from(i64::from(effects::block_threads())), &|_| match initial.len() {
                // In a loop of the kernel the index would not be known.
                length @ ..=MOST_REGISTERS => (0..length as i64).for_each(|k| {
                    let index = Exp::from(k);
                    effects::store_element(&memories, index.term(), &T::terms(&initial.get(index)));
                }),
                _ => initial.clone().push::<Thread>().write_in(&memories),
            });
            array
        })
    }

    /// Memory for the elements of an array, one column a scalar.
    fn allocate(initial: &Pull<T>, column: impl Fn(ScalarType, u32) -> MemoryId) -> Mutable<T> {
        let count = effects::cells(initial.len());
        // What the elements consist of may be known only from one of them.
        let types = T::types_of(|| probe(|| initial.get(0)));
        let cells = types.into_iter().map(|ty| (column(ty, count), ty)).collect();
        Mutable { cells, length: initial.len().to_ix(), of: PhantomData }
    }

    /// The array in memory that others change too.
    ///
    /// # Safety
    ///
    /// In every launch, the memories are of this length at least, one per scalar.
    pub unsafe fn from_memory(length: Ix, cells: Vec<(MemoryId, ScalarType)>) -> Mutable<T> {
        Mutable::global(cells, length)
    }

    /// The memories with the types of their cells, one per scalar.
    pub(crate) fn cells(&self) -> &[(MemoryId, ScalarType)] {
        &self.cells
    }

    fn memories(&self) -> Vec<MemoryId> {
        self.cells.iter().map(|(memory, _)| *memory).collect()
    }

    /// The element whose scalars are all zero.
    pub(crate) fn zeros(&self) -> Vec<Term> {
        self.cells.iter().map(|(_, ty)| Constant::zero(*ty).into()).collect()
    }

    /// Global memory that is a parameter of the kernel.
    pub(crate) fn global(cells: Vec<(MemoryId, ScalarType)>, length: Ix) -> Mutable<T> {
        Mutable { cells, length, of: PhantomData }
    }

    /// The length.
    ///
    /// ```
    /// use pumice::kernel::{Grid, Loops, Mutable, define};
    /// define("clear", 32, |xs: Mutable<i32>| Grid::for_each(xs.len(), &|i| xs.write(i, 0.into())))?;
    /// # Ok::<(), pumice::kernel::BuildError>(())
    /// ```
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> Ix {
        self.length
    }

    /// Applies `f` to an index that is in the array; out of bounds, the result is zeros and a failure is recorded.
    pub(crate) fn at(&self, place: Place, index: Ix, f: impl FnOnce(Term) -> Vec<Term>) -> Vec<Term> {
        at_place(place, || match check::inside(index, self.length, place) {
            None => f(index.term()),
            Some(inside) if check::has_some(self.length) => f(inside.select(index, Exp::from(0)).term()),
            Some(inside) => effects::choose(inside.term(), || f(index.term()), effects::zeros),
        })
    }

    /// The element as it is now.
    ///
    /// ```
    /// use pumice::kernel::{Block, Ix, Mutable, Pull, preview};
    /// let result = preview(32, &[1, 2, 3, 4], |xs: Pull<i32, Ix>| {
    ///     let blocks = xs.split_up(4).map(|part| {
    ///         let memory = Mutable::shared(part.clone());
    ///         part.imap(move |i, x| memory.read(3 - i) * x).push::<Block>()
    ///     });
    ///     blocks.concat()
    /// })?;
    /// assert_eq!(result, [4, 6, 6, 4]);
    /// # Ok::<(), pumice::kernel::PreviewError>(())
    /// ```
    #[track_caller]
    pub fn read(&self, index: impl Into<Ix>) -> T::Form {
        T::from_terms(self.at(here("read"), index.into(), |index| {
            let read = |(memory, ty): &(MemoryId, ScalarType)| effects::read_now(*memory, *ty, index);
            self.cells.iter().map(read).collect()
        }))
    }

    /// Replaces the element.
    ///
    /// ```
    /// use pumice::kernel::{Block, Ix, Mutable, Pull, preview};
    /// let result = preview(32, &[1, 2, 3, 4], |xs: Pull<i32, Ix>| {
    ///     let blocks = xs.split_up(4).map(|part| {
    ///         let memory = Mutable::shared(part.clone());
    ///         let writer = memory.clone();
    ///         part.imap(move |i, x| {
    ///             writer.write(i, x * 10);
    ///             x
    ///         })
    ///         .push::<Block>()
    ///         .force();
    ///         memory.freeze().push::<Block>()
    ///     });
    ///     blocks.concat_by(4, 4usize)
    /// })?;
    /// assert_eq!(result, [10, 20, 30, 40]);
    /// # Ok::<(), pumice::kernel::PreviewError>(())
    /// ```
    #[track_caller]
    pub fn write(&self, index: impl Into<Ix>, value: T::Form) {
        self.put(here("write"), index.into(), &value);
    }

    /// Writes an array over the first elements.
    ///
    /// ```
    /// use pumice::kernel::{Block, Ix, Mutable, Pull, preview};
    /// let result = preview(32, &[1, 2, 3, 4], |xs: Pull<i32, Ix>| {
    ///     let blocks = xs.split_up(4).map(|part| {
    ///         let memory = Mutable::shared(part.clone());
    ///         memory.write_all(&part.take(2).map(|x| x * 10).push::<Block>());
    ///         memory.freeze().push::<Block>()
    ///     });
    ///     blocks.concat_by(4, 4usize)
    /// })?;
    /// assert_eq!(result, [10, 20, 3, 4]);
    /// # Ok::<(), pumice::kernel::PreviewError>(())
    /// ```
    #[track_caller]
    pub fn write_all<L: crate::Level, S: crate::Size>(&self, array: &Push<L, T, S>) {
        let place = here("write_all");
        array.write(&|index, value| self.put(place, index, &value));
    }

    fn put(&self, place: Place, index: Ix, value: &T::Form) {
        at_place(place, || {
            check::if_within(index, self.length, place, |index| {
                effects::store_element(&self.memories(), index.term(), &T::terms(value));
            });
        });
    }

    /// Waits for the block's threads and gives the elements as they are then. They must not change afterwards, unless
    /// another barrier comes between the last read and the change.
    ///
    /// ```
    /// use pumice::kernel::{Block, Ix, Mutable, Pull, preview, replicate};
    /// use pumice::Exp;
    /// let result = preview(32, &[5, 3, 6, 1], |xs: Pull<i32, Ix>| {
    ///     let blocks = xs.split_up(4).map(|part| {
    ///         let cell = Mutable::shared(replicate(1, Exp::<i32>::from(0)));
    ///         let update = cell.clone();
    ///         part.map(move |x| update.atomic_max(0, x)).push::<Block>().force();
    ///         cell.freeze().take(1).push_by::<Block>(1)
    ///     });
    ///     blocks.concat_by(1, 1usize)
    /// })?;
    /// assert_eq!(result, [6]);
    /// # Ok::<(), pumice::kernel::PreviewError>(())
    /// ```
    #[track_caller]
    pub fn freeze(self) -> Pull<T, Ix> {
        let place = here("freeze");
        at_place(place, || {
            Block::sync();
            Pull::in_memory(self.length, self.cells)
        })
    }
}
