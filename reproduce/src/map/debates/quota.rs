//! The same number of statements from every candidate.

use partition_dpp::{PartitionDpp, Quota, Subset};
use pdpp_plot::{Axis, Chart, Mark};

use super::{
    super::{Solved, series, solve, solve_size},
    Debates, EACH, SHOWN,
    by_size::{bounds_chart, gains},
    effort, without_bounds,
};
use crate::{
    context::Context,
    failure::Failure,
    report::{Cell, Section, Table, Verdict},
};

pub(super) fn add(context: &Context<'_>, debates: &Debates, section: &mut Section) -> Result<(), Failure> {
    let mut table = Table::new(
        "map-debates-quota",
        "The same number of statements of every candidate, which the paper's method cannot ask for. Price: by how much the \
         best set found without the quota is better.",
        ["of each", "k", "greedy", "gain of local search", "of 4 restarts", "gap", "price of the quota"],
    );
    let mut solved = Vec::new();
    let mut shown = None;
    let parts = debates.partition.parts();
    for each in EACH {
        context.step(&format!("map-debates: {each} of every candidate"))?;
        let quota = Quota::each(&debates.partition, each)?;
        let dpp = PartitionDpp::new(&debates.features, &debates.partition, &quota)?;
        let with = solve(&dpp, each * parts, effort(context))?;
        let without = solve_size(&debates.features, each * parts, without_bounds(context))?;
        table.rows.push(vec![
            Cell::count(each),
            Cell::count(with.size),
            Cell::determinant(with.greedy),
            Cell::factor(with.climbed - with.greedy),
            Cell::factor(with.restarted.log_det - with.greedy),
            Cell::factor(with.gap()),
            Cell::factor(without.restarted.log_det - with.restarted.log_det),
        ]);
        if each == SHOWN {
            shown = Some(with.restarted.subset.clone());
        }
        solved.push(with);
    }
    section.table(table);
    section.figure(
        "map-debates-quota",
        "What the paper could not do: with a quota per candidate.",
        &gains_chart(&solved),
    )?;
    section.figure(
        "map-debates-quota-bounds",
        "The optimum lies between what restarts found and what is proven.",
        &bounds_chart("With a quota: how much better the optimum can be", &solved, Vec::new()),
    )?;
    section.table(statements(debates, shown.as_ref()));
    let never = solved.iter().all(|solved| solved.climbed >= solved.greedy - 1e-9);
    section.claim(
        "(With a quota per candidate: not in the paper.)",
        format!(
            "Local search is {} worse than greedy; its factor over greedy is at most {:.2}.",
            if never { "never" } else { "sometimes" },
            solved.iter().map(|solved| (solved.climbed - solved.greedy).exp()).fold(0.0, f64::max)
        ),
        Verdict::of(never),
    );
    Ok(())
}

fn gains_chart(solved: &[Solved]) -> Chart {
    Chart {
        title: "The same number of statements of every candidate: how much better than greedy".into(),
        subtitle: "determinant over greedy's, under the same quota".into(),
        x: Axis::linear("statements chosen, k"),
        y: Axis::linear("factor over greedy"),
        series: vec![
            series("4 restarts", 4, Mark::Discs, gains(solved, |solved| solved.restarted.log_det)),
            series("local search", 0, Mark::Discs, gains(solved, |solved| solved.climbed)),
        ],
    }
}

fn statements(debates: &Debates, shown: Option<&Subset>) -> Table {
    let mut statements = Table::new(
        "map-debates-statements",
        "The most diverse set found with two statements of every candidate. Click to read a statement in full.",
        ["candidate", "item", "statement"],
    );
    for item in shown.into_iter().flat_map(Subset::iter) {
        let candidate = &debates.partition.names()[debates.partition.part_of(item)];
        statements.rows.push(vec![
            Cell::text(candidate),
            Cell::count(item),
            Cell::Long(debates.texts[item].clone()),
        ]);
    }
    statements.rows.sort_by_key(|row| match &row[0] {
        Cell::Text(candidate) => candidate.clone(),
        _ => String::new(),
    });
    statements
}
