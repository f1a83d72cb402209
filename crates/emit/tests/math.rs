//! The prelude's own mathematical functions: how exact they are over the whole range, and that loops over them
//! vectorise.

mod common;

use common::{
    Folder, bytes_of, c_flags, compile_text, compiler, elements, functions, is_gcc, map_program, read, run_c,
};
use pumice_emit::{Dialect, EmitOptions, emit};
use pumice_program::Verified;
use pumice_scalar::{Constant, Op, ScalarType};

/// Returns the error of a float relative to the exact result, in units of the last place of floats around that.
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
        let found =
            run_c(&map_program(op, ScalarType::F32), &memories, &scalars, &EmitOptions::default(), flags);
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
    for op in functions(1) {
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
    for op in functions(2) {
        check(op, &inputs);
    }
}

/// Functions of doubles with their exact results, rounded; of those of one number, and of two.
const TABLES: [&str; 2] = [
    include_str!("../../testing/src/cases/accuracy/one.txt"),
    include_str!("../../testing/src/cases/accuracy/two.txt"),
];

/// Compares what C computes with exact results.
fn check_doubles(op: Op, arguments: &[Vec<f64>], exact: &[f64], flags: &[&str]) {
    let column = |k: usize| -> Vec<u8> {
        let values = arguments.iter().map(|arguments| arguments[k.min(arguments.len() - 1)]);
        bytes_of(&values.map(Constant::from).collect::<Vec<Constant>>())
    };
    let memories = [column(0), column(1), column(0)];
    let scalars = [(arguments.len() as i64).into()];
    let found = run_c(&map_program(op, ScalarType::F64), &memories, &scalars, &EmitOptions::default(), flags);
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
    for (arity, table) in (1..).zip(TABLES) {
        let (names, rows) = table.split_once('\n').unwrap();
        let names: Vec<&str> = names.split_whitespace().collect();
        let rows: Vec<Vec<f64>> =
            rows.lines().map(|line| line.split_whitespace().map(number).collect()).collect();
        let arguments: Vec<Vec<f64>> = rows.iter().map(|row| row[..arity].to_vec()).collect();
        for op in functions(arity) {
            let column = names.iter().position(|&name| name == op.name());
            let column = arity + column.unwrap_or_else(|| panic!("no exact results of {}", op.name()));
            let exact: Vec<f64> = rows.iter().map(|row| row[column]).collect();
            // Without much optimisation, which changes no result, but takes most of the time.
            check_doubles(op, &arguments, &exact, &["-O1"]);
            if cfg!(target_arch = "x86_64") {
                check_doubles(op, &arguments, &exact, &["-O1", "-mno-fma", "-mno-avx512f"]);
            }
        }
    }
}

/// Fast maths may reorder sums, which must cost digits alone: not what is built on how doubles are rounded.
#[test]
fn fast_functions_of_doubles_are_near() {
    if compiler().is_none() {
        return;
    }
    let arguments: Vec<Constant> = (1..500).map(|i| (f64::from(i) * 0.0637).into()).collect();
    let powers: Vec<Constant> = (1..500).map(|i| (f64::from(i % 37) * 0.21 - 3.0).into()).collect();
    let memories = [bytes_of(&arguments), bytes_of(&powers), bytes_of(&arguments)];
    let scalars = [(arguments.len() as i64).into()];
    for op in [Op::Exp, Op::Log, Op::Log2, Op::Pow, Op::Sin, Op::Gamma] {
        let options = EmitOptions { fast_math: true };
        let found = run_c(&map_program(op, ScalarType::F64), &memories, &scalars, &options, &[]);
        for ((&x, &y), found) in arguments.iter().zip(&powers).zip(elements(ScalarType::F64, &found[2])) {
            let exact = op.evaluate(ScalarType::F64, &[x, y][..op.arity()]).as_float().unwrap();
            let found = found.as_float().unwrap();
            let near = (found - exact).abs() <= 1e-11 * exact.abs().max(1e-2);
            assert!(near, "{} of {x:?}, {y:?}: {found:e}, not {exact:e}", op.name());
        }
    }
}

/// Returns the number of loops that gcc reports as vectorised.
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
    for op in functions(1).into_iter().chain(functions(2)).chain(exact) {
        if matches!(op, Op::Sin | Op::Cos | Op::Tan) && !tables {
            continue;
        }
        // The rarer functions of floats are those of doubles.
        let floats = map_program(op, ScalarType::F32);
        let text = emit(&floats, Dialect::C, &EmitOptions::default()).unwrap().text;
        let own = !text.contains(&format!("{}_f64(", op.name()));
        let types = if own { &[ScalarType::F64, ScalarType::F32][..] } else { &[ScalarType::F64] };
        for &ty in types {
            assert!(vectorised_loops(&map_program(op, ty)) > 0, "{} of {ty} does not vectorise", op.name());
        }
    }
}

/// Functions are inlined into each of their callers.
#[test]
fn loops_over_several_calls_vectorise() {
    if !is_gcc() || !cfg!(target_arch = "x86_64") {
        return;
    }
    let program = |name| {
        read(&format!(
            "kernel map memory @xs: global read f64 memory @out: global write f64
             params @xs, @out, %n: i64 threads 64 blocks %block: i64 < 1:i64
             body {{ parallel %t: i64 < %n {{
               %x: f64 = load @xs[%t]
               %y: f64 = add %x, 1.0:f64
               %f: f64 = {name} %x
               %g: f64 = {name} %y
               %z: f64 = add %f, %g
               store @out[%t] = %z
             }} }}"
        ))
    };
    for name in ["erfc", "gamma"] {
        assert!(vectorised_loops(&program(name)) > 0, "two calls of {name} do not vectorise");
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
