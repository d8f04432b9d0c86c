//! Gram matrices of groups, or the rows of the groups if these are fewer numbers.

use std::borrow::Cow;

use faer::{
    Accum, Mat, MatRef, Par,
    linalg::matmul::triangular::{self, BlockStructure},
};

use crate::{
    Result,
    engine::{Engine, RowMap, Rows},
    linalg::{column, column_mut, kernels::dot},
    parallel::map_ordered,
    polynomial::tilt::are_many,
};

/// The Gram matrix G = F Fᵀ of a group.
#[derive(Clone, Debug)]
pub(crate) enum Gram {
    /// G, n×n.
    Matrix(Mat<f64>),
    /// F, whose columns are the rows of the group.
    Rows(Mat<f64>),
}

/// The number of partial sums held in memory together.
pub(crate) const TASKS: usize = 8;
/// Rows are kept only if they are this many times fewer numbers, since products with them take more operations.
const FEWER: usize = 2;

/// A symmetric matrix in a weighted sum.
pub(crate) trait Summand: Sized + Sync {
    fn dims(&self) -> usize;

    /// G itself.
    fn matrix(&self) -> Cow<'_, Mat<f64>>;

    /// ⟨G, X⟩ = Σ g_ij x_ij for a symmetric X.
    fn product(&self, form: &Mat<f64>) -> f64;

    /// diag G.
    fn diagonal(&self) -> Vec<f64>;

    /// Σ w_l G_l.
    fn sum(all: &[Self], weights: &[f64]) -> Mat<f64>;

    /// tr G.
    fn trace(&self) -> f64 {
        self.diagonal().iter().sum()
    }
}

impl Summand for Mat<f64> {
    fn dims(&self) -> usize {
        self.nrows()
    }

    fn matrix(&self) -> Cow<'_, Self> {
        Cow::Borrowed(self)
    }

    fn product(&self, form: &Self) -> f64 {
        inner_product(self.as_ref(), form.as_ref())
    }

    fn diagonal(&self) -> Vec<f64> {
        (0..self.nrows()).map(|j| self[(j, j)]).collect()
    }

    fn sum(all: &[Self], weights: &[f64]) -> Self {
        let mut sum = Self::zeros(all[0].nrows(), all[0].ncols());
        for (gram, &weight) in all.iter().zip(weights) {
            sum += faer::Scale(weight) * gram;
        }
        sum
    }
}

impl Summand for Gram {
    fn dims(&self) -> usize {
        let (Self::Matrix(matrix) | Self::Rows(matrix)) = self;
        matrix.nrows()
    }

    fn matrix(&self) -> Cow<'_, Mat<f64>> {
        match self {
            Self::Matrix(gram) => Cow::Borrowed(gram),
            Self::Rows(rows) => Cow::Owned(rows * rows.transpose()),
        }
    }

    fn product(&self, form: &Mat<f64>) -> f64 {
        match self {
            Self::Matrix(gram) => gram.product(form),
            Self::Rows(rows) => product_below(form, rows),
        }
    }

    fn diagonal(&self) -> Vec<f64> {
        match self {
            Self::Matrix(gram) => Summand::diagonal(gram),
            Self::Rows(rows) => squares(rows),
        }
    }

    fn sum(all: &[Self], weights: &[f64]) -> Mat<f64> {
        let dims = all[0].dims();
        let keeps_rows = all.iter().any(|gram| matches!(gram, Self::Rows(_)));
        let tasks = if keeps_rows { TASKS } else { 1 };
        let each = all.len().div_ceil(tasks);
        let of_task = |task: usize| {
            let mut sum = Mat::zeros(dims, dims);
            for (gram, &weight) in all.iter().zip(weights).skip(task * each).take(each) {
                match gram {
                    Self::Matrix(gram) => sum += faer::Scale(weight) * gram,
                    Self::Rows(rows) => add_below(&mut sum, rows, weight),
                }
            }
            sum
        };
        if !keeps_rows {
            return of_task(0);
        }
        let mut sum = Mat::zeros(dims, dims);
        map_ordered(tasks, of_task).into_iter().for_each(|of_task| sum += of_task);
        Mat::from_fn(dims, dims, |i, j| sum[(i.max(j), i.min(j))])
    }
}

/// Adds w F Fᵀ on and below the diagonal.
fn add_below(sum: &mut Mat<f64>, rows: &Mat<f64>, weight: f64) {
    let whole = BlockStructure::Rectangular;
    let (below, across) = (BlockStructure::TriangularLower, rows.transpose());
    triangular::matmul(sum, below, Accum::Add, rows, whole, across, whole, weight, Par::Seq);
}

/// ⟨F Fᵀ, X⟩, from the half of X on and below the diagonal.
fn product_below(form: &Mat<f64>, rows: &Mat<f64>) -> f64 {
    let (whole, below) = (BlockStructure::Rectangular, BlockStructure::TriangularLower);
    let mut images = Mat::zeros(rows.nrows(), rows.ncols());
    triangular::matmul(&mut images, whole, Accum::Replace, form, below, rows, whole, 1.0, Par::Seq);
    let diagonal: f64 = squares(rows).iter().enumerate().map(|(i, square)| form[(i, i)] * square).sum();
    2.0 * inner_product(rows.as_ref(), images.as_ref()) - diagonal
}

/// Σ_j f_ij² for every i.
fn squares(rows: &Mat<f64>) -> Vec<f64> {
    let mut squares = vec![0.0; rows.nrows()];
    for j in 0..rows.ncols() {
        squares.iter_mut().zip(column(rows.as_ref(), j)).for_each(|(square, x)| *square += x * x);
    }
    squares
}

impl Gram {
    /// The Gram matrices of all groups, in one pass, or their rows if these are fewer numbers.
    ///
    /// # Errors
    /// Errors of the engine.
    pub(crate) fn of_groups(engine: &Engine, rows: &Rows<'_>, map: Option<&RowMap<'_>>) -> Result<Vec<Self>> {
        let dims = map.map_or(rows.features().dims(), |map| map.factor.ncols());
        if !keeps_rows(rows.len(), rows.groups().len(), dims) || engine.knows_rows() {
            return Ok(engine.part_grams(rows, map)?.into_iter().map(Self::Matrix).collect());
        }
        let Some(map) = map else {
            let read = |group: usize| {
                let group = &rows.groups()[group];
                let mut columns = Mat::zeros(dims, group.items.len());
                for (j, item) in group.items.iter().enumerate() {
                    rows.features().read_row(item, group.scale, column_mut(columns.as_mut(), j));
                }
                Self::Rows(columns)
            };
            let all = map_ordered(rows.groups().len(), read);
            engine.proceed_after(rows.len())?;
            return Ok(all);
        };
        let (images, mut start) = (engine.whiten_rows(rows, map)?, 0);
        let next = |group: &crate::engine::Group<'_>| {
            let own = &images[start * dims..(start + group.items.len()) * dims];
            start += group.items.len();
            Self::Rows(MatRef::from_column_major_slice(own, dims, group.items.len()).to_owned())
        };
        Ok(rows.groups().iter().map(next).collect())
    }

    /// Wᵀ G W times a weight.
    pub(crate) fn turned(&self, whitener: &Mat<f64>, weight: f64) -> Mat<f64> {
        match self {
            Self::Matrix(gram) => whitener.transpose() * ((gram * whitener) * faer::Scale(weight)),
            Self::Rows(rows) => {
                let images = whitener.transpose() * rows;
                &images * (images.transpose() * faer::Scale(weight))
            }
        }
    }

    /// diag(Wᵀ G W) for kept rows.
    pub(crate) fn turned_diagonal(&self, whitener: &Mat<f64>) -> Option<Vec<f64>> {
        let Self::Rows(rows) = self else { return None };
        Some(squares(&(whitener.transpose() * rows)))
    }

    /// S G S times a weight, restricted to some dimensions, where S is the diagonal matrix of their sizes.
    pub(crate) fn scaled(&self, kept: &[usize], sizes: &[f64], weight: f64) -> Self {
        match self {
            Self::Matrix(gram) => Self::Matrix(Mat::from_fn(kept.len(), kept.len(), |a, b| {
                sizes[kept[a]] * gram[(kept[a], kept[b])] * sizes[kept[b]] * weight
            })),
            Self::Rows(rows) => Self::Rows(Mat::from_fn(kept.len(), rows.ncols(), |a, j| {
                sizes[kept[a]] * rows[(kept[a], j)] * weight.sqrt()
            })),
        }
    }
}

/// Whether this many rows of this many groups are kept instead of their Gram matrices.
pub(crate) fn keeps_rows(rows: usize, groups: usize, dims: usize) -> bool {
    are_many(groups, dims) && FEWER * rows <= groups * dims
}

/// ⟨X, Y⟩ = Σ x_ij y_ij.
pub(crate) fn inner_product(x: MatRef<'_, f64>, y: MatRef<'_, f64>) -> f64 {
    (0..x.ncols()).map(|j| dot(column(x, j), column(y, j))).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(l: usize) -> Mat<f64> {
        Mat::from_fn(7, 2 + l % 3, |i, j| ((l * 5 + i * 3 + j * j) as f64 * 0.7).cos())
    }

    fn near(a: &Mat<f64>, b: &Mat<f64>) -> bool {
        (a - b).norm_max() < 1e-13 * (1.0 + b.norm_max())
    }

    /// Rows and their Gram matrix give the same results in every use, for any number of tasks.
    #[test]
    fn rows_stand_for_their_gram_matrix() {
        let kept: Vec<Gram> = (0..40).map(|l| Gram::Rows(rows(l))).collect();
        let matrices: Vec<Mat<f64>> = (0..40).map(|l| rows(l) * rows(l).transpose()).collect();
        let weights: Vec<f64> = (0..40).map(|l| 0.5 + 0.1 * f64::from(l)).collect();
        let turn = Mat::from_fn(7, 5, |i, j| ((3 * i + j) as f64).sin());
        let form = &turn * turn.transpose();
        assert!(near(&Summand::sum(&kept, &weights), &Summand::sum(&matrices, &weights)));
        for (kept, matrix) in kept.iter().zip(&matrices) {
            let gram = Gram::Matrix(matrix.clone());
            assert!((kept.product(&form) - matrix.product(&form)).abs() < 1e-12);
            assert!((kept.trace() - matrix.trace()).abs() < 1e-13 && kept.dims() == 7);
            assert!(near(&kept.matrix(), matrix));
            let turned = kept.turned(&turn, 0.3);
            assert!(near(&turned, &gram.turned(&turn, 0.3)));
            let diagonal = kept.turned_diagonal(&turn).unwrap();
            assert!((0..5).all(|j| (0.3 * diagonal[j] - turned[(j, j)]).abs() < 1e-13));
            let sizes: Vec<f64> = (1..8).map(f64::from).collect();
            let scaled = [kept, &gram].map(|gram| gram.scaled(&[0, 2, 5], &sizes, 0.2).matrix().into_owned());
            assert!(near(&scaled[0], &scaled[1]));
        }
    }
}
