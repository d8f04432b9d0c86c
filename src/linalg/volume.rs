//! The volume of rows added one by one, from their inner products.

#![expect(clippy::inline_always, reason = "vectors exist only inside their dispatch")]

use pulp::{Arch, Simd, WithSimd};

use super::{
    kernels::{dot_four, dot_in, subtract_four, sum_abs_in},
    products::{error, products},
};

/// Rows of length 1 at most, with R = L⁻¹ of their Gram matrix G = L Lᵀ.
///
/// Inner products are sums in f32, all else is f64. Rows are met in pairs, so that the rows of the volume are read once for
/// both; rows of another volume need only their inner products with this one.
///
/// # Numerics
/// If every inner product is off by ε at most, ‖P v‖² = min_x ‖v − Vᵀx‖² is off by ε(1 + ‖x‖₁)² at most, for the x that is
/// exact or the one that is computed, whichever is longer. If k rows have k ε tr G⁻¹ ≤ ¼ for the computed G, the exact
/// 1 + ‖x‖₁ is at most 4/3 of the computed one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Volume {
    dims: usize,
    /// One after another.
    rows: Vec<f32>,
    /// v·v and ‖P v‖² of every row, P off the rows before.
    squares: Vec<f64>,
    distances: Vec<Distance>,
    /// Inner products of every row with those before.
    products: Vec<f64>,
    /// R in blocks of four rows, filled up with zeros to the square at its diagonal; its squared norm, which is tr G⁻¹.
    inverse: Vec<f64>,
    trace: f64,
    /// Inner products of the two rows that were met last.
    met: [Vec<f64>; 2],
    /// Of the row at hand: v·v, its inner products g with the rows, −x = −G⁻¹ g, and ‖x‖².
    square: f64,
    current: Vec<f64>,
    solution: Vec<f64>,
    solution_square: f64,
}

/// A squared distance, and the most by which rounding may have changed it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Distance {
    pub(crate) value: f64,
    pub(crate) error: f64,
}

impl Distance {
    /// 1, exactly.
    pub(crate) const ONE: Self = Self { value: 1.0, error: 0.0 };

    /// Whether the ratio to another distance is above a number; `None` if rounding could decide.
    #[inline]
    pub(crate) fn is_above(self, number: f64, other: Self) -> Option<bool> {
        if number * (other.value + other.error) < self.value - self.error {
            Some(true)
        } else if number * (other.value - other.error) > self.value + self.error {
            Some(false)
        } else {
            None
        }
    }
}

/// Inner products with four rows are computed at a time.
const FOUR: usize = 4;

impl Volume {
    /// Forgets all rows, and makes room for `most`.
    #[inline]
    pub(crate) fn clear(&mut self, dims: usize, most: usize) {
        let room = most + 2 * FOUR;
        if self.current.len() != room {
            for values in self.met.iter_mut().chain([&mut self.current, &mut self.solution]) {
                values.resize(room, 0.0);
            }
        }
        self.dims = dims;
        self.rows.clear();
        self.distances.clear();
        for values in [&mut self.squares, &mut self.products, &mut self.inverse] {
            values.clear();
        }
        self.trace = 0.0;
    }

    /// Number of rows.
    pub(crate) fn len(&self) -> usize {
        self.distances.len()
    }

    pub(crate) fn row(&self, number: usize) -> &[f32] {
        &self.rows[number * self.dims..][..self.dims]
    }

    /// The distance of a row off those before it.
    pub(crate) fn distance_of(&self, number: usize) -> Distance {
        self.distances[number]
    }

    /// Computes the inner products of two rows with the first `others` of these; returns the Gram matrix of the two.
    #[inline]
    pub(crate) fn meet(&mut self, two: [&[f32]; 2], others: usize) -> [[f64; 2]; 2] {
        Arch::new().dispatch(Meet { rows: &self.rows, two, others, met: &mut self.met });
        let [one, other] = &self.met;
        [[one[others], one[others + 1]], [other[others], other[others + 1]]]
    }

    /// The distance of one of the two rows that were met last, from its square and its inner products with the rows that
    /// are not among the others.
    #[inline]
    pub(crate) fn distance(&mut self, which: usize, square: f64, between: &[f64]) -> Distance {
        Arch::new().dispatch(Solve { volume: self, which, square, between })
    }

    /// Adds the row whose distance was computed last.
    #[inline]
    pub(crate) fn extend(&mut self, row: &[f32], distance: Distance) {
        let size = self.len();
        self.rows.extend_from_slice(row);
        self.products.extend_from_slice(&self.current[..size]);
        self.squares.push(self.square);
        self.distances.push(distance);
        let scale = distance.value.sqrt().recip();
        let len = (size + 1).next_multiple_of(FOUR);
        if size.is_multiple_of(FOUR) {
            self.inverse.resize(self.inverse.len() + FOUR * len, 0.0);
        }
        let row = self.inverse.len() - (len - size) * len;
        let row = &mut self.inverse[row..row + len];
        row.iter_mut().zip(&self.solution).for_each(|(entry, x)| *entry = x * scale);
        row[size] = scale;
        self.trace += (1.0 + self.solution_square) * scale * scale;
    }

    /// v·v of a row v, and its inner products with the rows before it.
    pub(crate) fn products_of(&self, number: usize) -> (f64, &[f64]) {
        let first = number * number.saturating_sub(1) / 2;
        (self.squares[number], &self.products[first..first + number])
    }
}

/// Inner products of two rows with some others and with themselves.
struct Meet<'a> {
    rows: &'a [f32],
    two: [&'a [f32]; 2],
    others: usize,
    met: &'a mut [Vec<f64>; 2],
}

impl WithSimd for Meet<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { rows, two, others, met } = self;
        let dims = two[0].len();
        let [one, other] = met;
        let fours = one.as_chunks_mut::<FOUR>().0.iter_mut().zip(other.as_chunks_mut::<FOUR>().0);
        for (number, (of_one, of_other)) in fours.enumerate().take((others + 2).div_ceil(FOUR)) {
            let row = |at: usize| {
                if at < others { &rows[at * dims..(at + 1) * dims] } else { two[usize::from(at > others)] }
            };
            let first = FOUR * number;
            let four = [row(first), row(first + 1), row(first + 2), row(first + 3)];
            [*of_one, *of_other] = products(simd, two, four);
        }
    }
}

/// x = G⁻¹ g = Rᵀ R g of a row, and ‖P v‖² = v·v − ‖R g‖².
struct Solve<'a> {
    volume: &'a mut Volume,
    which: usize,
    square: f64,
    between: &'a [f64],
}

impl WithSimd for Solve<'_> {
    type Output = Distance;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Distance {
        let Self { volume, which, square, between } = self;
        let size = volume.len();
        let Volume { dims, inverse, trace, met, current, solution, .. } = volume;
        let others = size - between.len();
        current[..others].copy_from_slice(&met[which][..others]);
        current[others..size].copy_from_slice(between);
        let filled = size.next_multiple_of(FOUR);
        current[size..filled].fill(0.0);
        let (mut rest, mut left) = (inverse.as_slice(), square);
        solution.as_chunks_mut::<FOUR>().0[0] = [0.0; FOUR];
        for len in (FOUR..=filled).step_by(FOUR) {
            // The place of the row itself is filled, too.
            solution.as_chunks_mut::<FOUR>().0[len / FOUR] = [0.0; FOUR];
            let (block, after) = rest.split_at(FOUR * len);
            let y = dot_four(simd, block, &current[..len]);
            left -= (y[0] * y[0] + y[1] * y[1]) + (y[2] * y[2] + y[3] * y[3]);
            subtract_four(simd, &mut solution[..len], block, y);
            rest = after;
        }
        let solution = &solution[..filled];
        let length = 1.0 + sum_abs_in(simd, solution);
        volume.solution_square = dot_in(simd, solution, solution);
        let error = error::<S>(*dims);
        // 2 is above (4/3)²: the rest is for rounding in f64, and for rows that f32 made longer than 1. NaN is not known.
        let is_known = size as f64 * error * *trace <= 0.25;
        let error = if is_known { 2.0 * error * length * length } else { f64::INFINITY };
        volume.square = square;
        Distance { value: left.max(0.0), error }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::span::Span;

    /// Rows of length 1, one a vector.
    fn rows(count: usize, dims: usize) -> Vec<Vec<f64>> {
        let value = |i: usize, j: usize| ((i * i + 3) as f64 * (1.7 * j as f64 + 0.3)).sin();
        let row = |i: usize| {
            let row: Vec<f64> = (0..dims).map(|j| value(i, j)).collect();
            let length = row.iter().map(|x| x * x).sum::<f64>().sqrt();
            row.iter().map(|x| x / length).collect()
        };
        (0..count).map(row).collect()
    }

    /// Adds rows in pairs; returns their distances.
    #[expect(clippy::cast_possible_truncation, reason = "rounding is meant")]
    fn add(volume: &mut Volume, rows: &[Vec<f64>]) -> Vec<Distance> {
        let rounded = |row: &Vec<f64>| row.iter().map(|&x| x as f32).collect();
        let rows: Vec<Vec<f32>> = rows.iter().map(rounded).collect();
        let mut found = Vec::new();
        for pair in rows.chunks(2) {
            let between = volume.meet([&pair[0], &pair[pair.len() - 1]], volume.len());
            for (which, row) in pair.iter().enumerate() {
                let distance = volume.distance(which, between[which][which], &between[1][..which]);
                volume.extend(row, distance);
                found.push(distance);
            }
        }
        found
    }

    #[test]
    fn distances_are_those_of_a_span_within_the_error() {
        for (count, dims, most) in [(9, 9, 1.0), (9, 12, 0.1), (9, 64, 1e-4), (41, 67, 0.1)] {
            let (mut volume, mut span) = (Volume::default(), Span::default());
            volume.clear(dims, count);
            let rows = rows(count, dims);
            for (row, found) in rows.iter().zip(add(&mut volume, &rows)) {
                let expected = span.distance(row);
                span.extend(row, expected);
                let off = (found.value - expected).abs();
                assert!(off <= found.error && found.error < most, "{count}×{dims}: {found:?} {expected}");
            }
        }
    }

    #[test]
    fn another_volume_adds_its_rows() {
        let (all, dims) = (rows(11, 16), 16);
        let [mut one, mut other, mut whole] = [0; 3].map(|_| Volume::default());
        one.clear(dims, 11);
        other.clear(dims, 5);
        whole.clear(dims, 11);
        add(&mut one, &all[..6]);
        add(&mut other, &all[6..]);
        let expected = add(&mut whole, &all);
        for number in 0..5 {
            if number % 2 == 0 {
                one.meet([other.row(number), other.row((number + 1).min(4))], 6);
            }
            let (square, between) = other.products_of(number);
            let distance = one.distance(number % 2, square, between);
            assert!((distance.value - expected[6 + number].value).abs() < 1e-4, "{number}");
            one.extend(other.row(number), distance);
        }
        assert!((one.trace / whole.trace - 1.0).abs() < 1e-4);
    }

    /// A row in the span of others adds nothing, and what comes after it is unknown.
    #[test]
    fn dependent_rows_have_no_distance() {
        let mut volume = Volume::default();
        volume.clear(3, 4);
        let third = [0.2, 0.5, 0.5];
        let rows = [[0.1, 0.2, 0.3], [0.0, 0.1, -0.1], third, [0.5, 0.1, 0.0]].map(|row| row.to_vec());
        let found = add(&mut volume, &rows);
        assert!(found[2].value < 1e-6 && found[2].value <= found[2].error);
        assert_eq!(found[3].is_above(0.5, Distance::ONE), None);
    }

    #[test]
    fn ratios_are_decided_if_rounding_cannot() {
        let of = |value, error| Distance { value, error };
        assert_eq!(of(0.5, 0.01).is_above(0.48, Distance::ONE), Some(true));
        assert_eq!(of(0.5, 0.01).is_above(0.495, Distance::ONE), None);
        assert_eq!(of(0.5, 0.01).is_above(0.505, Distance::ONE), None);
        assert_eq!(of(0.5, 0.01).is_above(0.52, Distance::ONE), Some(false));
        assert_eq!(of(0.25, 0.0).is_above(0.48, of(0.5, 0.01)), Some(true));
        assert_eq!(of(0.25, 0.0).is_above(0.495, of(0.5, 0.01)), None);
        assert_eq!(of(0.25, f64::NAN).is_above(0.1, Distance::ONE), None);
    }
}
