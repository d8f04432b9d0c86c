//! The law of part counts, and the probability of a quota.

use partition_dpp::{Dpp, Error, Estimate, KDpp, PartCounts, Partition, engine::Engine};

use crate::{
    failure::Failure,
    input::{Conditions, Input},
    law::LawRequest,
    quota::Asked,
};

/// Whose counts.
#[derive(Debug)]
pub(super) enum Model<'a> {
    /// A DPP.
    Dpp(Dpp<'a>),
    /// A k-DPP.
    KDpp(KDpp<'a>),
}

impl<'a> Model<'a> {
    pub(super) fn new(
        law: &LawRequest<'_>,
        input: &'a Input,
        conditions: &Conditions,
    ) -> Result<Self, Failure> {
        let Conditions { include, exclude } = input.conditions(conditions)?;
        let blame = |error| input.blame_items(error);
        Ok(if let LawRequest::KDpp { k } = law {
            let dpp = KDpp::new(&input.features, *k)?.including(&include).map_err(blame)?;
            Model::KDpp(dpp.excluding(&exclude)?)
        } else {
            let dpp = Dpp::new(&input.features)?.including(&include).map_err(blame)?;
            Model::Dpp(dpp.excluding(&exclude)?)
        })
    }

    /// The law of the counts of all parts.
    pub(super) fn part_counts(
        &self,
        partition: &Partition,
        engine: &dyn Engine,
    ) -> Result<PartCounts, Error> {
        match self {
            Model::Dpp(dpp) => dpp.part_counts(partition, engine),
            Model::KDpp(dpp) => dpp.part_counts(partition, engine),
        }
    }

    /// The probability that the law meets a quota by chance.
    pub(super) fn chance(
        &self,
        partition: &'a Partition,
        asked: Asked<'a>,
        engine: &'a dyn Engine,
    ) -> Result<Estimate<f64>, Error> {
        match (self, asked) {
            (_, Asked::Anything) => Ok(Estimate { value: 1.0, error: 0.0 }),
            (Model::Dpp(dpp), Asked::Counts(quota) | Asked::Ranges(quota)) => {
                dpp.probability_of(partition, quota, engine)
            }
            (Model::KDpp(dpp), Asked::Counts(quota) | Asked::Ranges(quota)) => {
                dpp.probability_of(partition, quota, engine)
            }
        }
    }
}

/// Accepts that one of the two needs too many nodes, if the other answers the question.
#[expect(clippy::type_complexity, reason = "the two answers of the command")]
pub(super) fn settle(
    law: Result<PartCounts, Error>,
    quota: Option<(Asked<'_>, Result<Estimate<f64>, Error>)>,
) -> Result<(Result<PartCounts, Error>, Option<(Asked<'_>, f64)>), Failure> {
    const ADVICE: &str = "the nodes of all parts multiply: fewer parts need fewer";
    let quota = match (&law, quota) {
        // A separate computation is accurate even for a tiny probability, so the list is only a fallback.
        (Ok(law), Some((asked, Err(Error::NodeBudget { .. })))) => Some((asked, listed(law, asked))),
        (_, Some((asked, chance))) => Some((asked, chance.map_err(Failure::advise(ADVICE))?.value)),
        (_, None) => None,
    };
    match law {
        Err(Error::NodeBudget { .. }) if quota.is_some() => Ok((law, quota)),
        law => Ok((Ok(law.map_err(Failure::advise(ADVICE))?), quota)),
    }
}

/// The probability of a quota, summed from the listed counts.
fn listed(law: &PartCounts, asked: Asked<'_>) -> f64 {
    match asked {
        Asked::Anything => 1.0,
        Asked::Counts(quota) | Asked::Ranges(quota) => law.probability_within(quota),
    }
}
