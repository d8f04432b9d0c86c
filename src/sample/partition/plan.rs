//! The choice of a method, with predicted costs.

use std::fmt;

use crate::{
    PartitionDpp, Result, SamplerOptions,
    error::words::large,
    names::by_name,
    sample::{acceptance::expected_proposals, projection, rejection::Rejection},
};

/// How to draw from a Partition-DPP.
///
/// Every method is exact; for approximate draws, see [`PartitionDpp::chains`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
#[non_exhaustive]
pub enum Method {
    /// Rejection or interpolation, whichever is predicted to cost less within the budgets of proposals and nodes; an
    /// error if neither is within its budget. Never approximate. Rejection under ranges.
    #[default]
    Auto,
    /// Rejection against a [`Bound`](super::super::Bound); under exact counts, at any cost.
    Rejection,
    /// Algorithm 2 of Kathuria and Deshpande (2016), with all candidates of a part evaluated together.
    Interpolation,
    /// The same algorithm, literally: projected rows, and one determinant per candidate and node. Slow; useful as a
    /// reference and a baseline.
    PerCandidate,
}

by_name!(Method, "method", {
    Auto => "auto",
    Rejection => "rejection",
    Interpolation => "interpolation",
    PerCandidate => "per-candidate",
});

/// The reason for the method used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
#[non_exhaustive]
pub enum Choice {
    /// The method was requested.
    Requested,
    /// The method is predicted to cost less.
    Cheaper,
    /// The other method would exceed its budget.
    WithinBudget,
}

/// The method used, with the predicted costs of all methods.
///
/// Costs are floating-point operations per sample, predicted from sizes alone, including a hundredth of the set-up.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Plan {
    /// The method used, never [`Method::Auto`].
    pub method: Method,
    /// The reason for the method.
    pub choice: Choice,
    /// Average proposals per sample by rejection: an upper bound from sizes alone, or a prediction after the set-up.
    pub proposals: f64,
    /// Operations per sample by rejection.
    pub rejection_cost: f64,
    /// The most nodes that interpolation is expected to need, with conjugates counted once.
    pub nodes: f64,
    /// Operations per sample if interpolation is used.
    pub interpolation_cost: f64,
    /// Operations per sample by the paper's literal algorithm.
    pub per_candidate_cost: f64,
}

impl Plan {
    /// An upper bound of the average operations per sample of the method used.
    #[must_use]
    pub fn operations(&self) -> f64 {
        match self.method {
            Method::Rejection | Method::Auto => self.rejection_cost,
            Method::Interpolation => self.interpolation_cost,
            Method::PerCandidate => self.per_candidate_cost,
        }
    }
}

impl Plan {
    /// Updates the costs of rejection after its set-up.
    pub(in crate::sample) fn measured(&mut self, law: &Rejection) {
        (self.proposals, self.rejection_cost) = (law.proposals(), law.cost());
    }

    /// Chooses between rejection and interpolation; returns whether the method chosen is within its budget.
    pub(in crate::sample) fn decide(&mut self, budget: f64, node_budget: f64) -> bool {
        let within = (self.proposals <= budget, self.nodes <= node_budget);
        (self.method, self.choice) = match within {
            (true, true) if self.rejection_cost <= self.interpolation_cost => {
                (Method::Rejection, Choice::Cheaper)
            }
            (true, true) => (Method::Interpolation, Choice::Cheaper),
            (_, false) => (Method::Rejection, Choice::WithinBudget),
            (false, true) => (Method::Interpolation, Choice::WithinBudget),
        };
        within.0 || within.1
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let why = match self.choice {
            Choice::Requested => "asked for",
            Choice::Cheaper => "predicted to cost less",
            Choice::WithinBudget => "the other exceeds its budget",
        };
        let Self { method, proposals, rejection_cost, nodes, interpolation_cost, .. } = self;
        let [proposals, nodes] = [*proposals, *nodes].map(|number| large(number, 3));
        let costs = [*rejection_cost, *interpolation_cost, self.per_candidate_cost];
        let [rejection, interpolation, per_candidate] = costs.map(|cost| large(cost, 1));
        write!(f, "{method}, {why}: rejection {proposals} proposals, {rejection} operations; ")?;
        write!(f, "interpolation about {nodes} nodes, {interpolation} operations; ")?;
        write!(f, "per candidate {per_candidate}")
    }
}

/// The most bytes of the inverses of all nodes, which are held once, and again in every thread that draws.
const INVERSE_BYTES: f64 = (1_u64 << 28) as f64;
/// The number of samples over which predictions spread the set-up.
const SAMPLES: f64 = 100.0;
/// The overhead of a grid beyond the arithmetic at its nodes, in operations: a tilt, memory, calls.
const GRID_OVERHEAD: f64 = 2e5;

/// The most nodes that a total of k needs for negligible aliasing: a few standard deviations.
fn total_nodes(k: usize) -> f64 {
    (9.0 * (k as f64).sqrt()).ceil() + 16.0
}

impl PartitionDpp {
    /// Predicts the plan of [`sampler`](PartitionDpp::sampler) under exact counts from sizes alone; `None` if nothing
    /// is left to choose, and under ranges, which leave no choice of methods.
    ///
    /// The cost of rejection is for [`Bound::Tilted`](super::super::Bound::Tilted), which is guaranteed for any
    /// features. The other bounds depend on the features. The plan of a sampler uses the best bound, and may
    /// therefore differ.
    ///
    /// # Cost
    /// O(p); does not read the features.
    ///
    /// # Errors
    /// [`Error::CountsNotExact`](crate::Error::CountsNotExact) from the interpolation methods under ranges.
    pub fn plan(&self, options: impl Into<SamplerOptions>) -> Result<Option<Plan>> {
        let options = options.into();
        let (method, budget) = (options.method(), options.proposal_budget);
        let counts = match self.exact_counts("interpolation, unlike rejection,") {
            Err(error) if !matches!(method, Method::Auto | Method::Rejection) => return Err(error),
            Err(_) => return Ok(None),
            Ok(counts) if counts.is_empty() => return Ok(None),
            Ok(counts) => counts,
        };
        let mut plan = self.predict(method, &counts);
        if method != Method::Auto {
            return Ok(Some(plan));
        }
        plan.decide(budget, self.interpolation_budget());
        Ok(Some(plan))
    }

    /// The most nodes that interpolation may use, given the budget and memory.
    pub(in crate::sample) fn interpolation_budget(&self) -> f64 {
        let rank = self.ground().dims_left() as f64;
        self.nodes_allowed().min(INVERSE_BYTES / (16.0 * rank * rank))
    }

    fn predict(&self, method: Method, counts: &[usize]) -> Plan {
        let (dims, rank) = (self.ground().features().dims() as f64, self.ground().dims_left());
        let size: usize = counts.iter().sum();
        let items: usize = self.open().iter().map(|part| part.items.len()).sum();
        let proposals = expected_proposals(counts);
        let one_proposal = projection::operations(items as f64, dims, rank as f64, size as f64);

        // Parts are drawn in order of increasing quota; each grid covers the parts that are left.
        let mut parts: Vec<(usize, usize)> =
            self.open().iter().map(|part| (part.low, part.items.len())).collect();
        parts.sort_unstable();
        let (r, mut per_sample, mut set_up, mut nodes) = (rank as f64, 0.0, 0.0, 0.0);
        let mut per_candidate = 0.0;
        for stage in 0..parts.len() {
            let left: usize = parts[stage..].iter().map(|(count, _)| count).sum();
            let own = |&(count, free): &(usize, usize)| (free.min(count) + 1) as f64;
            let others: f64 = parts[stage + 1..].iter().map(own).product();
            let grid = (0.5 * others * total_nodes(left).min(rank as f64 + 1.0)).ceil();
            let (count, free) = (parts[stage].0 as f64, parts[stage].1 as f64);
            per_sample += count * (16.0 * grid * r * r + 8.0 * r * r * r + 2.0 * free * dims * r);
            let candidates: usize = parts[stage..].iter().map(|(_, free)| free).sum();
            per_candidate += count * candidates as f64 * grid * 8.0 / 3.0 * r * r * r;
            // The first grid is laid out before the first draw, the others during every draw.
            let layout = 8.0 * r * r * r * grid + GRID_OVERHEAD;
            if stage == 0 {
                (nodes, set_up) = (grid, layout);
            } else {
                per_sample += layout;
            }
        }
        Plan {
            method,
            choice: Choice::Requested,
            proposals,
            rejection_cost: proposals * one_proposal + 2.0 * items as f64 * dims * dims / SAMPLES,
            nodes,
            interpolation_cost: per_sample + set_up / SAMPLES,
            per_candidate_cost: per_candidate,
        }
    }
}
