//! Arrays through `serde`: an array is its shape and its elements row by row, rows of different lengths are a list of lists. Deserialised data
//! is checked as arrays of the user's are.

use crate::data::{Array, check_count};
use crate::ragged::Ragged;
use crate::shape::Shape;
use ::serde::de::Error as _;
use ::serde::ser::Error as _;
use ::serde::{Deserialize, Deserializer, Serialize, Serializer};
use pumice_scalar::Elt;

#[derive(Serialize)]
#[serde(rename = "Array")]
struct Written<'a, T> {
    shape: &'a [usize],
    elements: &'a [T],
}

#[derive(Deserialize)]
#[serde(rename = "Array", deny_unknown_fields)]
struct Read<T> {
    shape: Vec<usize>,
    elements: Vec<T>,
}

/// Fails as [`Array::as_slice`] does.
impl<D: Shape, T: Elt + Serialize> Serialize for Array<D, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let elements = self.as_slice().map_err(S::Error::custom)?;
        Written { shape: self.data().extents(), elements }.serialize(serializer)
    }
}

impl<'de, D: Shape, T: Elt + Deserialize<'de>> Deserialize<'de> for Array<D, T> {
    fn deserialize<R: Deserializer<'de>>(deserializer: R) -> Result<Self, R::Error> {
        let Read { shape, elements } = Read::<T>::deserialize(deserializer)?;
        let rank = |_| {
            let (found, wanted) = (shape.len(), D::RANK);
            R::Error::custom(format!("a shape of {found} dimensions, and an array of {wanted} was asked for"))
        };
        D::Extents::try_from(&shape[..]).map_err(rank)?;
        check_count(&shape, elements.len()).map_err(R::Error::custom)?;
        Ok(Self::from_held(shape, elements))
    }
}

impl<T: Serialize> Serialize for Ragged<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.rows())
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Ragged<T> {
    fn deserialize<R: Deserializer<'de>>(deserializer: R) -> Result<Self, R::Error> {
        Ok(Vec::<Vec<T>>::deserialize(deserializer)?.into_iter().collect())
    }
}
