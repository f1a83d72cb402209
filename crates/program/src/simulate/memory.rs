//! Memory as the simulator sees it: bytes, and for each whether anybody has written it.
//!
//! It knows nothing of races: those are about one launch ([`super::races`]), and memory outlives launches.

use pumice_scalar::{Constant, ScalarType};

/// An array in the simulated device's memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SimMemory {
    bytes: Vec<u8>,
    /// One bit a byte.
    written: Vec<u64>,
}

impl SimMemory {
    /// Memory that nobody has written.
    pub fn unwritten(bytes: usize) -> SimMemory {
        SimMemory { bytes: vec![0; bytes], written: vec![0; bytes.div_ceil(64)] }
    }

    /// Memory with these contents.
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

    /// The contents; what nobody has written is zero here.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// How many elements of a type fit.
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

    /// Whether somebody has written the element with this index, if there is one.
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

    /// Where the bits of an element stand in `written`, if there is such an element. They never straddle two words,
    /// as elements are 1, 4 or 8 bytes at a multiple of that.
    fn mask(&self, ty: ScalarType, index: usize) -> Option<(usize, u64)> {
        if index >= self.elements(ty) {
            return None;
        }
        let start = index * ty.bytes();
        let ones = (1u64 << ty.bytes()) - 1;
        Some((start / 64, ones << (start % 64)))
    }
}
