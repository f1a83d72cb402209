//! In how many ways can n queens stand on a board of n rows so that none attacks another one? Rows are filled one after the other: a
//! round gives all ways to fill one row more.

use pumice::prelude::*;

/// Attacked columns of the next row: straight, along one diagonal, and along the other.
type Attacks = (u32, u32, u32);

/// Counts the ways for a board of up to 32 rows; there is one for a board without any.
///
/// ```
/// use pumice_algorithms::whole::queens;
/// let count = pumice::Compiler::on("sim")?.compile(queens::count)?;
/// assert_eq!(count.run(6)?.to_value()?, 4);
/// # Ok::<(), pumice::Error>(())
/// ```
pub fn count(n: Exp<i64>) -> Acc<Scalar<i64>> {
    let empty: Acc<Vector<Attacks>> = fill(1, (0, 0, 0));
    let filled = iterate(n, empty, |boards| {
        comp![
            (columns | queen, (rising | queen) << 1, (falling | queen) >> 1)
            | (columns, rising, falling) <- boards, column <- 0..n, let queen = constant(1u32) << column as u32,
            (columns | rising | falling) & queen == 0
        ]
    });
    unit(filled.size())
}

/// The same in plain Rust.
pub mod plain {
    /// Numbers of ways for boards of 0 to 12 rows.
    pub const KNOWN: [i64; 13] = [1, 1, 0, 0, 2, 10, 4, 40, 92, 352, 724, 2680, 14_200];

    /// Counts the ways.
    pub fn count(n: u32) -> i64 {
        filled(n, 0, (0, 0, 0))
    }

    fn filled(n: u32, row: u32, (columns, rising, falling): super::Attacks) -> i64 {
        if row == n {
            return 1;
        }
        let free = (0..n).map(|column| 1 << column).filter(|queen| (columns | rising | falling) & queen == 0);
        free.map(|queen| filled(n, row + 1, (columns | queen, (rising | queen) << 1, (falling | queen) >> 1)))
            .sum()
    }
}
