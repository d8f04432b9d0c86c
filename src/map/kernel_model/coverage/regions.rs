//! The similarity of every item to the chosen items that may cover it.

use crate::{
    Partition, Result,
    parallel::{fold_ordered, map_ordered_mut},
    similarity::{Columns, KernelFunction, check_finite},
};

/// The number of items per task.
const TASK: usize = 512;
/// The number of tasks whose sums are in memory at a time.
const WAVE: usize = 64;
/// Marks a missing slot.
const NONE: u32 = u32::MAX;

/// The items of every part, or all items, with the chosen items in slots.
pub(super) struct Regions<'m, 'k> {
    kernel: &'k dyn KernelFunction,
    partition: Option<&'m Partition>,
    known: Vec<Region>,
    /// The item in every slot; `None` once it has left.
    slots: Vec<Option<u32>>,
}

/// Items that cover each other.
struct Region {
    items: Vec<u32>,
    covers: Vec<Cover>,
    /// The number of changes of the chosen items of this region.
    version: u32,
}

/// The two largest positive similarities of an item to chosen ones, and their slots.
#[derive(Clone, Copy)]
struct Cover {
    best: f64,
    second: f64,
    nearest: u32,
    runner_up: u32,
}

/// The effects of adding some items of a region to a set, with or without removing a chosen item.
pub(super) struct Effects {
    /// The increase of the total by each item if none leaves.
    pub(super) gains: Vec<f64>,
    /// The part of each slot's loss that each item prevents, item by item.
    prevented: Vec<f64>,
    /// The slots of the region, ascending.
    slots: Vec<u32>,
}

impl Effects {
    /// The part of a slot's loss that an item prevents.
    pub(super) fn prevented(&self, item: usize, slot: usize) -> f64 {
        let own = self.slots.binary_search_by(|&own| (own as usize).cmp(&slot));
        own.map_or(0.0, |own| self.prevented[item * self.slots.len() + own])
    }
}

impl Cover {
    const NONE: Self = Self { best: 0.0, second: 0.0, nearest: NONE, runner_up: NONE };

    fn insert(&mut self, slot: u32, similarity: f64) {
        if similarity > self.best {
            *self = Self { best: similarity, second: self.best, nearest: slot, runner_up: self.nearest };
        } else if similarity > self.second {
            (self.second, self.runner_up) = (similarity, slot);
        }
    }
}

impl<'m, 'k> Regions<'m, 'k> {
    /// Creates the regions without chosen items.
    pub(super) fn new(kernel: &'k dyn KernelFunction, partition: Option<&'m Partition>) -> Self {
        let of_items = |items: Vec<u32>| Region { covers: vec![Cover::NONE; items.len()], items, version: 0 };
        #[expect(clippy::cast_possible_truncation, reason = "items are counted in 32 bits")]
        let all = || (0..kernel.items() as u32).collect();
        let known = match partition {
            Some(parts) => (0..parts.parts()).map(|part| of_items(parts.members(part).to_vec())).collect(),
            None => vec![of_items(all())],
        };
        Self { kernel, partition, known, slots: Vec::new() }
    }

    /// The region of this item.
    pub(super) fn of(&self, item: u32) -> usize {
        self.partition.map_or(0, |parts| parts.part_of(item as usize))
    }

    /// The number of changes of the chosen items of a region.
    pub(super) fn version(&self, region: usize) -> u32 {
        self.known[region].version
    }

    /// The coverage Σ_i max(0, max_s K_is).
    pub(super) fn total(&self) -> f64 {
        let of_region = |region: &Region| region.covers.iter().map(|cover| cover.best).sum::<f64>();
        self.known.iter().map(of_region).sum()
    }

    /// The decrease of the total if the item of each slot leaves.
    pub(super) fn losses(&self) -> Vec<f64> {
        let mut losses = vec![0.0; self.slots.len()];
        let covers = self.known.iter().flat_map(|region| &region.covers);
        for cover in covers.filter(|cover| cover.nearest != NONE) {
            losses[cover.nearest as usize] += cover.best - cover.second;
        }
        losses
    }

    /// Adds an item in a new slot.
    pub(super) fn insert(&mut self, item: u32) -> Result<()> {
        self.slots.push(None);
        self.put(self.slots.len() - 1, item)
    }

    /// Puts an item into an empty slot.
    ///
    /// # Cost
    /// One entry of the kernel per item of the region.
    pub(super) fn put(&mut self, slot: usize, item: u32) -> Result<()> {
        let region = self.of(item);
        let known = &mut self.known[region];
        let mut similarities = vec![0.0; known.items.len()];
        self.kernel.column(item as usize, &known.items, &mut similarities);
        #[expect(clippy::cast_possible_truncation, reason = "slots hold items, counted in 32 bits")]
        let own = slot as u32;
        for ((cover, &other), similarity) in known.covers.iter_mut().zip(&known.items).zip(similarities) {
            check_finite(other as usize, item as usize, similarity)?;
            cover.insert(own, similarity);
        }
        known.version += 1;
        self.slots[slot] = Some(item);
        Ok(())
    }

    /// Empties a slot.
    ///
    /// # Cost
    /// The entries of the region's other chosen items, for each item to which the removed one was among the two most
    /// similar.
    pub(super) fn take(&mut self, slot: usize) -> Result<()> {
        let Some(item) = self.slots[slot].take() else { return Ok(()) };
        let region = self.of(item);
        let others = self.chosen_in(region);
        let mut columns = Columns::new(self.kernel.width());
        others.iter().for_each(|&slot| {
            if let Some(item) = self.slots[slot as usize] {
                columns.push(self.kernel, item as usize);
            }
        });
        let (kernel, known) = (self.kernel, &mut self.known[region]);
        #[expect(clippy::cast_possible_truncation, reason = "slots hold items, counted in 32 bits")]
        let left = slot as u32;
        let tasks = known.covers.chunks_mut(TASK).zip(known.items.chunks(TASK)).collect();
        let done = map_ordered_mut(tasks, |_, (covers, items): (&mut [Cover], &[u32])| {
            let (mut buffer, mut entries) = (Vec::new(), vec![0.0; others.len()]);
            let loses = |cover: &Cover| [cover.nearest, cover.runner_up].contains(&left);
            for (cover, &item) in covers.iter_mut().zip(items).filter(|(cover, _)| loses(cover)) {
                kernel.entries(item as usize, columns.range(0, others.len()), &mut buffer, &mut entries);
                check(item, columns.items(), &entries)?;
                *cover = Cover::NONE;
                others.iter().zip(&entries).for_each(|(&slot, &entry)| cover.insert(slot, entry));
            }
            Ok(())
        });
        known.version += 1;
        done.into_iter().collect()
    }

    /// Removes the last slot, which is empty.
    pub(super) fn forget_last(&mut self) {
        self.slots.pop();
    }

    /// The slots of the chosen items of a region.
    fn chosen_in(&self, region: usize) -> Vec<u32> {
        let is_within = |item: &Option<u32>| item.is_some_and(|item| self.of(item) == region);
        (0..).zip(&self.slots).filter(|(_, item)| is_within(item)).map(|(slot, _)| slot).collect()
    }

    /// The increase of the total by each of some items of a region.
    ///
    /// ```text
    /// Σ_i max(0, K_ij − best_i)
    /// ```
    ///
    /// # Cost
    /// The entries of these items with all items of their region.
    pub(super) fn gains(&self, region: usize, items: &[u32]) -> Result<Vec<f64>> {
        self.sums(region, items, items.len(), |cover, entries, sums| {
            for (sum, entry) in sums.iter_mut().zip(entries) {
                *sum += (entry - cover.best).max(0.0);
            }
        })
    }

    /// The effects of adding some items of a region, for any chosen item that leaves.
    ///
    /// ```text
    /// without s, with j:  Σ_i max(0, K_ij − best_i) − Σ_{i nearest to s} (best_i − second_i − max(0, min(K_ij, best_i) − second_i))
    /// ```
    ///
    /// # Cost
    /// The same as [`gains`](Self::gains).
    pub(super) fn effects(&self, region: usize, items: &[u32]) -> Result<Effects> {
        let (count, slots) = (items.len(), self.chosen_in(region));
        let mut own = vec![0; self.slots.len()];
        slots.iter().enumerate().for_each(|(at, &slot)| own[slot as usize] = at);
        let mut gains = self.sums(region, items, count * (1 + slots.len()), |cover, entries, sums| {
            let (gains, prevented) = sums.split_at_mut(count);
            for (gain, entry) in gains.iter_mut().zip(entries) {
                *gain += (entry - cover.best).max(0.0);
            }
            if cover.nearest != NONE {
                let nearest = prevented.iter_mut().skip(own[cover.nearest as usize]).step_by(slots.len());
                for (sum, entry) in nearest.zip(entries) {
                    *sum += (entry.min(cover.best) - cover.second).max(0.0);
                }
            }
        })?;
        let prevented = gains.split_off(count);
        Ok(Effects { gains, prevented, slots })
    }

    /// Adds up, over the items of a region, the contributions of their entries with `items`.
    fn sums(
        &self,
        region: usize,
        items: &[u32],
        count: usize,
        add: impl Fn(&Cover, &[f64], &mut [f64]) + Sync,
    ) -> Result<Vec<f64>> {
        let mut columns = Columns::new(self.kernel.width());
        items.iter().for_each(|&item| columns.push(self.kernel, item as usize));
        let Region { items: covered, covers, .. } = &self.known[region];
        // Adding up the sums of a task costs less than computing them.
        let length = TASK.max(4 * count / items.len().max(1));
        let of_task = |task: usize| -> Result<Vec<f64>> {
            let range = task * length..covered.len().min((task + 1) * length);
            let (mut buffer, mut entries) = (Vec::new(), vec![0.0; items.len()]);
            let mut sums = vec![0.0; count];
            for (&item, cover) in covered[range.clone()].iter().zip(&covers[range]) {
                self.kernel.entries(item as usize, columns.range(0, items.len()), &mut buffer, &mut entries);
                check(item, items, &entries)?;
                add(cover, &entries, &mut sums);
            }
            Ok(sums)
        };
        let mut all = Ok(vec![0.0; count]);
        fold_ordered(covered.len().div_ceil(length), WAVE, of_task, |_, sums| match (&mut all, sums) {
            (Ok(all), Ok(sums)) => all.iter_mut().zip(sums).for_each(|(all, sum)| *all += sum),
            (Ok(_), Err(error)) => all = Err(error),
            (Err(_), _) => {}
        });
        all
    }
}

/// Rejects entries that are not finite.
fn check(item: u32, others: &[u32], entries: &[f64]) -> Result<()> {
    let pairs = others.iter().zip(entries);
    pairs.into_iter().try_for_each(|(&other, &entry)| check_finite(item as usize, other as usize, entry))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Features, similarity::DotKernel};

    /// The state of a set does not depend on the order of the changes that led to it.
    #[test]
    fn items_come_and_go() {
        let value = |at: u32| f64::from(at * at % 37) / 18.0 - 1.0;
        let features = Features::from_rows(700, 3, (0..2100).map(value).collect::<Vec<_>>()).unwrap();
        let partition = Partition::of((0..700).map(|item| item % 2)).unwrap();
        let kernel = DotKernel::new(&features);
        for partition in [None, Some(&partition)] {
            let mut regions = Regions::new(&kernel, partition);
            let mut chosen: Vec<u32> = vec![3, 10, 22, 35, 41, 58];
            chosen.iter().for_each(|&item| regions.insert(item).unwrap());
            for turn in 0..60 {
                let (slot, item) = (turn as usize % 6, (turn * 113 + 7) % 700);
                chosen[slot] = item;
                regions.take(slot).unwrap();
                regions.put(slot, item).unwrap();
                let mut again = Regions::new(&kernel, partition);
                chosen.iter().for_each(|&item| again.insert(item).unwrap());
                assert_eq!(regions.total().to_bits(), again.total().to_bits());
                assert_eq!(regions.losses(), again.losses());
            }
        }
    }
}
