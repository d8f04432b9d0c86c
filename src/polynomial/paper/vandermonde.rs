//! All coefficients of a polynomial in several variables, from its values at nodes on circles.

use faer::c64;

use super::super::torus::roots_of_unity;
use crate::{Error, Result};

/// The tensor-product Vandermonde system with N_l equispaced nodes on a circle of radius ρ_l in variable l.
///
/// ```text
/// f(z) = Σ_i c_i Π z_l^{i_l}   at   z_l = ρ_l e^{2πi j_l / N_l},   0 ≤ i_l, j_l < N_l
/// ```
///
/// # Shapes
/// Values and coefficients are in row-major order, the last variable fastest.
///
/// # Cost
/// O(Π N_l · Σ N_l).
///
/// # Numerics
/// The matrix is a Fourier matrix of condition number 1 times diag(ρ^i), so every c_i ρ^i has an absolute error of
/// about ε times the largest |value|. With positive nodes, the condition number exceeds 1e16 from about 20 nodes on.
///
/// ```
/// # fn main() -> Result<(), partition_dpp::Error> {
/// use partition_dpp::{engine::c64, map::Solver, polynomial::CircleVandermonde};
/// // 5 + 2z at z = 3 and z = −3.
/// let system = CircleVandermonde::new(&[2], &[3.0])?;
/// let coefficients = system.solve(&[c64::new(11.0, 0.0), c64::new(-1.0, 0.0)])?;
/// assert!((coefficients[0].re - 5.0).abs() < 1e-14 && (coefficients[1].re - 2.0).abs() < 1e-14);
/// # Ok(()) }
/// ```
///
/// # Source
/// Kathuria and Deshpande (2016), § 3: coefficients "by inverting a Vandermonde matrix"; here on circles.
#[derive(Clone, Debug)]
pub struct CircleVandermonde {
    sizes: Vec<usize>,
    radii: Vec<f64>,
}

impl CircleVandermonde {
    /// The system with these numbers of nodes and radii, one per variable.
    ///
    /// # Errors
    /// - [`Error::Shape`] unless there is one radius per variable;
    /// - [`Error::Empty`] if there are no variables, or a variable has no nodes;
    /// - [`Error::NodeBudget`] if the number of nodes overflows;
    /// - [`Error::NotPositive`] if a radius is not a positive number.
    pub fn new(sizes: &[usize], radii: &[f64]) -> Result<Self> {
        if sizes.is_empty() || sizes.contains(&0) {
            return Err(Error::Empty { what: "the list of nodes" });
        }
        if sizes.len() != radii.len() {
            return Err(Error::Shape {
                what: "the list of radii",
                expected: sizes.len(),
                found: radii.len(),
            });
        }
        if let Some(&value) = radii.iter().find(|&&radius| !(radius > 0.0 && radius.is_finite())) {
            return Err(Error::NotPositive { what: "a radius", value });
        }
        if sizes.iter().try_fold(1_usize, |product, &size| product.checked_mul(size)).is_none() {
            let nodes = sizes.iter().map(|&size| size as f64).product();
            return Err(Error::NodeBudget { nodes, budget: usize::MAX as f64 });
        }
        Ok(Self { sizes: sizes.to_vec(), radii: radii.to_vec() })
    }

    /// The number of nodes, which is also the number of coefficients.
    #[must_use]
    pub fn nodes(&self) -> usize {
        self.sizes.iter().product()
    }

    /// The coordinates of a node, given its position in row-major order (modulo the number of nodes).
    #[must_use]
    pub fn node(&self, position: usize) -> Vec<c64> {
        let mut rest = position;
        let mut node = vec![c64::new(0.0, 0.0); self.sizes.len()];
        for (l, z) in node.iter_mut().enumerate().rev() {
            *z = roots_of_unity(self.sizes[l])[rest % self.sizes[l]] * self.radii[l];
            rest /= self.sizes[l];
        }
        node
    }

    /// Computes the coefficients of the polynomial that has these values at the nodes.
    ///
    /// # Errors
    /// [`Error::Shape`] if the number of values is wrong.
    pub fn solve(&self, values: &[c64]) -> Result<Vec<c64>> {
        if values.len() != self.nodes() {
            let (expected, found) = (self.nodes(), values.len());
            return Err(Error::Shape { what: "the list of values", expected, found });
        }
        let mut coefficients = values.to_vec();
        let mut stride = 1;
        for (&size, &radius) in self.sizes.iter().zip(&self.radii).rev() {
            solve_axis(&mut coefficients, size, radius, stride);
            stride *= size;
        }
        Ok(coefficients)
    }
}

/// Solves along one variable, for every line of the array.
fn solve_axis(array: &mut [c64], size: usize, radius: f64, stride: usize) {
    let roots = roots_of_unity(size);
    let mut line = vec![c64::new(0.0, 0.0); size];
    for block in array.chunks_exact_mut(size * stride) {
        for offset in 0..stride {
            let mut power = 1.0 / size as f64;
            for (i, out) in line.iter_mut().enumerate() {
                let term = |j: usize| block[j * stride + offset] * roots[i * j % size].conj();
                *out = (0..size).map(term).sum::<c64>() * power;
                power /= radius;
            }
            for (j, &value) in line.iter().enumerate() {
                block[j * stride + offset] = value;
            }
        }
    }
}
