//! Markov chains of swaps: approximate draws from Partition-DPPs with many parts.

mod basis;
mod candidates;
mod chain;
mod convergence;
mod diagnostics;
mod moves;
mod observables;
mod options;
mod other_sets;
mod run;
mod start;
mod swap;
mod transitions;

use rand_chacha::ChaCha8Rng;

pub use convergence::Convergence;
pub use diagnostics::{ChainDiagnostics, PartConvergence};
pub use moves::MoveCount;
pub use options::{McmcOptions, OtherSetMoves, Thinning};
pub use run::{ChainRun, ChainSamples};

use self::{
    basis::Basis,
    candidates::CandidateDistribution,
    chain::{Chain, Walk},
    observables::Observables,
    other_sets::OtherSets,
};
use super::{rejection::RejectionSetup, stream};
use crate::{
    Error, Features, PartitionDpp, Result,
    engine::{Engine, EngineInfo},
    estimate::REFUSED,
    linalg::scale_columns,
    polynomial::ConditionalBernoulli,
    watch::Watch,
};

/// Operations of a swap, for each of k·n numbers.
const MOVE: f64 = 8.0;

/// Markov chains whose stationary distribution is that given by a [`PartitionDpp`], for approximate draws with any
/// number of parts.
///
/// ```text
/// S′ = S∖I ∪ J,   accepted with probability min(1, det(K_S′) Π_I q_i / (det(K_S) Π_J q_j))
/// ```
///
/// A move proposes to replace items I of the set, each by another item of its part. Most moves replace one item. Some
/// replace a block of two or more items in any parts, which helps if parts block each other and no single swap is
/// possible. Candidates are proposed about as often as they occur in the tilted k-DPP (q). A sweep proposes one swap
/// per item of the set, and some blocks, in random order.
///
/// Occasionally, a chain proposes another set, made by the weighted draws of an
/// [`ImportanceSampler`](crate::ImportanceSampler) (w). Such a move leads out of regions that swaps cannot leave:
///
/// ```text
/// S → S′ with probability min(1, w′ / w)
/// ```
///
/// Every move satisfies detailed balance, and blocks of all sizes make every feasible set reachable. Chains start from
/// weighted draws, resampled by their weights.
///
/// **Approximate:** the distribution of the draws converges to the model's. Its error has no known bound and can only
/// be [diagnosed](ChainSamples::diagnostics); if all chains miss the same sets, the diagnostics look good. For few
/// parts there are exact samplers: [`PartitionDpp::sampler`].
///
/// # Cost
/// The set-up costs as much as for rejection, plus one pass over A (2mn² operations). It takes 32 bytes per item, 48
/// during set-up, and at most 8r more for rows in other coordinates. For any m, a proposal takes 4nk operations, and
/// a move 6nk more (times the number of items replaced). Another set takes about 6kr², or 2(c+2)k²r if c candidates
/// per pick estimate weights. Each draw keeps 2(p+1) numbers.
///
/// # Numerics
/// The dual basis of the chosen rows is updated in f64 by rank-one updates. It is recomputed from the rows once 16k
/// items are replaced, or if its error exceeds 1e-12. The drift of ln det is [reported](ChainDiagnostics::drift).
/// Rows that agree to twelve digits count as one.
///
/// # Examples
/// ```
/// # fn main() -> Result<(), partition_dpp::Error> {
/// use partition_dpp::{Engine, Features, Partition, PartitionDpp, Quota, mcmc::McmcOptions};
/// let values: Vec<f64> = (0..200 * 20).map(|i| (0.73 * f64::from(i * i)).sin()).collect();
/// let features = Features::from_rows(200, 20, values)?;
/// let partition = Partition::from_labels(&(0..200).map(|i| i % 16).collect::<Vec<usize>>())?;
/// let quota = Quota::each(&partition, 1)?;
/// let dpp = PartitionDpp::new(&features, &partition, &quota)?;
/// let samples = dpp.chains(&McmcOptions::default().with_burn_in(50), &Engine::cpu())?.run(400, 42);
/// let diagnostics = samples.diagnostics()?;
/// assert!(diagnostics.worst_r_hat() < 1.1);
/// println!("{}: {:.0} effective draws", samples.subsets()[0], diagnostics.log_det.effective_draws);
/// # Ok(()) }
/// ```
///
/// # Source
/// Anari, Oveis Gharan and Rezaei, *Monte Carlo Markov chain algorithms for sampling strongly Rayleigh distributions and
/// determinantal point processes* (2016), for swaps of one item; Alimohammadi, Anari, Shiragur and Vuong,
/// *Fractionally log-concave and sector-stable polynomials* (2021), for moves of several parts at once; Tierney, *Markov
/// chains for exploring posterior distributions* (1994), for moves to other sets.
#[derive(Debug)]
pub struct Chains {
    options: McmcOptions,
    features: Features,
    /// A start that is known to be independent.
    known: Vec<u32>,
    walk: Walk,
    /// The part of each group.
    parts: Vec<usize>,
    /// Scales of the slots and, after them, of the included rows.
    scales: Vec<f64>,
    included: Vec<u32>,
    observables: Observables,
    engine: EngineInfo,
}

/// Operations per sweep.
fn sweep(slots: usize, blocks: usize, dims: usize) -> f64 {
    MOVE * (slots + 2 * blocks) as f64 * slots as f64 * dims as f64
}

impl PartitionDpp {
    /// Predicts the approximate floating-point operations of a sweep of a [chain](PartitionDpp::chains) with default
    /// options.
    #[must_use]
    pub fn operations_of_a_sweep(&self) -> f64 {
        let slots = self.counts().least;
        sweep(slots, McmcOptions::default().blocks_of(slots), self.ground().features().dims())
    }

    /// Sets up Markov chains: approximate draws, for models whose exact draws take too long.
    ///
    /// A pilot run shows whether moves to other sets are worthwhile. Under a deadline of the engine's watch, the
    /// pilot run ends after half of the time left, and automatic chains then do not make such moves.
    ///
    /// # Errors
    /// - [`Error::NotPositive`] if there are no chains, or no sweeps between draws;
    ///   [`EstimateProblem::TooManyChains`](crate::error::EstimateProblem::TooManyChains);
    /// - [`Error::CountsNotExact`] under ranges;
    /// - [`Error::Nothing`] if nothing is left to choose;
    /// - [`Error::IllConditioned`], [`Error::Eigen`], and [`Error::SizeAboveRank`] if the rank shows only in f64;
    ///   engine errors.
    pub fn chains(&self, options: &McmcOptions, engine: &Engine) -> Result<Chains> {
        options.check()?;
        let counts = self.exact_counts("chains")?;
        if counts.is_empty() {
            return Err(Error::Nothing { what: "the quota beyond the included items" });
        }
        let setup = RejectionSetup::new(self, None, engine)?;
        let other_sets = OtherSets::new(&setup, &counts, options.other_sets, engine)?;
        let (rows, spectrum) = (&setup.rows, &setup.found.spectrum);
        let (features, slots) = (self.ground().features(), counts.iter().sum());
        let eigenvectors = ConditionalBernoulli::new(&spectrum.values, slots)?;
        let roots: Vec<f64> = eigenvectors.inclusion_probabilities().iter().map(|p| p.sqrt()).collect();
        let likely = scale_columns(spectrum.whitener().as_ref(), &roots);
        let candidates = CandidateDistribution::of_groups(engine, rows, likely)?;
        let blocks = options.blocks_of(slots);
        let every = match options.other_sets {
            OtherSetMoves::Automatic => other_sets.worthwhile_every(sweep(slots, blocks, features.dims())),
            OtherSetMoves::Every(sweeps) => {
                other_sets.accurate()?;
                Some(sweeps)
            }
            OtherSetMoves::Never => None,
        };

        let included = self.ground().included().to_vec();
        let by_slot = |values: &dyn Fn(usize) -> f64| -> Vec<f64> {
            counts.iter().enumerate().flat_map(|(group, &count)| vec![values(group); count]).collect()
        };
        let mut scales = by_slot(&|group| rows.groups()[group].scale);
        let own_scale = |&item: &u32| crate::linalg::power_of_two_near(features.max_abs_of(&[item])).recip();
        scales.extend(included.iter().map(own_scale));
        let group_of = counts.iter().enumerate().flat_map(|(group, &count)| vec![group; count]).collect();
        let mut chains = Chains {
            options: *options,
            features: features.clone(),
            known: Vec::new(),
            walk: Walk { groups: self.groups(), candidates, group_of, other_sets, every, blocks },
            parts: self.open().iter().map(|open| open.part).collect(),
            scales,
            included,
            observables: Observables::new(&counts, features.dims()),
            engine: engine.info(),
        };
        let serves = |start: &Vec<u32>| chains.basis(start).is_some();
        // A weighted draw is faster, but may be a dead end.
        let drawn = chains.walk.other_sets.known(engine)?.filter(serves);
        let known = drawn.or_else(|| start::certain(self, &counts).filter(serves));
        chains.known = known.ok_or(Error::IllConditioned { deviation: 1.0, tolerance: REFUSED })?;
        Ok(chains)
    }
}

impl Chains {
    /// Makes `count` draws from the chains in turn: draw i is from chain i mod C.
    ///
    /// Chains run on all threads of the current rayon pool. Chain c uses stream c of the ChaCha8 generator seeded
    /// with `seed`. The subsets are the same for any number of threads, and a longer run begins with the draws of a
    /// shorter one.
    #[must_use]
    pub fn run(&self, count: u64, seed: u64) -> ChainSamples {
        let mut run = self.start(seed);
        run.extend(count);
        run.into_samples()
    }

    /// Starts the chains and runs their burn-in, up to the first draw.
    #[must_use]
    pub fn start(&self, seed: u64) -> ChainRun<'_> {
        match self.start_watched(seed, &Watch::default()) {
            Ok(run) => run,
            Err(error) => unreachable!("no watch: {error}"),
        }
    }

    /// Starts the chains like [`start`](Chains::start), under a watch; continue with [`ChainRun::extend_watched`].
    ///
    /// Under a deadline, the first sets take at most half of the time left, the burn-in half of the rest, and the
    /// pilot run of automatic thinning half of the time left after that. The draws get the remaining time, and
    /// therefore depend on it. [`ChainSamples::burn_in`] is the number of sweeps made.
    ///
    /// # Errors
    /// [`Error::Ended`] if the watch ends a sweep or the first sets.
    pub fn start_watched(&self, seed: u64, watch: &Watch) -> Result<ChainRun<'_>> {
        ChainRun::new(self, self.options.chains, |chain| stream(seed, chain as u64), watch)
    }

    /// The options.
    #[must_use]
    pub fn options(&self) -> &McmcOptions {
        &self.options
    }

    /// The engine that did the set-up. Chains themselves run on the CPU in f64.
    #[must_use]
    pub fn engine(&self) -> &EngineInfo {
        &self.engine
    }

    /// A chain at a random start, for which sets are drawn while `in_time` allows.
    ///
    /// # Errors
    /// [`Error::Ended`] if the watch ends the draws.
    fn chain(&self, mut rng: ChaCha8Rng, watch: &Watch, in_time: impl Fn() -> bool) -> Result<Chain> {
        let drawn =
            self.walk.other_sets.start(&mut rng, watch, in_time)?.and_then(|start| self.basis(&start));
        let Some(basis) = drawn.or_else(|| self.basis(&self.known)) else {
            unreachable!("the known start served at set-up")
        };
        Ok(Chain::new(basis, &self.walk, rng))
    }

    /// The basis of these items, one per slot, and the included ones.
    fn basis(&self, items: &[u32]) -> Option<Basis> {
        Basis::new(&self.features, [items, &self.included].concat(), self.scales.clone())
    }
}
