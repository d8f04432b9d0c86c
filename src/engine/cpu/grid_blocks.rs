//! `grid_blocks`: det P(θ) and U P(θ)⁻¹ Uᵀ at every node.

use faer::{Mat, MatRef, c64};

use super::grid_determinants::assemble;
use crate::{
    engine::{Determinant, PhaseGrid},
    linalg::complex_inverse,
    parallel::map_ordered,
};

pub(super) fn grid_blocks(grid: &PhaseGrid<'_>, rows: MatRef<'_, f64>) -> Vec<(Determinant, Mat<c64>)> {
    let rows = Mat::from_fn(rows.nrows(), rows.ncols(), |i, j| c64::new(rows[(i, j)], 0.0));
    map_ordered(grid.nodes(), |node| {
        let (determinant, inverse) = complex_inverse(&assemble(grid.shares, grid.node(node)));
        (determinant, &rows * (inverse * rows.transpose()))
    })
}
