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
    /// Returns the device's name, if the command line has one.
    pub fn name(&self) -> Option<&str> {
        self.device.as_deref()
    }

    /// Opens the named device, or the default one.
    pub fn open(&self) -> Result<Arc<dyn Device>> {
        Ok(self.name().map_or_else(default_device, open)?)
    }

    /// Returns a compiler for the device.
    pub fn compiler(&self) -> Result<Compiler> {
        Ok(Compiler::with(self.open()?))
    }

    /// Opens the device, and refuses one whose times mean nothing.
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
