//! Compiles emitted C, runs it, and compares it with the simulator.
#![allow(dead_code)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use pumice_emit::{Dialect, Effort, EmitOptions, Source, compiler_flags, emit, gcc_flags};
use pumice_program::{
    Param, Program, Ranges, SimMemory, Space, Verified, mark_exact, parse, simulate, verify,
};
use pumice_scalar::{Constant, Op, ScalarType};

/// The system's C compiler, if there is one.
pub fn compiler() -> Option<&'static str> {
    static FOUND: OnceLock<Option<String>> = OnceLock::new();
    FOUND
        .get_or_init(|| {
            let name = std::env::var("CC").unwrap_or_else(|_| "cc".to_owned());
            let found =
                Command::new(&name).arg("--version").output().is_ok_and(|output| output.status.success());
            if !found {
                eprintln!("no C compiler `{name}`: emitted C is not executed");
            }
            found.then_some(name)
        })
        .as_deref()
}

/// A folder that goes away with the test.
pub struct Folder(PathBuf);

impl Folder {
    pub fn new() -> Folder {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let name = format!("pumice-emit-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The flags for the compiler that there is.
pub fn c_flags(options: &EmitOptions) -> Vec<&'static str> {
    let mut flags = compiler_flags(Dialect::C, options, Effort::Full);
    if is_gcc() {
        flags.extend(gcc_flags(Effort::Full));
    }
    flags
}

/// Whether the compiler is gcc.
pub fn is_gcc() -> bool {
    static GCC: OnceLock<bool> = OnceLock::new();
    *GCC.get_or_init(|| {
        let version = compiler().and_then(|name| Command::new(name).arg("--version").output().ok());
        version.is_some_and(|output| {
            String::from_utf8_lossy(&output.stdout).contains("Free Software Foundation")
        })
    })
}

/// Compiles C to a library; gives what the compiler said.
pub fn compile_text(text: &str, folder: &Folder, flags: &[&str]) -> (PathBuf, String) {
    let (source, object, library) =
        (folder.path().join("k.c"), folder.path().join("k.o"), folder.path().join("k.so"));
    std::fs::write(&source, text).unwrap();
    let compiler = compiler().unwrap();
    let run = |command: &mut Command| {
        let output = command.output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{said}\n{text}");
        said
    };
    let said = run(Command::new(compiler).args(flags).args(["-fPIC", "-c", "-o"]).arg(&object).arg(&source));
    run(Command::new(compiler).arg("-shared").arg("-o").arg(&library).arg(&object).arg("-lm"));
    (library, said)
}

/// Compiles C and loads it; the same text only once.
pub fn load(text: &str, flags: &[&str]) -> Arc<libloading::Library> {
    static LOADED: Mutex<BTreeMap<String, Arc<libloading::Library>>> = Mutex::new(BTreeMap::new());
    let key = format!("{flags:?}{text}");
    if let Some(library) = LOADED.lock().unwrap().get(&key) {
        return library.clone();
    }
    let folder = Folder::new();
    let (path, _) = compile_text(text, &folder, flags);
    let library = Arc::new(unsafe { libloading::Library::new(path).unwrap() });
    LOADED.lock().unwrap().insert(key, library.clone());
    library
}

#[repr(align(64))]
#[derive(Clone)]
struct Line([u8; 64]);

/// Memory that is aligned as devices align it.
pub struct Buffer {
    lines: Vec<Line>,
    bytes: usize,
}

impl Buffer {
    pub fn new(bytes: &[u8]) -> Buffer {
        let mut lines = vec![Line([0; 64]); bytes.len().div_ceil(64).max(1)];
        for (line, chunk) in lines.iter_mut().zip(bytes.chunks(64)) {
            line.0[..chunk.len()].copy_from_slice(chunk);
        }
        Buffer { lines, bytes: bytes.len() }
    }

    pub fn pointer(&mut self) -> *mut u8 {
        self.lines.as_mut_ptr().cast()
    }

    fn bytes(&self) -> Vec<u8> {
        let all: Vec<u8> = self.lines.iter().flat_map(|line| line.0).collect();
        all[..self.bytes].to_vec()
    }
}

/// Runs a program as C; gives the memories afterwards. The blocks are run in two calls.
pub fn run_c(
    program: &Verified,
    memories: &[Vec<u8>],
    scalars: &[Constant],
    options: &EmitOptions,
    more_flags: &[&str],
) -> Vec<Vec<u8>> {
    let Source { text, entry, .. } = emit(program, Dialect::C, options).unwrap();
    let mut flags = c_flags(options);
    flags.extend(more_flags);
    let library = load(&text, &flags);

    let mut buffers: Vec<Buffer> = memories.iter().map(|bytes| Buffer::new(bytes)).collect();
    let values: Vec<[u8; 8]> = scalars.iter().map(|scalar| scalar.bits().to_le_bytes()).collect();
    let (mut next_buffer, mut next_value) = (buffers.iter_mut(), values.iter());
    let args: Vec<*mut u8> = program
        .params
        .iter()
        .map(|param| match param {
            Param::Memory(_) => next_buffer.next().unwrap().pointer(),
            Param::Scalar(_) => next_value.next().unwrap().as_ptr().cast_mut(),
        })
        .collect();
    let blocks = program.blocks_for(scalars).unwrap() as i64;
    unsafe {
        let entry: libloading::Symbol<unsafe extern "C" fn(*const *mut u8, i64, i64)> =
            library.get(entry.as_bytes()).unwrap();
        entry(args.as_ptr(), 0, blocks / 2);
        entry(args.as_ptr(), blocks / 2, blocks);
    }
    buffers.iter().map(Buffer::bytes).collect()
}

/// A program that applies a function of one or two numbers to each element of `xs`, or of `xs` and `ys`.
pub fn map_program(op: Op, ty: ScalarType) -> Verified {
    let (second, operands) = match op.arity() {
        1 => ("", "%x"),
        _ => ("%y: {ty} = load @ys[%t]\n", "%x, %y"),
    };
    let text = format!(
        "kernel map memory @xs: global read {{ty}} memory @ys: global read {{ty}} memory @out: global write {{ty}}
         params @xs, @ys, @out, %n: i64 threads 64 blocks %block: i64 < 1:i64
         body {{ parallel %t: i64 < %n {{
           %x: {{ty}} = load @xs[%t]
           {second} %r: {{ty}} = {} {operands}
           store @out[%t] = %r
         }} }}",
        op.name()
    );
    read(&text.replace("{ty}", ty.name()))
}

/// The mathematical functions with so many operands: what only floats have, but for operations that are exact.
pub fn functions(arity: usize) -> Vec<Op> {
    let exact = [Op::Sqrt, Op::Floor, Op::Ceil, Op::Round, Op::Trunc, Op::RoundTiesEven];
    let takes = |op: Op, ty| op.accepts(ty, &[ty, ty][..arity]);
    let of_floats = |op: Op| takes(op, ScalarType::F64) && !takes(op, ScalarType::I64);
    Op::ALL.iter().copied().filter(|&op| of_floats(op) && !exact.contains(&op)).collect()
}

/// Runs a program in the simulator; gives the memories afterwards.
pub fn run_sim(program: &Verified, memories: &[Vec<u8>], scalars: &[Constant]) -> Vec<Vec<u8>> {
    let mut held: Vec<SimMemory> =
        memories.iter().map(|bytes| SimMemory::from_bytes(bytes.clone())).collect();
    if let Err(fault) = simulate(program, &mut held, scalars, &Default::default()) {
        panic!("{fault}\n{program}");
    }
    held.iter().map(|memory| memory.bytes().to_vec()).collect()
}

pub fn read(text: &str) -> Verified {
    let mut program = parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    // As the pipeline does: what is not marked is taken to wrap.
    mark_exact(&mut program, &Ranges::new());
    verify(program).unwrap_or_else(|error| panic!("{error}"))
}

/// The types of the memories among the parameters.
pub fn memory_types(program: &Program) -> Vec<ScalarType> {
    let memories = program.params.iter().filter_map(|param| match param {
        Param::Memory(id) => Some(program.memory(*id)),
        Param::Scalar(_) => None,
    });
    memories
        .inspect(|memory| assert!(matches!(memory.space, Space::Global { .. })))
        .map(|memory| memory.ty)
        .collect()
}

pub fn elements(ty: ScalarType, bytes: &[u8]) -> Vec<Constant> {
    bytes.chunks(ty.bytes()).map(|chunk| Constant::from_bytes(ty, chunk)).collect()
}

pub fn bytes_of(elements: &[Constant]) -> Vec<u8> {
    elements.iter().flat_map(|element| element.to_bytes()).collect()
}

/// Equal, where any NaN is as good as another.
pub fn same(a: Constant, b: Constant) -> bool {
    let nan = |constant: Constant| constant.as_float().is_some_and(f64::is_nan);
    a == b || (nan(a) && nan(b))
}

/// Checks that C computes what the simulator does.
pub fn check(program: &Verified, memories: &[Vec<u8>], scalars: &[Constant]) {
    check_with(program, memories, scalars, &[]);
}

/// The same, with more flags for the compiler.
pub fn check_with(program: &Verified, memories: &[Vec<u8>], scalars: &[Constant], flags: &[&str]) {
    if compiler().is_none() {
        return;
    }
    let expected = run_sim(program, memories, scalars);
    let found = run_c(program, memories, scalars, &EmitOptions::default(), flags);
    for (number, (ty, (expected, found))) in
        memory_types(program).into_iter().zip(expected.iter().zip(&found)).enumerate()
    {
        for (index, (a, b)) in elements(ty, expected).into_iter().zip(elements(ty, found)).enumerate() {
            assert!(
                same(a, b),
                "memory {number} [{index}]: expected {a:?}, found {b:?}\n{}",
                emit(program, Dialect::C, &EmitOptions::default()).unwrap().text
            );
        }
    }
}

pub fn i64s(values: impl IntoIterator<Item = i64>) -> Vec<u8> {
    values.into_iter().flat_map(i64::to_le_bytes).collect()
}

pub fn i32s(values: impl IntoIterator<Item = i32>) -> Vec<u8> {
    values.into_iter().flat_map(i32::to_le_bytes).collect()
}

pub fn f32s(values: impl IntoIterator<Item = f32>) -> Vec<u8> {
    values.into_iter().flat_map(f32::to_le_bytes).collect()
}
