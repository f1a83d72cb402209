//! Threads on a CPU: one worker runs all threads of a block.
//!
//! A parallel loop whose body does not loop is a plain `for`, which compilers vectorise. Where the body loops itself,
//! threads advance together as the lanes of a strip: the sequential loop goes *around* the lanes, every straight piece
//! becomes a loop over lanes, and values that live from one piece to the next are small arrays that the compiler keeps
//! in vector registers. Values that are the same for all lanes stay scalars, outside. Where lanes do different things
//! (a loop that ends at different times, a branch around a loop), a mask says which are live: the others compute along,
//! but neither load nor store, and keep the values that they carry. What lanes do atomically is done lane by lane, and
//! what the lanes of a warp do together ends a piece; a strip is then made of whole warps.
//!
//! A pass over Program IR decides, before anything is written, what each statement becomes and which values need arrays
//! ([`LanePlan`]); this folder follows it. `strip.rs` writes parallel loops, `piece.rs` loops over lanes and the values in
//! them, `control.rs` the control flow around those, `prefetch.rs` prefetches of loops, and `masks.rs` what only some lanes do.
//!
//! Warps are run one after the other. A thread's private memory is a column of an array with a row for each element, so
//! that neighbouring lanes have neighbouring memory.

mod control;
mod masks;
mod piece;
mod prefetch;
mod strip;

use std::collections::HashSet;
use std::rc::Rc;

use pumice_program::{LanePlan, Operand, Var};

use crate::text::Text;

pub(crate) use strip::Cell;

/// Writes the number of lanes of a strip: enough independent work to hide the latency of arithmetic, few enough that a loop's
/// values stay in registers. More than 16, because gcc unrolls shorter loops before it vectorises.
pub(crate) fn preamble(text: &mut Text) {
    text.line("#ifdef __AVX512F__");
    text.line("enum { LANES = 64, LANES_WIDE = 32 };");
    text.line("#else");
    text.line("enum { LANES = 32, LANES_WIDE = 32 };");
    text.line("#endif");
}

/// The state of a strip that is being written.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lanes {
    /// Plan of the strip; none outside of strips.
    plan: Option<Rc<LanePlan>>,
    /// Whether statements go into the loop over lanes; outside it they are done once for all.
    collecting: bool,
    /// Definitions at the top of that loop.
    definitions: Text,
    /// The rest of it.
    body: Text,
    /// Whether the lanes of the loop must be run one after the other.
    ordered: bool,
    /// The values defined among the definitions.
    recomputed_here: HashSet<Var>,
    /// The index of the loop over threads.
    index: Option<Var>,
    /// The name of the first lane's index; empty if that is zero.
    first: String,
    /// The name of a lane's number.
    lane: String,
    /// Number of lanes, as text.
    width: String,
    /// The mask in force: an array's name.
    mask: Option<String>,
}

impl Lanes {
    /// Returns the body of the loop over lanes, if statements are to be added there and not outside it.
    pub(crate) fn sink(&mut self) -> Option<&mut Text> {
        self.collecting.then_some(&mut self.body)
    }

    /// Returns the name of a lane's number.
    pub(crate) fn lane(&self) -> &str {
        &self.lane
    }

    /// Returns the number of lanes, as text.
    pub(crate) fn width(&self) -> &str {
        &self.width
    }

    /// Returns the mask that says whether a lane is live, if some may not be.
    pub(crate) fn mask(&self) -> Option<String> {
        self.mask.clone()
    }

    /// Says that the lanes of the loop at hand must be run one after the other.
    pub(crate) fn order(&mut self) {
        self.ordered |= self.collecting;
    }

    /// Whether an operand can differ from lane to lane.
    pub(crate) fn varies(&self, operand: Operand) -> bool {
        self.plan.as_ref().is_some_and(|plan| plan.operand_varies(operand))
    }

    fn var_varies(&self, var: Var) -> bool {
        self.plan.as_ref().is_some_and(|plan| plan.varies(var))
    }

    /// Whether a value has an array.
    pub(crate) fn has_array(&self, var: Var) -> bool {
        self.plan.as_ref().is_some_and(|plan| plan.has_array(var))
    }
}
