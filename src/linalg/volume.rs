//! The volume of rows added one by one, from their inner products.

#![expect(clippy::inline_always, reason = "vectors exist only inside their dispatch")]

use pulp::{Arch, Simd, WithSimd};

use super::kernels::{add_scaled_in, dot_columns};

/// Rows with L of G = L Lᵀ, the Cholesky factor of their Gram matrix.
///
/// Adding a row takes half the operations of [`Span`](super::span::Span), and rows of another volume only their inner
/// products with this one. The error of ‖P v‖² is about ε‖v‖² times Σ ‖v_i‖² (G⁻¹)_ii, that of a span ε‖v‖².
#[derive(Clone, Debug, Default)]
pub(crate) struct Volume {
    dims: usize,
    /// One after another.
    rows: Vec<f64>,
    /// ‖v‖² and ‖P v‖² of every row, P off the rows before.
    squares: Vec<f64>,
    distances: Vec<f64>,
    /// Inner products of every row with those before.
    products: Vec<f64>,
    /// L below its diagonal by columns, each with room for `most` entries; 1 / L_jj.
    factor: Vec<f64>,
    inverse: Vec<f64>,
    most: usize,
    /// Of the row at hand: its inner products g with the rows, and L⁻¹ g.
    current: Vec<f64>,
    along: Vec<f64>,
    square: f64,
}

/// Products of four rows are written at a time.
const FOUR: usize = 4;

impl Volume {
    /// Forgets all rows; there will be so many at most.
    pub(crate) fn clear(&mut self, dims: usize, most: usize) {
        (self.dims, self.most) = (dims, most);
        for values in [&mut self.rows, &mut self.squares, &mut self.distances, &mut self.products] {
            values.clear();
        }
        self.inverse.clear();
        self.factor.resize(most * most, 0.0);
        self.current.resize(most + FOUR, 0.0);
        self.along.resize(most + FOUR, 0.0);
    }

    /// The rows, one after another.
    pub(crate) fn rows(&self) -> impl Iterator<Item = &[f64]> {
        self.rows.chunks_exact(self.dims.max(1))
    }

    /// ‖P v‖² of a row; 0 within rounding.
    #[inline]
    pub(crate) fn distance(&mut self, row: &[f64]) -> f64 {
        Arch::new().dispatch(Distance { volume: self, row, square: None, between: &[] })
    }

    /// The ratio of a row's distance off these rows to its distance in the other volume. The rows before it must have been
    /// added.
    #[inline]
    pub(crate) fn ratio(&mut self, other: &Self, number: usize) -> f64 {
        let first = number * number.saturating_sub(1) / 2;
        let distance = Arch::new().dispatch(Distance {
            volume: self,
            row: &other.rows[number * other.dims..][..other.dims],
            square: Some(other.squares[number]),
            between: &other.products[first..first + number],
        });
        let alone = other.distances[number];
        if alone > 0.0 { distance / alone } else { 0.0 }
    }

    /// Adds the row whose distance was computed last.
    #[inline]
    pub(crate) fn extend(&mut self, row: &[f64], distance: f64) {
        let size = self.distances.len();
        self.rows.extend_from_slice(row);
        self.products.extend_from_slice(&self.current[..size]);
        self.squares.push(self.square);
        self.distances.push(distance);
        let columns = self.factor.chunks_exact_mut(self.most);
        columns.zip(&self.along[..size]).for_each(|(column, &x)| column[size] = x);
        self.inverse.push(distance.sqrt().recip());
    }

    /// Adds the row of another volume whose ratio was computed last.
    pub(crate) fn extend_by(&mut self, other: &Self, number: usize, ratio: f64) {
        self.extend(&other.rows[number * other.dims..][..other.dims], ratio * other.distances[number]);
    }
}

/// ‖P v‖² of a row, whose square and whose inner products with the last rows may be known.
struct Distance<'a> {
    volume: &'a mut Volume,
    row: &'a [f64],
    square: Option<f64>,
    between: &'a [f64],
}

impl WithSimd for Distance<'_> {
    type Output = f64;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> f64 {
        let Self { volume, row, square, between } = self;
        let Volume { dims, rows, factor, inverse, most, current, along, .. } = volume;
        let size = inverse.len();
        let others = size - between.len();
        // The square is one more product, and so are those that fill up the last four.
        let column = |at: usize| if at < others { &rows[at * *dims..(at + 1) * *dims] } else { row };
        let mut own = square;
        let mut at = 0;
        while at < others || own.is_none() {
            let four = dot_columns(simd, [column(at), column(at + 1), column(at + 2), column(at + 3)], row);
            // In the last four, what follows the products is the square, to be overwritten.
            own = own.or_else(|| four.get(others - at).copied());
            for values in [&mut *current, &mut *along] {
                values[at..].as_chunks_mut().0[0] = four;
            }
            at += 4;
        }
        for values in [&mut *current, &mut *along] {
            values[others..size].iter_mut().zip(between).for_each(|(value, product)| *value = *product);
        }
        volume.square = own.unwrap_or_default();
        let mut left = volume.square;
        for (j, inverse) in inverse.iter().enumerate() {
            let (solved, rest) = along[..size].split_at_mut(j + 1);
            solved[j] *= inverse;
            let x = solved[j];
            left -= x * x;
            add_scaled_in(simd, rest, -x, &factor[j * *most + j + 1..j * *most + size]);
        }
        left.max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::span::Span;

    fn rows(count: usize, dims: usize) -> Vec<Vec<f64>> {
        let row = |i: usize| (0..dims).map(|j| ((i * i + 3) as f64 * (1.7 * j as f64 + 0.3)).sin()).collect();
        (0..count).map(row).collect()
    }

    #[test]
    fn distances_are_those_of_a_span() {
        for dims in [9, 12, 64] {
            let (mut volume, mut span) = (Volume::default(), Span::default());
            volume.clear(dims, 9);
            for row in rows(9, dims) {
                let (found, expected) = (volume.distance(&row), span.distance(&row));
                assert!((found - expected).abs() < 1e-11, "{dims}: {found} {expected}");
                volume.extend(&row, found);
                span.extend(&row, expected);
            }
        }
    }

    #[test]
    fn another_volume_adds_its_rows() {
        let (all, dims) = (rows(11, 16), 16);
        let (mut one, mut other, mut whole) = (Volume::default(), Volume::default(), Volume::default());
        one.clear(dims, 11);
        other.clear(dims, 5);
        whole.clear(dims, 11);
        let add = |volume: &mut Volume, row: &[f64]| {
            let distance = volume.distance(row);
            volume.extend(row, distance);
            distance
        };
        all[..6].iter().for_each(|row| _ = add(&mut one, row));
        let alone: Vec<f64> = all[6..].iter().map(|row| add(&mut other, row)).collect();
        let both: Vec<f64> = all.iter().map(|row| add(&mut whole, row)).collect();
        for (number, alone) in alone.iter().enumerate() {
            let ratio = one.ratio(&other, number);
            let expected = both[6 + number] / alone;
            assert!((ratio - expected).abs() < 1e-11, "{number}: {ratio} {expected}");
            one.extend_by(&other, number, ratio);
        }
        assert!(one.rows().eq(all.iter().map(Vec::as_slice)));
    }

    /// A row in the span of others adds nothing.
    #[test]
    fn dependent_rows_have_no_distance() {
        let mut volume = Volume::default();
        volume.clear(3, 3);
        for row in [[1.0, 2.0, 3.0], [0.0, 1.0, -1.0]] {
            let distance = volume.distance(&row);
            volume.extend(&row, distance);
        }
        assert!(volume.distance(&[2.0, 5.0, 5.0]) < 1e-13);
    }
}
