//! The law of part counts, and the probability of a quota.

use partition_dpp::{Engine, Error, Estimate, Law, MonteCarlo, PartCounts, Partition, Quota, Watch};

use super::answer::Chance;
use crate::{
    estimates::{Draws, EstimatesArguments},
    failure::Failure,
    input::too_many_for,
    interrupt,
    law::RIDGE_WAYS,
};

/// The law of the counts, or the reason why it is not listed, and the probability of the quota asked for.
type Found<'q> = (Result<PartCounts, String>, Option<(&'q Quota, Chance)>);

/// How to compute.
#[derive(Clone, Copy)]
pub(super) struct With<'w> {
    pub(super) estimates: &'w EstimatesArguments,
    pub(super) engine: &'w Engine,
    pub(super) watch: &'w Watch,
}

/// The counts of a law without a quota.
pub(super) fn counts<'q>(
    law: &Law,
    (partition, quota): (&Partition, Option<&'q Quota>),
    with: With<'_>,
) -> Result<Found<'q>, Failure> {
    let chance = quota.map(|quota| (quota, chance(law, (partition, quota), with)));
    if let Some((quota, Ok(chance))) = &chance
        && chance.standard_error.is_some()
    {
        // The estimate is the answer, even if the list fails.
        let listed = match chance.draws.and_then(|draws| draws.ended) {
            Some(ended) => Err(ended.to_string()),
            None => part_counts(law, partition, with.engine).map_err(|error| error.to_string()),
        };
        return Ok((listed, Some((quota, *chance))));
    }
    settle(part_counts(law, partition, with.engine), chance)
}

/// The probability of a quota with a ridge that is not in the features.
pub(super) fn with_ridge<'q>(
    law: &Law,
    quota: &'q Quota,
    With { estimates, engine, .. }: With<'_>,
) -> Result<Found<'q>, Failure> {
    let Law::Ridge(dpp) = law else { unreachable!("the features lack the ridge") };
    if estimates.are_wanted() {
        return Err(too_many_for("--method estimated"));
    }
    let found = dpp.probability_by_chance(engine).map_err(Failure::advise(RIDGE_WAYS))?;
    Ok((Err("a ridge of many items".into()), Some((quota, Chance::exactly(found)))))
}

/// The law of the counts of all parts.
fn part_counts(law: &Law, partition: &Partition, engine: &Engine) -> Result<PartCounts, Error> {
    match law {
        Law::AnySize(dpp) => dpp.part_counts(partition, engine),
        Law::Size(dpp) => dpp.part_counts(partition, engine),
        _ => unreachable!("the law has no quota"),
    }
}

/// The probability that the law meets a quota by chance.
fn chance(law: &Law, (partition, quota): (&Partition, &Quota), with: With<'_>) -> Result<Chance, Error> {
    let With { estimates, engine, watch } = with;
    if estimates.are_wanted() {
        let options = estimates.options();
        // From here on Ctrl-C and the time limit end the draws.
        interrupt::flag();
        let found = match law {
            Law::AnySize(dpp) => dpp.estimated_probability_of(partition, quota, options, engine, watch)?,
            Law::Size(dpp) => dpp.estimated_probability_of(partition, quota, options, engine, watch)?,
            _ => unreachable!("the law has no quota"),
        };
        let wanted = options.standard_error();
        let draws = found.statistics.map(|statistics| Draws { statistics, ended: found.ended, wanted });
        let MonteCarlo { value, standard_error } = found.probability;
        return Ok(Chance { value, error: standard_error, standard_error: Some(standard_error), draws });
    }
    let found = match law {
        Law::AnySize(dpp) => dpp.probability_of(partition, quota, engine)?,
        Law::Size(dpp) => dpp.probability_of(partition, quota, engine)?,
        _ => unreachable!("the law has no quota"),
    };
    Ok(Chance::exactly(found))
}

/// Accepts that one of the two needs too many nodes, if the other answers the question.
fn settle(
    law: Result<PartCounts, Error>,
    quota: Option<(&Quota, Result<Chance, Error>)>,
) -> Result<Found<'_>, Failure> {
    const WAYS: &[&str] =
        &["--quota QUOTA --method estimated estimates the probability of a quota, for any number of parts"];
    let quota = match (&law, quota) {
        // A separate computation is accurate even for a tiny probability, so the list is only a fallback.
        (Ok(law), Some((quota, Err(Error::NodeBudget { .. })))) => {
            let value = law.probability_within(quota);
            Some((quota, Chance::exactly(Estimate { value, error: law.error() })))
        }
        (_, Some((quota, chance))) => Some((quota, chance.map_err(Failure::advise(WAYS))?)),
        (_, None) => None,
    };
    match law {
        Err(error @ Error::NodeBudget { .. }) if quota.is_some() => Ok((Err(error.to_string()), quota)),
        law => Ok((Ok(law.map_err(Failure::advise(WAYS))?), quota)),
    }
}
