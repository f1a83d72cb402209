//! How often each letter stands in a text that is mapped into memory: pages of the file go to the device as it takes them, and the text is
//! never a vector of the host's. An element is a word of four letters, which are counted in one pass.
//!
//! A file can be named on the command line; without one a small text is written.
//!
//! ```text
//! 2360 letters, the most frequent: o (200), a (160), e (160), n (160)
//! ```

#[macro_use]
mod print;

use pumice::prelude::*;
use std::cmp::Reverse;
use std::error::Error;
use std::path::PathBuf;

/// Letters of a word.
const LETTERS: usize = 4;

/// How often each byte stands in a text.
fn counts(words: Acc<Vector<u32>>) -> Acc<Vector<u32>> {
    let letters = generate((words.size(), LETTERS), |(word, letter)| {
        (words.at(word) >> (8 * letter).cast::<u32>()) & 255
    });
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
    let words = unsafe { Vector::<u32>::map_file(&path)? };
    let counts = pumice::compile(counts)?.run(&words)?;
    let mut letters: Vec<(u8, u32)> = (b'a'..=b'z').zip(counts.slice(97..123)?.to_vec()?).collect();
    letters.sort_by_key(|(_, count)| Reverse(*count));
    let most: Vec<String> =
        letters.iter().take(4).map(|(letter, count)| format!("{} ({count})", char::from(*letter))).collect();
    println!("{} letters, the most frequent: {}", LETTERS * words.len(), most.join(", "));
    if named.is_none() {
        std::fs::remove_file(&path)?;
    }
    Ok(())
}
