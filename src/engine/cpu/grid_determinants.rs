//! `grid_determinants`: det P(θ), and P(θ)⁻¹ on request, at every node.

use faer::{
    Mat, Par, c64,
    dyn_stack::{MemBuffer, MemStack},
    linalg::lu::partial_pivoting::{factor, inverse},
    perm::PermRef,
};

use crate::{
    engine::{Determinant, GridPoint, GridRequest, PhaseGrid},
    linalg::{column, column_mut},
    parallel::map_ordered,
};

/// Pivots below this make the matrix singular; adding ε to its diagonal changes a determinant and an
/// adjugate by no more than rounding does.
const SINGULAR: f64 = 1e-40;

pub(super) fn grid_determinants(grid: &PhaseGrid<'_>, request: GridRequest) -> Vec<GridPoint> {
    map_ordered(grid.nodes(), |node| {
        let matrix = assemble(grid.shares, grid.node(node));
        match request {
            GridRequest::Determinants => GridPoint { determinant: determinant(matrix), inverse: None },
            GridRequest::Inverses => {
                let (determinant, inverse) = complex_inverse(&matrix);
                GridPoint { determinant, inverse: Some(inverse) }
            }
        }
    })
}

/// P(θ) = I + Σ (e^{iθ_l} − 1) N_l.
pub(super) fn assemble(shares: &[Mat<f64>], phases: &[c64]) -> Mat<c64> {
    let size = shares[0].nrows();
    let mut matrix = Mat::<c64>::identity(size, size);
    for (share, phase) in shares.iter().zip(phases) {
        let factor = phase - 1.0;
        for j in 0..size {
            for (out, &x) in column_mut(matrix.as_mut(), j).iter_mut().zip(column(share.as_ref(), j)) {
                *out += factor * x;
            }
        }
    }
    matrix
}

/// By LU with partial pivoting.
pub(super) fn determinant(matrix: Mat<c64>) -> Determinant {
    Lu::of(matrix).determinant()
}

/// P = LU in one matrix, with the row permutation.
struct Lu {
    factors: Mat<c64>,
    forward: Vec<usize>,
    backward: Vec<usize>,
    odd: bool,
}

impl Lu {
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

    fn determinant(&self) -> Determinant {
        let sign = c64::new(if self.odd { -1.0 } else { 1.0 }, 0.0);
        self.pivots().fold(Determinant::ONE.times(sign), Determinant::times)
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

/// Determinant and inverse.
pub(crate) fn complex_inverse(matrix: &Mat<c64>) -> (Determinant, Mat<c64>) {
    let mut lu = Lu::of(matrix.clone());
    if lu.pivots().any(|pivot| pivot.norm() < SINGULAR) {
        let nudged = matrix
            + faer::Scale(c64::new(f64::EPSILON, 0.0)) * Mat::<c64>::identity(matrix.nrows(), matrix.ncols());
        lu = Lu::of(nudged);
    }
    (lu.determinant(), lu.inverse())
}
