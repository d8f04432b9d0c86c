//! The plan as text.

use comfy_table::Cell;
use partition_dpp::{
    Method,
    sample::{Algorithm, Choice, Plan},
};

use crate::{
    memory::megabytes,
    output::{
        numbers::{large, seconds, short},
        table::{new_table, right},
    },
    sample::{
        answer::{Drawer, Planned, PlannedDrawer},
        forecast::Forecast,
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
    match &planned.drawer {
        PlannedDrawer::Choice(plan) => {
            let table = methods(planned);
            format!("{table}\nmethod    {}\nwhy       {}\n{time}{memory}", plan.method, reason(plan))
        }
        PlannedDrawer::Chains(_) => {
            let why = "asked for; approximate, unlike the methods above";
            format!("{}\nmethod    {}\nwhy       {why}\n{time}{memory}", methods(planned), Drawer::Chains)
        }
        PlannedDrawer::Estimated(_) => {
            let table = methods(planned);
            let method = Drawer::Sampler(Algorithm::Estimated);
            format!(
                "{table}\nmethod    {method}\nwhy       asked for; the error of its distribution is estimated\n{time}{memory}"
            )
        }
        PlannedDrawer::Only(algorithm) => {
            let why = match algorithm {
                Algorithm::Settled => "nothing is left to choose",
                _ => "this law leaves no choice of method",
            };
            let table = if planned.bounds.is_empty() { String::new() } else { methods(planned) + "\n" };
            format!("{table}method    {algorithm}\nwhy       {why}\n{memory}")
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

/// All ways, with their predicted costs.
fn methods(planned: &Planned) -> String {
    let header = ["method", "bound", "per sample, on average", "operations per sample", "memory", "law"];
    let mut table = new_table(header.map(String::from).to_vec());
    for way in &planned.ways {
        let bound = way.bound.map_or("–".into(), |bound| bound.to_string());
        let memory = way.bytes.map_or("–".into(), megabytes);
        let (operations, law) = (right(large(way.operations, 1)), way.promise.describe());
        let cells = [way.method.into(), Cell::new(bound), Cell::new(&way.effort), operations];
        table.add_row(cells.into_iter().chain([right(memory), Cell::new(law)]));
    }
    table.trim_fmt()
}

/// The reason for the method.
pub(in crate::sample) fn reason(plan: &Plan) -> String {
    let [rejection, interpolation] =
        [plan.rejection_cost, plan.interpolation_cost].map(|operations| large(operations, 1));
    match (plan.choice, plan.method) {
        (Choice::Cheaper, Method::Rejection) => {
            format!("{rejection} operations per sample predicted, against {interpolation} for interpolation")
        }
        (Choice::Cheaper, _) => {
            format!("{interpolation} operations per sample predicted, against {rejection} for rejection")
        }
        (Choice::WithinBudget, Method::Rejection) => {
            format!(
                "{} proposals per sample expected; interpolation exceeds its budget, with {} nodes",
                short(plan.proposals),
                short(plan.nodes)
            )
        }
        (Choice::WithinBudget, _) => {
            format!(
                "{} nodes expected; rejection exceeds its budget, with {} proposals per sample",
                short(plan.nodes),
                short(plan.proposals)
            )
        }
        _ => "asked for".into(),
    }
}
