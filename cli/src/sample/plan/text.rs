//! The plan as text.

use comfy_table::Cell;
use partition_dpp::{
    Method,
    sample::{Algorithm, Choice, Plan},
};

use crate::{
    memory::megabytes,
    output::{
        numbers::{error, short},
        table::{new_table, right},
    },
    sample::{
        answer::{Drawer, Planned, PlannedDrawer},
        estimate::EstimatedCost,
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
    match &planned.drawer {
        PlannedDrawer::Choice(plan) => {
            let table = methods(Some(plan), planned);
            format!("{table}\nmethod    {}\nwhy       {}\n{time}{memory}", plan.method, reason(plan))
        }
        PlannedDrawer::Chains(plan) => {
            let why = "asked for; approximate, unlike the methods above";
            format!(
                "{}\nmethod    {}\nwhy       {why}\n{time}{memory}",
                methods(Some(plan), planned),
                Drawer::Chains
            )
        }
        PlannedDrawer::Estimated(plan) => {
            let table = methods(plan.as_ref(), planned);
            let method = Drawer::Sampler(Algorithm::Estimated);
            format!(
                "{table}\nmethod    {method}\nwhy       asked for; the error of its law is estimated\n{time}{memory}"
            )
        }
        PlannedDrawer::Only(algorithm) => {
            let why = match algorithm {
                Algorithm::Settled => "nothing is left to choose",
                _ => "this law leaves no choice of method",
            };
            let table = if planned.bounds.is_empty() { String::new() } else { methods(None, planned) + "\n" };
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

/// All methods and bounds, with their predicted costs.
fn methods(plan: Option<&Plan>, planned: &Planned) -> String {
    let bounds = &planned.bounds;
    let mut table =
        new_table(vec!["method", "bound", "per sample, on average", "operations per sample", "law"]);
    let cost = |operations: f64| right(format!("{operations:.1e}"));
    let exact = || Cell::new("exact");
    let mut sorted = bounds.clone();
    sorted.sort_by(|a, b| a.cost().total_cmp(&b.cost()));
    for bound in sorted {
        let proposals = format!("{} proposals", short(bound.proposals));
        let name = bound.bound.to_string();
        let cells = [Cell::new("rejection"), Cell::new(name), Cell::new(proposals), cost(bound.cost())];
        table.add_row(cells.into_iter().chain([exact()]));
    }
    if let Some(plan) = plan {
        if bounds.is_empty() {
            let proposals = format!("{} proposals", short(plan.proposals));
            let cells = ["rejection".into(), "–".into(), Cell::new(proposals), cost(plan.rejection_cost)];
            table.add_row(cells.into_iter().chain([exact()]));
        }
        let nodes = format!("{} nodes", short(plan.nodes));
        let cells = ["interpolation".into(), "–".into(), Cell::new(nodes), cost(plan.interpolation_cost)];
        table.add_row(cells.into_iter().chain([exact()]));
        let literal = "as many, for every candidate";
        table.add_row([
            "per-candidate".into(),
            "–".into(),
            Cell::new(literal),
            cost(plan.per_candidate_cost),
            exact(),
        ]);
    }
    if let Some(EstimatedCost { law_error, draws, operations }) = planned.estimated {
        let draws = format!("{} weighted draws", short(draws));
        let law = format!("off by about {}", error(law_error));
        table.add_row(["estimated".into(), "–".into(), Cell::new(draws), cost(operations), Cell::new(law)]);
    }
    table.trim_fmt()
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
