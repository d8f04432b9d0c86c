//! Samplers that own what they draw from.

use std::collections::HashMap;

use partition_dpp::{
    Dpp, Features, IndependentKDpps, KDpp, Method, Partition, PartitionDpp, Quota, Sampler, engine::Cpu,
};

use crate::common::random::normals;

fn is_kept<T: Clone + Send + Sync + 'static>() {}

#[test]
fn samplers_can_be_kept_cloned_and_sent() {
    is_kept::<Sampler<'static>>();
    is_kept::<PartitionDpp>();
    is_kept::<KDpp>();
    is_kept::<Dpp>();
    is_kept::<IndependentKDpps>();
    is_kept::<Quota>();
    is_kept::<Partition>();
}

/// Features, partition, quota and model are gone when the samplers draw.
fn samplers() -> HashMap<&'static str, Sampler<'static>> {
    let features = Features::from_rows(30, 5, normals(150, 4)).unwrap();
    let partition = Partition::from_labels(&(0..30).map(|i| i % 3).collect::<Vec<_>>()).unwrap();
    let exact = Quota::each(&partition, 1).unwrap();
    let ranges = Quota::each(&partition, 0..=2).unwrap();
    let of = |quota: &Quota| PartitionDpp::new(&features, &partition, quota).unwrap();
    HashMap::from([
        ("rejection", of(&exact).sampler(Method::Rejection, &Cpu).unwrap()),
        ("interpolation", of(&exact).sampler(Method::Interpolation, &Cpu).unwrap()),
        ("per candidate", of(&exact).sampler(Method::PerCandidate, &Cpu).unwrap()),
        ("included", of(&exact).including(&[4]).unwrap().sampler(Method::Auto, &Cpu).unwrap()),
        ("ranges", of(&ranges).sampler(Method::Auto, &Cpu).unwrap()),
        ("k-DPP", KDpp::new(&features, 3).unwrap().sampler(Method::Auto, &Cpu).unwrap()),
        ("DPP", Dpp::new(&features).unwrap().sampler(Method::Auto, &Cpu).unwrap()),
        (
            "independent",
            IndependentKDpps::new(&features, &partition, &exact)
                .unwrap()
                .sampler(Method::Auto, &Cpu)
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
