//! The two leading principal components of the features.

use nalgebra::{DMatrix, DVector, SymmetricEigen};
use partition_dpp::Features;

/// The most values that the directions are computed from, which limits the time to seconds.
const MOST_VALUES: usize = 4_000_000;
/// Vectors iterated together; more than the two needed, for faster convergence.
const BLOCK: usize = 6;
const MOST_ITERATIONS: usize = 40;
/// Relative change of the captured variance that counts as converged; smaller changes are invisible.
const CONVERGED: f64 = 1e-6;

/// The map from features to the plane.
#[derive(Debug)]
pub(super) struct Projection {
    /// Features are first divided by this, so that no square overflows.
    scale: f64,
    mean: DVector<f64>,
    /// One column per component, at most two.
    axes: DMatrix<f64>,
    /// Share of the variance along each component.
    pub(super) shares: [f64; 2],
}

impl Projection {
    /// Finds the directions of largest variance among some items, by subspace iteration.
    pub(super) fn fit(features: &Features, items: &[usize]) -> Self {
        let dims = features.dims();
        let enough = (MOST_VALUES / dims).max(2 * BLOCK).min(items.len());
        let stride = items.len().div_ceil(enough.max(1)).max(1);
        let rows: Vec<Vec<f64>> = items.iter().step_by(stride).map(|&item| features.row(item)).collect();
        let largest = rows.iter().flatten().fold(0.0_f64, |max, value| max.max(value.abs()));
        let scale = if largest > 0.0 { largest } else { 1.0 };
        let mut data = DMatrix::from_fn(rows.len(), dims, |row, column| rows[row][column] / scale);
        let mean = data.row_mean().transpose();
        for mut row in data.row_iter_mut() {
            row -= mean.transpose();
        }
        let (axes, variances) = leading_directions(&data);
        let total = data.norm_squared();
        let share = |at: usize| match variances.get(at) {
            Some(variance) if total > 0.0 => variance / total,
            _ => 0.0,
        };
        Self { scale, mean, axes, shares: [share(0), share(1)] }
    }

    /// The position of an item in the plane, in the units of the features.
    pub(super) fn place(&self, row: &[f64]) -> (f64, f64) {
        let centred =
            DVector::from_iterator(row.len(), row.iter().map(|value| value / self.scale)) - &self.mean;
        // Coordinates too large to draw stay in units of the largest feature.
        let unit = if (1e-100..1e100).contains(&self.scale) { self.scale } else { 1.0 };
        let along = |axis: usize| {
            if axis < self.axes.ncols() { self.axes.column(axis).dot(&centred) * unit } else { 0.0 }
        };
        (along(0), along(1))
    }
}

/// The two leading right singular vectors of the data, and their squared singular values.
fn leading_directions(data: &DMatrix<f64>) -> (DMatrix<f64>, Vec<f64>) {
    let dims = data.ncols();
    let width = BLOCK.min(dims);
    // The start only has to be not orthogonal to the answer; it is the same every time.
    let mut basis =
        DMatrix::from_fn(dims, width, |row, column| (1.0 + (row * BLOCK + column) as f64 * 0.754_877).sin());
    basis = basis.qr().q();
    let mut captured = 0.0;
    for _ in 0..MOST_ITERATIONS {
        let image = data * &basis;
        let now = image.norm_squared();
        if now - captured <= CONVERGED * now {
            break;
        }
        captured = now;
        basis = data.tr_mul(&image).qr().q();
    }
    let image = data * &basis;
    let eigen = SymmetricEigen::new(image.tr_mul(&image));
    let mut order: Vec<usize> = (0..basis.ncols()).collect();
    order.sort_by(|&a, &b| eigen.eigenvalues[b].total_cmp(&eigen.eigenvalues[a]));
    order.truncate(2);
    let mut axes = basis * eigen.eigenvectors.select_columns(&order);
    for mut axis in axes.column_iter_mut() {
        // The sign of a direction is arbitrary: its largest entry is made positive.
        if axis[axis.icamax()] < 0.0 {
            axis.neg_mut();
        }
    }
    (axes, order.iter().map(|&at| eigen.eigenvalues[at].max(0.0)).collect())
}

#[cfg(test)]
mod tests {
    use approx::assert_abs_diff_eq;

    use super::*;

    #[test]
    fn a_line_is_one_component() {
        let values: Vec<f64> = (0..10).flat_map(|i| [3.0 * f64::from(i), 4.0 * f64::from(i), 1.0]).collect();
        let features = Features::from_rows(10, 3, values).unwrap();
        let projection = Projection::fit(&features, &(0..10).collect::<Vec<_>>());
        assert_abs_diff_eq!(projection.shares[0], 1.0, epsilon = 1e-9);
        let (from, to) = (projection.place(&features.row(0)), projection.place(&features.row(9)));
        assert_abs_diff_eq!(to.0 - from.0, 45.0, epsilon = 1e-9);
    }

    #[test]
    fn one_feature_and_no_variance_are_no_trouble() {
        let features = Features::from_rows(3, 1, vec![2.0, 2.0, 2.0]).unwrap();
        let projection = Projection::fit(&features, &[0, 1, 2]);
        assert_eq!(projection.place(&features.row(1)), (0.0, 0.0));
    }
}
