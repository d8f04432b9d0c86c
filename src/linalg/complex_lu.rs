//! Determinants and inverses of complex matrices from one LU factorisation.

use faer::{
    Mat, Par, c64,
    dyn_stack::{MemBuffer, MemStack},
    linalg::lu::partial_pivoting::{factor, inverse, solve},
    perm::PermRef,
};

/// A pivot below this makes the matrix singular.
///
/// Adding ε to the diagonal then changes the determinant and the adjugate by no more than rounding does.
pub(super) const SINGULAR: f64 = 1e-40;

/// The determinant mantissa · 2^exponent.
///
/// A product of any number of pivots neither overflows nor underflows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Determinant {
    /// Its larger component is between 1 and 2, unless the determinant is zero.
    pub mantissa: c64,
    /// The exponent.
    pub exponent: i32,
}

impl Determinant {
    /// The empty product.
    pub(crate) const ONE: Self = Self { mantissa: c64 { re: 1.0, im: 0.0 }, exponent: 0 };

    /// mantissa · 2^exponent for any mantissa.
    #[cfg(feature = "gpu")]
    pub(crate) fn scaled(mantissa: c64, exponent: i32) -> Self {
        let one = Self::ONE.times(mantissa);
        if one.mantissa == c64::new(0.0, 0.0) {
            one
        } else {
            Self { exponent: one.exponent + exponent, ..one }
        }
    }

    /// Multiplies by one more pivot.
    #[must_use]
    pub(crate) fn times(self, factor: c64) -> Self {
        let product = self.mantissa * factor;
        let size = product.re.abs().max(product.im.abs());
        if size == 0.0 || !size.is_finite() {
            return Self { mantissa: product, exponent: 0 };
        }
        // Extreme products are fully normalised only by the next factor, since `power_of_two` takes limited
        // exponents.
        let shift = exponent_of(size).clamp(-1000, 1000);
        let scale = power_of_two(-shift);
        let mantissa = c64::new(product.re * scale, product.im * scale);
        Self { mantissa, exponent: self.exponent + shift }
    }

    /// The value as one number, which underflows to zero below 1e-308.
    #[must_use]
    pub fn value(self) -> c64 {
        let scale = f64::from(self.exponent).exp2();
        c64::new(self.mantissa.re * scale, self.mantissa.im * scale)
    }
}

/// The exponent e of a finite x = m·2^e > 0 with 1 ≤ m < 2; −1023 if x is subnormal.
fn exponent_of(x: f64) -> i32 {
    let biased = (x.to_bits() >> 52) as i32;
    biased - 1023
}

/// 2^e, for e from −1022 to 1023.
fn power_of_two(exponent: i32) -> f64 {
    #[expect(clippy::cast_sign_loss, reason = "positive in this range")]
    let biased = (exponent + 1023) as u64;
    f64::from_bits(biased << 52)
}

/// The determinant, from LU with partial pivoting.
pub(crate) fn complex_determinant(matrix: &Mat<c64>) -> Determinant {
    Lu::regular(matrix).determinant()
}

pub(crate) fn complex_inverse(matrix: &Mat<c64>) -> (Determinant, Mat<c64>) {
    let lu = Lu::regular(matrix);
    (lu.determinant(), lu.inverse())
}

/// P = LU in one matrix, with the row permutation.
#[derive(Debug)]
pub(crate) struct Lu {
    factors: Mat<c64>,
    forward: Vec<usize>,
    backward: Vec<usize>,
    odd: bool,
}

impl Lu {
    /// Factorises the matrix or, if it is singular, a regular matrix equal to it up to rounding.
    pub(crate) fn regular(matrix: &Mat<c64>) -> Self {
        let lu = Self::of(matrix.clone());
        if lu.pivots().all(|pivot| pivot.norm() >= SINGULAR) {
            return lu;
        }
        let identity = Mat::<c64>::identity(matrix.nrows(), matrix.ncols());
        Self::of(matrix + faer::Scale(c64::new(f64::EPSILON, 0.0)) * identity)
    }

    fn of(mut factors: Mat<c64>) -> Self {
        let size = factors.nrows();
        let (mut forward, mut backward) = (vec![0; size], vec![0; size]);
        let scratch =
            factor::lu_in_place_scratch::<usize, c64>(size, size, Par::Seq, faer::prelude::default());
        let (info, _) = factor::lu_in_place(
            factors.as_mut(),
            &mut forward,
            &mut backward,
            Par::Seq,
            MemStack::new(&mut MemBuffer::new(scratch)),
            faer::prelude::default(),
        );
        Self { factors, forward, backward, odd: info.transposition_count % 2 == 1 }
    }

    fn pivots(&self) -> impl Iterator<Item = c64> + '_ {
        (0..self.factors.ncols()).map(|j| self.factors[(j, j)])
    }

    pub(crate) fn determinant(&self) -> Determinant {
        let sign = c64::new(if self.odd { -1.0 } else { 1.0 }, 0.0);
        self.pivots().fold(Determinant::ONE.times(sign), Determinant::times)
    }

    /// P⁻¹ X.
    pub(crate) fn solve(&self, mut right: Mat<c64>) -> Mat<c64> {
        let (size, columns) = (right.nrows(), right.ncols());
        let scratch = solve::solve_in_place_scratch::<usize, c64>(size, columns, Par::Seq);
        solve::solve_in_place(
            self.factors.as_ref(),
            self.factors.as_ref(),
            PermRef::new_checked(&self.forward, &self.backward, size),
            right.as_mut(),
            Par::Seq,
            MemStack::new(&mut MemBuffer::new(scratch)),
        );
        right
    }

    fn inverse(&self) -> Mat<c64> {
        let size = self.factors.nrows();
        let mut out = Mat::zeros(size, size);
        let scratch = inverse::inverse_scratch::<usize, c64>(size, Par::Seq);
        inverse::inverse(
            out.as_mut(),
            self.factors.as_ref(),
            self.factors.as_ref(),
            PermRef::new_checked(&self.forward, &self.backward, size),
            Par::Seq,
            MemStack::new(&mut MemBuffer::new(scratch)),
        );
        out
    }
}
