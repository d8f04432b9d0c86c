//! `pdpp counts`.

use std::time::{Duration, Instant};

use partition_dpp::{Error, Estimate, KDpp, PartCounts, Partition, Quota, engine::EngineInfo};

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
    /// The law of the counts, or why it is not listed.
    pub(crate) law: Result<PartCounts, Error>,
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
    let ConditionArguments { include, exclude } = input.conditions(&arguments.conditions)?;
    let dpp = KDpp::new(&input.features, k)?.including(&include).map_err(|error| input.blame_items(error))?;
    let dpp = dpp.excluding(&exclude)?;
    let engine = compute::open_engine(&arguments.compute, &input.features)?;
    let chance = |quota| (quota, dpp.quota_probability(partition, quota, engine.as_ref()));
    let quota = quota.as_ref().map(chance);
    let law = dpp.part_counts(partition, engine.as_ref());
    let (law, quota) = settle(law, quota)?;
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

/// One of the two may need too many nodes, if the other tells what was asked for.
#[expect(clippy::type_complexity, reason = "the two answers of the command")]
fn settle(
    law: Result<PartCounts, Error>,
    quota: Option<(&Quota, Result<Estimate<f64>, Error>)>,
) -> Result<(Result<PartCounts, Error>, Option<(&Quota, f64)>), Failure> {
    const ADVICE: &str = "the nodes of all parts multiply: fewer parts need fewer";
    let quota = match (&law, quota) {
        // All its digits count even where it is tiny, so it is computed by itself if it can be.
        (Ok(law), Some((quota, Err(Error::NodeBudget { .. })))) => {
            Some((quota, law.probability(quota.counts())))
        }
        (_, Some((quota, chance))) => Some((quota, chance.map_err(Failure::advise(ADVICE))?.value)),
        (_, None) => None,
    };
    match law {
        Err(Error::NodeBudget { .. }) if quota.is_some() => Ok((law, quota)),
        law => Ok((Ok(law.map_err(Failure::advise(ADVICE))?), quota)),
    }
}
