//! The option `--device`, which most commands have. Opens what it names, and chooses nothing by itself.

use crate::error::{Error, Result};
use pumice::Compiler;
use pumice::layers::runtime::{Device, default_device, open};
use std::sync::Arc;

/// The device that a command works on.
#[derive(clap::Args)]
pub struct DeviceOption {
    /// Work on this device: cuda, opencl, cpu or sim.
    #[arg(long)]
    device: Option<String>,
}

impl DeviceOption {
    /// Its name, if the command line has one.
    pub fn name(&self) -> Option<&str> {
        self.device.as_deref()
    }

    /// The device, or the one that is used where none is named.
    pub fn open(&self) -> Result<Arc<dyn Device>> {
        Ok(self.name().map_or_else(default_device, open)?)
    }

    /// A compiler for it.
    pub fn compiler(&self) -> Result<Compiler> {
        Ok(Compiler::with(self.open()?))
    }

    /// The device, where it has a speed.
    pub fn open_timed(&self) -> Result<Arc<dyn Device>> {
        let device = self.open()?;
        if device.name().kind() == "sim" {
            let reason =
                "`sim` executes threads one by one to find mistakes: it has no speed that could be measured";
            return Err(Error::Usage(format!("{reason}; choose cpu, opencl or cuda by --device")));
        }
        Ok(device)
    }
}
