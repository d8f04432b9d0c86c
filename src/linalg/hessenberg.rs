//! det(I + wM) and (I + wM)⁻¹ for many numbers w, from one Hessenberg form of M.

use faer::{
    Mat, Par, c64,
    dyn_stack::{MemBuffer, MemStack},
    linalg::{
        evd::hessenberg, householder, qr::no_pivoting::factor::recommended_block_size,
        triangular_inverse::invert_upper_triangular,
    },
};

use super::{
    column, column_mut,
    complex_lu::{Determinant, SINGULAR},
};

/// A matrix that is zero below its subdiagonal, and unitarily similar to another.
///
/// # Cost
/// 40/3·r³ operations to make (8r³ more for Q), 7r² per determinant and 4/3·r³ per inverse. LU takes 8/3·r³ per
/// determinant and 8r³ per inverse.
///
/// Measured for r from 24 to 512, a form takes as long as six to nine determinants by LU. A determinant takes 1/5 of
/// the time of LU (r = 24) to 1/40, and an inverse 0.2 to 0.45.
///
/// # Source
/// Golub and Van Loan, *Matrix computations* (2013), § 7.4.
#[derive(Debug)]
pub(crate) struct Hessenberg {
    size: usize,
    /// The entries, row by row.
    entries: Vec<c64>,
}

impl Hessenberg {
    pub(crate) fn of(matrix: Mat<c64>) -> Self {
        Self::reduced(matrix).0
    }

    /// H and the unitary Q with M = Q H Q*.
    pub(crate) fn with_basis(matrix: Mat<c64>) -> (Self, Mat<c64>) {
        let size = matrix.nrows();
        let (form, matrix, reflectors) = Self::reduced(matrix);
        let mut basis = Mat::identity(size, size);
        if size > 1 {
            let scratch = householder::apply_block_householder_sequence_on_the_right_in_place_scratch::<c64>(
                size - 1,
                reflectors.nrows(),
                size - 1,
            );
            householder::apply_block_householder_sequence_on_the_right_in_place_with_conj(
                matrix.as_ref().submatrix(1, 0, size - 1, size - 1),
                reflectors.as_ref(),
                faer::Conj::No,
                basis.as_mut().submatrix_mut(1, 1, size - 1, size - 1),
                Par::Seq,
                MemStack::new(&mut MemBuffer::new(scratch)),
            );
        }
        (form, basis)
    }

    /// The form, and its reflectors: the part below the subdiagonal, and their block factors.
    fn reduced(mut matrix: Mat<c64>) -> (Self, Mat<c64>, Mat<c64>) {
        let size = matrix.nrows();
        let columns = size.saturating_sub(1);
        let block = recommended_block_size::<c64>(columns, columns);
        let mut reflectors = Mat::zeros(block, columns);
        if size > 1 {
            let parameters = faer::prelude::default();
            let scratch = hessenberg::hessenberg_in_place_scratch::<c64>(size, block, Par::Seq, parameters);
            hessenberg::hessenberg_in_place(
                matrix.as_mut(),
                reflectors.as_mut(),
                Par::Seq,
                MemStack::new(&mut MemBuffer::new(scratch)),
                parameters,
            );
        }
        let entry = |i: usize, j: usize| if i <= j + 1 { matrix[(i, j)] } else { c64::new(0.0, 0.0) };
        let entries = (0..size).flat_map(|i| (0..size).map(move |j| (i, j))).map(|(i, j)| entry(i, j));
        (Self { size, entries: entries.collect() }, matrix, reflectors)
    }

    /// `start` · det(I + wH).
    pub(crate) fn determinant(&self, w: c64, start: Determinant) -> Determinant {
        self.eliminate(w, start, |_, _, _, _| ())
    }

    /// `start` · det(I + wH), and (I + wH)⁻¹.
    ///
    /// If I + wH is singular, a regular matrix equal to it up to rounding takes its place.
    pub(crate) fn inverse(&self, w: c64, start: Determinant) -> (Determinant, Mat<c64>) {
        let size = self.size;
        let mut upper = Mat::zeros(size, size);
        let mut steps = Vec::with_capacity(size);
        let determinant = self.eliminate(w, start, |step, row, multiple, is_exchanged| {
            (step..size).for_each(|j| upper[(step, j)] = row[j]);
            steps.push((multiple, is_exchanged));
        });
        let mut inverse = Mat::zeros(size, size);
        invert_upper_triangular(inverse.as_mut(), upper.as_ref(), Par::Seq);
        // U⁻¹ G, the last step first.
        for (step, (multiple, is_exchanged)) in steps.into_iter().enumerate().rev().skip(1) {
            let next = column(inverse.as_ref(), step + 1).to_vec();
            let own = column_mut(inverse.as_mut(), step).iter_mut().zip(&next);
            own.for_each(|(x, y)| *x -= multiple * y);
            if is_exchanged {
                let own = column(inverse.as_ref(), step).to_vec();
                column_mut(inverse.as_mut(), step).copy_from_slice(&next);
                column_mut(inverse.as_mut(), step + 1).copy_from_slice(&own);
            }
        }
        (determinant, inverse)
    }

    /// Eliminates with partial pivoting.
    ///
    /// `take` gets every row of the triangle, the multiple of it that was subtracted from the next row, and whether
    /// the two rows were exchanged.
    fn eliminate(
        &self,
        w: c64,
        start: Determinant,
        mut take: impl FnMut(usize, &[c64], c64, bool),
    ) -> Determinant {
        let (size, zero) = (self.size, c64::new(0.0, 0.0));
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
            let (mut multiple, mut is_exchanged) = (zero, false);
            if step + 1 < size {
                load(step + 1, &mut lower);
                is_exchanged = larger(lower[step]) > larger(upper[step]);
                if is_exchanged {
                    std::mem::swap(&mut upper, &mut lower);
                    product = product.times(c64::new(-1.0, 0.0));
                }
                multiple = if larger(lower[step]) > 0.0 { lower[step] / upper[step] } else { zero };
            }
            // Like adding ε to the diagonal, this changes the determinant, and its product with the inverse, only by
            // rounding.
            if larger(upper[step]) < SINGULAR {
                upper[step] = c64::new(f64::EPSILON, 0.0);
            }
            product = product.times(upper[step]);
            take(step, &upper, multiple, is_exchanged);
            let rest = lower[step + 1..].iter_mut().zip(&upper[step + 1..]);
            rest.for_each(|(x, y)| *x -= multiple * y);
            std::mem::swap(&mut upper, &mut lower);
        }
        product
    }
}

/// The larger of |Re x| and |Im x|.
fn larger(x: c64) -> f64 {
    x.re.abs().max(x.im.abs())
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::{super::complex_determinant, *};

    #[test]
    fn determinants_are_those_of_lu_and_inverses_invert() {
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

                let (form, basis) = Hessenberg::with_basis(matrix.clone());
                let (again, inverse) = form.inverse(w, start);
                let whole = &shifted * (&basis * inverse * basis.adjoint());
                let off = (whole - Mat::<c64>::identity(size, size)).norm_max();
                assert!(again == found && off < 1e-11, "{size}, {w}: {off}");
            }
        }
    }

    #[test]
    fn a_singular_matrix_has_determinant_zero_and_a_finite_inverse() {
        let matrix = Mat::from_fn(3, 3, |i, j| c64::new(if i == j { -1.0 } else { 0.0 }, 0.0));
        let start = Determinant { mantissa: c64::new(1.0, 0.0), exponent: 0 };
        let (determinant, inverse) = Hessenberg::of(matrix).inverse(c64::new(1.0, 0.0), start);
        let adjugate = faer::Scale(determinant.value()) * inverse;
        assert!(determinant.value().norm() < 1e-40);
        assert!((0..9).all(|at| adjugate[(at / 3, at % 3)].norm() < 1e-30));
    }
}
