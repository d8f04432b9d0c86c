//! One variable through elementary symmetric polynomials of eigenvalues, the others through phases.

use faer::{Mat, c64};

use super::generating_function::GeneratingFunction;
use crate::{
    Error, Result,
    engine::{Engine, PhaseGrid, grid_inverses, inverses_at_a_time},
    linalg::{column, column_mut},
    parallel::map_ordered,
};

/// If P⁻¹N(θ) is larger, P is so nearly singular that eigenvalues of moderate size are inaccurate.
const LARGEST: f64 = 16.0;
/// Entries of P⁻¹N(θ) below this are set to zero.
///
/// With much smaller entries, the eigenvalues of a matrix come out as zeros.
const NOTHING: f64 = 1e-40;

/// E[e^{iθ·counts}; |S| = k] at every node: the coefficient of x^k of det(C + x Σ e^{iθ_l} N_l).
///
/// With P = C + N(θ) and the eigenvalues ν of P⁻¹N(θ), it is det P · [x^k] Π (1 − ν_j + x ν_j). At θ = 0 the ν are
/// probabilities, so they are of moderate size unless P is nearly singular. If P is nearly singular, or the solver
/// loses eigenvalues, the coefficient is interpolated in x.
///
/// # Cost
/// About 60r³ per node, and 8/3·r⁴ more if it is interpolated.
pub(crate) fn fixed_size_values(
    engine: &Engine,
    function: &GeneratingFunction,
    phases: &[c64],
    k: usize,
) -> Result<Vec<c64>> {
    let parts = function.shares.len();
    let mut values = Vec::with_capacity(phases.len() / parts);
    for phases in phases.chunks(inverses_at_a_time(function.rank()) * parts) {
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
    let mut matrix = inverse * &weighted;
    for column in matrix.col_iter_mut() {
        let vanish = |x: &&mut c64| x.re.abs().max(x.im.abs()) < NOTHING;
        column.iter_mut().filter(vanish).for_each(|x| *x = c64::new(0.0, 0.0));
    }
    let norm = matrix.norm_l2();
    if norm > LARGEST {
        return Ok(by_interpolation(grid, &weighted, k));
    }
    let values = matrix.eigenvalues().map_err(|_| Error::Eigen { size })?;
    if !have_moments_of(&values, &matrix, norm.max(1.0)) {
        return Ok(by_interpolation(grid, &weighted, k));
    }
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

/// Whether Σ ν = tr M and Σ ν² = tr M².
///
/// If the entries of M are many decades apart, the solver returns zeros for some eigenvalues.
fn have_moments_of(values: &[c64], matrix: &Mat<c64>, norm: f64) -> bool {
    let size = matrix.nrows();
    let first: c64 = (0..size).map(|i| matrix[(i, i)]).sum();
    let second: c64 = (0..size).flat_map(|i| (0..size).map(move |j| matrix[(i, j)] * matrix[(j, i)])).sum();
    let (one, two): (c64, c64) = (values.iter().sum(), values.iter().map(|value| value * value).sum());
    let rounding = 1e3 * f64::EPSILON * norm * size as f64;
    (one - first).norm() <= rounding && (two - second).norm() <= rounding * norm
}

/// [x^k] det(C + xN) from the determinants at the roots of unity of order r + 1, with C = I − Σ N_l.
///
/// # Cost
/// 8/3·r⁴.
fn by_interpolation(grid: &PhaseGrid<'_>, weighted: &Mat<c64>, k: usize) -> c64 {
    let size = weighted.nrows();
    let nodes = size + 1;
    let unit = |turns: usize| c64::cis(std::f64::consts::TAU * (turns % nodes) as f64 / nodes as f64);
    let rest = Mat::from_fn(size, size, |i, j| {
        let shares: f64 = grid.shares.iter().map(|share| share[(i, j)]).sum();
        if i == j { 1.0 - shares } else { -shares }
    });
    let value = |node: usize| {
        let x = unit(node);
        let at_x = Mat::from_fn(size, size, |i, j| weighted[(i, j)] * x + rest[(i, j)]);
        at_x.determinant() * unit((nodes - k % nodes) * node)
    };
    (0..nodes).map(value).sum::<c64>() / nodes as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Engine;

    /// If one group is chosen from with probability ½, P is singular at phase π and its inverse is meaningless.
    #[test]
    fn singular_nodes_keep_their_digits() {
        // Rank-one groups in orthogonal directions that are not along the axes.
        let group = |row: [f64; 3], p: f64| Mat::from_fn(3, 3, |i, j| p * row[i] * row[j] / 9.0);
        let shares = [group([1.0, 2.0, 2.0], 0.5), group([2.0, 1.0, -2.0], 0.3)];
        for turn in [1e-14, 1e-9, 1e-4] {
            let phases = [c64::cis(std::f64::consts::PI - turn), c64::new(1.0, 0.0)];
            let grid = PhaseGrid { shares: &shares, phases: &phases };
            let points = grid_inverses(Engine::host(), &grid).unwrap();
            // (½ + ½ z x) (0.7 + 0.3 x)
            let z = phases[0];
            for (k, [own, other]) in [[0.7, 0.0], [0.3, 0.7], [0.0, 0.3]].into_iter().enumerate() {
                let found = of_node(&points[0], &grid, 0, k).unwrap();
                assert!((found - (z * other + own) * 0.5).norm() < 1e-15, "{turn} {k}: {found}");
            }
        }
    }

    /// Entries of 1e-180 once made all eigenvalues zero.
    #[test]
    fn nearly_diagonal_shares_have_their_eigenvalues() {
        let (a, b, c, d) = (
            1.678_346_418_937_350_5e-42,
            2.310_139_744_449_027e-70,
            5.904_474_116_499_367_5e-111,
            2.816_846_701_959_828_7e-84,
        );
        let e = 6.292_195_593_233_454_6e-111;
        let shares = [
            [[d, a, -b], [a, 1.0, c], [-b, e, 1.0]],
            [[1.0, -a, b], [-a, d, -c], [b, -c, 1.424_192_380_498_218_4e-83]],
        ];
        let shares = shares.map(|share| Mat::from_fn(3, 3, |i, j| share[i][j]));
        for turn in 0..4 {
            let phases = [c64::cis(std::f64::consts::FRAC_PI_2 * f64::from(turn)), c64::new(1.0, 0.0)];
            let grid = PhaseGrid { shares: &shares, phases: &phases };
            let found = of_node(&grid_inverses(Engine::host(), &grid).unwrap()[0], &grid, 0, 3).unwrap();
            assert!((found - phases[0] * phases[0]).norm() < 1e-14, "{turn}: {found}");
        }
    }
}
