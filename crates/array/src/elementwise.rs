//! The methods of [`Acc`] that make each element of one of the same index in other arrays.

use crate::acc::{Acc, lifted};
use crate::data::Array;
use crate::operations::{Compute, Generate, ZipWith};
use crate::shape::Shape;
use pumice_scalar::{Elt, Lift, Place};

/// An element with its index in an array of this shape.
pub type Indexed<D, T> = (<<D as Shape>::Index as Lift>::Elt, T);

impl<D: Shape, T: Elt> Acc<Array<D, T>> {
    /// A function of every element.
    ///
    /// ```
    /// use pumice::*;
    /// fn halves(xs: Acc<Vector<f32>>) -> Acc<Vector<(f32, bool)>> {
    ///     xs.map(|x| (x * 0.5, x.gt(1.0)))
    /// }
    /// ```
    #[track_caller]
    pub fn map<L: Lift>(self, f: impl FnOnce(T::Exp) -> L) -> Acc<Array<D, L::Elt>> {
        self.mapped(f, Place::caller("map"))
    }

    /// A function of the elements of two arrays of the same shape.
    ///
    /// ```
    /// use pumice::*;
    /// fn saxpy(a: Exp<f32>, xs: Acc<Vector<f32>>, ys: Acc<Vector<f32>>) -> Acc<Vector<f32>> {
    ///     xs.zip_with(ys, |x, y| a * x + y)
    /// }
    /// # use pumice::Exp;
    /// ```
    #[track_caller]
    pub fn zip_with<U: Elt, L: Lift>(
        self,
        other: Acc<Array<D, U>>,
        f: impl FnOnce(T::Exp, U::Exp) -> L,
    ) -> Acc<Array<D, L::Elt>> {
        self.zipped(&other, f, Place::caller("zip_with"))
    }

    /// The pairs of the elements of two arrays of the same shape.
    ///
    /// ```
    /// use pumice::*;
    /// let pairs = run(use_(&[1, 2]).zip(use_(&[true, false])))?;
    /// assert_eq!(pairs.to_vec()?, [(1, true), (2, false)]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    #[track_caller]
    pub fn zip<U: Elt>(self, other: Acc<Array<D, U>>) -> Acc<Array<D, (T, U)>> {
        self.zipped(&other, |x, y| (x, y), Place::caller("zip"))
    }

    /// Each element with its index.
    ///
    /// ```
    /// use pumice::*;
    /// assert_eq!(run(use_(&[7, 8]).indexed())?.to_vec()?, [(0, 7), (1, 8)]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    #[track_caller]
    pub fn indexed(self) -> Acc<Array<D, Indexed<D, T>>> {
        self.with_index(|index, element| (index, element), Place::caller("indexed"))
    }

    /// A function of every element and its index.
    ///
    /// ```
    /// use pumice::*;
    /// let weighted = run(use_(&[5i64, 6, 7]).imap(|i, x| i * x))?;
    /// assert_eq!(weighted.to_vec()?, [0, 6, 14]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    #[track_caller]
    pub fn imap<L: Lift>(self, f: impl FnOnce(D::Index, T::Exp) -> L) -> Acc<Array<D, L::Elt>> {
        self.with_index(f, Place::caller("imap"))
    }

    /// Like [`Acc::map`], for a method that is called at a place.
    pub(crate) fn mapped<L: Lift>(self, f: impl FnOnce(T::Exp) -> L, place: Place) -> Acc<Array<D, L::Elt>> {
        let inputs = vec![self.described().clone()];
        Acc::<Array<D, L::Elt>>::new(ZipWith { function: lifted(f) }, inputs, place)
    }

    /// Like [`Acc::zip_with`], for a method that is called at a place.
    pub(crate) fn zipped<U: Elt, L: Lift>(
        &self,
        other: &Acc<Array<D, U>>,
        f: impl FnOnce(T::Exp, U::Exp) -> L,
        place: Place,
    ) -> Acc<Array<D, L::Elt>> {
        let function = lifted(|(x, y): (T::Exp, U::Exp)| f(x, y));
        let inputs = vec![self.described().clone(), other.described().clone()];
        Acc::<Array<D, L::Elt>>::new(ZipWith { function }, inputs, place)
    }

    /// Materialises the array: its users read it from memory and do not compute it again, and no operation before it is fused with one that
    /// comes after.
    ///
    /// ```
    /// use pumice::*;
    /// let xs = generate(4, |i| i * i).compute();
    /// assert_eq!(run(xs.map(|x| x + 1))?.to_vec()?, [1, 2, 5, 10]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    #[track_caller]
    pub fn compute(self) -> Self {
        Self::new(Compute, vec![self.described().clone()], Place::caller("compute"))
    }

    /// Like [`Acc::imap`], for a method that is called at a place.
    pub(crate) fn with_index<L: Lift>(
        self,
        f: impl FnOnce(D::Index, T::Exp) -> L,
        place: Place,
    ) -> Acc<Array<D, L::Elt>> {
        let extents = self.shape().terms();
        let shape = crate::acc::nullary(|| extents);
        let generate = Generate { shape, element: lifted(|index: D::Index| index) };
        let indices = Acc::<Array<D, <D::Index as Lift>::Elt>>::new(generate, Vec::new(), place);
        indices.zipped(&self, f, place)
    }
}

/// An array of an example, for each other array of an operation.
macro_rules! one_more {
    ($other:ident) => {
        "xs.clone(), "
    };
}

macro_rules! zips {
    ($($count:literal $number:literal $method:ident: $($other:ident $array:ident $element:ident)*;)*) => {
        impl<D: Shape, T: Elt> Acc<Array<D, T>> {
            $(#[doc = concat!("A function of the elements of ", $count, " arrays of the same shape, as [`Acc::zip_with`].")]
            ///
            /// ```
            /// use pumice::*;
            /// let xs = use_(&[1, 2]);
            #[doc = concat!(
                "let sums = run(xs.clone().", stringify!($method), "(", $(one_more!($other),)*
                "|a", $(", ", stringify!($element),)* "| a", $(" + ", stringify!($element),)* "))?;"
            )]
            #[doc = concat!("assert_eq!(sums.to_vec()?, [", $number, ", 2 * ", $number, "]);")]
            /// # Ok::<(), pumice::Error>(())
            /// ```
            #[allow(clippy::too_many_arguments)]
            #[track_caller]
            pub fn $method<$($other: Elt,)* L: Lift>(
                self,
                $($array: Acc<Array<D, $other>>,)*
                f: impl FnOnce(T::Exp, $($other::Exp),*) -> L,
            ) -> Acc<Array<D, L::Elt>> {
                let types = [T::types(), $($other::types()),*].concat();
                let function = pumice_scalar::function(&types, |terms| {
                    let mut terms = terms.iter().copied();
                    let first = T::Exp::from_terms(&mut terms);
                    $(let $element = $other::Exp::from_terms(&mut terms);)*
                    f(first, $($element),*).terms()
                });
                let inputs = vec![self.described().clone(), $($array.described().clone()),*];
                Acc::<Array<D, L::Elt>>::new(ZipWith { function }, inputs, Place::caller(stringify!($method)))
            })*
        }
    };
}
zips! {
    "three" 3 zip_with3: U second b V third c;
    "four" 4 zip_with4: U second b V third c W fourth d;
    "five" 5 zip_with5: U second b V third c W fourth d X fifth e;
    "six" 6 zip_with6: U second b V third c W fourth d X fifth e Y sixth g;
    "seven" 7 zip_with7: U second b V third c W fourth d X fifth e Y sixth g Z seventh h;
    "eight" 8 zip_with8: U second b V third c W fourth d X fifth e Y sixth g Z seventh h A eighth i;
    "nine" 9 zip_with9: U second b V third c W fourth d X fifth e Y sixth g Z seventh h A eighth i B ninth j;
}

macro_rules! unzips {
    ($($doc:literal $example:literal $method:ident $tuple:ty: $($name:ident $part:tt)*;)*) => { $(
        impl<D: Shape, $($name: Elt),*> Acc<Array<D, $tuple>> {
            #[doc = $doc]
            ///
            /// ```
            /// use pumice::*;
            #[doc = $example]
            /// assert_eq!(run(b)?.to_vec()?, [true]);
            /// # Ok::<(), pumice::Error>(())
            /// ```
            #[track_caller]
            pub fn $method(self) -> ($(Acc<Array<D, $name>>,)*) {
                let place = Place::caller(stringify!($method));
                ($({
                    let function = lifted(|element: <$tuple as Elt>::Exp| element.$part);
                    Acc::<Array<D, $name>>::new(ZipWith { function }, vec![self.described().clone()], place)
                },)*)
            }
        }
    )* };
}
unzips! {
    "The first parts of all pairs, and the second ones." "let (_, b) = use_(&[(1, true)]).unzip();" unzip (A, B): A 0 B 1;
    "The parts of all triples." "let (_, b, _) = use_(&[(1, true, 2.0)]).unzip3();" unzip3 (A, B, C): A 0 B 1 C 2;
    "The parts of all quadruples." "let (_, b, ..) = use_(&[(1, true, 2.0, 3u64)]).unzip4();" unzip4 (A, B, C, E): A 0 B 1 C 2 E 3;
}
