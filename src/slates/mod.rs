//! Many small problems over one matrix of items: [`Slates`].

mod batches;
mod counts;
mod greedy;
mod heavy;
mod kernel;
mod proposals;
mod request;
mod sample;
mod whole;
mod workspace;

use std::sync::atomic::{AtomicU64, Ordering};

use rand::Rng;

use self::{
    batches::Batches,
    greedy::Picking,
    sample::{Drawing, Within},
    whole::Whole,
    workspace::Candidate,
};
pub use self::{
    request::{BatchedRequests, Slate, SlateRequest, SlateSamples},
    workspace::SlateWorkspace,
};
use crate::{
    Error, Features, Partition, Quota, Result, Subset, Watch,
    clock::Instant,
    data::{check_labels, log_quality_of_scores},
    engine::Engine,
    linalg::power_of_two_near,
    parallel::map_ordered,
    sample::stream,
    watch::Step,
};

/// The most requests per task of a batch, and the number of tasks of a small batch.
const TASK: usize = 64;
const TASKS: usize = 64;

/// Sets for one request after another, by relevance and diversity.
///
/// Typically, a request has a few hundred candidates from a large matrix and asks for a dozen items, with a minimum
/// and a maximum for each part.
///
/// ```text
/// q_i = e^(r_i (1 − d) / (2d)),   K_ij = q_i ⟨a_i, a_j⟩ q_j   for scores r_i and a diversity d
/// solve:   maximise det(K_S) greedily, over sets of k candidates within the quota
/// sample:  Pr(S) ∝ det(K_S)
/// ```
///
/// Greedy picks match [`Greedy`](crate::map::Greedy), and samples match a [`PartitionDpp`](crate::PartitionDpp), on
/// the candidates alone. A greedy item is picked only if the remaining picks can still meet the open minima. If all
/// remaining items depend on the picks, the set is repaired as in `Greedy`. Each request reuses
/// the memory of a [`SlateWorkspace`], so that in the steady state nothing is allocated.
///
/// # Cost
/// M rows read from the matrix for M candidates. Greedy: 2Mnk operations in f32. A sample: 2Mn, and at most k²n per
/// proposal; most proposals are rejected early. If a few thousand are not enough, a [`Sampler`](crate::Sampler) is
/// set up, in milliseconds.
///
/// # Numerics
/// Greedy gains are computed in f32, with a bound on their rounding. Candidates whose gains may equal the largest
/// within that bound are compared in f64, so the picks are as in f64. Samples are drawn in f64. The total variation
/// error of their law is below 1e-11, or the error of the [`Sampler`](crate::Sampler).
///
/// # Examples
/// ```
/// # fn main() -> Result<(), partition_dpp::Error> {
/// use partition_dpp::{Features, Partition, Quota, slates::{SlateRequest, Slates}};
/// use rand::SeedableRng;
/// let items = Features::from_rows(4, 2, vec![1.0_f32, 0.0, 0.9, 0.1, 0.0, 1.0, 0.5, 0.5])?;
/// let genres = Partition::from_labels(&["drama", "drama", "crime", "crime"])?;
/// let slates = Slates::new(&items, &genres, &Quota::new(&genres, [..=1, ..=2])?.with_total(2)?)?;
/// let mut workspace = slates.workspace();
/// let request = SlateRequest::of(&[0, 1, 3]).with_scores(&[0.1, 0.9, 0.3]);
/// assert_eq!(slates.solve(request, &mut workspace)?.items, [1, 3]);
/// let mut rng = rand::rngs::StdRng::seed_from_u64(1);
/// assert!(slates.sample(request, &mut workspace, &mut rng)?.contains(&3));
/// # Ok(()) }
/// ```
///
/// # Source
/// Chen, Zhang and Zhou, *Fast greedy MAP inference for determinantal point process to improve recommendation
/// diversity* (2018), also for the [window](Slates::with_window); the quotas of Kathuria and Deshpande (2016).
/// Samples use Hadamard's inequality.
#[derive(Clone, Debug)]
pub struct Slates {
    features: Features,
    partition: Partition,
    quota: Quota,
    /// k.
    size: usize,
    /// The increase of 2 ln q per unit of score.
    worth: f64,
    window: usize,
    /// A power of two that rows are multiplied by.
    scale: f64,
    /// The device for batches, unless the CPU solves them.
    batches: Option<Batches>,
}

impl Slates {
    /// Sets with the total of the quota, from the rows of a matrix of items and their parts.
    ///
    /// Weights of rows are used. With [`Features::with_unit_rows`], items are compared by their cosine.
    ///
    /// # Errors
    /// - [`Error::LabelCount`], [`Error::QuotaLength`], [`Error::QuotaOfOtherParts`], [`Error::QuotaAbovePartSize`];
    /// - [`Error::OpenTotal`] if ranges have no total.
    pub fn new(features: &Features, partition: &Partition, quota: &Quota) -> Result<Self> {
        check_labels(features, partition, quota)?;
        let Some(size) = quota.total() else {
            let [low, high] = [quota.low(), quota.high()].map(|ends| ends.iter().sum());
            return Err(Error::OpenTotal { low, high });
        };
        let scale = scale_of(features.max_abs_stored());
        let (features, partition, quota) = (features.clone(), partition.clone(), quota.clone());
        Ok(Self { features, partition, quota, size, worth: 1.0, window: usize::MAX, scale, batches: None })
    }

    /// Sets the weight of diversity against scores, in (0, 1]; 0.5 unless set.
    ///
    /// At 0.5, scores and ln det have equal weight.
    ///
    /// # Errors
    /// [`WeightProblem::Diversity`](crate::error::WeightProblem::Diversity) outside this range.
    pub fn with_diversity(self, diversity: f64) -> Result<Self> {
        Ok(Self { worth: 2.0 * log_quality_of_scores(&[1.0], diversity)?[0], ..self })
    }

    /// Lets only the last `picks` picks, at least one, repel the next one.
    ///
    /// This suits long slates that people see part by part. The objective is then no longer a determinant.
    ///
    /// # Errors
    /// [`Error::NotPositive`] if `picks` is 0.
    pub fn with_window(self, picks: usize) -> Result<Self> {
        if picks == 0 {
            return Err(Error::NotPositive { what: "the window of picks", value: 0.0 });
        }
        Ok(Self { window: picks, ..self })
    }

    /// Solves batches on the device of this engine, if it has one, with a workgroup per request.
    ///
    /// The sets are the same as on the CPU. The CPU decides where rounding may have changed a choice, and solves
    /// requests that do not suit the device: requests that include items, windows, more than 256 parts, and
    /// candidates that are not in one chunk of rows (256 MiB). Single requests and samples stay on the CPU.
    ///
    /// A device suits large batches over one catalogue, since a CPU core finds a set in about twenty microseconds.
    /// Rows of length 1 without scores do not suit it: all tie for the first pick, so the CPU solves every such
    /// request.
    ///
    /// # Cost
    /// The rows are uploaded once. Then 12 bytes per candidate (16 in double precision) are uploaded, and 4 bytes per
    /// pick are downloaded, with one wait per 8192 requests or two million candidates. The CPU reads every request
    /// twice, and computes determinants in 4k²n operations.
    #[must_use]
    pub fn with_engine(self, engine: &Engine) -> Self {
        Self { batches: engine.slate_device().map(Batches::on), ..self }
    }

    /// The numbers of requests sent to the device and left to the CPU; `None` without a device.
    #[must_use]
    pub fn batched_requests(&self) -> Option<BatchedRequests> {
        self.batches.as_ref().map(Batches::counts)
    }

    /// An empty workspace.
    #[must_use]
    pub fn workspace(&self) -> SlateWorkspace {
        SlateWorkspace::default()
    }

    /// Finds the greedy set of `request`, and stores it in `workspace`.
    ///
    /// # Errors
    /// - [`Error::ItemOutOfRange`], [`Error::RepeatedItem`], [`Error::IncludedAndExcluded`];
    /// - [`Error::Shape`] if the numbers of scores and candidates differ,
    ///   [`WeightProblem::NotFinite`](crate::error::WeightProblem::NotFinite) and
    ///   [`TooLarge`](crate::error::WeightProblem::TooLarge) for a score;
    /// - [`Error::QuotaAbovePartSize`] if a part has too few candidates for its minimum, [`Error::SizeAboveItems`] if
    ///   all parts together have too few for the size; [`Error::QuotaBelowIncluded`] and [`Error::SizeBelowIncluded`]
    ///   if too many items are included; [`Error::TotalOutsideRanges`] if the maxima leave too few, or the minima and
    ///   the included items take too many;
    /// - without a window, [`Error::DependentItems`] if the included items are dependent, and the errors of
    ///   [`PartitionDpp::new`](crate::PartitionDpp::new) if no set has a positive determinant.
    pub fn solve<'w>(
        &self,
        request: SlateRequest<'_>,
        workspace: &'w mut SlateWorkspace,
    ) -> Result<Slate<&'w [u32]>> {
        workspace.read(self, request)?;
        workspace.count(self)?;
        workspace.gather(self);
        let included = workspace.items.len();
        let mut log_det = Picking { slates: self, workspace }.run()?;
        if workspace.items.len() < self.size && self.window == usize::MAX {
            // The picks ran into a dead end.
            workspace.read(self, request)?;
            workspace.list(self)?;
            log_det = Whole::of(self, workspace, included)?.solve(&mut workspace.items)?;
        }
        Ok(Slate { missing: self.size - workspace.items.len(), items: &workspace.items, log_det })
    }

    /// Draws an exact sample of `request` into `workspace`, regardless of any window.
    ///
    /// # Errors
    /// The errors of [`solve`](Slates::solve) without a window, and of
    /// [`PartitionDpp::sampler`](crate::PartitionDpp::sampler).
    pub fn sample<'w, R: Rng + ?Sized>(
        &self,
        request: SlateRequest<'_>,
        workspace: &'w mut SlateWorkspace,
        rng: &mut R,
    ) -> Result<&'w [u32]> {
        workspace.read(self, request)?;
        let within = Within { watch: &Watch::default(), engine: Engine::host() };
        Drawing::new(self, workspace, within)?.draw(rng)?;
        Ok(&workspace.items)
    }

    /// Finds the greedy sets of many requests, on all threads of the current rayon pool.
    ///
    /// A request that fails does not affect the others.
    #[must_use]
    pub fn solve_many(&self, requests: &[SlateRequest<'_>]) -> Vec<Result<Slate<Vec<u32>>>> {
        self.solve_watched(requests, &Watch::default())
    }

    /// Like [`solve_many`](Slates::solve_many), under a watch.
    ///
    /// Requests that it leaves unsolved return [`Error::Ended`].
    #[must_use]
    pub fn solve_watched(
        &self,
        requests: &[SlateRequest<'_>],
        watch: &Watch,
    ) -> Vec<Result<Slate<Vec<u32>>>> {
        match self.batches.as_ref().filter(|_| self.window == usize::MAX) {
            Some(batches) => self.solve_on(batches, requests, watch),
            None => {
                each(requests, &Steps::begin(watch, Step::Search, requests.len()), |_, request, workspace| {
                    self.solve(request, workspace).map(Slate::into_own)
                })
            }
        }
    }

    /// Draws `count` samples of each of many requests, on all threads of the current rayon pool.
    ///
    /// A request that fails does not affect the others. Request number i uses stream i of the ChaCha8 generator
    /// seeded with `seed`, for one sample after another.
    #[must_use]
    pub fn sample_many(
        &self,
        requests: &[SlateRequest<'_>],
        count: usize,
        seed: u64,
    ) -> Vec<Result<SlateSamples>> {
        self.sample_watched(requests, count, seed, &Watch::default())
    }

    /// Like [`sample_many`](Slates::sample_many), under a watch.
    ///
    /// Proposals and the set-up of a sampler check it, too. Requests that it leaves unfinished return
    /// [`Error::Ended`].
    #[must_use]
    pub fn sample_watched(
        &self,
        requests: &[SlateRequest<'_>],
        count: usize,
        seed: u64,
        watch: &Watch,
    ) -> Vec<Result<SlateSamples>> {
        // The reported steps are requests.
        let engine = Engine::host().watched(&watch.without_reports());
        let within = Within { watch, engine: &engine };
        each(requests, &Steps::begin(watch, Step::Draw, requests.len()), |number, request, workspace| {
            workspace.read(self, request)?;
            let mut rng = stream(seed, number as u64);
            let mut drawing = Drawing::new(self, workspace, within)?;
            let draw = |_| {
                watch.check()?;
                Ok(Subset::from_distinct(drawing.draw(&mut rng)?.to_vec()))
            };
            let subsets = (0..count).map(draw).collect::<Result<_>>()?;
            Ok(SlateSamples { subsets, law_error: drawing.law_error() })
        })
    }
}

/// The power of two that brings the largest entry near 1; 1 for zero.
fn scale_of(largest: f64) -> f64 {
    if largest > 0.0 { power_of_two_near(largest).recip() } else { 1.0 }
}

/// A watch whose steps are requests.
struct Steps<'w> {
    watch: &'w Watch,
    step: Step,
    begun: Option<Instant>,
    done: AtomicU64,
    total: u64,
}

impl<'w> Steps<'w> {
    fn begin(watch: &'w Watch, step: Step, total: usize) -> Self {
        Self { watch, step, begun: watch.begin(), done: AtomicU64::new(0), total: total as u64 }
    }

    fn add(&self, made: u64) {
        let done = self.done.fetch_add(made, Ordering::Relaxed) + made;
        self.watch.report(self.begun, self.step, done, Some(self.total));
    }
}

/// Runs `task` on every request with its number, on all threads.
fn each<T: Send>(
    requests: &[SlateRequest<'_>],
    steps: &Steps<'_>,
    task: impl Fn(usize, SlateRequest<'_>, &mut SlateWorkspace) -> Result<T> + Sync + Send,
) -> Vec<Result<T>> {
    let size = requests.len().div_ceil(TASKS).clamp(1, TASK);
    let chunks = map_ordered(requests.len().div_ceil(size), |chunk| {
        let mut workspace = SlateWorkspace::default();
        let own = chunk * size..requests.len().min((chunk + 1) * size);
        let made = own.len() as u64;
        let each = own.map(|number| {
            steps.watch.check()?;
            task(number, requests[number], &mut workspace)
        });
        let each: Vec<Result<T>> = each.collect();
        steps.add(made);
        each
    });
    chunks.into_iter().flatten().collect()
}
