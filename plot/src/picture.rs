//! Plots in two formats, .png and .svg.

use plotters::{
    coord::Shift,
    prelude::{
        BitMapBackend, DrawingArea, DrawingAreaErrorKind, DrawingBackend, IntoDrawingArea, SVGBackend,
    },
    style::{FontStyle, register_font},
};

/// An area in pixels.
pub(crate) type Area<B> = DrawingArea<B, Shift>;
/// The result of drawing.
pub(crate) type Drawing<B> = Result<(), DrawingAreaErrorKind<<B as DrawingBackend>::ErrorType>>;

/// A file format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// A bitmap.
    Png,
    /// Vector graphics.
    Svg,
}

/// The reason why a plot could not be drawn.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct DrawingError(String);

/// A plot that can be drawn in both formats.
pub trait Picture {
    /// Returns the width and the height.
    fn size(&self) -> (u32, u32);

    /// Draws everything.
    ///
    /// # Errors
    /// The errors of the backend.
    fn draw<B: DrawingBackend>(&self, area: &Area<B>, format: Format) -> Drawing<B>;
}

/// Returns the plot as the text of an .svg file.
///
/// # Errors
/// [`DrawingError`] if plotters fails.
pub fn svg(picture: &impl Picture) -> Result<String, DrawingError> {
    load_font()?;
    let mut text = String::new();
    let area = SVGBackend::with_string(&mut text, picture.size()).into_drawing_area();
    picture.draw(&area, Format::Svg).map_err(|error| refused(&error))?;
    drop(area);
    Ok(text)
}

/// Returns the plot as the bytes of a .png file.
///
/// # Errors
/// [`DrawingError`] if plotters or the encoder fails.
pub fn png(picture: &impl Picture) -> Result<Vec<u8>, DrawingError> {
    load_font()?;
    let (width, height) = picture.size();
    let mut pixels = vec![0; 3 * width as usize * height as usize];
    let area = BitMapBackend::with_buffer(&mut pixels, (width, height)).into_drawing_area();
    picture.draw(&area, Format::Png).map_err(|error| refused(&error))?;
    drop(area);
    encode(&pixels, (width, height), png::ColorType::Rgb).map_err(|error| refused(&error))
}

/// Returns a grey image as a .png file, from brightness values between 0 and 1, row by row, and its width and height.
///
/// # Errors
/// [`DrawingError`] if the sides do not fit the pixels or are too long.
pub fn grey_png(pixels: &[f64], (width, height): (usize, usize)) -> Result<Vec<u8>, DrawingError> {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to 0..=255")]
    let levels: Vec<u8> = pixels.iter().map(|x| (255.0 * x).clamp(0.0, 255.0).round() as u8).collect();
    let side = |pixels: usize| u32::try_from(pixels).map_err(|error| refused(&error));
    encode(&levels, (side(width)?, side(height)?), png::ColorType::Grayscale).map_err(|error| refused(&error))
}

/// Registers the built-in font under a name that viewers of .svg files know.
fn load_font() -> Result<(), DrawingError> {
    register_font("sans-serif", FontStyle::Normal, dejavu::sans::regular())
        .map_err(|_| DrawingError("the font is damaged".into()))
}

fn encode(
    pixels: &[u8],
    (width, height): (u32, u32),
    colour: png::ColorType,
) -> Result<Vec<u8>, png::EncodingError> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, width, height);
    encoder.set_color(colour);
    encoder.set_depth(png::BitDepth::Eight);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(pixels)?;
    writer.finish()?;
    Ok(bytes)
}

fn refused(reason: &impl ToString) -> DrawingError {
    DrawingError(reason.to_string())
}
