//! A law of three counts with a fixed sum, as a triangle of shaded cells.

use plotters::{
    prelude::{DrawingBackend, Rectangle, WHITE},
    style::{Color, RGBColor},
};

use super::{
    palette::INK,
    pen::{HEAD, Pen, width_of},
    picture::{Area, Drawing, Format, Picture},
};

/// The probabilities of (a, b, k − a − b).
#[derive(Clone, Debug)]
pub struct Triangle {
    /// Title.
    pub title: String,
    /// Subtitle.
    pub subtitle: String,
    /// The names of the counts: horizontal, vertical, and the rest.
    pub names: [String; 3],
    /// The total k.
    pub total: usize,
    /// The probability of (a, b) at `cells[a][b]`.
    pub cells: Vec<Vec<f64>>,
    /// The framed cell.
    pub framed: (usize, usize),
}

const SIDE: i32 = 110;
const LEFT: i32 = 150;
const LETTERS: i32 = 24;

impl Triangle {
    fn corner(&self, a: usize, b: usize) -> (i32, i32) {
        (LEFT + SIDE * small(a), HEAD + 20 + SIDE * small(self.total - b))
    }
}

fn small(count: usize) -> i32 {
    i32::try_from(count).unwrap_or(0)
}

impl Picture for Triangle {
    fn size(&self) -> (u32, u32) {
        let side = SIDE * (small(self.total) + 1);
        ((LEFT + side + 420).cast_unsigned(), (HEAD + side + 140).cast_unsigned())
    }

    fn draw<B: DrawingBackend>(&self, area: &Area<B>, format: Format) -> Drawing<B> {
        let pen = Pen::of(format);
        area.fill(&WHITE)?;
        pen.write_head(area, &self.title, &self.subtitle)?;
        let largest = self.cells.iter().flatten().copied().fold(f64::MIN_POSITIVE, f64::max);
        for (a, column) in self.cells.iter().enumerate() {
            for (b, &probability) in column.iter().enumerate().take(self.total - a + 1) {
                let (left, top) = self.corner(a, b);
                let cell = [(left + 2, top + 2), (left + SIDE - 3, top + SIDE - 3)];
                area.draw(&Rectangle::new(cell, shade(probability / largest).filled()))?;
                if (a, b) == self.framed {
                    area.draw(&Rectangle::new(cell, INK.stroke_width(5)))?;
                }
                let percent = percent(probability);
                let place = (left + (SIDE - width_of(area, &percent, LETTERS)) / 2, top + SIDE / 2 - 26);
                pen.write(area, &percent, place, LETTERS)?;
                let counts = format!("{a},{b},{}", self.total - a - b);
                let place = (left + (SIDE - width_of(area, &counts, 18)) / 2, top + SIDE / 2 + 8);
                pen.write(area, &counts, place, 18)?;
            }
        }
        let bottom = HEAD + 20 + SIDE * (small(self.total) + 1);
        for count in 0..=self.total {
            let name = count.to_string();
            let (left, _) = self.corner(count, 0);
            pen.write(area, &name, (left + SIDE / 2 - 8, bottom + 8), LETTERS)?;
            let (_, top) = self.corner(0, count);
            pen.write(area, &name, (LEFT - 36, top + SIDE / 2 - 12), LETTERS)?;
        }
        let [along, up, rest] = &self.names;
        pen.write(area, &format!("{along} →"), (LEFT, bottom + 50), 28)?;
        pen.write(area, &format!("{up} ↑"), (40, HEAD + 20 - 2), 28)?;
        let note = (LEFT + SIDE * small(self.total) - 120, HEAD + 60);
        pen.write(area, "in every cell:", note, LETTERS)?;
        pen.write(area, "probability", (note.0, note.1 + 36), LETTERS)?;
        pen.write(area, &format!("{along}, {up}, {rest}"), (note.0, note.1 + 72), LETTERS)
            .and_then(|()| area.present())
    }
}

/// Returns white for zero and light blue for the largest probability, so that black letters stay readable.
fn shade(share: f64) -> RGBColor {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to 0..=255")]
    let mixed = |end: f64| (255.0 - (255.0 - end) * share.clamp(0.0, 1.0).sqrt()).round() as u8;
    RGBColor(mixed(110.0), mixed(180.0), mixed(240.0))
}

fn percent(probability: f64) -> String {
    match 100.0 * probability {
        x if x >= 9.95 => format!("{x:.0} %"),
        x if x >= 0.095 => format!("{x:.1} %"),
        x if x > 0.0 => {
            // One significant digit.
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a few digits")]
            let digits = (-x.log10().floor()).clamp(0.0, 12.0) as usize;
            format!("{x:.digits$} %")
        }
        _ => "0".into(),
    }
}
