//! Sorts of whole arrays: by digits of keys, or by an order that a function gives.

use super::Outcome;
use super::value::Value;
use super::whole::Whole;
use pumice_array::operations::{Order, Sort, ZipWith};
use pumice_array::untyped::is_cheap_key;
use pumice_array::{Described, Falls, in_order};
use pumice_scalar::{Function, ScalarType, Term, function};

impl Whole<'_> {
    /// Rows in the order of their elements.
    pub fn sort(&self, falls: bool) -> Outcome<Value> {
        let types = self.types(&self.element)?;
        let keys = Order::Keys(first_in_order(types.len(), &types, falls));
        self.give(Sort { order: keys }, vec![self.described(0)?])
    }

    /// Rows in the order of what a function gives for their elements.
    pub fn sort_by_key(&self, falls: bool) -> Outcome<Value> {
        let (evaluator, types) = (self.evaluator, self.types(&self.element)?);
        let key = |terms: &[Term]| self.applied(0, &[&self.element], terms);
        let direct = evaluator.function_of(&types, |terms| {
            Ok(key(terms)?.into_iter().map(|term| in_order(term, Falls(falls))).collect())
        })?;
        let input = self.described(1)?;
        if is_cheap_key(&direct) {
            return self.give(Sort { order: Order::Keys(direct) }, vec![input]);
        }
        // What costs much is computed once, and moved with its element.
        let with_keys = evaluator.function_of(&types, |terms| Ok([key(terms)?, terms.to_vec()].concat()))?;
        let (count, both) = (direct.results().len(), with_keys.result_types());
        let place = evaluator.place(self.call.name, self.call.span);
        let with_keys =
            Described::new(ZipWith { function: with_keys }, vec![input], self.rank, both.clone(), place);
        let order = Order::Keys(first_in_order(count, &both, falls));
        let sorted = Described::new(Sort { order }, vec![with_keys], self.rank, both.clone(), place);
        let element = function(&both, |terms| terms.iter().skip(count).copied().collect());
        self.give(ZipWith { function: element }, vec![sorted])
    }

    /// Rows in an order that is given by whether one element comes before another.
    pub fn sort_by(&self) -> Outcome<Value> {
        self.give(Sort { order: Order::Before(self.operator(0)?) }, vec![self.described(1)?])
    }
}

/// The keys of elements of these types by their first scalars.
fn first_in_order(count: usize, types: &[ScalarType], falls: bool) -> Function {
    function(types, |terms| terms.iter().take(count).map(|term| in_order(*term, Falls(falls))).collect())
}
