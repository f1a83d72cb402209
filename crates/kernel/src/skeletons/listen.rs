//! One producer and the consumers that listen to it: how a kernel of an array program is put together.
//!
//! A producer is a push array of the grid: a program that hands on elements, whatever its loops are. A consumer is three
//! hooks around those: before a block's first element, at each element, after a block's last. What it keeps between them is
//! in registers ([`Mutable::own`](crate::Mutable::own)) or in shared memory. Several consumers may listen to one producer.

use crate::Push;
use crate::builder::{during, with};
use crate::item::{Dynamic, Ix, Scalars};
use crate::level::Grid;
use pumice_scalar::Exp;
use std::rc::Rc;

/// Hears the elements of a producer: a consumer.
pub trait Listener {
    /// Prepares a block, before its first element. Stands where the execution scope is a block.
    fn start(&self, _block: Ix) {}
    /// Takes one element with its index. Stands where the execution scope is a thread.
    fn element(&self, index: Ix, value: Scalars);
    /// Whether it checks the elements that it takes and can be told that they have been: then a producer asks of many at once
    /// what [`Listener::accepts`] says, and hands them on between two calls of [`Listener::trust`].
    fn checks(&self) -> bool {
        false
    }
    /// Whether an element needs no check.
    fn accepts(&self, _index: Ix, _value: Scalars) -> Exp<bool> {
        Exp::from(false)
    }
    /// Says whether it accepts all elements from here on.
    fn trust(&self, _trusted: bool) {}
    /// Ends a block, after its last element. Stands where the execution scope is a block.
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

/// Does the work of a block between the hooks of its listeners.
pub(crate) fn between_hooks(block: Ix, body: impl FnOnce()) {
    let listeners: Vec<Rc<dyn Listener>> = with(|builder| std::mem::take(&mut builder.listeners));
    listeners.iter().for_each(|listener| listener.start(block));
    with(|builder| builder.hearing = listeners.clone());
    body();
    with(|builder| builder.hearing.clear());
    listeners.iter().for_each(|listener| listener.finish(block));
    with(|builder| builder.listeners = listeners);
}

/// Returns the listener of the current block, if there is one alone and it checks what it takes.
pub(super) fn checking() -> Option<Rc<dyn Listener>> {
    match with(|builder| builder.hearing.clone()).as_slice() {
        [one] if one.checks() => Some(one.clone()),
        _ => None,
    }
}
