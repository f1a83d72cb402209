//! Warp operations (rules 90 and 91): each lane has an element, receives one of another lane or the outcome of a vote, and combines
//! both.

use super::costs::CostLevel;
use super::pulls::whole;
use super::running::Writer;
use super::value::{Exchange, Push, Value};
use super::{Evaluator, Location, Outcome, WARP};
use crate::diagnostic::Diagnostic;
use crate::source::Span;
use pumice_scalar::Constant;

/// A lane with its element.
struct Lane<'p> {
    number: usize,
    /// The number of its thread in the group.
    thread: usize,
    /// The index of the element.
    index: usize,
    element: Value<'p>,
}

impl<'p> Evaluator<'p> {
    /// Computes the elements of all lanes, exchanges them round by round, and hands the results to a writer.
    pub(super) fn run_exchange(
        &self,
        exchange: &Exchange<'p>,
        of: &Push<'p>,
        span: Span,
        write: Writer<'_, 'p>,
    ) -> Outcome<()> {
        self.memory(of.length, span)?;
        let (first, mut lanes) = (self.thread.get(), Vec::new());
        self.run_push(of, span, &mut |index, element| {
            let thread = self.thread.get().saturating_sub(first);
            lanes.push(Lane { number: thread % WARP, thread, index, element });
            Ok(())
        })?;
        if lanes.windows(2).any(|two| two[0].number == two[1].number) {
            let message = format!(
                "`{}` has no meaning in the semantics: a lane has several elements at a time",
                exchange.name
            );
            let help = "exchange the elements of `push <warp>`, of which each lane has one";
            return Err(Box::new(Diagnostic::new(span, message).help(help)));
        }
        // The warps of a block do so side by side.
        let warps: Vec<&[Lane<'p>]> = lanes.chunk_by(|a, b| a.number < b.number).collect();
        let side_by_side = match of.level {
            CostLevel::Block => (self.options.block_size as usize).div_ceil(WARP),
            _ => 1,
        };
        self.rounds(
            warps.len(),
            Some(side_by_side),
            |_| 0,
            |warp| self.run_round(exchange, (warps[warp], of.level), span, write),
        )
    }

    fn run_round(
        &self,
        exchange: &Exchange<'p>,
        (lanes, level): (&[Lane<'p>], CostLevel),
        span: Span,
        write: Writer<'_, 'p>,
    ) -> Outcome<()> {
        let thread = |at: usize| lanes[at].thread;
        let lane = Location::Thread(level);
        let mut votes = 0u32;
        if matches!(&*exchange.name, "ballot" | "anyLane" | "allLanes") {
            self.rounds(lanes.len(), Some(WARP), thread, |at| {
                let holds = self.at(lane, || self.apply(&exchange.how, lanes[at].element.clone(), span))?;
                votes |= u32::from(self.scalar(&holds, span)?.is_true()) << lanes[at].number;
                Ok(())
            })?;
        }
        let all = lanes.iter().fold(0u32, |all, lane| all | 1 << lane.number);
        self.rounds(lanes.len(), Some(WARP), thread, |at| {
            self.at(lane, || {
                let own = &lanes[at];
                let got = match &*exchange.name {
                    "ballot" => Value::Scalar(Constant::from(votes)),
                    "anyLane" => Value::Scalar(Constant::from(votes != 0)),
                    "allLanes" => Value::Scalar(Constant::from(votes == all)),
                    _ => self.shuffled(exchange, own, lanes, span)?,
                };
                self.step(span);
                let made =
                    self.apply_all(&exchange.combine, [whole(own.index), own.element.clone(), got], span)?;
                write(own.index, made)
            })
        })
    }

    /// Returns the element that a lane receives from another one; from a lane that does not exist, its own.
    fn shuffled(
        &self,
        exchange: &Exchange<'p>,
        own: &Lane<'p>,
        lanes: &[Lane<'p>],
        span: Span,
    ) -> Outcome<Value<'p>> {
        let (number, how) = (own.number as i64, &exchange.how);
        let from = match &*exchange.name {
            "shuffle" => {
                self.integer(&self.apply(how, whole(own.index), span)?, span)?.rem_euclid(WARP as i64)
            }
            "shuffleUp" => number.saturating_sub(self.integer(how, span)?),
            "shuffleDown" => number.saturating_add(self.integer(how, span)?),
            _ => number ^ self.integer(how, span)?,
        };
        let from = usize::try_from(from).ok().filter(|from| *from < WARP).unwrap_or(own.number);
        let found = lanes.iter().find(|lane| lane.number == from);
        found.map(|lane| lane.element.clone()).ok_or_else(|| {
            self.wrong(span, format!("`{}` takes the element of lane {from}, which has none", exchange.name))
        })
    }
}
