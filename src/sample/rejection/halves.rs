//! Picks in halves: each half is drawn exactly, and both are accepted against their joint volume.

use rand::Rng;

use super::{
    Bound, BoundedLaw,
    chance::{Chance, Drawn},
    halving::{Halves, middle},
    proposal::Buffers,
    rows::{RowScratch, WhitenedRows},
};
use crate::{
    Result,
    linalg::{
        kernels::narrow_scaled,
        span::{Span, log_volume},
        volume::{Distance, Volume},
    },
    sample::Attempts,
};

/// Some picks, and the volume of their rows v_i/√w_i, whose lengths are at most 1.
#[derive(Debug, Default)]
pub(super) struct Half {
    pub(super) items: Vec<u32>,
    /// The group of every item, and its position in the group's table.
    picks: Vec<(usize, u32)>,
    /// The volume in f32, which decides unless rounding could.
    rough: Volume,
    /// The span of the first items in f64, with the distance of each item off the items before it.
    exact: Span,
    distances: Vec<f64>,
    scratch: HalfScratch,
    /// Scratch for the second half.
    other: Option<Box<Half>>,
}

#[derive(Debug, Default)]
struct HalfScratch {
    /// Positions drawn, including those ahead of the decisions.
    positions: Vec<u32>,
    row: Vec<f64>,
    pair: [Vec<f32>; 2],
    rows: RowScratch,
}

impl Half {
    /// Forgets all picks, and makes room for `most`.
    pub(super) fn clear(&mut self, rank: usize, most: usize) {
        self.items.clear();
        self.picks.clear();
        self.rough.clear(rank, most);
        self.exact.clear();
        self.distances.clear();
    }

    /// Adds the items of the other half if the joint volume is accepted.
    fn join(&mut self, other: &mut Self, rows: &WhitenedRows, chance: &mut impl Chance) -> bool {
        let last = other.items.len() - 1;
        for number in 0..=last {
            let which = number % 2;
            if which == 0 {
                let two = [number, last.min(number + 1)];
                let known = two.map(|at| &other.rough.products_of(at)[..number]);
                self.rough.meet(two.map(|at| other.rough.row(at)), known);
            }
            let distance = self.rough.distance(which);
            let ratio = [distance, other.rough.distance_of(number)];
            if !chance.coin_near(ratio, || self.exact_ratio(other, number, rows)) {
                return false;
            }
            self.rough.extend(other.rough.row(number), distance);
            self.items.push(other.items[number]);
            self.picks.push(other.picks[number]);
        }
        true
    }

    /// An item's distance off these items, over its distance off the items before it in the other half.
    fn exact_ratio(&mut self, other: &mut Self, number: usize, rows: &WhitenedRows) -> f64 {
        other.complete(rows);
        let alone = other.distances[number];
        if alone > 0.0 { self.exact_distance(other.picks[number], rows) / alone } else { 0.0 }
    }

    /// The distance of a row off all items, over its weight.
    fn exact_distance(&mut self, pick: (usize, u32), rows: &WhitenedRows) -> f64 {
        self.complete(rows);
        self.scratch.read(rows, pick);
        self.exact.distance(&self.scratch.row)
    }

    /// Adds one item and returns its distance over its weight.
    #[cfg(test)]
    pub(super) fn add(&mut self, rows: &WhitenedRows, pick: (usize, u32)) -> f64 {
        self.scratch.read_rough(0, rows, pick);
        let row = self.scratch.rough(0, rows, pick);
        self.rough.meet([row, row], [&[], &[]]);
        let distance = self.rough.distance(0);
        self.rough.extend(row, distance);
        self.items.push(rows.table(pick.0).item(pick.1));
        self.picks.push(pick);
        self.complete(rows);
        self.distances[self.items.len() - 1]
    }

    /// Adds the items that are not in the span in f64 yet.
    fn complete(&mut self, rows: &WhitenedRows) {
        for number in self.distances.len()..self.items.len() {
            self.scratch.read(rows, self.picks[number]);
            let distance = self.exact.distance(&self.scratch.row);
            self.exact.extend(&self.scratch.row, distance);
            self.distances.push(distance);
        }
    }
}

impl HalfScratch {
    /// Reads v_i/√w_i.
    #[inline]
    fn read(&mut self, rows: &WhitenedRows, (group, position): (usize, u32)) {
        self.row.resize(rows.rank(), 0.0);
        rows.read(group, position, &mut self.rows, &mut self.row);
        let scale = rows.table(group).root_scale(position);
        self.row.iter_mut().for_each(|value| *value *= scale);
    }

    /// Reads the row in f32 as one of a pair, unless it is stored in f32.
    #[inline]
    fn read_rough(&mut self, which: usize, rows: &WhitenedRows, (group, position): (usize, u32)) {
        if rows.unit(group, position).is_some() {
            return;
        }
        self.row.resize(rows.rank(), 0.0);
        let row = rows.row(group, position, &mut self.rows, &mut self.row);
        let rough = &mut self.pair[which];
        rough.resize(row.len(), 0.0);
        narrow_scaled(row, rows.table(group).root_scale(position), rough);
    }

    /// The row in f32: the stored one, or else the one read by `read_rough`.
    #[inline]
    fn rough<'r>(
        &'r self,
        which: usize,
        rows: &'r WhitenedRows,
        (group, position): (usize, u32),
    ) -> &'r [f32] {
        rows.unit(group, position).unwrap_or(&self.pair[which])
    }
}

impl BoundedLaw {
    /// The groups of all picks, if counts are exact.
    pub(super) fn exact_picks(&self) -> Option<Vec<usize>> {
        let mut picks = Vec::new();
        for (place, &group) in self.counts.order().iter().enumerate() {
            picks.extend(std::iter::repeat_n(group, self.counts.only(place, picks.len())?));
        }
        Some(picks)
    }

    /// Records the group of every pick. Halves need independent items and exact counts; otherwise the list stays
    /// empty.
    pub(super) fn note_picks(&mut self) {
        let picks = if self.bound == Bound::Hadamard { self.exact_picks() } else { None };
        self.picks = picks.unwrap_or_default();
    }

    /// The halves at all levels, with the groups of their picks.
    pub(super) fn halves_below(&self) -> Vec<(&Halves, &[usize])> {
        let mut all = Vec::new();
        self.halves.iter().for_each(|halves| halves.below(&self.picks, &mut all));
        all
    }

    /// Draws from one of these halves until `acceptances` draws are accepted.
    pub(super) fn accept_half<R: Rng + ?Sized>(
        &self,
        number: usize,
        acceptances: u64,
        rng: &mut R,
        attempts: &mut Attempts<'_>,
    ) -> Result<()> {
        let Some(&(half, groups)) = self.halves_below().get(number) else { return Ok(()) };
        let mut drawn = Half::default();
        for _ in 0..acceptances {
            loop {
                attempts.another()?;
                drawn.clear(self.rows.rank(), self.picks.len());
                let mut chance = Drawn { rng: &mut *rng, scratch: &mut [], go_on: || attempts.go_on() };
                if self.in_halves(half, groups, &mut chance, &mut drawn) {
                    break;
                }
            }
        }
        Ok(())
    }

    /// Makes a proposal of all picks; returns whether the volume of both halves is accepted.
    pub(super) fn both_halves(
        &self,
        halves: &Halves,
        chance: &mut impl Chance,
        buffers: &mut Buffers,
    ) -> bool {
        let mut drawn = std::mem::take(&mut buffers.halves);
        drawn.clear(self.rows.rank(), self.picks.len());
        let accepted = self.in_halves(halves, &self.picks, chance, &mut drawn);
        if accepted {
            buffers.items.extend_from_slice(&drawn.items);
            for &(group, position) in &drawn.picks {
                self.rows.read(group, position, &mut buffers.scratch, &mut buffers.row);
                let distance = buffers.span.distance(&buffers.row);
                buffers.span.extend(&buffers.row, distance);
            }
        }
        buffers.halves = drawn;
        accepted
    }

    /// Makes a proposal of picks from these groups; returns whether it is accepted.
    pub(super) fn in_halves<C: Chance>(
        &self,
        halves: &Halves,
        groups: &[usize],
        chance: &mut C,
        drawn: &mut Half,
    ) -> bool {
        let Some(both) = &halves.both else { return self.in_turn(groups, chance, drawn) };
        let (first, second) = groups.split_at(both[0].picks);
        if !chance.half(self, &both[0], first, drawn) {
            return false;
        }
        let mut other = drawn.other.take().unwrap_or_default();
        let accepted =
            chance.half(self, &both[1], second, &mut other) && drawn.join(&mut other, &self.rows, chance);
        drawn.other = Some(other);
        accepted
    }

    /// Draws one independent item per group, each accepted against the volume that it adds.
    fn in_turn<C: Chance>(&self, groups: &[usize], chance: &mut C, drawn: &mut Half) -> bool {
        drawn.scratch.positions.clear();
        for first in (0..groups.len()).step_by(2) {
            // A single last item is met twice.
            let pair = first..groups.len().min(first + 2);
            // Later rows are fetched from memory while earlier ones are processed.
            let drawn_ahead = drawn.scratch.positions.len();
            for &group in &groups[drawn_ahead..groups.len().min(first + 4)] {
                chance.picks(self.rows.table(group), 1, &mut drawn.scratch.positions);
                if let Some(&position) = drawn.scratch.positions.last() {
                    self.rows.prefetch(group, position);
                }
            }
            let picks = [first, pair.end - 1].map(|at| (groups[at], drawn.scratch.positions[at]));
            for (which, &pick) in picks.iter().enumerate().take(pair.len()) {
                drawn.scratch.read_rough(which, &self.rows, pick);
            }
            let two = [0, pair.len() - 1].map(|which| drawn.scratch.rough(which, &self.rows, picks[which]));
            drawn.rough.meet(two, [&[], &[]]);
            for (which, pick) in picks.into_iter().enumerate().take(pair.len()) {
                let item = self.rows.table(pick.0).item(pick.1);
                if drawn.items.contains(&item) {
                    return false;
                }
                let distance = drawn.rough.distance(which);
                let ratio = [distance, Distance::ONE];
                if !chance.coin_near(ratio, || drawn.exact_distance(pick, &self.rows)) {
                    return false;
                }
                drawn.rough.extend(drawn.scratch.rough(which, &self.rows, pick), distance);
                drawn.items.push(item);
                drawn.picks.push(pick);
            }
        }
        true
    }

    /// ln of the ratio of the proposal weight to the law at the drawn items, in the order of picks:
    ///
    /// ```text
    /// Π β_j det(V_S V_Sᵀ) det(V_T V_Tᵀ) / det(A Aᵀ)
    /// ```
    pub(super) fn log_above(&self, groups: &[usize], buffers: &Buffers) -> f64 {
        let Some(half) = middle(groups) else { return f64::NEG_INFINITY };
        let rank = self.rows.rank();
        let mut scratch = RowScratch::default();
        let mut all = vec![0.0; rank * groups.len()];
        for ((&group, &item), row) in groups.iter().zip(&buffers.items).zip(all.chunks_exact_mut(rank)) {
            self.rows.read_item(group, item, &mut scratch, row);
        }
        let volume = |rows: &[f64]| log_volume(&mut rows.to_vec(), rank);
        let (one, other) = all.split_at(half * rank);
        let of_span = self.log_products[groups.len()] - self.log_det_of_span(&buffers.span);
        let log = volume(one) + volume(other) - volume(&all) + of_span - self.log_of_fill(&buffers.items);
        // Only dependent items, within rounding, have an infinite ratio; their weight is negligible.
        if log.is_finite() { log } else { f64::NEG_INFINITY }
    }
}
