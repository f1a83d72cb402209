//! The runtime: devices behind one trait, their memory and kernels, and the execution of plans.
//!
//! Plans come from `pumice-array`; this layer brings inputs to a device, compiles kernels once, launches them in order
//! and hands results out that stay where they are until they are read.

mod call;
mod deadline;
mod device;
mod device_array;
pub mod devices;
mod engine;
mod error;
mod execute;
mod files;
mod foreign;
mod host_memory;
mod identity;
mod kernel_table;
mod parallel;
mod plan_table;
mod pool;
pub mod profile;
mod rounds;
mod status;
pub mod work;

pub use call::{Callable, Change, Given};
pub use device::{
    CompiledKernel, Device, DeviceMemory, LaunchArgument, LaunchParameter, Pin, Signature, WaitCounter,
};
pub use devices::{KINDS, Turn, default_device, device_names, open, survey, take_turn};
pub use engine::Engine;
pub use error::{Error, Result};
pub use execute::{Execution, Inputs, PreparedPlan};
pub use foreign::{DeviceCall, DeviceColumns, foreign_on};
pub use identity::{DeviceId, DeviceName};
pub use kernel_table::{Counts, KernelTable, Limits, Removed, Usage};
pub use plan_table::{Choices, PlanTable, Plans};
pub use pumice_emit::EmitOptions;
pub use rounds::{UniformLoop, Until};
