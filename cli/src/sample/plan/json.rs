//! One JSON object: a contract that scripts rely on.

use std::collections::BTreeMap;

use partition_dpp::Choice;
use serde::Serialize;

use crate::sample::{answer::Planned, forecast::Forecast, memory::Memory};

#[derive(Serialize)]
pub(super) struct Answer {
    method: String,
    choice: &'static str,
    proposals: Option<f64>,
    nodes: Option<f64>,
    rejection_cost: Option<f64>,
    interpolation_cost: Option<f64>,
    per_candidate_cost: Option<f64>,
    seconds: Option<Seconds>,
    memory: Option<Bytes>,
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
    uses: BTreeMap<&'static str, u64>,
}

impl From<&Memory> for Bytes {
    fn from(Memory { plan, limit, .. }: &Memory) -> Self {
        let uses = plan.uses.iter().map(|held| (held.what, held.bytes)).collect();
        Self { needed: plan.total(), limit: *limit, mapped: plan.mapped, uses }
    }
}

impl Answer {
    /// What would draw, at what cost and in how much memory; the budget in seconds.
    pub(super) fn new(planned: &Planned, forecast: Option<Forecast>, budget: f64, memory: &Memory) -> Self {
        let seconds = |forecast: Forecast| Seconds { sample: forecast.each, total: forecast.total, budget };
        Self { seconds: forecast.map(seconds), memory: Some(memory.into()), ..Self::from(planned) }
    }
}

impl From<&Planned> for Answer {
    fn from(planned: &Planned) -> Self {
        match planned {
            Planned::Choice(plan) => Self {
                method: plan.method.to_string(),
                choice: match plan.choice {
                    Choice::Cheaper => "cheaper",
                    Choice::WithinBudget => "within-budget",
                    _ => "requested",
                },
                proposals: Some(plan.proposals),
                nodes: Some(plan.nodes),
                rejection_cost: Some(plan.rejection_cost),
                interpolation_cost: Some(plan.interpolation_cost),
                per_candidate_cost: Some(plan.per_candidate_cost),
                seconds: None,
                memory: None,
            },
            Planned::Only(algorithm) => Self {
                method: algorithm.to_string(),
                choice: "only",
                proposals: None,
                nodes: None,
                rejection_cost: None,
                interpolation_cost: None,
                per_candidate_cost: None,
                seconds: None,
                memory: None,
            },
        }
    }
}
