//! Colours of parts.

use plotters::style::RGBColor;

/// M. A. Petroff, *Accessible color sequences for data visualization* (2021): ten colours that
/// remain distinct with any colour vision.
const PALETTE: [RGBColor; 10] = [
    RGBColor(0x3f, 0x90, 0xda),
    RGBColor(0xff, 0xa9, 0x0e),
    RGBColor(0xbd, 0x1f, 0x01),
    RGBColor(0x94, 0xa4, 0xa2),
    RGBColor(0x83, 0x2d, 0xb6),
    RGBColor(0xa9, 0x6b, 0x59),
    RGBColor(0xe7, 0x63, 0x00),
    RGBColor(0xb9, 0xac, 0x70),
    RGBColor(0x71, 0x75, 0x81),
    RGBColor(0x92, 0xda, 0xdd),
];

/// Further colours, used in turn for parts beyond the tenth.
const GREYS: [RGBColor; 3] =
    [RGBColor(0x55, 0x55, 0x55), RGBColor(0x88, 0x88, 0x88), RGBColor(0xbb, 0xbb, 0xbb)];

/// Text and outlines.
pub(crate) const INK: RGBColor = RGBColor(0x22, 0x22, 0x22);
/// Frames and ticks.
pub(crate) const FRAME: RGBColor = RGBColor(0xcc, 0xcc, 0xcc);

pub(crate) fn colour(part: usize) -> RGBColor {
    PALETTE.get(part).copied().unwrap_or(GREYS[part % GREYS.len()])
}
