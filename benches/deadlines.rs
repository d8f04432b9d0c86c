//! How long after its time limit long work returns, and the cost of clusters; `cargo bench --bench deadlines`.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "benches panic and report")]

mod common;

use std::time::Duration;

use common::{gaussian, of_parts, ratio_of_pairs, rows, timed};
use partition_dpp::{
    Dpp, Engine, Features, KDpp, Method, Partition, PartitionDpp, Quota, SamplerOptions, Watch,
    map::{BranchAndBound, LocalSearch, Restarts, Softmax, Solver, UpperBound},
    sample::{Bound, EstimateOptions},
    similarity::{Bandwidth, Rbf},
    slates::{SlateRequest, Slates},
};

const CLUSTERS: usize = 8;
const DIMS: usize = 64;

/// Returns unit rows around eight centres.
fn clusters(items: usize, noise: f64) -> Features {
    let centres = gaussian(CLUSTERS, DIMS);
    let mut values = gaussian(items, DIMS);
    for (item, row) in values.chunks_exact_mut(DIMS).enumerate() {
        let centre = &centres[item % CLUSTERS * DIMS..][..DIMS];
        let length = centre.iter().map(|x| x * x).sum::<f64>().sqrt();
        row.iter_mut().zip(centre).for_each(|(x, centre)| *x = noise * *x + centre / length);
    }
    rows(values, DIMS).with_unit_rows().unwrap()
}

/// Adds a quota of up to four items per cluster and twelve in total.
fn under_quota(features: Features) -> (Features, Partition, Quota) {
    let (features, partition) = of_parts(features, CLUSTERS);
    let quota = Quota::new(&partition, vec![..=4; CLUSTERS]).unwrap().with_total(12).unwrap();
    (features, partition, quota)
}

fn dpp(features: Features) -> PartitionDpp {
    let (features, partition, quota) = under_quota(features);
    PartitionDpp::new(&features, &partition, &quota).unwrap()
}

/// Prints how long `work` takes under a watch with this time limit, in the worst of three runs.
fn late<A>(what: &str, limit: Duration, work: impl Fn(&Watch) -> A) {
    let run = |_| timed(|| drop(work(&Watch::default().within(limit)))).1;
    let worst = (0..3).map(run).fold(0.0, f64::max);
    let limit = limit.as_secs_f64();
    println!(
        "{what:46} {:5.0} ms after {:3.0} ms: {:.2} (wanted: ≤ 2)",
        1e3 * worst,
        1e3 * limit,
        worst / limit
    );
}

fn main() {
    for items in [300, 1_000, 3_000, 8_000, 20_000] {
        let spread = dpp(clusters(items, 0.2));
        for noise in [0.05, 0.1] {
            let tight = dpp(clusters(items, noise));
            let set_up =
                |dpp: &PartitionDpp| dpp.sampler(Method::Auto, &Engine::cpu()).unwrap().sample_many(20, 1);
            let what = format!("{items} items in clusters, noise {noise} over 0.2");
            ratio_of_pairs(5, &what, "≤ 10", || set_up(&tight), || set_up(&spread));
        }
    }
    models(Duration::from_millis(200));
    slates(Duration::from_millis(20));
}

fn models(limit: Duration) {
    let many = clusters(400_000, 0.05);
    let model = dpp(many.clone());
    let under = |watch: &Watch| Engine::cpu().watched(watch);
    for bound in [Bound::Auto, Bound::Tilted, Bound::Sequential] {
        let options = SamplerOptions::default().with_bound(bound);
        late(&format!("set-up, 400 000 × 64, {bound:?}"), limit, |watch| {
            model.sampler(options, &under(watch)).is_ok()
        });
    }
    late("set-up of estimates, 400 000 × 64", limit, |watch| {
        model.importance_sampler(&under(watch)).is_ok()
    });
    late("inference, 400 000 × 64", limit, |watch| {
        model.inference(&under(watch)).and_then(|inference| inference.inclusion_probabilities()).is_ok()
    });
    late("landmarks, 400 000 × 64", limit, |watch| {
        let rbf = Rbf::new(Bandwidth::Median).with_landmarks(512);
        rbf.features(&many, &under(watch)).is_ok()
    });
    let few = dpp(clusters(3_000, 0.05));
    let sampler = few.sampler(Method::Auto, &Engine::cpu()).unwrap();
    late("draws, 3 000 × 64", limit, |watch| sampler.sample_watched(0..1 << 40, 1, watch).unwrap());
    let estimated = few.importance_sampler(&Engine::cpu()).unwrap();
    let fine = EstimateOptions::default().with_standard_error(1e-9).with_most_draws(1 << 40);
    late("estimates, 3 000 × 64", limit, |watch| estimated.inference(fine, watch).is_ok());
    let size = KDpp::new(&rows(gaussian(300, DIMS), DIMS), 30).unwrap();
    late("branch and bound, 300 × 64", limit, |watch| {
        BranchAndBound::default().solve(&size, &under(watch)).unwrap()
    });
    late("upper bound, 300 × 64", limit, |watch| {
        UpperBound::default().certify(&size, &under(watch)).unwrap()
    });
    late("upper bound, 400 000 × 64", limit, |watch| {
        UpperBound::default().certify(&model, &under(watch)).unwrap()
    });
    let restarting = LocalSearch::default().with_restarts(Restarts::UntilTimeLimit);
    late("local search, 400 000 × 64", limit, |watch| restarting.solve(&model, &under(watch)).unwrap());
    let any = Dpp::new(&many).unwrap();
    late("softmax, 400 000 × 64", limit, |watch| Softmax::default().solve(&any, &under(watch)).unwrap());
}

/// Measures slates of twelve of two hundred clustered candidates, for many requests.
fn slates(limit: Duration) {
    let (features, partition, quota) = under_quota(clusters(20_000, 0.05));
    let slates = Slates::new(&features, &partition, &quota).unwrap();
    let candidates: Vec<Vec<u32>> = (0..20_000_u32)
        .map(|request| (0..200).map(|at| (request * 37 + at * 97) % 20_000).collect())
        .collect();
    let requests: Vec<SlateRequest<'_>> = candidates.iter().map(|items| SlateRequest::of(items)).collect();
    late("greedy slates", limit, |watch| slates.solve_watched(&requests, watch));
    late("samples of slates", limit, |watch| slates.sample_watched(&requests, 1, 1, watch));
}
