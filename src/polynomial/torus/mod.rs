//! Coefficients of a generating function from its values on a torus.

mod lines;
mod plan;
mod range_sum;
#[cfg(test)]
mod tests;

use std::{f64::consts::TAU, ops::Range};

use faer::{Mat, c64};

pub use plan::DEFAULT_NODE_BUDGET;
pub(crate) use plan::{TorusPlan, coefficient_bound, default_node_budget, eigen_node_budget};
pub(crate) use range_sum::RangeSum;

use self::lines::AlongLines;
use super::generating_function::GeneratingFunction;
use crate::{
    Estimate, Result,
    engine::{Determinant, Engine, FormGrid, GridForms, GridRequest, PhaseGrid, Precision},
};

/// Nodes on the torus; one node of each conjugate pair stands for both.
///
/// ```text
/// [z^κ] φ = mean over nodes of φ(e^{iθ}) e^{−iκ·θ}  −  Σ of the coefficients that alias
/// ```
///
/// This is the paper's Vandermonde system with nodes on circles: a scaled Fourier matrix, with condition number 1.
///
/// A reference part carries the phase ψ of the total: θ_ref = ψ, and θ_l = ψ + 2πj_l/N_l for the others. Aliases then
/// have |S| = k + sN, or differ in some count by a multiple of N_l. Counts with sum k that are all at least κ_l equal
/// κ, so N_l = κ_l + 1 nodes separate them exactly (the reference part has the smallest quota). That is far fewer
/// than a product of independent nodes.
///
/// Every node may be shifted by half a step, so that z_l = −1 is not among them.
#[derive(Clone, Debug)]
pub(crate) struct Torus {
    /// N_l.
    sizes: Vec<usize>,
    /// The part that has the phase of the total; `None` if every part has its own phase.
    reference: Option<usize>,
    /// 1 for a part whose nodes are shifted by half a step, otherwise 0.
    halves: Vec<usize>,
    /// j_l of every node kept, node after node.
    digits: Vec<usize>,
    /// 1 or 2, divided by the number of nodes.
    weights: Vec<f64>,
    /// e^{πij/N_l}.
    roots: Vec<Vec<c64>>,
    /// e^{iθ_l}, node after node.
    pub(crate) phases: Vec<c64>,
    /// Upper bound on the sum of the coefficients that alias.
    aliasing: f64,
}

impl Torus {
    pub(crate) fn new(plan: TorusPlan) -> Self {
        let halves = plan.halves();
        let TorusPlan { sizes, reference, aliasing, .. } = plan;
        let total: usize = sizes.iter().product();
        let roots: Vec<Vec<c64>> = sizes.iter().map(|&size| roots_of_unity(2 * size)).collect();
        let (digits, weights, phases) = (Vec::new(), Vec::new(), Vec::new());
        let mut torus = Self { sizes, reference, halves, digits, weights, roots, phases, aliasing };
        for index in 0..total {
            let digits = torus.digits_of(index);
            let partner = torus.index_of(&torus.conjugate(&digits));
            if index > partner {
                continue;
            }
            let multiplicity = if index == partner { 1.0 } else { 2.0 };
            torus.weights.push(multiplicity / total as f64);
            let own = |part: usize| torus.power(part, digits[part], 1);
            let phase = |part: usize| match torus.reference {
                Some(reference) if reference != part => own(reference) * own(part),
                _ => own(part),
            };
            let phases: Vec<c64> = (0..digits.len()).map(phase).collect();
            torus.phases.extend(phases);
            torus.digits.extend(digits);
        }
        torus
    }

    /// The number of nodes kept.
    pub(crate) fn nodes(&self) -> usize {
        self.weights.len()
    }

    /// N_l.
    pub(crate) fn sizes(&self) -> &[usize] {
        &self.sizes
    }

    /// e^{iθ_l} of a node.
    pub(crate) fn node(&self, node: usize) -> &[c64] {
        &self.phases[node * self.sizes.len()..(node + 1) * self.sizes.len()]
    }

    /// Runs of nodes that differ only in the phase of the last part, which is not the reference unless it is the only
    /// part.
    pub(crate) fn blocks(&self) -> Vec<Range<usize>> {
        let parts = self.sizes.len();
        let outer = |node: usize| &self.digits[node * parts..(node + 1) * parts - 1];
        let mut blocks: Vec<Range<usize>> = Vec::new();
        for node in 0..self.nodes() {
            match blocks.last_mut() {
                Some(block) if outer(block.start) == outer(node) => block.end = node + 1,
                _ => blocks.push(node..node + 1),
            }
        }
        blocks
    }

    /// Position in row-major order, the last variable fastest, of every kept node and of its conjugate.
    pub(crate) fn positions(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        self.digits
            .chunks_exact(self.sizes.len())
            .map(|digits| (self.index_of(digits), self.index_of(&self.conjugate(digits))))
    }

    fn digits_of(&self, mut index: usize) -> Vec<usize> {
        let mut digits = vec![0; self.sizes.len()];
        for (digit, size) in digits.iter_mut().zip(&self.sizes).rev() {
            *digit = index % size;
            index /= size;
        }
        digits
    }

    fn index_of(&self, digits: &[usize]) -> usize {
        digits.iter().zip(&self.sizes).fold(0, |index, (digit, size)| index * size + digit)
    }

    fn conjugate(&self, digits: &[usize]) -> Vec<usize> {
        let sizes = self.sizes.iter().zip(&self.halves);
        digits.iter().zip(sizes).map(|(digit, (size, half))| (size - digit - half) % size).collect()
    }

    /// e^{icθ}, where θ is the phase of a part without the phase of the total.
    fn power(&self, part: usize, digit: usize, count: usize) -> c64 {
        let steps = 2 * self.sizes[part];
        self.roots[part][(2 * digit + self.halves[part]) * (count % steps) % steps]
    }

    /// The phase of every part at a node, as N, j and s of j + s/2 steps of 2π/N.
    ///
    /// If there is a total, all phases are in steps of the total's phase, since its N is a multiple of the others.
    pub(crate) fn steps(&self, node: usize) -> Vec<[usize; 3]> {
        let digits = &self.digits[node * self.sizes.len()..(node + 1) * self.sizes.len()];
        let step = |part: usize| match self.reference {
            Some(reference) => {
                let size = self.sizes[reference];
                let own = if part == reference { 0 } else { digits[part] * (size / self.sizes[part]) };
                [size, (digits[reference] + own) % size, self.halves[reference]]
            }
            None => [self.sizes[part], digits[part], self.halves[part]],
        };
        (0..digits.len()).map(step).collect()
    }

    /// weight · e^{−iκ·θ} of every node.
    ///
    /// The coefficient of z^κ is the real part of the sum of their products with φ.
    pub(crate) fn extractors(&self, exponents: &[usize]) -> Vec<c64> {
        let total: usize = exponents.iter().sum();
        let phase = |digits: &[usize]| -> c64 {
            let of_part = |(part, &digit): (usize, &usize)| {
                let exponent = if self.reference == Some(part) { total } else { exponents[part] };
                self.power(part, digit, exponent).conj()
            };
            digits.iter().enumerate().map(of_part).product()
        };
        let nodes = self.digits.chunks_exact(self.sizes.len());
        nodes.zip(&self.weights).map(|(digits, &weight)| phase(digits) * weight).collect()
    }

    /// The coefficient of z^κ from φ at every node.
    pub(crate) fn coefficient(
        &self,
        values: &[c64],
        exponents: &[usize],
        rank: usize,
        precision: Precision,
    ) -> Estimate<f64> {
        self.extracted(values, &self.extractors(exponents), rank, precision)
    }

    /// The real part of Σ x φ over the nodes, for these extractors x.
    pub(crate) fn extracted(
        &self,
        values: &[c64],
        extractors: &[c64],
        rank: usize,
        precision: Precision,
    ) -> Estimate<f64> {
        let value = real_sum(extractors, values);
        let mass: f64 = values.iter().zip(extractors).map(|(value, x)| value.norm() * x.norm()).sum();
        Estimate { value, error: self.aliasing + rounding(rank, precision, mass) }
    }

    /// The real part of Σ x φ over the nodes, for these extractors x.
    ///
    /// On the CPU, it is computed along lines if they are long.
    pub(crate) fn sum(
        &self,
        engine: &Engine,
        function: &GeneratingFunction,
        extractors: &[c64],
    ) -> Result<Estimate<f64>> {
        let (rank, precision) = (function.rank(), engine.info().precision);
        match lines::along_lines(self, engine, function, extractors, GridRequest::Determinants)? {
            Some(found) => Ok(self.sum_along(&found, extractors, rank)),
            None => Ok(self.extracted(&self.values(engine, function)?, extractors, rank, precision)),
        }
    }

    fn sum_along(&self, found: &AlongLines, extractors: &[c64], rank: usize) -> Estimate<f64> {
        let off: f64 = found.values.iter().zip(extractors).map(|(value, x)| value.error * x.norm()).sum();
        let values: Vec<c64> = found.values.iter().map(|value| value.value).collect();
        let sum = self.extracted(&values, extractors, rank, Precision::F64);
        Estimate { error: sum.error + off, ..sum }
    }

    /// φ at every node.
    pub(crate) fn values(&self, engine: &Engine, function: &GeneratingFunction) -> Result<Vec<c64>> {
        let grid = PhaseGrid { shares: &function.shares, phases: &self.phases };
        let points = engine.grid_determinants(&grid, GridRequest::Determinants)?;
        Ok(points.iter().map(|point| point.determinant.value()).collect())
    }

    /// The [`sum`](Torus::sum), and for every part l the matrix of its items' contribution to the sum:
    ///
    /// ```text
    /// W_l = Re Σ over nodes of x(θ) e^{iθ_l} φ(θ) P(θ)⁻¹
    /// ```
    ///
    /// For the coefficient of z^κ that is the mean of φ(θ) P(θ)⁻¹ e^{−i(κ−e_l)·θ}.
    ///
    /// # Cost
    /// 8r³ per node, and 2r² more per part; along lines, about a third of it. 16 bytes per node and part, and the
    /// inverses of a few hundred nodes, which a device keeps.
    pub(crate) fn sum_and_forms(
        &self,
        engine: &Engine,
        function: &GeneratingFunction,
        extractors: &[c64],
    ) -> Result<(Estimate<f64>, Vec<Mat<f64>>)> {
        let (rank, precision) = (function.rank(), engine.info().precision);
        let along = lines::along_lines(self, engine, function, extractors, GridRequest::Inverses)?;
        if let Some(found) = along {
            return Ok((self.sum_along(&found, extractors, rank), found.forms));
        }
        let GridForms { determinants, forms } = self.forms_by_nodes(engine, function, extractors)?;
        let values: Vec<c64> = determinants.into_iter().map(Determinant::value).collect();
        // In single precision, a device rounds the terms of the forms three more times.
        let terms = rank + if precision == Precision::F32 { 2 } else { 0 };
        Ok((self.extracted(&values, extractors, terms, precision), forms))
    }

    fn forms_by_nodes(
        &self,
        engine: &Engine,
        function: &GeneratingFunction,
        extractors: &[c64],
    ) -> Result<GridForms> {
        let of_node = |node: usize| self.node(node).iter().map(move |phase| extractors[node] * phase);
        let coefficients: Vec<c64> = (0..self.nodes()).flat_map(of_node).collect();
        let grid = PhaseGrid { shares: &function.shares, phases: &self.phases };
        engine.grid_forms(&FormGrid { grid, coefficients: &coefficients }, &|_| engine.proceed())
    }
}

/// The rounding error of a mean of determinants of this order, given the mean `mass` of their absolute values.
fn rounding(order: usize, precision: Precision, mass: f64) -> f64 {
    2.0 * (order as f64 + 4.0) * precision.epsilon() * mass
}

/// κ − e_l.
pub(crate) fn less_one(quota: &[usize], part: usize) -> Vec<usize> {
    let mut counts = quota.to_vec();
    counts[part] -= 1;
    counts
}

/// Re Σ x_j y_j.
pub(crate) fn real_sum(x: &[c64], y: &[c64]) -> f64 {
    x.iter().zip(y).map(|(x, y)| (x * y).re).sum()
}

/// e^{2πij/N}, each to full accuracy.
pub(crate) fn roots_of_unity(size: usize) -> Vec<c64> {
    let root = |j: usize| {
        let (sin, cos) = (TAU * j as f64 / size as f64).sin_cos();
        c64::new(cos, sin)
    };
    // Conjugates are exactly conjugate.
    (0..size).map(|j| if 2 * j <= size { root(j) } else { root(size - j).conj() }).collect()
}

/// Every vector of counts below `sizes`, in lexicographic order.
pub(crate) fn each_count(sizes: &[usize]) -> impl Iterator<Item = Vec<usize>> + '_ {
    (0..sizes.iter().product()).map(move |index: usize| {
        let mut rest = index;
        let mut counts = vec![0; sizes.len()];
        for (count, size) in counts.iter_mut().zip(sizes).rev() {
            (*count, rest) = (rest % size, rest / size);
        }
        counts
    })
}
