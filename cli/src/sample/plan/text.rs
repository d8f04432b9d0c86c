//! The plan as text.

use comfy_table::Cell;
use partition_dpp::{
    Method,
    sample::{Algorithm, Choice, Plan},
};

use crate::{
    memory::megabytes,
    output::{
        numbers::short,
        table::{new_table, right},
    },
    sample::{
        answer::{Drawer, Planned},
        forecast::{Forecast, seconds},
        memory::Memory,
    },
};

/// The method, its cost and its memory; `budget` is in seconds.
pub(super) fn render(planned: &Planned, forecast: Option<&Forecast>, budget: f64, memory: &Memory) -> String {
    let time = forecast.map_or(String::new(), |Forecast { each, total, .. }| {
        let (each, total) = (seconds(*each), seconds(*total));
        format!("time      about {each} per sample, {total} in all; the budget is {budget} s\n")
    });
    let memory = describe_memory(memory);
    match planned {
        Planned::Choice(plan) => {
            format!("{}{time}{memory}", describe(plan, &plan.method.to_string(), &reason(plan)))
        }
        Planned::Chains(plan) => {
            let why = "asked for; approximate, unlike the methods above";
            format!("{}{time}{memory}", describe(plan, &Drawer::Chains.to_string(), why))
        }
        Planned::Only(algorithm) => {
            let why = match algorithm {
                Algorithm::Settled => "nothing is left to choose",
                _ => "this law leaves no choice of method",
            };
            format!("method    {algorithm}\nwhy       {why}\n{memory}")
        }
    }
}

/// One line with the memory needed, one with its uses.
fn describe_memory(Memory { plan, limit, rule }: &Memory) -> String {
    let file = match plan.mapped {
        0 => String::new(),
        bytes => format!("; {} of features stay in their files", megabytes(bytes)),
    };
    let fits = if plan.total() <= *limit { "" } else { ": too much" };
    let (needed, limit) = (megabytes(plan.total()), megabytes(*limit));
    format!("memory    {needed} at most, of {limit} {rule}{fits}{file}\n          {plan}\n")
}

fn describe(plan: &Plan, method: &str, why: &str) -> String {
    let mut table = new_table(vec!["method", "at most", "operations per sample"]);
    let cost = |operations: f64| right(format!("{operations:.1e}"));
    let proposals = format!("{} proposals per sample, on average", short(plan.proposals));
    table.add_row([Cell::new("rejection"), Cell::new(proposals), cost(plan.rejection_cost)]);
    let nodes = format!("{} nodes", short(plan.nodes));
    table.add_row([Cell::new("interpolation"), Cell::new(nodes), cost(plan.interpolation_cost)]);
    let literal = "as many, for every candidate";
    table.add_row([Cell::new("per-candidate"), Cell::new(literal), cost(plan.per_candidate_cost)]);
    format!("{}\nmethod    {method}\nwhy       {why}\n", table.trim_fmt())
}

/// The reason for the method.
pub(in crate::sample) fn reason(plan: &Plan) -> String {
    let (rejection, interpolation) = (plan.rejection_cost, plan.interpolation_cost);
    match (plan.choice, plan.method) {
        (Choice::Cheaper, Method::Rejection) => {
            format!(
                "{rejection:.1e} operations per sample are predicted, {interpolation:.1e} by interpolation"
            )
        }
        (Choice::Cheaper, _) => {
            format!("{interpolation:.1e} operations per sample are predicted, {rejection:.1e} by rejection")
        }
        (Choice::WithinBudget, Method::Rejection) => {
            format!("interpolation might take {} nodes, more than its budget", short(plan.nodes))
        }
        (Choice::WithinBudget, _) => {
            format!(
                "rejection might take {} proposals per sample, more than its budget",
                short(plan.proposals)
            )
        }
        _ => "asked for".into(),
    }
}
