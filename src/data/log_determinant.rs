//! Log-determinants of sets.

use faer::{Mat, linalg::solvers::SolveLstsq};

use super::{Features, Subset};
use crate::{
    Estimate,
    linalg::{OrthonormalBasis, WeightedRow, triangular},
};

/// Where a unit row has less than this beyond the others, f64 has lost too many digits of the determinant.
const NEARLY_DEPENDENT: f64 = 1e-4;

/// A determinant found by orthogonalising rows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Volume {
    pub(super) log_det: Estimate<f64>,
    /// What the most dependent unit row has beyond those before it.
    pub(super) least: f64,
}

/// ln det K_S, and a basis of the span; the first item that depends on those before it (to 1e-12 of its length)
/// where there is one.
pub(super) fn log_volume(
    features: &Features<'_>,
    items: impl Iterator<Item = usize>,
    span: &mut OrthonormalBasis,
) -> Result<Volume, usize> {
    let mut row = vec![0.0; features.dims()];
    let mut log_det = Estimate { value: 0.0, error: 0.0 };
    let mut least: f64 = 1.0;
    for item in items {
        features.read_row(item, 1.0, &mut row);
        let log_norm = OrthonormalBasis::normalise(&mut row).ok_or(item)?;
        let residual = span.extend(&row).ok_or(item)?;
        least = least.min(residual);
        log_det.value += 2.0 * (log_norm + residual.ln());
        // What is left of a unit row is off by a few roundings of the row, and by those of nearly dependent
        // rows before it.
        log_det.error += f64::EPSILON * (8.0 / least + log_det.value.abs());
    }
    Ok(Volume { log_det, least })
}

/// ln det K_S; −∞ for dependent rows, decided in exact arithmetic.
///
/// # Cost
/// O(n|S|²); some hundred times as much where rows are nearly dependent.
pub(crate) fn log_determinant(features: &Features<'_>, subset: &Subset) -> f64 {
    log_determinant_estimate(features, subset).value
}

/// The same with its error: that of rounding, and for the factor of a kernel that of the factor.
pub(crate) fn log_determinant_estimate(features: &Features<'_>, subset: &Subset) -> Estimate<f64> {
    let found = of_rows(features, subset);
    if found.value == f64::NEG_INFINITY {
        // What the factor of a kernel leaves out may be anything but zero.
        let error = if features.residual().is_some() { f64::INFINITY } else { 0.0 };
        return Estimate { error, ..found };
    }
    Estimate { error: found.error + factor_error(features, subset.iter()), ..found }
}

/// What E = K − A Aᵀ may change in ln det K_S: −ln(1 − Σ_i ‖A_S⁺ e_i‖² E_ii) at most.
pub(crate) fn factor_error(features: &Features<'_>, items: impl Iterator<Item = usize>) -> f64 {
    let rows: Vec<Vec<f64>> = items.map(|item| features.row(item)).collect();
    let Some(residual) = features.residual().filter(|_| !rows.is_empty()) else { return 0.0 };
    let columns = Mat::from_fn(features.dims(), rows.len(), |j, i| rows[i][j]);
    let pseudoinverse = columns.qr().solve_lstsq(Mat::<f64>::identity(features.dims(), features.dims()));
    let share = |(i, row): (usize, &Vec<f64>)| {
        let square: f64 = (0..pseudoinverse.ncols()).map(|j| pseudoinverse[(i, j)].powi(2)).sum();
        square * residual.of_row(row)
    };
    let relative: f64 = rows.iter().enumerate().map(share).sum();
    if relative < 1.0 { -(-relative).ln_1p() } else { f64::INFINITY }
}

fn of_rows(features: &Features<'_>, subset: &Subset) -> Estimate<f64> {
    let zero = Estimate { value: f64::NEG_INFINITY, error: 0.0 };
    if subset.len() > features.dims() {
        return zero;
    }
    let mut span = OrthonormalBasis::new(features.dims());
    let found = log_volume(features, subset.iter(), &mut span);
    if let Ok(Volume { log_det, least }) = found
        && least > NEARLY_DEPENDENT
    {
        return log_det;
    }
    let weighted = |item| WeightedRow { values: features.row(item), exponent: 0 };
    let rows: Vec<WeightedRow> = subset.iter().map(weighted).collect();
    match triangular(&rows, rows.len()) {
        Some(exact) if exact.log_squares.len() < rows.len() => zero,
        Some(exact) => {
            let value = exact.log_squares.iter().sum::<f64>();
            let largest = exact.log_squares.iter().fold(1.0, |most, log| f64::max(most, log.abs()));
            Estimate { value, error: 4.0 * f64::EPSILON * rows.len() as f64 * largest }
        }
        // Too many large rows for exact arithmetic: what f64 says of them.
        None => found.map_or(zero, |volume| volume.log_det),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearly_dependent_rows_keep_their_digits() {
        let near = 1.0 + f64::EPSILON;
        let features =
            Features::from_rows(4, 2, vec![1.0, 1.0, 1.0, near, 2.0, 2.0, 3e-200, -3e-200]).unwrap();
        let log_det = |items: &[usize]| log_determinant(&features, &Subset::new(items.to_vec(), 4).unwrap());
        assert!((log_det(&[0, 1]) - 2.0 * f64::EPSILON.ln()).abs() < 1e-13);
        assert!((log_det(&[0, 3]) - 2.0 * 6e-200_f64.ln()).abs() < 1e-12);
        assert!(log_det(&[0, 2]).is_infinite() && log_det(&[0, 1, 3]).is_infinite());
    }
}
