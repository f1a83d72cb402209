//! The methods of [`Acc`] that multiply matrices and vectors.

use crate::acc::{Acc, lifted, nullary};
use crate::data::{Array, Matrix, Vector};
use crate::operations::Product;
use crate::shape::{All, Larger, Shape};
use pumice_scalar::{Constant, Elt, Exp, IntoExp, Lift, Number, Place};

impl<D: Shape, T: Elt> Acc<Array<D, T>> {
    /// The product of two matrices over operations of your choice: the element at row `i` and column `j` is what `multiply`
    /// gives for each element of row `i` of this matrix and the one of column `j` of `other` beside it, combined in order with
    /// `add`, which is associative and need not commute.
    ///
    /// `initial` stands before these, once, and is the result where there are none. Arrays of more than two dimensions hold
    /// matrices in the innermost two, and are multiplied pair by pair; their outer extents are the same. Shapes that do not fit
    /// are an error that names this place. Operations on the elements of either side before, and on those of the result
    /// after, are part of the same kernel, unless they cost much; a transposed side costs nothing.
    ///
    /// ```
    /// use pumice::*;
    /// // The shortest ways of at most two steps between three places.
    /// let far = f32::INFINITY;
    /// let steps = use_(&[0.0, 1.0, far, far, 0.0, 2.0, 5.0, far, 0.0]).reshape((3, 3));
    /// let ways = steps.clone().product_by(steps, |a, b| a + b, |a, b| a.min(b), far);
    /// assert_eq!(run(ways)?.to_vec()?, [0.0, 1.0, 3.0, 7.0, 0.0, 2.0, 5.0, 6.0, 0.0]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    #[track_caller]
    pub fn product_by<U: Elt, L: Lift>(
        self,
        other: Acc<Array<D, U>>,
        multiply: impl FnOnce(T::Exp, U::Exp) -> L,
        add: impl FnOnce(L, L) -> L,
        initial: impl IntoExp<L::Elt>,
    ) -> Acc<Array<D, L::Elt>>
    where
        L::Elt: Elt<Exp = L>,
        D: Larger<Smaller: Larger>,
    {
        self.multiplied(other, multiply, add, initial.into_exp(), Place::caller("product_by"))
    }

    fn multiplied<U: Elt, L: Lift>(
        self,
        other: Acc<Array<D, U>>,
        multiply: impl FnOnce(T::Exp, U::Exp) -> L,
        add: impl FnOnce(L, L) -> L,
        initial: L,
        place: Place,
    ) -> Acc<Array<D, L::Elt>> {
        let product = Product {
            multiply: lifted(|(a, b): (T::Exp, U::Exp)| multiply(a, b)),
            add: lifted(|(a, b): (L, L)| add(a, b)),
            initial: nullary(|| initial.terms()),
        };
        let inputs = vec![self.described().clone(), other.described().clone()];
        Acc::<Array<D, L::Elt>>::new(product, inputs, place)
    }
}

impl<D: Larger<Smaller: Larger>, T: Number> Acc<Array<D, T>> {
    /// The product of two matrices of numbers; of arrays of more dimensions, of each pair of matrices in the innermost two, as
    /// [`Acc::product_by`] says.
    ///
    /// Integers wrap. A product of floats is added to the sum before it is rounded, where the device can do that, and which
    /// sums come first is the device's choice; on the same device the same bits come out every time.
    ///
    /// ```
    /// use pumice::*;
    /// fn layer(xs: Acc<Matrix<f32>>, weights: Acc<Matrix<f32>>, bias: Acc<Vector<f32>>) -> Acc<Matrix<f32>> {
    ///     let (rows, _) = xs.shape();
    ///     xs.matmul(weights.transpose()).zip_with(bias.replicate_rows(rows), |x, b| (x + b).max(0.0))
    /// }
    /// let m = use_(&[1, 2, 3, 4]).reshape((2, 2));
    /// assert_eq!(run(m.clone().matmul(m))?.to_vec()?, [7, 10, 15, 22]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    #[track_caller]
    pub fn matmul(self, other: Self) -> Self {
        self.multiplied(other, |a, b| a * b, |a, b| a + b, zero(), Place::caller("matmul"))
    }
}

impl<T: Number> Acc<Matrix<T>> {
    /// The product of this matrix and a vector: the sums of its rows times the vector.
    ///
    /// ```
    /// use pumice::*;
    /// let m = use_(&[1, 2, 3, 4]).reshape((2, 2));
    /// assert_eq!(run(m.matvec(use_(&[10, 1])))?.to_vec()?, [12, 34]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    #[track_caller]
    pub fn matvec(self, vector: Acc<Vector<T>>) -> Acc<Vector<T>> {
        let place = Place::caller("matvec");
        let rows = self.extent(0);
        let factors = vector.replicated((rows, All), place);
        self.zipped(&factors, |a, x| a * x, place).folded(Some(zero()), |a, b| a + b, place)
    }
}

impl<T: Number> Acc<Vector<T>> {
    /// The product of this vector, as a row, and a matrix: the sums of the matrix's columns times the vector.
    ///
    /// ```
    /// use pumice::*;
    /// let m = use_(&[1, 2, 3, 4]).reshape((2, 2));
    /// assert_eq!(run(use_(&[10, 1]).vecmat(m))?.to_vec()?, [13, 24]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    #[track_caller]
    pub fn vecmat(self, matrix: Acc<Matrix<T>>) -> Acc<Vector<T>> {
        let place = Place::caller("vecmat");
        let columns = matrix.extent(1);
        let factors = self.replicated((columns, All), place);
        let turned = matrix.rearranged(&[1, 0], place);
        factors.zipped(&turned, |x, a| x * a, place).folded(Some(zero()), |a, b| a + b, place)
    }
}

/// The number 0 of any type.
fn zero<T: Number>() -> Exp<T> {
    Exp::from_term(Constant::zero(T::TYPE).into())
}
