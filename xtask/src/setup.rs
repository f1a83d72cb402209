//! Tools that the tests need and a plain Rust installation lacks: an OpenCL driver, NVRTC, and NumPy.
//!
//! Installs an OpenCL driver through the system's packages if permitted, and NVRTC and NumPy into the build directory.
//! Changes nothing that is installed already. A failure is no error here: it is
//! reported with the reason, and the caller decides what that means.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::error::{Error, Result};
use crate::process;
use crate::workspace::{Workspace, make_folder};

/// Environment variable with the path of the NVRTC library that Pumice uses.
pub const NVRTC_VARIABLE: &str = "PUMICE_NVRTC";

const OPENCL_LIBRARY: &str = "libOpenCL.so.1";
const OPENCL_PACKAGES: [&str; 2] = ["pocl-opencl-icd", "ocl-icd-libopencl1"];
const OPENCL_VENDORS_VARIABLE: &str = "OCL_ICD_VENDORS";
const OPENCL_VENDORS: &str = "/etc/OpenCL/vendors";
const NVRTC_WHEEL: &str = "nvidia-cuda-nvrtc";
const NUMPY_WHEEL: &str = "numpy";
const PIP_PACKAGES: [&str; 1] = ["python3-pip"];

/// Tools that are available to the tests.
pub struct Tools {
    /// An error with the reason if OpenCL cannot be used.
    pub opencl: Result<()>,
    /// The NVRTC library, or the reason why there is none.
    pub nvrtc: Result<PathBuf>,
    /// The folder in which Python finds NumPy, if it needs one, or the reason why there is no NumPy.
    pub numpy: Result<Option<PathBuf>>,
}

impl Tools {
    /// Finds the tools and installs those that are missing.
    pub fn prepare(workspace: &Workspace) -> Tools {
        let target = &workspace.target;
        Tools { opencl: prepare_opencl(), nvrtc: prepare_nvrtc(target), numpy: prepare_numpy(target) }
    }

    /// Returns one line per tool: its place, or the reason why it is missing.
    pub fn report(&self) -> String {
        let opencl = match &self.opencl {
            Ok(()) => format!("{OPENCL_LIBRARY} and a driver"),
            Err(reason) => format!("missing: {reason}"),
        };
        let nvrtc = match &self.nvrtc {
            Ok(library) => library.display().to_string(),
            Err(reason) => format!("missing: {reason}"),
        };
        let numpy = match &self.numpy {
            Ok(Some(folder)) => folder.display().to_string(),
            Ok(None) => "Python has it".to_string(),
            Err(reason) => format!("missing: {reason}"),
        };
        format!("OpenCL: {opencl}\nNVRTC:  {nvrtc}\nNumPy:  {numpy}\n")
    }
}

/// Runs the task `setup`.
pub fn run(arguments: &[String]) -> Result<()> {
    if let Some(argument) = arguments.first() {
        return Err(Error::new(format!("setup takes no arguments, but was given {argument}")));
    }
    let tools = Tools::prepare(&Workspace::find()?);
    print!("{}", tools.report());
    if let Ok(library) = &tools.nvrtc {
        println!("To run tests without xtask: export {NVRTC_VARIABLE}={}", library.display());
    }
    tools.opencl?;
    tools.nvrtc?;
    tools.numpy?;
    Ok(())
}

// OpenCL ------------------------------------------------------------------------------------------------------

fn prepare_opencl() -> Result<()> {
    let Err(reason) = find_opencl() else {
        return Ok(());
    };
    println!("OpenCL is missing ({reason}); installing {}", OPENCL_PACKAGES.join(" and "));
    install_packages(&OPENCL_PACKAGES)?;
    find_opencl()
}

fn find_opencl() -> Result<()> {
    // SAFETY: the loader's initialisers are those that every OpenCL program runs; it is closed again at once,
    // and nothing in it is called.
    if let Err(cause) = unsafe { libloading::Library::new(OPENCL_LIBRARY) } {
        return Err(Error::new(format!("{OPENCL_LIBRARY} cannot be loaded: {cause}")));
    }
    let vendors = std::env::var_os(OPENCL_VENDORS_VARIABLE).unwrap_or_else(|| OPENCL_VENDORS.into());
    find_opencl_driver(Path::new(&vendors))
}

/// Finds a driver in `vendors`, which is a folder of `.icd` files, or one such file.
fn find_opencl_driver(vendors: &Path) -> Result<()> {
    if is_driver_file(vendors) {
        return Ok(());
    }
    let entries = std::fs::read_dir(vendors).map_err(|cause| Error::io("read", vendors, &cause))?;
    if entries.flatten().any(|entry| is_driver_file(&entry.path())) {
        return Ok(());
    }
    Err(Error::new(format!("{} holds no driver (no .icd file)", vendors.display())))
}

fn is_driver_file(path: &Path) -> bool {
    path.is_file() && path.extension().is_some_and(|extension| extension == "icd")
}

// NVRTC -------------------------------------------------------------------------------------------------------

fn prepare_nvrtc(target: &Path) -> Result<PathBuf> {
    if let Some(named) = std::env::var_os(NVRTC_VARIABLE) {
        let named = PathBuf::from(named);
        if named.is_file() {
            return Ok(named);
        }
        return Err(Error::new(format!("{NVRTC_VARIABLE} names {}, which is no file", named.display())));
    }
    let folder = target.join("nvrtc");
    if let Some(library) = find_nvrtc_below(&folder) {
        return Ok(library);
    }
    println!("NVRTC is missing; installing {NVRTC_WHEEL} into {}", folder.display());
    match install_nvrtc(&folder) {
        Ok(library) => Ok(library),
        // Without a network, for instance. A CUDA toolkit serves as well, if there is one.
        Err(reason) => cuda_toolkits().iter().find_map(|toolkit| find_nvrtc_below(toolkit)).ok_or(reason),
    }
}

fn install_nvrtc(folder: &Path) -> Result<PathBuf> {
    install_wheel(NVRTC_WHEEL, folder, |folder| find_nvrtc_below(folder).is_some())?;
    find_nvrtc_below(folder).ok_or_else(|| Error::new(format!("{} has vanished", folder.display())))
}

// NumPy -------------------------------------------------------------------------------------------------------

fn prepare_numpy(target: &Path) -> Result<Option<PathBuf>> {
    if has_numpy(None) {
        return Ok(None);
    }
    let folder = target.join("numpy");
    if !has_numpy(Some(&folder)) {
        println!("NumPy is missing; installing {NUMPY_WHEEL} into {}", folder.display());
        install_wheel(NUMPY_WHEEL, &folder, |folder| has_numpy(Some(folder)))?;
    }
    Ok(Some(folder))
}

/// Returns whether Python finds NumPy, in this folder if one is given.
fn has_numpy(folder: Option<&Path>) -> bool {
    let Some(python) = process::find_program(&["python3"]) else { return false };
    let mut command = Command::new(python);
    if let Some(folder) = folder {
        command.env("PYTHONPATH", folder);
    }
    process::succeeds(command.args(["-c", "import numpy"]))
}

// Python's packages -------------------------------------------------------------------------------------------

/// Installs a Python package into a folder, in which `is_there` must then find it.
fn install_wheel(wheel: &str, folder: &Path, is_there: impl Fn(&Path) -> bool) -> Result<()> {
    let python = find_pip()?;
    // Into a folder beside it first: an interrupted download must not look like an installation.
    let partial = folder.with_extension("partial");
    remove_folder(&partial)?;
    make_folder(&partial)?;
    let mut pip = Command::new(python);
    pip.args(["-m", "pip", "install", "--quiet", "--no-deps", "--only-binary", ":all:", "--target"])
        .arg(&partial)
        .arg(wheel)
        .env("PIP_DISABLE_PIP_VERSION_CHECK", "1")
        .env("PIP_ROOT_USER_ACTION", "ignore");
    process::run(&mut pip)?;
    if !is_there(&partial) {
        return Err(Error::new(format!("{wheel} was installed but is not what it should be")));
    }
    remove_folder(folder)?;
    std::fs::rename(&partial, folder).map_err(|cause| Error::io("make", folder, &cause))
}

/// Returns a Python with pip; installs one through the system's packages if there is none.
fn find_pip() -> Result<PathBuf> {
    if let Some(python) = python_with_pip() {
        return Ok(python);
    }
    println!("Python's pip is missing; installing {}", PIP_PACKAGES.join(" and "));
    install_packages(&PIP_PACKAGES)?;
    python_with_pip().ok_or_else(|| Error::new("`python3 -m pip` does not run"))
}

fn python_with_pip() -> Option<PathBuf> {
    let python = process::find_program(&["python3"])?;
    process::succeeds(Command::new(&python).args(["-m", "pip", "--version"])).then_some(python)
}

fn cuda_toolkits() -> Vec<PathBuf> {
    let named = ["CUDA_HOME", "CUDA_PATH"].into_iter().filter_map(std::env::var_os).map(PathBuf::from);
    let usual = PathBuf::from("/usr/local/cuda");
    // Only the folders of libraries: a toolkit is large, and the search visits every file.
    named.chain([usual]).map(|toolkit| toolkit.join("lib64")).collect()
}

/// Returns the first NVRTC library in a folder or its subfolders, in the order of their names.
fn find_nvrtc_below(folder: &Path) -> Option<PathBuf> {
    let mut entries: Vec<PathBuf> =
        std::fs::read_dir(folder).ok()?.flatten().map(|entry| entry.path()).collect();
    entries.sort();
    if let Some(library) = entries.iter().find(|entry| is_nvrtc(entry)) {
        return Some(library.clone());
    }
    // A link to a folder could lead to a cycle.
    let folders = entries.iter().filter(|entry| entry.is_dir() && !entry.is_symlink());
    folders.into_iter().find_map(|entry| find_nvrtc_below(entry))
}

/// Returns whether a file is the NVRTC library. `libnvrtc-builtins.so.*` and `libnvrtc.alt.so.*` lie beside it, and are not.
fn is_nvrtc(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    (name == "libnvrtc.so" || name.starts_with("libnvrtc.so.")) && path.is_file()
}

fn remove_folder(folder: &Path) -> Result<()> {
    match std::fs::remove_dir_all(folder) {
        Err(cause) if cause.kind() != std::io::ErrorKind::NotFound => {
            Err(Error::io("remove", folder, &cause))
        }
        _ => Ok(()),
    }
}

// The system's packages ---------------------------------------------------------------------------------------

fn install_packages(packages: &[&str]) -> Result<()> {
    if process::find_program(&["apt-get"]).is_none() {
        return Err(Error::new(format!("there is no apt-get; please install {}", packages.join(" and "))));
    }
    let rights = Rights::find().ok_or_else(|| {
        Error::new(format!("no right to install; please install {}", packages.join(" and ")))
    })?;
    let install = || {
        let mut command = rights.apt_get(&["install", "--yes", "--no-install-recommends"]);
        command.args(packages);
        process::run(&mut command)
    };
    // The package lists may be missing or old; they are fetched only if the installation fails, because that takes long.
    install().or_else(|_| {
        process::run(&mut rights.apt_get(&["update"]))?;
        install()
    })
}

/// Permission to install packages on the system.
#[derive(Clone, Copy)]
enum Rights {
    Root,
    PasswordlessSudo,
}

impl Rights {
    fn find() -> Option<Rights> {
        let user = process::capture(Command::new("id").arg("-u"));
        if user.is_ok_and(|user| user.stdout.trim() == "0") {
            return Some(Rights::Root);
        }
        process::succeeds(Command::new("sudo").args(["-n", "true"])).then_some(Rights::PasswordlessSudo)
    }

    fn apt_get(self, arguments: &[&str]) -> Command {
        // Through `env`, because sudo drops variables.
        let mut command = match self {
            Rights::Root => Command::new("env"),
            Rights::PasswordlessSudo => {
                let mut command = Command::new("sudo");
                command.args(["-n", "env"]);
                command
            }
        };
        command.arg("DEBIAN_FRONTEND=noninteractive").args(["apt-get", "--quiet"]).args(arguments);
        command
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder of this test's own, removed at its end.
    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Folder {
            let path = std::env::temp_dir().join(format!("pumice-xtask-{}-{name}", std::process::id()));
            std::fs::create_dir_all(&path).unwrap();
            Folder(path)
        }

        fn with_file(&self, path: &str) -> PathBuf {
            let path = self.0.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, "").unwrap();
            path
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            std::fs::remove_dir_all(&self.0).unwrap();
        }
    }

    #[test]
    fn nvrtc_is_found_among_the_libraries_beside_it() {
        let folder = Folder::new("nvrtc");
        assert_eq!(find_nvrtc_below(&folder.0), None);
        folder.with_file("nvidia/cu13/lib/libnvrtc-builtins.so.13.0");
        folder.with_file("nvidia/cu13/lib/libnvrtc.alt.so.13");
        assert_eq!(find_nvrtc_below(&folder.0), None);
        let library = folder.with_file("nvidia/cu13/lib/libnvrtc.so.13");
        assert_eq!(find_nvrtc_below(&folder.0), Some(library));
        assert_eq!(find_nvrtc_below(&folder.0.join("absent")), None);
    }

    #[test]
    fn an_opencl_driver_is_a_folder_with_an_icd_file_or_such_a_file() {
        let folder = Folder::new("vendors");
        assert!(find_opencl_driver(&folder.0).unwrap_err().to_string().contains("no driver"));
        folder.with_file("readme.txt");
        assert!(find_opencl_driver(&folder.0).is_err());
        let driver = folder.with_file("pocl.icd");
        assert_eq!(find_opencl_driver(&folder.0), Ok(()));
        assert_eq!(find_opencl_driver(&driver), Ok(()));
        assert!(find_opencl_driver(&folder.0.join("absent")).is_err());
    }

    #[test]
    fn removing_what_is_not_there_is_no_error() {
        let folder = Folder::new("remove");
        assert_eq!(remove_folder(&folder.0.join("absent")), Ok(()));
    }

    #[test]
    fn a_missing_tool_is_reported_with_its_reason() {
        let tools = Tools {
            opencl: Err(Error::new("no right to install")),
            nvrtc: Ok("/x/libnvrtc.so".into()),
            numpy: Ok(None),
        };
        let report = tools.report();
        assert!(report.contains("OpenCL: missing: no right to install"), "{report}");
        assert!(report.contains("NVRTC:  /x/libnvrtc.so"), "{report}");
    }
}
