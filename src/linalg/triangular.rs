//! Rows in triangular coordinates, to full precision at any scale.

use dashu_int::IBig;

use super::{FixedRow, Scaled, modular_rank::ModularSpan};
use crate::{
    Estimate, Result,
    parallel::{map_ordered, map_ordered_mut},
};

/// Initial number of bits, doubled until it suffices.
const FIRST_BITS: usize = 192;
/// Rows of f64 span 2100 binary orders; if rows nearly cancel, a few such factors multiply.
const MOST_BITS: usize = 1 << 14;
/// Accuracy of a coordinate, as bits below the largest of its column.
const WANTED_BITS: f64 = 64.0;
/// The most multiplications of 64-bit words, which take about twenty seconds on one thread.
const BUDGET: f64 = 4e8;
/// Rows per task.
const TASK: usize = 32;

/// log₂ of zero noise.
const NONE: f64 = f64::NEG_INFINITY;

/// The row 2^exponent · values.
#[derive(Clone, Debug)]
pub(crate) struct WeightedRow {
    pub(crate) values: Vec<f64>,
    pub(crate) exponent: i64,
}

/// Rows B = X D Qᵀ in the coordinates X D of an orthonormal basis Q that is never formed.
///
/// |x_ij| ≤ 1, x = 1 at the pivots, and D is positive and descending.
#[derive(Clone, Debug)]
pub(crate) struct Triangular {
    /// Row by row, the coordinates along the new direction of every pivot, accurate to 2⁻⁵² of themselves and 2⁻⁶⁴ of
    /// the pivot's coordinate.
    pub(crate) coordinates: Vec<Vec<Scaled>>,
    /// ln d_j² of every pivot, in order.
    pub(crate) log_squares: Vec<f64>,
}

impl Triangular {
    /// ln det of the rows of the first `count` pivots.
    pub(crate) fn log_det(&self, count: usize) -> Estimate<f64> {
        let logs = &self.log_squares[..count.min(self.log_squares.len())];
        let largest = logs.iter().fold(1.0, |most, log| f64::max(most, log.abs()));
        Estimate { value: logs.iter().sum(), error: 4.0 * f64::EPSILON * count as f64 * largest }
    }
}

/// Gram–Schmidt in fixed point, with the longest residual next and enough bits for full precision.
///
/// The first `leading` rows come before all others. Returns `None` if it takes too long. The rank comes from modular
/// arithmetic: a direction is left out only if rows have no component along it. `proceed` is called by every task of
/// 32 rows.
///
/// # Cost
/// 4·m·n·rank multiplications of 192-bit numbers, more if scales differ by more than 1e38.
///
/// # Source
/// Higham, *QR factorization with complete pivoting and accurate computation of the SVD* (2000): such coordinates are
/// D times a well-conditioned matrix, however far apart the scales of the rows are.
pub(crate) fn triangular(
    rows: &[WeightedRow],
    leading: usize,
    proceed: &(dyn Fn() -> Result<()> + Sync),
) -> Result<Option<Triangular>> {
    let Some(rank) = affordable_rank(rows, proceed)? else { return Ok(None) };
    let mut bits = FIRST_BITS;
    let entries = rows.len() * rows.first().map_or(0, |row| row.values.len());
    while bits <= MOST_BITS && operations(entries, rank, bits) <= BUDGET {
        if let Some(found) = GramSchmidt::new(rows, bits, proceed)?.run(rank, leading, proceed)? {
            return Ok(Some(found));
        }
        bits *= 2;
    }
    Ok(None)
}

/// Whether this many rows of this dimension may be few enough for [`triangular`].
pub(crate) fn may_be_triangular(rows: usize, dims: usize) -> bool {
    operations(rows * dims, 1, FIRST_BITS) <= BUDGET
}

fn operations(entries: usize, rank: usize, bits: usize) -> f64 {
    let words = bits.div_ceil(64) as f64;
    2.0 * entries as f64 * rank as f64 * words.powf(1.6)
}

/// The rank of the rows; `None` if it is beyond the budget.
fn affordable_rank(rows: &[WeightedRow], proceed: &(dyn Fn() -> Result<()> + Sync)) -> Result<Option<usize>> {
    /// Entries read between two checks of the watch.
    const ENTRIES: usize = 4096;
    let dims = rows.first().map_or(0, |row| row.values.len());
    let mut span = ModularSpan::default();
    for some in rows.chunks((ENTRIES / dims.max(1)).max(1)) {
        proceed()?;
        some.iter().for_each(|row| span.add(&row.values));
        if operations(rows.len() * dims, span.rank(), FIRST_BITS) > BUDGET {
            return Ok(None);
        }
        if span.rank() == dims {
            break;
        }
    }
    Ok(Some(span.rank()))
}

struct GramSchmidt {
    rows: Vec<Residual>,
    log_squares: Vec<f64>,
}

/// The residual of one row.
struct Residual {
    row: FixedRow,
    coordinates: Vec<Scaled>,
    /// ‖r‖².
    square: Scaled,
    /// log₂ of the error of r.
    noise: f64,
}

impl GramSchmidt {
    fn new(rows: &[WeightedRow], bits: usize, proceed: &(dyn Fn() -> Result<()> + Sync)) -> Result<Self> {
        let residual = |weighted: &WeightedRow| {
            let row = FixedRow::new(&weighted.values, weighted.exponent, bits);
            let noise = if weighted.values.iter().all(|&x| x == 0.0) { NONE } else { row.rounding() };
            let mut residual = Residual { row, coordinates: Vec::new(), square: Scaled::ZERO, noise };
            residual.measure();
            residual
        };
        let chunks: Vec<&[WeightedRow]> = rows.chunks(TASK).collect();
        let residuals = map_ordered(chunks.len(), |chunk| {
            proceed()?;
            Ok(chunks[chunk].iter().map(residual).collect())
        });
        let residuals = residuals.into_iter().collect::<Result<Vec<Vec<Residual>>>>()?;
        Ok(Self { rows: residuals.into_iter().flatten().collect(), log_squares: Vec::new() })
    }

    /// `None` if more bits are needed.
    fn run(
        mut self,
        rank: usize,
        leading: usize,
        proceed: &(dyn Fn() -> Result<()> + Sync),
    ) -> Result<Option<Triangular>> {
        for step in 0..rank {
            let among = if step < leading { 0..leading } else { 0..self.rows.len() };
            let nonzero = among.filter(|&at| !self.rows[at].square.is_zero());
            let pivot =
                nonzero.max_by(|&a, &b| self.rows[a].log_length().total_cmp(&self.rows[b].log_length()));
            let Some(pivot) = pivot else { return Ok(None) };
            let resolved = self.rows[pivot].log_length() - WANTED_BITS;
            // Noise could hide a longer residual, so it must be below the wanted accuracy in every row.
            if self.rows.iter().any(|row| row.noise > resolved) {
                return Ok(None);
            }
            self.log_squares.push(self.rows[pivot].square.ln());
            self.eliminate(pivot, proceed)?;
        }
        let coordinates = self.rows.into_iter().map(|row| row.coordinates).collect();
        Ok(Some(Triangular { coordinates, log_squares: self.log_squares }))
    }

    /// Removes the pivot's direction from all rows.
    fn eliminate(&mut self, pivot: usize, proceed: &(dyn Fn() -> Result<()> + Sync)) -> Result<()> {
        let Residual { row: direction, noise, .. } = &self.rows[pivot];
        let (direction, noise) = (direction.clone(), noise - self.rows[pivot].log_length());
        let square = direction.square();
        let removed = map_ordered_mut(self.rows.chunks_mut(TASK).collect(), |_, rows: &mut [Residual]| {
            proceed()?;
            rows.iter_mut().for_each(|row| row.remove(&direction, &square, noise));
            Ok(())
        });
        removed.into_iter().collect::<Result<()>>()?;
        // The residual is exactly zero.
        self.rows[pivot].row.clear();
        (self.rows[pivot].square, self.rows[pivot].noise) = (Scaled::ZERO, NONE);
        Ok(())
    }
}

impl Residual {
    /// log₂ ‖r‖.
    fn log_length(&self) -> f64 {
        0.5 * self.square.log2()
    }

    /// Removes a direction b, whose relative error is 2^`noise`.
    fn remove(&mut self, direction: &FixedRow, square: &IBig, noise: f64) {
        if self.square.is_zero() {
            self.coordinates.push(Scaled::ZERO);
            return;
        }
        let along = self.row.dot(direction);
        let coordinate = Scaled::of(&along).over_root(Scaled::of(square));
        self.coordinates.push(coordinate.times_power(self.row.last_place()));
        self.row.remove(&along, direction, square);
        let of_direction = noise + self.log_length();
        self.noise = log2_sum(log2_sum(self.noise, of_direction), self.row.rounding());
        self.measure();
    }

    /// Computes the length; residuals no longer than their noise are zero.
    fn measure(&mut self) {
        self.square = Scaled::of(&self.row.square()).times_power(2 * self.row.last_place());
        if self.square.is_zero() || self.log_length() <= self.noise {
            self.row.clear();
            self.square = Scaled::ZERO;
        }
    }
}

/// log₂ (2^a + 2^b).
fn log2_sum(a: f64, b: f64) -> f64 {
    let (low, high) = (a.min(b), a.max(b));
    high + (low - high).exp2().ln_1p() * std::f64::consts::LOG2_E
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::{Error, watch::Ended};
    use approx::assert_abs_diff_eq;

    fn rows(values: &[&[f64]]) -> Vec<WeightedRow> {
        values.iter().map(|row| WeightedRow { values: row.to_vec(), exponent: 0 }).collect()
    }

    fn triangles(rows: &[WeightedRow], leading: usize) -> Triangular {
        triangular(rows, leading, &|| Ok(())).unwrap().unwrap()
    }

    /// x·y of two rows in triangular coordinates.
    fn dot(found: &Triangular, a: usize, b: usize) -> f64 {
        found.coordinates[a].iter().zip(&found.coordinates[b]).map(|(x, y)| x.value() * y.value()).sum()
    }

    #[test]
    fn dot_products_stay() {
        let values: [&[f64]; 4] = [&[1.0, 2.0, 0.5], &[3.0, -1.0, 0.25], &[0.0, 0.0, 0.0], &[0.5, 0.5, 8.0]];
        let found = triangles(&rows(&values), 0);
        assert_eq!(found.log_squares.len(), 3);
        for (a, x) in values.iter().enumerate() {
            for (b, y) in values.iter().enumerate() {
                let expected: f64 = x.iter().zip(*y).map(|(x, y)| x * y).sum();
                assert_abs_diff_eq!(dot(&found, a, b), expected, epsilon = 1e-13);
            }
        }
        // The longest row comes first, and no coordinate is above the pivot's.
        assert_abs_diff_eq!(found.log_squares[0], 64.5_f64.ln(), epsilon = 1e-14);
        for (j, log) in found.log_squares.iter().enumerate() {
            assert!(found.coordinates.iter().all(|row| row[j].value().abs() < 1.0001 * (0.5 * log).exp()));
        }
    }

    #[test]
    fn scales_and_cancellation_are_no_matter() {
        // ln det of rows (L, L, 0), (1, 0, 0), (0, 0, l) is ln L² l² for any L and l.
        for (large, small) in [(1e16, 1.0), (1e150, 1e-150), (1e300, 1e-300)] {
            let values: [&[f64]; 3] = [&[large, large, 0.0], &[1.0, 0.0, 0.0], &[0.0, 0.0, small]];
            let found = triangles(&rows(&values), 0);
            let expected = 2.0 * large.ln() + 2.0 * small.ln();
            assert_abs_diff_eq!(found.log_squares.iter().sum::<f64>(), expected, epsilon = 1e-10);
        }
        // Rows that differ in their last bit, one of them at another scale.
        let near = 1.0 + f64::EPSILON;
        let found = triangles(&rows(&[&[1e100, 1e100], &[1e-100, near * 1e-100]]), 0);
        let gap = near * 1e-100 - 1e-100;
        let expected = 2.0 * (1e100_f64.ln() + gap.ln());
        assert_abs_diff_eq!(found.log_squares.iter().sum::<f64>(), expected, epsilon = 1e-10);
    }

    #[test]
    fn dependent_rows_have_nothing() {
        let huge = [1e200, 3e200, -2e200];
        let twice = huge.map(|x| 2.0 * x);
        let found = triangles(&rows(&[&huge, &twice, &[1.0, 1.0, 1.0], &huge]), 0);
        assert_eq!(found.log_squares.len(), 2);
        for at in [0, 1, 3] {
            assert!(found.coordinates[at][1].is_zero(), "{at}");
        }
    }

    #[test]
    fn what_is_below_the_first_bits_is_not_lost() {
        let values: [&[f64]; 3] = [&[4e36, -1e-30], &[4e36, 1e-30], &[0.0, 1e-30]];
        let found = triangles(&rows(&values), 0);
        let expected = 2.0 * (4e36_f64.ln() + 2e-30_f64.ln());
        assert_abs_diff_eq!(found.log_squares.iter().sum::<f64>(), expected, epsilon = 1e-10);
        assert_abs_diff_eq!(found.coordinates[2][1].value().abs(), 1e-30, epsilon = 1e-42);
    }

    #[test]
    fn leading_rows_come_first_and_weights_count() {
        let mut rows = rows(&[&[1e-50, 0.0], &[1.0, 2.0], &[1.0, 1.0]]);
        let found = triangles(&rows, 1);
        assert_abs_diff_eq!(found.log_squares[0], 2.0 * 1e-50_f64.ln(), epsilon = 1e-12);
        assert_abs_diff_eq!(found.coordinates[1][1].value().abs(), 2.0, epsilon = 1e-14);
        rows[2].exponent = 40;
        let found = triangles(&rows, 0);
        assert_abs_diff_eq!(found.log_squares[0], 2_f64.ln() + 80.0 * 2_f64.ln(), epsilon = 1e-12);
    }

    #[test]
    fn what_takes_too_long_is_refused() {
        let dims = 600;
        let row = |i: usize| (0..dims).map(|j| f64::sin((i * dims + j) as f64)).collect();
        let rows: Vec<_> = (0..5000).map(|i| WeightedRow { values: row(i), exponent: 0 }).collect();
        assert!(triangular(&rows, 0, &|| Ok(())).unwrap().is_none());
    }

    /// Every task checks the watch, so that work of seconds ends within one task.
    #[test]
    fn it_ends_when_it_is_told_to() {
        let row = |i: usize| (0..16).map(|j| f64::sin((i * 16 + j) as f64)).collect();
        let rows: Vec<_> = (0..640).map(|i| WeightedRow { values: row(i), exponent: 0 }).collect();
        let looks = AtomicUsize::new(0);
        let look = || looks.fetch_add(1, Ordering::Relaxed);
        let all = triangular(&rows, 0, &|| {
            look();
            Ok(())
        });
        assert_eq!(all.unwrap().unwrap().log_squares.len(), 16);
        // One check per task of 32 rows, to read them and for every direction.
        let whole = looks.swap(0, Ordering::Relaxed);
        assert!(whole >= 17 * 20, "{whole} looks");
        for last in [0, 1, whole / 2, whole - 1] {
            looks.store(0, Ordering::Relaxed);
            let ended = triangular(&rows, 0, &|| {
                if look() < last { Ok(()) } else { Err(Error::Ended(Ended::TimeLimit)) }
            });
            assert!(matches!(ended, Err(Error::Ended(Ended::TimeLimit))), "{last}");
            // At most one check by every task that was under way.
            assert!(looks.load(Ordering::Relaxed) <= last + 20, "{last}");
        }
    }
}
