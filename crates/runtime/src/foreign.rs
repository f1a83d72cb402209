//! Functions of users that work on a device's memory inside array programs: libraries of a vendor, or code in another language.
//!
//! Their users alone answer for what they do: nothing here can check what is done with an address.

use crate::device_array::{DeviceArray, into_array_error};
use crate::error::{Error, Result};
use crate::pool::Pooled;
use crate::status::Status;
use pumice_array::{Acc, Array, ArrayData, Arrays, Error as ArrayError, Shape, foreign_by};
use pumice_scalar::{Elt, Place, PlacedMessage, Primitive, ScalarType};
use std::any::Any;
use std::sync::Arc;

/// The kinds of devices whose memory other code can use.
const RAW_KINDS: [&str; 3] = ["cpu", "cuda", "opencl"];

/// Arguments of a function of [`foreign_on`].
#[derive(Debug)]
pub struct DeviceCall<'a> {
    /// The queue in which all work of the device is done in order: a `CUstream`, whose context is current in this thread, or a
    /// `cl_command_queue`; 0 on a CPU, where all work before has been done.
    pub queue: u64,
    /// The array that the function is given. It is not to be changed.
    pub input: DeviceColumns<'a>,
    /// The array that the function is to write. Its elements are anything.
    pub output: DeviceColumns<'a>,
}

/// An array in a device's memory: each scalar of an element has a column of its own, row by row.
#[derive(Debug)]
pub struct DeviceColumns<'a> {
    /// The extents, outermost first.
    pub extents: &'a [usize],
    /// The scalar types of an element. A `bool` is a byte, 0 or 1.
    pub types: &'a [ScalarType],
    /// For each of them where its column is: an address on a CPU, a `CUdeviceptr`, or a `cl_mem`.
    pub handles: Vec<u64>,
}

impl DeviceColumns<'_> {
    /// The number of elements.
    pub fn len(&self) -> usize {
        self.extents.iter().product()
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The address of a column's first element, on a CPU. Nothing if there is no such column, or it is of another type.
    pub fn pointer<T: Primitive>(&self, column: usize) -> Option<*mut T> {
        let handle = self.handles.get(column)?;
        (self.types.get(column) == Some(&T::TYPE)).then_some(*handle as *mut T)
    }
}

/// Applies a function to an array in the memory of devices of a kind, `"cpu"`, `"cuda"` or `"opencl"`; elsewhere, and where
/// `extents` gives nothing, applies `fallback`. The fallback may use [`foreign`](pumice_array::foreign), for a
/// function of the host, or this, for another kind of device.
///
/// `extents` gives the extents of the result for those of the array. An error of the function is an error of the program, with
/// this place.
///
/// # Safety
/// The function writes every element of the output, a `bool` as 0 or 1, and no other memory of the device. What it puts into the
/// queue is ordered with the work of programs; what it does otherwise begins after the work that is in the queue, and is done
/// when the function returns. It does not use the handles later.
///
/// ```
/// use pumice::prelude::*;
/// use pumice::{DeviceCall, foreign_on, run};
///
/// // As a library in C would have it.
/// unsafe fn negate(count: usize, from: *const f32, to: *mut f32) {
///     for i in 0..count {
///         unsafe { *to.add(i) = -*from.add(i) };
///     }
/// }
/// let negated = |call: &DeviceCall<'_>| {
///     let pointers = call.input.pointer::<f32>(0).zip(call.output.pointer::<f32>(0));
///     let (from, to) = pointers.ok_or("these are no floats")?;
///     // SAFETY: both arrays have so many elements.
///     unsafe { negate(call.output.len(), from, to) };
///     Ok(())
/// };
/// // SAFETY: it writes each element of the output.
/// let xs = unsafe { foreign_on("cpu", use_(&[1.0f32, 2.0]), |extents| Some(extents), negated, |xs| xs.map(|x| -x)) };
/// assert_eq!(run(xs.map(|x| x + 1.0))?.to_vec()?, [0.0, -1.0]);
/// # Ok::<(), pumice::Error>(())
/// ```
#[track_caller]
pub unsafe fn foreign_on<D: Shape, T: Elt, E: Shape, U: Elt>(
    kind: &'static str,
    input: Acc<Array<D, T>>,
    extents: impl Fn(D::Extents) -> Option<E::Extents> + Send + Sync + 'static,
    function: impl Fn(&DeviceCall<'_>) -> std::result::Result<(), String> + Send + Sync + 'static,
    fallback: impl FnOnce(Acc<Array<D, T>>) -> Acc<Array<E, U>>,
) -> Acc<Array<E, U>> {
    let place = Place::caller("foreign_on");
    let call = move |arrays: &Arrays| -> Option<std::result::Result<Arc<dyn ArrayData>, ArrayError>> {
        if !RAW_KINDS.contains(&kind) {
            let known = RAW_KINDS.join("`, `");
            let mistake =
                format!("functions work on devices of the kinds `{known}`, not on `{kind}`, in {place}");
            return Some(Err(ArrayError::Program(mistake.into())));
        }
        let given: &dyn Any = &**arrays.first()?;
        let given = given.downcast_ref::<DeviceArray>()?;
        if given.engine.device().name().kind() != kind {
            return None;
        }
        let wanted = extents(D::Extents::try_from(given.extents()).ok()?)?;
        let result = call_with(given, wanted.as_ref(), U::types(), &function, place);
        Some(result.map_err(into_array_error))
    };
    foreign_by(input, Some(kind), call, fallback, place)
}

/// The array of these extents and types that a function writes.
fn call_with(
    given: &DeviceArray,
    extents: &[usize],
    types: Vec<ScalarType>,
    function: &dyn Fn(&DeviceCall<'_>) -> std::result::Result<(), String>,
    place: Place,
) -> Result<Arc<dyn ArrayData>> {
    let engine = &given.engine;
    let device = engine.device();
    let too_large =
        || Error::Invalid(PlacedMessage::at(format!("an array of extents {extents:?} is too large"), place));
    let count =
        extents.iter().try_fold(1usize, |all, extent| all.checked_mul(*extent)).ok_or_else(too_large)?;
    let column = |ty: &ScalarType| engine.allocate(count.checked_mul(ty.bytes()).ok_or_else(too_large)?);
    let columns = types.iter().map(column).collect::<Result<Vec<_>>>()?;
    let refused =
        || Error::Invalid(format!("device `{}` has no memory for other code", device.name()).into());
    let queue = device.raw_queue()?.ok_or_else(refused)?;
    let handles = |columns: &[Arc<Pooled>]| -> Result<Vec<u64>> {
        let handle = |column: &Arc<Pooled>| device.raw_memory(column.memory()?)?.ok_or_else(refused);
        columns.iter().map(handle).collect()
    };
    let input =
        DeviceColumns { extents: given.extents(), types: given.types(), handles: handles(&given.columns)? };
    let output = DeviceColumns { extents, types: &types, handles: handles(&columns)? };
    if let Err(message) = function(&DeviceCall { queue, input, output }) {
        // If what it was given is a failure, that is the reason.
        given.status.check()?;
        return Err(Error::Failure(PlacedMessage::at(message, place)));
    }
    let status = Status::new(device.clone(), None, [].into(), [given.status.clone()]);
    Ok(Arc::new(DeviceArray::new(engine.clone(), extents.to_vec(), types.into(), columns, status)))
}
