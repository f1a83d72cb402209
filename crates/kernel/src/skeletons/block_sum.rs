//! Combining what the threads of a block have, in their order: lanes of a warp by shuffles, warps through shared memory. For devices
//! whose warps are there in hardware, and for others without shuffles.

use super::monoid::{Cells, Monoid, choose, each_thread, now, only_if, shuffle_down};
use crate::item::{Ix, Scalars};
use crate::{effects, quotient, remainder};
use pumice_program::WARP;
use pumice_scalar::Exp;

/// Sums that one thread combines.
const FEW: i64 = 8;

/// Combines the values of teams of neighbouring threads.
#[derive(Clone, Copy, Debug)]
pub(super) struct BlockSum {
    /// Threads of the block.
    pub threads: u32,
    /// Threads of a team, which is the whole block, or a power of two.
    pub team: u32,
    /// Whether lanes shuffle without memory: then a block is whole warps.
    pub shuffles: bool,
}

impl BlockSum {
    /// Cells of shared memory that it takes.
    pub fn cells(&self) -> i64 {
        i64::from(self.threads) / self.together()
    }

    /// Lanes whose values are combined without memory.
    fn together(&self) -> i64 {
        if self.shuffles { self.team.min(WARP).into() } else { 1 }
    }

    /// Combines the values of all threads, through cells from one on; `result` is given the number of each team with what it has,
    /// in one of its threads. All threads of the block take part, and nothing else uses the cells before the next barrier.
    pub fn combine(
        self,
        monoid: &Monoid,
        (cells, base): (&Cells, Ix),
        value: impl FnOnce(Ix) -> Scalars,
        result: impl Fn(Ix, Scalars),
    ) {
        let together = self.together();
        let mut count = i64::from(self.team) / together;
        each_thread(self.threads, |thread| {
            let sum = now(&value(thread));
            let place = remainder(thread, Exp::from(together));
            let sum = combine_lanes(monoid, sum, place, together);
            let number = quotient(thread, Exp::from(together));
            only_if(place.eq(0), || match count {
                1 => result(number, sum),
                _ => cells.write(base + number, &sum),
            });
        });
        if count == 1 {
            return;
        }
        effects::sync();
        let (teams, each) = (i64::from(self.threads / self.team), count);
        // More than a thread would take for itself: neighbours are combined, at twice the distance each time.
        while count > FEW && count % 2 == 0 {
            let distance = each / count;
            each_thread((teams * count / 2) as u32, |pair| {
                let at = base + pair * (2 * distance);
                let both = monoid.combine(&cells.read(at), &cells.read(at + distance));
                cells.write(at, &now(&both));
            });
            effects::sync();
            count /= 2;
        }
        each_thread(teams as u32, |team| {
            let sum = |number: i64| cells.read(base + team * each + number * (each / count));
            let all = (1..count).fold(sum(0), |all, number| now(&monoid.combine(&all, &sum(number))));
            result(team, all);
        });
    }
}

/// Combines what neighbouring lanes have: the first one of each team gets the result, and others anything.
pub(super) fn combine_lanes(monoid: &Monoid, mut sum: Scalars, place: Ix, team: i64) -> Scalars {
    let mut distance = 1;
    while distance < team {
        let other = shuffle_down(&sum, distance as i32);
        // What lanes combine that are not first reaches none that is.
        sum = now(&match monoid.total {
            true => monoid.combine(&sum, &other),
            false => {
                let is_first = (place & (2 * distance - 1)).eq(0);
                choose(is_first, || monoid.combine(&sum, &other), || sum.clone())
            }
        });
        distance *= 2;
    }
    sum
}
