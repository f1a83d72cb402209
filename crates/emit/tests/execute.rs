//! Programs as emitted C, against the simulator: lanes, masks, loops, shared memory, failures.

mod common;
#[allow(dead_code)]
use common::{check, check_with, compiler, f32s, i32s, i64s, read};
use pumice_program::{Ranges, SimMemory, mark_exact, simulate, verify};
use pumice_scalar::Constant;

/// Sizes: nothing, one, less than a strip, a strip, more, several blocks, and always some that fit nothing.
const SIZES: [i64; 10] = [0, 1, 7, 31, 64, 65, 127, 1000, 1024, 3001];

const SAXPY: &str = include_str!("programs/saxpy.pir");
const DOT: &str = include_str!("programs/dot.pir");
const MANDELBROT: &str = include_str!("programs/mandelbrot.pir");

fn numbers(n: i64) -> Vec<u8> {
    f32s((0..n.max(1)).map(|i| (i * 37 % 101) as f32 * 0.25 - 7.0))
}

#[test]
fn saxpy() {
    let program = read(SAXPY);
    for n in SIZES {
        check(&program, &[numbers(n), numbers(n), numbers(n)], &[2.5f32.into(), n.into()]);
    }
}

#[test]
fn dot() {
    let program = read(DOT);
    for n in SIZES {
        check(&program, &[numbers(n), numbers(n), f32s([0.0; 60])], &[n.into(), 3i64.into()]);
    }
}

#[test]
fn mandelbrot() {
    let program = read(MANDELBROT);
    for n in SIZES {
        let scalars = [n.into(), 50i64.into(), 40i32.into(), 0.02f32.into()];
        check(&program, &[i32s(vec![0; n.max(1) as usize])], &scalars);
    }
}

/// A program with one parallel loop, for every kind of extent: unknown, a constant that lanes divide, constants that
/// they do not.
fn with_extents(body: &str, inputs: &[Vec<u8>], rest: &str, scalars: &[Constant], results: &[u8]) {
    for n in [1i64, 5, 16, 37, 64, 100, 128] {
        for constant in [true, false] {
            let extent = if constant { format!("{n}:i64") } else { "%n".to_owned() };
            let text = format!(
                "kernel k {rest} threads 64 blocks %block: i64 < 1:i64 body {{ parallel %t: i64 < {extent} {{ {body} }} }}"
            );
            let mut memories = inputs.to_vec();
            memories.push(results.to_vec());
            let scalars: Vec<Constant> = std::iter::once(n.into()).chain(scalars.iter().copied()).collect();
            check(&read(&text), &memories, &scalars);
        }
    }
}

const XS: &str = "memory @xs: global read i64 memory @out: global write i64 params @xs, @out, %n: i64";

fn small_numbers() -> Vec<u8> {
    i64s((0..200).map(|i| (i * 7919) % 23 - 5))
}

#[test]
fn while_loops_end_when_their_lane_says() {
    // Collatz, capped: as uneven as can be.
    let body = "%x: i64 = load @xs[%t]
        while carry %v: i64 = %x, %steps: i64 = 0:i64 {
          %more: bool = lt 1:i64, %v
          %below: bool = lt %steps, 200:i64
          %go: bool = and %more, %below
        } test %go {
          %half: i64 = div %v, 2:i64
          %odd: i64 = and %v, 1:i64
          %is_odd: bool = eq %odd, 1:i64
          %triple: i64 = mul %v, 3:i64
          %up: i64 = add %triple, 1:i64
          %w: i64 = select %is_odd, %up, %half
          %s: i64 = add %steps, 1:i64
          next %w, %s
        }
        %both: i64 = mul %v, %steps
        %sum: i64 = add %both, %steps
        store @out[%t] = %sum";
    with_extents(body, &[small_numbers()], XS, &[], &i64s([0; 200]));
}

#[test]
fn for_loops_may_have_bounds_of_their_own() {
    // Starts, ends and steps that differ; loads that are in bounds only while the lane is live; nothing carried around
    // the inner one but through memory and carried values of the outer.
    let body = "%x: i64 = load @xs[%t]
        %start: i64 = rem %t, 3:i64
        %step: i64 = add %start, 1:i64
        for %k: i64 in %start..%x step %step carry %sum: i64 = 100:i64, %last: i64 = -1:i64 {
          %y: i64 = load @xs[%k]
          for %j: i64 in 0:i64..%y step 1:i64 carry %inner: i64 = %k {
            %z: i64 = load @xs[%j]
            %more: i64 = add %inner, %z
            next %more
          }
          %grown: i64 = add %sum, %inner
          next %grown, %k
        }
        for %even: i64 in 0:i64..4:i64 step 1:i64 carry %total: i64 = %sum {
          %scaled: i64 = mul %total, 3:i64
          %shifted: i64 = add %scaled, %even
          next %shifted
        }
        %result: i64 = sub %total, %last
        store @out[%t] = %result";
    with_extents(body, &[small_numbers()], XS, &[], &i64s([0; 200]));
}

#[test]
fn branches_around_loops_are_masked() {
    let body = "%x: i64 = load @xs[%t]
        %positive: bool = lt 0:i64, %x
        %a: i64, %b: i64 = if %positive {
          for %k: i64 in 0:i64..%x step 1:i64 carry %sum: i64 = 0:i64 {
            %y: i64 = load @xs[%k]
            %more: i64 = add %sum, %y
            next %more
          }
          %large: bool = lt 10:i64, %x
          %c: i64 = if %large {
            for %q: i64 in 0:i64..3:i64 step 1:i64 carry %e: i64 = 1:i64 {
              %f: i64 = mul %e, %x
              next %f
            }
            yield %e
          } else {
            yield %x
          }
          yield %sum, %c
        } else {
          %minus: i64 = neg %x
          for %m: i64 in 0:i64..%minus step 2:i64 carry %product: i64 = 1:i64 {
            %twice: i64 = mul %product, 2:i64
            next %twice
          }
          yield %product, 7:i64
        }
        %none: bool = eq %x, 0:i64
        if %none {
          for %z: i64 in 0:i64..1:i64 step 1:i64 {
            store @out[%t] = 12345:i64
          }
        } else {
          %r: i64 = mul %a, 1000:i64
          %s: i64 = add %r, %b
          store @out[%t] = %s
        }";
    with_extents(body, &[small_numbers()], XS, &[], &i64s([0; 200]));
}

#[test]
fn what_is_the_same_for_all_lanes_is_done_once() {
    let body = "%even: i64 = load @xs[3:i64]
        %flag: bool = lt 0:i64, %even
        while carry %k: i64 = 0:i64, %sum: i64 = 1:i64 {
          %go: bool = lt %k, 5:i64
        } test %go {
          %y: i64 = load @xs[%k]
          %i: i64 = add %k, %t
          %z: i64 = load @xs[%i]
          %p: i64 = mul %y, %z
          %s: i64 = add %sum, %p
          %k1: i64 = add %k, 1:i64
          next %k1, %s
        }
        %u: i64, %v: i64 = if %flag {
          for %q: i64 in 0:i64..2:i64 step 1:i64 carry %w: i64 = %sum { %w1: i64 = add %w, %t next %w1 }
          yield %w, %even
        } else {
          yield %sum, 0:i64
        }
        %r: i64 = add %u, %v
        store @out[%t] = %r";
    with_extents(body, &[small_numbers()], XS, &[], &i64s([0; 200]));
}

#[test]
fn lanes_that_are_not_live_divide_by_anything() {
    // A divisor that is positive for every thread that there is: in the last strip, there are lanes without a thread.
    let rest = "memory @xs: global read i64 memory @out: global write i64 params @xs, @out";
    let body = "%left: i64 = sub %n, %t
        %x: i64 = load @xs[%t]
        %some: bool = lt 0:i64, %x
        %divisor: i64 = if %some {
          for %j: i64 in 0:i64..%x step 1:i64 carry %d: i64 = 1:i64 { %e: i64 = add %d, 1:i64 next %e }
          yield %d
        } else {
          for %k: i64 in 0:i64..3:i64 step 1:i64 carry %f: i64 = 5:i64 { %g: i64 = add %f, 1:i64 next %g }
          yield %f
        }
        %big: i64 = mul %x, 1000000007:i64
        %q: i64 = div %big, %left
        %r: i64 = div %q, %divisor
        for %m: i64 in 0:i64..2:i64 step 1:i64 carry %s: i64 = %r { %u: i64 = rem %s, %left next %u }
        %v: i64 = add %s, %r
        store @out[%t] = %v";
    for n in [37i64, 100, 130] {
        let body = body.replace("%n", &format!("{n}:i64"));
        let text = format!(
            "kernel k {rest} threads 64 blocks %block: i64 < 1:i64 body {{ parallel %t: i64 < {n}:i64 {{ {body} }} }}"
        );
        let mut program = read(&text).into_program();
        mark_exact(&mut program, &Ranges::new());
        check(&verify(program).unwrap(), &[small_numbers(), i64s([0; 200])], &[]);
    }
}

#[test]
fn carried_values_change_at_once() {
    // Fibonacci and a rotation: an order of assignments exists for one and not for the other.
    let body = "%x: i64 = load @xs[%t]
        for %k: i64 in 0:i64..7:i64 step 1:i64
          carry %a: i64 = %x, %b: i64 = 1:i64, %c: i64 = %t, %f: i64 = 0:i64, %g: i64 = 1:i64 {
          %h: i64 = add %f, %g
          next %b, %c, %a, %g, %h
        }
        %a2: i64 = mul %a, 10000:i64
        %b2: i64 = mul %b, 100:i64
        %s: i64 = add %a2, %b2
        %r: i64 = add %s, %c
        %q: i64 = add %r, %g
        store @out[%t] = %q";
    with_extents(body, &[small_numbers()], XS, &[], &i64s([0; 200]));
}

#[test]
fn doubles_and_truth_values_live_in_lanes_too() {
    let rest =
        "memory @xs: global read bool memory @out: global write f64 params @xs, @out, %n: i64, %on: bool";
    let body = "%b: bool = load @xs[%t]
        %d: f64 = cast %t
        while carry %flag: bool = %b, %v: f64 = %d, %k: i32 = 0:i32 {
          %small: bool = lt %v, 1000.0:f64
          %few: bool = lt %k, 20:i32
          %go0: bool = and %small, %few
          %go: bool = and %go0, %on
        } test %go {
          %w: f64 = mul %v, 1.5:f64
          %x: f64 = add %w, 1.0:f64
          %y: f64 = select %flag, %x, %w
          %not: bool = not %flag
          %k1: i32 = add %k, 1:i32
          next %not, %y, %k1
        }
        %one: f64 = cast %flag
        %r: f64 = add %v, %one
        store @out[%t] = %r";
    let flags: Vec<u8> = (0..200).map(|i| u8::from(i % 3 == 0)).collect();
    for on in [true, false] {
        with_extents(body, std::slice::from_ref(&flags), rest, &[on.into()], &vec![0; 8 * 200]);
    }
}

#[test]
fn failures_are_kept_and_execution_goes_on() {
    let rest =
        "memory @xs: global read i64 memory @failure: global readwrite i64 memory @out: global write i64
        params @xs, @failure, @out, %n: i64, %base: i64
        failure @failure + %base";
    let body = "%x: i64 = load @xs[%t]
        %ok: bool = lt %x, 17:i64
        fail 4 unless %ok, index %x, bound 17:i64
        %y: i64 = if %ok { %z: i64 = add %x, 1:i64 yield %z } else { yield -1:i64 }
        store @out[%t] = %y";
    // At most one lane fails, so that it is said which one is kept.
    for place in [0, 4, 63, 99] {
        let xs = i64s((0..200).map(|i| if i == place { 17 } else { i % 5 }));
        let inputs = [xs, i64s([0, 0, 0])];
        with_extents(body, &inputs, rest, &[1000i64.into()], &i64s([0; 200]));
    }
}

#[test]
fn vectors_of_every_width_are_elements_here() {
    let text = "kernel k
        memory @xs: global read i32 memory @bs: global read bool
        memory @out: global write i64 memory @cs: global write bool
        params @xs, @bs, @out, @cs
        threads 8 blocks %block: i64 < 2:i64
        body {
          parallel %t: i32 < 8:i32 {
            %four: i32 = mul %t, 4:i32
            %a: i32, %b: i32, %c: i32, %d: i32 = load @xs[%four]
            %p: bool, %q: bool = load @bs[%four]
            %w: i64 = cast %a
            %x: i64 = cast %b
            %y: i64 = cast %c
            %z: i64 = cast %d
            %wide: i64 = cast %four
            %first: i64 = mul %block, 32:i64
            %at: i64 = add %first, %wide
            store @out[%at] = %z, %y, %x, %w
            store @cs[%at] = %q, %p
            %at2: i64 = add %at, 2:i64
            store @cs[%at2] = true, %p
          }
        }";
    let bs: Vec<u8> = (0..32).map(|i| u8::from(i % 5 < 2)).collect();
    check(&read(text), &[i32s(0..32), bs, i64s([0; 64]), vec![0; 64]], &[]);
}

/// Random programs. A failing one is reproduced by its number.
#[test]
fn random_programs() {
    if compiler().is_none() {
        return;
    }
    let cases: u64 = std::env::var("PUMICE_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(60);
    for case in 0..cases {
        let mut state = case.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let bytes: Vec<u8> = (0..60 + case % 300)
            .map(|_| {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                (state >> 32) as u8
            })
            .collect();
        let program = pumice_generate::program(&bytes);
        let memories: Vec<Vec<u8>> =
            pumice_generate::memories().iter().map(|memory: &SimMemory| memory.bytes().to_vec()).collect();
        let mut scalars = pumice_generate::scalars(case as i64 % 50);
        let chosen = match case % 2 {
            0 => program,
            _ => pumice_generate::with_unknown_extents(&program, &mut scalars),
        };
        // Some lack a barrier, to show that the simulator finds out.
        let mut held = pumice_generate::memories();
        if simulate(&chosen, &mut held, &scalars, &Default::default()).is_ok() {
            eprintln!("case {case}");
            // Machines without the widest vectors have fewer lanes.
            let flags: &[&str] =
                if cfg!(target_arch = "x86_64") && case % 4 < 2 { &["-mno-avx512f"] } else { &[] };
            check_with(&verify(chosen).unwrap(), &memories, &scalars, flags);
        }
    }
}
