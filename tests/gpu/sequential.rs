//! Batches of sequential draws: the device keeps the draws that the host keeps, and they follow the law.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    time::Duration,
};

use partition_dpp::{
    Features, Partition, PartitionDpp, Quota, Sampler, Subset,
    engine::{
        Cpu, Engine, Precision,
        gpu::{Fault, Gpu, GpuOptions},
    },
};

use crate::common::{
    Case,
    engines::{gpu, open},
    enumerable_cases,
    random::normals,
    stats,
};

const PRECISIONS: [Precision; 2] = [Precision::F32, Precision::F64];
/// The law error asked for.
const WANTED: f64 = 5e-3;

struct Problem {
    name: &'static str,
    features: Features<'static>,
    labels: Vec<usize>,
    quota: Vec<usize>,
    draws: u64,
}

fn problem_of(
    name: &'static str,
    (items, dims): (usize, usize),
    values: Vec<f64>,
    quota: &[usize],
    draws: u64,
) -> Problem {
    let features = Features::from_rows(items, dims, values).unwrap();
    let labels = (0..items).map(|i| i % quota.len()).collect();
    Problem { name, features, labels, quota: quota.to_vec(), draws }
}

fn problem(name: &'static str, items: usize, dims: usize, quota: &[usize], draws: u64) -> Problem {
    problem_of(name, (items, dims), normals(items * dims, 11), quota, draws)
}

/// Rows with a common mean that is much longer than they are, in fewer dimensions than they have features.
fn lopsided(name: &'static str, (items, dims, rank): (usize, usize, usize), quota: &[usize]) -> Problem {
    let (short, turn) = (normals(items * rank, 5), normals(rank * dims, 6));
    let mean = normals(rank, 7);
    let mut values = vec![0.0; items * dims];
    for (row, out) in short.chunks_exact(rank).zip(values.chunks_exact_mut(dims)) {
        for ((x, mean), turn) in row.iter().zip(&mean).zip(turn.chunks_exact(dims)) {
            out.iter_mut().zip(turn).for_each(|(out, turn)| *out += (x + 8.0 * mean) * turn);
        }
    }
    problem_of(name, (items, dims), values, quota, 150)
}

fn problems() -> Vec<Problem> {
    let mut problems = vec![
        problem("small", 60, 6, &[1, 2], 500),
        problem("two items", 90, 5, &[2], 300),
        problem("many parts", 400, 24, &[1; 12], 300),
        problem("parts of several", 400, 37, &[3, 2, 4, 1, 2, 3], 200),
        problem("widest", 900, 128, &[2; 11], 40),
        problem("as many as fit", 600, 64, &[5; 9], 40),
        lopsided("common mean", (300, 30, 23), &[2, 1, 3, 2, 2]),
    ];
    // Of every row two copies, with very unequal lengths.
    let (items, dims) = (84, 9);
    let mut values = normals(items / 2 * dims, 5).repeat(2);
    for (i, row) in values.chunks_exact_mut(dims).enumerate() {
        row.iter_mut().for_each(|x| *x *= [1.0, 1e-3, 30.0][i % 3]);
    }
    problems.push(problem_of("copies", (items, dims), values, &[2, 2, 1], 300));
    problems
}

impl Problem {
    fn sampled<T>(&self, engine: &dyn Engine, with: impl FnOnce(&Sampler<'_>) -> T) -> T {
        let partition = Partition::from_labels(&self.labels).unwrap();
        let quota = Quota::new(&partition, &self.quota).unwrap();
        let dpp = PartitionDpp::new(&self.features, &partition, &quota).unwrap();
        with(&dpp.importance_sampler(engine).unwrap().sampler(WANTED).unwrap())
    }

    /// Draws on a device, with their numbers of proposals, and the proposals that the host made.
    fn draws(&self, engine: &dyn Engine) -> (Vec<Subset>, u64, [u64; 2]) {
        self.sampled(engine, |sampler| {
            let samples = sampler.sample_many(self.draws, 99);
            let proposals = samples.proposals();
            (samples.into_iter().collect(), proposals, sampler.batched_proposals().unwrap())
        })
    }

    /// The same draws by the host, after the device has failed.
    fn draws_of_host(&self, precision: Precision) -> (Vec<Subset>, u64) {
        let gpu = gpu(precision).unwrap();
        self.sampled(&gpu, |sampler| {
            gpu.fake(Fault::Reset);
            let samples = sampler.sample_many(self.draws, 99);
            let [made, replayed] = sampler.batched_proposals().unwrap();
            assert_eq!(made, replayed, "the host made all");
            (samples.subsets().to_vec(), samples.proposals())
        })
    }
}

/// The share of draws that are left to the host, at most.
fn replays(precision: Precision) -> f64 {
    if precision == Precision::F32 { 0.05 } else { 1e-3 }
}

/// Asserts that a device keeps what the host does, and leaves no more than this share of the draws to it.
fn conform(gpu: &Gpu, problems: &[Problem], most_replayed: f64) {
    let precision = gpu.info().precision;
    for problem in problems {
        let (found, proposals, [made, replayed]) = problem.draws(gpu);
        let (expected, expected_proposals) = problem.draws_of_host(precision);
        println!("{} in {precision}: {replayed} of {made} draws replayed", problem.name);
        assert_eq!(found, expected, "{}", problem.name);
        assert_eq!(proposals, expected_proposals, "{}", problem.name);
        assert!(replayed as f64 <= most_replayed * made as f64, "{}: {replayed} of {made}", problem.name);
    }
}

#[test]
fn the_device_keeps_what_the_host_keeps() {
    for precision in PRECISIONS {
        let Some(gpu) = gpu(precision) else { return };
        conform(&gpu, &problems(), replays(precision));
    }
}
