//! An axis: positions of values, ticks, and their labels.

use std::ops::Range;

use plotters::coord::ranged1d::{DefaultFormatting, KeyPointHint, Ranged};

/// The scale of an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// Linear.
    Linear,
    /// Logarithmic.
    Logarithmic,
}

/// A titled axis.
#[derive(Clone, Debug)]
pub struct Axis {
    /// The quantity, with its unit.
    pub title: String,
    /// The scale.
    pub scale: Scale,
}

/// The approximate maximum number of ticks on an axis.
const MOST_TICKS: f64 = 8.0;

impl Axis {
    /// Creates a linear axis.
    #[must_use]
    pub fn linear(title: &str) -> Self {
        Self { title: title.to_owned(), scale: Scale::Linear }
    }

    /// Creates a logarithmic axis.
    #[must_use]
    pub fn logarithmic(title: &str) -> Self {
        Self { title: title.to_owned(), scale: Scale::Logarithmic }
    }

    /// Returns the position of a value, in decades on a logarithmic axis.
    pub(crate) fn place(&self, value: f64) -> f64 {
        match self.scale {
            Scale::Linear => value,
            Scale::Logarithmic => value.max(1e-300).log10(),
        }
    }

    /// Returns the range from the smallest to the largest value, with room at both ends.
    ///
    /// A linear axis that comes near zero begins there.
    pub(crate) fn span(&self, values: impl Iterator<Item = f64>) -> Range<f64> {
        let places = values.map(|value| self.place(value));
        let (low, high) =
            places.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(x), high.max(x)));
        if low > high {
            return 0.0..1.0;
        }
        let room = 0.06 * (high - low).max(0.2 * high.abs()).max(1e-9);
        let from_zero = self.scale == Scale::Linear && low >= 0.0 && low < 0.4 * high;
        (if from_zero { -0.2 * room } else { low - room })..high + room
    }

    pub(crate) fn ticked(&self, span: Range<f64>) -> Ticked {
        let ticks = self.ticks(&span);
        Ticked { span, ticks }
    }

    fn ticks(&self, span: &Range<f64>) -> Vec<f64> {
        let width = span.end - span.start;
        match self.scale {
            Scale::Logarithmic if width < 2.5 => decades(span, &[1.0, 2.0, 5.0], 1.0),
            Scale::Logarithmic => decades(span, &[1.0], (width / MOST_TICKS).ceil()),
            Scale::Linear => {
                let step = round_step(width / MOST_TICKS);
                let first = (span.start / step).ceil();
                (0..20).map(|i| (first + f64::from(i)) * step).take_while(|tick| *tick <= span.end).collect()
            }
        }
    }

    pub(crate) fn label(&self, tick: f64) -> String {
        match self.scale {
            Scale::Linear => {
                let rounded = (tick * 1e6).round() / 1e6;
                // Never "-0".
                format!("{}", rounded + 0.0)
            }
            Scale::Logarithmic => {
                let decade = tick.floor();
                let digit = 10_f64.powf(tick - decade).round();
                match (decade, digit) {
                    (-2.0..=3.0, _) => format!("{}", digit * 10_f64.powf(decade)),
                    (_, 1.0) => format!("10{}", superscript(decade)),
                    _ => format!("{digit}·10{}", superscript(decade)),
                }
            }
        }
    }
}

/// A range with chosen ticks.
#[derive(Clone, Debug)]
pub(crate) struct Ticked {
    /// The ends of the range.
    pub(crate) span: Range<f64>,
    /// The ticks in between.
    pub(crate) ticks: Vec<f64>,
}

impl Ranged for Ticked {
    type FormatOption = DefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, limit: (i32, i32)) -> i32 {
        let share = (value - self.span.start) / (self.span.end - self.span.start);
        #[expect(clippy::cast_possible_truncation, reason = "pixels")]
        let pixels = (share * f64::from(limit.1 - limit.0)).round() as i32;
        limit.0 + pixels
    }

    fn key_points<Hint: KeyPointHint>(&self, _: Hint) -> Vec<f64> {
        self.ticks.clone()
    }

    fn range(&self) -> Range<f64> {
        self.span.clone()
    }
}

fn decades(span: &Range<f64>, digits: &[f64], every: f64) -> Vec<f64> {
    let mut ticks = Vec::new();
    let mut decade = (span.start / every).floor() * every;
    while decade <= span.end {
        ticks.extend(digits.iter().map(|digit: &f64| decade + digit.log10()));
        decade += every;
    }
    ticks.retain(|tick| span.contains(tick));
    ticks
}

/// Rounds up to 1, 2, 5 or 10 times a power of ten.
fn round_step(at_least: f64) -> f64 {
    let decade = 10_f64.powf(at_least.log10().floor());
    let digit = [1.0, 2.0, 5.0].into_iter().find(|digit| digit * decade >= at_least);
    digit.unwrap_or(10.0) * decade
}

fn superscript(number: f64) -> String {
    let raised = |c: char| match c {
        '-' => '⁻',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        '4' => '⁴',
        '5' => '⁵',
        '6' => '⁶',
        '7' => '⁷',
        '8' => '⁸',
        '9' => '⁹',
        _ => '⁰',
    };
    format!("{number:.0}").chars().map(raised).collect()
}
