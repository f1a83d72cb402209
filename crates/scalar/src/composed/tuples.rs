//! Tuples of up to twelve elements. The expression of a tuple is the tuple of expressions, so closures destructure it.

use super::collect;
use crate::arena::Term;
use crate::elt::{Elt, Lift, own_parts};
use crate::exp::IntoExp;
use crate::types::{Constant, ScalarType};
use std::borrow::Cow;
use std::collections::TryReserveError;

macro_rules! tuples {
    ($($name:ident $part:ident $index:tt)*) => {
        impl<$($name: Elt),*> Elt for ($($name,)*) {
            type Exp = ($($name::Exp,)*);
            own_parts!();
            #[allow(unused_variables)]
            fn add_types(types: &mut Vec<ScalarType>) {
                $($name::add_types(types);)*
            }
            #[allow(unused_variables)]
            fn add_constants(self, constants: &mut Vec<Constant>) {
                $(self.$index.add_constants(constants);)*
            }
            fn add_columns<'a>(values: &'a [Self], columns: &mut Vec<Cow<'a, [u8]>>) {
                Self::add_component(values, |value| *value, columns);
            }
            fn from_columns(
                columns: &mut dyn Iterator<Item = &[u8]>,
                count: usize,
            ) -> Result<Vec<Self>, TryReserveError> {
                Self::collect_columns(columns, count, |parts| parts)
            }
            #[allow(unused_variables)]
            fn add_component<Whole>(
                values: &[Whole],
                component: impl Fn(&Whole) -> Self,
                columns: &mut Vec<Cow<'_, [u8]>>,
            ) {
                $($name::add_component(values, |value| component(value).$index, columns);)*
            }
            #[allow(unused_variables, clippy::unused_unit)]
            fn collect_columns<Whole>(
                columns: &mut dyn Iterator<Item = &[u8]>,
                count: usize,
                make: impl Fn(Self) -> Whole,
            ) -> Result<Vec<Whole>, TryReserveError> {
                $(let mut $part = $name::from_columns(columns, count)?.into_iter();)*
                collect(count, || Some(make(($($part.next()?,)*))))
            }
        }
        impl<$($name: Lift),*> Lift for ($($name,)*) {
            type Elt = ($($name::Elt,)*);
            own_parts!();
            #[allow(unused_variables)]
            fn add_terms(self, terms: &mut Vec<Term>) {
                $(self.$index.add_terms(terms);)*
            }
            #[allow(unused_variables, clippy::unused_unit)]
            fn from_terms(terms: &mut dyn Iterator<Item = Term>) -> Self {
                ($($name::from_terms(terms),)*)
            }
        }
        impl<$($name: Elt, $part: IntoExp<$name>),*> IntoExp<($($name,)*)> for ($($part,)*) {
            #[allow(clippy::unused_unit)]
            fn into_exp(self) -> ($($name::Exp,)*) {
                ($(self.$index.into_exp(),)*)
            }
        }
    };
}
#[allow(non_snake_case, non_camel_case_types)]
mod up_to_twelve {
    use super::*;
    tuples!();
    tuples!(A a 0);
    tuples!(A a 0 B b 1);
    tuples!(A a 0 B b 1 C c 2);
    tuples!(A a 0 B b 1 C c 2 D d 3);
    tuples!(A a 0 B b 1 C c 2 D d 3 E e 4);
    tuples!(A a 0 B b 1 C c 2 D d 3 E e 4 F f 5);
    tuples!(A a 0 B b 1 C c 2 D d 3 E e 4 F f 5 G g 6);
    tuples!(A a 0 B b 1 C c 2 D d 3 E e 4 F f 5 G g 6 H h 7);
    tuples!(A a 0 B b 1 C c 2 D d 3 E e 4 F f 5 G g 6 H h 7 I i 8);
    tuples!(A a 0 B b 1 C c 2 D d 3 E e 4 F f 5 G g 6 H h 7 I i 8 J j 9);
    tuples!(A a 0 B b 1 C c 2 D d 3 E e 4 F f 5 G g 6 H h 7 I i 8 J j 9 K k 10);
    tuples!(A a 0 B b 1 C c 2 D d 3 E e 4 F f 5 G g 6 H h 7 I i 8 J j 9 K k 10 L l 11);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Exp, constant};

    #[test]
    fn tuples_are_columns_and_come_back() {
        let values = [(1i32, (true, 2.5f64)), (-3, (false, f64::INFINITY))];
        let mut columns = Vec::new();
        <(i32, (bool, f64))>::add_columns(&values, &mut columns);
        assert_eq!(columns.len(), 3);
        assert_eq!(&*columns[1], [1, 0]);
        let back = <(i32, (bool, f64))>::from_columns(&mut columns.iter().map(|column| &**column), 2);
        assert_eq!(back.as_deref(), Ok(&values[..]));
    }

    #[test]
    fn more_values_than_a_piece_come_back() {
        let values: Vec<(u64, (i32, bool))> =
            (0..2 * super::super::PIECE + 3).map(|i| (i as u64, (-(i as i32), i % 3 == 0))).collect();
        let mut columns = Vec::new();
        Elt::add_columns(&values, &mut columns);
        let back = Elt::from_columns(&mut columns.iter().map(|column| &**column), values.len());
        assert_eq!(back, Ok(values.clone()));
    }

    #[test]
    fn elements_that_no_memory_holds_are_an_error() {
        let count = isize::MAX as usize;
        assert!(<(f64, i32)>::from_columns(&mut std::iter::empty(), count).is_err());
    }

    #[test]
    fn values_and_expressions_stand_beside_each_other_in_nested_tuples() {
        fn types<T: Elt>(value: impl IntoExp<T>) -> Vec<Option<Constant>> {
            value.into_exp().terms().iter().map(|term| term.constant()).collect()
        }
        let plain = types::<(i32, (f32, (bool, u32)))>((1, (2.0, (true, 3))));
        let mixed = types::<(i32, (f32, (bool, u32)))>((constant(1), (2.0, (Exp::from(true), 3))));
        assert_eq!(plain, mixed);
        assert_eq!(plain, [Some(1i32.into()), Some(2f32.into()), Some(true.into()), Some(3u32.into())]);
    }
}
