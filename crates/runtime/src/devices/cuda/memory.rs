//! Memory on a GPU: an owner whose methods stay within its bounds.

use std::sync::Arc;

use super::gpu::Gpu;
use crate::error::Result;

/// Memory on a GPU.
pub struct Buffer {
    pub(super) gpu: Arc<Gpu>,
    pub(super) address: u64,
    pub(super) bytes: usize,
}

impl Buffer {
    /// Returns its address on the GPU.
    pub fn address(&self) -> u64 {
        self.address
    }

    /// Copies bytes in, after the work before it, and waits until they have been read. There must be room for them.
    pub fn write(&self, from: &[u8]) -> Result<()> {
        assert!(from.len() <= self.bytes);
        self.gpu.enter()?;
        let (address, data) = (self.address, from.as_ptr().cast());
        // SAFETY: the context is current, the memory is large enough, and `from` is borrowed until the copy is done.
        let status =
            unsafe { (self.gpu.driver.functions.upload)(address, data, from.len(), self.gpu.stream) };
        self.gpu.check("cuMemcpyHtoDAsync", status)?;
        self.gpu.synchronize()
    }

    /// Copies the bytes that begin at `first` out, after the work before it. They must be there.
    pub fn read(&self, first: usize, to: &mut [u8]) -> Result<()> {
        assert!(first.checked_add(to.len()).is_some_and(|end| end <= self.bytes));
        self.gpu.enter()?;
        let (address, data) = (self.address + first as u64, to.as_mut_ptr().cast());
        // SAFETY: the context is current, the memory is large enough, and `to` is borrowed until the copy is done.
        let status =
            unsafe { (self.gpu.driver.functions.download)(data, address, to.len(), self.gpu.stream) };
        self.gpu.check("cuMemcpyDtoHAsync", status)?;
        self.gpu.synchronize()
    }

    /// Copies the first bytes of other memory in, after the work before it. They must be in both.
    pub fn write_from(&self, from: &Buffer, bytes: usize) -> Result<()> {
        assert!(bytes <= self.bytes && bytes <= from.bytes);
        if self.address == from.address {
            return Ok(());
        }
        self.gpu.enter()?;
        let (to, from) = (self.address, from.address);
        // SAFETY: the context is current, and both memories are large enough and not the same. Neither is freed before the copy
        // is done, as the driver waits for work that uses it.
        let status = unsafe { (self.gpu.driver.functions.copy)(to, from, bytes, self.gpu.stream) };
        self.gpu.check("cuMemcpyDtoDAsync", status)
    }

    /// Sets the first bytes to zero. They must be there.
    pub fn clear(&self, bytes: usize) -> Result<()> {
        assert!(bytes <= self.bytes);
        self.gpu.enter()?;
        // SAFETY: the context is current, and the memory is large enough.
        let status = unsafe { (self.gpu.driver.functions.fill)(self.address, 0, bytes, self.gpu.stream) };
        self.gpu.check("cuMemsetD8Async", status)
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        if self.gpu.enter().is_ok() {
            self.gpu.waits.count();
            // SAFETY: allocated in this context, and this is its only owner. The driver waits for work that uses it.
            unsafe { (self.gpu.driver.functions.free)(self.address) };
        }
    }
}
