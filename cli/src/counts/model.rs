//! The law of part counts, and the probability of a quota.

use partition_dpp::{Error, PartCounts, Partition, Quota, Watch, engine::Engine};

use super::{answer::Chance, arguments::CountsArguments};
use crate::{failure::Failure, law::Model};

/// The law of the counts of all parts.
pub(super) fn part_counts(
    model: &Model<'_>,
    partition: &Partition,
    engine: &dyn Engine,
) -> Result<PartCounts, Error> {
    match model {
        Model::Dpp(dpp) => dpp.part_counts(partition, engine),
        Model::KDpp(dpp) => dpp.part_counts(partition, engine),
        _ => unreachable!("the law has no quota"),
    }
}

/// The probability that the law meets a quota by chance.
pub(super) fn chance(
    model: &Model<'_>,
    (partition, quota): (&Partition, &Quota),
    arguments: &CountsArguments,
    (engine, watch): (&dyn Engine, &Watch<'_>),
) -> Result<Chance, Error> {
    if arguments.estimates.are_wanted() {
        let (options, with) = (arguments.estimates.options(), (engine, watch));
        let found = match model {
            Model::Dpp(dpp) => dpp.estimated_probability_of(partition, quota, options, with),
            Model::KDpp(dpp) => dpp.estimated_probability_of(partition, quota, options, with),
            _ => unreachable!("the law has no quota"),
        };
        return found.map(|found| Chance { value: found.value, standard_error: Some(found.standard_error) });
    }
    let found = match model {
        Model::Dpp(dpp) => dpp.probability_of(partition, quota, engine),
        Model::KDpp(dpp) => dpp.probability_of(partition, quota, engine),
        _ => unreachable!("the law has no quota"),
    };
    found.map(|found| Chance { value: found.value, standard_error: None })
}

/// Accepts that one of the two needs too many nodes, if the other answers the question.
#[expect(clippy::type_complexity, reason = "the two answers of the command")]
pub(super) fn settle(
    law: Result<PartCounts, Error>,
    quota: Option<(&Quota, Result<Chance, Error>)>,
) -> Result<(Result<PartCounts, Error>, Option<(&Quota, Chance)>), Failure> {
    const ADVICE: &str =
        "the nodes of all parts multiply: --quota with --method estimated estimates its probability";
    let quota = match (&law, quota) {
        // A separate computation is accurate even for a tiny probability, so the list is only a fallback.
        (Ok(law), Some((quota, Err(Error::NodeBudget { .. })))) => {
            Some((quota, Chance { value: law.probability_within(quota), standard_error: None }))
        }
        (_, Some((quota, chance))) => Some((quota, chance.map_err(Failure::advise(ADVICE))?)),
        (_, None) => None,
    };
    match law {
        Err(Error::NodeBudget { .. }) if quota.is_some() => Ok((law, quota)),
        law => Ok((Ok(law.map_err(Failure::advise(ADVICE))?), quota)),
    }
}
