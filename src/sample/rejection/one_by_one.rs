//! Choices of sequential draws that do not come from a generator.

use super::{
    chance::{Picks, chosen_of_all},
    item_table::ItemTable,
};
use crate::{
    Result,
    engine::proposals::{Coin, NUMBERED_TRIALS, Stream, Trial},
    sample::Attempts,
    watch::Watch,
};

/// A weighted draw whose picks are given, in their order.
///
/// If traces are estimated, a given item is one of several candidates; another source of choices draws the others. In
/// the law of draws times their weights ŵ, the other candidates are independent of the items:
///
/// ```text
/// Pr(items, others) ŵ = det(K_S) / Π c_l! · Pr(others)
/// ```
pub(super) struct Given<'a, C> {
    items: &'a [u32],
    /// Items picked, and the following ones that are among the current candidates.
    picked: usize,
    ahead: usize,
    chance: &'a mut C,
}

impl<'a, C> Given<'a, C> {
    pub(super) fn new(items: &'a [u32], chance: &'a mut C) -> Self {
        Self { items, picked: 0, ahead: 0, chance }
    }
}

impl<C: Picks> Picks for Given<'_, C> {
    fn goes_on(&mut self) -> bool {
        self.chance.goes_on()
    }

    /// Chooses the item given, which is the first candidate; counts are exact.
    fn choose(&mut self, _: impl Iterator<Item = (usize, f64)>) -> usize {
        (self.picked, self.ahead) = (self.picked + 1, 0);
        0
    }

    fn picks(&mut self, table: &ItemTable, count: usize, picks: &mut Vec<u32>) {
        picks.push(table.position_of(self.items[self.picked + self.ahead]));
        self.ahead += 1;
        self.chance.picks(table, count - 1, picks);
    }

    fn kept(&mut self, table: &ItemTable, mut keep: impl FnMut(u32) -> f64) -> Option<u32> {
        if !self.goes_on() {
            return None;
        }
        let position = table.position_of(self.items[self.picked]);
        self.picked += 1;
        keep(position);
        Some(position)
    }
}

/// Picks by random words that depend only on the number of the draw.
pub(super) struct Numbered<'w> {
    stream: Stream,
    draw: u32,
    attempts: Attempts<'w>,
    /// Trials and picks so far.
    trials: u32,
    picks: u32,
}

impl<'w> Numbered<'w> {
    pub(super) fn new(stream: Stream, draw: u32, watch: &'w Watch) -> Self {
        Self { stream, draw, attempts: Attempts::under(watch, 1.0), trials: 0, picks: 0 }
    }

    /// Fails if the watch has ended the draw, whose picks are then meaningless.
    ///
    /// # Errors
    /// [`Error::Ended`](crate::Error::Ended) if the watch has ended it.
    pub(super) fn check(&self) -> Result<()> {
        self.attempts.check()
    }

    /// Whether to keep a draw that is kept with this probability.
    pub(super) fn is_kept(&self, probability: f64) -> bool {
        let Coin(uniform) = self.stream.coin(self.draw, 0);
        uniform < probability
    }
}

impl Picks for Numbered<'_> {
    fn choose(&mut self, _: impl Iterator<Item = (usize, f64)>) -> usize {
        unreachable!("counts are exact")
    }

    fn picks(&mut self, _: &ItemTable, _: usize, _: &mut Vec<u32>) {
        unreachable!("traces are exact")
    }

    fn kept(&mut self, table: &ItemTable, mut keep: impl FnMut(u32) -> f64) -> Option<u32> {
        self.picks += 1;
        for _ in 0..NUMBERED_TRIALS {
            if !self.attempts.go_on() {
                return None;
            }
            let Trial { word, uniform } = self.stream.trial(self.draw, self.trials);
            self.trials += 1;
            if let Some(position) = table.look_up(word).filter(|&position| uniform < keep(position)) {
                return Some(position);
            }
        }
        let Coin(uniform) = self.stream.coin(self.draw, self.picks);
        let attempts = &mut self.attempts;
        let keep = |position| if attempts.go_on() { keep(position) } else { 0.0 };
        chosen_of_all(table, keep, || uniform)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    };

    use super::*;
    use crate::engine::Items;

    #[test]
    fn a_watch_ends_trials_and_the_reading_of_a_table() {
        let items = 2000;
        let table = ItemTable::new(Items::All(items), &vec![1.0; items]).unwrap();
        for (last, is_read) in [(10, false), (NUMBERED_TRIALS + 10, true)] {
            let stop = Arc::new(AtomicBool::new(false));
            let watch = Watch::default().stopped_by(&stop);
            let mut picks = Numbered::new(Stream { seed: 1, block: 0 }, 7, &watch);
            let mut seen = 0;
            let found = picks.kept(&table, |_| {
                seen += 1;
                stop.store(seen >= last, Ordering::Relaxed);
                // Every item is kept so rarely that trials almost never keep one.
                1e-12
            });
            assert_eq!((seen, found.is_some()), (last, is_read));
            assert!(picks.check().is_err(), "such a pick means nothing");
        }
    }
}
