//! `pdpp map`: the most diverse set, and bounds on the optimum.

use approx::abs_diff_eq;
use serde_json::{Value, json};

use crate::support::{Folder, begins_with};

const INPUT: &str = "--features pairs.csv --labels ab.csv";
const SOLVERS: [&str; 5] = ["greedy", "local-search", "symmetric-greedy", "softmax", "exact"];

fn map(folder: &Folder, arguments: &str) -> Value {
    folder.json(&format!("map {arguments}"))
}

#[test]
fn fields_are_those_of_the_contract_in_order() {
    let folder = Folder::with_pairs();
    let text = folder.text(&format!("map {INPUT} --quota 1,1 --time-limit 0 --json"));
    let fields = ["{\"set\"", "log_det", "upper_bound", "gap", "explained", "explained_by_part"];
    let work = ["termination", "solver", "engine", "adapter", "backend", "engine_reason", "seconds"];
    let fields = fields.iter().chain(&work);
    assert!(fields.map(|field| text.find(field).unwrap()).is_sorted(), "{text}");
    let found: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(found.as_object().unwrap().len(), 13);
    assert_eq!((&found["upper_bound"], &found["gap"]), (&json!(null), &json!(null)));
    assert_eq!(
        (&found["termination"], &found["solver"]),
        (&json!("locally-optimal"), &json!("local-search"))
    );
}

#[test]
fn every_solver_finds_the_pair() {
    // {0,2}, {0,3} and {2,3} have determinant 1, and no set has a larger one.
    let folder = Folder::with_pairs();
    for solver in ["greedy", "local-search --time-limit 0", "local-search --time-limit 1000", "exact"] {
        for law in ["--k 2", "--quota 1,1"] {
            let found = map(&folder, &format!("{INPUT} {law} --solver {solver} --certify"));
            assert!(
                abs_diff_eq!(found["log_det"].as_f64().unwrap(), 0.0, epsilon = 1e-12),
                "{solver} {law}: {found}"
            );
            let gap = found["gap"].as_f64().unwrap();
            let bound = found["upper_bound"].as_f64().unwrap();
            assert!(gap >= 0.0 && bound > -1e-9, "{solver} {law}: {found}");
        }
    }
    let found = map(&folder, &format!("{INPUT} --quota 1,1 --solver exact"));
    assert_eq!((&found["termination"], &found["solver"]), (&json!("optimal"), &json!("exact")));
    assert!(found["gap"].as_f64().unwrap() <= 1e-9);
}

#[test]
fn sets_of_any_size() {
    // Item 3 alone has determinant 2.
    let folder = Folder::with_pairs();
    for solver in SOLVERS {
        let found =
            map(&folder, &format!("--features pairs.csv --solver {solver} --certify --time-limit 1000"));
        let log_det = found["log_det"].as_f64().unwrap();
        assert!(log_det <= 2_f64.ln() + 1e-12, "{solver}: {found}");
        assert!(found["upper_bound"].as_f64().unwrap() >= 2_f64.ln() - 1e-9, "{solver}: {found}");
        if ["greedy", "local-search", "exact"].contains(&solver) {
            assert_eq!(found["set"], json!([3]), "{solver}: {found}");
        }
    }
}

#[test]
fn conditions_hold() {
    let folder = Folder::with_pairs();
    for solver in ["greedy", "local-search --time-limit 0", "exact"] {
        let found = map(&folder, &format!("{INPUT} --quota 1,1 --include 1 --exclude 3 --solver {solver}"));
        assert_eq!(found["set"], json!([1, 2]), "{solver}");
        assert!(abs_diff_eq!(found["log_det"].as_f64().unwrap(), 0.25_f64.ln(), epsilon = 1e-12), "{solver}");
    }
}

#[test]
fn people_read_parts_and_proof() {
    let folder = Folder::with_pairs();
    let text = folder.text(&format!("map {INPUT} --quota 1,1 --solver exact"));
    for expected in [
        "part",
        "quota",
        "log det",
        "proven optimal: no log det is larger by more than",
        "solver    exact on cpu",
        "Partition-DPP",
    ] {
        assert!(text.contains(expected), "'{expected}' in\n{text}");
    }
    let text = folder.text(&format!("map {INPUT} --k 2 --solver greedy --certify --quiet"));
    assert!(text.contains("no set has a determinant more than") && !text.contains("solver"), "{text}");
    let text = folder.text("map --features pairs.csv --k 2 --solver greedy");
    assert!(text.contains("set       ") && !text.contains("at most"), "{text}");
}

#[test]
fn a_plot_of_the_set() {
    let folder = Folder::with_pairs();
    folder.text(&format!("map {INPUT} --quota 1,1 --time-limit 0 --plot set.svg"));
    assert!(begins_with(&folder.path("set.svg"), b"<svg"));
}

#[test]
fn options_that_a_solver_cannot_heed_are_refused() {
    let folder = Folder::with_pairs();
    for (arguments, culprits) in [
        ("--quota 1,1 --solver softmax", ["--solver softmax", "neither --quota nor --k"]),
        ("--k 2 --solver symmetric-greedy", ["--solver symmetric-greedy", "any size"]),
        ("--k 2 --solver exact --epsilon 0.1", ["--epsilon", "local-search"]),
        ("--k 2 --epsilon 0", ["'0'", "not a positive number"]),
        ("--k 2 --time-limit -1", ["'-1'", "not a number of seconds"]),
        ("--k 2 --time-limit 1e30", ["'1e30'", "too many"]),
        ("--k 2 --solver greedy --time-limit 1", ["--time-limit", "--certify"]),
        ("--solver symmetric-greedy --time-limit 1", ["--time-limit", "symmetric-greedy"]),
        ("--k 2 --solver best", ["best", "local-search"]),
        ("--k 0", ["k is zero", "nothing to choose"]),
        ("--k 3", ["3", "2"]),
        ("--quota 3,1", ["3", "a"]),
        ("--k 3 --quota 1,1", ["--k", "--quota"]),
    ] {
        folder.refuses(&format!("map {INPUT} {arguments}"), 2, &culprits);
    }
}

#[test]
fn independent_parts_are_searched_one_by_one() {
    let folder = Folder::with_pairs();
    // Item 0 of part a, item 3 of part b: 1 and 2.
    for solver in ["greedy", "local-search", "exact"] {
        let found = map(&folder, &format!("{INPUT} --quota 1,1 --independent --solver {solver} --certify"));
        assert_eq!(found["set"], json!([0, 3]), "{solver}");
        assert!(abs_diff_eq!(found["log_det"].as_f64().unwrap(), 2_f64.ln(), epsilon = 1e-12), "{found}");
        assert!(found["gap"].as_f64().unwrap() < 1e-5, "{solver}: {found}");
    }
    // Three items have determinant zero in two dimensions.
    folder.write("abb.csv", "part\na\nb\nb\nb\n");
    let input = "--features pairs.csv --labels abb.csv --quota 1,2";
    folder.refuses(
        &format!("map {input}"),
        2,
        &["k = 3", "rank of the kernel, which is at most 2", "--independent"],
    );
    folder.refuses(&format!("sample {input}"), 2, &["k = 3", "--independent"]);
    assert_eq!(
        map(&folder, &format!("{input} --independent --solver exact"))["set"].as_array().unwrap().len(),
        3
    );
    folder.refuses("map --features pairs.csv --k 2 --independent", 2, &["--quota"]);
    folder.refuses(&format!("map {INPUT} --quota 0..1,1 --independent"), 2, &["independent", "range"]);
}
