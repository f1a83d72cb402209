//! Effects of the environment on a program: folders that cannot be written, damaged files, missing compilers.
//!
//! A process opens each device once, so every case is a process of its own: this test program starts itself again, with
//! the one test [`child`], which runs a small program on the default device and prints what came of it.

use pumice::layers::runtime::{Engine, default_device};
use pumice::{Compiler, prelude::*};
use std::collections::HashSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Set in the processes that the tests start: which of [`child`]'s programs to run.
const CHILD: &str = "PUMICE_TEST_CHILD";

/// The result of a good run of the program `sum`.
const SUM: &str = "result: 30.0";

/// Not a test of anything alone: it is what the tests start.
#[test]
fn child() {
    let outcome = match std::env::var(CHILD).as_deref() {
        Ok("sum") => sum(),
        Ok("fast_math") => fast_math(),
        Ok("large") => large(),
        Ok("many") => many(),
        Ok("long") => long(),
        _ => return,
    };
    // A line of its own, whatever the test harness has begun to write.
    match outcome {
        Ok(result) => println!("\nresult: {result}"),
        Err(error) => println!("\nerror: {error}"),
    }
}

/// The sum of some squares, and where the kernels came from.
fn sum() -> pumice::Result<String> {
    let squares = pumice::compile(|xs: Acc<Vector<f32>>| xs.map(|x| x * x).sum())?;
    let result = squares.run([1.0, 2.0, 3.0, 4.0])?.to_value()?;
    let kernels = Engine::of(default_device()?).kernels().counts();
    Ok(format!("{result:?}\nbuilt: {}\nfrom disk: {}", kernels.built, kernels.disk))
}

/// Half of the smallest normal number, computed by this thread after a kernel with fast mathematics has run on it (and on
/// others). It is subnormal, and zero where such numbers are flushed.
fn fast_math() -> pumice::Result<String> {
    let roots = Compiler::new()?.fast_math(true).compile(|xs: Acc<Vector<f32>>| xs.map(|x| x.sqrt()))?;
    roots.run(vec![4.0; 1 << 16])?.to_vec()?;
    let halves = || {
        let (single, double) =
            (std::hint::black_box(f32::MIN_POSITIVE), std::hint::black_box(f64::MIN_POSITIVE));
        single / 2.0 > 0.0 && double / 2.0 > 0.0
    };
    let elsewhere = std::thread::spawn(halves).join().unwrap_or(false);
    Ok(format!("here {}, in a new thread {elsewhere}", halves()))
}

/// Several kernels over arrays that are long enough for several threads.
fn large() -> pumice::Result<String> {
    let program = pumice::compile(|xs: Acc<Vector<f32>>| {
        let sums = xs.clone().sum();
        let squares = xs.clone().map(|x| x * x).sum();
        let cubes = xs.map(|x| x * x * x).sum();
        sums.zip_with(squares, |a, b| a + b).zip_with(cubes, |a, b| a + b)
    })?;
    let xs = vec![1.0; 2 << 20];
    let sum = program.run(&xs)?.to_value()?;
    let doubled = pumice::compile(|xs: Acc<Vector<f32>>| xs.map(|x| x + x))?.run(&xs)?.to_vec()?;
    let workers = default_device()?.description();
    Ok(format!("{sum}, {}, {}", doubled.iter().all(|x| *x == 2.0), workers.contains(", 1 worker,")))
}

/// A result that takes 256 MiB on the device, as much again when it is fetched, and as much again as a vector.
fn long() -> pumice::Result<String> {
    let count = pumice::compile(|n: Exp<i64>| generate(n, |i| i))?;
    let values = count.run(32 << 20)?.to_vec()?;
    Ok(format!("{} values", values.len()))
}

/// Many different kernels, each of which is dropped after its run and then run again; and how many libraries are loaded.
fn many() -> pumice::Result<String> {
    let mut most = 0;
    for round in 0..2 {
        for number in 0..12 {
            let add = pumice::compile(move |xs: Acc<Vector<i32>>| xs.map(|x| x + number))?;
            assert_eq!(add.run([round])?.to_vec()?, [round + number]);
            most = most.max(libraries());
        }
    }
    let engine = Engine::of(default_device()?);
    let counts = engine.kernels().counts();
    Ok(format!("{most} libraries, {} kernels, {} built", engine.kernels().loaded(), counts.built))
}

/// The number of kernels that are mapped into this process.
fn libraries() -> usize {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
    let kernels = maps.lines().filter(|line| line.contains("memfd:pumice-kernel"));
    // The fifth column is the file's number.
    kernels.filter_map(|line| line.split_whitespace().nth(4)).collect::<HashSet<_>>().len()
}

/// An empty folder for one test.
fn scratch(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("environment").join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("the target folder can be written");
    folder
}

/// This program again, as [`child`] with one of its programs, on a device, with its kernels in a folder.
fn start(program: &str, device: &str, cache: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("a test is a program"));
    command.args(["--exact", "child", "--nocapture"]).env(CHILD, program);
    command.env("PUMICE_DEVICE", device).env("PUMICE_CACHE_DIR", cache);
    command
}

/// The same with no device named.
fn start_without_device(program: &str, cache: &Path) -> Command {
    let mut command = start(program, "", cache);
    command.env_remove("PUMICE_DEVICE");
    command
}

/// Returns the child's output about its program: everything from its result or error on.
fn outcome(command: &mut Command) -> String {
    let output = command.output().expect("this program can be started again");
    let text = String::from_utf8_lossy(&output.stdout);
    let all = format!("{text}{}", String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{all}");
    let lines = text.lines().skip_while(|line| !line.starts_with("result: ") && !line.starts_with("error: "));
    let lines = lines.take_while(|line| !line.is_empty() && !line.starts_with("test "));
    let outcome = lines.collect::<Vec<_>>().join("\n");
    assert!(!outcome.is_empty(), "{all}");
    outcome
}

/// Whether there is a C compiler, without which most of this has nothing to show. In CI there must be one.
fn has_compiler() -> bool {
    let Err(error) = Compiler::on("cpu") else { return true };
    assert!(std::env::var("CI").as_deref() != Ok("true"), "{error}");
    eprintln!("skipped: {error}");
    false
}

/// The files of a folder with their contents, in order.
fn contents(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let entries = std::fs::read_dir(folder).expect("the folder is there");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("it can be listed").path()).collect();
    paths.sort();
    paths.into_iter().map(|path| (path.clone(), std::fs::read(path).expect("it can be read"))).collect()
}

#[test]
fn a_cache_that_cannot_be_written_does_no_harm() {
    if !has_compiler() {
        return;
    }
    let file = scratch("unwritable").join("file");
    std::fs::write(&file, "not a folder").expect("the scratch folder can be written");
    for cache in [file.clone(), file.join("below")] {
        let text = outcome(&mut start("sum", "cpu", &cache));
        assert!(text.starts_with(SUM) && text.ends_with("from disk: 0"), "{text}");
    }
    assert_eq!(std::fs::read(&file).ok().as_deref(), Some(&b"not a folder"[..]));
}

#[test]
fn damaged_entries_are_built_again() {
    type Damage = fn(&[u8]) -> Vec<u8>;
    if !has_compiler() {
        return;
    }
    let cache = scratch("damaged").join("cache");
    let first = outcome(&mut start("sum", "cpu", &cache));
    let whole = contents(&cache);
    assert!(first.starts_with(SUM) && !whole.is_empty(), "{first}");
    let flipped: Damage = |bytes| {
        let mut bytes = bytes.to_vec();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 0xff;
        bytes
    };
    let damages: [(&str, Damage); 4] = [
        ("a flipped byte", flipped),
        ("a lost end", |bytes| bytes[..bytes.len() / 2].to_vec()),
        ("nothing left", |_| Vec::new()),
        ("a wrong beginning", |bytes| [b"?", bytes].concat()),
    ];
    for (damage, apply) in damages {
        for (path, bytes) in &whole {
            std::fs::write(path, apply(bytes)).expect("the user owns the entries");
        }
        let again = outcome(&mut start("sum", "cpu", &cache));
        assert_eq!(again, first, "after {damage}");
        let rebuilt = outcome(&mut start("sum", "cpu", &cache));
        assert!(rebuilt.starts_with(&format!("{SUM}\nbuilt: 0\n")), "after {damage}: {rebuilt}");
    }
}

/// Writes a program for the shell.
#[cfg(unix)]
fn write_script(file: &Path, script: &str) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::write(file, format!("#!/bin/sh\n{script}\n")).expect("the scratch folder can be written");
    std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o755)).expect("it is ours");
}

/// A compiler that notes every start in a file, and is otherwise the usual one.
#[cfg(unix)]
#[test]
fn the_second_process_starts_no_compiler() {
    if !has_compiler() {
        return;
    }
    let folder = scratch("second");
    let (cache, log, compiler) = (folder.join("cache"), folder.join("log"), folder.join("compiler"));
    let usual = std::env::var("PUMICE_CC").or_else(|_| std::env::var("CC")).unwrap_or("cc".to_string());
    write_script(&compiler, &format!("echo started >> '{}'\nexec {usual} \"$@\"", log.display()));
    let run = || outcome(start("sum", "cpu", &cache).env("PUMICE_CC", &compiler));
    let starts = || std::fs::read_to_string(&log).map_or(0, |text| text.lines().count());

    let first = run();
    let compiled = starts();
    assert!(first.starts_with(SUM) && first.ends_with("from disk: 0") && compiled > 0, "{first}");
    let kept = contents(&cache);

    let second = run();
    assert!(second.starts_with(&format!("{SUM}\nbuilt: 0\n")), "{second}");
    assert_eq!(starts(), compiled);
    assert_eq!(contents(&cache), kept);
}

#[test]
fn a_missing_compiler_is_named() {
    let folder = scratch("no_compiler");
    let mut command = start("sum", "cpu", &folder.join("cache"));
    command.env("PATH", folder.as_os_str()).env_remove("CC").env_remove("PUMICE_CC");
    let reason = "no C compiler was found (looked for cc, gcc, clang); install gcc or clang, or name a C compiler in \
                  PUMICE_CC";
    assert_eq!(outcome(&mut command), format!("error: device `cpu` is not available: {reason}"));

    let text = outcome(command.env("PUMICE_CC", "no-such-compiler"));
    assert!(text.contains("(looked for PUMICE_CC=no-such-compiler)"), "{text}");
}

#[test]
fn a_broken_compiler_is_told_of() {
    if !has_compiler() || !Path::new("/bin/false").exists() {
        return;
    }
    let cache = scratch("broken_compiler").join("cache");
    let text = outcome(start("sum", "cpu", &cache).env("PUMICE_CC", "/bin/false"));
    assert!(text.starts_with("error: the cpu compiler (/bin/false) failed on kernel `"), "{text}");
    assert!(text.contains("` for sum at crates/pumice/tests/environment.rs:"), "{text}");
}

#[test]
fn an_unknown_device_is_answered_with_the_known_ones() {
    let text = outcome(&mut start("sum", "abacus", &scratch("unknown_device")));
    assert_eq!(text, "error: there is no device `abacus`; the devices are cuda, opencl, cpu, sim");
}

#[test]
fn without_a_compiler_the_simulator_still_works() {
    let folder = scratch("simulator");
    let mut command = start("sum", "sim", &folder.join("cache"));
    command.env("PATH", folder.as_os_str()).env("PUMICE_CC", OsStr::new("no-such-compiler"));
    let text = outcome(&mut command);
    assert!(text.starts_with(SUM), "{text}");
}

#[test]
fn fast_mathematics_stay_in_the_kernel() {
    if !has_compiler() {
        return;
    }
    let text = outcome(&mut start("fast_math", "cpu", &scratch("fast_math").join("cache")));
    assert_eq!(text, "result: here true, in a new thread true");
}

#[cfg(unix)]
#[test]
fn a_compiler_that_hangs_is_killed() {
    let folder = scratch("hanging_compiler");
    let (compiler, temporary) = (folder.join("cc"), folder.join("tmp"));
    std::fs::create_dir(&temporary).expect("the scratch folder can be written");
    write_script(&compiler, "sleep 600");
    let start = std::time::Instant::now();
    let mut command = start_without_device("sum", &folder.join("cache"));
    command.env("PUMICE_DEVICE", "cpu").env("PUMICE_CC", &compiler).env("TMPDIR", &temporary);
    let text = outcome(command.env("PUMICE_COMPILE_SECONDS", "0.5"));
    assert!(start.elapsed().as_secs() < 60, "{:?}", start.elapsed());
    let reason =
        "it did not end within 500ms and was killed; PUMICE_COMPILE_SECONDS sets the limit, in seconds";
    assert!(text.starts_with("error: the cpu compiler (") && text.ends_with(reason), "{text}");
    assert_eq!(contents(&temporary), [], "files are left behind");

    let text = outcome(command.env("PUMICE_COMPILE_SECONDS", "soon"));
    assert!(text.ends_with("PUMICE_COMPILE_SECONDS=soon is not a positive number of seconds"), "{text}");
}

#[cfg(unix)]
#[test]
fn a_relative_compiler_is_found_from_where_the_program_started() {
    if !has_compiler() {
        return;
    }
    let folder = scratch("relative_compiler");
    let usual = std::env::var("PUMICE_CC").or_else(|_| std::env::var("CC")).unwrap_or("cc".to_string());
    write_script(&folder.join("mycc"), &format!("exec {usual} \"$@\""));
    for command in ["./mycc", "env ./mycc"] {
        let cache = folder.join(format!("cache of {}", command.len()));
        let text = outcome(start("sum", "cpu", &cache).env("PUMICE_CC", command).current_dir(&folder));
        assert!(text.starts_with(&format!("{SUM}\nbuilt: ")) && !text.contains("built: 0"), "{text}");
    }
}

#[test]
fn without_a_compiler_or_a_gpu_there_is_no_default_device() {
    let folder = scratch("no_device");
    let bad = folder.join("libOpenCL.so");
    std::fs::write(&bad, "not a library").expect("the scratch folder can be written");
    let mut command = start_without_device("sum", &folder.join("cache"));
    command.env("PATH", folder.as_os_str()).env_remove("CC").env_remove("PUMICE_CC");
    command.env("OPENCL_DYLIB_PATH", &bad);
    let text = outcome(&mut command);
    if text.starts_with(SUM) {
        // There is a GPU.
        return;
    }
    assert!(text.starts_with("error: no device can be used here:\n  cuda: "), "{text}");
    assert!(text.contains("\n  cpu: no C compiler was found "), "{text}");
    assert!(text.ends_with("PUMICE_DEVICE=sim runs programs on the simulator, which is slow"), "{text}");
}

#[cfg(feature = "opencl")]
#[test]
fn a_named_opencl_library_that_cannot_be_loaded_is_told_of() {
    let folder = scratch("bad_opencl");
    let bad = folder.join("libOpenCL.so");
    std::fs::write(&bad, "not a library").expect("the scratch folder can be written");
    let text = outcome(start("sum", "opencl", &folder.join("cache")).env("OPENCL_DYLIB_PATH", &bad));
    let expected = format!("OPENCL_DYLIB_PATH={} cannot be used: {}", bad.display(), bad.display());
    assert!(text.contains(&expected), "{text}");
}

/// A stack for which no address space has room: every thread that is started without one of its own fails.
const NO_THREADS: (&str, &str) = ("RUST_MIN_STACK", "1152921504606846976");

#[test]
fn where_no_thread_can_be_started_the_calling_one_does_all() {
    if !has_compiler() {
        return;
    }
    let mut command = start("large", "cpu", &scratch("no_threads").join("cache"));
    let text = outcome(command.arg("--test-threads=1").env(NO_THREADS.0, NO_THREADS.1));
    assert_eq!(text.lines().next(), Some("result: 6291456, true, true"));
}

#[cfg(not(feature = "opencl"))]
#[test]
fn a_device_that_was_not_built_says_so() {
    let text = outcome(&mut start("sum", "opencl", &scratch("not_built")));
    assert!(
        text.starts_with("error: device `opencl` is not available: Pumice was built without OpenCL"),
        "{text}"
    );
}

#[cfg(target_os = "linux")]
#[test]
fn a_driver_library_that_is_none_is_told_of() {
    let folder = scratch("bad_cuda");
    for name in ["libcuda.so.1", "libcuda.so"] {
        std::fs::write(folder.join(name), "not a library").expect("the scratch folder can be written");
    }
    let text = outcome(start("sum", "cuda", &folder.join("cache")).env("LD_LIBRARY_PATH", &folder));
    let path = folder.join("libcuda.so.1");
    let expected = format!("NVIDIA's driver library cannot be loaded: {}: ", path.display());
    // Where there is a real one beside it, the loader goes on to that.
    assert!(text.contains(&expected) || text.starts_with(SUM), "{text}");
}

#[cfg(target_os = "linux")]
#[test]
fn kernels_that_nobody_holds_are_unloaded() {
    if !has_compiler() {
        return;
    }
    let cache = scratch("many").join("cache");
    let text = outcome(start("many", "cpu", &cache).env("PUMICE_KERNELS", "4"));
    assert_eq!(text, "result: 4 libraries, 4 kernels, 12 built");
}

#[test]
fn the_folder_has_a_limit_and_can_be_switched_off() {
    if !has_compiler() {
        return;
    }
    let cache = scratch("limit").join("cache");
    let text = outcome(start("many", "cpu", &cache).env("PUMICE_CACHE_BYTES", "65536"));
    assert!(text.contains("12 built"), "{text}");
    let bytes: usize = contents(&cache).iter().map(|(_, bytes)| bytes.len()).sum();
    assert!(bytes > 0 && bytes <= 65536, "{bytes} bytes");
    let none = scratch("no_folder").join("cache");
    let text = outcome(start("sum", "cpu", &none).env("PUMICE_CACHE_BYTES", "0"));
    assert!(text.starts_with(SUM) && !none.exists(), "{text}");
}

/// With too little memory the run ends with an error, at whatever allocation the memory runs out.
#[cfg(target_os = "linux")]
#[test]
fn a_process_without_enough_memory_is_told_so() {
    if !has_compiler() {
        return;
    }
    let cache = scratch("memory").join("cache");
    assert_eq!(outcome(&mut start("long", "cpu", &cache)), "result: 33554432 values");
    let mut seen = HashSet::new();
    for megabytes in (300..=1200).step_by(150) {
        let unlimited = start("long", "cpu", &cache);
        let mut command = Command::new("sh");
        // A thread's own heap would take address space, too.
        let script = format!("ulimit -v {}; exec \"$0\" \"$@\"", megabytes << 10);
        command.args(["-c", &script]).arg(unlimited.get_program()).args(unlimited.get_args());
        command.arg("--test-threads=1").env("MALLOC_ARENA_MAX", "1");
        command.envs(unlimited.get_envs().filter_map(|(name, value)| Some((name, value?))));
        let text = outcome(&mut command);
        let first = text.lines().next().unwrap_or_default().to_string();
        let known =
            first == "result: 33554432 values" || first.contains("is out of memory: it could not allocate ");
        assert!(known, "with {megabytes} MB: {text}");
        seen.insert(first);
    }
    assert!(seen.iter().any(|line| line.starts_with("error: the host is out of memory")), "{seen:?}");
}
