//! The sieve of Eratosthenes: each prime is expanded to its multiples, which are struck out as they are made. The multiples are
//! never in memory.
//!
//! [`primes`] keeps a flag for every odd number; [`count_primes`] goes through segments of a fixed size, so the limit may be larger than
//! memory. In either case the multiples of all primes come stretch by stretch of the numbers: the flags of a stretch stay in a
//! processor's cache while they are struck out.

use pumice::prelude::*;

/// Numbers of a stretch: the flags of so many are in a cache, and the multiples of a prime among them are worth finding.
pub const STRETCH: i64 = 1 << 20;

/// Returns the primes below `n`. Striking out needs the primes below the root of `n`, so a loop squares the limit until it is `n`:
/// the primes below 2, 4, 16, 256, 65536 and 2³².
///
/// ```
/// use pumice_algorithms::irregular::sieve;
/// let primes = pumice::Compiler::on("sim")?.compile(sieve::primes)?;
/// assert_eq!(primes.run(20)?.to_vec()?, [2, 3, 5, 7, 11, 13, 17, 19]);
/// # Ok::<(), pumice::Error>(())
/// ```
pub fn primes(n: Exp<i64>) -> Acc<Vector<i64>> {
    let none = fill(0, 0);
    let (primes, _) = awhile(
        (none, unit(2)),
        |(_, limit)| limit.map(|limit| limit.lt(n)),
        |(primes, limit)| {
            // From 2³¹ on the square could be beyond the largest number.
            let limit = limit.map(|limit| limit.ge(1 << 31).select(n, (limit * limit).min(n)));
            (next_primes(primes, limit.the()), limit)
        },
    );
    primes
}

/// Returns the primes below `n` from those below its root, or further ones. Flags are those of odd numbers, and 1 stands for 2.
pub fn next_primes(primes: Acc<Vector<i64>>, n: Exp<i64>) -> Acc<Vector<i64>> {
    let prime = odd_primes(primes, 0.into(), n.gt(2).select(n, 0.into()), STRETCH);
    comp![(place == 0).select(2.into(), place * 2 + 1) | place <- 0.. | flag <- prime, flag]
}

/// Counts the primes among the odd numbers from `from`, which is even, to below `to`. `primes` are those below the root of `to`.
///
/// ```
/// use pumice_algorithms::irregular::sieve;
/// let count = pumice::Compiler::on("sim")?.compile(sieve::count_odd_primes)?;
/// assert_eq!(count.run((&[2, 3, 5], 20, 40))?.to_value()?, 4);
/// # Ok::<(), pumice::Error>(())
/// ```
pub fn count_odd_primes(primes: Acc<Vector<i64>>, from: Exp<i64>, to: Exp<i64>) -> Acc<Scalar<i64>> {
    count_odd_primes_by(primes, from, to, STRETCH)
}

/// Counts as [`count_odd_primes`] does, with stretches of `stretch` numbers, which is even.
///
/// ```
/// use pumice::prelude::*;
/// use pumice_algorithms::irregular::sieve;
/// let program = |primes: Acc<Vector<i64>>, from: Exp<i64>, to: Exp<i64>| sieve::count_odd_primes_by(primes, from, to, 10);
/// let count = pumice::Compiler::on("sim")?.compile(program)?;
/// assert_eq!(count.run((&[2, 3, 5], 20, 44))?.to_value()?, 6);
/// # Ok::<(), pumice::Error>(())
/// ```
pub fn count_odd_primes_by(
    primes: Acc<Vector<i64>>,
    from: Exp<i64>,
    to: Exp<i64>,
    stretch: i64,
) -> Acc<Scalar<i64>> {
    let prime = odd_primes(primes, from, to, stretch);
    count![place <- 0.. | flag <- prime, flag && from + place > 0]
}

/// Whether each odd number from `from`, which is even, to below `to` is a prime, as far as `primes` tell; 1 counts as one.
fn odd_primes(primes: Acc<Vector<i64>>, from: Exp<i64>, to: Exp<i64>, stretch: i64) -> Acc<Vector<bool>> {
    // The odd multiples p (2 j + 1) that are not below p² and lie in a stretch, by their places among the odd numbers. Of 2 there are none.
    let first = |start: Exp<i64>, p: Exp<i64>| ((start + p - 1) / p).max(p) / 2;
    let end = |start: Exp<i64>, p: Exp<i64>| {
        let end = ((start + stretch).min(to) + p - 1) / p / 2;
        p.gt(2).select(end, Exp::from(0))
    };
    let multiples = comp![
        (p * j + (p - 1 - from) / 2, false)
        | number <- 0..(to - from + (stretch - 1)) / stretch, let start = from + number * stretch,
        p <- primes, j <- first(start, p)..end(start, p)
    ];
    multiples.permute_pairs(|new, _| new, fill((to - from) / 2, true))
}

/// Counts the primes below `n` in segments of so many numbers, with memory for the flags of one segment. A loop of the device goes from
/// segment to segment.
///
/// ```
/// use pumice_algorithms::irregular::sieve;
/// let count = pumice::Compiler::on("sim")?.compile(sieve::count_primes)?;
/// assert_eq!(count.run((1000, 300))?.to_value()?, 168);
/// # Ok::<(), pumice::Error>(())
/// ```
pub fn count_primes(n: Exp<i64>, segment: Exp<i64>) -> Acc<Scalar<i64>> {
    // Segments begin and end at even numbers.
    let (segment, end) = (segment.max(2) / 2 * 2, n.max(0) / 2 * 2);
    // Further primes than are needed do no harm; the root may be rounded.
    let small = primes(end.cast::<f64>().sqrt().cast::<i64>() + 2);
    // All segments in the loop are of one length, which is known without knowing where they begin: no round waits for the host to
    // read an extent.
    let whole = end / segment * segment;
    let (total, _) = awhile(
        (unit(n.gt(2).select(constant(1), constant(0))), unit(0)),
        |(_, from)| from.map(|from| from.lt(whole)),
        |(total, from)| {
            let start = from.the();
            let count = count_odd_primes(small.clone(), start, start + segment);
            (total.zip_with(count, |before, now| before + now), from.map(|from| from + segment))
        },
    );
    total.zip_with(count_odd_primes(small.clone(), whole, end), |before, last| before + last)
}

/// The same in plain Rust.
pub mod plain {
    /// Returns the primes below `n`.
    pub fn primes(n: i64) -> Vec<i64> {
        let mut prime = vec![true; n.max(0) as usize];
        for p in 2..n as usize {
            if p * p >= prime.len() {
                break;
            }
            if prime[p] {
                (p * p..prime.len()).step_by(p).for_each(|multiple| prime[multiple] = false);
            }
        }
        (2..n).filter(|number| prime[*number as usize]).collect()
    }
}
