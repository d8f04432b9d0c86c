//! The gains of all free items: upper bounds that are updated if an item could be the best.

use super::{
    super::{Place, lazy_visits::Leaders},
    KernelModel,
    quality::power_of_two,
    visits::{Floor, Run},
};
use crate::{
    Result,
    engine::Top,
    parallel::map_ordered_mut,
    similarity::{Factor, FeatureScalar},
};

/// The number of items that share a ceiling.
const BLOCK: usize = 16;
/// The number of items per task, independent of the number of threads.
const TASK: usize = 64 * BLOCK;
/// The number of leaders of all tasks that are updated before the other items.
const FIRST: usize = 32;

/// An item that is up to date.
#[derive(Clone, Copy, Debug)]
pub(super) struct Leader {
    pub(super) place: Place,
    /// The residual d_j.
    pub(super) residual: f64,
    /// The factor from the residual to the gain: q_j² in units of the reference.
    pub(super) scale: f64,
}

impl Leader {
    fn gain(&self) -> f64 {
        self.residual * self.scale
    }
}

/// The gains q_j² d_j of all groups, in units of a power of two.
pub(super) struct Gains<'m, 'k, T> {
    model: &'m KernelModel<'k>,
    groups: Vec<Group<'m, T>>,
    /// The exponent of the unit.
    reference: i64,
}

struct Group<'m, T> {
    items: &'m [u32],
    /// The diagonal entries K_jj.
    diagonal: Vec<f64>,
    /// The q_j² in units of the reference.
    scales: Vec<f64>,
    bounds: Vec<f64>,
    applied: Vec<u32>,
    /// Coefficients item by item, with room for all picks.
    coefficients: Vec<T>,
    /// The bounds of every [`BLOCK`] items.
    blocks: Vec<Block>,
    /// The best items of each task at its last visit.
    leaders: Vec<Leaders>,
}

/// Upper bounds of some items.
#[derive(Clone, Copy)]
struct Block {
    /// An upper bound of their gains.
    gain: f64,
    /// An upper bound of K_jj in the units of gains.
    diagonal: f64,
}

impl<'m, 'k, T: FeatureScalar> Gains<'m, 'k, T> {
    /// The gains before any pick, with room for this many picks.
    pub(super) fn new(model: &'m KernelModel<'k>, picks: usize) -> Self {
        let groups = model.groups.iter().map(|items| {
            let diagonal: Vec<f64> = items.iter().map(|&item| model.diagonal[item as usize]).collect();
            Group {
                items,
                applied: vec![0; items.len()],
                coefficients: vec![T::zeroed(); items.len() * picks],
                bounds: diagonal.clone(),
                scales: vec![1.0; items.len()],
                diagonal,
                blocks: Vec::new(),
                leaders: Vec::new(),
            }
        });
        let mut gains = Self { model, groups: groups.collect(), reference: 0 };
        gains.measure_in(0);
        gains.rescale(|_| Some(f64::NEG_INFINITY));
        gains
    }

    /// Sets the unit of gains to the largest gain that matters. Returns whether the unit changes.
    ///
    /// A group matters if it has a least gain and its largest gain is at least that.
    pub(super) fn rescale(&mut self, least_log: impl Fn(usize) -> Option<f64>) -> bool {
        let Some(quality) = &self.model.quality else { return false };
        let exponents = self.groups.iter().enumerate().filter_map(|(group, known)| {
            let least = least_log(group)?;
            let positive = known.items.iter().zip(&known.bounds).filter(|(_, bound)| **bound > 0.0);
            let of_items = positive.map(|(&item, &bound)| quality.exponent(item as usize, bound));
            of_items.max().filter(|exponent| *exponent as f64 >= least)
        });
        let Some(reference) = exponents.max().filter(|reference| *reference != self.reference) else {
            return false;
        };
        self.measure_in(reference);
        true
    }

    fn measure_in(&mut self, reference: i64) {
        self.reference = reference;
        for known in &mut self.groups {
            if let Some(quality) = &self.model.quality {
                let scale = |&item: &u32| quality.scale(item as usize, reference);
                known.scales = known.items.iter().map(scale).collect();
            }
            known.summarise();
        }
    }

    /// A gain of 1 in the unit of gains.
    pub(super) fn one(&self) -> f64 {
        power_of_two(self.reference.saturating_neg())
    }

    pub(super) fn remove(&mut self, place: Place) {
        // Closed groups have no bounds.
        if let Some(bound) = self.groups[place.group].bounds.get_mut(place.position) {
            *bound = f64::NEG_INFINITY;
        }
    }

    /// Removes a group and frees its memory.
    pub(super) fn close(&mut self, group: usize) {
        self.groups[group] = Group {
            items: &[],
            diagonal: Vec::new(),
            scales: Vec::new(),
            bounds: Vec::new(),
            applied: Vec::new(),
            coefficients: Vec::new(),
            blocks: Vec::new(),
            leaders: Vec::new(),
        };
    }

    /// The item with the largest known gain, up to date or not.
    pub(super) fn last_known(&self, allowed: impl Fn(usize) -> bool) -> Option<Place> {
        let mut best: Option<(Place, f64)> = None;
        for (group, known) in self.groups.iter().enumerate().filter(|(group, _)| allowed(*group)) {
            for position in (0..known.bounds.len()).filter(|&at| known.bounds[at] > f64::NEG_INFINITY) {
                let gain = known.gain(position);
                if best.is_none_or(|(_, most)| gain > most) {
                    best = Some((Place { group, position }, gain));
                }
            }
        }
        best.map(|(place, _)| place)
    }

    /// The best items of every task, up to date; best first, ties in item order.
    ///
    /// Their gains could reach the least gain of their group (`None` skips the group) and the best gain, if residuals
    /// are off by `noise` times K_jj.
    pub(super) fn best(
        &mut self,
        factor: &Factor<'_>,
        least: &[Option<f64>],
        noise: f64,
    ) -> Result<Vec<Leader>> {
        let lead = self.lead(factor, least)?;
        let mut tasks = Vec::new();
        for (group, (known, least)) in self.groups.iter_mut().zip(least).enumerate() {
            let Some(least) = least else { continue };
            let floor = Floor { gain: least.max(lead), noise };
            tasks.extend(known.tasks().map(|task| (group, floor, task)));
        }
        let found = map_ordered_mut(tasks, |_, (group, floor, mut task): (usize, Floor, Task<'_, T>)| {
            task.search(factor, floor).map(|leaders| (group, task.start, leaders))
        });
        let mut all = Vec::new();
        for found in found {
            let (group, start, leaders) = found?;
            let known = &self.groups[group];
            let positions = leaders.positions().map(|position| start + position);
            let reaches = |&position: &usize| {
                least[group].is_some_and(|least| known.gain_within(position, noise) >= least)
            };
            all.extend(positions.filter(reaches).map(|position| {
                let place = Place { group, position };
                Leader { place, residual: known.bounds[position], scale: known.scales[position] }
            }));
        }
        let item = |leader: &Leader| self.model.item(leader.place);
        all.sort_by(|a, b| b.gain().total_cmp(&a.gain()).then_with(|| item(a).cmp(&item(b))));
        Ok(all)
    }

    /// A lower bound of the largest gain: the gain of the best leader.
    fn lead(&mut self, factor: &Factor<'_>, least: &[Option<f64>]) -> Result<f64> {
        let open = |group: &usize| least[*group].is_some();
        let mut leaders: Vec<(Place, f64)> = Vec::new();
        for group in (0..self.groups.len()).filter(open) {
            let known = &self.groups[group];
            let positions = known.leaders.iter().flat_map(Leaders::positions);
            leaders.extend(positions.map(|position| (Place { group, position }, known.gain(position))));
        }
        leaders.retain(|(_, bound)| *bound > f64::NEG_INFINITY);
        leaders.sort_by(|(x, a), (y, b)| b.total_cmp(a).then_with(|| x.cmp(y)));
        leaders.truncate(FIRST);
        let mut lead = f64::NEG_INFINITY;
        for (place, _) in leaders {
            let floor = Floor { gain: f64::NEG_INFINITY, noise: 0.0 };
            let known = &mut self.groups[place.group];
            known.whole().visit(factor, &[place.position], floor)?;
            let gain = known.gain(place.position);
            if least[place.group].is_some_and(|least| gain >= least) {
                lead = lead.max(gain);
            }
        }
        Ok(lead)
    }
}

/// A run of items of a group.
struct Task<'a, T> {
    start: usize,
    items: Run<'a, T>,
    blocks: &'a mut [Block],
    leaders: &'a mut Leaders,
}

impl<T: FeatureScalar> Group<'_, T> {
    fn gain(&self, position: usize) -> f64 {
        self.bounds[position] * self.scales[position]
    }

    /// The largest possible gain if the residual is off by this fraction of K_jj.
    fn gain_within(&self, position: usize, noise: f64) -> f64 {
        (self.bounds[position] + noise * self.diagonal[position]) * self.scales[position]
    }

    /// Computes the summaries of blocks and tasks from the bounds.
    fn summarise(&mut self) {
        let gains: Vec<f64> = (0..self.bounds.len()).map(|position| self.gain(position)).collect();
        let leaders = gains.chunks(TASK).enumerate().map(|(task, gains)| Leaders::of(task * TASK, gains));
        self.leaders = leaders.collect();
        let diagonal = self.diagonal.chunks(BLOCK).zip(self.scales.chunks(BLOCK));
        let blocks = gains.chunks(BLOCK).zip(diagonal);
        self.blocks = blocks
            .map(|(gains, (diagonal, scales))| Block {
                gain: largest(gains.iter().copied()),
                diagonal: largest(diagonal.iter().zip(scales).map(|(x, scale)| x * scale)),
            })
            .collect();
    }

    fn whole(&mut self) -> Run<'_, T> {
        let Self { items, diagonal, scales, bounds, applied, coefficients, .. } = self;
        Run { items, diagonal, scales, bounds, applied, coefficients }
    }

    fn tasks(&mut self) -> impl Iterator<Item = Task<'_, T>> {
        let stride = if self.items.is_empty() { 1 } else { self.coefficients.len() / self.items.len() };
        let known = self.bounds.chunks_mut(TASK).zip(self.applied.chunks_mut(TASK));
        let stored = self.items.chunks(TASK).zip(self.coefficients.chunks_mut(TASK * stride));
        let sizes = self.diagonal.chunks(TASK).zip(self.scales.chunks(TASK));
        let above = self.blocks.chunks_mut(TASK / BLOCK).zip(&mut self.leaders);
        known.zip(stored).zip(sizes.zip(above)).enumerate().map(
            |(task, (((bounds, applied), (items, coefficients)), ((diagonal, scales), above)))| {
                let items = Run { items, diagonal, scales, bounds, applied, coefficients };
                Task { start: task * TASK, items, blocks: above.0, leaders: above.1 }
            },
        )
    }
}

impl<T: FeatureScalar> Task<'_, T> {
    /// The best items of the task, if any could reach the floor.
    fn search(&mut self, factor: &Factor<'_>, floor: Floor) -> Result<Leaders> {
        let reaches = |block: &Block| block.gain + floor.noise * block.diagonal >= floor.gain;
        let mut waiting = Vec::new();
        for (at, _) in self.blocks.iter().enumerate().filter(|(_, block)| reaches(block)) {
            let positions = at * BLOCK..self.items.items.len().min((at + 1) * BLOCK);
            waiting.extend(positions.filter(|&at| self.items.gain_within(at, floor.noise) >= floor.gain));
        }
        if waiting.is_empty() {
            return Ok(Leaders::default());
        }
        let visited = self.items.visit(factor, &waiting, floor)?;
        for (at, block) in self.blocks.iter_mut().enumerate().filter(|(_, block)| reaches(block)) {
            let positions = at * BLOCK..self.items.items.len().min((at + 1) * BLOCK);
            block.gain = largest(positions.map(|at| self.items.gain_within(at, 0.0)));
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

fn largest(bounds: impl Iterator<Item = f64>) -> f64 {
    bounds.fold(f64::NEG_INFINITY, f64::max)
}
