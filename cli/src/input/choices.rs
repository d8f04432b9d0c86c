//! Values of similarity options other than numbers.

use std::fmt;

use clap::ValueEnum;
use partition_dpp::Features;

use super::Similarity;
use crate::parse::positive;

/// The length scale of a Gaussian kernel.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Width {
    /// The median distance divided by this number.
    MedianOver(f64),
    Exactly(f64),
}

/// The number added to the similarity of every item with itself.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Ridge {
    Auto,
    Exactly(f64),
}

impl Ridge {
    /// The number; at most a hundredth of the similarity of an item with itself by default.
    pub(super) fn of(self, similarity: Similarity, features: &Features) -> f64 {
        match self {
            Self::Auto => suggested_ridge(similarity, features),
            Self::Exactly(delta) => delta,
        }
    }
}

/// A power of ten, at most a hundredth of the similarity of an item with itself.
pub(crate) fn suggested_ridge(similarity: Similarity, features: &Features) -> f64 {
    // Rows may be those that a Gaussian kernel compares.
    if similarity == Similarity::Rbf { 0.01 } else { features.suggested_ridge() }
}

/// The items that sets represent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Represented {
    /// The items of the same part.
    Parts,
    /// All items.
    All,
}

impl fmt::Display for Represented {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.to_possible_value().map_or(Ok(()), |value| f.write_str(value.get_name()))
    }
}

/// A bandwidth.
pub(super) fn width(text: &str) -> Result<Width, String> {
    match text.strip_prefix("median") {
        Some("") => Ok(Width::MedianOver(1.0)),
        Some(rest) => {
            let number = rest.strip_prefix('/').and_then(|number| positive(number).ok());
            number
                .map(Width::MedianOver)
                .ok_or_else(|| format!("'{text}' is not median over a number, as in median/3"))
        }
        None => positive(text).map(Width::Exactly),
    }
}

/// A ridge.
pub(super) fn ridge(text: &str) -> Result<Ridge, String> {
    if text == "auto" { Ok(Ridge::Auto) } else { positive(text).map(Ridge::Exactly) }
}

/// The exponent of a representation.
pub(super) fn exponent(text: &str) -> Result<f64, String> {
    let number = text.trim().parse().ok().filter(|number: &f64| *number >= 0.0 && number.is_finite());
    number.ok_or_else(|| format!("'{text}' is not a number from 0 on"))
}
