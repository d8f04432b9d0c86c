//! The inner loop of picking, in f32.

use pulp::{Arch, Simd, WithSimd};

/// Lanes of the widest vectors.
const LANES: usize = 16;

/// The length of rows of this dimension, padded to whole vectors.
pub(super) fn padded(dims: usize) -> usize {
    dims.next_multiple_of(LANES)
}

/// l_i ← l_i − (a_i·q)² for rows as long as q.
pub(super) fn subtract_squares(rows: &[f32], q: &[f32], left: &mut [f32]) {
    Arch::new().dispatch(SubtractSquares { rows, q, left });
}

struct SubtractSquares<'a> {
    rows: &'a [f32],
    q: &'a [f32],
    left: &'a mut [f32],
}

impl WithSimd for SubtractSquares<'_> {
    type Output = ();

    #[expect(clippy::inline_always, reason = "vectors exist only inside their dispatch")]
    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { rows, q, left } = self;
        let (q_vectors, _) = S::as_simd_f32s(q);
        let mut blocks = rows.chunks_exact(4 * q.len());
        let (fours, last) = left.as_chunks_mut::<4>();
        for (block, left) in blocks.by_ref().zip(fours) {
            let (first, second) = block.split_at(2 * q.len());
            let ((a, b), (c, d)) = (first.split_at(q.len()), second.split_at(q.len()));
            let [a, b, c, d] = [a, b, c, d].map(|row| S::as_simd_f32s(row).0);
            let mut sums = [simd.splat_f32s(0.0); 4];
            for ((((&q, &a), &b), &c), &d) in q_vectors.iter().zip(a).zip(b).zip(c).zip(d) {
                sums[0] = simd.mul_add_e_f32s(q, a, sums[0]);
                sums[1] = simd.mul_add_e_f32s(q, b, sums[1]);
                sums[2] = simd.mul_add_e_f32s(q, c, sums[2]);
                sums[3] = simd.mul_add_e_f32s(q, d, sums[3]);
            }
            for (left, sum) in left.iter_mut().zip(sums) {
                let along = simd.reduce_sum_f32s(sum);
                *left -= along * along;
            }
        }
        for (row, left) in blocks.remainder().chunks_exact(q.len()).zip(last) {
            let mut sum = simd.splat_f32s(0.0);
            for (&q, &a) in q_vectors.iter().zip(S::as_simd_f32s(row).0) {
                sum = simd.mul_add_e_f32s(q, a, sum);
            }
            let along = simd.reduce_sum_f32s(sum);
            *left -= along * along;
        }
    }
}
