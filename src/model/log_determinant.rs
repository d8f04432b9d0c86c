//! Log-determinants of sets.

use faer::Mat;

use crate::{
    Error, Estimate, Features, Result, Subset,
    linalg::{OrthonormalBasis, WeightedRow, norm, transposed_duals, triangular},
};

/// The error amplification at which f64 loses too many digits of the determinant.
const NEARLY_DEPENDENT: f64 = 1e4;
/// If the volume of unit rows is larger, errors are amplified so little that a bound on the amplification is enough.
const NEARLY_ORTHOGONAL: f64 = 0.25;

/// The determinant of rows, computed by orthogonalising them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Volume {
    pub(super) log_det: Estimate<f64>,
    /// The smallest residual of a unit row beyond the previous ones.
    pub(super) least: f64,
    /// The sum over unit rows of their inverse residuals beyond all others: the error of the determinant in units of
    /// rounding.
    amplification: f64,
}

/// ln det K_S and a basis of the span, or the first item that depends on the previous ones (to 1e-12 of its length).
pub(super) fn log_volume(
    features: &Features,
    items: impl Iterator<Item = usize>,
    span: &mut OrthonormalBasis,
) -> std::result::Result<Volume, usize> {
    let mut row = vec![0.0; features.dims()];
    let mut log_det = Estimate { value: 0.0, error: 0.0 };
    let (mut least, mut volume): (f64, f64) = (1.0, 1.0);
    // The columns of R in U = Q R for the unit rows U, one after the other.
    let most = items.size_hint().0;
    let mut triangle = Vec::with_capacity(most * (most + 1) / 2);
    for item in items {
        features.read_stored(item, 1.0, &mut row);
        let log_norm = OrthonormalBasis::normalise(&mut row).ok_or(item)? + features.log_weight(item);
        let residual = span.extend_noting(&row, |along| triangle.push(along)).ok_or(item)?;
        triangle.push(residual);
        least = least.min(residual);
        volume *= residual;
        log_det.value += 2.0 * (log_norm + residual.ln());
        log_det.error += f64::EPSILON * log_det.value.abs();
    }
    // The result is exact for unit rows that are off by a few rounding errors. No row's residual beyond all others is
    // below the volume of all rows, since the volume of the others is at most 1.
    let amplification = if volume > NEARLY_ORTHOGONAL {
        span.len() as f64 / volume
    } else {
        sum_of_dual_lengths(&triangle, span.len())
    };
    log_det.error += 8.0 * f64::EPSILON * amplification;
    Ok(Volume { log_det, least, amplification })
}

/// Σ ‖w_i‖ over the vectors with w_i·u_j = 1 if i = j and 0 otherwise: the rows of R⁻¹.
fn sum_of_dual_lengths(triangle: &[f64], size: usize) -> f64 {
    let entry = |i: usize, j: usize| triangle[j * (j + 1) / 2 + i];
    let (mut squares, mut column) = (vec![0.0; size], vec![0.0; size]);
    for j in 0..size {
        // Column j of the inverse.
        column[j] = entry(j, j).recip();
        for i in (0..j).rev() {
            let sum: f64 = (i + 1..=j).map(|l| entry(i, l) * column[l]).sum();
            column[i] = -sum / entry(i, i);
        }
        squares.iter_mut().zip(&column[..=j]).for_each(|(square, x)| *square += x * x);
    }
    squares.into_iter().map(f64::sqrt).sum()
}

/// ln det K_S; −∞ for dependent rows, decided in exact arithmetic.
///
/// # Cost
/// O(n|S|²); about a hundred times as much if rows are nearly dependent.
pub(crate) fn log_determinant(features: &Features, subset: &Subset) -> f64 {
    of_rows(features, subset).value
}

/// ln det K_S with its error: rounding and, for the factor of a kernel, its residual.
pub(crate) fn log_determinant_estimate(features: &Features, subset: &Subset) -> Estimate<f64> {
    let found = of_rows(features, subset);
    if found.value == f64::NEG_INFINITY {
        // The determinant of the kernel itself may be positive.
        let error = if features.residual().is_some() { f64::INFINITY } else { 0.0 };
        return Estimate { error, ..found };
    }
    Estimate { error: found.error + factor_error(features, subset.iter()), ..found }
}

impl Features {
    /// ln det K_S, a measure of how diverse a set is.
    ///
    /// It is −∞ for dependent rows, which is decided in exact arithmetic. If rows have weights, K is the weighted
    /// kernel.
    ///
    /// ```
    /// # fn main() -> Result<(), partition_dpp::Error> {
    /// use partition_dpp::{Features, Subset};
    /// let features = Features::from_rows(3, 2, vec![1.0, 0.0, 0.0, 2.0, 0.0, 4.0])?;
    /// assert!((features.log_det(&Subset::new(vec![0, 1], 3)?)?.value - 4.0_f64.ln()).abs() < 1e-15);
    /// assert_eq!(features.log_det(&Subset::new(vec![1, 2], 3)?)?.value, f64::NEG_INFINITY);
    /// # Ok(()) }
    /// ```
    ///
    /// # Cost
    /// O(n|S|²); about a hundred times as much if rows are nearly dependent.
    ///
    /// # Errors
    /// [`Error::ItemOutOfRange`].
    pub fn log_det(&self, subset: &Subset) -> Result<Estimate<f64>> {
        let items = self.items();
        match subset.iter().find(|&item| item >= items) {
            Some(item) => Err(Error::ItemOutOfRange { item, items }),
            None => Ok(log_determinant_estimate(self, subset)),
        }
    }
}

/// A bound on the change of ln det K_S by E = K − A Aᵀ: −ln(1 − Σ_i ‖A_S⁺ e_i‖² E_ii).
pub(crate) fn factor_error(features: &Features, items: impl Iterator<Item = usize>) -> f64 {
    let Some(residual) = features.residual() else { return 0.0 };
    let items: Vec<usize> = items.collect();
    if items.len() > features.dims() {
        return f64::INFINITY;
    }
    let duals = Duals::of(features, items.into_iter());
    let shares = duals.rows.iter().enumerate().map(|(i, row)| duals.length(i).powi(2) * residual.of_row(row));
    let relative: f64 = shares.sum();
    if relative < 1.0 { -(-relative).ln_1p() } else { f64::INFINITY }
}

/// Rows A_S, and the columns of the pseudoinverse A_S⁺: vectors w_i with w_i·a_j = 1 if i = j and 0 otherwise.
#[derive(Clone, Debug)]
pub(super) struct Duals {
    rows: Vec<Vec<f64>>,
    /// The columns of the pseudoinverse of the unit rows, |S|×n.
    of_units: Mat<f64>,
    lengths: Vec<f64>,
}

impl Duals {
    /// # Cost
    /// O(n|S|²).
    pub(super) fn of(features: &Features, items: impl Iterator<Item = usize>) -> Self {
        let rows: Vec<Vec<f64>> = items.map(|item| features.row(item)).collect();
        let lengths: Vec<f64> = rows.iter().map(|row| norm(row.iter().copied())).collect();
        let dims = features.dims();
        if rows.is_empty() {
            return Self { rows, of_units: Mat::zeros(0, dims), lengths };
        }
        let units = Mat::from_fn(dims, rows.len(), |j, i| rows[i][j] / lengths[i]);
        let qr = units.qr();
        let of_units = transposed_duals(&qr, qr.compute_thin_Q().as_ref());
        Self { rows, of_units, lengths }
    }

    fn unit_length(&self, i: usize) -> f64 {
        norm((0..self.of_units.ncols()).map(|j| self.of_units[(i, j)]))
    }

    /// ‖w_i‖.
    fn length(&self, i: usize) -> f64 {
        self.unit_length(i) / self.lengths[i]
    }

    /// Σ_i |c_i| of_row(a_i), where Σ c_i a_i is the combination of the rows nearest to a given row.
    pub(super) fn combined(&self, row: &[f64], of_row: impl Fn(&[f64]) -> f64) -> f64 {
        let coefficient = |i: usize| -> f64 {
            row.iter().enumerate().map(|(j, x)| x * self.of_units[(i, j)]).sum::<f64>() / self.lengths[i]
        };
        self.rows.iter().enumerate().map(|(i, own)| coefficient(i).abs() * of_row(own)).sum()
    }
}

fn of_rows(features: &Features, subset: &Subset) -> Estimate<f64> {
    let zero = Estimate { value: f64::NEG_INFINITY, error: 0.0 };
    if subset.len() > features.dims() {
        return zero;
    }
    let mut span = OrthonormalBasis::new(features.dims());
    let found = log_volume(features, subset.iter(), &mut span);
    if let Ok(Volume { log_det, amplification, .. }) = found
        && amplification < NEARLY_DEPENDENT
    {
        return log_det;
    }
    let row = |item| WeightedRow { values: features.row(item), exponent: 0 };
    let rows: Vec<WeightedRow> = subset.iter().map(row).collect();
    match triangular(&rows, rows.len(), &|| Ok(())) {
        Ok(Some(exact)) if exact.log_squares.len() < rows.len() => zero,
        Ok(Some(exact)) => weighted(exact.log_det(rows.len()), features, subset.iter()),
        // If there are too many large rows for exact arithmetic, use the f64 result.
        Ok(None) | Err(_) => found.map_or(zero, |volume| volume.log_det),
    }
}

/// ln det of weighted rows, given ln det of the rows as stored.
pub(super) fn weighted(
    stored: Estimate<f64>,
    features: &Features,
    items: impl Iterator<Item = usize>,
) -> Estimate<f64> {
    let weights = 2.0 * items.map(|item| features.log_weight(item)).sum::<f64>();
    let value = stored.value + weights;
    Estimate { value, error: stored.error + f64::EPSILON * (weights.abs() + value.abs()) }
}

#[cfg(test)]
mod tests {
    use approx::assert_abs_diff_eq;

    use super::*;

    #[test]
    fn nearly_dependent_rows_keep_their_digits() {
        let near = 1.0 + f64::EPSILON;
        let features =
            Features::from_rows(4, 2, vec![1.0, 1.0, 1.0, near, 2.0, 2.0, 3e-200, -3e-200]).unwrap();
        let log_det = |items: &[usize]| log_determinant(&features, &Subset::new(items.to_vec(), 4).unwrap());
        assert_abs_diff_eq!(log_det(&[0, 1]), 2.0 * f64::EPSILON.ln(), epsilon = 1e-13);
        assert_abs_diff_eq!(log_det(&[0, 3]), 2.0 * 6e-200_f64.ln(), epsilon = 1e-12);
        assert!(log_det(&[0, 2]).is_infinite() && log_det(&[0, 1, 3]).is_infinite());
    }
}
