//! Documents: text with places where lines may end, and a printer that chooses among them. A group is printed on one line if it fits,
//! and otherwise all places of it that may end a line do.

/// A document.
#[derive(Clone, Debug)]
pub(super) struct Doc {
    kind: Kind,
    /// Its width on one line.
    width: usize,
    /// Whether it cannot be on one line.
    breaks: bool,
}

#[derive(Clone, Debug)]
enum Kind {
    Text(String),
    /// A blank, or the end of a line.
    Line,
    /// The end of a line, with so many empty lines.
    HardLine(usize),
    /// A comment that ends its line: what follows goes on in the next.
    Suffix(String),
    /// Comments that have lines of their own, before what follows.
    Comments(Vec<String>),
    /// Further to the right by so much, if a line ends inside.
    Nest(usize, Box<Doc>),
    /// Lines that end inside go on in the column in which it begins.
    Align(Box<Doc>),
    Group(Box<Doc>),
    Concat(Vec<Doc>),
    /// Pieces with blanks between them, as many on a line as fit.
    Fill(Vec<Doc>),
    /// Text that is there only if the group is not on one line.
    IfBroken(String),
}

pub(super) fn nil() -> Doc {
    concat(Vec::new())
}

pub(super) fn text(text: impl Into<String>) -> Doc {
    let text = text.into();
    Doc { width: text.chars().count(), kind: Kind::Text(text), breaks: false }
}

pub(super) fn line() -> Doc {
    Doc { kind: Kind::Line, width: 1, breaks: false }
}

pub(super) fn hard_line() -> Doc {
    Doc { kind: Kind::HardLine(0), width: 0, breaks: true }
}

pub(super) fn empty_line() -> Doc {
    Doc { kind: Kind::HardLine(1), width: 0, breaks: true }
}

pub(super) fn suffix(comment: &str) -> Doc {
    Doc { kind: Kind::Suffix(comment.to_string()), width: 0, breaks: true }
}

pub(super) fn comments(comments: Vec<String>) -> Doc {
    Doc { kind: Kind::Comments(comments), width: 0, breaks: true }
}

pub(super) fn nest(doc: Doc) -> Doc {
    let (width, breaks) = (doc.width, doc.breaks);
    Doc { kind: Kind::Nest(2, Box::new(doc)), width, breaks }
}

pub(super) fn align(doc: Doc) -> Doc {
    let (width, breaks) = (doc.width, doc.breaks);
    Doc { kind: Kind::Align(Box::new(doc)), width, breaks }
}

pub(super) fn group(doc: Doc) -> Doc {
    let (width, breaks) = (doc.width, doc.breaks);
    Doc { kind: Kind::Group(Box::new(doc)), width, breaks }
}

pub(super) fn concat(docs: impl IntoIterator<Item = Doc>) -> Doc {
    let docs: Vec<Doc> = docs.into_iter().collect();
    let width = docs.iter().map(|doc| doc.width).sum();
    let breaks = docs.iter().any(|doc| doc.breaks);
    Doc { kind: Kind::Concat(docs), width, breaks }
}

pub(super) fn fill(docs: Vec<Doc>) -> Doc {
    let width = docs.iter().map(|doc| doc.width + 1).sum::<usize>().saturating_sub(1);
    let breaks = docs.iter().any(|doc| doc.breaks);
    Doc { kind: Kind::Fill(docs), width, breaks }
}

pub(super) fn if_broken(text: &str) -> Doc {
    Doc { kind: Kind::IfBroken(text.to_string()), width: 0, breaks: false }
}

impl Doc {
    /// Whether this cannot be on one line.
    pub fn breaks(&self) -> bool {
        self.breaks
    }
}

/// Prints a document, with lines of at most so many characters where that is possible.
pub(super) fn print(doc: &Doc, limit: usize) -> String {
    let mut printer = Printer { limit, text: String::new(), column: 0, suffixes: Vec::new() };
    let mut rest = vec![Command { indent: 0, flat: false, doc }];
    while let Some(command) = rest.pop() {
        printer.step(command, &mut rest);
    }
    printer.end_line();
    printer.text
}

/// A document that is still to be printed.
#[derive(Clone, Copy)]
struct Command<'d> {
    indent: usize,
    flat: bool,
    doc: &'d Doc,
}

struct Printer {
    limit: usize,
    text: String,
    column: usize,
    /// Comments that end the line.
    suffixes: Vec<String>,
}

impl Printer {
    fn step<'d>(&mut self, command: Command<'d>, rest: &mut Vec<Command<'d>>) {
        let Command { indent, flat, doc } = command;
        match &doc.kind {
            Kind::Text(text) => self.word(text, indent),
            Kind::Line if flat => self.word(" ", indent),
            Kind::Line => self.new_line(indent),
            Kind::HardLine(empty) => {
                self.end_line();
                for _ in 0..*empty {
                    self.text.push('\n');
                }
                self.new_line(indent);
            }
            Kind::Suffix(comment) => self.suffixes.push(comment.clone()),
            Kind::Comments(comments) => {
                if self.column > 0 && !self.line_is_blank() {
                    self.new_line(indent);
                }
                for comment in comments {
                    self.text.push_str(comment);
                    self.new_line(indent);
                }
            }
            Kind::Nest(by, doc) => rest.push(Command { indent: indent + by, flat, doc }),
            Kind::Align(doc) => {
                if !self.suffixes.is_empty() {
                    self.new_line(indent + 2);
                }
                rest.push(Command { indent: self.column, flat, doc });
            }
            Kind::Group(doc) => {
                let flat = flat || (!doc.breaks && self.fits(doc.width, rest));
                rest.push(Command { indent, flat, doc });
            }
            Kind::Concat(docs) => rest.extend(docs.iter().rev().map(|doc| Command { indent, flat, doc })),
            Kind::Fill(docs) => self.fill(docs, indent, flat),
            Kind::IfBroken(text) => {
                if !flat {
                    self.word(text, indent);
                }
            }
        }
    }

    /// Whether so many characters, and what must follow them on their line, fit on this line.
    fn fits(&self, width: usize, rest: &[Command]) -> bool {
        let mut room = match self.limit.checked_sub(self.column + width) {
            Some(room) => room,
            None => return false,
        };
        let mut work: Vec<(bool, &Doc)> = Vec::new();
        for command in rest.iter().rev() {
            work.push((command.flat, command.doc));
            while let Some((flat, doc)) = work.pop() {
                match &doc.kind {
                    Kind::Text(_) => match room.checked_sub(doc.width) {
                        Some(left) => room = left,
                        None => return false,
                    },
                    Kind::Line if flat => match room.checked_sub(1) {
                        Some(left) => room = left,
                        None => return false,
                    },
                    Kind::Line | Kind::HardLine(_) | Kind::Comments(_) => return true,
                    Kind::Nest(_, doc) | Kind::Align(doc) => work.push((flat, doc)),
                    Kind::Group(doc) => work.push((flat || !doc.breaks, doc)),
                    Kind::Concat(docs) => work.extend(docs.iter().rev().map(|doc| (flat, doc))),
                    Kind::Fill(docs) => work.extend(docs.first().map(|doc| (flat, doc))),
                    Kind::Suffix(_) | Kind::IfBroken(_) => {}
                }
            }
        }
        true
    }

    /// Pieces of text, each with its sign behind it.
    fn fill(&mut self, docs: &[Doc], indent: usize, flat: bool) {
        for (number, doc) in docs.iter().enumerate() {
            if number > 0 {
                // One more is for the bracket behind the last one.
                if flat || self.column + 1 + doc.width < self.limit {
                    self.word(" ", indent);
                } else {
                    self.new_line(indent);
                }
            }
            let mut inner = vec![Command { indent, flat: true, doc }];
            while let Some(command) = inner.pop() {
                self.step(command, &mut inner);
            }
        }
    }

    /// Puts text on this line, or on the next one if a comment ends this.
    fn word(&mut self, text: &str, indent: usize) {
        if !self.suffixes.is_empty() {
            if text == " " {
                return;
            }
            self.new_line(indent);
        }
        self.text.push_str(text);
        self.column += text.chars().count();
    }

    fn line_is_blank(&self) -> bool {
        let start = self.text.rfind('\n').map_or(0, |at| at + 1);
        self.text[start..].trim().is_empty()
    }

    /// Ends the text of this line: no blanks, and the comments that belong there.
    fn end_line(&mut self) {
        let end = self.text.trim_end_matches(' ').len();
        self.text.truncate(end);
        for comment in self.suffixes.drain(..) {
            if !self.text.is_empty() && !self.text.ends_with('\n') {
                self.text.push(' ');
            }
            self.text.push_str(&comment);
        }
    }

    fn new_line(&mut self, indent: usize) {
        self.end_line();
        self.text.push('\n');
        self.text.extend(std::iter::repeat_n(' ', indent));
        self.column = indent;
    }
}
