//! Skeletons of users in place of ours: how array programs fold rows and write arrays, as functions of the kernel language.
//!
//! A skeleton gets pull arrays, so it cannot read outside them, and its result is written through a check: a
//! skeleton can give wrong results, but never touch what is not its own.

use crate::item::{Dynamic, Ix, Scalars};
use crate::level::Grid;
use crate::profile::Profile;
use crate::{Pull, Push, Rows, check};
use pumice_scalar::Place;
use std::fmt;
use std::rc::Rc;
use std::sync::Arc;

/// An associative operator on elements.
pub type Operator = Rc<dyn Fn(Scalars, Scalars) -> Scalars>;

/// A fold that a skeleton is to do: reduce every row of a matrix.
#[derive(Clone)]
pub struct FoldRows {
    /// Number of rows: the length of the result.
    pub rows: Ix,
    /// Elements of a row; there may be none.
    pub columns: Ix,
    /// The rows.
    pub matrix: Rows<Dynamic>,
    /// An associative operator, which need not commute.
    pub operator: Operator,
    /// Its neutral element.
    pub neutral: Scalars,
}

impl FoldRows {
    /// The element at a row and column, which are checked.
    #[track_caller]
    pub fn at(&self, row: impl Into<Ix>, column: impl Into<Ix>) -> Scalars {
        self.matrix.at(row).at(column)
    }
}

/// A way to fold the rows of a matrix.
///
/// [`fold_skeleton`] makes one of a function.
pub trait FoldSkeleton: Send + Sync {
    /// Its name: kernels are called so, hence a C identifier.
    fn name(&self) -> &str;
    /// Returns the number of threads of a block, on a device like this.
    fn threads(&self, profile: &Profile) -> u32;
    /// Describes the kernel: an array with the result of every row.
    fn fold(&self, fold: FoldRows, profile: &Profile) -> Push<Grid, Dynamic, Ix>;
}

/// A way to write a pull array to memory.
///
/// [`write_skeleton`] makes one of a function.
pub trait WriteSkeleton: Send + Sync {
    /// Its name: kernels are called so, hence a C identifier.
    fn name(&self) -> &str;
    /// Returns the number of threads of a block, on a device like this.
    fn threads(&self, profile: &Profile) -> u32;
    /// Describes the kernel: an array with the same elements, each of them once.
    fn write(&self, xs: Pull<Dynamic, Ix>, profile: &Profile) -> Push<Grid, Dynamic, Ix>;
}

/// The skeletons that replace ours; where there is none, ours is used.
///
/// ```
/// use pumice::kernel::skeletons::{Skeletons, write_skeleton};
/// let skeletons = Skeletons { write: Some(write_skeleton("plain", 128, |xs, _| xs.push())), ..Skeletons::default() };
/// assert!(skeletons.fold.is_none());
/// ```
#[derive(Clone, Default)]
pub struct Skeletons {
    /// Skeleton that folds rows.
    pub fold: Option<Arc<dyn FoldSkeleton>>,
    /// Skeleton that writes pull arrays.
    pub write: Option<Arc<dyn WriteSkeleton>>,
}

impl fmt::Debug for Skeletons {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fold = self.fold.as_ref().map(|skeleton| skeleton.name());
        let write = self.write.as_ref().map(|skeleton| skeleton.name());
        f.debug_struct("Skeletons").field("fold", &fold).field("write", &write).finish()
    }
}

/// Two are the same if they are one value: functions cannot be compared.
impl PartialEq for Skeletons {
    fn eq(&self, other: &Self) -> bool {
        fn same<T: ?Sized>(one: &Option<Arc<T>>, other: &Option<Arc<T>>) -> bool {
            match (one, other) {
                (None, None) => true,
                (Some(one), Some(other)) => std::ptr::addr_eq(Arc::as_ptr(one), Arc::as_ptr(other)),
                _ => false,
            }
        }
        same(&self.fold, &other.fold) && same(&self.write, &other.write)
    }
}

impl Eq for Skeletons {}

struct Named<F> {
    name: String,
    threads: u32,
    f: F,
}

impl<F> FoldSkeleton for Named<F>
where
    F: Fn(FoldRows, &Profile) -> Push<Grid, Dynamic, Ix> + Send + Sync,
{
    fn name(&self) -> &str {
        &self.name
    }
    fn threads(&self, _: &Profile) -> u32 {
        self.threads
    }
    fn fold(&self, fold: FoldRows, profile: &Profile) -> Push<Grid, Dynamic, Ix> {
        (self.f)(fold, profile)
    }
}

impl<F> WriteSkeleton for Named<F>
where
    F: Fn(Pull<Dynamic, Ix>, &Profile) -> Push<Grid, Dynamic, Ix> + Send + Sync,
{
    fn name(&self) -> &str {
        &self.name
    }
    fn threads(&self, _: &Profile) -> u32 {
        self.threads
    }
    fn write(&self, xs: Pull<Dynamic, Ix>, profile: &Profile) -> Push<Grid, Dynamic, Ix> {
        (self.f)(xs, profile)
    }
}

/// A function as a skeleton for folds, with blocks of `threads` threads.
///
/// ```
/// use pumice::kernel::Pull;
/// use pumice::kernel::skeletons::{FoldRows, fold_skeleton};
/// // One thread a row: good where there are many short ones.
/// let alone = fold_skeleton("alone", 64, |fold: FoldRows, _| {
///     let FoldRows { rows, matrix, operator, neutral, .. } = fold;
///     let result = move |row| matrix.at(row).seq_reduce(neutral.clone(), &*operator);
///     Pull::new(rows, result).push()
/// });
/// assert_eq!(alone.name(), "alone");
/// ```
pub fn fold_skeleton<F>(name: impl Into<String>, threads: u32, f: F) -> Arc<dyn FoldSkeleton>
where
    F: Fn(FoldRows, &Profile) -> Push<Grid, Dynamic, Ix> + Send + Sync + 'static,
{
    Arc::new(Named { name: name.into(), threads, f })
}

/// A function as a skeleton for writing, with blocks of `threads` threads.
///
/// ```
/// use pumice::kernel::Block;
/// use pumice::kernel::skeletons::write_skeleton;
/// // Every thread writes four neighbours.
/// let by_four = write_skeleton("by_four", 128, |xs, _| {
///     let length = xs.len();
///     xs.tiles(512).map(|tile| tile.push_by::<Block>(4)).concat_by(512, length)
/// });
/// assert_eq!(by_four.name(), "by_four");
/// ```
pub fn write_skeleton<F>(name: impl Into<String>, threads: u32, f: F) -> Arc<dyn WriteSkeleton>
where
    F: Fn(Pull<Dynamic, Ix>, &Profile) -> Push<Grid, Dynamic, Ix> + Send + Sync + 'static,
{
    Arc::new(Named { name: name.into(), threads, f })
}

/// Bounds the result of a user's skeleton by this length: an index out of bounds is an error when the kernel runs.
pub fn within(push: Push<Grid, Dynamic, Ix>, length: Ix, place: Place) -> Push<Grid, Dynamic, Ix> {
    let all = push.clone();
    Push::trusted(length, move |write| {
        push.write(&|index, value| {
            check::if_within(index, length, place, |index| write(index, value.clone()));
        });
    })
    .complete_if(move || check::same(all.len(), length) && all.is_complete())
}
