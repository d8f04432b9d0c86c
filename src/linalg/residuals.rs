//! Residuals of many rows outside a span that chosen rows extend.

use faer::{Accum, Mat, MatMut, MatRef, Par, linalg::matmul::matmul};

use super::{
    kernels::{add_scaled, dot, subtract_squares, transposed_product},
    span::Span,
};

/// ‖P v‖² of rows that are processed together, while some are chosen one after another.
///
/// The span is read once. After a row c is chosen, the others follow from Cholesky's recurrence
///
/// ```text
/// ℓ_ci = (v_c · v_i − Σ_q (q · v_c)(q · v_i) − Σ_b ℓ_bc ℓ_bi) / ‖P v_c‖,   ‖P v_i‖² ← ‖P v_i‖² − ℓ_ci²
/// ```
///
/// Here b runs over the rows chosen before. The error is about ε‖v_i‖² from the span, and a few times ε‖P v_i‖²
/// ‖v_c‖² / ‖P v_c‖² for every row chosen.
#[derive(Clone, Debug, Default)]
pub(crate) struct Residuals {
    dims: usize,
    /// Qᵀ v of every row, one after another, and ‖P v‖² of every row.
    along: Vec<f64>,
    squares: Vec<f64>,
    /// The rows chosen, and ℓ of each.
    chosen: Vec<usize>,
    factor: Vec<f64>,
}

impl Residuals {
    /// Starts with these rows, stored one after another, and chooses none yet.
    pub(crate) fn enter(&mut self, span: &Span, rows: &[f64], dims: usize) {
        let Self { along, squares, chosen, factor, .. } = self;
        let count = rows.len() / dims.max(1);
        (self.dims, *squares) = (dims, rows.chunks_exact(dims.max(1)).map(|row| dot(row, row)).collect());
        chosen.clear();
        factor.clear();
        along.resize(span.size() * count, 0.0);
        if span.size() == 0 {
            return;
        }
        let directions = MatRef::from_column_major_slice(span.directions(), dims, span.size());
        let products = MatMut::from_column_major_slice_mut(along, span.size(), count);
        let rows = MatRef::from_column_major_slice(rows, dims, count);
        matmul(products, Accum::Replace, directions.transpose(), rows, 1.0, Par::Seq);
        for (square, along) in squares.iter_mut().zip(along.chunks_exact(span.size())) {
            *square = (*square - dot(along, along)).max(0.0);
        }
    }

    /// ‖P v‖² of every row, clamped to 0 against rounding.
    ///
    /// Rows before the `next` of the last choice keep their old values.
    pub(crate) fn squares(&self) -> &[f64] {
        &self.squares
    }

    /// Adds the directions of the chosen rows to the span.
    pub(crate) fn extend(&self, span: &mut Span, rows: &[f64]) {
        let (dims, size) = (self.dims, span.size());
        let mut along = Mat::from_fn(size, self.chosen.len(), |i, j| self.along[self.chosen[j] * size + i]);
        let rows: Vec<f64> =
            self.chosen.iter().flat_map(|&row| &rows[row * dims..][..dims]).copied().collect();
        span.extend_by(&rows, dims, &mut along);
    }

    /// Chooses the row numbered `row`; only rows from `next` on matter from now on.
    pub(crate) fn choose(&mut self, rows: &[f64], row: usize, next: usize) {
        let Self { dims, along, squares, chosen, factor } = self;
        let count = squares.len();
        let size = along.len() / count;
        let start = factor.len();
        factor.resize(start + count, 0.0);
        let (before, own) = factor.split_at_mut(start);
        let own = &mut own[next..];
        if !own.is_empty() {
            transposed_product(&rows[next * *dims..], &rows[row * *dims..][..*dims], own);
            if size > 0 {
                let mut of_span = vec![0.0; own.len()];
                transposed_product(&along[next * size..], &along[row * size..][..size], &mut of_span);
                add_scaled(own, -1.0, &of_span);
            }
            for other in before.chunks_exact(count) {
                add_scaled(own, -other[row], &other[next..]);
            }
            let scale = squares[row].sqrt().recip();
            own.iter_mut().for_each(|value| *value *= scale);
            subtract_squares(&mut squares[next..], own);
        }
        chosen.push(row);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Squares match a span to which rows are added one by one, and so does the span that chosen rows extend.
    #[test]
    fn rows_chosen_together_are_those_chosen_one_by_one() {
        let (dims, count) = (24, 15);
        let entry = |i: usize, j: usize| ((i * i + 3) as f64 * (1.7 * j as f64 + 0.3)).sin();
        let row = |i: usize| (0..dims).map(|j| entry(i, j)).collect::<Vec<f64>>();
        for before in [0, 1, 9] {
            let mut span = Span::default();
            for i in 0..before {
                let new = row(i + 50);
                let distance = span.distance(&new);
                span.extend(&new, distance);
            }
            let (mut one_by_one, mut residuals) = (span.clone(), Residuals::default());
            let rows: Vec<f64> = (0..count).flat_map(row).collect();
            residuals.enter(&span, &rows, dims);
            for first in (0..count).step_by(3) {
                for i in first..first + 3 {
                    let expected = one_by_one.distance(&row(i));
                    let found = residuals.squares()[i];
                    assert!((found - expected).abs() < 1e-12, "{before}, {i}: {found} {expected}");
                }
                let chosen = first + first % 2;
                let distance = one_by_one.distance(&row(chosen));
                one_by_one.extend(&row(chosen), distance);
                residuals.choose(&rows, chosen, first + 3);
            }
            residuals.extend(&mut span, &rows);
            let near = span.directions().iter().zip(one_by_one.directions());
            assert!(span.size() == before + 5 && near.into_iter().all(|(a, b)| (a - b).abs() < 1e-11));
        }
    }

    /// Directions stay orthonormal if little is left of the rows.
    #[test]
    fn nearly_dependent_rows_extend_the_span() {
        let (dims, count) = (12, 6);
        let entry = |i: usize, j: usize| ((i * i + 3) as f64 * (1.7 * j as f64 + 0.3)).sin();
        let mut span = Span::default();
        for i in 0..5 {
            let new: Vec<f64> = (0..dims).map(|j| entry(i + 50, j)).collect();
            let distance = span.distance(&new);
            span.extend(&new, distance);
        }
        let near = |i: usize, j: usize| entry(i % 5 + 50, j) + 1e-5 * entry(i, j);
        let rows: Vec<f64> = (0..count).flat_map(|i| (0..dims).map(move |j| near(i, j))).collect();
        let mut residuals = Residuals::default();
        residuals.enter(&span, &rows, dims);
        (0..count).for_each(|row| residuals.choose(&rows, row, row + 1));
        residuals.extend(&mut span, &rows);
        let directions: Vec<&[f64]> = span.directions().chunks_exact(dims).collect();
        for (a, x) in directions.iter().enumerate() {
            for (b, y) in directions.iter().enumerate() {
                let expected = if a == b { 1.0 } else { 0.0 };
                assert!((dot(x, y) - expected).abs() < 1e-13, "{a}, {b}: {}", dot(x, y));
            }
        }
    }
}
