//! One variable by elementary symmetric polynomials of eigenvalues, the others by phases.

use faer::{Mat, c64};

use super::{generating_function::GeneratingFunction, torus::batch};
use crate::{
    Error, Result,
    engine::{Engine, PhaseGrid, grid_inverses},
    linalg::{column, column_mut},
    parallel::map_ordered,
};

/// E[e^{iθ·counts}; |S| = k] at every node: the coefficient of x^k of det(C + x Σ e^{iθ_l} N_l).
///
/// With P = C + N(θ) and the eigenvalues ν of P⁻¹N(θ) it is det P · [x^k] Π (1 − ν_j + x ν_j); all of
/// ordinary size, since at θ = 0 the ν are probabilities.
///
/// # Cost
/// About 60r³ per node.
pub(crate) fn fixed_size_values(
    engine: &dyn Engine,
    function: &GeneratingFunction,
    phases: &[c64],
    k: usize,
) -> Result<Vec<c64>> {
    let parts = function.shares.len();
    let mut values = Vec::with_capacity(phases.len() / parts);
    for phases in phases.chunks(batch(function.rank()) * parts) {
        let grid = PhaseGrid { shares: &function.shares, phases };
        let points = grid_inverses(engine, &grid)?;
        let found = map_ordered(points.len(), |node| {
            engine.proceed()?;
            of_node(&points[node], &grid, node, k)
        });
        for value in found {
            values.push(value?);
        }
    }
    Ok(values)
}

fn of_node(
    (determinant, inverse): &(c64, Mat<c64>),
    grid: &PhaseGrid<'_>,
    node: usize,
    k: usize,
) -> Result<c64> {
    let size = inverse.nrows();
    let mut weighted = Mat::<c64>::zeros(size, size);
    for (share, &phase) in grid.shares.iter().zip(grid.node(node)) {
        for j in 0..size {
            for (out, &x) in column_mut(weighted.as_mut(), j).iter_mut().zip(column(share.as_ref(), j)) {
                *out += phase * x;
            }
        }
    }
    let values = (inverse * weighted).eigenvalues().map_err(|_| Error::Eigen { size })?;
    // coefficient[c] = [x^c] of the product so far.
    let mut coefficient = vec![c64::new(0.0, 0.0); k + 1];
    coefficient[0] = *determinant;
    for value in values {
        for c in (0..=k).rev() {
            let below = if c > 0 { coefficient[c - 1] * value } else { c64::new(0.0, 0.0) };
            coefficient[c] = coefficient[c] * (1.0 - value) + below;
        }
    }
    Ok(coefficient[k])
}
