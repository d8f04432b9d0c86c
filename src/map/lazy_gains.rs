//! Gains that are updated only for the items that could be picked.
//!
//! Every part keeps the last known gains of its items as upper bounds, in a heap of two levels. The best items of the
//! previous pick set a floor. Every item whose bound reaches the floor then applies the directions that it has
//! missed, in one visit to its row, until it is up to date or far enough below the floor. All threads visit rows in
//! storage order, which a deeper heap would prevent. Gains, ties and picks equal those of
//! [`PlainGains`](super::plain_gains::PlainGains) on the same machine to the last bit.

use super::{
    Place,
    lazy_visits::{Leaders, Pending, Visits},
    pivots::Gains,
};
use crate::{
    Result,
    engine::{
        Engine, Rows, Top,
        row_kernels::{CHUNK, push_chunks},
    },
    parallel::map_ordered_mut,
};

/// The number of items that share a ceiling.
const BLOCK: usize = 16;
/// The number of items per task, independent of the number of threads.
const TASK: usize = 128 * BLOCK;
/// The number of leaders of all tasks that are visited before the other items.
const FIRST: usize = 32;

/// Upper bounds of gains, by group.
pub(super) struct LazyGains<'c> {
    /// Computes the first gains.
    engine: &'c Engine,
    rows: &'c Rows<'c>,
    /// The directions since the last reset, in chunks.
    directions: Vec<[f64; CHUNK]>,
    groups: Vec<LazyGroup>,
}

/// A heap of two levels: items under the ceilings of their blocks.
#[derive(Default)]
struct LazyGroup {
    /// The gain after `applied` directions, an upper bound of the current gain; −∞ for items that are out.
    bounds: Vec<f64>,
    applied: Vec<u32>,
    /// An upper bound of every [`BLOCK`] bounds.
    ceilings: Vec<f64>,
    /// The best items of each task at its last visit.
    leaders: Vec<Leaders>,
}

impl<'c> LazyGains<'c> {
    pub(super) fn new(engine: &'c Engine, rows: &'c Rows<'c>) -> Self {
        Self { engine, rows, directions: Vec::new(), groups: Vec::new() }
    }
}

impl Gains for LazyGains<'_> {
    fn top(&mut self, group: usize) -> Result<Vec<Top>> {
        let (features, members) = (self.rows.features(), self.rows.groups()[group]);
        let pending = Pending { features, members, directions: &self.directions };
        let group = &mut self.groups[group];
        let floor = group.lead(&pending);
        Ok(group.search(&pending, floor).into_iter().collect())
    }

    fn remove(&mut self, place: Place) {
        // Full groups have no bounds.
        if let Some(bound) = self.groups[place.group].bounds.get_mut(place.position) {
            *bound = f64::NEG_INFINITY;
        }
    }

    fn close(&mut self, group: usize) {
        self.groups[group] = LazyGroup::default();
    }

    fn apply(&mut self, direction: &[f64]) -> Result<()> {
        push_chunks(direction, &mut self.directions);
        Ok(())
    }

    fn reset_to_norms(&mut self) -> Result<()> {
        self.reset(self.engine.row_norms(self.rows)?)
    }

    fn reset(&mut self, gains: Vec<f64>) -> Result<()> {
        self.directions.clear();
        let mut rest = &gains[..];
        self.groups.clear();
        for group in self.rows.groups() {
            let (own, others) = rest.split_at(group.items.len());
            self.groups.push(LazyGroup::new(own.to_vec()));
            rest = others;
        }
        Ok(())
    }
}

impl LazyGroup {
    fn new(bounds: Vec<f64>) -> Self {
        let ceilings = bounds.chunks(BLOCK).map(largest).collect();
        let leaders = bounds.chunks(TASK).enumerate().map(|(task, bounds)| Leaders::of(task * TASK, bounds));
        Self { applied: vec![0; bounds.len()], leaders: leaders.collect(), ceilings, bounds }
    }

    /// A lower bound of the largest gain: the gain of the best leader.
    fn lead(&mut self, pending: &Pending<'_>) -> f64 {
        let mut items: Vec<usize> = self.leaders.iter().flat_map(Leaders::positions).collect();
        items.sort_unstable_by(|&i, &j| self.bounds[j].total_cmp(&self.bounds[i]));
        items.truncate(FIRST);
        let Self { bounds, applied, .. } = self;
        let visits = Visits { start: 0, bounds, applied, items: &items, floor: f64::MIN };
        visits.run(pending).top().map_or(f64::MIN, |top| top.gain)
    }

    /// The largest gain, the first among ties, if it is at least `floor`.
    fn search(&mut self, pending: &Pending<'_>, floor: f64) -> Option<Top> {
        let items = self.bounds.chunks_mut(TASK).zip(self.applied.chunks_mut(TASK));
        let ceilings = self.ceilings.chunks_mut(TASK / BLOCK);
        let tasks = items.zip(ceilings).zip(&mut self.leaders).collect();
        let found = map_ordered_mut(tasks, |task, (((bounds, applied), ceilings), leaders)| {
            let items = waiting(bounds, ceilings, floor);
            let visits = Visits { start: task * TASK, bounds, applied, items: &items, floor };
            let visited = visits.run(pending);
            for (ceiling, block) in ceilings.iter_mut().zip(bounds.chunks(BLOCK)) {
                if *ceiling >= floor {
                    *ceiling = largest(block);
                }
            }
            if visited.top().is_some() {
                *leaders = visited;
            }
            visited.top().filter(|top| top.gain >= floor)
        });
        let mut top = None;
        found.into_iter().for_each(|found| Top::keep_larger(&mut top, found));
        top
    }
}

/// The items of a task whose bounds reach the floor.
fn waiting(bounds: &[f64], ceilings: &[f64], floor: f64) -> Vec<usize> {
    // Branch-free: every position is written, but the count grows only if the item waits.
    let (mut items, mut count) = (vec![0; bounds.len()], 0);
    for (block, bounds) in bounds.chunks(BLOCK).enumerate() {
        if ceilings[block] >= floor {
            for (at, &bound) in bounds.iter().enumerate() {
                items[count] = block * BLOCK + at;
                count += usize::from(bound >= floor);
            }
        }
    }
    items.truncate(count);
    items
}

/// The largest of some bounds.
fn largest(bounds: &[f64]) -> f64 {
    let larger = |x: f64, y: f64| if y > x { y } else { x };
    let (fours, rest) = bounds.as_chunks::<4>();
    // Four independent lanes.
    let mut lanes = [f64::NEG_INFINITY; 4];
    for four in fours {
        lanes.iter_mut().zip(four).for_each(|(lane, &bound)| *lane = larger(*lane, bound));
    }
    lanes.iter().chain(rest).fold(f64::NEG_INFINITY, |max, &bound| larger(max, bound))
}
