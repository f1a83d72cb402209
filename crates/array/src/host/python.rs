//! Literals of Python, as headers of NumPy's files have them: texts, numbers, truth values, tuples, lists and dictionaries of these.

/// Deeper headers are refused.
const MOST_DEEP: usize = 8;

/// A literal.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Literal {
    Text(String),
    Number(usize),
    Truth(bool),
    /// A tuple or a list.
    Items(Vec<Literal>),
    Pairs(Vec<(Literal, Literal)>),
}

impl Literal {
    /// Reads a literal and nothing behind it.
    pub(super) fn parse(text: &str) -> Option<Literal> {
        let mut reader = Reader { rest: text };
        let literal = reader.literal(0)?;
        reader.skip();
        reader.rest.is_empty().then_some(literal)
    }

    /// The value of a key of a dictionary.
    pub(super) fn get(&self, key: &str) -> Option<&Literal> {
        let Literal::Pairs(pairs) = self else { return None };
        let is_key = |(name, _): &&(Literal, Literal)| matches!(name, Literal::Text(name) if name == key);
        pairs.iter().find(is_key).map(|(_, value)| value)
    }
}

struct Reader<'a> {
    rest: &'a str,
}

impl Reader<'_> {
    fn skip(&mut self) {
        self.rest = self.rest.trim_start();
    }

    fn take(&mut self, word: &str) -> bool {
        self.skip();
        let rest = self.rest.strip_prefix(word);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn literal(&mut self, depth: usize) -> Option<Literal> {
        if depth > MOST_DEEP {
            return None;
        }
        self.skip();
        match self.rest.chars().next()? {
            quote @ ('\'' | '"') => self.text(quote),
            '(' => self.items("(", ")", depth),
            '[' => self.items("[", "]", depth),
            '{' => self.pairs(depth),
            digit if digit.is_ascii_digit() => self.number(),
            _ if self.take("True") => Some(Literal::Truth(true)),
            _ if self.take("False") => Some(Literal::Truth(false)),
            _ => None,
        }
    }

    fn text(&mut self, quote: char) -> Option<Literal> {
        let (mut text, mut is_escaped) = (String::new(), false);
        for (place, letter) in self.rest.char_indices().skip(1) {
            match (is_escaped, letter) {
                (false, '\\') => is_escaped = true,
                (false, end) if end == quote => {
                    self.rest = self.rest.get(place + 1..)?;
                    return Some(Literal::Text(text));
                }
                _ => {
                    text.push(letter);
                    is_escaped = false;
                }
            }
        }
        None
    }

    fn number(&mut self) -> Option<Literal> {
        let end = self.rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(self.rest.len());
        let (digits, rest) = self.rest.split_at(end);
        // Python 2 wrote large numbers with an L.
        self.rest = rest.strip_prefix('L').unwrap_or(rest);
        digits.parse().ok().map(Literal::Number)
    }

    fn items(&mut self, open: &str, close: &str, depth: usize) -> Option<Literal> {
        self.take(open);
        let mut items = Vec::new();
        while !self.take(close) {
            items.push(self.literal(depth + 1)?);
            if !self.take(",") {
                return self.take(close).then_some(Literal::Items(items));
            }
        }
        Some(Literal::Items(items))
    }

    fn pairs(&mut self, depth: usize) -> Option<Literal> {
        self.take("{");
        let mut pairs = Vec::new();
        while !self.take("}") {
            let key = self.literal(depth + 1)?;
            if !self.take(":") {
                return None;
            }
            pairs.push((key, self.literal(depth + 1)?));
            if !self.take(",") {
                return self.take("}").then_some(Literal::Pairs(pairs));
            }
        }
        Some(Literal::Pairs(pairs))
    }
}

#[cfg(test)]
mod tests {
    use super::Literal::{self, *};

    #[test]
    fn literals_are_read_whole_or_not_at_all() {
        let text =
            r#"{'descr': [('a)', "<f4"), ('b\'', '<i8')], 'fortran_order': False, 'shape': (2, 3L), }"#;
        let literal = Literal::parse(text).unwrap_or(Truth(false));
        let pair = |name: &str, ty: &str| Items(vec![Text(name.into()), Text(ty.into())]);
        assert_eq!(literal.get("descr"), Some(&Items(vec![pair("a)", "<f4"), pair("b'", "<i8")])));
        assert_eq!(literal.get("shape"), Some(&Items(vec![Number(2), Number(3)])));
        assert_eq!(literal.get("fortran_order"), Some(&Truth(false)));
        for end in 0..text.len() - 1 {
            assert_eq!(Literal::parse(&text[..end]), None, "{end}");
        }
        for wrong in ["", "(1 2)", "{1}", "99999999999999999999999", "-1", "None", "(1) 2", "{'a': }"] {
            assert_eq!(Literal::parse(wrong), None, "{wrong}");
        }
        assert_eq!(Literal::parse(&"[".repeat(100_000)), None);
    }
}
