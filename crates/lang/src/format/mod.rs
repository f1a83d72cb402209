//! The one layout of a program. It keeps comments and words, and decides about blanks and the ends of lines; of empty lines it keeps one
//! between items, comments and bindings. Formatting twice gives the same as once, and what is formatted is the same program.

mod comments;
mod doc;
mod expressions;
mod items;
mod types;

use crate::diagnostic::Diagnostic;
use crate::source::FileId;
use crate::syntax::SyntaxKind;
use crate::syntax::node::{Node, Token};
use comments::Comments;
use doc::{Doc, concat, text};

/// Maximum width of lines, where that is possible.
pub const WIDTH: usize = 100;

/// Lays out a file. A text with errors is not touched.
///
/// # Errors
///
/// If the text cannot be parsed: its errors, as [`crate::syntax::parse`] reports them of file 0.
///
/// ```
/// let text = "fun f x=let y=g x;z = 2 in y*z -- twice";
/// assert_eq!(
///     pumice_lang::format::format(text).unwrap(),
///     "fun f x =\n  let y = g x\n      z = 2\n  in y * z -- twice\n"
/// );
/// ```
pub fn format(text: &str) -> Result<String, Vec<Diagnostic>> {
    let parsed = crate::syntax::parse(FileId(0), text, &mut 0);
    if !parsed.errors.is_empty() {
        return Err(parsed.errors);
    }
    let green = parsed.syntax.green();
    let root = Node::root(green);
    let mut formatter = Formatter { comments: Comments::collect(root) };
    let document = formatter.file(root);
    let mut printed = doc::print(&document, WIDTH);
    let end = printed.trim_end().len();
    printed.truncate(end);
    if !printed.is_empty() {
        printed.push('\n');
    }
    Ok(printed)
}

struct Formatter {
    comments: Comments,
}

impl Formatter {
    /// Lays out a node, with the comments before and behind it. Of all nodes that begin or end where a comment is, the outermost has it:
    /// a comment forces only the nodes around it to be on several lines.
    fn node(&mut self, node: Node) -> Doc {
        let before = self.comments.before(node.start);
        let behind = self.comments.behind(node.end());
        let inside = self.layout(node);
        concat([before, inside, behind])
    }

    fn token(&mut self, token: Token) -> Doc {
        concat([
            self.comments.before(token.start),
            text(token.text),
            self.comments.behind(token.start + token.text.len() as u32),
        ])
    }

    /// Returns the comments of a token that the layout drops.
    fn dropped(&mut self, token: Token) -> Doc {
        concat([
            self.comments.before(token.start),
            self.comments.behind(token.start + token.text.len() as u32),
        ])
    }

    fn layout(&mut self, node: Node) -> Doc {
        use SyntaxKind::*;
        match node.kind() {
            Import | Signature | Function | TypeDeclaration => self.item(node),
            FunctionType | NamedType | RecordType | TypeField | ArrayType => self.type_(node),
            Apply | Let | If | Case | Binary | Fn | Comprehension | Update | Field | Negate | Paren => {
                self.expression(node)
            }
            Tuple | TupleType | TuplePattern | List => self.tuple(node),
            Record | RecordPattern => self.braces(node),
            _ => self.words(node),
        }
    }

    /// Tokens and nodes, with blanks only where two words would become one, or the language wants them.
    fn words(&mut self, node: Node) -> Doc {
        let spaced = matches!(
            node.kind(),
            SyntaxKind::Constraint
                | SyntaxKind::Constructor
                | SyntaxKind::ConstructorPattern
                | SyntaxKind::FieldValue
                | SyntaxKind::PatternField
                | SyntaxKind::Typed
                | SyntaxKind::Draw
                | SyntaxKind::Source
                | SyntaxKind::Guard
                | SyntaxKind::LetQualifier
                | SyntaxKind::OrderBy
                | SyntaxKind::OrderKey
                | SyntaxKind::GroupBy
                | SyntaxKind::Take
        );
        let mut docs = Vec::new();
        let mut tight = true;
        for child in node.children() {
            let (doc, kind) = match child {
                rowan::NodeOrToken::Node(child) => (self.node(child), child.kind()),
                rowan::NodeOrToken::Token(token) if token.kind.is_trivia() => continue,
                rowan::NodeOrToken::Token(token) => (self.token(token), token.kind),
            };
            let closes = kind == SyntaxKind::RightParen || kind == SyntaxKind::DotDot;
            if spaced && !tight && !closes {
                docs.push(text(" "));
            }
            tight = kind == SyntaxKind::LeftParen || kind == SyntaxKind::DotDot;
            docs.push(doc);
        }
        // A continuation line is further right than the line that it belongs to.
        doc::nest(concat(docs))
    }
}
