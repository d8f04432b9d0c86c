//! Greedy picks for coverage, with bounds of gains: Minoux's accelerated greedy algorithm.

use std::{cmp::Ordering, collections::BinaryHeap};

use super::{
    super::{
        super::{
            Place, Stats,
            greedy_loop::{FillStep, Picked, Picks, Source, Step},
            watch::Clock,
        },
        KernelModel,
    },
    regions::Regions,
};
use crate::{Result, engine::Demand};

/// The most items whose gains are computed at a time.
const MOST: usize = 64;
/// The number of gains that are computed first after each pick.
const FEWEST: usize = 8;

/// Picks until the counts are met, unless the flag of a watch is set.
pub(super) fn pick<'k>(
    model: &KernelModel<'k>,
    regions: &mut Regions<'_, 'k>,
    clock: &Clock,
    stats: &mut Stats,
) -> Result<Picked> {
    let mut picks = Picks::new(&model.counts, vec![0; model.groups.len()]);
    let start = regions.total();
    let mut search = Search::new(model, regions);
    picks.run(&mut search, &|picked| {
        clock.report(start + picked.gains.iter().sum::<f64>(), None, picked.places.len() as u64);
        clock.stopped()
    })?;
    stats.evaluations += search.evaluations;
    Ok(picks.into_picked())
}

struct Search<'s, 'm, 'k> {
    model: &'s KernelModel<'k>,
    regions: &'s mut Regions<'m, 'k>,
    /// The items of every group that can be picked.
    queues: Vec<BinaryHeap<Candidate>>,
    /// The number of gains to compute next.
    count: usize,
    evaluations: u64,
}

/// An item with an upper bound of its gain. Gains fall as more items are chosen.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    bound: f64,
    /// The version of its region for which the bound is exact.
    version: Option<u32>,
    item: u32,
    position: u32,
}

impl<'s, 'm, 'k> Search<'s, 'm, 'k> {
    fn new(model: &'s KernelModel<'k>, regions: &'s mut Regions<'m, 'k>) -> Self {
        let unknown = |(position, &item): (u32, &u32)| Candidate {
            bound: f64::INFINITY,
            version: None,
            item,
            position,
        };
        let queues = model.groups.iter().map(|items| (0..).zip(items).map(unknown).collect()).collect();
        Self { model, regions, queues, count: MOST, evaluations: 0 }
    }

    /// The group of the best candidate that the counts allow.
    ///
    /// Candidates that are not needed must have a positive bound.
    fn first(&self, picks: &Picks<'_>) -> Option<usize> {
        let tops = picks.groups(Demand::Optional).filter_map(|group| {
            let top = self.queues[group].peek()?;
            let is_wanted = picks.demands()[group] == Demand::Needed || top.bound > 0.0;
            is_wanted.then_some((top, group))
        });
        tops.max_by(|(one, _), (other, _)| one.cmp(other)).map(|(_, group)| group)
    }

    fn is_exact(&self, candidate: &Candidate) -> bool {
        candidate.version == Some(self.regions.version(self.regions.of(candidate.item)))
    }

    /// Computes the gains of the first candidates of a group whose bounds are not exact.
    fn refresh(&mut self, group: usize) -> Result<()> {
        let mut first: Vec<Candidate> = Vec::new();
        while let Some(top) = self.queues[group].peek().filter(|_| first.len() < self.count) {
            if self.is_exact(top) {
                break;
            }
            first.extend(self.queues[group].pop());
        }
        let region = |candidate: &Candidate| self.regions.of(candidate.item);
        first.sort_by_key(region);
        for own in first.chunk_by(|one, next| region(one) == region(next)) {
            let items: Vec<u32> = own.iter().map(|candidate| candidate.item).collect();
            let version = Some(self.regions.version(region(&own[0])));
            for (candidate, gain) in own.iter().zip(self.regions.gains(region(&own[0]), &items)?) {
                let bound = gain + self.model.log_square(candidate.item as usize);
                self.queues[group].push(Candidate { bound, version, ..*candidate });
            }
        }
        self.evaluations += first.len() as u64;
        self.count = (2 * self.count).min(MOST);
        Ok(())
    }

    /// Takes the first candidate of a group.
    fn take(&mut self, picks: &mut Picks<'_>, group: usize) -> Result<FillStep> {
        let Some(Candidate { bound, item, position, version }) = self.queues[group].pop() else {
            return Ok(FillStep::Nothing);
        };
        self.regions.insert(item)?;
        let gain = if version.is_some() { bound } else { 0.0 };
        picks.add(Place { group, position: position as usize }, gain);
        self.count = FEWEST;
        Ok(FillStep::Picked)
    }
}

impl Source for Search<'_, '_, '_> {
    fn step(&mut self, picks: &mut Picks<'_>) -> Result<Step> {
        let Some(group) = self.first(picks) else { return Ok(Step::Nothing) };
        if self.queues[group].peek().is_some_and(|top| self.is_exact(top)) {
            self.take(picks, group)?;
        } else {
            self.refresh(group)?;
        }
        Ok(Step::Made)
    }

    fn fill_one(&mut self, picks: &mut Picks<'_>) -> Result<FillStep> {
        // Items that were never looked at come last.
        for queue in self.queues.iter_mut().filter(|queue| {
            queue.peek().is_some_and(|top| top.version.is_none() && top.bound > f64::NEG_INFINITY)
        }) {
            let last = |candidate: Candidate| match candidate.version {
                Some(_) => candidate,
                None => Candidate { bound: f64::NEG_INFINITY, ..candidate },
            };
            *queue = std::mem::take(queue).into_iter().map(last).collect();
        }
        let top = |group: &usize| self.queues[*group].peek();
        let needed = picks.groups(Demand::Needed).filter(|group| top(group).is_some());
        match needed.max_by(|one, other| top(one).cmp(&top(other))) {
            Some(group) => self.take(picks, group),
            None => Ok(FillStep::Nothing),
        }
    }
}

impl Ord for Candidate {
    fn cmp(&self, other: &Self) -> Ordering {
        self.bound.total_cmp(&other.bound).then_with(|| other.item.cmp(&self.item))
    }
}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Candidate {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Candidate {}
