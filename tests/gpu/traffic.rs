//! Traffic between the host and the device: counted, so that it holds on any card.

use std::time::Duration;

use half::f16;
use oracles::{
    engines::{gpu, open},
    random::normals,
};
use partition_dpp::{
    Dpp, Engine, Error, Features, Method, Partition, PartitionDpp, Quota,
    engine::{
        Precision,
        gpu::{Gpu, GpuOptions, Traffic},
        low_level::{Items, Rows, Verbs},
    },
    map::{Greedy, LocalSearch, Objective, Restarts, Solver},
};

use crate::exchanges::{search, traps};

const PRECISIONS: [Precision; 2] = [Precision::F32, Precision::F64];

fn traffic_of(gpu: &Gpu, run: impl FnOnce()) -> Traffic {
    let before = gpu.traffic();
    run();
    gpu.traffic() - before
}

#[test]
fn gram_matrices_come_home_once() {
    for precision in PRECISIONS {
        let Some(gpu) = gpu(precision) else { return };
        let (items, dims, parts) = (5_000, 32, 40);
        let features = Features::from_rows(items, dims, normals(items * dims, 3)).unwrap();
        let members: Vec<Vec<u32>> =
            (0..parts).map(|part| (part..items as u32).step_by(parts as usize).collect()).collect();
        let rows = Rows::scaled(&features, members.iter().map(|items| Items::Listed(items)).collect());
        gpu.part_grams(&rows, None).unwrap();
        let before = gpu.traffic();
        gpu.part_grams(&rows, None).unwrap();
        let traffic = gpu.traffic() - before;
        println!("{precision}: {traffic:?}");
        assert_eq!((traffic.submissions, traffic.waits), (1, 1));
        assert!(traffic.downloaded <= 16 * u64::from(parts) * (dims * dims) as u64, "{traffic:?}");
        // Parameters of dispatches, and the runs of every part.
        assert!(
            traffic.uploaded <= gpu.parameter_bytes() * traffic.dispatches + 32 * u64::from(parts),
            "{traffic:?}"
        );
        // All parts together: their runs, and the sums of the runs.
        assert_eq!(traffic.dispatches, 2, "{traffic:?}");
    }
}

/// The longest rows are found without a list of rivals within rounding, which would hold all rows of one length.
#[test]
fn rows_of_one_length_stay_on_the_device() {
    let Some(gpu) = gpu(Precision::F32) else { return };
    let (items, dims) = (20_000, 16);
    let mut values = normals(items * dims, 9);
    for row in values.chunks_exact_mut(dims) {
        let length = row.iter().map(|x| x * x).sum::<f64>().sqrt();
        row.iter_mut().for_each(|x| *x /= length);
    }
    let features = Features::from_rows(items, dims, values).unwrap();
    let rows = Rows::scaled(&features, vec![Items::All(items)]);
    let traffic = traffic_of(&gpu, || drop(gpu.gain_table(&rows, &vec![1.0; items]).unwrap()));
    assert!(traffic.downloaded < 1 << 10, "{traffic:?}");
    assert_eq!(traffic.waits, 1);
}

#[test]
fn rows_go_up_as_they_are_stored() {
    let (items, dims) = (20_000, 64);
    let values = normals(items * dims, 6);
    let half: Vec<f16> = values.iter().map(|&x| f16::from_f64(x)).collect();
    let single: Vec<f32> = values.iter().map(|&x| x as f32).collect();
    for precision in PRECISIONS {
        let Some(gpu) = gpu(precision) else { return };
        for (features, width) in [
            (Features::from_rows(items, dims, &half[..]).unwrap(), 2),
            (Features::from_rows(items, dims, &single[..]).unwrap(), 4),
            (
                Features::from_rows(items, dims, &values[..]).unwrap(),
                if precision == Precision::F32 { 4 } else { 8 },
            ),
        ] {
            let uploaded = |rows: &Rows<'_>| {
                let before = gpu.traffic();
                gpu.row_norms(rows).unwrap();
                (gpu.traffic() - before).uploaded
            };
            let bytes = (items * dims * width) as u64;
            let first = uploaded(&Rows::scaled(&features, vec![Items::All(items)]));
            assert!((bytes..=bytes + bytes / 100).contains(&first), "{first} bytes of {bytes}");
            // Other lists of items are new tables over the same rows.
            let [odd, even] = [0, 1].map(|l| (l..items as u32).step_by(2).collect::<Vec<u32>>());
            let other = uploaded(&Rows::scaled(&features, vec![Items::Listed(&even), Items::Listed(&odd)]));
            assert!(other <= 5 * items as u64, "{other} bytes");
        }
    }
}

/// Asserts that greedy makes this many picks in three submissions and two waits.
#[track_caller]
fn assert_three_submissions(model: &impl Objective, gpu: &Gpu, picks: std::ops::RangeInclusive<usize>) {
    let first = Greedy::default().solve(model, &gpu.engine()).unwrap();
    let traffic = traffic_of(gpu, || {
        assert_eq!(Greedy::default().solve(model, &gpu.engine()).unwrap().subset, first.subset);
    });
    let len = first.subset.as_slice().len();
    println!("{}, {len} picks: {traffic:?}", gpu.engine().info().precision);
    assert!(picks.contains(&len), "{len}");
    assert!(traffic.submissions <= 3, "{traffic:?}");
    assert!(traffic.waits <= 2, "{traffic:?}");
    assert!(traffic.downloaded <= 1 << 16, "{traffic:?}");
    // Parameters of dispatches; no rows.
    assert!(traffic.uploaded <= gpu.parameter_bytes() * traffic.dispatches + 200, "{traffic:?}");
}

/// Returns options for a device that may take long.
///
/// Work is cut into submissions for the speed of real cards, and the software driver is slow, above all next to other
/// work.
fn patient(precision: Precision) -> GpuOptions {
    let options = GpuOptions::default().with_precision(precision);
    options.with_longest_dispatch(Duration::from_secs(60)).with_time_limit(Duration::from_secs(600))
}

#[test]
fn fifty_picks_are_three_submissions() {
    for precision in PRECISIONS {
        let options = patient(precision);
        let Some(gpu) = open(&options, "graphics device") else { return };
        let (items, dims) = (4_000, 64);
        // About fifty gains exceed 1.
        let values: Vec<f32> = normals(items * dims, 9).iter().map(|&x| 0.19 * x as f32).collect();
        let features = Features::from_rows(items, dims, values).unwrap();
        let partition = Partition::from_labels(&(0..items).map(|item| item % 3).collect::<Vec<_>>()).unwrap();
        let under = |quota: &Quota| PartitionDpp::new(&features, &partition, quota).unwrap();
        let fixed = Quota::new(&partition, [16, 17, 17]).unwrap();
        assert_three_submissions(&under(&fixed), &gpu, 50..=50);
        let of_a_size = Quota::new(&partition, [0..=9, 10..=30, 20..=99]).unwrap().with_total(50).unwrap();
        assert_three_submissions(&under(&of_a_size), &gpu, 50..=50);
        let of_any_size = Quota::new(&partition, [0..=9, 10..=99, 20..=99]).unwrap();
        assert_three_submissions(&under(&of_any_size), &gpu, 30..=63);
        assert_three_submissions(&Dpp::new(&features).unwrap(), &gpu, 30..=63);
    }
}

/// A quota of two items for each of four parts.
struct Problem {
    features: Features,
    partition: Partition,
}

/// Enough items that whitened rows are not kept on the host.
const MANY: usize = 600_000;
const ITEMS: usize = 6_000;
const DIMS: usize = 16;
const PARTS: usize = 4;

impl Problem {
    fn new(items: usize) -> Self {
        let values: Vec<f32> = normals(items * DIMS, 12).iter().map(|&x| x as f32).collect();
        let features = Features::from_rows(items, DIMS, values).unwrap();
        let labels: Vec<usize> = (0..items).map(|item| item % PARTS).collect();
        Self { features, partition: Partition::from_labels(&labels).unwrap() }
    }

    fn model(&self) -> PartitionDpp {
        let quota = Quota::new(&self.partition, [2; PARTS]).unwrap();
        PartitionDpp::new(&self.features, &self.partition, &quota).unwrap()
    }

    fn nodes(&self) -> f64 {
        let refused = self.model().with_node_budget(1.0).inference(&Engine::cpu());
        let Err(Error::NodeBudget { nodes, .. }) = refused else { panic!("{refused:?}") };
        nodes
    }
}

/// Asserts upper limits on the downloads and waits of an algorithm in f64, with the features on the device.
#[track_caller]
fn assert_traffic(what: &str, problem: &Problem, downloaded: u64, waits: u64, run: impl Fn(&Problem, &Gpu)) {
    let Some(gpu) = gpu(Precision::F64) else { return };
    run(problem, &gpu);
    let traffic = traffic_of(&gpu, || run(problem, &gpu));
    println!("{what}: {traffic:?}");
    assert!(traffic.downloaded <= downloaded, "{what}: {traffic:?}");
    assert!(traffic.waits <= waits, "{what}: {traffic:?}");
}

/// The bytes of a Gram matrix per part, twice: with its rounding.
const GRAMS: u64 = (16 * PARTS * DIMS * DIMS) as u64;
/// Returns the bytes of one number per row.
fn numbers(items: usize) -> u64 {
    8 * items as u64
}

#[test]
fn set_up_sends_gram_matrices_and_a_number_per_row() {
    let problem = Problem::new(MANY);
    assert_traffic("set-up of rejection", &problem, 2 * GRAMS + numbers(MANY), 4, |problem, gpu| {
        problem.model().sampler(Method::Rejection, &gpu.engine()).unwrap();
    });
    let problem = Problem::new(ITEMS);
    let inverses = (problem.nodes() * (16 * DIMS * DIMS + 20) as f64) as u64;
    let most = 2 * GRAMS + inverses + numbers(ITEMS);
    assert_traffic("set-up of interpolation", &problem, most, 4, |problem, gpu| {
        problem.model().sampler(Method::Interpolation, &gpu.engine()).unwrap();
    });
}

#[test]
fn inference_sends_sums_of_inverses_and_a_number_per_row() {
    let problem = Problem::new(ITEMS);
    let nodes = problem.nodes();
    assert!(nodes > 100.0, "inverses of {nodes} nodes would be more than what is sent");
    let of_nodes = 32 * nodes as u64;
    for precision in PRECISIONS {
        let Some(gpu) = gpu(precision) else { return };
        let model = problem.model();
        let inference = model.inference(&gpu.engine()).unwrap();
        let traffic = traffic_of(&gpu, || drop(inference.inclusion_probabilities().unwrap()));
        println!("{precision}, {nodes} nodes: {traffic:?}");
        // In single precision, also the lengths of rows, which bound the error.
        let waits = if precision == Precision::F64 { 2 } else { 3 };
        assert!(traffic.downloaded <= GRAMS + of_nodes + numbers(ITEMS) + 64, "{traffic:?}");
        assert!(traffic.waits <= waits, "{traffic:?}");
    }
    assert_traffic("inference", &problem, 3 * GRAMS + 2 * of_nodes + numbers(ITEMS), 4, |problem, gpu| {
        problem.model().inference(&gpu.engine()).unwrap().inclusion_probabilities().unwrap();
    });
}

#[test]
fn a_local_search_sends_swaps_and_the_items_that_matter_in_exchanges() {
    assert_traffic("local search", &Problem::new(ITEMS), 1 << 13, 6, |problem, gpu| {
        LocalSearch::default().solve(&problem.model(), &gpu.engine()).unwrap();
    });
}

/// Returns parts of two axes each, with these three items among short ones.
pub(crate) fn corners(
    items: usize,
    parts: usize,
    own: impl Fn(f64) -> [[f64; 2]; 3],
) -> (Features, Partition) {
    let dims = 2 * parts;
    let mut values: Vec<f64> = normals(items * dims, 31).iter().map(|x| 0.01 * x).collect();
    for part in 0..parts {
        for (item, corner) in own(part as f64 / parts as f64).into_iter().enumerate() {
            let at = (parts * item + part) * dims + 2 * part;
            // Avoid ties for greedy.
            let size = 1.0 + 0.1 * part as f64;
            values[at..at + 2].copy_from_slice(&corner.map(|x| size * x));
        }
    }
    let labels: Vec<usize> = (0..items).map(|item| item % parts).collect();
    (Features::from_rows(items, dims, values).unwrap(), Partition::from_labels(&labels).unwrap())
}

/// Greedy first takes the item between the two axes, and then the other axis.
fn alike(_: f64) -> [[f64; 2]; 3] {
    [[0.8, 0.8], [1.1, 0.0], [0.0, 1.1]]
}

/// Returns the same with a different ratio in every part.
pub(crate) fn apart(part: f64) -> [[f64; 2]; 3] {
    [[0.85 + 0.1 * part, 0.75], [1.1, 0.0], [0.0, 1.1]]
}

#[test]
fn swaps_are_a_wait_and_a_few_bytes_each() {
    for precision in PRECISIONS {
        let Some(gpu) = gpu(precision) else { return };
        let (features, partition) = corners(20_000, 4, alike);
        let quota = Quota::each(&partition, 2).unwrap();
        let dpp = PartitionDpp::new(&features, &partition, &quota).unwrap();
        let stats = LocalSearch::default().solve(&dpp, &gpu.engine()).unwrap().stats;
        let traffic = traffic_of(&gpu, || {
            LocalSearch::default().solve(&dpp, &gpu.engine()).unwrap();
        });
        println!("{precision}: {} swaps, {} exchanges, {traffic:?}", stats.swaps, stats.exchanges);
        assert!(stats.swaps >= 4, "{stats:?}");
        // Waits: greedy; the best swap at the start, after every swap and with recomputed numbers; the items that
        // matter.
        assert!(traffic.waits <= 2 + stats.swaps + 2 + 1, "{traffic:?}");
        assert!(traffic.submissions <= 5 * (stats.swaps + 4), "{traffic:?}");
        assert!(traffic.downloaded <= 1 << 14, "{traffic:?}");
    }
}

#[test]
fn many_swaps_are_a_few_waits() {
    for precision in PRECISIONS {
        let Some(gpu) = open(&patient(precision), "graphics device") else { return };
        let (features, partition) = corners(120, 40, apart);
        let dpp = PartitionDpp::new(&features, &partition, &Quota::each(&partition, 2).unwrap()).unwrap();
        // The rows are uploaded with it.
        let greedy = traffic_of(&gpu, || drop(Greedy::default().solve(&dpp, &gpu.engine()).unwrap()));
        let mut found = None;
        let search = || found = Some(LocalSearch::default().solve(&dpp, &gpu.engine()).unwrap());
        let traffic = traffic_of(&gpu, search) - greedy;
        let found = found.unwrap();
        let swaps = found.stats.swaps;
        println!("{precision}: {swaps} swaps, {traffic:?}, {greedy:?}");
        assert!(swaps >= 40, "{swaps}");
        assert_eq!(found.subset, LocalSearch::default().solve(&dpp, &Engine::cpu()).unwrap().subset);
        // Waits: swaps, the first few one by one; the best swap with recomputed numbers; the items that matter.
        assert!(traffic.waits <= 2 + swaps / 64 + 3, "{traffic:?}");
        assert!(traffic.downloaded <= 64 * swaps + (1 << 15), "{traffic:?}");
    }
}

#[test]
fn exchanges_of_two_parts_send_the_items_that_matter() {
    for precision in PRECISIONS {
        let Some(gpu) = gpu(precision) else { return };
        let (features, labels) = traps(4, 3_000);
        let stats = search(&features, &labels, &[1; 4], Restarts::None, &gpu.engine()).stats;
        let traffic = traffic_of(&gpu, || {
            search(&features, &labels, &[1; 4], Restarts::None, &gpu.engine());
        });
        println!("{precision}: {} exchanges, {traffic:?}", stats.exchanges);
        assert!(stats.exchanges >= 2, "{stats:?}");
        assert!(traffic.downloaded <= 1 << 14, "{traffic:?}");
        // Waits: greedy; after each exchange, the best swap with recomputed numbers, and the items that matter.
        assert!(traffic.waits <= 2 + 2 * (stats.exchanges + 1), "{traffic:?}");
    }
}
