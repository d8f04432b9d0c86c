//! Watched work ends soon, states the reason, and is otherwise unchanged.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use faer::Mat;
use oracles::{
    random::normals,
    watches::{reported, stopped_when},
    with_threads,
};
use partition_dpp::{
    Dpp, Engine, Error, Features, IndependentKDpps, KDpp, Method, Partition, PartitionDpp, Quota, Result,
    SamplerOptions, Watch,
    engine::low_level::{Items, Rows},
    mcmc::{McmcOptions, Thinning},
    watch::{Ended, Step},
};

/// Items in three parts, and the requests about them.
struct Case {
    features: Features,
    partition: Partition,
    quota: Quota,
    ranges: Quota,
}

impl Case {
    fn new() -> Self {
        let (items, dims) = (600, 12);
        let labels: Vec<usize> = (0..items).map(|i| i % 3).collect();
        let partition = Partition::from_labels(&labels).unwrap();
        let quota = Quota::new(&partition, [3, 2, 2]).unwrap();
        let ranges = Quota::new(&partition, &[1..=3, 0..=2, 2..=4]).unwrap();
        let features = Features::from_rows(items, dims, normals(items * dims, 11)).unwrap();
        Self { features, partition, quota, ranges }
    }

    fn partition_dpp(&self) -> PartitionDpp {
        PartitionDpp::new(&self.features, &self.partition, &self.quota).unwrap()
    }

    fn range_dpp(&self) -> PartitionDpp {
        PartitionDpp::new(&self.features, &self.partition, &self.ranges).unwrap()
    }

    /// Runs every kind of set-up, inference and counting. Returns their names and findings as text.
    fn computed(&self, engine: &Engine) -> Vec<(&'static str, Result<String>)> {
        let (features, partition) = (&self.features, &self.partition);
        let (dpp, ranges) = (self.partition_dpp(), self.range_dpp());
        let independent = IndependentKDpps::new(features, partition, &self.quota).unwrap();
        let (k_dpp, any) = (KDpp::new(features, 5).unwrap(), Dpp::new(features).unwrap());
        let few = Partition::from_labels(&(0..features.items()).map(|i| i % 2).collect::<Vec<_>>()).unwrap();
        let drawn = |sampler: partition_dpp::Sampler| format!("{:?}", sampler.sample_many(3, 5).subsets());
        let by = |method| dpp.sampler(method, engine).map(drawn);
        let inferred = |inference: partition_dpp::Inference| {
            let marginals = inference.inclusion_probabilities()?;
            Ok(format!("{:?} {:?}", inference.log_partition_function(), marginals))
        };
        let counts = |counts: partition_dpp::PartCounts| format!("{:?}", counts.entries());
        vec![
            ("rejection", by(Method::Rejection)),
            ("interpolation", by(Method::Interpolation)),
            (
                "chains",
                dpp.chains(&McmcOptions::default(), engine)
                    .map(|chains| format!("{:?}", chains.run(3, 5).subsets())),
            ),
            ("ranges", ranges.sampler(SamplerOptions::default(), engine).map(drawn)),
            ("independent", independent.sampler(SamplerOptions::default(), engine).map(drawn)),
            ("k-DPP", k_dpp.sampler(SamplerOptions::default(), engine).map(drawn)),
            ("DPP", any.sampler(SamplerOptions::default(), engine).map(drawn)),
            ("quota inference", dpp.inference(engine).and_then(inferred)),
            ("by phases", dpp.log_partition_function_by_phases(engine).map(|log_z| format!("{log_z:?}"))),
            ("ranges inference", ranges.inference(engine).and_then(inferred)),
            ("k-DPP inference", k_dpp.inference(engine).and_then(inferred)),
            ("DPP inference", any.inference(engine).and_then(inferred)),
            ("k-DPP counts", k_dpp.part_counts(&few, engine).map(counts)),
            ("DPP counts", any.part_counts(&few, engine).map(counts)),
        ]
    }
}

#[test]
fn a_watch_changes_nothing() {
    let case = Case::new();
    let stop = Arc::new(AtomicBool::new(false));
    let watch = Watch::default().stopped_by(&stop).until(Instant::now() + Duration::from_secs(36_000));
    let watched = Engine::cpu().watched(&watch);
    for ((name, plain), (_, under)) in case.computed(&Engine::cpu()).into_iter().zip(case.computed(&watched))
    {
        assert_eq!(plain.unwrap(), under.unwrap(), "{name}");
    }
}

#[test]
fn work_ends_before_it_begins() {
    let case = Case::new();
    let stop = Arc::new(AtomicBool::new(true));
    let interrupted = Engine::cpu().watched(&Watch::default().stopped_by(&stop));
    for (name, outcome) in case.computed(&interrupted) {
        assert!(matches!(outcome, Err(Error::Ended(Ended::Interrupted))), "{name}: {outcome:?}");
    }
    // Work that was ended stays ended.
    stop.store(false, Ordering::Relaxed);
    assert!(interrupted.proceed().is_err());
    let late = Engine::cpu().watched(&Watch::default().until(Instant::now()));
    for (name, outcome) in case.computed(&late) {
        assert!(matches!(outcome, Err(Error::Ended(Ended::TimeLimit))), "{name}: {outcome:?}");
    }
    let error = late.proceed().unwrap_err();
    assert_eq!(error.to_string(), "the time limit passed");
}

/// The first report sets the flag: after the first pass or chunk of nodes.
#[test]
fn work_ends_on_the_way() {
    let case = Case::new();
    let dpp = case.partition_dpp();
    for number in 0..3 {
        let (watch, reports) = stopped_when(|_| true);
        let watched = Engine::cpu().watched(&watch);
        let outcome = match number {
            0 => dpp.sampler(Method::Rejection, &watched).map(|_| ()),
            1 => dpp.inference(&watched).map(|_| ()),
            _ => case.range_dpp().sampler(SamplerOptions::default(), &watched).map(|_| ()),
        };
        assert!(matches!(outcome, Err(Error::Ended(Ended::Interrupted))), "{outcome:?}");
        // Nothing was computed after the flag was set.
        assert_eq!(reports.lock().unwrap().len(), 1);
    }
}

#[test]
fn nodes_and_rows_are_counted() {
    let case = Case::new();
    let (watch, reports) = reported();
    case.partition_dpp().inference(&Engine::cpu().watched(&watch)).unwrap();
    let reports = reports.lock().unwrap();
    let of =
        |step: Step| reports.iter().filter(|report| report.step == step).map(|report| report.steps).collect();
    let (rows, nodes): (Vec<u64>, Vec<u64>) = (of(Step::Row), of(Step::Node));
    assert!(rows.iter().all(|count| count % 600 == 0) && rows.is_sorted() && !rows.is_empty(), "{rows:?}");
    assert!(nodes.is_sorted() && !nodes.is_empty(), "{nodes:?}");
}

#[test]
fn tables_stay_under_the_watch() {
    let case = Case::new();
    let rows = Rows::scaled(&case.features, vec![Items::All(600)]);
    let stop = Arc::new(AtomicBool::new(false));
    let (watch, reports) = reported();
    let (watched, plain) = (Engine::cpu().watched(&watch.stopped_by(&stop)), Engine::cpu());
    let norms = watched.row_norms(&rows).unwrap();
    let duals = Mat::<f64>::identity(12, 2);
    let (direction, weights) = ([0.25; 12], [vec![1.0, 2.0]]);
    let [(mut gains, mut swaps), (mut plain_gains, mut plain_swaps)] = [&watched, &plain].map(|engine| {
        let swaps = engine.swap_table(&rows, &[duals.as_ref()], &norms).unwrap();
        (engine.gain_table(&rows, &norms).unwrap(), swaps)
    });
    assert_eq!(gains.update(Some(&direction)).unwrap(), plain_gains.update(Some(&direction)).unwrap());
    assert_eq!(swaps.gains(None, &weights).unwrap(), plain_swaps.gains(None, &weights).unwrap());
    // The norms, C and two updates are passes; a table of gains is not.
    let passes = [600, 1200, 1800, 2400].map(|rows| (Step::Row, rows));
    let reports: Vec<_> = reports.lock().unwrap().iter().map(|report| (report.step, report.steps)).collect();
    assert_eq!(reports, passes);
    stop.store(true, Ordering::Relaxed);
    let ended = Error::Ended(Ended::Interrupted);
    assert_eq!(gains.update(None).unwrap_err().to_string(), ended.to_string());
    assert_eq!(swaps.gains(None, &weights).unwrap_err().to_string(), ended.to_string());
    // The existing results can be read.
    assert_eq!(gains.read().unwrap(), plain_gains.read().unwrap());
}

#[test]
fn draws_end_and_are_those_of_sample_range() {
    let case = Case::new();
    let dpp = case.partition_dpp();
    let options = McmcOptions::default().with_burn_in(5).with_thin(Thinning::Sweeps(2));
    let samplers = [
        dpp.sampler(Method::Rejection, &Engine::cpu()).unwrap(),
        dpp.sampler(Method::Interpolation, &Engine::cpu()).unwrap(),
        case.range_dpp().sampler(SamplerOptions::default(), &Engine::cpu()).unwrap(),
        KDpp::new(&case.features, 5).unwrap().sampler(SamplerOptions::default(), &Engine::cpu()).unwrap(),
        Dpp::new(&case.features).unwrap().sampler(SamplerOptions::default(), &Engine::cpu()).unwrap(),
        IndependentKDpps::new(&case.features, &case.partition, &case.quota)
            .unwrap()
            .sampler(SamplerOptions::default(), &Engine::cpu())
            .unwrap(),
    ];
    for sampler in &samplers {
        let name = sampler.algorithm();
        let whole = sampler.sample_range(3..40, 9);
        let (watch, reports) = reported();
        let watched = sampler.sample_watched(3..40, 9, &watch).unwrap();
        assert_eq!((whole.subsets(), whole.proposals()), (watched.subsets(), watched.proposals()), "{name}");
        assert_eq!(watched.ended(), None);
        let told =
            reports.lock().unwrap().iter().filter_map(|report| Some((report.steps, report.total?))).max();
        assert_eq!(told, Some((37, 37)), "{name}");
        // Stopped by the report of the first task: the existing draws are the first of all draws.
        let (watch, _) = stopped_when(|reports| reports.iter().any(|report| report.step == Step::Draw));
        let some = with_threads(1, || sampler.sample_watched(0..4000, 9, &watch).unwrap());
        let count = some.subsets().len();
        assert!((1..1000).contains(&count), "{name}: {count}");
        assert_eq!(some.subsets(), sampler.sample_many(count as u64, 9).subsets(), "{name}");
        assert_eq!(some.ended(), Some(Ended::Interrupted));
    }
    let chains = dpp.chains(&options, &Engine::cpu()).unwrap();
    let never = Watch::default().until(Instant::now());
    assert!(matches!(chains.start_watched(1, &never), Err(Error::Ended(Ended::TimeLimit))));
    let mut run = chains.start(1);
    run.extend(10);
    assert_eq!(run.extend_watched(10, &never), Some(Ended::TimeLimit));
    assert_eq!(run.draws(), 10);
    assert_eq!(run.extend_watched(10, &Watch::default()), None);
    assert_eq!(run.into_samples().subsets().len(), 20);
}

/// Chains that are ended while they run have made the same number of draws in turn.
#[test]
fn chains_end_alike() {
    let case = Case::new();
    let dpp = case.partition_dpp();
    let options = McmcOptions::default().with_burn_in(5).with_thin(Thinning::Sweeps(2)).with_chains(3);
    let chains = dpp.chains(&options, &Engine::cpu()).unwrap();
    let mut run = chains.start(1);
    // Each chain may have made any number of draws when the limit passes.
    let watch = Watch::default().until(Instant::now() + Duration::from_millis(100));
    assert_eq!(run.extend_watched(u64::MAX / 2, &watch), Some(Ended::TimeLimit));
    let draws = run.draws();
    let samples = run.into_samples();
    assert_eq!(samples.subsets().len() as u64, draws);
    assert_eq!(samples.subsets(), chains.run(draws, 1).subsets());
    let expected: u64 = (0..3).map(|chain| samples.log_dets(chain).len() as u64).sum();
    assert_eq!(expected, draws);
}

/// An endless burn-in leaves half of the time to draws.
#[test]
fn burn_in_leaves_time_for_draws() {
    let case = Case::new();
    let dpp = case.partition_dpp();
    let options = McmcOptions::default().with_burn_in(usize::MAX).with_chains(2);
    for thinning in [Thinning::Sweeps(1), Thinning::Automatic] {
        let chains = dpp.chains(&options.with_thin(thinning), &Engine::cpu()).unwrap();
        let watch = Watch::default().within(Duration::from_secs(4));
        let samples = with_threads(1, || {
            let mut run = chains.start_watched(1, &watch).unwrap();
            assert_eq!(run.extend_watched(8, &watch), None);
            run.into_samples()
        });
        assert!((1..usize::MAX).contains(&samples.burn_in()));
        assert_eq!(samples.subsets().len(), 8);
    }
}

/// A draw that would take ages ends while it is at work.
#[test]
fn a_hopeless_draw_ends() {
    // There are nearly as many items as dimensions: proposals rarely span enough volume, and neither do two halves.
    let items = 78;
    let labels: Vec<usize> = (0..items).map(|i| i / 2).collect();
    let features = Features::from_rows(items, 40, normals(items * 40, 3)).unwrap();
    let partition = Partition::from_labels(&labels).unwrap();
    let quota = Quota::each(&partition, 1).unwrap();
    let dpp = PartitionDpp::new(&features, &partition, &quota).unwrap();
    let sampler = dpp.sampler(Method::Rejection, &Engine::cpu()).unwrap();
    assert!(sampler.acceptance_bound() < 1e-9, "{:e}", sampler.acceptance_bound());
    let watch = Watch::default().until(Instant::now() + Duration::from_millis(200));
    let samples = sampler.sample_watched(0..8, 0, &watch).unwrap();
    assert_eq!((samples.subsets().len(), samples.ended()), (0, Some(Ended::TimeLimit)));
}
