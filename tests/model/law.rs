//! A law chosen at run time behaves like the model that it stands for.

use oracles::random::normals;
use partition_dpp::{
    Dpp, Engine, Error, Features, IndependentKDpps, KDpp, Law, Method, Partition, PartitionDpp, Quota,
    RidgeDpp, SamplerOptions, Sets, Subset, data::LabelCopies, error::ErrorKind,
};

fn features() -> (Features, Partition, Quota) {
    let partition = Partition::from_labels(&(0..12).map(|i| i % 3).collect::<Vec<_>>()).unwrap();
    let quota = Quota::new(&partition, [2, 1, 1]).unwrap();
    (Features::from_rows(12, 5, normals(60, 4)).unwrap(), partition, quota)
}

/// Compares the draws of every law with its model.
#[test]
fn laws_draw_what_their_models_draw() {
    let (features, partition, quota) = features();
    let (engine, auto, by_quota) =
        (Engine::cpu(), Method::Auto, Sets::Quota(partition.clone(), quota.clone()));
    macro_rules! sampler {
        ($model:expr, $sampler:ident) => {
            $model.unwrap().including(&[3]).unwrap().excluding(&[4]).unwrap().$sampler(auto, &engine).unwrap()
        };
    }
    let of = |sets: &Sets, ridge| Law::new(&features, sets, ridge).unwrap();
    let by_part = |ridge| Law::independent(&features, &by_quota, ridge).unwrap();
    let ridge = || RidgeDpp::new(&features, 0.5, &partition, &quota);
    let pairs = [
        (of(&Sets::OfAnySize, None), sampler!(Dpp::new(&features), sampler)),
        (of(&Sets::OfSize(4), None), sampler!(KDpp::new(&features, 4), sampler)),
        (of(&by_quota, None), sampler!(PartitionDpp::new(&features, &partition, &quota), sampler)),
        (by_part(None), sampler!(IndependentKDpps::new(&features, &partition, &quota), sampler)),
        (of(&by_quota, Some(0.5)), sampler!(ridge(), sampler)),
        (by_part(Some(0.5)), sampler!(ridge(), independent_sampler)),
    ];
    for (at, (law, _)) in pairs.iter().enumerate() {
        let law = law.clone().including(&[3]).unwrap().excluding(&[4]).unwrap();
        assert!(law.memory_plan(SamplerOptions::default()).unwrap().total() > 0);
        let drawn = law.sampler(auto, &engine).unwrap().sample_many(20, 7);
        for (model, (_, sampler)) in pairs.iter().enumerate() {
            // The draws of other models differ, so a law of the wrong model is noticed.
            let is_same = drawn.subsets() == sampler.sample_many(20, 7).subsets();
            assert_eq!(is_same, at == model, "law {at}, model {model}");
        }
    }
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

/// ln det of a set, with a ridge and scores, equals ln det of the rows with both.
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
