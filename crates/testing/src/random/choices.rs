//! Choices decoded from a string of bytes. Knows nothing of what is chosen.

/// Takes one byte per choice, and the first possibility once no bytes are left. So every string is valid, and a
/// shorter one with smaller bytes makes a simpler program.
pub struct Choices<'a>(std::slice::Iter<'a, u8>);

impl<'a> Choices<'a> {
    /// Decodes choices from these bytes.
    pub fn new(bytes: &'a [u8]) -> Choices<'a> {
        Choices(bytes.iter())
    }

    /// Chooses a number below `count`, or 0 if that is 0.
    pub fn below(&mut self, count: usize) -> usize {
        self.0.next().map_or(0, |byte| usize::from(*byte) % count.max(1))
    }

    /// Returns whether no bytes are left.
    pub fn is_at_end(&self) -> bool {
        self.0.as_slice().is_empty()
    }

    /// Chooses one of these, of which there is at least one.
    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }
}
