//! The number of nodes for a coefficient.

use super::super::{generating_function::GeneratingFunction, poisson_binomial::poisson_binomial};
use crate::{Error, Result};

/// Largest error from aliasing, as a fraction of a lower bound on the coefficient.
pub(super) const ALIASING: f64 = 1e-15;
/// The most nodes, for any budget.
const MOST_NODES: f64 = 1e9;

/// The default node budget of inference and interpolation at ranks up to 128.
///
/// Conjugates are counted once. The budget decreases with the cube of larger ranks. Using all of it takes one or a
/// few minutes.
pub const DEFAULT_NODE_BUDGET: f64 = 1e6;

/// The default budget at this rank.
pub(crate) fn default_node_budget(rank: usize) -> f64 {
    DEFAULT_NODE_BUDGET * (128.0 / rank as f64).powi(3).min(1.0)
}

/// The default budget if each node needs an eigen-decomposition, which costs about fifty determinants.
pub(crate) fn eigen_node_budget(rank: usize) -> f64 {
    default_node_budget(rank) / 50.0
}

/// The number of nodes per variable, and the remaining aliasing.
#[derive(Clone, Debug)]
pub(crate) struct TorusPlan {
    pub(super) sizes: Vec<usize>,
    pub(super) reference: Option<usize>,
    pub(super) aliasing: f64,
    pub(super) start: Start,
}

/// The place of the first node of a part with several nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Start {
    /// At z = 1.
    One,
    /// Half a step further. With an even number of nodes, none is closer to −1 than half a step.
    HalfStep,
}

impl TorusPlan {
    /// The smallest numbers of nodes at which aliases of κ are at most a fraction 1e-15 of the coefficient.
    ///
    /// |S| and |S∩P_l| are sums of independent coin flips, so the aliases in one of them are at most
    /// Σ_{s≠0} Pr(|S∩P_l| = κ_l + sN_l). At the tilt, the coefficient is at least Π κ_l^κ_l e^−κ_l / κ_l!
    /// (Gurvits).
    pub(crate) fn for_coefficient(function: &GeneratingFunction, quota: &[usize]) -> Result<Self> {
        let smallest = (0..quota.len()).min_by_key(|&group| quota[group]).unwrap_or_default();
        let groups: Vec<usize> = (0..quota.len()).collect();
        Self::with_reference(function, &groups, quota, smallest)
    }

    /// The plan for groups in this order, with this reference.
    pub(crate) fn with_reference(
        function: &GeneratingFunction,
        groups: &[usize],
        quota: &[usize],
        reference: usize,
    ) -> Result<Self> {
        let tolerance = ALIASING * coefficient_bound(quota) / quota.len() as f64;
        let mut plan = Self { reference: Some(reference), ..Self::complete(&[]) };
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

    /// The plan with one node more than the largest count of every part, so that nothing aliases.
    pub(crate) fn complete(largest: &[usize]) -> Self {
        let sizes = largest.iter().map(|&count| count + 1).collect();
        Self { sizes, reference: None, aliasing: 0.0, start: Start::One }
    }

    /// Shifts nodes by half a step, with an even number of nodes in every part that has several.
    ///
    /// Under a total, the number of nodes of every part divides the number for the total, so that all phases are
    /// steps of the total's phase. Of such numbers, it takes those with the smallest product. Aliases only become
    /// less likely, as long as the bounds on counts decrease away from their means.
    pub(crate) fn between(mut self) -> Self {
        self.start = Start::HalfStep;
        let Some(reference) = self.reference else {
            self.sizes.iter_mut().filter(|size| **size > 1).for_each(|size| *size += *size % 2);
            return self;
        };
        let least = self.sizes.iter().copied().max().unwrap_or(1).next_multiple_of(2);
        let divisor = |total: usize, size: usize| (size..=total).find(|d| total.is_multiple_of(*d));
        let sizes = |total: usize| -> Vec<usize> {
            let of = |(part, &size): (usize, &usize)| {
                if part == reference { total } else { divisor(total, size).unwrap_or(total) }
            };
            self.sizes.iter().enumerate().map(of).collect()
        };
        let nodes = |sizes: &Vec<usize>| sizes.iter().map(|&size| size as f64).product::<f64>();
        let all = (least..=2 * least).step_by(2).map(sizes);
        self.sizes = all.min_by(|a, b| nodes(a).total_cmp(&nodes(b))).unwrap_or_default();
        self
    }

    /// 1 for every part whose nodes are shifted by half a step, otherwise 0.
    pub(super) fn halves(&self) -> Vec<usize> {
        let is_half = |(part, &size): (usize, &usize)| {
            self.start == Start::HalfStep && size > 1 && self.reference.is_none_or(|at| at == part)
        };
        self.sizes.iter().enumerate().map(|part| usize::from(is_half(part))).collect()
    }

    /// The plan without a phase of the total, which is known to be k.
    pub(crate) fn at_fixed_size(mut self) -> Self {
        if let Some(reference) = self.reference {
            self.sizes[reference] = 1;
        }
        self
    }

    /// The number of nodes, with conjugates counted once.
    pub(crate) fn nodes(&self) -> f64 {
        (self.sizes.iter().map(|&size| size as f64).product::<f64>() / 2.0).ceil()
    }

    /// Refuses more nodes than the budget allows.
    pub(crate) fn within(self, budget: f64) -> Result<Self> {
        let (nodes, budget) = (self.nodes(), budget.min(MOST_NODES));
        if nodes <= budget { Ok(self) } else { Err(Error::NodeBudget { nodes, budget }) }
    }
}

/// A lower bound on the coefficient of z^κ if the expected counts are κ: Π κ_l^κ_l e^−κ_l / κ_l!.
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
