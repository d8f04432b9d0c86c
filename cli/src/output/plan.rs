//! How a sample would be drawn.

use std::{collections::BTreeMap, io::Write};

use comfy_table::Cell;
use partition_dpp::{Algorithm, Choice, Method, Plan};
use serde::Serialize;

use super::{
    Question,
    numbers::short,
    print, print_json,
    table::{new_table, right},
};
use crate::{
    arguments::SampleArguments,
    failure::Failure,
    memory::{Memory, megabytes},
    sample::{BUDGET, Forecast, Planned, seconds},
};

#[derive(Serialize)]
struct Answer {
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

/// Writes the plan in the format asked for.
pub(crate) fn write(
    question: &Question<'_>,
    planned: &Planned,
    memory: &Memory,
    arguments: &SampleArguments,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let forecast = match planned {
        Planned::Choice(plan) => Forecast::of_plan(plan, arguments.samples),
        Planned::Only(_) => None,
    };
    let budget = arguments.budget.unwrap_or(BUDGET).as_secs_f64();
    if arguments.output.json {
        let seconds = |forecast: Forecast| Seconds { sample: forecast.each, total: forecast.total, budget };
        let (seconds, memory) = (forecast.map(seconds), Some(memory.into()));
        return print_json(out, &Answer { seconds, memory, ..Answer::from(planned) });
    }
    let time = forecast.map_or(String::new(), |Forecast { each, total, .. }| {
        let (each, total) = (seconds(each), seconds(total));
        format!("time      about {each} a sample, {total} in all; the budget is {budget} s\n")
    });
    let question = if arguments.output.quiet { String::new() } else { question.describe() };
    let memory = describe_memory(memory);
    print(
        out,
        &match planned {
            Planned::Choice(plan) => format!("{}{time}{memory}{question}", describe(plan)),
            Planned::Only(algorithm) => {
                let why = match algorithm {
                    Algorithm::Settled => "nothing is left to choose",
                    _ => "this law leaves no choice of method",
                };
                format!("method    {algorithm}\nwhy       {why}\n{memory}{question}")
            }
        },
    )
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

/// One line on what is needed, one on what for.
fn describe_memory(Memory { plan, limit, rule }: &Memory) -> String {
    let file = match plan.mapped {
        0 => String::new(),
        bytes => format!("; {} of features stay in their files", megabytes(bytes)),
    };
    let fits = if plan.total() <= *limit { "" } else { ": too much" };
    let (needed, limit) = (megabytes(plan.total()), megabytes(*limit));
    format!("memory    {needed} at most, of {limit} {rule}{fits}{file}\n          {plan}\n")
}

fn describe(plan: &Plan) -> String {
    let mut table = new_table(vec!["method", "at most", "operations a sample"]);
    let cost = |operations: f64| right(format!("{operations:.1e}"));
    let proposals = format!("{} proposals a sample, on average", short(plan.proposals));
    table.add_row([Cell::new("rejection"), Cell::new(proposals), cost(plan.rejection_cost)]);
    let nodes = format!("{} nodes", short(plan.nodes));
    table.add_row([Cell::new("interpolation"), Cell::new(nodes), cost(plan.interpolation_cost)]);
    let literal = "as many, for every candidate";
    table.add_row([Cell::new("per-candidate"), Cell::new(literal), cost(plan.per_candidate_cost)]);
    format!("{}\nmethod    {}\nwhy       {}\n", table.trim_fmt(), plan.method, reason(plan))
}

/// Why a method was taken.
pub(super) fn reason(plan: &Plan) -> String {
    let (rejection, interpolation) = (plan.rejection_cost, plan.interpolation_cost);
    match (plan.choice, plan.method) {
        (Choice::Cheaper, Method::Rejection) => {
            format!("{rejection:.1e} operations a sample are predicted, {interpolation:.1e} by interpolation")
        }
        (Choice::Cheaper, _) => {
            format!("{interpolation:.1e} operations a sample are predicted, {rejection:.1e} by rejection")
        }
        (Choice::WithinBudget, Method::Rejection) => {
            format!("interpolation might take {} nodes, more than its budget", short(plan.nodes))
        }
        (Choice::WithinBudget, _) => {
            format!("rejection might take {} proposals a sample, more than its budget", short(plan.proposals))
        }
        (_, Method::Mcmc) => "asked for; approximate, unlike the methods above".into(),
        _ => "asked for".into(),
    }
}
