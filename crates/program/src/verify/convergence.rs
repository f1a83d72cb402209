//! Checks that what the lanes of a warp do together is reached by all of them.
//!
//! It comes last: the uniformity of values means something in a well-formed program only.

use crate::ir::{Operand, Scope, Stmt};
use crate::uniform::{Level, Uniformity};

use super::{Checked, Checker};

/// Something around a statement that does not have the same value for all threads that must get to it.
#[derive(Clone, Copy)]
pub(super) struct Differing<'a> {
    /// Name of the construct, for messages.
    what: &'static str,
    operand: Operand,
    level: Level,
    /// Source location.
    place: Option<&'a str>,
}

impl<'a> Checker<'a> {
    /// Checks that barriers of a warp and collectives are reached by all lanes of a warp or none, given what is around
    /// them that is not the same for these. It comes last: the levels are those of a well-formed program.
    pub(super) fn reached_by_all(
        &mut self,
        list: &'a [Stmt],
        uniformity: &Uniformity,
        around: Option<Differing<'a>>,
    ) -> Checked {
        let differing = |what: &'static str, place: Option<&'a str>, operands: &[Operand], most: Level| {
            let level = |operand: &Operand| uniformity.operand(*operand);
            let operand = operands.iter().copied().find(|operand| level(operand) > most)?;
            Some(Differing { what, operand, level: level(&operand), place })
        };
        let outer = self.comment;
        for stmt in list {
            if let Stmt::Comment(text) = stmt {
                self.comment = Some(text);
            }
            let what = match stmt {
                Stmt::Sync { scope: Scope::Warp } => Some("sync warp"),
                Stmt::Collective { op, .. } => Some(op.name()),
                _ => None,
            };
            if let (Some(what), Some(around)) = (what, around) {
                self.current = Some(stmt);
                return self.error(self.unreached(what, around));
            }
            let place = self.comment;
            let inner = match stmt {
                Stmt::If { condition, .. } => differing("`if`", place, &[*condition], Level::Warp),
                Stmt::While { condition, .. } => {
                    differing("`while` with the condition", place, &[*condition], Level::Warp)
                }
                Stmt::For { start, end, step, .. } => {
                    differing("`for` with the bound", place, &[*start, *end, *step], Level::Warp)
                }
                // Where a barrier of the block stands for a warp's, all warps go through its rounds together.
                Stmt::Parallel { extent, .. } => {
                    differing("a parallel loop with the extent", place, &[*extent], Level::Block)
                }
                _ => None,
            };
            for child in stmt.children() {
                self.reached_by_all(child, uniformity, around.or(inner))?;
            }
        }
        self.comment = outer;
        Ok(())
    }

    /// Returns the message about a warp collective inside something that differs: in the words of the language
    /// that the program was written in, if that can be told.
    fn unreached(&self, what: &str, around: Differing<'a>) -> String {
        let (from, must) = match around.level {
            Level::Warp => ("warp to warp", "every warp must get there"),
            _ => ("thread to thread", "all lanes of a warp must get there, or none"),
        };
        match around.place {
            Some(place) => format!(
                "what the threads of a warp do together stands inside a condition or loop ({place}) that may differ \
                 from {from}: {must}"
            ),
            None => format!(
                "`{what}` inside {} {}, which may differ from {from}: {must}",
                around.what,
                self.program.operand_text(around.operand)
            ),
        }
    }
}
