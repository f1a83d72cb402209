//! Values on the screen: as text, as plots and as pictures.

use super::answer::Screen;
use super::kept::Arrays;
use super::picture::{number, picture};
use super::plot::plot;
use super::trouble::Trouble;
use crate::pum::call::Call;
use crate::pum::files::Values;
use pumice::layers::scalar::ScalarType;
use pumice_lang::show::show_briefly;
use pumice_lang::types::Type;

/// Shorter vectors, and matrices with a shorter side, are drawn only on command.
const LEAST_DRAWN: usize = 8;

/// Returns a value and its type as text.
pub fn value(call: &Call, arrays: &Arrays, screen: Screen) -> Result<String, Trouble> {
    let ty = &call.compiled.result;
    let text = show_briefly(ty, arrays, call.sums()).map_err(pumice::Error::from)?;
    Ok(format!("{text}{}\n", screen.faint(&format!(" : {ty}"))))
}

/// Draws a value as a plot or a picture, if it is large enough and has a suitable type.
pub fn drawn(call: &Call, arrays: &Arrays, screen: Screen) -> Result<Option<String>, Trouble> {
    let (Type::Array { element, .. }, [array]) = (&call.compiled.result, &arrays[..]) else {
        return Ok(None);
    };
    let is_number = matches!(&**element, Type::Scalar(ty) if *ty != ScalarType::Bool);
    if !array.extents().iter().all(|extent| *extent >= LEAST_DRAWN) {
        return Ok(None);
    }
    match (array.extents().len(), array.types().len()) {
        (1, 1) if is_number => plotted(arrays, screen).map(Some),
        (2, 1 | 3) => pictured(arrays, screen).map(Some),
        _ => Ok(None),
    }
}

/// Plots a vector of numbers or of pairs of numbers.
pub fn plotted(arrays: &Arrays, screen: Screen) -> Result<String, Trouble> {
    let values = only(arrays)?;
    let ([count], 1 | 2) = (&values.extents[..], values.types.len()) else {
        return Err("a plot is of a vector of numbers or of pairs of them; `:picture` shows a matrix"
            .to_string()
            .into());
    };
    let get = |column: usize, at: usize| values.get(column, at).map_or(f64::NAN, number);
    let is_line = values.types.len() == 1;
    let point = |at: usize| if is_line { (at as f64, get(0, at)) } else { (get(0, at), get(1, at)) };
    let points: Vec<(f64, f64)> = (0..*count).map(point).collect();
    Ok(plot(&points, is_line, screen.width, screen.height)?)
}

/// Plots samples of a function over a range.
pub fn sampled(arrays: &Arrays, (from, to): (f64, f64), screen: Screen) -> Result<String, Trouble> {
    let values = only(arrays)?;
    let count = values.extents.iter().product::<usize>();
    let step = (to - from) / count.saturating_sub(1).max(1) as f64;
    let point = |at: usize| (from + step * at as f64, values.get(0, at).map_or(f64::NAN, number));
    let points: Vec<(f64, f64)> = (0..count).map(point).collect();
    Ok(plot(&points, true, screen.width, screen.height)?)
}

/// Draws a matrix as a picture.
pub fn pictured(arrays: &Arrays, screen: Screen) -> Result<String, Trouble> {
    let values = only(arrays)?;
    // Leaves room for the next prompt.
    Ok(picture(&values, screen.width, screen.height.saturating_sub(2), screen.colours)?)
}

fn only(arrays: &Arrays) -> Result<Values, Trouble> {
    match &arrays[..] {
        [array] => Ok(Values::new(&**array)?),
        _ => Err("one array can be drawn, and this is a tuple or a record of several".to_string().into()),
    }
}
