//! Push arrays: `push` and `concat` delay (rules 38 and 52), and `force` runs what they describe (39 to 42) at a location that respects
//! its level. Elements and parts are dealt out to as many locations as the group has, in rounds.

use super::costs::{CostCounts, CostLevel};
use super::types::level_of;
use super::value::{Call, Elements, Memory, Push, PushKind, Shape, Value};
use super::{Evaluator, Location, Outcome, WARP};
use crate::diagnostic::Diagnostic;
use crate::source::Span;
use crate::types::Type;
use pumice_scalar::Constant;
use std::rc::Rc;

/// Receives the elements of a push array: the number of each and its value.
type Writer<'w, 'p> = &'w mut dyn FnMut(usize, Value<'p>) -> Outcome<()>;

impl<'p> Evaluator<'p> {
    /// The functions of push arrays, with all their arguments.
    pub(super) fn levelled(&self, call: &Call<'p>) -> Outcome<Value<'p>> {
        let span = call.span;
        match (&*call.name, &call.arguments[..]) {
            ("push", [array]) => {
                let level = call.level.or_else(|| level_of(&self.result_type(call)));
                let level = level.ok_or_else(|| self.unknown_level(span))?;
                self.push(level, PushKind::Elements(self.pull(array, span)?), array.depth(), span)
            }
            ("mapPush", [f, push]) => self.push_mapped(f, push, span),
            ("lengthPush", [push]) => {
                let length = self.pushed(push, span)?.length();
                Ok(Value::Scalar(Constant::from(length as i64)))
            }
            ("concat", [size, parts]) => {
                let kind = PushKind::Concat {
                    size: self.extent(size, "concat", span)?,
                    parts: self.pull(parts, span)?,
                };
                let level = level_of(&self.result_type(call)).ok_or_else(|| self.unknown_level(span))?;
                self.push(level, kind, parts.depth(), span)
            }
            ("interleave", [length, place, parts]) => {
                let depth = parts.depth().max(place.depth());
                let length = self.extent(length, "interleave", span)?;
                let kind =
                    PushKind::Interleave { length, place: place.clone(), parts: self.pull(parts, span)? };
                let level = level_of(&self.result_type(call)).ok_or_else(|| self.unknown_level(span))?;
                self.push(level, kind, depth, span)
            }
            ("force", [push]) => self.forced(push, &self.argument_type(call, 0), span),
            ("while", [condition, step, initial]) => {
                let ty = self.argument_type(call, 2);
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

    fn unknown_level(&self, span: Span) -> Box<Diagnostic> {
        self.wrong(span, "the level of this array is not known")
    }

    fn push(&self, level: CostLevel, kind: PushKind<'p>, depth: u32, span: Span) -> Outcome<Value<'p>> {
        let depth = self.bounded(depth + 1, span)?;
        Ok(Value::Push(Rc::new(Push { level, kind, span, depth })))
    }

    /// A push array that is wanted.
    pub(super) fn pushed(&self, value: &Value<'p>, span: Span) -> Outcome<Rc<Push<'p>>> {
        match value {
            Value::Push(push) => Ok(push.clone()),
            _ => Err(self.fault(span, "a push array is wanted here")),
        }
    }

    /// `force` of a push array of this type (rule 39): what it describes is run, and its elements are in its level's memory.
    pub(super) fn forced(&self, value: &Value<'p>, ty: &Type, span: Span) -> Outcome<Value<'p>> {
        self.preserved(value, ty, span)?;
        let push = self.pushed(value, span)?;
        let Type::Array { element, .. } = ty else { return Err(self.fault(span, "an array of no type")) };
        let (level, length) = (push.level, push.length());
        self.memory(length, span)?;
        let mut places: Vec<Option<Value<'p>>> = vec![None; length];
        self.run_push(&push, span, &mut |number, value| {
            self.preserved(&value, element, span)?;
            self.step(span);
            self.meter.count(span, level, CostCounts { written: 1, ..CostCounts::default() });
            let place = places.get_mut(number).ok_or_else(|| self.fault(span, "an element of no place"))?;
            if place.replace(value).is_some() {
                let message = format!("two elements are written to index {number}");
                return Err(Box::new(Diagnostic::new(push.span, message).help("their threads would race")));
            }
            Ok(())
        })?;
        let barriers = u64::from(matches!(level, CostLevel::Warp | CostLevel::Block));
        self.meter.count(span, level, CostCounts { forces: 1, barriers, ..CostCounts::default() });
        let zero = self.zero(element, span);
        let values = places.into_iter().map(|place| place.map_or_else(|| zero.clone(), Ok));
        let memory = Memory::new(level, values.collect::<Outcome<Vec<_>>>()?, &self.meter);
        self.made(Shape::vector(length), Elements::Stored(memory), 0, span)
    }

    /// Room for so many elements.
    pub(super) fn memory(&self, count: usize, span: Span) -> Outcome<()> {
        /// An element takes as much memory as a few steps take time.
        const STEPS: u64 = 4;
        self.take((count as u64).saturating_mul(STEPS), span)
    }

    /// Runs what a push array describes, and hands its elements to a writer (rules 40 to 42).
    fn run_push(&self, push: &Push<'p>, span: Span, write: Writer<'_, 'p>) -> Outcome<()> {
        let level = push.level;
        self.respects(level, span)?;
        let (parts, place) = match &push.kind {
            PushKind::Elements(pull) => {
                return self.dealt(level, pull.shape.count(), |number| {
                    self.at(Location::Thread(level), || write(number, self.element(pull, number, span)?))
                });
            }
            PushKind::Concat { parts, .. } => (parts, None),
            PushKind::Interleave { place, parts, .. } => (parts, Some(place)),
        };
        let Some(below) = level.below() else { return Err(self.fault(span, "parts of a thread")) };
        let location =
            if below == CostLevel::Thread { Location::Thread(below) } else { Location::Group(below) };
        let (own, length) = (push.span, push.length());
        self.dealt_parts(level, below, parts.shape.count(), |number| {
            self.at(location, || {
                let part = self.pushed(&self.element(parts, number, own)?, own)?;
                if part.level != below {
                    return Err(self.fault(own, "a part of another level than its type says"));
                }
                let size = match &push.kind {
                    PushKind::Concat { size, .. } => *size,
                    _ => length,
                };
                if place.is_none() && part.length() > size {
                    let message = format!("a part of {} elements where each has {size}", part.length());
                    let help = "the first argument of `concat` is the number of elements of each part";
                    return Err(Box::new(Diagnostic::new(own, message).help(help)));
                }
                self.run_push(&part, own, &mut |index, value| {
                    let target = match place {
                        None => number.saturating_mul(size).saturating_add(index),
                        Some(place) => self.placed(place, number, index, length, own)?,
                    };
                    write(target, value)
                })
            })
        })
    }

    /// Where an element of a part is written (rule 59): its thread computes that.
    fn placed(&self, f: &Value<'p>, part: usize, index: usize, length: usize, span: Span) -> Outcome<usize> {
        let target = self.apply_all(f, [part, index].map(super::pulls::whole), span)?;
        let target = self.integer(&target, span)?;
        usize::try_from(target).ok().filter(|target| *target < length).ok_or_else(|| {
            let message = format!("`interleave` writes to index {target} of {length} elements");
            self.wrong(span, message)
        })
    }

    /// Whether the location respects a level (rules 31 and 32), or is above one that does.
    fn respects(&self, level: CostLevel, span: Span) -> Outcome<()> {
        let fits = match self.location.get() {
            Location::Host => true,
            Location::Group(group) => level <= group,
            Location::Thread(_) => level == CostLevel::Thread,
        };
        if fits {
            return Ok(());
        }
        let message = format!("an array of `{}` is forced where one thread is at work", level.name());
        let help = "force it outside of the function that computes an element, or at the level `thread`";
        Err(Box::new(Diagnostic::new(span, message).help(help)))
    }

    /// The threads of one location of a level; as many as are wanted of a grid.
    fn threads(&self, level: CostLevel) -> Option<usize> {
        match level {
            CostLevel::Thread => Some(1),
            CostLevel::Warp => Some(WARP),
            CostLevel::Block => Some((self.options.block_size as usize).max(1)),
            CostLevel::Grid | CostLevel::Array => None,
        }
    }

    /// Deals elements out to the threads of a location (rules 40 and 41).
    pub(super) fn dealt(
        &self,
        level: CostLevel,
        count: usize,
        each: impl FnMut(usize) -> Outcome<()>,
    ) -> Outcome<()> {
        let threads = self.threads(level);
        let group = match level {
            // A grid is made of whole blocks.
            CostLevel::Grid => self.threads(CostLevel::Block).unwrap_or(1),
            _ => threads.unwrap_or(1),
        };
        let idle = count.div_ceil(group).saturating_mul(group).saturating_sub(count);
        self.meter.threads(level, count as u64, idle as u64);
        self.rounds(count, threads, each)
    }

    /// Deals parts out to the locations below a level (rule 42).
    fn dealt_parts(
        &self,
        level: CostLevel,
        below: CostLevel,
        count: usize,
        each: impl FnMut(usize) -> Outcome<()>,
    ) -> Outcome<()> {
        let part = self.threads(below).unwrap_or(1);
        let locations = self.threads(level).map(|threads| threads.div_ceil(part));
        if let Some(locations) = locations {
            let idle = count.div_ceil(locations).saturating_mul(locations).saturating_sub(count);
            self.meter.threads(level, 0, idle.saturating_mul(part) as u64);
        }
        self.rounds(count, locations, each)
    }

    /// Does something for each number below `count`, so many at a time: the longest of a round counts.
    pub(super) fn rounds(
        &self,
        count: usize,
        width: Option<usize>,
        mut each: impl FnMut(usize) -> Outcome<()>,
    ) -> Outcome<()> {
        let (mut begin, mut latest) = (self.meter.clock(), self.meter.clock());
        for number in 0..count {
            if width.is_some_and(|width| number % width == 0) {
                begin = latest;
            }
            self.meter.set_clock(begin);
            each(number)?;
            latest = latest.max(self.meter.clock());
        }
        self.meter.set_clock(latest);
        Ok(())
    }
}
