//! Neutral elements that are found for operators.

use pumice_scalar::{Constant, Elt, Exp, Function, Lift, function};

fn operator<T: Elt>(f: impl Fn(T::Exp, T::Exp) -> T::Exp) -> Function {
    let types = T::types();
    function(&[&types[..], &types].concat(), |terms| {
        let (a, b) = terms.split_at(types.len());
        let exp = |terms: &[pumice_scalar::Term]| T::Exp::from_terms(&mut terms.iter().copied());
        f(exp(a), exp(b)).terms()
    })
}

#[test]
fn neutral_elements_of_numbers_and_truth_values() {
    assert_eq!(operator::<i32>(|a, b| a + b).neutral(), Some(vec![0i32.into()]));
    assert_eq!(operator::<u64>(|a, b| a * b).neutral(), Some(vec![1u64.into()]));
    assert_eq!(operator::<i64>(|a, b| a.max(b)).neutral(), Some(vec![i64::MIN.into()]));
    assert_eq!(operator::<u32>(|a, b| a.min(b)).neutral(), Some(vec![u32::MAX.into()]));
    assert_eq!(operator::<bool>(|a, b| a & b).neutral(), Some(vec![true.into()]));
    assert_eq!(operator::<bool>(|a, b| a | b).neutral(), Some(vec![false.into()]));
}

#[test]
fn the_neutral_element_of_a_sum_of_floats_keeps_the_sign_of_zero() {
    assert_eq!(operator::<f32>(|a, b| a + b).neutral(), Some(vec![(-0.0f32).into()]));
    assert_eq!(operator::<f64>(|a, b| a * b).neutral(), Some(vec![1.0f64.into()]));
}

#[test]
fn neutral_elements_of_pairs() {
    let affine = operator::<(i32, i32)>(|(a, b), (c, d)| (a * c, b * c + d));
    assert_eq!(affine.neutral(), Some(vec![1i32.into(), 0i32.into()]));
}

#[test]
fn neutral_elements_of_many_scalars_that_are_combined_by_themselves() {
    let apart =
        operator::<(i64, f64, u32, bool)>(|(a, b, c, d), (e, f, g, h)| (a + e, b * f, c.min(g), d | h));
    assert_eq!(apart.neutral(), Some(vec![0i64.into(), 1.0f64.into(), u32::MAX.into(), false.into()]));
    let mixed = operator::<(i32, i32, i32)>(|(a, b, c), (d, e, f)| (a + d, b + e, c + f + a * e));
    assert_eq!(mixed.neutral(), None);
    let without = operator::<(i32, i32, f32)>(|(a, b, c), (d, e, f)| (a + d, b + e, c.max(f)));
    assert_eq!(without.neutral(), None);
}

#[test]
fn no_neutral_element_is_made_up() {
    // A maximum of floats forgets a NaN, whatever it is combined with.
    assert_eq!(operator::<f32>(|a, b| a.max(b)).neutral(), None);
    assert_eq!(operator::<i32>(|_, b| b).neutral(), None);
    // This one has an unusual one.
    assert_eq!(operator::<i32>(|a, b| a + b + 1).neutral(), Some(vec![(-1i32).into()]));
    assert_eq!(operator::<i32>(|a, b| a - b).neutral(), None);
    let constant = operator::<i32>(|_, _| Exp::from(0));
    assert_eq!(constant.neutral(), None::<Vec<Constant>>);
}

#[test]
fn nan_is_neutral_where_which_nan_comes_out_is_not_said() {
    let nan = Some(vec![Constant::from(f32::NAN)]);
    assert_eq!(operator::<f32>(|a, b| a.min(b)).neutral_but_for_nan(), nan);
    assert_eq!(operator::<f32>(|a, b| a.max(b)).neutral_but_for_nan(), nan);
    let several = operator::<(f64, i32, f64)>(|(a, b, c), (d, e, f)| (a.min(d), b + e, c + f));
    assert_eq!(several.neutral_but_for_nan(), Some(vec![f64::NAN.into(), 0i32.into(), (-0.0f64).into()]));
    assert_eq!(operator::<f32>(|a, b| a + b).neutral_but_for_nan(), Some(vec![(-0.0f32).into()]));
    assert_eq!(operator::<f32>(|a, b| a.min(b + 0.0)).neutral_but_for_nan(), None);
    assert_eq!(operator::<f32>(|a, b| a - b).neutral_but_for_nan(), None);
}
