//! Every operation on every type, in emitted C, against its definition.

mod common;

use common::{bytes_of, compiler, elements, memory_types, read, run_c, same};
use pumice_emit::EmitOptions;
use pumice_scalar::{Constant, Op, ScalarType};

/// Values that are likely to show mistakes.
fn edges(ty: ScalarType) -> Vec<Constant> {
    let floats = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.5,
        -0.5,
        0.49999997,
        1.5,
        -2.5,
        3.75,
        1e10,
        -1e10,
        2147483648.0,
        -2147483649.0,
        4294967296.0,
        9.3e18,
        -9.3e18,
        1.9e19,
        1e30,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
        f64::from(f32::MAX),
        f64::from(f32::MIN_POSITIVE),
        1e-45,
        16777217.0,
        8388607.5,
    ];
    match ty {
        ScalarType::Bool => vec![false.into(), true.into()],
        ScalarType::F32 => floats.iter().map(|&value| (value as f32).into()).collect(),
        ScalarType::F64 => floats.into_iter().chain([f64::MAX, 5e-324]).map(Into::into).collect(),
        half if half.is_half() => {
            let near = [65504.0, 65519.0, 65520.0, 6e-8, 3e-8, 6.1e-5, 6.09e-5, 3.39e38, 1e-40];
            floats.into_iter().chain(near).map(|value| Constant::from_float(half, value)).collect()
        }
        _ => {
            let (low, high) = ty.range();
            let small = [0, 1, 2, 3, 5, 7, 8, 31, 32, 33, 63, 64, 65, 100, 1 << 20, -1, -2, -3, -7, -8, -100];
            let mut all: Vec<i128> =
                small.into_iter().chain([low, low + 1, high, high - 1, high / 2 + 1]).collect();
            all.retain(|value| (low..=high).contains(value));
            all.into_iter().map(|value| Constant::from_integer(ty, value)).collect()
        }
    }
}

/// Returns the signatures to test: the operation, the result's type, and the operands' types.
fn signatures(from: ScalarType) -> Vec<(Op, ScalarType, Vec<ScalarType>)> {
    let mut all = Vec::new();
    for &op in Op::ALL {
        for result in ScalarType::ALL {
            let mut operands = vec![from; op.arity()];
            if op == Op::Select {
                operands[0] = ScalarType::Bool;
            }
            if op.accepts(result, &operands) {
                all.push((op, result, operands));
            }
        }
    }
    all
}

/// Units in the last place between two floats.
fn distance(a: Constant, b: Constant) -> u64 {
    if same(a, b) {
        return 0;
    }
    if a.as_float().is_some_and(f64::is_nan) || b.as_float().is_some_and(f64::is_nan) {
        return u64::MAX;
    }
    let sign = 8 * a.ty().bytes() - 1;
    let order = |constant: Constant| {
        let bits = constant.bits() as i128;
        if bits >> sign != 0 { (1i128 << sign) - bits } else { bits }
    };
    (order(a) - order(b)).unsigned_abs() as u64
}

fn check_type(from: ScalarType, options: &EmitOptions) {
    if compiler().is_none() {
        return;
    }
    let values = edges(from);
    // Every pair of values, in lanes that neighbour each other.
    let pairs: Vec<(Constant, Constant)> =
        values.iter().flat_map(|&a| values.iter().map(move |&b| (a, b))).collect();
    let n = pairs.len();
    let column = |k: usize| -> Vec<Constant> {
        match k {
            0 => pairs.iter().map(|pair| pair.0).collect(),
            1 => pairs.iter().map(|pair| pair.1).collect(),
            _ => (0..n).map(|i| values[(i * 7 + i / 5) % values.len()]).collect(),
        }
    };
    let flags: Vec<Constant> = (0..n).map(|i| (i % 3 == 0).into()).collect();

    let signatures = signatures(from);
    let mut text = String::from("kernel operations\nmemory @flags: global read bool\n");
    for k in 0..3 {
        text += &format!("memory @in{k}: global read {from}\n");
    }
    // What is computed: from three loaded values, and with some constants in the second place.
    let mut wanted: Vec<(Op, ScalarType, Vec<Constant>, Vec<Constant>)> = Vec::new();
    let mut body = String::new();
    for (op, result, types) in &signatures {
        let constants: Vec<Option<Constant>> = match (op.arity(), op.is_approximate()) {
            (2, false) => std::iter::once(None).chain(values.iter().copied().step_by(4).map(Some)).collect(),
            _ => vec![None],
        };
        for constant in constants {
            let number = wanted.len();
            let mut names = Vec::new();
            let mut columns = Vec::new();
            for (k, ty) in types.iter().enumerate() {
                let (name, values) = match (constant, op, k) {
                    (Some(constant), _, 1) => {
                        let suffix = if *ty == ScalarType::Bool { String::new() } else { format!(":{ty}") };
                        (format!("{constant}{suffix}"), vec![constant; n])
                    }
                    (_, Op::Select, 0) => ("%flag".to_owned(), flags.clone()),
                    _ => (format!("%x{k}"), column(k)),
                };
                names.push(name);
                columns.push(values);
            }
            body += &format!("    %r{number}: {result} = {} {}\n", op.name(), names.join(", "));
            body += &format!("    store @out{number}[%t] = %r{number}\n");
            text += &format!("memory @out{number}: global write {result}\n");
            let expected = (0..n)
                .map(|i| {
                    let operands: Vec<Constant> = columns.iter().map(|column| column[i]).collect();
                    op.evaluate(*result, &operands)
                })
                .collect();
            wanted.push((*op, *result, expected, columns.concat()));
        }
    }
    let outputs: Vec<String> = (0..wanted.len()).map(|number| format!(", @out{number}")).collect();
    text += &format!("params @flags, @in0, @in1, @in2{}, %n: i64\nthreads 64\n", outputs.concat());
    text +=
        "blocks %block: i64 < 1:i64\nbody {\n  parallel %t: i64 < %n {\n    %flag: bool = load @flags[%t]\n";
    for k in 0..3 {
        text += &format!("    %x{k}: {from} = load @in{k}[%t]\n");
    }
    text += &format!("{body}  }}\n}}\n");

    let program = read(&text);
    let mut memories =
        vec![bytes_of(&flags), bytes_of(&column(0)), bytes_of(&column(1)), bytes_of(&column(2))];
    memories.extend(wanted.iter().map(|(_, result, _, _)| vec![0u8; n * result.bytes()]));
    let found = run_c(&program, &memories, &[(n as i64).into()], options, &[]);
    let types = memory_types(&program);
    for (number, (op, result, expected, columns)) in wanted.iter().enumerate() {
        let found = elements(types[number + 4], &found[number + 4]);
        for (i, (&a, &b)) in expected.iter().zip(&found).enumerate() {
            let operands: Vec<Constant> = columns.chunks(n).map(|column| column[i]).collect();
            let allowed = match op {
                // The definition itself is not as exact as the function.
                Op::Gamma | Op::LnGamma => 16,
                op if op.is_approximate() => 3,
                _ => 0,
            };
            let right = if result.is_float() { distance(a, b) <= allowed } else { a == b };
            assert!(right, "{} of {operands:?}: expected {a:?}, found {b:?}", op.name());
        }
    }
}

#[test]
fn operations_on_bool() {
    check_type(ScalarType::Bool, &EmitOptions::default());
}

#[test]
fn operations_on_i32() {
    check_type(ScalarType::I32, &EmitOptions::default());
}

#[test]
fn operations_on_i64() {
    check_type(ScalarType::I64, &EmitOptions::default());
}

#[test]
fn operations_on_u32() {
    check_type(ScalarType::U32, &EmitOptions::default());
}

#[test]
fn operations_on_u64() {
    check_type(ScalarType::U64, &EmitOptions::default());
}

#[test]
fn operations_on_f32() {
    check_type(ScalarType::F32, &EmitOptions::default());
}

#[test]
fn operations_on_f64() {
    check_type(ScalarType::F64, &EmitOptions::default());
}

#[test]
fn operations_on_small_integers() {
    for ty in [ScalarType::I8, ScalarType::I16, ScalarType::U8, ScalarType::U16] {
        check_type(ty, &EmitOptions::default());
    }
}

#[test]
fn operations_on_halves() {
    check_type(ScalarType::F16, &EmitOptions::default());
    check_type(ScalarType::BF16, &EmitOptions::default());
}

/// Integers are exact with `fast_math` too, though some divisions go through doubles.
#[test]
fn integers_are_exact_with_fast_math() {
    check_type(ScalarType::I32, &EmitOptions { fast_math: true });
    check_type(ScalarType::U32, &EmitOptions { fast_math: true });
}

/// 64-bit dividends that are known to be small are divided in doubles.
#[test]
fn small_integers_divide_exactly() {
    if compiler().is_none() {
        return;
    }
    let program = read(
        "kernel divide
         memory @xs: global read i64 memory @ys: global read i64
         memory @quotients: global write i64 memory @remainders: global write i64
         params @xs, @ys, @quotients, @remainders, %n: i64
         threads 64 blocks %block: i64 < 1:i64
         body {
           parallel %t: i64 < %n {
             %x: i64 = load @xs[%t]
             %y: i64 = load @ys[%t]
             %small: i64 = rem %x, 9007199254740992:i64
             %q: i64 = div %small, %y
             %r: i64 = rem %small, %y
             store @quotients[%t] = %q
             store @remainders[%t] = %r
           }
         }",
    );
    let top = (1i64 << 53) - 1;
    let mut cases = Vec::new();
    for y in [1, 2, 3, 7, 10, 1000, 1 << 26, (1 << 26) + 1, 94906267, 1 << 52, top, i64::MAX, 0] {
        for x in [0, 1, 2, 99, 1 << 30, 94906266 * 94906267, top, top - 1, top / 3 * 3, top / 10 * 10 - 1] {
            for (x, y) in [(x, y), (-x, y), (x, -y), (-x, -y), (x - x % y.max(1), y), (x, i64::MIN)] {
                cases.push((x, y));
            }
        }
    }
    let (xs, ys): (Vec<i64>, Vec<i64>) = cases.iter().copied().unzip();
    let empty = vec![0; 8 * cases.len()];
    let memories = [common::i64s(xs), common::i64s(ys), empty.clone(), empty];
    for fast_math in [false, true] {
        let found =
            run_c(&program, &memories, &[(cases.len() as i64).into()], &EmitOptions { fast_math }, &[]);
        let (q, r) = (elements(ScalarType::I64, &found[2]), elements(ScalarType::I64, &found[3]));
        for (i, &(x, y)) in cases.iter().enumerate() {
            let x = x % (1 << 53);
            let expected = if y == 0 { (0, 0) } else { (x / y, x % y) };
            assert_eq!((q[i], r[i]), (expected.0.into(), expected.1.into()), "{x} by {y}, fast: {fast_math}");
        }
    }
}
