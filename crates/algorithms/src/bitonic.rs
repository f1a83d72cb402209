//! The kernel in the appendix of "Expressive Array Constructs in an Embedded GPU Kernel Programming Language": bitonic sort by
//! hand, against which its generated kernels are measured.

use pumice::kernel::{Block, Forces, Ix, Loops, Mutable, Pull, Push, cond};
use pumice::{Elt, Exp, Number};

/// Sorts a block in shared memory that changes, a thread an element. Parts are sorted up and down in turn, so that two of
/// them together rise and then fall; each pair is looked after by the thread of its lower element, which finds out in which
/// direction it is.
pub fn bitonic_block<T: Number + Elt<Exp = Exp<T>>>(values: Pull<T>) -> Push<Block, T> {
    let count = values.len();
    let shared = Mutable::shared(values);
    let mut size = 2;
    while size <= count {
        let mut distance = size / 2;
        while distance > 0 {
            Block::for_each((count as i64).into(), &|thread| {
                exchange(&shared, thread, distance as i64, size as i64);
            });
            Block::sync();
            distance /= 2;
        }
        size *= 2;
    }
    Pull::new(count, move |i| shared.read(i)).push()
}

/// Puts an element and the one `distance` away from it in order: rising where the bit `size` of the index is zero.
fn exchange<T: Number + Elt<Exp = Exp<T>>>(shared: &Mutable<T>, thread: Ix, distance: i64, size: i64) {
    let other = thread ^ distance;
    let swap_if = |wrong: fn(Exp<T>, Exp<T>) -> Exp<bool>| {
        let (here, there) = (shared.read(thread), shared.read(other));
        let swap = || {
            shared.write(thread, there);
            shared.write(other, here);
        };
        cond(wrong(here, there), swap, || {});
    };
    let in_order = || {
        cond(
            (thread & size).eq(0),
            || swap_if(|here, there| here.gt(there)),
            || swap_if(|here, there| here.lt(there)),
        );
    };
    cond(other.gt(thread), in_order, || {});
}
