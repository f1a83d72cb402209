//! Random programs: the text of one is made of bytes, so that a failure is small when few bytes make it.

/// A program. With `free` layout, lines end and comments stand anywhere, so that it may be none.
pub fn program(bytes: &[u8], free: bool) -> String {
    let mut maker = Maker { bytes, free, text: String::new() };
    while !maker.bytes.is_empty() {
        maker.item();
        maker.text.push('\n');
    }
    maker.text
}

struct Maker<'b> {
    bytes: &'b [u8],
    free: bool,
    text: String,
}

impl Maker<'_> {
    fn choose(&mut self, count: u8) -> u8 {
        match self.bytes.split_first() {
            Some((byte, rest)) => {
                self.bytes = rest;
                byte % count
            }
            None => 0,
        }
    }

    fn times(&mut self, least: u8, most: u8) -> u8 {
        least + self.choose(most - least + 1)
    }

    /// A word with what stands before it.
    fn put(&mut self, word: &str) {
        let gap = if self.free { self.choose(20) } else { 0 };
        let gap = match gap {
            1 => "\n".to_string() + &" ".repeat(60),
            2 => " -- behind\n".to_string() + &" ".repeat(60),
            3 => "\n\n  -- alone\n".to_string() + &" ".repeat(60),
            4 => "\n -- two\n-- lines\n\n".to_string() + &" ".repeat(60),
            _ => " ".to_string(),
        };
        self.text.push_str(&gap);
        self.text.push_str(word);
    }

    fn name(&mut self) {
        let names = ["x", "y'", "map", "aVeryLongNameOfSomething", "take", "with", "order", "descending"];
        let chosen = self.choose(names.len() as u8);
        self.put(names[chosen as usize]);
    }

    fn item(&mut self) {
        match self.choose(8) {
            0 => self.text.push_str("-- docs\n"),
            1 => self.text.push_str("\n\n-- alone\n\n"),
            _ => {}
        }
        match self.choose(6) {
            0 => {
                self.text.push_str("sig");
                self.name();
                self.put(":");
                if self.choose(3) == 0 {
                    self.put("Number a, Element b =>");
                }
                self.type_(3);
            }
            1 => {
                self.text.push_str("type Name a b");
                self.put("=");
                match self.choose(2) {
                    0 => self.type_(3),
                    _ => {
                        for _ in 0..self.times(1, 8) {
                            self.put("| Constructor");
                            for _ in 0..self.choose(3) {
                                self.put("(");
                                self.type_(2);
                                self.put(")");
                            }
                        }
                    }
                }
            }
            2 => self.text.push_str("import  shapes ( area,Shape )"),
            _ => {
                self.text.push_str("fun");
                self.name();
                self.parameters(0);
                self.put("=");
                self.expression(5);
            }
        }
    }

    fn parameters(&mut self, least: u8) {
        for _ in 0..self.times(least, 3) {
            if self.choose(5) == 0 {
                self.put("<l>");
            } else {
                self.pattern(2);
            }
        }
    }

    fn pattern(&mut self, depth: u8) {
        match if depth == 0 { 0 } else { self.choose(6) } {
            1 => self.put("_"),
            2 => {
                self.put("(");
                self.pattern(depth - 1);
                self.put(",");
                self.pattern(depth - 1);
                self.put(")");
            }
            3 => {
                self.put("{ x =");
                self.pattern(depth - 1);
                self.put(", y }");
            }
            4 => {
                self.put("(Just");
                self.pattern(depth - 1);
                self.put(")");
            }
            5 => self.put("(-1)"),
            _ => self.name(),
        }
    }

    fn type_(&mut self, depth: u8) {
        match if depth == 0 { 0 } else { self.choose(7) } {
            1 => {
                self.put("(");
                self.type_(depth - 1);
                self.put("->");
                self.type_(depth - 1);
                self.put(")");
                self.put("->");
                self.type_(depth - 1);
            }
            2 => self.put("[a; n, 3]<1+block>"),
            3 => {
                self.put("[");
                self.type_(depth - 1);
                self.put("]");
            }
            4 => {
                self.put("{ x :");
                self.type_(depth - 1);
                self.put(", yet : bool }");
            }
            5 => {
                self.put("Maybe");
                self.put("(");
                self.type_(depth - 1);
                self.put(")");
            }
            6 => {
                self.put("<l>");
                self.put("->");
                self.type_(depth - 1);
            }
            _ => self.put("int"),
        }
    }

    fn in_brackets(&mut self, open: &str, close: &str, depth: u8) {
        self.put(open);
        self.expression(depth);
        self.put(close);
    }

    fn atom(&mut self, depth: u8) {
        match if depth == 0 { self.choose(4) } else { self.choose(12) } {
            1 => self.put("1.5f32"),
            2 => self.put("shapes::Square"),
            3 => self.put("r.x.0.1"),
            4..=6 => self.in_brackets("(", ")", depth - 1),
            7 => {
                self.put("[");
                for _ in 0..self.times(0, 30) {
                    self.put("100,");
                }
                self.put("1]");
            }
            8 => {
                self.put("(");
                self.expression(depth - 1);
                self.put(",");
                self.expression(depth - 1);
                self.put(")");
            }
            9 => {
                self.put("{ x =");
                self.expression(depth - 1);
                self.put(", y =");
                self.expression(depth - 1);
                self.put("}");
            }
            10 => {
                self.put("{");
                self.in_brackets("(", ")", depth - 1);
                self.put("with x =");
                self.expression(depth - 1);
                self.put("}");
            }
            11 => self.comprehension(depth - 1),
            _ => self.name(),
        }
    }

    fn comprehension(&mut self, depth: u8) {
        self.in_brackets("[ (", ")", depth);
        self.put("| p <-");
        self.in_brackets("(", ")", depth);
        for _ in 0..self.choose(4) {
            self.put(",");
            match self.choose(8) {
                0 => self.in_brackets("(", ")", depth),
                1 => {
                    self.put("let (a, b) =");
                    self.expression(depth);
                }
                2 => self.put("i <- 0..n - 1"),
                3 => self.put("q <- a | (r, _) <- b"),
                4 => self.put("order by key descending then other"),
                5 => self.put("group by k"),
                6 => self.put("take 3"),
                _ => self.put("distinct"),
            }
        }
        self.put("]");
    }

    fn expression(&mut self, depth: u8) {
        if depth == 0 {
            return self.atom(0);
        }
        match self.choose(14) {
            0..=2 => {
                for _ in 0..self.times(1, 6) {
                    self.atom(depth - 1);
                    if self.choose(6) == 0 {
                        self.put("<1+block>");
                    }
                }
            }
            3..=6 => {
                let signs = [
                    "|>", "||", "&&", "==", "<", "bor", "xor", "band", "shl", "+", "-", "*", "/", "%", "div",
                    ".", "- -",
                ];
                let sign = self.choose(signs.len() as u8) as usize;
                for _ in 0..if matches!(sign, 3 | 4) { 1 } else { self.times(1, 5) } {
                    self.in_brackets("(", ")", depth - 1);
                    self.put(signs[sign]);
                }
                self.atom(depth - 1);
            }
            7 => {
                self.put("-");
                self.atom(depth - 1);
            }
            8 => {
                self.put("fn");
                self.parameters(1);
                self.put("=>");
                self.expression(depth - 1);
            }
            9 | 10 => {
                self.put("let");
                for number in 0..self.times(1, 3) {
                    if number > 0 {
                        self.put(";");
                    }
                    if self.choose(2) == 0 {
                        self.pattern(2);
                    } else {
                        self.name();
                        self.parameters(1);
                    }
                    self.put("=");
                    self.expression(depth - 1);
                }
                self.put("in");
                self.expression(depth - 1);
            }
            11 => {
                self.put("if");
                self.expression(depth - 1);
                self.put("then");
                self.expression(depth - 1);
                self.put("else");
                self.expression(depth - 1);
            }
            12 => {
                self.put("case");
                self.expression(depth - 1);
                self.put("of");
                for number in 0..self.times(1, 3) {
                    if number > 0 || self.choose(2) == 0 {
                        self.put("|");
                    }
                    self.pattern(2);
                    self.put("=>");
                    self.expression(depth - 1);
                }
            }
            _ => self.atom(depth - 1),
        }
    }
}
