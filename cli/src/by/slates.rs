//! Problems that slates solve.

use std::collections::HashMap;

use partition_dpp::{
    CountRange, Engine, Quota, Sets, Watch,
    slates::{Slate, SlateRequest, SlateSamples, Slates},
};

use super::{Each, Problems};
use crate::{failure::Failure, input::Conditions, progress::Progress};

/// The most items of a problem that a slate chooses from: it copies their rows, and sets up nothing for more than a few draws.
const MOST: usize = 20_000;

/// A law of sets of one size, over rows whose products are the similarity; `None` for others.
fn slates(problems: &Problems<'_>) -> Result<Option<Slates>, Failure> {
    let input = problems.input;
    if problems.beyond_slates().is_some() {
        return Ok(None);
    }
    let rows = input.rows_of_law(&Conditions { include: Vec::new(), exclude: Vec::new() }, &Engine::cpu())?;
    Ok(match &problems.law.sets {
        Sets::Quota(partition, quota) => Some(Slates::new(&rows, partition, quota)?),
        // No value has enough items for a larger one.
        Sets::OfSize(k) if *k <= input.features.items() => {
            let one = input.one_part()?;
            let quota = Quota::new(&one, [CountRange::from(..=*k)])?.with_total(*k)?;
            Some(Slates::new(&rows, &one, &quota)?)
        }
        _ => None,
    })
}

/// Items in 32 bits.
fn narrow(items: &[usize]) -> Vec<u32> {
    items.iter().filter_map(|&item| u32::try_from(item).ok()).collect()
}

/// The greedy sets of all problems.
pub(crate) struct GreedySets {
    pub(crate) each: Each<Slate<Vec<u32>>>,
    /// How many problems a GPU has left to the CPU; `None` without one.
    pub(crate) left: Option<u64>,
}

impl Problems<'_> {
    /// The problems that slates solve, if these are not among them.
    pub(crate) fn beyond_slates(&self) -> Option<String> {
        let largest = self.groups.largest();
        let has_size = match &self.law.sets {
            Sets::Quota(_, quota) => quota.total().is_some() && !self.law.is_independent,
            Sets::OfSize(_) => true,
            Sets::OfAnySize => false,
        };
        if !has_size {
            Some("sets of a fixed size".into())
        } else if !self.input.is_of_rows() {
            Some("rows that are compared by their products, without a ridge, with a diversity above 0".into())
        } else if self.input.comparison.stands_for.is_some() {
            Some("rows as they are, without --represent".into())
        } else if largest > MOST {
            Some(format!("at most {MOST} items of a value, and one has {largest}"))
        } else {
            None
        }
    }

    /// The conditions of the problems that have any.
    fn narrow_conditions(&self) -> HashMap<usize, [Vec<u32>; 2]> {
        let narrow = |(&group, given): (&usize, &Conditions)| {
            (group, [narrow(&given.include), narrow(&given.exclude)])
        };
        self.conditions.iter().map(narrow).collect()
    }

    fn requests<'r>(&'r self, conditions: &'r HashMap<usize, [Vec<u32>; 2]>) -> Vec<SlateRequest<'r>> {
        let request = |group| {
            let request = SlateRequest::of(self.groups.items(group));
            match conditions.get(&group) {
                Some([include, exclude]) => request.including(include).excluding(exclude),
                None => request,
            }
        };
        (0..self.groups.len()).map(request).collect()
    }

    /// The greedy sets of all problems, if slates find them.
    pub(crate) fn solve_greedily(
        &self,
        engine: &Engine,
        (progress, watch): (&Progress, &Watch),
    ) -> Result<Option<GreedySets>, Failure> {
        let Some(slates) = slates(self)?.map(|slates| slates.with_engine(engine)) else { return Ok(None) };
        let conditions = self.narrow_conditions();
        progress.counted("solving", self.groups.len() as u64);
        let watch = progress.shown(watch, |progress, step| progress.reached(step.steps));
        let solved = slates.solve_watched(&self.requests(&conditions), &watch);
        let each = solved.into_iter().map(|one| one.map_err(Failure::from)).collect();
        Ok(Some(GreedySets { each, left: slates.batched_requests().map(|batched| batched.left) }))
    }

    /// Samples of all problems, if slates draw them.
    pub(crate) fn sample_proposals(
        &self,
        (count, seed): (u64, u64),
        (progress, watch): (&Progress, &Watch),
    ) -> Result<Option<Each<SlateSamples>>, Failure> {
        let (Some(slates), Ok(count)) = (slates(self)?, usize::try_from(count)) else { return Ok(None) };
        let conditions = self.narrow_conditions();
        progress.counted("solving", self.groups.len() as u64);
        let watch = progress.shown(watch, |progress, step| progress.reached(step.steps));
        let solved = slates.sample_watched(&self.requests(&conditions), count, seed, &watch);
        Ok(Some(solved.into_iter().map(|one| one.map_err(Failure::from)).collect()))
    }
}
