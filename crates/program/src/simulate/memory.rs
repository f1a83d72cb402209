//! Memory as the simulator sees it: bytes, and for each whether it was written; and the memories of a launch.
//!
//! A [`SimMemory`] knows nothing of races: those are about one launch ([`super::races`]), and memory outlives launches.

use pumice_scalar::{Constant, ScalarType};

use super::races::History;
use crate::ir::{AtomicOp, MemoryId, Param, Program, Space, Stmt};

/// An array in the simulated device's memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SimMemory {
    bytes: Vec<u8>,
    /// One bit a byte.
    written: Vec<u64>,
}

impl SimMemory {
    /// Creates memory that is not written yet.
    pub fn unwritten(bytes: usize) -> SimMemory {
        SimMemory { bytes: vec![0; bytes], written: vec![0; bytes.div_ceil(64)] }
    }

    /// Creates memory with these contents.
    pub fn from_bytes(bytes: Vec<u8>) -> SimMemory {
        let written = vec![u64::MAX; bytes.len().div_ceil(64)];
        SimMemory { bytes, written }
    }

    /// Memory that holds these elements one after the other.
    pub fn from_constants(elements: &[Constant]) -> SimMemory {
        SimMemory::from_bytes(elements.iter().flat_map(|element| element.to_bytes()).collect())
    }

    /// Number of bytes.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Whether there are no bytes at all.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Returns the contents; bytes that were never written are zero.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the number of elements of a type that fit.
    pub fn elements(&self, ty: ScalarType) -> usize {
        self.bytes.len() / ty.bytes()
    }

    /// Copies bytes in from the host; `false` (and nothing is copied) if they do not fit.
    pub fn write_bytes(&mut self, offset: usize, bytes: &[u8]) -> bool {
        let Some(end) = offset.checked_add(bytes.len()) else {
            return false;
        };
        let Some(place) = self.bytes.get_mut(offset..end) else {
            return false;
        };
        place.copy_from_slice(bytes);
        for byte in offset..end {
            self.written[byte / 64] |= 1 << (byte % 64);
        }
        true
    }

    /// Whether the element with this index was written, if there is one.
    pub fn is_written(&self, ty: ScalarType, index: usize) -> Option<bool> {
        let (word, mask) = self.mask(ty, index)?;
        Some(self.written[word] & mask == mask)
    }

    /// The element with this index, whether or not it was written.
    pub fn get(&self, ty: ScalarType, index: usize) -> Option<Constant> {
        let start = index.checked_mul(ty.bytes())?;
        let bytes = self.bytes.get(start..start.checked_add(ty.bytes())?)?;
        Some(Constant::from_bytes(ty, bytes))
    }

    /// Writes the element with this index; `false` if there is none.
    pub fn set(&mut self, index: usize, value: Constant) -> bool {
        let size = value.ty().bytes();
        let Some((word, mask)) = self.mask(value.ty(), index) else {
            return false;
        };
        self.bytes[index * size..(index + 1) * size].copy_from_slice(&value.bits().to_le_bytes()[..size]);
        self.written[word] |= mask;
        true
    }

    /// Forgets what was written.
    pub fn forget(&mut self) {
        self.written.fill(0);
    }

    /// Returns the bits of the element with this index, which exists; `None` if it was never written.
    #[inline]
    pub(super) fn load(&self, ty: ScalarType, index: usize) -> Option<u64> {
        let size = ty.bytes();
        let start = index * size;
        let ones = ((1u64 << size) - 1) << (start % 64);
        if self.written[start / 64] & ones != ones {
            return None;
        }
        let bytes = &self.bytes[start..start + size];
        Some(match *bytes {
            [byte] if ty == ScalarType::Bool => u64::from(byte & 1),
            [byte] => byte.into(),
            [a, b] => u16::from_le_bytes([a, b]).into(),
            [a, b, c, d] => u32::from_le_bytes([a, b, c, d]).into(),
            [a, b, c, d, e, f, g, h] => u64::from_le_bytes([a, b, c, d, e, f, g, h]),
            _ => 0,
        })
    }

    /// Writes the bits of the element with this index, which exists.
    #[inline]
    pub(super) fn store(&mut self, size: usize, index: usize, bits: u64) {
        let start = index * size;
        let place = &mut self.bytes[start..start + size];
        match size {
            1 => place.copy_from_slice(&[bits as u8]),
            2 => place.copy_from_slice(&(bits as u16).to_le_bytes()),
            4 => place.copy_from_slice(&(bits as u32).to_le_bytes()),
            _ => place.copy_from_slice(&bits.to_le_bytes()),
        }
        self.written[start / 64] |= ((1u64 << size) - 1) << (start % 64);
    }

    /// Returns the word and the bits of an element in `written`, if there is such an element. They never straddle two words,
    /// as elements are 1, 2, 4 or 8 bytes at a multiple of that.
    fn mask(&self, ty: ScalarType, index: usize) -> Option<(usize, u64)> {
        if index >= self.elements(ty) {
            return None;
        }
        let start = index * ty.bytes();
        let ones = (1u64 << ty.bytes()) - 1;
        Some((start / 64, ones << (start % 64)))
    }
}

/// One memory during a launch.
pub(super) struct Held<'m> {
    pub ty: ScalarType,
    /// Bytes of an element.
    pub size: usize,
    /// Number of elements that can be indexed.
    pub length: usize,
    pub bytes: Bytes<'m>,
    /// Past accesses, if races are looked for.
    pub history: Option<History>,
}

/// The contents of a memory during a launch.
pub(super) enum Bytes<'m> {
    /// Given by the caller.
    Global(&'m mut SimMemory),
    /// The current block's.
    Shared(SimMemory),
    /// That of the current block's threads, one after the other.
    Private(SimMemory),
}

impl Bytes<'_> {
    pub fn get(&self) -> &SimMemory {
        match self {
            Bytes::Global(memory) => memory,
            Bytes::Shared(memory) | Bytes::Private(memory) => memory,
        }
    }

    pub fn get_mut(&mut self) -> &mut SimMemory {
        match self {
            Bytes::Global(memory) => memory,
            Bytes::Shared(memory) | Bytes::Private(memory) => memory,
        }
    }
}

impl Held<'_> {
    pub fn is_global(&self) -> bool {
        matches!(self.bytes, Bytes::Global(_))
    }

    pub fn is_private(&self) -> bool {
        matches!(self.bytes, Bytes::Private(_))
    }

    /// A new block starts.
    pub fn forget(&mut self) {
        if let Bytes::Shared(memory) | Bytes::Private(memory) = &mut self.bytes {
            memory.forget();
        }
    }
}

/// Far above what any device has; without a bound, a bad program could exhaust the host.
const MOST_BYTES: usize = 1 << 30;

/// The memories of a launch, by number.
pub(super) fn hold<'m>(
    program: &Program,
    memories: &'m mut [SimMemory],
    races: bool,
) -> Result<Vec<Held<'m>>, String> {
    let params: Vec<MemoryId> = program
        .params
        .iter()
        .filter_map(|param| match param {
            Param::Memory(id) => Some(*id),
            Param::Scalar(_) => None,
        })
        .collect();
    if params.len() != memories.len() {
        return Err(format!("the kernel takes {} memories, and {} were given", params.len(), memories.len()));
    }
    let mut given: Vec<Option<&'m mut SimMemory>> = program.memories.iter().map(|_| None).collect();
    for (id, memory) in params.into_iter().zip(memories) {
        // The verifier has seen that the number is one.
        given[id.0 as usize] = Some(memory);
    }
    let stored = stored_memories(program);
    let mut all = Vec::new();
    for (number, (memory, given)) in program.memories.iter().zip(given).enumerate() {
        // Memory that is only read has no races, and inputs are large.
        let watched = races && stored[number];
        let (ty, size) = (memory.ty, memory.ty.bytes());
        let own = |what: &str, length: u32, copies: usize| {
            let bytes = (length as usize).checked_mul(size).and_then(|bytes| bytes.checked_mul(copies));
            let bytes = bytes.filter(|&bytes| bytes <= MOST_BYTES);
            let bytes = bytes.ok_or_else(|| format!("{what} memory `{}` is too large", memory.name))?;
            Ok::<SimMemory, String>(SimMemory::unwritten(bytes))
        };
        let (bytes, length, history) = match (memory.space, given) {
            (Space::Global { .. }, Some(bytes)) => {
                let length = bytes.elements(ty);
                (Bytes::Global(bytes), length, watched.then(|| History::new(length, true)))
            }
            (Space::Shared { length }, _) => {
                let bytes = own("shared", length, 1)?;
                let history = watched.then(|| History::new(length as usize, false));
                (Bytes::Shared(bytes), length as usize, history)
            }
            (Space::Private { length }, _) => {
                // Every thread has its own, so there are no races.
                (Bytes::Private(own("private", length, program.threads as usize)?), length as usize, None)
            }
            (Space::Global { .. }, None) => return Err(format!("memory `{}` was not given", memory.name)),
        };
        all.push(Held { ty, size, length, bytes, history });
    }
    if let Some(failure) = program.failure
        && all[failure.memory.0 as usize].length < 3
    {
        return Err("the failure memory has fewer than three elements".to_owned());
    }
    Ok(all)
}

/// Returns the memories that the program writes.
fn stored_memories(program: &Program) -> Vec<bool> {
    fn mark(list: &[Stmt], stored: &mut [bool]) {
        for stmt in list {
            match stmt {
                Stmt::Atomic { op: AtomicOp::Load(_), .. } => {}
                Stmt::Store { memory, .. } | Stmt::Atomic { memory, .. } => stored[memory.0 as usize] = true,
                _ => {}
            }
            for child in stmt.children() {
                mark(child, stored);
            }
        }
    }
    let mut stored = vec![false; program.memories.len()];
    mark(&program.body, &mut stored);
    stored
}
