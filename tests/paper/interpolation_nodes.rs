//! The paper's Vandermonde system with nodes on the real line and on circles, for problems with known exact answers.

use std::f64::consts::PI;

use approx::assert_abs_diff_eq;
use nalgebra::{DMatrix, DVector};
use oracles::{Case, known_answers};
use partition_dpp::{Engine, Partition, PartitionDpp, Quota, engine::c64, polynomial::CircleVandermonde};

/// 48 items in two parts of 24: each variable has degree 24.
const NODES: usize = 25;

/// g(y) = det(I + y_1 G_1 + y_2 G_2), relative to g at the radius ρ at which the quota is the expected count.
struct Polynomial {
    grams: Vec<DMatrix<f64>>,
    quota: Vec<usize>,
    radius: Vec<f64>,
    /// ln g(ρ).
    log_value: f64,
    /// ln Z_κ, exactly.
    log_z: f64,
}

impl Polynomial {
    fn new(case: &Case) -> Self {
        let dims = case.rows[0].len();
        let mut grams = vec![DMatrix::zeros(dims, dims); case.quota.len()];
        for (row, &label) in case.rows.iter().zip(&case.labels) {
            let row = DVector::from_row_slice(row);
            grams[label] += &row * row.transpose();
        }
        let (quota, radius) = (case.quota.clone(), vec![1.0; grams.len()]);
        let mut polynomial = Self { grams, quota, radius, log_value: 0.0, log_z: case.log_z };
        for _ in 0..2000 {
            let inverse = polynomial.at(&polynomial.radius).try_inverse().unwrap();
            for l in 0..2 {
                let expected = polynomial.radius[l] * (&inverse * &polynomial.grams[l]).trace();
                polynomial.radius[l] *= polynomial.quota[l] as f64 / expected;
            }
        }
        let factor = polynomial.at(&polynomial.radius).cholesky().unwrap();
        polynomial.log_value = factor.l().diagonal().iter().map(|x| 2.0 * x.ln()).sum();
        polynomial
    }

    fn at(&self, y: &[f64]) -> DMatrix<f64> {
        let dims = self.grams[0].nrows();
        DMatrix::identity(dims, dims) + &self.grams[0] * y[0] + &self.grams[1] * y[1]
    }

    /// Returns g(ρx) / g(ρ).
    fn real_value(&self, x: [f64; 2]) -> f64 {
        let y = [self.radius[0] * x[0], self.radius[1] * x[1]];
        (self.at(&y) * self.scale()).lu().determinant()
    }

    /// Returns the factor of a matrix that makes its determinant relative to g(ρ).
    fn scale(&self) -> f64 {
        (-self.log_value / self.grams[0].nrows() as f64).exp()
    }

    /// Returns g(z) / g(ρ).
    fn complex_value(&self, z: &[c64]) -> c64 {
        let dims = self.grams[0].nrows();
        let entry = |i: usize, j: usize| {
            let unit = if i == j { 1.0 } else { 0.0 };
            c64::new(unit, 0.0) + z[0] * self.grams[0][(i, j)] + z[1] * self.grams[1][(i, j)]
        };
        (DMatrix::from_fn(dims, dims, entry) * c64::new(self.scale(), 0.0)).lu().determinant()
    }

    /// Returns the relative error of Z_κ computed as the coefficient of x^κ, with x = y/ρ.
    fn error(&self, coefficient: f64) -> f64 {
        let linear: f64 = self.quota.iter().zip(&self.radius).map(|(&k, rho)| k as f64 * rho.ln()).sum();
        let exact = (self.log_z + linear - self.log_value).exp();
        (coefficient / exact - 1.0).abs()
    }

    /// Returns the error with real nodes x in every variable, by two LU decompositions.
    fn error_with(&self, nodes: [&[f64]; 2]) -> f64 {
        let v = nodes.map(|nodes| {
            DMatrix::from_fn(NODES, NODES, |i, j| nodes[i].powi(i32::try_from(j).unwrap())).lu()
        });
        let values = DMatrix::from_fn(NODES, NODES, |i, j| self.real_value([nodes[0][i], nodes[1][j]]));
        // V_1 C V_2ᵀ = F.
        let half = v[0].solve(&values).unwrap();
        let coefficients = v[1].solve(&half.transpose()).unwrap().transpose();
        self.error(coefficients[(self.quota[0], self.quota[1])])
    }

    /// Returns the error with nodes on circles.
    fn error_on_circles(&self) -> f64 {
        let system = CircleVandermonde::new(&[NODES, NODES], &self.radius).unwrap();
        let values: Vec<c64> = (0..system.nodes()).map(|at| self.complex_value(&system.node(at))).collect();
        let coefficient = system.solve(&values).unwrap()[self.quota[0] * NODES + self.quota[1]];
        let linear = self.quota.iter().zip(&self.radius).map(|(&k, rho)| k as f64 * rho.ln());
        self.error(coefficient.re * linear.sum::<f64>().exp())
    }
}

/// Returns ‖V‖ ‖V⁻¹‖ in the maximum norm, from the coefficients of the Lagrange polynomials; inversion is impossible
/// in
/// f64.
fn condition(nodes: &[f64]) -> f64 {
    let powers = |x: f64| (0..nodes.len()).map(|j| x.abs().powi(i32::try_from(j).unwrap())).sum::<f64>();
    let norm = nodes.iter().map(|&x| powers(x)).fold(0.0, f64::max);
    let mut inverse = vec![0.0; nodes.len()];
    for (i, &at) in nodes.iter().enumerate() {
        let mut lagrange = vec![1.0];
        for (j, &node) in nodes.iter().enumerate() {
            if i != j {
                // Multiply by (x − node) / (at − node).
                let mut next = vec![0.0; lagrange.len() + 1];
                for (power, c) in lagrange.iter().enumerate() {
                    next[power + 1] += c / (at - node);
                    next[power] -= c * node / (at - node);
                }
                lagrange = next;
            }
        }
        inverse.iter_mut().zip(&lagrange).for_each(|(sum, c)| *sum += c.abs());
    }
    norm * inverse.into_iter().fold(0.0, f64::max)
}

fn equispaced(from: f64, to: f64) -> Vec<f64> {
    (0..NODES).map(|i| from + (to - from) * i as f64 / (NODES - 1) as f64).collect()
}

fn chebyshev(from: f64, to: f64) -> Vec<f64> {
    let cosine = |i: usize| ((2 * i + 1) as f64 * PI / (2 * NODES) as f64).cos();
    (0..NODES).map(|i| 0.5 * (from + to) + 0.5 * (to - from) * cosine(i)).collect()
}

fn case() -> Case {
    known_answers().into_iter().find(|case| case.name == "seed-size-24-24").unwrap()
}

#[test]
fn real_nodes_lose_what_circles_keep() {
    let case = case();
    let polynomial = Polynomial::new(&case);
    println!("radius {:?}", polynomial.radius);

    // Positive nodes in units of the radius: no digit is left.
    let positive = [
        ("equispaced, ρ/25…ρ", equispaced(0.04, 1.0)),
        ("equispaced, ρ/2…2ρ", equispaced(0.5, 2.0)),
        ("equispaced, 0…2ρ", equispaced(0.0, 2.0)),
        ("equispaced, 0…5ρ", equispaced(0.0, 5.0)),
        ("Chebyshev, ρ/2…2ρ", chebyshev(0.5, 2.0)),
        ("Chebyshev, 0…2ρ", chebyshev(0.0, 2.0)),
        ("Chebyshev, 0…5ρ", chebyshev(0.0, 5.0)),
    ];
    for (name, nodes) in positive {
        let error = polynomial.error_with([&nodes, &nodes]);
        println!("{name:22} condition {:.1e} per variable, Z off by {error:.1e} of it", condition(&nodes));
        assert!(error >= 1.0, "{name}: {error:e}");
    }
    // y = 1, 2, …, 25: the paper's system only requires distinct nodes.
    let y: Vec<f64> = (1..=NODES).map(|i| i as f64).collect();
    let x = [0, 1].map(|l| y.iter().map(|y| y / polynomial.radius[l]).collect::<Vec<f64>>());
    let error = polynomial.error_with([&x[0], &x[1]]);
    println!(
        "y = 1…25               condition {:.1e} per variable, Z off by {error:.1e} of it",
        condition(&y)
    );
    assert!(error >= 1.0, "{error:e}");

    // Nodes on both sides of zero keep a few digits, on the best interval.
    let on_circles = polynomial.error_on_circles();
    for (name, family) in [("equispaced", equispaced as fn(f64, f64) -> Vec<f64>), ("Chebyshev", chebyshev)] {
        let (error, end) = (4..=24)
            .map(|eighths| f64::from(eighths) / 8.0)
            .map(|end| (polynomial.error_with([&family(-end, end), &family(-end, end)]), end))
            .min_by(|a, b| a.0.total_cmp(&b.0))
            .unwrap();
        let condition = condition(&family(-end, end));
        println!("{name}, best of −aρ…aρ: a = {end}, condition {condition:.1e}, Z off by {error:.1e} of it");
        assert!(error >= 1e-8 && error >= 1e5 * on_circles, "{name}: {error:e}, circles {on_circles:e}");
    }
    println!("circles                condition 1, Z off by {on_circles:.1e} of it");
    assert!(on_circles <= 1e-12, "{on_circles:e}");

    let partition = Partition::from_labels(&case.labels).unwrap();
    let quota = Quota::new(&partition, &case.quota).unwrap();
    let dpp = PartitionDpp::new(&case.features(), &partition, &quota).unwrap();
    let error = (dpp.inference(&Engine::cpu()).unwrap().log_partition_function().value - case.log_z).abs();
    println!("inference              Z off by {error:.1e} of it");
    assert!(error <= 1e-12, "{error:e}");
}

#[test]
fn condition_numbers_are_those_that_are_known() {
    // Two nodes ±1: V = [1 −1; 1 1], V⁻¹ = ½ Vᵀ. Three nodes 0, 1, 2: ‖V‖ = 7, ‖V⁻¹‖ = 4.
    assert_abs_diff_eq!(condition(&[-1.0, 1.0]), 2.0, epsilon = 1e-14);
    assert_abs_diff_eq!(condition(&[0.0, 1.0, 2.0]), 28.0, epsilon = 1e-12);
}
