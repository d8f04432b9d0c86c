//! Draws by eigenvectors: choose some, draw from the projection DPP on their span, and accept sets that are allowed.

use std::{ops::Range, sync::Arc};

use rand::{Rng, RngExt};

use super::{
    Attempts, CountRule, Projection,
    batches::{Batched, Batches, Replay},
    pool::{Pool, Reused},
    projection::{self, ProjectionDpp, Scratch},
    rejection::RejectionSetup,
    stream,
};
use crate::{
    Error, Features, Partition, PartitionDpp, Result,
    engine::{Engine, Rows},
    estimate::{REFUSED, accurate},
    model::{Counts, Fill},
    parallel::map_ordered,
    polynomial::{
        ConditionalBernoulli,
        spectrum::{TiltedSpectrum, keep_probabilities},
    },
};

/// The tasks per trial, and proposals per task, for any number of threads.
const TASKS: usize = 64;
const PROPOSALS_PER_TASK: u64 = 2048;
/// Proposals of a pilot run, which predicts the number of proposals per draw.
const PILOT: u64 = 256;
/// Acceptances that a trial must see. If the acceptance were below a quarter of the result, this would happen once in
/// 1e5 trials.
pub(super) const ENOUGH: u64 = 16;
/// The factor by which the acceptance may be below the one measured.
pub(super) const MARGIN: f64 = 4.0;
/// If ln of the least acceptance of filled-up proposals is below this, a trial measures it.
const LOOSE: f64 = -1.0;

/// A law that draws by eigenvectors. Under a quota, draws are proposals, accepted if the quota allows them.
#[derive(Debug)]
pub(crate) struct SpectralLaw {
    eigenvectors: Eigenvectors,
    projection: ProjectionDpp,
    /// The proposals that are accepted; all without a quota.
    allowed: Option<Allowed>,
    acceptance_bound: f64,
    /// The predicted average number of proposals per draw.
    proposals: f64,
    pool: Pool<ProposalScratch>,
    /// The device that makes many draws, if any.
    batches: Option<Batches>,
}

/// Buffers for the proposals of one draw.
#[derive(Debug)]
struct ProposalScratch {
    scratch: Scratch,
    /// Items found in every group that is counted.
    found: Vec<usize>,
}

impl Reused for ProposalScratch {
    fn forget(&mut self) {
        self.scratch.forget();
    }
}

/// The way the eigenvectors of a proposal are chosen.
#[derive(Debug)]
pub(crate) enum Eigenvectors {
    /// Independent coins, λ_j / (1 + λ_j).
    Coins(Vec<f64>),
    /// A fixed number of eigenvectors, given as the total.
    OfSize(ConditionalBernoulli, usize),
}

impl Eigenvectors {
    /// Exactly k eigenvectors, with probability ∝ Π λ_j.
    pub(crate) fn of_size(values: &[f64], k: usize) -> Result<Self> {
        Ok(Self::OfSize(ConditionalBernoulli::new(values, k)?, k))
    }

    /// The expected number of eigenvectors.
    fn expected(&self) -> f64 {
        match self {
            Self::Coins(keep) => keep.iter().sum(),
            Self::OfSize(_, k) => *k as f64,
        }
    }

    /// Chooses eigenvectors by their indices, ascending.
    pub(crate) fn choose<R: Rng + ?Sized>(&self, rng: &mut R, chosen: &mut Vec<usize>) {
        match self {
            Self::OfSize(law, _) => law.sample_into(rng, chosen),
            Self::Coins(keep) => {
                chosen.clear();
                for (j, &probability) in keep.iter().enumerate() {
                    if rng.random::<f64>() < probability {
                        chosen.push(j);
                    }
                }
            }
        }
    }
}

/// The proposals that are accepted, and their probability.
#[derive(Debug)]
struct Allowed {
    partition: Partition,
    /// The group of every part; `None` if nothing is chosen from it.
    groups: Vec<Option<usize>>,
    rule: CountRule,
    /// How proposals are filled up with further items.
    fill: Option<Arc<Fill>>,
}

impl Allowed {
    fn new(dpp: &PartitionDpp, log_weights: &[f64], fill: Option<Arc<Fill>>) -> Self {
        let mut groups = vec![None; dpp.partition().parts()];
        dpp.open().iter().enumerate().for_each(|(group, open)| groups[open.part] = Some(group));
        let rule = CountRule::new(dpp.counts(), dpp.correction(log_weights));
        Self { partition: dpp.partition().clone(), groups, rule, fill }
    }

    /// Whether a proposal with one more item may still be accepted; called at every pick.
    fn admits(&self, found: &mut [usize]) -> impl FnMut(u32) -> bool {
        let (part_of, groups, rule) = (self.partition.part_of_items(), &self.groups[..], &self.rule);
        move |item| groups[part_of[item as usize] as usize].is_some_and(|group| rule.admits(found, group))
    }

    /// Whether a complete proposal with these counts is accepted.
    fn accepts<R: Rng + ?Sized>(&self, picks: &[u32], found: &[usize], rng: &mut R) -> bool {
        let is_exact = self.rule.counts().exact().is_some();
        if !self.rule.accepts(found, rng) {
            return false;
        }
        is_exact
            || self.fill.as_ref().is_none_or(|fill| {
                let log = fill.log_acceptance(picks);
                log >= 0.0 || rng.random::<f64>() < log.exp()
            })
    }
}

/// Floating-point operations of a tilted proposal.
pub(super) fn operations(dpp: &PartitionDpp, rows: &Rows<'_>, found: &TiltedSpectrum) -> f64 {
    let (rank, dims) = (found.spectrum.values.len() as f64, rows.features().dims() as f64);
    projection::operations(rows.len() as f64, dims, rank, expected_size(dpp, found))
}

/// The expected number of items in a tilted proposal.
pub(super) fn expected_size(dpp: &PartitionDpp, found: &TiltedSpectrum) -> f64 {
    match dpp.counts().total() {
        Some(k) => k as f64,
        None => keep_probabilities(&found.spectrum.values, 0.0).iter().sum(),
    }
}

/// ln of the weights of parts for the rows as given, from the tilt and the scales.
pub(super) fn log_weights(found: &TiltedSpectrum, rows: &Rows<'_>) -> Vec<f64> {
    found.tilt.log_weights.iter().zip(rows.scales()).map(|(t, scale)| t + 2.0 * scale.ln()).collect()
}

/// Refuses ranges that need more items than there are directions distinguishable from rounding in f64, because no
/// proposal would ever be accepted.
pub(super) fn refuse_unreachable(counts: &Counts, rank: usize) -> Result<()> {
    if counts.least <= rank {
        Ok(())
    } else {
        Err(Error::IllConditioned { deviation: 1.0, tolerance: REFUSED })
    }
}

impl SpectralLaw {
    /// A law that accepts every proposal.
    pub(crate) fn new(
        engine: &Engine,
        features: &Features,
        rows: &Rows<'_>,
        found: &TiltedSpectrum,
        eigenvectors: Eigenvectors,
        way: Projection,
    ) -> Result<Self> {
        let (weights, size) = (found.tilt.root_weights(), eigenvectors.expected());
        let projection = ProjectionDpp::new(engine, features, rows, &weights, &found.spectrum, size, way)?;
        Ok(Self {
            eigenvectors,
            projection,
            allowed: None,
            acceptance_bound: 1.0,
            proposals: 1.0,
            pool: Pool::new(),
            batches: None,
        })
    }

    /// The law under a quota, and its error; `acceptance` is a lower bound of the share of proposals with allowed
    /// counts.
    ///
    /// Under ranges this bound may be far too low, so a pilot run predicts the proposals per draw. It makes 256
    /// proposals, or 64 weighted draws if it sees fewer than 16 acceptances.
    pub(super) fn under_quota(
        setup: &RejectionSetup<'_>,
        acceptance: f64,
        (way, budget): (Projection, f64),
        engine: &Engine,
    ) -> Result<(Self, f64)> {
        let RejectionSetup { dpp, rows, found, fill, .. } = setup;
        let values = &found.spectrum.values;
        let eigenvectors = match dpp.counts().total() {
            Some(k) => Eigenvectors::of_size(values, k)?,
            None => Eigenvectors::Coins(keep_probabilities(values, 0.0)),
        };
        let law = Self::new(engine, dpp.ground().features(), rows, found, eigenvectors, way)?;
        let log_weights = log_weights(found, rows);
        let of_fill = fill.as_ref().map_or(0.0, |fill| fill.least_log_acceptance());
        let acceptance_bound = of_fill.exp() * acceptance;
        let allowed = Allowed::new(dpp, &log_weights, fill.clone());
        let proposals = acceptance_bound.recip();
        let mut law = Self { allowed: Some(allowed), acceptance_bound, proposals, ..law };
        if dpp.quota().exact_counts().is_some() {
            return Ok((law, found.spectrum.error));
        }
        // In the worst case, all sets affected by the spectrum's error are accepted.
        let is_off = |bound: f64| accurate(found.spectrum.error / bound).is_err();
        let suffices = acceptance_bound * budget >= 1.0 && !is_off(acceptance_bound);
        let is_taken = suffices && of_fill >= LOOSE;
        let seen = if is_taken {
            let accepted = law.accepted(0..1, PILOT, engine)?;
            (accepted >= ENOUGH).then_some(accepted as f64 / PILOT as f64)
        } else {
            law.measured(engine)?
        };
        let predicted = seen.map_or_else(|| setup.tilted_proposals(engine), |seen| Ok(seen.recip()))?;
        let cautious = (MARGIN * predicted).recip().max(acceptance_bound);
        law.acceptance_bound = if is_taken { acceptance_bound } else { cautious };
        law.proposals = predicted.min(law.acceptance_bound.recip()).max(1.0);
        if law.proposals > budget || law.proposals.is_infinite() {
            return Err(Error::RangeProposalBudget { expected: law.proposals, budget });
        }
        let error = accurate(found.spectrum.error / cautious)?;
        Ok((law, error))
    }

    /// A lower bound of the draws per proposal, or a quarter of the acceptance that a trial or weighted draws found.
    pub(crate) fn acceptance_bound(&self) -> f64 {
        self.acceptance_bound
    }

    /// Average proposals per draw: predicted by a pilot run under ranges, an upper bound under exact counts.
    pub(super) fn proposals(&self) -> f64 {
        self.proposals
    }

    /// Makes many draws on the engine's device, if it has one and proposals are simple: of fixed size, and accepted
    /// unless a part exceeds its count. Returns the error that this adds to the law.
    pub(super) fn make_batches_on(&mut self, engine: &Engine) -> f64 {
        self.batches = self.replay().and_then(|replay| Batches::on(engine, &replay, self.acceptance_bound));
        self.batched().map_or(0.0, |batched| batched.error())
    }

    /// The law with the device that makes many draws.
    pub(super) fn batched(&self) -> Option<Batched<'_>> {
        let (batches, replay) = (self.batches.as_ref()?, self.replay()?);
        Some(Batched { batches, proposals: Box::new(replay), acceptance_bound: self.acceptance_bound })
    }

    fn replay(&self) -> Option<Replay<'_>> {
        let Eigenvectors::OfSize(eigenvectors, size) = &self.eigenvectors else { return None };
        let most = match &self.allowed {
            Some(allowed) => Some(allowed.rule.counts().exact()?),
            None => None,
        };
        Some(Replay { trials: self.projection.trials()?, eigenvectors, size: *size, most })
    }

    /// Draws proposals until one is accepted.
    pub(crate) fn sample<R: Rng + ?Sized>(
        &self,
        rng: &mut R,
        attempts: &mut Attempts<'_>,
    ) -> Result<Vec<u32>> {
        let draw = |ProposalScratch { scratch, found }: &mut ProposalScratch| loop {
            attempts.another()?;
            if let Some(picks) = self.proposal(rng, scratch, found, || attempts.go_on()) {
                return Ok(picks.to_vec());
            }
        };
        self.pool.lend(|| ProposalScratch { scratch: Scratch::default(), found: self.counters() }, draw)
    }

    /// A counter per group that is counted.
    fn counters(&self) -> Vec<usize> {
        vec![0; self.allowed.as_ref().map_or(0, |allowed| allowed.rule.counts().low.len())]
    }

    /// Makes one proposal; `None` if it is rejected.
    fn proposal<'s, R: Rng + ?Sized>(
        &self,
        rng: &mut R,
        scratch: &'s mut Scratch,
        found: &mut [usize],
        mut go_on: impl FnMut() -> bool,
    ) -> Option<&'s [u32]> {
        self.eigenvectors.choose(rng, &mut scratch.chosen);
        let Some(allowed) = &self.allowed else { return self.projection.draw(rng, scratch, |_| go_on()) };
        found.fill(0);
        // A proposal ends as soon as a part exceeds its count.
        let picks = {
            let mut admits = allowed.admits(found);
            self.projection.draw(rng, scratch, |item| admits(item) && go_on())?
        };
        allowed.accepts(picks, found, rng).then_some(picks)
    }

    /// The acceptance that a trial measures; `None` if it sees too few acceptances.
    fn measured(&self, engine: &Engine) -> Result<Option<f64>> {
        let (mut accepted, mut done) = (0, 0);
        // A few tasks suffice for ordinary acceptances.
        for tasks in [1, 7, TASKS - 8] {
            accepted += self.accepted(done..done + tasks, PROPOSALS_PER_TASK, engine)?;
            done += tasks;
            if accepted >= ENOUGH {
                break;
            }
        }
        let seen = accepted as f64 / (done as u64 * PROPOSALS_PER_TASK) as f64;
        Ok((accepted >= ENOUGH).then_some(seen))
    }

    /// The number of accepted proposals in these tasks, of `each` proposals each.
    fn accepted(&self, tasks: Range<usize>, each: u64, engine: &Engine) -> Result<u64> {
        let go_on = || engine.proceed().is_ok();
        let accepted = map_ordered(tasks.len(), |at| {
            let mut rng = stream(0, (tasks.start + at) as u64);
            let (mut scratch, mut found) = (Scratch::default(), self.counters());
            let accepted = |_: &u64| self.proposal(&mut rng, &mut scratch, &mut found, go_on).is_some();
            (0..each).take_while(|_| go_on()).filter(accepted).count() as u64
        });
        engine.proceed()?;
        Ok(accepted.into_iter().sum())
    }
}

/// Relative weights under exact counts, centred in logarithms, because scales of 1e±200 would overflow.
pub(super) fn tilt_of(dpp: &PartitionDpp, logs: Vec<f64>) -> Option<Vec<f64>> {
    dpp.quota().exact_counts()?;
    let lowest = logs.iter().copied().fold(f64::INFINITY, f64::min);
    let highest = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let centre = 0.5 * (lowest + highest);
    let forced = |&count: &usize| if count > 0 { f64::INFINITY } else { 0.0 };
    let mut by_part: Vec<f64> = dpp.quota().low().iter().map(forced).collect();
    for (open, log) in dpp.open().iter().zip(logs) {
        by_part[open.part] = (log - centre).exp();
    }
    Some(by_part)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Quota, engine::Engine, sample::DEFAULT_PROPOSAL_BUDGET, watch::UNWATCHED};

    fn orthogonal() -> (Features, Partition) {
        let features =
            Features::from_rows(4, 4, (0..16).map(|i| f64::from(u8::from(i % 5 == 0))).collect::<Vec<_>>());
        (features.unwrap(), Partition::from_labels(&["a", "a", "b", "b"]).unwrap())
    }

    /// A wrong acceptance bound ends the draw with a typed error.
    #[test]
    fn broken_promises_end() {
        let (features, partition) = orthogonal();
        let quota = Quota::new(&partition, [1..=2, 0..=1]).unwrap();
        let dpp = PartitionDpp::new(&features, &partition, &quota).unwrap();
        let setup = RejectionSetup::new(&dpp, None, Engine::host()).unwrap();
        let how = (Projection::Cheaper, DEFAULT_PROPOSAL_BUDGET);
        let (mut law, _) = SpectralLaw::under_quota(&setup, 0.1, how, Engine::host()).unwrap();
        let draw = |law: &SpectralLaw| {
            let mut attempts = Attempts::under(&UNWATCHED, law.acceptance_bound());
            law.sample(&mut stream(0, 0), &mut attempts)
        };
        assert!(draw(&law).is_ok());
        // All picks are from parts that nothing is chosen from.
        law.allowed.as_mut().unwrap().groups.fill(None);
        law.acceptance_bound = 0.5;
        let outcome = draw(&law);
        assert!(matches!(outcome, Err(Error::DrawGivenUp { proposals: 128, .. })), "{outcome:?}");
    }

    #[test]
    fn more_items_than_directions() {
        let ranges = Counts::in_ranges(&[1, 2], &[2, 2], None, 4);
        assert!(refuse_unreachable(&ranges, 3).is_ok());
        let outcome = refuse_unreachable(&ranges, 2);
        assert!(matches!(outcome, Err(Error::IllConditioned { .. })), "{outcome:?}");
    }
}
