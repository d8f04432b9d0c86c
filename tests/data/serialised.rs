//! Options and results through JSON.

use std::fmt::Debug;

use partition_dpp::{
    Engine, Features, KDpp, Method, Projection, SamplerOptions, Subset,
    map::{BranchAndBound, Certificate, Coverage, LocalSearch, Restarts, Solution, Solver, UpperBound},
    mcmc::{McmcOptions, OtherSetMoves, Thinning},
    sample::{Bound, EstimateOptions, Samples},
    similarity::{Bandwidth, Rbf},
};
use proptest::prelude::*;
use serde_json::{from_str, from_value, json, to_string, to_value};

/// Returns a value as it is after a detour through JSON.
fn again<T: serde::Serialize + serde::de::DeserializeOwned>(value: &T) -> T {
    from_str(&to_string(value).unwrap()).unwrap()
}

fn methods() -> impl Strategy<Value = Method> {
    prop::sample::select(vec![Method::Auto, Method::Rejection, Method::Interpolation, Method::PerCandidate])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]

    #[test]
    fn options_survive_json(
        (method, bound) in (methods(), prop::sample::select(Bound::ALL.to_vec())),
        (budget, error) in (1.0..1e9, 1e-12..1e-3),
        (counts, seed, restarts) in ((0..9_usize, 1..9_usize), 0..u64::MAX, 0..9_u64),
    ) {
        let sampler = SamplerOptions::default().with_method(method).with_bound(bound);
        let sampler = sampler.with_projection(Projection::Leverage).with_proposal_budget(budget).with_law_error(error);
        prop_assert_eq!(again(&sampler), sampler);
        let chains = McmcOptions::default().with_burn_in(counts.0).with_chains(counts.1).with_blocks(counts.0);
        let chains = chains.with_thin(Thinning::Sweeps(counts.1)).with_other_sets(OtherSetMoves::Every(counts.1));
        prop_assert_eq!(again(&chains), chains);
        let estimates = EstimateOptions::default().with_standard_error(error).with_seed(seed);
        prop_assert_eq!(again(&estimates), estimates);
        let search = LocalSearch::default().with_epsilon(error).with_seed(seed).with_restarts(Restarts::Count(restarts));
        prop_assert_eq!(again(&search), search);
        let exact = BranchAndBound::default().with_tolerance(error).unwrap();
        prop_assert_eq!(again(&exact), exact);
        let rbf = Rbf::new(Bandwidth::Exactly(budget)).with_landmarks(counts.1).with_seed(seed);
        prop_assert_eq!(again(&rbf), rbf);
    }
}

#[test]
fn options_of_a_file_may_name_some_fields() {
    let options: SamplerOptions = from_value(json!({"method": "interpolation"})).unwrap();
    assert_eq!(options, Method::Interpolation.into());
    assert_eq!(from_value::<LocalSearch>(json!({})).unwrap(), LocalSearch::default());
    let coverage: Coverage = from_value(json!({"swaps": true})).unwrap();
    assert_eq!(format!("{coverage:?}"), format!("{:?}", Coverage::of_all().with_swaps()));
    let refused = |error: serde_json::Error| error.to_string();
    let error = refused(from_value::<SamplerOptions>(json!({"methd": "auto"})).unwrap_err());
    assert!(error.contains("methd") && error.contains("proposal_budget"), "{error}");
    let error = refused(from_value::<BranchAndBound>(json!({"tolerance": -1.0})).unwrap_err());
    assert!(error.contains("tolerance"), "{error}");
}

#[test]
fn results_are_read_again() {
    let features = Features::from_rows(3, 2, vec![[2.0, 0.0], [0.0, 1.0], [0.0, 0.5]]).unwrap();
    let (model, engine) = (KDpp::new(&features, 2).unwrap(), Engine::cpu());
    let solution = BranchAndBound::default().solve(&model, &engine).unwrap();
    assert_eq!(again(&solution), solution);
    let certificate: Certificate = UpperBound::default().certify(&model, &engine).unwrap();
    assert_eq!(again(&certificate), certificate);
    let samples = model.sampler(Method::Auto, &engine).unwrap().sample_many(3, 1);
    let read: Samples = again(&samples);
    assert_eq!(read.subsets(), samples.subsets());
    // Numbers that JSON lacks.
    let mut dependent: Solution = solution;
    dependent.log_det = f64::NEG_INFINITY;
    assert!(to_value(&dependent).unwrap()["log_det"].is_null());
    assert!(again(&dependent).log_det.is_nan());
}

#[test]
fn causes_are_named_once() {
    fn causes(error: &dyn std::error::Error) -> Vec<String> {
        let Some(cause) = error.source() else { return Vec::new() };
        [vec![cause.to_string()], causes(cause)].concat()
    }
    let missing = Features::open_npy("missing.npy").unwrap_err();
    let others =
        [Features::from_rows(0, 1, Vec::<f32>::new()).unwrap_err(), Subset::new(vec![1, 1], 2).unwrap_err()];
    for error in others.iter().chain([&missing]) {
        let text = error.to_string();
        assert!(causes(error).iter().all(|cause| !text.contains(cause)), "{text}");
    }
}

#[test]
fn texts_of_options_are_those_of_json() {
    fn same<T: serde::Serialize + ToString + Debug>(option: &T) {
        assert_eq!(to_value(option).unwrap(), json!(option.to_string()), "{option:?}");
    }
    same(&Method::PerCandidate);
    Bound::ALL.iter().for_each(same);
}
