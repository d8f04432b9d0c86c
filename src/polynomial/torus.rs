//! Coefficients of a generating function from its values on a torus.

use std::{f64::consts::TAU, ops::Range};

use faer::{Mat, c64};

use super::{generating_function::GeneratingFunction, poisson_binomial::poisson_binomial};
use crate::{
    Error, Estimate, Result,
    engine::{Engine, GridRequest, PhaseGrid, grid_inverses},
    linalg::{column, column_mut},
};

/// What aliasing may add to a coefficient, as a fraction of what the coefficient is at least.
const ALIASING: f64 = 1e-15;
/// More nodes than this are never laid out, whatever the budget.
const MOST_NODES: f64 = 1e9;
/// Bytes that the inverses held at a time may take.
const BATCH_BYTES: usize = 1 << 26;

/// Nodes on the torus, those with a conjugate partner once for both.
///
/// ```text
/// [z^κ] φ = mean over nodes of φ(e^{iθ}) e^{−iκ·θ}  −  Σ of the coefficients that alias
/// ```
///
/// The paper's Vandermonde system with nodes on circles: a scaled Fourier matrix, condition number 1.
///
/// A reference part carries the phase ψ of the total, θ_ref = ψ and θ_l = ψ + 2πj_l/N_l for the others. What
/// aliases then has |S| = k + sN or differs in some count by a multiple of N_l. Counts of sum k that are all at
/// least κ_l are κ, so N_l = κ_l + 1 nodes separate them exactly (the reference part having the smallest
/// quota): far fewer than a product of nodes that each stand for themselves.
#[derive(Clone, Debug)]
pub(crate) struct Torus {
    /// N_l.
    sizes: Vec<usize>,
    /// The part whose phase is that of the total; `None` where every part's phase is its own.
    reference: Option<usize>,
    /// j_l of every node kept, node after node.
    digits: Vec<usize>,
    /// 1 or 2 over the number of nodes.
    weights: Vec<f64>,
    /// e^{2πij/N_l}.
    roots: Vec<Vec<c64>>,
    /// e^{iθ_l}, node after node.
    pub(crate) phases: Vec<c64>,
    /// Σ of the coefficients that alias, at most.
    aliasing: f64,
}

/// Number of nodes per variable, and what aliasing they leave.
#[derive(Clone, Debug)]
pub(crate) struct TorusPlan {
    sizes: Vec<usize>,
    reference: Option<usize>,
    aliasing: f64,
}

impl TorusPlan {
    /// The smallest numbers of nodes at which all that aliases onto κ is a fraction 1e-15 of the coefficient.
    ///
    /// |S| and |S∩P_l| are sums of independent coins, so what aliases in one of them is at most
    /// Σ_{s≠0} Pr(|S∩P_l| = κ_l + sN_l). At the tilt the coefficient is at least Π κ_l^κ_l e^−κ_l / κ_l!
    /// (Gurvits).
    pub(crate) fn for_coefficient(function: &GeneratingFunction, quota: &[usize]) -> Result<Self> {
        let smallest = (0..quota.len()).min_by_key(|&group| quota[group]).unwrap_or_default();
        let groups: Vec<usize> = (0..quota.len()).collect();
        Self::with_reference(function, &groups, quota, smallest)
    }

    /// The same for groups in this order, with this one of them as the reference.
    pub(crate) fn with_reference(
        function: &GeneratingFunction,
        groups: &[usize],
        quota: &[usize],
        reference: usize,
    ) -> Result<Self> {
        let tolerance = ALIASING * coefficient_bound(quota) / quota.len() as f64;
        let mut plan = Self { sizes: Vec::new(), reference: Some(reference), aliasing: 0.0 };
        for (at, &group) in groups.iter().enumerate() {
            let (coins, count, exact) = if at == reference {
                (function.total_coins()?, quota.iter().sum(), usize::MAX)
            } else {
                (function.coins(group)?, quota[at], quota[at].max(quota[reference]) + 1)
            };
            let law = poisson_binomial(&coins);
            let aliases = |size: usize| -> f64 {
                let other = |c: &usize| *c != count && c.abs_diff(count) % size == 0;
                (0..law.len()).filter(other).map(|c| law[c]).sum()
            };
            let enough = |size: &usize| *size >= exact || aliases(*size) <= tolerance;
            let size = (1..=law.len()).find(enough).unwrap_or(law.len());
            plan.aliasing += if size >= exact { 0.0 } else { aliases(size) };
            plan.sizes.push(size);
        }
        Ok(plan)
    }

    /// One node more than the largest count of every part: nothing aliases.
    pub(crate) fn complete(largest: &[usize]) -> Self {
        let sizes = largest.iter().map(|&count| count + 1).collect();
        Self { sizes, reference: None, aliasing: 0.0 }
    }

    /// Without phases for the total, which is known to be k.
    pub(crate) fn at_fixed_size(mut self) -> Self {
        if let Some(reference) = self.reference {
            self.sizes[reference] = 1;
        }
        self
    }

    /// Number of nodes, conjugates counted once.
    pub(crate) fn nodes(&self) -> f64 {
        (self.sizes.iter().map(|&size| size as f64).product::<f64>() / 2.0).ceil()
    }

    /// Refuses more nodes than the budget.
    pub(crate) fn within(self, budget: f64) -> Result<Self> {
        let (nodes, budget) = (self.nodes(), budget.min(MOST_NODES));
        if nodes <= budget { Ok(self) } else { Err(Error::NodeBudget { nodes, budget }) }
    }
}

/// What the coefficient of z^κ is at least where the expected counts are κ: Π κ_l^κ_l e^−κ_l / κ_l!.
///
/// # Source
/// Gurvits (2008), for real stable polynomials.
pub(crate) fn coefficient_bound(quota: &[usize]) -> f64 {
    let log_term = |&count: &usize| -> f64 {
        let size = count as f64;
        (1..=count).map(|i| (size / i as f64).ln()).sum::<f64>() - size
    };
    quota.iter().map(log_term).sum::<f64>().exp()
}

impl Torus {
    pub(crate) fn new(plan: TorusPlan) -> Self {
        let TorusPlan { sizes, reference, aliasing } = plan;
        let total: usize = sizes.iter().product();
        let roots: Vec<Vec<c64>> = sizes.iter().map(|&size| roots_of_unity(size)).collect();
        let (digits, weights, phases) = (Vec::new(), Vec::new(), Vec::new());
        let mut torus = Self { sizes, reference, digits, weights, roots, phases, aliasing };
        for index in 0..total {
            let digits = torus.digits_of(index);
            let partner = torus.index_of(&torus.conjugate(&digits));
            if index > partner {
                continue;
            }
            let multiplicity = if index == partner { 1.0 } else { 2.0 };
            torus.weights.push(multiplicity / total as f64);
            let own = digits.iter().zip(&torus.roots).map(|(&digit, roots)| roots[digit]);
            let total = torus.reference.map(|at| torus.roots[at][digits[at]]);
            let phase = |(part, own): (usize, c64)| match total {
                Some(total) if torus.reference != Some(part) => total * own,
                _ => own,
            };
            torus.phases.extend(own.enumerate().map(phase));
            torus.digits.extend(digits);
        }
        torus
    }

    /// Number of nodes kept.
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

    /// Runs of nodes that differ in the phase of the last part only, which is not the reference unless it is
    /// the only one.
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
        digits.iter().zip(&self.sizes).map(|(digit, size)| (size - digit) % size).collect()
    }

    /// weight · e^{−iκ·θ} of every node: the coefficient of z^κ is the real part of their product with φ,
    /// summed.
    pub(crate) fn extractors(&self, exponents: &[usize]) -> Vec<c64> {
        let total: usize = exponents.iter().sum();
        let phase = |digits: &[usize]| -> c64 {
            let of_part = |(part, &digit): (usize, &usize)| {
                let size = self.sizes[part];
                let exponent = if self.reference == Some(part) { total } else { exponents[part] };
                self.roots[part][digit * (exponent % size) % size].conj()
            };
            digits.iter().enumerate().map(of_part).product()
        };
        let nodes = self.digits.chunks_exact(self.sizes.len());
        nodes.zip(&self.weights).map(|(digits, &weight)| phase(digits) * weight).collect()
    }

    /// The coefficient of z^κ from φ at every node.
    pub(crate) fn coefficient(&self, values: &[c64], exponents: &[usize], rank: usize) -> Estimate<f64> {
        let value = real_sum(&self.extractors(exponents), values);
        let mass: f64 = values.iter().zip(&self.weights).map(|(value, weight)| value.norm() * weight).sum();
        let rounding = 2.0 * (rank as f64 + 4.0) * f64::EPSILON * mass;
        Estimate { value, error: self.aliasing + rounding }
    }

    /// φ at every node.
    pub(crate) fn values(&self, engine: &dyn Engine, function: &GeneratingFunction) -> Result<Vec<c64>> {
        let grid = PhaseGrid { shares: &function.shares, phases: &self.phases };
        let points = engine.grid_determinants(&grid, GridRequest::Determinants)?;
        Ok(points.iter().map(|point| point.determinant.value()).collect())
    }

    /// φ at every node, and for every part l the matrix that tells what including one of its items
    /// contributes to the coefficient of z^κ:
    ///
    /// ```text
    /// W_l = Re mean over nodes of φ(θ) P(θ)⁻¹ e^{−i(κ−e_l)·θ}
    /// ```
    ///
    /// # Cost
    /// 8r³ per node; memory for the inverses of a few hundred nodes.
    pub(crate) fn values_and_forms(
        &self,
        engine: &dyn Engine,
        function: &GeneratingFunction,
        quota: &[usize],
    ) -> Result<(Vec<c64>, Vec<Mat<f64>>)> {
        let (rank, parts) = (function.rank(), quota.len());
        let extractors: Vec<Vec<c64>> =
            (0..parts).map(|part| self.extractors(&less_one(quota, part))).collect();
        let mut values = Vec::with_capacity(self.nodes());
        let mut forms = vec![Mat::zeros(rank, rank); parts];
        for phases in self.phases.chunks(batch(rank) * parts) {
            let grid = PhaseGrid { shares: &function.shares, phases };
            for (value, inverse) in grid_inverses(engine, &grid)? {
                let node = values.len();
                values.push(value);
                for (form, extractors) in forms.iter_mut().zip(&extractors) {
                    add_real_part(form, extractors[node] * value, &inverse);
                }
            }
        }
        Ok((values, forms))
    }
}

/// Nodes whose r×r inverses are held at a time.
pub(crate) fn batch(rank: usize) -> usize {
    (BATCH_BYTES / (16 * rank * rank).max(1)).clamp(1, 256)
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

/// `sum` += Re(c · X).
pub(crate) fn add_real_part(sum: &mut Mat<f64>, c: c64, matrix: &Mat<c64>) {
    for j in 0..matrix.ncols() {
        let out = column_mut(sum.as_mut(), j);
        for (out, x) in out.iter_mut().zip(column(matrix.as_ref(), j)) {
            *out += c.re * x.re - c.im * x.im;
        }
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Features, Partition, PartitionDpp, Quota, Subset, data::log_determinant, engine::Cpu,
        polynomial::generating_function::Reference,
    };

    const COUNTS: [usize; 2] = [2, 1];

    /// Eight items in two parts, with ln Z_κ by enumeration.
    fn small_case() -> (GeneratingFunction, Reference, Torus, f64) {
        let values: Vec<f64> = (0..40).map(|i| f64::sin(1.7 * f64::from(i) + 0.3) + 0.1).collect();
        let features = Features::from_rows(8, 5, values).unwrap();
        let partition = Partition::from_labels(&[0, 0, 0, 0, 1, 1, 1, 1]).unwrap();
        let quota = Quota::new(&partition, &COUNTS).unwrap();
        let dpp = PartitionDpp::new(&features, &partition, &quota).unwrap();
        let rows = dpp.rows();
        let spectrum = dpp.spectrum(&Cpu, &rows).unwrap();
        let (function, reference) = GeneratingFunction::of_size(&spectrum, &rows.scales(), 3).unwrap();
        let torus = Torus::new(TorusPlan::for_coefficient(&function, &COUNTS).unwrap());
        let sets = (0..4).flat_map(|a| (a + 1..4).flat_map(move |b| (4..8).map(move |c| vec![a, b, c])));
        let z: f64 = sets.map(|set| log_determinant(&features, &Subset::new(set, 8).unwrap()).exp()).sum();
        (function, reference, torus, z.ln())
    }

    fn log_z(torus: &Torus, values: &[c64], reference: &Reference) -> f64 {
        reference.log_coefficient(&COUNTS, torus.coefficient(values, &COUNTS, 5).value.abs())
    }

    #[test]
    fn planted_faults_change_the_partition_function() {
        let (function, reference, torus, truth) = small_case();
        let values = torus.values(&Cpu, &function).unwrap();
        let gap = |found: f64| (found - truth).abs();
        assert!(gap(log_z(&torus, &values, &reference)) < 1e-13);

        // Phases that turn the other way.
        let conjugates: Vec<c64> = values.iter().map(c64::conj).collect();
        assert!(gap(log_z(&torus, &conjugates, &reference)) > 0.1);
        // Every node counted once: the conjugate half is missing.
        let mut half = torus.clone();
        let once = half.weights.iter().copied().fold(f64::INFINITY, f64::min);
        half.weights.fill(once);
        assert!(gap(log_z(&half, &values, &reference)) > 0.1);
        // One part at another radius than the reference knows of.
        let mut off = function.clone();
        off.shares[1] = &off.shares[1] * faer::Scale(1.001);
        assert!(gap(log_z(&torus, &torus.values(&Cpu, &off).unwrap(), &reference)) > 1e-5);
        // Too few nodes: what aliases is what the bound says, and no more.
        let sizes = torus.sizes.iter().map(|size| size - 1).collect();
        let few = Torus::new(TorusPlan { sizes, reference: torus.reference, aliasing: 0.0 });
        let found = few.coefficient(&few.values(&Cpu, &function).unwrap(), &COUNTS, 5).value;
        let whole = torus.coefficient(&values, &COUNTS, 5).value;
        assert!((found / whole - 1.0).abs() > 1e-9, "{found} {whole}");
    }

    #[test]
    fn kept_nodes_and_their_conjugates_are_all_nodes() {
        for sizes in [vec![1], vec![2], vec![5], vec![3, 4], vec![2, 1, 3], vec![2, 2, 2]] {
            let total: usize = sizes.iter().product();
            let torus = Torus::new(TorusPlan { sizes: sizes.clone(), reference: None, aliasing: 0.0 });
            let mut seen = vec![0; total];
            for (at, partner) in torus.positions() {
                seen[at] += 1;
                if partner != at {
                    seen[partner] += 1;
                }
            }
            assert_eq!(seen, vec![1; total], "{sizes:?}");
            assert!((torus.weights.iter().sum::<f64>() - 1.0).abs() < 1e-15);
        }
    }

    #[test]
    fn the_aliasing_bound_holds() {
        let (function, _, _, _) = small_case();
        let exact = Torus::new(TorusPlan::complete(&[4, 4]));
        let exact = exact.coefficient(&exact.values(&Cpu, &function).unwrap(), &COUNTS, 5).value;
        for sizes in [[1, 1], [2, 3], [3, 2], [3, 3]] {
            let mut aliasing = 0.0;
            for (group, &count) in COUNTS.iter().enumerate() {
                let law = poisson_binomial(&function.coins(group).unwrap());
                let aliases = |c: &usize| *c != count && c.abs_diff(count) % sizes[group] == 0;
                aliasing += (0..law.len()).filter(aliases).map(|c| law[c]).sum::<f64>();
            }
            let torus = Torus::new(TorusPlan { sizes: sizes.to_vec(), reference: None, aliasing });
            let found = torus.coefficient(&torus.values(&Cpu, &function).unwrap(), &COUNTS, 5);
            let error = (found.value - exact).abs();
            assert!(error > 0.0 && error <= found.error, "{sizes:?}: {error:e} {:e}", found.error);
        }
    }
}
