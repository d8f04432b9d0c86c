//! The driver: its memory, its requests, and its behaviour on errors.

use std::collections::HashSet;

use oracles::{assert_error, random::normals};
use partition_dpp::{
    Engine, Error, Features, Partition, Result,
    error::StreamProblem,
    stream::{
        Batch, Batches, Draw, Grams, Marginals, Plan, Request, Step, StreamSampler, TrialSource, Trials,
    },
};

use crate::world::{World, named};

fn rows(items: usize, dims: usize) -> Vec<Vec<f64>> {
    normals(items * dims, 11).chunks(dims).map(<[f64]>::to_vec).collect()
}

fn labels(items: usize) -> Vec<usize> {
    (0..items).map(|item| item / 3 % 3).collect()
}

pub(crate) fn world(items: usize, dims: usize, shards: usize) -> World {
    World::of_rows(&rows(items, dims), &labels(items), shards)
}

pub(crate) fn plan(world: &World, counts: [usize; 3]) -> Plan {
    world.plan(|grams| Plan::partition_dpp(grams, &grams.quota(named(&counts))?, &Engine::cpu()))
}

/// Servers keep samplers, and send plans to threads.
#[test]
fn they_are_sent_to_threads() {
    fn is_sent<T: Send + Sync + 'static>() {}
    is_sent::<StreamSampler>();
    is_sent::<Plan>();
    is_sent::<Trials>();
    is_sent::<Grams>();
    is_sent::<Batch>();
}

/// Batches that receive a plan, and send trials, as bytes.
struct Elsewhere<'a>(&'a Batches, Vec<u8>);

impl TrialSource for Elsewhere<'_> {
    fn more(&mut self, Request { count, seed }: Request) -> Result<Trials> {
        let plan = Plan::from_bytes(&self.1)?;
        let totals = self.0.batches().iter().map(|batch| plan.total_leverage(batch, &Engine::cpu()));
        let counts = plan.split(&totals.collect::<Result<Vec<_>>>()?, count, seed)?;
        let answer = |(batch, count): (&Batch, &u64)| {
            Trials::from_bytes(&plan.trials(batch, *count, seed, &Engine::cpu())?.to_bytes())
        };
        Trials::concatenate(
            self.0.batches().iter().zip(&counts).rev().map(answer).collect::<Result<Vec<_>>>()?,
        )
    }
}

#[test]
fn the_same_seed_gives_the_same_subsets() {
    let world = world(120, 6, 5);
    let plan = plan(&world, [1, 2, 1]);
    let first = world.draws(&plan, 50, None, 7);
    assert_eq!(first, world.draws(&plan, 50, None, 7));
    assert_ne!(first, world.draws(&plan, 50, None, 8));
    // Plans are sent as bytes, and the answers of batches arrive in another order.
    let mut sampler = StreamSampler::new(&Plan::from_bytes(&plan.to_bytes()).unwrap(), 7).unwrap();
    let mut elsewhere = Elsewhere(&world.batches, plan.to_bytes());
    assert_eq!(first, sampler.draw_many(50, &mut elsewhere).unwrap());
    for draw in &first {
        let counts: Vec<usize> =
            (0..3).map(|part| draw.items.iter().filter(|place| place.part == part).count()).collect();
        assert_eq!(counts, [1, 2, 1]);
        let distinct: HashSet<_> = draw.items.iter().collect();
        assert_eq!(distinct.len(), 4);
    }
    let of_items = |draw: &Draw| {
        draw.items.iter().all(|place| {
            let item = place.row as usize * 5 + place.batch as usize;
            labels(120)[item] == place.part as usize
        })
    };
    assert!(first.iter().all(of_items));
}

/// A store that fails occasionally.
struct Unreliable<S> {
    store: S,
    asked: Vec<Request>,
    fails: bool,
}

impl<S: TrialSource> TrialSource for Unreliable<S> {
    fn more(&mut self, request: Request) -> Result<Trials> {
        self.asked.push(request);
        self.fails = !self.fails;
        if self.fails {
            return Err(Error::Nothing { what: "the answer of the store" });
        }
        self.store.more(request)
    }
}

#[test]
fn after_an_error_the_same_request_comes_again() {
    let world = world(60, 5, 3);
    let plan = plan(&world, [1, 1, 1]);
    let expected = world.draws(&plan, 20, Some(6), 3);
    let store = world.batches.trials(&plan).unwrap();
    let mut source = Unreliable { store, asked: Vec::new(), fails: false };
    let mut sampler = StreamSampler::new(&plan, 3).unwrap().with_request(6);
    let mut draws = Vec::new();
    while draws.len() < 20 {
        match sampler.draw(&mut source) {
            Ok(draw) => draws.push(draw),
            Err(error) => assert!(matches!(error, Error::Nothing { .. }), "{error:?}"),
        }
    }
    assert_eq!(draws, expected);
    let (pairs, _) = source.asked.as_chunks::<2>();
    assert!(pairs.len() > 10 && pairs.iter().all(|[first, second]| first == second));
    let seeds: HashSet<u64> = pairs.iter().map(|[first, _]| first.seed).collect();
    assert_eq!(seeds.len(), pairs.len(), "no two requests have the same seed");
}

/// The driver holds the bytes of one request, for any number of rows; the total number of bytes is predicted.
#[test]
fn the_driver_holds_nothing_of_the_size_of_the_data() {
    for items in [300, 30_000] {
        let world = world(items, 8, 4);
        let plan = plan(&world, [2, 1, 2]);
        let bytes = plan.to_bytes().len();
        // F, eigenvalues, and several numbers per part.
        assert!(bytes < 8 * (8 * 8 + 8) + 600, "{bytes}");
        let mut store = world.batches.trials(&plan).unwrap();
        let (mut asked, mut largest) = (0, 0);
        let mut sampler = StreamSampler::new(&plan, 5).unwrap();
        let mut draws = Vec::new();
        while draws.len() < 2000 {
            match sampler.step().unwrap() {
                Step::Drawn(draw) => draws.push(draw),
                Step::Needs(request) => {
                    let trials = store.more(request).unwrap();
                    let size = trials.to_bytes().len();
                    assert!(size < trials.len() * plan.trial_bytes() + 100);
                    (asked, largest) = (asked + request.count, largest.max(size));
                    sampler.feed(trials).unwrap();
                }
            }
        }
        let used: u64 = draws.iter().map(|draw| draw.trials).sum();
        let (each, expected) = (used as f64 / 2000.0, plan.expected_trials());
        println!(
            "{items} rows: {each:.1} trials a sample, {expected:.1} predicted; {largest} bytes at a time, {bytes} of plan"
        );
        assert!((each / expected - 1.0).abs() < 0.2, "{each} {expected}");
        assert!(asked - used < 20 * expected as u64 && largest < 200_000, "{asked} {used} {largest}");
    }
}

#[test]
fn what_does_not_belong_is_refused() {
    let world = world(60, 5, 3);
    let (plan, other) = (plan(&world, [1, 1, 1]), plan(&world, [2, 1, 1]));
    let mut sampler = StreamSampler::new(&plan, 0).unwrap().with_request(10);
    let batch = &world.batches.batches()[0];
    let trials = |plan: &Plan, count| plan.trials(batch, count, 0, &Engine::cpu()).unwrap();
    assert_error!(sampler.feed(trials(&plan, 10)), Error::Stream(StreamProblem::NotAsked), ["not asked for"]);
    let Step::Needs(request) = sampler.step().unwrap() else { panic!("there are no trials yet") };
    assert_eq!(request.count, 10);
    assert_error!(
        sampler.feed(trials(&plan, 9)),
        Error::Stream(StreamProblem::TrialCount { expected: 10, found: 9 }),
        ["9 trials", "10"]
    );
    assert_error!(
        sampler.feed(trials(&other, 10)),
        Error::Stream(StreamProblem::OtherPlan { what: "a list of trials" }),
        ["another plan"]
    );
    assert_error!(
        Trials::concatenate([trials(&plan, 1), trials(&other, 1)]),
        Error::Stream(StreamProblem::OtherPlan { .. }),
        ["another plan"]
    );
    assert_error!(
        Trials::concatenate([trials(&plan, 1), trials(&plan, 2)]),
        Error::Stream(StreamProblem::RepeatedBatch { number: 0 }),
        ["the number 0"]
    );
    assert_error!(Trials::concatenate([]), Error::Empty { .. }, ["list of trials"]);
    sampler.feed(trials(&plan, 10)).unwrap();
    let leverages = plan.leverages(batch, &Engine::cpu()).unwrap();
    assert_error!(
        leverages.trials(&other, batch, 1, 0),
        Error::Stream(StreamProblem::OtherPlan { what: "the list of leverages" }),
        ["leverages"]
    );
    let totals: Vec<f64> = world
        .batches
        .batches()
        .iter()
        .map(|batch| plan.total_leverage(batch, &Engine::cpu()).unwrap())
        .collect();
    assert!((totals.iter().sum::<f64>() - plan.rank() as f64).abs() < 1e-9);
    assert_error!(
        plan.split(&totals[1..], 10, 0),
        Error::Stream(StreamProblem::Leverages { expected: 5.0, .. }),
        ["a batch is missing"]
    );
    let features = Features::from_rows(1, 5, vec![1.0; 5]).unwrap();
    let stranger = Batch::new(9, &features, &Partition::from_labels(&["bird"]).unwrap()).unwrap();
    assert_error!(
        plan.total_leverage(&stranger, &Engine::cpu()),
        Error::UnknownPart { ref name, .. } if name == "bird",
        ["bird"]
    );
    let wide = Features::from_rows(1, 6, vec![1.0; 6]).unwrap();
    let wide = Batch::new(9, &wide, &Partition::from_labels(&["0"]).unwrap()).unwrap();
    assert_error!(
        plan.total_leverage(&wide, &Engine::cpu()),
        Error::Shape { expected: 5, found: 6, .. },
        ["a row"]
    );
    assert_eq!(plan.total_leverage(&Batch::empty(4), &Engine::cpu()).unwrap().to_bits(), 0.0_f64.to_bits());
    assert!(plan.trials(&Batch::empty(4), 0, 1, &Engine::cpu()).unwrap().is_empty());
    assert_error!(
        plan.trials(&Batch::empty(4), 2, 1, &Engine::cpu()),
        Error::Stream(StreamProblem::TrialCount { expected: 2, found: 0 }),
        ["2"]
    );
}

#[test]
fn quotas_that_no_set_meets_are_refused() {
    // Part 0 spans a line, parts 0 and 1 a plane.
    let rows = vec![
        vec![1.0, 0.0, 0.0],
        vec![2.0, 0.0, 0.0],
        vec![0.0, 1.0, 0.0],
        vec![1.0, 1.0, 0.0],
        vec![0.0, 2.0, 0.0],
        vec![1.0, 0.0, 1.0],
    ];
    let world = World::of_rows(&rows, &[0, 0, 1, 1, 1, 2], 2);
    let grams = world.batches.grams().unwrap();
    let plan = |counts: [usize; 3]| {
        Plan::partition_dpp(&grams, &grams.quota(named(&counts)).unwrap(), &Engine::cpu())
    };
    assert_error!(
        plan([2, 1, 0]),
        Error::Infeasible { ref parts, rank: 1, quota: 2 } if *parts == ["0"],
        ["rank 1", "0"]
    );
    assert_error!(
        plan([1, 2, 0]),
        Error::Infeasible { ref parts, rank: 2, quota: 3 } if *parts == ["0", "1"],
        ["rank 2"]
    );
    assert!(plan([1, 1, 1]).is_ok());
    assert_error!(grams.quota(named(&[3, 0, 0])), Error::QuotaAbovePartSize { size: 2, .. }, ["2"]);
    assert_error!(grams.quota([("3", 1)]), Error::UnknownPart { .. }, ["3"]);
    let ranges = grams.quota([("0", 0..=1), ("1", 2..=3), ("2", 0..=1)]).unwrap();
    assert_error!(
        Plan::partition_dpp(&grams, &ranges.with_total(4).unwrap(), &Engine::cpu()),
        Error::SizeAboveRank { k: 4, rank: 3 },
        ["4", "3"]
    );
    assert_error!(Plan::k_dpp(&grams, 7, &Engine::cpu()), Error::SizeAboveItems { k: 7, items: 6 }, ["7"]);
    for k in 4..=6 {
        let text = format!("k = {k} is above the rank");
        assert_error!(
            Plan::k_dpp(&grams, k, &Engine::cpu()),
            Error::SizeAboveRank { rank: 3, .. },
            [&*text, "determinant zero"]
        );
        assert_error!(
            Marginals::k_dpp(&grams, k, &Engine::cpu()),
            Error::SizeAboveRank { rank: 3, .. },
            [&*text]
        );
    }
    assert_error!(Plan::k_dpp(&grams, 0, &Engine::cpu()), Error::Nothing { .. }, ["k"]);
    assert_error!(Plan::dpp(&Grams::default(), &Engine::cpu()), Error::Empty { .. }, ["batches"]);
}

/// The model of a part has three rows, while the part has ten.
#[test]
fn quotas_above_the_features_name_these() {
    let rows: Vec<Vec<f64>> = (0..10).map(|i| vec![1.0, f64::from(i)]).collect();
    let grams = World::of_rows(&rows, &[0; 10], 2).batches.grams().unwrap();
    for count in 3..=10 {
        let quota = grams.quota([("0", count)]).unwrap();
        let ranges = grams.quota([("0", count..=10)]).unwrap();
        for quota in [&quota, &ranges] {
            let text = format!("k = {count} is above the rank");
            assert_error!(
                Plan::partition_dpp(&grams, quota, &Engine::cpu()),
                Error::SizeAboveRank { rank: 2, .. },
                [&*text]
            );
            assert_error!(
                Marginals::partition_dpp(&grams, quota, &Engine::cpu()),
                Error::SizeAboveRank { rank: 2, .. },
                [&*text]
            );
        }
    }
}

/// With rows of zeros, nothing is ever chosen, and no trial is needed.
#[test]
fn nothing_to_choose() {
    let world = World::of_rows(&vec![vec![0.0; 3]; 4], &[0, 0, 1, 1], 2);
    let range = |grams: &Grams| {
        Plan::partition_dpp(grams, &grams.quota([("0", 0..=2), ("1", 0..=2)])?, &Engine::cpu())
    };
    for plan in [world.plan(|grams| Plan::dpp(grams, &Engine::cpu())), world.plan(range)] {
        let draws = world.draws(&plan, 3, None, 0);
        assert!(draws.iter().all(|draw| draw.items.is_empty() && draw.trials == 0));
    }
}

/// For example, leverages from an earlier epoch.
#[test]
fn rows_that_have_changed_are_noticed() {
    let world = world(60, 5, 1);
    let plan = plan(&world, [1, 1, 1]);
    let batch = &world.batches.batches()[0];
    let leverages = plan.leverages(batch, &Engine::cpu()).unwrap();
    let (features, partition) = batch.content().unwrap();
    let kept = |features: &Features, partition: &Partition| {
        let other = Batch::new(batch.number(), features, partition).unwrap();
        leverages.trials(&plan, &other, 1000, 3)
    };
    assert_eq!(kept(features, partition).unwrap(), plan.trials(batch, 1000, 3, &Engine::cpu()).unwrap());
    let scores: Vec<f64> = (0..60).map(|item| f64::from(item % 7)).collect();
    let mut rows: Vec<Vec<f64>> = (0..60).map(|item| features.row(item)).collect();
    rows[17][2] += 1e-3;
    let of_rows = |rows: &[Vec<f64>]| Features::from_rows(60, 5, rows.concat()).unwrap();
    let (changed, mut shorter) = (of_rows(&rows), rows.clone());
    shorter.truncate(57);
    let shorter = Features::from_rows(57, 5, shorter.concat()).unwrap();
    rows[17][2] -= 1e-3;
    rows.rotate_left(9);
    let others = [
        (changed, partition.clone()),
        (of_rows(&rows), partition.clone()),
        (features.clone().with_scores(&scores, 0.5).unwrap(), partition.clone()),
        (shorter, Partition::from_labels(&labels(57)).unwrap()),
        (
            features.clone(),
            Partition::from_labels(&(0..60).map(|item| item % 3).collect::<Vec<_>>()).unwrap(),
        ),
    ];
    let empty = leverages.trials(&plan, &Batch::empty(batch.number()), 5, 3);
    assert_error!(empty, Error::Stream(StreamProblem::ChangedRows { number: 0 }), ["batch 0"]);
    for (features, partition) in others {
        assert_error!(
            kept(&features, &partition),
            Error::Stream(StreamProblem::ChangedRows { number: 0 }),
            ["batch 0", "changed"]
        );
    }
}

/// Rounding of coordinates is not mistaken for a change.
#[test]
fn nearly_dependent_rows_have_not_changed() {
    for spread in [1e2, 1e4, 1e6, 1e7] {
        let mut rows = rows(90, 6);
        rows.iter_mut()
            .for_each(|row| (row[4], row[5]) = (row[4] / spread, row[5] / spread + row[0] - row[1]));
        for shards in [1, 3] {
            let world = World::of_rows(&rows, &labels(90), shards);
            let Ok(plan) = world.batches.plan(|grams| Plan::k_dpp(grams, 5, &Engine::cpu())) else {
                assert!(spread > 1e6);
                continue;
            };
            for batch in world.batches.batches() {
                let leverages = plan.leverages(batch, &Engine::cpu()).unwrap();
                assert_eq!(leverages.trials(&plan, batch, 2000, 1).unwrap().len(), 2000, "{spread:e}");
            }
        }
    }
}
