//! `pdpp counts`.

use std::time::{Duration, Instant};

use partition_dpp::{
    Error, KDpp, PartCounts, Partition, Quota,
    engine::{Engine, EngineInfo},
};

use crate::{
    arguments::{ConditionArguments, CountsArguments},
    compute,
    failure::Failure,
    input::Input,
    law::Law,
    output::{self, Question},
    progress::Progress,
};

/// Part counts under a k-DPP.
#[derive(Debug)]
pub(crate) struct Counted<'a> {
    /// The parts.
    pub(crate) partition: &'a Partition,
    /// The law of the counts.
    pub(crate) law: PartCounts,
    /// The quota asked for, and its probability.
    pub(crate) quota: Option<(&'a Quota, f64)>,
    /// The engine that computed.
    pub(crate) engine: EngineInfo,
    /// Time of everything but reading.
    pub(crate) time: Duration,
}

/// Runs the command.
pub(crate) fn run(arguments: &CountsArguments) -> Result<(), Failure> {
    compute::prepare(&arguments.compute)?;
    if arguments.law.k.is_none() && arguments.law.quota.is_none() {
        return Err(Failure::Arguments("counts needs --k, the number of items, or --quota".into()));
    }
    let progress = Progress::new(arguments.output.quiet);
    progress.stage("reading");
    let input = Input::read(&arguments.input)?;
    let Some(partition) = &input.partition else {
        return Err(Failure::Arguments("counts needs --labels, the part of each item".into()));
    };
    let quota = arguments.law.quota.as_ref().map(|request| request.resolve(partition)).transpose()?;
    let k = size(arguments.law.k, quota.as_ref())?;
    progress.stage("computing");
    let started = Instant::now();
    let ConditionArguments { include, exclude } = &arguments.conditions;
    let dpp = KDpp::new(&input.features, k)?.including(include)?.excluding(exclude)?;
    let engine = compute::open_engine(arguments.compute.engine)?;
    let law = dpp.part_counts(partition, engine.as_ref());
    let law = law.map_err(Failure::advise("the nodes of all parts multiply: fewer parts need fewer"))?;
    let quota = match &quota {
        Some(quota) => Some((quota, chance(&dpp, &law, partition, quota, engine.as_ref())?)),
        None => None,
    };
    let counted = Counted { partition, law, quota, engine: engine.info(), time: started.elapsed() };
    progress.finish();
    let question = Question { input: &input, law: &Law::KDpp { k }, conditions: &arguments.conditions };
    output::counts::write(&question, &counted, &arguments.output)
}

/// The number of items: as given, or the quota's.
fn size(k: Option<usize>, quota: Option<&Quota>) -> Result<usize, Failure> {
    match (k, quota.map(Quota::total)) {
        (Some(k), Some(total)) if k != total => {
            Err(Failure::Arguments(format!("--quota asks for {total} items in all, --k for {k}")))
        }
        (k, total) => Ok(k.or(total).unwrap_or_default()),
    }
}

/// The quota's probability by itself: all its digits count even where it is tiny.
fn chance<'a>(
    dpp: &KDpp<'a>,
    law: &PartCounts,
    partition: &'a Partition,
    quota: &'a Quota,
    engine: &'a dyn Engine,
) -> Result<f64, Failure> {
    match dpp.quota_probability(partition, quota, engine) {
        Err(Error::NodeBudget { .. }) => Ok(law.probability(quota.counts())),
        estimate => Ok(estimate?.value),
    }
}
