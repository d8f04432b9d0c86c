//! The share of a group in all directions.

use faer::Mat;

use super::whitening::eigenvalues;
use crate::{
    Result,
    linalg::{
        column, column_mut,
        kernels::{add_scaled, scale},
    },
};

/// The r×r Gram matrix of a group's whitened rows, with a factor if its rank is low.
#[derive(Debug)]
pub(super) struct Share {
    gram: Mat<f64>,
    factor: Option<Factor>,
}

/// L Lᵀ = gram up to a rest that is rounding, with at most r/2 columns.
#[derive(Debug)]
struct Factor {
    columns: Mat<f64>,
    /// The diagonal of the rest.
    rest: Vec<f64>,
}

impl Share {
    pub(super) fn new(gram: Mat<f64>) -> Self {
        Self { factor: Factor::of(&gram), gram }
    }

    /// The trace of D gram D for a diagonal D.
    pub(super) fn trace(&self, sizes: &[f64]) -> f64 {
        sizes.iter().enumerate().map(|(i, size)| size * self.gram[(i, i)] * size).sum()
    }

    /// Upper bounds of the eigenvalues of D gram D, descending: the computed values plus their possible errors
    /// (Weyl).
    pub(super) fn eigenvalues_above(&self, sizes: &[f64]) -> Result<Vec<f64>> {
        let (mut found, rest) = match &self.factor {
            None => (eigenvalues(&scaled(&self.gram, sizes))?, 0.0),
            Some(Factor { columns, rest }) => {
                let rows = Mat::from_fn(columns.nrows(), columns.ncols(), |i, j| sizes[i] * columns[(i, j)]);
                let rest = rest.iter().zip(sizes).map(|(rest, size)| size * rest * size).sum();
                (eigenvalues(&(rows.transpose() * &rows))?, rest)
            }
        };
        let least = sizes.len() as f64 * f64::EPSILON * found.first().copied().unwrap_or(0.0);
        found.resize(sizes.len(), least);
        found.iter_mut().for_each(|value| *value += least + rest);
        Ok(found)
    }
}

/// D gram D.
pub(super) fn scaled(gram: &Mat<f64>, sizes: &[f64]) -> Mat<f64> {
    Mat::from_fn(sizes.len(), sizes.len(), |i, j| sizes[i] * gram[(i, j)] * sizes[j])
}

impl Factor {
    /// Cholesky's algorithm with pivots; `None` if the rank is above r/2.
    fn of(gram: &Mat<f64>) -> Option<Self> {
        let size = gram.nrows();
        let mut rest: Vec<f64> = (0..size).map(|i| gram[(i, i)]).collect();
        let rounding = size as f64 * f64::EPSILON * rest.iter().sum::<f64>();
        let mut columns = Mat::<f64>::zeros(size, size / 2);
        for rank in 0..=size / 2 {
            if rest.iter().sum::<f64>() <= rounding {
                return Some(Self { columns: columns.subcols(0, rank).to_owned(), rest });
            }
            let pivot = (0..size).max_by(|&i, &j| rest[i].total_cmp(&rest[j]))?;
            if rank == size / 2 || rest[pivot].is_nan() {
                break;
            }
            let mut new = column(gram.as_ref(), pivot).to_vec();
            for j in 0..rank {
                add_scaled(&mut new, -columns[(pivot, j)], column(columns.as_ref(), j));
            }
            scale(&mut new, rest[pivot].sqrt().recip());
            rest.iter_mut().zip(&new).for_each(|(rest, x)| *rest = (*rest - x * x).max(0.0));
            rest[pivot] = 0.0;
            column_mut(columns.as_mut(), rank).copy_from_slice(&new);
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_rows_have_the_eigenvalues_of_many() {
        let rows = Mat::from_fn(40, 12, |i, j| ((i * i + 7) as f64 * (1.3 * j as f64 + 0.4)).sin());
        let sizes: Vec<f64> = (0..40).map(|i| 10_f64.powf(-0.1 * f64::from(i))).collect();
        let share = Share::new(&rows * rows.transpose());
        assert_eq!(share.factor.as_ref().unwrap().columns.ncols(), 12);
        let whole = eigenvalues(&scaled(&share.gram, &sizes)).unwrap();
        let few = share.eigenvalues_above(&sizes).unwrap();
        assert_eq!(few.len(), 40);
        let off = 1e-13 * whole[0];
        assert!(few.iter().zip(&whole).all(|(few, whole)| (0.0..off).contains(&(few - whole))));
        assert!(Share::new(Mat::identity(6, 6)).factor.is_none());
    }
}
