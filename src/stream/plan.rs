//! Plans: the results that the driver computes from Gram matrices and sends to batches.

use faer::{Mat, MatRef};
use rand::RngExt;
use serde::{Deserialize, Serialize};

use super::{Batch, Leverages, Trials, batch::is_sound, open_rows::OpenRows, trials::Coordinates};
use crate::{
    Result,
    bytes::Kind,
    engine::Engine,
    error::StreamProblem,
    linalg::columns,
    model::Counts,
    sample::{CountRule, EigenvectorLaw, stream},
};

/// The error of a law above which a second pass is worthwhile.
const WANTED: f64 = 1e-9;
/// The most bytes that the trials of one request may take.
const REQUEST: u64 = 1 << 32;
/// A separate key for the random numbers that split trials among batches.
const SPLIT: u64 = 0x73_706c_6974;

pub(super) const KIND: Kind = Kind { tag: *b"PDPPPLAN", what: "a plan" };

/// A plan for drawing exact samples of a law from a stream of rows.
///
/// The driver computes it from merged [`Grams`](super::Grams) and sends it to the rows. The eigenvector proposals of
/// a [`Sampler`](crate::Sampler) take rows one after the other, drawn independently with probability in proportion to
/// their leverages. A plan sets the coordinates for these rows, and a [`StreamSampler`](super::StreamSampler) turns
/// them into draws.
///
/// | constructor | law |
/// |---|---|
/// | [`dpp`](Plan::dpp) | [`Dpp`](crate::Dpp): sets of any size |
/// | [`k_dpp`](Plan::k_dpp) | [`KDpp`](crate::KDpp): k items |
/// | [`partition_dpp`](Plan::partition_dpp) | [`PartitionDpp`]: exact counts, or ranges with or without a total |
///
/// # Shapes
/// n·r numbers, and a few for every part. Nothing grows with the data.
///
/// [`PartitionDpp`]: crate::PartitionDpp
#[derive(Clone, Debug)]
pub struct Plan {
    pub(super) dims: usize,
    pub(super) parts: Vec<PlanPart>,
    /// By part; 0 for a part from which nothing is chosen.
    pub(super) factors: Vec<f64>,
    /// F, n×r. Unit rows are Fᵀ times rows times 2^−order times the factor of their part.
    pub(super) whitener: Mat<f64>,
    pub(super) eigenvectors: EigenvectorLaw,
    /// The rule that accepts counts of groups, and the logarithms of the part weights that it corrects for.
    pub(super) rule: Option<(CountRule, Vec<f64>)>,
    pub(super) acceptance_bound: f64,
    pub(super) law_error: f64,
    /// The largest allowed deviation of the sum of all leverages from the rank.
    pub(super) slack: f64,
    pub(super) expected: Expected,
    pub(super) fingerprint: u64,
}

/// A part, as stored in a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct PlanPart {
    pub(super) name: String,
    pub(super) rows: u64,
    pub(super) order: i64,
    /// The group to which its items count; `None` if nothing is chosen from it.
    pub(super) group: Option<usize>,
}

impl PlanPart {
    /// Whether a plan with this many groups can have this part.
    pub(super) fn is_sound(&self, groups: usize) -> bool {
        is_sound(self.order) && self.group.is_none_or(|group| group < groups)
    }
}

/// Averages per sample.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Expected {
    pub(super) proposals: f64,
    pub(super) trials: f64,
}

impl Plan {
    /// n.
    #[must_use]
    pub fn dims(&self) -> usize {
        self.dims
    }

    /// r, the number of eigenvectors that draws use.
    #[must_use]
    pub fn rank(&self) -> usize {
        self.eigenvectors.rank()
    }

    /// Names of the parts, in order.
    #[must_use]
    pub fn parts(&self) -> impl ExactSizeIterator<Item = &str> {
        self.parts.iter().map(|part| &part.name[..])
    }

    /// m, the number of rows of all parts.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.parts.iter().fold(0, |rows, part| rows.saturating_add(part.rows))
    }

    /// The estimated total variation error of the law from rounding, including the rounding of the Gram matrices.
    #[must_use]
    pub fn law_error(&self) -> f64 {
        self.law_error
    }

    /// Whether a second pass in a [`Frame`](super::Frame) is worth it: the error is above 10⁻⁹.
    #[must_use]
    pub fn wants_frame(&self) -> bool {
        self.law_error > WANTED
    }

    /// A lower bound on the number of draws per proposal.
    #[must_use]
    pub fn acceptance_bound(&self) -> f64 {
        self.acceptance_bound
    }

    /// The predicted average number of proposals per sample.
    #[must_use]
    pub fn expected_proposals(&self) -> f64 {
        self.expected.proposals
    }

    /// The predicted average number of trials per sample.
    ///
    /// It is r·(1 + 1/2 + … + 1/k) for a set of k items without rejection. Under a quota, it is estimated from
    /// several thousand trials of rows with the same Gram matrices, since their trials have the same distribution.
    /// With fewer than 16 draws from these, it is an upper bound.
    #[must_use]
    pub fn expected_trials(&self) -> f64 {
        self.expected.trials
    }

    /// The largest number of trials in one request, which take about 4 GiB.
    #[must_use]
    pub fn most_trials(&self) -> u64 {
        REQUEST / self.trial_bytes() as u64
    }

    /// The bytes of a trial on the driver.
    #[must_use]
    pub fn trial_bytes(&self) -> usize {
        8 * self.rank() + 16
    }

    /// The leverages of a batch, to be stored where its rows are.
    ///
    /// # Cost
    /// 2mnr operations for a batch of m rows; 8 bytes per row.
    ///
    /// # Errors
    /// [`Error::UnknownPart`](crate::Error::UnknownPart) if a label was in no batch when the Gram matrices were made;
    /// [`Error::Shape`](crate::Error::Shape) if rows have another length; errors of the engine.
    pub fn leverages(&self, batch: &Batch, engine: &Engine) -> Result<Leverages> {
        let ids = (self.fingerprint, batch.number());
        let Some((rows, parts)) = self.open(batch)? else {
            return Ok(Leverages::none(ids));
        };
        Leverages::new(ids, &rows, &parts, &self.coordinates(), engine)
    }

    /// The sum of the leverages of a batch, to which its expected number of trials is proportional.
    ///
    /// # Errors
    /// The errors of [`leverages`](Plan::leverages).
    pub fn total_leverage(&self, batch: &Batch, engine: &Engine) -> Result<f64> {
        Ok(self.leverages(batch, engine)?.total())
    }

    /// Draws `count` trials from a batch and recomputes its leverages, for workers that keep no state.
    ///
    /// # Errors
    /// The errors of [`leverages`](Plan::leverages) and of [`Leverages::trials`].
    pub fn trials(&self, batch: &Batch, count: u64, seed: u64, engine: &Engine) -> Result<Trials> {
        self.check_request(count)?;
        if count == 0 {
            return Ok(Trials::none(self.fingerprint, self.rank()));
        }
        self.leverages(batch, engine)?.trials(self, batch, count, seed)
    }

    /// Splits `count` trials among the batches at random.
    ///
    /// The counts are multinomial with probabilities in proportion to the sums of leverages. The batches must have
    /// different numbers, which separate their random numbers.
    ///
    /// # Errors
    /// [`StreamProblem::Leverages`] if the sums do not add up to the rank, as they do over all batches;
    /// [`StreamProblem::TooManyTrials`] if `count` exceeds [`most_trials`](Plan::most_trials).
    pub fn split(&self, totals: &[f64], count: u64, seed: u64) -> Result<Vec<u64>> {
        self.check_request(count)?;
        let (found, expected) = (totals.iter().sum::<f64>(), self.rank() as f64);
        // False for NaN.
        let is_near = (found - expected).abs() <= self.slack;
        if !is_near || totals.iter().any(|&total| total < 0.0) {
            return Err(StreamProblem::Leverages { found, expected }.into());
        }
        let mut end = 0.0;
        let ends: Vec<f64> = totals
            .iter()
            .map(|total| {
                end += total;
                end
            })
            .collect();
        let mut counts = vec![0; totals.len()];
        let Some(last) = totals.iter().rposition(|&total| total > 0.0) else { return Ok(counts) };
        let mut rng = stream(seed ^ SPLIT, 0);
        for _ in 0..count {
            let at = rng.random::<f64>() * end;
            counts[ends.partition_point(|&end| end <= at).min(last)] += 1;
        }
        Ok(counts)
    }

    /// Rejects more trials than [`most_trials`](Plan::most_trials).
    pub(super) fn check_request(&self, count: u64) -> Result<()> {
        let limit = self.most_trials();
        if count > limit { Err(StreamProblem::TooManyTrials { count, limit }.into()) } else { Ok(()) }
    }

    /// The rows of a batch that may be chosen, and the plan's part of each of their groups; `None` if there are no
    /// such rows.
    pub(super) fn open<'b>(&self, batch: &'b Batch) -> Result<Option<(OpenRows<'b>, Vec<u32>)>> {
        let Some((features, partition)) = batch.content() else { return Ok(None) };
        let known = self.parts.iter().zip(&self.factors).map(|(part, &factor)| (part, factor > 0.0));
        OpenRows::of_plan(features, partition, self.dims, &known.collect::<Vec<_>>())
    }

    pub(super) fn coordinates(&self) -> Coordinates<'_> {
        Coordinates { whitener: self.whitener(), factors: &self.factors }
    }

    pub(super) fn whitener(&self) -> MatRef<'_, f64> {
        self.whitener.as_ref()
    }

    /// Identifies the plan.
    pub(super) fn fingerprint(&self) -> u64 {
        self.fingerprint
    }

    /// All fields except the predictions, and the fingerprint, which is a checksum of the others.
    pub(super) fn contents(&self) -> impl Serialize {
        let rule = self.rule.as_ref().map(|(rule, log_weights)| {
            let Counts { low, high, least, most, .. } = rule.counts();
            (low, high, [least, most], log_weights)
        });
        let numbers = [self.acceptance_bound, self.law_error, self.slack];
        let whitener = columns(self.whitener());
        (self.dims, &self.parts, &self.factors, &self.eigenvectors, whitener, rule, numbers)
    }
}
