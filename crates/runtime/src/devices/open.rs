//! Devices of this machine: which there are, which of them work here, and which is the default.
//!
//! A machine may have several devices of a kind, which are numbered: `cuda:0`, `opencl:1`. A kind is searched once in a
//! process, when it is first asked for, and each device is opened at most once; failures are remembered too.

use std::sync::{Arc, OnceLock};

use super::cpu::Cpu;
use super::cuda;
#[cfg(feature = "opencl")]
use super::opencl;
use super::sim::Sim;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::identity::DeviceName;

/// The kinds of devices, the fastest first.
pub const KINDS: [&str; 4] = ["cuda", "opencl", "cpu", "sim"];

/// The devices of one kind.
struct Family {
    kind: &'static str,
    /// Finds their names, or why there is none.
    find: fn() -> Result<Vec<DeviceName>>,
    /// Chooses one by its position if only the kind is asked for.
    choose: fn() -> Result<usize>,
    /// Opens one by its position.
    open: fn(usize) -> Result<Arc<dyn Device>>,
    found: OnceLock<Result<Vec<Place>>>,
}

/// A device that was found, and what came of opening it.
struct Place {
    name: DeviceName,
    device: OnceLock<Result<Arc<dyn Device>>>,
}

/// In the order of [`KINDS`].
static FAMILIES: [Family; 4] = [
    Family {
        kind: "cuda",
        find: cuda::find,
        choose: || Ok(0),
        open: |number| Ok(Arc::new(cuda::CudaDevice::open(number)?)),
        found: OnceLock::new(),
    },
    #[cfg(feature = "opencl")]
    Family {
        kind: "opencl",
        find: opencl::find,
        choose: opencl::choose,
        open: |number| Ok(Arc::new(opencl::OpenClDevice::open(number)?)),
        found: OnceLock::new(),
    },
    #[cfg(not(feature = "opencl"))]
    Family {
        kind: "opencl",
        find: || Err(without_opencl()),
        choose: || Err(without_opencl()),
        open: |_| Err(without_opencl()),
        found: OnceLock::new(),
    },
    Family {
        kind: "cpu",
        find: || Ok(vec![DeviceName::of_kind("cpu")]),
        choose: || Ok(0),
        open: |_| Ok(Arc::new(Cpu::open()?)),
        found: OnceLock::new(),
    },
    Family {
        kind: "sim",
        find: || Ok(vec![DeviceName::of_kind("sim")]),
        choose: || Ok(0),
        open: |_| Ok(Arc::new(Sim::open()?)),
        found: OnceLock::new(),
    },
];

impl Family {
    fn places(&self) -> Result<&[Place]> {
        let places = self.found.get_or_init(|| {
            let place = |name| Place { name, device: OnceLock::new() };
            Ok((self.find)()?.into_iter().map(place).collect())
        });
        places.as_deref().map_err(Clone::clone)
    }

    /// Returns the names of its devices; of the kind alone if there are none.
    fn names(&self) -> Vec<String> {
        match self.places() {
            Ok(places) => places.iter().map(|place| place.name.to_string()).collect(),
            Err(_) => vec![self.kind.into()],
        }
    }

    /// Returns the device of a name that begins with this kind.
    fn device(&self, name: &str) -> Result<Arc<dyn Device>> {
        let places = self.places()?;
        let position = match name == self.kind {
            true => Some((self.choose)()?),
            false => places.iter().position(|place| place.name.to_string() == name),
        };
        let place = position.and_then(|position| Some((position, places.get(position)?)));
        let unknown = || Error::UnknownDevice { name: name.into(), known: self.names().join(", ") };
        let (position, place) = place.ok_or_else(unknown)?;
        let open = || {
            let opened = (self.open)(position);
            match &opened {
                Ok(device) => {
                    tracing::info!(target: "pumice::device", %name, what = device.description(), "opened");
                }
                Err(error) => tracing::info!(target: "pumice::device", %name, %error, "not usable"),
            }
            opened
        };
        place.device.get_or_init(open).clone()
    }
}

/// Opens the device with this name: a kind and a number (`cuda:1`), or a kind alone, which is the best of that kind. For
/// `opencl` that is what `PUMICE_OPENCL_DEVICE` chooses, a part of a device's or a platform's name; else the first, and
/// GPUs are numbered first.
///
/// ```
/// use pumice::layers::runtime::open;
/// let sim = open("sim")?;
/// assert_eq!(sim.name().to_string(), "sim");
/// let unknown = open("sim:1").err().map(|error| error.to_string());
/// assert_eq!(unknown.as_deref(), Some("there is no device `sim:1`; the devices are sim"));
/// # Ok::<(), pumice::Error>(())
/// ```
pub fn open(name: &str) -> Result<Arc<dyn Device>> {
    let kind = name.split_once(':').map_or(name, |(kind, _)| kind);
    let family = FAMILIES.iter().find(|family| family.kind == kind);
    family.ok_or_else(|| Error::UnknownDevice { name: name.into(), known: KINDS.join(", ") })?.device(name)
}

/// Returns the names of all devices of this machine, the fastest kind first. Of a kind that cannot be used the name is
/// the kind, and opening it says why.
///
/// ```
/// let names = pumice::layers::runtime::device_names();
/// assert!(names.contains(&"sim".to_string()));
/// ```
pub fn device_names() -> Vec<String> {
    FAMILIES.iter().flat_map(Family::names).collect()
}

/// Opens the device that `PUMICE_DEVICE` names; without it the best that works here. That is never the simulator, which
/// is far too slow to be used by accident: if nothing else works, the error says why.
pub fn default_device() -> Result<Arc<dyn Device>> {
    match std::env::var_os("PUMICE_DEVICE").filter(|name| !name.is_empty()) {
        Some(name) => open(&name.to_string_lossy()),
        None => best(),
    }
}

/// Returns every device with its description, or why it cannot be used.
pub fn survey() -> Vec<(String, Result<String>)> {
    let describe = |name: String| {
        let description = open(&name).map(|device| device.description());
        (name, description)
    };
    device_names().into_iter().map(describe).collect()
}

fn best() -> Result<Arc<dyn Device>> {
    if let Ok(device) = open("cuda") {
        return Ok(device);
    }
    // OpenCL on the processor is slower than C on the processor.
    #[cfg(feature = "opencl")]
    if may_have_gpu()
        && opencl::chooses_gpu()
        && let Ok(device) = open("opencl")
    {
        return Ok(device);
    }
    tracing::debug!(target: "pumice::device", "no GPU can be used: programs run on the processor");
    open("cpu").or_else(|_| open("opencl")).map_err(|_| {
        let reason = |name: &&str| match open(name).err()? {
            Error::DeviceUnavailable { reason, .. } => Some(format!("  {name}: {reason}")),
            error => Some(format!("  {name}: {error}")),
        };
        Error::NoDevice { reasons: KINDS.iter().filter_map(reason).collect::<Vec<_>>().join("\n") }
    })
}

#[cfg(not(feature = "opencl"))]
fn without_opencl() -> Error {
    let reason = "Pumice was built without OpenCL (the feature `opencl` of the crate `pumice`)".into();
    Error::DeviceUnavailable { device: "opencl".into(), reason }
}

/// Whether the system shows a GPU's device file. Asking OpenCL itself loads every driver, and PoCL's takes longer than a
/// small program takes from start to end.
#[cfg(feature = "opencl")]
fn may_have_gpu() -> bool {
    let files = ["dri", "nvidiactl", "kfd", "dxg", "mali0", "kgsl-3d0"];
    !cfg!(target_os = "linux") || files.iter().any(|name| std::path::Path::new("/dev").join(name).exists())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_is_opened_once() -> Result<()> {
        for name in ["cpu", "sim"] {
            let device = open(name)?;
            assert_eq!(device.name().to_string(), name);
            assert!(Arc::ptr_eq(&device, &open(name)?));
        }
        Ok(())
    }

    #[test]
    fn a_kind_alone_is_one_of_its_numbered_devices() -> Result<()> {
        for name in device_names() {
            let Ok(device) = open(&name) else { continue };
            assert_eq!(device.name().to_string(), name);
            let chosen = open(device.name().kind())?;
            assert!(Arc::ptr_eq(&chosen, &open(&chosen.name().to_string())?));
        }
        Ok(())
    }

    #[test]
    fn an_unknown_name_is_an_error_that_lists_the_names() {
        for (name, known) in [
            ("gpu", "cuda, opencl, cpu, sim"),
            ("gpu:0", "cuda, opencl, cpu, sim"),
            ("cpu:0", "cpu"),
            ("sim:", "sim"),
        ] {
            let error = open(name).err().map(|error| error.to_string());
            assert_eq!(error, Some(format!("there is no device `{name}`; the devices are {known}")));
        }
        // What is not searched for, because its kind has no device here, says that instead.
        let error = open("opencl:4711").err().map(|error| error.to_string()).unwrap_or_default();
        assert!(
            error.starts_with("there is no device `opencl:4711`; the devices are opencl:0")
                || error.starts_with("device `opencl` is not available"),
            "{error}"
        );
    }

    #[test]
    fn families_are_in_the_order_of_the_kinds() {
        assert_eq!(FAMILIES.each_ref().map(|family| family.kind), KINDS);
    }

    #[test]
    fn the_survey_has_every_kind_and_the_best_of_them_works() -> Result<()> {
        let survey = survey();
        let of_kind = |name: &str, kind: &str| name.split(':').next() == Some(kind);
        assert!(KINDS.iter().all(|kind| survey.iter().any(|(name, _)| of_kind(name, kind))));
        let described = |result: &Result<String>| result.as_ref().map_or(true, |text| !text.is_empty());
        assert!(survey.iter().all(|(_, result)| described(result)));
        let best = best()?.name().to_string();
        assert!(survey.iter().any(|(name, result)| *name == best && result.is_ok()));
        Ok(())
    }
}
