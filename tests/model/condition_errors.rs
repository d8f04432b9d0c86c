//! Every rule of conditions, picks and parts broken once: the variant, its fields and its message.

use oracles::assert_error;
use partition_dpp::{
    Dpp, Engine, Error, Features, IndependentKDpps, KDpp, Method, Partition, PartitionDpp, Quota,
};

/// Parts "a" (items 0, 1, 2) and "b" (items 3, 4, 5); rows 0 and 1 are parallel, row 5 is zero.
fn six_items() -> (Features, Partition) {
    let rows = [
        [1.0, 2.0, 0.0, 0.0],
        [-2.0, -4.0, 0.0, 0.0],
        [0.0, 1.0, 1.0, 0.0],
        [0.0, 0.0, 1.0, 3.0],
        [1.0, 0.0, 0.0, 1.0],
        [0.0; 4],
    ];
    let features = Features::from_rows(6, 4, rows.concat()).unwrap();
    (features, Partition::from_labels(&["a", "a", "a", "b", "b", "b"]).unwrap())
}

#[test]
fn an_item_cannot_be_both_in_and_out() {
    let (features, partition) = six_items();
    let quota = Quota::new(&partition, [1, 1]).unwrap();
    let texts = ["item 3", "both included and excluded"];
    let (dpp, k_dpp) = (Dpp::new(&features).unwrap(), KDpp::new(&features, 2).unwrap());
    let joint = PartitionDpp::new(&features, &partition, &quota).unwrap();
    let apart = IndependentKDpps::new(&features, &partition, &quota).unwrap();
    macro_rules! refused {
        ($model:expr) => {
            let included = $model.clone().including(&[3]).unwrap();
            assert_error!(
                included.excluding(&[0, 3]),
                Error::IncludedAndExcluded { item: 3 },
                [texts[0], texts[1]]
            );
            let excluded = $model.excluding(&[3, 0]).unwrap();
            assert_error!(
                excluded.including(&[3]),
                Error::IncludedAndExcluded { item: 3 },
                [texts[0], texts[1]]
            );
        };
    }
    refused!(dpp);
    refused!(k_dpp);
    refused!(joint);
    refused!(apart);
}

#[test]
fn items_to_include_exist_once() {
    let (features, _) = six_items();
    let k_dpp = KDpp::new(&features, 2).unwrap();
    let outside = Error::ItemOutOfRange { item: 6, items: 6 }.to_string();
    assert_error!(k_dpp.clone().including(&[6]), Error::ItemOutOfRange { item: 6, items: 6 }, [&*outside]);
    assert_error!(k_dpp.clone().excluding(&[6]), Error::ItemOutOfRange { item: 6, items: 6 }, ["item 6"]);
    assert_error!(k_dpp.clone().including(&[2, 2]), Error::RepeatedItem { item: 2 }, ["item 2"]);
    assert_error!(k_dpp.clone().excluding(&[2, 4, 2]), Error::RepeatedItem { item: 2 }, ["item 2"]);
    // The same condition in two calls is allowed.
    assert!(k_dpp.including(&[2]).unwrap().including(&[2]).is_ok());
}

#[test]
fn items_to_include_are_independent() {
    let (features, partition) = six_items();
    let quota = Quota::new(&partition, [2, 1]).unwrap();
    let texts = ["linearly dependent", "item 1 adds nothing", "to the others in f64"];
    let dpp = Dpp::new(&features).unwrap();
    assert_error!(
        dpp.clone().including(&[1, 0]),
        Error::DependentItems { item: 1 },
        [texts[0], texts[1], texts[2]]
    );
    assert_error!(dpp.including(&[5]), Error::DependentItems { item: 5 }, ["item 5"]);
    let k_dpp = KDpp::new(&features, 3).unwrap().including(&[0]).unwrap();
    assert_error!(k_dpp.including(&[1]), Error::DependentItems { item: 1 }, [texts[1]]);
    let joint = PartitionDpp::new(&features, &partition, &quota).unwrap();
    assert_error!(joint.including(&[0, 1]), Error::DependentItems { item: 1 }, [texts[1]]);
    let apart = IndependentKDpps::new(&features, &partition, &quota).unwrap();
    assert_error!(apart.including(&[0, 1]), Error::DependentItems { item: 1 }, [texts[1]]);
}

#[test]
fn no_more_items_are_included_than_are_chosen() {
    let (features, partition) = six_items();
    let quota = Quota::new(&partition, [1, 1]).unwrap();
    let texts = ["2 items of part b must be included", "the quota asks for 1"];
    assert_error!(
        PartitionDpp::new(&features, &partition, &quota).unwrap().including(&[3, 4]),
        Error::QuotaBelowIncluded { ref part, quota: 1, included: 2 } if part == "b",
        [texts[0], texts[1]]
    );
    assert_error!(
        IndependentKDpps::new(&features, &partition, &quota).unwrap().including(&[3, 4]),
        Error::QuotaBelowIncluded { ref part, quota: 1, included: 2 } if part == "b",
        [texts[0], texts[1]]
    );
    assert_error!(
        KDpp::new(&features, 2).unwrap().including(&[0, 2, 3]),
        Error::SizeBelowIncluded { k: 2, included: 3 },
        ["3 items must be included", "k = 2"]
    );
}

#[test]
fn enough_is_left_to_choose_from() {
    let (features, partition) = six_items();
    let quota = Quota::new(&partition, [1, 2]).unwrap();
    let joint = PartitionDpp::new(&features, &partition, &quota).unwrap();
    assert_error!(
        joint.clone().excluding(&[3, 4]),
        Error::QuotaAbovePartSize { ref part, quota: 2, size: 1 } if part == "b",
        ["2 items of part b", "has 1"]
    );
    // Items 3 and 5 of part b are left, and row 5 is zero.
    assert_error!(
        joint.excluding(&[4]),
        Error::Infeasible { ref parts, rank: 1, quota: 2 } if parts == &["b"],
        ["part b has rank 1", "2 items"]
    );
    let k_dpp = KDpp::new(&features, 3).unwrap();
    assert_error!(
        k_dpp.clone().excluding(&[0, 1, 2, 5]),
        Error::SizeAboveItems { k: 3, items: 2 },
        ["k = 3", "2 items"]
    );
    assert_error!(
        k_dpp.excluding(&[2, 3]),
        Error::SizeAboveRank { k: 3, rank: 2 },
        ["k = 3", "rank of the kernel, which is at most 2"]
    );
}

#[test]
fn an_item_cannot_be_picked_again_on_another_grid() {
    let (features, partition) = six_items();
    let quota = Quota::new(&partition, [2, 1]).unwrap();
    let dpp = PartitionDpp::new(&features, &partition, &quota).unwrap();
    for method in [Method::Interpolation, Method::PerCandidate] {
        let mut chain = dpp.conditionals(method, &Engine::cpu()).unwrap();
        chain.pick(0).unwrap();
        // The other part is full now, and the remaining part has its own grid.
        chain.pick(3).unwrap();
        for item in [0, 1, 3] {
            assert_error!(chain.pick(item), Error::ImpossiblePick { .. }, ["cannot be picked next"]);
        }
        assert_eq!(chain.picks(), [0, 3]);
    }
}

#[test]
fn picks_that_have_probability_zero_are_refused() {
    let (features, partition) = six_items();
    let quota = Quota::new(&partition, [2, 1]).unwrap();
    let dpp = PartitionDpp::new(&features, &partition, &quota).unwrap();
    let given = dpp.including(&[3]).unwrap();
    for method in [Method::Interpolation, Method::PerCandidate] {
        let mut chain = given.conditionals(method, &Engine::cpu()).unwrap();
        chain.pick(0).unwrap();
        // Already picked, parallel to a pick, included, from a part that needs no more, zero.
        for item in [0, 1, 3, 4, 5] {
            let text = format!("item {item} cannot be picked next");
            let refused = chain.pick(item);
            assert_error!(refused, Error::ImpossiblePick { item: found } if found == item, [&*text]);
        }
        assert_error!(chain.pick(6), Error::ItemOutOfRange { item: 6, items: 6 }, ["item 6"]);
        assert_eq!((chain.picks(), chain.remaining()), (&[0][..], 1), "a refused pick changes nothing");
        chain.pick(2).unwrap();
        assert_eq!(chain.remaining(), 0);
        assert_error!(chain.pick(4), Error::ImpossiblePick { item: 4 }, ["probability zero"]);
        assert!(chain.probabilities().unwrap().iter().all(|p| p.total_cmp(&0.0).is_eq()));
    }
}

#[test]
fn a_settled_law_has_no_chain_of_picks() {
    let (features, partition) = six_items();
    let quota = Quota::new(&partition, [1, 1]).unwrap();
    let settled = PartitionDpp::new(&features, &partition, &quota).unwrap().including(&[0, 3]).unwrap();
    for method in [Method::Auto, Method::Interpolation, Method::PerCandidate] {
        assert_error!(
            settled.conditionals(method, &Engine::cpu()),
            Error::Nothing { what: "the quota beyond the included items" },
            ["beyond the included items is zero", "nothing to choose"]
        );
    }
}

#[test]
fn parts_do_not_overlap_and_leave_nothing_out() {
    let sets = |sets: &[(&'static str, &[usize])]| {
        let sets: Vec<(&str, Vec<usize>)> = sets.iter().map(|(name, set)| (*name, set.to_vec())).collect();
        Partition::from_sets(4, sets)
    };
    let texts = ["item 2 is in part x and in part z", "perfect matchings", "#P-hard", "one copy per part"];
    assert_error!(
        sets(&[("x", &[0, 2]), ("y", &[1]), ("z", &[3, 2])]),
        Error::OverlappingParts { item: 2, ref first, ref second } if first == "x" && second == "z",
        [texts[0], texts[1], texts[2], texts[3]]
    );
    assert_error!(
        sets(&[("x", &[0, 2]), ("y", &[3])]),
        Error::ItemWithoutPart { item: 1 },
        ["item 1 is in no part", "quota 0"]
    );
    assert_error!(sets(&[]), Error::ItemWithoutPart { item: 0 }, ["item 0"]);
    assert_error!(sets(&[("x", &[0, 1, 0])]), Error::RepeatedItem { item: 0 }, ["item 0"]);
    assert_error!(sets(&[("x", &[4])]), Error::ItemOutOfRange { item: 4, items: 4 }, ["item 4", "4 items"]);
    assert_error!(
        sets(&[("x", &[0, 1]), ("x", &[2, 3])]),
        Error::RepeatedPart { ref name } if name == "x",
        ["part x"]
    );
    let none: [(&str, &[usize]); 0] = [];
    // A number of items by itself takes no memory.
    let most = u32::MAX as usize;
    let few = || [("P", vec![0, 1, most - 1])];
    assert_error!(Partition::from_sets(most, few()), Error::ItemWithoutPart { item: 2 }, ["item 2"]);
    assert_error!(Partition::from_sets(3, few()), Error::ItemOutOfRange { items: 3, .. }, ["3 items"]);
    assert_error!(Partition::from_sets(0, none), Error::Empty { what: "the partition" }, ["the partition"]);
    let fine = sets(&[("z", &[3, 1]), ("empty", &[]), ("a", &[0, 2])]).unwrap();
    assert_eq!(fine.names(), ["z", "empty", "a"]);
    assert_eq!((fine.members(0), fine.members(1), fine.members(2)), (&[1, 3][..], &[][..], &[0, 2][..]));
}
