//! Moves to sets that do not depend on the present one.

use rand::{Rng, RngExt, seq::SliceRandom};

use super::OtherSetMoves;
use crate::{
    Error, Result,
    engine::Engine,
    linalg::log_sum,
    sample::{
        Attempts,
        rejection::{BoundedScratch, RejectionSetup, WeightedLaw},
        stream,
    },
    watch::Watch,
};

/// The tasks of a pilot run, and the weighted draws of each.
const TASKS: usize = 8;
const EACH: usize = 8;
const PILOT_SEED: u64 = 0;
/// The number of weighted draws that a start is chosen from.
const STARTS: usize = 16;
/// Below this acceptance, a chain is better off with swaps alone.
const WORTHWHILE: f64 = 0.01;
/// Weights with a larger error may lead chains to another law.
const ACCURATE: f64 = 1e-6;
/// The share of time that moves to other sets take: little if swaps mix well, and enough if they do not.
const SHARE: f64 = 0.2;

/// Sequential weighted draws: starts, and proposals that do not depend on the present set.
///
/// A weighted draw picks the items of S in an order σ with probability ∝ det(K_S) / w(S, σ). In the target, given S,
/// all orders of the items of each part are equally likely. A random order is therefore drawn, and the pair moves
/// with the probability of Metropolis and Hastings:
///
/// ```text
/// (S, σ) → (S′, σ′) with probability min(1, w(S′, σ′) / w(S, σ))
/// ```
///
/// If candidates estimate the traces, the candidates that were not picked are part of the state and move with the
/// set. Before every such move, the candidates of the present set are drawn again, given its items.
///
/// # Source
/// Tierney, *Markov chains for exploring posterior distributions* (1994), for independence chains; Andrieu, Doucet and
/// Holenstein, *Particle Markov chain Monte Carlo methods* (2010), for candidates that move with the state.
#[derive(Debug)]
pub(super) struct OtherSets {
    law: WeightedLaw,
    /// Items of each group.
    counts: Vec<usize>,
    /// The estimated share of such moves that is accepted.
    acceptance: f64,
    /// The relative error of weights from rounding.
    error: f64,
}

impl OtherSets {
    pub(super) fn new(
        setup: &RejectionSetup<'_>,
        counts: &[usize],
        moves: OtherSetMoves,
        engine: &Engine,
    ) -> Result<Self> {
        let law = WeightedLaw::new(setup, engine)?;
        let in_time = engine.apart().1.first_half();
        let go_on = || moves != OtherSetMoves::Automatic || in_time();
        let pilot = law.law().weigh_while((0..TASKS, EACH), PILOT_SEED, engine, go_on)?;
        let logs: Vec<f64> = pilot.iter().map(|weighed| weighed.log).collect();
        // The expectation of min(1, w′/w) for a set from the law and a draw is Σ min(w_i, w_j) / (N Σ w_i).
        let pairs: Vec<f64> = logs.iter().flat_map(|a| logs.iter().map(move |b| a.min(*b))).collect();
        let log = log_sum(&pairs) - log_sum(&logs) - (logs.len() as f64).ln();
        let amplified = pilot.iter().map(|weighed| weighed.amplification).fold(1.0, f64::max);
        // A pilot run cut short by a deadline is too small for an estimate.
        let is_whole = pilot.len() == TASKS * EACH;
        let acceptance = if is_whole && log.is_finite() { log.exp() } else { 0.0 };
        let error = law.law().rounding()[0] * amplified;
        Ok(Self { law, counts: counts.to_vec(), acceptance, error })
    }

    /// The number of sweeps, of `sweep` operations each, per such move; `None` if such a move is never worth its
    /// time.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturating")]
    pub(super) fn worthwhile_every(&self, sweep: f64) -> Option<usize> {
        // The present set is weighed as well.
        let sweeps = 2.0 * self.law.operations() / sweep * (1.0 - SHARE) / SHARE;
        (self.acceptance >= WORTHWHILE && self.error <= ACCURATE).then_some(sweeps.ceil().max(1.0) as usize)
    }

    /// An error if rounding makes the weights too inaccurate for such moves.
    pub(super) fn accurate(&self) -> Result<()> {
        if self.error <= ACCURATE {
            return Ok(());
        }
        Err(Error::IllConditioned { deviation: self.error, tolerance: ACCURATE })
    }

    /// A draw that is always the same; `None` at a dead end.
    ///
    /// # Errors
    /// [`Error::Ended`] if the engine's watch ends it.
    pub(super) fn known(&self, engine: &Engine) -> Result<Option<Vec<u32>>> {
        let (mut rng, mut scratch) = (stream(PILOT_SEED, TASKS as u64), self.scratch());
        let drawn = self.draw(&mut rng, &mut scratch, || engine.proceed().is_ok());
        engine.proceed()?;
        Ok(drawn.map(|(items, _)| items))
    }

    pub(super) fn scratch(&self) -> BoundedScratch {
        self.law.scratch()
    }

    /// Makes a draw group after group, with ln of its weight; `None` at a dead end, or if `go_on` ends it.
    pub(super) fn draw<R: Rng + ?Sized>(
        &self,
        rng: &mut R,
        scratch: &mut BoundedScratch,
        go_on: impl FnMut() -> bool,
    ) -> Option<(Vec<u32>, f64)> {
        let log = self.law.weigh(rng, scratch, go_on);
        log.is_finite().then(|| (self.law.by_group(scratch).concat(), log))
    }

    /// Draws several sets and returns one of them, with probability in proportion to its weight. At least one is
    /// drawn, and the others while there is time.
    ///
    /// # Errors
    /// [`Error::Ended`] if the watch ends the draws.
    pub(super) fn start<R: Rng + ?Sized>(
        &self,
        rng: &mut R,
        watch: &Watch,
        in_time: impl Fn() -> bool,
    ) -> Result<Option<Vec<u32>>> {
        let (mut scratch, mut attempts) = (self.scratch(), Attempts::under(watch, 0.0));
        let draws = (0..STARTS).take_while(|&number| number == 0 || in_time());
        let drawn: Vec<_> = draws.filter_map(|_| self.draw(rng, &mut scratch, || attempts.go_on())).collect();
        attempts.check()?;
        let logs: Vec<f64> = drawn.iter().map(|(_, log)| *log).collect();
        let (mut left, whole) = (rng.random::<f64>(), log_sum(&logs));
        let chosen = drawn.iter().position(|(_, log)| {
            left -= (log - whole).exp();
            left < 0.0
        });
        Ok(drawn.into_iter().nth(chosen.unwrap_or(0)).map(|(items, _)| items))
    }

    /// ln of the weight of a set, listed group after group, with its items in a random order.
    pub(super) fn weigh<R: Rng + ?Sized>(
        &self,
        items: &[u32],
        rng: &mut R,
        scratch: &mut BoundedScratch,
        go_on: impl FnMut() -> bool,
    ) -> f64 {
        let mut left = items;
        let groups: Vec<Vec<u32>> = (self.counts.iter())
            .map(|&count| {
                let (own, rest) = left.split_at(count);
                left = rest;
                let mut own = own.to_vec();
                own.shuffle(rng);
                own
            })
            .collect();
        self.law.weigh_given(&groups, rng, scratch, go_on)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use crate::{
        Features, Partition, PartitionDpp, Quota, Subset, engine::Engine, linalg::kernels::add_scaled,
        model::log_determinant,
    };

    /// Five rows of one part and three of another, of very different lengths and directions.
    fn law() -> (Features, Partition) {
        let mut rows: Vec<f64> = (0..8 * 4).map(|at| (1.7 * f64::from(at * at)).sin()).collect();
        let (first, others) = rows.split_at_mut(4);
        add_scaled(&mut others[..4], 3.0, first);
        others[..4].iter_mut().for_each(|value| *value *= 4.0);
        let features = Features::from_rows(8, 4, rows).unwrap();
        (features, Partition::from_labels(&[0, 0, 0, 0, 0, 1, 1, 1]).unwrap())
    }

    #[test]
    fn moves_to_other_sets_have_the_law() {
        for candidates in [None, Some(1), Some(3)] {
            moves_have_the_law(candidates);
        }
    }

    fn moves_have_the_law(candidates: Option<usize>) {
        let (features, partition) = law();
        let dpp = PartitionDpp::new(&features, &partition, &Quota::new(&partition, [2, 1]).unwrap()).unwrap();
        let setup = RejectionSetup::new(&dpp, None, Engine::host()).unwrap();
        let mut other_sets =
            OtherSets::new(&setup, &[2, 1], OtherSetMoves::Automatic, Engine::host()).unwrap();
        assert!(other_sets.acceptance > 0.2);
        if let Some(candidates) = candidates {
            other_sets.law.estimate_traces(candidates);
        }
        let (mut rng, mut scratch) = (ChaCha8Rng::seed_from_u64(3), other_sets.scratch());
        let mut present = other_sets.start(&mut rng, &Watch::default(), || true).unwrap().unwrap();
        let (mut counts, draws) = (BTreeMap::<Vec<u32>, f64>::new(), 20_000);
        for _ in 0..draws {
            for _ in 0..8 {
                let weight = other_sets.weigh(&present, &mut rng, &mut scratch, || true);
                let Some((items, log)) = other_sets.draw(&mut rng, &mut scratch, || true) else { continue };
                let (left, right) = items.split_at(2);
                let groups = [left.to_vec(), right.to_vec()];
                if candidates.is_none_or(|candidates| candidates == 1) {
                    let again = other_sets.law.weigh_given(&groups, &mut rng, &mut scratch, || true);
                    assert!((log - again).abs() < 1e-12, "{log} {again}");
                }
                if rng.random::<f64>().ln() < log - weight {
                    present = items;
                }
            }
            let mut set = present.clone();
            set.sort_unstable();
            *counts.entry(set).or_default() += 1.0;
        }
        let set = |a: u32, b: u32, c: u32| vec![a, b, c];
        let sets = (0..5).flat_map(|a| (a + 1..5).flat_map(move |b| (5..8).map(move |c| set(a, b, c))));
        let det = |set: &[u32]| {
            let items = set.iter().map(|&item| item as usize).collect();
            log_determinant(&features, &Subset::new(items, 8).unwrap()).exp()
        };
        let law: Vec<(Vec<u32>, f64)> = sets.map(|set| (set.clone(), det(&set))).collect();
        let whole: f64 = law.iter().map(|(_, det)| det).sum();
        let off = |(set, det): &(Vec<u32>, f64)| {
            let expected = det / whole * f64::from(draws);
            (counts.get(set).copied().unwrap_or(0.0) - expected).powi(2) / expected
        };
        let square: f64 = law.iter().map(off).sum();
        // 29 degrees of freedom.
        assert!(square < 75.0, "{candidates:?}: {square}");
    }
}
