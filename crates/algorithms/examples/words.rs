//! The words of a text that come most often.
//!
//! `words [FILE]` reads a text; without one, a text is made.
//!
//! ```text
//! 20000 words:
//!   344 times numi
//!   262 times tt
//!   ...
//! ok
//! ```

#[path = "../../pumice/examples/print/mod.rs"]
#[macro_use]
mod print;
mod report;

use pumice_algorithms::irregular::words::{self, plain};
use report::check;
use std::error::Error;
use std::process::ExitCode;

fn main() -> ExitCode {
    report::end(counted())
}

fn counted() -> Result<(), Box<dyn Error>> {
    let text = match std::env::args().nth(1) {
        Some(file) => std::fs::read_to_string(file)?,
        None => plain::text(20_000, 9),
    };
    let text = plain::characters(&text);
    let compiler = pumice::Compiler::new()?;
    println!("{} words:", compiler.compile(words::bounds)?.run(&text)?.len());
    let found = compiler.compile(words::count)?.run((&text, 10))?.to_vec()?;
    for (count, first, length) in &found {
        let word = &text[*first as usize..(first + length) as usize];
        let word: String = word.iter().filter_map(|code| char::from_u32(*code)).collect();
        println!("  {count} times {}", word.to_lowercase());
    }
    check("words", &found, &plain::count(&text, 10))?;
    Ok(())
}
