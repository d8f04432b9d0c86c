//! `pdpp counts`.

use std::{
    io::Write,
    time::{Duration, Instant},
};

use partition_dpp::{
    Dpp, Error, Estimate, KDpp, PartCounts, Partition,
    engine::{Engine, EngineInfo, Watched},
};

use crate::{
    arguments::{ConditionArguments, CountsArguments},
    compute,
    failure::Failure,
    input::Input,
    interrupt,
    law::Law,
    memory::{Limit, Use},
    output::{self, Question},
    progress::Progress,
    quota::{Asked, Resolved},
};

/// Part counts under a DPP or k-DPP.
#[derive(Debug)]
pub(crate) struct Counted<'a> {
    /// The parts.
    pub(crate) partition: &'a Partition,
    /// The law of the counts, or why it is not listed.
    pub(crate) law: Result<PartCounts, Error>,
    /// The quota asked for, and its probability.
    pub(crate) quota: Option<(Asked<'a>, f64)>,
    /// The engine that computed.
    pub(crate) engine: EngineInfo,
    /// Time of everything but reading.
    pub(crate) time: Duration,
}

/// Whose counts.
#[derive(Debug)]
enum Model<'a> {
    Dpp(Dpp<'a>),
    KDpp(KDpp<'a>),
}

/// Runs the command.
pub(crate) fn run(arguments: &CountsArguments, out: &mut dyn Write) -> Result<(), Failure> {
    compute::prepare(&arguments.compute)?;
    let watch = interrupt::within(arguments.time_limit);
    if arguments.law.k.is_none() && arguments.law.quota.is_none() {
        return Err(Failure::Arguments("counts needs --k, the number of items, or --quota".into()));
    }
    let progress = Progress::new(arguments.output.quiet);
    progress.stage("reading");
    let input = Input::read(&arguments.input, Limit::of(None), Use::Products)?;
    let Some(partition) = &input.partition else {
        return Err(Failure::Arguments("counts needs --labels, the part of each item".into()));
    };
    let k = arguments.law.k;
    let quota = arguments.law.quota.as_ref().map(|request| request.resolve(partition, k)).transpose()?;
    let quota = quota.as_ref().map(Resolved::asked);
    let law = k.or(quota.and_then(Asked::total)).map_or(Law::Dpp, |k| Law::KDpp { k });
    progress.stage("computing");
    let started = Instant::now();
    let report = |reached| progress.computed(&reached);
    let watch = watch.reporting_to(&report);
    let model = Model::new(&law, &input, &arguments.conditions)?;
    let engine = compute::open_engine(&arguments.compute, &input.features)?;
    let engine = Watched::new(engine.as_ref(), watch);
    let chance = quota.map(|asked| (asked, model.chance(partition, asked, &engine)));
    let counts = model.part_counts(partition, &engine);
    let (counts, quota) = settle(counts, chance)?;
    let counted = Counted { partition, law: counts, quota, engine: engine.info(), time: started.elapsed() };
    progress.finish();
    // The answer is there: nothing cuts it short.
    interrupt::flag();
    let question = Question { input: &input, law: &law, conditions: &arguments.conditions };
    output::counts::write(&question, &counted, &arguments.output, out)
}

impl<'a> Model<'a> {
    fn new(law: &Law<'_>, input: &'a Input, conditions: &ConditionArguments) -> Result<Self, Failure> {
        let ConditionArguments { include, exclude } = input.conditions(conditions)?;
        let blame = |error| input.blame_items(error);
        Ok(if let Law::KDpp { k } = law {
            let dpp = KDpp::new(&input.features, *k)?.including(&include).map_err(blame)?;
            Model::KDpp(dpp.excluding(&exclude)?)
        } else {
            let dpp = Dpp::new(&input.features)?.including(&include).map_err(blame)?;
            Model::Dpp(dpp.excluding(&exclude)?)
        })
    }

    fn part_counts(&self, partition: &Partition, engine: &dyn Engine) -> Result<PartCounts, Error> {
        match self {
            Model::Dpp(dpp) => dpp.part_counts(partition, engine),
            Model::KDpp(dpp) => dpp.part_counts(partition, engine),
        }
    }

    fn chance(
        &self,
        partition: &'a Partition,
        asked: Asked<'a>,
        engine: &'a dyn Engine,
    ) -> Result<Estimate<f64>, Error> {
        match (self, asked) {
            (_, Asked::Anything) => Ok(Estimate { value: 1.0, error: 0.0 }),
            (Model::Dpp(dpp), Asked::Counts(quota)) => dpp.quota_probability(partition, quota, engine),
            (Model::KDpp(dpp), Asked::Counts(quota)) => dpp.quota_probability(partition, quota, engine),
            (Model::Dpp(dpp), Asked::Ranges(quota)) => dpp.range_probability(partition, quota, engine),
            (Model::KDpp(dpp), Asked::Ranges(quota)) => dpp.range_probability(partition, quota, engine),
        }
    }
}

/// One of the two may need too many nodes, if the other tells what was asked for.
#[expect(clippy::type_complexity, reason = "the two answers of the command")]
fn settle(
    law: Result<PartCounts, Error>,
    quota: Option<(Asked<'_>, Result<Estimate<f64>, Error>)>,
) -> Result<(Result<PartCounts, Error>, Option<(Asked<'_>, f64)>), Failure> {
    const ADVICE: &str = "the nodes of all parts multiply: fewer parts need fewer";
    let quota = match (&law, quota) {
        // All its digits count even where it is tiny, so it is computed by itself if it can be.
        (Ok(law), Some((asked, Err(Error::NodeBudget { .. })))) => Some((asked, listed(law, asked))),
        (_, Some((asked, chance))) => Some((asked, chance.map_err(Failure::advise(ADVICE))?.value)),
        (_, None) => None,
    };
    match law {
        Err(Error::NodeBudget { .. }) if quota.is_some() => Ok((law, quota)),
        law => Ok((Ok(law.map_err(Failure::advise(ADVICE))?), quota)),
    }
}

/// The probability of a quota as the list of counts has it.
fn listed(law: &PartCounts, asked: Asked<'_>) -> f64 {
    match asked {
        Asked::Anything => 1.0,
        Asked::Counts(quota) => law.probability(quota.counts()),
        Asked::Ranges(quota) => law.probability_within(quota),
    }
}
