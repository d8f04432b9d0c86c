//! All ways to draw from a law, with what they are predicted to cost.

use partition_dpp::{
    Law, Method, PartitionDpp, SamplerOptions,
    sample::{Bound, BoundCost, Plan},
};

use super::estimate::EstimatedCost;
use crate::output::numbers::{error, short};

/// A method, and the predicted cost of a sample.
#[derive(Clone, Debug)]
pub(crate) struct Way {
    pub(crate) method: &'static str,
    /// Of rejection.
    pub(crate) bound: Option<Bound>,
    /// In words.
    pub(crate) effort: String,
    /// Floating-point operations, on average.
    pub(crate) operations: f64,
    pub(crate) promise: Promise,
    /// Bytes of memory without the subsets; `None` if they are too many to represent.
    pub(crate) bytes: Option<u64>,
}

/// The accuracy of the law of samples.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Promise {
    Exact,
    /// Total variation error of the law, as estimated.
    Estimated(f64),
    Unknown,
}

impl Promise {
    pub(crate) fn describe(self) -> String {
        match self {
            Promise::Exact => "exact".into(),
            Promise::Estimated(off) => format!("off by about {}", error(off)),
            Promise::Unknown => "unknown".into(),
        }
    }

    /// `exact`, `estimated` or `unknown`.
    pub(crate) fn exactness(self) -> &'static str {
        match self {
            Promise::Exact => "exact",
            Promise::Estimated(_) => "estimated",
            Promise::Unknown => "unknown",
        }
    }
}

impl Way {
    /// All ways: rejection against each bound, the cheapest first, and under exact counts the ways of a plan.
    pub(crate) fn all(
        law: &Law,
        bounds: &[BoundCost],
        plan: Option<&Plan>,
        estimated: Option<EstimatedCost>,
    ) -> Vec<Self> {
        let dpp = if let Law::Quota(dpp) = law { Some(dpp) } else { None };
        let bytes = |options: SamplerOptions| Some(dpp?.memory_plan(options).ok()?.total());
        let rejection = SamplerOptions::from(Method::Rejection);
        let mut ways: Vec<Self> = bounds
            .iter()
            .map(|cost| Self {
                method: "rejection",
                bound: Some(cost.bound),
                effort: format!("{} proposals", short(cost.proposals)),
                operations: cost.cost(),
                promise: Promise::Exact,
                bytes: bytes(rejection.with_bound(cost.bound)),
            })
            .collect();
        ways.sort_by(|a, b| a.operations.total_cmp(&b.operations));
        if let Some(plan) = plan {
            ways.extend(Self::by_plan(plan, bounds.is_empty(), bytes));
        }
        if let Some(EstimatedCost { law_error, draws, operations }) = estimated {
            ways.push(Self {
                method: "estimated",
                bound: None,
                effort: format!("{} weighted draws", short(draws)),
                operations,
                promise: Promise::Estimated(law_error),
                bytes: bytes(rejection.with_bound(Bound::Sequential)),
            });
        }
        if let Some(dpp) = dpp.filter(|_| plan.is_some()) {
            ways.push(Self::by_chains(dpp));
        }
        ways
    }

    /// Interpolation, and rejection if no bound is known.
    fn by_plan(
        plan: &Plan,
        with_rejection: bool,
        bytes: impl Fn(SamplerOptions) -> Option<u64>,
    ) -> Vec<Self> {
        let way = |method, of: Method, effort, operations| Self {
            method,
            bound: None,
            effort,
            operations,
            promise: Promise::Exact,
            bytes: bytes(of.into()),
        };
        let proposals = format!("{} proposals", short(plan.proposals));
        let rejection = way("rejection", Method::Rejection, proposals, plan.rejection_cost);
        let nodes = format!("{} nodes", short(plan.nodes));
        let literal = "as many, for every candidate".into();
        with_rejection
            .then_some(rejection)
            .into_iter()
            .chain([
                way("interpolation", Method::Interpolation, nodes, plan.interpolation_cost),
                way("per-candidate", Method::PerCandidate, literal, plan.per_candidate_cost),
            ])
            .collect()
    }

    /// Chains, for every sweep between samples.
    fn by_chains(dpp: &PartitionDpp) -> Self {
        Self {
            method: "mcmc",
            bound: None,
            effort: "1 sweep, or more".into(),
            operations: dpp.operations_of_a_sweep(),
            promise: Promise::Unknown,
            bytes: Some(dpp.chains_memory_plan().total()),
        }
    }
}
