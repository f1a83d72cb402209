//! Sums of the rows and of the columns of a matrix. `sum` takes the innermost dimension away, as every fold does; to
//! sum columns, make them rows. The transposed matrix is only a way of looking at it: it is never in memory.
//!
//! ```text
//! [[  1,   2,   3,   4],
//!  [ 10,  20,  30,  40],
//!  [100, 200, 300, 400]]
//! row sums    [  10,  100, 1000]
//! column sums [111, 222, 333, 444]
//! all         1110
//! ```

#[macro_use]
mod print;

use pumice::prelude::*;

fn row_sums(m: Acc<Matrix<i32>>) -> Acc<Vector<i32>> {
    m.sum()
}

fn column_sums(m: Acc<Matrix<i32>>) -> Acc<Vector<i32>> {
    m.transpose().sum()
}

fn total(m: Acc<Matrix<i32>>) -> Acc<Scalar<i32>> {
    m.flatten().sum()
}

fn main() -> pumice::Result<()> {
    let matrix: Matrix<i32> = Array::from_vec([3, 4], vec![1, 2, 3, 4, 10, 20, 30, 40, 100, 200, 300, 400])?;

    let rows = pumice::compile(row_sums)?.run(&matrix)?;
    let columns = pumice::compile(column_sums)?.run(&matrix)?;
    let all = pumice::compile(total)?.run(&matrix)?;

    println!("{matrix}");
    println!("row sums    {rows}");
    println!("column sums {columns}");
    println!("all         {all}");

    assert_eq!(rows.to_vec()?, [10, 100, 1000]);
    assert_eq!(columns.to_vec()?, [111, 222, 333, 444]);
    assert_eq!(all.to_value()?, 1110);
    Ok(())
}
