//! The devices of all installed OpenCL platforms, in the order of their numbers.

use std::ffi::c_void;
use std::sync::OnceLock;

use opencl3::device::{
    CL_DEVICE_TYPE_ACCELERATOR, CL_DEVICE_TYPE_ALL, CL_DEVICE_TYPE_GPU, Device as Info, get_device_ids,
};
use opencl3::error_codes::{ClError, DLOPEN_RUNTIME_LOAD_FAILED};
use opencl3::platform::{Platform, platform::get_platform_ids};

use super::KIND;
use crate::error::{Error, Result};
use crate::identity::DeviceName;

/// A device that some platform shows.
#[derive(Clone)]
pub(super) struct Found {
    rank: u8,
    pub(super) platform: String,
    pub(super) model: String,
    pub(super) info: Info,
}

/// Returns the names of the devices: GPUs first, then accelerators, then all others; among equals the platforms' order
/// decides.
pub fn find() -> Result<Vec<DeviceName>> {
    Ok((0..).zip(found()?).map(|(number, _)| DeviceName::numbered(KIND, number)).collect())
}

/// Returns the position of the device that is used unless a number is given: the first, or the one that
/// `PUMICE_OPENCL_DEVICE` chooses, a part of a device's or a platform's name.
pub fn choose() -> Result<usize> {
    choose_by(std::env::var("PUMICE_OPENCL_DEVICE").ok().filter(|wanted| !wanted.is_empty()))
}

/// Whether that is a GPU, and not a processor behind the same interface.
pub fn chooses_gpu() -> bool {
    choose().is_ok_and(|position| found().is_ok_and(|found| found[position].rank == 0))
}

pub(super) fn choose_by(wanted: Option<String>) -> Result<usize> {
    let Some(wanted) = wanted else { return Ok(0) };
    let names: Vec<String> =
        found()?.iter().map(|found| format!("{} ({})", found.model, found.platform)).collect();
    let fits = |name: &String| name.to_lowercase().contains(&wanted.to_lowercase());
    names.iter().position(fits).ok_or_else(|| {
        unavailable(format!("PUMICE_OPENCL_DEVICE={wanted} fits none of {}", names.join(", ")))
    })
}

/// Returns the devices, of which there is at least one. They are searched once: PoCL crashes when two threads are the
/// first to ask for its devices.
pub(super) fn found() -> Result<&'static [Found]> {
    static FOUND: OnceLock<Result<Vec<Found>>> = OnceLock::new();
    FOUND.get_or_init(search).as_deref().map_err(Clone::clone)
}

fn search() -> Result<Vec<Found>> {
    check_named_library().map_err(unavailable)?;
    let platforms = get_platform_ids().map_err(|code| match code {
        DLOPEN_RUNTIME_LOAD_FAILED => unavailable(
            "the OpenCL library was not found (looked for OPENCL_DYLIB_PATH and the system's libOpenCL.so.1); \
             install an OpenCL driver, for instance Debian's pocl-opencl-icd"
                .into(),
        ),
        code => unavailable(format!("no OpenCL driver is installed ({})", ClError(code))),
    })?;
    let mut found = Vec::new();
    for id in platforms {
        let platform = Platform::new(id).name().unwrap_or_default().trim().to_owned();
        // A platform with no device says so by an error.
        for device in get_device_ids(id, CL_DEVICE_TYPE_ALL).unwrap_or_default() {
            let info = Info::new(device);
            let model = info.name().unwrap_or_default().trim().to_owned();
            found.push(Found { rank: rank(&info), platform: platform.clone(), model, info });
        }
    }
    // Stable: among equals the platforms' order decides.
    found.sort_by_key(|found| found.rank);
    match found.is_empty() {
        true => Err(unavailable("the OpenCL drivers that are installed have no device".into())),
        false => Ok(found),
    }
}

fn unavailable(reason: String) -> Error {
    Error::DeviceUnavailable { device: KIND.into(), reason }
}

/// GPUs before accelerators before all others.
fn rank(info: &Info) -> u8 {
    match info.dev_type() {
        Ok(kind) if kind & CL_DEVICE_TYPE_GPU != 0 => 0,
        Ok(kind) if kind & CL_DEVICE_TYPE_ACCELERATOR != 0 => 1,
        _ => 2,
    }
}

/// The variable that names the library, or several with `;` between them.
const LIBRARY: &str = "OPENCL_DYLIB_PATH";

/// Refuses a named library that cannot be loaded: `opencl3` would take the system's in its place without a word.
fn check_named_library() -> Result<(), String> {
    let Some(named) = std::env::var_os(LIBRARY).filter(|named| !named.is_empty()) else { return Ok(()) };
    let named = named.to_string_lossy();
    let mut failures = Vec::new();
    for name in named.split(';') {
        // SAFETY: opening a vendor's library runs its initialisers; `opencl3` is about to open the same one.
        let library = unsafe { libloading::Library::new(name) };
        // SAFETY: the symbol is looked for, and not used.
        let found = library
            .and_then(|library| unsafe { library.get::<*const c_void>(b"clGetPlatformIDs") }.map(|_| ()));
        match found {
            Ok(()) => return Ok(()),
            Err(error) => failures.push(error.to_string()),
        }
    }
    Err(format!("{LIBRARY}={named} cannot be used: {}", failures.join("; ")))
}
