//! Picks in halves, each drawn exactly, and accepted against the volume of both.

use rand::Rng;

use super::{
    Bound, BoundedLaw,
    chance::{Chance, Drawn},
    halving::{Halves, middle},
    proposal::Buffers,
    rows::RowScratch,
};
use crate::{
    Result,
    linalg::{span::log_volume, volume::Volume},
    sample::Attempts,
};

/// The items of some picks, and their rows.
#[derive(Debug, Default)]
pub(super) struct Half {
    pub(super) items: Vec<u32>,
    pub(super) volume: Volume,
    positions: Vec<u32>,
    row: Vec<f64>,
    scratch: RowScratch,
    /// Scratch for the second half.
    other: Option<Box<Half>>,
}

impl Half {
    /// Forgets all picks; there will be so many at most.
    pub(super) fn clear(&mut self, rank: usize, most: usize) {
        self.items.clear();
        self.volume.clear(rank, most);
    }

    /// Adds the items of the other half if the joint volume is accepted.
    fn join(&mut self, other: &Self, chance: &mut impl Chance) -> bool {
        other.items.iter().enumerate().all(|(number, item)| {
            let ratio = self.volume.ratio(&other.volume, number);
            let accepted = chance.coin(ratio);
            if accepted {
                self.volume.extend_by(&other.volume, number, ratio);
                self.items.push(*item);
            }
            accepted
        })
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

    /// Records the group of every pick. Halves need independent items and exact counts; otherwise the list stays empty.
    pub(super) fn note_picks(&mut self) {
        let picks = if self.bound == Bound::Hadamard { self.exact_picks() } else { None };
        self.picks = picks.unwrap_or_default();
    }

    /// The halves below all picks, with the groups of their picks.
    pub(super) fn halves_below(&self) -> Vec<(&Halves, &[usize])> {
        let mut all = Vec::new();
        self.halves.iter().for_each(|halves| halves.below(&self.picks, &mut all));
        all
    }

    /// Draws one of the halves below until it was accepted `acceptances` times.
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

    /// A proposal of all picks; whether the volume of both halves is accepted.
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
            for row in drawn.volume.rows() {
                let distance = buffers.span.distance(row);
                buffers.span.extend(row, distance);
            }
        }
        buffers.halves = drawn;
        accepted
    }

    /// A proposal of picks from these groups; whether it is accepted.
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
        let accepted = chance.half(self, &both[1], second, &mut other) && drawn.join(&other, chance);
        drawn.other = Some(other);
        accepted
    }

    /// One independent item of every group, accepted against the volume that it adds.
    fn in_turn<C: Chance>(&self, groups: &[usize], chance: &mut C, drawn: &mut Half) -> bool {
        let Half { items, volume, positions, row, scratch, .. } = drawn;
        row.resize(self.rows.rank(), 0.0);
        positions.clear();
        for at in 0..groups.len() {
            // Rows come from memory while those before are at work.
            for next in positions.len()..groups.len().min(at + 2) {
                chance.picks(self.rows.table(groups[next]), 1, positions);
                self.rows.prefetch(groups[next], positions[next]);
            }
            let (group, position, table) = (groups[at], positions[at], self.rows.table(groups[at]));
            let item = table.item(position);
            if items.contains(&item) {
                return false;
            }
            let row = self.rows.row(group, position, scratch, row);
            let distance = volume.distance(row);
            if !chance.coin(distance / table.weight(position)) {
                return false;
            }
            volume.extend(row, distance);
            items.push(item);
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
