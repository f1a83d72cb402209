//! Programs applied to more data than fits a device: chunk after chunk, a few of them under way at once.

use crate::arguments::Arguments;
use crate::compile::Compiled;
use crate::results::ProgramResult;
use crate::running::Running;
use pumice_runtime::Result;
use std::collections::VecDeque;
use std::iter::Fuse;

/// Chunks that are under way at once: one is brought to the device, one computed, one brought back.
const IN_FLIGHT: usize = 3;

impl<P, R: ProgramResult> Compiled<P, R> {
    /// Applies the program to each of many inputs, as `Iterator::map` does: for data that does not fit the device. Results come in
    /// the order of the inputs, in the host's memory.
    ///
    /// Up to three inputs are under way at once, each on a thread of its own, as for [`Compiled::run_async`]: while one is
    /// computed, the next one is brought to the device and the one before it is brought back, as far as the device does these at
    /// the same time. No other input or result is held: inputs are taken from the iterator as results are asked for, a chunk's
    /// input is dropped when it is done, and its device memory is free before its result is given.
    ///
    /// An error stands in the place of the input that failed, and the stream goes on with the next one. To end at the first error,
    /// collect into a `Result`. Dropping the stream cancels the runs under way.
    ///
    /// ```
    /// use pumice::prelude::*;
    /// let quotients = pumice::Compiler::on("cpu")?.compile(|xs: Acc<Vector<i64>>, by: Exp<i64>| xs.map(|x| x / by))?;
    /// let chunks = (-1..4).map(|by| (vec![6, 12], by));
    /// let results: Vec<_> = quotients.map_stream(chunks).map(|result| result?.to_vec().map_err(Into::into)).collect();
    /// assert_eq!(results[0], Ok(vec![-6, -12]));
    /// assert!(matches!(&results[1], Err(pumice::Error::Failure(message)) if message.contains("division by zero")));
    /// assert_eq!(results[4], Ok(vec![2, 4]));
    /// # Ok::<(), pumice::Error>(())
    /// ```
    pub fn map_stream<I: IntoIterator>(&self, inputs: I) -> MapStream<P, R, I::IntoIter>
    where
        I::Item: Arguments<P>,
    {
        let in_flight = VecDeque::with_capacity(IN_FLIGHT);
        MapStream { program: self.clone(), inputs: inputs.into_iter().fuse(), in_flight }
    }

    /// Starts a run that leaves nothing on the device.
    fn start_chunk(&self, arguments: impl Arguments<P>) -> Running<R::Value> {
        let (untyped, inputs) = (self.untyped.clone(), arguments.collect());
        Running::start(untyped.device().name(), move |cancelled| {
            let engine = untyped.engine();
            let outcome = untyped.run_unless(cancelled, &inputs).and_then(|arrays| {
                let arrays = arrays.iter().map(|array| engine.download(array));
                R::value(&mut arrays.collect::<Result<Vec<_>>>()?.into_iter())
            });
            // Also of a chunk that failed.
            drop(inputs);
            engine.forget_copies();
            outcome
        })
    }
}

/// The results of a program for many inputs, in order, as returned by [`Compiled::map_stream`].
///
/// ```
/// use pumice::prelude::*;
/// let doubled = pumice::compile(|xs: Acc<Vector<i64>>| xs.map(|x| x + x))?;
/// let mut stream = doubled.map_stream([vec![1], vec![2, 3]]);
/// assert_eq!(stream.next().transpose()?.map(|xs| xs.len()), Some(1));
/// assert_eq!(stream.next().transpose()?.map(|xs| xs.len()), Some(2));
/// assert!(stream.next().is_none());
/// # Ok::<(), pumice::Error>(())
/// ```
#[must_use = "a stream does nothing until results are asked for"]
pub struct MapStream<P, R: ProgramResult, I> {
    program: Compiled<P, R>,
    inputs: Fuse<I>,
    in_flight: VecDeque<Running<R::Value>>,
}

impl<P, R: ProgramResult, I: Iterator> Iterator for MapStream<P, R, I>
where
    I::Item: Arguments<P>,
{
    type Item = Result<R::Value>;

    fn next(&mut self) -> Option<Self::Item> {
        while self.in_flight.len() < IN_FLIGHT {
            let Some(arguments) = self.inputs.next() else { break };
            self.in_flight.push_back(self.program.start_chunk(arguments));
        }
        self.in_flight.pop_front().map(Running::wait)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let (least, most) = self.inputs.size_hint();
        let waiting = self.in_flight.len();
        (least.saturating_add(waiting), most.and_then(|most| most.checked_add(waiting)))
    }
}
