//! Draws under a watch.

use std::{
    ops::Range,
    sync::atomic::{AtomicU64, Ordering},
};

use rand::Rng;

use super::{Attempts, Law, Sampler, Samples, stream};
use crate::{
    Error, Result, Subset,
    parallel::map_ordered,
    watch::{Step, Watch},
};

/// The approximate number of proposals per task. Longer draws are separate tasks.
const TASK: f64 = 16.0;
/// Tasks started at a time; no later tasks begin once a watch has ended the draws.
const WAVE: usize = 1 << 12;

impl Sampler {
    /// Makes draws like [`sample_range`](Sampler::sample_range), under a watch, which every pick checks.
    ///
    /// If the watch ends a run, it returns all draws before the first unfinished one, equal to the draws of
    /// `sample_range`, and [why it ended](Samples::ended).
    ///
    /// # Errors
    /// [`Error::DrawGivenUp`] if a draw takes 64 times the average number of proposals that
    /// [`acceptance_bound`](Sampler::acceptance_bound) promises, which only rounding causes.
    ///
    /// # Examples
    /// ```
    /// # fn main() -> Result<(), partition_dpp::Error> {
    /// use std::sync::{Arc, atomic::{AtomicBool, Ordering}};
    /// use partition_dpp::{Engine, Features, KDpp, SamplerOptions, Watch, watch::Ended};
    /// let features = Features::from_rows(3, 2, vec![1.0, 0.0, 0.9, 0.1, 0.0, 1.0])?;
    /// let sampler = KDpp::new(&features, 2)?.sampler(SamplerOptions::default(), &Engine::cpu())?;
    /// let stop = Arc::new(AtomicBool::new(false));
    /// let watch = Watch::default().stopped_by(&stop);
    /// assert_eq!(sampler.sample_watched(0..10, 7, &watch)?.subsets(), sampler.sample_many(10, 7).subsets());
    /// stop.store(true, Ordering::Relaxed);
    /// let none = sampler.sample_watched(0..10, 7, &watch)?;
    /// assert_eq!((none.subsets().len(), none.ended()), (0, Some(Ended::Interrupted)));
    /// # Ok(()) }
    /// ```
    pub fn sample_watched(&self, draws: Range<u64>, seed: u64, watch: &Watch) -> Result<Samples> {
        let (begun, done) = (watch.begin(), AtomicU64::new(0));
        let total = draws.end.saturating_sub(draws.start);
        let told = |more: u64| {
            let done = done.fetch_add(more, Ordering::Relaxed) + more;
            watch.report(begun, Step::Draw, done, Some(total));
        };
        self.collect(draws, seed, || Attempts::under(watch, self.acceptance_bound()), told)
    }

    /// Makes the draws with these numbers, up to the first one that the watch ends. Calls `told` with the number of
    /// draws of every task.
    pub(super) fn collect<'w>(
        &self,
        draws: Range<u64>,
        seed: u64,
        attempts: impl Fn() -> Attempts<'w> + Sync + Send,
        told: impl Fn(u64) + Sync + Send,
    ) -> Result<Samples> {
        if let Some(law) = self.law.batched() {
            return self.collect_batches(&law, draws, seed, &attempts(), told);
        }
        let count = draws.end.saturating_sub(draws.start);
        let task_size = self.task_size();
        let tasks = usize::try_from(count.div_ceil(task_size)).unwrap_or(usize::MAX);
        let of_task = |task: usize| {
            let start = draws.start + task as u64 * task_size;
            let mut chunk = Vec::new();
            for draw in start..draws.end.min(start.saturating_add(task_size)) {
                match self.draw(&mut stream(seed, draw), attempts()) {
                    Ok(drawn) => chunk.push(drawn),
                    Err(error) => return (chunk, Some(error)),
                }
            }
            told(chunk.len() as u64);
            (chunk, None)
        };
        let mut samples = Samples::new(self.acceptance_bound());
        for first in (0..tasks).step_by(WAVE) {
            let wave = WAVE.min(tasks - first);
            for (chunk, error) in map_ordered(wave, |task| of_task(first + task)) {
                chunk.into_iter().for_each(|(subset, proposals)| samples.push(subset, proposals));
                match error {
                    None => {}
                    Some(Error::Ended(ended)) => return Ok(samples.ended_by(ended)),
                    Some(error) => return Err(error),
                }
            }
        }
        Ok(samples)
    }

    /// Draws per task.
    fn task_size(&self) -> u64 {
        if matches!(*self.law, Law::Interpolation(_) | Law::PerCandidate(_)) {
            return 1;
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "16 at most, and not negative"
        )]
        let size = (TASK * self.acceptance_bound()).min(TASK) as u64;
        size.max(1)
    }

    /// Makes one draw under a watch.
    ///
    /// # Errors
    /// [`Error::Ended`] if the watch ends it; the errors of [`try_sample_counted`](Sampler::try_sample_counted).
    pub(crate) fn sample_under<R: Rng + ?Sized>(&self, rng: &mut R, watch: &Watch) -> Result<Subset> {
        self.draw(rng, Attempts::under(watch, self.acceptance_bound())).map(|(subset, _)| subset)
    }

    pub(super) fn draw<R: Rng + ?Sized>(
        &self,
        rng: &mut R,
        mut attempts: Attempts<'_>,
    ) -> Result<(Subset, u64)> {
        let mut items = self.law.draw(rng, &mut attempts)?;
        items.extend_from_slice(&self.included);
        Ok((Subset::from_distinct(items), attempts.made().max(1)))
    }
}
