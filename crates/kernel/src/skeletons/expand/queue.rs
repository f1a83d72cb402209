//! The queue of large sources, which are taken in chunks of equal size by all blocks of a second kernel.
//!
//! A cell counts the sources in the queue (in its high bits) and their chunks (in its low bits), so that one atomic addition
//! gives a source its place and the number of its first chunk: places and numbers grow together, and a block finds the source
//! of a chunk by halving. An entry holds the source in the high bits and the number of its first chunk in the low ones.

use super::Expansion;
use crate::effects;
use crate::item::{Ix, Scalars};
use crate::{named, quotient};
use pumice_program::{AtomicOp, MemoryId};
use pumice_scalar::{Exp, ScalarType};

/// Elements of a chunk, at least.
pub(super) const CHUNK: i64 = 1 << 13;
/// Chunks of a source, at most: beyond, they are longer.
const MOST_CHUNKS: i64 = 1 << 12;
/// Bits of a number that is not negative, less one: sums of two stay below.
const BITS: u32 = 62;

/// The queue, in global memory: `i64`s.
#[derive(Clone, Copy)]
pub struct Queue {
    /// A cell that is zero before the first kernel.
    counts: MemoryId,
    /// An entry per source.
    entries: MemoryId,
    low_bits: Ix,
    most_chunks: Ix,
}

/// Layout of a queue's words for a number of sources.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct QueueLayout {
    /// The bits for numbers of chunks.
    pub low_bits: i64,
    /// Chunks of a source, at most.
    pub most_chunks: i64,
}

impl QueueLayout {
    /// The layout for so many sources: all of them together have no more chunks than the bits hold.
    pub fn new(sources: i64) -> QueueLayout {
        let high_bits = (64 - sources.max(1).leading_zeros()).min(BITS / 2);
        let low_bits = BITS - high_bits;
        QueueLayout { low_bits: low_bits.into(), most_chunks: MOST_CHUNKS.min(1 << (low_bits - high_bits)) }
    }
}

impl Queue {
    /// The queue of an expansion, with a layout for its number of sources.
    ///
    /// # Safety
    ///
    /// `counts` has a cell, which is zero before the first kernel, and `entries` as many as there are sources; `low_bits` and
    /// `most_chunks` are those of their [`QueueLayout`]. Nobody else uses them between the two kernels.
    pub unsafe fn new(counts: MemoryId, entries: MemoryId, low_bits: Ix, most_chunks: Ix) -> Queue {
        Queue { counts, entries, low_bits, most_chunks }
    }

    fn low(&self, word: Ix) -> Ix {
        word & ((Exp::<i64>::from(1) << self.low_bits) - 1)
    }

    fn high(&self, word: Ix) -> Ix {
        word >> self.low_bits
    }

    fn chunks(&self, size: Ix) -> Ix {
        quotient(size + (CHUNK - 1), Exp::from(CHUNK)).min(self.most_chunks)
    }

    /// Adds a source. In one thread.
    pub(in crate::skeletons) fn add(&self, number: Ix, size: Ix) {
        let both = self.chunks(size) + (Exp::<i64>::from(1) << self.low_bits);
        let (add, zero) = (AtomicOp::Add, Exp::<i64>::from(0).term());
        let before = effects::atomic(add, self.counts, ScalarType::I64, zero, &[both.term()], true);
        let Some(before) = before.map(Exp::<i64>::from_term) else { return };
        let entry = (number << self.low_bits) | self.low(before);
        effects::store(self.entries, self.high(before).term(), entry.term());
    }

    fn word(memory: MemoryId, index: Ix) -> Ix {
        Exp::from_term(effects::read(memory, ScalarType::I64, index.term()))
    }

    /// Gives a block its chunks, one after the other: every so many of all.
    pub(in crate::skeletons) fn each_chunk(
        &self,
        expansion: &Expansion,
        block: Ix,
        blocks: Ix,
        take: &dyn Fn(&Chunk),
    ) {
        let counts = Queue::word(self.counts, Exp::from(0));
        let (entries, chunks) = (named(self.high(counts), "entries"), named(self.low(counts), "chunks"));
        effects::sequential(block.term()..chunks.term(), blocks.term(), &[], |chunk, _| {
            let chunk = Exp::<i64>::from_term(chunk);
            // The last entry whose first chunk is not behind this one. Every entry has a chunk at least, so that few are left to
            // search if most have no more.
            let least = named((chunk - (chunks - entries)).max(0), "least");
            let found = effects::repeat_while(
                &[least.term(), entries.min(chunk + 1).term()],
                |state| (Exp::<i64>::from_term(state[0]) + 1).lt(Exp::from_term(state[1])).term(),
                |state| {
                    let (low, high): (Ix, Ix) = (Exp::from_term(state[0]), Exp::from_term(state[1]));
                    let middle = named((low + high) >> 1, "middle");
                    let is_behind = self.low(Queue::word(self.entries, middle)).gt(chunk);
                    vec![is_behind.select(low, middle).term(), is_behind.select(middle, high).term()]
                },
            );
            let entry = found.first().map_or(Exp::from(0), |entry| Exp::from_term(*entry));
            take(&self.chunk(expansion, entry, Some(chunk)));
            Vec::new()
        });
    }

    /// Gives a thread queued sources, one after the other: every so many of all.
    pub(in crate::skeletons) fn each_source(
        &self,
        expansion: &Expansion,
        thread: Ix,
        threads: Ix,
        take: &dyn Fn(&Chunk),
    ) {
        let entries = named(self.high(Queue::word(self.counts, Exp::from(0))), "entries");
        effects::sequential(thread.term()..entries.term(), threads.term(), &[], |entry, _| {
            take(&self.chunk(expansion, Exp::from_term(entry), None));
            Vec::new()
        });
    }

    /// A chunk of the source of an entry; the first one, if none is said.
    fn chunk(&self, expansion: &Expansion, entry: Ix, chunk: Option<Ix>) -> Chunk {
        let entry = named(Queue::word(self.entries, entry), "entry");
        let (number, first) = (named(self.high(entry), "source"), named(self.low(entry), "first"));
        let (source, size) = expansion.source_at(number);
        let chunks = named(self.chunks(size), "chunks");
        let length = named(quotient(size + (chunks - 1), chunks.max(1)), "length");
        let chunk = chunk.unwrap_or(first);
        let from = named((chunk - first) * length, "from");
        Chunk { number, source, size, first, chunks, chunk, from, to: named((from + length).min(size), "to") }
    }
}

/// A chunk of a queued source.
pub(in crate::skeletons) struct Chunk {
    /// The number of the source, itself, and how many elements it has.
    pub number: Ix,
    pub source: Scalars,
    pub size: Ix,
    /// The numbers of its first chunk, how many it has, and which one this is.
    pub first: Ix,
    pub chunks: Ix,
    pub chunk: Ix,
    /// The first element, and the one behind the last.
    pub from: Ix,
    pub to: Ix,
}
