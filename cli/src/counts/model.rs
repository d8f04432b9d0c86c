//! The law of part counts, and the probability of a quota.

use partition_dpp::{Error, Estimate, PartCounts, Partition, Quota, engine::Engine};

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
    partition: &Partition,
    quota: &Quota,
    engine: &dyn Engine,
) -> Result<Estimate<f64>, Error> {
    match model {
        Model::Dpp(dpp) => dpp.probability_of(partition, quota, engine),
        Model::KDpp(dpp) => dpp.probability_of(partition, quota, engine),
        _ => unreachable!("the law has no quota"),
    }
}

/// Accepts that one of the two needs too many nodes, if the other answers the question.
#[expect(clippy::type_complexity, reason = "the two answers of the command")]
pub(super) fn settle(
    law: Result<PartCounts, Error>,
    quota: Option<(&Quota, Result<Estimate<f64>, Error>)>,
) -> Result<(Result<PartCounts, Error>, Option<(&Quota, f64)>), Failure> {
    const ADVICE: &str = "the nodes of all parts multiply: fewer parts need fewer";
    let quota = match (&law, quota) {
        // A separate computation is accurate even for a tiny probability, so the list is only a fallback.
        (Ok(law), Some((quota, Err(Error::NodeBudget { .. })))) => {
            Some((quota, law.probability_within(quota)))
        }
        (_, Some((quota, chance))) => Some((quota, chance.map_err(Failure::advise(ADVICE))?.value)),
        (_, None) => None,
    };
    match law {
        Err(Error::NodeBudget { .. }) if quota.is_some() => Ok((law, quota)),
        law => Ok((Ok(law.map_err(Failure::advise(ADVICE))?), quota)),
    }
}
