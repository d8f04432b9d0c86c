//! Seconds per sample and acceptance rates, and how both grow.

mod acceptance;
mod configurations;
mod growth;
mod real_nodes;

use partition_dpp::{Features, Partition, Quota};

use crate::{context::Context, failure::Failure, outcome::Outcome, report::Section};

pub(super) const STEPS: u64 = configurations::STEPS + acceptance::STEPS + real_nodes::STEPS + growth::STEPS;

pub(super) fn run(context: &Context<'_>) -> Result<Outcome, Failure> {
    let mut section = Section::new("Timing: seconds per sample");
    section.text(
        "The paper draws from Partition-DPPs by its algorithm 2: item after item, each from probabilities that are \
         coefficients of a polynomial, found again for every candidate. Here the same algorithm is run as it stands \
         (\"per candidate\"), with one evaluation shared by all candidates (\"interpolation\"), and beside them tilted \
         rejection: the k-DPP whose parts are weighted so that it meets the quota on average, until it meets it \
         exactly. All three draw from the same law. Features are uniform on (−1, 1), n = m, as times do not depend \
         on them. Times are those of this machine, which may have been busy with other things.",
    );
    configurations::run(context, &mut section)?;
    acceptance::run(context, &mut section)?;
    real_nodes::run(context, &mut section)?;
    growth::run(context, &mut section)?;
    Ok(Outcome::Done(Box::new(section)))
}

/// Returns a configuration as the paper writes it. Lines break only between items and quota.
fn name(parts: usize, size: usize, each: usize) -> String {
    let list = |count: usize| format!("[{}]", vec![count.to_string(); parts].join(","));
    format!("{}, {}", list(size), list(each))
}

/// Random items in parts of equal size, with the same quota for each.
pub(super) struct RandomParts {
    pub(super) features: Features,
    pub(super) partition: Partition,
    pub(super) quota: Quota,
}

impl RandomParts {
    pub(super) fn new(
        context: &Context<'_>,
        name: &str,
        (parts, size): (usize, usize),
        dims: usize,
        each: usize,
    ) -> Result<Self, Failure> {
        let items = parts * size;
        let values = context.uniform(name, items as u64, items * dims);
        let values: Vec<f64> = values.into_iter().map(|x| 2.0 * x - 1.0).collect();
        let features = Features::from_rows(items, dims, values)?;
        let partition = Partition::from_labels(&(0..items).map(|item| item / size).collect::<Vec<_>>())?;
        let quota = Quota::each(&partition, each)?;
        Ok(Self { features, partition, quota })
    }
}
