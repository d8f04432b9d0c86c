//! Swaps that the engine makes on its own, made again on the host.

use super::{
    chosen::Chosen,
    climb::{DRIFT, REFRESH},
    swap::MadeSwap,
};
use crate::{
    Result,
    engine::{SwapAhead, SwapsAhead, SwapsEnd},
    map::{Place, Stats},
};

/// The number of swaps to request from the engine. Requested swaps that are not made cost little, but not nothing: a
/// climb from a good start ends soon, and one that has come far continues.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stride(usize);

/// The first number of swaps, and the factor by which it grows after they were made.
const FIRST: usize = 8;

impl Default for Stride {
    fn default() -> Self {
        Self(FIRST)
    }
}

impl Stride {
    /// The number of swaps to ask for, at most `left`.
    pub(super) fn of(self, left: usize) -> usize {
        self.0.min(left)
    }

    /// After swaps of the engine.
    pub(super) fn follow(&mut self, ahead: &SwapsAhead) {
        self.0 = if ahead.end == SwapsEnd::LongEnough { (FIRST * self.0).min(REFRESH) } else { 1 };
    }

    /// After a swap of the host.
    pub(super) fn grow(&mut self) {
        self.0 = self.0.max(FIRST);
    }
}

/// The outcome of the engine's swaps.
pub(super) enum Replayed {
    /// The number of swaps made; the table does not account for the last one yet.
    On { swaps: usize, last: Option<MadeSwap> },
    /// The numbers of this set are to be recomputed.
    Reached(Vec<Place>),
    /// No swap improves the set, whose numbers are fresh.
    NoneLeft,
}

impl Chosen<'_> {
    /// The next swaps under fixed counts, at most `most`, if the engine makes them by itself. A single swap is not worth
    /// the transfer to the device.
    pub(super) fn swaps_ahead(&mut self, made: Option<&MadeSwap>, most: usize) -> Result<Option<SwapsAhead>> {
        let counts = &self.space.candidates.counts;
        if most < 2 || !counts.is_fixed() {
            return Ok(None);
        }
        let update = made.map(MadeSwap::update);
        self.table.swap_ahead(&SwapAhead {
            rows: self.rows.as_ref(),
            duals: self.duals.as_ref(),
            kept: self.first[0],
            chosen: &self.slots,
            update: update.as_ref(),
            least: self.space.least_gain(),
            most,
        })
    }
}

/// Makes the swaps of the engine, after `moves` others, as far as the ratios from rows and duals agree with the engine's.
pub(super) fn replay(
    chosen: &mut Chosen<'_>,
    ahead: &SwapsAhead,
    moves: usize,
    stats: &mut Stats,
) -> Replayed {
    let mut last = None;
    for (number, swap) in ahead.swaps.iter().enumerate() {
        stats.evaluations += chosen.neighbours();
        let weighed = chosen.weigh(swap.group, swap.swap);
        let drifted = (weighed.ratio - swap.swap.ratio).abs() > DRIFT * swap.swap.ratio + swap.error;
        // The first of all is the best by fresh numbers.
        if drifted && moves + number > 0 || !chosen.space.improves(weighed.ratio) {
            return Replayed::Reached(chosen.places());
        }
        last = Some(chosen.make(weighed));
        stats.swaps += 1;
    }
    let swaps = ahead.swaps.len();
    match ahead.end {
        SwapsEnd::LongEnough => Replayed::On { swaps, last },
        SwapsEnd::Broken if moves + swaps > 0 => Replayed::Reached(chosen.places()),
        SwapsEnd::InDoubt | SwapsEnd::Broken => Replayed::On { swaps, last: None },
        SwapsEnd::NoneLeft => {
            stats.evaluations += chosen.neighbours();
            if moves + swaps > 0 { Replayed::Reached(chosen.places()) } else { Replayed::NoneLeft }
        }
    }
}
