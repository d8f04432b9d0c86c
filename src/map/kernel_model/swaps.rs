//! A set, with the numbers that give the determinants of all neighbouring sets.

use faer::Mat;

use super::{
    super::{Place, Termination, watch::Clock},
    KernelModel,
};
use crate::{
    Result,
    linalg::{
        column, column_mut,
        kernels::{add_scaled, dot},
    },
    parallel::{map_ordered, map_ordered_mut},
    similarity::{Factor, NextRow, check_finite},
};

/// The number of items per task.
const TASK: usize = 256;
/// The number of tasks between two checks of the clock.
const WAVE: usize = 16;

/// A move to a neighbouring set, with the factor by which it multiplies the determinant.
#[derive(Clone, Copy, Debug)]
pub(super) struct Move {
    /// The slot of the item that leaves, if any.
    pub(super) leaving: Option<usize>,
    /// The item that enters, if any.
    pub(super) entering: Option<Place>,
    pub(super) ratio: f64,
}

/// The set S, M = K_S⁻¹, and for all items of groups C = M K_{S,·} and d.
pub(super) struct Swaps<'m, 'k> {
    model: &'m KernelModel<'k>,
    /// The included items, then the items of `places`.
    items: Vec<u32>,
    pub(super) places: Vec<Place>,
    inverse: Mat<f64>,
    groups: Vec<Group>,
}

struct Group {
    /// The residuals d_x; 0 for chosen items.
    residuals: Vec<f64>,
    /// The coefficients C, item by item.
    coefficients: Vec<f64>,
    chosen: Vec<bool>,
}

impl<'m, 'k> Swaps<'m, 'k> {
    /// Computes all numbers from the kernel, or returns the reason why the clock has ended the run.
    ///
    /// # Cost
    /// mk entries of K and 2mk² operations.
    pub(super) fn new(
        model: &'m KernelModel<'k>,
        places: &[Place],
        factor: &Factor<'_>,
        clock: &Clock,
    ) -> Result<std::result::Result<Self, Termination>> {
        let size = factor.len();
        let mut inverse = Mat::identity(size, size);
        for slot in 0..size {
            let row = column_mut(inverse.as_mut(), slot);
            solve(factor, row);
            solve_transposed(factor, row);
        }
        let mut groups = Vec::with_capacity(model.groups.len());
        for (group, items) in model.groups.iter().enumerate() {
            let mut known = Group::with_room_for(items.len(), size);
            for items in items.chunks(WAVE * TASK) {
                if let Some(ended) = clock.ended() {
                    return Ok(Err(ended));
                }
                known.extend(model, factor, items)?;
            }
            groups.push(known);
            for place in places.iter().filter(|place| place.group == group) {
                groups[group].chosen[place.position] = true;
            }
        }
        let items = factor.items().to_vec();
        Ok(Ok(Self { model, items, places: places.to_vec(), inverse, groups }))
    }

    /// The first slot of an item that may leave.
    fn first(&self) -> usize {
        self.items.len() - self.places.len()
    }

    /// The best swap, addition or removal that the counts allow; among equals, the first entering item.
    pub(super) fn best(&self) -> Option<Move> {
        let counts = self.model.counts_of(&self.places);
        let allowed = &self.model.counts;
        let first = self.first();
        let mut best: Option<Move> = None;
        for (group, known) in self.groups.iter().enumerate() {
            let leaves =
                |(_, place): &(usize, &Place)| allowed.allow_move(&counts, Some(place.group), Some(group));
            let slots: Vec<usize> =
                self.places.iter().enumerate().filter(leaves).map(|(slot, _)| first + slot).collect();
            let grows = allowed.allow_move(&counts, None, Some(group));
            let found = map_ordered(known.residuals.len().div_ceil(TASK), |task| {
                self.best_of(task, group, (&slots, grows))
            });
            found.into_iter().flatten().for_each(|found| keep_better(&mut best, found));
        }
        for (slot, place) in self.places.iter().enumerate() {
            if allowed.allow_move(&counts, Some(place.group), None) {
                let weight = self.model.factor_between(None, Some(self.items[first + slot]));
                let ratio = weight * self.inverse[(first + slot, first + slot)];
                keep_better(&mut best, Move { leaving: Some(first + slot), entering: None, ratio });
            }
        }
        best
    }

    /// The best move of the items of a task.
    fn best_of(&self, task: usize, group: usize, (slots, grows): (&[usize], bool)) -> Option<Move> {
        let (known, items, size) = (&self.groups[group], &self.model.groups[group], self.items.len());
        let mut best = None;
        for (position, &item) in items.iter().enumerate().skip(task * TASK).take(TASK) {
            if known.chosen[position] {
                continue;
            }
            let (item, entering) = (Some(item), Some(Place { group, position }));
            let residual = known.residuals[position].max(0.0);
            let row = &known.coefficients[position * size..(position + 1) * size];
            for &slot in slots {
                let ratio = self.inverse[(slot, slot)] * residual + row[slot] * row[slot];
                let ratio = ratio * self.model.factor_between(item, Some(self.items[slot]));
                keep_better(&mut best, Move { leaving: Some(slot), entering, ratio });
            }
            if grows {
                let ratio = residual * self.model.factor_between(item, None);
                keep_better(&mut best, Move { leaving: None, entering, ratio });
            }
        }
        best
    }

    /// The places after a move.
    pub(super) fn after(&self, made: Move) -> Vec<Place> {
        let mut places = self.places.clone();
        match (made.leaving.map(|slot| slot - self.first()), made.entering) {
            (Some(slot), Some(place)) => places[slot] = place,
            (Some(slot), None) => {
                places.remove(slot);
            }
            (None, entering) => places.extend(entering),
        }
        places
    }

    /// Swaps the item of a slot for another, and updates all numbers except the factor.
    ///
    /// ```text
    /// without i:  d ← d + C_i²/M_ii,     C_a ← C_a − M_ai C_i/M_ii
    /// with j:     e = K_j· − K_{j,S} C,  C_a ← C_a − C_aj e/d_j,  C_j = e/d_j,  d ← d − e²/d_j
    /// ```
    ///
    /// # Cost
    /// m entries of K and 8mk operations.
    pub(super) fn swap(&mut self, slot: usize, entering: Place) -> Result<()> {
        let size = self.items.len();
        let leaving = self.places[slot - self.first()];
        let item = self.model.groups[entering.group][entering.position];
        let mut with_chosen = vec![0.0; size];
        self.model.kernel.column(item as usize, &self.items, &mut with_chosen);
        // K_{j,S} without i.
        with_chosen[slot] = 0.0;
        let weight = self.inverse[(slot, slot)];
        let removal: Vec<f64> = column(self.inverse.as_ref(), slot).iter().map(|x| x / weight).collect();
        let known = &self.groups[entering.group];
        let mut along = known.coefficients[entering.position * size..(entering.position + 1) * size].to_vec();
        let own = along[slot];
        let residual = known.residuals[entering.position] + own * own / weight;
        add_scaled(&mut along, -own, &removal);
        along[slot] = 0.0;
        let change = Change {
            item,
            slot,
            weight,
            removal: &removal,
            along: &along,
            residual,
            with_chosen: &with_chosen,
        };
        for (known, items) in self.groups.iter_mut().zip(&self.model.groups) {
            known.apply(self.model, items, &change)?;
        }
        // M without i, then with j.
        for b in 0..size {
            let factor = -removal[b] * weight;
            let row = column_mut(self.inverse.as_mut(), b);
            add_scaled(row, factor, &removal);
            add_scaled(row, along[b] / residual, &along);
            row[slot] = -along[b] / residual;
        }
        let row = column_mut(self.inverse.as_mut(), slot);
        row.iter_mut().zip(&along).for_each(|(out, along)| *out = -along / residual);
        row[slot] = residual.recip();
        self.groups[leaving.group].chosen[leaving.position] = false;
        let known = &mut self.groups[entering.group];
        known.chosen[entering.position] = true;
        known.residuals[entering.position] = 0.0;
        let row = &mut known.coefficients[entering.position * size..(entering.position + 1) * size];
        row.fill(0.0);
        row[slot] = 1.0;
        let first = self.first();
        self.places[slot - first] = entering;
        self.items[slot] = item;
        Ok(())
    }
}

fn keep_better(best: &mut Option<Move>, found: Move) {
    if best.is_none_or(|best| found.ratio > best.ratio) {
        *best = Some(found);
    }
}

/// A swap: an item leaves slot i, and item j enters it.
struct Change<'a> {
    /// The entering item j.
    item: u32,
    slot: usize,
    /// The entry M_ii.
    weight: f64,
    /// The ratios M_ai / M_ii.
    removal: &'a [f64],
    /// The C_aj without i.
    along: &'a [f64],
    /// The residual d_j without i.
    residual: f64,
    /// The entries K_ja, 0 for i.
    with_chosen: &'a [f64],
}

impl Group {
    fn with_room_for(items: usize, size: usize) -> Self {
        Self {
            residuals: Vec::with_capacity(items),
            coefficients: Vec::with_capacity(items * size),
            chosen: vec![false; items],
        }
    }

    fn extend(&mut self, model: &KernelModel<'_>, factor: &Factor<'_>, items: &[u32]) -> Result<()> {
        let size = factor.len();
        let of_task = |task: usize| -> Result<(Vec<f64>, Vec<f64>)> {
            let items = &items[task * TASK..items.len().min((task + 1) * TASK)];
            let (mut residuals, mut coefficients) = (Vec::new(), Vec::with_capacity(items.len() * size));
            let mut next = NextRow::default();
            for &item in items {
                let item = item as usize;
                residuals.push(factor.residual(item, model.diagonal[item], &mut next)?);
                let start = coefficients.len();
                coefficients.extend_from_slice(next.row());
                solve_transposed(factor, &mut coefficients[start..]);
            }
            Ok((residuals, coefficients))
        };
        for found in map_ordered(items.len().div_ceil(TASK), of_task) {
            let (residuals, coefficients) = found?;
            self.residuals.extend(residuals);
            self.coefficients.extend(coefficients);
        }
        Ok(())
    }

    fn apply(&mut self, model: &KernelModel<'_>, items: &[u32], change: &Change<'_>) -> Result<()> {
        let size = change.along.len();
        if items.is_empty() {
            return Ok(());
        }
        let mut entries = vec![0.0; items.len()];
        model.kernel.column(change.item as usize, items, &mut entries);
        let parts = self.residuals.chunks_mut(TASK).zip(self.coefficients.chunks_mut(TASK * size));
        let parts = parts.zip(items.chunks(TASK).zip(entries.chunks(TASK))).collect();
        let done = map_ordered_mut(parts, |_, ((residuals, coefficients), (items, entries))| {
            let rows = residuals.iter_mut().zip(coefficients.chunks_exact_mut(size));
            for ((residual, row), (&item, &entry)) in rows.zip(items.iter().zip(entries)) {
                check_finite(item as usize, change.item as usize, entry)?;
                let own = row[change.slot];
                add_scaled(row, -own, change.removal);
                row[change.slot] = 0.0;
                let beyond = entry - dot(change.with_chosen, row);
                add_scaled(row, -beyond / change.residual, change.along);
                row[change.slot] = beyond / change.residual;
                *residual += own * own / change.weight - beyond * beyond / change.residual;
            }
            Ok(())
        });
        done.into_iter().collect()
    }
}

/// x ← L⁻¹ x.
fn solve(factor: &Factor<'_>, x: &mut [f64]) {
    for t in 0..x.len() {
        x[t] = (x[t] - dot(&factor.row(t)[..t], &x[..t])) / factor.entry(t, t);
    }
}

/// x ← L⁻ᵀ x.
fn solve_transposed(factor: &Factor<'_>, x: &mut [f64]) {
    for t in (0..x.len()).rev() {
        x[t] /= factor.entry(t, t);
        let (before, own) = x.split_at_mut(t);
        add_scaled(before, -own[0], &factor.row(t)[..t]);
    }
}
