//! Loops and branches of random array programs, nested, of few rounds each.

use super::arrays::{Known, Maker, node};
use super::scalars::index;
use pumice::layers::array::operations::{Generate, ZipWith};
use pumice::layers::array::{Acc, Array};
use pumice::layers::scalar::{Constant, Op, ScalarType, Term, function};
use pumice::{Dim0, acond, awhile, iterate};
use std::cell::RefCell;

/// Limit on the nesting of loops and branches.
const DEEPEST: usize = 3;

impl Maker<'_, '_> {
    /// Makes a loop of a few rounds, or a branch. A second result is added to the arrays.
    pub(super) fn control(&mut self) -> Known {
        if self.nested == DEEPEST {
            return self.zip();
        }
        self.nested += 1;
        let input = self.any();
        let result = match self.choices.below(5) {
            0 => {
                let rounds = self.rounds();
                iterate(rounds, input, |state| self.body(state))
            }
            1 => {
                let (rounds, second) = (self.rounds(), self.any());
                let (first, second) = iterate(rounds, (input, second), |(first, second)| {
                    let next = self.body(first.clone());
                    self.arrays.push(first);
                    let last = self.body(second);
                    self.arrays.pop();
                    (next, last)
                });
                self.arrays.push(second);
                first
            }
            2 => self.counted_while(input),
            _ => {
                let condition = self.truth();
                let maker = RefCell::new(&mut *self);
                let side = || maker.borrow_mut().body(input.clone());
                acond(Acc::<Array<Dim0, bool>>::from_described(condition.array), side, side)
            }
        };
        self.nested -= 1;
        result
    }

    /// Chooses the number of rounds of a loop: fewer the deeper it is.
    fn rounds(&mut self) -> i64 {
        match self.nested {
            1 => self.choices.pick(&[1, 2, 0, 3]),
            _ => self.choices.pick(&[1, 2, 0]),
        }
    }

    /// Makes a `while` loop that ends when a counter reaches a limit, or before.
    fn counted_while(&mut self, input: Known) -> Known {
        let most = self.rounds();
        let zero = self.scalar(Constant::from(0i64));
        let maker = RefCell::new(self);
        let condition = |(counter, state): (Known, Known)| {
            let maker = &mut *maker.borrow_mut();
            let outside = maker.arrays.len();
            maker.arrays.push(state);
            let other = maker.truth();
            maker.arrays.truncate(outside);
            let function = function(&[ScalarType::I64, ScalarType::Bool], |terms| {
                let goes_on = terms[0].compare(Op::Lt, index(most));
                vec![goes_on.binary(Op::And, terms[1])]
            });
            let types = [ScalarType::Bool];
            let condition = node(ZipWith { function }, &[&counter, &other], &[], &types, "zip_with");
            Acc::<Array<Dim0, bool>>::from_described(condition.array)
        };
        let next = |(counter, state): (Known, Known)| {
            let more = function(&[ScalarType::I64], |terms| vec![terms[0].binary(Op::Add, index(1))]);
            let counter = node(ZipWith { function: more }, &[&counter], &[], &[ScalarType::I64], "map");
            (counter, maker.borrow_mut().body(state))
        };
        awhile((zero, input), condition, next).1
    }

    /// Makes an array of one constant.
    fn scalar(&mut self, value: Constant) -> Known {
        let (shape, element) = (function(&[], |_| Vec::new()), function(&[], |_| vec![Term::from(value)]));
        node(Generate { shape, element }, &[], &[], &[value.ty()], "unit")
    }

    /// Makes a truth value: from a constant expression, or from an element of an array.
    fn truth(&mut self) -> Known {
        let types = [ScalarType::Bool];
        if self.choices.below(3) > 0 {
            let from = match self.choices.below(2) {
                0 => self.any(),
                _ => self.step(),
            };
            if !from.extents.contains(&0) {
                let unit = self.scalar(Constant::from(false));
                let one = self.in_shape_of(&unit, &from);
                let function = self.elements(one.array.types(), &types);
                return node(ZipWith { function }, &[&one], &[], &types, "map");
            }
        }
        let (shape, element) = (function(&[], |_| Vec::new()), self.elements(&[], &types));
        node(Generate { shape, element }, &[], &[], &types, "unit")
    }

    /// Makes a body: some operations, with a result of the same extents and types as the state.
    fn body(&mut self, state: Known) -> Known {
        let outside = self.arrays.len();
        self.arrays.push(state.clone());
        let steps = if self.nested == DEEPEST { 1 } else { self.choices.pick(&[1, 1, 2, 3]) };
        for _ in 0..steps {
            let is_control = self.nested < DEEPEST && self.choices.below(3) == 2;
            let next = if is_control { self.control() } else { self.step() };
            self.arrays.push(next);
        }
        let made = self.arrays.split_off(outside);
        let types = state.array.types().to_vec();
        let Some(other) = made.last().filter(|other| !other.extents.contains(&0)) else {
            let function = self.elements(&types, &types);
            return node(ZipWith { function }, &[&state], &state.extents, &types, "map");
        };
        let other = self.in_shape_of(&state, other);
        let function = self.elements(&[&types, other.array.types()].concat(), &types);
        node(ZipWith { function }, &[&state, &other], &state.extents, &types, "zip_with")
    }
}
