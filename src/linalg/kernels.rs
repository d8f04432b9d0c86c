//! Vector kernels of the inner loops, compiled for every instruction set and chosen at run time.

use pulp::Arch;

const LANES: usize = 8;

/// Σ x_j y_j.
#[inline]
pub(crate) fn dot(x: &[f64], y: &[f64]) -> f64 {
    Arch::new().dispatch(
        #[inline(always)]
        || dot_lanes(x, y),
    )
}

#[expect(
    clippy::inline_always,
    reason = "a function that is not inlined is compiled without the instruction set"
)]
#[inline(always)]
fn dot_lanes(x: &[f64], y: &[f64]) -> f64 {
    let (x_head, x_tail) = x.as_chunks::<LANES>();
    let (y_head, y_tail) = y.as_chunks::<LANES>();
    let mut sums = [0.0; LANES];
    for (x, y) in x_head.iter().zip(y_head) {
        for lane in 0..LANES {
            sums[lane] += x[lane] * y[lane];
        }
    }
    let tail: f64 = x_tail.iter().zip(y_tail).map(|(x, y)| x * y).sum();
    sums.iter().sum::<f64>() + tail
}

/// w = Bᵀ a for a column-major B with columns of length `a.len()`; returns ‖w‖².
#[inline]
pub(crate) fn transposed_product(columns: &[f64], a: &[f64], w: &mut [f64]) -> f64 {
    Arch::new().dispatch(
        #[inline(always)]
        || {
            let n = a.len();
            let mut blocks = columns.chunks_exact(4 * n);
            let mut outputs = w.chunks_exact_mut(4);
            let mut sum = 0.0;
            for (block, w) in blocks.by_ref().zip(outputs.by_ref()) {
                let four = dot_four(block, a);
                w.copy_from_slice(&four);
                sum += (four[0] * four[0] + four[1] * four[1]) + (four[2] * four[2] + four[3] * four[3]);
            }
            for (column, w) in blocks.remainder().chunks_exact(n).zip(outputs.into_remainder()) {
                *w = dot_lanes(column, a);
                sum += *w * *w;
            }
            sum
        },
    )
}

/// Four columns against one vector: the vector is loaded once.
#[inline(always)]
fn dot_four(block: &[f64], a: &[f64]) -> [f64; 4] {
    const WIDE: usize = 4;
    let n = a.len();
    let (c0, rest) = block.split_at(n);
    let (c1, rest) = rest.split_at(n);
    let (c2, c3) = rest.split_at(n);
    let (a_head, a_tail) = a.as_chunks::<WIDE>();
    let [(h0, t0), (h1, t1), (h2, t2), (h3, t3)] = [c0, c1, c2, c3].map(|c| c.as_chunks::<WIDE>());
    let mut sums = [[0.0; WIDE]; 4];
    for ((((a, x0), x1), x2), x3) in a_head.iter().zip(h0).zip(h1).zip(h2).zip(h3) {
        for lane in 0..WIDE {
            sums[0][lane] += a[lane] * x0[lane];
            sums[1][lane] += a[lane] * x1[lane];
            sums[2][lane] += a[lane] * x2[lane];
            sums[3][lane] += a[lane] * x3[lane];
        }
    }
    let mut out = sums.map(|lanes| (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]));
    for (j, &a) in a_tail.iter().enumerate() {
        out[0] += a * t0[j];
        out[1] += a * t1[j];
        out[2] += a * t2[j];
        out[3] += a * t3[j];
    }
    out
}

/// B ← B (I − τ v vᵀ), column-major, and drops the last column.
///
/// `product` is scratch of one column.
#[inline]
pub(crate) fn reflect_and_drop_last(columns: &mut Vec<f64>, v: &[f64], tau: f64, product: &mut [f64]) {
    let n = product.len();
    Arch::new().dispatch(
        #[inline(always)]
        || {
            product.fill(0.0);
            for (column, &v) in columns.chunks_exact(n).zip(v) {
                product.iter_mut().zip(column).for_each(|(p, x)| *p += v * x);
            }
            for (column, &v) in columns.chunks_exact_mut(n).zip(&v[..v.len() - 1]) {
                let factor = tau * v;
                column.iter_mut().zip(product.iter()).for_each(|(x, p)| *x -= factor * p);
            }
        },
    );
    columns.truncate(columns.len() - n);
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

/// x ← x + c y.
#[inline]
pub(crate) fn add_scaled(x: &mut [f64], c: f64, y: &[f64]) {
    for (x, y) in x.iter_mut().zip(y) {
        *x += c * y;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
                assert!((norm - expected.iter().map(|x| x * x).sum::<f64>()).abs() < 1e-9);
                assert!((dot(&columns[..n], &a) - expected[0]).abs() < 1e-12);
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
            assert!(dot(column, &w).abs() < 1e-15);
            assert!((dot(column, column) - 1.0).abs() < 1e-15);
        }
        assert!(dot(&columns[..3], &columns[3..]).abs() < 1e-15);
    }
}
