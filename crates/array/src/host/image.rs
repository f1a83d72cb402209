//! Pictures of the crate `image` as matrices of pixels, height by width: grey values are numbers, colours are tuples or arrays of them.

use crate::create::IntoArray;
use crate::data::Matrix;
use crate::error::Error;
use crate::shape::Dim2;
use ::image::{ImageBuffer, Luma, LumaA, Pixel, Primitive as Channel, Rgb, Rgba};
use pumice_scalar::Elt;
use std::ops::Deref;
use std::panic::Location;

/// An element type whose values are pixels of type `P`: `f32` for `Luma<f32>`, `(u8, u8, u8)` or `[u8; 3]` for `Rgb<u8>`.
///
/// ```
/// use image::Rgb;
/// use pumice::Colour;
/// assert_eq!(<[u8; 3]>::from_pixel(&Rgb([255, 128, 0])), [255, 128, 0]);
/// let orange: Rgb<u8> = (255, 128, 0).to_pixel();
/// assert_eq!(orange, Rgb([255, 128, 0]));
/// ```
#[diagnostic::on_unimplemented(
    message = "elements of type `{Self}` are no pixels of type `{P}`",
    note = "a grey value is a number, and a colour a tuple or array of as many numbers as the pixel has channels, of the pixel's type"
)]
pub trait Colour<P: Pixel>: Elt {
    /// The element that a pixel is.
    fn from_pixel(pixel: &P) -> Self;
    /// The pixel that an element is.
    fn to_pixel(self) -> P;
}

impl<S: Elt + Channel> Colour<Luma<S>> for S
where
    Luma<S>: Pixel<Subpixel = S>,
{
    fn from_pixel(Luma([grey]): &Luma<S>) -> S {
        *grey
    }
    fn to_pixel(self) -> Luma<S> {
        Luma([self])
    }
}

macro_rules! colours {
    ($($pixel:ident $count:literal $tuple:ty;)*) => { $(
        impl<S: Elt + Channel> Colour<$pixel<S>> for $tuple
        where
            $pixel<S>: Pixel<Subpixel = S>,
        {
            fn from_pixel(pixel: &$pixel<S>) -> Self {
                pixel.0.into()
            }
            fn to_pixel(self) -> $pixel<S> {
                $pixel(self.into())
            }
        }
        impl<S: Channel> Colour<$pixel<S>> for [S; $count]
        where
            [S; $count]: Elt,
            $pixel<S>: Pixel<Subpixel = S>,
        {
            fn from_pixel(pixel: &$pixel<S>) -> Self {
                pixel.0
            }
            fn to_pixel(self) -> $pixel<S> {
                $pixel(self)
            }
        }
    )* };
}
colours! {
    LumaA 2 (S, S);
    Rgb 3 (S, S, S);
    Rgba 4 (S, S, S, S);
}

impl<T: Elt> Matrix<T> {
    /// Makes a matrix of a picture's pixels, with a row for each of its rows. A `DynamicImage` is first made one of a pixel type, with
    /// `to_rgb32f()` or its like. A reference to a picture can also be given to a program as it is.
    ///
    /// ```
    /// use image::{ImageBuffer, Luma, Rgb};
    /// use pumice::prelude::*;
    /// let red = ImageBuffer::from_pixel(3, 2, Rgb([1.0f32, 0.0, 0.0]));
    /// let pixels: Matrix<(f32, f32, f32)> = Matrix::from_image(&red);
    /// assert_eq!(pixels.extents(), [2, 3]);
    /// let grey = pumice::run(use_(&pixels).map(|(r, g, b)| (r + g + b) / 3.0))?;
    /// let picture: ImageBuffer<Luma<f32>, _> = grey.to_image()?;
    /// assert_eq!(picture.get_pixel(2, 1), &Luma([1.0 / 3.0]));
    /// # Ok::<(), pumice::Error>(())
    /// ```
    pub fn from_image<P: Pixel, C: Deref<Target = [P::Subpixel]>>(image: &ImageBuffer<P, C>) -> Self
    where
        T: Colour<P>,
    {
        let values: Vec<T> = image.pixels().map(T::from_pixel).collect();
        Self::from_held(vec![image.height() as usize, image.width() as usize], values)
    }

    /// The picture whose pixels are the elements. Fails as [`Array::as_slice`](crate::Array::as_slice) does, and if it is too large for a
    /// picture.
    ///
    /// ```
    /// use image::{GrayImage, Luma, RgbImage};
    /// use pumice::prelude::*;
    /// let ramp = pumice::run(generate((2, 256), |(_, j)| j.cast::<u8>()))?;
    /// let picture: GrayImage = ramp.to_image()?;
    /// assert_eq!((picture.dimensions(), picture.get_pixel(7, 1)), ((256, 2), &Luma([7])));
    /// let coloured: RgbImage = ramp.map_elements(|grey| [grey, 0, 255 - grey])?.to_image()?;
    /// assert_eq!(coloured.get_pixel(7, 1).0, [7, 0, 248]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    #[track_caller]
    pub fn to_image<P: Pixel>(&self) -> Result<ImageBuffer<P, Vec<P::Subpixel>>, Error>
    where
        T: Colour<P>,
    {
        let [height, width] = self.extents();
        let channels = self.iter()?.flat_map(|element| element.to_pixel().channels().to_vec()).collect();
        let (Ok(columns), Ok(rows)) = (u32::try_from(width), u32::try_from(height)) else {
            let what = format!("{height} x {width} pixels are too many for a picture");
            return Err(Error::misfit("to_image", Location::caller(), what));
        };
        let caller = Location::caller();
        let lost = || Error::misfit("to_image", caller, format!("{height} x {width} pixels are no picture"));
        ImageBuffer::from_raw(columns, rows, channels).ok_or_else(lost)
    }
}

impl<P: Pixel, C: Deref<Target = [P::Subpixel]>, T: Colour<P>> IntoArray<Dim2, T> for &ImageBuffer<P, C> {
    fn into_array(self) -> Matrix<T> {
        Matrix::from_image(self)
    }
}
