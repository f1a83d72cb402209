//! Atomic updates of memory that changes, flags between blocks, and fences.
//!
//! Every update is one statement of Program IR on one column, [`Mutable::atomic_column`]; the methods with a type of their own
//! are for elements of one scalar, where rustc knows which updates there are. For elements whose columns are data the same is
//! checked while the kernel is built.

use crate::builder::with;
use crate::effects;
use crate::item::{Ix, Storable};
use crate::mutable::Mutable;
use crate::place::{at_place, here};
use pumice_program::{AtomicOp, Order, Scope};
use pumice_scalar::{Constant, Exp, Integer, Number, Place, Primitive, ScalarType, Term};

/// An element type that can be updated at once: integers and floats.
///
/// ```
/// use pumice::kernel::{AtomicElt, Grid, Ix, Loops, Mutable, Pull, define};
/// // A kernel that adds up numbers of any such type.
/// fn total<T: AtomicElt>(sum: Mutable<T>, xs: Pull<T, Ix>) {
///     Grid::for_each(xs.len(), &|i| {
///         sum.atomic_add(0, xs.at(i));
///     });
/// }
/// define("total", 32, total::<f32>)?;
/// define("total", 32, total::<u64>)?;
/// # Ok::<(), pumice::kernel::BuildError>(())
/// ```
pub trait AtomicElt: Primitive + Number {}
macro_rules! atomic_elements { ($($t:ident)*) => { $(impl AtomicElt for $t {})* }; }
atomic_elements!(i32 u32 i64 u64 f32 f64);

impl<T: Storable> Mutable<T> {
    /// Updates one column of an element at once, and returns that column as it was before (zero for [`AtomicOp::Store`],
    /// which does not read). The other columns stay as they are. A column that the elements do not have, a type for which
    /// there is no such update, and operands of another type or number are errors when the kernel is built.
    ///
    /// ```
    /// use pumice::kernel::{AtomicOp, Block, Ix, Mutable, Pull, preview, replicate};
    /// use pumice::Exp;
    /// // The sum and the largest, as the columns of one element.
    /// let result = preview(32, &[5, 3, 6, 1], |xs: Pull<i32, Ix>| {
    ///     let blocks = xs.split_up(4).map(|part| {
    ///         let cell = Mutable::<(i32, i32)>::shared(replicate(1, (Exp::from(0), Exp::from(0))));
    ///         let update = cell.clone();
    ///         let add = move |x: Exp<i32>| {
    ///             update.atomic_column(AtomicOp::Add, 0, 0, &[x.term()]);
    ///             update.atomic_column(AtomicOp::Max, 1, 0, &[x.term()]);
    ///             x
    ///         };
    ///         part.map(add).push::<Block>().force();
    ///         cell.freeze().take(1).push_by::<Block>(1)
    ///     });
    ///     blocks.concat_by(1, 1usize)
    /// })?;
    /// assert_eq!(result, [(15, 6)]);
    /// # Ok::<(), pumice::kernel::PreviewError>(())
    /// ```
    #[track_caller]
    pub fn atomic_column(
        &self,
        op: AtomicOp,
        column: usize,
        index: impl Into<Ix>,
        operands: &[Term],
    ) -> Term {
        let place = here(&format!("atomic_{}", op.name()));
        self.update_column(op, column, place, index.into(), operands)
    }

    /// Updates an element of one column at once, and returns the element before. See [`Mutable::atomic_column`]; elements of
    /// several columns are an error when the kernel is built, because no device updates those as a whole.
    ///
    /// ```
    /// use pumice::kernel::{AtomicOp, Block, Ix, Mutable, Pull, preview, replicate};
    /// use pumice::Exp;
    /// let result = preview(32, &[5, 3, 6, 1], |xs: Pull<i32, Ix>| {
    ///     let blocks = xs.split_up(4).map(|part| {
    ///         let cell = Mutable::shared(replicate(1, Exp::<i32>::from(0)));
    ///         let update = cell.clone();
    ///         part.map(move |x| update.atomic(AtomicOp::Add, 0, &[x])).push::<Block>().force();
    ///         cell.freeze().take(1).push_by::<Block>(1)
    ///     });
    ///     blocks.concat_by(1, 1usize)
    /// })?;
    /// assert_eq!(result, [15]);
    /// # Ok::<(), pumice::kernel::PreviewError>(())
    /// ```
    #[track_caller]
    pub fn atomic(&self, op: AtomicOp, index: impl Into<Ix>, operands: &[T::Form]) -> T::Form {
        let place = here(&format!("atomic_{}", op.name()));
        let count = self.cells().len();
        if count != 1 {
            at_place(place, || {
                with(|builder| {
                    builder.mistake(format!(
                        "an element of {count} columns is updated at once, and no device does that: update one column \
                         (`atomic_column`), or guard the element with a lock"
                    ));
                });
            });
            return T::from_terms(self.zeros());
        }
        let operands: Vec<Term> = operands.iter().flat_map(|operand| T::terms(operand)).collect();
        T::from_terms(vec![self.update_column(op, 0, place, index.into(), &operands)])
    }

    /// As [`Mutable::atomic_column`], at a place.
    fn update_column(&self, op: AtomicOp, column: usize, place: Place, index: Ix, operands: &[Term]) -> Term {
        let Some((memory, ty)) = self.cells().get(column).copied() else {
            let count = self.cells().len();
            at_place(place, || {
                with(|builder| {
                    builder.mistake(format!("column {column} of an element that has {count}"));
                });
            });
            return Constant::zero(ScalarType::I32).into();
        };
        let zero: Term = Constant::zero(ty).into();
        let before = self.at(place, index, |index| {
            effects::atomic(op, memory, ty, index, operands, op.reads()).into_iter().collect()
        });
        before.first().copied().unwrap_or(zero)
    }
}

macro_rules! updates {
    ($bound:ident: $($(#[$doc:meta])* $name:ident $op:ident;)*) => {
        impl<T: AtomicElt + $bound> Mutable<T> {
            $($(#[$doc])*
            #[track_caller]
            pub fn $name(&self, index: impl Into<Ix>, value: impl Into<Exp<T>>) -> Exp<T> {
                let place = here(stringify!($name));
                Exp::from_term(self.update_column(AtomicOp::$op, 0, place, index.into(), &[value.into().term()]))
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
        let place = here("atomic_compare_exchange");
        Exp::from_term(self.update_column(AtomicOp::CompareExchange, 0, place, index.into(), &operands))
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
        let place = here("acquire");
        Exp::from_term(self.update_column(AtomicOp::Load(Order::Ordered), 0, place, index.into(), &[]))
    }

    /// Writes a flag: what this thread wrote before can be read by a thread that sees it with [`Mutable::acquire`].
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
        let place = here("release");
        self.update_column(AtomicOp::Store(Order::Ordered), 0, place, index.into(), &[value.into().term()]);
    }
}

/// Orders memory for the block: what this thread wrote before is visible to its block before what it writes after.
///
/// ```
/// use pumice::kernel::{Grid, Ix, Loops, Mutable, Pull, define, fence_block};
/// define("ordered", 32, |xs: Pull<i32, Ix>, out: Mutable<i32>| {
///     Grid::for_each(xs.len(), &|i| {
///         out.write(i * 2, xs.at(i));
///         fence_block(); // the first, then the second
///         out.write(i * 2 + 1, xs.at(i));
///     });
/// })?;
/// # Ok::<(), pumice::kernel::BuildError>(())
/// ```
#[track_caller]
pub fn fence_block() {
    fence(Scope::Block, here("fence_block"));
}

/// Orders memory for the grid: what this thread wrote before is visible to every thread before what it writes after, and what it reads after is not
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
    fence(Scope::Grid, here("fence_grid"));
}

fn fence(scope: Scope, place: Place) {
    at_place(place, || effects::fence(scope));
}
