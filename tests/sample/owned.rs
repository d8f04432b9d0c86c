//! Samplers that own their data.

use std::collections::HashMap;

use oracles::random::normals;
use partition_dpp::{
    Dpp, Engine, Error, Features, ImportanceSampler, IndependentKDpps, Inference, KDpp, Method, Partition,
    PartitionDpp, Quota, Sampler, SamplerOptions, Samples, Subset, Watch, map::Solution, mcmc::Chains,
    similarity::Representation, slates::Slates, stream::StreamSampler,
};

fn is_sent<T: Send + Sync + 'static>() {}

fn is_kept<T: Clone + Send + Sync + 'static>() {}

#[test]
fn handles_can_be_kept_cloned_and_sent() {
    is_kept::<Sampler>();
    is_kept::<PartitionDpp>();
    is_kept::<KDpp>();
    is_kept::<Dpp>();
    is_kept::<IndependentKDpps>();
    is_kept::<Quota>();
    is_kept::<Partition>();
    is_kept::<Features>();
    is_kept::<Engine>();
    is_kept::<Watch>();
    is_sent::<Inference>();
    is_kept::<Slates>();
    is_kept::<Representation>();
    is_kept::<Solution>();
    is_kept::<Samples>();
    is_kept::<Subset>();
    is_kept::<SamplerOptions>();
    is_sent::<ImportanceSampler>();
    is_sent::<Chains>();
    is_sent::<StreamSampler>();
    is_sent::<Error>();
}

/// Makes samplers whose features, partition, quota and model are dropped before they draw.
fn samplers() -> HashMap<&'static str, Sampler> {
    let features = Features::from_rows(30, 5, normals(150, 4)).unwrap();
    let partition = Partition::from_labels(&(0..30).map(|i| i % 3).collect::<Vec<_>>()).unwrap();
    let exact = Quota::each(&partition, 1).unwrap();
    let ranges = Quota::each(&partition, 0..=2).unwrap();
    let of = |quota: &Quota| PartitionDpp::new(&features, &partition, quota).unwrap();
    HashMap::from([
        ("rejection", of(&exact).sampler(Method::Rejection, &Engine::cpu()).unwrap()),
        ("interpolation", of(&exact).sampler(Method::Interpolation, &Engine::cpu()).unwrap()),
        ("per candidate", of(&exact).sampler(Method::PerCandidate, &Engine::cpu()).unwrap()),
        ("included", of(&exact).including(&[4]).unwrap().sampler(Method::Auto, &Engine::cpu()).unwrap()),
        ("ranges", of(&ranges).sampler(Method::Auto, &Engine::cpu()).unwrap()),
        ("k-DPP", KDpp::new(&features, 3).unwrap().sampler(Method::Auto, &Engine::cpu()).unwrap()),
        ("DPP", Dpp::new(&features).unwrap().sampler(Method::Auto, &Engine::cpu()).unwrap()),
        (
            "independent",
            IndependentKDpps::new(&features, &partition, &exact)
                .unwrap()
                .sampler(Method::Auto, &Engine::cpu())
                .unwrap(),
        ),
    ])
}

#[test]
fn clones_draw_the_same_on_other_threads() {
    for (name, sampler) in samplers() {
        let clone = sampler.clone();
        let there = std::thread::spawn(move || clone.sample_many(20, 9)).join().unwrap();
        assert_eq!(there.subsets(), sampler.sample_many(20, 9).subsets(), "{name}");
    }
}

/// The printed text does not grow with the data.
#[test]
fn handles_print_as_a_line() {
    let features = Features::from_rows(2_000, 8, normals(16_000, 3)).unwrap();
    let dpp = KDpp::new(&features, 4).unwrap();
    let sampler = dpp.sampler(Method::Auto, &Engine::cpu()).unwrap();
    let inference = dpp.inference(&Engine::cpu()).unwrap();
    for printed in [format!("{sampler:?}"), format!("{inference:?}"), format!("{features:?}")] {
        assert!(printed.len() < 500, "{printed}");
    }
}
