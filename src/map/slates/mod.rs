//! Many small problems over one matrix of items: slates.

mod kernel;
mod pick;
mod workspace;

pub use self::workspace::SlateWorkspace;
use self::{pick::Picking, workspace::Candidate};
use crate::{
    Error, Features, Partition, Quota, Result,
    data::{check_labels, log_quality_of_scores},
    linalg::power_of_two_near,
    parallel::map_ordered,
};

/// Requests of one task of a batch.
const TASK: usize = 64;

/// Greedy sets for one request after another: a few hundred candidates of a large matrix, a dozen picks, at most so many
/// and at least so many of each part, by relevance and diversity.
///
/// ```text
/// maximise (1 − d) Σ_{i∈S} r_i + d ln det(A_S A_Sᵀ), greedily, over sets of k candidates within the quota
/// ```
///
/// The picks are those of [`Greedy`](super::Greedy) for a [`PartitionDpp`](crate::PartitionDpp) of the candidates alone:
/// an item is picked only if the picks left can still meet the open minima. What a request needs is kept in a
/// [`SlateWorkspace`], which the next one uses again: in the steady state nothing is allocated.
///
/// # Cost
/// 2Mnk operations in f32 for M candidates, and M rows read from the matrix.
///
/// # Numerics
/// Gains are in f32, with a bound of their rounding. Candidates whose gains it cannot tell from the largest are compared
/// in f64, so that the picks are those of f64.
///
/// # Examples
/// ```
/// # fn main() -> Result<(), partition_dpp::Error> {
/// use partition_dpp::{Features, Partition, Quota, map::{SlateRequest, Slates}};
/// let items = Features::from_rows(4, 2, vec![1.0_f32, 0.0, 0.9, 0.1, 0.0, 1.0, 0.5, 0.5])?;
/// let genres = Partition::from_labels(&["drama", "drama", "crime", "crime"])?;
/// let slates = Slates::new(&items, &genres, &Quota::new(&genres, [..=1, ..=2])?.with_total(2)?)?;
/// let mut workspace = slates.workspace();
/// let request = SlateRequest::of(&[0, 1, 3]).with_scores(&[0.1, 0.9, 0.3]);
/// assert_eq!(slates.solve(request, &mut workspace)?.items, [1, 3]);
/// # Ok(()) }
/// ```
///
/// # Source
/// Chen, Zhang and Zhou, *Fast greedy MAP inference for determinantal point process to improve recommendation diversity*
/// (2018), with the quotas of Kathuria and Deshpande (2016), and for the [window](Slates::with_window).
#[derive(Clone, Debug)]
pub struct Slates<'a> {
    features: Features<'a>,
    partition: Partition,
    quota: Quota,
    /// k.
    size: usize,
    /// What a score adds to 2 ln q.
    worth: f64,
    window: usize,
    /// A power of two that rows are divided by.
    scale: f64,
}

/// One request: who may be chosen.
#[derive(Clone, Copy, Debug, Default)]
pub struct SlateRequest<'r> {
    candidates: &'r [u32],
    scores: &'r [f32],
    included: &'r [u32],
}

/// The set of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Slate<'w> {
    /// Included items, then the picks in their order.
    pub items: &'w [u32],
    /// How many items the set lacks, because all that are left depend on those chosen.
    pub missing: usize,
}

impl<'r> SlateRequest<'r> {
    /// Of these items of the matrix, in any order; an item that comes twice counts once.
    #[must_use]
    pub fn of(candidates: &'r [u32]) -> Self {
        Self { candidates, ..Self::default() }
    }

    /// With a score for every candidate; without scores all are zero.
    #[must_use]
    pub fn with_scores(self, scores: &'r [f32]) -> Self {
        Self { scores, ..self }
    }

    /// With items that are in the set already: they count towards the quota, and the picks are unlike them. They need not
    /// be candidates.
    #[must_use]
    pub fn including(self, included: &'r [u32]) -> Self {
        Self { included, ..self }
    }
}

impl<'a> Slates<'a> {
    /// Sets of the total of the quota, from rows of a matrix of items and their parts. Weights that rows have count: with
    /// [`Features::with_unit_rows`] items are compared by their cosine.
    ///
    /// # Errors
    /// - [`Error::LabelCount`], [`Error::QuotaLength`], [`Error::QuotaOfOtherParts`], [`Error::QuotaAbovePartSize`];
    /// - [`Error::Nothing`] for ranges without a total.
    pub fn new(features: &Features<'a>, partition: &Partition, quota: &Quota) -> Result<Self> {
        check_labels(features, partition, quota)?;
        let Some(size) = quota.total() else { return Err(Error::Nothing { what: "the total of a slate" }) };
        let scale = power_of_two_near(features.max_abs_stored());
        let scale = if scale > 0.0 { scale.recip() } else { 1.0 };
        let (features, partition, quota) = (features.clone(), partition.clone(), quota.clone());
        Ok(Self { features, partition, quota, size, worth: 1.0, window: usize::MAX, scale })
    }

    /// What diversity counts beside scores, in (0, 1]; 0.5 unless set, at which scores and ln det count alike.
    ///
    /// # Errors
    /// [`WeightProblem::Diversity`](crate::error::WeightProblem::Diversity).
    pub fn with_diversity(self, diversity: f64) -> Result<Self> {
        Ok(Self { worth: 2.0 * log_quality_of_scores(&[1.0], diversity)?[0], ..self })
    }

    /// Lets only the last `picks` repel the next one, at least one: for long slates, of which people see a part at a time.
    /// The sets are no longer those of a determinant.
    ///
    /// # Errors
    /// [`Error::NotPositive`] for a window of no picks.
    pub fn with_window(self, picks: usize) -> Result<Self> {
        if picks == 0 {
            return Err(Error::NotPositive { what: "the window of picks", value: 0.0 });
        }
        Ok(Self { window: picks, ..self })
    }

    /// An empty workspace.
    #[must_use]
    pub fn workspace(&self) -> SlateWorkspace {
        SlateWorkspace::default()
    }

    /// The set of a request, in `workspace`.
    ///
    /// # Errors
    /// - [`Error::ItemOutOfRange`], [`Error::Shape`] for another number of scores than candidates,
    ///   [`WeightProblem::NotFinite`](crate::error::WeightProblem::NotFinite) for a score;
    /// - [`Error::QuotaAbovePartSize`] if a part has too few candidates for its minimum, [`Error::SizeAboveItems`] if all
    ///   have too few for the size, [`Error::QuotaBelowIncluded`] if too many are included.
    pub fn solve<'w>(
        &self,
        request: SlateRequest<'_>,
        workspace: &'w mut SlateWorkspace,
    ) -> Result<Slate<'w>> {
        workspace.read(self, request)?;
        Picking { slates: self, workspace }.run();
        Ok(Slate { missing: self.size - workspace.items.len(), items: &workspace.items })
    }

    /// The sets of many requests, on all threads of the current rayon pool; one that fails leaves the others alone.
    #[must_use]
    pub fn solve_many(&self, requests: &[SlateRequest<'_>]) -> Vec<Result<Vec<u32>>> {
        let chunks = map_ordered(requests.len().div_ceil(TASK), |task| {
            let mut workspace = self.workspace();
            let own = &requests[task * TASK..requests.len().min((task + 1) * TASK)];
            let solve = |request: &SlateRequest<'_>| {
                self.solve(*request, &mut workspace).map(|slate| slate.items.to_vec())
            };
            own.iter().map(solve).collect::<Vec<_>>()
        });
        chunks.into_iter().flatten().collect()
    }
}
