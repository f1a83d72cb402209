//! Measures the speed of the mathematical functions of emitted C in one thread, beside calls of the C library for each element.
//!
//! `cargo run --release -p pumice-emit --example math_speed`, with names of functions (`exp`, `ln_gamma`) for these alone.
//!
//! The two take turns, so that what else the machine does slows both, and the shortest turn of each counts. What a turn works
//! on fits into the processor's second cache.

#[path = "../tests/common/mod.rs"]
mod common;

use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

use common::{Buffer, bytes_of, c_flags, compiler, functions, load, map_program};
use pumice_emit::{Dialect, EmitOptions, emit};
use pumice_scalar::{Constant, Op, ScalarType};

/// Elements that a turn computes.
const COUNT: usize = 1 << 13;

/// Turns of each of the two.
const TURNS: usize = 3000;

/// Returns the name of a function in the C library, and the arguments that it is measured with.
fn in_the_library(op: Op) -> (&'static str, Range<f64>) {
    match op {
        Op::Exp | Op::Exp2 | Op::Exp10 => (op.name(), -30.0..30.0),
        Op::ExpM1 => ("expm1", -2.0..2.0),
        Op::Log | Op::Log2 | Op::Log10 => (op.name(), 1e-3..1e3),
        Op::Ln1p => ("log1p", -0.5..2.0),
        Op::Sin | Op::Cos | Op::Tan => (op.name(), -100.0..100.0),
        Op::Asin | Op::Acos | Op::Atanh => (op.name(), -1.0..1.0),
        Op::Acosh => ("acosh", 1.0..10.0),
        Op::Pow => ("pow", 0.01..50.0),
        Op::Erf => ("erf", -4.0..4.0),
        Op::Erfc => ("erfc", -4.0..8.0),
        Op::Gamma => ("tgamma", 0.1..20.0),
        Op::LnGamma => ("lgamma", 0.1..20.0),
        op => (op.name(), -5.0..5.0),
    }
}

/// A loop over calls of the C library.
fn calls(op: Op, ty: ScalarType) -> String {
    let (name, _) = in_the_library(op);
    let (element, suffix) = if ty == ScalarType::F32 { ("float", "f") } else { ("double", "") };
    let (parameters, arguments) = match op.arity() {
        1 => (element.to_owned(), "x[i]"),
        _ => (format!("{element}, {element}"), "x[i], y[i]"),
    };
    format!(
        "{element} {name}{suffix}({parameters});
         void map(void *const *args, long long first, long long last) {{
             const {element} *x = args[0], *y = args[1];
             {element} *out = args[2];
             long long n = *(const long long *)args[3];
             for (long long i = 0; i < n; i++) out[i] = {name}{suffix}({arguments});
         }}"
    )
}

/// Numbers that are spread evenly over a range.
fn column(range: &Range<f64>, ty: ScalarType, seed: u64) -> Buffer {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        range.start + (range.end - range.start) * (state >> 11) as f64 * 2f64.powi(-53)
    };
    let numbers: Vec<Constant> = (0..COUNT).map(|_| Constant::from_float(ty, next())).collect();
    Buffer::new(&bytes_of(&numbers))
}

/// One turn of a library's loop.
fn turn(library: &libloading::Library, args: &[*mut u8; 4]) -> Duration {
    // SAFETY: both loops take three columns of `COUNT` elements and their length, which `args` points at.
    unsafe {
        let map = library.get::<unsafe extern "C" fn(*const *mut u8, i64, i64)>(b"map");
        let map = map.expect("the loop has this name");
        let start = Instant::now();
        map(args.as_ptr(), 0, 1);
        start.elapsed()
    }
}

/// Nanoseconds per element: ours, and the C library's.
fn measure(op: Op, ty: ScalarType) -> [f64; 2] {
    let options = EmitOptions::default();
    let ours = emit(&map_program(op, ty), Dialect::C, &options).expect("C has every function").text;
    let libraries: [Arc<libloading::Library>; 2] = [
        load(&ours, &c_flags(&options)),
        load(&calls(op, ty), &["-O2", "-fno-builtin", "-fno-tree-vectorize"]),
    ];
    let (_, range) = in_the_library(op);
    let mut columns = [column(&range, ty, 1), column(&(-8.0..8.0), ty, 2), column(&(0.0..0.0), ty, 3)];
    let count = COUNT as i64;
    let [xs, ys, out] = columns.each_mut().map(Buffer::pointer);
    let args = [xs, ys, out, (&raw const count).cast_mut().cast()];
    let mut shortest = [Duration::MAX; 2];
    for _ in 0..TURNS {
        for (shortest, library) in shortest.iter_mut().zip(&libraries) {
            *shortest = (*shortest).min(turn(library, &args));
        }
    }
    shortest.map(|time| time.as_secs_f64() * 1e9 / COUNT as f64)
}

fn main() {
    if compiler().is_none() {
        return;
    }
    let chosen: Vec<String> = std::env::args().skip(1).collect();
    let all = functions(1).into_iter().chain(functions(2));
    let ops: Vec<Op> =
        all.filter(|op| chosen.is_empty() || chosen.iter().any(|name| name == op.name())).collect();
    println!("| function | `f64`: ns | C library | ratio | `f32`: ns | C library | ratio |");
    println!("|---|---|---|---|---|---|---|");
    for op in ops {
        let [double, single] = [ScalarType::F64, ScalarType::F32].map(|ty| {
            let [ours, theirs] = measure(op, ty);
            format!("{ours:.2} | {theirs:.2} | {:.1}", theirs / ours)
        });
        println!("| `{}` | {double} | {single} |", op.name());
    }
}
