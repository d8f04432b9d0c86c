//! Runs of chains, and their draws.

use rand_chacha::ChaCha8Rng;

use super::{Chains, Convergence, MoveCount, Thinning, chain::Chain};
use crate::{
    Error, Result, Subset,
    parallel::{map_ordered, map_ordered_mut},
    watch::{Ended, Watch},
};

/// The sweeps per chain that automatic thinning is measured on.
const PILOT: usize = 256;
/// The largest automatic thinning.
const LONGEST_THINNING: f64 = 64.0;

/// Chains that can be continued.
#[derive(Debug)]
pub struct ChainRun<'c> {
    chains: &'c Chains,
    records: Vec<Record>,
    draws: u64,
    burn_in: usize,
    thin: usize,
}

/// A chain and the draws from it.
#[derive(Debug)]
struct Record {
    chain: Chain,
    subsets: Vec<Subset>,
    /// The observables, draw after draw.
    values: Vec<f64>,
}

impl<'c> ChainRun<'c> {
    /// Starts `count` chains and runs their burn-in.
    pub(super) fn new(
        chains: &'c Chains,
        count: usize,
        generator: impl Fn(usize) -> ChaCha8Rng + Sync + Send,
        watch: &Watch,
    ) -> Result<Self> {
        let in_time = watch.first_half();
        let begun = |number| {
            let chain = chains.chain(generator(number), watch, in_time)?;
            Ok(Record { chain, subsets: Vec::new(), values: Vec::new() })
        };
        let records = map_ordered(count, begun).into_iter().collect::<Result<_>>()?;
        let mut run = Self { chains, records, draws: 0, burn_in: 0, thin: 1 };
        run.burn_in = run.sweep(chains.options.burn_in, watch, |_, _| ())?;
        run.records.iter_mut().for_each(|record| record.chain.refresh());
        run.thin = match chains.options.thinning {
            Thinning::Sweeps(sweeps) => sweeps,
            Thinning::Automatic => run.pilot(watch)?,
        };
        Ok(run)
    }

    /// Sweeps with every chain until half of the time left has passed, if there is a deadline. Returns the number of
    /// sweeps made.
    fn sweep(
        &mut self,
        most: usize,
        watch: &Watch,
        then: impl Fn(&Chains, &mut Record) + Sync + Send,
    ) -> Result<usize> {
        let in_time = watch.first_half();
        // Chains that wait for a thread must not find the time used up.
        let round = if watch.has_deadline() { 1 } else { most };
        let mut done = 0;
        while done < most && in_time() {
            self.each(|chains, record, _| {
                for _ in 0..round {
                    record.chain.sweep(&chains.walk, watch)?;
                    then(chains, record);
                }
                Ok(())
            })?;
            done += round;
        }
        Ok(done)
    }

    /// The number of sweeps between draws, from the autocorrelation of sweeps that are not kept; 1 if a deadline ends
    /// them.
    fn pilot(&mut self, watch: &Watch) -> Result<usize> {
        let swept = self.sweep(PILOT, watch, |chains, record| {
            chains.observables.record(&record.chain.basis, &mut record.values);
        })?;
        let series: Vec<Vec<f64>> =
            self.records.iter_mut().map(|record| std::mem::take(&mut record.values)).collect();
        if swept < PILOT {
            // The autocorrelation of so short a run is not reliable.
            return Ok(1);
        }
        let width = self.chains.observables.len();
        let time = |at: usize| {
            let of_chain = |values: &Vec<f64>| values.iter().skip(at).step_by(width).copied().collect();
            let chains: Vec<Vec<f64>> = series.iter().map(of_chain).collect();
            Convergence::of(&chains).map_or(LONGEST_THINNING, |found| found.autocorrelation_time)
        };
        let longest = map_ordered(width, time).into_iter().fold(1.0, f64::max);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 1 to 64")]
        let sweeps = longest.min(LONGEST_THINNING).round() as usize;
        Ok(sweeps)
    }

    /// Draws `count` more subsets.
    pub fn extend(&mut self, count: u64) {
        let never = self.extend_watched(count, &Watch::default());
        debug_assert!(never.is_none(), "no watch");
    }

    /// Draws `count` more subsets like [`extend`](ChainRun::extend), under a watch. Returns why the watch ended it,
    /// if it did.
    ///
    /// In that case, the draws end before the first one that its chain has not made, and later draws differ from an
    /// undisturbed run's.
    pub fn extend_watched(&mut self, count: u64, watch: &Watch) -> Option<Ended> {
        let (before, after) = (self.draws, self.draws.saturating_add(count));
        let (thin, chains) = (self.thin, self.records.len() as u64);
        let outcome = self.each(|setting, record, number| {
            // Draws i ≡ number modulo the number of chains.
            let until = |draws: u64| draws.saturating_sub(number as u64).div_ceil(chains);
            for _ in until(before)..until(after) {
                for _ in 0..thin {
                    record.chain.sweep(&setting.walk, watch)?;
                }
                let items = [record.chain.items(), &setting.included].concat();
                record.subsets.push(Subset::from_distinct(items));
                setting.observables.record(&record.chain.basis, &mut record.values);
            }
            Ok(())
        });
        if let Err(Error::Ended(ended)) = outcome {
            self.keep_complete();
            return Some(ended);
        }
        self.draws = after;
        None
    }

    /// Drops all draws from the first one on that its chain has not made.
    fn keep_complete(&mut self) {
        let chains = self.records.len() as u64;
        let lacking = self.records.iter().enumerate();
        let lacking = lacking.map(|(number, record)| record.subsets.len() as u64 * chains + number as u64);
        self.draws = lacking.min().unwrap_or_default();
        let width = self.chains.observables.len();
        for (number, record) in self.records.iter_mut().enumerate() {
            let own = (self.draws + chains - 1 - number as u64) / chains;
            let own = usize::try_from(own).unwrap_or(usize::MAX);
            record.subsets.truncate(own);
            record.values.truncate(own.saturating_mul(width));
        }
    }

    /// Number of draws so far.
    #[must_use]
    pub fn draws(&self) -> u64 {
        self.draws
    }

    /// Returns the draws.
    #[must_use]
    pub fn into_samples(self) -> ChainSamples {
        let chains = self.records.len();
        let width = self.chains.observables.len();
        let mut moves: Vec<MoveCount> = self.records[0].chain.moves.clone();
        for record in &self.records[1..] {
            for (sum, own) in moves.iter_mut().zip(&record.chain.moves) {
                sum.proposed += own.proposed;
                sum.accepted += own.accepted;
            }
        }
        moves.retain(|count| count.proposed > 0);
        let mut other_sets = self.records[0].chain.other_sets;
        for record in &self.records[1..] {
            other_sets.proposed += record.chain.other_sets.proposed;
            other_sets.accepted += record.chain.other_sets.accepted;
        }
        let drift = self.records.iter().map(|record| record.chain.drift).fold(0.0, f64::max);
        let refreshes = self.records.iter().map(|record| record.chain.refreshes).sum();
        let (mut values, mut drawn) = (Vec::new(), Vec::new());
        for record in self.records {
            values.push(record.values);
            drawn.push(record.subsets.into_iter());
        }
        let subsets = (0..).map_while(|draw: usize| drawn[draw % chains].next()).collect();
        let parts = self.chains.parts.clone();
        let (burn_in, thin) = (self.burn_in, self.thin);
        ChainSamples { subsets, values, width, parts, moves, other_sets, drift, refreshes, burn_in, thin }
    }

    /// Runs `task` on every chain.
    fn each(&mut self, task: impl Fn(&Chains, &mut Record, usize) -> Result<()> + Sync + Send) -> Result<()> {
        let chains = self.chains;
        let done = map_ordered_mut(std::mem::take(&mut self.records), |number, mut record| {
            let outcome = task(chains, &mut record, number);
            (record, outcome)
        });
        let (records, outcomes): (_, Vec<Result<()>>) = done.into_iter().unzip();
        self.records = records;
        outcomes.into_iter().collect()
    }
}

/// Approximate draws of several chains, with the data for their diagnostics.
#[derive(Clone, Debug)]
pub struct ChainSamples {
    pub(super) subsets: Vec<Subset>,
    /// Observables by chain, draw after draw.
    pub(super) values: Vec<Vec<f64>>,
    pub(super) width: usize,
    pub(super) parts: Vec<usize>,
    pub(super) moves: Vec<MoveCount>,
    pub(super) other_sets: MoveCount,
    pub(super) drift: f64,
    pub(super) refreshes: u64,
    pub(super) burn_in: usize,
    pub(super) thin: usize,
}

impl ChainSamples {
    /// The subsets; number i is the ⌊i/C⌋-th draw of chain i mod C.
    #[must_use]
    pub fn subsets(&self) -> &[Subset] {
        &self.subsets
    }

    /// C, the number of chains.
    #[must_use]
    pub fn chains(&self) -> usize {
        self.values.len()
    }

    /// ln det K_S of the draws of one chain, in order.
    ///
    /// # Panics
    /// If there is no such chain.
    #[must_use]
    pub fn log_dets(&self, chain: usize) -> Vec<f64> {
        self.series(chain, 0)
    }

    /// Sweeps of every chain before its first draw: the number requested, unless a deadline ended them.
    #[must_use]
    pub fn burn_in(&self) -> usize {
        self.burn_in
    }

    /// Sweeps from each draw of a chain to the next.
    #[must_use]
    pub fn thin(&self) -> usize {
        self.thin
    }

    /// The number of moves proposed by all chains, including the burn-in.
    #[must_use]
    pub fn proposals(&self) -> u64 {
        self.moves.iter().chain([&self.other_sets]).map(|count| count.proposed).sum()
    }

    /// One observable of the draws of a chain.
    pub(super) fn series(&self, chain: usize, observable: usize) -> Vec<f64> {
        self.values[chain].iter().skip(observable).step_by(self.width).copied().collect()
    }
}

impl IntoIterator for ChainSamples {
    type Item = Subset;
    type IntoIter = std::vec::IntoIter<Subset>;

    fn into_iter(self) -> Self::IntoIter {
        self.subsets.into_iter()
    }
}
