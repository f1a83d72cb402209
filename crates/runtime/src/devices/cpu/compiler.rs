//! The system's C compiler: where it is, and how a kernel is compiled with it.
//!
//! Finding it only looks at files. A process is started to compile a kernel and for nothing else, because a program
//! whose kernels are cached must not pay for one.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, UNIX_EPOCH};

use pumice_emit::{Dialect, Effort, EmitOptions};

use super::NAME;
use super::ahead::FAMILY;
use super::process::{self, Outcome};
use super::scratch::Scratch;
use crate::error::{Error, Result};

/// Flags of every compilation, besides those that the emitter asks for. `-w`: the source is generated, its warnings are
/// for nobody.
const FLAGS: &[&str] = &["-c", "-std=gnu11", "-fPIC", "-fno-strict-aliasing", "-w"];

/// The longest part of a compiler's messages that goes into an error.
const LONGEST_LOG: usize = 8000;

/// A C compiler.
pub struct Compiler {
    program: PathBuf,
    arguments: Vec<OsString>,
    stamp: String,
    /// Whether it is gcc, which has flags of its own.
    gcc: bool,
    /// Whether it compiles for other processors than this one, too.
    family: bool,
    /// Whether glibc's vectorised mathematical functions can be linked, as far as is known.
    mvec: AtomicBool,
    /// How long each of its processes may take.
    limit: Duration,
}

impl Compiler {
    /// Finds a compiler: `PUMICE_CC`, `CC`, and then `cc`, `gcc` and `clang` on the path.
    pub fn find() -> Result<Compiler> {
        Compiler::find_with(|name| std::env::var_os(name).filter(|value| !value.is_empty()))
    }

    /// Finds a compiler, given the environment.
    fn find_with(variable: impl Fn(&str) -> Option<OsString>) -> Result<Compiler> {
        let path = variable("PATH").unwrap_or_default();
        let limit = process::limit(variable(process::SETTING))
            .map_err(|reason| Error::DeviceUnavailable { device: NAME.to_string(), reason })?;
        let mut looked_for = Vec::new();
        let chosen = variable("PUMICE_CC");
        let candidates = match &chosen {
            // Who names a compiler for Pumice wants that one or an explanation, not another.
            Some(command) => vec![("PUMICE_CC=", command.clone())],
            None => {
                let usual = ["cc", "gcc", "clang"].map(|name| ("", OsString::from(name)));
                variable("CC").map(|command| ("CC=", command)).into_iter().chain(usual).collect()
            }
        };
        for (origin, command) in candidates {
            looked_for.push(format!("{origin}{}", command.to_string_lossy()));
            let (program, arguments) = split(&command, &path);
            let Some(program) = locate(&program, &path) else { continue };
            let (stamp, gcc) = (stamp(&program), is_gcc(&program, &arguments, &path));
            let mvec = AtomicBool::new(MVEC_EXISTS);
            return Ok(Compiler { program, arguments, stamp, gcc, family: false, mvec, limit });
        }
        let hint = if chosen.is_some() {
            "PUMICE_CC must name a program that exists"
        } else {
            "install gcc or clang, or name a C compiler in PUMICE_CC"
        };
        Err(Error::DeviceUnavailable {
            device: NAME.to_string(),
            reason: format!("no C compiler was found (looked for {}); {hint}", looked_for.join(", ")),
        })
    }

    /// The same, for all processors of a family.
    pub fn for_family(mut self) -> Compiler {
        self.family = true;
        self
    }

    /// Everything about the compiler and its flags that a binary depends on.
    pub fn fingerprint(&self) -> String {
        // The flags for lower efforts are the emitter's too, which is part of every key.
        let [exact, fast] = [false, true].map(|fast_math| self.flags(fast_math, Effort::Full));
        format!("{} {:?} {FLAGS:?} {exact:?} {fast:?}", self.stamp, self.arguments)
    }

    /// The flags that the emitter's C was written for.
    fn flags(&self, fast_math: bool, effort: Effort) -> Vec<&'static str> {
        let mut flags = pumice_emit::compiler_flags(Dialect::C, &EmitOptions { fast_math }, effort);
        if self.gcc {
            flags.extend(pumice_emit::gcc_flags(effort));
        }
        if self.family {
            flags.retain(|flag| *flag != "-march=native");
            flags.extend(FAMILY);
        }
        flags
    }

    /// The command, for people.
    pub fn command(&self) -> String {
        let words =
            std::iter::once(self.program.as_os_str()).chain(self.arguments.iter().map(OsString::as_os_str));
        words.map(OsStr::to_string_lossy).collect::<Vec<_>>().join(" ")
    }

    /// Compiles C to the bytes of a shared library.
    pub fn compile(&self, kernel: &str, source: &str, fast_math: bool, effort: Effort) -> Result<Vec<u8>> {
        let scratch = Scratch::new().map_err(|e| host("making a temporary folder", e))?;
        // The compiler runs in the user's own folder, which relative paths in its command refer to.
        let [text, object, library] =
            ["kernel.c", "kernel.o", "kernel.so"].map(|name| scratch.path().join(name));
        std::fs::write(&text, source).map_err(|e| host("writing the kernel's source", e))?;

        let mut compile = self.start();
        compile.args(FLAGS).args(self.flags(fast_math, effort)).arg(&text).arg("-o").arg(&object);
        if let Err(error) = self.finish(kernel, &mut compile, &scratch) {
            // A compiler that crashes while it vectorises often gets through without.
            if !matches!(&error, Error::Compiler { log, .. } if log.contains("internal compiler error")) {
                return Err(error);
            }
            self.finish(kernel, compile.arg("-O1"), &scratch)?;
        }

        // Linking is a step of its own and knows nothing of -ffast-math: with that flag the linker would add start-up
        // code which makes every thread of the host flush subnormal numbers to zero.
        let link = |mvec: bool| {
            let mut link = self.start();
            link.arg("-shared").arg(&object).arg("-o").arg(&library);
            if mvec {
                link.args(["-Wl,--as-needed", "-lmvec"]);
            }
            self.finish(kernel, link.arg("-lm"), &scratch)
        };
        if !(self.mvec.load(Ordering::Relaxed) && link(true).is_ok()) {
            link(false)?;
            self.mvec.store(false, Ordering::Relaxed);
        }
        std::fs::read(&library).map_err(|e| host("reading the compiled kernel", e))
    }

    fn start(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).env("LC_ALL", "C");
        command
    }

    fn finish(&self, kernel: &str, command: &mut Command, scratch: &Scratch) -> Result<()> {
        let outcome = process::run(command, scratch.path(), self.limit);
        let outcome = outcome.map_err(|e| host(&format!("starting `{}`", self.command()), e))?;
        let refuse = |log| {
            Err(Error::Compiler {
                device: NAME,
                compiler: self.command(),
                kernel: kernel.into(),
                log,
                place: None,
            })
        };
        let (status, log) = match outcome {
            Outcome::Ended(status, _) if status.success() => return Ok(()),
            Outcome::Ended(status, log) => (status, log),
            Outcome::Killed => {
                return refuse(format!(
                    "it did not end within {:?} and was killed; {} sets the limit, in seconds",
                    self.limit,
                    process::SETTING
                ));
            }
        };
        let mut log = log.trim_end().to_owned();
        if log.len() > LONGEST_LOG {
            let end = (0..=LONGEST_LOG).rev().find(|&end| log.is_char_boundary(end)).unwrap_or(0);
            log.truncate(end);
            log.push_str("\n(and more)");
        }
        if log.is_empty() {
            log = format!("it said nothing and ended with {status}");
        }
        refuse(log)
    }
}

/// Whether this kind of system can have libmvec at all.
const MVEC_EXISTS: bool = cfg!(all(target_os = "linux", target_env = "gnu"));

/// A command's program and its arguments. A name that exists as it stands may contain spaces; in all others they
/// separate arguments, as in `CC="ccache gcc"`.
fn split(command: &OsStr, path: &OsStr) -> (OsString, Vec<OsString>) {
    if let (None, Some(text)) = (locate(command, path), command.to_str()) {
        let mut words = text.split_whitespace().map(OsString::from);
        if let Some(program) = words.next() {
            return (program, words.collect());
        }
    }
    (command.to_owned(), Vec::new())
}

/// The file that a program's name stands for, by its absolute path: it is started long after it is found.
fn locate(program: &OsStr, path: &OsStr) -> Option<PathBuf> {
    let executable = |file: &Path| {
        let Ok(metadata) = file.metadata() else { return false };
        #[cfg(unix)]
        let runs = std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o111 != 0;
        #[cfg(not(unix))]
        let runs = true;
        metadata.is_file() && runs
    };
    let named = Path::new(program);
    if named.components().count() > 1 {
        return executable(named).then(|| absolute(named));
    }
    let suffix = std::env::consts::EXE_SUFFIX;
    std::env::split_paths(path)
        .flat_map(|folder| [folder.join(named), folder.join(format!("{}{suffix}", named.display()))])
        .find(|file| executable(file))
        .map(|file| absolute(&file))
}

/// The absolute path of a file, as long as the current folder is known.
fn absolute(file: &Path) -> PathBuf {
    std::path::absolute(file).unwrap_or_else(|_| file.to_owned())
}

/// Whether a command is gcc, by the name of the file that it comes down to: the program's, or, if that is one that starts
/// another (`ccache gcc`), the first argument's. Asking the compiler would cost a process.
fn is_gcc(program: &Path, arguments: &[OsString], path: &OsStr) -> bool {
    let started = arguments.first().filter(|argument| !argument.as_encoded_bytes().starts_with(b"-"));
    let started = started.and_then(|argument| locate(argument, path));
    let named = |file: PathBuf| {
        let file = file.canonicalize().unwrap_or(file);
        // As in `x86_64-linux-gnu-gcc-14`.
        file.file_name().and_then(OsStr::to_str).is_some_and(|name| name.split('-').any(|part| part == "gcc"))
    };
    named(program.to_owned()) || started.is_some_and(named)
}

/// The compiler's file, its size and its age: they change when the compiler does, and cost no process.
fn stamp(program: &Path) -> String {
    let file = program.canonicalize().unwrap_or_else(|_| program.to_owned());
    let (size, age) = file.metadata().map_or((0, 0), |metadata| {
        let age = metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        (metadata.len(), age.map_or(0, |age| age.as_nanos()))
    });
    format!("{} {size} {age}", file.display())
}

fn host(action: &str, error: std::io::Error) -> Error {
    Error::host(NAME, action, error)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(variables: &[(&str, &str)]) -> Result<Compiler> {
        Compiler::find_with(|name| {
            variables.iter().find(|(key, _)| *key == name).map(|(_, value)| value.into())
        })
    }

    #[test]
    fn a_missing_compiler_is_an_error_that_lists_the_names() {
        let Err(Error::DeviceUnavailable { reason, .. }) = find(&[("PATH", ""), ("CC", "none")]) else {
            panic!("found a compiler on an empty path");
        };
        assert!(reason.contains("(looked for CC=none, cc, gcc, clang)"), "{reason}");
        let path = std::env::var("PATH").unwrap_or_default();
        let Err(Error::DeviceUnavailable { reason, .. }) = find(&[("PATH", &path), ("PUMICE_CC", "none")])
        else {
            panic!("PUMICE_CC was passed over");
        };
        assert!(reason.contains("(looked for PUMICE_CC=none); PUMICE_CC must"), "{reason}");
    }

    #[test]
    fn the_compiler_may_come_with_arguments() -> Result<()> {
        let path = std::env::var("PATH").unwrap_or_default();
        let plain = find(&[("PATH", &path)])?;
        let with_flag = find(&[("PATH", &path), ("PUMICE_CC", "cc -DANSWER=42")])?;
        assert_eq!(with_flag.arguments, ["-DANSWER=42"]);
        assert_ne!(plain.fingerprint(), with_flag.fingerprint());
        let source = "int answer(void) { return ANSWER; }";
        assert!(with_flag.compile("answer", source, false, Effort::Full).is_ok());
        assert!(plain.compile("answer", source, false, Effort::Full).is_err());
        Ok(())
    }

    #[test]
    fn only_gcc_gets_its_own_flags() -> Result<()> {
        let path = std::env::var("PATH").unwrap_or_default();
        let own = pumice_emit::gcc_flags(Effort::Full);
        for (command, gcc) in [("gcc", true), ("clang", false), ("env gcc", true), ("env clang", false)] {
            // Some are not installed.
            let Ok(compiler) = find(&[("PATH", &path), ("PUMICE_CC", command)]) else { continue };
            let last = command.split(' ').next_back().unwrap_or_default();
            if locate(last.as_ref(), path.as_ref()).is_none() {
                continue;
            }
            assert_eq!(compiler.gcc, gcc, "{command}");
            for fast_math in [false, true] {
                assert_eq!(compiler.flags(fast_math, Effort::Full).ends_with(&own), gcc, "{command}");
                compiler.compile(
                    "k",
                    "double f(double x) { return __builtin_exp(x); }",
                    fast_math,
                    Effort::Full,
                )?;
            }
        }
        let named = |name: &str| is_gcc(Path::new(name), &[], OsStr::new(""));
        assert!(named("/none/gcc") && named("/none/gcc-14") && named("/none/aarch64-linux-gnu-gcc-12"));
        assert!(
            !named("/none/clang") && !named("/none/clang-19") && !named("/none/tcc") && !named("/none/cc")
        );
        Ok(())
    }

    #[test]
    fn a_refused_source_is_an_error_with_the_log() -> Result<()> {
        let compiler = find(&[("PATH", &std::env::var("PATH").unwrap_or_default())])?;
        let Err(Error::Compiler { kernel, log, .. }) =
            compiler.compile("broken", "int f( {", false, Effort::Full)
        else {
            panic!("accepted a broken source");
        };
        assert_eq!(kernel, "broken");
        assert!(log.contains("kernel.c:1") && log.contains("error"), "{log}");
        Ok(())
    }

    #[test]
    fn a_library_that_cannot_be_linked_is_done_without() -> Result<()> {
        let compiler = find(&[("PATH", &std::env::var("PATH").unwrap_or_default())])?;
        compiler.mvec.store(false, Ordering::Relaxed);
        assert!(
            compiler
                .compile("k", "double f(double x) { return __builtin_exp(x); }", true, Effort::Full)
                .is_ok()
        );
        Ok(())
    }
}
