//! Loops and branches over arrays, and functions of the host. Few kernels, many paths of control that lead to them.

use crate::data::values;
use crate::{Harness, Outcome};
use pumice::prelude::*;
use pumice::{DeviceCall, foreign_on, trace_to};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

fn at(n: usize) -> impl Fn(String) -> String {
    move |message| format!("{n}: {message}")
}

fn grown(x: i32) -> i32 {
    x.wrapping_mul(3) | 1
}

pub fn rounds_as_long_as_a_condition_holds(h: &Harness) -> Outcome {
    let program = h.compile(|xs: Acc<Vector<i32>>, most: Exp<i32>| {
        awhile(xs, |xs| xs.any(|x| x.abs().lt(most)), |xs| xs.map(|x| (x * 3) | 1))
    })?;
    // No round at all: an empty array has no small element, and no element is below the limit 0.
    for (n, most) in [(0, 100), (1, 0), (1, 1 << 20), (257, 1000), (4099, 1 << 20)] {
        let mut xs: Vec<i32> = values::<i32>(110, n).into_iter().map(|x| x % 100).collect();
        let given = xs.clone();
        while xs.iter().any(|x| x.abs() < most) {
            xs.iter_mut().for_each(|x| *x = grown(*x));
        }
        program.check((&given, most), &xs).map_err(at(n))?;
    }
    Ok(())
}

pub fn so_many_rounds(h: &Harness) -> Outcome {
    let program =
        h.compile(|n: Exp<i64>, xs: Acc<Vector<i32>>| iterate(n, xs, |xs| xs.map(|x| (x * 3) | 1)))?;
    let fixed = h.compile(|xs: Acc<Vector<i32>>| iterate(2, xs, |xs| xs.map(|x| (x * 3) | 1)))?;
    let xs = values::<i32>(111, 257);
    for n in [-1i64, 0, 1, 40] {
        let rounds = |x: &i32| (0..n).fold(*x, |x, _| grown(x));
        program.check((n, &xs), &xs.iter().map(rounds).collect::<Vec<_>>())?;
    }
    fixed.check(&xs, &xs.iter().map(|x| grown(grown(*x))).collect::<Vec<_>>())?;
    let numbered = h.compile(|n: Exp<i64>, xs: Acc<Vector<i64>>| {
        iterate_numbered(n, xs, |round, xs| xs.map(|x| 10 * x + round))
    })?;
    for (n, expected) in [(0i64, [5, -7]), (3, [5012, -6988])] {
        numbered.check((n, &[5i64, -7]), &expected)?;
    }
    Ok(())
}

pub fn states_of_several_arrays(h: &Harness) -> Outcome {
    // Pairs of Fibonacci numbers, a matrix that is transposed in each round, and the number of rounds.
    let program = h.compile(|m: Acc<Matrix<i32>>, n: Exp<i64>| {
        let initial = (fill(1, (0u64, 1u64)), m, unit(0));
        let (pairs, m, rounds) = awhile(
            initial,
            |(_, _, rounds)| rounds.map(|i| i.lt(n)),
            |(pairs, m, rounds)| (pairs.map(|(a, b)| (b, a + b)), m.transpose(), rounds.map(|i| i + 1)),
        );
        m.map(|x| (x, pairs.at(0).0, rounds.the()))
    })?;
    let m = Matrix::from_slice([2, 3], &[1, 2, 3, 4, 5, 6]).map_err(|error| error.to_string())?;
    for (n, fibonacci) in [(0i64, 0u64), (1, 1), (10, 55), (93, 12_200_160_415_121_876_738)] {
        let elements = if n % 2 == 0 { [1, 2, 3, 4, 5, 6] } else { [1, 4, 2, 5, 3, 6] };
        let expected: Vec<(i32, u64, i64)> = elements.map(|x| (x, fibonacci, n)).to_vec();
        program.check((&m, n), &expected)?;
        if !h.is_planning() {
            let extents = program.run((&m, n))?.extents();
            let expected = if n % 2 == 0 { [2, 3] } else { [3, 2] };
            if extents != expected {
                return Err(format!("expected extents {expected:?}, found {extents:?}"));
            }
        }
    }
    Ok(())
}

pub fn lengths_that_only_the_device_knows(h: &Harness) -> Outcome {
    // The sieve: the remaining numbers and the primes have other lengths after each round.
    let primes = h.compile(|n: Exp<i64>| {
        let initial = (generate(n, |i| i + 2), generate(0, |i| i));
        let (left, primes) = awhile(
            initial,
            |(left, _)| unit(left.get(0).map(|x| (x * x).lt(n + 2)).unwrap_or(false)),
            |(left, primes)| {
                let first = left.clone().take(1);
                (left.filter(|x| (x % first.at(0)).ne(0)), primes.append(first))
            },
        );
        primes.append(left)
    })?;
    for n in [0i64, 1, 30] {
        let is_prime = |x: &i64| (2..*x).all(|divisor| x % divisor != 0);
        primes.check(n, &(2..n + 2).filter(is_prime).collect::<Vec<_>>()).map_err(at(n as usize))?;
    }
    Ok(())
}

pub fn loops_inside_loops_and_branches(h: &Harness) -> Outcome {
    // Collatz steps of many numbers together: round `k` of the outer loop makes `k` steps.
    let program = h.compile(|xs: Acc<Vector<i64>>, n: Exp<i64>, nested: Exp<bool>| {
        let step = |x: Exp<i64>| cond((x & 1).eq(0), || x / 2, || 3 * x + 1);
        acond(
            unit(nested),
            || {
                let initial = (xs.clone(), unit(0));
                awhile(
                    initial,
                    |(_, i)| i.map(|i| i.lt(n)),
                    |(xs, i)| {
                        let i = i.map(|i| i + 1);
                        (iterate(i.the(), xs, |xs| xs.map(step)), i)
                    },
                )
            },
            || (xs.clone(), unit(-1)),
        )
        .0
    })?;
    let xs: Vec<i64> = (0..300).collect();
    for n in [0i64, 1, 5] {
        let steps = n * (n + 1) / 2;
        let one = |x: &i64| (0..steps).fold(*x, |x, _| if x % 2 == 0 { x / 2 } else { 3 * x + 1 });
        program.check((&xs, n, true), &xs.iter().map(one).collect::<Vec<_>>()).map_err(at(n as usize))?;
        program.check((&xs, n, false), &xs)?;
    }
    Ok(())
}

pub fn only_one_side_is_run(h: &Harness) -> Outcome {
    // The other side would fail: in its shape, or in its elements.
    let program = h.compile(|xs: Acc<Vector<i32>>, i: Exp<i64>| {
        let n = xs.size();
        acond(unit(i.lt(n)), || xs.clone().take(1).map(|x| x + xs.at(i)), || xs.clone().reshape(i))
    })?;
    program.check((&[1, 2, 3], 2), &[4])?;
    program.check((&[1, 2, 3], 3), &[1, 2, 3])?;
    // A failure in the branch that is run is reported.
    h.expect_failure(program.run((&[1, 2, 3], 4)), &["reshape", "loops.rs"])?;
    h.expect_failure(program.run((&[1, 2, 3], -1)), &["at", "loops.rs", "-1"])?;
    program.check((&[7], 0), &[14])
}

pub fn arrays_from_outside(h: &Harness) -> Outcome {
    // Follows a table until a fixed point; the table's elements determine when.
    let program = h.compile(|table: Acc<Vector<i64>>, xs: Acc<Vector<i64>>| {
        let next = table.clone().map(|x| x.max(0)).compute();
        let last = table.size() - 1;
        let ends = awhile(xs, |xs| xs.any(|x| next.at(x).ne(x)), |xs| xs.map(|x| next.at(x.min(last))));
        ends.zip_with(next.clone().take(3), |x, y| x * 10 + y)
    })?;
    program.check((&[1, 3, -5, 4, 4], &[0, 2, 1]), &[41, 43, 40])?;
    program.check((&[0, 0, 0], &[0, 0, 0]), &[0, 0, 0])
}

/// Loop-invariant arrays are computed once. If there is no round, they are not computed and cannot fail.
pub fn what_no_round_changes(h: &Harness) -> Outcome {
    let program = h.compile(|table: Acc<Vector<i64>>, xs: Acc<Vector<i64>>, n: Exp<i64>| {
        let most = table.clone().max();
        let (xs, _) = awhile(
            (xs, unit(0i64)),
            |(_, done)| done.map(|done| done.lt(n) & done.lt(table.clone().sum().the())),
            |(xs, done)| {
                let next = iterate(2, xs, |xs| {
                    let sorted = table.clone().sort();
                    let first = table.at(n + 1);
                    xs.map(move |x| sorted.at((x + first) % sorted.size()) + x)
                });
                (next, done.map(|done| done + 1))
            },
        );
        acond(unit(n.gt(1)), || xs.clone().map(|x| x + most.the()), || xs.clone())
    })?;
    let (table, xs) = ([5i64, 0, 9, 2, 7], [3i64, 1, 0]);
    let sorted = [0, 2, 5, 7, 9];
    for n in [0, 1, 3] {
        let round = |x: i64, first: i64| sorted[((x + first) % 5) as usize] + x;
        let walk = |x: &i64| (0..2 * n).fold(*x, |x, _| round(x, table[n as usize + 1]));
        let most = if n > 1 { 9 } else { 0 };
        program.check((&table, &xs, n), &xs.iter().map(|x| walk(x) + most).collect::<Vec<i64>>())?;
    }
    // Without a round, nothing is read out of bounds of the table, and no remainder of 0 is taken.
    program.check((&[], &xs, -7), &xs)?;
    program.check((&[0, 0], &xs, 1), &xs)?;
    h.expect_failure(program.run((&table, &xs, 4)), &["index 5 out of bounds for length 5 in at", "loops.rs"])
}

pub fn failures_inside_loops(h: &Harness) -> Outcome {
    // The fourth round reads out of bounds of the table.
    let program = h.compile(|table: Acc<Vector<i64>>, n: Exp<i64>| {
        let walked = iterate(n, fill(3, 0), |places| places.map(|i| table.at(i + 1)));
        walked.map(|x| x + 10)
    })?;
    let table = [9i64, 1, 2, 3];
    program.check((&table, 0), &[10; 3])?;
    let parts = ["index 4 out of bounds for length 4 in at", "loops.rs"];
    h.expect_failure(program.run((&table, 30)), &parts)?;
    // The next run works.
    program.check((&table, 3), &[13; 3])
}

pub fn branches_on_what_loops_give(h: &Harness) -> Outcome {
    let program = h.compile(|xs: Acc<Vector<i32>>| {
        let (xs, n) = awhile(
            (xs, unit(0i32)),
            |(xs, _)| xs.any(|x| x.gt(1)),
            |(xs, n)| (xs.map(|x| x / 2), n.map(|n| n + 1)),
        );
        let few = n.clone().map(|n| n.lt(3));
        acond(few, || (xs.clone(), n.clone()), || (n.clone().replicate(2), unit(7))).0
    })?;
    program.check(&[5, 2, 1], &[1, 0, 0])?;
    program.check(&[64, 2, 1], &[6, 6])?;
    program.check(&[], &[])
}

pub fn many_rounds(h: &Harness) -> Outcome {
    let program = h.compile(|xs: Acc<Vector<u64>>, n: Exp<i64>| {
        iterate(n, xs, |xs| xs.map(|x| x * 6_364_136_223_846_793_005 + 1))
    })?;
    let xs = values::<u64>(112, 5);
    let one = |x: &u64| (0..1000).fold(*x, |x, _| x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1));
    program.check((&xs, 1000), &xs.iter().map(one).collect::<Vec<_>>())
}

/// More elements than the state of a loop in one block may have.
const LARGE: usize = 5000;

pub fn states_that_alternate(h: &Harness) -> Outcome {
    // The state alternates: one array becomes another, one is computed from two, one is changed at some places, one counts.
    let while_ = h.compile(|xs: Acc<Vector<i32>>, n: Exp<i64>| {
        let initial = (xs.clone(), xs.map(|x| x ^ 9), fill(LARGE, 1i32), unit(0i64));
        let (xs, ys, counts, _) = awhile(
            initial,
            |(_, _, _, k)| k.map(|k| k.lt(n)),
            |(xs, ys, counts, k)| {
                let sums = xs.zip_with(ys.clone(), |x, y| x + y);
                let one = fill(LARGE, 1i32);
                (ys, sums, one.permute(|a, b| a + b, counts, |i| i / 2), k.map(|k| k + 1))
            },
        );
        xs.zip_with3(ys, counts, |x, y, count| (x, y, count))
    })?;
    let repeat = h.compile(|xs: Acc<Vector<i32>>, n: Exp<i64>| {
        let (xs, ys) =
            iterate(n, (xs.clone(), xs), |(xs, ys)| (ys.clone(), xs.zip_with(ys, |x, y| x - y * 2)));
        xs.zip_with(ys, |x, y| (x, y))
    })?;
    let given = values::<i32>(115, LARGE);
    for n in [0i64, 1, 2, 9, 16] {
        let count = |i: usize| 1 + if i < LARGE / 2 { 2 * n as i32 } else { 0 };
        let fibonacci = |(i, x): (usize, &i32)| {
            let (x, y) = (0..n).fold((*x, x ^ 9), |(x, y), _| (y, x.wrapping_add(y)));
            (x, y, count(i))
        };
        while_.check((&given, n), &given.iter().enumerate().map(fibonacci).collect::<Vec<_>>())?;
        let other = |x: &i32| (0..n).fold((*x, *x), |(x, y), _| (y, x.wrapping_sub(y.wrapping_mul(2))));
        repeat.check((&given, n), &given.iter().map(other).collect::<Vec<_>>())?;
    }
    // A failed read gives zero, with which the loop would never end.
    let chased = h.compile(|table: Acc<Vector<i64>>, xs: Acc<Vector<i64>>| {
        awhile(xs, |xs| xs.any(|x| x.ne(-1)), |xs| xs.map(|x| table.at(x.max(0))))
    })?;
    let zeros = vec![0i64; LARGE];
    chased.check((&[1i64, 2, -1], &zeros), &vec![-1; LARGE])?;
    let parts = ["index 7 out of bounds for length 3 in at", file!()];
    h.expect_failure(chased.run((&[1i64, 7, 0], &zeros)), &parts)
}

/// State of a round of the next case.
type Mixed = (Vec<(i32, u8)>, Vec<i32>, Vec<i32>, i32);

/// Computes a round in plain Rust.
fn mixed_round((pairs, sums, waves, number): Mixed) -> Mixed {
    let n = pairs.len();
    let moved =
        |(i, pair): (usize, &(i32, u8))| (pair.0.wrapping_add(waves[(i + 1) % n]), pair.1 ^ number as u8);
    let sum = |(sum, pair): (&i32, &(i32, u8))| sum.wrapping_add(pair.0.wrapping_mul(i32::from(pair.1)));
    let wave = |i: usize| waves[i].wrapping_mul(3).wrapping_sub(waves[(i + n - 1) % n]);
    let next = pairs.iter().enumerate().map(moved).collect();
    (next, sums.iter().zip(&pairs).map(sum).collect(), (0..n).map(wave).collect(), number + 1)
}

pub fn states_that_are_written_over(h: &Harness) -> Outcome {
    // Pairs and sums are changed element by element, sums from the old pairs; each element of waves depends on a neighbour.
    let program = h.compile(|pairs: Acc<Vector<(i32, u8)>>, sums: Acc<Vector<i32>>, n: Exp<i64>| {
        let (size, waves) = (pairs.size(), sums.clone());
        let (pairs, sums, waves, number) =
            iterate(n, (pairs, sums, waves, unit(7i32)), |(pairs, sums, waves, number)| {
                let (near, at) = (waves.clone(), number.clone());
                let moved = pairs
                    .clone()
                    .imap(|i, (x, flag)| (x + near.at((i + 1) % size), flag ^ at.the().cast::<u8>()));
                let summed = sums.zip_with(pairs, |sum, (x, flag)| sum + x * flag.cast::<i32>());
                let before = waves.clone();
                let waved = waves.imap(|i, x| x * 3 - before.at((i + size - 1) % size));
                (moved, summed, waved, number.map(|number| number + 1))
            });
        pairs.zip_with3(sums, waves, |pair, sum, wave| (pair, sum, wave, number.the()))
    })?;
    // The same array twice, once from the round before; and columns that are exchanged.
    let turned = h.compile(|xs: Acc<Vector<(i64, i64)>>, n: Exp<i64>| {
        let (now, before) =
            iterate(n, (xs.clone(), xs), |(now, _)| (now.clone().map(|(a, b)| (b + 1, a)), now));
        now.zip_with(before, |now, before| (now, before))
    })?;
    for (size, n) in [(1usize, 9i64), (31, 1), (LARGE, 0), (LARGE, 8), (LARGE, 13)] {
        let pairs: Vec<(i32, u8)> = values::<i32>(116, size).into_iter().map(|x| (x, x as u8)).collect();
        let sums = values::<i32>(117, size);
        let (next, summed, waved, number) =
            (0..n).fold((pairs.clone(), sums.clone(), sums.clone(), 7), |state, _| mixed_round(state));
        let all = next.into_iter().zip(summed).zip(waved);
        let expected: Vec<((i32, u8), i32, i32, i32)> =
            all.map(|((pair, sum), wave)| (pair, sum, wave, number)).collect();
        program.check((&pairs, &sums, n), &expected).map_err(at(size))?;
        let given: Vec<(i64, i64)> =
            pairs.iter().map(|(x, flag)| (i64::from(*x), i64::from(*flag))).collect();
        let turn = |pair: &(i64, i64)| (0..n).fold((*pair, *pair), |((a, b), _), _| ((b + 1, a), (a, b)));
        turned.check((&given, n), &given.iter().map(turn).collect::<Vec<_>>()).map_err(at(size))?;
        // The arguments have not been changed.
        turned.check((&given, 0i64), &given.iter().map(|pair| (*pair, *pair)).collect::<Vec<_>>())?;
    }
    Ok(())
}

pub fn functions_of_the_host(h: &Harness) -> Outcome {
    // The host's function handles short vectors only, and its input and output are on the device.
    let program = h.compile(|xs: Acc<Vector<i32>>, ys: Acc<Vector<i32>>| {
        let backwards = |xs: &Vector<i32>| {
            let xs = xs.to_vec().ok().filter(|xs| xs.len() < 100)?;
            Some(Vector::from(xs.into_iter().rev().collect::<Vec<i32>>()))
        };
        let turned = foreign(xs.map(|x| x * 2), backwards, |xs| xs.reverse());
        turned.zip_with(ys, |a, b| a + b)
    })?;
    for size in [0, 1, 99, 1001] {
        let (xs, ys) = (values::<i32>(113, size), values::<i32>(114, size));
        let pairs = xs.iter().rev().zip(&ys);
        let expected: Vec<i32> = pairs.map(|(x, y)| x.wrapping_mul(2).wrapping_add(*y)).collect();
        program.check((&xs, &ys), &expected)?;
    }
    Ok(())
}

/// Returns whether the device is a CPU, whose memory host functions can access directly.
fn is_cpu(h: &Harness) -> bool {
    !h.is_planning() && h.compiler().device().name().kind() == "cpu"
}

pub fn functions_on_a_device(h: &Harness) -> Outcome {
    // Every second element. For an even number of them, a function in the memory of a CPU; else a function of the host for few
    // elements, and a program for more.
    let calls = Arc::new(AtomicUsize::new(0));
    let counted = calls.clone();
    let halved = move |xs: Acc<Vector<(i32, bool)>>| {
        let counted = counted.clone();
        let every_second = move |call: &DeviceCall<'_>| {
            counted.fetch_add(1, Ordering::Relaxed);
            let integers = call.input.pointer::<i32>(0).zip(call.output.pointer::<i32>(0));
            let flags = call.input.pointer::<bool>(1).zip(call.output.pointer::<bool>(1));
            let ((from, to), (from_flags, to_flags)) = integers.zip(flags).ok_or("other types")?;
            for i in 0..call.output.len() {
                // SAFETY: the output has half as many elements as the input, and both have these types.
                unsafe {
                    to.add(i).write(from.add(2 * i).read());
                    to_flags.add(i).write(from_flags.add(2 * i).read());
                }
            }
            Ok(())
        };
        let on_host = |xs: &Vector<(i32, bool)>| {
            let xs = xs.to_vec().ok().filter(|xs| xs.len() < 100)?;
            Some(Vector::from(xs.into_iter().step_by(2).collect::<Vec<_>>()))
        };
        let few = |xs: Acc<Vector<(i32, bool)>>| foreign(xs, on_host, |xs| xs.every(2));
        // SAFETY: the function writes every element of its output, flags as flags.
        unsafe { foreign_on("cpu", xs, |[n]| (n % 2 == 0).then_some([n / 2]), every_second, few) }
    };
    let inputs = halved.clone();
    let program = h.compile(move |xs: Acc<Vector<(i32, bool)>>| {
        halved(xs.map(|(x, flag)| (x * 2, !flag))).map(|(x, flag)| (x + 1, flag))
    })?;
    // An argument may be in the host's memory.
    let of_argument = h.compile(inputs)?;
    let mut expected_calls = 0;
    for size in [0, 1, 98, 99, 1000, 1001] {
        let xs = values::<(i32, bool)>(115, size);
        let every: Vec<(i32, bool)> = xs.iter().copied().step_by(2).collect();
        of_argument.check(&xs, &every)?;
        let changed = every.iter().map(|(x, flag)| (x.wrapping_mul(2).wrapping_add(1), !flag));
        program.check(&xs, &changed.collect::<Vec<_>>())?;
        expected_calls += if is_cpu(h) && size % 2 == 0 { 2 } else { 0 };
    }
    let calls = calls.load(Ordering::Relaxed);
    if calls != expected_calls {
        return Err(format!("the function was called {calls} times, not {expected_calls}"));
    }
    functions_on_a_device_that_fail(h)
}

fn functions_on_a_device_that_fail(h: &Harness) -> Outcome {
    let refusing = |kind| {
        move |xs: Acc<Vector<i32>>| {
            let refuse = |_: &DeviceCall<'_>| Err("it is too hot".to_string());
            // SAFETY: the function fails, so its output is never read.
            unsafe { foreign_on(kind, xs, Some, refuse, |xs| xs) }
        }
    };
    if is_cpu(h) {
        let message = ["it is too hot in foreign_on at", file!()];
        h.expect_error(refusing("cpu"), &[1], &message)?;
        // The first failure is reported, and not its consequences.
        let after = move |xs: Acc<Vector<i32>>| refusing("cpu")(xs.clone().map(|x| xs.at(x.cast::<i64>())));
        h.expect_error(after, &[7], &["index 7", "at at", file!()])?;
    } else {
        h.check(refusing("cpu"), &[1], &[1])?;
    }
    h.expect_error(
        refusing("abacus"),
        &[1],
        &["`cpu`, `cuda`, `opencl`, not on `abacus`, in foreign_on at", file!()],
    )
}

pub fn traced_arrays(h: &Harness) -> Outcome {
    let seen = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let heard = seen.clone();
    trace_to(move |text| {
        if let Ok(mut heard) = heard.lock() {
            heard.push(text.to_string());
        }
    });
    let program = h.compile(|xs: Acc<Vector<i32>>| xs.filter(|x| x.gt(0)).atrace().map(|x| x * 2))?;
    program.check(&[3, -1, 4], &[6, 8])?;
    let seen = seen.lock().map_err(|error| error.to_string())?;
    let is_it = |text: &String| text.contains(file!()) && text.ends_with(": [2] {3, 4}");
    // Nothing is printed if programs are only planned.
    match seen.is_empty() || seen.iter().any(is_it) {
        true => Ok(()),
        false => Err(format!("{seen:?} was printed")),
    }
}
