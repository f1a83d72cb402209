//! A random program as data: its generation from a seed, its text, and the file that keeps it. Runs nothing.

use super::choices::Choices;
use super::{arrays, ir};
use pumice::layers::array::ArrayProgram;
use std::fmt;
use std::str::FromStr;

/// Languages in which random programs are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Array programs.
    Arrays,
    /// Kernels in Program IR.
    Kernel,
}

impl Kind {
    const ALL: [Kind; 2] = [Kind::Arrays, Kind::Kernel];

    fn name(self) -> &'static str {
        match self {
            Kind::Arrays => "arrays",
            Kind::Kernel => "kernel",
        }
    }
}

/// A random program: its language and the bytes that all choices are made from.
///
/// ```
/// use pumice_testing::random::Recipe;
/// let recipe = Recipe::from_seed(7, 0);
/// assert_eq!(recipe.to_string().parse(), Ok(recipe));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recipe {
    /// The language.
    pub kind: Kind,
    /// One byte per choice.
    pub bytes: Vec<u8>,
}

impl Recipe {
    /// Returns a program of the endless sequence of a seed. Three of four are array programs; most are short.
    pub fn from_seed(seed: u64, number: u64) -> Recipe {
        let mut state = mixed(seed) ^ mixed(number.wrapping_add(1) << 1);
        let mut next = || {
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            mixed(state)
        };
        let kind = if number % 4 == 3 { Kind::Kernel } else { Kind::Arrays };
        let (shortest, spread) = match (kind, number % 8) {
            (Kind::Arrays, ..6) => (40, 200),
            (Kind::Arrays, _) => (240, 560),
            (Kind::Kernel, ..6) => (40, 140),
            (Kind::Kernel, _) => (180, 220),
        };
        let length = shortest + next() % spread;
        Recipe { kind, bytes: (0..length).map(|_| (next() >> 32) as u8).collect() }
    }

    /// Returns the program as text.
    pub fn describe(&self) -> String {
        let mut choices = Choices::new(&self.bytes);
        match self.kind {
            Kind::Arrays => {
                let setting = super::compare::Setting::choose(&mut choices);
                let roots = arrays::program(&mut choices).roots;
                format!("{setting}\n{}", ArrayProgram::of(&roots))
            }
            Kind::Kernel => ir::program(&self.bytes).to_string(),
        }
    }

    /// Returns a file that keeps the program for later tests: the failure and the program as comments, and the bytes.
    pub fn to_file(&self, what: &str) -> String {
        let comments = [what, &self.describe()].join("\n");
        let comments: String =
            comments.lines().map(|line| format!("# {line}").trim_end().to_owned() + "\n").collect();
        format!("{comments}{self}\n")
    }

    /// Returns the program of a file.
    pub fn from_file(text: &str) -> Result<Recipe, String> {
        let mut lines = text.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty());
        match (lines.next(), lines.next()) {
            (Some(line), None) => line.parse(),
            _ => Err("a file has one line that is no comment: a kind, a colon and hexadecimal digits".into()),
        }
    }
}

impl fmt::Display for Recipe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:", self.kind.name())?;
        self.bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl FromStr for Recipe {
    type Err = String;

    fn from_str(text: &str) -> Result<Recipe, String> {
        let wrong =
            || format!("`{text}` is no random program: that is a kind, a colon and hexadecimal digits");
        let (kind, digits) = text.trim().split_once(':').ok_or_else(wrong)?;
        let kind = Kind::ALL.into_iter().find(|known| known.name() == kind).ok_or_else(wrong)?;
        let digits: Option<Vec<u8>> =
            digits.chars().map(|c| c.to_digit(16).map(|digit| digit as u8)).collect();
        let digits = digits.filter(|digits| digits.len().is_multiple_of(2)).ok_or_else(wrong)?;
        Ok(Recipe { kind, bytes: digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect() })
    }
}

/// Mixes the bits of a number (the end of SplitMix64).
fn mixed(mut bits: u64) -> u64 {
    bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ bits >> 31
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_give_back_what_was_kept() {
        for number in 0..8 {
            let recipe = Recipe::from_seed(1, number);
            let file = recipe.to_file("cpu: 1 instead of 2\nfound by hand");
            assert!(file.starts_with("# cpu: 1 instead of 2\n# found by hand\n# "), "{file}");
            assert_eq!(Recipe::from_file(&file), Ok(recipe));
        }
    }

    #[test]
    fn what_is_no_program_is_refused() {
        for text in ["", "arrays", "arrays:0", "arrays:0g", "array:00", "arrays:é0"] {
            assert!(text.parse::<Recipe>().is_err(), "{text}");
        }
        assert_eq!("kernel:".parse(), Ok(Recipe { kind: Kind::Kernel, bytes: vec![] }));
        assert!(Recipe::from_file("arrays:00\narrays:01\n").is_err());
    }

    #[test]
    fn programs_of_a_seed_differ() {
        let some: Vec<Recipe> = (0..40).map(|k| Recipe::from_seed(k % 2, k / 2)).collect();
        for (number, recipe) in some.iter().enumerate() {
            assert!(!some[..number].contains(recipe), "{number}");
        }
    }
}
