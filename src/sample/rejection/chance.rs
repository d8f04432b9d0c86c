//! The random choices of proposals.

use rand::{Rng, RngExt};

use super::{
    BoundedLaw,
    halves::Half,
    halving::Halves,
    item_table::ItemTable,
    part_law::{PartLaw, PartScratch, Way},
    rows::WhitenedRows,
};
use crate::linalg::volume::Distance;

/// Trials of a set after which rounding must have corrupted them, in units of the expected number. Without such
/// rounding, all of them fail once in e⁶⁴ picks.
const PATIENCE: f64 = 64.0;
/// The least number of trials of an item before the whole table is read.
const TRIALS: usize = 64;

/// A group and its k-DPP.
#[derive(Clone, Copy, Debug)]
pub(super) struct Of<'l> {
    pub(super) rows: &'l WhitenedRows,
    pub(super) group: usize,
    pub(super) law: &'l PartLaw,
}

/// The random choices of picks, item by item. Tests go through all choices instead of drawing.
pub(super) trait Picks {
    /// Whether the draw should continue.
    fn goes_on(&mut self) -> bool {
        true
    }

    /// Chooses one of some numbers with these probabilities.
    fn choose(&mut self, probabilities: impl Iterator<Item = (usize, f64)>) -> usize;

    /// Draws positions one after another in proportion to the weights of a table.
    fn picks(&mut self, table: &ItemTable, count: usize, picks: &mut Vec<u32>);

    /// Draws one position in proportion to its weight times `keep`, which is at most 1.
    fn kept(&mut self, table: &ItemTable, keep: impl FnMut(u32) -> f64) -> Option<u32>;
}

/// The random choices of a proposal that is accepted or rejected, and may consist of whole sets.
pub(super) trait Chance: Picks {
    /// True with this probability.
    fn coin(&mut self, probability: f64) -> bool;

    /// True with the probability that `exact` computes; the ratio of two distances decides unless rounding could.
    fn coin_near(&mut self, _ratio: [Distance; 2], exact: impl FnOnce() -> f64) -> bool {
        self.coin(exact())
    }

    /// Draws items of a group from its k-DPP; false if that fails.
    fn subset(&mut self, of: Of<'_>, count: usize, items: &mut Vec<u32>) -> bool;

    /// Draws items in proportion to their probability in the k-DPP times `keep`. `size` is their number and the
    /// average of `keep`.
    fn kept_subset(
        &mut self,
        of: Of<'_>,
        size: (usize, f64),
        items: &mut Vec<u32>,
        keep: impl FnMut(&[u32]) -> f64,
    ) -> bool;

    /// Draws items of these groups with probability det(V_S V_Sᵀ) over its sum.
    fn half(&mut self, law: &BoundedLaw, half: &Halves, groups: &[usize], drawn: &mut Half) -> bool;
}

/// Choices by a random number generator; `go_on` ends them early.
pub(super) struct Drawn<'r, R: ?Sized, G> {
    pub(super) rng: &'r mut R,
    /// By group.
    pub(super) scratch: &'r mut [PartScratch],
    pub(super) go_on: G,
}

impl<R: Rng + ?Sized, G: FnMut() -> bool> Drawn<'_, R, G> {
    fn position(&mut self, table: &ItemTable) -> u32 {
        loop {
            if let Some(position) = table.look_up(self.rng.next_u64()) {
                return position;
            }
        }
    }
}

/// The number selected by a uniform variable in [0, 1).
fn chosen(uniform: f64, probabilities: impl Iterator<Item = (usize, f64)>) -> usize {
    let (mut left, mut last) = (uniform, 0);
    for (number, probability) in probabilities.filter(|(_, probability)| *probability > 0.0) {
        last = number;
        left -= probability;
        if left < 0.0 {
            break;
        }
    }
    last
}

/// A position in proportion to its weight times `keep`, chosen from the whole table.
pub(super) fn chosen_of_all(
    table: &ItemTable,
    mut keep: impl FnMut(u32) -> f64,
    uniform: impl FnOnce() -> f64,
) -> Option<u32> {
    #[expect(clippy::cast_possible_truncation, reason = "items are counted in 32 bits")]
    let positions = 0..table.len() as u32;
    let kept: Vec<f64> = positions.map(|position| table.weight(position) * keep(position)).collect();
    let sum: f64 = kept.iter().sum();
    #[expect(clippy::cast_possible_truncation, reason = "items are counted in 32 bits")]
    let position = |at: usize| at as u32;
    (sum > 0.0).then(|| position(chosen(uniform(), kept.iter().map(|kept| kept / sum).enumerate())))
}

/// The most trials, if this share of them is expected to be kept.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturating")]
fn most(expected: f64) -> u64 {
    (PATIENCE * (1.0 + expected.recip())) as u64
}

impl<R: Rng + ?Sized, G: FnMut() -> bool> Picks for Drawn<'_, R, G> {
    fn goes_on(&mut self) -> bool {
        (self.go_on)()
    }

    fn choose(&mut self, probabilities: impl Iterator<Item = (usize, f64)>) -> usize {
        chosen(self.rng.random::<f64>(), probabilities)
    }

    fn picks(&mut self, table: &ItemTable, count: usize, picks: &mut Vec<u32>) {
        for _ in 0..count {
            let position = self.position(table);
            picks.push(position);
        }
    }

    fn kept(&mut self, table: &ItemTable, mut keep: impl FnMut(u32) -> f64) -> Option<u32> {
        for _ in 0..table.len().max(TRIALS) {
            if !(self.go_on)() {
                return None;
            }
            let position = self.position(table);
            let probability = keep(position);
            if self.coin(probability) {
                return Some(position);
            }
        }
        // Little of the table is kept: reading all of it takes no longer than more trials.
        let Self { rng, go_on, .. } = self;
        let keep = |position| if go_on() { keep(position) } else { 0.0 };
        chosen_of_all(table, keep, || rng.random::<f64>())
    }
}

impl<R: Rng + ?Sized, G: FnMut() -> bool> Chance for Drawn<'_, R, G> {
    #[inline]
    fn coin(&mut self, probability: f64) -> bool {
        probability >= 1.0 || self.rng.random::<f64>() < probability
    }

    #[inline]
    fn coin_near(&mut self, [distance, of]: [Distance; 2], exact: impl FnOnce() -> f64) -> bool {
        let uniform = self.rng.random::<f64>();
        distance.is_above(uniform, of).unwrap_or_else(|| uniform < exact())
    }

    fn subset(&mut self, of: Of<'_>, count: usize, items: &mut Vec<u32>) -> bool {
        let Of { rows, group, law } = of;
        match &law.way {
            Way::Eigenvectors(law) => {
                law.sample(count, self.rng, &mut self.scratch[group].spectral, items, &mut self.go_on)
            }
            Way::Picks(law) => {
                let mut scratch = std::mem::take(&mut self.scratch[group].picks);
                let (mut drawn, mut left) = (false, most(law.acceptance));
                while !drawn && left > 0 && (self.go_on)() {
                    drawn = law.propose((rows, group), count, self, &mut scratch, items);
                    left -= 1;
                }
                self.scratch[group].picks = scratch;
                drawn
            }
        }
    }

    fn kept_subset(
        &mut self,
        of: Of<'_>,
        (count, expected): (usize, f64),
        items: &mut Vec<u32>,
        mut keep: impl FnMut(&[u32]) -> f64,
    ) -> bool {
        let start = items.len();
        for _ in 0..most(expected) {
            items.truncate(start);
            if !self.subset(of, count, items) {
                return false;
            }
            let probability = keep(&items[start..]);
            if self.coin(probability) {
                return true;
            }
        }
        false
    }

    fn half(&mut self, law: &BoundedLaw, half: &Halves, groups: &[usize], drawn: &mut Half) -> bool {
        while (self.go_on)() {
            drawn.clear(law.rows.rank(), law.picks.len());
            if law.in_halves(half, groups, self, drawn) {
                return true;
            }
        }
        false
    }
}
