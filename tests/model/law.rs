//! A law chosen at run time is the model that it stands for.

use oracles::random::normals;
use partition_dpp::{
    Dpp, Engine, Error, Features, IndependentKDpps, KDpp, Law, Method, Partition, PartitionDpp, Quota,
    RidgeDpp, Sampler, SamplerOptions, Sets, Subset, data::LabelCopies, error::ErrorKind,
};

fn features() -> (Features, Partition, Quota) {
    let partition = Partition::from_labels(&(0..12).map(|i| i % 3).collect::<Vec<_>>()).unwrap();
    let quota = Quota::new(&partition, [2, 1, 1]).unwrap();
    (Features::from_rows(12, 5, normals(60, 4)).unwrap(), partition, quota)
}

fn same(name: &str, law: &Law, sampler: &Sampler) {
    let law = law.clone().including(&[3]).unwrap().excluding(&[4]).unwrap();
    let drawn = law.sampler(Method::Auto, &Engine::cpu()).unwrap().sample_many(20, 7);
    assert_eq!(drawn.subsets(), sampler.sample_many(20, 7).subsets(), "{name}");
    assert!(law.memory_plan(SamplerOptions::default()).unwrap().total() > 0);
}

#[test]
fn laws_draw_what_their_models_draw() {
    let (features, partition, quota) = features();
    let (engine, by_quota) = (Engine::cpu(), Sets::Quota(partition.clone(), quota.clone()));
    let of = |sets: &Sets| Law::new(&features, sets, None).unwrap();
    macro_rules! sampler {
        ($model:expr) => {
            $model.unwrap().including(&[3]).unwrap().excluding(&[4]).unwrap()
        };
    }
    let auto = Method::Auto;
    same("any size", &of(&Sets::OfAnySize), &sampler!(Dpp::new(&features)).sampler(auto, &engine).unwrap());
    same("size", &of(&Sets::OfSize(4)), &sampler!(KDpp::new(&features, 4)).sampler(auto, &engine).unwrap());
    let model = sampler!(PartitionDpp::new(&features, &partition, &quota));
    same("quota", &of(&by_quota), &model.sampler(auto, &engine).unwrap());
    let model = sampler!(IndependentKDpps::new(&features, &partition, &quota));
    let law = Law::independent(&features, &by_quota, None).unwrap();
    same("independent", &law, &model.sampler(auto, &engine).unwrap());
    let model = sampler!(RidgeDpp::new(&features, 0.5, &partition, &quota));
    let law = Law::new(&features, &by_quota, Some(0.5)).unwrap();
    same("ridge", &law, &model.sampler(auto, &engine).unwrap());
    let law = Law::independent(&features, &by_quota, Some(0.5)).unwrap();
    same("independent ridge", &law, &model.independent_sampler(auto, &engine).unwrap());
}

#[test]
fn questions_that_a_law_does_not_answer() {
    let (features, partition, quota) = features();
    let sets = Sets::Quota(partition.clone(), quota.clone());
    let refused = |error: Error, sentence: &str| {
        assert_eq!((error.to_string().as_str(), error.kind()), (sentence, ErrorKind::Input));
    };
    let independent = Law::independent(&features, &sets, None).unwrap();
    refused(
        independent.inference(&Engine::cpu()).unwrap_err(),
        "there is no inference for parts by themselves",
    );
    refused(
        independent.with_scores(&[0.0; 12], 0.5).unwrap_err(),
        "without a ridge, the rows have the scores: give them to the features",
    );
    let copies = LabelCopies::from_labels(&[vec!["a", "b"], vec!["b"]]).unwrap();
    let rows = copies.features(&Features::from_rows(2, 2, vec![1.0, 0.0, 0.0, 1.0]).unwrap()).unwrap();
    let law = RidgeDpp::of_any_size(&rows, 0.1).unwrap().inference(&Engine::cpu()).unwrap();
    let set = Subset::new(vec![0], 2).unwrap();
    refused(
        law.log_probability_of_items(&copies, &set).unwrap_err(),
        "with a ridge, a set has no probability whose labels are left open",
    );
}

/// ln det of a set, with a ridge and scores, is that of the rows with both.
#[test]
fn log_det_with_a_ridge() {
    let (features, partition, quota) = features();
    let scores = normals(12, 9);
    let dpp = RidgeDpp::new(&features, 0.3, &partition, &quota).unwrap().with_scores(&scores, 0.4).unwrap();
    let rows = features.with_ridge(0.3).unwrap().with_scores(&scores, 0.4).unwrap();
    let set = Subset::new(vec![0, 1, 5, 7, 11, 2, 4], 12).unwrap();
    let (found, expected) = (dpp.log_det(&set).unwrap(), rows.log_det(&set).unwrap());
    assert!((found.value - expected.value).abs() < 1e-12, "{found:?} {expected:?}");
    assert!(dpp.log_det(&Subset::new(vec![12], 13).unwrap()).is_err());
}
