//! The innermost difference of two types in words, and what to do about it.

use super::application::spine;
use super::arena::{LevelNode, Node, Ty};
use super::infer::Checker;
use super::messages::Why;
use super::ty::Kind;
use super::unify::Clash;
use crate::ast::{Expr, ExprKind};
use crate::diagnostic::{Diagnostic, Fix};

const CONVERSIONS: &str =
    "integers and floats are converted by `int`, `double` and their like, as in `double n`";

impl Checker<'_> {
    /// Explains the innermost difference and what to do about it.
    pub fn explain(&self, error: &mut Diagnostic, expr: &Expr, why: Why<'_>, clash: Clash) {
        let help = match clash {
            Clash::NeedsPull => {
                error.message = match why {
                    Why::Argument { head, .. } => match self.callee(head) {
                        Some((name, _)) if &*name == "index" => {
                            "a push array cannot be indexed: `force` it first".to_string()
                        }
                        Some((name, _)) => format!(
                            "a push array is given to `{name}`, which takes pull arrays: `force` it first"
                        ),
                        None => "a push array where a pull array is needed: `force` it first".to_string(),
                    },
                    Why::Draw => "a push array cannot be drawn from: `force` it first".to_string(),
                    _ => "a push array where a pull array is needed: `force` it first".to_string(),
                };
                error.fix = Some(Box::new(applied("force", expr)));
                "`force` writes a push array to its level's memory; then its elements can be read in any order".to_string()
            }
            Clash::NeedsPush(level) => {
                error.message = match why {
                    Why::Argument { head, .. } => match self.callee(head) {
                        Some((name, _)) => format!(
                            "a pull array is given to `{name}`, which takes push arrays: say who computes it"
                        ),
                        None => "a pull array where a push array is needed: say who computes it".to_string(),
                    },
                    _ => "a pull array where a push array is needed: say who computes it".to_string(),
                };
                let level = self.arena.find_level(level);
                let unknown = level.variable.is_some_and(|variable| {
                    !matches!(self.arena.level_node(variable), LevelNode::Rigid { .. })
                });
                let level = if unknown { "block".to_string() } else { self.show_level(level) };
                let push = format!("push <{level}>");
                error.fix = Some(Box::new(applied(&push, expr)));
                format!("write `{push}` before it")
            }
            Clash::Levels(needed, there) => {
                let (needed, there) = (self.show_level(needed), self.show_level(there));
                error.message = format!("levels do not fit: `{needed}` is needed, and this is of `{there}`");
                "`concat` puts parts of a level together at the level above it; `force` and another `push` change the level".to_string()
            }
            Clash::Sizes(needed, there) => {
                error.message = format!("a size that cannot match: {needed} is needed, and this is {there}");
                return;
            }
            Clash::Ranks(needed, there) => {
                let dimensions = |rank: usize| {
                    if rank == 1 { "1 dimension".to_string() } else { format!("{rank} dimensions") }
                };
                error.message = format!(
                    "an array of {} is needed, and this one has {}",
                    dimensions(needed),
                    dimensions(there)
                );
                match (needed, there) {
                    (1, 2..) => format!("`flatten{there} xs` has the elements in one dimension"),
                    (2.., 1) => format!(
                        "`reshape{needed}` makes one of a vector, row by row; an array of arrays is something else: `reshape2 2 2 [1, 2, 3, 4]`"
                    ),
                    _ => return,
                }
            }
            Clash::Occurs => {
                error.message = "this would be of a type that contains itself".to_string();
                "perhaps something is applied to itself, or put into an array of what it is".to_string()
            }
            Clash::Escape => {
                error.message = "a level is known only inside of the function that takes it".to_string();
                "a type outside of `fn <l> => …` cannot mention `l`".to_string()
            }
            Clash::TooLarge => {
                error.message = "the type of this is too large".to_string();
                error.label.clear();
                "write signatures for the functions that make it".to_string()
            }
            Clash::Kinds(Kind::Integer, Kind::Float) | Clash::Kinds(Kind::Float, Kind::Integer) => {
                CONVERSIONS.to_string()
            }
            Clash::Kinds(needed, there) => {
                format!("{} is needed, and this is {}", needed.words(), there.words())
            }
            Clash::Kind(ty, kind) => match self.kind_help(ty, kind, why) {
                Some(help) => help,
                None => return,
            },
            Clash::Different(needed, there) => match self.difference(error, expr, needed, there) {
                Some(help) => help,
                None => return,
            },
        };
        error.help = Some(help);
    }

    fn kind_help(&self, ty: Ty, kind: Kind, why: Why<'_>) -> Option<String> {
        Some(match self.arena.look(ty).1 {
            Node::Rigid { .. } => match kind.class() {
                Some(class) => format!(
                    "`{0}` may be anything here; write `{class} {0} =>` in the signature",
                    self.show(ty)
                ),
                None => return None,
            },
            Node::Function(..) | Node::LevelFunction(..) if kind == Kind::Ground => {
                "functions cannot be elements of arrays".to_string()
            }
            Node::Function(..) => "perhaps an argument is missing".to_string(),
            Node::Array { .. } if kind.implies(Kind::Number) => match why {
                Why::Operator(_) => {
                    "operators work on numbers; use `map` or `zipWith` for arrays".to_string()
                }
                _ => "an array is no number".to_string(),
            },
            Node::Scalar(scalar)
                if scalar.is_integer() && kind == Kind::Float
                    || scalar.is_float() && kind == Kind::Integer =>
            {
                CONVERSIONS.to_string()
            }
            _ => format!("`{}` is not {}", self.show(ty), kind.words()),
        })
    }

    fn difference(&self, error: &mut Diagnostic, expr: &Expr, needed: Ty, there: Ty) -> Option<String> {
        let (a, b) = (self.arena.look(needed).1, self.arena.look(there).1);
        let (needed_text, there_text) = self.show_both(needed, there);
        match (a, b) {
            (Node::Rigid { .. }, Node::Rigid { .. }) => {
                error.message.push_str(": it is less general");
                Some(format!("`{needed_text}` and `{there_text}` stand for any types, which may differ"))
            }
            (Node::Rigid { .. }, _) | (_, Node::Rigid { .. }) => {
                let (variable, other) = if matches!(a, Node::Rigid { .. }) {
                    (needed_text, there_text)
                } else {
                    (there_text, needed_text)
                };
                error.message.push_str(": it is less general");
                Some(format!("the signature lets `{variable}` be any type, and here it must be `{other}`"))
            }
            (Node::LevelFunction(..), Node::LevelFunction(..)) => None,
            (_, Node::LevelFunction(..)) => {
                let written = match &expr.kind {
                    ExprKind::Name(path) => path.name.name.to_string(),
                    _ => "f".to_string(),
                };
                error.message = "a level is missing".to_string();
                Some(format!("say at which level, as in `{written} <block>`"))
            }
            (_, Node::Function(..)) if !matches!(a, Node::Function(..)) => match self.callee(spine(expr).0) {
                Some((name, Some(scheme))) if !matches!(expr.kind, ExprKind::Name(_)) => {
                    Some(format!("perhaps an argument is missing: `{name} : {scheme}`"))
                }
                _ => Some("this is a function; perhaps it should be applied to something".to_string()),
            },
            (Node::Function(..), _) => Some(format!("a function is needed, and `{there_text}` is none")),
            (Node::Scalar(x), Node::Scalar(y))
                if x != y && [x, y].iter().all(|ty| ty.is_integer() || ty.is_float()) =>
            {
                Some(format!("write `{needed_text} (…)` to convert it"))
            }
            (Node::Record(..), Node::Record(..)) => {
                Some("records are the same if they have the same fields".to_string())
            }
            (Node::Tuple(x), Node::Tuple(y)) => Some(format!(
                "{} parts are needed, and there are {}",
                self.arena.parts(x).len(),
                self.arena.parts(y).len()
            )),
            _ => None,
        }
    }
}

/// Builds the fix that makes an expression the argument of a function.
fn applied(function: &str, expr: &Expr) -> Fix {
    let atom = matches!(expr.kind, ExprKind::Name(_) | ExprKind::Tuple(_) | ExprKind::List(_));
    let (open, close) = if atom { ("", "") } else { ("(", ")") };
    let edits =
        vec![(expr.span.before(), format!("({function} {open}")), (expr.span.behind(), format!("{close})"))];
    Fix { title: format!("write `{function}`"), edits }
}
