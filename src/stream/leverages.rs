//! Leverages of the rows of a batch, and draws in proportion to them.

use faer::{Mat, MatRef};
use rand::{Rng, RngExt};

use super::{
    Batch, Plan, Trials,
    open_rows::OpenRows,
    trials::{Coordinates, Place},
};
use crate::{
    Error, Result,
    engine::{Engine, in_double},
    error::StreamProblem,
    linalg::square_root,
    sample::stream,
};

/// The number of rows whose leverages are summed together. The search for a row reads one such block.
const BLOCK: usize = 1024;

/// The leverage of every row of a batch under a plan: 8 bytes per row, stored where the rows are.
///
/// ```text
/// h_i = y_l a_iᵀ (Σ_l y_l G_l)⁻¹ a_i,   Σ h_i = r over all batches
/// ```
///
/// Computed by [`Plan::leverages`], and kept for any number of requests. If the leverages of rows have changed since,
/// drawing these rows is an error.
#[derive(Clone, Debug)]
pub struct Leverages {
    plan: u64,
    number: u64,
    /// For every group, its part in the plan and the position of its first row.
    groups: Vec<(u32, usize)>,
    table: Table,
}

/// Weights, with cumulative sums of blocks.
#[derive(Clone, Debug)]
struct Table {
    weights: Vec<f64>,
    /// The sum of all blocks up to and including each block.
    ends: Vec<f64>,
}

impl Table {
    fn new(weights: Vec<f64>) -> Self {
        let mut end = 0.0;
        let ends = weights.chunks(BLOCK).map(|block| {
            end += block.iter().sum::<f64>();
            end
        });
        Self { ends: ends.collect(), weights }
    }

    fn total(&self) -> f64 {
        self.ends.last().copied().unwrap_or(0.0)
    }

    /// Draws a position with probability in proportion to its weight. It takes two random numbers, so that neither
    /// needs the precision to distinguish all rows.
    fn draw<R: Rng + ?Sized>(&self, rng: &mut R) -> usize {
        let at = rng.random::<f64>() * self.total();
        let block = self.ends.partition_point(|&end| end <= at).min(self.ends.len() - 1);
        let start = block * BLOCK;
        let weights = &self.weights[start..self.weights.len().min(start + BLOCK)];
        let mut left = rng.random::<f64>() * weights.iter().sum::<f64>();
        let mut last = 0;
        for (position, &weight) in weights.iter().enumerate() {
            if weight > 0.0 {
                if left < weight {
                    return start + position;
                }
                left -= weight;
                last = position;
            }
        }
        // Rounding left a remainder beyond the end.
        start + last
    }
}

impl Leverages {
    /// The leverages of rows in groups; `parts` gives the groups' numbers in the plan.
    pub(super) fn new(
        (plan, number): (u64, u64),
        open: &OpenRows<'_>,
        parts: &[u32],
        coordinates: &Coordinates<'_>,
        engine: &Engine,
    ) -> Result<Self> {
        let root = square_root(coordinates.whitener.to_owned());
        let factors: Vec<Mat<f64>> =
            parts.iter().map(|&part| &root * faer::Scale(coordinates.factors[part as usize])).collect();
        let factors: Vec<MatRef<'_, f64>> = factors.iter().map(Mat::as_ref).collect();
        let weights = in_double(engine).row_forms(&open.scaled()?.rows(), &factors)?;
        Ok(Self { plan, number, groups: groups(open, parts).collect(), table: Table::new(weights) })
    }

    /// The leverages of a batch without rows that may be chosen.
    pub(super) fn none((plan, number): (u64, u64)) -> Self {
        Self { plan, number, groups: Vec::new(), table: Table::new(Vec::new()) }
    }

    /// The sum over the batch.
    #[must_use]
    pub fn total(&self) -> f64 {
        self.table.total()
    }

    /// Draws rows independently, with probability in proportion to their leverages: the trials of this batch.
    ///
    /// The same seed gives the same rows, so retrying a batch does not change the result.
    ///
    /// # Cost
    /// O(log m) and 2nr operations per trial; only the drawn rows are read.
    ///
    /// # Errors
    /// [`StreamProblem::OtherPlan`]; [`StreamProblem::TooManyTrials`] if `count` exceeds [`Plan::most_trials`];
    /// [`StreamProblem::TrialCount`] if trials are requested of a batch without leverage;
    /// [`StreamProblem::ChangedRows`] if the rows are not those from which the leverages were computed.
    pub fn trials(&self, plan: &Plan, batch: &Batch, count: u64, seed: u64) -> Result<Trials> {
        plan.check_request(count)?;
        if plan.fingerprint() != self.plan || batch.number() != self.number {
            return Err(StreamProblem::OtherPlan { what: "the list of leverages" }.into());
        }
        let Some((open, parts)) = plan.open(batch)? else {
            return if self.groups.is_empty() { self.no_trials(plan, count) } else { Err(self.changed()) };
        };
        let rows: usize = (0..parts.len()).map(|group| open.members(group).len()).sum();
        if rows != self.table.weights.len() || !groups(&open, &parts).eq(self.groups.iter().copied()) {
            return Err(self.changed());
        }
        if self.total() <= 0.0 {
            return self.no_trials(plan, count);
        }
        self.drawn(&open, &plan.coordinates(), count, seed)
    }

    fn changed(&self) -> Error {
        StreamProblem::ChangedRows { number: self.number }.into()
    }

    /// No trials; an error if any are requested.
    fn no_trials(&self, plan: &Plan, count: u64) -> Result<Trials> {
        if count == 0 {
            return Ok(Trials::none(self.plan, plan.rank()));
        }
        Err(StreamProblem::TrialCount { expected: count, found: 0 }.into())
    }

    /// Draws from the rows for which the table was made.
    pub(super) fn drawn(
        &self,
        open: &OpenRows<'_>,
        coordinates: &Coordinates<'_>,
        count: u64,
        seed: u64,
    ) -> Result<Trials> {
        let mut rng = stream(seed, self.number);
        let place = |_| {
            let position = self.table.draw(&mut rng);
            let group = self.groups.partition_point(|&(_, first)| first <= position) - 1;
            let (part, first) = self.groups[group];
            let place = Place { batch: self.number, row: open.members(group)[position - first], part };
            (group, place, self.table.weights[position])
        };
        let drawn: Vec<_> = (0..count).map(place).collect();
        Trials::of_rows(self.plan, open, coordinates, &drawn)
    }
}

/// For every group, its part in the plan and the position of its first row.
fn groups(open: &OpenRows<'_>, parts: &[u32]) -> impl Iterator<Item = (u32, usize)> {
    let mut start = 0;
    parts.iter().enumerate().map(move |(group, &part)| {
        let first = start;
        start += open.members(group).len();
        (part, first)
    })
}
