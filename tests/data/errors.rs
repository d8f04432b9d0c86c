//! Every rule of the library broken once: the variant, its fields and its message.

use std::{f64, fmt};

use approx::abs_diff_eq;
use oracles::{assert_error, random::normals};
use partition_dpp::{
    Error, Features, IndependentKDpps, KDpp, Kernel, Method, Partition, PartitionDpp, Quota, Subset,
};

fn two_parts() -> Partition {
    Partition::from_labels(&["dark", "light", "light", "dark", "light"]).unwrap()
}

#[test]
fn a_value_that_is_not_finite_is_named_with_its_place() {
    for (bad, text) in [(f64::NAN, "is NaN"), (f64::INFINITY, "is inf"), (f64::NEG_INFINITY, "is -inf")] {
        let same = |value: f64| value.to_string() == bad.to_string();
        let mut values = vec![1.5_f64; 20];
        values[3 * 4 + 2] = bad;
        values[4 * 4] = bad;
        assert_error!(
            Features::from_rows(5, 4, &values),
            Error::NotFinite { row: 3, column: 2, value } if same(value),
            ["row 3", "column 2", text]
        );
        let values: Vec<f32> = values.iter().map(|&value| value as f32).collect();
        assert_error!(
            Features::from_rows(5, 4, values),
            Error::NotFinite { row: 3, column: 2, value } if same(value),
            ["row 3", "column 2", text]
        );
    }
}

#[test]
fn a_value_that_is_not_finite_is_found_in_a_long_matrix() {
    let mut values = vec![f32::MAX; 1100 * 1000];
    assert!(Features::from_rows(1100, 1000, &values).is_ok());
    values[1099 * 1000 + 7] = f32::NAN;
    assert_error!(
        Features::from_rows(1100, 1000, values),
        Error::NotFinite { row: 1099, column: 7, .. },
        ["row 1099"]
    );
}

#[test]
fn an_empty_matrix_has_nothing_to_choose_from() {
    for (items, dims) in [(0, 3), (3, 0), (0, 0)] {
        let empty = Features::from_rows(items, dims, Vec::<f64>::new());
        assert_error!(empty, Error::Empty { what: "the feature matrix" }, ["the feature matrix is empty"]);
    }
    assert_error!(Kernel::from_dense(0, &[0.0; 0]), Error::Empty { .. }, ["empty"]);
}

#[test]
fn the_number_of_values_is_the_number_of_entries() {
    let shape = "the feature matrix";
    assert_error!(
        Features::from_rows(2, 3, vec![0.0_f64; 5]),
        Error::Shape { what, expected: 6, found: 5 } if what == shape,
        [shape, "5 values", "6 are needed"]
    );
    assert_error!(Kernel::from_dense(2, &[1.0; 6]), Error::Shape { expected: 4, found: 6, .. }, ["6", "4"]);
    // m·n overflows.
    let huge = Features::from_rows(1 << 31, usize::MAX / 2, vec![0.0_f64; 5]);
    assert_error!(huge, Error::Shape { found: 5, .. }, ["5 values"]);
}

/// A label that takes no memory.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Weightless;

impl fmt::Display for Weightless {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("x")
    }
}

#[test]
fn items_are_at_most_what_32_bits_can_name() {
    const ITEMS: usize = 1 << 32;
    let limit_text = "4294967295 supported";
    assert_error!(
        Features::from_rows(ITEMS, 1, vec![0.0_f32]),
        Error::TooManyItems { items: ITEMS, limit: 4_294_967_295 },
        ["4294967296 items", limit_text]
    );
    assert_error!(
        Partition::from_labels(&[Weightless; ITEMS]),
        Error::TooManyItems { items: ITEMS, limit: 4_294_967_295 },
        ["4294967296 items", limit_text]
    );
}

#[test]
fn labels_are_needed() {
    assert_error!(
        Partition::from_labels::<&str>(&[]),
        Error::Empty { what: "the list of labels" },
        ["the list of labels is empty"]
    );
}

#[test]
fn a_subset_size_is_between_one_and_the_rank() {
    // Rank 2: the third row is the sum of the others, the fourth is zero.
    let features = Features::from_rows(4, 3, vec![1., 0., 0., 0., 1., 0., 1., 1., 0., 0., 0., 0.]).unwrap();
    assert_error!(KDpp::new(&features, 0), Error::Nothing { what: "k" }, ["k is zero"]);
    assert_error!(
        KDpp::new(&features, 5),
        Error::SizeAboveItems { k: 5, items: 4 },
        ["k = 5", "more than the 4 items"]
    );
    assert_error!(
        KDpp::new(&features, 3),
        Error::SizeAboveRank { k: 3, rank: 2 },
        ["k = 3", "rank of the kernel, which is at most 2"]
    );
    assert!(KDpp::new(&features, 2).is_ok());
    // Wide features of rank 1.
    let wide = Features::from_rows(2, 5, vec![1., 2., 3., 4., 5., 2., 4., 6., 8., 10.]).unwrap();
    assert_error!(KDpp::new(&wide, 2), Error::SizeAboveRank { k: 2, rank: 1 }, ["k = 2"]);
}

#[test]
fn a_quota_fits_its_parts() {
    let partition = two_parts();
    assert_error!(
        Quota::new(&partition, [0, 0]),
        Error::Nothing { what: "the whole quota" },
        ["the whole quota is zero"]
    );
    for entries in [1, 3] {
        assert_error!(
            Quota::new(&partition, vec![1; entries]),
            Error::QuotaLength { ref parts, entries: found } if parts.len() == 2 && found == entries,
            [&*format!("{entries} entr"), "2 parts"]
        );
    }
    assert_error!(
        Quota::new(&partition, [3, 1]),
        Error::QuotaAbovePartSize { ref part, quota: 3, size: 2 } if part == "dark",
        ["3 items of part dark", "has 2"]
    );
    assert_error!(Quota::each(&partition, 3), Error::QuotaAbovePartSize { quota: 3, size: 2, .. }, ["dark"]);
}

#[test]
fn a_quota_names_parts_that_exist_once() {
    let partition = two_parts();
    assert_error!(
        Quota::named(&partition, [("light", 1), ("dim", 1)]),
        Error::UnknownPart { ref name, ref known } if name == "dim" && known == &["dark", "light"],
        ["part dim", "dark, light"]
    );
    assert_error!(
        Quota::named(&partition, [("light", 1), ("light", 1)]),
        Error::RepeatedPart { ref name } if name == "light",
        ["part light twice"]
    );
}

#[test]
fn features_labels_and_quota_speak_of_the_same_items() {
    let partition = two_parts();
    let quota = Quota::new(&partition, [1, 1]).unwrap();
    let features = Features::from_rows(4, 2, normals(8, 1)).unwrap();
    let texts = ["5 labels", "4 items"];
    assert_error!(
        PartitionDpp::new(&features, &partition, &quota),
        Error::LabelCount { items: 4, labels: 5 },
        [texts[0], texts[1]]
    );
    assert_error!(
        IndependentKDpps::new(&features, &partition, &quota),
        Error::LabelCount { items: 4, labels: 5 },
        [texts[0], texts[1]]
    );
    // A quota made for another partition.
    let other = Partition::from_labels(&[0, 1, 2, 2]).unwrap();
    assert_error!(
        PartitionDpp::new(&features, &other, &quota),
        Error::QuotaLength { ref parts, entries: 2 } if parts.len() == 3,
        ["2 entries", "3 parts"]
    );
    let two_of_each = Quota::new(&partition, [2, 2]).unwrap();
    let other = Partition::from_labels(&["A", "B", "B", "B"]).unwrap();
    assert_error!(
        PartitionDpp::new(&features, &other, &two_of_each),
        Error::QuotaOfOtherParts { ref parts, .. } if parts[..] == ["A", "B"],
        ["A, B", "dark, light"]
    );
    let other = Partition::from_labels(&["dark", "light", "light", "light"]).unwrap();
    assert_error!(
        PartitionDpp::new(&features, &other, &two_of_each),
        Error::QuotaAbovePartSize { ref part, quota: 2, size: 1 } if part == "dark",
        ["part dark"]
    );
}

#[test]
fn an_asymmetric_kernel_names_its_worst_pair() {
    let mut kernel = [4.0, 1.0, 1.0, 1.0, 4.0, 1.0, 1.0, 1.0, 4.0];
    kernel[1] += 1e-6; // (0, 1)
    kernel[7] += 0.5; // (2, 1)
    assert_error!(
        Kernel::from_dense(3, &kernel),
        Error::Asymmetric { row: 1, column: 2, gap, tolerance }
            if abs_diff_eq!(gap, 0.5, epsilon = 1e-15) && abs_diff_eq!(tolerance, 4e-10, epsilon = 1e-20),
        ["(1, 2) and (2, 1)", "differ by 0.5", "tolerance 4e-10"]
    );
    kernel[7] = 1.0;
    kernel[1] = 1.0 + 1e-11;
    assert!(Kernel::from_dense(3, &kernel).is_ok(), "rounding is not asymmetry");
}

#[test]
fn an_indefinite_kernel_tells_its_smallest_eigenvalue() {
    assert_error!(
        Kernel::from_dense(2, &[10.0, 20.0, 20.0, 10.0]),
        Error::NotPositiveSemidefinite { eigenvalue, tolerance }
            if abs_diff_eq!(eigenvalue, -10.0, epsilon = 1e-12) && abs_diff_eq!(tolerance, 3e-9, epsilon = 1e-15),
        ["eigenvalue is -10", "tolerance"]
    );
    assert_error!(Kernel::from_dense(1, &[-2.0]), Error::NotPositiveSemidefinite { .. }, ["is -2"]);
}

#[test]
fn an_eigenvalue_that_is_negative_by_rounding_is_zero() {
    // Eigenvalues 2 and −1e-12.
    let kernel = Kernel::from_dense(2, &[1.0, 1.0 + 1e-12, 1.0 + 1e-12, 1.0]).unwrap();
    assert_eq!(kernel.rank(), 1);
}

#[test]
fn a_zero_kernel_is_refused() {
    assert_error!(Kernel::from_dense(2, &[0.0; 4]), Error::ZeroKernel, ["the kernel is zero"]);
}

#[test]
#[cfg(feature = "npy")]
fn a_kernel_in_a_file_is_square() {
    use oracles::npy::{f64s, file, npy};
    let file = file(&npy("<f8", false, &[2, 3], &f64s(&[1.0; 6])));
    let texts = ["kernel", "square", "3 values", "2 are needed"];
    assert_error!(
        Kernel::open_npy(file.path()),
        Error::Shape { expected: 2, found: 3, .. },
        [texts[0], texts[1], texts[2], texts[3]]
    );
}

#[cfg(feature = "nalgebra")]
#[test]
fn a_kernel_is_square() {
    let matrix = nalgebra::DMatrix::<f64>::zeros(2, 3);
    assert_error!(Kernel::try_from(&matrix), Error::Shape { expected: 2, found: 3, .. }, ["square"]);
}

#[test]
fn a_subset_holds_items_that_exist_once() {
    assert_error!(
        Subset::new(vec![2, 12, 10], 10),
        Error::ItemOutOfRange { item: 12, items: 10 },
        ["item 12", "10 items"]
    );
    let last = Subset::new(vec![9, 3, 9, 0], 10);
    assert_error!(last, Error::RepeatedItem { item: 9 }, ["item 9 is named twice"]);
    assert_error!(Subset::new(vec![0], 0), Error::ItemOutOfRange { item: 0, items: 0 }, ["item 0"]);
}

#[test]
fn features_that_f64_cannot_resolve_are_refused() {
    // One row is 3e14 times longer than the others, every dimension is needed, and exact arithmetic would take too
    // long.
    let mut values = normals(20_000 * 64, 3);
    values[..64].iter_mut().for_each(|x| *x *= 3e14);
    let features = Features::from_rows(20_000, 64, values).unwrap();
    let k_dpp = KDpp::new(&features, 64).unwrap();
    assert_error!(
        k_dpp.sampler(Method::Auto, &partition_dpp::Engine::cpu()),
        Error::IllConditioned { deviation, tolerance } if deviation > tolerance,
        ["badly conditioned", "1e-4 is tolerated"]
    );
    // The same rows at one scale are far within the resolution of f64, and the error says so.
    let features = Features::from_rows(40, 8, normals(40 * 8, 3)).unwrap();
    let k_dpp = KDpp::new(&features, 8).unwrap();
    assert!(k_dpp.sampler(Method::Auto, &partition_dpp::Engine::cpu()).unwrap().law_error() < 1e-11);
}
