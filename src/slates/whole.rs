//! A request as a separate model.

use super::{Candidate, SlateWorkspace, Slates};
use crate::{
    PartitionDpp, Result,
    engine::Engine,
    map::{Greedy, Solution, Solver},
};

/// The model of the candidates and the included items.
pub(super) struct Whole {
    pub(super) dpp: PartitionDpp,
    /// The items of the model, by their numbers in the matrix, ascending.
    items: Vec<usize>,
}

impl Whole {
    /// The model of the request in a workspace, whose candidates are [listed](super::proposals::Proposals::list).
    pub(super) fn of(slates: &Slates, workspace: &SlateWorkspace, included: usize) -> Result<Self> {
        let Slates { features, partition, quota, .. } = slates;
        let SlateWorkspace { items, candidates, proposals, .. } = workspace;
        let included = &items[..included];
        let score = |&at: &u32| {
            let Candidate { item, log_quality, .. } = candidates[at as usize];
            (item as usize, 0.5 * log_quality)
        };
        let mut all: Vec<(usize, f64)> = proposals.listed().iter().map(score).collect();
        all.extend(included.iter().map(|&item| (item as usize, 0.0)));
        all.sort_unstable_by_key(|&(item, _)| item);
        let (items, log_quality): (Vec<usize>, Vec<f64>) = all.into_iter().unzip();
        let features = features.restricted_to(&items)?.with_log_quality(&log_quality)?;
        let partition = partition.restricted_to(&items)?;
        let quota = quota.fitted_to(&partition)?;
        let place = |item: &u32| items.partition_point(|other| *other < *item as usize);
        let included: Vec<usize> = included.iter().map(place).collect();
        let dpp = PartitionDpp::new(&features, &partition, &quota)?.including(&included)?;
        Ok(Self { dpp, items })
    }

    /// Adds the items of a set that are not yet in `items`.
    pub(super) fn add(&self, set: impl Iterator<Item = usize>, items: &mut Vec<u32>) {
        let there = items.len();
        for at in set {
            #[expect(clippy::cast_possible_truncation, reason = "items are counted in 32 bits")]
            let item = self.items[at] as u32;
            if !items[..there].contains(&item) {
                items.push(item);
            }
        }
    }

    /// Finds the greedy set, repaired if it ends early; returns ln det.
    pub(super) fn solve(&self, items: &mut Vec<u32>) -> Result<f64> {
        let Solution { subset, log_det, .. } = Greedy::default().solve(&self.dpp, Engine::host())?;
        self.add(subset.iter(), items);
        Ok(log_det)
    }
}
