//! Ranges in `--quota`: draws, inference and counts under them, and refusals.

use approx::abs_diff_eq;
use serde_json::{Value, json};

use super::support::{Folder, assert_close};

const INPUT: &str = "--features features.csv --labels labels.csv";
/// Determinants: 1 for the empty set; 1, ½, 1, 2 for single items; for pairs see [`super::support::PAIRS`].
const PAIRS: &str = "--features pairs.csv --labels ab.csv";

fn sets(answer: &Value) -> Vec<Vec<usize>> {
    serde_json::from_value(answer["samples"].clone()).unwrap()
}

/// Returns the number of items per part; labels are dealt in turn.
fn counts(set: &[usize]) -> [usize; 3] {
    let mut counts = [0; 3];
    set.iter().for_each(|item| counts[item % 3] += 1);
    counts
}

#[test]
fn samples_keep_to_the_ranges() {
    let folder = Folder::new();
    let answer = folder.sample(&format!("{INPUT} --quota 1..2,..1,1.. --samples 200 --seed 3"));
    // The end of an open range is the size of the part.
    assert_eq!(answer["quota"], json!([[1, 2], [0, 1], [1, 3]]));
    assert_eq!((&answer["method"], answer.get("k")), (&json!("rejection"), None));
    assert!(answer["acceptance_bound"].as_f64().unwrap() > 0.0);
    let mut sizes = [0; 4];
    for set in sets(&answer) {
        let [dark, light, medium] = counts(&set);
        assert!((1..=2).contains(&dark) && light <= 1 && (1..=3).contains(&medium), "{set:?}");
        sizes[set.len()] += 1;
    }
    assert!(sizes[2] > 0 && sizes[3] > 0, "{sizes:?}");

    let fixed = folder.sample(&format!("{INPUT} --quota dark=1..2,medium=.. --k 2 --samples 100"));
    assert_eq!((&fixed["quota"], &fixed["k"]), (&json!([[1, 2], [0, 0], [0, 3]]), &json!(2)));
    assert!(sets(&fixed).iter().all(|set| set.len() == 2 && counts(set)[1] == 0 && counts(set)[0] >= 1));
}

/// One range is enough for pairs. Counts that the total agrees with stay counts.
#[test]
fn numbers_and_ranges_mix() {
    let folder = Folder::new();
    let mixed = folder.sample(&format!("{INPUT} --quota 1,0..1,1 --samples 5"));
    assert_eq!(mixed["quota"], json!([[1, 1], [0, 1], [1, 1]]));
    let numbers = folder.sample(&format!("{INPUT} --quota 1,1,1 --k 3 --samples 5"));
    assert_eq!(numbers["quota"], json!([1, 1, 1]));
    // If every range holds one number, the draws are the same as for the numbers.
    let exact = folder.sample(&format!("{INPUT} --quota 1..1,1..1,1 --samples 5"));
    assert_eq!((&exact["quota"], &exact["samples"]), (&json!([[1, 1], [1, 1], [1, 1]]), &numbers["samples"]));
}

#[test]
fn conditions_hold() {
    let folder = Folder::new();
    let given = format!("{INPUT} --quota 1..2,..1,.. --include 4 --exclude 0,2 --samples 50");
    for set in sets(&folder.sample(&given)) {
        assert!(set.contains(&4) && !set.contains(&0) && !set.contains(&2), "{set:?}");
        assert_eq!(counts(&set)[1], 1);
    }
}

#[test]
fn probabilities() {
    let folder = Folder::with_pairs();
    folder.write("sets.json", "[[2],[0,3],[0,1,2],[]]");
    let answer = folder.json(&format!("infer {PAIRS} --quota ..1,1 --sets sets.json"));
    // {2}, {3}: 1 and 2; {0,2}, {0,3}, {1,2}, {1,3}: 1, 1, ¼ and 0.
    assert_close(&json!([answer["log_z"]]), &[5.25_f64.ln()]);
    assert_close(&answer["marginals"], &[2.0 / 5.25, 0.25 / 5.25, 2.25 / 5.25, 3.0 / 5.25]);
    let log = -(5.25_f64.ln());
    assert_close(&json!([answer["log_probs"][0], answer["log_probs"][1]]), &[log, log]);
    assert_eq!((&answer["log_probs"][2], &answer["log_probs"][3]), (&json!(null), &json!(null)));
    // With a total of one item: items 2 and 3.
    let answer = folder.json(&format!("infer {PAIRS} --quota ..1,1..2 --k 1"));
    assert_close(&answer["marginals"], &[0.0, 0.0, 1.0 / 3.0, 2.0 / 3.0]);
}

#[test]
fn by_chance() {
    let folder = Folder::with_pairs();
    // Among pairs, {2,3} weighs 1 and one item of each part 2¼, out of a total of 3½.
    let answer = folder.json(&format!("counts {PAIRS} --quota ..1,1.. --k 2"));
    assert_close(&json!([answer["quota_prob"]]), &[3.25 / 3.5]);
    // Without a size, the plain DPP is used: 1 + 4½ + 3½ over all sets, and 4½ − 1½ + 2¼ for one item of b.
    let answer = folder.json(&format!("counts {PAIRS} --quota ..1,1..1"));
    assert_close(&json!([answer["quota_prob"]]), &[5.25 / 9.0]);
    assert_eq!(answer["counts"][0]["count"], json!([0, 0]));
    let text = folder.text(&format!("counts {PAIRS} --quota ..1,1..1"));
    assert!(
        text.contains("quota     0..1,1: probability 0.5833") && text.contains("DPP of any size"),
        "{text}"
    );
}

#[test]
fn the_best_set() {
    let folder = Folder::with_pairs();
    // {3} has determinant 2, more than any other set; {0} and {0,2} have 1, {0,1} ¼.
    for (quota, set, det) in [
        ("..1,1..", Some([3].as_slice()), 2.0_f64),
        ("..,..", Some(&[3]), 2.0),
        ("1..,..1", None, 1.0),
        ("1..,..1 --k 1", Some(&[0]), 1.0),
        ("..,.. --k 2", None, 1.0),
        ("2..,..", Some(&[0, 1]), 0.25),
        ("..,..1 --k 2 --exclude 0", Some(&[1, 2]), 0.25),
        ("..1,.. --include 1", Some(&[1]), 0.5),
    ] {
        for solver in ["greedy", "local-search --time-limit 1000", "exact"] {
            let found = folder.json(&format!("map {PAIRS} --quota {quota} --solver {solver} --certify"));
            let (log_det, bound) = (&found["log_det"], found["upper_bound"].as_f64().unwrap());
            assert!(
                abs_diff_eq!(log_det.as_f64().unwrap(), det.ln(), epsilon = 1e-9),
                "{quota}, {solver}: {found}"
            );
            assert!(bound > det.ln() - 1e-9 && bound < det.ln() + 1.5, "{quota}, {solver}: {found}");
            assert!(set.is_none_or(|set| found["set"] == json!(set)), "{quota}, {solver}: {found}");
            assert!(solver != "exact" || found["termination"] == "optimal", "{quota}: {found}");
        }
    }
    let text = folder.text(&format!("map {PAIRS} --quota ..1,1.. --solver exact"));
    for expected in ["proven optimal", "1..2", "part counts in ranges"] {
        assert!(text.contains(expected), "'{expected}' is missing in\n{text}");
    }
}

#[test]
fn people_read_ranges() {
    let folder = Folder::new();
    let text = folder.text(&format!("sample {INPUT} --quota dark=1..2,light=1 --samples 3"));
    for expected in
        ["dark (1..2)", "light (1)", "DPP with part counts in ranges over 3 parts", "predicted, at most"]
    {
        assert!(text.contains(expected), "'{expected}' is missing in\n{text}");
    }
    assert!(!text.contains("medium"), "{text}");
    let text = folder.text(&format!("infer {INPUT} --quota ..2,..2,..2 --k 2"));
    assert!(text.contains("k-DPP, k = 2, with part counts in ranges over 3 parts"), "{text}");
    let text = folder.text(&format!("sample {INPUT} --quota ..2,1,.. --plan"));
    assert!(text.contains("rejection") && text.contains("no choice of method"), "{text}");
    let plot = folder.text(&format!("sample {INPUT} --quota 1..2,..1,1.. --plot chosen.svg"));
    assert!(plot.contains("chosen.svg"), "{plot}");
    assert!(std::fs::read_to_string(folder.path("chosen.svg")).unwrap().contains("part counts in ranges"));
}

#[test]
fn what_is_refused() {
    let folder = Folder::new();
    let refuse = |command: &str, quota: &str, culprits: &[&str]| {
        folder.refuses(&format!("{command} {INPUT} --quota {quota}"), 2, culprits);
    };
    refuse("sample", "3..1,1,1", &["dark", "at least 3", "at most 1"]);
    refuse("sample", "4..,1,1", &["dark", "4", "3"]);
    refuse("sample", "..0,..0,0", &["quota", "zero"]);
    refuse("sample", "1..2,1", &["2 entries", "3 parts"]);
    refuse("sample", "black=1..2", &["black", "dark, light, medium"]);
    refuse("sample", "dark=1..,dark=2", &["dark", "twice"]);
    refuse("sample", "1..x,1,1", &["'x'", "2..4"]);
    refuse("sample", "dark=1-3", &["'1-3'", "write dark=1..3"]);
    refuse("sample", "dark:1", &["'dark:1'", "write dark=1"]);
    refuse("sample", "dark=1..=2", &["'dark=1..=2'", "write dark=1..2"]);
    refuse("sample", "1..2,..1,1 --k 5", &["5 items", "2 to 4"]);
    refuse("infer", "1..2,..1,1 --k 1", &["1 item in all", "2 to 4"]);
    refuse("infer", "1,1,1 --k 2", &["--quota asks for 3", "--k for 2"]);
    refuse("counts", "1,1,1 --k 2", &["--quota asks for 3", "--k for 2"]);
    refuse("sample", "2,1..,1", &["rank of the kernel, which is at most 3", "4 items"]);
    refuse("sample", "..3,..3,..3 --k 4", &["k = 4", "rank"]);
    refuse("sample", "..2,1,1 --include 1,4", &["light", "2 items"]);
    refuse("sample", "..2,1,1 --independent", &["--independent", "ranges"]);
    for method in ["interpolation", "per-candidate"] {
        refuse("sample", &format!("..2,1,1 --method {method}"), &[method, "ranges", "rejection"]);
    }
    for solver in ["softmax", "symmetric-greedy"] {
        refuse("map", &format!("..2,1,1 --solver {solver}"), &[solver, "--quota"]);
    }
}

/// Twenty parts of two orthonormal items, with one or two from each and 25 in total: no vector of counts is likely.
#[test]
fn budgets() {
    let folder = Folder::new();
    folder.write_cycle(30);
    let quota = ["1..1"; 30].join(",");
    let input = format!("--features cycle.csv --labels parts.csv --quota {quota}");
    folder.refuses(&format!("sample {input}"), 4, &["proposals", "--method rejection"]);
    folder.refuses(&format!("infer {input}"), 4, &["nodes", "--method estimated"]);
    folder.refuses(&format!("counts {input}"), 4, &["nodes", "--method estimated"]);
    // The same with wider ranges can be drawn.
    let quota = ["..2"; 30].join(",");
    let answer =
        folder.sample(&format!("--features cycle.csv --labels parts.csv --quota {quota} --samples 5"));
    assert_eq!(sets(&answer).len(), 5);
}
