//! Names and identities of devices: the name that people choose one by, and the identity that its handles carry.
//!
//! A name can stand for several openings of one piece of hardware, each with a context of its own; an identity cannot.
//! Memory and kernels carry the identity, so that a device refuses what is another's, also where the two have the same
//! name or are of the same model.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

/// The name of a device: its kind, and its number where a machine may have several of the kind.
///
/// ```
/// use pumice::layers::runtime::DeviceName;
/// assert_eq!(DeviceName::numbered("cuda", 1).to_string(), "cuda:1");
/// assert_eq!(DeviceName::of_kind("cpu").to_string(), "cpu");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DeviceName {
    kind: &'static str,
    number: Option<u32>,
}

impl DeviceName {
    /// Names the only device of a kind, or a kind as a whole.
    pub const fn of_kind(kind: &'static str) -> DeviceName {
        DeviceName { kind, number: None }
    }

    /// Names one of several devices of a kind, counted from 0.
    pub const fn numbered(kind: &'static str, number: u32) -> DeviceName {
        DeviceName { kind, number: Some(number) }
    }

    /// Returns the kind: `sim`, `cpu`, `opencl` or `cuda`.
    pub const fn kind(self) -> &'static str {
        self.kind
    }
}

impl fmt::Display for DeviceName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.number {
            // Padded as a whole where somebody asks for that.
            Some(number) => f.pad(&format!("{}:{number}", self.kind)),
            None => f.pad(self.kind),
        }
    }
}

/// The identity of one opened device. No two are equal in a process.
///
/// ```
/// use pumice::layers::runtime::{DeviceId, DeviceName, open};
/// let sim = open("sim")?;
/// assert_eq!(sim.id(), open("sim")?.id());
/// assert_ne!(sim.id(), DeviceId::new(DeviceName::of_kind("sim")));
/// # Ok::<(), pumice::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DeviceId {
    name: DeviceName,
    opening: u64,
}

impl DeviceId {
    /// Makes an identity that nothing else has.
    pub fn new(name: DeviceName) -> DeviceId {
        static OPENINGS: AtomicU64 = AtomicU64::new(0);
        DeviceId { name, opening: OPENINGS.fetch_add(1, Ordering::Relaxed) }
    }

    /// Returns the device's name.
    pub const fn name(self) -> DeviceName {
        self.name
    }

    /// Returns the number of the opening, which tells devices of one name apart.
    pub(crate) const fn opening(self) -> u64 {
        self.opening
    }
}

impl fmt::Display for DeviceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.name.fmt(f)
    }
}
