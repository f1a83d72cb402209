//! One producer and the consumers that listen to it: how a kernel of an array program is put together.
//!
//! A producer is a push array of the grid: a program that hands on elements, whatever its loops are. A consumer is three
//! hooks around those: before a block's first element, at each element, after a block's last. What it keeps between them is
//! in registers ([`Mutable::own`](crate::Mutable::own)) or in shared memory. Several consumers may listen to one producer.

use crate::Push;
use crate::builder::{during, with};
use crate::item::{Dynamic, Ix, Scalars};
use crate::level::Grid;
use std::rc::Rc;

/// Hears the elements of a producer: a consumer.
pub trait Listener {
    /// Prepares a block, before its first element. Stands where a block as a whole is at work.
    fn start(&self, _block: Ix) {}
    /// Takes one element with its index. Stands where a single thread is at work.
    fn element(&self, index: Ix, value: Scalars);
    /// Ends a block, after its last element. Stands where a block as a whole is at work.
    fn finish(&self, _block: Ix) {}
}

/// Runs a producer, with all of these listening.
pub fn hand_on(producer: &Push<Grid, Dynamic, Ix>, listeners: &[Rc<dyn Listener>]) {
    during(
        |builder| std::mem::replace(&mut builder.listeners, listeners.to_vec()),
        |builder, before| builder.listeners = before,
        || {
            producer.write(&|index, value| {
                for listener in listeners {
                    listener.element(index, value.clone());
                }
            });
        },
    );
}

/// Does the work of a block between the hooks of those who listen.
pub(crate) fn between_hooks(block: Ix, body: impl FnOnce()) {
    let listeners: Vec<Rc<dyn Listener>> = with(|builder| std::mem::take(&mut builder.listeners));
    listeners.iter().for_each(|listener| listener.start(block));
    body();
    listeners.iter().for_each(|listener| listener.finish(block));
    with(|builder| builder.listeners = listeners);
}
