//! The factors that rows are multiplied by when shaders read them.

use super::{
    exponents::{NONE, power, scaled},
    filling::Form,
    range::{LARGEST_ROW, SMALLEST_ROW},
    stored::Stored,
};
use crate::{
    Error, Features, Result,
    engine::{Precision, Rows, rows::largest},
    error::DeviceProblem,
};

/// The factors of rows.
///
/// In f64 they are s_l q_i. In single precision, rows have units: powers of two that bring the largest entry of every
/// group to the same exponent. The scales s_l are in the units alone.
#[derive(Debug)]
pub(super) enum Scaling {
    /// One factor per group.
    OfGroups(Vec<f64>),
    /// q_i times the factor of the group.
    Weights(Vec<f64>),
    /// q_i times a power of two per group, in single precision.
    WeightsInUnits(Vec<i32>),
    /// An exponent per group, to which the row's exponent is added, if rows are divided by their own power of two.
    Exponents(Vec<i32>),
}

impl Scaling {
    /// Returns the factors and the unit of every group. `members` gives the group of every row and its place in
    /// storage.
    ///
    /// # Errors
    /// [`DeviceProblem::SinglePrecision`] if a row is lost next to the largest of its group.
    pub(super) fn new<I: Iterator<Item = (usize, usize)>>(
        precision: Precision,
        stored: &Stored,
        rows: &Rows<'_>,
        members: impl Fn() -> I,
    ) -> Result<(Self, Vec<f64>)> {
        let scales = rows.scales();
        let is_weighted = rows.features().is_weighted();
        if precision == Precision::F64 {
            let units = vec![1.0; scales.len()];
            return Ok((if is_weighted { Self::Weights(scales) } else { Self::OfGroups(scales) }, units));
        }
        let exponents = exponents_of_groups(stored, rows, members)?;
        let units = scales.iter().zip(&exponents).map(|(&scale, &e)| scaled(scale, -e)).collect();
        let scaling = match (stored.form, is_weighted) {
            (Form::Normalised, _) => Self::Exponents(exponents),
            (Form::Plain, true) => Self::WeightsInUnits(exponents),
            (Form::Plain, false) => Self::OfGroups(exponents.into_iter().map(power).collect()),
        };
        Ok((scaling, units))
    }

    /// Whether there is one factor per group.
    pub(super) fn is_of_groups(&self) -> bool {
        matches!(self, Self::OfGroups(_))
    }

    /// The factors of the groups, or of these rows.
    pub(super) fn factors(
        &self,
        features: &Features,
        stored: &Stored,
        members: impl Iterator<Item = (usize, usize)>,
    ) -> Vec<f64> {
        let weight = |row: usize| features.weight(stored.item(row));
        match self {
            Self::OfGroups(factors) => factors.clone(),
            Self::Weights(factors) => members.map(|(group, row)| factors[group] * weight(row)).collect(),
            Self::WeightsInUnits(exponents) | Self::Exponents(exponents) => {
                let factor = |(group, row): (usize, usize)| match (self, stored.exponent(row)) {
                    (_, NONE) => 0.0,
                    (Self::Exponents(_), own) => power(exponents[group] + i32::from(own)),
                    _ => scaled(weight(row), exponents[group]),
                };
                members.map(factor).collect()
            }
        }
    }
}

/// The number that is added to each group's exponents, so that the largest becomes [`LARGEST_ROW`].
fn exponents_of_groups<I: Iterator<Item = (usize, usize)>>(
    stored: &Stored,
    rows: &Rows<'_>,
    members: impl Fn() -> I,
) -> Result<Vec<i32>> {
    let mut most = vec![NONE; rows.groups().len()];
    for (group, row) in members() {
        most[group] = most[group].max(stored.exponent(row));
    }
    let added: Vec<i32> =
        most.iter().map(|&e| if e == NONE { 0 } else { i32::from(LARGEST_ROW) - i32::from(e) }).collect();
    let is_lost = |&(group, row): &(usize, usize)| {
        let e = stored.exponent(row);
        e != NONE && i32::from(e) + added[group] < i32::from(SMALLEST_ROW)
    };
    let Some((group, row)) = members().find(is_lost) else { return Ok(added) };
    let features = rows.features();
    let item = stored.item(row);
    let size = features.weight(item) * features.max_abs_of_stored(item);
    let value = size / largest(features, rows.groups()[group].items);
    let what = "a row whose size relative to the largest is";
    Err(Error::Device(DeviceProblem::SinglePrecision { what, value }))
}
