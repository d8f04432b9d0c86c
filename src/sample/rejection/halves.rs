//! Picks in halves, each drawn exactly, and accepted against the volume of both.

use rand::Rng;

use super::{
    Bound, BoundCost, BoundedLaw, BoundedScratch,
    chance::{Chance, Drawn},
    proposal::Buffers,
    rows::RowScratch,
};
use crate::{
    Result,
    linalg::{span::log_volume, volume::Volume},
    sample::Attempts,
};

/// Picks that are made at once, or as two halves. With the law det(V_S V_Sᵀ) / Z_S of each half, both together are accepted
/// with probability
///
/// ```text
/// det(V V ᵀ) / (det(V_S V_Sᵀ) det(V_T V_Tᵀ)) = vol²(P_S T) / vol²(T) ≤ 1   (Fischer)
/// ```
///
/// A proposal that is rejected inside a half costs nothing of the other: halves of k picks take the root of as many
/// proposals as all of them at once.
///
/// # Source
/// Fischer (1908) for the inequality; nested rejection as in Harviainen, Röyskö and Koivisto (2021).
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Halves {
    picks: usize,
    halves: Option<Box<[Halves; 2]>>,
    /// How often it is divided at most, from the root to any picks.
    depth: usize,
}

/// Operations that any proposal takes.
const OVERHEAD: f64 = 500.0;

/// What picks are predicted to lose in rejections, and what they cost.
#[derive(Clone, Copy, Debug)]
struct Work {
    /// Dimensions in which rows would lose as much if they had no preferred directions.
    dims: f64,
    rank: f64,
    /// Operations of reading a row.
    read: f64,
}

impl Work {
    /// ln of the proposals for so many picks: −Σ ln(1 − j/d).
    fn loss(dims: f64, picks: usize) -> f64 {
        -(0..picks).map(|j| (-(j as f64) / dims).ln_1p()).sum::<f64>()
    }

    /// For picks that take `proposals` if they are made at once.
    fn new(picks: usize, proposals: f64, rank: usize, read: f64) -> Self {
        // More dimensions lose less.
        let (mut least, mut most) = (picks as f64, 1e9);
        for _ in 0..100 {
            let dims = f64::sqrt(least * most);
            if Self::loss(dims, picks) > proposals.ln() { least = dims } else { most = dims }
        }
        Self { dims: most, rank: rank as f64, read }
    }

    /// Operations of a row against the span of so many, and of adding it.
    fn row(&self, before: usize) -> f64 {
        2.0 * self.rank * before as f64
    }

    fn at_once(&self, picks: usize) -> f64 {
        let reached = |j: usize| (-Self::loss(self.dims, j)).exp() * (self.read + self.row(j));
        (OVERHEAD + (0..picks).map(reached).sum::<f64>()) * Self::loss(self.dims, picks).exp()
    }

    /// Accepted proposals of both halves, until their volume is accepted, too.
    fn in_halves(&self, [one, other]: [usize; 2], costs: f64) -> f64 {
        let lost = |j: usize| {
            let [both, alone] = [one + j, j].map(|picks| Self::loss(self.dims, picks));
            both - alone - Self::loss(self.dims, one)
        };
        let reached = |j: usize| (-lost(j)).exp() * self.row(one + j);
        (OVERHEAD + costs + (0..other).map(reached).sum::<f64>()) * lost(other).exp()
    }
}

impl Halves {
    fn at_once(picks: usize) -> Self {
        Self { picks, halves: None, depth: 0 }
    }

    fn of(halves: [Self; 2]) -> Self {
        let [picks, depth] = [halves[0].picks + halves[1].picks, 1 + halves[0].depth.max(halves[1].depth)];
        Self { picks, halves: Some(Box::new(halves)), depth }
    }

    /// The fastest for so many picks that take `proposals` at once, but in halves at least once; and what proposals of both
    /// halves cost.
    pub(super) fn best(picks: usize, proposals: f64, rank: usize, read: f64) -> (Self, BoundCost) {
        let work = Work::new(picks, proposals, rank, read);
        let sizes = [picks - picks / 2, picks / 2];
        let [(one, of_one), (other, of_other)] = sizes.map(|picks| Self::fastest(picks, &work));
        let of_halves: f64 = sizes.iter().map(|&size| Work::loss(work.dims, size)).sum();
        let proposals = (Work::loss(work.dims, picks) - of_halves).exp();
        let operations = work.in_halves(sizes, of_one + of_other) / proposals;
        (Self::of([one, other]), BoundCost { bound: Bound::Halves, proposals, operations })
    }

    /// With the operations of a draw.
    fn fastest(picks: usize, work: &Work) -> (Self, f64) {
        let whole = work.at_once(picks);
        if picks < 2 {
            return (Self::at_once(picks), whole);
        }
        let sizes = [picks - picks / 2, picks / 2];
        let [(one, of_one), (other, of_other)] = sizes.map(|picks| Self::fastest(picks, work));
        let halves = work.in_halves(sizes, of_one + of_other);
        if halves < whole { (Self::of([one, other]), halves) } else { (Self::at_once(picks), whole) }
    }

    /// In halves down to single picks.
    #[cfg(test)]
    pub(super) fn of_one_each(picks: usize) -> Self {
        if picks < 2 {
            return Self::at_once(picks);
        }
        Self::of([picks - picks / 2, picks / 2].map(Self::of_one_each))
    }

    pub(super) fn depth(&self) -> usize {
        self.depth
    }

    /// Those below these, with the groups of their picks.
    fn below<'h>(&'h self, groups: &'h [usize], out: &mut Vec<(&'h Halves, &'h [usize])>) {
        let Some(both) = &self.halves else { return };
        let (first, second) = groups.split_at(both[0].picks);
        for (half, groups) in both.iter().zip([first, second]) {
            out.push((half, groups));
            half.below(groups, out);
        }
    }
}

/// The items of some picks, and their rows.
#[derive(Debug, Default)]
pub(super) struct Half {
    pub(super) items: Vec<u32>,
    pub(super) volume: Volume,
    positions: Vec<u32>,
    row: Vec<f64>,
    scratch: RowScratch,
    /// What is to be joined.
    other: Option<Box<Half>>,
}

impl Half {
    /// Forgets all picks; there will be so many at most.
    pub(super) fn clear(&mut self, rank: usize, most: usize) {
        self.items.clear();
        self.volume.clear(rank, most);
    }

    /// Adds what another half has, if the volume of both is accepted.
    fn join(&mut self, other: &Self, chance: &mut impl Chance) -> bool {
        other.items.iter().enumerate().all(|(number, item)| {
            // Several picks of a part may be the same.
            if self.items.contains(item) {
                return false;
            }
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
    /// Notes the groups of all picks, if proposals may be made in halves: of independent items with exact counts.
    pub(super) fn note_picks(&mut self) {
        let mut picks = Vec::new();
        for (place, &group) in self.counts.order().iter().enumerate() {
            match self.counts.only(place, picks.len()) {
                Some(count) if self.bound == Bound::Hadamard => picks.extend(std::iter::repeat_n(group, count)),
                _ => return,
            }
        }
        self.picks = picks;
    }

    /// The halves below all picks, with the groups of their picks.
    pub(super) fn halves_below(&self) -> Vec<(&Halves, &[usize])> {
        let mut all = Vec::new();
        self.halves.iter().for_each(|halves| halves.below(&self.picks, &mut all));
        all
    }

    /// Attempts of one of the halves below until one is accepted.
    pub(super) fn accept_half<R: Rng + ?Sized>(
        &self,
        number: usize,
        rng: &mut R,
        attempts: &mut Attempts<'_>,
    ) -> Result<()> {
        let Some(&(half, groups)) = self.halves_below().get(number) else { return Ok(()) };
        let accept = |scratch: &mut BoundedScratch| loop {
            attempts.another()?;
            let drawn = &mut scratch.buffers.halves;
            drawn.clear(self.rows.rank(), self.picks.len());
            let mut chance = Drawn { rng, scratch: &mut [], go_on: || attempts.go_on() };
            if self.in_halves(half, groups, &mut chance, drawn) {
                return Ok(());
            }
        };
        self.pool.lend(|| self.scratch(), accept)
    }

    /// A proposal of all picks; whether the volume of both halves is accepted.
    pub(super) fn both_halves(&self, halves: &Halves, chance: &mut impl Chance, buffers: &mut Buffers) -> bool {
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
        let Some(both) = &halves.halves else { return self.in_turn(groups, chance, drawn) };
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

    /// ln of what proposals of two halves are above the law, at some items in the order of picks:
    ///
    /// ```text
    /// Π β_j det(V_S V_Sᵀ) det(V_T V_Tᵀ) / det(A Aᵀ)
    /// ```
    pub(super) fn log_above(&self, groups: &[usize], buffers: &Buffers) -> f64 {
        let (rank, half) = (self.rows.rank(), groups.len() - groups.len() / 2);
        let mut scratch = RowScratch::default();
        let mut all = vec![0.0; rank * groups.len()];
        for ((&group, &item), row) in groups.iter().zip(&buffers.items).zip(all.chunks_exact_mut(rank)) {
            self.rows.read_item(group, item, &mut scratch, row);
        }
        let volume = |rows: &[f64]| log_volume(&mut rows.to_vec(), rank);
        let (one, other) = all.split_at(half * rank);
        let of_span = self.log_products[groups.len()] - self.log_det_of_span(&buffers.span);
        let log = volume(one) + volume(other) - volume(&all) + of_span - self.log_of_fill(&buffers.items);
        // Items that only rounding tells from dependent ones are hardly ever drawn.
        if log.is_finite() { log } else { f64::NEG_INFINITY }
    }
}
