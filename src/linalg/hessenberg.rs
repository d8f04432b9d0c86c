//! det(I + wM) for many numbers w, from one Hessenberg form of M.

use faer::{
    Mat, Par, c64,
    dyn_stack::{MemBuffer, MemStack},
    linalg::{evd::hessenberg, qr::no_pivoting::factor::recommended_block_size},
};

use super::complex_lu::Determinant;

/// A matrix that is zero below its subdiagonal, and unitarily similar to another.
///
/// # Cost
/// 80/3·r³ operations to make, 4r² for a determinant; those of LU are 8/3·r³. Measured at r from 24 to 512, it takes as long as six to nine
/// factorisations by LU, and a determinant 1/5 (r = 24) to 1/40 of one.
///
/// # Source
/// Golub and Van Loan, *Matrix computations* (2013), § 7.4.
#[derive(Debug)]
pub(crate) struct Hessenberg {
    size: usize,
    /// Row after row.
    entries: Vec<c64>,
}

impl Hessenberg {
    pub(crate) fn of(mut matrix: Mat<c64>) -> Self {
        let size = matrix.nrows();
        if size > 1 {
            let block = recommended_block_size::<c64>(size - 1, size - 1);
            let mut reflectors = Mat::zeros(block, size - 1);
            let scratch = hessenberg::hessenberg_in_place_scratch::<c64>(
                size,
                block,
                Par::Seq,
                faer::prelude::default(),
            );
            hessenberg::hessenberg_in_place(
                matrix.as_mut(),
                reflectors.as_mut(),
                Par::Seq,
                MemStack::new(&mut MemBuffer::new(scratch)),
                faer::prelude::default(),
            );
        }
        let entry = |i: usize, j: usize| if i <= j + 1 { matrix[(i, j)] } else { c64::new(0.0, 0.0) };
        let entries = (0..size).flat_map(|i| (0..size).map(move |j| (i, j))).map(|(i, j)| entry(i, j));
        Self { size, entries: entries.collect() }
    }

    /// `start` · det(I + wH), by elimination with partial pivoting.
    pub(crate) fn determinant(&self, w: c64, start: Determinant) -> Determinant {
        let size = self.size;
        let zero = c64::new(0.0, 0.0);
        let (mut upper, mut lower) = (vec![zero; size], vec![zero; size]);
        let load = |i: usize, row: &mut [c64]| {
            let from = i.saturating_sub(1);
            let entries = &self.entries[i * size..(i + 1) * size];
            row[from..].iter_mut().zip(&entries[from..]).for_each(|(out, x)| *out = w * x);
            row[i] += 1.0;
        };
        let mut product = start;
        if size > 0 {
            load(0, &mut upper);
        }
        for step in 0..size {
            if step + 1 < size {
                load(step + 1, &mut lower);
                if larger(lower[step]) > larger(upper[step]) {
                    std::mem::swap(&mut upper, &mut lower);
                    product = product.times(c64::new(-1.0, 0.0));
                }
            }
            let pivot = upper[step];
            product = product.times(pivot);
            if larger(pivot) == 0.0 {
                break;
            }
            let multiple = lower[step] / pivot;
            let rest = lower[step + 1..].iter_mut().zip(&upper[step + 1..]);
            rest.for_each(|(x, y)| *x -= multiple * y);
            std::mem::swap(&mut upper, &mut lower);
        }
        product
    }
}

/// The larger part.
fn larger(x: c64) -> f64 {
    x.re.abs().max(x.im.abs())
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::{super::complex_determinant, *};

    #[test]
    fn determinants_are_those_of_lu() {
        let mut rng = ChaCha8Rng::seed_from_u64(0);
        for size in [0, 1, 2, 3, 17, 70] {
            let mut number = || c64::new(rng.random_range(-1.0..1.0), rng.random_range(-1.0..1.0));
            let matrix = Mat::from_fn(size, size, |_, _| number());
            let form = Hessenberg::of(matrix.clone());
            for w in [c64::new(0.0, 0.0), c64::new(-1.0, 0.0), c64::new(0.6, 0.8)] {
                let shifted = Mat::from_fn(size, size, |i, j| w * matrix[(i, j)] + f64::from(i == j));
                let start = Determinant { mantissa: c64::new(1.5, 0.0), exponent: -70 };
                let (found, expected) = (form.determinant(w, start), complex_determinant(&shifted));
                let expected = expected.times(start.mantissa).value() * f64::exp2(-70.0);
                let error = (found.value() - expected).norm() / expected.norm();
                assert!(error < 1e-13, "{size}, {w}: {error}");
            }
        }
    }

    #[test]
    fn a_singular_matrix_has_determinant_zero() {
        let matrix = Mat::from_fn(3, 3, |i, j| c64::new(if i == j { -1.0 } else { 0.0 }, 0.0));
        let start = Determinant { mantissa: c64::new(1.0, 0.0), exponent: 0 };
        assert_eq!(Hessenberg::of(matrix).determinant(c64::new(1.0, 0.0), start).value(), c64::new(0.0, 0.0));
    }
}
