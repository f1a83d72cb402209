//! Arrays as text for people, as NumPy prints them: brackets by dimension, a row a line, elements aligned, and of a large array the
//! corners, which are all that is fetched. An element is printed as its `Debug` does, so structs and tuples come by themselves; floats and
//! complex numbers as `print/floats.rs` says.

mod floats;

use crate::data::Array;
use crate::error::Error;
use crate::host::view::row_size;
use crate::shape::Shape;
use pumice_scalar::{Constant, Elt, PrintedAs};
use std::fmt;
use std::ops::Range;

/// Elements from which on an array is abbreviated, and how many are then printed at both ends of each dimension.
const ABBREVIATED: usize = 1000;
const ENDS: usize = 3;

/// Characters of a line; longer rows go on in the next one.
const WIDTH: usize = 100;

/// Elements in brackets, scalars aligned; `{:.2}` prints floats with two digits. Floats are all printed with an exponent where one of them
/// is below 0.0001 or 10^16 and above, or if the largest is 10^8 times the smallest.
///
/// ```
/// use pumice::prelude::*;
/// let m = Matrix::from([[1.0, 20.5], [-3.25, 4.0]]);
/// assert_eq!(m.to_string(), "[[ 1.0 , 20.5 ],\n [-3.25,  4.0 ]]");
/// assert_eq!(format!("{m:.1}"), "[[ 1.0, 20.5],\n [-3.2,  4.0]]");
/// let long: Vector<i32> = (0..2000).collect();
/// assert_eq!(long.to_string(), "[   0,    1,    2, ..., 1997, 1998, 1999]");
/// assert_eq!(Vector::from([0.125, -2.5e-9]).to_string(), "[ 1.25e-01, -2.50e-09]");
/// ```
impl<D: Shape, T: Elt> fmt::Display for Array<D, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match Printed::new(self, f.precision()) {
            Ok(printed) => f.write_str(&printed.text(self.data().extents().is_empty())),
            Err(error) => write!(f, "<{error}>"),
        }
    }
}

/// The element type, the extents, and the elements as `Display` prints them.
///
/// ```
/// use pumice::prelude::*;
/// assert_eq!(format!("{:?}", Vector::from([1, 2])), "Array<i32> of 2: [1, 2]");
/// assert_eq!(format!("{:?}", Matrix::from([[(1, true)], [(2, false)]])), "Array<(i32, bool)> of 2 x 1:\n[[(1, true)],\n [(2, false)]]");
/// ```
impl<D: Shape, T: Elt> fmt::Debug for Array<D, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let extents: Vec<String> = self.data().extents().iter().map(ToString::to_string).collect();
        write!(f, "Array<{}>", short_name(std::any::type_name::<T>()))?;
        if !extents.is_empty() {
            write!(f, " of {}", extents.join(" x "))?;
        }
        f.write_str(if extents.len() > 1 && !self.is_empty() { ":\n" } else { ": " })?;
        fmt::Display::fmt(self, f)
    }
}

/// A type's name without the modules that it is in.
fn short_name(name: &str) -> String {
    let mut short = String::new();
    for part in name.split_inclusive(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':')) {
        short.push_str(part.rsplit("::").next().unwrap_or(part));
    }
    short
}

/// The texts of the elements that are printed.
struct Printed {
    /// Printed indices of each dimension, outermost first.
    dimensions: Vec<Ends>,
    texts: Vec<String>,
}

/// The indices of a dimension that are printed: those before a gap, and those behind it, if there is one.
struct Ends(Range<usize>, Option<Range<usize>>);

impl Printed {
    fn new<D: Shape, T: Elt>(array: &Array<D, T>, precision: Option<usize>) -> Result<Printed, Error> {
        let extents = array.data().extents();
        let is_long = array.len() > ABBREVIATED;
        let ends = |extent: &usize| match *extent {
            extent if is_long && extent > 2 * ENDS => Ends(0..ENDS, Some(extent - ENDS..extent)),
            extent => Ends(0..extent, None),
        };
        let dimensions: Vec<Ends> = extents.iter().map(ends).collect();
        let mut values = Vec::new();
        let mut add = |numbers: Range<usize>| {
            values.extend(array.stretch(numbers)?);
            Ok(())
        };
        match is_long {
            true => each_stretch(extents, &dimensions, 0, &mut add)?,
            false => add(0..array.len())?,
        }
        Ok(Printed { dimensions, texts: texts(values, precision) })
    }

    fn text(&self, is_single: bool) -> String {
        let mut texts = self.texts.iter();
        match (is_single, self.texts.is_empty()) {
            (true, _) => self.texts.concat(),
            (false, true) => "[]".into(),
            (false, false) => {
                let mut text = String::new();
                self.add(&self.dimensions, 1, &mut texts, &mut text);
                text
            }
        }
    }

    /// Adds an array of these dimensions, whose elements are the next texts and whose lines begin with `indent` blanks.
    fn add<'a>(
        &self,
        dimensions: &[Ends],
        indent: usize,
        texts: &mut impl Iterator<Item = &'a String>,
        text: &mut String,
    ) {
        let Some((Ends(first, second), inner)) = dimensions.split_first() else { return };
        text.push('[');
        let mut column = indent;
        let shown = first.clone().map(Some);
        let gap = second.iter().map(|_| None);
        let shown = shown.chain(gap).chain(second.clone().into_iter().flatten().map(Some));
        for (position, number) in shown.enumerate() {
            if position > 0 {
                text.push(',');
            }
            let element = match (number, inner.is_empty()) {
                (None, _) => "...",
                (Some(_), true) => texts.next().map_or("", String::as_str),
                (Some(_), false) => "",
            };
            let width = element.chars().count();
            let breaks = match inner.len() {
                // Elements stand beside each other as long as there is room.
                0 if position == 0 || column + 2 + width < WIDTH => 0,
                0 => 1,
                dimensions => dimensions * usize::from(position > 0),
            };
            if breaks > 0 {
                text.extend(std::iter::repeat_n('\n', breaks));
                text.extend(std::iter::repeat_n(' ', indent));
                column = indent;
            } else if position > 0 {
                text.push(' ');
            }
            column += width + 2;
            text.push_str(element);
            if number.is_some() && !inner.is_empty() {
                self.add(inner, indent + 1, texts, text);
            }
        }
        text.push(']');
    }
}

/// Returns the elements' texts. Those of scalars and complex numbers are equally long.
fn texts<T: Elt>(values: Vec<T>, precision: Option<usize>) -> Vec<String> {
    let printed_as = T::printed_as();
    match printed_as {
        PrintedAs::Debug | PrintedAs::Scalar => {
            let texts = values.into_iter().map(|value| match precision {
                Some(digits) => format!("{value:.digits$?}"),
                None => format!("{value:?}"),
            });
            let mut texts: Vec<String> = texts.collect();
            if printed_as == PrintedAs::Scalar {
                align(&mut texts);
            }
            texts
        }
        PrintedAs::Float | PrintedAs::Complex => {
            let mut constants = Vec::new();
            values.into_iter().for_each(|value| value.add_constants(&mut constants));
            match printed_as {
                PrintedAs::Complex => {
                    let part =
                        |first| constants.iter().skip(first).step_by(2).copied().collect::<Vec<Constant>>();
                    floats::complex(&part(0), &part(1), precision)
                }
                _ => floats::floats(&constants, precision),
            }
        }
    }
}

/// Makes texts equally long, with blanks before them.
fn align(texts: &mut [String]) {
    let width = texts.iter().map(|text| text.chars().count()).max().unwrap_or(0);
    for text in texts {
        *text = format!("{text:>width$}");
    }
}

/// Calls a function with the numbers of elements that follow each other and are printed, in order.
fn each_stretch(
    extents: &[usize],
    dimensions: &[Ends],
    first: usize,
    add: &mut impl FnMut(Range<usize>) -> Result<(), Error>,
) -> Result<(), Error> {
    let Some((Ends(begin, end), inner)) = dimensions.split_first() else { return Ok(()) };
    let size = row_size(extents);
    for part in std::iter::once(begin).chain(end) {
        if inner.is_empty() {
            add(first + part.start..first + part.end)?;
            continue;
        }
        for number in part.clone() {
            each_stretch(extents.get(1..).unwrap_or(&[]), inner, first + number * size, add)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Dim3, Matrix, Scalar, Vector};

    #[test]
    fn brackets_rows_and_columns_are_as_numpy_has_them() -> Result<(), Error> {
        let cube = Array::<Dim3, i32>::from_fn([2, 2, 2], |[i, j, k]| (100 * i + 10 * j + k) as i32)?;
        assert_eq!(cube.to_string(), "[[[  0,   1],\n  [ 10,  11]],\n\n [[100, 101],\n  [110, 111]]]");
        assert_eq!(Matrix::<f32>::from_vec([2, 0], vec![])?.to_string(), "[]");
        assert_eq!(Scalar::<f64>::from_vec([], vec![0.5])?.to_string(), "0.5");
        assert_eq!(Vector::from([-1, 10]).to_string(), "[-1, 10]");
        assert_eq!(Vector::from([true, false]).to_string(), "[ true, false]");
        Ok(())
    }

    #[test]
    fn what_is_no_number_stands_as_it_is() {
        assert_eq!(Vector::from([Some(1), None]).to_string(), "[Some(1), None]");
        assert_eq!(Matrix::from([[(1, 2.5)], [(100, 1e-9)]]).to_string(), "[[(1, 2.5)],\n [(100, 1e-9)]]");
        let wide = Vector::from([[0i64; 30], [1; 30], [2; 30]]).to_string();
        assert!(wide.lines().count() == 3 && wide.starts_with("[[0, 0, ") && !wide.contains("  "), "{wide}");
    }

    #[test]
    fn large_arrays_are_their_corners() -> Result<(), Error> {
        let table = Matrix::from_fn([50, 40], |[i, j]| (100 * i + j) as i32)?;
        let expected = "\
[[   0,    1,    2, ...,   37,   38,   39],
 [ 100,  101,  102, ...,  137,  138,  139],
 [ 200,  201,  202, ...,  237,  238,  239],
 ...,
 [4700, 4701, 4702, ..., 4737, 4738, 4739],
 [4800, 4801, 4802, ..., 4837, 4838, 4839],
 [4900, 4901, 4902, ..., 4937, 4938, 4939]]";
        assert_eq!(table.to_string(), expected);
        let narrow = Matrix::from_fn([600, 2], |[i, j]| (10 * i + j) as i32)?;
        assert!(
            narrow
                .to_string()
                .starts_with("[[   0,    1],\n [  10,   11],\n [  20,   21],\n ...,\n [5970, 5971],")
        );
        Ok(())
    }

    #[test]
    fn long_rows_go_on_in_the_next_line() {
        let row: Vector<i32> = (0..50).collect();
        let text = row.to_string();
        assert!(text.lines().count() == 3 && text.lines().all(|line| line.len() <= WIDTH), "{text}");
        assert!(text.lines().skip(1).all(|line| line.starts_with(' ') && !line.ends_with(' ')), "{text}");
    }

    #[test]
    fn names_of_types_are_short() {
        assert_eq!(short_name("(core::option::Option<f32>, [my::Point; 3])"), "(Option<f32>, [Point; 3])");
    }
}
