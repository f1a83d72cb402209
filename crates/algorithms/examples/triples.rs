//! Pythagorean triples below 100 and 1000, counted and listed.
//!
//! `triples [LIMIT]` takes another limit than 1000.
//!
//! ```text
//! below 100: 50 triples, the last one is (65, 72, 97)
//! below 1000: 878 triples, the last one is (696, 697, 985)
//! ok
//! ```

#[path = "../../pumice/examples/print/mod.rs"]
#[macro_use]
mod print;
mod report;

use pumice_algorithms::irregular::triples;
use report::{argument, check};
use std::error::Error;
use std::process::ExitCode;

fn main() -> ExitCode {
    report::end(found())
}

fn found() -> Result<(), Box<dyn Error>> {
    let compiler = pumice::Compiler::new()?;
    let (list, count) = (compiler.compile(triples::list)?, compiler.compile(triples::count)?);
    for limit in [100, argument(0, 1000)?] {
        let (listed, counted) = (list.run(limit)?.to_vec()?, count.run(limit)?.to_value()?);
        let last = listed.last().map_or("there are none".into(), |last| format!("the last one is {last:?}"));
        println!("below {limit}: {counted} triples, {last}");
        check("triples", &listed, &triples::plain::list(limit))?;
        check("their number", &counted, &(listed.len() as i64))?;
        if let Some((_, known)) = [(100, 50), (1000, 878)].iter().find(|(known, _)| *known == limit) {
            check("their number", &counted, known)?;
        }
    }
    Ok(())
}
