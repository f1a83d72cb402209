//! Builds and runs the peer programs. A peer that this machine cannot build or run is a note, never a
//! failure: most machines have only some of them.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::rows::{Row, parse_rows};
use crate::error::{Error, Result};
use crate::process;
use crate::workspace::make_folder;

const PYTHON_VARIABLE: &str = "PUMICE_PEERS_PYTHON";

/// A program that measures a peer on one device.
struct Peer {
    device: &'static str,
    source: &'static str,
    make: fn(&Places) -> Result<Command>,
}

const PEERS: &[Peer] = &[
    Peer { device: "cpu", source: "cpu.c", make: |places| build_c(places, "cpu") },
    Peer { device: "cpu", source: "irregular.c", make: |places| build_c(places, "irregular") },
    Peer { device: "cpu", source: "sorting.cpp", make: |places| build_cpp(places, "sorting") },
    Peer { device: "cpu", source: "cpu.py", make: |places| python(places, "cpu.py") },
    Peer { device: "cpu", source: "irregular.py", make: |places| python(places, "irregular.py") },
    Peer { device: "cpu", source: "tables.py", make: |places| python(places, "tables.py") },
    Peer { device: "cpu", source: "programs_cpu.py", make: |places| python(places, "programs_cpu.py") },
    Peer { device: "opencl", source: "sdk.c", make: build_opencl },
    Peer { device: "cuda", source: "cuda.cu", make: |places| build_cuda(places, "cuda") },
    Peer { device: "cuda", source: "kernels.cu", make: |places| build_cuda(places, "kernels") },
    Peer { device: "cuda", source: "irregular.cu", make: |places| build_cuda(places, "irregular") },
    Peer { device: "cuda", source: "nested.cu", make: |places| build_cuda(places, "nested") },
    Peer { device: "cuda", source: "gpu.py", make: |places| python(places, "gpu.py") },
    Peer { device: "cuda", source: "programs_gpu.py", make: |places| python(places, "programs_gpu.py") },
];

/// Folders of the peers' sources and programs.
pub struct Places {
    /// The folder with the sources.
    pub sources: PathBuf,
    /// The folder for programs that are built.
    pub out: PathBuf,
}

/// Results of the peers.
#[derive(Default)]
pub struct Measured {
    /// All their rows.
    pub rows: Vec<Row>,
    /// Peers that could not be built or run, with the reasons.
    pub notes: Vec<String>,
}

/// Runs all peers of a device, or of all devices, on workloads whose name contains `filter`.
pub fn measure(places: &Places, device: Option<&str>, filter: &str) -> Result<Measured> {
    make_folder(&places.out)?;
    let mut measured = Measured::default();
    for peer in PEERS.iter().filter(|peer| device.is_none_or(|device| device == peer.device)) {
        println!("── peers on {}: {}", peer.device, peer.source);
        match (peer.make)(places).and_then(|program| rows_of(program, filter)) {
            Ok((rows, ending)) => {
                measured.rows.extend(rows);
                measured.notes.extend(ending.err().map(|error| format!("{}: {error}", peer.source)));
            }
            Err(error) => measured.notes.push(format!("{}: {error}", peer.source)),
        }
    }
    Ok(measured)
}

/// Returns the rows that a program prints, and how it ended: one that failed half-way may still have printed some.
fn rows_of(mut program: Command, filter: &str) -> Result<(Vec<Row>, Result<()>)> {
    if !filter.is_empty() {
        program.arg(filter);
    }
    let captured = process::capture(&mut program)?;
    match (parse_rows(&captured.stdout), captured.ending) {
        (Ok(rows), ending) => Ok((rows, ending)),
        // The reason why it ended says more than the fact that its output is cut off.
        (Err(_), Err(ending)) => Err(ending),
        (Err(error), Ok(())) => Err(error),
    }
}

fn build_c(places: &Places, name: &str) -> Result<Command> {
    let compiler = compiler("CC", &["gcc", "cc"], &[])?;
    let program = places.out.join(format!("{name}-c"));
    let mut command = Command::new(compiler);
    command
        .args(["-O3", "-march=native", "-ffast-math", "-fopenmp"])
        .arg(places.sources.join(format!("{name}.c")))
        .arg("-lm")
        .arg("-o")
        .arg(&program);
    process::run(&mut command)?;
    Ok(Command::new(program))
}

fn build_opencl(places: &Places) -> Result<Command> {
    let program = places.out.join("sdk");
    let mut command = Command::new(compiler("CC", &["gcc", "cc"], &[])?);
    // The toolkit has OpenCL's headers as well.
    let headers = cuda_programs().into_iter().filter_map(|folder| Some(folder.parent()?.join("include")));
    command.arg("-O2").args(headers.map(|folder| format!("-I{}", folder.display())));
    command.arg(places.sources.join("sdk.c")).args(["-l:libOpenCL.so.1", "-o"]).arg(&program);
    process::run(&mut command)?;
    Ok(Command::new(program))
}

fn build_cpp(places: &Places, name: &str) -> Result<Command> {
    let program = places.out.join(format!("{name}-cpp"));
    let mut command = Command::new(compiler("CXX", &["g++", "c++"], &[])?);
    command
        .args(["-O3", "-march=native", "-fopenmp"])
        .arg(places.sources.join(format!("{name}.cpp")))
        .arg("-o")
        .arg(&program);
    process::run(&mut command)?;
    Ok(Command::new(program))
}

fn build_cuda(places: &Places, name: &str) -> Result<Command> {
    let compiler = compiler("NVCC", &["nvcc"], &cuda_programs())?;
    let program = places.out.join(name);
    let source = places.sources.join(format!("{name}.cu"));
    let mut command = Command::new(&compiler);
    command.args(["-O3", "-std=c++17", "-arch=native"]).arg(source).args(["-lcublas", "-lcusparse"]);
    if let Some(libraries) = libraries_of(&compiler) {
        // The toolkit's libraries need not be on the system's search path.
        command.arg("-Xlinker").arg(format!("-rpath,{}", libraries.display()));
    }
    command.arg("-o").arg(&program);
    process::run(&mut command)?;
    Ok(Command::new(program))
}

/// Returns the compiler that a variable names, or the first of these on the search path or in these folders.
fn compiler(variable: &str, names: &[&str], folders: &[PathBuf]) -> Result<PathBuf> {
    if let Some(named) = std::env::var_os(variable) {
        return Ok(named.into());
    }
    let in_folders = || {
        let candidates = folders.iter().flat_map(|folder| names.iter().map(move |name| folder.join(name)));
        candidates.into_iter().find(|candidate| candidate.is_file())
    };
    process::find_program(names)
        .or_else(in_folders)
        .ok_or_else(|| Error::new(format!("no {} found; {variable} may name one", names.join(" or "))))
}

fn cuda_programs() -> Vec<PathBuf> {
    let named = ["CUDA_HOME", "CUDA_PATH"].into_iter().filter_map(std::env::var_os).map(PathBuf::from);
    named.chain([PathBuf::from("/usr/local/cuda")]).map(|toolkit| toolkit.join("bin")).collect()
}

fn libraries_of(compiler: &Path) -> Option<PathBuf> {
    let program = compiler.canonicalize().ok()?;
    let libraries = program.parent()?.parent()?.join("lib64");
    libraries.is_dir().then_some(libraries)
}

fn python(places: &Places, source: &str) -> Result<Command> {
    let interpreter = match std::env::var_os(PYTHON_VARIABLE) {
        Some(named) => PathBuf::from(named),
        None => process::find_program(&["python3"])
            .ok_or_else(|| Error::new(format!("no python3 found; {PYTHON_VARIABLE} may name one")))?,
    };
    let mut command = Command::new(interpreter);
    command.arg(places.sources.join(source));
    Ok(command)
}

#[cfg(test)]
mod tests {
    use super::super::rows::{rows_to_json, tests::row};
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script, "peer"]);
        command
    }

    #[test]
    fn a_program_gets_the_filter_and_gives_rows() {
        let mut given = row("cpu", "dot f32", "NumPy", 2.0);
        let script = format!("cat <<EOF\n{}\nEOF", rows_to_json(&[given.clone()]).replace("dot f32", "$1"));
        given.workload = "sum".to_string();
        let (rows, ending) = rows_of(shell(&script), "sum").unwrap();
        assert_eq!((rows, ending), (vec![given], Ok(())));
    }

    #[test]
    fn rows_before_a_failure_are_kept_and_the_failure_is_told() {
        let (rows, ending) = rows_of(shell("echo '[]'; exit 1"), "").unwrap();
        assert_eq!(rows, []);
        assert!(ending.is_err());
    }

    #[test]
    fn output_that_breaks_off_is_an_error_that_says_how_the_program_ended() {
        let error = rows_of(shell("echo '['; exit 9"), "").unwrap_err().to_string();
        assert!(error.contains('9'), "{error}");
        assert!(rows_of(shell("echo nonsense"), "").is_err());
    }

    #[test]
    fn sources_that_are_not_there_are_notes() {
        let out = std::env::temp_dir().join(format!("pumice-xtask-{}-peers", std::process::id()));
        let places = Places { sources: out.join("absent"), out: out.clone() };
        let measured = measure(&places, Some("cpu"), "").unwrap();
        std::fs::remove_dir_all(out).unwrap();
        assert_eq!(measured.rows, []);
        let cpu = PEERS.iter().filter(|peer| peer.device == "cpu").count();
        assert_eq!(measured.notes.len(), cpu, "{:?}", measured.notes);
        assert!(measured.notes[0].starts_with("cpu.c: "), "{:?}", measured.notes);
    }
}
