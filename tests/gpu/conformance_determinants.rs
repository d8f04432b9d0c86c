//! Determinants over nodes on every engine, against naive loops.

use faer::{Mat, c64};
use nalgebra::{Complex, DMatrix};
use oracles::{
    engines::{self, Tested},
    on_every_engine,
    oracle::dot,
    random::normals,
};
use partition_dpp::engine::low_level::{CandidateGrid, GridRequest, PhaseGrid};

/// Returns shares N_l whose sum is below the identity: normalised sums Σ v vᵀ over random vectors.
pub(super) fn shares(parts: usize, size: usize) -> Vec<Mat<f64>> {
    let each = size / parts + 1;
    let values = normals(parts * each * size, (parts * size) as u64);
    let all = DMatrix::from_row_slice(parts * each, size, &values);
    let total = all.transpose() * &all + DMatrix::identity(size, size) * 0.1;
    let root = total.cholesky().unwrap().l().try_inverse().unwrap();
    let share = |l: usize| {
        let own = root.clone() * all.rows(l * each, each).transpose();
        let share = &own * own.transpose();
        Mat::from_fn(size, size, |i, j| share[(i, j)])
    };
    (0..parts).map(share).collect()
}

fn phases(parts: usize, nodes: usize) -> Vec<c64> {
    let angles = normals(parts * nodes, 12);
    // The first node is the real one.
    (0..parts * nodes)
        .map(|i| if i < parts { c64::new(1.0, 0.0) } else { c64::new(angles[i].cos(), angles[i].sin()) })
        .collect()
}

/// Returns P(θ) with candidates projected out.
pub(super) fn node(shares: &[Mat<f64>], phases: &[c64], unit: Option<&[f64]>) -> DMatrix<Complex<f64>> {
    let n = shares[0].nrows();
    let q = DMatrix::from_fn(n, n, |i, j| {
        let terms = shares
            .iter()
            .zip(phases)
            .map(|(share, phase)| Complex::new(phase.re - 1.0, phase.im) * share[(i, j)]);
        terms.sum::<Complex<f64>>()
    });
    let project = DMatrix::from_fn(n, n, |i, j| {
        let own = if i == j { 1.0 } else { 0.0 };
        Complex::from(own - unit.map_or(0.0, |u| u[i] * u[j]))
    });
    DMatrix::identity(n, n) + &project * q * &project
}

fn grid_determinants(tested: &Tested) {
    // Matrices fit in registers up to 16, 32, 48 and 64 rows. Beyond, they are eliminated in panels of 16 columns.
    for (size, parts, nodes) in [
        (1, 1, 3),
        (2, 2, 5),
        (3, 1, 4),
        (5, 3, 70),
        (16, 2, 9),
        (17, 2, 3),
        (32, 2, 3),
        (33, 4, 6),
        (48, 2, 3),
        (49, 2, 2),
        (64, 2, 4),
        (65, 3, 2),
        (80, 1, 2),
        (100, 3, 3),
        (260, 2, 1),
    ] {
        if size > tested.largest_matrix {
            continue;
        }
        let (shares, phases) = (shares(parts, size), phases(parts, nodes));
        let grid = PhaseGrid { shares: &shares, phases: &phases };
        let what = format!("{size}×{size}, {parts} parts");
        let determinants = tested.engine.grid_determinants(&grid, GridRequest::Determinants).unwrap();
        let inverses = tested.engine.grid_determinants(&grid, GridRequest::Inverses).unwrap();
        assert_eq!((determinants.len(), inverses.len()), (nodes, nodes));
        for at in 0..nodes {
            let matrix = node(&shares, grid.node(at), None);
            let expected = matrix.clone().determinant();
            for found in [&determinants[at], &inverses[at]] {
                let found = found.determinant.value();
                // Errors are relative to det P(0) = 1.
                tested.close(found.re, expected.re, size, 1.0, &what);
                tested.close(found.im, expected.im, size, 1.0, &what);
            }
            assert!(determinants[at].inverse.is_none());
            let inverse = inverses[at].inverse.as_ref().unwrap();
            let expected = matrix.try_inverse().unwrap();
            let condition = expected.norm().powi(2);
            for i in 0..size {
                for j in 0..size {
                    tested.close(inverse[(i, j)].re, expected[(i, j)].re, size, condition, &what);
                    tested.close(inverse[(i, j)].im, expected[(i, j)].im, size, condition, &what);
                }
            }
        }
    }
}

/// Nodes with vanishing pivots go to the host, at whatever step they vanish.
fn singular_nodes(tested: &Tested) {
    let half = Mat::from_fn(6, 6, |i, j| if i == j { 0.5 } else { 0.0 });
    let shares = [half.clone(), half];
    // e^{iθ} = −1 for both parts: P = I − 2·½ I − 2·½ I + … = −I; for one of them: P = 0.
    let one = c64::new(1.0, 0.0);
    let phases = [one, -one, -one, -one];
    let grid = PhaseGrid { shares: &shares, phases: &phases };
    let found = tested.engine.grid_determinants(&grid, GridRequest::Determinants).unwrap();
    assert!(found[0].determinant.value().norm() < 1e-30, "{:?}", found[0].determinant);
    tested.close(found[1].determinant.value().re, 1.0, 6, 1.0, "−I");
    for size in [6, 40, 64, 66].into_iter().filter(|size| *size <= tested.largest_matrix) {
        for zero in [0, 3, size / 2, size - 1] {
            let entry = |i, j| match (i == j, i == zero) {
                (true, true) => 0.5,
                (true, false) => 0.1,
                _ => 0.0,
            };
            let share = Mat::from_fn(size, size, entry);
            let grid = PhaseGrid { shares: &[share], phases: &[-one] };
            let found = tested.engine.grid_determinants(&grid, GridRequest::Determinants).unwrap();
            assert!(found[0].determinant.value().norm() < 1e-15, "{zero} of {size}: {found:?}");
        }
    }
}

/// The largest pivot may be anywhere: any other pivot of this column would lose all digits of the inverse.
fn the_largest_pivot(tested: &Tested) {
    let some = (1..18).map(|row| (18, 0, row));
    let edges = [(16, 0, 15)].into_iter().chain([1, 15, 16, 31, 32, 33, 47, 48, 63].map(|row| (64, 0, row)));
    // In a panel, in the next one, and in the last.
    let stored =
        [(0, 1), (0, 15), (0, 16), (0, 65), (15, 16), (15, 65), (16, 17), (20, 31), (20, 64), (64, 65)];
    let all = some.chain(edges).chain(stored.map(|(column, row)| (66, column, row)));
    for (size, column, row) in all.filter(|(size, ..)| *size <= tested.largest_matrix) {
        let entry = |i: usize, j: usize| match (i, j) {
            _ if (i, j) == (column, column) => 0.5_f64.powi(16),
            _ if i == j => 1.1,
            _ if (i, j) == (column, row) || (i, j) == (row, column) => 0.9,
            _ => 0.0,
        };
        // P = I − 2N.
        let share = Mat::from_fn(size, size, |i, j| (f64::from(u8::from(i == j)) - entry(i, j)) / 2.0);
        let grid = PhaseGrid { shares: &[share], phases: &[c64::new(-1.0, 0.0)] };
        let found = tested.engine.grid_determinants(&grid, GridRequest::Inverses).unwrap();
        let alone = tested.engine.grid_determinants(&grid, GridRequest::Determinants).unwrap();
        let matrix = DMatrix::from_fn(size, size, entry);
        let (determinant, expected) = (matrix.determinant(), matrix.try_inverse().unwrap());
        let inverse = found[0].inverse.as_ref().unwrap();
        let what = format!("pivot of column {column} in row {row} of {size}");
        for found in [&found[0], &alone[0]] {
            tested.close(found.determinant.value().re, determinant, size, determinant.abs(), &what);
        }
        for i in 0..size {
            for j in 0..size {
                tested.close(inverse[(i, j)].re, expected[(i, j)], 2, 1.0, &what);
            }
        }
    }
}

fn candidate_determinants(tested: &Tested) {
    for (size, parts, nodes, count) in [
        (1, 1, 3, 2),
        (5, 2, 7, 30),
        (16, 2, 4, 5),
        (24, 2, 6, 11),
        (33, 2, 2, 3),
        (48, 1, 3, 3),
        (64, 3, 2, 3),
        (66, 2, 2, 2),
    ] {
        if size > tested.largest_matrix {
            continue;
        }
        let (shares, phases) = (shares(parts, size), phases(parts, nodes));
        let grid = PhaseGrid { shares: &shares, phases: &phases };
        let mut rows = normals(count * size, 20);
        rows[size..2 * size].fill(0.0);
        let angles = normals(nodes, 21);
        let coefficients: Vec<c64> = angles.iter().map(|x| c64::new(x.cos(), x.sin())).collect();
        let found = tested
            .engine
            .candidate_determinants(&CandidateGrid { grid, coefficients: &coefficients, rows: &rows })
            .unwrap();
        assert_eq!((found.sums.len(), found.determinants), (count, ((count - 1) * nodes) as u64));
        for (i, row) in rows.chunks_exact(size).enumerate() {
            let norm = dot(row, row).sqrt();
            if norm == 0.0 {
                assert_eq!(found.sums[i].to_bits(), 0, "a zero row");
                continue;
            }
            let unit: Vec<f64> = row.iter().map(|x| x / norm).collect();
            let term = |at: usize| {
                let determinant = node(&shares, grid.node(at), Some(&unit)).determinant();
                coefficients[at].re * determinant.re - coefficients[at].im * determinant.im
            };
            let expected: f64 = (0..nodes).map(term).sum();
            tested.close(found.sums[i], expected, size, nodes as f64, &format!("candidate {i} of {size}"));
        }
    }
}

on_every_engine!(grid_determinants, singular_nodes, the_largest_pivot, candidate_determinants);

/// Where an elimination notices its end. Only the indentation differs.
const HELD_END: &str = "determinant = judged(determinant, key);\n    if";
const STORED_END: &str = "determinant = judged(determinant, key);\n      if";

#[test]
fn planted_faults_are_noticed() {
    engines::assert_noticed(&[
        (("grid_determinants", "select(ZERO, ONE, i == j)", "ZERO"), grid_determinants),
        (("grid_determinants", "x.x * y.x - x.y * y.y", "x.x * y.x + x.y * y.y"), grid_determinants),
        // Faults of matrices in registers: a sign, an order of rows, the row of the pivot, a pivot search that takes
        // the first row, a sign that ignores the rows from 32 on, and singularity only at the start.
        (("grid_determinants", "-pivot, moves % 2u == 1u", "pivot, moves % 2u == 1u"), grid_determinants),
        (("grid_determinants", "sh_steps[row] = step", "sh_steps[row] = row"), grid_determinants),
        (
            ("grid_determinants", "complex(-ONE, ZERO), i == row", "complex(ONE, ZERO), i == row"),
            grid_determinants,
        ),
        (("grid_determinants", "key_of(x, i)", "key_of(complex(ONE, ZERO), i)"), the_largest_pivot),
        (("grid_determinants", " + countOneBits(above.y)", ""), the_largest_pivot),
        (
            ("grid_determinants", HELD_END, "if step == 0u { determinant = judged(determinant, key); }\nif"),
            singular_nodes,
        ),
        // Faults of stored matrices: a sign, an order of columns, a row that is not moved in its panel and in other
        // columns, a pivot search that takes the first row, a moved row that takes no part in its step, a panel's last
        // factor left out, its own rows left as they were, and singularity only at the start.
        (("grid_determinants", "-pivot, row != step", "pivot, row != step"), the_largest_pivot),
        (("grid_determinants", "[number * n + step] = row", "[number * n + step] = step"), the_largest_pivot),
        (("grid_determinants", "= matrices[own + j];", "= matrices[other + j];"), the_largest_pivot),
        (("grid_determinants", "matrices[own] = matrices[other];", ""), the_largest_pivot),
        (
            (
                "grid_determinants",
                "key_of(matrices[base + i * n + step], i)",
                "key_of(matrices[base + step * n + step], step)",
            ),
            the_largest_pivot,
        ),
        (("grid_determinants", "select(step, 0u, whole)", "select(step + 1u, 0u, whole)"), the_largest_pivot),
        (("grid_determinants", "-entry, s <= last", "-entry, s < last"), grid_determinants),
        (("grid_determinants", "goes_on && whole", "false"), grid_determinants),
        (
            (
                "grid_determinants",
                STORED_END,
                "if step == 0u { determinant = judged(determinant, key); }\nif",
            ),
            singular_nodes,
        ),
        (
            ("candidate_determinants", "- ui * uj * candidates", "+ ui * uj * candidates"),
            candidate_determinants,
        ),
        (("candidate_determinants", "x.x - m.x * y.x", "x.x + m.x * y.x"), candidate_determinants),
        (
            ("candidate_determinants", "x = reduced(x, matrices", "x = reduced(x, -matrices"),
            candidate_determinants,
        ),
        (("candidate_determinants", "determinants[number] =", "determinants[0] ="), candidate_determinants),
    ]);
}
