//! Counts the letters of a text that is mapped into memory: pages of the file go to the device as it takes them, and the text is
//! never a vector of the host's. An element is a byte.
//!
//! A file can be named on the command line; without one a small text is written.
//!
//! ```text
//! 2360 letters, the most frequent: o (200), a (160), e (160), n (160)
//! ```

#[macro_use]
#[path = "../../pumice/examples/print/mod.rs"]
mod print;

use pumice::prelude::*;
use std::cmp::Reverse;
use std::error::Error;
use std::path::PathBuf;

/// Counts each byte of a text.
fn counts(letters: Acc<Vector<u8>>) -> Acc<Vector<u32>> {
    letters.histogram(256, |letter| letter.cast::<i64>())
}

fn main() -> Result<(), Box<dyn Error>> {
    let named = std::env::args().nth(1).map(PathBuf::from);
    let path = named
        .clone()
        .unwrap_or_else(|| std::env::temp_dir().join(format!("pumice-letters-{}.txt", std::process::id())));
    if named.is_none() {
        std::fs::write(&path, "the quick brown fox jumps over the lazy dog, once and again".repeat(40))?;
    }

    // SAFETY: nobody changes the file while it is mapped.
    let text = unsafe { Vector::<u8>::map_file(&path)? };
    let counts = pumice::compile(counts)?.run(&text)?;
    let mut letters: Vec<(u8, u32)> = (b'a'..=b'z').zip(counts.slice(97..123)?.to_vec()?).collect();
    letters.sort_by_key(|(_, count)| Reverse(*count));
    let most: Vec<String> =
        letters.iter().take(4).map(|(letter, count)| format!("{} ({count})", char::from(*letter))).collect();
    println!("{} letters, the most frequent: {}", text.len(), most.join(", "));
    if named.is_none() {
        std::fs::remove_file(&path)?;
    }
    Ok(())
}
