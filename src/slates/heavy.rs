//! Directions in which rows are long.
//!
//! Rows that share them span small volumes, for which Hadamard's bound is too large.

use faer::MatRef;

use crate::{
    Result,
    linalg::{
        eigen,
        kernels::{add_scaled, dot, scale, transposed_product},
        span::Span,
        thinning::Thinning,
    },
};

/// The most directions that are searched for.
const DIRECTIONS: usize = 8;
/// Steps of subspace iteration, and of the search for β.
const STEPS: usize = 2;
const STEPS_OF_BETA: usize = 40;
/// A direction shorter than this does not count.
const LEAST: f64 = 1e-6;

/// Unit rows, and how often they are expected to be drawn.
pub(super) struct Shares<'s> {
    pub(super) rows: &'s [f64],
    pub(super) dims: usize,
    /// Per row: its probability in its part.
    pub(super) probabilities: &'s [f64],
    /// Per part: the end of its rows, and how many of them are expected to be drawn.
    pub(super) ends: &'s [usize],
    pub(super) expected: &'s [f64],
}

/// The approximate number of items of every part in a set of this size.
pub(super) fn expected(ranges: impl Iterator<Item = [usize; 2]>, total: usize) -> Vec<f64> {
    let middle = |[low, high]: [usize; 2]| 0.5 * (low + high.min(total)) as f64;
    let mut expected: Vec<f64> = ranges.map(middle).collect();
    let sum: f64 = expected.iter().sum();
    expected.iter_mut().for_each(|count| *count *= total as f64 / sum);
    expected
}

impl Shares<'_> {
    /// The B along approximate principal directions that minimises
    ///
    /// ```text
    /// Π_{j≤k} β_j Π_l T_l^c_l,   T_l = Σ_{i∈l} s_i ‖B^-½ a_i‖²
    /// ```
    ///
    /// In the logarithms of β this is convex. At the minimum, no direction is expected more than once among the items
    /// drawn: a direction that is expected more often is heavy, and β reduces it to once.
    pub(super) fn thinning(&self, total: usize) -> Result<Thinning> {
        let directions = self.principal(DIRECTIONS.min(total).min(self.dims))?;
        let count = directions.len() / self.dims;
        // Σ_{i∈l} s_i (u_jᵀ a_i)², per part and direction.
        let mut squares = vec![0.0; self.ends.len() * count];
        let mut along = vec![0.0; count];
        let (mut start, mut part) = (0, squares.chunks_exact_mut(count.max(1)));
        for &end in self.ends {
            let Some(own) = part.next() else { break };
            for place in start..end {
                transposed_product(&directions, self.row(place), &mut along);
                own.iter_mut().zip(&along).for_each(|(sum, x)| *sum += self.probabilities[place] * x * x);
            }
            start = end;
        }
        let mut beta = vec![1.0_f64; count];
        let mut found = vec![0.0; count];
        for _ in 0..STEPS_OF_BETA {
            found.fill(0.0);
            for (own, expected) in squares.chunks_exact(count.max(1)).zip(self.expected) {
                let rest = (1.0 - own.iter().sum::<f64>()).max(0.0);
                let whole = rest + own.iter().zip(&beta).map(|(square, beta)| square / beta).sum::<f64>();
                if whole > 0.0 {
                    for ((found, square), beta) in found.iter_mut().zip(own).zip(&beta) {
                        *found += expected * square / (beta * whole);
                    }
                }
            }
            beta.iter_mut().zip(&found).for_each(|(beta, found)| *beta = (*beta * found).max(1.0));
        }
        Ok(Thinning::along(&directions, &beta, self.dims))
    }

    fn row(&self, place: usize) -> &[f64] {
        &self.rows[place * self.dims..(place + 1) * self.dims]
    }

    /// Approximate eigenvectors of M = Σ c_l s_i a_i a_iᵀ with the largest eigenvalues, one after another.
    fn principal(&self, count: usize) -> Result<Vec<f64>> {
        let mut span = Span::default();
        let mut columns = vec![0.0; count * self.dims];
        for place in 0..self.probabilities.len() {
            // Sums of rows are a good start, since they contain the directions that all rows share.
            let column = &mut columns[place % count * self.dims..][..self.dims];
            add_scaled(column, 1.0, self.row(place));
        }
        self.orthonormalise(&mut columns, &mut span);
        for _ in 0..STEPS {
            let mut columns = self.product(span.directions());
            self.orthonormalise(&mut columns, &mut span);
        }
        self.turned(span.directions())
    }

    /// M U.
    fn product(&self, directions: &[f64]) -> Vec<f64> {
        let mut product = vec![0.0; directions.len()];
        let mut along = vec![0.0; directions.len() / self.dims];
        let mut start = 0;
        for (&end, expected) in self.ends.iter().zip(self.expected) {
            for place in start..end {
                let weight = expected * self.probabilities[place];
                if weight > 0.0 {
                    let row = self.row(place);
                    transposed_product(directions, row, &mut along);
                    for (column, along) in product.chunks_exact_mut(self.dims).zip(&along) {
                        add_scaled(column, weight * along, row);
                    }
                }
            }
            start = end;
        }
        product
    }

    /// Makes an orthonormal basis of columns, without those that depend on the others.
    fn orthonormalise(&self, columns: &mut [f64], span: &mut Span) {
        span.clear();
        for column in columns.chunks_exact_mut(self.dims) {
            let norm = dot(column, column).sqrt();
            if norm > 0.0 {
                scale(column, norm.recip());
                span.add(column, LEAST);
            }
        }
    }

    /// The basis U W, with eigenvectors W of Uᵀ M U.
    fn turned(&self, directions: &[f64]) -> Result<Vec<f64>> {
        let count = directions.len() / self.dims;
        let basis = MatRef::from_column_major_slice(directions, self.dims, count);
        let product = self.product(directions);
        let product = MatRef::from_column_major_slice(&product, self.dims, count);
        let turned = basis * eigen((basis.transpose() * product).as_ref())?.vectors;
        Ok((0..count).flat_map(|j| (0..self.dims).map(move |i| (i, j))).map(|at| turned[at]).collect())
    }
}
