//! Placeholder arguments for functions that are run without any, to see what they do: arrays of zeros, and numbers that may be lengths.

use super::columns;
use crate::types::{Size, SumDeclaration, Type};
use pumice_array::HostData;
use pumice_scalar::{Constant, ScalarType};

/// Maximum number of bytes of a column of an array.
const MOST_BYTES: usize = 1 << 36;

/// Integers and extents of placeholder arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// The extents of arrays, by their number of dimensions: of vectors, of matrices, of more.
    pub extents: [usize; 3],
    /// All integers.
    pub integer: usize,
}

impl Sizes {
    /// Creates sizes that are all the same.
    pub fn all(size: usize) -> Sizes {
        Sizes { extents: [size; 3], integer: size }
    }
}

/// The leaves of arguments, in the order of a program's own.
#[derive(Default)]
pub struct Placeholders {
    /// Its arrays.
    pub arrays: Vec<HostData>,
    /// Its numbers.
    pub scalars: Vec<Constant>,
}

impl Placeholders {
    /// Adds an argument of a type; nothing if there is none to be made.
    pub fn add(&mut self, ty: &Type, sizes: Sizes, sums: &[SumDeclaration]) -> Option<()> {
        match ty {
            Type::Scalar(scalar) => self.scalars.push(match scalar {
                float if float.is_float() => Constant::from_float(*float, 1.0),
                ScalarType::Bool => Constant::from(true),
                integer => Constant::from_integer(*integer, sizes.integer as i128),
            }),
            Type::Tuple(parts) => parts.iter().try_for_each(|part| self.add(part, sizes, sums))?,
            Type::Record(fields) => fields.iter().try_for_each(|(_, field)| self.add(field, sizes, sums))?,
            Type::Array { element, sizes: written, level: None } => {
                let usual = sizes.extents[written.len().clamp(1, sizes.extents.len()) - 1];
                let extent = |extent: &Size| match extent {
                    Size::Number(number) => usize::try_from(*number).ok(),
                    _ => Some(usual),
                };
                let extents = written.iter().map(extent).collect::<Option<Vec<_>>>()?;
                let count = extents.iter().try_fold(1usize, |count, extent| count.checked_mul(*extent))?;
                let types = columns(element, sums)?;
                let column = |ty: &ScalarType| {
                    let bytes = count.checked_mul(ty.bytes()).filter(|bytes| *bytes <= MOST_BYTES)?;
                    Some(vec![0; bytes])
                };
                let data = types.iter().map(column).collect::<Option<Vec<_>>>()?;
                self.arrays.push(HostData::new(extents, types, data));
            }
            _ => return None,
        }
        Some(())
    }
}
