//! The prelude's own mathematical functions: how exact they are over the whole range, and that loops over them
//! vectorise.

mod common;

use common::{Folder, bytes_of, c_flags, compile_text, compiler, elements, is_gcc, read, run_c};
use pumice_emit::{Dialect, EmitOptions, emit};
use pumice_program::Verified;
use pumice_scalar::{Constant, Op, ScalarType};

const UNARY: [Op; 25] = [
    Op::Exp,
    Op::Exp2,
    Op::Log,
    Op::Log2,
    Op::Log10,
    Op::Sin,
    Op::Cos,
    Op::Tan,
    Op::Asin,
    Op::Acos,
    Op::Atan,
    Op::Sinh,
    Op::Cosh,
    Op::Tanh,
    Op::Cbrt,
    Op::Exp10,
    Op::ExpM1,
    Op::Ln1p,
    Op::Asinh,
    Op::Acosh,
    Op::Atanh,
    Op::Erf,
    Op::Erfc,
    Op::Gamma,
    Op::LnGamma,
];

const BINARY: [Op; 3] = [Op::Pow, Op::Atan2, Op::Hypot];

fn program(op: Op, ty: ScalarType) -> Verified {
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

/// How far a float is from the exact result, in units of the last place of floats around that.
fn error(found: f32, exact: f64) -> f64 {
    let nearest = exact as f32;
    if exact.is_nan() || found.is_nan() {
        return if exact.is_nan() && found.is_nan() { 0.0 } else { f64::INFINITY };
    }
    if nearest.is_infinite() || found.is_infinite() {
        // At the very end, the largest float will do as well.
        return if nearest == found
            || (found.abs().max(nearest.abs()).is_infinite() && exact.abs() > 3.4028e38)
        {
            0.0
        } else {
            f64::INFINITY
        };
    }
    if exact == 0.0 {
        return if found == 0.0 && found.is_sign_negative() == exact.is_sign_negative() {
            0.0
        } else {
            f64::INFINITY
        };
    }
    let exponent = exact.abs().log2().floor().max(-126.0);
    (f64::from(found) - exact).abs() / (exponent - 23.0).exp2()
}

fn check(op: Op, inputs: &[(f32, f32)]) {
    let column = |of: fn(&(f32, f32)) -> f32| -> Vec<u8> {
        bytes_of(&inputs.iter().map(|pair| of(pair).into()).collect::<Vec<Constant>>())
    };
    let memories = [column(|pair| pair.0), column(|pair| pair.1), vec![0; 4 * inputs.len()]];
    let scalars = [(inputs.len() as i64).into()];
    let flag_sets: &[&[&str]] =
        if cfg!(target_arch = "x86_64") { &[&[], &["-mno-fma", "-mno-avx512f"]] } else { &[&[]] };
    for flags in flag_sets {
        let found = run_c(&program(op, ScalarType::F32), &memories, &scalars, &EmitOptions::default(), flags);
        let found = elements(ScalarType::F32, &found[2]);
        for (&(x, y), found) in inputs.iter().zip(found) {
            let operands = [f64::from(x).into(), f64::from(y).into()];
            let exact = op.evaluate(ScalarType::F64, &operands[..op.arity()]).as_float().unwrap();
            let found = found.as_float().unwrap() as f32;
            let error = error(found, exact);
            assert!(error <= 1.0, "{} of {x:e}, {y:e}: {found:e}, not {exact:e}: {error} ulp", op.name());
        }
    }
}

#[test]
fn functions_of_floats_are_exact_to_one_unit() {
    if compiler().is_none() {
        return;
    }
    let mut inputs = vec![];
    // Evenly over all bit patterns, and more where most numbers are.
    inputs.extend((0..1u64 << 16).map(|i| f32::from_bits((i * 65_537) as u32)));
    inputs.extend((0..1u64 << 16).map(|i| (i as f32 - 32768.0) * 0.0031));
    inputs.extend((0..1000).map(|i| f32::from_bits(0x3f80_0000 - 500 + i)));
    let named =
        [0.0, 1.0, 2.0, 0.5, f32::INFINITY, f32::NAN, f32::MAX, f32::MIN_POSITIVE, 1e-45, 88.72, 103.97];
    inputs.extend(named.into_iter().flat_map(|x| [x, -x]));
    let inputs: Vec<(f32, f32)> = inputs.into_iter().map(|x| (x, 0.0)).collect();
    for op in UNARY {
        check(op, &inputs);
    }
}

#[test]
fn functions_of_two_floats_are_exact_to_one_unit() {
    if compiler().is_none() {
        return;
    }
    let named = [
        0.0,
        1.0,
        2.0,
        3.0,
        0.5,
        2.5,
        1e-45,
        1e-30,
        1e30,
        16777215.0,
        16777216.0,
        f32::MAX,
        f32::INFINITY,
        f32::NAN,
    ];
    let named: Vec<f32> = named.into_iter().flat_map(|x: f32| [x, -x]).collect();
    let mut inputs: Vec<(f32, f32)> =
        named.iter().flat_map(|&x| named.iter().map(move |&y| (x, y))).collect();
    let mut state = 1u64;
    let mut next = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 32) as u32
    };
    for _ in 0..50_000 {
        inputs.push((f32::from_bits(next()), f32::from_bits(next())));
        inputs.push((next() as f32 * 1e-8, next() as f32 * 1e-8 - 20.0));
    }
    for op in BINARY {
        check(op, &inputs);
    }
}

/// Functions of doubles with their exact results, rounded; of those of one number, and of two.
const TABLES: [(&str, &[Op]); 2] = [
    (include_str!("../../testing/src/cases/accuracy/one.txt"), &UNARY),
    (include_str!("../../testing/src/cases/accuracy/two.txt"), &BINARY),
];

/// Compares what C computes with exact results.
fn check_doubles(op: Op, arguments: &[Vec<f64>], exact: &[f64], flags: &[&str]) {
    let column = |k: usize| -> Vec<u8> {
        let values = arguments.iter().map(|arguments| arguments[k.min(arguments.len() - 1)]);
        bytes_of(&values.map(Constant::from).collect::<Vec<Constant>>())
    };
    let memories = [column(0), column(1), column(0)];
    let scalars = [(arguments.len() as i64).into()];
    let found = run_c(&program(op, ScalarType::F64), &memories, &scalars, &EmitOptions::default(), flags);
    for ((arguments, &exact), found) in arguments.iter().zip(exact).zip(elements(ScalarType::F64, &found[2]))
    {
        let found = found.as_float().unwrap();
        // Near to its zeros, the logarithm of gamma has no more than its absolute error.
        let absolute = op == Op::LnGamma && arguments[0] < 0.0 && (found - exact).abs() < 1e-14;
        let near = found.is_sign_negative() == exact.is_sign_negative()
            && found.to_bits().abs_diff(exact.to_bits()) <= 2;
        let both_nan = found.is_nan() && exact.is_nan();
        assert!(near || both_nan || absolute, "{} of {arguments:?}: {found:e}, not {exact:e}", op.name());
    }
}

#[test]
fn functions_of_doubles_are_exact_to_two_units() {
    if compiler().is_none() {
        return;
    }
    let number = |word: &str| match word {
        "nan" => f64::NAN,
        word => f64::from_bits(u64::from_str_radix(word, 16).unwrap()),
    };
    for (table, ops) in TABLES {
        let rows: Vec<Vec<f64>> =
            table.lines().skip(1).map(|line| line.split_whitespace().map(number).collect()).collect();
        let arity = ops[0].arity();
        let arguments: Vec<Vec<f64>> = rows.iter().map(|row| row[..arity].to_vec()).collect();
        for (k, &op) in ops.iter().enumerate() {
            let exact: Vec<f64> = rows.iter().map(|row| row[arity + k]).collect();
            // Without much optimisation, which changes no result, but takes most of the time.
            check_doubles(op, &arguments, &exact, &["-O1"]);
            if cfg!(target_arch = "x86_64") {
                check_doubles(op, &arguments, &exact, &["-O1", "-mno-fma", "-mno-avx512f"]);
            }
        }
    }
}

/// Whether the compiler is gcc, which says what it has vectorised.
fn vectorised_loops(program: &Verified) -> usize {
    let options = EmitOptions::default();
    let source = emit(program, Dialect::C, &options).unwrap();
    let mut flags = c_flags(&options);
    flags.push("-fopt-info-vec-optimized");
    let (_, said) = compile_text(&source.text, &Folder::new(), &flags);
    said.matches("loop vectorized").count()
}

#[test]
fn loops_over_functions_vectorise() {
    if !is_gcc() || !cfg!(target_arch = "x86_64") {
        return;
    }
    // Tables are gathered with AVX2 and later only.
    let tables = std::fs::read_to_string("/proc/cpuinfo").is_ok_and(|text| text.contains("avx2"));
    let exact = [Op::Min, Op::Max, Op::Round, Op::RoundTiesEven, Op::Floor, Op::Sqrt];
    for op in UNARY.into_iter().chain(BINARY).chain(exact) {
        if matches!(op, Op::Sin | Op::Cos | Op::Tan) && !tables {
            continue;
        }
        // The rarer functions of floats are those of doubles.
        let own = !UNARY[14..].contains(&op);
        let types = if own { &[ScalarType::F64, ScalarType::F32][..] } else { &[ScalarType::F64] };
        for &ty in types {
            assert!(vectorised_loops(&program(op, ty)) > 0, "{} of {ty} does not vectorise", op.name());
        }
    }
}

#[test]
fn lanes_vectorise() {
    if !is_gcc() || !cfg!(target_arch = "x86_64") {
        return;
    }
    // The loop before the sequential one, the test, the body and the loop after it, in whole strips and in the rest.
    assert!(vectorised_loops(&read(include_str!("programs/mandelbrot.pir"))) >= 8);
    assert!(vectorised_loops(&read(include_str!("programs/dot.pir"))) >= 3);
    assert!(vectorised_loops(&read(include_str!("programs/saxpy.pir"))) >= 2);
}

/// The shortest of some runs of a function of a library, over 2^20 numbers, in nanoseconds per number.
fn time(text: &str, flags: &[&str], columns: &mut [Vec<f64>; 3]) -> f64 {
    let folder = Folder::new();
    let (path, _) = compile_text(text, &folder, flags);
    let count = columns[0].len() as i64;
    // SAFETY: the library is the one that was compiled, whose function takes three columns and their length.
    unsafe {
        let library = libloading::Library::new(path).unwrap();
        let map: libloading::Symbol<unsafe extern "C" fn(*const *mut u8, i64, i64)> =
            library.get(b"map").unwrap();
        let [xs, ys, out] = columns.each_mut().map(|column| column.as_mut_ptr().cast::<u8>());
        let args = [xs, ys, out, (&raw const count).cast_mut().cast()];
        let run = |_| {
            let start = std::time::Instant::now();
            map(args.as_ptr(), 0, 1);
            start.elapsed()
        };
        (0..20).map(run).min().unwrap().as_secs_f64() * 1e9 / count as f64
    }
}

/// `cargo test -p pumice-emit --test math -- --ignored --nocapture` prints how long a double takes in one thread, and how many times
/// as long with a call of the C library for each.
#[test]
#[ignore = "measures"]
fn how_fast_functions_of_doubles_are() {
    let functions = [
        (Op::Exp, "exp", -30.0..30.0),
        (Op::Log, "log", 1e-3..1e3),
        (Op::Sin, "sin", -100.0..100.0),
        (Op::Cos, "cos", -100.0..100.0),
        (Op::Tan, "tan", -100.0..100.0),
        (Op::Pow, "pow", 0.01..50.0),
        (Op::Erf, "erf", -4.0..4.0),
        (Op::Exp2, "exp2", -30.0..30.0),
        (Op::ExpM1, "expm1", -2.0..2.0),
        (Op::Log2, "log2", 1e-3..1e3),
        (Op::Log10, "log10", 1e-3..1e3),
        (Op::Ln1p, "log1p", -0.5..2.0),
        (Op::Asin, "asin", -1.0..1.0),
        (Op::Acos, "acos", -1.0..1.0),
        (Op::Atan, "atan", -10.0..10.0),
        (Op::Atan2, "atan2", -5.0..5.0),
        (Op::Sinh, "sinh", -5.0..5.0),
        (Op::Cosh, "cosh", -5.0..5.0),
        (Op::Tanh, "tanh", -5.0..5.0),
        (Op::Asinh, "asinh", -5.0..5.0),
        (Op::Acosh, "acosh", 1.0..10.0),
        (Op::Atanh, "atanh", -1.0..1.0),
        (Op::Cbrt, "cbrt", -10.0..10.0),
        (Op::Hypot, "hypot", -5.0..5.0),
        (Op::Erfc, "erfc", -4.0..10.0),
        (Op::Gamma, "tgamma", 0.1..20.0),
        (Op::LnGamma, "lgamma", 0.1..50.0),
    ];
    for (op, name, range) in functions {
        let mut state = 1u64;
        let mut next = |range: &std::ops::Range<f64>| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            range.start + (range.end - range.start) * (state >> 11) as f64 * 2f64.powi(-53)
        };
        let mut column =
            |range: &std::ops::Range<f64>| (0..1 << 20).map(|_| next(range)).collect::<Vec<f64>>();
        let mut columns = [column(&range), column(&(-8.0..8.0)), vec![0.0; 1 << 20]];
        let (parameters, arguments) =
            if op.arity() == 1 { ("double", "x[i]") } else { ("double, double", "x[i], y[i]") };
        let libm = format!(
            "double {name}({parameters});
             void map(void *const *args, long long a, long long b) {{
                 const double *x = args[0], *y = args[1]; double *out = args[2]; long long n = *(long long *)args[3];
                 for (long long i = 0; i < n; i++) out[i] = {name}({arguments});
             }}"
        );
        let ours = emit(&program(op, ScalarType::F64), Dialect::C, &EmitOptions::default()).unwrap().text;
        let ours = ours.replace("__builtin_assume_aligned(args", "(void *)(args").replace("], 64);", "]);");
        let ours = time(&ours, &c_flags(&EmitOptions::default()), &mut columns);
        let libm = time(&libm, &["-O2", "-fno-builtin", "-fno-tree-vectorize"], &mut columns);
        println!("{name:8} {ours:6.2} ns, the C library {:.1} times as long", libm / ours);
    }
}
