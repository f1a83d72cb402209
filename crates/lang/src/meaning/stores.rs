//! Contents of memory: elements that were written once, and mutable memory, with the accesses to it since the last barrier. Only data, as in
//! `value.rs`; the rules are in `pushes.rs` and `memory.rs`.

use super::costs::{CostLevel, Meter};
use super::value::Value;
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

/// Bytes of a level's memory, as long as something refers to them.
pub(super) struct Room {
    level: CostLevel,
    bytes: u64,
    meter: Rc<Meter>,
}

impl Room {
    fn of(level: CostLevel, values: &[Value<'_>], meter: &Rc<Meter>) -> Rc<Room> {
        let bytes = values.iter().map(Value::bytes).sum();
        meter.taken(level, bytes);
        Rc::new(Room { level, bytes, meter: meter.clone() })
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        self.meter.freed(self.level, self.bytes);
    }
}

/// Elements in a level's memory.
pub(super) struct Memory<'p> {
    pub level: CostLevel,
    pub values: Vec<Value<'p>>,
    _room: Rc<Room>,
}

impl<'p> Memory<'p> {
    pub fn new(level: CostLevel, values: Vec<Value<'p>>, meter: &Rc<Meter>) -> Memory<'p> {
        let room = Room::of(level, &values, meter);
        Memory { level, values, _room: room }
    }
}

/// Mutable memory: one that is shared by all threads, or one per thread.
#[derive(Clone)]
pub(super) struct Changing<'p> {
    pub level: CostLevel,
    initial: Rc<[Value<'p>]>,
    /// The changed elements, by thread; shared memory has those of thread 0.
    changed: RefCell<HashMap<usize, Vec<Value<'p>>>>,
    /// The accesses to each element that a later one may race with.
    accesses: RefCell<HashMap<usize, Vec<Access>>>,
    room: Rc<Room>,
}

/// An access to an element of mutable memory.
#[derive(Clone, Copy)]
pub(super) struct Access {
    pub block: usize,
    pub thread: usize,
    /// Number of barriers before it.
    pub barriers: u64,
    pub modifies: bool,
    pub atomic: bool,
}

impl Access {
    fn is_alike(&self, other: &Access) -> bool {
        (self.modifies, self.atomic) == (other.modifies, other.atomic)
    }

    fn races_with(&self, other: &Access) -> bool {
        let is_ordered =
            self.block == other.block && (self.thread == other.thread || self.barriers != other.barriers);
        !is_ordered && (self.modifies || other.modifies) && !(self.atomic && other.atomic)
    }
}

impl<'p> Changing<'p> {
    pub fn new(level: CostLevel, values: Vec<Value<'p>>, meter: &Rc<Meter>) -> Changing<'p> {
        let room = Room::of(level, &values, meter);
        Changing {
            level,
            initial: values.into(),
            changed: RefCell::default(),
            accesses: RefCell::default(),
            room,
        }
    }

    /// Returns the number of elements.
    pub fn length(&self) -> usize {
        self.initial.len()
    }

    fn owner(&self, thread: usize) -> usize {
        if self.level == CostLevel::Thread { thread } else { 0 }
    }

    /// Whether a thread has changed nothing so far: its first change copies all elements.
    pub fn is_initial(&self, thread: usize) -> bool {
        !self.changed.borrow().contains_key(&self.owner(thread))
    }

    /// Returns an element, as a thread sees it.
    pub fn get(&self, thread: usize, number: usize) -> Option<Value<'p>> {
        match self.changed.borrow().get(&self.owner(thread)) {
            Some(changed) => changed.get(number).cloned(),
            None => self.initial.get(number).cloned(),
        }
    }

    /// Replaces an element, if the index is in bounds.
    pub fn set(&self, thread: usize, number: usize, value: Value<'p>) {
        let mut changed = self.changed.borrow_mut();
        let own = changed.entry(self.owner(thread)).or_insert_with(|| self.initial.to_vec());
        if let Some(place) = own.get_mut(number) {
            *place = value;
        }
    }

    /// Records an access to an element that several threads share. Returns whether it races with an earlier one.
    pub fn races(&self, number: usize, access: Access) -> bool {
        if self.level == CostLevel::Thread {
            return false;
        }
        let mut accesses = self.accesses.borrow_mut();
        let others = accesses.entry(number).or_default();
        if others.iter().any(|other| other.races_with(&access)) {
            return true;
        }
        // A barrier orders the accesses of its block. To other blocks those before it still matter, and of two that are alike one is enough.
        let is_past = |other: &Access| other.block == access.block && other.barriers != access.barriers;
        let has_other_blocks = self.level == CostLevel::Array;
        others.retain(|other| !is_past(other) || has_other_blocks && !other.is_alike(&access));
        // Of accesses that are alike, those of two threads of this block and of two other blocks are enough: a later one is by another
        // thread, or in another block, than one of them, and races with that one if with any.
        let mut blocks = Vec::new();
        others.retain(|other| {
            if other.block == access.block || !other.is_alike(&access) {
                return true;
            }
            let is_needed = blocks.len() < 2 && !blocks.contains(&other.block);
            blocks.extend(is_needed.then_some(other.block));
            is_needed
        });
        let alike = others.iter().filter(|other| other.block == access.block && other.is_alike(&access));
        if alike.clone().count() < 2 && alike.clone().all(|other| other.thread != access.thread) {
            others.push(access);
        }
        false
    }

    /// Returns the final elements, in the same room.
    pub fn finished(&self) -> Memory<'p> {
        let changed = self.changed.borrow_mut().remove(&0);
        let values = changed.unwrap_or_else(|| self.initial.to_vec());
        Memory { level: self.level, values, _room: self.room.clone() }
    }
}
