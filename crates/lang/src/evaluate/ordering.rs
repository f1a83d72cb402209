//! Sorts of whole arrays: by digits of keys, or by an order that a function gives.

use super::Outcome;
use super::value::Value;
use super::whole::Whole;
use pumice_array::operations::{Order, Sort};
use pumice_array::{Falls, in_order, untyped};
use pumice_scalar::{Function, ScalarType, Term, function};

impl Whole<'_> {
    /// Rows in the order of their elements.
    pub fn sort(&self, falls: bool) -> Outcome<Value> {
        let types = self.types(&self.element)?;
        let keys = Order::Keys(first_in_order(types.len(), &types, falls));
        self.give(Sort { order: keys }, vec![self.described(0)?])
    }

    /// Sorts rows by the key that a function gives for their elements.
    pub fn sort_by_key(&self, falls: bool) -> Outcome<Value> {
        self.given(untyped::sorted(&self.described(1)?, self.keys(falls), self.place()))
    }

    /// `sortSegmentsByKey`, of the function that gives a key, offsets, and the elements.
    pub fn sort_segments(&self) -> Outcome<Value> {
        let (offsets, elements) = (self.described(1)?, self.described(2)?);
        self.given(untyped::sorted_rows(&elements, &offsets, self.keys(false), self.place()))
    }

    /// The scalars of the key that the first argument gives for an element.
    fn keys(&self, falls: bool) -> impl Fn(&[Term]) -> Vec<(Term, Falls)> {
        move |terms| {
            let key = self.of_element(0, &[&self.element], terms).into_iter();
            key.map(|term| (term, Falls(falls))).collect()
        }
    }

    /// Sorts rows by a function that says whether one element comes before another.
    pub fn sort_by(&self) -> Outcome<Value> {
        self.give(Sort { order: Order::Before(self.operator(0)?) }, vec![self.described(1)?])
    }
}

/// Builds the function to the sort keys of elements of these types: their first scalars.
fn first_in_order(count: usize, types: &[ScalarType], falls: bool) -> Function {
    function(types, |terms| terms.iter().take(count).map(|term| in_order(*term, Falls(falls))).collect())
}
