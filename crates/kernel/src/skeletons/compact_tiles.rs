//! Compaction of a tile by a block: counts are scanned, and kept elements staged where they belong.

use super::compact::{Before, COUNT, Compact, adding, counting, element, number};
use super::look_back::{LookBack, LookBackKind};
use super::monoid::{Cells, each_thread, now, only_if, scan_lanes};
use super::scan::{ScanPlan, Write};
use super::scan_tiles::scan_totals;
use crate::item::{Ix, Scalars};
use crate::{effects, named};
use pumice_program::WARP;
use pumice_scalar::{Exp, ScalarType, Term};

const LANES: i64 = WARP as i64;

/// The tile that a block compacts.
pub(super) struct CompactTile<'a> {
    compact: &'a Compact,
    plan: ScanPlan,
    number: Ix,
    start: Ix,
    length: Ix,
}

/// Part of a tile that each thread has.
struct Own {
    /// A word, with a bit per element.
    flags: Cells,
    elements: Cells,
}

impl Own {
    /// The scalar types of an element.
    fn types(&self) -> Vec<ScalarType> {
        self.elements.0.iter().map(|(_, ty)| *ty).collect()
    }
}

impl<'a> CompactTile<'a> {
    /// The tile with this number.
    pub fn new(compact: &'a Compact, plan: ScanPlan, number: Ix) -> CompactTile<'a> {
        let start = named(number * plan.tile, "start");
        let length = named((compact.length - start).min(plan.tile).max(0), "length");
        CompactTile { compact, plan, number, start, length }
    }

    fn groups(&self) -> i64 {
        self.plan.groups.into()
    }

    fn items(&self) -> i64 {
        self.plan.items.into()
    }

    fn warps(&self) -> i64 {
        i64::from(self.plan.threads) / LANES
    }

    /// The first element of a thread's group of a part.
    fn offset(&self, thread: Ix, part: i64) -> Ix {
        (thread + part * i64::from(self.plan.threads)) * self.items()
    }

    fn each_item(&self) -> impl Iterator<Item = (i64, i64)> + use<> {
        let items = self.items();
        (0..self.groups()).flat_map(move |part| (0..items).map(move |item| (part, item)))
    }

    /// Writes what is kept of it.
    pub fn write(&self, before: &Before, write: Write<'_>) {
        let threads = self.plan.threads;
        let own = self.load();
        let counts = Cells::shared(&[ScalarType::I32], self.groups() * self.warps());
        let ranks = Cells::private(&[ScalarType::I32], self.groups());
        each_thread(threads, |thread| self.count_lanes(thread, &own.flags, &ranks, &counts));
        effects::sync();
        let staged = Cells::shared(&own.types(), self.plan.tile);
        let tile_count = Cells::shared(&COUNT, 1);
        let asks = match before {
            Before::LookBack(state) => {
                let groups = self.plan.tiles > i64::from(threads);
                let kind = LookBackKind { counts: true, threads, groups };
                let (matrix, tile) = ([Exp::from(1), self.compact.tiles], [Exp::from(0), self.number]);
                Some(LookBack::new(state, counting(), kind, matrix, tile))
            }
            Before::Nothing | Before::Counts(_) => None,
        };
        each_thread(threads, |thread| {
            let monoid = adding(ScalarType::I32);
            let (bases, count) = scan_totals(&monoid, thread, self.warps(), self.groups(), &counts);
            let count = now(&element(number::<i32>(&count).cast::<i64>()));
            only_if(thread.eq(0), || tile_count.write(0, &count));
            // The elements are staged while the tiles before have time to tell their counts.
            if let Some(asks) = &asks {
                asks.tell_own(thread, &count);
            }
            self.stage(thread, &own, &ranks, &bases, number(&count), &staged);
            if let Some(asks) = &asks {
                asks.ask(thread);
            }
        });
        effects::sync();
        let count = named(number::<i64>(&tile_count.read(0)).clamp(0, self.length), "count");
        if let Some(asks) = &asks {
            asks.ask_groups(|| element(count));
        }
        let kept_before = Cells::private(&COUNT, 1);
        each_thread(threads, |thread| {
            let kept = match (&asks, before) {
                (Some(asks), _) => asks.answer(),
                (None, Before::Counts(counts)) => counts(self.number),
                (None, _) => element(Exp::<i64>::from(0)),
            };
            // So many elements are there, so that this changes nothing but what can be seen of the range.
            let kept = number::<i64>(&kept).clamp(0, self.compact.length - count);
            kept_before.write(0, &element(kept));
            if let Some(tell) = &self.compact.count {
                let is_last = thread.eq(0) & self.number.eq(self.compact.tiles - 1);
                only_if(is_last, || tell(kept + count));
            }
        });
        self.store(&staged, count, &kept_before, write);
    }

    /// Reads the tile; beyond its end nothing is kept.
    fn load(&self) -> Own {
        let elements = std::cell::RefCell::new(None);
        let flags = Cells::private(&[ScalarType::U32], 1);
        let load = |whole: bool| {
            each_thread(self.plan.threads, |thread| {
                let mut word = Exp::<u32>::from(0);
                for (part, item) in self.each_item() {
                    let offset = self.offset(thread, part) + item;
                    let scalars = || {
                        let (flag, element) = (self.compact.at)(self.start + offset);
                        std::iter::once(flag.term()).chain(element.0).collect()
                    };
                    let scalars: Vec<Term> = match whole {
                        true => scalars(),
                        false => effects::choose(offset.lt(self.length).term(), scalars, effects::zeros),
                    };
                    let Some((flag, element)) = scalars.split_first() else { continue };
                    let mut elements = elements.borrow_mut();
                    let elements = elements.get_or_insert_with(|| {
                        let types: Vec<ScalarType> = element.iter().map(|term| term.ty()).collect();
                        Cells::private(&types, self.groups() * self.items())
                    });
                    elements.write(part * self.items() + item, &Scalars(element.to_vec()));
                    let bit = 1u32 << (part * self.items() + item);
                    word |= Exp::<bool>::from_term(*flag).select(Exp::<u32>::from(bit), Exp::from(0));
                }
                flags.write(0, &element(word));
            });
        };
        match self.plan.whole_tiles {
            false => load(false),
            true => {
                // Not asked of `length`: ptxas 13.0 takes a clamped value for equal to its upper bound where it is not.
                let is_whole = (self.compact.length - self.start).ge(self.plan.tile);
                effects::either(is_whole.term(), || load(true), || load(false));
            }
        }
        Own { flags, elements: elements.into_inner().unwrap_or(Cells(Vec::new())) }
    }

    /// Returns the number of bits of a warp's count of kept elements of a part: several counts are fields of one word.
    fn count_bits(&self) -> u32 {
        if LANES * self.items() < 256 { 8 } else { 16 }
    }

    /// Counts what lanes keep of each part: for each lane how many the lanes below it keep, and for each warp how many.
    fn count_lanes(&self, thread: Ix, flags: &Cells, ranks: &Cells, counts: &Cells) {
        let lane = thread % LANES;
        let (fields, bits) = (adding(ScalarType::U32), self.count_bits());
        let parts: Vec<i64> = (0..self.groups()).collect();
        let flags = number::<u32>(&flags.read(0));
        let word = |parts: &[i64]| {
            let mut word = Exp::<u32>::from(0);
            for (place, part) in (0u32..).zip(parts) {
                let of_part = (flags >> (*part * self.items()) as u32) & ((1 << self.items()) - 1) as u32;
                word += of_part.count_ones() << (bits * place);
            }
            now(&element(word))
        };
        let own: Vec<Scalars> = parts.chunks((32 / bits) as usize).map(word).collect();
        let scanned = scan_lanes(&fields, lane, LANES, own.clone());
        for ((parts, own), scanned) in parts.chunks((32 / bits) as usize).zip(&own).zip(&scanned) {
            let (own, scanned) = (number::<u32>(own), number::<u32>(scanned));
            let below = scanned - own;
            let field = |word: Exp<u32>, place: u32| (word >> (bits * place)) & ((1u32 << bits) - 1);
            for (place, part) in (0u32..).zip(parts) {
                let rank = field(below, place).cast::<i32>();
                ranks.write(*part, &element(rank));
            }
            only_if(lane.eq(LANES - 1), || {
                for (place, part) in (0u32..).zip(parts) {
                    let count = element(field(scanned, place).cast::<i32>());
                    counts.write(thread / LANES + *part * self.warps(), &count);
                }
            });
        }
    }

    /// Writes a thread's elements to shared memory, each where it belongs in the tile's part of the result.
    fn stage(&self, thread: Ix, own: &Own, ranks: &Cells, bases: &[Scalars], count: Ix, staged: &Cells) {
        let flags = number::<u32>(&own.flags.read(0));
        for (part, base) in (0..).zip(bases) {
            let mut rank = number::<i32>(base) + number::<i32>(&ranks.read(part));
            for item in 0..self.items() {
                let place = part * self.items() + item;
                let flag = ((flags >> place as u32) & 1).ne(0);
                let own_element = own.elements.read(place);
                rank = number(&now(&element(rank)));
                let kept = rank.cast::<i64>();
                match self.compact.kept {
                    None => only_if(flag, || staged.write(kept, &own_element)),
                    Some(_) => {
                        let offset = self.offset(thread, part) + item;
                        let place = flag.select(kept, count + (offset - kept));
                        only_if(offset.lt(self.length), || staged.write(place, &own_element));
                    }
                }
                rank += flag.select(Exp::<i32>::from(1), Exp::from(0));
            }
        }
    }

    /// Writes the staged elements, neighbouring threads neighbouring ones.
    fn store(&self, staged: &Cells, count: Ix, kept_before: &Cells, write: Write<'_>) {
        let all = if self.compact.kept.is_some() { self.length } else { count };
        effects::parallel(all.term(), |place| {
            let place: Ix = Exp::from_term(place);
            let kept = number::<i64>(&kept_before.read(0));
            let others = (self.start - kept) + (place - count);
            let index = self.compact.index(place.lt(count), kept + place, others);
            write(index, staged.read(place));
        });
    }
}
