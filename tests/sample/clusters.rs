//! Unit rows in clusters, one part per cluster: many vectors of counts are likely, none is very likely.

use oracles::{assert_error, random::normals};
use partition_dpp::{
    Engine, Error, Features, KDpp, Method, Partition, PartitionDpp, Quota, SamplerOptions,
    sample::{Bound, DEFAULT_LAW_ERROR},
};

const CLUSTERS: usize = 8;
const DIMS: usize = 64;

/// Returns a model of up to four items from each of eight clusters, twelve in total.
fn clustered(items: usize, noise: f64) -> PartitionDpp {
    let (centres, noises) = (normals(CLUSTERS * DIMS, 1), normals(items * DIMS, 2));
    let row = |item: usize| {
        let centre = &centres[item % CLUSTERS * DIMS..][..DIMS];
        let length = centre.iter().map(|x| x * x).sum::<f64>().sqrt();
        let own = noises[item * DIMS..][..DIMS].iter();
        centre.iter().zip(own).map(move |(x, z)| x / length + noise * z)
    };
    let rows: Vec<f64> = (0..items).flat_map(row).collect();
    let features = Features::from_rows(items, DIMS, rows).unwrap().with_unit_rows().unwrap();
    let partition =
        Partition::from_labels(&(0..items).map(|item| item % CLUSTERS).collect::<Vec<_>>()).unwrap();
    let quota = Quota::new(&partition, vec![..=4; CLUSTERS]).unwrap().with_total(12).unwrap();
    PartitionDpp::new(&features, &partition, &quota).unwrap()
}

/// The guarantee allows thousands of times more proposals than a draw takes. Predictions, budgets and the error of
/// the law
/// do not depend on it.
#[test]
fn a_pilot_predicts_proposals_under_ranges() {
    let dpp = clustered(2000, 0.05);
    let tilted = SamplerOptions::default().with_bound(Bound::Tilted);
    let sampler = dpp.sampler(tilted, &Engine::cpu()).unwrap();
    let samples = sampler.sample_many(2000, 1);
    let observed = samples.proposals() as f64 / 2000.0;
    let (predicted, guaranteed) = (sampler.predicted_proposals(), sampler.acceptance_bound().recip());
    println!("{observed} proposals a draw, {predicted} predicted, at most {guaranteed} guaranteed");
    assert!(guaranteed > 1000.0 && observed < 2.0, "{guaranteed} {observed}");
    assert!((0.8 * observed..1.25 * observed).contains(&predicted), "{predicted} {observed}");
    assert_eq!(sampler.bounds()[0].proposals.to_bits(), predicted.to_bits());
    // Rounding changes the law only in proportion to the accepted share, so no more accurate coordinates are needed.
    assert!(sampler.law_error() < 1e-11, "{:e}", sampler.law_error());
    // The budget lies between the prediction and four times the prediction.
    let within = dpp.sampler(tilted.with_proposal_budget(2.0), &Engine::cpu()).unwrap();
    assert_eq!(within.sample_many(50, 1).subsets(), sampler.sample_many(50, 1).subsets());
    let refused = dpp.sampler(tilted.with_proposal_budget(1.0), &Engine::cpu()).map(|_| ());
    assert_error!(refused, Error::RangeProposalBudget { budget: 1.0, .. }, ["1.00e0"]);
}

/// If a pilot accepts almost nothing, weighted draws predict the proposals.
#[test]
fn weighted_draws_predict_where_a_pilot_sees_too_little() {
    let features = Features::from_rows(60, 24, normals(60 * 24, 3)).unwrap();
    let partition = Partition::from_labels(&(0..60).map(|i| i % 10).collect::<Vec<_>>()).unwrap();
    let quota = Quota::new(&partition, vec![0..=1; 10]).unwrap().with_total(9).unwrap();
    let dpp = PartitionDpp::new(&features, &partition, &quota).unwrap();
    let sampler = dpp.sampler(SamplerOptions::default().with_bound(Bound::Tilted), &Engine::cpu()).unwrap();
    let samples = sampler.sample_many(200, 1);
    let (predicted, observed) = (sampler.predicted_proposals(), samples.proposals() as f64 / 200.0);
    println!("{predicted} predicted, {observed} observed, {} guaranteed", sampler.acceptance_bound().recip());
    assert!(observed > 20.0, "a pilot would see enough: {observed}");
    assert!((0.5 * observed..2.0 * observed).contains(&predicted), "{predicted} {observed}");
    assert!(predicted <= sampler.acceptance_bound().recip());
}

/// The set-up ends as soon as the law error is good enough.
#[test]
fn no_better_law_than_asked_for() {
    let mut rows = normals(30 * 3, 4);
    rows.chunks_exact_mut(3).for_each(|row| row[2] = row[0] - row[1] + 1e-7 * row[2]);
    let features = Features::from_rows(30, 3, rows).unwrap();
    let dpp = KDpp::new(&features, 3).unwrap();
    let error = |options: SamplerOptions| dpp.sampler(options, &Engine::cpu()).unwrap().law_error();
    let (exact, rough) = (error(Method::Auto.into()), error(SamplerOptions::default().with_law_error(1e-6)));
    assert!(exact < DEFAULT_LAW_ERROR && DEFAULT_LAW_ERROR < rough && rough < 1e-6, "{exact:e} {rough:e}");
}
