//! Second derivatives from changes of first ones.

use faer::Mat;

use crate::linalg::kernels::dot;

/// The most entries of Gram matrices that a cache may hold: 32 MiB.
const CACHED: usize = 1 << 22;
/// With fewer groups, one eigen-decomposition takes longer than their products.
const GROUPS: usize = 16;

/// Whether the Gram matrices of this many groups should be read as rarely as possible.
pub(crate) fn are_many(groups: usize, dims: usize) -> bool {
    groups >= GROUPS && groups * dims * dims > CACHED
}

/// The accepted error of all expected counts together.
///
/// For many groups it is as large per group as for 16 groups.
pub(super) fn tolerance(groups: usize, dims: usize, of_few: f64) -> f64 {
    if are_many(groups, dims) { of_few * (groups as f64 / GROUPS as f64) } else { of_few }
}

/// A positive definite matrix that agrees with how the gradient has changed between points.
///
/// # Source
/// Broyden, Fletcher, Goldfarb and Shanno (1970).
pub(super) struct Secant {
    matrix: Mat<f64>,
    /// The last point, and the gradient there.
    last: Option<(Vec<f64>, Vec<f64>)>,
}

impl Secant {
    pub(super) fn new(matrix: Mat<f64>) -> Self {
        Self { matrix, last: None }
    }

    /// The matrix at the next point.
    pub(super) fn at(&mut self, t: &[f64], gradient: &[f64]) -> &Mat<f64> {
        if let Some((before, old)) = self.last.replace((t.to_vec(), gradient.to_vec())) {
            let difference = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| x - y).collect::<Vec<f64>>();
            self.update(&difference(t, &before), &difference(gradient, &old));
        }
        &self.matrix
    }

    /// Changes the matrix so that the gradient changes by `change` along `step`.
    fn update(&mut self, step: &[f64], change: &[f64]) {
        let size = step.len();
        let image: Vec<f64> =
            (0..size).map(|a| (0..size).map(|b| self.matrix[(a, b)] * step[b]).sum()).collect();
        let (curved, along) = (dot(step, change), dot(step, &image));
        // Rounding alone may reverse the change of the gradient.
        if curved > f64::EPSILON * along && along > 0.0 {
            for b in 0..size {
                for a in 0..size {
                    self.matrix[(a, b)] += change[a] * change[b] / curved - image[a] * image[b] / along;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Steps along the axes determine a quadratic form completely.
    #[test]
    fn changes_of_the_gradient_are_learnt() {
        let form = [[3.0, 1.0, 0.5], [1.0, 2.0, -0.3], [0.5, -0.3, 1.5]];
        let gradient = |t: &[f64]| -> Vec<f64> { form.iter().map(|row| dot(row, t)).collect() };
        let mut secant = Secant::new(Mat::identity(3, 3));
        let mut t = vec![0.3, -1.0, 0.7];
        for _ in 0..30 {
            let matrix = secant.at(&t, &gradient(&t)).clone();
            let step = super::super::newton_step(&matrix, &gradient(&t), &t);
            t.iter_mut().zip(step).for_each(|(t, step)| *t += step);
        }
        assert!(t.iter().all(|t| t.abs() < 1e-9), "{t:?}");
        let mut secant = Secant::new(Mat::identity(3, 3));
        secant.at(&[0.0; 3], &gradient(&[0.0; 3]));
        let point = [0.2, 0.5, -0.1];
        let matrix = secant.at(&point, &gradient(&point));
        let image = |a: usize| (0..3).map(|b| matrix[(a, b)] * point[b]).sum::<f64>();
        assert!((0..3).all(|a| (image(a) - gradient(&point)[a]).abs() < 1e-14));
    }
}
