//! Draws of any size from a kernel with a ridge: items from the kernel's determinantal law, and others by coins.

use rand::{Rng, RngExt};

use super::super::{
    Attempts, SamplerOptions, SpectralLaw,
    spectral::{ENOUGH, Eigenvectors, MARGIN},
    stream,
};
use crate::{
    Partition, Quota, Result, RidgeDpp, Watch,
    engine::{Engine, Items},
    estimate::accurate,
    linalg::{sigmoid, softplus},
    model::{DrawnDpp, FreeItems, FreeRidge, within},
    parallel::map_ordered,
    polynomial::spectrum::{TiltedSpectrum, keep_probabilities},
};

/// The number of draws per trial, and the seed.
const TRIAL: usize = 256;
const TRIAL_SEED: u64 = 1 << 63;

/// T by eigenvectors, and a coin per item.
#[derive(Debug)]
pub(crate) struct FreeRidgeSampler {
    /// `None` if all items of K are zero.
    drawn: Option<SpectralLaw>,
    coins: FreeRidge,
    /// The counts for which draws are accepted; `None` for any.
    allowed: Option<(Partition, Quota)>,
    acceptance: f64,
}

impl FreeRidgeSampler {
    /// The sampler, and the error of its law, if the law allows any set, or if a trial shows enough draws within wide
    /// ranges.
    pub(super) fn of(
        dpp: &RidgeDpp,
        options: SamplerOptions,
        engine: &Engine,
    ) -> Result<Option<(Self, f64)>> {
        if !Self::suits(dpp) {
            return Ok(None);
        }
        let free = dpp.free_ridge()?;
        let drawn = free.drawn(&vec![0.0; free.groups.len()])?;
        let new = |drawn: &_| Self::new(&free, drawn, options, engine);
        let (mut law, error) =
            within(options.law_error, &drawn, |drawn| drawn.graded(engine), new, |(_, error)| *error)?;
        if dpp.is_free() {
            return Ok(Some((law, error)));
        }
        law.allowed = Some((dpp.partition().clone(), dpp.quota().clone()));
        let accepted = law.trial(engine)?;
        law.acceptance = accepted as f64 / TRIAL as f64 / MARGIN;
        let error = accurate(error / law.acceptance);
        Ok(error.ok().filter(|_| accepted >= ENOUGH).map(|error| (law, error)))
    }

    /// Whether the law allows any set, or has ranges too wide for counting the mixture quickly.
    pub(in crate::sample) fn suits(dpp: &RidgeDpp) -> bool {
        let is_wide = || dpp.quota().high().iter().any(|&high| high > dpp.features().dims());
        dpp.is_free() || dpp.quota().total().is_none() && is_wide()
    }

    fn new(
        free: &FreeRidge,
        drawn: &DrawnDpp,
        options: SamplerOptions,
        engine: &Engine,
    ) -> Result<(Self, f64)> {
        let (rows, coins) = (drawn.rows(), free.clone());
        let found = if rows.groups().is_empty() {
            None
        } else {
            TiltedSpectrum::for_dpp(engine, &rows, &drawn.ground)?
        };
        let Some((found, log_scale)) = found else {
            return Ok((Self { drawn: None, coins, allowed: None, acceptance: 1.0 }, 0.0));
        };
        let eigenvectors = Eigenvectors::Coins(keep_probabilities(&found.spectrum.values, log_scale));
        let way = options.projection;
        let law = SpectralLaw::new(engine, drawn.ground.features(), &rows, &found, eigenvectors, way)?;
        Ok((Self { drawn: Some(law), coins, allowed: None, acceptance: 1.0 }, found.spectrum.error))
    }

    /// The number of draws in a trial that are accepted.
    fn trial(&self, engine: &Engine) -> Result<u64> {
        let accepted = map_ordered(TRIAL, |number| {
            engine.proceed()?;
            let mut rng = stream(TRIAL_SEED, number as u64);
            Ok(self.allows(&self.union(&mut rng, &mut Attempts::under(&Watch::default(), 1.0))?))
        });
        let accepted = accepted.into_iter().collect::<Result<Vec<bool>>>()?;
        Ok(accepted.into_iter().filter(|&allowed| allowed).count() as u64)
    }

    /// A lower bound of the draws per proposal, or a quarter of the acceptance that a trial measured.
    pub(crate) fn acceptance_bound(&self) -> f64 {
        self.acceptance
    }

    /// The predicted average number of proposals per sample.
    pub(crate) fn proposals(&self) -> f64 {
        if self.allowed.is_none() { 1.0 } else { (MARGIN * self.acceptance).recip() }
    }

    pub(crate) fn sample<R: Rng + ?Sized>(
        &self,
        rng: &mut R,
        attempts: &mut Attempts<'_>,
    ) -> Result<Vec<u32>> {
        loop {
            attempts.another()?;
            let items = self.union(rng, &mut Attempts::under(attempts.watch(), 1.0))?;
            if self.allows(&items) {
                return Ok(items);
            }
        }
    }

    fn allows(&self, items: &[u32]) -> bool {
        let Some((partition, quota)) = &self.allowed else { return true };
        let mut counts = vec![0; partition.parts()];
        items.iter().for_each(|&item| counts[partition.part_of(item as usize)] += 1);
        quota.allows(&counts)
    }

    /// T and the items that coins add.
    fn union<R: Rng + ?Sized>(&self, rng: &mut R, attempts: &mut Attempts<'_>) -> Result<Vec<u32>> {
        let mut items = self.drawn.as_ref().map_or(Ok(Vec::new()), |law| law.sample(rng, attempts))?;
        items.extend_from_slice(&self.coins.certain);
        for group in &self.coins.groups {
            self.toss(group, rng, &mut items);
        }
        items.sort_unstable();
        items.dedup();
        Ok(items)
    }

    /// Adds every item of a group with its probability, d/(1 + d).
    fn toss<R: Rng + ?Sized>(&self, group: &FreeItems, rng: &mut R, out: &mut Vec<u32>) {
        if !self.coins.is_even() {
            let is_added = |item: &usize| rng.random::<f64>() < sigmoid(self.coins.log_odds(*item));
            #[expect(clippy::cast_possible_truncation, reason = "items are counted in 32 bits")]
            out.extend(group.iter().filter(is_added).map(|item| item as u32));
            return;
        }
        // The number of items between two added ones is the length of a run of tails.
        let (log_tails, members) = (-softplus(self.coins.log_delta()), Items::from(group));
        let mut next = 0.0;
        loop {
            next += ((-rng.random::<f64>()).ln_1p() / log_tails).floor();
            if next >= members.len() as f64 {
                return;
            }
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "below the number of items"
            )]
            out.push(members.at(next as usize) as u32);
            next += 1.0;
        }
    }
}
