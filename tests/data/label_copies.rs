//! Items with several labels: copies, parts and rows by hand, and the laws over copies against enumeration.

#![allow(clippy::float_cmp, reason = "rows are copied bit by bit")]

use approx::assert_abs_diff_eq;
use oracles::{
    assert_error, conditioned,
    conditions::Condition,
    oracle::{Determinants, Law, marginals},
    random::normals,
    stats::chi_square_p,
};
use partition_dpp::{
    Dpp, Engine, Error, Features, IndependentKDpps, Inference, KDpp, Method, PartitionDpp, Quota,
    SamplerOptions, Subset, data::LabelCopies,
};

const DRAWS: u64 = 10_000;
const DIMS: usize = 4;

/// Seven images as in the paper's second task; one of them shows nothing.
const LABELS: [&[&str]; 7] =
    [&["sky", "sun"], &["tree"], &["tree", "sun", "sky"], &[], &["sun"], &["tree", "sky"], &["sky"]];

/// The item of every copy, by item and then by label, written by hand from LABELS.
const ITEM_OF: [usize; 10] = [0, 0, 1, 2, 2, 2, 4, 5, 5, 6];
const PART_OF: [usize; 10] = [0, 1, 2, 0, 1, 2, 1, 0, 2, 0];

struct Images {
    copies: LabelCopies,
    features: Features,
    oracle: Determinants,
}

fn images() -> Images {
    let rows = normals(LABELS.len() * DIMS, 7);
    let copies = LabelCopies::from_labels(&LABELS).unwrap();
    let items = Features::from_rows(LABELS.len(), DIMS, rows.clone()).unwrap();
    let features = copies.features(&items).unwrap();
    let row = |&item: &usize| rows[item * DIMS..(item + 1) * DIMS].to_vec();
    Images { copies, features, oracle: Determinants::of_features(ITEM_OF.iter().map(row).collect()) }
}

#[test]
fn copies_are_ordered_by_item_then_label() {
    let copies = LabelCopies::from_labels(&LABELS).unwrap();
    let partition = copies.partition();
    assert_eq!((copies.items(), partition.items()), (7, 10));
    assert_eq!(partition.names(), ["sky", "sun", "tree"]);
    for copy in 0..10 {
        assert_eq!((copies.item_of(copy), partition.part_of(copy)), (ITEM_OF[copy], PART_OF[copy]));
    }
    for item in 0..7 {
        let of_item: Vec<usize> = (0..10).filter(|&copy| ITEM_OF[copy] == item).collect();
        assert_eq!(copies.copies_of(item).collect::<Vec<_>>(), of_item);
    }
}

#[test]
fn labels_are_ordered_as_their_type_orders_them() {
    let copies = LabelCopies::from_labels(&[vec![10, 9], vec![2], vec![9]]).unwrap();
    assert_eq!(copies.partition().names(), ["2", "9", "10"]);
    let parts: Vec<usize> = (0..4).map(|copy| copies.partition().part_of(copy)).collect();
    assert_eq!(parts, [1, 2, 0, 1]);
}

#[test]
fn every_copy_has_the_row_of_its_item() {
    let copies = LabelCopies::from_labels(&LABELS).unwrap();
    let wide = normals(LABELS.len() * DIMS, 1);
    #[expect(clippy::cast_possible_truncation, reason = "any f32 will do")]
    let narrow: Vec<f32> = wide.iter().map(|&x| x as f32).collect();
    let wide = Features::from_rows(7, DIMS, wide).unwrap();
    let narrow = Features::from_rows(7, DIMS, narrow).unwrap();
    for (items, precision) in [(wide, "f64"), (narrow, "f32")] {
        let features = copies.features(&items).unwrap();
        assert_eq!(format!("{features:?}"), format!("Features(10×4 {precision})"));
        for (copy, item) in ITEM_OF.into_iter().enumerate() {
            assert_eq!(features.row(copy), items.row(item));
        }
    }
}

#[test]
fn copies_are_mapped_back_to_items() {
    let copies = LabelCopies::from_labels(&LABELS).unwrap();
    let of = |chosen: &[usize]| -> (Vec<usize>, usize) {
        let subset = Subset::new(chosen.to_vec(), 10).unwrap();
        (copies.items_of(&subset), copies.repeats(&subset))
    };
    assert_eq!(of(&[]), (vec![], 0));
    assert_eq!(of(&[9, 1, 2]), (vec![0, 1, 6], 0));
    assert_eq!(of(&[0, 1, 2]), (vec![0, 0, 1], 1));
    assert_eq!(of(&[3, 5, 4, 7, 8]), (vec![2, 2, 2, 5, 5], 3));
}

#[test]
fn the_law_over_copies_is_the_enumerated_one() {
    let Images { copies, features, oracle } = images();
    for quota in [[1, 1, 1], [2, 1, 0], [1, 1, 2]] {
        let (law, log_z) = oracle.partition_dpp(&PART_OF, &quota);
        let quota = Quota::new(copies.partition(), quota).unwrap();
        let dpp = PartitionDpp::new(&features, copies.partition(), &quota).unwrap();
        let inference = dpp.inference(&Engine::cpu()).unwrap();
        let found = inference.log_partition_function();
        assert_abs_diff_eq!(found.value, log_z, epsilon = 1e-12);
        let probabilities = inference.inclusion_probabilities().unwrap().value;
        for (found, exact) in probabilities.iter().zip(marginals(&law, 10)) {
            assert_abs_diff_eq!(*found, exact, epsilon = 1e-12);
        }
    }
}

/// Returns the law of the items: the law of the copies without their labels.
fn of_items(law: &Law) -> Law {
    let mut of_items = Law::new();
    for (set, p) in law {
        let items = set.iter().map(|&copy| ITEM_OF[copy]).collect();
        *of_items.entry(items).or_default() += p;
    }
    of_items
}

/// Checks every set of items, including impossible ones.
fn check_items(law: &Law, inference: &Inference) {
    let copies = LabelCopies::from_labels(&LABELS).unwrap();
    let law = of_items(law);
    for mask in 0_u32..1 << 7 {
        let set: Vec<usize> = (0..7).filter(|item| mask >> item & 1 == 1).collect();
        let exact = law.get(&set).copied().unwrap_or_default();
        let items = Subset::new(set, 7).unwrap();
        let found = inference.log_probability_of_items(&copies, &items).unwrap();
        let gap = (found.value.exp() - exact).abs();
        assert!(gap < 1e-12 && gap <= exact * found.error + 1e-15, "{items}: {found:?} against {exact}");
        assert!(found.error > 0.0 || exact <= 0.0, "{items}: {found:?} claims no error");
    }
    let of_copies = inference.inclusion_probabilities().unwrap();
    let found = copies.inclusion_probabilities(&of_copies);
    for (found, exact) in found.value.iter().zip(marginals(&law, 7)) {
        assert_abs_diff_eq!(*found, exact, epsilon = 1e-12);
    }
    assert_abs_diff_eq!(found.error, 3.0 * of_copies.error, epsilon = 1e-30);
}

#[test]
fn probabilities_of_items_are_those_of_their_copies() {
    let Images { copies, features, oracle } = images();
    // One of the quotas takes all of tree.
    for counts in [[1, 1, 1], [2, 1, 0], [1, 0, 3], [1, 1, 2]] {
        let (law, _) = oracle.partition_dpp(&PART_OF, &counts);
        let quota = Quota::new(copies.partition(), counts).unwrap();
        let dpp = PartitionDpp::new(&features, copies.partition(), &quota).unwrap();
        check_items(&law, &dpp.inference(&Engine::cpu()).unwrap());
    }
    check_items(&oracle.k_dpp(3), &KDpp::new(&features, 3).unwrap().inference(&Engine::cpu()).unwrap());
    check_items(&oracle.dpp(), &Dpp::new(&features).unwrap().inference(&Engine::cpu()).unwrap());
}

#[test]
fn probabilities_of_items_under_conditions() {
    let Images { copies, features, oracle } = images();
    let counts = [1, 1, 2];
    let (law, _) = oracle.partition_dpp(&PART_OF, &counts);
    let quota = Quota::new(copies.partition(), counts).unwrap();
    for condition in [
        Condition::new(&[4], &[]),
        Condition::new(&[], &[3, 4, 5]),
        Condition::new(&[2, 8], &[0]),
        Condition::new(&[5], &[1, 9]),
    ] {
        let dpp = PartitionDpp::new(&features, copies.partition(), &quota).unwrap();
        let dpp = conditioned!(dpp, condition).unwrap();
        check_items(&condition.apply(&law).0, &dpp.inference(&Engine::cpu()).unwrap());
    }
}

#[test]
fn a_partition_dpp_never_draws_an_item_twice() {
    let Images { copies, features, oracle } = images();
    let counts = [1, 1, 2];
    let (law, _) = oracle.partition_dpp(&PART_OF, &counts);
    let quota = Quota::new(copies.partition(), counts).unwrap();
    let dpp = PartitionDpp::new(&features, copies.partition(), &quota).unwrap();
    for method in [Method::Rejection, Method::Interpolation] {
        let samples = dpp.sampler(method, &Engine::cpu()).unwrap().sample_many(DRAWS, 3);
        let repeats: usize = samples.subsets().iter().map(|subset| copies.repeats(subset)).sum();
        assert_eq!(repeats, 0, "{method:?}");
        let p = chi_square_p(samples.subsets().iter().map(Subset::as_slice), &law);
        println!("{method:?}: p = {p:.3}");
        assert!(p > 1e-4, "{method:?}: p = {p}");
    }
}

#[test]
fn a_k_dpp_never_draws_an_item_twice() {
    let Images { copies, features, .. } = images();
    let samples = KDpp::new(&features, 4)
        .unwrap()
        .sampler(SamplerOptions::default(), &Engine::cpu())
        .unwrap()
        .sample_many(DRAWS, 5);
    assert!(samples.subsets().iter().all(|subset| copies.repeats(subset) == 0));
}

#[test]
fn independent_k_dpps_draw_an_item_twice_as_often_as_they_should() {
    let Images { copies, features, oracle } = images();
    let counts = [2, 1, 1];
    let law = oracle.independent(&PART_OF, &counts);
    let repeated = |set: &[usize]| {
        let mut items: Vec<usize> = set.iter().map(|&copy| ITEM_OF[copy]).collect();
        items.dedup();
        items.len() < set.len()
    };
    let exact: f64 = law.iter().filter(|(set, _)| repeated(set)).map(|(_, p)| p).sum();
    let quota = Quota::new(copies.partition(), counts).unwrap();
    let model = IndependentKDpps::new(&features, copies.partition(), &quota).unwrap();
    let samples = model.sampler(SamplerOptions::default(), &Engine::cpu()).unwrap().sample_many(DRAWS, 11);
    let hits = samples.subsets().iter().filter(|subset| copies.repeats(subset) > 0).count();
    let (draws, hits) = (DRAWS as f64, hits as f64);
    let sigmas = (hits - draws * exact) / (draws * exact * (1.0 - exact)).sqrt();
    println!("an item twice: {:.4} of draws, {exact:.4} exactly, {sigmas:+.2} σ", hits / draws);
    assert!(exact > 0.1 && sigmas.abs() < 5.0, "{sigmas} σ");
}

#[test]
fn what_cannot_be_copied_is_refused() {
    assert_error!(
        LabelCopies::from_labels(&[vec!["sky"], vec!["sun", "tree", "sun"]]),
        Error::RepeatedLabel { item: 1, ref label } if label == "sun",
        ["item 1", "sun twice"]
    );
    let nobody: [Vec<u32>; 3] = [vec![], vec![], vec![]];
    assert_error!(LabelCopies::from_labels(&nobody), Error::Empty { .. }, ["labels"]);
    assert_error!(LabelCopies::from_labels(&nobody[..0]), Error::Empty { .. }, ["labels"]);
    let copies = LabelCopies::from_labels(&LABELS).unwrap();
    // One row per copy.
    let features = Features::from_rows(10, 1, vec![1.0; 10]).unwrap();
    assert_error!(copies.features(&features), Error::LabelCount { items: 10, labels: 7 }, ["7", "10"]);
    let dpp = KDpp::new(&features, 1).unwrap();
    let inference = dpp.inference(&Engine::cpu()).unwrap();
    let set = |item| Subset::new(vec![item], 10).unwrap();
    assert_error!(
        inference.log_probability_of_items(&copies, &set(7)),
        Error::ItemOutOfRange { item: 7, items: 7 },
        ["item 7"]
    );
    let fewer = LabelCopies::from_labels(&LABELS[..3]).unwrap();
    assert_error!(
        inference.log_probability_of_items(&fewer, &set(0)),
        Error::LabelCount { items: 10, labels: 6 },
        ["6", "10"]
    );
}
