//! Words of a text and how often they come: words are found by their boundaries, hashed each by itself, and grouped by hash and
//! length.
//!
//! A character is a number. Letters of the Latin alphabet make words, and capital ones count as small ones.

use pumice::prelude::*;

/// Base of the polynomial hashes, which wrap at 2⁶⁴.
const BASE: u64 = 0x9e37_79b9_7f4a_7c15;

/// Returns the words of a text: where each begins and ends.
///
/// ```
/// use pumice_algorithms::irregular::words;
/// let bounds = pumice::Compiler::on("sim")?.compile(words::bounds)?;
/// let text: Vec<u32> = "On, on!".chars().map(u32::from).collect();
/// assert_eq!(bounds.run(&text)?.to_vec()?, [(0, 2), (4, 6)]);
/// # Ok::<(), pumice::Error>(())
/// ```
pub fn bounds(text: Acc<Vector<u32>>) -> Acc<Vector<(i64, i64)>> {
    let letter = |i: Exp<i64>| text.get(i).is_some_and(is_letter);
    let starts = comp![i | i <- 0..text.size(), letter(i) && !letter(i - 1)];
    let ends = comp![i + 1 | i <- 0..text.size(), letter(i) && !letter(i + 1)];
    comp![(start, end) | start <- starts | end <- ends]
}

/// Counts words: (how often a word comes, where it stands first, its length) for the `most` that come most often, and of those that
/// come equally often the first. Words are taken for the same if their lengths and hashes of 64 bits are.
///
/// ```
/// use pumice_algorithms::irregular::words;
/// let count = pumice::Compiler::on("sim")?.compile(words::count)?;
/// let text: Vec<u32> = "To be, or not to be: that is to say".chars().map(u32::from).collect();
/// assert_eq!(count.run((&text, 3))?.to_vec()?, [(3, 0, 2), (2, 3, 2), (1, 7, 2)]);
/// # Ok::<(), pumice::Error>(())
/// ```
pub fn count(text: Acc<Vector<u32>>, most: Exp<i64>) -> Acc<Vector<(i64, i64, i64)>> {
    // A hash with the power of the base that belongs to its length: hashes of two parts make that of both.
    let join = |(a, p): (Exp<u64>, Exp<u64>), (b, q): (Exp<u64>, Exp<u64>)| (a * q + b, p * q);
    let bounds = bounds(text.clone());
    let hashes = comp![
        fold!(join, constant((0u64, 1u64)); (small(letter) as u64, constant(BASE)) | letter <- text[start..end])
        | (start, end) <- bounds
    ];
    comp![
        (count![], min![start], length)
        | (start, end) <- bounds | (hash, _) <- hashes, let length = end - start, group by (hash, length),
        order by (count![] desc, min![start]), take most
    ]
}

fn is_letter(character: Exp<u32>) -> Exp<bool> {
    let small = small(character);
    small.ge(u32::from('a')) & small.le(u32::from('z'))
}

/// The small letter of a capital one; others stay as they are.
fn small(character: Exp<u32>) -> Exp<u32> {
    let is_capital = character.ge(u32::from('A')) & character.le(u32::from('Z'));
    is_capital.select(character + 32, character)
}

/// The same in plain Rust.
pub mod plain {
    use crate::irregular::Numbers;
    use std::cmp::Reverse;
    use std::collections::HashMap;

    /// A text of so many words, of which few come often.
    pub fn text(words: usize, seed: u64) -> String {
        let mut numbers = Numbers::new(seed);
        let mut word = || {
            let below = 1 + numbers.below(400);
            let number = 17 + 31 * numbers.below(below);
            let syllables = ["ka", "lo", "Mi", "nu", "re", "SO", "t"];
            let mut digits = number;
            let mut word = String::new();
            while digits > 0 {
                word.push_str(syllables[digits % 7]);
                digits /= 7;
            }
            word + [" ", ", ", ".\n", " - "][numbers.below(4)]
        };
        (0..words).map(|_| word()).collect()
    }

    /// The characters of a text as numbers.
    pub fn characters(text: &str) -> Vec<u32> {
        text.chars().map(u32::from).collect()
    }

    /// The words that come most often, as [`super::count()`] gives them.
    pub fn count(text: &[u32], most: usize) -> Vec<(i64, i64, i64)> {
        let is_letter = |c: &u32| char::from_u32(*c).is_some_and(|c| c.is_ascii_alphabetic());
        let mut words = HashMap::<Vec<u32>, (i64, i64)>::new();
        let mut start = 0;
        for end in 0..=text.len() {
            if text.get(end).is_none_or(|c| !is_letter(c)) {
                if start < end {
                    let small = text[start..end].iter().map(|c| c | 32).collect();
                    words.entry(small).or_insert((0, start as i64)).0 += 1;
                }
                start = end + 1;
            }
        }
        let line = |(word, (count, first)): (Vec<u32>, (i64, i64))| (count, first, word.len() as i64);
        let mut lines: Vec<_> = words.into_iter().map(line).collect();
        lines.sort_by_key(|(count, first, _)| (Reverse(*count), *first));
        lines.truncate(most);
        lines
    }
}
