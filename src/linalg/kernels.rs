//! Vector kernels of the inner loops, compiled for every instruction set and chosen at run time.
//!
//! Each kernel is a small type, since only code inside `with_simd` is compiled with the machine's vector
//! instructions. A plain function or a closure is not.

#![expect(clippy::inline_always, reason = "vectors exist only inside their dispatch")]

use pulp::{Arch, Simd, WithSimd};

/// Σ x_j y_j.
#[inline]
pub(crate) fn dot(x: &[f64], y: &[f64]) -> f64 {
    struct Dot<'a>(&'a [f64], &'a [f64]);
    impl WithSimd for Dot<'_> {
        type Output = f64;
        #[inline(always)]
        fn with_simd<S: Simd>(self, simd: S) -> f64 {
            dot_in(simd, self.0, self.1)
        }
    }
    Arch::new().dispatch(Dot(x, y))
}

#[inline(always)]
pub(super) fn dot_in<S: Simd>(simd: S, x: &[f64], y: &[f64]) -> f64 {
    let ((x_head, x_tail), (y_head, y_tail)) = (S::as_simd_f64s(x), S::as_simd_f64s(y));
    let (x_pairs, x_last) = x_head.as_chunks::<2>();
    let (y_pairs, y_last) = y_head.as_chunks::<2>();
    let (mut even, mut odd) = (simd.splat_f64s(0.0), simd.splat_f64s(0.0));
    for (x, y) in x_pairs.iter().zip(y_pairs) {
        even = simd.mul_add_e_f64s(x[0], y[0], even);
        odd = simd.mul_add_e_f64s(x[1], y[1], odd);
    }
    for (&x, &y) in x_last.iter().zip(y_last) {
        even = simd.mul_add_e_f64s(x, y, even);
    }
    let tail: f64 = x_tail.iter().zip(y_tail).map(|(x, y)| x * y).sum();
    simd.reduce_sum_f64s(simd.add_f64s(even, odd)) + tail
}

/// Σ |x_j|.
#[inline(always)]
pub(super) fn sum_abs_in<S: Simd>(simd: S, x: &[f64]) -> f64 {
    let (head, tail) = S::as_simd_f64s(x);
    let lanes = head.iter().fold(simd.splat_f64s(0.0), |sum, &x| simd.add_f64s(sum, simd.abs_f64s(x)));
    simd.reduce_sum_f64s(lanes) + tail.iter().map(|x| x.abs()).sum::<f64>()
}

/// Writes c x in f32.
#[inline]
pub(crate) fn narrow_scaled(x: &[f64], c: f64, out: &mut [f32]) {
    struct Narrow<'a>(&'a [f64], f64, &'a mut [f32]);
    impl WithSimd for Narrow<'_> {
        type Output = ();
        #[inline(always)]
        #[expect(clippy::cast_possible_truncation, reason = "rounding is meant")]
        fn with_simd<S: Simd>(self, _: S) {
            self.2.iter_mut().zip(self.0).for_each(|(out, x)| *out = (x * self.1) as f32);
        }
    }
    Arch::new().dispatch(Narrow(x, c, out));
}

/// w = Bᵀ a for a column-major B with columns of length `a.len()`; returns ‖w‖².
#[inline]
pub(crate) fn transposed_product(columns: &[f64], a: &[f64], w: &mut [f64]) -> f64 {
    struct TransposedProduct<'a>(&'a [f64], &'a [f64], &'a mut [f64]);
    impl WithSimd for TransposedProduct<'_> {
        type Output = f64;
        #[inline(always)]
        fn with_simd<S: Simd>(self, simd: S) -> f64 {
            let Self(columns, a, w) = self;
            let mut blocks = columns.chunks_exact(4 * a.len());
            let mut outputs = w.chunks_exact_mut(4);
            let mut sum = 0.0;
            for (block, w) in blocks.by_ref().zip(outputs.by_ref()) {
                let four = dot_four(simd, block, a);
                w.copy_from_slice(&four);
                sum += (four[0] * four[0] + four[1] * four[1]) + (four[2] * four[2] + four[3] * four[3]);
            }
            for (column, w) in blocks.remainder().chunks_exact(a.len()).zip(outputs.into_remainder()) {
                *w = dot_in(simd, column, a);
                sum += *w * *w;
            }
            sum
        }
    }
    Arch::new().dispatch(TransposedProduct(columns, a, w))
}

/// Inner products of four columns with one vector, which is loaded once.
#[inline(always)]
pub(super) fn dot_four<S: Simd>(simd: S, block: &[f64], a: &[f64]) -> [f64; 4] {
    let (left, right) = block.split_at(2 * a.len());
    let ((c0, c1), (c2, c3)) = (left.split_at(a.len()), right.split_at(a.len()));
    let (a_head, a_tail) = S::as_simd_f64s(a);
    let [(h0, t0), (h1, t1), (h2, t2), (h3, t3)] = [c0, c1, c2, c3].map(S::as_simd_f64s);
    let mut sums = [simd.splat_f64s(0.0); 4];
    for ((((&a, &x0), &x1), &x2), &x3) in a_head.iter().zip(h0).zip(h1).zip(h2).zip(h3) {
        sums[0] = simd.mul_add_e_f64s(a, x0, sums[0]);
        sums[1] = simd.mul_add_e_f64s(a, x1, sums[1]);
        sums[2] = simd.mul_add_e_f64s(a, x2, sums[2]);
        sums[3] = simd.mul_add_e_f64s(a, x3, sums[3]);
    }
    let mut out = sums.map(|lanes| simd.reduce_sum_f64s(lanes));
    for (out, tail) in out.iter_mut().zip([t0, t1, t2, t3]) {
        *out += a_tail.iter().zip(tail).map(|(a, x)| a * x).sum::<f64>();
    }
    out
}

/// x ← x + c y.
#[inline]
pub(crate) fn add_scaled(x: &mut [f64], c: f64, y: &[f64]) {
    struct AddScaled<'a>(&'a mut [f64], f64, &'a [f64]);
    impl WithSimd for AddScaled<'_> {
        type Output = ();
        #[inline(always)]
        fn with_simd<S: Simd>(self, simd: S) {
            add_scaled_in(simd, self.0, self.1, self.2);
        }
    }
    Arch::new().dispatch(AddScaled(x, c, y));
}

#[inline(always)]
pub(super) fn add_scaled_in<S: Simd>(simd: S, x: &mut [f64], c: f64, y: &[f64]) {
    let ((x_head, x_tail), (y_head, y_tail)) = (S::as_mut_simd_f64s(x), S::as_simd_f64s(y));
    let factor = simd.splat_f64s(c);
    for (x, &y) in x_head.iter_mut().zip(y_head) {
        *x = simd.mul_add_e_f64s(factor, y, *x);
    }
    for (x, y) in x_tail.iter_mut().zip(y_tail) {
        *x += c * y;
    }
}

/// x ← x − B c for a column-major B with columns of length `x.len()`.
#[inline]
pub(crate) fn subtract_product(x: &mut [f64], columns: &[f64], c: &[f64]) {
    struct SubtractProduct<'a>(&'a mut [f64], &'a [f64], &'a [f64]);
    impl WithSimd for SubtractProduct<'_> {
        type Output = ();
        #[inline(always)]
        fn with_simd<S: Simd>(self, simd: S) {
            let Self(x, columns, c) = self;
            let mut blocks = columns.chunks_exact(4 * x.len());
            let (fours, last) = c.as_chunks::<4>();
            for (block, c) in blocks.by_ref().zip(fours) {
                subtract_four(simd, x, block, *c);
            }
            for (column, c) in blocks.remainder().chunks_exact(x.len()).zip(last) {
                add_scaled_in(simd, x, -c, column);
            }
        }
    }
    Arch::new().dispatch(SubtractProduct(x, columns, c));
}

/// x ← x − B c for four columns; x is loaded and stored once.
#[inline(always)]
pub(super) fn subtract_four<S: Simd>(simd: S, x: &mut [f64], block: &[f64], c: [f64; 4]) {
    let (left, right) = block.split_at(2 * x.len());
    let ((c0, c1), (c2, c3)) = (left.split_at(x.len()), right.split_at(x.len()));
    let [(h0, t0), (h1, t1), (h2, t2), (h3, t3)] = [c0, c1, c2, c3].map(S::as_simd_f64s);
    let (x_head, x_tail) = S::as_mut_simd_f64s(x);
    let factors = c.map(|c| simd.splat_f64s(-c));
    for ((((x, &y0), &y1), &y2), &y3) in x_head.iter_mut().zip(h0).zip(h1).zip(h2).zip(h3) {
        let even = simd.mul_add_e_f64s(factors[2], y2, simd.mul_add_e_f64s(factors[0], y0, *x));
        *x = simd.mul_add_e_f64s(factors[3], y3, simd.mul_add_e_f64s(factors[1], y1, even));
    }
    for (j, x) in x_tail.iter_mut().enumerate() {
        *x -= (c[0] * t0[j] + c[1] * t1[j]) + (c[2] * t2[j] + c[3] * t3[j]);
    }
}

/// B ← B − u βᵀ − v γᵀ for a column-major B, in one pass.
#[inline]
pub(crate) fn subtract_outer_products(columns: &mut [f64], [u, v]: [&[f64]; 2], [beta, gamma]: [&[f64]; 2]) {
    struct SubtractOuter<'a>(&'a mut [f64], [&'a [f64]; 2], [&'a [f64]; 2]);
    impl WithSimd for SubtractOuter<'_> {
        type Output = ();
        #[inline(always)]
        fn with_simd<S: Simd>(self, simd: S) {
            let Self(columns, [u, v], [beta, gamma]) = self;
            let ((u_head, u_tail), (v_head, v_tail)) = (S::as_simd_f64s(u), S::as_simd_f64s(v));
            for ((column, &beta), &gamma) in columns.chunks_exact_mut(u.len()).zip(beta).zip(gamma) {
                let (head, tail) = S::as_mut_simd_f64s(column);
                let (b, c) = (simd.splat_f64s(-beta), simd.splat_f64s(-gamma));
                for ((x, &u), &v) in head.iter_mut().zip(u_head).zip(v_head) {
                    *x = simd.mul_add_e_f64s(c, v, simd.mul_add_e_f64s(b, u, *x));
                }
                for ((x, u), v) in tail.iter_mut().zip(u_tail).zip(v_tail) {
                    *x -= beta * u + gamma * v;
                }
            }
        }
    }
    Arch::new().dispatch(SubtractOuter(columns, [u, v], [beta, gamma]));
}

/// B ← B (I − τ v vᵀ), column-major, and drops the last column.
///
/// `product` is scratch of one column.
#[inline]
pub(crate) fn reflect_and_drop_last(columns: &mut Vec<f64>, v: &[f64], tau: f64, product: &mut [f64]) {
    struct Reflect<'a>(&'a mut [f64], &'a [f64], f64, &'a mut [f64]);
    impl WithSimd for Reflect<'_> {
        type Output = ();
        #[inline(always)]
        fn with_simd<S: Simd>(self, simd: S) {
            let Self(columns, v, tau, product) = self;
            product.fill(0.0);
            for (column, &v) in columns.chunks_exact(product.len()).zip(v) {
                add_scaled_in(simd, product, v, column);
            }
            for (column, &v) in columns.chunks_exact_mut(product.len()).zip(&v[..v.len() - 1]) {
                add_scaled_in(simd, column, -tau * v, product);
            }
        }
    }
    Arch::new().dispatch(Reflect(columns, v, tau, product));
    columns.truncate(columns.len() - product.len());
}

/// x ← max(x − y², 0).
#[inline]
pub(crate) fn subtract_squares(x: &mut [f64], y: &[f64]) {
    struct SubtractSquares<'a>(&'a mut [f64], &'a [f64]);
    impl WithSimd for SubtractSquares<'_> {
        type Output = ();
        #[inline(always)]
        fn with_simd<S: Simd>(self, simd: S) {
            let ((x_head, x_tail), (y_head, y_tail)) = (S::as_mut_simd_f64s(self.0), S::as_simd_f64s(self.1));
            let zero = simd.splat_f64s(0.0);
            for (x, &y) in x_head.iter_mut().zip(y_head) {
                *x = simd.max_f64s(simd.sub_f64s(*x, simd.mul_f64s(y, y)), zero);
            }
            for (x, y) in x_tail.iter_mut().zip(y_tail) {
                *x = (*x - y * y).max(0.0);
            }
        }
    }
    Arch::new().dispatch(SubtractSquares(x, y));
}

/// Σ x_j.
#[inline]
pub(crate) fn sum(x: &[f64]) -> f64 {
    let (head, tail) = x.as_chunks::<8>();
    let mut lanes = [0.0; 8];
    for x in head {
        lanes.iter_mut().zip(x).for_each(|(lane, x)| *lane += x);
    }
    lanes.iter().chain(tail).sum()
}

/// x ← x + y².
#[inline]
pub(crate) fn add_squares(x: &mut [f64], y: &[f64]) {
    for (x, y) in x.iter_mut().zip(y) {
        *x += y * y;
    }
}

/// (x, y) ← (c x − s y, s x + c y).
#[inline]
pub(crate) fn rotate(x: &mut [f64], y: &mut [f64], c: f64, s: f64) {
    for (x, y) in x.iter_mut().zip(y) {
        (*x, *y) = (c * *x - s * *y, s * *x + c * *y);
    }
}

/// x ← c x.
#[inline]
pub(crate) fn scale(x: &mut [f64], c: f64) {
    for x in x {
        *x *= c;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_abs_diff_eq;

    #[test]
    fn products_over_odd_sizes() {
        for n in [1, 3, 4, 7, 8, 9, 31, 64, 65] {
            for count in [1, 2, 3, 4, 5, 8, 9] {
                let columns: Vec<f64> = (0..n * count).map(|i| ((i * 37 % 11) as f64) - 5.0).collect();
                let a: Vec<f64> = (0..n).map(|i| ((i * 29 % 7) as f64) - 3.0).collect();
                let mut w = vec![0.0; count];
                let norm = transposed_product(&columns, &a, &mut w);
                // Integers: exact in any order of summation.
                let expected: Vec<f64> =
                    columns.chunks(n).map(|c| c.iter().zip(&a).map(|(x, y)| x * y).sum()).collect();
                assert_eq!(w, expected, "n = {n}, {count} columns");
                assert_abs_diff_eq!(norm, expected.iter().map(|x| x * x).sum::<f64>(), epsilon = 1e-9);
                assert_abs_diff_eq!(dot(&columns[..n], &a), expected[0], epsilon = 1e-12);
                let mut x = a.clone();
                subtract_product(&mut x, &columns, &w);
                let product = |i| columns.chunks(n).zip(&w).map(|(c, w): (&[f64], _)| c[i] * w).sum::<f64>();
                assert!((0..n).all(|i| (x[i] - (a[i] - product(i))).abs() < 1e-9));
                let mut updated = columns.clone();
                subtract_outer_products(&mut updated, [&a, &x], [&w, &expected]);
                for (at, found) in updated.iter().enumerate() {
                    let (l, i) = (at / n, at % n);
                    assert_abs_diff_eq!(*found, columns[at] - (a[i] + x[i]) * w[l], epsilon = 1e-6);
                }
            }
        }
    }

    #[test]
    fn reflection_keeps_the_complement() {
        // B = I: reflecting w onto the last axis and dropping it leaves a basis of w's complement.
        let w = [1.0, -2.0, 2.0];
        let mut v = w;
        v[2] += 3.0;
        let tau = 2.0 / v.iter().map(|x| x * x).sum::<f64>();
        let mut columns = vec![1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
        reflect_and_drop_last(&mut columns, &v, tau, &mut [0.0; 3]);
        assert_eq!(columns.len(), 6);
        for column in columns.chunks(3) {
            assert_abs_diff_eq!(dot(column, &w), 0.0, epsilon = 1e-15);
            assert_abs_diff_eq!(dot(column, column), 1.0, epsilon = 1e-15);
        }
        assert_abs_diff_eq!(dot(&columns[..3], &columns[3..]), 0.0, epsilon = 1e-15);
    }
}
