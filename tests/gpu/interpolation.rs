//! Draws by interpolation with nodes on the device: the subsets agree with the CPU, and the traffic is bounded.

use oracles::{
    engines::{gpu, open},
    random::normals,
};
use partition_dpp::{
    Engine, Features, Method, Partition, PartitionDpp, Quota, Subset,
    engine::{
        Precision,
        gpu::{Fault, Gpu, GpuOptions},
    },
};

/// Items dealt to parts in turn.
struct Problem {
    features: Features,
    partition: Partition,
    quota: Quota,
}

impl Problem {
    fn new(items: usize, dims: usize, quota: &[usize]) -> Self {
        let features = Features::from_rows(items, dims, normals(items * dims, 11)).unwrap();
        let labels: Vec<usize> = (0..items).map(|i| i % quota.len()).collect();
        let partition = Partition::from_labels(&labels).unwrap();
        let quota = Quota::new(&partition, quota).unwrap();
        Self { features, partition, quota }
    }

    fn draws(&self, engine: &Engine, count: u64, seed: u64) -> Vec<Subset> {
        let dpp = PartitionDpp::new(&self.features, &self.partition, &self.quota).unwrap();
        dpp.sampler(Method::Interpolation, engine).unwrap().sample_many(count, seed).subsets().to_vec()
    }
}

fn dispatches(gpu: &Gpu, shader: &str) -> u64 {
    gpu.dispatches().iter().find(|(name, _)| *name == shader).unwrap().1
}

#[test]
fn planted_faults_are_noticed() {
    for (shader, from, to) in [
        ("choose_tile", "draw[0] * total", "draw[0] * draw[0] * total"),
        ("condition_nodes", "x -= times(images", "x -= 0.2 * times(images"),
        ("root_form", "x -= root", "x += root"),
    ] {
        let options = GpuOptions::default().with_precision(Precision::F64).with_patch(shader, from, to);
        let Some(gpu) = open(&options, "planted faults") else { return };
        let problem = Problem::new(10, 4, &[1, 2]);
        let picked = dispatches(&gpu, "choose_row");
        let found = problem.draws(&gpu.engine(), 20, 7);
        assert!(dispatches(&gpu, "choose_row") >= picked + 60, "every pick is made on the device");
        assert_ne!(found, problem.draws(&Engine::cpu(), 20, 7), "{shader}: {from} → {to} goes unnoticed");
    }
}

#[test]
fn subsets_are_those_of_the_cpu() {
    let Some(gpu) = gpu(Precision::F64) else { return };
    for (items, dims, quota, count) in [
        (600, 8, &[2, 3, 2][..], 10),
        (3000, 20, &[4, 2], 3),
        (64, 30, &[6], 10),
        (12, 3, &[2, 1], 60),
        (9, 5, &[3], 60),
        // Late picks of large quotas fade, so that grids are renewed within a part.
        (120, 40, &[16, 18], 1),
    ] {
        let problem = Problem::new(items, dims, quota);
        let before = dispatches(&gpu, "condition_nodes");
        assert_eq!(
            problem.draws(&gpu.engine(), count, 7),
            problem.draws(&Engine::cpu(), count, 7),
            "{items}×{dims}, {quota:?}"
        );
        assert!(dispatches(&gpu, "condition_nodes") > before);
    }
}

/// In single precision, nodes are conditioned on the host.
#[test]
fn single_precision_keeps_its_law() {
    let Some(gpu) = gpu(Precision::F32) else { return };
    let problem = Problem::new(24, 8, &[2, 2]);
    assert_eq!(problem.draws(&gpu.engine(), 3, 7).len(), 3);
    assert_eq!(dispatches(&gpu, "condition_nodes"), 0);
}

#[test]
fn a_pick_is_one_wait_and_64_bytes() {
    let Some(gpu) = gpu(Precision::F64) else { return };
    for items in [2_000, 20_000] {
        let problem = Problem::new(items, 8, &[3, 4]);
        let dpp = PartitionDpp::new(&problem.features, &problem.partition, &problem.quota).unwrap();
        let sampler = dpp.sampler(Method::Interpolation, &gpu.engine()).unwrap();
        let _ = sampler.sample_many(1, 1);
        let before = gpu.traffic();
        let _ = sampler.sample_many(1, 2);
        let traffic = gpu.traffic() - before;
        assert_eq!((traffic.waits, traffic.submissions), (7, 7), "{traffic:?}");
        assert!(traffic.downloaded <= 7 * 64, "{traffic:?}");
        // Directions, phases and factors of nodes; a hundred rows would take more.
        assert!(traffic.uploaded < 40_000, "{traffic:?}");
        println!("{items} items: {traffic:?}");
    }
}

/// A faded grid is detected with the next choice, which is still used.
#[test]
fn grids_that_fade_are_no_more_waits() {
    let Some(gpu) = gpu(Precision::F64) else { return };
    let problem = Problem::new(120, 40, &[16, 18]);
    let dpp = PartitionDpp::new(&problem.features, &problem.partition, &problem.quota).unwrap();
    let sampler = dpp.sampler(Method::Interpolation, &gpu.engine()).unwrap();
    let (before, grids) = (gpu.traffic(), dispatches(&gpu, "grid_determinants"));
    let draws = 3;
    let _ = sampler.sample_many(draws, 2);
    let (traffic, grids) = (gpu.traffic() - before, dispatches(&gpu, "grid_determinants") - grids);
    println!("{grids} grids in {draws} draws: {traffic:?}");
    // The grid of the second part is needed in any case.
    assert!(grids > draws);
    assert_eq!(traffic.waits, draws * 34, "{traffic:?}");
    assert!(traffic.downloaded <= traffic.waits * 64, "{traffic:?}");
}

#[test]
fn draws_go_on_without_the_device() {
    for fault in [Fault::Reset, Fault::Dropped] {
        let Some(gpu) = gpu(Precision::F64) else { return };
        let problem = Problem::new(600, 8, &[2, 3]);
        let dpp = PartitionDpp::new(&problem.features, &problem.partition, &problem.quota).unwrap();
        let sampler = dpp.sampler(Method::Interpolation, &gpu.engine()).unwrap();
        let _ = sampler.sample_many(1, 1);
        gpu.fake(fault);
        for subset in sampler.sample_many(3, 2).subsets() {
            assert_eq!(subset.part_counts(&problem.partition), [2, 3]);
        }
    }
}
