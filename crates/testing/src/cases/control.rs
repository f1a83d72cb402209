//! Conditionals and loops inside functions on elements.

use crate::data::{FEW_SIZES, SIZES, values};
use crate::{Harness, Outcome};
use pumice::prelude::*;

pub fn selected_values(h: &Harness) -> Outcome {
    let program = h.compile(|xs: Acc<Vector<(i32, f64)>>| {
        xs.map(|(n, x)| {
            let large = n.gt(100);
            let (a, (b, c)) = large.select((x, (n, large)), (-x, (n + 1, !large)));
            (a, b, c, n.lt(0).select(constant(-1), large.select(constant(1), constant(0))))
        })
    })?;
    for n in FEW_SIZES {
        let xs = values::<(i32, f64)>(70, n);
        let one = |&(n, x): &(i32, f64)| {
            let sign = if n < 0 { -1 } else { i32::from(n > 100) };
            if n > 100 { (x, n, true, sign) } else { (-x, n.wrapping_add(1), true, sign) }
        };
        program.check(&xs, &xs.iter().map(one).collect::<Vec<_>>())?;
    }
    Ok(())
}

pub fn conditional_values(h: &Harness) -> Outcome {
    let program = h.compile(|xs: Acc<Vector<f32>>| {
        xs.map(|x| cond(x.ge(0.0), || (x.sqrt() * x.sqrt(), constant(true)), || (x * 2.0, constant(false))))
    })?;
    for n in SIZES {
        let xs = values::<f32>(71, n);
        let one = |x: &f32| if *x >= 0.0 { (x.sqrt() * x.sqrt(), true) } else { (x * 2.0, false) };
        program.check(&xs, &xs.iter().map(one).collect::<Vec<_>>())?;
    }
    Ok(())
}

pub fn conditions_inside_conditions(h: &Harness) -> Outcome {
    let program = h.compile(|xs: Acc<Vector<i64>>| {
        xs.map(|x| {
            let low = || cond((x % 3).eq(0), || x / 3, || x * 5);
            let high = || cond((x % 5).eq(0), || cond((x % 2).eq(0), || x - 1, || x + 1), || -x);
            cond(x.lt(1000), low, high) + cond(x.gt(0), || x, || constant(0i64))
        })
    })?;
    for n in FEW_SIZES {
        let xs = values::<i64>(72, n);
        let one = |&x: &i64| {
            let first = if x < 1000 {
                if x % 3 == 0 { x / 3 } else { x.wrapping_mul(5) }
            } else if x % 5 == 0 {
                if x % 2 == 0 { x - 1 } else { x + 1 }
            } else {
                -x
            };
            first.wrapping_add(x.max(0))
        };
        program.check(&xs, &xs.iter().map(one).collect::<Vec<_>>())?;
    }
    Ok(())
}

pub fn values_shared_between_branches(h: &Harness) -> Outcome {
    let program = h.compile(|xs: Acc<Vector<u32>>| {
        xs.map(|x| {
            let both = (x * 2_654_435_761) ^ (x >> 3);
            let one_side = both * both + 7;
            let first = cond((x & 1).eq(0), || one_side + both, || both - 1);
            // A value computed in one branch is used again afterwards, and in another branch.
            let second = cond((x & 2).eq(0), || one_side * 3, || first);
            (first, second, one_side)
        })
    })?;
    for n in FEW_SIZES {
        let xs = values::<u32>(73, n);
        let one = |&x: &u32| {
            let both = x.wrapping_mul(2_654_435_761) ^ (x >> 3);
            let one_side = both.wrapping_mul(both).wrapping_add(7);
            let first = if x & 1 == 0 { one_side.wrapping_add(both) } else { both.wrapping_sub(1) };
            let second = if x & 2 == 0 { one_side.wrapping_mul(3) } else { first };
            (first, second, one_side)
        };
        program.check(&xs, &xs.iter().map(one).collect::<Vec<_>>())?;
    }
    Ok(())
}

pub fn the_other_branch_is_not_evaluated(h: &Harness) -> Outcome {
    // Nothing is divided by zero: only the side that is not taken would do it.
    let program = h.compile(|xs: Acc<Vector<i32>>| {
        xs.map(|x| {
            let inverse = cond(x.eq(0), || constant(-1), || 1000 / x);
            let nested = cond(x.gt(0), || cond(x.ne(5), || 100 % (x - 5), || constant(7)), || constant(8));
            (inverse, nested)
        })
    })?;
    for n in FEW_SIZES {
        let xs: Vec<i32> = (0..n as i32).map(|i| i % 11 - 3).collect();
        let one = |&x: &i32| {
            let inverse = if x == 0 { -1 } else { 1000 / x };
            let nested = if x <= 0 {
                8
            } else if x == 5 {
                7
            } else {
                100 % (x - 5)
            };
            (inverse, nested)
        };
        program.check(&xs, &xs.iter().map(one).collect::<Vec<_>>())?;
    }
    Ok(())
}

fn collatz(mut n: i64) -> i32 {
    let mut steps = 0;
    while n > 1 {
        n = if n % 2 == 0 { n / 2 } else { 3 * n + 1 };
        steps += 1;
    }
    steps
}

pub fn loops_of_different_lengths(h: &Harness) -> Outcome {
    let program = h.compile(|n: Exp<i64>| {
        generate(n, |i| {
            while_(
                (i, constant(0i32)),
                |(n, _)| n.gt(1),
                |(n, steps)| ((n % 2).eq(0).select(n / 2, 3 * n + 1), steps + 1),
            )
            .1
        })
    })?;
    for n in [0, 1, 2, 3, 257, 5000] {
        program.check(n, &(0..n).map(collatz).collect::<Vec<_>>())?;
    }
    Ok(())
}

pub fn loops_inside_loops(h: &Harness) -> Outcome {
    // Counts (a, b) with a < n and b < a, a + b divisible by 3; and three nested loops.
    let program = h.compile(|n: Exp<i64>| {
        generate(n, |i| {
            let limit = (i % 13).cast::<i32>();
            let (_, pairs) = while_(
                (constant(0i32), constant(0i32)),
                |(a, _)| a.lt(limit),
                |(a, count)| {
                    let inner = while_(
                        (constant(0i32), count),
                        |(b, _)| b.lt(a),
                        |(b, count)| (b + 1, count + ((a + b) % 3).eq(0).cast::<i32>()),
                    );
                    (a + 1, inner.1)
                },
            );
            let (_, cubes) = while_(
                (constant(0i32), constant(0i32)),
                |(a, _)| a.lt(limit),
                |(a, sum)| {
                    let (_, sum) = while_(
                        (a, sum),
                        |(b, _)| b.gt(0),
                        |(b, sum)| {
                            let (_, sum) =
                                while_((b, sum), |(c, _)| c.gt(0), |(c, sum)| (c - 2, sum * 3 + c));
                            (b - 1, sum + 1)
                        },
                    );
                    (a + 1, sum)
                },
            );
            (pairs, cubes)
        })
    })?;
    let one = |i: i64| {
        let limit = (i % 13) as i32;
        let mut pairs = 0;
        let mut cubes = 0i32;
        for a in 0..limit {
            pairs += (0..a).filter(|b| (a + b) % 3 == 0).count() as i32;
            for b in (1..=a).rev() {
                let mut c = b;
                while c > 0 {
                    cubes = cubes.wrapping_mul(3).wrapping_add(c);
                    c -= 2;
                }
                cubes = cubes.wrapping_add(1);
            }
        }
        (pairs, cubes)
    };
    for n in [0, 1, 20, 300, 2000] {
        program.check(n, &(0..n).map(one).collect::<Vec<_>>())?;
    }
    Ok(())
}

pub fn loops_inside_branches(h: &Harness) -> Outcome {
    let program = h.compile(|xs: Acc<Vector<u32>>| {
        xs.map(|x| {
            let digits = || while_((x, constant(0u32)), |(x, _)| x.gt(0), |(x, n)| (x / 10, n + 1)).1;
            let halves = || while_(x, |x| x.gt(100), |x| x / 2);
            cond((x % 3).eq(0), digits, || cond((x % 3).eq(1), halves, || x + 1))
        })
    })?;
    for n in FEW_SIZES {
        let xs = values::<u32>(74, n);
        let one = |&x: &u32| match x % 3 {
            0 => {
                if x == 0 {
                    0
                } else {
                    x.ilog10() + 1
                }
            }
            1 => (0..32).map(|k| x >> k).find(|x| *x <= 100).unwrap_or(0),
            _ => x.wrapping_add(1),
        };
        program.check(&xs, &xs.iter().map(one).collect::<Vec<_>>())?;
    }
    Ok(())
}

pub fn branches_inside_loops(h: &Harness) -> Outcome {
    let program = h.compile(|xs: Acc<Vector<i64>>| {
        xs.map(|x| {
            let (_, sum) = while_(
                (constant(0i64), constant(0i64)),
                |(i, _)| i.lt(x & 15),
                |(i, sum)| {
                    let next =
                        cond((i % 2).eq(0), || sum + x / (i + 1), || cond(i.gt(6), || sum * 3, || sum - i));
                    (i + 1, next)
                },
            );
            sum
        })
    })?;
    for n in FEW_SIZES {
        let xs = values::<i64>(75, n);
        let one = |&x: &i64| {
            (0..x & 15).fold(0i64, |sum, i| match i {
                i if i % 2 == 0 => sum.wrapping_add(x / (i + 1)),
                i if i > 6 => sum.wrapping_mul(3),
                i => sum.wrapping_sub(i),
            })
        };
        program.check(&xs, &xs.iter().map(one).collect::<Vec<_>>())?;
    }
    Ok(())
}

pub fn loops_of_several_values(h: &Harness) -> Outcome {
    // Fibonacci numbers: each value of a step depends on the other's old value.
    let program = h.compile(|n: Exp<i64>| {
        generate(n, |i| {
            let start = (i % 90, (constant(0u64), constant(1u64)), constant(true));
            let (_, (a, b), even) =
                while_(start, |(k, _, _)| k.gt(0), |(k, (a, b), even)| (k - 1, (b, a + b), !even));
            (a, b, even)
        })
    })?;
    let one = |i: i64| {
        let (mut a, mut b) = (0u64, 1u64);
        for _ in 0..i % 90 {
            (a, b) = (b, a + b);
        }
        (a, b, i % 90 % 2 == 0)
    };
    for n in [1, 100, 1025] {
        program.check(n, &(0..n).map(one).collect::<Vec<_>>())?;
    }
    Ok(())
}

pub fn a_loop_that_is_never_entered(h: &Harness) -> Outcome {
    // The body would divide by zero, whether or not the divisor changes in it.
    let program = h.compile(|xs: Acc<Vector<i32>>| {
        xs.map(|x| {
            let zero = x - x.max(x - 1);
            let first = while_((x, constant(0i32)), |(_, n)| n.gt(5), |(a, n)| (a / n, n - 1)).0;
            let second = while_((x, constant(0i32)), |(_, n)| n.gt(5), |(a, n)| (a + 7 / zero, n - 1)).0;
            (first, second)
        })
    })?;
    for n in FEW_SIZES {
        let xs: Vec<i32> = (0..n as i32).collect();
        program.check(&xs, &xs.iter().map(|x| (*x, *x)).collect::<Vec<_>>())?;
    }
    Ok(())
}

pub fn values_that_do_not_change_in_a_loop(h: &Harness) -> Outcome {
    let program = h.compile(|xs: Acc<Vector<i64>>, k: Exp<i64>| {
        xs.map(|x| {
            let fixed = x * 31 + k;
            let (_, sum) = while_(
                (constant(0i64), x),
                |(i, _)| i.lt(k),
                |(i, sum)| (i + 1, sum + (fixed ^ i) + 100 / (k + 1)),
            );
            (sum, fixed)
        })
    })?;
    for (n, k) in [(0, 5), (1, 0), (257, 1), (1000, 9)] {
        let xs = values::<i64>(76, n);
        let one = |&x: &i64| {
            let fixed = x.wrapping_mul(31).wrapping_add(k);
            let sum = (0..k).fold(x, |sum, i| sum.wrapping_add(fixed ^ i).wrapping_add(100 / (k + 1)));
            (sum, fixed)
        };
        program.check((&xs, k), &xs.iter().map(one).collect::<Vec<_>>())?;
    }
    Ok(())
}
