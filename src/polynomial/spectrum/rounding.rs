//! The error of a law from the rounding of products with rows.

use super::TiltedSpectrum;
use crate::{
    Result,
    engine::{Engine, RowMap, Rows},
    linalg,
    model::{GroundSet, Lacking},
    polynomial::gram::{Gram, Summand},
};

/// The sizes of the numbers that cancel in products of rows with directions.
#[derive(Debug)]
pub(super) struct Rounding<'r> {
    rows: &'r Rows<'r>,
    /// ‖A e_j‖² of every group's scaled rows, column by column, with weight 1.
    columns: Vec<Vec<f64>>,
    /// Further squared error of all rows of a group together, in units of ε².
    spread: Vec<f64>,
    /// For every scaled row, the roots of what the factor of a kernel lacks: of the row itself, and of the included
    /// rows that it is projected on. Empty for features.
    lacking: Vec<(f64, f64)>,
    /// The number of dimensions that the factor of a kernel lacks.
    left_out: usize,
    /// The number of dimensions that rows may have beyond the included ones; 0 without included ones.
    beyond: usize,
}

impl<'r> Rounding<'r> {
    /// `grams` are the Gram matrices of the scaled rows, or of their components in a subspace.
    pub(super) fn new(rows: &'r Rows<'r>, ground: &GroundSet, grams: &[Gram]) -> Self {
        let dims = rows.features().dims();
        let beyond = ground.beyond().is_some();
        let columns =
            grams.iter().map(|gram| if beyond { vec![0.0; dims] } else { gram.diagonal() }).collect();
        let row = ground.row_rounding().powi(2);
        let squares = if row > 0.0 { rows.squared_lengths() } else { vec![0.0; grams.len()] };
        let spread = squares.into_iter().map(|square| row * square).collect();
        let left_out = rows.features().residual().map_or(0, |residual| residual.left_out);
        let scaled = |(_, group): (usize, usize), (own, included): (f64, f64)| {
            let scale = rows.groups()[group].scale;
            (scale * own, scale * included)
        };
        let roots = |lacking: Lacking<'_>| rows.iter().map(|row| scaled(row, lacking.roots(row.0))).collect();
        let lacking = ground.lacking().map_or_else(Vec::new, roots);
        let beyond = if beyond { ground.dims_left().min(rows.len()) } else { 0 };
        Self { rows, columns, spread, lacking, left_out, beyond }
    }

    /// The total variation error.
    ///
    /// It is the sum of three terms: the probability that omitted directions are used, at the largest size they may
    /// have; the excess probability of the directions found; and the rounding of products with the rows. `lost` has
    /// upper bounds on the eigenvalues of directions left out as rounding.
    pub(super) fn error(
        &self,
        engine: &Engine,
        found: &TiltedSpectrum,
        lost: &[f64],
        usage: impl Fn(&[f64]) -> Result<Vec<f64>>,
    ) -> Result<f64> {
        let (values, noise) = (&found.spectrum.values, self.noise(found));
        let largest: Vec<f64> = values.iter().map(|value| value + noise).collect();
        // Only this many further eigenvalues can exist; the remaining error belongs to the eigenvalues found.
        let room = self.rows.len().saturating_sub(values.len()).min(lost.len());
        let probability = usage(&[&largest[..], &lost[..room], &self.left_out(found)].concat())?;
        let mut unseen: f64 = probability[values.len()..].iter().sum();
        if noise > 0.0 {
            let more = probability.iter().zip(usage(values)?).map(|(most, found)| (most - found).max(0.0));
            unseen += more.sum::<f64>();
        }
        let more: f64 = lost[room..].iter().sum();
        let along = self.residual_along(engine, found)?.into_iter().zip(values);
        let fractions = along.map(|(fraction, value)| fraction + more / value);
        let of_found: f64 = probability.iter().zip(fractions).map(|(p, fraction)| p * fraction).sum();
        Ok(unseen + of_found + self.of_products(found, &probability))
    }

    /// Upper bounds on eigenvalues that were not found.
    ///
    /// For the factor of a kernel there is one bound per dimension that it lacks; for rows beyond the included ones,
    /// one per dimension lost in their rounding.
    fn left_out(&self, found: &TiltedSpectrum) -> Vec<f64> {
        let rank = found.spectrum.values.len();
        let left_out = self.left_out.min(self.rows.len().saturating_sub(rank));
        let mut values = vec![self.residual(found); left_out];
        values.extend(vec![self.noise(found); self.beyond.saturating_sub(rank)]);
        values
    }

    /// The eigenvalue of the error of the rows, apart from the rounding of products.
    fn noise(&self, found: &TiltedSpectrum) -> f64 {
        (4.0 * f64::EPSILON).powi(2) * self.spread(found)
    }

    /// The sum of the squared errors of all rows, in units of ε².
    fn spread(&self, found: &TiltedSpectrum) -> f64 {
        self.spread.iter().zip(&found.tilt.log_weights).map(|(square, t)| t.exp() * square).sum()
    }

    /// The largest entry of K̃ − Ã Ãᵀ, where K̃ is the weighted kernel.
    fn residual(&self, found: &TiltedSpectrum) -> f64 {
        let weights = found.tilt.root_weights();
        let root =
            |(&(own, included), (_, group)): (&(f64, f64), (usize, usize))| weights[group] * (own + included);
        self.lacking.iter().zip(self.rows.iter()).map(root).fold(0.0, f64::max).powi(2)
    }

    /// The error of the factor of a kernel along every eigenvector q, as a fraction of the eigenvalue.
    ///
    /// ```text
    /// |qᵀ (K̃ − Ã Ãᵀ) q| / λ ≤ (√Σ_i q_i² r_i + Σ_i |q_i| √r′_i)² / λ,   r′ of the included rows that row i is projected on
    /// ```
    fn residual_along(&self, engine: &Engine, found: &TiltedSpectrum) -> Result<Vec<f64>> {
        let values = &found.spectrum.values;
        if self.lacking.is_empty() {
            return Ok(vec![0.0; values.len()]);
        }
        let (weights, whitener) = (found.tilt.root_weights(), found.spectrum.whitener());
        let map = RowMap { weights: &weights, factor: whitener.as_ref() };
        let vectors = engine.whiten_rows(self.rows, &map)?;
        let mut sums = vec![(0.0, 0.0); values.len()];
        let entries = vectors.chunks_exact(values.len()).zip(&self.lacking).zip(self.rows.iter());
        for ((entries, &(own, included)), (_, group)) in entries {
            for ((squares, sum), entry) in sums.iter_mut().zip(entries) {
                let weighted = weights[group] * entry;
                *squares += (weighted * own).powi(2);
                *sum += (weighted * included).abs();
            }
        }
        let fraction = |((squares, sum), value): ((f64, f64), &f64)| (squares.sqrt() + sum).powi(2) / value;
        Ok(sums.into_iter().zip(values).map(fraction).collect())
    }

    /// The total variation error from the rounding of the entries (i, j) of the whitened rows F_jᵀ a_i.
    ///
    /// An entry has the rounding of its terms, and matters as often as eigenvector j is used. If rows are also off by
    /// εE, the error is
    ///
    /// ```text
    /// 8ε Σ_j p_j (Σ_l |F_lj| ‖Ã e_l‖ + ‖F_j‖ ‖E‖)
    /// ```
    fn of_products(&self, found: &TiltedSpectrum, probability: &[f64]) -> f64 {
        let weights: Vec<f64> = found.tilt.log_weights.iter().map(|t| t.exp()).collect();
        let factor = found.spectrum.whitener();
        let whole = self.spread(found);
        let column = |l: usize| -> f64 {
            self.columns.iter().zip(&weights).map(|(squares, y)| y * squares[l]).sum::<f64>().sqrt()
        };
        let columns: Vec<f64> = (0..factor.nrows()).map(column).collect();
        let lost = |(j, p): (usize, &f64)| -> f64 {
            let direction = linalg::column(factor.as_ref(), j);
            let own: f64 = columns.iter().zip(direction).map(|(size, x)| size * x.abs()).sum();
            p * (own + linalg::norm(direction.iter().copied()) * whole.sqrt())
        };
        let of_products = probability.iter().take(factor.ncols()).enumerate().map(lost).sum::<f64>();
        8.0 * f64::EPSILON * of_products
    }
}

#[cfg(test)]
mod tests {
    use crate::{
        Features,
        engine::{Engine, Items, Rows},
        model::GroundSet,
        polynomial::spectrum::TiltedSpectrum,
    };

    /// The error of the k-DPP of ten items, in the coordinates of the features.
    fn error(items: usize, dims: usize, included: &[usize]) -> f64 {
        // Entries in (−1, 1), without a pattern.
        let entry = |at: usize| {
            let x = (12.9898 * at as f64).sin() * 43_758.545_3;
            2.0 * (x - x.floor()) - 1.0
        };
        let values = (0..items * dims).map(entry).collect::<Vec<f64>>();
        let features = Features::from_rows(items, dims, values).unwrap();
        let mut ground = GroundSet::new(&features).unwrap();
        if !included.is_empty() {
            ground.include(included).unwrap();
        }
        let free = ground.free_items();
        let rows = Rows::scaled(ground.features(), vec![Items::from(&free)]);
        TiltedSpectrum::for_size(Engine::host(), &rows, &ground, 10).unwrap().spectrum.error
    }

    /// Above 1e-9, laws are recomputed in exact arithmetic, which takes many seconds for a few hundred items.
    #[test]
    fn wide_rows_and_included_ones_are_accurate() {
        for (items, dims) in [(200, 100), (200, 199), (200, 201), (200, 230), (200, 2000)] {
            for included in [&[][..], &[3, 50, 120]] {
                let error = error(items, dims, included);
                assert!(error < 1e-9, "{items}×{dims}, {included:?} in: {error:e}");
            }
        }
    }
}
