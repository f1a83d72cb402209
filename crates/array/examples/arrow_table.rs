//! A table of Apache Arrow, read from a file, filtered and grouped: columns are vectors, and nulls are `Option`s, which a comprehension
//! leaves out. Columns of numbers without nulls go from Arrow's memory to the device.
//!
//! ```text
//! 6 sales in 2 batches, 1 without an amount
//! shop  sales   total
//!    3      1   20.25
//!    7      3   81.50
//! ```

#[macro_use]
#[path = "../../pumice/examples/print/mod.rs"]
mod print;

use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch};
use arrow_ipc::reader::FileReader;
use arrow_ipc::writer::FileWriter;
use pumice::arrow::column;
use pumice::prelude::*;
use std::error::Error;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

/// Sales of at least one, by shop: the shop, how many, and what they are worth.
fn by_shop(shops: Acc<Vector<i64>>, amounts: Acc<Vector<Option<f64>>>) -> Acc<Vector<(i64, i64, f64)>> {
    let sales = shops.zip_with(amounts, |shop, amount| (shop, amount.unwrap_or(0.0)));
    comp![(shop, count![], sum![amount]) | (shop, amount) <- sales, amount >= 1.0, group by shop]
}

fn batch(shops: Vec<i64>, amounts: Vec<Option<f64>>) -> Result<RecordBatch, Box<dyn Error>> {
    let shops: ArrayRef = Arc::new(Int64Array::from(shops));
    let amounts: ArrayRef = Arc::new(Float64Array::from(amounts));
    Ok(RecordBatch::try_from_iter([("shop", shops), ("amount", amounts)])?)
}

/// Writes a table, as another program would.
fn write(path: &Path) -> Result<(), Box<dyn Error>> {
    let first = batch(vec![7, 3, 7], vec![Some(30.5), Some(20.25), None])?;
    let second = batch(vec![7, 9, 7], vec![Some(40.0), Some(0.5), Some(11.0)])?;
    let mut writer = FileWriter::try_new(File::create(path)?, &first.schema())?;
    writer.write(&first)?;
    writer.write(&second)?;
    Ok(writer.finish()?)
}

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::temp_dir().join(format!("pumice-sales-{}.arrow", std::process::id()));
    write(&path)?;
    let batches = FileReader::try_new(File::open(&path)?, None)?.collect::<Result<Vec<_>, _>>()?;
    std::fs::remove_file(&path)?;

    let shops: Vector<i64> = column(&batches, "shop")?;
    let amounts: Vector<Option<f64>> = column(&batches, "amount")?;
    let missing = amounts.iter()?.filter(|amount| amount.is_none()).count();
    println!("{} sales in {} batches, {missing} without an amount", shops.len(), batches.len());

    let totals = pumice::compile(by_shop)?.run((&shops, &amounts))?;
    println!("shop  sales   total");
    for (shop, sales, total) in totals.iter()? {
        println!("{shop:>4}  {sales:>5}  {total:>6.2}");
    }
    assert_eq!(totals, [(3, 1, 20.25), (7, 3, 81.5)]);
    Ok(())
}
