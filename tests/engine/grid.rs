//! `grid_determinants` against naive loops: at sizes around the edges of blocks, at nodes where P is singular, and
//! for
//! determinants that underflow.

use std::f64::consts::PI;

use approx::assert_relative_eq;
use faer::Mat;
use nalgebra::{Complex, DMatrix};
use oracles::{
    grid::{self, complex, naive_determinant, naive_matrix, of_faer, phase, shares, to_faer},
    random::normals,
    with_threads,
};
use partition_dpp::{
    Engine,
    engine::{
        c64,
        low_level::{GridPoint, GridRequest, PhaseGrid},
    },
};

const DIMS: [usize; 9] = [1, 2, 3, 15, 16, 17, 33, 64, 65];
/// LAPACK's threshold for ‖residual‖ / (dim·‖A‖·ε).
const THRESHOLD: f64 = 30.0;

/// Returns the worst residual ratios over the nodes: of determinants, relative to themselves, and of inverses.
fn grid_ratios(shares: &[DMatrix<f64>], phases: &[c64], found: &[GridPoint]) -> (f64, f64) {
    let nodes = phases.chunks_exact(shares.len());
    assert_eq!(found.len(), nodes.len());
    let (mut of_determinants, mut of_inverses) = (0.0, 0.0);
    for (point, phases) in found.iter().zip(nodes) {
        let matrix = naive_matrix(shares, phases);
        let unit = matrix.nrows() as f64 * f64::EPSILON;
        let (expected, condition) = naive_determinant(&matrix);
        assert!(expected.norm() > 1e-280 && condition < 1e6, "the reference means something");
        let determinant = complex(point.determinant.value());
        assert!(determinant.re.is_finite() && determinant.im.is_finite());
        let off = (determinant - expected).norm() / expected.norm();
        of_determinants = f64::max(of_determinants, off / (unit * condition));
        if let Some(inverse) = &point.inverse {
            let left = &matrix * of_faer(inverse) - grid::Complexes::identity(matrix.nrows(), matrix.nrows());
            of_inverses = f64::max(of_inverses, left.norm() / (unit * matrix.norm() * condition));
        }
    }
    (of_determinants, of_inverses)
}

fn points(shares: &[DMatrix<f64>], phases: &[c64], request: GridRequest) -> Vec<GridPoint> {
    let shares: Vec<Mat<f64>> = shares.iter().map(to_faer).collect();
    Engine::cpu().grid_determinants(&PhaseGrid { shares: &shares, phases }, request).unwrap()
}

#[test]
fn determinants_and_inverses_meet_the_naive_ones() {
    for dim in DIMS {
        let mut worst = (0.0_f64, 0.0_f64, 0.0_f64);
        for parts in 1..=3 {
            let (shares, phases) = (shares(dim, parts), grid::phases(parts));
            let determinants = points(&shares, &phases, GridRequest::Determinants);
            assert!(determinants.iter().all(|point| point.inverse.is_none()));
            let (alone, _) = grid_ratios(&shares, &phases, &determinants);
            let inverses = points(&shares, &phases, GridRequest::Inverses);
            assert!(inverses.iter().all(|point| point.inverse.is_some()));
            let (beside, inverse) = grid_ratios(&shares, &phases, &inverses);
            for ratio in [alone, beside, inverse] {
                assert!(ratio < THRESHOLD, "dimension {dim}, {parts} parts: {ratio}");
            }
            worst = (worst.0.max(alone), worst.1.max(beside), worst.2.max(inverse));
            // At θ = 0 nothing is rounded.
            for point in [&determinants[0], &inverses[0]] {
                assert_eq!(point.determinant.value(), c64::new(1.0, 0.0));
            }
            assert_eq!(inverses[0].inverse, Some(Mat::identity(dim, dim)));
        }
        println!("dimension {dim}: residual ratios {:.2} {:.2} {:.2}", worst.0, worst.1, worst.2);
    }
}

#[test]
fn no_nodes_give_no_points() {
    for request in [GridRequest::Determinants, GridRequest::Inverses] {
        assert!(points(&shares(3, 2), &[], request).is_empty());
    }
}

fn diagonal(values: &[f64]) -> DMatrix<f64> {
    DMatrix::from_fn(values.len(), values.len(), |i, j| if i == j { values[i] } else { 0.0 })
}

/// Returns shares of one part at z = −1, where P = I − 2N has zero eigenvalues, and the adjugates of P.
fn singular() -> Vec<(String, DMatrix<f64>, DMatrix<f64>)> {
    let by_hand: [(&[f64], &[f64]); 7] = [
        (&[0.5], &[1.0]),
        (&[0.5, 0.0], &[1.0, 0.0]),
        (&[0.0, 0.5], &[0.0, 1.0]),
        (&[0.0, 0.5, 0.25], &[0.0, 0.5, 0.0]),
        (&[0.5, 0.0, 0.5], &[0.0; 3]),
        (&[0.5; 4], &[0.0; 4]),
        (&[0.25, 0.5, 0.5, 0.0], &[0.0; 4]),
    ];
    let of_diagonal = |(share, adjugate): (&[f64], &[f64])| {
        (format!("diagonal {share:?}"), diagonal(share), diagonal(adjugate))
    };
    let mut cases: Vec<_> = by_hand.into_iter().map(of_diagonal).collect();
    for dim in [2, 3, 16, 17, 33, 65] {
        let q = DMatrix::from_vec(dim, dim, normals(dim * dim, dim as u64)).qr().q();
        // Eigenvalues of P are 0 and from ½ to 1.
        let values: Vec<f64> = (0..dim).map(|j| if j == 0 { 0.5 } else { 0.25 / j as f64 }).collect();
        let product: f64 = values[1..].iter().map(|value| 1.0 - 2.0 * value).product();
        let adjugate = q.column(0) * q.column(0).transpose() * product;
        cases.push((format!("rotated, dimension {dim}"), &q * diagonal(&values) * q.transpose(), adjugate));
    }
    cases
}

/// Returns −1, and the computed e^{iπ}.
fn around_minus_one() -> [c64; 2] {
    [c64::new(-1.0, 0.0), c64::new(PI.cos(), PI.sin())]
}

#[test]
fn singular_nodes_have_an_adjugate() {
    for (what, share, adjugate) in singular() {
        for z in around_minus_one() {
            let point = points(std::slice::from_ref(&share), &[z], GridRequest::Inverses).remove(0);
            let determinant = complex(point.determinant.value());
            assert!(determinant.norm() < 1e-14, "{what}: {determinant}");
            let inverse = of_faer(&point.inverse.unwrap());
            assert!(inverse.iter().all(|x| x.re.is_finite() && x.im.is_finite()), "{what}: not finite");
            let off = (inverse * determinant - adjugate.map(Complex::from)).camax();
            println!("{what}: determinant {:.1e}, adjugate off by {off:.1e}", determinant.norm());
            assert!(off < 1e-12, "{what}: adjugate off by {off:e}");
        }
    }
}

#[test]
fn singular_nodes_have_determinant_zero() {
    let mut failures = Vec::new();
    for (what, share, _) in singular() {
        for z in around_minus_one() {
            let found = points(std::slice::from_ref(&share), &[z], GridRequest::Determinants).remove(0);
            let size = found.determinant.value().norm();
            if !size.is_finite() || size > 1e-14 {
                failures.push(format!("{what} at {z}: {size:e}"));
            }
        }
    }
    assert!(failures.is_empty(), "{failures:#?}");
}

#[test]
fn logarithms_survive_where_the_value_underflows() {
    const DIM: usize = 600;
    for (angle, tilted) in [(PI - 1e-2, false), (PI - 1e-6, false), (PI - 1e-2, true), (1.0 - PI, true)] {
        // P has the eigenvalues 1 + (z − 1)λ.
        let eigenvalues: Vec<f64> =
            (0..DIM).map(|i| if tilted { 0.5 - 1e-4 * i as f64 } else { 0.5 }).collect();
        let share = Mat::from_fn(DIM, DIM, |i, j| if i == j { eigenvalues[i] } else { 0.0 });
        let z = phase(angle);
        let factors = eigenvalues.iter().map(|&x| Complex::new(1.0 + (z.re - 1.0) * x, z.im * x));
        let (log, turn) = factors.fold((0.0, 0.0), |(log, turn), x| (log + x.norm().ln(), turn + x.arg()));
        let grid = PhaseGrid { shares: &[share], phases: &[z] };
        for request in [GridRequest::Determinants, GridRequest::Inverses] {
            let found = Engine::cpu().grid_determinants(&grid, request).unwrap()[0].determinant;
            let mantissa = complex(found.mantissa);
            let found_log = mantissa.norm().ln() + f64::from(found.exponent) * std::f64::consts::LN_2;
            let off = ((mantissa.arg() - turn) / (2.0 * PI)).fract().abs();
            let off = off.min(1.0 - off);
            println!(
                "θ = {angle:.6}: log {found_log:.3}, off by {:.1e}; turn off by {off:.1e}",
                found_log - log
            );
            assert_relative_eq!(found_log, log, epsilon = 0.0, max_relative = 1e-12);
            assert!(off < 1e-10, "turn off by {off:e}");
            assert!((0.5..2.0 * 2.0_f64.sqrt()).contains(&mantissa.norm()), "{found:?}");
            let underflows = log < -745.0;
            assert_eq!(found.value() == c64::new(0.0, 0.0), underflows, "{found:?}");
            assert!(underflows || tilted, "most cases are below 1e-308");
        }
    }
}

#[test]
fn two_threads_give_the_bits_of_one() {
    let (shares, phases) = (shares(65, 3), grid::phases(3));
    for request in [GridRequest::Determinants, GridRequest::Inverses] {
        let run = || {
            let points = points(&shares, &phases, request);
            points.into_iter().map(|point| (point.determinant, point.inverse)).collect::<Vec<_>>()
        };
        assert!(with_threads(1, run) == with_threads(2, run), "{request:?}");
    }
}

#[test]
fn planted_faults_are_found() {
    for dim in [1, 17, 65] {
        let (honest, phases) = (shares(dim, 2), grid::phases(2));
        let ratios = |shares: &[DMatrix<f64>], phases: &[c64]| {
            grid_ratios(&honest, &grid::phases(2), &points(shares, phases, GridRequest::Inverses))
        };
        // Faults: one phase conjugated, the phases of two parts swapped, and one entry off by 1e-9.
        let mut conjugated = phases.clone();
        conjugated[2] = conjugated[2].conj();
        let mut swapped = phases.clone();
        swapped.swap(2, 3);
        let mut entry = honest.clone();
        entry[1][(dim - 1, dim / 2)] += 1e-9;
        for (determinant, inverse) in
            [ratios(&honest, &conjugated), ratios(&honest, &swapped), ratios(&entry, &phases)]
        {
            println!("dimension {dim}: residual ratios {determinant:.1e} {inverse:.1e}");
            assert!(determinant > 10.0 * THRESHOLD && inverse > 10.0 * THRESHOLD);
        }
        let (determinant, inverse) = ratios(&honest, &phases);
        assert!(determinant < THRESHOLD && inverse < THRESHOLD);
    }
}
