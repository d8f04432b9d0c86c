//! Problems of which a device draws batches, and what the host draws of them.

use oracles::{
    engines::{gpu, noticed, open},
    random::normals,
};
use partition_dpp::{
    Engine, Features, Partition, PartitionDpp, Quota, Sampler, Subset,
    engine::{
        Precision,
        gpu::{Fault, Gpu, GpuOptions},
    },
};

pub(crate) const PRECISIONS: [Precision; 2] = [Precision::F32, Precision::F64];

/// Sets up a sampler of one kind.
pub(crate) type SetUp = fn(&PartitionDpp, &Engine) -> Sampler;

/// A model, and the number of draws of a sampler of it.
#[derive(Clone)]
pub(crate) struct Problem {
    pub(crate) name: &'static str,
    pub(crate) features: Features,
    pub(crate) labels: Vec<usize>,
    pub(crate) quota: Vec<usize>,
    pub(crate) draws: u64,
    pub(crate) set_up: SetUp,
}

impl Problem {
    /// Makes a problem of these rows, dealt to parts in turn.
    pub(crate) fn new(name: &'static str, features: Features, quota: &[usize], set_up: SetUp) -> Self {
        let labels = (0..features.items()).map(|i| i % quota.len()).collect();
        Self { name, features, labels, quota: quota.to_vec(), draws: 0, set_up }
    }

    /// Makes a problem of Gaussian rows.
    pub(crate) fn gaussian(
        name: &'static str,
        (items, dims): (usize, usize),
        quota: &[usize],
        set_up: SetUp,
    ) -> Self {
        let features = Features::from_rows(items, dims, normals(items * dims, 11)).unwrap();
        Self::new(name, features, quota, set_up)
    }

    pub(crate) fn drawn(self, draws: u64) -> Self {
        Self { draws, ..self }
    }

    pub(crate) fn sampled<T>(&self, engine: &Engine, with: impl FnOnce(&Sampler) -> T) -> T {
        let partition = Partition::from_labels(&self.labels).unwrap();
        let quota = Quota::new(&partition, &self.quota).unwrap();
        let dpp = PartitionDpp::new(&self.features, &partition, &quota).unwrap();
        with(&(self.set_up)(&dpp, engine))
    }

    /// Returns draws on a device, their numbers of proposals, and the number of proposals that the host made.
    pub(crate) fn draws(&self, engine: &Engine) -> (Vec<Subset>, u64, [u64; 2]) {
        self.sampled(engine, |sampler| drawn(sampler, self.draws))
    }

    /// Returns the same draws from the host, after the device has failed.
    pub(crate) fn draws_of_host(&self, precision: Precision) -> (Vec<Subset>, u64) {
        let gpu = gpu(precision).unwrap();
        self.sampled(&gpu.engine(), |sampler| drawn_by_host(&gpu, sampler, self.draws))
    }
}

/// Returns draws on a device, their numbers of proposals, and the number of proposals that the host made.
fn drawn(sampler: &Sampler, draws: u64) -> (Vec<Subset>, u64, [u64; 2]) {
    let samples = sampler.sample_many(draws, 99);
    let proposals = samples.proposals();
    (samples.into_iter().collect(), proposals, sampler.batched_proposals().unwrap())
}

/// Returns the same draws from the host, after the device has failed.
pub(crate) fn drawn_by_host(gpu: &Gpu, sampler: &Sampler, draws: u64) -> (Vec<Subset>, u64) {
    gpu.fake(Fault::Dropped);
    let (subsets, proposals, [made, replayed]) = drawn(sampler, draws);
    assert_eq!(made, replayed, "the host made all");
    (subsets, proposals)
}

/// Returns the largest share of proposals that may be left to the host.
pub(crate) fn replays(precision: Precision) -> f64 {
    if precision == Precision::F32 { 0.05 } else { 1e-3 }
}

/// Problems, with the draws of the host.
pub(crate) struct Expected(Vec<(Problem, Vec<Subset>, u64)>);

impl Expected {
    pub(crate) fn of(problems: Vec<Problem>, precision: Precision) -> Self {
        let of = |problem: Problem| {
            let (subsets, proposals) = problem.draws_of_host(precision);
            (problem, subsets, proposals)
        };
        Self(problems.into_iter().map(of).collect())
    }

    /// Asserts that a device draws the same as the host, and leaves at most this share of the proposals to it.
    pub(crate) fn conform(&self, gpu: &Gpu, most_replayed: f64) {
        let precision = gpu.engine().info().precision;
        for (problem, expected, expected_proposals) in &self.0 {
            let (found, proposals, [made, replayed]) = problem.draws(&gpu.engine());
            println!("{} in {precision}: {replayed} of {made} proposals replayed", problem.name);
            assert!(&found == expected, "{}", problem.name);
            assert_eq!(proposals, *expected_proposals, "{}", problem.name);
            assert!(replayed as f64 <= most_replayed * made as f64, "{}: {replayed} of {made}", problem.name);
        }
    }

    /// Returns how a planted fault is noticed: a device draws something else, or leaves more than this share to the
    /// host.
    #[track_caller]
    pub(crate) fn noticed(&self, gpu: &Gpu, most_replayed: f64, fault: &str) -> String {
        noticed(fault, || self.conform(gpu, most_replayed))
    }

    /// Whether a message says only that the draws of a problem are wrong.
    pub(crate) fn is_wrong_draw(&self, message: &str) -> bool {
        self.0.iter().any(|(problem, ..)| problem.name == message)
    }
}

/// Returns options under which 700 rows of 24 values take three buffers.
pub(crate) fn in_three_buffers(precision: Precision) -> GpuOptions {
    rows_at_a_time(precision, 256)
}

/// Returns options under which a buffer holds this many rows of 24 values.
fn rows_at_a_time(precision: Precision, rows: u64) -> GpuOptions {
    let width = if precision == Precision::F32 { 4 } else { 8 };
    GpuOptions::default().with_precision(precision).with_largest_binding(rows * 24 * width)
}

/// Asserts that draws from rows in three buffers are those of the host, also in the last buffer.
pub(crate) fn conform_in_three_buffers(problem: &Problem, verb: &'static str) {
    for precision in PRECISIONS {
        let options = in_three_buffers(precision);
        let Some(gpu) = open(&options, "small bindings") else { return };
        let expected = Expected::of(vec![problem.clone()], precision);
        expected.conform(&gpu, replays(precision));
        // More than three buffers are not taken.
        let Some(smaller) = open(&rows_at_a_time(precision, 230), "smaller bindings") else { return };
        problem.sampled(&smaller.engine(), |sampler| assert_eq!(sampler.batched_proposals(), None));
        for (from, to) in [
            ("return second_rows[at]", "return unit_rows[at]"),
            ("return third_rows[at]", "return second_rows[at]"),
        ] {
            let Some(faulty) = open(&options.clone().with_patch(verb, from, to), "planted faults") else {
                return;
            };
            expected.noticed(&faulty, replays(precision), &format!("{from} → {to}"));
        }
    }
}

/// Asserts that a device draws the same as the host, and leaves at most this share of the proposals to it.
pub(crate) fn conform(gpu: &Gpu, problems: Vec<Problem>, most_replayed: f64) {
    Expected::of(problems, gpu.engine().info().precision).conform(gpu, most_replayed);
}
