//! The two leading principal components of the features.

use faer::{Col, ColRef, Mat, Side};
use partition_dpp::Features;

/// The most values from which the directions are computed, which limits the time to seconds.
const MOST_VALUES: usize = 4_000_000;
/// The fewest rows from which the directions are computed, if there are that many.
const FEWEST_ROWS: usize = 12;
/// The share of the variance below which a direction is only rounding error.
const NEGLIGIBLE: f64 = 1e-12;

/// The map from features to the plane.
#[derive(Debug)]
pub(super) struct Projection {
    /// The divisor of all features, which keeps squares from overflowing.
    scale: f64,
    mean: Vec<f64>,
    /// At most two, or fewer if the items lie on a line or in a point.
    axes: Vec<Col<f64>>,
    /// The share of the variance along each component.
    pub(super) shares: [f64; 2],
}

impl Projection {
    /// Finds the directions of largest variance among some items.
    pub(super) fn fit(features: &Features, items: &[usize]) -> Self {
        let dims = features.dims();
        let enough = (MOST_VALUES / dims).max(FEWEST_ROWS);
        let stride = items.len().div_ceil(enough).max(1);
        let rows: Vec<Vec<f64>> = items.iter().step_by(stride).map(|&item| features.row(item)).collect();
        let largest = rows.iter().flatten().fold(0.0_f64, |max, value| max.max(value.abs()));
        let scale = if largest > 0.0 { largest } else { 1.0 };
        let sum = |feature: usize| rows.iter().map(|row| row[feature] / scale).sum::<f64>();
        let mean: Vec<f64> = (0..dims).map(|feature| sum(feature) / rows.len() as f64).collect();
        let data = Mat::from_fn(rows.len(), dims, |row, feature| rows[row][feature] / scale - mean[feature]);
        let (axes, found): (Vec<_>, Vec<_>) = leading_directions(&data).into_iter().unzip();
        let share = |at: usize| found.get(at).copied().unwrap_or(0.0);
        Self { scale, mean, axes, shares: [share(0), share(1)] }
    }

    /// Returns the position of an item in the plane, in the units of the features.
    pub(super) fn place(&self, row: &[f64]) -> (f64, f64) {
        // If these units are too large or too small to draw, keep units of the largest feature.
        let unit = if (1e-100..1e100).contains(&self.scale) { self.scale } else { 1.0 };
        let centred = || row.iter().zip(&self.mean).map(|(value, mean)| value / self.scale - mean);
        let along = |axis: &Col<f64>| centred().zip(axis.iter()).map(|(x, a)| x * a).sum::<f64>() * unit;
        let coordinate = |at: usize| self.axes.get(at).map_or(0.0, along);
        (coordinate(0), coordinate(1))
    }
}

/// Returns the two leading right singular vectors of the centred data, with their shares of the variance.
///
/// They come from the eigenvectors of the smaller of the two Gram matrices: O(mn min(m, n)) for m rows of n features.
/// On one core, 20 000 × 200 take 0.1 s, 1000 × 4000 take 1 s, and the most, 2000 × 2000, take 3 s.
fn leading_directions(data: &Mat<f64>) -> Vec<(Col<f64>, f64)> {
    let wide = data.nrows() < data.ncols();
    let gram = if wide { data * data.transpose() } else { data.transpose() * data };
    let Ok(eigen) = gram.self_adjoint_eigen(Side::Lower) else {
        return Vec::new();
    };
    let total = data.squared_norm_l2();
    let shares = eigen.S().column_vector().iter().rev().map(|variance| variance / total);
    let leading = shares.zip(eigen.U().col_iter().rev()).take(2);
    let direction = |(share, vector): (f64, ColRef<'_, f64>)| {
        let axis = if wide { data.transpose() * vector } else { vector.to_owned() };
        let largest = axis.iter().fold(0.0_f64, |max, &x| if x.abs() > max.abs() { x } else { max });
        // The sign of a direction is arbitrary, so its largest entry is made positive.
        (&axis / axis.norm_l2().copysign(largest), share)
    };
    leading.filter(|(share, _)| *share > NEGLIGIBLE).map(direction).collect()
}

#[cfg(test)]
mod tests {
    use approx::assert_abs_diff_eq;

    use super::*;

    fn projected(values: Vec<f64>, dims: usize) -> (Features, Projection) {
        let items = values.len() / dims;
        let features = Features::from_rows(items, dims, values).unwrap();
        let projection = Projection::fit(&features, &(0..items).collect::<Vec<_>>());
        (features, projection)
    }

    #[test]
    fn a_line_is_one_component() {
        let point = |i: i32| [3.0 * f64::from(i), 4.0 * f64::from(i), 1.0];
        // First more items than features, then fewer.
        for items in [10, 2] {
            let (features, projection) = projected((0..items).flat_map(point).collect(), 3);
            assert_abs_diff_eq!(projection.shares[0], 1.0, epsilon = 1e-9);
            let last = projection.place(&features.row(features.items() - 1));
            let first = projection.place(&features.row(0));
            assert_abs_diff_eq!(last.0 - first.0, 5.0 * f64::from(items - 1), epsilon = 1e-9);
            assert_abs_diff_eq!(last.1, first.1, epsilon = 1e-9);
        }
    }

    #[test]
    fn one_feature_and_no_variance_are_no_trouble() {
        let (features, projection) = projected(vec![2.0, 2.0, 2.0], 1);
        assert_eq!(projection.place(&features.row(1)), (0.0, 0.0));
    }

    /// Returns the signs of a corner of a box along its three sides.
    fn corner(item: usize) -> [f64; 3] {
        [0, 1, 2].map(|side| if item >> side & 1 == 0 { 1.0 } else { -1.0 })
    }

    /// Returns the corners of a box with half sides 3, 2 and 1 along orthonormal directions. The largest entry of
    /// each direction is positive.
    fn corners(dims: usize) -> Vec<f64> {
        let sides = [[0.8, 0.6, 0.0], [-0.6, 0.8, 0.0], [0.0, 0.0, 1.0]];
        let at = |item: usize, feature: usize| -> f64 {
            let along = |side: usize| corner(item)[side] * (3 - side) as f64;
            (0..3).map(|side| along(side) * sides[side].get(feature).unwrap_or(&0.0)).sum::<f64>() + 7.0
        };
        (0..8).flat_map(|item| (0..dims).map(move |feature| at(item, feature))).collect()
    }

    /// Returns the largest distance between a projected corner of the box and its exact place.
    fn error(features: &Features, projection: &Projection) -> f64 {
        let distance = |item: usize| {
            let ((x, y), [along, up, _]) = (projection.place(&features.row(item)), corner(item));
            (x - 3.0 * along).abs().max((y - 2.0 * up).abs())
        };
        (0..8).map(distance).fold(0.0, f64::max)
    }

    #[test]
    fn a_box_lies_along_its_sides() {
        // First more items than features, then fewer.
        for dims in [3, 20] {
            let (features, mut projection) = projected(corners(dims), dims);
            assert!(error(&features, &projection) < 1e-12);
            assert_abs_diff_eq!(projection.shares[0], 9.0 / 14.0, epsilon = 1e-12);
            assert_abs_diff_eq!(projection.shares[1], 4.0 / 14.0, epsilon = 1e-12);
            // The check rejects directions that are slightly wrong, in the wrong order, or of the wrong sign.
            let [first, second] = [0, 1].map(|at| projection.axes[at].clone());
            for axes in [
                vec![&first + 1e-6 * &second, second.clone()],
                vec![second.clone(), first.clone()],
                vec![first, -second],
            ] {
                projection.axes = axes;
                assert!(error(&features, &projection) > 1e-6);
            }
        }
    }
}
