//! Vector kernels over rows as they are stored, f32 or f64: nothing is copied but what fits registers.

#![expect(clippy::inline_always, reason = "vectors exist only inside their dispatch")]

use pulp::Simd;

use crate::data::Scalar;

/// Values of a row converted at a time.
const CHUNK: usize = 16;

/// Σ x_j y_j over a stored row, in f64: the same bits wherever the row lies and whatever the type
/// that holds its values.
#[inline(always)]
pub(crate) fn row_dot_in<S: Simd, T: Scalar>(simd: S, row: &[T], y: &[f64]) -> f64 {
    let ((x_head, x_tail), (y_head, y_tail)) = (row.as_chunks::<CHUNK>(), y.as_chunks::<CHUNK>());
    let mut sums = [simd.splat_f64s(0.0); 4];
    for (x, y) in x_head.iter().zip(y_head) {
        let x: [f64; CHUNK] = x.map(Into::into);
        let ((x, _), (y, _)) = (S::as_simd_f64s(&x), S::as_simd_f64s(y));
        for (at, (&x, &y)) in x.iter().zip(y).enumerate() {
            sums[at % 4] = simd.mul_add_e_f64s(x, y, sums[at % 4]);
        }
    }
    let tail: f64 = x_tail.iter().zip(y_tail).map(|(&x, y)| x.into() * y).sum();
    let [a, b, c, d] = sums;
    simd.reduce_sum_f64s(simd.add_f64s(simd.add_f64s(a, b), simd.add_f64s(c, d))) + tail
}

/// Σ (s x_j)² over a stored row; scaled before it is squared.
#[inline(always)]
pub(crate) fn row_norm_in<S: Simd, T: Scalar>(simd: S, row: &[T], scale: f64) -> f64 {
    let (head, tail) = row.as_chunks::<CHUNK>();
    let mut sums = [simd.splat_f64s(0.0); 4];
    for x in head {
        let x: [f64; CHUNK] = x.map(|x| x.into() * scale);
        let (x, _) = S::as_simd_f64s(&x);
        for (at, &x) in x.iter().enumerate() {
            sums[at % 4] = simd.mul_add_e_f64s(x, x, sums[at % 4]);
        }
    }
    let tail: f64 = tail.iter().map(|&x| (x.into() * scale).powi(2)).sum();
    let [a, b, c, d] = sums;
    simd.reduce_sum_f64s(simd.add_f64s(simd.add_f64s(a, b), simd.add_f64s(c, d))) + tail
}
