//! Push arrays: `push`, `concat` and their like describe them (rules 38, 52 and 84), and `force` runs them (39) at a location that
//! respects its level (`running.rs`).

use super::costs::{CostCounts, CostLevel};
use super::pulls::whole;
use super::stores::Memory;
use super::types::level_of;
use super::value::{Call, Elements, Exchange, Push, PushKind, Shape, Value};
use super::{Evaluator, Location, Outcome};
use crate::diagnostic::Diagnostic;
use crate::evaluate::columns;
use crate::source::Span;
use crate::types::Type;
use std::rc::Rc;

impl<'p> Evaluator<'p> {
    /// Applies a function that describes a push array to all its arguments.
    pub(super) fn push_made(&self, call: &Call<'p>) -> Outcome<Value<'p>> {
        let (span, name) = (call.span, &*call.name);
        let extent = |value: &Value<'p>| self.extent(value, name, span);
        let pull = |value: &Value<'p>| self.pull(value, span);
        let push = |value: &Value<'p>| self.pushed(value, span);
        let (length, kind) = match (name, &call.arguments[..]) {
            ("push", [array]) => {
                let of = pull(array)?;
                (of.shape.count(), PushKind::Elements(of))
            }
            ("pushBy", [items, array]) => {
                let (items, of) = (extent(items)?.max(1), pull(array)?);
                (of.shape.count(), PushKind::Neighbours { items, of })
            }
            ("pairwise", [mask, lower, upper, array]) => {
                let (mask, of) = (self.integer(mask, span)?, pull(array)?);
                let (mask, length) = (self.partners(mask, of.shape.count(), span)?, of.shape.count());
                (length, PushKind::Pairwise { mask, functions: [lower.clone(), upper.clone()], of })
            }
            ("scatterPush", [length, pairs]) => (extent(length)?, PushKind::Scattered(pull(pairs)?)),
            ("filterPush", [keep, array]) => {
                let kept = pull(&self.kept(keep, array, self.level_of_call(call)?, span)?)?;
                (kept.shape.count(), PushKind::Elements(kept))
            }
            ("concat", [size, parts]) => {
                let (size, parts) = (extent(size)?, pull(parts)?);
                (parts.shape.count().saturating_mul(size), PushKind::Concat { size, parts })
            }
            ("concatTiles", [size, length, parts]) => {
                (extent(length)?, PushKind::Concat { size: extent(size)?, parts: pull(parts)? })
            }
            ("concatTiles2D" | "concatOwned", _) => self.tiled(call)?,
            ("interleave", [length, place, parts]) => {
                (extent(length)?, PushKind::Interleave { place: place.clone(), parts: pull(parts)? })
            }
            ("mapPush", [f, of]) => (push(of)?.length, PushKind::Mapped(f.clone(), push(of)?)),
            ("ixMap", [place, of]) => (push(of)?.length, PushKind::Placed(place.clone(), push(of)?)),
            ("takePush", [length, of]) => (extent(length)?, PushKind::Taken(push(of)?)),
            ("appendPush", [first, second]) => {
                let (first, second) = (push(first)?, push(second)?);
                (first.length.saturating_add(second.length), PushKind::Appended(first, second))
            }
            ("unpairPush", [of]) => (push(of)?.length.saturating_mul(2), PushKind::Unpaired(push(of)?)),
            (_, [how, combine, of]) => {
                let (how, combine) = (how.clone(), combine.clone());
                let exchange = Exchange { name: call.name.clone(), how, combine };
                (push(of)?.length, PushKind::Exchanged(exchange, push(of)?))
            }
            _ => return Err(self.fault(span, format!("`{name}` makes no push array"))),
        };
        let depth = call.arguments.iter().map(Value::depth).max().unwrap_or(0);
        // A selection refers to the array that it selects from.
        let depth = self.bounded(depth + 2, span)?;
        let level = match &kind {
            PushKind::Mapped(_, of)
            | PushKind::Placed(_, of)
            | PushKind::Taken(of)
            | PushKind::Appended(of, _)
            | PushKind::Unpaired(of)
            | PushKind::Exchanged(_, of) => of.level,
            _ => self.level_of_call(call)?,
        };
        Ok(Value::Push(Rc::new(Push { level, length, kind, span, depth })))
    }

    /// Applies a function that runs a push array to all its arguments.
    pub(super) fn levelled(&self, call: &Call<'p>) -> Outcome<Value<'p>> {
        let span = call.span;
        match (&*call.name, &call.arguments[..]) {
            ("lengthPush", [push]) => Ok(whole(self.pushed(push, span)?.length)),
            ("force", [push]) => self.forced(push, &self.argument_type(call, 0), span),
            ("forceWithin", [most, push]) => {
                self.no_longer_than(self.extent(most, "forceWithin", span)?, push, call)?;
                self.forced(push, &self.argument_type(call, 1), span)
            }
            ("forceAs", [_, push]) => self.forced(push, &self.argument_type(call, 1), span),
            ("forceTile", _) => self.tile_forced(call),
            ("forceWindows", _) => self.windows_forced(call),
            ("ifWhole", _) => self.if_whole(call),
            ("perform", [push]) => self.performed(push, span),
            ("while" | "whileWithin", [capacity @ .., condition, step, initial]) => {
                if let [capacity] = capacity {
                    self.no_longer_than(self.extent(capacity, "whileWithin", span)?, initial, call)?;
                }
                let ty = self.argument_type(call, capacity.len() + 2);
                let mut array = self.forced(initial, &ty, span)?;
                while self.scalar(&self.apply(condition, array.clone(), span)?, span)?.is_true() {
                    self.take(1, span)?;
                    array = self.forced(&self.apply(step, array, span)?, &ty, span)?;
                }
                Ok(array)
            }
            ("power", [times, step, initial]) => {
                let ty = self.argument_type(call, 2);
                let mut array = self.forced(initial, &ty, span)?;
                for _ in 0..self.integer(times, span)?.max(0) {
                    self.take(1, span)?;
                    array = self.forced(&self.apply(step, array, span)?, &ty, span)?;
                }
                Ok(array)
            }
            _ => Err(self.fault(span, format!("`{}` has no meaning", call.name))),
        }
    }

    /// Checks that an array has so many elements at most.
    fn no_longer_than(&self, most: usize, push: &Value<'p>, call: &Call<'p>) -> Outcome<()> {
        let length = self.pushed(push, call.span)?.length;
        match length > most {
            true => {
                Err(self.wrong(call.span, format!("`{} {most}` of an array of {length} elements", call.name)))
            }
            false => Ok(()),
        }
    }

    /// Returns the level of the push array that a function gives.
    fn level_of_call(&self, call: &Call<'p>) -> Outcome<CostLevel> {
        let level = call.level.or_else(|| level_of(&self.result_type(call)));
        level.ok_or_else(|| self.wrong(call.span, "the level of this array is not known"))
    }

    /// Checks the bits in which the indices of partners differ: every element of an array of so many must have a partner.
    fn partners(&self, mask: i64, length: usize, span: Span) -> Outcome<usize> {
        let known = usize::try_from(mask).ok().filter(|mask| *mask > 0);
        let mask = known.ok_or_else(|| self.wrong(span, "partners differ in no bits of their indices"))?;
        // All have one if the length is a multiple of twice the highest bit.
        match length % (1usize << mask.ilog2()).saturating_mul(2) {
            0 => Ok(mask),
            _ => {
                let message =
                    format!("`pairwise` of {length} elements whose indices differ in the bits of {mask}");
                let help = "partners are missing: the length is a multiple of twice the highest bit";
                Err(Box::new(Diagnostic::new(span, message).help(help)))
            }
        }
    }

    /// Returns the elements for which a condition holds (rule 87); the threads of the level evaluate it.
    fn kept(&self, keep: &Value<'p>, array: &Value<'p>, level: CostLevel, span: Span) -> Outcome<Value<'p>> {
        let (of, mut kept) = (self.pull(array, span)?, Vec::new());
        let count = of.shape.count();
        self.respects(level, span)?;
        self.memory(count, span)?;
        self.dealt(level, count, |number| {
            self.at(Location::Thread(level), || {
                let holds = self.apply(keep, self.element(&of, number, span)?, span)?;
                if self.scalar(&holds, span)?.is_true() {
                    kept.push(number);
                }
                Ok(())
            })
        })?;
        let time = if level == CostLevel::Thread { count as u64 } else { 2 * super::lists::depth_of(count) };
        self.meter.steps(span, level, count as u64, time);
        let barriers = self.waited(level);
        self.meter.count(span, level, CostCounts { barriers, ..CostCounts::default() });
        let depth = of.depth;
        self.made(Shape::vector(kept.len()), Elements::Selected(of, kept), depth, span)
    }

    /// `perform`: runs a program of a level (rule 92).
    pub(super) fn performed(&self, program: &Value<'p>, span: Span) -> Outcome<Value<'p>> {
        self.run_push(&*self.pushed(program, span)?, span, &mut |_, _| Ok(()))?;
        Ok(Value::Tuple(Rc::from([])))
    }

    /// Returns a push array, or an error if the value is not one.
    pub(super) fn pushed(&self, value: &Value<'p>, span: Span) -> Outcome<Rc<Push<'p>>> {
        match value {
            Value::Push(push) => Ok(push.clone()),
            _ => Err(self.fault(span, "a push array is wanted here")),
        }
    }

    /// `force` of a push array of this type (rule 39): runs it, and writes its elements to its level's memory.
    pub(super) fn forced(&self, value: &Value<'p>, ty: &Type, span: Span) -> Outcome<Value<'p>> {
        self.preserved(value, ty, span)?;
        let push = self.pushed(value, span)?;
        let Type::Array { element, .. } = ty else { return Err(self.fault(span, "an array of no type")) };
        let (level, length) = (push.level, push.length);
        // A program that gives nothing is done, and needs no memory.
        let nothing = columns(element, self.checked.sums()).is_some_and(|columns| columns.is_empty());
        self.memory(length, span)?;
        let mut places: Vec<Option<Value<'p>>> = vec![None; length];
        self.run_push(&push, span, &mut |number, value| {
            self.preserved(&value, element, span)?;
            if nothing {
                return Ok(());
            }
            self.step(span);
            self.meter.count(span, level, CostCounts { written: 1, ..CostCounts::default() });
            let place = places.get_mut(number).ok_or_else(|| self.fault(span, "an element of no place"))?;
            if place.replace(value).is_some() {
                let message = format!("two elements are written to index {number}");
                return Err(Box::new(Diagnostic::new(push.span, message).help("their threads would race")));
            }
            Ok(())
        })?;
        let barriers = self.waited(level);
        self.meter.count(span, level, CostCounts { forces: 1, barriers, ..CostCounts::default() });
        let zero = self.zero(element, span);
        let values = places.into_iter().map(|place| place.map_or_else(|| zero.clone(), Ok));
        let memory = Memory::new(level, values.collect::<Outcome<Vec<_>>>()?, &self.meter);
        self.made(Shape::vector(length), Elements::Stored(memory), 0, span)
    }

    /// Counts a barrier, if the threads of a level have others to wait for, and returns the number of barriers: one or none.
    pub(super) fn waited(&self, level: CostLevel) -> u64 {
        let barriers = u64::from(matches!(level, CostLevel::Warp | CostLevel::Block));
        self.barriers.set(self.barriers.get() + barriers);
        barriers
    }

    /// Takes the steps that memory for so many elements counts as.
    pub(super) fn memory(&self, count: usize, span: Span) -> Outcome<()> {
        /// An element takes as much memory as a few steps take time.
        const STEPS: u64 = 4;
        self.take((count as u64).saturating_mul(STEPS), span)
    }
}
