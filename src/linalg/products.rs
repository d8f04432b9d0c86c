//! Inner products of two rows with four others, in f32 or f64.

use pulp::Simd;

/// The numbers whose products are summed.
pub(crate) trait Real: Copy + Default {
    /// Inner products of two rows with four others. Eight sums keep the processor busy, and every value of the four is read
    /// once for two products.
    fn products<S: Simd>(simd: S, two: [&[Self]; 2], four: [&[Self]; 4]) -> [[f64; 4]; 2];

    /// ε: an inner product of rounded rows of length 1 is off by so much at most.
    fn error<S: Simd>(dims: usize) -> f64;
}

macro_rules! real {
    ($type:ty, $lanes:ident, $as_simd:ident, $splat:ident, $mul_add:ident, $reduce:ident) => {
        impl Real for $type {
            #[inline(always)]
            fn products<S: Simd>(simd: S, two: [&[Self]; 2], four: [&[Self]; 4]) -> [[f64; 4]; 2] {
                let [(a, a_tail), (b, b_tail)] = two.map(S::$as_simd);
                let [(p, p_tail), (q, q_tail), (r, r_tail), (s, s_tail)] = four.map(S::$as_simd);
                let [mut of_a, mut of_b] = [[simd.$splat(0.0); 4]; 2];
                for (((((&a, &b), &p), &q), &r), &s) in a.iter().zip(b).zip(p).zip(q).zip(r).zip(s) {
                    of_a[0] = simd.$mul_add(a, p, of_a[0]);
                    of_a[1] = simd.$mul_add(a, q, of_a[1]);
                    of_a[2] = simd.$mul_add(a, r, of_a[2]);
                    of_a[3] = simd.$mul_add(a, s, of_a[3]);
                    of_b[0] = simd.$mul_add(b, p, of_b[0]);
                    of_b[1] = simd.$mul_add(b, q, of_b[1]);
                    of_b[2] = simd.$mul_add(b, r, of_b[2]);
                    of_b[3] = simd.$mul_add(b, s, of_b[3]);
                }
                let tails = [p_tail, q_tail, r_tail, s_tail];
                let mut sums = [[0.0; 4]; 2];
                for ((sums, lanes), tail) in sums.iter_mut().zip([of_a, of_b]).zip([a_tail, b_tail]) {
                    for ((sum, lanes), other) in sums.iter_mut().zip(lanes).zip(tails) {
                        let rest = tail.iter().zip(other).map(|(x, y)| x * y).sum::<Self>();
                        *sum = f64::from(simd.$reduce(lanes) + rest);
                    }
                }
                sums
            }

            fn error<S: Simd>(dims: usize) -> f64 {
                // Both rows are rounded; every lane is a sum, then come the lanes and the tail.
                let roundings = dims / S::$lanes + 2 * S::$lanes + 5;
                roundings as f64 * f64::from(Self::EPSILON) / 2.0
            }
        }
    };
}
real!(f32, F32_LANES, as_simd_f32s, splat_f32s, mul_add_e_f32s, reduce_sum_f32s);
real!(f64, F64_LANES, as_simd_f64s, splat_f64s, mul_add_e_f64s, reduce_sum_f64s);
