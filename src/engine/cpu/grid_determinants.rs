//! `grid_determinants`: det P(θ), and P(θ)⁻¹ on request, at every node.

use faer::{Mat, c64};

use crate::{
    engine::{GridPoint, GridRequest, PhaseGrid},
    linalg::{add_multiple, complex_determinant, complex_inverse},
    parallel::map_ordered,
};

pub(super) fn grid_determinants(grid: &PhaseGrid<'_>, request: GridRequest) -> Vec<GridPoint> {
    map_ordered(grid.nodes(), |node| {
        let matrix = assemble(grid.shares, grid.node(node));
        match request {
            GridRequest::Determinants => {
                GridPoint { determinant: complex_determinant(&matrix), inverse: None }
            }
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
        add_multiple(&mut matrix, phase - 1.0, share);
    }
    matrix
}
