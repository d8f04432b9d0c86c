//! Vector kernels over stored rows of f16, f32 or f64, which are converted in registers.

#![expect(clippy::inline_always, reason = "vectors exist only inside their dispatch")]

use pulp::Simd;

use crate::data::Scalar;

/// Number of values converted at a time: two vectors of 256 bits.
pub(crate) const CHUNK: usize = 8;

/// A row split into chunks. If its length is not a multiple of a chunk, the last chunk covers the end of the row and
/// overlaps the chunk before it. A row shorter than a chunk is padded with zeros.
#[derive(Clone, Copy)]
pub(crate) struct ChunkedRow<'a, T> {
    whole: &'a [[T; CHUNK]],
    last: [T; CHUNK],
}

impl<'a, T: Scalar> ChunkedRow<'a, T> {
    #[inline(always)]
    pub(crate) fn new(row: &'a [T]) -> Self {
        let (whole, rest) = row.as_chunks::<CHUNK>();
        let last = row.last_chunk().copied().unwrap_or_else(|| {
            let mut last = [T::zeroed(); CHUNK];
            last[..rest.len()].copy_from_slice(rest);
            last
        });
        Self { whole, last }
    }

    /// Computes Σ x_j y_j for every y, in f64. Each y is made by [`push_chunks`]. The result does not depend on the
    /// row's position, on the type of its values or on the number of y.
    #[inline(always)]
    pub(crate) fn dots<S: Simd, const D: usize>(&self, simd: S, y: [&[[f64; CHUNK]]; D]) -> [f64; D] {
        let mut sums = [[simd.splat_f64s(0.0); 2]; D];
        // Loops, because closures might be compiled without the machine's vector instructions.
        for (at, x) in self.whole.iter().enumerate() {
            let x = widened(x);
            for d in 0..D {
                add_product(simd, &x, &y[d][at], &mut sums[d]);
            }
        }
        if y[0].len() > self.whole.len() {
            let x = widened(&self.last);
            for d in 0..D {
                add_product(simd, &x, &y[d][self.whole.len()], &mut sums[d]);
            }
        }
        let mut dots = [0.0; D];
        for d in 0..D {
            dots[d] = simd.reduce_sum_f64s(simd.add_f64s(sums[d][0], sums[d][1]));
        }
        dots
    }
}

#[inline(always)]
fn add_product<S: Simd>(simd: S, x: &[f64; CHUNK], y: &[f64; CHUNK], sums: &mut [S::f64s; 2]) {
    let ((x, _), (y, _)) = (S::as_simd_f64s(x), S::as_simd_f64s(y));
    for (at, (&x, &y)) in x.iter().zip(y).enumerate() {
        sums[at % 2] = simd.mul_add_e_f64s(x, y, sums[at % 2]);
    }
}

/// Number of chunks per row.
pub(crate) fn chunks(dims: usize) -> usize {
    dims.div_ceil(CHUNK)
}

/// Appends a vector as chunks for [`ChunkedRow::dots`], with zeros where the last chunk overlaps the one before it.
pub(crate) fn push_chunks(y: &[f64], out: &mut Vec<[f64; CHUNK]>) {
    let (whole, rest) = y.as_chunks::<CHUNK>();
    out.extend_from_slice(whole);
    if !rest.is_empty() {
        let mut last = [0.0; CHUNK];
        let start = if whole.is_empty() { 0 } else { CHUNK - rest.len() };
        last[start..start + rest.len()].copy_from_slice(rest);
        out.push(last);
    }
}

/// Computes Σ x_j y_j over a stored row, in f64.
#[inline(always)]
pub(crate) fn row_dot_in<S: Simd, T: Scalar>(simd: S, row: &[T], y: &[f64]) -> f64 {
    let ((x_whole, x_rest), (y_whole, y_rest)) = (row.as_chunks::<CHUNK>(), y.as_chunks::<CHUNK>());
    let mut sums = [simd.splat_f64s(0.0); 2];
    for (x, y) in x_whole.iter().zip(y_whole) {
        add_product(simd, &widened(x), y, &mut sums);
    }
    let rest: f64 = x_rest.iter().zip(y_rest).map(|(&x, y)| x.wide() * y).sum();
    simd.reduce_sum_f64s(simd.add_f64s(sums[0], sums[1])) + rest
}

/// Computes Σ (s x_j)² over a stored row, scaled before squaring.
#[inline(always)]
pub(crate) fn row_norm_in<S: Simd, T: Scalar>(simd: S, row: &[T], scale: f64) -> f64 {
    let (whole, rest) = row.as_chunks::<CHUNK>();
    let mut sums = [simd.splat_f64s(0.0); 2];
    for x in whole {
        let mut x = widened(x);
        for x in &mut x {
            *x *= scale;
        }
        add_product(simd, &x, &x, &mut sums);
    }
    let rest: f64 = rest.iter().map(|&x| (x.wide() * scale).powi(2)).sum();
    simd.reduce_sum_f64s(simd.add_f64s(sums[0], sums[1])) + rest
}

#[inline(always)]
fn widened<T: Scalar>(x: &[T; CHUNK]) -> [f64; CHUNK] {
    let mut wide = [0.0; CHUNK];
    for (wide, &x) in wide.iter_mut().zip(x) {
        *wide = x.wide();
    }
    wide
}
