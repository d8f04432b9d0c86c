//! Features of a Gaussian kernel from its columns at landmarks.

use faer::{Accum, Mat, MatMut, MatRef, Par, linalg::matmul::matmul};

use super::{KernelFunction, RbfKernel, factor::Factor};
use crate::{
    Result,
    data::Scalar,
    engine::Engine,
    linalg::{column_mut, inverse_of_lower},
    parallel::{map_ordered, map_ordered_mut},
};

/// Items of a matrix product: as many as leave it in the cache.
const BLOCK: usize = 256;
/// Items of one task, which share its memory.
const TASK: usize = 8 * BLOCK;
/// Tasks between two looks at the watch.
const WAVE: usize = 16;
/// Rows of L⁻¹ that are multiplied at a time: the more, the more zeros above the diagonal.
const ROWS: usize = 48;
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
    /// L⁻¹, with L Lᵀ = K_ZZ.
    inverse: Mat<f64>,
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
        let inverse = inverse_of_lower(lower.as_ref());
        let norms = landmarks.iter().map(|&landmark| kernel.norm(landmark as usize)).collect();
        Self { kernel, landmarks, points, norms, inverse }
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
        let (mut rows, mut columns) =
            (Mat::zeros(self.points.nrows(), BLOCK), Mat::zeros(self.dims(), BLOCK));
        let mut images = Mat::zeros(self.dims(), BLOCK);
        let items = self.items_of(task);
        for start in items.clone().step_by(BLOCK) {
            let count = BLOCK.min(items.end - start);
            let mut rows = rows.as_mut().subcols_mut(0, count);
            let mut columns = columns.as_mut().subcols_mut(0, count);
            let mut images = images.as_mut().subcols_mut(0, count);
            for at in 0..count {
                self.kernel.rows().read(start + at, column_mut(rows.as_mut(), at));
            }
            matmul(columns.as_mut(), Accum::Replace, self.points.transpose(), rows.as_ref(), 1.0, Par::Seq);
            for at in 0..count {
                let norms = self.norms.iter().copied();
                self.kernel.entries_of_dots(start + at, norms, column_mut(columns.as_mut(), at));
            }
            self.solve(columns.as_ref(), images.as_mut());
            (0..count).for_each(|at| each(column_mut(images.as_mut(), at)));
        }
    }

    /// K_{Z,x} → L⁻¹ K_{Z,x}.
    fn solve(&self, columns: MatRef<'_, f64>, mut images: MatMut<'_, f64>) {
        for start in (0..self.dims()).step_by(ROWS) {
            let end = self.dims().min(start + ROWS);
            let rows = self.inverse.as_ref().submatrix(start, 0, end - start, end);
            let own = images.as_mut().subrows_mut(start, end - start);
            matmul(own, Accum::Replace, rows, columns.subrows(0, end), 1.0, Par::Seq);
        }
    }

    /// K_xx − ‖L⁻¹ K_{Z,x}‖² of every item.
    pub(super) fn residuals(&self, engine: &dyn Engine) -> Result<Vec<f64>> {
        let mut residuals = Vec::with_capacity(self.kernel.items());
        engine.proceed()?;
        for first in (0..self.tasks()).step_by(WAVE) {
            let of_task = |task: usize| {
                let mut found = Vec::with_capacity(TASK);
                self.for_each(first + task, |image| found.push(residual(image)));
                found
            };
            let found = map_ordered(WAVE.min(self.tasks() - first), of_task);
            engine.proceed_after(found.iter().map(Vec::len).sum())?;
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
        engine.proceed()?;
        for first in (0..self.tasks()).step_by(WAVE) {
            let items = self.kernel.items().min((first + WAVE) * TASK) - first * TASK;
            let rounded = &mut rounded[..items * self.dims()];
            total += self.fill(first, rounded);
            engine.proceed_after(items)?;
            sink(rounded)?;
        }
        Ok(total)
    }

    /// All features, rounded, and the sum of their residuals.
    pub(super) fn all<T: FeatureScalar>(&self, engine: &dyn Engine) -> Result<(Vec<T>, f64)> {
        let mut rounded = vec![T::zeroed(); self.kernel.items() * self.dims()];
        let mut total = 0.0;
        engine.proceed()?;
        for (wave, rounded) in rounded.chunks_mut(WAVE * TASK * self.dims()).enumerate() {
            total += self.fill(wave * WAVE, rounded);
            engine.proceed_after(rounded.len() / self.dims())?;
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
