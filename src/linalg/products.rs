//! Inner products in f32 of two rows with four others.

#![expect(clippy::inline_always, reason = "vectors exist only inside their dispatch")]

use pulp::Simd;

/// Inner products of two rows with four others.
///
/// Eight sums keep the CPU busy, and every value of the four rows is read once for two products.
#[inline(always)]
pub(super) fn products<S: Simd>(simd: S, two: [&[f32]; 2], four: [&[f32]; 4]) -> [[f64; 4]; 2] {
    let [(a, a_tail), (b, b_tail)] = two.map(S::as_simd_f32s);
    let [(p, p_tail), (q, q_tail), (r, r_tail), (s, s_tail)] = four.map(S::as_simd_f32s);
    let [mut of_a, mut of_b] = [[simd.splat_f32s(0.0); 4]; 2];
    for (((((&a, &b), &p), &q), &r), &s) in a.iter().zip(b).zip(p).zip(q).zip(r).zip(s) {
        of_a[0] = simd.mul_add_e_f32s(a, p, of_a[0]);
        of_a[1] = simd.mul_add_e_f32s(a, q, of_a[1]);
        of_a[2] = simd.mul_add_e_f32s(a, r, of_a[2]);
        of_a[3] = simd.mul_add_e_f32s(a, s, of_a[3]);
        of_b[0] = simd.mul_add_e_f32s(b, p, of_b[0]);
        of_b[1] = simd.mul_add_e_f32s(b, q, of_b[1]);
        of_b[2] = simd.mul_add_e_f32s(b, r, of_b[2]);
        of_b[3] = simd.mul_add_e_f32s(b, s, of_b[3]);
    }
    let (tails, mut sums) = ([p_tail, q_tail, r_tail, s_tail], [[0.0; 4]; 2]);
    for ((sums, lanes), tail) in sums.iter_mut().zip([of_a, of_b]).zip([a_tail, b_tail]) {
        for ((sum, lanes), other) in sums.iter_mut().zip(lanes).zip(tails) {
            let rest = tail.iter().zip(other).map(|(x, y)| x * y).sum::<f32>();
            *sum = f64::from(simd.reduce_sum_f32s(lanes) + rest);
        }
    }
    sums
}

/// ε, a bound on the error of the inner product of two rows of length 1 that are rounded to f32.
pub(super) fn error<S: Simd>(dims: usize) -> f64 {
    // Rounding of both rows, of the sum in every lane, and of the sum of lanes and tail.
    let roundings = dims / S::F32_LANES + 2 * S::F32_LANES + 5;
    roundings as f64 * f64::from(f32::EPSILON) / 2.0
}
