//! Memory that changes: arrays that threads read, write and update at once, in shared and in global memory.
//!
//! Everything here happens where it is written, in order. Indices are checked. Two threads that touch one element without
//! a barrier between them, one of them writing and not both atomically, race: what they read is anything, and the
//! simulator says so. Between blocks, [`Mutable::release`] and [`Mutable::acquire`] order what is not atomic, and so do
//! [`fence_grid`] before and after the other atomics. Those alone do not.

use crate::builder::at_place;
use crate::check;
use crate::effects;
use crate::item::{Ix, Storable};
use crate::level::{Block, Forces, Loops, Thread};
use crate::{Pull, Push, Size};
use pumice_program::{AtomicOp, MemoryId, Scope};
use pumice_scalar::{Elt, Exp, Integer, Number, Place, Primitive, ScalarType, Term};
use std::marker::PhantomData;

/// An array in memory that changes.
pub struct Mutable<T: Elt> {
    cells: Vec<(MemoryId, ScalarType)>,
    length: Ix,
    of: PhantomData<T>,
}

impl<T: Elt> Clone for Mutable<T> {
    fn clone(&self) -> Self {
        Mutable { cells: self.cells.clone(), length: self.length, of: PhantomData }
    }
}

/// An element type that can be updated at once: integers and floats.
pub trait AtomicElt: Primitive + Number {}
macro_rules! atomic_elements { ($($t:ident)*) => { $(impl AtomicElt for $t {})* }; }
atomic_elements!(i32 u32 i64 u64 f32 f64);

impl<T: Elt> Mutable<T> {
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
        let place = Place::caller("shared");
        let length = initial.len();
        at_place(place, || {
            let types = T::types().into_iter();
            let count = effects::cells(length);
            let cells = types.map(|ty| (effects::allocate_shared(ty, count), ty)).collect();
            let array = Mutable { cells, length: length.to_ix(), of: PhantomData };
            let memories: Vec<MemoryId> = array.cells.iter().map(|(memory, _)| *memory).collect();
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
        let place = Place::caller("own");
        let length = initial.len();
        at_place(place, || {
            let types = T::types().into_iter();
            let count = effects::cells(length);
            let cells = types.map(|ty| (effects::allocate_private(ty, count), ty)).collect();
            let array = Mutable { cells, length: length.to_ix(), of: PhantomData };
            let memories: Vec<MemoryId> = array.cells.iter().map(|(memory, _)| *memory).collect();
            Block::each(Exp::from(i64::from(effects::block_threads())), &|_| {
                initial.clone().push::<Thread>().write_in(&memories);
            });
            array
        })
    }

    /// Global memory that is a parameter of the kernel.
    pub(crate) fn global(cells: Vec<(MemoryId, ScalarType)>, length: Ix) -> Mutable<T> {
        Mutable { cells, length, of: PhantomData }
    }

    /// The length.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> Ix {
        self.length
    }

    /// What `f` makes of an index that is in the array; zeros and a failure where it is not.
    fn at(&self, place: Place, index: Ix, f: impl FnOnce(Term) -> Vec<Term>) -> Vec<Term> {
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
    pub fn read(&self, index: impl Into<Ix>) -> T::Exp {
        T::from_terms(self.at(Place::caller("read"), index.into(), |index| {
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
    pub fn write(&self, index: impl Into<Ix>, value: T::Exp) {
        self.put(Place::caller("write"), index.into(), &value);
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
        let place = Place::caller("write_all");
        array.write(&|index, value| self.put(place, index, &value));
    }

    fn put(&self, place: Place, index: Ix, value: &T::Exp) {
        at_place(place, || {
            check::if_within(index, self.length, place, |index| {
                for ((memory, _), term) in self.cells.iter().zip(T::terms(value)) {
                    effects::store(*memory, index.term(), term);
                }
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
        let place = Place::caller("freeze");
        at_place(place, || {
            Block::sync();
            Pull::in_memory(self.length, self.cells)
        })
    }
}

macro_rules! updates {
    ($bound:ident: $($(#[$doc:meta])* $name:ident $op:ident;)*) => {
        impl<T: AtomicElt + $bound> Mutable<T> {
            $($(#[$doc])*
            #[track_caller]
            pub fn $name(&self, index: impl Into<Ix>, value: impl Into<Exp<T>>) -> Exp<T> {
                let place = Place::caller(stringify!($name));
                self.update(AtomicOp::$op, place, index.into(), &[value.into().term()])
            })*
        }
    };
}
updates! { Number:
    /// Adds to an element at once. Gives the element before.
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
    atomic_add Add;
    /// Replaces an element at once. Gives the element before.
    ///
    /// ```
    /// use pumice::kernel::{Block, Ix, Mutable, Pull, preview, replicate};
    /// use pumice::Exp;
    /// let result = preview(32, &[5, 3, 6, 1], |xs: Pull<i32, Ix>| {
    ///     let blocks = xs.split_up(4).map(|part| {
    ///         let cell = Mutable::shared(replicate(1, Exp::<i32>::from(0)));
    ///         let update = cell.clone();
    ///         part.map(move |x| update.atomic_exchange(0, x * 0 + 8)).push::<Block>().force();
    ///         cell.freeze().take(1).push_by::<Block>(1)
    ///     });
    ///     blocks.concat_by(1, 1usize)
    /// })?;
    /// assert_eq!(result, [8]);
    /// # Ok::<(), pumice::kernel::PreviewError>(())
    /// ```
    atomic_exchange Exchange;
}
updates! { Integer:
    /// Subtracts from an element at once. Gives the element before.
    ///
    /// ```
    /// use pumice::kernel::{Block, Ix, Mutable, Pull, preview, replicate};
    /// use pumice::Exp;
    /// let result = preview(32, &[5, 3, 6, 1], |xs: Pull<i32, Ix>| {
    ///     let blocks = xs.split_up(4).map(|part| {
    ///         let cell = Mutable::shared(replicate(1, Exp::<i32>::from(0)));
    ///         let update = cell.clone();
    ///         part.map(move |x| update.atomic_sub(0, x)).push::<Block>().force();
    ///         cell.freeze().take(1).push_by::<Block>(1)
    ///     });
    ///     blocks.concat_by(1, 1usize)
    /// })?;
    /// assert_eq!(result, [-15]);
    /// # Ok::<(), pumice::kernel::PreviewError>(())
    /// ```
    atomic_sub Sub;
    /// Makes an element the smaller one at once. Gives the element before.
    ///
    /// ```
    /// use pumice::kernel::{Block, Ix, Mutable, Pull, preview, replicate};
    /// use pumice::Exp;
    /// let result = preview(32, &[5, 3, 6, 1], |xs: Pull<i32, Ix>| {
    ///     let blocks = xs.split_up(4).map(|part| {
    ///         let cell = Mutable::shared(replicate(1, Exp::<i32>::from(9)));
    ///         let update = cell.clone();
    ///         part.map(move |x| update.atomic_min(0, x)).push::<Block>().force();
    ///         cell.freeze().take(1).push_by::<Block>(1)
    ///     });
    ///     blocks.concat_by(1, 1usize)
    /// })?;
    /// assert_eq!(result, [1]);
    /// # Ok::<(), pumice::kernel::PreviewError>(())
    /// ```
    atomic_min Min;
    /// Makes an element the larger one at once. Gives the element before.
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
    atomic_max Max;
    /// Keeps the bits of an element that are in both, at once. Gives the element before.
    ///
    /// ```
    /// use pumice::kernel::{Block, Ix, Mutable, Pull, preview, replicate};
    /// use pumice::Exp;
    /// let result = preview(32, &[5, 3, 6, 1], |xs: Pull<i32, Ix>| {
    ///     let blocks = xs.split_up(4).map(|part| {
    ///         let cell = Mutable::shared(replicate(1, Exp::<i32>::from(-1)));
    ///         let update = cell.clone();
    ///         part.map(move |x| update.atomic_and(0, x)).push::<Block>().force();
    ///         cell.freeze().take(1).push_by::<Block>(1)
    ///     });
    ///     blocks.concat_by(1, 1usize)
    /// })?;
    /// assert_eq!(result, [0]);
    /// # Ok::<(), pumice::kernel::PreviewError>(())
    /// ```
    atomic_and And;
    /// Adds bits to an element at once. Gives the element before.
    ///
    /// ```
    /// use pumice::kernel::{Block, Ix, Mutable, Pull, preview, replicate};
    /// use pumice::Exp;
    /// let result = preview(32, &[5, 3, 6, 1], |xs: Pull<i32, Ix>| {
    ///     let blocks = xs.split_up(4).map(|part| {
    ///         let cell = Mutable::shared(replicate(1, Exp::<i32>::from(0)));
    ///         let update = cell.clone();
    ///         part.map(move |x| update.atomic_or(0, x)).push::<Block>().force();
    ///         cell.freeze().take(1).push_by::<Block>(1)
    ///     });
    ///     blocks.concat_by(1, 1usize)
    /// })?;
    /// assert_eq!(result, [7]);
    /// # Ok::<(), pumice::kernel::PreviewError>(())
    /// ```
    atomic_or Or;
    /// Flips bits of an element at once. Gives the element before.
    ///
    /// ```
    /// use pumice::kernel::{Block, Ix, Mutable, Pull, preview, replicate};
    /// use pumice::Exp;
    /// let result = preview(32, &[5, 3, 6, 1], |xs: Pull<i32, Ix>| {
    ///     let blocks = xs.split_up(4).map(|part| {
    ///         let cell = Mutable::shared(replicate(1, Exp::<i32>::from(0)));
    ///         let update = cell.clone();
    ///         part.map(move |x| update.atomic_xor(0, x)).push::<Block>().force();
    ///         cell.freeze().take(1).push_by::<Block>(1)
    ///     });
    ///     blocks.concat_by(1, 1usize)
    /// })?;
    /// assert_eq!(result, [1]);
    /// # Ok::<(), pumice::kernel::PreviewError>(())
    /// ```
    atomic_xor Xor;
}

impl<T: AtomicElt + Integer> Mutable<T> {
    /// Replaces an element at once if it equals `expected`. Gives the element before.
    ///
    /// ```
    /// use pumice::kernel::{Block, Ix, Mutable, Pull, preview, replicate};
    /// use pumice::Exp;
    /// let result = preview(32, &[5, 3, 6, 1], |xs: Pull<i32, Ix>| {
    ///     let blocks = xs.split_up(4).map(|part| {
    ///         let cell = Mutable::shared(replicate(1, Exp::<i32>::from(0)));
    ///         let update = cell.clone();
    ///         part.map(move |x| update.atomic_compare_exchange(0, 0, x.min(1))).push::<Block>().force();
    ///         cell.freeze().take(1).push_by::<Block>(1)
    ///     });
    ///     blocks.concat_by(1, 1usize)
    /// })?;
    /// assert_eq!(result, [1]);
    /// # Ok::<(), pumice::kernel::PreviewError>(())
    /// ```
    #[track_caller]
    pub fn atomic_compare_exchange(
        &self,
        index: impl Into<Ix>,
        expected: impl Into<Exp<T>>,
        value: impl Into<Exp<T>>,
    ) -> Exp<T> {
        let operands = [expected.into().term(), value.into().term()];
        let place = Place::caller("atomic_compare_exchange");
        self.update(AtomicOp::CompareExchange, place, index.into(), &operands)
    }
}

impl<T: AtomicElt> Mutable<T> {
    /// Reads a flag: what its writer wrote before [`Mutable::release`] can be read after.
    ///
    /// ```
    /// use pumice::kernel::{Block, Ix, Mutable, Pull, preview, replicate};
    /// use pumice::Exp;
    /// let result = preview(32, &[5, 3, 6, 1], |xs: Pull<i32, Ix>| {
    ///     let blocks = xs.split_up(4).map(|part| {
    ///         let cell = Mutable::shared(replicate(1, Exp::<i32>::from(0)));
    ///         let update = cell.clone();
    ///         part.map(move |x| {
    ///                 update.release(0, 7);
    ///                 update.acquire(0) + x
    ///             }).push::<Block>().force();
    ///         cell.freeze().take(1).push_by::<Block>(1)
    ///     });
    ///     blocks.concat_by(1, 1usize)
    /// })?;
    /// assert_eq!(result, [7]);
    /// # Ok::<(), pumice::kernel::PreviewError>(())
    /// ```
    #[track_caller]
    pub fn acquire(&self, index: impl Into<Ix>) -> Exp<T> {
        let place = Place::caller("acquire");
        self.update(AtomicOp::Load, place, index.into(), &[])
    }

    /// Writes a flag: what this thread wrote before can be read by who sees it with [`Mutable::acquire`].
    ///
    /// ```
    /// use pumice::kernel::{Block, Ix, Mutable, Pull, preview, replicate};
    /// use pumice::Exp;
    /// let result = preview(32, &[5, 3, 6, 1], |xs: Pull<i32, Ix>| {
    ///     let blocks = xs.split_up(4).map(|part| {
    ///         let cell = Mutable::shared(replicate(1, Exp::<i32>::from(0)));
    ///         let update = cell.clone();
    ///         part.map(move |x| {
    ///                 update.release(0, 9);
    ///                 x
    ///             }).push::<Block>().force();
    ///         cell.freeze().take(1).push_by::<Block>(1)
    ///     });
    ///     blocks.concat_by(1, 1usize)
    /// })?;
    /// assert_eq!(result, [9]);
    /// # Ok::<(), pumice::kernel::PreviewError>(())
    /// ```
    #[track_caller]
    pub fn release(&self, index: impl Into<Ix>, value: impl Into<Exp<T>>) {
        let Some((memory, ty)) = self.cells.first().copied() else { return };
        let value = value.into().term();
        self.at(Place::caller("release"), index.into(), |index| {
            effects::atomic(AtomicOp::Store, memory, ty, index, &[value], false);
            Vec::new()
        });
    }

    fn update(&self, op: AtomicOp, place: Place, index: Ix, operands: &[Term]) -> Exp<T> {
        let zero = Exp::from_term(pumice_scalar::Constant::zero(T::TYPE).into());
        let Some((memory, ty)) = self.cells.first().copied() else { return zero };
        let before = self.at(place, index, |index| {
            effects::atomic(op, memory, ty, index, operands, true).into_iter().collect()
        });
        before.first().map_or(zero, |before| Exp::from_term(*before))
    }
}

/// What this thread wrote before is visible to its block before what it writes after.
#[track_caller]
pub fn fence_block() {
    fence(Scope::Block, Place::caller("fence_block"));
}

/// What this thread wrote before is visible to every thread before what it writes after, and what it reads after is not
/// older than what it read before.
///
/// Atomics other than [`Mutable::release`] and [`Mutable::acquire`] order nothing but themselves. Who learns from one that
/// another block is done, and then reads what that wrote, needs two fences: the writer's before the atomic, and the
/// reader's after it. Here the last block to be done adds up what all wrote:
///
/// ```
/// use pumice::kernel::{Block, Ix, Loops, Mutable, Pull, Within, cond, define, fence_grid};
/// define("total", 32, |xs: Pull<i32, Ix>, parts: Mutable<i32>, done: Mutable<i64>| {
///     let tiles = xs.tiles(32);
///     Block::distribute(tiles.len(), &|block| {
///         Block::for_each(1.into(), &|_| {
///             parts.write(block + 1, tiles.at(block).seq_reduce(0.into(), |a, b| a + b));
///             fence_grid(); // the part, then the count
///             let before = done.atomic_add(0, 1);
///             let sum = || {
///                 fence_grid(); // the count, then the parts
///                 let from = parts.clone();
///                 let all = Pull::<i32, Ix>::new(tiles.len(), move |i| from.read(i + 1));
///                 parts.write(0, all.seq_reduce(0.into(), |a, b| a + b));
///             };
///             cond(before.eq(tiles.len() - 1), sum, || {});
///         });
///     });
/// })?;
/// # Ok::<(), pumice::kernel::BuildError>(())
/// ```
#[track_caller]
pub fn fence_grid() {
    fence(Scope::Grid, Place::caller("fence_grid"));
}

fn fence(scope: Scope, place: Place) {
    at_place(place, || effects::fence(scope));
}
