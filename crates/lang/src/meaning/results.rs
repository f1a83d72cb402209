//! Arguments and results of an evaluation: arrays of scalars.

use super::costs::CostLevel;
use super::pulls::whole;
use super::stores::Memory;
use super::value::{Elements, Pull, Shape, Value};
use super::{Evaluator, Outcome};
use crate::diagnostic::Diagnostic;
use crate::evaluate::{columns, fields_of};
use crate::source::Span;
use crate::types::Type;
use pumice_array::{ArrayData, HostData, whole_columns};
use pumice_scalar::{Constant, ScalarType};
use std::rc::Rc;

impl<'p> Evaluator<'p> {
    /// Creates an array argument: its elements are in memory before the program begins.
    pub(super) fn given(&self, array: &dyn ArrayData, ty: &Type, span: Span) -> Outcome<Value<'p>> {
        let Type::Array { element, sizes, level: None } = ty else {
            return Err(self.wrong(span, format!("an array is given where `{ty}` is wanted")));
        };
        let columns = whole_columns(array).map_err(|error| self.wrong(span, error.to_string()))?;
        let (Type::Scalar(wanted), [column], [given]) = (&**element, &columns[..], array.types()) else {
            return Err(self.wrong(span, "arrays of numbers can be given, and this is none"));
        };
        if wanted != given || array.extents().len() != sizes.len() {
            return Err(self.wrong(span, format!("the array that is given is not of type `{ty}`")));
        }
        self.memory(column.len() / given.bytes(), span)?;
        let scalar = |bytes: &[u8]| Value::Scalar(Constant::from_bytes(*given, bytes));
        let values = column.chunks_exact(given.bytes()).map(scalar).collect();
        let memory = Memory::new(CostLevel::Array, values, &self.meter);
        self.made(Shape::of(array.extents()), Elements::Stored(memory), 0, span)
    }

    /// Collects the arrays of a result: push arrays are forced, and pull arrays that are not in memory are written there.
    pub(super) fn results(
        &self,
        value: &Value<'p>,
        ty: &Type,
        span: Span,
        results: &mut Vec<HostData>,
    ) -> Outcome<()> {
        match (value, ty) {
            (Value::Tuple(parts), Type::Tuple(types)) => {
                parts.iter().zip(types).try_for_each(|(part, ty)| self.results(part, ty, span, results))
            }
            (Value::Record(fields), Type::Record(types)) => {
                let mut parts = fields.iter().zip(types);
                parts.try_for_each(|((_, field), (_, ty))| self.results(field, ty, span, results))
            }
            (Value::Push(push), _) => {
                let forced = self.forced(value, ty, push.span)?;
                self.results(&forced, ty, span, results)
            }
            (Value::Pull(pull), Type::Array { element, .. }) => match &pull.elements {
                _ if matches!(&**element, Type::Array { .. }) => self.ragged(pull, element, span, results),
                Elements::Stored(memory) => {
                    let extents = pull.shape.known().to_vec();
                    results.push(self.data(&memory.values, element, extents, span)?);
                    Ok(())
                }
                _ => {
                    let stored = self.stored(self.all(pull, pull.span)?, pull.shape, pull.span)?;
                    self.results(&stored, ty, span, results)
                }
            },
            _ => {
                results.push(self.data(std::slice::from_ref(value), ty, Vec::new(), span)?);
                Ok(())
            }
        }
    }

    /// Collects an array of arrays, as the elements of all rows and the offsets at which each begins and the last one ends.
    fn ragged(
        &self,
        pull: &Rc<Pull<'p>>,
        row: &Type,
        span: Span,
        results: &mut Vec<HostData>,
    ) -> Outcome<()> {
        let Type::Array { element, .. } = row else { return Err(self.fault(span, "a row of no type")) };
        let own = pull.span;
        self.memory(pull.shape.count(), own)?;
        let rows = self.each(pull.shape.count(), |number| {
            self.all(&self.pull(&self.element(pull, number, own)?, own)?, own)
        })?;
        let offsets = rows.iter().scan(0, |end, row| {
            *end += row.len();
            Some(whole(*end))
        });
        let offsets: Vec<Value<'p>> = std::iter::once(whole(0)).chain(offsets).collect();
        let values: Vec<Value<'p>> = rows.into_iter().flatten().collect();
        self.written(values.len(), own);
        results.push(self.data(&values, element, vec![values.len()], span)?);
        results.push(self.data(&offsets, &Type::Scalar(ScalarType::I64), vec![offsets.len()], span)?);
        Ok(())
    }

    /// Converts values to columns of scalars.
    fn data(
        &self,
        values: &[Value<'p>],
        element: &Type,
        extents: Vec<usize>,
        span: Span,
    ) -> Outcome<HostData> {
        let not_stored = || {
            let message = format!("a result of type `{element}` cannot be given");
            let help = "results are numbers, arrays of them, and tuples and records of these";
            Box::new(Diagnostic::new(span, message).help(help))
        };
        let types = columns(element, self.checked.sums()).ok_or_else(not_stored)?;
        let mut data = vec![Vec::new(); types.len()];
        for value in values {
            self.preserved(value, element, span)?;
            let mut scalars = Vec::new();
            self.scalars(value, element, &mut scalars);
            data.iter_mut().zip(scalars).for_each(|(column, scalar)| column.extend(scalar.to_bytes()));
        }
        Ok(HostData::new(extents, types, data))
    }

    /// Collects the scalars of a value of a type, in the order of the type's columns. Those of other constructors are zero.
    fn scalars(&self, value: &Value<'p>, ty: &Type, scalars: &mut Vec<Constant>) {
        match (value, ty) {
            (Value::Scalar(scalar), _) => scalars.push(*scalar),
            (Value::Tuple(parts), Type::Tuple(types)) => {
                parts.iter().zip(types).for_each(|(part, ty)| self.scalars(part, ty, scalars));
            }
            (Value::Record(fields), Type::Record(types)) => {
                fields.iter().zip(types).for_each(|((_, field), (_, ty))| self.scalars(field, ty, scalars));
            }
            (Value::Sum(constructor, fields), Type::Sum(..)) => {
                scalars.push(Constant::from_integer(ScalarType::I32, *constructor as i128));
                let sums = self.checked.sums();
                for (number, types) in fields_of(ty, sums).unwrap_or_default().iter().enumerate() {
                    if number == *constructor {
                        fields.iter().zip(types).for_each(|(field, ty)| self.scalars(field, ty, scalars));
                    } else {
                        let zeros = types.iter().flat_map(|ty| columns(ty, sums).unwrap_or_default());
                        scalars.extend(zeros.map(Constant::zero));
                    }
                }
            }
            _ => {}
        }
    }
}
