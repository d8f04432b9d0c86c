//! `--similarity rbf` on rows far from the origin and from each other, against exact determinants.

use approx::assert_abs_diff_eq;
use serde_json::Value;

use super::support::Folder;

const RBF: &str = "--similarity rbf --bandwidth 1";

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

/// A missing time stamp as 0, and four seconds near 1.7e9.
fn stamps() -> Folder {
    let folder = Folder::new();
    folder.write("exact.csv", "0\n1700000000\n1700000001\n1700000002\n1700000003\n");
    folder
}

#[test]
fn seconds_beside_a_missing_stamp_are_told_apart() {
    let folder = stamps();
    let input = format!("--features exact.csv {RBF}");
    let pairs = folder.json(&format!("infer {input} --k 2"));
    // e_2 of the kernel: 4 pairs with item 0, and 1 − e^(−d²) of the others.
    let beside = |d: f64| -(-d * d).exp_m1();
    let others = 3.0 * beside(1.0) + 2.0 * beside(2.0) + beside(3.0);
    assert_abs_diff_eq!(number(&pairs["log_z"]), (4.0 + others).ln(), epsilon = 1e-12);
    assert_abs_diff_eq!(1.0 - number(&pairs["marginals"][0]), others / (4.0 + others), epsilon = 1e-12);
    assert!(number(&pairs["kernel_error"]) > 0.0);
    assert_eq!(pairs["kernel"], "exact");
    let triples = folder.json(&format!("infer {input} --k 3"));
    assert_abs_diff_eq!(number(&triples["log_z"]), 1.914, epsilon = 5e-4);
    for certify in ["", " --certify"] {
        let best = folder.json(&format!("map {input} --k 4{certify}"));
        assert_abs_diff_eq!(number(&best["log_det"]), -0.485, epsilon = 5e-4);
    }
}

#[test]
fn nearly_equal_rows_keep_their_digits() {
    let folder = Folder::new();
    folder.write("x.csv", "0\n0.02\n0.04\n3\n");
    folder.write("s.json", "[[0,1,2],[0,1]]");
    let input = format!("--features x.csv {RBF}");
    let found = folder.json(&format!("infer {input} --k 3 --sets s.json"));
    assert_abs_diff_eq!(number(&found["log_probs"][0]), -16.75, epsilon = 5e-3);
    let best = folder.json(&format!("map {input} --include 0,1 --k 3"));
    let bound = folder.json(&format!("map {input} --include 0,1 --k 3 --certify"));
    assert_abs_diff_eq!(number(&best["log_det"]), -7.825_550, epsilon = 1e-6);
    assert!(number(&bound["upper_bound"]) >= number(&best["log_det"]));
    // A certificate bounds the answer of map.
    let whole = folder.json(&format!("map {input} --k 4"));
    let bound = folder.json(&format!("map {input} --k 4 --certify"));
    assert!(number(&bound["upper_bound"]) >= number(&whole["log_det"]));
}

#[test]
fn landmarks_are_found_beside_rows_far_away() {
    let folder = Folder::new();
    folder.write(
        "hang.csv",
        "-214680972.8115805,851276694.6432606\n-0.7063052980696701,-0.12511917354415544\n\
         -0.4401475385361945,0.5403207333589821\n",
    );
    for command in ["infer --k 1", "sample --k 1", "map --k 1 --certify", "infer --k 1 --landmarks 2"] {
        folder.json(&format!("{command} --features hang.csv {RBF}"));
    }
    let sentinel = include_bytes!("../../../tests/data/hard-cases/rbf/sentinel.npy");
    folder.write("sentinel.npy", sentinel);
    for landmarks in ["", " --landmarks 20"] {
        folder.json(&format!("sample --features sentinel.npy --similarity rbf --k 3{landmarks}"));
    }
}

#[test]
fn approximate_kernels_are_called_so() {
    let folder = Folder::new();
    let rows: Vec<String> = (0..60).map(|i| format!("{},{}", i % 8, i / 8)).collect();
    folder.write("grid.csv", rows.join("\n"));
    let input = format!("--features grid.csv {RBF} --k 3");
    for (landmarks, kernel) in [("", "exact"), ("--landmarks 60", "exact"), ("--landmarks 9", "approximate")]
    {
        for command in ["sample", "infer", "map --certify"] {
            let command = format!("{command} {input} {landmarks}");
            assert_eq!(folder.json(&command)["kernel"], kernel, "{command}");
            let text = folder.text(&command);
            assert_eq!(
                text.contains("the answer is for the approximate kernel"),
                kernel != "exact",
                "{text}"
            );
        }
    }
    let text = folder.text(&format!("sample {input} --landmarks 9"));
    assert!(text.contains("exactness exact for the approximate kernel; law error"), "{text}");
}
