//! The gains of all free items: upper bounds that are brought up to date where an item could be the best.

use super::{
    super::{Place, lazy_visits::Leaders},
    KernelModel,
    visits::{Floor, Run, Update},
};
use crate::{
    Result,
    engine::Top,
    parallel::map_ordered_mut,
    similarity::{Factor, FeatureScalar},
};

/// Items that share a ceiling.
const BLOCK: usize = 16;
/// Items of one task, whatever the number of threads.
const TASK: usize = 64 * BLOCK;
/// Leaders of all tasks that are brought up to date before the other items.
const FIRST: usize = 32;

/// An item that is up to date, and its gain.
pub(super) type Leader = (Place, f64);

/// The gains of all groups.
pub(super) struct Gains<'m, T> {
    groups: Vec<Group<'m, T>>,
}

struct Group<'m, T> {
    items: &'m [u32],
    bounds: Vec<f64>,
    applied: Vec<u32>,
    /// Item after item, room for all picks.
    coefficients: Vec<T>,
    /// An upper bound of the bounds of each [`BLOCK`] items.
    ceilings: Vec<f64>,
    /// The best items of each task at its last visit.
    leaders: Vec<Leaders>,
}

impl<'m, T: FeatureScalar> Gains<'m, T> {
    /// The gains before any pick, with room for so many.
    pub(super) fn new(model: &'m KernelModel<'_>, picks: usize) -> Self {
        let groups = model.groups.iter().map(|items| {
            let bounds: Vec<f64> = items.iter().map(|&item| model.diagonal[item as usize]).collect();
            let leaders =
                bounds.chunks(TASK).enumerate().map(|(task, bounds)| Leaders::of(task * TASK, bounds));
            Group {
                items,
                applied: vec![0; items.len()],
                coefficients: vec![T::zeroed(); items.len() * picks],
                ceilings: bounds.chunks(BLOCK).map(largest).collect(),
                leaders: leaders.collect(),
                bounds,
            }
        });
        Self { groups: groups.collect() }
    }

    pub(super) fn remove(&mut self, place: Place) {
        // Closed groups have no bounds.
        if let Some(bound) = self.groups[place.group].bounds.get_mut(place.position) {
            *bound = f64::NEG_INFINITY;
        }
    }

    /// Removes a group, and frees its memory.
    pub(super) fn close(&mut self, group: usize) {
        let (bounds, applied, coefficients) = (Vec::new(), Vec::new(), Vec::new());
        self.groups[group] =
            Group { items: &[], bounds, applied, coefficients, ceilings: Vec::new(), leaders: Vec::new() };
    }

    /// The item with the largest known gain, up to date or not.
    pub(super) fn last_known(&self, allowed: impl Fn(usize) -> bool) -> Option<Place> {
        let mut best: Option<(Place, f64)> = None;
        for (group, known) in self.groups.iter().enumerate().filter(|(group, _)| allowed(*group)) {
            let Some(Top { position, gain }) = Top::of(&known.bounds) else { continue };
            if best.is_none_or(|(_, most)| gain > most) {
                best = Some((Place { group, position }, gain));
            }
        }
        best.map(|(place, _)| place)
    }

    /// The best items of every task, up to date, that reach the least gain of their group (`None`: no item of the group)
    /// and the best of all within the slack; best first, ties in item order.
    pub(super) fn best(
        &mut self,
        factor: &Factor<'_>,
        least: &[Option<f64>],
        update: Update,
        slack: f64,
    ) -> Result<Vec<Leader>> {
        let lead = match update {
            Update::Every => f64::NEG_INFINITY,
            Update::Needed => self.lead(factor, least)?,
        };
        let mut tasks = Vec::new();
        for (group, (known, least)) in self.groups.iter_mut().zip(least).enumerate() {
            let Some(least) = least else { continue };
            let floor = Floor { update, gain: least.max(lead), slack };
            tasks.extend(known.tasks().map(|task| (group, floor, task)));
        }
        let found = map_ordered_mut(tasks, |_, (group, floor, mut task): (usize, Floor, Task<'_, T>)| {
            task.search(factor, floor).map(|leaders| (group, task.start, leaders))
        });
        let mut all = Vec::new();
        for found in found {
            let (group, start, leaders) = found?;
            let of_task =
                leaders.all().map(|top| (Place { group, position: start + top.position }, top.gain));
            all.extend(of_task.filter(|(_, gain)| least[group].is_some_and(|least| *gain >= least - slack)));
        }
        let item = |place: &Place| self.groups[place.group].items[place.position];
        all.sort_by(|(x, a), (y, b)| b.total_cmp(a).then_with(|| item(x).cmp(&item(y))));
        Ok(all)
    }

    /// A lower bound of the largest gain: that of the best leader.
    fn lead(&mut self, factor: &Factor<'_>, least: &[Option<f64>]) -> Result<f64> {
        let open = |group: &usize| least[*group].is_some();
        let mut leaders: Vec<Leader> = Vec::new();
        for group in (0..self.groups.len()).filter(open) {
            let known = &self.groups[group];
            let positions = known.leaders.iter().flat_map(Leaders::positions);
            leaders.extend(positions.map(|position| (Place { group, position }, known.bounds[position])));
        }
        leaders.retain(|(_, bound)| *bound > f64::NEG_INFINITY);
        leaders.sort_by(|(x, a), (y, b)| b.total_cmp(a).then_with(|| x.cmp(y)));
        leaders.truncate(FIRST);
        let mut lead = f64::NEG_INFINITY;
        for (place, _) in leaders {
            let floor = Floor { update: Update::Every, gain: f64::NEG_INFINITY, slack: 0.0 };
            let known = &mut self.groups[place.group];
            known.whole().visit(factor, &[place.position], floor)?;
            let reaches = least[place.group].is_some_and(|least| known.bounds[place.position] >= least);
            lead = if reaches { lead.max(known.bounds[place.position]) } else { lead };
        }
        Ok(lead)
    }
}

/// A run of items of a group.
struct Task<'a, T> {
    start: usize,
    items: Run<'a, T>,
    ceilings: &'a mut [f64],
    leaders: &'a mut Leaders,
}

impl<T: FeatureScalar> Group<'_, T> {
    fn whole(&mut self) -> Run<'_, T> {
        let Self { items, bounds, applied, coefficients, .. } = self;
        Run { items, bounds, applied, coefficients }
    }

    fn tasks(&mut self) -> impl Iterator<Item = Task<'_, T>> {
        let stride = if self.items.is_empty() { 1 } else { self.coefficients.len() / self.items.len() };
        let known = self.bounds.chunks_mut(TASK).zip(self.applied.chunks_mut(TASK));
        let stored = self.items.chunks(TASK).zip(self.coefficients.chunks_mut(TASK * stride));
        let above = self.ceilings.chunks_mut(TASK / BLOCK).zip(&mut self.leaders);
        known.zip(stored).zip(above).enumerate().map(
            |(task, (((bounds, applied), (items, coefficients)), above))| {
                let items = Run { items, bounds, applied, coefficients };
                Task { start: task * TASK, items, ceilings: above.0, leaders: above.1 }
            },
        )
    }
}

impl<T: FeatureScalar> Task<'_, T> {
    /// The best items of the task, if any could reach the floor.
    fn search(&mut self, factor: &Factor<'_>, floor: Floor) -> Result<Leaders> {
        let least = match floor.update {
            Update::Every => f64::MIN,
            Update::Needed => floor.gain - floor.slack,
        };
        let mut waiting = Vec::new();
        for (block, bounds) in self.items.bounds.chunks(BLOCK).enumerate() {
            if self.ceilings[block] >= least {
                let reaching = bounds.iter().enumerate().filter(|(_, bound)| **bound >= least);
                waiting.extend(reaching.map(|(at, _)| block * BLOCK + at));
            }
        }
        if waiting.is_empty() {
            return Ok(Leaders::default());
        }
        let visited = self.items.visit(factor, &waiting, floor)?;
        for (ceiling, block) in self.ceilings.iter_mut().zip(self.items.bounds.chunks(BLOCK)) {
            if *ceiling >= least {
                *ceiling = largest(block);
            }
        }
        if visited.top().is_some() {
            *self.leaders = Leaders::default();
            visited
                .all()
                .for_each(|top| self.leaders.offer(Top { position: self.start + top.position, ..top }));
        }
        Ok(visited)
    }
}

fn largest(bounds: &[f64]) -> f64 {
    bounds.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}
