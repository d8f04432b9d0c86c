//! What projecting rows off almost dependent ones does to rounding errors.

use faer::Mat;

use crate::{
    linalg::{OrthonormalBasis, column, column_mut, kernels},
    map::{Candidates, local_search::dual_basis},
};

/// How errors of the rows that the model includes come back in what all others have beyond them.
pub(super) struct Magnifier {
    /// w_i with w_i·u_j = 1 for i = j and 0 otherwise, inside the span of the unit rows u_i.
    duals: Option<Mat<f64>>,
}

impl Magnifier {
    pub(super) fn of(candidates: &Candidates<'_>) -> Self {
        let (features, included) = (candidates.features(), candidates.ground.included());
        if included.is_empty() {
            return Self { duals: None };
        }
        let mut units = Mat::zeros(features.dims(), included.len());
        for (at, &item) in included.iter().enumerate() {
            let unit = column_mut(units.as_mut(), at);
            features.read_row(item as usize, 1.0, unit);
            OrthonormalBasis::normalise(unit);
        }
        Self { duals: dual_basis(units.as_ref()).map(|(duals, ..)| duals) }
    }

    /// Σ |w_i·a|: as many times the error of u_i as a row has of it.
    pub(super) fn of_row(&self, row: &[f64]) -> f64 {
        let duals = self.duals.iter().flat_map(|duals| (0..duals.ncols()).map(|i| column(duals.as_ref(), i)));
        duals.map(|dual| kernels::dot(dual, row).abs()).sum()
    }
}
