//! Proposals of a DPP with weighted parts, accepted in proportion to what the weights did not favour.

use rand::{Rng, RngExt};

use super::{RangeDpp, bound};
use crate::{
    Error, Partition, Result,
    engine::Engine,
    parallel::map_ordered,
    polynomial::{
        ConditionalBernoulli, REFUSED, accurate,
        count_ranges::{Correction, CountRanges},
        spectrum::keep_probabilities,
    },
    sample::{
        attempts::Attempts,
        projection::{self, ProjectionDpp, Scratch},
        stream,
    },
};

/// Tasks of a trial, and proposals of each: they do not depend on the number of threads.
const TASKS: usize = 64;
const PROPOSALS_PER_TASK: u64 = 2048;
/// Acceptances that a trial must see: were the acceptance below a quarter of what it then finds, so many would be seen
/// once in 1e5 trials.
const ENOUGH: u64 = 16;

#[derive(Debug)]
pub(crate) struct RangeRejection<'a> {
    eigenvectors: Eigenvectors,
    projection: ProjectionDpp<'a>,
    /// Group of every part; parts that nothing is chosen from have none.
    groups: Vec<Option<usize>>,
    partition: &'a Partition,
    ranges: CountRanges,
    correction: Correction,
    acceptance_bound: f64,
    /// Of a proposal.
    operations: f64,
}

/// How the eigenvectors of a proposal are chosen.
#[derive(Debug)]
enum Eigenvectors {
    /// Independent coins, λ_j / (1 + λ_j).
    Coins(Vec<f64>),
    /// As many as the total.
    OfSize(ConditionalBernoulli),
}

impl Eigenvectors {
    /// The law of the chosen ones, and their expected number.
    fn new(values: &[f64], total: Option<usize>) -> Result<(Self, f64)> {
        if let Some(k) = total {
            return Ok((Self::OfSize(ConditionalBernoulli::new(values, k)?), k as f64));
        }
        let keep = keep_probabilities(values, 0.0);
        let size = keep.iter().sum();
        Ok((Self::Coins(keep), size))
    }

    /// Their numbers, ascending.
    fn choose<R: Rng + ?Sized>(&self, rng: &mut R, chosen: &mut Vec<usize>) {
        match self {
            Self::OfSize(law) => law.sample_into(rng, chosen),
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

/// Refuses ranges that ask for more items than there are directions that f64 tells from rounding: no proposal would ever
/// be accepted.
fn refuse_unreachable(ranges: &CountRanges, rank: usize) -> Result<()> {
    let least = ranges.total().unwrap_or_else(|| ranges.low().iter().sum());
    if least <= rank { Ok(()) } else { Err(Error::IllConditioned { deviation: 1.0, tolerance: REFUSED }) }
}

impl<'a> RangeRejection<'a> {
    /// The law, and the error of its spectrum.
    pub(super) fn new(dpp: &RangeDpp<'a>, engine: &dyn Engine) -> Result<(Self, f64)> {
        let rows = dpp.rows();
        let ranges = dpp.ranges();
        let found = dpp.spectrum(engine, &rows)?;
        refuse_unreachable(&ranges, found.spectrum.values.len())?;
        let (eigenvectors, size) = Eigenvectors::new(&found.spectrum.values, ranges.total())?;
        let (features, weights) = (dpp.ground.features(), found.tilt.root_weights());
        let projection =
            ProjectionDpp::new(engine, features, &rows, &weights, &found.spectrum, size, dpp.projection)?;
        let scales = rows.scales();
        let log_weights: Vec<f64> =
            found.tilt.log_weights.iter().zip(&scales).map(|(t, scale)| t + 2.0 * scale.ln()).collect();
        let correction = Correction::new(&ranges, &log_weights);
        let mut groups = vec![None; dpp.partition.parts()];
        dpp.parts.iter().enumerate().for_each(|(group, open)| groups[open.part] = Some(group));
        let acceptance_bound = bound::acceptance(dpp, &found, &scales, &correction)?;
        let partition = dpp.partition;
        let (items, dims, rank) = (rows.len() as f64, features.dims() as f64, found.spectrum.values.len());
        let mut law = Self {
            eigenvectors,
            projection,
            groups,
            partition,
            ranges,
            correction,
            acceptance_bound,
            operations: projection::operations(items, dims, rank as f64, size),
        };
        // Of all that the spectrum is wrong about, in the worst case every bit is accepted.
        let is_off = |bound: f64| accurate(found.spectrum.error / bound).is_err();
        if acceptance_bound * dpp.proposal_budget < 1.0 || is_off(acceptance_bound) {
            law.acceptance_bound = law.measured(engine, dpp.proposal_budget)?;
        }
        let error = accurate(found.spectrum.error / law.acceptance_bound)?;
        Ok((law, error))
    }

    /// Floating-point operations of a proposal.
    pub(crate) fn operations(&self) -> f64 {
        self.operations
    }

    /// Draws per proposal, at least; or a quarter of what a trial found.
    pub(crate) fn acceptance_bound(&self) -> f64 {
        self.acceptance_bound
    }

    /// An accepted set.
    pub(crate) fn sample<R: Rng + ?Sized>(
        &self,
        rng: &mut R,
        attempts: &mut Attempts<'_>,
    ) -> Result<Vec<u32>> {
        let mut scratch = Scratch::default();
        let mut counts = vec![0; self.ranges.low().len()];
        loop {
            attempts.another()?;
            if let Some(picks) = self.proposal(rng, &mut scratch, &mut counts, || attempts.go_on()) {
                return Ok(picks.to_vec());
            }
        }
    }

    /// A proposal, if it is accepted.
    fn proposal<'s, R: Rng + ?Sized>(
        &self,
        rng: &mut R,
        scratch: &'s mut Scratch,
        counts: &mut [usize],
        mut go_on: impl FnMut() -> bool,
    ) -> Option<&'s [u32]> {
        self.eigenvectors.choose(rng, &mut scratch.chosen);
        counts.fill(0);
        // A proposal is hopeless as soon as a part overflows.
        let keep = |item: u32| {
            self.groups[self.partition.part_of(item as usize)].is_some_and(|group| {
                counts[group] += 1;
                counts[group] <= self.ranges.high()[group] && go_on()
            })
        };
        let picks = self.projection.draw(rng, scratch, keep)?;
        if !self.ranges.allows(counts) {
            return None;
        }
        let log = self.correction.log_of(counts);
        (log >= 0.0 || rng.random::<f64>() < log.exp()).then_some(picks)
    }

    /// Acceptance in a trial, divided by four; refused where that is below what the budget needs.
    fn measured(&self, engine: &dyn Engine, budget: f64) -> Result<f64> {
        let go_on = || engine.proceed().is_ok();
        let task = |task: usize| {
            let mut rng = stream(0, task as u64);
            let (mut scratch, mut counts) = (Scratch::default(), vec![0; self.ranges.low().len()]);
            let accepted = |_: &u64| self.proposal(&mut rng, &mut scratch, &mut counts, go_on).is_some();
            (0..PROPOSALS_PER_TASK).take_while(|_| go_on()).filter(accepted).count() as u64
        };
        let (mut accepted, mut proposals) = (0, 0);
        // A few tasks tell where acceptance is ordinary.
        for tasks in [1, 7, TASKS - 8] {
            let done = proposals / PROPOSALS_PER_TASK;
            accepted += map_ordered(tasks, |at| task(at + done as usize)).into_iter().sum::<u64>();
            proposals += PROPOSALS_PER_TASK * tasks as u64;
            engine.proceed()?;
            if accepted >= ENOUGH {
                break;
            }
        }
        let bound = 0.25 * accepted as f64 / proposals as f64;
        if accepted >= ENOUGH && bound * budget >= 1.0 {
            return Ok(bound);
        }
        Err(Error::RangeProposalBudget { proposals, accepted, budget })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Features, RangeQuota, engine::Cpu, watch::Watch};

    fn orthogonal() -> (Features<'static>, Partition) {
        let features =
            Features::from_rows(4, 4, (0..16).map(|i| f64::from(u8::from(i % 5 == 0))).collect::<Vec<_>>());
        (features.unwrap(), Partition::from_labels(&["a", "a", "b", "b"]).unwrap())
    }

    /// A promise that is not kept ends the draw with a typed error, not never.
    #[test]
    fn broken_promises_end() {
        let (features, partition) = orthogonal();
        let quota = RangeQuota::new(&partition, &[1..=2, 0..=1]).unwrap();
        let dpp = RangeDpp::new(&features, &partition, &quota).unwrap();
        let (mut law, _) = RangeRejection::new(&dpp, &Cpu).unwrap();
        let draw = |law: &RangeRejection<'_>| {
            let mut attempts = Attempts::under(&Watch::default(), law.acceptance_bound());
            law.sample(&mut stream(0, 0), &mut attempts)
        };
        assert!(draw(&law).is_ok());
        // Every pick is of a part that nothing is to be chosen from.
        law.groups.fill(None);
        law.acceptance_bound = 0.5;
        let outcome = draw(&law);
        assert!(matches!(outcome, Err(Error::DrawGivenUp { proposals: 128, .. })), "{outcome:?}");
    }

    #[test]
    fn more_items_than_directions() {
        let ranges = CountRanges::new(&[1, 2], &[2, 2], None, 4);
        assert!(refuse_unreachable(&ranges, 3).is_ok());
        let outcome = refuse_unreachable(&ranges, 2);
        assert!(matches!(outcome, Err(Error::IllConditioned { .. })), "{outcome:?}");
    }
}
