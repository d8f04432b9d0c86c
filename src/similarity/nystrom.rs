//! Features of a Gaussian kernel from its columns at landmarks.

use faer::{
    Accum, Mat, MatMut, Par,
    linalg::matmul::{
        matmul,
        triangular::{self, BlockStructure},
    },
};

use super::{KernelFunction, RbfKernel, factor::Factor};
use crate::{
    Result,
    data::Scalar,
    engine::Engine,
    linalg::{column_mut, inverse_of_lower},
    parallel::{map_ordered, map_ordered_mut},
};

/// Rows of a matrix product.
const BLOCK: usize = 512;
/// Rows of one task.
const TASK: usize = 2 * BLOCK;
/// Tasks between two looks at the watch.
const WAVE: usize = 32;
/// Rows of L that are solved for at a time, by the inverse of their square on the diagonal.
const SQUARE: usize = 96;
/// Partial sums of squares.
const LANES: usize = 16;

/// Numbers that features are rounded to.
pub trait FeatureScalar: Scalar {
    /// The nearest one.
    #[doc(hidden)]
    fn nearest(value: f64) -> Self;
    /// The distance from 1 to the next one.
    #[doc(hidden)]
    const EPSILON: f64;
}

impl FeatureScalar for f32 {
    const EPSILON: f64 = f32::EPSILON as f64;

    #[expect(clippy::cast_possible_truncation, reason = "rounding is meant")]
    fn nearest(value: f64) -> Self {
        value as f32
    }
}

impl FeatureScalar for f64 {
    const EPSILON: f64 = f64::EPSILON;

    fn nearest(value: f64) -> Self {
        value
    }
}

/// The map from an item x to its features L⁻¹ K_{Z,x}.
pub(super) struct Nystrom<'k, 'a> {
    kernel: &'k RbfKernel<'a>,
    landmarks: &'k [u32],
    /// The rows of the landmarks, in columns.
    points: Mat<f64>,
    /// Their ‖x‖².
    norms: Vec<f64>,
    /// L, with L Lᵀ = K_ZZ.
    lower: Mat<f64>,
    /// The inverses of its squares on the diagonal.
    inverses: Vec<Mat<f64>>,
}

impl<'k, 'a> Nystrom<'k, 'a> {
    pub(super) fn new(kernel: &'k RbfKernel<'a>, factor: &'k Factor<'_>) -> Self {
        let (landmarks, dims) = (factor.items(), kernel.rows().features().dims());
        let mut points = Mat::zeros(dims, landmarks.len());
        for (at, &landmark) in landmarks.iter().enumerate() {
            kernel.rows().read(landmark as usize, column_mut(points.as_mut(), at));
        }
        let size = landmarks.len();
        let lower = Mat::from_fn(size, size, |t, u| if u <= t { factor.entry(t, u) } else { 0.0 });
        let square = |start: usize| {
            let count = SQUARE.min(size - start);
            inverse_of_lower(lower.as_ref().submatrix(start, start, count, count))
        };
        let inverses = (0..size).step_by(SQUARE).map(square).collect();
        let norms = landmarks.iter().map(|&landmark| kernel.norm(landmark as usize)).collect();
        Self { kernel, landmarks, points, norms, lower, inverses }
    }

    /// Number of features.
    pub(super) fn dims(&self) -> usize {
        self.landmarks.len()
    }

    pub(super) fn tasks(&self) -> usize {
        self.kernel.items().div_ceil(TASK)
    }

    /// The items of a task.
    fn items_of(&self, task: usize) -> std::ops::Range<usize> {
        task * TASK..self.kernel.items().min((task + 1) * TASK)
    }

    /// Calls `each` with the features of every item of a task.
    fn for_each(&self, task: usize, mut each: impl FnMut(&[f64])) {
        let (mut rows, mut images) = (Mat::zeros(self.points.nrows(), BLOCK), Mat::zeros(self.dims(), BLOCK));
        let items = self.items_of(task);
        for start in items.clone().step_by(BLOCK) {
            let count = BLOCK.min(items.end - start);
            let mut rows = rows.as_mut().subcols_mut(0, count);
            let mut images = images.as_mut().subcols_mut(0, count);
            for at in 0..count {
                self.kernel.rows().read(start + at, column_mut(rows.as_mut(), at));
            }
            matmul(images.as_mut(), Accum::Replace, self.points.transpose(), rows.as_ref(), 1.0, Par::Seq);
            for at in 0..count {
                let norms = self.norms.iter().copied();
                self.kernel.entries_of_dots(start + at, norms, column_mut(images.as_mut(), at));
            }
            self.solve(images.as_mut());
            (0..count).for_each(|at| each(column_mut(images.as_mut(), at)));
        }
    }

    /// K_{Z,x} → L⁻¹ K_{Z,x}, nearly all of it in matrix products.
    fn solve(&self, mut images: MatMut<'_, f64>) {
        for (square, inverse) in self.inverses.iter().enumerate() {
            let (start, count) = (square * SQUARE, inverse.nrows());
            let (solved, rest) = images.as_mut().split_at_row_mut(start);
            let mut own = rest.subrows_mut(0, count);
            let before = self.lower.as_ref().submatrix(start, 0, count, start);
            matmul(own.as_mut(), Accum::Add, before, solved.as_ref(), -1.0, Par::Seq);
            let given = own.to_owned();
            let (lower, whole) = (BlockStructure::TriangularLower, BlockStructure::Rectangular);
            triangular::matmul(own, whole, Accum::Replace, inverse, lower, &given, whole, 1.0, Par::Seq);
        }
    }

    /// K_xx − ‖L⁻¹ K_{Z,x}‖² of every item.
    pub(super) fn residuals(&self, engine: &dyn Engine) -> Result<Vec<f64>> {
        let mut residuals = Vec::with_capacity(self.kernel.items());
        for first in (0..self.tasks()).step_by(WAVE) {
            engine.proceed()?;
            let of_task = |task: usize| {
                let mut found = Vec::with_capacity(TASK);
                self.for_each(first + task, |image| found.push(residual(image)));
                found
            };
            let found = map_ordered(WAVE.min(self.tasks() - first), of_task);
            residuals.extend(found.into_iter().flatten());
        }
        Ok(residuals)
    }

    /// Passes the features to `sink`, rounded, in order of the items and many at a time; returns the sum of the residuals
    /// of the rounded features.
    #[cfg(feature = "npy")]
    pub(super) fn write<T: FeatureScalar>(
        &self,
        engine: &dyn Engine,
        mut sink: impl FnMut(&[T]) -> Result<()>,
    ) -> Result<f64> {
        let mut total = 0.0;
        let items = self.kernel.items().min(WAVE * TASK);
        let mut rounded = vec![T::zeroed(); items * self.dims()];
        for first in (0..self.tasks()).step_by(WAVE) {
            engine.proceed()?;
            let items = self.kernel.items().min((first + WAVE) * TASK) - first * TASK;
            let rounded = &mut rounded[..items * self.dims()];
            total += self.fill(first, rounded);
            sink(rounded)?;
        }
        Ok(total)
    }

    /// All features, rounded, and the sum of their residuals.
    pub(super) fn all<T: FeatureScalar>(&self, engine: &dyn Engine) -> Result<(Vec<T>, f64)> {
        let mut rounded = vec![T::zeroed(); self.kernel.items() * self.dims()];
        let mut total = 0.0;
        for (wave, rounded) in rounded.chunks_mut(WAVE * TASK * self.dims()).enumerate() {
            engine.proceed()?;
            total += self.fill(wave * WAVE, rounded);
        }
        Ok((rounded, total))
    }

    /// Writes the features of the items from a task on.
    fn fill<T: FeatureScalar>(&self, first: usize, out: &mut [T]) -> f64 {
        let parts = out.chunks_mut(TASK * self.dims()).collect();
        let sums = map_ordered_mut(parts, |task, part: &mut [T]| {
            let (mut rows, mut sum) = (part.chunks_exact_mut(self.dims()), 0.0);
            self.for_each(first + task, |image| {
                let Some(row) = rows.next() else { return };
                row.iter_mut().zip(image).for_each(|(out, &value)| *out = T::nearest(value));
                sum += residual(row);
            });
            sum
        });
        sums.into_iter().sum()
    }
}

/// 1 − Σ x².
fn residual<T: Scalar>(values: &[T]) -> f64 {
    let (chunks, rest) = values.as_chunks::<LANES>();
    let mut lanes = [0.0; LANES];
    for chunk in chunks {
        for (lane, value) in lanes.iter_mut().zip(chunk) {
            *lane += value.wide() * value.wide();
        }
    }
    let rest: f64 = rest.iter().map(|value| value.wide().powi(2)).sum();
    1.0 - (lanes.iter().sum::<f64>() + rest)
}
