//! Problems that slates solve.

use partition_dpp::{
    CountRange, Partition, Quota, Subset, Watch,
    slates::{Slate, SlateRequest, Slates},
};

use super::{Each, Problems};
use crate::{failure::Failure, input::Conditions, law::LawRequest, progress::Progress};

/// A law of sets of one size, over rows whose products are the similarity; `None` for others.
fn slates<'i>(problems: &Problems<'i>) -> Result<Option<Slates<'i>>, Failure> {
    let input = problems.input;
    if !input.is_of_rows() {
        return Ok(None);
    }
    Ok(match problems.law {
        LawRequest::PartitionDpp { partition, quota, .. } if quota.total().is_some() => {
            Some(Slates::new(&input.features, partition, quota)?)
        }
        LawRequest::KDpp { k } => {
            let one = Partition::of((0..input.features.items()).map(|_| "all"))?;
            let quota = Quota::new(&one, [CountRange::from(..=*k)])?.with_total(*k)?;
            Some(Slates::new(&input.features, &one, &quota)?)
        }
        _ => None,
    })
}

/// The conditions of every problem, as items of the whole input.
fn conditions(problems: &Problems<'_>) -> Vec<[Vec<u32>; 2]> {
    let narrow = |items: Vec<usize>| items.into_iter().filter_map(|item| u32::try_from(item).ok()).collect();
    let of_group = |group| {
        let Conditions { include, exclude } = problems.conditions(group);
        [narrow(include), narrow(exclude)]
    };
    (0..problems.groups.len()).map(of_group).collect()
}

impl Problems<'_> {
    fn requests<'r>(&'r self, conditions: &'r [[Vec<u32>; 2]]) -> Vec<SlateRequest<'r>> {
        let request = |(group, [include, exclude]): (usize, &'r [Vec<u32>; 2])| {
            SlateRequest::of(self.groups.items(group)).including(include).excluding(exclude)
        };
        conditions.iter().enumerate().map(request).collect()
    }

    /// The greedy sets of all problems, if slates find them.
    pub(crate) fn solve_greedily(
        &self,
        (progress, watch): (&Progress, &Watch<'_>),
    ) -> Result<Option<Each<Slate<Vec<u32>>>>, Failure> {
        let Some(slates) = slates(self)? else { return Ok(None) };
        let conditions = conditions(self);
        progress.counted("solving", self.groups.len() as u64);
        let report = |reached: partition_dpp::watch::Progress| progress.reached(reached.steps);
        let watch = watch.reporting_to(&report);
        let solved = slates.solve_watched(&self.requests(&conditions), &watch);
        Ok(Some(solved.into_iter().map(|one| one.map_err(Failure::from)).collect()))
    }

    /// Samples of all problems, if slates draw them.
    pub(crate) fn sample_proposals(
        &self,
        (count, seed): (u64, u64),
        (progress, watch): (&Progress, &Watch<'_>),
    ) -> Result<Option<Each<Vec<Subset>>>, Failure> {
        let (Some(slates), Ok(count)) = (slates(self)?, usize::try_from(count)) else { return Ok(None) };
        let conditions = conditions(self);
        progress.counted("solving", self.groups.len() as u64);
        let report = |reached: partition_dpp::watch::Progress| progress.reached(reached.steps);
        let watch = watch.reporting_to(&report);
        let solved = slates.sample_watched(&self.requests(&conditions), count, seed, &watch);
        Ok(Some(solved.into_iter().map(|one| one.map_err(Failure::from)).collect()))
    }
}
