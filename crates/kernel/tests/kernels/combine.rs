//! Elements that are combined into targets, in every way that their operator allows, on every device that is here.

use pumice::layers::kernel::skeletons::{Combine, CombinePlan, CombineTask, Combiner, Rounds, hand_on};
use pumice::layers::kernel::{Dynamic, Ix, Mutable, Profile, Pull, Scalars, Storable};
use pumice::layers::scalar::{Function, Lift, Place, ScalarType, function};
use pumice::{Array, Compiler, Dim1, Elt, Exp, OptionExp, cond};
use std::fmt::Debug;
use std::rc::Rc;

/// Numbers of elements, and whether they are spread over the targets.
const SIZES: [(usize, bool); 5] = [(0, true), (1, true), (257, true), (4099, true), (2000, false)];
const TARGETS: usize = 37;

fn compilers() -> impl Iterator<Item = Compiler> {
    ["sim", "cpu", "opencl", "cuda"].into_iter().filter_map(|device| Compiler::on(device).ok())
}

fn operator<T: Elt>(f: impl Fn(T::Exp, T::Exp) -> T::Exp) -> Function {
    function(&[T::types(), T::types()].concat(), |terms| {
        let mut terms = terms.iter().copied();
        let (new, old) = (T::Exp::from_terms(&mut terms), T::Exp::from_terms(&mut terms));
        f(new, old).terms()
    })
}

fn mix(number: u64) -> u64 {
    let z = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Returns the targets of `n` elements: spread over all of them with some elements that go nowhere, or all at one.
fn places(n: usize, spread: bool) -> Vec<Option<i64>> {
    let place = |i: u64| match spread {
        true => (!mix(i).is_multiple_of(5)).then(|| (mix(i + 1_000_000) % TARGETS as u64) as i64),
        false => Some(TARGETS as i64 / 2),
    };
    (0..n as u64).map(place).collect()
}

/// Plans that differ in all that matters, for one way to combine.
fn plans(profile: &Profile, task: &CombineTask<'_>) -> Vec<CombinePlan> {
    let plan = CombinePlan::new(profile, task);
    let with = |threads, items, unroll, parts| CombinePlan {
        blocks: 5,
        rounds: Rounds { threads, items, unroll, parts, stretch: unroll == 1, resident: 1 },
        ..plan
    };
    let (plain, several) = (with(64, 1, 1, 1), with(64, 2, 2, 1));
    match plan.how {
        Combine::Privatised => vec![
            CombinePlan { copies: 1, table: 64, ..plain },
            CombinePlan { copies: 8, table: 37, ..several },
            // No part has all targets, and the last one has few.
            CombinePlan { copies: 2, table: 16, ..with(32, 2, 2, 3) },
            // Blocks of one thread, which combine their tables in stretches, the last of which is short.
            CombinePlan { copies: 2, table: 64, locks: 8, ..with(1, 2, 1, 1) },
        ],
        // Several targets have one lock.
        Combine::Lock => vec![plain, CombinePlan { locks: 8, ..several }],
        _ => vec![plain, several],
    }
}

/// Runs one plan and gives the targets.
fn run<T: Elt>(
    compiler: &Compiler,
    plan: CombinePlan,
    operator: &Function,
    defaults: &[T],
    elements: &[(Option<i64>, T)],
) -> pumice::Result<Vec<T>> {
    let operator = operator.clone();
    let kernel =
        move |targets: Mutable<T>, locks: Mutable<i32>, xs: Pull<(Option<i64>, T), Ix>, blocks: Ix| {
            let place = Place::caller("permute");
            let function = operator.clone();
            let apply =
                Rc::new(move |new: Scalars, old: Scalars| Scalars(function.apply(&[new.0, old.0].concat())));
            let route = |_: Ix, value: Scalars| {
                let (place, value): (OptionExp<Ix>, T::Exp) = <(Option<i64>, T)>::from_terms(value.0);
                (Some(place.is_some()), place.unwrap_or(-1), Scalars(T::terms(&value)))
            };
            let combiner =
                Combiner::new(plan, (&operator, apply), &targets, Some(&locks), Rc::new(route), place);
            let elements = Pull::<Dynamic, Ix>::new(xs.len(), move |i| {
                Scalars(<(Option<i64>, T) as Storable>::terms(&xs.at(i)))
            });
            hand_on(&plan.rounds.push(elements, blocks), &[Rc::new(combiner)]);
        };
    let kernel = compiler.kernel("combine", plan.rounds.threads, kernel)?;
    let mut targets = compiler.upload(defaults)?;
    let mut locks = compiler.upload(vec![0i32; plan.locks.max(1) as usize])?;
    kernel.run((&mut targets, &mut locks, elements, i64::from(plan.blocks)))?;
    let targets: Array<Dim1, T> = targets;
    Ok(targets.to_vec()?)
}

/// Combines in each of these ways, on every device, and compares with what plain Rust makes of it.
fn check<T: Elt + Debug>(
    ways: &[Combine],
    f: impl Fn(T::Exp, T::Exp) -> T::Exp,
    plain: impl Fn(T, T) -> T,
    value: impl Fn(u64) -> T,
) {
    let operator = operator::<T>(f);
    let all = [Combine::Native, Combine::CompareAndSwap, Combine::Lock, Combine::Privatised];
    let possible: Vec<Combine> = all.into_iter().filter(|how| how.is_possible(&operator)).collect();
    assert_eq!(possible, ways);
    let defaults: Vec<T> = (0..TARGETS as u64).map(|i| value((mix(i) >> 8) * 11 + 1)).collect();
    for compiler in compilers() {
        let profile = compiler.device().profile().clone();
        for how in ways {
            let task = CombineTask {
                operator: &operator,
                targets: TARGETS as i64,
                elements: 4099,
                cost: 1,
                distinct: false,
                wanted: Some(*how),
            };
            for plan in plans(&profile, &task) {
                assert_eq!(plan.how, *how);
                // A kernel is compiled for each size where there is a compiler, so a few are enough there.
                let name = compiler.device().name();
                let sizes = if name.to_string() == "sim" { &SIZES[..] } else { &SIZES[3..] };
                for &(n, spread) in sizes {
                    let values = (0..n as u64).map(|i| value(mix(i + 77)));
                    let elements: Vec<(Option<i64>, T)> = places(n, spread).into_iter().zip(values).collect();
                    let mut expected = defaults.clone();
                    for (place, value) in &elements {
                        if let Some(place) = place {
                            let target = &mut expected[*place as usize];
                            *target = plain(*value, *target);
                        }
                    }
                    let found = run(&compiler, plan, &operator, &defaults, &elements)
                        .unwrap_or_else(|error| panic!("{plan:?} on {name}, {n} elements: {error}"));
                    assert_eq!(found, expected, "{plan:?} on {name}, {n} elements, spread: {spread}");
                }
            }
        }
    }
}

use Combine::{CompareAndSwap, Lock, Native, Privatised};

#[test]
fn sums() {
    let every = [Native, CompareAndSwap, Lock, Privatised];
    check::<i32>(&every, |a, b| a + b, |a, b| a.wrapping_add(b), |bits| bits as i32);
    check::<u64>(&every, |a, b| a + b, |a, b| a.wrapping_add(b), |bits| bits);
    // Small whole numbers, so that the order does not matter.
    check::<f32>(&every, |a, b| a + b, |a, b| a + b, |bits| (bits % 9) as f32 - 4.0);
    check::<f64>(&every, |a, b| a + b, |a, b| a + b, |bits| (bits % 9) as f64 - 4.0);
}

#[test]
fn extrema_and_bits_of_integers() {
    let every = [Native, CompareAndSwap, Lock, Privatised];
    check::<u32>(&every, |a, b| a.min(b), |a, b| a.min(b), |bits| bits as u32);
    check::<i64>(&every, |a, b| a.max(b), |a, b| a.max(b), |bits| bits as i64);
    check::<u64>(&every, |a, b| a ^ b, |a, b| a ^ b, |bits| bits);
    let two = |(a, b): (Exp<i32>, Exp<u32>), (c, d): (Exp<i32>, Exp<u32>)| (a & c, b | d);
    let value = |bits: u64| ((bits | 0xff) as i32, 1 << (bits % 32));
    check::<(i32, u32)>(&every, two, |(a, b), (c, d)| (a & c, b | d), value);
}

#[test]
fn extrema_of_floats_prefer_numbers() {
    let every = [Native, CompareAndSwap, Lock, Privatised];
    let value = |bits: u64| if bits.is_multiple_of(11) { f32::NAN } else { (bits % 1000) as f32 - 500.0 };
    // All defaults are numbers (see `check`), so no result is NaN.
    check::<f32>(&every, |a, b| a.min(b), |a, b| a.min(b), value);
    let value =
        |bits: u64| if bits.is_multiple_of(11) { f64::NEG_INFINITY } else { (bits % 1000) as f64 - 500.0 };
    check::<f64>(&every, |a, b| a.max(b), |a, b| a.max(b), value);
}

#[test]
fn products_are_compared_and_swapped() {
    check::<f32>(
        &[CompareAndSwap, Lock],
        |a, b| a * b,
        |a, b| a * b,
        |bits| if bits.is_multiple_of(2) { 1.0 } else { -1.0 },
    );
    check::<i32>(&[CompareAndSwap, Lock], |a, b| a * b, |a, b| a.wrapping_mul(b), |bits| bits as i32 | 1);
    let both = |(a, b): (Exp<u64>, Exp<i32>), (c, d): (Exp<u64>, Exp<i32>)| (a * c, b + d);
    let plain = |(a, b): (u64, i32), (c, d): (u64, i32)| (a.wrapping_mul(c), b.wrapping_add(d));
    check::<(u64, i32)>(&[CompareAndSwap, Lock], both, plain, |bits| (bits | 1, bits as i32));
}

#[test]
fn columns_that_depend_on_each_other_are_locked() {
    let larger = |(k, x, f): (Exp<i32>, Exp<f64>, Exp<bool>), (l, y, g): (Exp<i32>, Exp<f64>, Exp<bool>)| {
        cond(k.gt(l), || (k, x, f), || (l, y, g))
    };
    let plain = |a: (i32, f64, bool), b: (i32, f64, bool)| if a.0 > b.0 { a } else { b };
    let value = |bits: u64| (bits as i32, bits as i32 as f64 * 0.5, bits & 1 == 1);
    check::<(i32, f64, bool)>(&[Lock], larger, plain, value);
}

#[test]
fn truth_values_are_stored_where_they_decide() {
    let rare = |bits: u64| bits.is_multiple_of(7);
    check::<bool>(&[Native, CompareAndSwap, Lock], |a, b| a | b, |a, b| a | b, rare);
    check::<bool>(&[Native, CompareAndSwap, Lock], |a, b| a & b, |a, b| a & b, |bits| !rare(bits));
    check::<bool>(&[Lock], |a, b| a ^ b, |a, b| a ^ b, rare);
}

/// Elements to places of their own, each after the other as far as there are any.
fn scatter<T: Elt + Debug>(ways: &[Combine], value: impl Fn(u64) -> T) {
    let operator = operator::<T>(|new, _| new);
    for how in [Native, CompareAndSwap, Lock, Privatised] {
        assert_eq!(how.is_possible(&operator), ways.contains(&how), "{how}");
    }
    for compiler in compilers() {
        for how in ways {
            let task = CombineTask {
                operator: &operator,
                targets: 5000,
                elements: 4099,
                cost: 1,
                distinct: false,
                wanted: Some(*how),
            };
            let plan = CombinePlan::new(compiler.device().profile(), &task);
            let defaults: Vec<T> = (0..5000).map(&value).collect();
            let elements = (0..4099).map(|i| ((i % 9 != 0).then_some(i as i64 * 2801 % 5000), value(mix(i))));
            let elements: Vec<(Option<i64>, T)> = elements.collect();
            let mut expected = defaults.clone();
            for (place, value) in &elements {
                if let Some(place) = place {
                    expected[*place as usize] = *value;
                }
            }
            let found = run(&compiler, plan, &operator, &defaults, &elements);
            assert_eq!(found.expect("it runs"), expected, "{how} on {}", compiler.device().name());
        }
    }
}

#[test]
fn the_new_element_takes_the_place_of_the_old_one() {
    scatter::<f32>(&[Native, CompareAndSwap, Lock], |bits| (bits % 1000) as f32);
    // Two columns would be written one after the other, and two elements could be mixed.
    scatter::<(i32, i64)>(&[Lock], |bits| (bits as i32, bits as i64));
    scatter::<Option<u32>>(&[Lock], |bits| (!bits.is_multiple_of(3)).then_some(bits as u32));
}

#[test]
fn whoever_wins_a_place_wins_all_of_it() {
    let operator = operator::<(i64, i64)>(|new, _| new);
    let task = CombineTask {
        operator: &operator,
        targets: 3,
        elements: 9000,
        distinct: false,
        cost: 1,
        wanted: None,
    };
    let elements: Vec<_> = (0..9000i64).map(|i| (Some(i % 3), (i, i * i))).collect();
    for compiler in compilers() {
        let plan = CombinePlan::new(compiler.device().profile(), &task);
        assert_eq!(plan.how, Lock);
        let found = run(&compiler, plan, &operator, &[(0, 0), (1, 1), (2, 2)], &elements).expect("it runs");
        for (target, (number, square)) in found.into_iter().enumerate() {
            assert_eq!((number % 3, square), (target as i64, number * number));
        }
    }
}

#[test]
fn nobody_waits_where_each_element_has_a_target_of_its_own() {
    // New columns replace old ones, or all are computed.
    let operators =
        [operator::<(i32, i64)>(|new, _| new), operator::<(i32, i64)>(|(a, b), (c, d)| (a - c, b + d))];
    for (replaces, operator) in [true, false].into_iter().zip(operators) {
        let task = CombineTask {
            operator: &operator,
            targets: 5000,
            elements: 4099,
            distinct: true,
            cost: 1,
            wanted: None,
        };
        for compiler in compilers() {
            let plan = CombinePlan::new(compiler.device().profile(), &task);
            assert_eq!((plan.how, plan.locks), (Combine::Alone, 0));
            let defaults: Vec<(i32, i64)> = (0..5000).map(|i| (i, i64::from(i) * 3)).collect();
            let target = |i: i64| i * 2801 % 5000;
            let elements: Vec<_> = (0..4099).map(|i| (Some(target(i)), (i as i32, i))).collect();
            let mut expected = defaults.clone();
            for i in 0..4099 {
                let old = &mut expected[target(i) as usize];
                *old = if replaces { (i as i32, i) } else { (i as i32 - old.0, i + old.1) };
            }
            assert_eq!(run(&compiler, plan, &operator, &defaults, &elements).expect("it runs"), expected);
        }
    }
}

#[test]
fn an_index_that_no_target_has_is_a_failure() {
    let operator = operator::<i32>(|a, b| a + b);
    for compiler in compilers() {
        for (how, outside) in [(Native, 10), (Privatised, 10), (Lock, -1), (CompareAndSwap, i64::MIN)] {
            let task = CombineTask {
                operator: &operator,
                targets: 10,
                elements: 300,
                distinct: false,
                cost: 1,
                wanted: Some(how),
            };
            let plan = CombinePlan::new(compiler.device().profile(), &task);
            let mut elements: Vec<_> = (0..300).map(|i| (Some(i64::from(i) % 10), i)).collect();
            elements[123].0 = Some(outside);
            let error =
                run(&compiler, plan, &operator, &[0; 10], &elements).expect_err("an index is outside");
            let text = error.to_string();
            assert!(text.contains(&format!("index {outside}")) && text.contains("permute"), "{text}");
        }
    }
}

#[test]
fn the_way_is_chosen_by_operator_targets_and_elements() {
    let sum = operator::<i32>(|a, b| a + b);
    let product = operator::<f32>(|a, b| a * b);
    let keyed = operator::<(i32, i32)>(|(a, b), (c, d)| cond(a.gt(c), || (a, b), || (c, d)));
    let gpu = pumice::layers::runtime::devices::Sim::gpu_profile();
    let choose = |operator: &Function, targets: i64, elements: i64, cost: u32| {
        Combine::choose(
            &gpu,
            &CombineTask { operator, targets, elements, cost, distinct: false, wanted: None },
        )
    };
    assert_eq!(choose(&sum, 256, 1 << 26, 4), Privatised);
    assert_eq!(choose(&sum, 1 << 16, 1 << 26, 4), Privatised);
    assert_eq!(choose(&sum, 1 << 16, 1 << 26, 400), Native);
    assert_eq!(choose(&sum, 1 << 20, 1 << 26, 4), Native);
    assert_eq!(choose(&sum, 256, 300, 4), Native);
    assert_eq!(choose(&product, 256, 1 << 26, 4), CompareAndSwap);
    assert_eq!(choose(&keyed, 256, 1 << 26, 4), Lock);
    assert!(!Native.is_possible(&function(&[ScalarType::I32], |terms| terms.to_vec())));
}
