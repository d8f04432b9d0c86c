//! Ground sets in coordinates without loss of digits.

use super::{GroundSet, log_determinant};
use crate::{
    Error, Features, Result,
    engine::{Engine, Rows},
    estimate::DEFAULT_LAW_ERROR,
    linalg::{Scaled, Triangular, WeightedRow, may_be_triangular, triangular},
};

/// The largest ratio of the largest row to a direction, in binary orders of magnitude. Squares of smaller directions
/// would underflow.
const DEEPEST: f64 = 480.0;
/// The number of rows between checks of the watch.
const ROWS: usize = 512;

/// [`within`] with the default law error as `wanted`.
pub(crate) fn accurately<L, T>(
    law: &L,
    graded: impl FnOnce(&L) -> Result<Option<L>>,
    compute: impl Fn(&L) -> Result<T>,
    error: impl Fn(&T) -> f64,
) -> Result<T> {
    within(DEFAULT_LAW_ERROR, law, graded, compute, error)
}

/// Computes something from a law, and recomputes it with rows in triangular coordinates if the error exceeds
/// `wanted`.
///
/// A basis U of directions is stored in f64, so a row a loses ε‖a‖ along each direction. If a direction is 1e16 times
/// shorter than the longest row, all of it is lost. Nothing is lost in coordinates in which the rows are graded by
/// columns.
pub(crate) fn within<L, T>(
    wanted: f64,
    law: &L,
    graded: impl FnOnce(&L) -> Result<Option<L>>,
    compute: impl Fn(&L) -> Result<T>,
    error: impl Fn(&T) -> f64,
) -> Result<T> {
    let error = |found: &Result<T>| match found {
        Ok(found) => error(found),
        Err(Error::IllConditioned { deviation, .. }) => deviation.max(1.0),
        Err(Error::Eigen { .. } | Error::SizeAboveRank { .. }) => f64::INFINITY,
        Err(_) => 0.0,
    };
    let first = compute(law);
    // False for NaN.
    if error(&first) <= wanted {
        return first;
    }
    let Some(law) = graded(law)? else { return first };
    let second = compute(&law);
    if matches!(second, Err(Error::Ended(_))) || first.is_err() {
        // If both fail, the error in the better coordinates counts.
        return second;
    }
    if second.is_ok() && error(&second) < error(&first) { second } else { first }
}

impl GroundSet {
    /// The same ground set in triangular coordinates of the residuals beyond the included rows. `rows` gives the rows
    /// of interest and their scales. Returns `None` if this would take too long or span more decades than f64.
    ///
    /// Every entry of K changes by at most 2⁻⁵² relative to its column.
    ///
    /// # Errors
    /// [`Error::Ended`] from an engine under a watch.
    pub(crate) fn graded(&self, rows: &Rows<'_>, engine: &Engine) -> Result<Option<Self>> {
        let given = self.given();
        if !may_be_triangular(rows.len() + self.included().len(), given.dims()) {
            return Ok(None);
        }
        // The sizes of a kernel factor's rows cannot be recovered from their residuals.
        if given.residual().is_some() && !self.included().is_empty() {
            return Ok(None);
        }
        let weighted = |item: usize, exponent: i64| WeightedRow { values: given.row(item), exponent };
        let included = self.included().iter().map(|&item| item as usize);
        // Only powers of two lose no digits; the rest of a weight is applied when the row is read.
        let exponents: Vec<i64> = rows
            .iter()
            .map(|(item, group)| {
                binary_exponent(rows.groups()[group].scale) + binary_exponent(self.features().weight(item))
            })
            .collect();
        let free = rows.iter().zip(&exponents).map(|((item, _), &exponent)| weighted(item, exponent));
        let leading = self.included().len();
        let all = included.clone().map(|item| weighted(item, 0)).chain(free).enumerate();
        let all =
            all.map(|(at, row)| looked(at, engine).map(|()| row)).collect::<Result<Vec<WeightedRow>>>()?;
        let Some(found) = triangular(&all, leading, &|| engine.proceed())? else { return Ok(None) };
        let rest = &found.log_squares[leading.min(found.log_squares.len())..];
        if let (Some(first), Some(last)) = (rest.first(), rest.last())
            && 0.5 * (first - last) > DEEPEST * std::f64::consts::LN_2
        {
            return Ok(None);
        }
        let features = written(&found, rows, &exponents, leading, (given.items(), engine))?;
        let Some(features) = features else { return Ok(None) };
        let features =
            features.with_residual(given.residual()).weighted_as(self.features(), 0..given.items())?;
        let log_det = log_determinant::weighted(found.log_det(leading), given, included);
        Ok(Some(self.in_coordinates(features, rest.len(), log_det)))
    }
}

/// The coordinates of the free rows, without their weights; zero for all other rows.
fn written(
    found: &Triangular,
    rows: &Rows<'_>,
    exponents: &[i64],
    leading: usize,
    (items, engine): (usize, &Engine),
) -> Result<Option<Features>> {
    // Features have at least one column.
    let dims = found.log_squares.len().saturating_sub(leading).max(1);
    let mut values = vec![0.0; items * dims];
    let all = rows.iter().zip(exponents).zip(&found.coordinates[leading..]);
    for (at, (((item, _), exponent), coordinates)) in all.enumerate() {
        looked(at, engine)?;
        let own = &mut values[item * dims..(item + 1) * dims];
        for (out, coordinate) in own.iter_mut().zip(&coordinates[leading..]) {
            *out = coordinate.times_power(-exponent).value();
            if !out.is_finite() {
                return Ok(None);
            }
        }
    }
    Features::from_rows(items, dims, values).map(Some)
}

/// Checks the watch once every [`ROWS`] rows.
fn looked(row: usize, engine: &Engine) -> Result<()> {
    if row.is_multiple_of(ROWS) { engine.proceed() } else { Ok(()) }
}

/// The exponent e of a number in [2^e, 2^(e + 1)).
fn binary_exponent(number: f64) -> i64 {
    Scaled::new(number).exponent - 1
}
