//! Functions of C that libraries made by `pumice build` call: a context, arrays, and calls of a file's functions by name. Their callers are
//! written by `pumice_lang::bindings`, which gives every function its types, and declares these with the same parameters.
//!
//! This is the border: pointers are checked and turned into references here, no panic leaves it, and an error is a number with a text
//! (`context.rs`). The calls themselves are safe Rust in the other files.

mod context;
mod function;

use context::{Context, Failed, Outcome, Status};
use pumice::layers::array::{ArrayData, HostData, whole_columns};
use pumice::layers::runtime::devices::KernelsAhead;
use pumice::layers::scalar::{Constant, ScalarType};
use std::ffi::{CStr, c_char, c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::slice;
use std::sync::Arc;

/// An array that C holds.
pub struct LibraryArray(Arc<dyn ArrayData>);

/// The name and text of a file, as C has them.
#[repr(C)]
pub struct LibraryText {
    name: *const c_char,
    name_length: usize,
    text: *const c_char,
    text_length: usize,
}

/// Asserts that objects held by C may be used by several threads at once.
const _: fn() = || {
    fn is_shared<T: Send + Sync>() {}
    is_shared::<Context>();
    is_shared::<LibraryArray>();
};

/// Opens a device for a file's functions. Null only if Pumice itself fails.
///
/// # Safety
/// `texts` points to `count` texts that point to as many bytes as they say, `kernels` to so many bytes that [`KernelsAhead::to_bytes`] gave, and
/// `device` is null or a text of C.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pumice_library_context_new(
    texts: *const LibraryText,
    count: usize,
    kernels: *const u8,
    kernel_bytes: usize,
    device: *const c_char,
) -> *mut Context {
    let made = catch_unwind(|| {
        // SAFETY: the caller promises that there are so many texts.
        let texts = unsafe { elements(texts, count) };
        let of = |at: *const c_char, length| {
            // SAFETY: the caller promises that there are so many bytes.
            String::from_utf8_lossy(unsafe { elements(at.cast(), length) })
        };
        let texts: Vec<_> = texts
            .iter()
            .map(|text| (of(text.name, text.name_length), of(text.text, text.text_length)))
            .collect();
        let texts: Vec<(&str, &str)> = texts.iter().map(|(name, text)| (&**name, &**text)).collect();
        // SAFETY: not null, so a text of C.
        let device = (!device.is_null()).then(|| unsafe { CStr::from_ptr(device) }.to_string_lossy());
        // SAFETY: the caller promises that there are so many bytes.
        let kernels = KernelsAhead::from_bytes(unsafe { elements(kernels, kernel_bytes) });
        Box::new(Context::new(&texts, kernels, device.as_deref()))
    });
    made.map_or(std::ptr::null_mut(), Box::into_raw)
}

/// Ends a context.
///
/// # Safety
/// `context` is null, or comes from [`pumice_library_context_new`] and is not used any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pumice_library_context_free(context: *mut Context) {
    if !context.is_null() {
        // SAFETY: it was made by `Box::into_raw`, and the caller gives it up.
        let context = unsafe { Box::from_raw(context) };
        // The caller has given the context up, so a panic while it is dropped is ignored.
        let _ = catch_unwind(AssertUnwindSafe(|| drop(context)));
    }
}

/// Takes the text of this thread's last error; null if there is none. The caller frees it.
///
/// # Safety
/// `context` is null or a context.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pumice_library_context_error(context: *const Context) -> *mut c_char {
    // SAFETY: null or a context, which is shared by threads and not changed but behind locks.
    let error = unsafe { context.as_ref() }.and_then(Context::take_error);
    match error {
        // SAFETY: a text of C. The copy belongs to the caller, or is null.
        Some(error) => unsafe { libc::strdup(error.as_ptr()) },
        None => std::ptr::null_mut(),
    }
}

/// Makes an array of a copy of elements; null if it cannot be made.
///
/// # Safety
/// `context` is null or a context, `shape` points to `rank` numbers, and `data` to as many elements of the type as these say.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pumice_library_array_new(
    context: *const Context,
    ty: c_int,
    rank: usize,
    shape: *const i64,
    data: *const c_void,
) -> *mut LibraryArray {
    let mut array = std::ptr::null_mut();
    let make = |_: &Context| {
        let ty = scalar_type(ty)?;
        // SAFETY: the caller promises that there are so many.
        let shape = unsafe { elements(shape, rank) };
        let negative =
            || Failed::invalid(format!("the extents {shape:?} are not those of an array in memory"));
        let extents = shape.iter().map(|extent| usize::try_from(*extent).map_err(|_| negative()));
        let extents = extents.collect::<Result<Vec<usize>, _>>()?;
        let bytes = extents.iter().try_fold(ty.bytes(), |count, extent| count.checked_mul(*extent));
        let bytes = bytes.filter(|bytes| isize::try_from(*bytes).is_ok()).ok_or_else(negative)?;
        if data.is_null() && bytes > 0 {
            return Err(Failed::invalid("the elements of a new array are NULL".to_string()));
        }
        let mut column: Vec<u8> = Vec::new();
        column
            .try_reserve_exact(bytes)
            .map_err(|_| Failed::invalid(format!("there is no memory for an array of {bytes} bytes")))?;
        // SAFETY: the caller promises that there are so many.
        let given = unsafe { elements(data.cast::<u8>(), bytes) };
        match ty {
            // C has been known to put other numbers where a truth value belongs.
            ScalarType::Bool => column.extend(given.iter().map(|byte| u8::from(*byte != 0))),
            _ => column.extend_from_slice(given),
        }
        let data = HostData::new(extents, vec![ty], vec![column]);
        array = Box::into_raw(Box::new(LibraryArray(Arc::new(data))));
        Ok(())
    };
    // SAFETY: null or a context.
    unsafe { with_context(context, make) };
    array
}

/// Copies the elements of an array to memory of the caller.
///
/// # Safety
/// `context` is null or a context, `array` null or an array, and `data` has room for its elements.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pumice_library_array_values(
    context: *const Context,
    array: *const LibraryArray,
    ty: c_int,
    rank: usize,
    data: *mut c_void,
) -> c_int {
    let copy = |_: &Context| {
        // SAFETY: null or an array.
        let array = unsafe { checked_array(array, ty, rank) }?;
        let columns = whole_columns(&**array).map_err(pumice::Error::from)?;
        let column: &[u8] = columns.first().map_or(&[], |column| column);
        if column.is_empty() {
            return Ok(());
        }
        if data.is_null() {
            return Err(Failed::invalid("there is no place for the values: `data` is NULL".to_string()));
        }
        // SAFETY: the caller promises room for all elements, and memory of ours is not the caller's.
        unsafe { std::ptr::copy_nonoverlapping(column.as_ptr(), data.cast(), column.len()) };
        Ok(())
    };
    // SAFETY: null or a context.
    unsafe { with_context(context, copy) }
}

/// Writes the extents of an array to memory of the caller.
///
/// # Safety
/// `context` is null or a context, `array` null or an array, and `shape` has room for its extents.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pumice_library_array_shape(
    context: *const Context,
    array: *const LibraryArray,
    ty: c_int,
    rank: usize,
    shape: *mut i64,
) -> c_int {
    let write = |_: &Context| {
        // SAFETY: null or an array.
        let array = unsafe { checked_array(array, ty, rank) }?;
        if shape.is_null() {
            return Err(Failed::invalid("there is no place for the extents: `shape` is NULL".to_string()));
        }
        for (dimension, extent) in array.extents().iter().enumerate() {
            // SAFETY: there are as many extents as the array has dimensions, which was checked, and the caller promises room for them.
            unsafe { shape.add(dimension).write(i64::try_from(*extent).unwrap_or(i64::MAX)) };
        }
        Ok(())
    };
    // SAFETY: null or a context.
    unsafe { with_context(context, write) }
}

/// Frees an array.
///
/// # Safety
/// `context` is null or a context; `array` is null, or comes from these functions and is not used any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pumice_library_array_free(
    context: *const Context,
    array: *mut LibraryArray,
) -> c_int {
    let free = |_: &Context| {
        if !array.is_null() {
            // SAFETY: it was made by `Box::into_raw`, and the caller gives it up.
            drop(unsafe { Box::from_raw(array) });
        }
        Ok(())
    };
    // SAFETY: null or a context.
    unsafe { with_context(context, free) }
}

/// Calls a function of the file. An argument is an array, or points to a scalar; a result points to where an array's pointer, or a scalar, goes.
/// Nothing is written there unless all went well.
///
/// # Safety
/// `context` is null or a context, `function` a text of C, and `arguments` and `results` point to as many pointers as are said, which are what
/// the function's parameters and results are.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pumice_library_call(
    context: *const Context,
    function: *const c_char,
    arguments: *const *const c_void,
    argument_count: usize,
    results: *const *mut c_void,
    result_count: usize,
) -> c_int {
    let call = |context: &Context| {
        if function.is_null() {
            return Err(Failed::invalid("no function is named".to_string()));
        }
        // SAFETY: not null, so a text of C.
        let name = unsafe { CStr::from_ptr(function) }.to_string_lossy();
        let function = context.function(&name)?;
        // SAFETY: the caller promises so many.
        let (arguments, results) =
            unsafe { (elements(arguments, argument_count), elements(results, result_count)) };
        function.check_counts(arguments.len(), results.len())?;
        if let Some(missing) = results.iter().position(|result| result.is_null()) {
            return Err(Failed::invalid(format!(
                "{name}: there is no place for result {missing}: it is NULL"
            )));
        }
        let mut given = function::Given::default();
        for (parameter, argument) in function.parameters().iter().zip(arguments) {
            if argument.is_null() {
                return Err(Failed::invalid(format!("{name}: `{}` is NULL", parameter.name)));
            }
            match &parameter.leaf.sizes {
                // SAFETY: not null, so an array, by the parameter's type in C.
                Some(_) => given.arrays.push(unsafe { &*argument.cast::<LibraryArray>() }.0.clone()),
                None => {
                    let ty = parameter.leaf.ty;
                    // SAFETY: not null, so it points to a scalar of the parameter's type in C.
                    let bytes = unsafe { elements(argument.cast::<u8>(), ty.bytes()) };
                    given.scalars.push(Constant::from_bytes(ty, bytes));
                }
            }
        }
        let computed = function.call(&given)?;
        for (computed, result) in computed.into_iter().zip(results) {
            match computed {
                function::Computed::Array(array) => {
                    let array = Box::into_raw(Box::new(LibraryArray(array)));
                    // SAFETY: not null, so it points to a pointer to an array, by the result's type in C.
                    unsafe { result.cast::<*mut LibraryArray>().write(array) };
                }
                function::Computed::Scalar(value) => {
                    let bytes = value.to_bytes();
                    // SAFETY: not null, so it points to a scalar of the result's type in C, which has as many bytes.
                    unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), result.cast(), bytes.len()) };
                }
            }
        }
        Ok(())
    };
    // SAFETY: null or a context.
    unsafe { with_context(context, call) }
}

/// Runs an action on a context and returns its status. An error is kept in the context.
///
/// # Safety
/// `context` is null or a context.
unsafe fn with_context(context: *const Context, action: impl FnOnce(&Context) -> Outcome<()>) -> c_int {
    // SAFETY: null or a context.
    let Some(context) = (unsafe { context.as_ref() }) else { return Status::Invalid as c_int };
    // Unwind safe: state is changed behind locks only, and is consistent whenever a panic can happen.
    let outcome = catch_unwind(AssertUnwindSafe(|| action(context)))
        .unwrap_or_else(|_| Err(Failed::internal("Pumice failed: that is a fault of Pumice".to_string())));
    match outcome {
        Ok(()) => Status::Ok as c_int,
        Err(failed) => {
            let status = failed.status as c_int;
            context.keep_error(failed);
            status
        }
    }
}

/// Returns a slice of `count` elements; an empty one for a null pointer.
///
/// # Safety
/// `first` is null or points to so many elements, which live as long as the result is used and are not changed meanwhile.
unsafe fn elements<'a, T>(first: *const T, count: usize) -> &'a [T] {
    match first.is_null() || count == 0 {
        true => &[],
        // SAFETY: the caller promises that.
        false => unsafe { slice::from_raw_parts(first, count) },
    }
}

/// The array behind a pointer, if it is one of this type and rank.
///
/// # Safety
/// `array` is null or an array that is not freed while the result is used.
unsafe fn checked_array<'a>(
    array: *const LibraryArray,
    ty: c_int,
    rank: usize,
) -> Outcome<&'a Arc<dyn ArrayData>> {
    // SAFETY: the caller promises that.
    let array = unsafe { array.as_ref() }.ok_or_else(|| Failed::invalid("an array is NULL".to_string()))?;
    match array.0.types() == [scalar_type(ty)?] && array.0.extents().len() == rank {
        true => Ok(&array.0),
        false => {
            Err(Failed::invalid("an array is of another type than the function that is given it".to_string()))
        }
    }
}

fn scalar_type(number: c_int) -> Outcome<ScalarType> {
    let ty = usize::try_from(number).ok().and_then(|number| ScalarType::ALL.get(number).copied());
    ty.ok_or_else(|| Failed::invalid(format!("there is no type of elements with the number {number}")))
}
