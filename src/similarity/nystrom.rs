//! Features of a Gaussian kernel from its columns at landmarks.

use faer::{Accum, Mat, MatMut, MatRef, Par, linalg::matmul::matmul};

use super::{KernelFunction, RbfKernel, factor::Factor, rows::squared_distances};
use crate::{
    Result,
    data::Scalar,
    engine::{Engine, row_kernels::CHUNK},
    linalg::{column_mut, inverse_of_lower},
    parallel::{map_ordered, map_ordered_mut},
};

/// Items per matrix product: as many as fit in the cache.
const BLOCK: usize = 256;
/// Items per task, which share its memory.
const TASK: usize = 8 * BLOCK;
/// Tasks whose features are held in memory before they are written.
#[cfg(feature = "npy")]
const WAVE: usize = 16;
/// Rows of L⁻¹ that are multiplied at a time. More rows include more zeros above the diagonal.
const ROWS: usize = 48;
/// The bytes of landmarks that are compared with a block of items at a time.
const NEAR: usize = 1 << 17;
/// The number of partial sums of squares.
const LANES: usize = 16;

/// A number type that features are rounded to.
pub trait FeatureScalar: Scalar {
    /// The nearest number of this type.
    #[doc(hidden)]
    fn nearest(value: f64) -> Self;
    /// The distance from 1 to the next larger number.
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
pub(super) struct Nystrom<'k> {
    kernel: &'k RbfKernel,
    landmarks: &'k [u32],
    /// The rows of the landmarks.
    points: Vec<[f64; CHUNK]>,
    /// L⁻¹, with L Lᵀ = K_ZZ.
    inverse: Mat<f64>,
}

impl<'k> Nystrom<'k> {
    pub(super) fn new(kernel: &'k RbfKernel, factor: &'k Factor<'_>) -> Self {
        let landmarks = factor.items();
        let mut points = Vec::with_capacity(landmarks.len() * kernel.width());
        landmarks.iter().for_each(|&landmark| kernel.prepare(landmark as usize, &mut points));
        let size = landmarks.len();
        let lower = Mat::from_fn(size, size, |t, u| if u <= t { factor.entry(t, u) } else { 0.0 });
        let inverse = inverse_of_lower(lower.as_ref());
        Self { kernel, landmarks, points, inverse }
    }

    /// The number of features.
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
    fn for_each(&self, engine: &Engine, task: usize, mut each: impl FnMut(&[f64])) -> Result<()> {
        let mut rows = Vec::with_capacity(BLOCK * self.kernel.width());
        let (mut columns, mut images) = (Mat::zeros(self.dims(), BLOCK), Mat::zeros(self.dims(), BLOCK));
        let items = self.items_of(task);
        for start in items.clone().step_by(BLOCK) {
            let count = BLOCK.min(items.end - start);
            let mut columns = columns.as_mut().subcols_mut(0, count);
            let mut images = images.as_mut().subcols_mut(0, count);
            rows.clear();
            (start..start + count).for_each(|item| self.kernel.prepare(item, &mut rows));
            self.compare(&rows, columns.as_mut());
            self.solve(columns.as_ref(), images.as_mut());
            (0..count).for_each(|at| each(column_mut(images.as_mut(), at)));
            engine.proceed_after(count)?;
        }
        Ok(())
    }

    /// Rows x → K_{Z,x}.
    fn compare(&self, rows: &[[f64; CHUNK]], mut columns: MatMut<'_, f64>) {
        let width = self.kernel.width();
        let near = (NEAR / size_of_val(&rows[..width])).max(4);
        for (tile, points) in self.points.chunks(near * width).enumerate() {
            let (first, count) = (tile * near, points.len() / width);
            let mut tile = columns.as_mut().subrows_mut(first, count);
            // Taking two rows at a time reads the landmarks half as often.
            for (pair, rows) in rows.chunks(2 * width).enumerate() {
                let tile = tile.as_mut().subcols_mut(2 * pair, rows.len() / width);
                match rows.split_at(width) {
                    (row, []) => squared_distances([row], points, [column_mut(tile, 0)]),
                    (row, other) => {
                        let (left, right) = tile.split_at_col_mut(1);
                        let out = [column_mut(left, 0), column_mut(right, 0)];
                        squared_distances([row, other], points, out);
                    }
                }
            }
        }
        for at in 0..columns.ncols() {
            self.kernel.entries_of_squares(column_mut(columns.as_mut(), at));
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
    pub(super) fn residuals(&self, engine: &Engine) -> Result<Vec<f64>> {
        engine.proceed()?;
        let of_task = |task: usize| {
            let mut found = Vec::with_capacity(TASK);
            self.for_each(engine, task, |image| found.push(residual(image)))?;
            Ok(found)
        };
        let found: Result<Vec<Vec<f64>>> = map_ordered(self.tasks(), of_task).into_iter().collect();
        Ok(found?.concat())
    }

    /// Passes the rounded features to `sink`, in order of the items and many at a time.
    ///
    /// Returns the sum of the residuals of the rounded features.
    #[cfg(feature = "npy")]
    pub(super) fn write<T: FeatureScalar>(
        &self,
        engine: &Engine,
        mut sink: impl FnMut(&[T]) -> Result<()>,
    ) -> Result<f64> {
        let mut total = 0.0;
        let items = self.kernel.items().min(WAVE * TASK);
        let mut rounded = vec![T::zeroed(); items * self.dims()];
        engine.proceed()?;
        for first in (0..self.tasks()).step_by(WAVE) {
            let items = self.kernel.items().min((first + WAVE) * TASK) - first * TASK;
            let rounded = &mut rounded[..items * self.dims()];
            total += self.fill(engine, first, rounded)?;
            sink(rounded)?;
        }
        Ok(total)
    }

    /// All rounded features, and the sum of their residuals.
    pub(super) fn all<T: FeatureScalar>(&self, engine: &Engine) -> Result<(Vec<T>, f64)> {
        let mut rounded = vec![T::zeroed(); self.kernel.items() * self.dims()];
        engine.proceed()?;
        let total = self.fill(engine, 0, &mut rounded)?;
        Ok((rounded, total))
    }

    /// Writes the features of the items from task `first` on, and returns the sum of their residuals.
    fn fill<T: FeatureScalar>(&self, engine: &Engine, first: usize, out: &mut [T]) -> Result<f64> {
        let parts = out.chunks_mut(TASK * self.dims()).collect();
        let sums = map_ordered_mut(parts, |task, part: &mut [T]| {
            let (mut rows, mut sum) = (part.chunks_exact_mut(self.dims()), 0.0);
            self.for_each(engine, first + task, |image| {
                let Some(row) = rows.next() else { return };
                row.iter_mut().zip(image).for_each(|(out, &value)| *out = T::nearest(value));
                if residual(row) < 0.0 {
                    shorten(row);
                }
                sum += residual(row);
            })?;
            Ok(sum)
        });
        sums.into_iter().sum()
    }
}

/// Shortens a row by as much as rounding may have lengthened it.
fn shorten<T: FeatureScalar>(row: &mut [T]) {
    row.iter_mut().for_each(|value| *value = T::nearest(value.wide() * (1.0 - 1.5 * T::EPSILON)));
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
