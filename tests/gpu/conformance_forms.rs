//! Sums of inverses over nodes against naive loops, on the CPU, in f32 and in f64, at sizes around the edges of
//! tiles,
//! blocks of parts and lanes.

use std::cell::Cell;

use faer::{Mat, c64};
use nalgebra::{Complex, DMatrix};
use oracles::{
    engines::{self, CHUNK, Tested, short_dispatches},
    on_every_engine,
    random::normals,
    watches::reported,
};
use partition_dpp::{
    Error,
    engine::{
        Precision,
        gpu::GpuOptions,
        low_level::{FormGrid, GridForms, PhaseGrid},
    },
    watch::Ended,
};

use crate::conformance_determinants::{node, shares};

/// The phases and coefficients of every part, node after node.
struct Nodes {
    phases: Vec<c64>,
    coefficients: Vec<c64>,
}

impl Nodes {
    fn new(parts: usize, nodes: usize) -> Self {
        let numbers = normals(3 * parts * nodes, 21);
        let phases = numbers[..parts * nodes].iter().map(|angle| c64::new(angle.cos(), angle.sin()));
        let coefficients = numbers[parts * nodes..].chunks_exact(2).map(|x| c64::new(x[0], x[1]));
        Self { phases: phases.collect(), coefficients: coefficients.collect() }
    }

    fn found(&self, tested: &Tested, shares: &[Mat<f64>]) -> GridForms {
        let grid = PhaseGrid { shares, phases: &self.phases };
        let of = FormGrid { grid, coefficients: &self.coefficients };
        let told = Cell::new(0);
        let passed = |nodes| {
            told.set(told.get() + nodes);
            Ok(())
        };
        let found = tested.engine.grid_forms(&of, &passed).unwrap();
        assert_eq!(told.get(), grid.nodes(), "every node is told of once");
        assert_eq!((found.determinants.len(), found.forms.len()), (grid.nodes(), shares.len()));
        found
    }
}

/// Returns the sums of one part, and the sums of magnitudes to which rounding errors are relative.
fn naive(shares: &[Mat<f64>], nodes: &Nodes, inverses: &[Inverse], part: usize) -> (DMatrix<f64>, f64) {
    let (parts, size) = (shares.len(), shares[0].nrows());
    let (mut sum, mut magnitude) = (DMatrix::zeros(size, size), 0.0);
    for (at, inverse) in inverses.iter().enumerate() {
        let x = nodes.coefficients[at * parts + part];
        let factor = Complex::new(x.re, x.im) * inverse.determinant;
        sum += inverse.inverse.map(|entry| (factor * entry).re);
        magnitude += factor.norm() * inverse.inverse.norm().max(1.0).powi(2);
    }
    (sum, magnitude)
}

struct Inverse {
    determinant: Complex<f64>,
    inverse: DMatrix<Complex<f64>>,
}

fn grid_forms(tested: &Tested) {
    // Sizes around 256 threads and four parts, and lanes that have one node each, several, or one for every two
    // lanes.
    for (size, parts, nodes) in [
        (1, 1, 1),
        (1, 5, 700),
        (2, 3, 300),
        (5, 1, 70),
        (5, 4, 1030),
        (15, 9, 40),
        (16, 4, 200),
        (17, 2, 131),
        (33, 5, 20),
        (64, 2, 7),
        (65, 3, 9),
        (260, 2, 1),
    ] {
        if size > tested.largest_matrix {
            continue;
        }
        let (shares, nodes) = (shares(parts, size), Nodes::new(parts, nodes));
        let found = nodes.found(tested, &shares);
        let inverse = |phases: &[c64]| {
            let matrix = node(&shares, phases, None);
            Inverse { determinant: matrix.determinant(), inverse: matrix.try_inverse().unwrap() }
        };
        let inverses: Vec<Inverse> = nodes.phases.chunks_exact(parts).map(inverse).collect();
        let what = format!("{size}×{size}, {parts} parts, {} nodes", inverses.len());
        for (found, expected) in found.determinants.iter().zip(&inverses) {
            let found = found.value();
            tested.close(found.re, expected.determinant.re, size, 1.0, &what);
            tested.close(found.im, expected.determinant.im, size, 1.0, &what);
        }
        for (part, form) in found.forms.iter().enumerate() {
            let (expected, magnitude) = naive(&shares, &nodes, &inverses, part);
            for (i, j) in (0..size).flat_map(|i| (0..size).map(move |j| (i, j))) {
                tested.close(form[(i, j)], expected[(i, j)], size, magnitude, &what);
            }
        }
    }
}

/// Nodes that the device cannot invert go to the host, and are counted.
fn singular_nodes_of_forms(tested: &Tested) {
    // P = I − 2N at −1 has 0, ½, ½, … on the diagonal and no inverse; the product without the zero is what matters.
    for size in [2, 6, 20] {
        let of = |j: usize| if j == 0 { 0.5 } else { 0.25 };
        let share = Mat::from_fn(size, size, |i, j| if i == j { of(i) } else { 0.0 });
        let one = c64::new(1.0, 0.0);
        let coefficients = [one, one * 3.0, one * 0.25, one * 2.0].to_vec();
        let found = Nodes { phases: vec![one, -one, one, -one], coefficients }.found(tested, &[share]);
        let product = 0.5_f64.powi(i32::try_from(size).unwrap() - 1);
        for (i, j) in (0..size).flat_map(|i| (0..size).map(move |j| (i, j))) {
            let of_zero = if i == 0 { 5.0 * product } else { 0.0 };
            let expected = if i == j { 1.25 + of_zero } else { 0.0 };
            tested.close(found.forms[0][(i, j)], expected, 2, 1.0, &format!("entry {i} {j} of {size}"));
        }
        let zero = found.determinants[1].value().norm() + found.determinants[3].value().norm();
        assert!(zero < 1e-14, "{zero:e}");
        tested.close(found.determinants[0].value().re, 1.0, 2, 1.0, "the real node");
    }
}

/// In single precision, the error of a sum does not grow with the number of nodes.
fn long_sums(tested: &Tested) {
    sums_over(tested, 2_000);
}

/// Enough nodes that a sum without compensation is off. With short dispatches, each node is one.
fn longest_sums(tested: &Tested) {
    sums_over(tested, 30_000);
}

fn sums_over(tested: &Tested, nodes: usize) {
    let one = c64::new(1.0, 0.0);
    let coefficients: Vec<c64> =
        (0..2 * nodes).map(|at| one * f64::from(0.1_f32 + (at % 7) as f32)).collect();
    let nodes = Nodes { phases: vec![one; 2 * nodes], coefficients };
    let shares = [Mat::from_fn(1, 1, |_, _| 0.25), Mat::from_fn(1, 1, |_, _| 0.5)];
    let found = nodes.found(tested, &shares);
    for (part, form) in found.forms.iter().enumerate() {
        let expected: f64 = nodes.coefficients.iter().skip(part).step_by(2).map(|x| x.re).sum();
        let error = (form[(0, 0)] - expected).abs() / expected;
        println!("part {part}: {:.1} epsilons", error / tested.epsilon);
        let single = tested.engine.info().precision == Precision::F32;
        let most = if single { 2.0 } else { 1000.0 };
        assert!(error <= most * tested.epsilon, "{error:e} of {expected}");
    }
}

/// A watch sees every node, changes no bit, and can end the work.
fn a_watch_over_forms(tested: &Tested) {
    let (shares, nodes) = (shares(3, 20), Nodes::new(3, 300));
    let plain = nodes.found(tested, &shares);
    let (watch, reports) = reported();
    let engine = tested.engine.watched(&watch);
    let grid = PhaseGrid { shares: &shares, phases: &nodes.phases };
    let of = FormGrid { grid, coefficients: &nodes.coefficients };
    let found = engine.grid_forms(&of, &|_| Ok(())).unwrap();
    assert!(found.forms == plain.forms && found.determinants == plain.determinants);
    assert_eq!(reports.lock().unwrap().last().map(|report| report.steps), Some(300));
    let ended = engine.grid_forms(&of, &|_| Err(Error::Ended(Ended::Interrupted)));
    assert!(matches!(ended, Err(Error::Ended(Ended::Interrupted))), "{ended:?}");
}

on_every_engine!(grid_forms, singular_nodes_of_forms, long_sums, a_watch_over_forms,);

#[test]
fn sums_over_many_nodes_are_accurate() {
    for precision in [Precision::F32, Precision::F64] {
        let Some(gpu) = engines::gpu(precision) else { return };
        longest_sums(&engines::tested(&gpu, usize::MAX));
    }
}

/// Nodes are reported while others are still to come, and no more nodes are begun after the watch ends the work.
#[test]
fn a_watch_ends_sums_before_the_last_nodes() {
    let Some(Tested { engine, .. }) = engines::in_short_dispatches() else { return };
    let (shares, nodes) = (shares(3, 5), Nodes::new(3, 1000));
    let grid = PhaseGrid { shares: &shares, phases: &nodes.phases };
    let of = FormGrid { grid, coefficients: &nodes.coefficients };
    for enough in [0, 1, 300] {
        let told = Cell::new(0);
        let ended = engine.grid_forms(&of, &|nodes| {
            told.set(told.get() + nodes);
            if told.get() < enough { Ok(()) } else { Err(Error::Ended(Ended::Interrupted)) }
        });
        assert!(matches!(ended, Err(Error::Ended(Ended::Interrupted))), "{ended:?}");
        assert!((enough..enough + 100).contains(&told.get()), "{enough}: {}", told.get());
    }
}

#[test]
fn planted_faults_are_noticed() {
    engines::assert_noticed(&[
        (("grid_forms", "re[part] = factor.x", "re[part] = factor.y"), grid_forms),
        (("grid_forms", "im[part] = factor.y", "im[part] = ZERO"), grid_forms),
        (("grid_forms", "let node = first + number * p.lanes", "let node = first + number"), grid_forms),
        (("grid_forms", "number / tiles % blocks * 4u", "0u"), grid_forms),
        (("grid_forms", "* parameters.parts + first + part]", "* parameters.parts + first]"), grid_forms),
        (("grid_forms", "number % tiles * 256u", "0u"), grid_forms),
        (("grid_forms", "> BROKEN_EXPONENT", "< BROKEN_EXPONENT"), grid_forms),
        (("grid_forms", "lost += (sum - before) + (term - added)", "lost += sum - before"), longest_sums),
        (("sum_runs", "sums[place] = sum", "sums[place] = lost"), grid_forms),
    ]);
    // Fault: sums that start again with every chunk.
    engines::assert_noticed_on(
        &[
            GpuOptions::default().with_precision(Precision::F32).with_largest_binding(CHUNK),
            short_dispatches(),
        ],
        &[(("grid_forms", "p.earlier != 0u", "p.earlier > 1u"), grid_forms)],
    );
}
