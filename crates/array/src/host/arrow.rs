//! Columns of Apache Arrow as vectors, with nulls as `Option`, and lists as rows of different lengths. Columns of numbers without nulls
//! are not copied.

use crate::data::Vector;
use crate::error::Error;
use crate::ragged::Ragged;
use arrow_array::types::{
    ArrowPrimitiveType, Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{
    Array as ArrowArray, ArrayRef, BooleanArray, GenericListArray, LargeListArray, OffsetSizeTrait,
    PrimitiveArray, RecordBatch,
};
use arrow_buffer::{ArrowNativeType, OffsetBuffer, ScalarBuffer};
use arrow_schema::{DataType, Field};
use pumice_scalar::{Elt, Primitive, f16};
use std::panic::Location;
use std::sync::Arc;

/// An element type that columns of Arrow have: a number, a truth value, or an `Option` of one where there may be nulls.
///
/// ```
/// use arrow_array::{Array as _, Int32Array};
/// use pumice::{Vector, arrow::ArrowElt};
/// /// The elements of a column there and back.
/// fn again<T: ArrowElt>(column: &dyn arrow_array::Array) -> pumice::Result<usize> {
///     Ok(Vector::<T>::from_arrow(column)?.to_arrow()?.null_count())
/// }
/// assert_eq!(again::<Option<i32>>(&Int32Array::from(vec![Some(1), None]))?, 1);
/// # Ok::<(), pumice::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "no column of Arrow has elements of type `{Self}`",
    note = "columns are of numbers, of truth values, and with nulls of `Option` of these"
)]
pub trait ArrowElt: Elt {
    /// The type of such a column.
    fn data_type() -> DataType;
    /// Whether there may be nulls.
    const IS_NULLABLE: bool;
    /// The elements of a column; nothing if it is of another type.
    fn read(column: &dyn ArrowArray) -> Option<Vector<Self>>;
    /// Makes a column.
    fn write(elements: Vec<Self>) -> ArrayRef;
}

/// A number that Arrow has.
///
/// ```
/// use arrow_array::types::{ArrowPrimitiveType, Float32Type};
/// use pumice::arrow::ArrowNumber;
/// assert_eq!(<f32 as ArrowNumber>::Arrow::DATA_TYPE, Float32Type::DATA_TYPE);
/// ```
pub trait ArrowNumber: Primitive + ArrowNativeType {
    /// Arrow's type.
    type Arrow: ArrowPrimitiveType<Native = Self>;
}

macro_rules! numbers { ($($number:ty => $arrow:ty),*) => { $(
    impl ArrowNumber for $number {
        type Arrow = $arrow;
    }
)* }; }
numbers!(
    i8 => Int8Type, i16 => Int16Type, i32 => Int32Type, i64 => Int64Type, u8 => UInt8Type, u16 => UInt16Type, u32 => UInt32Type,
    u64 => UInt64Type, f16 => Float16Type, f32 => Float32Type, f64 => Float64Type
);

fn is_column<C: 'static>(column: &dyn ArrowArray) -> Option<&C> {
    column.as_any().downcast_ref()
}

/// Returns a column of numbers, also of dates, times and durations, which are numbers of days, seconds and so on.
fn numbers<T: ArrowNumber>(column: &dyn ArrowArray) -> Option<PrimitiveArray<T::Arrow>> {
    let number = match column.data_type() {
        DataType::Date32 | DataType::Time32(_) => DataType::Int32,
        DataType::Date64 | DataType::Time64(_) | DataType::Timestamp(..) | DataType::Duration(_) => {
            DataType::Int64
        }
        _ => return is_column(column).cloned(),
    };
    if number != T::Arrow::DATA_TYPE {
        return None;
    }
    let data = column.to_data().into_builder().data_type(number).build().ok()?;
    Some(data.into())
}

impl<T: ArrowNumber> ArrowElt for T {
    const IS_NULLABLE: bool = false;
    fn data_type() -> DataType {
        T::Arrow::DATA_TYPE
    }
    fn read(column: &dyn ArrowArray) -> Option<Vector<T>> {
        let values: ScalarBuffer<T> = numbers::<T>(column)?.values().clone();
        Some(Vector::from_held(vec![values.len()], values))
    }
    fn write(elements: Vec<T>) -> ArrayRef {
        Arc::new(PrimitiveArray::<T::Arrow>::new(elements.into(), None))
    }
}

impl<T: ArrowNumber> ArrowElt for Option<T> {
    const IS_NULLABLE: bool = true;
    fn data_type() -> DataType {
        T::Arrow::DATA_TYPE
    }
    fn read(column: &dyn ArrowArray) -> Option<Vector<Option<T>>> {
        Some(numbers::<T>(column)?.iter().collect())
    }
    fn write(elements: Vec<Option<T>>) -> ArrayRef {
        Arc::new(elements.into_iter().collect::<PrimitiveArray<T::Arrow>>())
    }
}

impl ArrowElt for bool {
    const IS_NULLABLE: bool = false;
    fn data_type() -> DataType {
        DataType::Boolean
    }
    fn read(column: &dyn ArrowArray) -> Option<Vector<bool>> {
        Some(is_column::<BooleanArray>(column)?.values().iter().collect())
    }
    fn write(elements: Vec<bool>) -> ArrayRef {
        Arc::new(BooleanArray::from(elements))
    }
}

impl ArrowElt for Option<bool> {
    const IS_NULLABLE: bool = true;
    fn data_type() -> DataType {
        DataType::Boolean
    }
    fn read(column: &dyn ArrowArray) -> Option<Vector<Option<bool>>> {
        Some(is_column::<BooleanArray>(column)?.iter().collect())
    }
    fn write(elements: Vec<Option<bool>>) -> ArrayRef {
        Arc::new(BooleanArray::from(elements))
    }
}

impl<T: ArrowElt> Vector<T> {
    /// Makes a vector of a column of Arrow. Numbers are not copied; dates, times, timestamps and durations are read as the `i32` or `i64` that
    /// they are. Fails if the column is of another type, or has nulls and elements are no `Option`.
    ///
    /// ```
    /// use arrow_array::{Float64Array, Int32Array};
    /// use pumice::prelude::*;
    /// let prices = Float64Array::from(vec![1.5, 2.5]);
    /// assert_eq!(Vector::<f64>::from_arrow(&prices)?, [1.5, 2.5]);
    /// let ages = Int32Array::from(vec![Some(7), None]);
    /// let known = pumice::run(use_(Vector::<Option<i32>>::from_arrow(&ages)?).map(|age| age.unwrap_or(-1)))?;
    /// assert_eq!(known, [7, -1]);
    /// let error = Vector::<i32>::from_arrow(&ages).unwrap_err();
    /// assert!(error.to_string().contains("has 1 nulls, which are no elements of type i32; read it as `Option<i32>`"), "{error}");
    /// # Ok::<(), pumice::Error>(())
    /// ```
    #[track_caller]
    pub fn from_arrow(column: &dyn ArrowArray) -> Result<Self, Error> {
        let caller = Location::caller();
        read(column).map_err(|what| Error::misfit("from_arrow", caller, what))
    }

    /// The column of Arrow with these elements. Fails as [`Array::to_vec`](crate::Array::to_vec) does.
    ///
    /// ```
    /// use arrow_array::{Array as _, Int64Array};
    /// use pumice::prelude::*;
    /// let squares = pumice::run(generate(4, |i| i * i))?.to_arrow()?;
    /// assert_eq!(squares.as_any().downcast_ref(), Some(&Int64Array::from(vec![0, 1, 4, 9])));
    /// # Ok::<(), pumice::Error>(())
    /// ```
    pub fn to_arrow(&self) -> Result<ArrayRef, Error> {
        Ok(T::write(self.to_vec()?))
    }
}

/// The vector of a column; else what is wrong with that.
fn read<T: ArrowElt>(column: &dyn ArrowArray) -> Result<Vector<T>, String> {
    let (name, nulls) = (std::any::type_name::<T>(), column.null_count());
    if nulls > 0 && !T::IS_NULLABLE {
        return Err(format!(
            "a column of Arrow has {nulls} nulls, which are no elements of type {name}; read it as `Option<{name}>`"
        ));
    }
    T::read(column).ok_or_else(|| {
        let (found, wanted) = (column.data_type(), T::data_type());
        format!("a column of Arrow is of type {found}, and {wanted} was asked for; Arrow's `cast` converts")
    })
}

impl<T: ArrowElt> Ragged<T> {
    /// Makes rows of a list column of Arrow (`List` or `LargeList`). Fails if it is none, if rows are null, or as [`Vector::from_arrow`]
    /// does for its elements.
    ///
    /// ```
    /// use arrow_array::{ListArray, types::Int32Type};
    /// use pumice::prelude::*;
    /// let lists = ListArray::from_iter_primitive::<Int32Type, _, _>([Some(vec![Some(1), Some(2)]), Some(vec![])]);
    /// let rows = Ragged::<i32>::from_arrow(&lists)?;
    /// assert_eq!(rows.to_vecs(), [vec![1, 2], vec![]]);
    /// assert_eq!(Ragged::<i32>::from_arrow(&rows.to_arrow()?)?, rows);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    #[track_caller]
    pub fn from_arrow(column: &dyn ArrowArray) -> Result<Self, Error> {
        fn rows<O: OffsetSizeTrait, T: ArrowElt>(
            column: &dyn ArrowArray,
            caller: &Location<'_>,
        ) -> Option<Result<Ragged<T>, Error>> {
            let list = is_column::<GenericListArray<O>>(column)?;
            // A list is no longer than there are positive `i64`.
            let offsets = list.offsets().iter().map(|offset| offset.as_usize() as i64).collect();
            let values =
                read::<T>(&**list.values()).map_err(|what| Error::misfit("from_arrow", caller, what));
            let values = values.and_then(|values| values.to_vec());
            Some(values.and_then(|values| Ragged::from_parts(offsets, values)))
        }
        let caller = Location::caller();
        if column.null_count() > 0 {
            let nulls = column.null_count();
            let what = format!(
                "a list column of Arrow has {nulls} null rows; fill them with empty lists, or leave them out"
            );
            return Err(Error::misfit("from_arrow", caller, what));
        }
        rows::<i32, T>(column, caller).or_else(|| rows::<i64, T>(column, caller)).unwrap_or_else(|| {
            let found = column.data_type();
            let what = format!("a column of Arrow is of type {found}, and a list was asked for");
            Err(Error::misfit("from_arrow", caller, what))
        })
    }

    /// The list column of Arrow (`LargeList`) with these rows. Fails if Arrow refuses it.
    ///
    /// ```
    /// use arrow_array::{Array as _, cast::AsArray, types::Int64Type};
    /// use pumice::prelude::*;
    /// let lists = Ragged::from(vec![vec![1i64, 2], vec![], vec![3]]).to_arrow()?;
    /// assert_eq!((lists.len(), lists.value_length(1)), (3, 0));
    /// assert_eq!(lists.value(0).as_primitive::<Int64Type>().values()[..], [1, 2]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    #[track_caller]
    pub fn to_arrow(&self) -> Result<LargeListArray, Error> {
        let caller = Location::caller();
        // A vector has at most as many elements as there are positive `i64`, and offsets never fall.
        let offsets: Vec<i64> = self.offsets().iter().map(|offset| *offset as i64).collect();
        let field = Arc::new(Field::new_list_field(T::data_type(), T::IS_NULLABLE));
        let values = T::write(self.values().to_vec());
        LargeListArray::try_new(field, OffsetBuffer::new(offsets.into()), values, None)
            .map_err(|error| Error::misfit("to_arrow", caller, error))
    }
}

/// The column of a table by its name; a table comes in several batches. Of one batch, numbers are not copied. Fails if there is no such
/// column, and as [`Vector::from_arrow`] does.
///
/// ```
/// use arrow_array::{ArrayRef, Float64Array, RecordBatch};
/// use pumice::arrow::column;
/// use std::sync::Arc;
/// let prices: ArrayRef = Arc::new(Float64Array::from(vec![1.5, 2.5]));
/// let batch = RecordBatch::try_from_iter([("price", prices)]).expect("a batch");
/// assert_eq!(column::<f64>([&batch], "price")?, [1.5, 2.5]);
/// assert_eq!(column::<f64>([&batch, &batch], "price")?.len(), 4);
/// let error = column::<f64>([&batch], "size").unwrap_err();
/// assert!(error.to_string().starts_with("a table of Arrow with the columns price has none called `size` in column at "), "{error}");
/// # Ok::<(), pumice::Error>(())
/// ```
#[track_caller]
pub fn column<'a, T: ArrowElt>(
    batches: impl IntoIterator<Item = &'a RecordBatch>,
    name: &str,
) -> Result<Vector<T>, Error> {
    let caller = Location::caller();
    let part = |batch: &RecordBatch| {
        let Some(column) = batch.column_by_name(name) else {
            let schema = batch.schema();
            let known: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
            let known = known.join(", ");
            return Err(format!("a table of Arrow with the columns {known} has none called `{name}`"));
        };
        read(column).map_err(|what| format!("column `{name}`: {what}"))
    };
    let parts = batches.into_iter().map(part).collect::<Result<Vec<Vector<T>>, String>>();
    let parts = parts.map_err(|what| Error::misfit("column", caller, what))?;
    if let [only] = &parts[..] {
        return Ok(only.clone());
    }
    let mut all = Vec::new();
    for part in &parts {
        all.extend_from_slice(part.as_slice()?);
    }
    Ok(all.into())
}
