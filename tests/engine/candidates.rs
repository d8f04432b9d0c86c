//! `candidate_determinants` against naive loops.

use approx::abs_diff_eq;
use faer::Mat;
use nalgebra::DMatrix;
use oracles::{
    grid::{self, ANGLES, complex, naive_determinant, naive_matrix, shares, to_faer},
    random::normals,
    with_threads,
};
use partition_dpp::{
    Engine,
    engine::{
        c64,
        low_level::{CandidateGrid, CandidateSums, PhaseGrid},
    },
};

const DIMS: [usize; 9] = [1, 2, 3, 15, 16, 17, 33, 64, 65];
/// LAPACK's threshold for ‖residual‖ / (dim·‖A‖·ε).
const THRESHOLD: f64 = 30.0;

/// Returns random candidate rows. Every fourth is zero, the second is huge, and the third is tiny.
fn candidate_rows(count: usize, dim: usize) -> Vec<f64> {
    let mut rows = normals(count * dim, 5 + dim as u64);
    for (i, row) in rows.chunks_exact_mut(dim).enumerate() {
        let factor = [0.0, 1e100, 1e-100, 1.0][i % 4];
        row.iter_mut().for_each(|x| *x *= factor);
    }
    rows
}

/// Returns the worst residual ratio of the sums of `found`; zero rows have sum zero.
fn sum_ratio(
    shares: &[DMatrix<f64>],
    phases: &[c64],
    coefficients: &[c64],
    rows: &[f64],
    found: &[f64],
) -> f64 {
    let dim = shares[0].nrows();
    assert_eq!(found.len(), rows.len() / dim);
    let mut worst = 0.0;
    for (row, &found) in rows.chunks_exact(dim).zip(found) {
        let largest = row.iter().fold(0.0, |max, x| f64::max(max, x.abs()));
        if largest == 0.0 {
            assert_eq!(found.to_bits(), 0.0_f64.to_bits());
            continue;
        }
        let row = DMatrix::from_row_slice(dim, 1, row) / largest;
        let beside = DMatrix::identity(dim, dim) - &row * row.transpose() / row.norm_squared();
        let projected: Vec<DMatrix<f64>> = shares.iter().map(|share| &beside * share * &beside).collect();
        let (mut sum, mut scale) = (0.0, 0.0);
        for (phases, &coefficient) in phases.chunks_exact(shares.len()).zip(coefficients) {
            let (determinant, condition) = naive_determinant(&naive_matrix(&projected, phases));
            sum += (complex(coefficient) * determinant).re;
            scale += coefficient.norm() * determinant.norm() * condition;
        }
        worst = f64::max(worst, (found - sum).abs() / (dim as f64 * f64::EPSILON * scale));
    }
    worst
}

fn candidate_sums(
    shares: &[DMatrix<f64>],
    phases: &[c64],
    coefficients: &[c64],
    rows: &[f64],
) -> CandidateSums {
    let shares: Vec<Mat<f64>> = shares.iter().map(to_faer).collect();
    let grid = PhaseGrid { shares: &shares, phases };
    Engine::cpu().candidate_determinants(&CandidateGrid { grid, coefficients, rows }).unwrap()
}

/// Returns one coefficient per node. The node θ = 0 gets 0, since its determinant of 1 would drown out the others.
fn coefficients() -> Vec<c64> {
    let of_node =
        |(node, x): (usize, &f64)| if node == 0 { c64::new(0.0, 0.0) } else { c64::new(*x, 1.0 - x) };
    normals(ANGLES.len(), 3).iter().enumerate().map(of_node).collect()
}

#[test]
fn candidates_meet_the_naive_sums() {
    for dim in DIMS {
        let mut worst = 0.0;
        for parts in 1..=3 {
            let (shares, phases, rows) = (shares(dim, parts), grid::phases(parts), candidate_rows(6, dim));
            let found = candidate_sums(&shares, &phases, &coefficients(), &rows);
            assert_eq!(found.determinants, 4 * ANGLES.len() as u64, "rows 0 and 4 are zero");
            let ratio = sum_ratio(&shares, &phases, &coefficients(), &rows, &found.sums);
            assert!(ratio < THRESHOLD, "dimension {dim}, {parts} parts: {ratio}");
            worst = f64::max(worst, ratio);
        }
        println!("dimension {dim}: residual ratio {worst:.2}");
    }
}

#[test]
fn no_candidates_and_zero_rows_take_no_determinants() {
    let (shares, phases) = (shares(3, 2), grid::phases(2));
    let none = CandidateSums { sums: Vec::new(), determinants: 0 };
    assert_eq!(candidate_sums(&shares, &phases, &coefficients(), &[]), none);
    let zero = CandidateSums { sums: vec![0.0; 4], determinants: 0 };
    assert_eq!(candidate_sums(&shares, &phases, &coefficients(), &[0.0; 12]), zero);
    // Without nodes, the sum is empty.
    let empty = CandidateSums { sums: vec![0.0; 2], determinants: 0 };
    assert_eq!(candidate_sums(&shares, &[], &[], &[1.0; 6]), empty);
}

#[test]
fn a_node_where_the_determinant_is_zero_adds_nothing() {
    // For either candidate, P = I − 2N keeps the eigenvalue 0 of the first axis.
    let share = DMatrix::from_row_slice(3, 3, &[0.5, 0.0, 0.0, 0.0, 0.25, 0.0, 0.0, 0.0, 0.0]);
    let rows = [0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
    let phases = [c64::new(1.0, 0.0), c64::new(-1.0, 0.0)];
    let coefficients = [c64::new(0.25, 0.0), c64::new(1.0, 0.0)];
    let found = candidate_sums(&[share], &phases, &coefficients, &rows);
    assert!(found.sums.iter().all(|&sum| abs_diff_eq!(sum, 0.25, epsilon = 1e-14)), "{found:?}");
    assert_eq!(found.determinants, 4);
}

#[test]
fn two_threads_give_the_bits_of_one() {
    let (shares, phases, rows) = (shares(33, 3), grid::phases(3), candidate_rows(20, 33));
    let run = || candidate_sums(&shares, &phases, &coefficients(), &rows);
    assert!(with_threads(1, run) == with_threads(2, run));
}

#[test]
fn planted_faults_are_found() {
    for dim in [1, 17, 65] {
        let (honest, phases, rows) = (shares(dim, 2), grid::phases(2), candidate_rows(4, dim));
        let ratio = |shares: &[DMatrix<f64>], phases: &[c64], rows: &[f64]| {
            let found = candidate_sums(shares, phases, &coefficients(), rows);
            sum_ratio(&honest, &grid::phases(2), &coefficients(), &candidate_rows(4, dim), &found.sums)
        };
        // In one dimension, a candidate leaves nothing: every determinant is 1.
        let mut worst = vec![ratio(&honest, &phases, &rows)];
        if dim > 1 {
            let mut conjugated = phases.clone();
            conjugated[2] = conjugated[2].conj();
            let mut share = honest.clone();
            share[1][(dim - 1, dim / 2)] += 1e-8;
            let mut row = rows.clone();
            row[3 * dim + dim / 2] += 1e-7;
            let faults = [ratio(&honest, &conjugated, &rows), ratio(&share, &phases, &rows)];
            worst.extend(faults);
            worst.push(ratio(&honest, &phases, &row));
            assert!(worst[1..].iter().all(|&ratio| ratio > 10.0 * THRESHOLD), "{worst:?}");
        }
        println!("dimension {dim}: residual ratios without and with faults {worst:.2?}");
        assert!(worst[0] < THRESHOLD);
    }
}
