//! NVRTC, NVIDIA's run-time compiler: where it is, and how CUDA C becomes a binary with it.
//!
//! It needs no driver and no GPU, so everything here also works (and is tested) on a machine that has neither.

use std::ffi::{CStr, CString, OsStr, OsString, c_char, c_int, c_void};
use std::path::{Path, PathBuf};
use std::ptr;
use std::sync::OnceLock;

use libloading::Library;
use pumice_emit::{Dialect, Effort, EmitOptions};

use super::KIND;
use super::library::functions;
use crate::error::{Error, Result};
use crate::identity::DeviceName;

/// The architecture that binaries are made for where no GPU says another: that of an H100 or H200.
pub const DEFAULT_ARCHITECTURE: u32 = 90;

type Handle = *mut c_void;

functions! {
    /// NVRTC's functions. Each returns 0 or a code that `nvrtcGetErrorString` explains.
    struct Functions;
    fn version(*mut c_int, *mut c_int) = "nvrtcVersion";
    fn count_architectures(*mut c_int) = "nvrtcGetNumSupportedArchs";
    fn architectures(*mut c_int) = "nvrtcGetSupportedArchs";
    fn create(*mut Handle, *const c_char, *const c_char, c_int, *const *const c_char, *const *const c_char)
        = "nvrtcCreateProgram";
    fn compile(Handle, c_int, *const *const c_char) = "nvrtcCompileProgram";
    fn log_size(Handle, *mut usize) = "nvrtcGetProgramLogSize";
    fn log(Handle, *mut c_char) = "nvrtcGetProgramLog";
    fn cubin_size(Handle, *mut usize) = "nvrtcGetCUBINSize";
    fn cubin(Handle, *mut c_char) = "nvrtcGetCUBIN";
    fn ptx_size(Handle, *mut usize) = "nvrtcGetPTXSize";
    fn ptx(Handle, *mut c_char) = "nvrtcGetPTX";
    fn destroy(*mut Handle) = "nvrtcDestroyProgram";
}

/// The compiler.
pub struct Nvrtc {
    functions: Functions,
    explain: unsafe extern "C" fn(c_int) -> *const c_char,
    version: (c_int, c_int),
    /// The architectures that it makes binaries for, ascending.
    architectures: Vec<u32>,
    place: String,
    // What the compiler opens by name while it compiles.
    _builtins: Option<Library>,
}

/// Compiles CUDA C to a binary for an architecture (90 is `sm_90`), with the NVRTC that is found first.
pub fn compile(
    kernel: &str,
    source: &str,
    architecture: u32,
    fast_math: bool,
    effort: Effort,
) -> Result<Vec<u8>> {
    nvrtc()?.compile(kernel, source, architecture, fast_math, effort)
}

/// The compiler, opened when it is first asked for.
pub fn nvrtc() -> Result<&'static Nvrtc> {
    static NVRTC: OnceLock<Result<Nvrtc>> = OnceLock::new();
    NVRTC.get_or_init(Nvrtc::open).as_ref().map_err(Clone::clone)
}

impl Nvrtc {
    /// Finds and opens the library.
    fn open() -> Result<Nvrtc> {
        Nvrtc::open_with(|name| std::env::var_os(name).filter(|value| !value.is_empty()))
    }

    /// Finds and opens the library, given the environment.
    fn open_with(variable: impl Fn(&str) -> Option<OsString>) -> Result<Nvrtc> {
        let mut failures = Vec::new();
        let mut attempt = |file: &Path| match Nvrtc::open_file(file) {
            Ok(nvrtc) => Some(nvrtc),
            Err(reason) => {
                failures.push(format!("{}: {reason}", file.display()));
                None
            }
        };
        let places = match variable("PUMICE_NVRTC").map(PathBuf::from) {
            // Who names a library wants that one or an explanation, not another.
            Some(folder) if folder.is_dir() => {
                if let Some(nvrtc) = libraries(&folder).iter().find_map(|file| attempt(file)) {
                    return Ok(nvrtc);
                }
                format!("libnvrtc.so* in PUMICE_NVRTC={}", folder.display())
            }
            Some(file) => {
                if let Some(nvrtc) = attempt(&file) {
                    return Ok(nvrtc);
                }
                format!("PUMICE_NVRTC={}", file.display())
            }
            None => {
                // By these names the system's loader searches its own folders and LD_LIBRARY_PATH.
                let names = [
                    "libnvrtc.so",
                    "libnvrtc.so.13",
                    "libnvrtc.so.12",
                    "nvrtc64_130_0.dll",
                    "nvrtc64_120_0.dll",
                ];
                let names = names.into_iter().filter(|name| name.ends_with(".dll") == cfg!(windows));
                let named = names.clone().find_map(|name| Nvrtc::open_file(Path::new(name)).ok());
                if let Some(nvrtc) = named {
                    return Ok(nvrtc);
                }
                let folders = folders(&variable);
                let files = folders.iter().flat_map(|folder| libraries(folder));
                if let Some(nvrtc) = files.into_iter().find_map(|file| attempt(&file)) {
                    return Ok(nvrtc);
                }
                let folders = folders.iter().map(|folder| folder.display().to_string());
                names.map(str::to_owned).chain(folders).collect::<Vec<_>>().join(", ")
            }
        };
        let failures = failures.iter().map(|failure| format!("; {failure}")).collect::<String>();
        Err(Error::DeviceUnavailable {
            device: KIND.into(),
            reason: format!(
                "NVIDIA's compiler library NVRTC was not found (looked for {places}{failures}); install the CUDA \
                 toolkit or the Python package nvidia-cuda-nvrtc, or name the library in PUMICE_NVRTC"
            ),
        })
    }

    fn open_file(file: &Path) -> Result<Nvrtc, String> {
        // The compiler opens a second library by name, which the loader may not find beside the first by itself.
        let builtins = file.parent().filter(|folder| !folder.as_os_str().is_empty()).and_then(builtins);
        // SAFETY: opening NVIDIA's library runs its initialisers, which ask for nothing.
        let library = unsafe { Library::new(file) }.map_err(|e| e.to_string())?;
        // SAFETY: the vendor's header declares the function with this type; it lives as long as the table beside it,
        // which keeps the library open.
        let explain = *unsafe { library.get(b"nvrtcGetErrorString") }.map_err(|e| e.to_string())?;
        let functions = Functions::load(library)?;
        let (mut major, mut minor, mut count) = (0, 0, 0);
        // SAFETY: the functions write one number to each of the addresses.
        let codes = unsafe {
            [(functions.version)(&mut major, &mut minor), (functions.count_architectures)(&mut count)]
        };
        let mut architectures = vec![0; usize::try_from(count).unwrap_or(0)];
        // SAFETY: there is room for as many numbers as the library announced.
        let code = unsafe { (functions.architectures)(architectures.as_mut_ptr()) };
        if codes != [0, 0] || code != 0 {
            return Err("it does not say which version it is".into());
        }
        let mut architectures: Vec<u32> =
            architectures.into_iter().filter_map(|a| u32::try_from(a).ok()).collect();
        architectures.sort_unstable();
        let place = file.display().to_string();
        let version = (major, minor);
        Ok(Nvrtc { functions, explain, version, architectures, place, _builtins: builtins })
    }

    /// The version, as in `NVRTC 13.0`.
    pub fn version(&self) -> String {
        format!("NVRTC {}.{}", self.version.0, self.version.1)
    }

    /// Returns everything about the compiler that a binary depends on.
    pub fn identity(&self) -> String {
        let [exact, fast] = [false, true].map(|fast_math| options("", fast_math, Effort::Full));
        format!("{} {} {exact:?} {fast:?}", self.version(), self.place)
    }

    /// Returns the newest architecture whose instructions it writes for a GPU of this one.
    pub fn written_for(&self, architecture: u32) -> Option<u32> {
        self.architectures.iter().rfind(|known| **known <= architecture).copied()
    }

    /// Compiles CUDA C to a binary for an architecture; to PTX, which drivers compile further, for an architecture
    /// that is newer than this compiler.
    pub fn compile(
        &self,
        kernel: &str,
        source: &str,
        architecture: u32,
        fast_math: bool,
        effort: Effort,
    ) -> Result<Vec<u8>> {
        let fail = |log: String| Error::Compiler {
            device: DeviceName::of_kind(KIND),
            compiler: self.version(),
            kernel: kernel.into(),
            log,
            place: None,
        };
        let written_for = self.written_for(architecture).ok_or_else(|| {
            fail(format!("it cannot compile for sm_{architecture}, only for {:?}", self.architectures))
        })?;
        let known = written_for == architecture;
        let target = format!("{}_{written_for}", if known { "sm" } else { "compute" });
        let text = CString::new(source).map_err(|e| fail(e.to_string()))?;
        // The name is for messages alone.
        let short: String = kernel.chars().take(80).collect();
        let name = CString::new(format!("{short}.cu")).map_err(|e| fail(e.to_string()))?;
        let options = options(&target, fast_math, effort);
        let options: Vec<CString> =
            options.into_iter().filter_map(|option| CString::new(option).ok()).collect();
        let options: Vec<*const c_char> = options.iter().map(|option| option.as_ptr()).collect();

        let mut program = Unit { functions: &self.functions, handle: ptr::null_mut() };
        // SAFETY: the texts are C strings that outlive the call, which copies them; there are no headers.
        let code = unsafe {
            (self.functions.create)(
                &mut program.handle,
                text.as_ptr(),
                name.as_ptr(),
                0,
                ptr::null(),
                ptr::null(),
            )
        };
        self.check(code, "nvrtcCreateProgram")?;
        // SAFETY: the program was made, and the options are as many C strings as the call is told.
        let code =
            unsafe { (self.functions.compile)(program.handle, options.len() as c_int, options.as_ptr()) };
        if code != 0 {
            let log = self.read(&program, self.functions.log_size, self.functions.log).unwrap_or_default();
            let log = String::from_utf8_lossy(&log);
            return Err(fail(match log.trim_matches(|c: char| c.is_whitespace() || c == '\0') {
                "" => self.explanation(code),
                log => log.to_owned(),
            }));
        }
        let binary = if known {
            self.read(&program, self.functions.cubin_size, self.functions.cubin)
        } else {
            self.read(&program, self.functions.ptx_size, self.functions.ptx)
        };
        self.check_result(binary, "nvrtcGetCUBIN")
    }

    /// Reads something of a program by the two functions that tell its size and its bytes.
    fn read(
        &self,
        program: &Unit<'_>,
        size: unsafe extern "C" fn(Handle, *mut usize) -> c_int,
        bytes: unsafe extern "C" fn(Handle, *mut c_char) -> c_int,
    ) -> Result<Vec<u8>, c_int> {
        let mut count = 0;
        // SAFETY: the program was made, and the function writes one number.
        let code = unsafe { size(program.handle, &mut count) };
        if code != 0 {
            return Err(code);
        }
        let mut found = vec![0u8; count];
        // SAFETY: there is room for as many bytes as the library announced.
        let code = unsafe { bytes(program.handle, found.as_mut_ptr().cast()) };
        if code == 0 { Ok(found) } else { Err(code) }
    }

    fn check(&self, code: c_int, call: &'static str) -> Result<()> {
        self.check_result(if code == 0 { Ok(()) } else { Err(code) }, call)
    }

    fn check_result<T>(&self, result: Result<T, c_int>, call: &'static str) -> Result<T> {
        result.map_err(|code| Error::Driver {
            device: DeviceName::of_kind(KIND),
            call,
            code: code.into(),
            name: self.explanation(code),
            place: None,
        })
    }

    fn explanation(&self, code: c_int) -> String {
        // SAFETY: the function takes any number, and gives a C string that is never freed, or nothing.
        let text = unsafe { (self.explain)(code) };
        if text.is_null() {
            return "an unknown error".into();
        }
        // SAFETY: it is not null, so it is a C string.
        unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
    }
}

/// A program that is being compiled.
struct Unit<'a> {
    functions: &'a Functions,
    handle: Handle,
}

impl Drop for Unit<'_> {
    fn drop(&mut self) {
        if !self.handle.is_null() {
            // SAFETY: the program was made, and nothing uses it any more.
            unsafe { (self.functions.destroy)(&mut self.handle) };
        }
    }
}

/// The compiler's options: those that the emitter's CUDA C was written for, what this compiler must be told, and what the user adds
/// by `PUMICE_NVRTC_FLAGS`.
fn options(target: &str, fast_math: bool, effort: Effort) -> Vec<String> {
    let mut options = vec![format!("--gpu-architecture={target}")];
    options.extend(["--std=c++17", "--device-as-default-execution-space"].map(str::to_owned));
    let emitters = pumice_emit::compiler_flags(Dialect::Cuda, &EmitOptions { fast_math }, effort);
    options.extend(emitters.into_iter().map(str::to_owned));
    let added = std::env::var("PUMICE_NVRTC_FLAGS").unwrap_or_default();
    options.extend(added.split_whitespace().map(str::to_owned));
    options
}

/// The folders in which NVRTC is usually installed, where they exist.
fn folders(variable: &impl Fn(&str) -> Option<OsString>) -> Vec<PathBuf> {
    let mut toolkits: Vec<PathBuf> =
        ["CUDA_HOME", "CUDA_PATH"].into_iter().filter_map(variable).map(Into::into).collect();
    toolkits.extend(children(Path::new("/usr/local"), "cuda"));
    toolkits.extend(children(Path::new("/opt"), "cuda"));
    let platform = format!("targets/{}-linux/lib", std::env::consts::ARCH);
    let mut folders: Vec<PathBuf> = toolkits
        .iter()
        .flat_map(|root| [root.join("lib64"), root.join(&platform), root.join("lib")])
        .collect();

    // NVIDIA's Python packages: of CUDA 13 in one folder, of CUDA 12 in one for each library.
    let mut packages: Vec<PathBuf> = Vec::new();
    packages.extend(variable("PYTHONPATH").iter().flat_map(std::env::split_paths));
    let mut roots: Vec<PathBuf> =
        ["VIRTUAL_ENV", "CONDA_PREFIX"].into_iter().filter_map(variable).map(Into::into).collect();
    folders.extend(variable("CONDA_PREFIX").map(|root| PathBuf::from(root).join("lib")));
    roots.extend(variable("HOME").map(|home| PathBuf::from(home).join(".local")));
    roots.extend(["/usr/local", "/usr"].map(PathBuf::from));
    for root in roots {
        for python in children(&root.join("lib"), "python3") {
            packages.extend(["site-packages", "dist-packages"].map(|name| python.join(name)));
        }
    }
    folders.extend(
        packages
            .iter()
            .flat_map(|root| ["nvidia/cu13/lib", "nvidia/cuda_nvrtc/lib"].map(|folder| root.join(folder))),
    );
    folders.retain(|folder| folder.is_dir());
    folders
}

/// The entries of a folder whose names begin so, the last in order first: of versions, the newest.
fn children(folder: &Path, prefix: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> = entries
        .filter(|entry| entry.file_name().to_string_lossy().starts_with(prefix))
        .map(|entry| entry.path())
        .collect();
    found.sort_unstable();
    found.reverse();
    found
}

/// NVRTC's library in a folder, under its names.
fn libraries(folder: &Path) -> Vec<PathBuf> {
    let mut found = children(folder, "libnvrtc.so");
    found.extend(
        children(folder, "nvrtc64_").into_iter().filter(|file| file.extension() == Some(OsStr::new("dll"))),
    );
    found
}

/// Opens the library that NVRTC needs, so that it finds it by name wherever it is.
fn builtins(folder: &Path) -> Option<Library> {
    let file = children(folder, "libnvrtc-builtins.so").into_iter().next()?;
    #[cfg(unix)]
    {
        use libloading::os::unix::{Library, RTLD_GLOBAL, RTLD_NOW};
        // SAFETY: a library of data; it has no initialisers that could ask for anything.
        unsafe { Library::open(Some(file), RTLD_NOW | RTLD_GLOBAL) }.ok().map(Into::into)
    }
    #[cfg(not(unix))]
    {
        // SAFETY: as above.
        unsafe { Library::new(file) }.ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AXPY: &str = "extern \"C\" __global__ void axpy(float* z, const float* x, float a, long long n) {
        for (long long i = blockIdx.x * 256ll + threadIdx.x; i < n; i += gridDim.x * 256ll) z[i] = a * x[i] + z[i];
    }";

    /// Returns the compiler, if there is one. In CI there must be.
    fn open() -> Option<&'static Nvrtc> {
        match nvrtc() {
            Ok(nvrtc) => Some(nvrtc),
            Err(error) => {
                assert!(std::env::var("CI").as_deref() != Ok("true"), "{error}");
                eprintln!("not tested: {error}");
                None
            }
        }
    }

    #[test]
    fn a_kernel_is_compiled_without_a_gpu() -> Result<()> {
        if open().is_none() {
            return Ok(());
        }
        for (fast_math, effort) in
            [(false, Effort::Full), (true, Effort::Full), (false, Effort::Reduced), (false, Effort::None)]
        {
            let binary = compile("axpy", AXPY, DEFAULT_ARCHITECTURE, fast_math, effort)?;
            assert!(binary.starts_with(b"\x7fELF"), "not a cubin");
            assert!(binary.windows(4).any(|name| name == b"axpy"));
        }
        Ok(())
    }

    #[test]
    fn for_a_newer_gpu_it_makes_ptx() -> Result<()> {
        let Some(nvrtc) = open() else { return Ok(()) };
        let text = nvrtc.compile("axpy", AXPY, 999, false, Effort::Full)?;
        assert!(String::from_utf8_lossy(&text).contains(".entry axpy"));
        assert_eq!((nvrtc.written_for(90), nvrtc.written_for(1)), (Some(90), None));
        assert!(nvrtc.written_for(999) >= Some(90));
        assert!(matches!(nvrtc.compile("axpy", AXPY, 1, false, Effort::Full), Err(Error::Compiler { .. })));
        Ok(())
    }

    #[test]
    fn contraction_is_off_unless_the_math_is_fast() -> Result<()> {
        let Some(nvrtc) = open() else { return Ok(()) };
        // The text form shows the instructions.
        let instructions = |fast| {
            nvrtc
                .compile("axpy", AXPY, 999, fast, Effort::Full)
                .map(|text| String::from_utf8_lossy(&text).into_owned())
        };
        assert!(!instructions(false)?.contains("fma."));
        assert!(instructions(true)?.contains("fma."));
        Ok(())
    }

    #[test]
    fn a_refused_source_is_an_error_with_the_log() {
        let Some(nvrtc) = open() else { return };
        let Err(Error::Compiler { log, .. }) =
            nvrtc.compile("broken", "__global__ void broken( {", 90, false, Effort::Full)
        else {
            panic!("accepted a broken source");
        };
        assert!(log.contains("broken.cu(1): error"), "{log}");
    }

    #[test]
    fn a_missing_library_is_an_error_that_says_where_it_was_looked_for() {
        let chosen = Nvrtc::open_with(|name| (name == "PUMICE_NVRTC").then(|| "/no/such/libnvrtc.so".into()));
        let Err(Error::DeviceUnavailable { reason, .. }) = chosen else {
            panic!("opened a file that does not exist")
        };
        assert!(
            reason.contains("(looked for PUMICE_NVRTC=/no/such/libnvrtc.so; /no/such/libnvrtc.so: "),
            "{reason}"
        );
    }

    #[test]
    fn the_folders_of_toolkits_and_packages_are_searched() -> std::io::Result<()> {
        let root = std::env::temp_dir().join(format!("pumice-nvrtc-{}", std::process::id()));
        let wheel = root.join("venv/lib/python3.12/site-packages/nvidia/cu13/lib");
        let toolkit = root.join("cuda/lib64");
        for folder in [&wheel, &toolkit] {
            std::fs::create_dir_all(folder)?;
            for name in ["libnvrtc.so.12", "libnvrtc.so.13", "libnvrtc-builtins.so.13.0", "libnvrtc_static.a"]
            {
                std::fs::write(folder.join(name), "")?;
            }
        }
        let found = folders(&|name: &str| match name {
            "CUDA_HOME" => Some(root.join("cuda").into()),
            "VIRTUAL_ENV" => Some(root.join("venv").into()),
            _ => None,
        });
        let newest = libraries(&wheel);
        std::fs::remove_dir_all(&root)?;
        assert!(found.contains(&wheel) && found.contains(&toolkit), "{found:?}");
        assert_eq!(newest, [wheel.join("libnvrtc.so.13"), wheel.join("libnvrtc.so.12")]);
        Ok(())
    }
}
