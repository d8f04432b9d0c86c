//! One JSON object: a contract that scripts rely on.

use std::{borrow::Cow, collections::BTreeMap};

use partition_dpp::sample::{Algorithm, BoundCost, Choice};
use serde::Serialize;

use crate::sample::{
    answer::{Drawer, Planned, PlannedDrawer},
    estimate::EstimatedCost,
    forecast::Forecast,
    memory::Memory,
    ways::Way,
};

#[derive(Serialize)]
pub(super) struct Answer {
    method: String,
    choice: &'static str,
    proposals: Option<f64>,
    nodes: Option<f64>,
    rejection_cost: Option<f64>,
    interpolation_cost: Option<f64>,
    per_candidate_cost: Option<f64>,
    /// Of rejection; the first is used.
    bounds: Vec<Cost>,
    /// Of draws with an estimated error.
    #[serde(skip_serializing_if = "Option::is_none")]
    estimated: Option<Estimated>,
    /// All ways, with their predicted costs.
    ways: Vec<OfWay>,
    seconds: Option<Seconds>,
    memory: Option<Bytes>,
}

/// A way to draw.
#[derive(Serialize)]
struct OfWay {
    method: &'static str,
    bound: Option<String>,
    operations: f64,
    exactness: &'static str,
    memory: Option<u64>,
}

impl From<&Way> for OfWay {
    fn from(way: &Way) -> Self {
        Self {
            method: way.method,
            bound: way.bound.map(|bound| bound.to_string()),
            operations: way.operations,
            exactness: way.promise.exactness(),
            memory: way.bytes,
        }
    }
}

/// The predicted cost of draws against a bound.
#[derive(Serialize)]
struct Cost {
    bound: String,
    proposals: f64,
    operations: f64,
}

impl From<&BoundCost> for Cost {
    fn from(cost: &BoundCost) -> Self {
        Self { bound: cost.bound.to_string(), proposals: cost.proposals, operations: cost.cost() }
    }
}

/// The predicted cost of draws with an estimated error.
#[derive(Serialize)]
struct Estimated {
    weighted_draws: f64,
    operations: f64,
    law_error: f64,
}

impl From<&EstimatedCost> for Estimated {
    fn from(cost: &EstimatedCost) -> Self {
        let EstimatedCost { law_error, draws, operations } = *cost;
        Self { weighted_draws: draws, operations, law_error }
    }
}

/// Predicted seconds.
#[derive(Serialize)]
struct Seconds {
    sample: f64,
    total: f64,
    budget: f64,
}

/// Bytes of memory.
#[derive(Serialize)]
struct Bytes {
    needed: u64,
    limit: u64,
    mapped: u64,
    uses: BTreeMap<Cow<'static, str>, u64>,
}

impl From<&Memory> for Bytes {
    fn from(Memory { plan, limit, .. }: &Memory) -> Self {
        let uses = plan.uses.iter().map(|held| (held.what.clone(), held.bytes)).collect();
        Self { needed: plan.total(), limit: *limit, mapped: plan.mapped, uses }
    }
}

impl Answer {
    /// `budget` is in seconds.
    pub(super) fn new(planned: &Planned, forecast: Option<Forecast>, budget: f64, memory: &Memory) -> Self {
        let seconds = |forecast: Forecast| Seconds { sample: forecast.each, total: forecast.total, budget };
        Self { seconds: forecast.map(seconds), memory: Some(memory.into()), ..Self::from(planned) }
    }
}

impl From<&Planned> for Answer {
    fn from(planned: &Planned) -> Self {
        let (plan, method, choice) = match &planned.drawer {
            PlannedDrawer::Choice(plan) => {
                let choice = match plan.choice {
                    Choice::Cheaper => "cheaper",
                    Choice::WithinBudget => "within-budget",
                    _ => "requested",
                };
                (Some(plan), plan.method.to_string(), choice)
            }
            PlannedDrawer::Chains(plan) => (Some(plan), Drawer::Chains.to_string(), "requested"),
            PlannedDrawer::Estimated(plan) => {
                (plan.as_ref(), Drawer::Sampler(Algorithm::Estimated).to_string(), "requested")
            }
            PlannedDrawer::Only(algorithm) => (None, algorithm.to_string(), "only"),
        };
        Self {
            method,
            choice,
            proposals: plan.map(|plan| plan.proposals),
            nodes: plan.map(|plan| plan.nodes),
            rejection_cost: plan.map(|plan| plan.rejection_cost),
            interpolation_cost: plan.map(|plan| plan.interpolation_cost),
            per_candidate_cost: plan.map(|plan| plan.per_candidate_cost),
            bounds: planned.bounds.iter().map(Cost::from).collect(),
            estimated: planned.estimated.as_ref().map(Estimated::from),
            ways: planned.ways.iter().map(OfWay::from).collect(),
            seconds: None,
            memory: None,
        }
    }
}
