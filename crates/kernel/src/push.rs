//! Push arrays: a length and a program that hands every (index, element) to a writer. Nothing is branched over.

use crate::item::{Below, Forces, Form, Ix, Level, Storable};
use crate::pull::Size;
use crate::{Pull, builder};
use pumice_program::MemoryId;
use pumice_scalar::{Exp, ScalarType};
use std::cell::RefCell;
use std::marker::PhantomData;
use std::rc::Rc;

/// What a push array does, given a writer.
type Producer<T> = dyn Fn(&dyn Fn(Ix, <T as crate::item::Item>::Form));

/// A push array at a level.
pub struct Push<L: Level, T: Storable, S: Size = usize> {
    length: S,
    produce: Rc<Producer<T>>,
    level: PhantomData<L>,
}

impl<L: Level, T: Storable, S: Size> Clone for Push<L, T, S> {
    fn clone(&self) -> Self {
        Push { length: self.length, produce: self.produce.clone(), level: PhantomData }
    }
}

impl<L: Level, T: Storable, S: Size> Push<L, T, S> {
    /// The array with this length whose elements this program hands to the writer.
    pub fn new(length: S, produce: impl Fn(&dyn Fn(Ix, T::Form)) + 'static) -> Self {
        Push { length, produce: Rc::new(produce), level: PhantomData }
    }

    /// The length.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> S {
        self.length
    }

    /// Runs the program with a writer.
    pub fn write(&self, writer: &dyn Fn(Ix, T::Form)) {
        (self.produce)(writer);
    }

    /// Runs the program, writing to memory, one a scalar of the element.
    pub fn write_to(&self, cells: &[MemoryId]) {
        self.write(&|index, value| {
            for (memory, term) in cells.iter().zip(T::terms(&value)) {
                builder::store(*memory, index.term(), term);
            }
        });
    }

    /// A function of every element.
    pub fn map<F: Form>(self, f: impl Fn(T::Form) -> F + 'static) -> Push<L, F::Item, S>
    where
        F::Item: Storable,
    {
        Push::new(self.length, move |write| (self.produce)(&|i, value| write(i, f(value))))
    }

    /// Every element at another index.
    pub fn index_map(self, f: impl Fn(Ix) -> Ix + 'static) -> Self {
        Push::new(self.length, move |write| (self.produce)(&|i, value| write(f(i), value)))
    }
}

impl<L: Forces, T: Storable, S: Size> Push<L, T, S> {
    /// Writes the array, of at most `capacity` elements, to the level's memory, waits, and reads it from there.
    pub fn force_within(self, capacity: usize) -> Pull<T, S> {
        // The scalars of an element are known when the first one is written.
        let cells: RefCell<Vec<(MemoryId, ScalarType)>> = RefCell::default();
        self.write(&|index, value| {
            let terms = T::terms(&value);
            let mut cells = cells.borrow_mut();
            if cells.is_empty() {
                let allocate = |ty| (L::allocate(ty, capacity as u32), ty);
                cells.extend(terms.iter().map(|term| allocate(term.ty())));
            }
            for ((memory, _), term) in cells.iter().zip(terms) {
                builder::store(*memory, index.term(), term);
            }
        });
        L::sync();
        Pull::from_memory(self.length, cells.into_inner())
    }
}

impl<L: Forces, T: Storable> Push<L, T> {
    /// Writes the array to the level's memory, waits, and reads it from there.
    pub fn force(self) -> Pull<T> {
        let length = self.length;
        self.force_within(length)
    }
}

impl<L: Level, T: Storable, S: Size, N: Size> Pull<Push<L, T, S>, N> {
    /// The arrays side by side, one level up: array `k` starts at index `k * stride`. The last one may be shorter than
    /// the stride, and the length of the whole is given.
    pub fn concat<A: Level, R: Size>(self, stride: impl Into<Ix>, length: R) -> Push<A, T, R>
    where
        L: Below<Above = A>,
    {
        let stride: Ix = stride.into();
        Push::new(length, move |write| {
            L::distribute(self.len().to_ix(), &|part| {
                self.at(part).write(&|i, value| write(part * stride + i, value));
            });
        })
    }
}

impl<T: Storable> Pull<T, Ix> {
    /// The elements, written by the threads of a block. A part of exactly `threads * items` elements is written by its
    /// threads `items` neighbouring elements each, which is what wide loads and stores need; a shorter one an element
    /// each.
    pub fn push_items(self, threads: usize, items: usize) -> Push<crate::Block, T, Ix> {
        if items <= 1 {
            return self.push();
        }
        let full = (threads * items) as i64;
        let items = items as i64;
        Push::new(self.len(), move |write| {
            let rest = self.clone();
            builder::either(
                self.len().eq(full).term(),
                || {
                    builder::parallel(Exp::<i64>::from(threads as i64).term(), |thread| {
                        let first = Exp::<i64>::from_term(thread) * items;
                        let elements: Vec<_> = (0..items).map(|k| (first + k, self.at(first + k))).collect();
                        elements.into_iter().for_each(|(index, value)| write(index, value));
                    });
                },
                || rest.push::<crate::Block>().write(write),
            );
        })
    }
}
