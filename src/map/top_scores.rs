//! The items with the largest scores, regardless of their similarity.

use super::{Objective, Place, Solution, Solver, Termination};
use crate::{
    Error, Result,
    data::check_finite,
    engine::{Demand, Engine, Items},
};

/// Finds the allowed set with the largest sum of scores: the limit of
/// [`Features::with_scores`](crate::Features::with_scores) as the diversity goes to 0.
///
/// ```text
/// max  Σ_{i∈S} r_i,   S as the model allows
/// ```
///
/// If the size is free, items with positive scores are taken in addition to those that the quota needs. Ties go to
/// the lowest item. Determinants play no part: similar items may be chosen together, even if their rows are dependent
/// and [`Solution::log_det`] is −∞.
///
/// # Cost
/// O(m log m).
///
/// # Examples
/// ```
/// # fn main() -> Result<(), partition_dpp::Error> {
/// use partition_dpp::{Engine, Features, KDpp, map::{Solver, TopScores}};
/// let features = Features::from_rows(3, 2, vec![1.0, 0.0, 1.0, 0.1, 0.0, 1.0])?;
/// let top = TopScores::new([3.0, 5.0, 1.0]).solve(&KDpp::new(&features, 2)?, &Engine::cpu())?;
/// assert_eq!(top.subset.as_slice(), [0, 1]);
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct TopScores {
    scores: Vec<f64>,
}

impl TopScores {
    /// Creates the solver for these scores, one per item.
    #[must_use]
    pub fn new(scores: impl Into<Vec<f64>>) -> Self {
        Self { scores: scores.into() }
    }
}

impl<M: Objective> Solver<M> for TopScores {
    /// # Errors
    /// [`Error::Shape`] if the numbers of scores and items differ;
    /// [`WeightProblem::NotFinite`](crate::error::WeightProblem::NotFinite).
    fn solve(&self, model: &M, engine: &Engine) -> Result<Solution> {
        let (candidates, scores) = (model.candidates(), &self.scores);
        let (expected, found) = (candidates.features.items(), scores.len());
        if found != expected {
            return Err(Error::Shape { what: "the list of scores", expected, found });
        }
        check_finite(scores)?;
        let by_score = |a: &Place, b: &Place| {
            let (a, b) = (candidates.item(*a), candidates.item(*b));
            scores[b].total_cmp(&scores[a]).then(a.cmp(&b))
        };
        // First the items that every part needs, then the best of the rest.
        let (mut chosen, mut rest) = (Vec::new(), Vec::new());
        for (group, members) in candidates.groups.iter().enumerate() {
            let places = (0..Items::from(members).len()).map(|position| Place { group, position });
            let mut places: Vec<Place> = places.collect();
            places.sort_unstable_by(by_score);
            rest.extend(places.split_off(candidates.counts.low[group]));
            chosen.append(&mut places);
        }
        rest.sort_unstable_by(by_score);
        let mut counts = candidates.counts_of(&chosen);
        for place in rest {
            let wanted = match candidates.counts.demands(&counts)[place.group] {
                Demand::Full => false,
                Demand::Needed => true,
                Demand::Optional => scores[candidates.item(place)] > 0.0,
            };
            if wanted {
                counts[place.group] += 1;
                chosen.push(place);
            }
        }
        Ok(Solution::new(&candidates, &chosen, Termination::QuotaMet, engine))
    }
}
