//! The prelude's own mathematical functions: how exact they are over the whole range, and that loops over them
//! vectorise.

mod common;

use common::{Folder, bytes_of, c_flags, compile_text, compiler, elements, is_gcc, read, run_c};
use pumice_emit::{Dialect, EmitOptions, emit};
use pumice_program::Verified;
use pumice_scalar::{Constant, Op, ScalarType};

const UNARY: [Op; 14] = [
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
];

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
            assert!(error <= 2.0, "{} of {x:e}, {y:e}: {found:e}, not {exact:e}: {error} ulp", op.name());
        }
    }
}

#[test]
fn functions_are_exact_to_two_units() {
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
fn functions_of_two_are_exact_to_two_units() {
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
    check(Op::Pow, &inputs);
    check(Op::Atan2, &inputs);
}

#[test]
fn functions_of_doubles_are_exact_to_two_units() {
    if compiler().is_none() {
        return;
    }
    let inputs: Vec<f64> = (0..1u64 << 16)
        .map(|i| f64::from_bits(i.wrapping_mul(281_479_271_743_489)))
        .chain((0..1 << 16).map(|i| (f64::from(i) - 32768.0) * 0.023))
        .collect();
    let column = bytes_of(&inputs.iter().map(|&x| x.into()).collect::<Vec<Constant>>());
    let memories = [column.clone(), column.clone(), column];
    for op in [Op::Exp, Op::Log] {
        let scalars = [(inputs.len() as i64).into()];
        let found = run_c(&program(op, ScalarType::F64), &memories, &scalars, &EmitOptions::default(), &[]);
        for (&x, found) in inputs.iter().zip(elements(ScalarType::F64, &found[2])) {
            let (found, exact) = (found.as_float().unwrap(), op.evaluate(ScalarType::F64, &[x.into()]));
            let exact = exact.as_float().unwrap();
            let near = (found.to_bits() as i64).abs_diff(exact.to_bits() as i64) <= 2;
            assert!(
                near || (found.is_nan() && exact.is_nan()),
                "{} of {x:e}: {found:e}, not {exact:e}",
                op.name()
            );
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
    for op in UNARY.into_iter().chain([Op::Pow, Op::Atan2, Op::Min, Op::Max, Op::Round, Op::Floor, Op::Sqrt])
    {
        if matches!(op, Op::Sin | Op::Cos | Op::Tan) && !tables {
            continue;
        }
        assert!(vectorised_loops(&program(op, ScalarType::F32)) > 0, "{} does not vectorise", op.name());
    }
    for op in [Op::Exp, Op::Log, Op::Min, Op::Max] {
        assert!(
            vectorised_loops(&program(op, ScalarType::F64)) > 0,
            "{} of f64 does not vectorise",
            op.name()
        );
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
