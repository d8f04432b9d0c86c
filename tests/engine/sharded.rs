//! Set-up by shards: what they find is merged, in whatever order, to what one machine would find.

use std::sync::{
    Mutex,
    atomic::{AtomicUsize, Ordering},
};

use approx::{abs_diff_eq, assert_abs_diff_eq};
use faer::Mat;
use partition_dpp::{
    Error, Features, Inference, Method, Partition, PartitionDpp, Quota, Result, SamplerOptions, Subset,
    engine::{
        Cpu, Engine, Items, LocalShard, RowMap, Rows, Shard, ShardFactor, ShardMap, ShardRows, Sharded,
    },
    sample::Bound,
};

use crate::common::random::normals;

const DIMS: usize = 7;
const SIZES: [usize; 4] = [900, 1, 2_500, 600];

/// The rows of every shard; lengths differ by part.
fn shards() -> Vec<Vec<f64>> {
    SIZES.iter().enumerate().map(|(seed, &size)| normals(size * DIMS, seed as u64)).collect()
}

/// The ground set of the shards in an order, with the part of every item: it moves with its row.
struct World {
    shards: Vec<Features>,
    all: Features,
    partition: Partition,
}

impl World {
    fn in_order(order: &[usize]) -> Self {
        let rows = shards();
        let shard = |&at: &usize| Features::from_rows(SIZES[at], DIMS, rows[at].clone()).unwrap();
        let shards: Vec<Features> = order.iter().map(shard).collect();
        let labels = order.iter().flat_map(|&at| (0..SIZES[at]).map(move |item| (item + at) % 3));
        let partition = Partition::of(labels).unwrap();
        Self { all: Features::concatenate(&shards).unwrap(), shards, partition }
    }

    fn engine(&self) -> Sharded<LocalShard<'static>> {
        Sharded::new(
            self.shards.iter().map(|features| LocalShard { features: features.clone(), engine: &Cpu }),
        )
    }

    fn rows(&self) -> Rows<'_> {
        Rows::scaled(&self.all, (0..3).map(|part| Items::Listed(self.partition.members(part))).collect())
    }
}

#[test]
fn merged_gram_matrices_agree_within_the_stated_tolerance_in_every_order() {
    let reference = World::in_order(&[0, 1, 2, 3]);
    let whole = Cpu.part_grams(&reference.rows(), None).unwrap();
    let items: usize = SIZES.iter().sum();
    let tolerance = 2.0 * ((items / 8192 + 1) as f64 + SIZES.len() as f64) * f64::EPSILON;
    for order in [[0, 1, 2, 3], [3, 2, 1, 0], [2, 0, 3, 1]] {
        let world = World::in_order(&order);
        let merged = world.engine().part_grams(&world.rows(), None).unwrap();
        for (found, expected) in merged.iter().zip(&whole) {
            // The scales of a part are taken from its first rows, and could differ by a power of two.
            let ratio = (found[(0, 0)] / expected[(0, 0)]).log2().round().exp2();
            for j in 0..DIMS {
                for i in 0..DIMS {
                    let size = (expected[(i, i)] * expected[(j, j)]).sqrt();
                    let (found, expected) = (found[(i, j)] / ratio, expected[(i, j)]);
                    assert!(
                        abs_diff_eq!(found, expected, epsilon = tolerance * size),
                        "{order:?}: {found} {expected}, size {size}"
                    );
                }
            }
        }
    }
}

#[test]
fn the_law_is_that_of_one_machine() {
    for order in [[0, 1, 2, 3], [2, 0, 3, 1]] {
        let world = World::in_order(&order);
        let engine = world.engine();
        let quota = Quota::new(&world.partition, [2, 1, 1]).unwrap();
        let dpp = PartitionDpp::new(&world.all, &world.partition, &quota).unwrap();
        let dpp = dpp.including(&[3]).unwrap().excluding(&[0, 901, 3_999]).unwrap();
        let (one, many) = (dpp.inference(&Cpu).unwrap(), dpp.inference(&engine).unwrap());
        assert_eq!(many.engine().to_string(), "4 shards (sharded) in f64");
        let log_z = |inference: &Inference<'_>| inference.log_partition_function().value;
        assert_abs_diff_eq!(log_z(&many), log_z(&one), epsilon = 1e-12);
        let (one, many) = (one.inclusion_probabilities().unwrap(), many.inclusion_probabilities().unwrap());
        let worst = one.value.iter().zip(&many.value).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(worst < 1e-12, "{worst:e}");
        // Draws meet the conditions, and are spread over the shards as the probabilities are.
        let samples = dpp.sampler(Method::Rejection, &engine).unwrap().sample_many(20_000, 1);
        let shard_of = |item: usize| {
            let mut end = 0;
            order.iter().position(|&at| {
                end += SIZES[at];
                item < end
            })
        };
        let mut found = vec![0_u64; SIZES.len()];
        for subset in samples.subsets() {
            assert!(subset.contains(3) && ![0, 901, 3_999].iter().any(|&item| subset.contains(item)));
            for item in subset.iter().filter(|&item| item != 3) {
                found[shard_of(item).unwrap()] += 1;
            }
        }
        let mut expected = vec![0.0; SIZES.len()];
        for (item, probability) in one.value.iter().enumerate().filter(|(item, _)| *item != 3) {
            expected[shard_of(item).unwrap()] += probability / 3.0;
        }
        // Three picks of a set repel each other: their counts vary no more than independent ones.
        for (&found, share) in found.iter().zip(&expected) {
            let mean = 60_000.0 * share;
            assert!((found as f64 - mean).abs() < 5.0 * mean.sqrt() + 1.0, "{order:?}: {found}, {mean}");
        }
    }
}

/// A shard that is elsewhere: counts what it is asked, and forgets some rows if told to.
#[derive(Debug)]
struct Remote {
    local: LocalShard<'static>,
    forgets: bool,
    asked: AtomicUsize,
    last: Mutex<Option<ShardRows>>,
}

impl Shard for &Remote {
    fn items(&self) -> usize {
        self.local.items()
    }

    fn dims(&self) -> usize {
        self.local.dims()
    }

    fn part_grams(&self, rows: &ShardRows, map: Option<&ShardMap<'_>>) -> Result<Vec<Vec<f64>>> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        let mut rows = rows.clone();
        if self.forgets {
            rows.groups.iter_mut().for_each(|(items, _)| items.truncate(items.len() - items.len().min(1)));
        }
        *self.last.lock().unwrap() = Some(rows.clone());
        self.local.part_grams(&rows, map)
    }

    fn row_forms(&self, rows: &ShardRows, factors: &[ShardFactor<'_>]) -> Result<Vec<f64>> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        self.local.row_forms(rows, factors)
    }
}

fn log_z(world: &World, forgets: bool) -> (f64, usize) {
    let remote = |features: &Features| Remote {
        local: LocalShard { features: features.clone(), engine: &Cpu },
        forgets,
        asked: AtomicUsize::new(0),
        last: Mutex::new(None),
    };
    let remotes: Vec<Remote> = world.shards.iter().map(remote).collect();
    let engine = Sharded::new(&remotes);
    let quota = Quota::new(&world.partition, [1, 1, 1]).unwrap();
    let dpp = PartitionDpp::new(&world.all, &world.partition, &quota).unwrap();
    let log_z = dpp.log_partition_function(&engine).unwrap().value;
    (log_z, remotes.iter().map(|remote| remote.asked.load(Ordering::Relaxed)).sum())
}

#[test]
fn whoever_implements_a_shard_is_asked_once_a_pass() {
    let world = World::in_order(&[0, 1, 2, 3]);
    let quota = Quota::new(&world.partition, [1, 1, 1]).unwrap();
    let dpp = PartitionDpp::new(&world.all, &world.partition, &quota).unwrap();
    let expected = dpp.log_partition_function(&Cpu).unwrap().value;
    let (found, asked) = log_z(&world, false);
    assert_abs_diff_eq!(found, expected, epsilon = 1e-12);
    assert_eq!(asked, 4);
    // A shard that loses a row of every part is noticed.
    assert!((log_z(&world, true).0 - expected).abs() > 1e-5);
}

#[test]
fn rows_with_more_features_than_items_are_compressed_first() {
    let shard = |seed| Features::from_rows(6, 20, normals(120, seed)).unwrap();
    let shards = [shard(1), shard(2)];
    let all = Features::concatenate(&shards).unwrap();
    let engine = Sharded::new(shards.map(|features| LocalShard { features, engine: &Cpu }));
    let partition = Partition::of((0..12).map(|item| item % 2)).unwrap();
    let quota = Quota::each(&partition, 2).unwrap();
    let dpp = PartitionDpp::new(&all, &partition, &quota).unwrap();
    let log_z = |engine: &dyn Engine| dpp.log_partition_function(engine).unwrap().value;
    assert_abs_diff_eq!(log_z(&engine), log_z(&Cpu), epsilon = 1e-12);
    assert_eq!(dpp.sampler(Method::Rejection, &engine).unwrap().sample_many(10, 0).subsets().len(), 10);
}

#[test]
fn an_answer_of_the_wrong_size_is_refused() {
    #[derive(Debug)]
    struct Short(LocalShard<'static>);
    impl Shard for Short {
        fn items(&self) -> usize {
            self.0.items()
        }
        fn dims(&self) -> usize {
            self.0.dims()
        }
        fn part_grams(&self, rows: &ShardRows, map: Option<&ShardMap<'_>>) -> Result<Vec<Vec<f64>>> {
            self.0.part_grams(rows, map)
        }
        fn row_forms(&self, _: &ShardRows, _: &[ShardFactor<'_>]) -> Result<Vec<f64>> {
            Ok(vec![1.0])
        }
    }
    let world = World::in_order(&[0, 1, 2, 3]);
    let engine = Sharded::new(world.engine_of(4).into_iter().map(Short));
    let quota = Quota::new(&world.partition, [1, 1, 1]).unwrap();
    let dpp = PartitionDpp::new(&world.all, &world.partition, &quota).unwrap();
    let options = SamplerOptions::default().with_bound(Bound::Tilted);
    let sampler = dpp.sampler(options, &engine).map(|_| ());
    assert_error!(sampler, Error::Shape { found: 1, .. }, ["answer of a shard"]);
}

/// Through a map and through factors, the numbers of a shard are those of its engine, to the last bit.
#[test]
fn plain_numbers_say_the_same() {
    let world = World::in_order(&[0, 1, 2, 3]);
    let features = &world.shards[2];
    let local = LocalShard { features: features.clone(), engine: &Cpu };
    let asked = ShardRows { groups: vec![((0..900).collect(), 1.0), ((900..2_500).collect(), 0.5)] };
    let rows = asked.of(features);
    let values = normals(DIMS * 3, 8);
    let factor = Mat::from_fn(DIMS, 3, |i, j| values[DIMS * j + i]);
    let plain = ShardFactor { rows: DIMS, columns: 3, values: &values };
    let weights = [0.25, 2.0];
    let map = RowMap { weights: &weights, factor: factor.as_ref() };
    let found = local.part_grams(&asked, Some(&ShardMap { weights: &weights, factor: plain })).unwrap();
    for (found, expected) in found.iter().zip(Cpu.part_grams(&rows, Some(&map)).unwrap()) {
        let expected: Vec<f64> = (0..9).map(|at| expected[(at % 3, at / 3)]).collect();
        assert_eq!(*found, expected);
    }
    let expected = Cpu.row_forms(&rows, &[factor.as_ref(); 2]).unwrap();
    assert_eq!(local.row_forms(&asked, &[plain; 2]).unwrap(), expected);
    let short = ShardFactor { values: &values[1..], ..plain };
    assert_error!(
        local.row_forms(&asked, &[short; 2]),
        Error::Shape { expected: 21, found: 20, .. },
        ["values of a factor"]
    );
}

#[test]
fn shards_of_another_ground_set_are_refused() {
    let world = World::in_order(&[0, 1, 2, 3]);
    let engine = Sharded::new(world.engine_of(3));
    let quota = Quota::new(&world.partition, [1, 1, 1]).unwrap();
    let dpp = PartitionDpp::new(&world.all, &world.partition, &quota).unwrap();
    assert_error!(
        dpp.sampler(Method::Rejection, &engine).map(|_| Subset::new(vec![], 1)),
        Error::Shape { expected: 4_001, found: 3_401, .. },
        ["shards"]
    );
}

impl World {
    fn engine_of(&self, count: usize) -> Vec<LocalShard<'static>> {
        let local = |features: &Features| LocalShard { features: features.clone(), engine: &Cpu };
        self.shards[..count].iter().map(local).collect()
    }
}
