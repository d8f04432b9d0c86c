//! Weighted draws for problems whose exact probabilities are out of reach, or nearly.

use std::{
    sync::{Arc, atomic::AtomicBool},
    thread::available_parallelism,
};

use oracles::{assert_error, oracle::Determinants, random::normals, watches::stopped_when, with_threads};
use partition_dpp::{
    Engine, Error, Features, Partition, PartitionDpp, Quota, Watch,
    error::EstimateProblem,
    mcmc::McmcOptions,
    sample::EstimateOptions,
    watch::{Ended, Progress, Step},
};

/// Returns the rows, the labels and ln Z of parts in blocks that are orthogonal to each other, rotated to hide this.
///
/// ln Z is the sum over the blocks.
fn hidden_blocks(blocks: usize, parts: usize, dims: usize) -> (Vec<f64>, Vec<usize>, f64) {
    let (wide, mut rows, mut labels, mut log_z) = (blocks * dims, Vec::new(), Vec::new(), 0.0);
    for block in 0..blocks {
        let sizes: Vec<usize> = (0..parts).map(|part| [3, 2, 4, 3, 3][part % 5]).collect();
        let own: Vec<usize> = sizes.iter().enumerate().flat_map(|(l, &size)| vec![l; size]).collect();
        let values = normals(own.len() * dims, 100 + block as u64);
        let short: Vec<Vec<f64>> = values.chunks_exact(dims).map(<[f64]>::to_vec).collect();
        log_z += Determinants::of_features(short.clone()).partition_dpp(&own, &vec![1; parts]).1;
        for (row, label) in short.iter().zip(own) {
            let mut whole = vec![0.0; wide];
            whole[block * dims..(block + 1) * dims].copy_from_slice(row);
            rows.push(whole);
            labels.push(block * parts + label);
        }
    }
    // Two reflections hide the blocks.
    for seed in [1, 2] {
        let normal = normals(wide, seed);
        let square: f64 = normal.iter().map(|x| x * x).sum();
        for row in &mut rows {
            let along: f64 = row.iter().zip(&normal).map(|(x, y)| x * y).sum();
            row.iter_mut().zip(&normal).for_each(|(x, y)| *x -= 2.0 * along / square * y);
        }
    }
    (rows.concat(), labels, log_z)
}

/// Returns a model of one item from each of five parts in every block, and ln Z.
fn one_each(blocks: usize) -> (PartitionDpp, Vec<usize>, f64) {
    let (rows, labels, log_z) = hidden_blocks(blocks, 5, 10);
    let features = Features::from_rows(labels.len(), 10 * blocks, rows).unwrap();
    let partition = Partition::from_labels(&labels).unwrap();
    let quota = Quota::each(&partition, 1).unwrap();
    (PartitionDpp::new(&features, &partition, &quota).unwrap(), labels, log_z)
}

#[test]
fn forty_parts_in_hidden_blocks() {
    assert_hidden_blocks(8, 0.015);
}

/// Enough Gram matrices that traces are estimated.
#[test]
fn many_parts_in_hidden_blocks() {
    assert_hidden_blocks(26, 0.1);
}

fn assert_hidden_blocks(blocks: usize, wanted: f64) {
    let (dpp, labels, log_z) = one_each(blocks);
    let sampler = dpp.importance_sampler(&Engine::cpu()).unwrap();
    let options = EstimateOptions::default().with_standard_error(wanted);
    let found = with_threads(2, || sampler.inference(options, &Watch::default()).unwrap());
    let estimate = found.log_partition_function();
    println!("ln Z {log_z:.4} ≤ {:.2}, estimate {:?}", found.log_upper_bound(), found.statistics());
    assert!(estimate.standard_error <= wanted);
    assert!((estimate.value - log_z).abs() < 3.0 * estimate.standard_error);
    assert!(found.log_upper_bound() >= log_z);
    // Every part contributes one item.
    let inclusion = found.inclusion_probabilities().unwrap().value;
    for part in 0..5 * blocks {
        let sum: f64 =
            labels.iter().zip(&inclusion).filter(|(label, _)| **label == part).map(|(_, p)| p).sum();
        assert!((sum - 1.0).abs() < 1e-9, "part {part}: {sum}");
    }
}

#[test]
fn inclusion_probabilities_of_many_parts() {
    // Exact probabilities take 3⁷ nodes.
    let (items, dims, parts) = (160, 24, 8);
    let features = Features::from_rows(items, dims, normals(items * dims, 5)).unwrap();
    let partition = Partition::from_labels(&(0..items).map(|item| item % parts).collect::<Vec<_>>()).unwrap();
    let dpp = PartitionDpp::new(&features, &partition, &Quota::each(&partition, 2).unwrap()).unwrap();
    let exact = dpp.inference(&Engine::cpu()).unwrap();
    let sampler = dpp.importance_sampler(&Engine::cpu()).unwrap();
    let found = sampler.inference(EstimateOptions::default(), &Watch::default()).unwrap();
    let (log_z, estimate) = (exact.log_partition_function().value, found.log_partition_function());
    assert!((estimate.value - log_z).abs() < 5.0 * estimate.standard_error, "{log_z} {estimate:?}");
    let (p, q) = (exact.inclusion_probabilities().unwrap(), found.inclusion_probabilities().unwrap());
    let scores = p.value.iter().zip(&q.value).zip(&q.standard_error).map(|((p, q), error)| (q - p) / error);
    let scores: Vec<f64> = scores.collect();
    let mean_square = scores.iter().map(|z| z * z).sum::<f64>() / items as f64;
    println!("mean square of standard scores {mean_square:.2}");
    // About 1.15 is expected of errors from 16 batches.
    assert!((0.6..2.0).contains(&mean_square), "{mean_square}");
    assert!(scores.iter().all(|z| z.abs() < 7.0));
}

/// Rows with one entry: a part per vertex on the left of a bipartite graph, and a dimension per vertex on the right.
///
/// Z is the sum over perfect matchings of the products of squares, a permanent.
fn permanent(size: usize, entry: impl Fn(usize, usize) -> f64) -> (Features, Partition, f64) {
    let (mut rows, mut labels) = (Vec::new(), Vec::new());
    for left in 0..size {
        for right in (0..size).filter(|&right| entry(left, right) > 0.0) {
            rows.extend((0..size).map(|vertex| if vertex == right { entry(left, right) } else { 0.0 }));
            labels.push(left);
        }
    }
    // Sum over the matchings of the first vertices on the left with a set on the right.
    let mut sums = vec![0.0; 1 << size];
    sums[0] = 1.0;
    for set in 1_usize..1 << size {
        let left = set.count_ones() as usize - 1;
        let rights = (0..size).filter(|&right| set >> right & 1 == 1);
        sums[set] = rights.map(|right| entry(left, right).powi(2) * sums[set & !(1 << right)]).sum();
    }
    let features = Features::from_rows(labels.len(), size, rows).unwrap();
    (features, Partition::from_labels(&labels).unwrap(), sums[(1 << size) - 1].ln())
}

#[test]
fn permanents() {
    let dense = normals(256, 9);
    let sparse =
        |left: usize, right: usize| (left * 7 + right * right * 3 + left * right) % 10 < 4 || left == right;
    let of_spread = |spread: f64| {
        let dense = &dense;
        move |left: usize, right: usize| (spread * dense[16 * left + right]).exp()
    };
    let cases = [
        permanent(10, |left, right| f64::from(u8::from(sparse(left, right)))),
        permanent(12, of_spread(0.5)),
        permanent(12, of_spread(1.0)),
        permanent(12, of_spread(4.0)),
    ];
    for (number, (features, partition, exact)) in cases.into_iter().enumerate() {
        let dpp = PartitionDpp::new(&features, &partition, &Quota::each(&partition, 1).unwrap()).unwrap();
        let sampler = dpp.importance_sampler(&Engine::cpu()).unwrap();
        let found = sampler.inference(EstimateOptions::default(), &Watch::default()).unwrap();
        let estimate = found.log_partition_function();
        println!("ln Z {exact:.4}, estimate {:?}", found.statistics());
        assert!((estimate.value - exact).abs() < 4.0 * estimate.standard_error, "{number}");
        let drawn = sampler.sample_many(2000, 1);
        assert!(number > 0 || (drawn.subsets().len() as u64) < drawn.draws(), "no dead ends");
    }
}

#[test]
fn heavy_weights_are_refused() {
    // Like a permanent, with entries around e⁸.
    let (size, mut rows, mut labels) = (48, Vec::new(), Vec::new());
    for (edge, log) in normals(size * size, 9).iter().enumerate() {
        rows.extend((0..size).map(|vertex| if vertex == edge % size { log.exp() } else { 0.0 }));
        labels.push(edge / size);
    }
    let features = Features::from_rows(labels.len(), size, rows).unwrap();
    let partition = Partition::from_labels(&labels).unwrap();
    let dpp = PartitionDpp::new(&features, &partition, &Quota::each(&partition, 1).unwrap()).unwrap();
    match dpp.importance_sampler(&Engine::cpu()).unwrap().sampler(1e-3) {
        Err(Error::Estimate(EstimateProblem::HeavyWeights { pareto_k, .. })) => {
            assert!(pareto_k > 0.7, "{pareto_k}");
        }
        other => panic!("k̂ {:?}", other.map(|sampler| sampler.pilot().unwrap().pareto_k)),
    }
}

#[test]
fn threads_and_instalments_do_not_matter() {
    let features = Features::from_rows(40, 8, normals(320, 3)).unwrap();
    let partition = Partition::from_labels(&(0..40).map(|item| item % 4).collect::<Vec<_>>()).unwrap();
    let dpp = PartitionDpp::new(&features, &partition, &Quota::each(&partition, 2).unwrap()).unwrap();
    let sampler = dpp.importance_sampler(&Engine::cpu()).unwrap();
    let whole = with_threads(2, || sampler.sample_many(100, 5));
    let mut parts = with_threads(1, || sampler.sample_many(37, 5));
    parts.extend(sampler.sample_watched(37..100, 5, &Watch::default()));
    assert_eq!((whole.subsets(), whole.log_weights()), (parts.subsets(), parts.log_weights()));
    let found = |threads| {
        let found = || sampler.inference(EstimateOptions::default().with_seed(1), &Watch::default()).unwrap();
        with_threads(threads, || {
            (found().log_partition_function(), found().inclusion_probabilities().unwrap())
        })
    };
    assert_eq!(found(1), found(2));
    let plain = sampler.sampler(1e-2).unwrap();
    assert_eq!(
        with_threads(1, || plain.sample_many(50, 2)).subsets(),
        with_threads(2, || plain.sample_many(50, 2)).subsets()
    );
}

#[test]
fn threads_do_not_matter_with_estimated_traces() {
    let dpp = one_each(26).0;
    let drawn = |threads| {
        with_threads(threads, || {
            let sampler = dpp.importance_sampler(&Engine::cpu()).unwrap();
            let weighted = sampler.sample_many(20, 5);
            let plain = sampler.sampler(0.1).unwrap().sample_many(10, 2);
            (weighted.subsets().to_vec(), weighted.log_weights().to_vec(), plain.subsets().to_vec())
        })
    };
    assert_eq!(drawn(1), drawn(3));
}

/// Four parts, of two items each.
fn small() -> PartitionDpp {
    let features = Features::from_rows(40, 8, normals(320, 3)).unwrap();
    let partition = Partition::from_labels(&(0..40).map(|item| item % 4).collect::<Vec<_>>()).unwrap();
    PartitionDpp::new(&features, &partition, &Quota::each(&partition, 2).unwrap()).unwrap()
}

/// Runs work that its watch stops after `last` reports of a step; returns the number of reports.
fn stopped_after(last: u64, step: Step, work: impl FnOnce(Watch)) -> u64 {
    let count =
        move |reports: &[Progress]| reports.iter().filter(|report| report.step == step).count() as u64;
    let (watch, reports) = stopped_when(move |reports| count(reports) >= last);
    work(watch);
    let reports = reports.lock().unwrap();
    let is_foretold = |report: &Progress| report.total.is_some_and(|total| report.steps <= total);
    assert!(reports.iter().filter(|report| report.step == Step::Pilot).all(is_foretold));
    count(&reports)
}

/// Every weighted draw of a set-up is reported, and none begins after the watch has ended the set-up.
#[test]
fn set_up_of_estimates_is_watched() {
    let threads = available_parallelism().map_or(1, std::num::NonZero::get) as u64;
    let (dpp, draws) = (small(), 64 + 2048);
    let all = stopped_after(u64::MAX, Step::Pilot, |watch| {
        let engine = Engine::cpu().watched(&watch);
        let sampler = dpp.importance_sampler(&engine).unwrap().sampler(1e-2).unwrap();
        let plain = dpp.importance_sampler(&Engine::cpu()).unwrap().sampler(1e-2).unwrap();
        assert_eq!(sampler.sample_many(20, 1).subsets(), plain.sample_many(20, 1).subsets());
    });
    assert_eq!(all, draws);
    for last in [1, 50, 70, 1500] {
        let seen = stopped_after(last, Step::Pilot, |watch| {
            let engine = Engine::cpu().watched(&watch);
            let outcome = dpp.importance_sampler(&engine).and_then(|sampler| sampler.sampler(1e-2).map(drop));
            assert_error!(outcome, Error::Ended(Ended::Interrupted), ["interrupted"]);
        });
        assert!((last..=last + threads).contains(&seen), "{seen} draws for {last}");
    }
    let seen = stopped_after(5, Step::Pilot, |watch| {
        let engine = Engine::cpu().watched(&watch);
        let outcome = dpp.chains(&McmcOptions::default(), &engine).map(drop);
        assert_error!(outcome, Error::Ended(Ended::Interrupted), ["interrupted"]);
    });
    assert!((5..=5 + threads).contains(&seen), "{seen} draws of chains");
    // Spectra of bounds come before weights of draws.
    let seen = stopped_after(1, Step::Search, |watch| {
        let engine = Engine::cpu().watched(&watch);
        assert_error!(
            dpp.importance_sampler(&engine).map(drop),
            Error::Ended(Ended::Interrupted),
            ["interrupted"]
        );
    });
    assert!(seen <= threads.max(4), "{seen} spectra");
    assert!(dpp.operations_of_estimates() > draws as f64);
}

#[test]
fn draws_of_estimates_are_watched() {
    let threads = available_parallelism().map_or(1, std::num::NonZero::get) as u64;
    let dpp = small();
    let sampler = dpp.importance_sampler(&Engine::cpu()).unwrap();
    let options = EstimateOptions::default().with_standard_error(1e-9).with_most_draws(2000);
    let all = stopped_after(u64::MAX, Step::Draw, |watch| {
        assert_eq!(sampler.inference(options, &watch).unwrap().statistics().draws, 2000);
    });
    assert_eq!(all, 2000);
    let seen = stopped_after(100, Step::Draw, |watch| {
        let found = sampler.inference(options, &watch).unwrap();
        assert_eq!(found.ended(), Some(Ended::Interrupted));
        assert!((100..=100 + threads).contains(&found.statistics().draws));
    });
    assert!((100..=100 + threads).contains(&seen), "{seen} draws");
    let stop = Arc::new(AtomicBool::new(true));
    let none = sampler.sample_watched(0..u64::MAX, 1, &Watch::default().stopped_by(&stop));
    assert_eq!((none.subsets().len(), none.ended()), (0, Some(Ended::Interrupted)));
}
