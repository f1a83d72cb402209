//! Runs push arrays (rules 40 to 42, 85 to 91): elements and parts are dealt out to as many locations as the group has, in
//! rounds. The thread that computed an element also writes it, or does with it whatever else is to be done.

use super::costs::CostLevel;
use super::pulls::whole;
use super::value::{Pull, Push, PushKind, Value};
use super::{Evaluator, Location, Outcome, WARP};
use crate::diagnostic::Diagnostic;
use crate::source::Span;
use std::rc::Rc;

/// Receives the elements of a push array: the number of each and its value.
pub(super) type Writer<'w, 'p> = &'w mut dyn FnMut(usize, Value<'p>) -> Outcome<()>;

impl<'p> Evaluator<'p> {
    /// Runs a push array, and hands its elements to a writer.
    pub(super) fn run_push(&self, push: &Push<'p>, span: Span, write: Writer<'_, 'p>) -> Outcome<()> {
        self.respects(push.level, span)?;
        self.nested(span, || self.run_kind(push, span, write))
    }

    fn run_kind(&self, push: &Push<'p>, span: Span, write: Writer<'_, 'p>) -> Outcome<()> {
        let (level, own, length) = (push.level, push.span, push.length);
        let thread = Location::Thread(level);
        match &push.kind {
            PushKind::Elements(of) => self.dealt(level, length, |number| {
                self.at(thread, || write(number, self.element(of, number, span)?))
            }),
            PushKind::Neighbours { items, of } => {
                let groups = length / items;
                self.dealt(level, groups, |group| {
                    self.at(thread, || {
                        self.memory(*items, own)?;
                        let numbers = group * items..(group + 1) * items;
                        let values = numbers.clone().map(|number| self.element(of, number, span));
                        let values = values.collect::<Outcome<Vec<_>>>()?;
                        numbers.zip(values).try_for_each(|(number, value)| write(number, value))
                    })
                })?;
                let rest = groups * items;
                self.dealt(level, length - rest, |number| {
                    self.at(thread, || write(rest + number, self.element(of, rest + number, span)?))
                })
            }
            PushKind::Pairwise { mask, functions, of } => self.dealt(level, length / 2, |pair| {
                let upper_bit = 1 << mask.ilog2();
                let lower = (pair & (upper_bit - 1)) | ((pair & !(upper_bit - 1)) << 1);
                let places = [lower, lower ^ mask];
                self.at(thread, || {
                    let both = [self.element(of, places[0], span)?, self.element(of, places[1], span)?];
                    for (place, f) in places.into_iter().zip(functions) {
                        write(place, self.apply_all(f, both.clone(), own)?)?;
                    }
                    Ok(())
                })
            }),
            PushKind::Scattered(of) => self.dealt(level, of.shape.count(), |number| {
                self.at(thread, || {
                    let [index, value] = self.pair(&self.element(of, number, span)?, own)?;
                    write(self.within(&index, length, "scatterPush", own)?, value)
                })
            }),
            PushKind::Concat { size, parts } => self.run_parts(push, parts, &mut |part, number, value| {
                write(part.saturating_mul(*size).saturating_add(number), value)
            }),
            PushKind::Interleave { place, parts } => {
                self.run_parts(push, parts, &mut |part, number, value| {
                    let target = self.apply_all(place, [part, number].map(whole), own)?;
                    write(self.within(&target, length, "interleave", own)?, value)
                })
            }
            PushKind::Mapped(f, of) => {
                self.run_push(of, span, &mut |number, value| write(number, self.apply(f, value, own)?))
            }
            PushKind::Placed(place, of) => self.run_push(of, span, &mut |number, value| {
                let target = self.apply(place, whole(number), own)?;
                write(self.within(&target, length, "ixMap", own)?, value)
            }),
            PushKind::Taken(of) => self.run_push(of, span, &mut |number, value| match number < length {
                true => write(number, value),
                false => Ok(()),
            }),
            PushKind::Appended(first, second) => {
                self.run_push(first, span, write)?;
                self.run_push(second, span, &mut |number, value| {
                    write(first.length.saturating_add(number), value)
                })
            }
            PushKind::Unpaired(of) => self.run_push(of, span, &mut |number, value| {
                let [first, second] = self.pair(&value, own)?;
                let place = number.saturating_mul(2);
                write(place, first)?;
                write(place.saturating_add(1), second)
            }),
            PushKind::Exchanged(exchange, of) => self.run_exchange(exchange, of, own, write),
            PushKind::Tiles(tiles) => self.run_tiles(push, tiles, write),
        }
    }

    /// Returns the parts of a pair.
    pub(super) fn pair(&self, value: &Value<'p>, span: Span) -> Outcome<[Value<'p>; 2]> {
        match value {
            Value::Tuple(parts) if parts.len() == 2 => Ok([parts[0].clone(), parts[1].clone()]),
            _ => Err(self.fault(span, "a pair is wanted here")),
        }
    }

    /// Returns an index that is written to, or an error if it is out of bounds.
    pub(super) fn within(&self, index: &Value<'p>, length: usize, name: &str, span: Span) -> Outcome<usize> {
        let index = self.integer(index, span)?;
        usize::try_from(index)
            .ok()
            .filter(|index| *index < length)
            .ok_or_else(|| self.wrong(span, format!("`{name}` to index {index} of {length} elements")))
    }

    /// Runs the parts of a concatenation (rule 42), and hands on which part an element is of, its number there, and its value.
    fn run_parts(
        &self,
        push: &Push<'p>,
        parts: &Rc<Pull<'p>>,
        write: &mut dyn FnMut(usize, usize, Value<'p>) -> Outcome<()>,
    ) -> Outcome<()> {
        let (level, own) = (push.level, push.span);
        let Some(below) = level.below() else { return Err(self.fault(own, "parts of a thread")) };
        let location =
            if below == CostLevel::Thread { Location::Thread(below) } else { Location::Group(below) };
        self.dealt_parts(level, below, parts.shape.count(), |number| {
            self.at(location, || {
                let part = self.pushed(&self.element(parts, number, own)?, own)?;
                if part.level != below {
                    return Err(self.fault(own, "a part of another level than its type says"));
                }
                if let PushKind::Concat { size, .. } = &push.kind
                    && part.length > (*size).min(push.length.saturating_sub(number.saturating_mul(*size)))
                {
                    let message = format!("a part of {} elements where each has {size}", part.length);
                    let help = "the first argument of `concat` is the number of elements of each part";
                    return Err(Box::new(Diagnostic::new(own, message).help(help)));
                }
                self.run_push(&part, own, &mut |index, value| write(number, index, value))
            })
        })
    }

    /// Whether the location respects a level (rules 31 and 32), or is above one that does.
    pub(super) fn respects(&self, level: CostLevel, span: Span) -> Outcome<()> {
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

    /// Returns the number of threads of one location of a level; `None` for a grid, which has as many as are needed.
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
        mut each: impl FnMut(usize) -> Outcome<()>,
    ) -> Outcome<()> {
        let threads = self.threads(level);
        let group = match level {
            // A grid is made of whole blocks.
            CostLevel::Grid => self.threads(CostLevel::Block).unwrap_or(1),
            _ => threads.unwrap_or(1),
        };
        let idle = count.div_ceil(group).saturating_mul(group).saturating_sub(count);
        self.meter.threads(level, count as u64, idle as u64);
        self.rounds(
            count,
            threads,
            |number| number % group,
            |number| {
                if level == CostLevel::Grid {
                    self.block.set(number / group);
                }
                each(number)
            },
        )
    }

    /// Deals parts out to the locations below a level (rule 42).
    pub(super) fn dealt_parts(
        &self,
        level: CostLevel,
        below: CostLevel,
        count: usize,
        mut each: impl FnMut(usize) -> Outcome<()>,
    ) -> Outcome<()> {
        let part = self.threads(below).unwrap_or(1);
        let locations = self.threads(level).map(|threads| threads.div_ceil(part));
        if let Some(locations) = locations {
            let idle = count.div_ceil(locations).saturating_mul(locations).saturating_sub(count);
            self.meter.threads(level, 0, idle.saturating_mul(part) as u64);
        }
        let first_thread = |number: usize| locations.map_or(0, |locations| number % locations * part);
        self.rounds(count, locations, first_thread, |number| {
            if level == CostLevel::Grid {
                self.block.set(number);
            }
            each(number)
        })
    }

    /// Does something for each number below `count`, so many at a time, by a thread of the group: the longest of a round counts.
    pub(super) fn rounds(
        &self,
        count: usize,
        width: Option<usize>,
        thread: impl Fn(usize) -> usize,
        mut each: impl FnMut(usize) -> Outcome<()>,
    ) -> Outcome<()> {
        let (mut begin, mut latest) = (self.meter.clock(), self.meter.clock());
        let first = self.thread.get();
        for number in 0..count {
            if width.is_some_and(|width| number % width == 0) {
                begin = latest;
            }
            self.meter.set_clock(begin);
            self.thread.set(first + thread(number));
            each(number)?;
            latest = latest.max(self.meter.clock());
        }
        self.meter.set_clock(latest);
        self.thread.set(first);
        Ok(())
    }
}
