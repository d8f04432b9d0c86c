//! What the rounding of products with rows changes in a law.

use faer::Mat;

use super::TiltedSpectrum;
use crate::{
    Result,
    data::{GroundSet, Lacking},
    engine::{Group, Rows},
};

/// How large the numbers are that cancel in products of rows with directions.
#[derive(Debug)]
pub(super) struct Rounding {
    /// ‖A e_j‖² of every group's rows, column by column; as scaled, with weight 1.
    columns: Vec<Vec<f64>>,
    /// By how much of ε all rows of a group together may be off beyond that, squared.
    rows: Vec<f64>,
    /// ‖K − A Aᵀ‖ of every group's rows as scaled.
    residuals: Vec<f64>,
    /// Dimensions that the factor of a kernel leaves out.
    left_out: usize,
    /// Dimensions that rows may have beyond the included ones, where they are seen in those alone.
    beyond: usize,
}

impl Rounding {
    /// `grams` are those of the rows as scaled, or of their components in a subspace.
    pub(super) fn new(rows: &Rows<'_>, ground: &GroundSet<'_>, grams: &[Mat<f64>]) -> Self {
        let dims = rows.features().dims();
        let diagonal = |gram: &Mat<f64>| (0..gram.nrows()).map(|j| gram[(j, j)]).collect::<Vec<_>>();
        // Entries are 1 at most.
        let most = |count: usize| (count * dims) as f64;
        let beyond = ground.beyond().is_some();
        let columns =
            grams.iter().map(|gram| if beyond { vec![0.0; dims] } else { diagonal(gram) }).collect();
        let row = ground.row_rounding().powi(2);
        let spread = rows.groups().iter().map(|group| row * most(group.items.len())).collect();
        let left_out = rows.features().residual().map_or(0, |residual| residual.left_out);
        let lacking = ground.lacking();
        let largest = |group: &Group<'_>, lacking: &Lacking<'_>| {
            group.items.iter().map(|item| lacking.of(item)).fold(0.0, f64::max) * group.scale.powi(2)
        };
        let of_group = |group: &Group<'_>| lacking.as_ref().map_or(0.0, |lacking| largest(group, lacking));
        let residuals = rows.groups().iter().map(of_group).collect();
        let beyond = if beyond { ground.dims_left().min(rows.len()) } else { 0 };
        Self { columns, rows: spread, residuals, left_out, beyond }
    }

    /// In total variation: how likely directions would be used that were left out, as large as they may be, and more
    /// likely those found; and rounding of products with the rows.
    pub(super) fn error(
        &self,
        found: &TiltedSpectrum,
        lost: &[f64],
        usage: impl Fn(&[f64]) -> Result<Vec<f64>>,
    ) -> Result<f64> {
        let (values, noise) = (&found.spectrum.values, self.noise(found));
        let largest: Vec<f64> = values.iter().map(|value| value + noise).collect();
        let probability = usage(&[&largest[..], lost, &self.left_out(found)].concat())?;
        let mut unseen: f64 = probability[values.len()..].iter().sum();
        if noise > 0.0 {
            let more = probability.iter().zip(usage(values)?).map(|(most, found)| (most - found).max(0.0));
            unseen += more.sum::<f64>();
        }
        Ok(unseen + self.of_products(found, &probability))
    }

    /// Eigenvalues, at most, of what rows may have besides those found: of a kernel beyond its factor one for every
    /// dimension that was left out, and of rows beyond the included ones those that are lost in their rounding.
    fn left_out(&self, found: &TiltedSpectrum) -> Vec<f64> {
        let mut values = vec![self.residual(found); self.left_out];
        let lost = self.beyond.saturating_sub(found.spectrum.values.len());
        values.extend(vec![self.noise(found); lost]);
        values
    }

    /// The eigenvalue of what rows are off by beyond the rounding of products.
    fn noise(&self, found: &TiltedSpectrum) -> f64 {
        (4.0 * f64::EPSILON).powi(2) * self.spread(found)
    }

    /// Σ of what all rows may be off by in ε, squared.
    fn spread(&self, found: &TiltedSpectrum) -> f64 {
        self.rows.iter().zip(&found.tilt.log_weights).map(|(square, t)| t.exp() * square).sum()
    }

    /// ‖K̃ − Ã Ãᵀ‖ of the weighted kernel.
    fn residual(&self, found: &TiltedSpectrum) -> f64 {
        let weighted =
            self.residuals.iter().zip(&found.tilt.log_weights).map(|(residual, t)| residual * t.exp());
        weighted.fold(0.0, f64::max)
    }

    /// In total variation: entry (i, j) of the whitened rows F_jᵀ a_i is off by roundings of its terms, and matters
    /// as often as eigenvector j is used.
    ///
    /// ```text
    /// 8ε Σ_j p_j Σ_l |F_lj| ‖Ã e_l‖ + ‖K̃ − Ã Ãᵀ‖ Σ_j p_j / λ_j
    /// ```
    fn of_products(&self, found: &TiltedSpectrum, probability: &[f64]) -> f64 {
        let weights: Vec<f64> = found.tilt.log_weights.iter().map(|t| t.exp()).collect();
        let factor = found.spectrum.whitener();
        let whole = self.spread(found);
        let column = |l: usize| -> f64 {
            let own: f64 = self.columns.iter().zip(&weights).map(|(squares, y)| y * squares[l]).sum();
            own.sqrt() + whole.sqrt()
        };
        let columns: Vec<f64> = (0..factor.nrows()).map(column).collect();
        let lost = |(j, p): (usize, &f64)| -> f64 {
            p * columns.iter().enumerate().map(|(l, size)| factor[(l, j)].abs() * size).sum::<f64>()
        };
        let of_products = probability.iter().take(factor.ncols()).enumerate().map(lost).sum::<f64>();
        let inverses: f64 = probability.iter().zip(&found.spectrum.values).map(|(p, value)| p / value).sum();
        8.0 * f64::EPSILON * of_products + self.residual(found) * inverses
    }
}
