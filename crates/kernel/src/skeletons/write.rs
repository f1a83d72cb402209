//! Writing a pull array to memory, every element once.

use crate::effects::{self, sequential};
use crate::item::{Ix, Storable};
use crate::level::Loops;
use crate::{Block, Grid, Profile, Pull, Push, named, quotient, remainder};
use pumice_scalar::Exp;
use std::rc::Rc;

/// Division of the work of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WritePlan {
    /// Threads of a block.
    pub threads: u32,
    /// Neighbouring elements that a thread writes.
    pub items: u32,
    /// Rows that a block writes one after the other, where it goes row by row.
    pub rows: u32,
    /// Planes whose rows it writes so.
    pub planes: u32,
}

/// An element that costs more than this is written alone: the threads are busy enough, and registers are dear.
const EXPENSIVE: u32 = 400;

/// An element that costs more than this is written with few others, however small it is.
const CHEAP: u32 = 24;

/// Rows of which a thread makes elements where these are large and rows share loads in one plane only.
const MANY_ROWS: u32 = 8;

/// Elements of a thread that has as many rows.
const THREAD_ELEMENTS: u32 = 16;

/// Threads of a multiprocessor that suffice where each has the loads of so many rows under way, those of all planes together. By
/// itself a compiler makes room for more threads, with fewer registers, and so fewer loads.
const BUSY_THREADS: [(u32, u32); 2] = [(2 * MANY_ROWS, 384), (MANY_ROWS, 1024)];

/// Elements that share loads are made by one thread while they cost no more than this together.
const SHARED_COST: u32 = 4096;

/// Returns `items`, or fewer such that rows of `columns` elements have a whole number of them: an access of small elements may
/// be cut to 4 of them, and else it is one.
pub(super) fn dividing(items: i64, columns: i64) -> i64 {
    let mut items = items;
    while items > 4 && columns % items != 0 {
        items /= 2;
    }
    if columns % items == 0 { items } else { 1 }
}

impl WritePlan {
    /// Divides the writing of elements whose largest scalar has `bytes` bytes and whose computation costs about `cost`
    /// instructions.
    pub fn new(profile: &Profile, bytes: usize, cost: u32) -> WritePlan {
        let most = if cost > CHEAP { 4 } else { 16 };
        let widest = (profile.vector_bytes as usize / bytes.max(1)).clamp(1, most) as u32;
        WritePlan {
            threads: profile.threads,
            items: if cost > EXPENSIVE { 1 } else { widest },
            rows: 1,
            planes: 1,
        }
    }

    /// Divides the writing of a matrix whose elements are read down the columns. A piece of memory that one row's element
    /// is read from holds those of the next rows too; a block writes these soon after, while the piece is in its cache.
    pub fn across(profile: &Profile, bytes: usize) -> WritePlan {
        let piece = if profile.coalesces { 32 } else { 64 };
        let rows = (piece / bytes.max(1)).max(1) as u32;
        WritePlan { threads: profile.threads.min(256), items: 1, rows, planes: 1 }
    }

    /// Divides the writing of an array row by row into whole rows, or equal parts of them. A thread writes neighbours only if
    /// every row begins where a wide access may.
    pub fn by_rows(self, profile: &Profile, columns: i64) -> WritePlan {
        let items = dividing(self.items.into(), columns) as u32;
        if !profile.coalesces {
            return WritePlan { items, ..self };
        }
        let groups = u64::try_from(columns / i64::from(items)).unwrap_or(0);
        let tiles = groups.div_ceil(self.threads.into()).max(1);
        let threads = groups.div_ceil(tiles).next_multiple_of(32).max(1);
        let threads = u32::try_from(threads).unwrap_or(u32::MAX).min(self.threads);
        WritePlan { threads, items, ..self }
    }

    /// Divides the writing of an array whose neighbouring rows (and planes, where it says so) have loads in common: a thread
    /// makes elements of several, as long as registers last and there are blocks enough to keep the device busy. An element
    /// costs about `cost` instructions.
    pub fn sharing(self, profile: &Profile, (rows, planes): (bool, bool), cost: u32, size: i64) -> WritePlan {
        if !profile.coalesces {
            return self;
        }
        let wanted = u64::try_from(size).unwrap_or(0) / (self.tile() as u64 * profile.busy_blocks.max(1));
        let affordable = u64::from(SHARED_COST / (cost.max(1) * self.items));
        let most = wanted.min(affordable);
        let at_most = |most: u64| [4, 2, 1].into_iter().find(|count| u64::from(*count) <= most).unwrap_or(1);
        // With many rows, half as many blocks run at a time.
        let has_many = !planes && self.items * MANY_ROWS <= THREAD_ELEMENTS;
        let rows = match rows {
            true if has_many && affordable.min(2 * wanted) >= MANY_ROWS.into() => MANY_ROWS,
            true => at_most(most),
            false => 1,
        };
        let planes = if planes { at_most(most / u64::from(rows)) } else { 1 };
        WritePlan { rows, planes, ..self }
    }

    /// Returns the number of neighbouring indices that a block takes in a dimension before that of the columns: 0 is the one right before.
    fn count(&self, from_last: usize) -> i64 {
        match from_last {
            0 => self.rows.into(),
            1 => self.planes.into(),
            _ => 1,
        }
    }

    /// Threads that a multiprocessor needs, if those are few.
    fn busy_threads(&self) -> Option<u32> {
        let busy = |(rows, _): &(u32, u32)| self.rows * self.planes >= *rows;
        BUSY_THREADS.into_iter().find(busy).map(|(_, threads)| threads)
    }

    /// Elements that a block writes.
    pub fn tile(&self) -> usize {
        self.threads as usize * self.items as usize
    }
}

/// Writes a pull array, block by block.
pub fn write<T: Storable>(xs: Pull<T, Ix>, plan: WritePlan) -> Push<Grid, T, Ix> {
    let length = xs.len();
    xs.tiles(plan.tile())
        .map(move |tile| tile.push_items(plan.threads as usize, plan.items as usize))
        .concat_trusted(plan.tile() as i64, length)
}

/// Gives the element of an array at an index of as many dimensions as it has.
pub type At<T> = Rc<dyn Fn(&[Ix]) -> <T as crate::Item>::Form>;

/// A cheaper way to the elements that are away from an array's borders.
pub struct Interior<T: Storable> {
    /// Gives an element whose index is, in each dimension, from the margin to below the extent less the margin.
    pub at: At<T>,
    /// A margin per dimension.
    pub margins: Vec<i64>,
}

/// Writes an array row by row, so that an element's index is known without dividing its number: a block takes a part of
/// one row, or of a few neighbouring ones, and finds the other indices once. Good where rows are long enough to fill
/// blocks, and the index is not linear.
///
/// With an interior, a block whose rows are away from the borders asks nothing about them but at the ends of rows, and a
/// thread makes the elements of all its block's rows in a few neighbouring columns, so that these share what they load.
pub fn write_rows<T: Storable>(
    extents: Vec<Ix>,
    at: At<T>,
    interior: Option<Interior<T>>,
    plan: WritePlan,
) -> Push<Grid, T, Ix> {
    let size = extents.iter().copied().reduce(|all, extent| all * extent).unwrap_or(Exp::from(1));
    let (columns, outer) = match extents.split_last() {
        Some((columns, outer)) => (*columns, outer.to_vec()),
        None => (Exp::from(1), Vec::new()),
    };
    let counts: Vec<i64> = (0..outer.len()).rev().map(|from_last| plan.count(from_last)).collect();
    let tile = plan.tile() as i64;
    let tiles = named((columns + (tile - 1)) / tile, "tiles");
    let groups: Vec<Ix> =
        outer.iter().zip(&counts).map(|(extent, count)| (*extent + (count - 1)) / *count).collect();
    let blocks = groups.iter().fold(tiles, |all, groups| all * *groups);
    let interior = interior.map(Rc::new);
    let parts = Pull::<Push<Block, T, Ix>, Ix>::new(blocks, move |block| {
        let strip = if outer.is_empty() { Exp::from(0) } else { quotient(block, tiles) };
        let start = if outer.is_empty() { block } else { remainder(block, tiles) };
        let start = named(start * tile, "start");
        let names = ["first_row", "first_plane"].into_iter().chain(std::iter::repeat("first"));
        let first = split(strip, &groups).into_iter().zip(&counts).rev().zip(names);
        let mut first: Vec<Ix> = first.map(|((group, count), name)| named(group * *count, name)).collect();
        first.reverse();
        let part = Part {
            first,
            counts: counts.clone(),
            outer: outer.clone(),
            start,
            length: named((columns - start).min(tile), "length"),
            columns,
            plan,
        };
        let (at, interior) = (at.clone(), interior.clone());
        Push::trusted(part.length, move |write| match &interior {
            None => part.write_each::<T>(&at, write),
            Some(interior) => {
                if let Some(threads) = plan.busy_threads() {
                    effects::resident((threads / plan.threads).max(1));
                }
                part.write_interior(&at, interior, write);
            }
        })
    });
    parts.concat_trusted(0, size)
}

/// The index in these dimensions that a number stands for.
fn split(number: Ix, extents: &[Ix]) -> Vec<Ix> {
    let mut rest = number;
    let mut index: Vec<Ix> = Vec::with_capacity(extents.len());
    for extent in extents.iter().skip(1).rev() {
        index.push(remainder(rest, *extent));
        rest = quotient(rest, *extent);
    }
    // It is not larger, but intervals do not see that, and would have products with it in 64 bits.
    index.extend(extents.first().map(|extent| rest.min(*extent - 1)));
    index.reverse();
    index
}

/// The elements that a block of [`write_rows`] writes.
#[derive(Clone)]
struct Part {
    /// The index of the first row, in all dimensions but that of the columns.
    first: Vec<Ix>,
    /// Number of indices from there on, in each of these dimensions, if there are so many.
    counts: Vec<i64>,
    /// The extents of these dimensions.
    outer: Vec<Ix>,
    /// The first column, and how many from there on.
    start: Ix,
    length: Ix,
    /// Number of columns of a row.
    columns: Ix,
    plan: WritePlan,
}

impl Part {
    /// The number of an element.
    fn number(&self, row: &[Ix], column: Ix) -> Ix {
        let pairs = self.outer.iter().zip(row).map(|(extent, index)| (*extent, *index));
        let row = pairs.reduce(|(_, before), (extent, index)| (extent, before * extent + index));
        row.map_or(column, |(_, row)| row * self.columns + column)
    }

    /// The number and the element of an index.
    fn element<T: Storable>(&self, at: &At<T>, row: &[Ix], column: Ix) -> (Ix, T::Form) {
        (self.number(row, column), at(&[row, &[column]].concat()))
    }

    /// Writes all elements, one row after the other.
    fn write_each<T: Storable>(&self, at: &At<T>, write: &dyn Fn(Ix, T::Form)) {
        self.write_rows_from::<T>(&mut Vec::new(), at, write);
    }

    /// Writes all elements of rows whose indices begin with these.
    fn write_rows_from<T: Storable>(&self, row: &mut Vec<Ix>, at: &At<T>, write: &dyn Fn(Ix, T::Form)) {
        let dimension = row.len();
        let Some(first) = self.first.get(dimension).copied() else {
            return self.write_row::<T>(row, at, write);
        };
        let mut next = |index: Ix| {
            row.push(index);
            self.write_rows_from::<T>(row, at, write);
            row.pop();
        };
        if self.counts[dimension] == 1 {
            return next(first);
        }
        let end = (first + self.counts[dimension]).min(self.outer[dimension]);
        sequential(first.term()..end.term(), Exp::<i64>::from(1).term(), &[], |index, _| {
            next(Exp::from_term(index));
            Vec::new()
        });
    }

    fn write_row<T: Storable>(&self, row: &[Ix], at: &At<T>, write: &dyn Fn(Ix, T::Form)) {
        let (start, row, at) = (self.start, row.to_vec(), at.clone());
        let before = self.number(&row, self.start);
        Pull::<T, Ix>::new(self.length, move |i| at(&[&row[..], &[named(start + i, "column")]].concat()))
            .push_items(self.plan.threads as usize, self.plan.items as usize)
            .write(&|i, value| write(before + i, value));
    }

    /// Writes all elements; those of the interior without asking about borders, if all rows have some.
    fn write_interior<T: Storable>(&self, at: &At<T>, interior: &Interior<T>, write: &dyn Fn(Ix, T::Form)) {
        let items = i64::from(self.plan.items);
        let (margins, margin) = match interior.margins.split_last() {
            Some((margin, margins)) => (margins, *margin),
            None => (&[][..], 0),
        };
        // Of the columns, whole groups that a wide access may begin with.
        let from = named(self.start.max((margin + items - 1) / items * items), "from");
        let groups = ((self.start + self.length).min(self.columns - margin) - from) / items;
        let outer = self.first.iter().zip(&self.counts).zip(self.outer.iter().zip(margins));
        let inside = outer.fold(groups.gt(0), |all, ((first, count), (extent, margin))| {
            let begins = if *margin > 0 { first.ge(*margin) } else { Exp::from(true) };
            let ends = match (count, margin) {
                (1, 0) => Exp::from(true),
                _ => (*first + *count).le(*extent - *margin),
            };
            all & begins & ends
        });
        let fast = || {
            Block::each(groups, &|group| {
                let column = named(from + group * items, "column");
                let elements: Vec<(Ix, T::Form)> = self
                    .rows()
                    .iter()
                    .flat_map(|row| (0..items).map(move |item| (row, item)))
                    .map(|(row, item)| self.element::<T>(&interior.at, row, column + item))
                    .collect();
                elements.into_iter().for_each(|(index, value)| write(index, value));
            });
            // What is left of the rows at their ends.
            let done = named(groups * items, "done");
            let (before, left) = (named(from - self.start, "before"), named(self.length - done, "left"));
            Block::each(left * self.counts.iter().product::<i64>(), &|number| {
                let (number, row) = self.row_of(number, left);
                let column = named(self.start + number.lt(before).select(number, number + done), "column");
                let (index, value) = self.element::<T>(at, &row, column);
                write(index, value);
            });
        };
        effects::either(inside.term(), fast, || self.write_each::<T>(at, write));
    }

    /// The indices of all rows.
    fn rows(&self) -> Vec<Vec<Ix>> {
        self.first.iter().zip(&self.counts).fold(vec![Vec::new()], |rows, (first, count)| {
            let with = |row: Vec<Ix>| (0..*count).map(move |k| [&row[..], &[*first + k]].concat());
            rows.into_iter().flat_map(with).collect()
        })
    }

    /// Finds a column's number among `left`, and the row, from the number of an element.
    fn row_of(&self, number: Ix, left: Ix) -> (Ix, Vec<Ix>) {
        if self.counts.iter().all(|count| *count == 1) {
            return (number, self.first.clone());
        }
        let mut rest = quotient(number, left);
        let mut row = self.first.clone();
        for (index, count) in row.iter_mut().zip(&self.counts).rev().filter(|(_, count)| **count > 1) {
            *index += rest % *count;
            rest /= *count;
        }
        (remainder(number, left), row)
    }
}
