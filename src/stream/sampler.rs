//! Exact draws from a stream of trials.

use rand::Rng;
use rand_chacha::ChaCha8Rng;

use super::{Place, Plan, TrialSource, Trials};
use crate::{
    Result,
    error::StreamProblem,
    sample::{Attempts, CountRule, EigenvectorLaw, Eigenvectors, RemainingBasis, stream},
    watch::{UNWATCHED, Watch},
};

/// Separate keys for the seeds of requests and for the order of trials.
const REQUESTS: u64 = 0x7265_7175_6573_7473;
const ORDER: u64 = 0x6f_7264_6572;
/// The default number of draws whose trials are requested together, and the bytes that these may take.
const DRAWS: f64 = 8.0;
const BYTES: u64 = 64 << 20;
const LEAST: u64 = 64;
/// The number of trials between checks of the watch.
const LOOK: u64 = 64;

/// The number of trials needed, and the seed with which they are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Request {
    /// Number of trials.
    pub count: u64,
    /// A seed that is unique among the requests of the sampler.
    pub seed: u64,
}

/// A subset of the rows of all batches, and the work that it took.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Draw {
    /// The chosen rows, by batch and row.
    pub items: Vec<Place>,
    /// The number of proposals, including the accepted one.
    pub proposals: u64,
    /// The number of trials used.
    pub trials: u64,
}

/// The result of a step.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    /// A draw.
    Drawn(Draw),
    /// No trials are left: answer with [`StreamSampler::feed`].
    Needs(Request),
}

/// Draws exact samples of a plan's law from trials, on a driver that never sees the data.
///
/// Either it requests trials from a [`TrialSource`] ([`draw`](StreamSampler::draw)), or the application runs the
/// loop: [`step`](StreamSampler::step) returns a draw or a request for trials, and [`feed`](StreamSampler::feed)
/// takes the trials.
///
/// The law is det(K_S)/Z up to [`Plan::law_error`], regardless of the batches and of the sizes of requests, for three
/// reasons:
///
/// - Trials are independent and in random order. The sampler shuffles them, since it uses up a prefix first.
/// - If a proposal runs out of trials, it is resumed when more arrive, and not restarted. Proposals of large sets run
///   out more often, so dropping them would make E|S| too small.
/// - The number of trials requested does not depend on unused trials.
///
/// The same seed and the same batches give the same subsets.
///
/// # Cost
/// O(k²) operations per trial, for sets of k items. Memory: the trials of one request, 8r + 16 bytes each
/// ([`with_request`](StreamSampler::with_request)), and O(k² + r) numbers. Nothing grows with the data.
///
/// # Examples
/// A driver whose batches are stored elsewhere:
/// ```
/// # fn main() -> Result<(), partition_dpp::Error> {
/// use partition_dpp::{Engine, Features, Partition, stream::{Batch, Grams, Plan, Step, StreamSampler, Trials}};
/// # let batch = |number: u64| {
/// #     let values: Vec<f64> = (0..300).map(|i| (f64::from(i) * (number as f64 + 0.37)).sin()).collect();
/// #     let labels: Vec<&str> = (0..100).map(|i| if i % 3 == 0 { "cat" } else { "dog" }).collect();
/// #     Batch::new(number, &Features::from_rows(100, 3, values)?, &Partition::from_labels(&labels)?)
/// # };
/// let batches = [batch(0)?, batch(1)?];
/// // One map and a reduction, and the plan; a second map sums the leverages.
/// let grams = batches.iter().try_fold(Grams::default(), |all, batch| all.merge(Grams::of_batch(batch, &Engine::cpu())?))?;
/// let plan = Plan::partition_dpp(&grams, &grams.quota([("cat", 1), ("dog", 2)])?, &Engine::cpu())?;
/// let totals = batches.iter().map(|batch| plan.total_leverage(batch, &Engine::cpu())).collect::<Result<Vec<_>, _>>()?;
///
/// let mut sampler = StreamSampler::new(&plan, 42)?;
/// let mut draws = Vec::new();
/// while draws.len() < 10 {
///     match sampler.step()? {
///         Step::Drawn(draw) => draws.push(draw),
///         Step::Needs(request) => {
///             // The third map.
///             let counts = plan.split(&totals, request.count, request.seed)?;
///             let of_batch = |(batch, &count)| plan.trials(batch, count, request.seed, &Engine::cpu());
///             let trials = batches.iter().zip(&counts).map(of_batch).collect::<Result<Vec<_>, _>>()?;
///             sampler.feed(Trials::concatenate(trials)?)?;
///         }
///     }
/// }
/// assert!(draws.iter().all(|draw| draw.items.len() == 3));
/// # Ok(()) }
/// ```
///
/// # Source
/// Barthelmé, Tremblay and Amblard, *A faster sampler for discrete DPPs* (2022), for draws by leverage score.
#[derive(Debug)]
pub struct StreamSampler {
    eigenvectors: Eigenvectors,
    rule: Option<CountRule>,
    /// The group of every part.
    groups: Vec<Option<usize>>,
    rank: usize,
    plan: u64,
    acceptance_bound: f64,
    /// The number of trials per request, and its limit.
    request: u64,
    most: u64,
    coins: ChaCha8Rng,
    seeds: ChaCha8Rng,
    /// The request that is not yet answered.
    asked: Option<Request>,
    trials: Trials,
    /// The order in which trials are used, and the number used so far.
    order: Vec<u32>,
    next: usize,
    flight: Flight,
    attempts: Attempts<'static>,
    /// The number of proposals and trials of all draws.
    proposals: u64,
    used: u64,
    /// The number of trials used by draws before the current one.
    used_before: u64,
}

/// A proposal in progress.
#[derive(Debug, Default)]
struct Flight {
    is_begun: bool,
    chosen: Vec<usize>,
    remaining: RemainingBasis,
    picks: Vec<Place>,
    /// The number of items found of every group.
    found: Vec<usize>,
    /// The number of trials left for the next pick before the proposal is abandoned.
    tries: u64,
    /// The coordinates of a trial in the chosen eigenvectors.
    row: Vec<f64>,
}

/// The state of a proposal.
enum Progress {
    /// It needs a trial.
    Starved,
    Rejected,
    Accepted,
}

impl StreamSampler {
    /// Creates a sampler of a plan's law.
    ///
    /// # Errors
    /// [`Error::SizeAboveRank`](crate::Error::SizeAboveRank) if the plan's sets are larger than its rank, which no
    /// constructor allows.
    pub fn new(plan: &Plan, seed: u64) -> Result<Self> {
        let eigenvectors = match &plan.eigenvectors {
            EigenvectorLaw::Coins(keep) => Eigenvectors::Coins(keep.clone()),
            EigenvectorLaw::OfSize(values, k) => Eigenvectors::of_size(values, *k)?,
        };
        let rule = plan.rule.as_ref().map(|(rule, _)| rule.clone());
        let groups = plan.parts.iter().map(|part| part.group);
        let counters = rule.as_ref().map_or(1, |rule| rule.counts().low.len());
        let sampler = Self {
            eigenvectors,
            rule,
            groups: groups.collect(),
            rank: plan.rank(),
            plan: plan.fingerprint(),
            acceptance_bound: plan.acceptance_bound,
            request: 0,
            most: plan.most_trials().min(u32::MAX.into()),
            coins: stream(seed, 0),
            seeds: stream(seed ^ REQUESTS, 0),
            asked: None,
            trials: Trials::none(plan.fingerprint(), plan.rank()),
            order: Vec::new(),
            next: 0,
            flight: Flight { found: vec![0; counters], ..Flight::default() },
            attempts: Attempts::under(&UNWATCHED, plan.acceptance_bound),
            proposals: 0,
            used: 0,
            used_before: 0,
        };
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturating")]
        let request = (DRAWS * plan.expected_trials()).ceil() as u64;
        let most = (BYTES / plan.trial_bytes() as u64).max(LEAST);
        Ok(sampler.with_request(request.clamp(LEAST, most)))
    }

    /// Sets the number of trials per request, at least one and at most [`Plan::most_trials`].
    ///
    /// The default suffices for about 8 draws, within 64 MiB.
    #[must_use]
    pub fn with_request(self, count: u64) -> Self {
        Self { request: count.clamp(1, self.most), ..self }
    }

    /// Continues to the next draw, or until no trials are left.
    ///
    /// # Errors
    /// [`Error::DrawGivenUp`](crate::Error::DrawGivenUp) if rounding has made the acceptance bound wrong.
    pub fn step(&mut self) -> Result<Step> {
        self.step_watched(&UNWATCHED)
    }

    /// Does a [`step`](StreamSampler::step) under a watch, which every proposal and every 64th trial checks.
    ///
    /// If the watch ends a step, the next step resumes it with the same draws.
    ///
    /// # Errors
    /// The errors of [`step`](StreamSampler::step); [`Error::Ended`](crate::Error::Ended).
    pub fn step_watched(&mut self, watch: &Watch) -> Result<Step> {
        loop {
            watch.check()?;
            if !self.flight.is_begun {
                self.attempts.another()?;
                self.begin();
            }
            match self.go_on(watch)? {
                Progress::Starved => return Ok(Step::Needs(self.ask())),
                Progress::Rejected => self.flight.is_begun = false,
                Progress::Accepted => {
                    self.flight.is_begun = false;
                    return Ok(Step::Drawn(self.drawn()));
                }
            }
        }
    }

    /// Takes the requested trials.
    ///
    /// Their order does not matter: they are sorted by batch, then shuffled with the seed of the request.
    ///
    /// # Errors
    /// [`StreamProblem::NotAsked`], [`StreamProblem::TrialCount`], [`StreamProblem::OtherPlan`]; the request stays
    /// open.
    pub fn feed(&mut self, trials: Trials) -> Result<()> {
        let Some(request) = self.asked else { return Err(StreamProblem::NotAsked.into()) };
        let is_of_plan = trials.plan() == self.plan
            && trials.rank() == self.rank
            && trials.parts().iter().all(|&part| (part as usize) < self.groups.len());
        if !is_of_plan {
            return Err(StreamProblem::OtherPlan { what: "a list of trials" }.into());
        }
        let (expected, found) = (request.count, trials.len() as u64);
        if found != expected {
            return Err(StreamProblem::TrialCount { expected, found }.into());
        }
        self.accept(trials);
        self.order.sort_by_key(|&trial| self.trials.batches()[trial as usize]);
        shuffle(&mut self.order, &mut stream(request.seed ^ ORDER, 0));
        Ok(())
    }

    /// Takes trials in the given order.
    fn accept(&mut self, trials: Trials) {
        #[expect(clippy::cast_possible_truncation, reason = "requests are counted in 32 bits")]
        let count = trials.len() as u32;
        self.order.clear();
        self.order.extend(0..count);
        (self.trials, self.next, self.asked) = (trials, 0, None);
    }

    /// Makes the next draw with trials from a source.
    ///
    /// # Errors
    /// The errors of the source, of [`step`](StreamSampler::step) and of [`feed`](StreamSampler::feed). After an
    /// error of the source, the proposal is kept, and the next call makes the same request.
    pub fn draw(&mut self, source: &mut (impl TrialSource + ?Sized)) -> Result<Draw> {
        loop {
            match self.step()? {
                Step::Drawn(draw) => return Ok(draw),
                Step::Needs(request) => self.feed(source.more(request)?)?,
            }
        }
    }

    /// Makes `count` draws with trials from a source.
    ///
    /// # Errors
    /// The errors of [`draw`](StreamSampler::draw).
    pub fn draw_many(&mut self, count: usize, source: &mut (impl TrialSource + ?Sized)) -> Result<Vec<Draw>> {
        (0..count).map(|_| self.draw(source)).collect()
    }

    /// The number of proposals begun so far.
    #[must_use]
    pub fn proposals(&self) -> u64 {
        self.proposals
    }

    /// The number of trials used so far.
    #[must_use]
    pub fn trials(&self) -> u64 {
        self.used
    }

    /// Chooses the eigenvectors of a proposal.
    fn begin(&mut self) {
        self.proposals += 1;
        let Flight { is_begun, chosen, remaining, picks, found, tries, row } = &mut self.flight;
        self.eigenvectors.choose(&mut self.coins, chosen);
        remaining.begin_with_units(chosen.len());
        *tries = remaining.most_trials(self.rank as f64);
        picks.clear();
        found.fill(0);
        row.resize(chosen.len(), 0.0);
        *is_begun = true;
    }

    /// Makes picks until the proposal is rejected or complete, or no trials are left.
    fn go_on(&mut self, watch: &Watch) -> Result<Progress> {
        let Flight { chosen, remaining, picks, found, tries, row, .. } = &mut self.flight;
        while remaining.columns() > 0 {
            // Eigenvectors that rounding has made inaccurate may accept nothing.
            if *tries == 0 {
                return Ok(Progress::Rejected);
            }
            if self.used.is_multiple_of(LOOK) {
                watch.check()?;
            }
            let Some(&trial) = self.order.get(self.next) else { return Ok(Progress::Starved) };
            self.next += 1;
            self.used += 1;
            *tries -= 1;
            let (place, whole) = (self.trials.place(trial as usize), self.trials.row(trial as usize));
            row.iter_mut().zip(&*chosen).for_each(|(out, &j)| *out = whole[j]);
            let Some(norm) = remaining.accept(row, &mut self.coins) else { continue };
            // The residual of a row that is already picked is a rounding error: its probability is zero.
            if picks.contains(&place) {
                continue;
            }
            picks.push(place);
            if let Some(rule) = &self.rule {
                let group = self.groups[place.part as usize];
                if !group.is_some_and(|group| rule.admits(found, group)) {
                    return Ok(Progress::Rejected);
                }
            }
            remaining.use_up(norm);
            if remaining.columns() > 0 {
                *tries = remaining.most_trials(self.rank as f64);
            }
        }
        let accepts = self.rule.as_ref().is_none_or(|rule| rule.accepts(found, &mut self.coins));
        Ok(if accepts { Progress::Accepted } else { Progress::Rejected })
    }

    fn ask(&mut self) -> Request {
        let count = self.request;
        *self.asked.get_or_insert_with(|| Request { count, seed: self.seeds.next_u64() })
    }

    fn drawn(&mut self) -> Draw {
        let mut items = self.flight.picks.clone();
        items.sort_unstable();
        let draw = Draw { items, proposals: self.attempts.made(), trials: self.used - self.used_before };
        self.used_before = self.used;
        self.attempts = Attempts::under(&UNWATCHED, self.acceptance_bound);
        draw
    }
}

/// Shuffles uniformly (Fisher–Yates).
fn shuffle<R: Rng + ?Sized>(order: &mut [u32], rng: &mut R) {
    for last in (1..order.len()).rev() {
        order.swap(last, below(last as u64 + 1, rng));
    }
}

/// A number below a bound of at most 2³²; all numbers are equally likely within 2⁻³².
fn below<R: Rng + ?Sized>(bound: u64, rng: &mut R) -> usize {
    let product = u128::from(rng.next_u64()) * u128::from(bound);
    #[expect(clippy::cast_possible_truncation, reason = "below the bound")]
    let number = (product >> 64) as usize;
    number
}
