//! Queries 1, 3 and 6 of TPC-H on generated tables.
//!
//! `tpch [CUSTOMERS]` makes tables for so many customers; 150000 are the benchmark's scale factor 1.
//!
//! ```text
//! 1500 customers, 15000 orders, 59616 lines
//! query 1: ... ms
//!   A F: 14383 lines, 365524 pieces for 53121320814 cents
//!   ...
//! query 3: ... ms
//!   order 8479 of day 1167: 29489191 cents
//!   ...
//! query 6: ... ms
//!   121904123 cents
//! ok
//! ```

#[path = "../../pumice/examples/print/mod.rs"]
#[macro_use]
mod print;
mod report;

use pumice::Vector;
use pumice_algorithms::irregular::tpch::{self, plain};
use report::{argument, check};
use std::error::Error;
use std::process::ExitCode;
use std::time::Instant;

const SEGMENT: u32 = 1;

fn main() -> ExitCode {
    report::end(asked())
}

fn asked() -> Result<(), Box<dyn Error>> {
    let tables = plain::Tables::new(argument(0, 1500)?.max(0) as usize, 4);
    println!(
        "{} customers, {} orders, {} lines",
        tables.customers.len(),
        tables.orders.len(),
        tables.items.len()
    );
    let customers = Vector::from(tables.customers.as_slice());
    let orders = Vector::from(tables.orders.as_slice());
    let items = Vector::from(tables.items.as_slice());
    let compiler = pumice::Compiler::new()?;
    let (summary, priority) =
        (compiler.compile(tpch::pricing_summary)?, compiler.compile(tpch::shipping_priority)?);
    let change = compiler.compile(tpch::revenue_change)?;
    let [until, day, year] = plain::DAYS;

    let lines = timed("query 1", || Ok(summary.run((&items, until))?.to_vec()?))?;
    for ((flag, status), (quantity, price, ..), _, count) in &lines {
        let letter = |code: u32| char::from_u32(code).unwrap_or('?');
        println!(
            "  {} {}: {count} lines, {quantity} pieces for {price} cents",
            letter(*flag),
            letter(*status)
        );
    }
    check("query 1", &lines, &tables.pricing_summary(until))?;

    let lines =
        timed("query 3", || Ok(priority.run((&customers, &orders, &items, SEGMENT, day))?.to_vec()?))?;
    for (order, revenue, date, _) in &lines {
        println!("  order {order} of day {date}: {} cents", revenue / 100);
    }
    check("query 3", &lines, &tables.shipping_priority(SEGMENT, day))?;

    let revenue = timed("query 6", || Ok(change.run((&items, year))?.to_value()?))?;
    println!("  {} cents", revenue / 100);
    check("query 6", &revenue, &tables.revenue_change(year))?;
    Ok(())
}

/// Asks twice, and says how long the second time took: the first compiles.
fn timed<T>(name: &str, ask: impl Fn() -> pumice::Result<T>) -> pumice::Result<T> {
    ask()?;
    let start = Instant::now();
    let answer = ask()?;
    println!("{name}: {:.2} ms", start.elapsed().as_secs_f64() * 1e3);
    Ok(answer)
}
