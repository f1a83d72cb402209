//! Characters as elements, and the operations on them.
//!
//! A `char` is a number of 32 bits on every device, and no device knows more of it. A number that is no character can
//! come from [`Exp::cast`] alone, and becomes U+FFFD when the host reads it.

use crate::arena::Term;
use crate::elt::Primitive;
use crate::exp::Exp;
use crate::option::OptionExp;

/// The distance from a capital letter to its small one.
const CASE: u32 = 'a' as u32 - 'A' as u32;

impl Exp<char> {
    /// Returns the character's number.
    ///
    /// ```
    /// use pumice::prelude::*;
    /// let numbers = pumice::run(use_(&['a', 'ß']).map(|c| c.to_u32()))?;
    /// assert_eq!(numbers.to_vec()?, [97, 223]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    pub fn to_u32(self) -> Exp<u32> {
        Exp::from_term(self.term())
    }

    /// Returns the character with a number, where there is one.
    ///
    /// ```
    /// use pumice::prelude::*;
    /// use pumice::Exp;
    /// let characters = pumice::run(use_(&[0x41u32, 0xd800]).map(Exp::<char>::from_u32))?;
    /// assert_eq!(characters.to_vec()?, [Some('A'), None]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    pub fn from_u32(number: Exp<u32>) -> OptionExp<Exp<char>> {
        let is_surrogate = number.ge(0xd800u32) & number.le(0xdfffu32);
        let is_character = number.le(char::MAX as u32) & !is_surrogate;
        OptionExp::present_if(is_character, Exp::of_number(number))
    }

    /// The character with a number that is one.
    fn of_number(number: Exp<u32>) -> Exp<char> {
        let term: Term = number.term();
        debug_assert_eq!(term.ty(), <char as Primitive>::TYPE);
        Exp::from_term(term)
    }

    /// Whether this is from `first` to `last`.
    fn is_within(self, first: char, last: char) -> Exp<bool> {
        // One comparison: a smaller number wraps to a large one.
        (self.to_u32() - first as u32).le(last as u32 - first as u32)
    }

    /// Whether this is an ASCII character.
    #[doc = example!(use_(&['a', 'ß']).map(|c| c.is_ascii()) => [true, false])]
    pub fn is_ascii(self) -> Exp<bool> {
        self.le('\x7f')
    }

    /// Whether this is an ASCII letter.
    ///
    /// ```
    /// use pumice::prelude::*;
    /// let text: Vec<char> = "Grüße, 2 mal".chars().collect();
    /// let letters = pumice::run(use_(&text).map(|c| c.is_ascii_alphabetic().cast::<i32>()).sum())?;
    /// assert_eq!(letters.to_vec()?, [6]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    pub fn is_ascii_alphabetic(self) -> Exp<bool> {
        // Small letters differ from capital ones in one bit.
        Exp::of_number(self.to_u32() | CASE).is_within('a', 'z')
    }

    /// Whether this is a small ASCII letter.
    #[doc = example!(use_(&['a', 'A']).map(|c| c.is_ascii_lowercase()) => [true, false])]
    pub fn is_ascii_lowercase(self) -> Exp<bool> {
        self.is_within('a', 'z')
    }

    /// Whether this is a capital ASCII letter.
    #[doc = example!(use_(&['a', 'A']).map(|c| c.is_ascii_uppercase()) => [false, true])]
    pub fn is_ascii_uppercase(self) -> Exp<bool> {
        self.is_within('A', 'Z')
    }

    /// Whether this is an ASCII digit.
    #[doc = example!(use_(&['7', 'x']).map(|c| c.is_ascii_digit()) => [true, false])]
    pub fn is_ascii_digit(self) -> Exp<bool> {
        self.is_within('0', '9')
    }

    /// Whether this is a digit to the base of 16, in either case.
    #[doc = example!(use_(&['7', 'F', 'g']).map(|c| c.is_ascii_hexdigit()) => [true, true, false])]
    pub fn is_ascii_hexdigit(self) -> Exp<bool> {
        self.is_digit(16)
    }

    /// Whether this is a digit to a base of up to 36, with letters for digits from 10 on.
    #[doc = example!(use_(&['7', 'F', 'g']).map(|c| c.is_digit(8)) => [true, false, false])]
    pub fn is_digit(self, base: impl Into<Exp<u32>>) -> Exp<bool> {
        self.to_digit(base).is_some()
    }

    /// Returns the digit that this is to a base of up to 36, with letters of either case for digits from 10 on; none of other characters.
    #[doc = example!(use_(&['7', 'F', 'g']).map(|c| c.to_digit(16)) => [Some(7), Some(15), None])]
    pub fn to_digit(self, base: impl Into<Exp<u32>>) -> OptionExp<Exp<u32>> {
        let letter = (self.to_u32() | CASE) - 'a' as u32 + 10;
        let other = self.is_ascii_alphabetic().select(letter, Exp::from(u32::MAX));
        let digit = self.is_ascii_digit().select(self.to_u32() - '0' as u32, other);
        OptionExp::present_if(digit.lt(base.into()), digit)
    }

    /// Whether this is an ASCII letter or digit.
    #[doc = example!(use_(&['7', 'x', '-']).map(|c| c.is_ascii_alphanumeric()) => [true, true, false])]
    pub fn is_ascii_alphanumeric(self) -> Exp<bool> {
        self.is_ascii_alphabetic() | self.is_ascii_digit()
    }

    /// Whether this is an ASCII character for punctuation.
    #[doc = example!(use_(&['-', 'x']).map(|c| c.is_ascii_punctuation()) => [true, false])]
    pub fn is_ascii_punctuation(self) -> Exp<bool> {
        self.is_within('!', '~') & !self.is_ascii_alphanumeric()
    }

    /// Whether this is a space, tab, line feed, form feed or carriage return.
    #[doc = example!(use_(&[' ', 'x']).map(|c| c.is_ascii_whitespace()) => [true, false])]
    pub fn is_ascii_whitespace(self) -> Exp<bool> {
        self.eq(' ') | (self.is_within('\t', '\r') & self.ne('\x0b'))
    }

    /// Returns the small letter of a capital ASCII letter, and any other character as it is.
    ///
    /// ```
    /// use pumice::prelude::*;
    /// let small = pumice::run(use_(&['A', 'z', 'Ä', '1']).map(|c| c.to_ascii_lowercase()))?;
    /// assert_eq!(small.to_vec()?, ['a', 'z', 'Ä', '1']);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    pub fn to_ascii_lowercase(self) -> Exp<char> {
        let distance = self.is_ascii_uppercase().select(Exp::from(CASE), Exp::from(0));
        Exp::of_number(self.to_u32() + distance)
    }

    /// Returns the capital letter of a small ASCII letter, and any other character as it is.
    #[doc = example!(use_(&['a', 'ß']).map(|c| c.to_ascii_uppercase()) => ['A', 'ß'])]
    pub fn to_ascii_uppercase(self) -> Exp<char> {
        let distance = self.is_ascii_lowercase().select(Exp::from(CASE), Exp::from(0));
        Exp::of_number(self.to_u32() - distance)
    }
}

/// The methods of a byte that is an ASCII character.
macro_rules! of_bytes {
    ($($name:ident $doc:literal $bytes:expr => $values:expr;)*) => {
        impl Exp<u8> {
            $(#[doc = $doc]
            #[doc = example!(use_($bytes).map(|b| b.$name()) => $values)]
            pub fn $name(self) -> Exp<bool> {
                Exp::of_number(self.cast()).$name()
            })*

            /// Returns the small letter of a capital ASCII letter, and any other byte as it is.
            #[doc = example!(use_(b"Zz1").map(|b| b.to_ascii_lowercase()) => *b"zz1")]
            pub fn to_ascii_lowercase(self) -> Exp<u8> {
                Exp::of_number(self.cast()).to_ascii_lowercase().to_u32().cast()
            }

            /// Returns the capital letter of a small ASCII letter, and any other byte as it is.
            #[doc = example!(use_(b"Zz1").map(|b| b.to_ascii_uppercase()) => *b"ZZ1")]
            pub fn to_ascii_uppercase(self) -> Exp<u8> {
                Exp::of_number(self.cast()).to_ascii_uppercase().to_u32().cast()
            }
        }
    };
}
of_bytes! {
    is_ascii "Whether this is an ASCII character." b"a\xff" => [true, false];
    is_ascii_alphabetic "Whether this is an ASCII letter." b"a1" => [true, false];
    is_ascii_lowercase "Whether this is a small ASCII letter." b"aA" => [true, false];
    is_ascii_uppercase "Whether this is a capital ASCII letter." b"aA" => [false, true];
    is_ascii_digit "Whether this is an ASCII digit." b"a1" => [false, true];
    is_ascii_hexdigit "Whether this is a digit to the base of 16, in either case." b"aG" => [true, false];
    is_ascii_alphanumeric "Whether this is an ASCII letter or digit." b"a1-" => [true, true, false];
    is_ascii_punctuation "Whether this is an ASCII character for punctuation." b"a-" => [false, true];
    is_ascii_whitespace "Whether this is a space, tab, line feed, form feed or carriage return." b"a\n" => [false, true];
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::Constant;

    /// The value of a function on a character, which constants are folded to.
    fn on<T: Primitive>(c: char, f: impl Fn(Exp<char>) -> Exp<T>) -> Option<Constant> {
        f(Exp::from(c)).term().constant()
    }

    #[test]
    fn characters_are_classified_as_rust_does() {
        for c in (0..0x180).chain([0x2003, 0xfffd, 0x10_ffff]).filter_map(char::from_u32) {
            let flag = |value: bool| Some(Constant::from(value));
            assert_eq!(on(c, Exp::<char>::is_ascii), flag(c.is_ascii()), "{c:?}");
            assert_eq!(on(c, Exp::<char>::is_ascii_alphabetic), flag(c.is_ascii_alphabetic()), "{c:?}");
            assert_eq!(on(c, Exp::<char>::is_ascii_lowercase), flag(c.is_ascii_lowercase()), "{c:?}");
            assert_eq!(on(c, Exp::<char>::is_ascii_uppercase), flag(c.is_ascii_uppercase()), "{c:?}");
            assert_eq!(on(c, Exp::<char>::is_ascii_digit), flag(c.is_ascii_digit()), "{c:?}");
            assert_eq!(on(c, Exp::<char>::is_ascii_hexdigit), flag(c.is_ascii_hexdigit()), "{c:?}");
            assert_eq!(on(c, Exp::<char>::is_ascii_alphanumeric), flag(c.is_ascii_alphanumeric()), "{c:?}");
            assert_eq!(on(c, Exp::<char>::is_ascii_punctuation), flag(c.is_ascii_punctuation()), "{c:?}");
            assert_eq!(on(c, Exp::<char>::is_ascii_whitespace), flag(c.is_ascii_whitespace()), "{c:?}");
            assert_eq!(on(c, Exp::<char>::to_ascii_lowercase), Some(c.to_ascii_lowercase().into()), "{c:?}");
            assert_eq!(on(c, Exp::<char>::to_ascii_uppercase), Some(c.to_ascii_uppercase().into()), "{c:?}");
            for base in [2, 8, 10, 11, 16, 36] {
                let found = Exp::from(c).to_digit(base);
                let digit = c.to_digit(base);
                assert_eq!(found.is_some().term().constant(), flag(digit.is_some()), "{c:?} {base}");
                assert_eq!(
                    found.unwrap_or(0).term().constant(),
                    Some(digit.unwrap_or(0).into()),
                    "{c:?} {base}"
                );
                assert_eq!(on(c, |c| c.is_digit(base)), flag(c.is_digit(base)), "{c:?} {base}");
            }
        }
    }

    #[test]
    fn bytes_are_classified_as_rust_does() {
        for b in 0..=u8::MAX {
            macro_rules! as_rust {
                ($($method:ident)*) => { $(
                    let found = Exp::from(b).$method().term().constant();
                    assert_eq!(found, Some(b.$method().into()), "{b} {}", stringify!($method));
                )* };
            }
            as_rust!(is_ascii is_ascii_alphabetic is_ascii_lowercase is_ascii_uppercase is_ascii_digit is_ascii_hexdigit
                is_ascii_alphanumeric is_ascii_punctuation is_ascii_whitespace to_ascii_lowercase to_ascii_uppercase);
        }
    }

    #[test]
    fn a_number_is_a_character_or_none() {
        for number in [0, 0x41, 0xd7ff, 0xd800, 0xdfff, 0xe000, 0x10_ffff, 0x11_0000, u32::MAX] {
            let found = Exp::<char>::from_u32(Exp::from(number));
            let expected = char::from_u32(number);
            assert_eq!(found.is_some().term().constant(), Some(expected.is_some().into()), "{number:#x}");
            assert_eq!(found.unwrap_or('\0').term().constant(), Some(expected.unwrap_or('\0').into()));
        }
    }
}
