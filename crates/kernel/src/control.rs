//! Loops and conditions in a kernel: what is not unrolled while it is built.
//!
//! The `seq_` functions run in one thread (or, where the execution scope is a block or a warp, in all of its threads alike).
//! `while_` and `power` repeat a step on an array at a level, through the level's memory.

use crate::builder::{named, with};
use crate::check;
use crate::effects;
use crate::force::Target;
use crate::item::{ItemForm, Ix, Storable};
use crate::level::{AnyLevel, Block, Forces, Loops, Thread};
use crate::place::{at_place, here};
use crate::push::{now, same_level};
use crate::size::Size;
use crate::{Pull, Push};
use pumice_scalar::{Exp, Place, Term};

/// A loop with so few rounds is written out.
const FEW: i64 = 16;

fn whole(value: i64) -> Term {
    Exp::<i64>::from(value).term()
}

/// Steps through the indices 0, `step`, 2 `step`, … below `end` in one thread, carrying a value along. Without a loop if
/// there are only a few steps.
///
/// ```
/// use pumice::kernel::{Ix, Pull, preview, seq_for};
/// let result = preview(32, &[2, 3], |xs: Pull<i32, Ix>| {
///     let powers = xs.map(|x| seq_for::<i32>(3.into(), 1, 1.into(), |power, _| power * x));
///     powers.push()
/// })?;
/// assert_eq!(result, [8, 27]);
/// # Ok::<(), pumice::kernel::PreviewError>(())
/// ```
#[track_caller]
pub fn seq_for<T: Storable>(
    end: Ix,
    step: i64,
    initial: T::Form,
    body: impl Fn(T::Form, Ix) -> T::Form,
) -> T::Form {
    let place = here("seq_for");
    let step = step.max(1);
    if let Some(known) = end.term().integer()
        && known <= FEW.saturating_mul(step)
    {
        let indices = (0..known).step_by(step as usize);
        return indices.fold(initial, |accumulator, index| body(accumulator, index.into()));
    }
    at_place(place, || {
        let results = effects::sequential(
            whole(0)..end.term(),
            whole(step),
            &T::terms(&initial),
            |index, carried: &[Term]| T::terms(&body(T::from_terms(carried.to_vec()), Exp::from_term(index))),
        );
        T::from_terms(results)
    })
}

/// Changes a value by `step` until `stop` says so of it. Unlike [`pumice_scalar::while_`], the step may read and write
/// memory that changes.
///
/// ```
/// use pumice::kernel::{Ix, Pull, preview, seq_until};
/// let result = preview(32, &[7, 100], |xs: Pull<i32, Ix>| {
///     let halved = xs.map(|x| seq_until::<i32>(x, |x| x.lt(10), |x| x / 2));
///     halved.push()
/// })?;
/// assert_eq!(result, [7, 6]);
/// # Ok::<(), pumice::kernel::PreviewError>(())
/// ```
#[track_caller]
pub fn seq_until<T: Storable>(
    initial: T::Form,
    stop: impl FnOnce(T::Form) -> Exp<bool>,
    step: impl FnOnce(T::Form) -> T::Form,
) -> T::Form {
    let place = here("seq_until");
    at_place(place, || {
        let results = effects::repeat_while(
            &T::terms(&initial),
            |carried| (!stop(T::from_terms(carried.to_vec()))).term(),
            |carried| T::terms(&step(T::from_terms(carried.to_vec()))),
        );
        T::from_terms(results)
    })
}

/// Does one of two things, as far as memory and barriers are concerned; see [`pumice_scalar::cond`] for values.
///
/// ```
/// use pumice::kernel::{Block, Ix, Mutable, Pull, cond, preview};
/// let result = preview(32, &[1, 2, 3, 4], |xs: Pull<i32, Ix>| {
///     let blocks = xs.split_up(4).map(|part| {
///         let memory = Mutable::shared(part.clone());
///         let writer = memory.clone();
///         let large = part.imap(move |i, x| {
///             cond(x.gt(2), || writer.write(i, x * 10), || {});
///             x
///         });
///         large.push::<Block>().force();
///         memory.freeze().push::<Block>()
///     });
///     blocks.concat_by(4, 4usize)
/// })?;
/// assert_eq!(result, [1, 2, 30, 40]);
/// # Ok::<(), pumice::kernel::PreviewError>(())
/// ```
#[track_caller]
pub fn cond(condition: Exp<bool>, then: impl FnOnce(), otherwise: impl FnOnce()) {
    let place = here("cond");
    at_place(place, || effects::either(condition.term(), then, otherwise));
}

impl<T: Storable, S: Size> Pull<T, S> {
    /// Reduces in order, in one thread, starting from `initial`.
    ///
    /// ```
    /// use pumice::kernel::{Ix, Pull, preview};
    /// let result = preview(32, &[1, 2, 3, 4], |xs: Pull<i32, Ix>| xs.split_up(2).map(|two| two.seq_reduce(0.into(), |a, b| a + b)).push())?;
    /// assert_eq!(result, [3, 7]);
    /// # Ok::<(), pumice::kernel::PreviewError>(())
    /// ```
    #[track_caller]
    pub fn seq_reduce(self, initial: T::Form, f: impl Fn(T::Form, T::Form) -> T::Form) -> T::Form {
        seq_for::<T>(self.len().to_ix(), 1, initial, |accumulator, i| f(accumulator, self.get(i)))
    }

    /// The results of reducing the elements up to each, that one included, in order and in one thread.
    ///
    /// ```
    /// use pumice::kernel::{Ix, Pull, preview};
    /// let result = preview(32, &[1, 2, 3], |xs: Pull<i32, Ix>| xs.split_up(3).map(|part| part.seq_scan(0.into(), |a, b| a + b)).concat())?;
    /// assert_eq!(result, [1, 3, 6]);
    /// # Ok::<(), pumice::kernel::PreviewError>(())
    /// ```
    #[track_caller]
    pub fn seq_scan(
        self,
        initial: T::Form,
        f: impl Fn(T::Form, T::Form) -> T::Form + 'static,
    ) -> Push<Thread, T, S> {
        let place = here("seq_scan");
        Push::trusted(self.len(), move |write| {
            at_place(place, || {
                seq_for::<T>(self.len().to_ix(), 1, initial.clone(), |accumulator, i| {
                    let next = f(accumulator, self.get(i));
                    write(i, next.clone());
                    next
                });
            });
        })
    }

    /// One more element, if there is one: `f(accumulator, element)` where the index is in the array.
    pub(crate) fn reduce_if_within(
        &self,
        index: Ix,
        accumulator: T::Form,
        f: impl Fn(T::Form, T::Form) -> T::Form,
    ) -> T::Form {
        let within = index.lt(self.len().to_ix());
        let element = || f(accumulator.clone(), self.get(index));
        crate::pull::choose::<T>(within, element, || accumulator.clone())
    }
}

/// The array that a loop works on: two areas of memory, of which one is read while the other is written.
struct Buffer<T: Storable> {
    target: Target,
    level: AnyLevel,
    capacity: usize,
    of: std::marker::PhantomData<T>,
}

impl<T: Storable> Buffer<T> {
    fn new(level: AnyLevel, capacity: usize) -> Self {
        let target = Target::new(level, capacity.saturating_mul(2));
        Buffer { target, level, capacity, of: std::marker::PhantomData }
    }

    /// Writes an array to the area that starts at `area`, and waits. Gives the length.
    fn fill<L: Forces>(&self, array: &Push<L, T, Ix>, area: Ix, place: Place) -> Ix {
        let capacity = self.capacity.to_ix();
        same_level(self.level, array.level(), "in one loop");
        self.target.prepare(array, area, self.capacity);
        array.write(&|index, value| {
            check::if_within(index, capacity, place, |index| {
                self.target.write::<T>(area + index, &value);
            });
        });
        self.level.sync();
        array.len().min(capacity)
    }

    /// The array in the area that starts at `area`.
    fn array(&self, length: Ix, area: Ix) -> Pull<T, Ix> {
        let read = self.target.reader::<T>();
        Pull::new(length, move |i| read(area + i))
    }

    /// The other area.
    fn other(&self, area: Ix) -> Ix {
        self.capacity.to_ix() - area
    }
}

fn two(terms: &[Term]) -> (Ix, Ix) {
    match terms {
        [length, area] => (Exp::from_term(*length), Exp::from_term(*area)),
        _ => (Exp::from(0), Exp::from(0)),
    }
}

/// Repeats `step` on an array while `condition` holds of it, through the level's memory: FCL's `while`. No array on the way
/// has more than `capacity` elements; more are an error when the kernel runs. The last one is given.
///
/// ```
/// use pumice::kernel::{Block, Ix, Pull, preview, while_};
/// let result = preview(32, &[1, 2, 3, 4, 5, 6, 7, 8], |xs: Pull<i32, Ix>| {
///     let sums = xs.tiles(4).map(|tile| {
///         let step = |xs: Pull<i32, Ix>| {
///             let (low, high) = xs.halve();
///             low.zip_with(high, |a, b| a + b).push::<Block>()
///         };
///         while_(4, tile.push(), |xs| xs.len().gt(1), step).take(1).push::<Block>()
///     });
///     sums.concat_by(1, 2usize)
/// })?;
/// assert_eq!(result, [10, 26]);
/// # Ok::<(), pumice::kernel::PreviewError>(())
/// ```
#[track_caller]
pub fn while_<L: Forces, T: Storable>(
    capacity: usize,
    initial: Push<L, T, Ix>,
    condition: impl FnOnce(Pull<T, Ix>) -> Exp<bool>,
    step: impl FnOnce(Pull<T, Ix>) -> Push<L, T, Ix>,
) -> Pull<T, Ix> {
    let place = here("while_");
    at_place(place, || {
        let buffer = Buffer::<T>::new(initial.level(), capacity);
        let first = buffer.fill(&initial, Exp::from(0), place);
        let last = effects::repeat_while(
            &[first.term(), whole(0)],
            |state| {
                let (length, area) = two(state);
                condition(buffer.array(length, area)).term()
            },
            |state| {
                let (length, area) = two(state);
                let next = step(buffer.array(length, area));
                let other = named(buffer.other(area), "other");
                let length = buffer.fill(&next, other, place);
                vec![length.term(), other.term()]
            },
        );
        let (length, area) = two(&last);
        buffer.array(length, area)
    })
}

/// Does `step` to an array `times` times, through the level's memory: FCL's `power`. See [`while_`].
///
/// ```
/// use pumice::kernel::{Block, Ix, Pull, power, preview};
/// let result = preview(32, &[1, 2], |xs: Pull<i32, Ix>| {
///     let turned = xs.tiles(4).map(|tile| {
///         let step = |_, xs: Pull<i32, Ix>| xs.map(|x| x * 2).push::<Block>();
///         power(4, 3.into(), tile.push(), step).push::<Block>()
///     });
///     turned.concat_by(4, 2usize)
/// })?;
/// assert_eq!(result, [8, 16]);
/// # Ok::<(), pumice::kernel::PreviewError>(())
/// ```
#[track_caller]
pub fn power<L: Forces, T: Storable>(
    capacity: usize,
    times: Ix,
    initial: Push<L, T, Ix>,
    step: impl Fn(Ix, Pull<T, Ix>) -> Push<L, T, Ix>,
) -> Pull<T, Ix> {
    let place = here("power");
    at_place(place, || {
        let buffer = Buffer::<T>::new(initial.level(), capacity);
        let first = [buffer.fill(&initial, Exp::from(0), place).term(), whole(0)];
        let last = effects::sequential(whole(0)..times.term(), whole(1), &first, |round, state| {
            let (length, area) = two(state);
            let next = step(Exp::from_term(round), buffer.array(length, area));
            let other = named(buffer.other(area), "other");
            let length = buffer.fill(&next, other, place);
            vec![length.term(), other.term()]
        });
        let (length, area) = two(&last);
        buffer.array(length, area)
    })
}

/// The step of each thread of a block in one round of [`accumulate`]: from its number and its values to its next values.
///
/// ```
/// use pumice::Exp;
/// use pumice::kernel::{Pull, Round};
/// // Each thread adds the element of its number.
/// fn adding(row: Pull<i32>) -> Round<Exp<i32>> {
///     Box::new(move |thread, sum| vec![sum[0] + row.at(thread)])
/// }
/// ```
pub type Round<T> = Box<dyn Fn(Ix, Vec<T>) -> Vec<T>>;

/// A sequential loop of a block in which each of its first `threads` threads keeps some values to itself, in registers.
///
/// `initial` gives a thread's first values. Each round first does what `round` does as a block (force tiles, say), then
/// every thread changes its values by the function that `round` gives. The results are an array of threads, each with an
/// array of its values, that is read by the same threads only: push the outer array at `Block`.
///
/// ```
/// use pumice::kernel::{Block, Ix, Pull, Round, Thread, accumulate, preview};
/// use pumice::Exp;
/// // Each of four threads sums a column of a matrix whose rows a block reads one after the other.
/// let result = preview(32, &[1, 2, 3, 4, 10, 20, 30, 40], |xs: Pull<i32, Ix>| {
///     let blocks = xs.tiles(8).map(|matrix| {
///         let sums = accumulate(4, 2.into(), |_| vec![Exp::from(0)], move |round| -> Round<Exp<i32>> {
///             let matrix = matrix.clone();
///             let row = Pull::<i32>::new(4, move |i| matrix.at(round * 4 + i)).push::<Block>().force();
///             Box::new(move |thread, sum| vec![sum[0] + row.at(thread)])
///         });
///         sums.map(|own| own.push::<Thread>()).concat::<Block>()
///     });
///     blocks.concat_by(4, 4usize)
/// })?;
/// assert_eq!(result, [11, 22, 33, 44]);
/// # Ok::<(), pumice::kernel::PreviewError>(())
/// ```
#[track_caller]
pub fn accumulate<F: ItemForm>(
    threads: usize,
    rounds: Ix,
    initial: impl Fn(Ix) -> Vec<F>,
    round: impl FnOnce(Ix) -> Round<F>,
) -> Pull<Pull<F::Item>>
where
    F::Item: Storable,
{
    let place = here("accumulate");
    at_place(place, || {
        let count = std::cell::Cell::new(0);
        let own = std::cell::RefCell::new(None);
        Block::each(threads.to_ix(), &|thread| {
            let values = initial(thread);
            count.set(values.len());
            let mut own = own.borrow_mut();
            let own = own.get_or_insert_with(|| Target::new(AnyLevel::Thread, values.len()));
            for (k, value) in values.iter().enumerate() {
                own.write::<F::Item>(Exp::from(k as i64), value);
            }
        });
        let count = count.get();
        let own = own.into_inner().unwrap_or_else(|| Target::new(AnyLevel::Thread, 0));
        let read = own.reader::<F::Item>();
        effects::sequential(whole(0)..rounds.term(), whole(1), &[], |number, _| {
            let step = round(Exp::from_term(number));
            Block::each(threads.to_ix(), &|thread| {
                let values: Vec<F> = (0..count).map(|k| read(Exp::from(k as i64))).collect();
                // All values are read before any is written.
                let values: Vec<F> = values.iter().map(now::<F::Item>).collect();
                let next = step(thread, values);
                if next.len() != count {
                    let found = next.len();
                    with(|builder| {
                        builder.mistake(format!("a round makes {found} values of a thread's {count}"));
                    });
                }
                for (k, value) in next.iter().enumerate().take(count) {
                    own.write::<F::Item>(Exp::from(k as i64), value);
                }
            });
            Vec::new()
        });
        Pull::new(threads, move |_| Pull::new(count, read.clone()))
    })
}
