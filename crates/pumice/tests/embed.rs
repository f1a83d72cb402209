//! `#[embed]` functions: each is compared with itself, evaluated on expressions and called with plain values.

// Conditions are written as users may write them, not as short as they could be.
#![allow(clippy::neg_cmp_op_on_partial_ord, clippy::nonminimal_bool, clippy::clone_on_copy)]

use pumice::layers::scalar::{Constant, Environment, Evaluator, Function, Variable, function};
use pumice::prelude::*;
use pumice::{Float, Integer, Lift, Number, Ordered, Primitive, Signed, bf16, f16};
use std::ops::{Add, Mul};

struct Nothing;

impl Environment for Nothing {
    fn variable(&self, _: Variable) -> Option<Constant> {
        None
    }
    fn load(&self, _: u64, _: i64) -> Option<Constant> {
        None
    }
}

fn constants(value: impl Elt) -> Vec<Constant> {
    let mut constants = Vec::new();
    value.add_constants(&mut constants);
    constants
}

/// The scalar code of a function on elements.
fn scalar_code<A: Elt, L: Lift>(f: impl FnOnce(A::Exp) -> L) -> Function {
    let code = function(&A::types(), |terms| f(A::Exp::from_terms(&mut terms.iter().copied())).terms());
    assert_eq!(code.mistake(), None);
    code
}

/// Compares a function on plain values with the same on expressions, to the bit.
fn agree<A: Elt, L: Lift>(
    values: impl IntoIterator<Item = A>,
    plain: impl Fn(A) -> L::Elt,
    lifted: impl FnOnce(A::Exp) -> L,
) {
    let code = scalar_code::<A, L>(lifted);
    let evaluator = Evaluator::new(&code).unwrap();
    for value in values {
        let found = evaluator.evaluate(&Nothing, &constants(value)).unwrap();
        assert_eq!(found, constants(plain(value)), "of {value:?} in\n{code}");
    }
}

/// Calls one function in both ways.
macro_rules! agree {
    ($values:expr, |$($argument:pat_param),*| $call:expr) => {
        agree($values, |($($argument,)*)| $call, |($($argument,)*)| $call)
    };
}

#[path = "embed/lazy.rs"]
mod lazy;
#[path = "embed/patterns.rs"]
mod patterns;

const SOME_INTEGERS: [i32; 9] = [0, 1, -1, 2, 7, -8, 100, 255, 1024];
const SOME_FLOATS: [f32; 8] = [0.0, -0.0, 1.0, -1.5, 0.25, 3.75, 100.0, -1e6];

fn integers() -> impl Iterator<Item = (i32,)> {
    SOME_INTEGERS.into_iter().map(|a| (a,))
}

fn pairs() -> impl Iterator<Item = (i32, i32)> {
    SOME_INTEGERS.into_iter().flat_map(|a| SOME_INTEGERS.into_iter().map(move |b| (a, b)))
}

fn floats() -> impl Iterator<Item = (f32,)> {
    SOME_FLOATS.into_iter().map(|a| (a,))
}

fn float_pairs() -> impl Iterator<Item = (f32, f32)> {
    SOME_FLOATS.into_iter().flat_map(|a| SOME_FLOATS.into_iter().map(move |b| (a, b)))
}

const OFFSET: f32 = 0.5;

#[embed]
fn branches(x: f32) -> f32 {
    if x < 0.0 {
        -x
    } else if x > 10.0 && x != 100.0 || x == OFFSET {
        10.0
    } else {
        let y = x * 2.0;
        y + std::f32::consts::PI + OFFSET
    }
}

#[embed]
fn assigned(x: f32, y: f32) -> f32 {
    let mut a = x;
    let mut b = 1.0;
    if a < y {
        a += 1.0;
        b = a * 2.0;
    } else if b > x {
        b -= y;
    }
    if !(a > 0.0) {
        a = 0.5;
    }
    {
        let a = b;
        b = a + 0.25;
    }
    (a, b) = (b, a);
    a * 3.0 - b
}

#[embed]
fn logic(a: i32, b: i32) -> bool {
    // The right side is evaluated only where it may be.
    b != 0 && a / b > 1 || b == 0 || !(a % b == 0) && (a ^ b) & 1 == 0
}

#[embed]
fn early(a: i32, b: i32) -> i32 {
    if a == 0 {
        return 1;
    }
    let mut x = a;
    if a > b {
        x = b;
        if b < 0 {
            return x - 1;
        }
        x += 5;
    } else {
        if b == 7 {
            return 70;
        }
        x *= 2;
    }
    if x == 2 {
        return 3;
    } else {
        x += 1
    }
    x << 1
}

#[embed]
fn bits(a: i32, b: i32) -> (u32, i64, bool) {
    let shifted = (a as u32 >> (b & 31)) | 1u32 << 3;
    ((shifted ^ 5).leading_zeros() + a.count_ones(), i64::from(a) - b as i64, a as f32 > 1.5)
}

#[test]
fn branches_assignments_and_returns_agree() {
    agree!(floats(), |x| branches(x));
    agree!(float_pairs(), |x, y| assigned(x, y));
    agree!(pairs(), |a, b| logic(a, b));
    agree!(pairs(), |a, b| early(a, b));
    agree!(pairs(), |a, b| bits(a, b));
}

#[embed]
fn collatz(n: i32) -> i32 {
    let mut n = n;
    let mut count = 0;
    while n > 1 {
        n = if n % 2 == 0 { n / 2 } else { 3 * n + 1 };
        count += 1;
    }
    count
}

#[embed]
fn sums(a: i32, b: i32) -> (i32, i32, i32, i32, i32) {
    let (mut up, mut closed, mut down, mut stepped, mut odd) = (0, 0, 0, 0, 0);
    for i in 0..a {
        up += i * b;
    }
    for i in -2..=a {
        if i == 5 {
            continue;
        }
        closed = closed * 3 % 1001 + i;
    }
    for i in (b..a).rev() {
        if i < -3 {
            break;
        }
        down = (down + i) % 77;
    }
    for i in (0..=b).step_by(3) {
        stepped += i;
    }
    'outer: for i in 0..5 {
        for j in (1..9).rev().step_by(2) {
            if i * j == a {
                continue 'outer;
            }
            if i + j == b {
                break 'outer;
            }
            odd += j;
        }
        odd += 100;
    }
    (up, closed, down, stepped, odd)
}

#[embed]
fn search(a: i32, b: i32) -> i32 {
    let mut tries = 0;
    for i in 1..50 {
        if i * i > a {
            return i;
        }
        let mut k = i;
        while k > 0 {
            if k == b {
                return -k;
            }
            k -= 3;
            tries += 1;
        }
    }
    tries
}

#[embed]
fn looped(n: i32) -> i32 {
    let mut x = n;
    let found = loop {
        x += 3;
        if x % 7 == 0 {
            break x;
        }
        if x > 200 {
            break -1;
        }
    };
    let mut rounds = 0;
    loop {
        rounds += 1;
        if rounds * rounds > found {
            return rounds + found;
        }
    }
}

#[embed]
fn last_of_the_type(start: u32) -> u32 {
    let mut count = 0;
    for i in start..=u32::MAX {
        count += i & 1;
    }
    for _ in (u32::MAX - 5..u32::MAX).step_by(4) {
        count += 10;
    }
    count
}

#[test]
fn loops_agree() {
    agree!(integers(), |n| collatz(n));
    agree!(pairs(), |a, b| sums(a, b));
    agree!(pairs(), |a, b| search(a, b));
    agree!(integers(), |n| looped(n));
    agree!([(u32::MAX,), (u32::MAX - 4,)], |n| last_of_the_type(n));
}

#[embed]
fn matched(a: i32, b: i32) -> i32 {
    const SEVEN: i32 = 7;
    let kind = match a {
        0 | 1 => 1,
        -1 => 8,
        -8..=-2 => 2,
        SEVEN => 3,
        n @ 2..100 if n > b => n,
        n if n == b => 5,
        100.. => 6,
        _ => {
            if b == 2 {
                return 1000;
            }
            7
        }
    };
    if (a, Some(b)) == (2, Some(7)) || Some(a) != Some(b) && a == 255 {
        return -5;
    }
    let sign = match (a > 0, b > 0) {
        (true, false) => 10,
        (false, true) => 20,
        (true, _) => 30,
        _ => 40,
    };
    kind + sign
}

#[embed]
fn root(x: f32) -> Option<f32> {
    if x >= 0.0 { Some(x.sqrt()) } else { None }
}

#[embed]
fn roots(x: f32, y: f32) -> Option<f32> {
    let a = root(x)?;
    let Some(b) = root(y) else {
        return Some(-1.0);
    };
    if let Some(c) = root(a - b)
        && c > 1.0
    {
        return Some(c);
    }
    match (root(b - 1.0), root(a)) {
        (Some(p), Some(q)) if p > q => Some(p),
        (None, Some(q)) => Some(q + root(b)?),
        _ => None,
    }
}

#[embed]
fn shrinking(x: f32) -> f32 {
    let mut state = Some(x);
    let mut steps = 0.0;
    while let Some(y) = state {
        state = if y > 1.0 { Some(y / 2.0) } else { None };
        steps += 1.0;
    }
    steps + state.map(|x| x * 2.0).unwrap_or(0.5)
}

#[test]
fn matches_and_options_agree() {
    agree!(pairs(), |a, b| matched(a, b));
    agree!(floats(), |x| root(x));
    agree!(float_pairs(), |x, y| roots(x, y));
    agree!(floats(), |x| shrinking(x));
}

#[embed]
fn polar((x, y): (f32, f32)) -> (f32, f32) {
    (f32::sqrt(x * x + y * y), f32::atan2(y, x))
}

#[embed]
fn nested(x: f32, y: f32) -> f32 {
    let mut point = (x, (y, 1.0));
    point.1.0 += 2.0;
    point.0 = point.1.0 * point.1.1;
    let (r, _) = polar((point.0, point.1.0));
    // Later operands do not change earlier ones.
    let mut a = x;
    r + a + {
        a = y;
        a
    } * a
}

#[embed]
fn larger<T: Number>(a: T, b: T) -> T {
    if a < b { b } else { a }
}

#[embed]
fn largest<T: Number>((a, b): (T, T), c: T) -> T {
    larger(a, larger(b, c))
}

fn golden() -> f32 {
    (1.0 + 5f32.sqrt()) / 2.0
}

#[embed]
fn scaled(x: f32) -> f32 {
    let factor: f32 = golden();
    larger(x * factor, 2.0).min(f32::MAX)
}

#[test]
fn tuples_generics_and_calls_agree() {
    agree!(float_pairs(), |x, y| polar((x, y)));
    agree!(float_pairs(), |x, y| nested(x, y));
    agree!(float_pairs(), |x, y| larger(x, y));
    agree!(pairs(), |x, y| larger(x, y));
    agree!(pairs(), |x, y| largest((x, y), 7));
    agree!(floats(), |x| scaled(x));
    assert_eq!((larger(2.0, 3.5), larger(4u64, 3), scaled(0.0)), (3.5, 4, 2.0));
}

/// Methods of the traits on plain values, and those of `Exp` on expressions.
#[embed]
fn softened<T: Float>(x: T, y: T) -> T {
    let length = x.mul_add(x, y * y).sqrt();
    let (sine, cosine) = length.sin_cos();
    let steep = x.abs().ln_1p() + y.exp().atan2(T::ONE) * sine.signum() + cosine.hypot(y).powf(T::PI);
    if steep.is_finite() && !length.is_subnormal() { steep.floor().max(y.fract()) } else { x.copysign(y) }
}

#[embed]
fn half<T: Float>(x: T) -> T {
    x * 0.5f64.cast::<T>()
}

#[embed]
fn errors<T: Float>(x: T) -> T {
    x.erf() + x.erfc().min(x.abs().gamma()) - (x.abs() + T::ONE).ln_gamma() + x.rsqrt().lerp(x, T::ONE)
}

#[embed]
fn word_bits<T: Integer>(x: T, y: T) -> (u32, Option<T>, T, bool) {
    let count = x.count_ones() + y.leading_zeros() * 2 + x.abs_diff(y).trailing_zeros();
    let turned = x.rotate_left(count).wrapping_mul(y.swap_bytes()).saturating_sub(T::ONE);
    (
        count,
        x.checked_add(y).or(x.checked_pow(2)),
        turned.max(y).clamp(T::ZERO, T::MAX),
        x.overflowing_mul(y).1,
    )
}

#[embed]
fn numbers<T: Number>(x: T, y: T) -> T {
    x.min(y).rem_euclid(T::ONE + T::ONE) + x.midpoint(y).max(T::ZERO)
}

#[embed]
fn sizes<T: Signed>(x: T, y: T) -> T {
    x.abs() * y.signum()
}

#[embed]
fn span<T: Ordered>(x: T, y: T) -> (T, T) {
    (x.min(y), x.max(y))
}

#[embed]
fn bell(x: f16) -> f16 {
    (-x * x).exp() * f16::ONE.atan()
}

/// `f32::erf` is unstable in Rust's library, so the one of the trait is meant.
#[embed]
#[allow(unstable_name_collisions)]
fn normal_below(x: f32) -> f32 {
    0.5 * (1.0 + (x / 2f32.sqrt()).erf()) + x.abs().gamma().min(1.0)
}

#[test]
fn generic_functions_have_the_methods_of_their_bounds() {
    let doubles = || float_pairs().map(|(x, y)| (f64::from(x), f64::from(y)));
    let halves = || float_pairs().map(|(x, y)| (f16::from_f32(x), f16::from_f32(y)));
    agree!(float_pairs(), |x, y| softened(x, y));
    agree!(doubles(), |x, y| softened(x, y));
    agree!(floats(), |x| half(x));
    agree!(halves(), |x, _y| half(x));
    agree!([0.5f32, 2.25, 7.0].map(|x| (x,)), |x| errors(x));
    agree!([0.5f64, 2.25, 7.0].map(|x| (x,)), |x| errors(x));
    agree!(pairs(), |x, y| word_bits(x, y));
    agree!([(200u8, 7u8), (0, 255), (16, 16), (255, 255)], |x, y| word_bits(x, y));
    agree!(pairs(), |x, y| numbers(x, y));
    agree!(doubles(), |x, y| numbers(x, y));
    agree!(pairs(), |x, y| sizes(x, y));
    agree!(halves(), |x, y| sizes(x, y));
    agree!(float_pairs(), |x, y| span(x, y));
    agree!([('b', 'a'), ('x', 'y')], |x, y| span(x, y));
    agree!(halves(), |x, y| span(x, y));
    agree!(halves().map(|(x, _)| (x,)), |x| bell(x));
    agree!([0.5f32, -1.0, 3.0].map(|x| (x,)), |x| normal_below(x));
    assert_eq!(half(bf16::from_f32(3.0)), bf16::from_f32(1.5));
}

/// Where the traits are imported, numbers whose type is known keep Rust's own methods.
#[test]
fn traits_of_numbers_make_no_method_ambiguous() {
    let (small, large, byte, letter) = std::hint::black_box((3i32, 7i64, 4u8, 'a'));
    assert_eq!((small.min(4), byte.max(5), letter.max('b'), large.clamp(0, 5)), (3, 5, 'b', 5));
    assert_eq!((2f32.sqrt(), 2i32.pow(3), (-2i32).abs(), 8u32.ilog2()), (std::f32::consts::SQRT_2, 8, 2, 3));
    assert_eq!((1u16.checked_add(2), 5i8.rem_euclid(3), 2f64.mul_add(3.0, 1.0)), (Some(3), 2, 7.0));
}

#[embed]
fn guarded(a: i32, b: i32) -> i32 {
    if b != 0 { a / b } else { 0 }
}

/// A guarded computation stays under its own condition, even where the same value was computed before under another condition.
#[embed]
fn guarded_twice(a: i32, b: i32) -> i32 {
    let first = if a > 0 { guarded(a, b) } else { 1 };
    let second = if a < 5 { guarded(a, b) } else { 2 };
    first * 3 + second
}

#[test]
fn what_may_fail_is_computed_only_where_it_is_needed() {
    agree!(pairs(), |a, b| guarded(a, b));
    agree!(pairs(), |a, b| guarded_twice(a, b));
}

/// The scalar code in both styles must be the same.
fn same<A: Elt, L: Lift>(embedded: impl FnOnce(A::Exp) -> L, methods: impl FnOnce(A::Exp) -> L) {
    let (embedded, methods) = (scalar_code::<A, L>(embedded), scalar_code::<A, L>(methods));
    assert_eq!(embedded.to_string(), methods.to_string());
}

#[embed]
fn mandelbrot(cx: f32, cy: f32, cap: i32) -> i32 {
    let (mut x, mut y, mut count) = (0.0, 0.0, 0);
    while count < cap && x * x + y * y <= 4.0 {
        (x, y) = (x * x - y * y + cx, 2.0 * x * y + cy);
        count += 1;
    }
    count
}

fn mandelbrot_by_methods((cx, cy, cap): (Exp<f32>, Exp<f32>, Exp<i32>)) -> Exp<i32> {
    let (_, _, count) = while_(
        constant((0f32, 0f32, 0i32)),
        |(x, y, count)| count.lt(cap) & (x * x + y * y).le(4.0),
        |(x, y, count)| (x * x - y * y + cx, 2.0 * x * y + cy, count + 1),
    );
    count
}

const RATE: f32 = 0.02;
const VOLATILITY: f32 = 0.3;

#[embed]
fn normal(d: f32) -> f32 {
    let k = 1.0 / (1.0 + 0.2316419 * d.abs());
    let polynomial =
        k * (0.31938153 + k * (-0.35656378 + k * (1.7814779 + k * (-1.8212559 + k * 1.3302745))));
    let tail = 0.3989423 * (-0.5 * d * d).exp() * polynomial;
    if d > 0.0 { 1.0 - tail } else { tail }
}

#[embed]
fn black_scholes((stock, strike, years): (f32, f32, f32)) -> (f32, f32) {
    let deviation = VOLATILITY * years.sqrt();
    let d1 = ((stock / strike).ln() + (RATE + 0.5 * VOLATILITY * VOLATILITY) * years) / deviation;
    let d2 = d1 - deviation;
    let discounted = strike * (-RATE * years).exp();
    let call = stock * normal(d1) - discounted * normal(d2);
    let put = discounted * (1.0 - normal(d2)) - stock * (1.0 - normal(d1));
    (call, put)
}

fn normal_by_methods(d: Exp<f32>) -> Exp<f32> {
    let k = 1.0 / (1.0 + 0.2316419 * d.abs());
    let polynomial =
        k * (0.31938153 + k * (-0.35656378 + k * (1.7814779 + k * (-1.8212559 + k * 1.3302745))));
    let tail = 0.3989423 * (-0.5 * d * d).exp() * polynomial;
    d.gt(0.0).select(1.0 - tail, tail)
}

fn black_scholes_by_methods((stock, strike, years): (Exp<f32>, Exp<f32>, Exp<f32>)) -> (Exp<f32>, Exp<f32>) {
    let deviation = VOLATILITY * years.sqrt();
    let d1 = ((stock / strike).ln() + (RATE + 0.5 * VOLATILITY * VOLATILITY) * years) / deviation;
    let d2 = d1 - deviation;
    let discounted = strike * (-RATE * years).exp();
    let call = stock * normal_by_methods(d1) - discounted * normal_by_methods(d2);
    let put = discounted * (1.0 - normal_by_methods(d2)) - stock * (1.0 - normal_by_methods(d1));
    (call, put)
}

type Triple = (f32, f32, f32);

/// The pull of a body of mass `mass` at `b` on one at `a`.
#[embed]
fn pull(a: Triple, b: Triple, mass: f32) -> Triple {
    let (dx, dy, dz) = (b.0 - a.0, b.1 - a.1, b.2 - a.2);
    let square = dx * dx + dy * dy + dz * dz + 0.01;
    let factor = mass / (square * square.sqrt());
    (dx * factor, dy * factor, dz * factor)
}

type TripleExp = (Exp<f32>, Exp<f32>, Exp<f32>);

fn pull_by_methods((a, b, mass): (TripleExp, TripleExp, Exp<f32>)) -> TripleExp {
    let (dx, dy, dz) = (b.0 - a.0, b.1 - a.1, b.2 - a.2);
    let square = dx * dx + dy * dy + dz * dz + 0.01;
    let factor = mass / (square * square.sqrt());
    (dx * factor, dy * factor, dz * factor)
}

/// Returns the distance at which a ray from the origin meets a sphere.
#[embed]
fn hit(direction: Triple, centre: Triple, radius: f32) -> Option<f32> {
    let along = direction.0 * centre.0 + direction.1 * centre.1 + direction.2 * centre.2;
    let square = centre.0 * centre.0 + centre.1 * centre.1 + centre.2 * centre.2;
    let discriminant = along * along - square + radius * radius;
    if discriminant < 0.0 {
        return None;
    }
    let distance = along - discriminant.sqrt();
    if distance > 0.0 { Some(distance) } else { None }
}

fn hit_by_methods((d, c, radius): (TripleExp, TripleExp, Exp<f32>)) -> pumice::OptionExp<Exp<f32>> {
    let along = d.0 * c.0 + d.1 * c.1 + d.2 * c.2;
    let square = c.0 * c.0 + c.1 * c.1 + c.2 * c.2;
    let discriminant = along * along - square + radius * radius;
    discriminant.lt(0.0).select(none(), {
        let distance = along - discriminant.sqrt();
        distance.gt(0.0).select(some(distance), none())
    })
}

#[test]
fn the_code_is_that_of_the_style_with_methods() {
    same::<(f32, f32, i32), _>(|(x, y, cap)| mandelbrot(x, y, cap), mandelbrot_by_methods);
    same::<Triple, _>(black_scholes, black_scholes_by_methods);
    same::<(Triple, Triple, f32), _>(|(a, b, mass)| pull(a, b, mass), pull_by_methods);
    same::<(Triple, Triple, f32), _>(|(d, c, radius)| hit(d, c, radius), hit_by_methods);
}

#[embed]
fn even(n: i32) -> bool {
    if n == 0 { true } else { odd(n - 1) && odd(n - 3) }
}

#[embed]
fn odd(n: i32) -> bool {
    if n == 0 { false } else { even(n - 1) || even(n - 3) }
}

#[test]
fn functions_that_call_each_other_without_end_are_a_mistake() {
    assert!(even(0) && !odd(0));
    let code =
        function(&i32::types(), |terms| even(<Exp<i32>>::from_terms(&mut terms.iter().copied())).terms());
    let mistake = format!("{:?}", code.mistake());
    assert!(mistake.contains("is called inside itself"), "{mistake}");
    // And that is over afterwards.
    agree!(integers(), |n| collatz(n));
}

#[derive(Clone, Copy, Debug, PartialEq, Elt)]
struct Vec3 {
    x: f32,
    y: f32,
    z: f32,
}

#[embed]
impl Vec3 {
    const UP: Vec3 = Vec3 { x: 0.0, y: 1.0, z: 0.0 };

    fn new(x: f32, y: f32, z: f32) -> Self {
        Self { x, y, z }
    }

    fn zero() -> Vec3 {
        Vec3 { x: 0.0, y: 0.0, z: 0.0 }
    }

    fn dot(self, other: Vec3) -> f32 {
        self.x * other.x + self.y * other.y + self.z * other.z
    }

    fn length(&self) -> f32 {
        self.dot(self.clone()).sqrt()
    }

    fn raised(mut self, by: f32) -> Self {
        self.y += by;
        self
    }
}

#[embed]
impl Add for Vec3 {
    type Output = Vec3;
    fn add(self, other: Vec3) -> Vec3 {
        Vec3::new(self.x + other.x, self.y + other.y, self.z + other.z)
    }
}

#[embed]
impl Mul<f32> for Vec3 {
    type Output = Self;
    fn mul(self, by: f32) -> Self {
        Self::new(self.x * by, self.y * by, self.z * by)
    }
}

#[embed]
impl Mul<Vec3> for f32 {
    type Output = Vec3;
    fn mul(self, by: Vec3) -> Vec3 {
        by * self
    }
}

#[embed]
fn moved(p: Vec3, v: Vec3, time: f32) -> Vec3 {
    let Vec3 { y, .. } = p;
    let mut next = p + v * time + 0.5 * Vec3::UP + Vec3::zero();
    if y < 0.0 {
        next = Vec3 { y: -next.y, ..next }.raised(1.0);
        next.x = next.length();
    }
    next
}

#[derive(Clone, Copy, Debug, PartialEq, Elt)]
struct Pair<T>(T, T);

#[embed]
fn swapped(p: Pair<f32>) -> Pair<f32> {
    let Pair(a, b) = p;
    Pair(b, a + p.0)
}

#[embed]
impl<T: Number> Pair<T> {
    fn first(self) -> T {
        self.0
    }
}

#[embed]
fn firsts(p: Pair<i32>) -> i32 {
    let q: Pair<i32> = Pair(p.1, p.0);
    p.first() + q.first()
}

#[derive(Clone, Copy, Debug, PartialEq, Elt)]
enum Axis {
    X,
    Y(i32),
    Oblique { x: f32, n: i32 },
}

#[embed]
fn turned(axis: Axis, by: i32) -> Axis {
    match axis {
        Axis::X if by > 0 => Axis::Y(by),
        Axis::Y(n) if n != by => Axis::Oblique { n: n - 1, x: 0.5 },
        Axis::Oblique { n: 1 | 2, .. } => Axis::Y(7),
        Axis::Oblique { n, x: along } => Axis::Oblique { x: along + 1.0, n: n + by },
        other => {
            if other == Axis::X {
                Axis::Y(-1)
            } else {
                Axis::X
            }
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Elt)]
enum Shape {
    Circle(f32),
    Rect(f32, f32),
    Point,
    Many(Option<f32>),
}

#[embed]
fn area(s: Shape) -> f32 {
    match s {
        Shape::Circle(r) if r > 10.0 => 1000.0,
        Shape::Circle(r) => 3.0 * r * r,
        Shape::Rect(w, h) => w * h,
        Shape::Many(Some(x)) => x,
        Shape::Point | Shape::Many(None) => 0.0,
    }
}

#[embed]
fn grown(s: Shape, by: f32) -> Shape {
    let mut s = s;
    while area(s) < 20.0 {
        s = match s {
            Shape::Circle(r) => Shape::Circle(r + by),
            Shape::Rect(w, h) if w < h => Shape::Rect(w + by, h),
            Shape::Rect(w, h) => Shape::Rect(w, h + by),
            Shape::Point => {
                if by > 1.0 {
                    Shape::Rect(1.0, 2.0)
                } else {
                    Shape::Many(None)
                }
            }
            Shape::Many(x) => match x {
                Some(_) => break,
                None => return Shape::Rect(by, by),
            },
        };
    }
    s
}

#[embed]
fn divided(a: i32, b: i32) -> Result<i32, u32> {
    if b == 0 { Err(7) } else { Ok(a / b) }
}

#[embed]
fn twice_divided(a: i32, b: i32) -> Result<i32, u32> {
    let first = divided(a, b)?;
    match divided(b, first) {
        Ok(second) => Ok(first + second),
        Err(code) => Err(code + 1),
    }
}

#[embed]
fn arrays(a: i32, b: i32) -> [i32; 3] {
    let mut xs = [a, b, 7];
    let [p, _, q] = xs;
    xs[1] += p * q;
    let i = a & 1;
    let zeros = [0; 3];
    xs[2] = xs[i as usize] + zeros[0];
    xs
}

fn shapes() -> impl Iterator<Item = (Shape, f32)> {
    [
        Shape::Circle(0.5),
        Shape::Circle(20.0),
        Shape::Rect(1.0, 2.5),
        Shape::Point,
        Shape::Many(None),
        Shape::Many(Some(3.0)),
    ]
    .into_iter()
    .flat_map(|s| [(s, 0.5), (s, 2.0)])
}

#[test]
fn derived_types_and_their_methods_agree() {
    agree!(float_pairs().map(|(a, b)| (Vec3::new(a, b, 1.0), Vec3::new(b, a, 2.0), 0.1)), |p, v, t| moved(
        p, v, t
    ));
    agree!(float_pairs().map(|(a, b)| (Pair(a, b),)), |p| swapped(p));
    agree!(pairs().map(|(a, b)| (Pair(a, b),)), |p| firsts(p));
    agree!(shapes(), |s, by| grown(s, by));
    let axes = integers().flat_map(|(n,)| [(Axis::X, n), (Axis::Y(1), n), (Axis::Oblique { x: 2.5, n }, 2)]);
    agree!(axes, |axis, by| turned(axis, by));
    agree!(pairs(), |a, b| divided(a, b));
    agree!(pairs(), |a, b| twice_divided(a, b));
    agree!(pairs(), |a, b| arrays(a, b));
}

// On devices.

#[test]
fn one_name_serves_elements_and_plain_values() -> pumice::Result<()> {
    let (xs, ys): (Vec<f32>, Vec<f32>) = float_pairs().unzip();
    for device in ["sim", "cpu"] {
        let compiler = pumice::Compiler::on(device)?;
        // The function itself, as well as calls with some plain arguments.
        let f = compiler.compile(|xs: Acc<Vector<f32>>, ys: Acc<Vector<f32>>| {
            let both = xs.clone().zip_with(ys.clone(), assigned);
            (both, xs.map(|x| assigned(x, 0.5)), ys.map(|y| roots(4.0, y)))
        })?;
        let (both, half, four) = f.run((&xs, &ys))?;
        let expected =
            |f: fn(f32, f32) -> f32| xs.iter().zip(&ys).map(|(x, y)| f(*x, *y)).collect::<Vec<_>>();
        assert_eq!(both.to_vec()?, expected(assigned));
        assert_eq!(half.to_vec()?, expected(|x, _| assigned(x, 0.5)));
        assert_eq!(four.to_vec()?, ys.iter().map(|y| roots(4.0, *y)).collect::<Vec<_>>());
        let loops =
            compiler.compile(|a: Acc<Vector<i32>>| a.map(|a| (collatz(a), sums(a, 7), search(a, 2))))?;
        let expected: Vec<_> =
            SOME_INTEGERS.iter().map(|a| (collatz(*a), sums(*a, 7), search(*a, 2))).collect();
        assert_eq!(loops.run(SOME_INTEGERS)?.to_vec()?, expected);
    }
    Ok(())
}

#[test]
fn arrays_of_derived_types_are_mapped_by_methods() -> pumice::Result<()> {
    let points: Vec<Vec3> = float_pairs().map(|(x, y)| Vec3::new(x, y, 1.0)).collect();
    let shapes: Vec<Shape> = shapes().map(|(shape, _)| shape).collect();
    for device in ["sim", "cpu"] {
        let compiler = pumice::Compiler::on(device)?;
        let f =
            compiler.compile(|points: Acc<Vector<Vec3>>| points.map(|p| moved(p, p + p, 0.5).length()))?;
        let expected: Vec<f32> = points.iter().map(|p| moved(*p, *p + *p, 0.5).length()).collect();
        assert_eq!(f.run(&points)?.to_vec()?, expected);
        let g = compiler.compile(|shapes: Acc<Vector<Shape>>| shapes.map(|shape| grown(shape, 0.5)))?;
        let expected: Vec<Shape> = shapes.iter().map(|shape| grown(*shape, 0.5)).collect();
        assert_eq!(g.run(&shapes)?.to_vec()?, expected);
    }
    Ok(())
}

#[rustfmt::skip]
#[embed]
fn quotient(a: i64, b: i64) -> i64 {
    let c = a + 1;
    c /
        b
}

#[test]
fn a_failure_names_the_line_of_the_operator() -> pumice::Result<()> {
    let line = line!() - 6;
    let f = pumice::Compiler::on("sim")?.compile(|xs: Acc<Vector<i64>>| xs.map(|x| quotient(8, x)))?;
    assert_eq!(f.run([2, 3])?.to_vec()?, [4, 3]);
    let found = f.run([2, 0])?.to_vec().err().map(|error| error.to_string()).unwrap_or_default();
    assert!(found.contains("division by zero") && found.contains(&format!("embed.rs:{line}")), "{found}");
    Ok(())
}

/// Returns the distance at which a ray meets a sphere, or -1.
#[embed]
#[allow(clippy::manual_unwrap_or)] // The pattern is what is tested.
fn depth(direction: Triple, centre: Triple) -> f32 {
    if let Some(distance) = hit(direction, centre, 1.0) { distance } else { -1.0 }
}

#[derive(Clone, Copy, Debug, PartialEq, Elt)]
enum Wave {
    Sine(f32),
    Sum { low: f32, high: f32 },
    Silence,
}

#[embed]
impl Wave {
    fn level(self, time: f32) -> f32 {
        match self {
            Wave::Sine(pitch) => (pitch * time).sin(),
            Wave::Sum { low, high } => (low * time).sin() + (high * time).cos(),
            Wave::Silence => 0.0,
        }
    }
}

fn level_by_methods((wave, time): (WaveExp, Exp<f32>)) -> Exp<f32> {
    wave.match_(
        |pitch| (pitch * time).sin(),
        |low, high| (low * time).sin() + (high * time).cos(),
        || constant(0.0),
    )
}

fn length_by_methods(p: Vec3Exp) -> Exp<f32> {
    (p.x * p.x + p.y * p.y + p.z * p.z).sqrt()
}

#[embed]
fn reflected(x: f32) -> f32 {
    if x < 0.0 {
        return -x;
    }
    let y = x.sqrt();
    y + 1.0
}

/// The kernels of a map over elements, from one line.
fn kernels<A: Elt, L: Lift>(values: &[A], f: impl Fn(A::Exp) -> L) -> pumice::Result<Vec<String>> {
    let program = pumice::Compiler::on("sim")?.compile(|values: Acc<Vector<A>>| values.map(&f))?;
    let launches = program.skeletons(values)?;
    Ok(launches.iter().map(|launch| launch.program.to_string()).collect())
}

/// The kernels of both styles must be the same, and have this word.
fn same_kernels<A: Elt, L: Lift>(
    values: &[A],
    word: &str,
    embedded: impl Fn(A::Exp) -> L,
    methods: impl Fn(A::Exp) -> L,
) -> pumice::Result<()> {
    let kernels_by_methods = kernels(values, methods)?;
    assert!(kernels_by_methods.iter().any(|kernel| kernel.contains(word)), "{kernels_by_methods:?}");
    assert_eq!(kernels(values, embedded)?, kernels_by_methods);
    Ok(())
}

#[test]
fn the_kernel_is_that_of_the_style_with_methods() -> pumice::Result<()> {
    let (near, far): (Triple, Triple) = ((20.0, 20.0, 1.0), (20.0, 25.0, 1.0));
    same_kernels(&[near, far], "select", black_scholes, black_scholes_by_methods)?;
    same_kernels(
        &[(0.5f32, 0.5f32, 9i32)],
        "while",
        |(x, y, cap)| mandelbrot(x, y, cap),
        mandelbrot_by_methods,
    )?;
    same_kernels(
        &[(near, far)],
        "sqrt",
        |(d, c)| depth(d, c),
        |(d, c)| hit_by_methods((d, c, constant(1.0))).unwrap_or(-1.0),
    )?;
    same_kernels(&[Vec3::zero()], "sqrt", Vec3Exp::length, length_by_methods)?;
    same_kernels(&[(Wave::Sine(1.0), 0.5f32)], "sin", |(wave, time)| wave.level(time), level_by_methods)?;
    same_kernels(&[0.5f32], "sqrt", reflected, |x| x.lt(0.0).select(-x, x.sqrt() + 1.0))
}

#[embed]
fn if_positive(x: f32) -> Option<f32> {
    if x > 0.0 { Some(x) } else { None }
}

/// Reading an array may fail, but the condition has read it by then: there is nothing to branch for.
#[test]
fn what_a_condition_needs_is_not_computed_under_it() -> pumice::Result<()> {
    let kernels = |f: fn(Exp<f32>) -> pumice::OptionExp<Exp<f32>>| -> pumice::Result<Vec<String>> {
        let looked_up = |table: Acc<Vector<f32>>, at: Acc<Vector<i64>>| at.map(|i| f(table.at(i)));
        let program = pumice::Compiler::on("sim")?.compile(looked_up)?;
        let launches = program.skeletons((&[1.0, -1.0], &[1, 0, 1]))?;
        Ok(launches.iter().map(|launch| launch.program.key_text()).collect())
    };
    let by_methods = kernels(|x| x.gt(0.0).select(some(x), none()))?;
    assert_eq!(kernels(if_positive)?, by_methods);
    Ok(())
}
