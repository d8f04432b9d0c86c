//! Probabilities against hand-computed numbers.

use approx::assert_abs_diff_eq;
use serde_json::{Value, json};

use super::support::{Folder, assert_close};

const INPUT: &str = "infer --features pairs.csv --labels ab.csv";

fn log_z(answer: &Value) -> f64 {
    assert!(answer["log_z_error"].as_f64().unwrap() < 1e-12, "{answer}");
    answer["log_z"].as_f64().unwrap()
}

#[test]
fn a_partition_dpp() {
    let folder = Folder::with_pairs();
    folder.write("sets.json", "[[0, 2], [3, 0], [1, 3], [0, 1], [0], []]");
    let text = folder.text(&format!("{INPUT} --quota 1,1 --sets sets.json --json"));
    let fields = [
        "{\"log_z\":",
        "log_z_error",
        "marginals",
        "marginals_error",
        "log_probs",
        "log_probs_error",
        "explained",
        "explained_by_part",
        "engine",
        "adapter",
        "backend",
        "engine_reason",
        "precision",
    ];
    assert!(fields.iter().map(|field| text.find(field).unwrap()).is_sorted(), "{text}");
    let answer: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(answer.as_object().unwrap().len(), fields.len());
    assert_eq!((&answer["engine"], &answer["precision"]), (&json!("cpu"), &json!("f64")));
    assert_abs_diff_eq!(log_z(&answer), 2.25_f64.ln(), epsilon = 1e-12);
    assert_close(&answer["marginals"], &[2.0 / 2.25, 0.25 / 2.25, 1.25 / 2.25, 1.0 / 2.25]);
    // A determinant of zero, another quota, other sizes.
    assert_eq!(
        answer["log_probs"].as_array().unwrap()[2..],
        [json!(null), json!(null), json!(null), json!(null)]
    );
    let possible = json!(answer["log_probs"].as_array().unwrap()[..2]);
    assert_close(&possible, &[-2.25_f64.ln(), -2.25_f64.ln()]);
}

/// Rows that almost agree: the determinant of {0,1} is 2⁻⁵², of {2,3} it is 1, and of other pairs about 1. The error
/// stated for all sets is the error of the worst set.
#[test]
fn errors_are_those_of_the_worst_entry() {
    let folder = Folder::new();
    folder.write("close.csv", format!("1,0\n1,{:e}\n0,1\n1,0\n", 2_f64.powi(-26)));
    let ask = |sets: &str| {
        folder.write("sets.json", sets);
        let answer = folder.json("infer --features close.csv --k 2 --sets sets.json");
        let number = |name: &str| answer[name].as_f64().unwrap();
        assert!(number("marginals_error") > 0.0 && number("marginals_error") < 1e-12, "{answer}");
        (number("log_probs_error"), answer["log_probs"].clone())
    };
    let (easy, _) = ask("[[2,3]]");
    let (hard, log_probs) = ask("[[2,3],[0,1]]");
    assert!(easy < 1e-13 && hard >= easy && hard < 1e-10, "{easy:e} {hard:e}");
    // Z = 3 + 2·2⁻⁵².
    let gap = log_probs[1].as_f64().unwrap() - (2_f64.powi(-52) / (3.0 + 2_f64.powi(-51))).ln();
    assert!(gap.abs() <= hard, "{gap:e} {hard:e}");
    // Probability zero is exact, and so is the empty set.
    assert!(ask("[[0,3],[0]]").0.abs() < 1e-300 && ask("[]").0.abs() < 1e-300);
    let text = folder.text("infer --features close.csv --k 2");
    assert!(text.contains("accuracy  probabilities of items ± ") && !text.contains("of sets"), "{text}");
    folder.write("sets.json", "[[0,1]]");
    let text = folder.text("infer --features close.csv --k 2 --sets sets.json");
    assert!(text.contains(", log-probabilities of sets ± ") && !text.contains("sets ± 0"), "{text}");
}

#[test]
fn parts_without_quota_have_marginals_too() {
    let folder = Folder::with_pairs();
    let answer = folder.json(&format!("{INPUT} --quota b=2"));
    assert_abs_diff_eq!(log_z(&answer), 0.0, epsilon = 1e-12);
    assert_eq!(answer["log_probs"], json!([]));
    assert_close(&answer["marginals"], &[0.0, 0.0, 1.0, 1.0]);
}

#[test]
fn a_k_dpp() {
    let folder = Folder::with_pairs();
    folder.write("sets.json", "[[0,1],[1,3],[2]]");
    let answer = folder.json("infer --features pairs.csv --k 2 --sets sets.json");
    assert_abs_diff_eq!(log_z(&answer), 3.5_f64.ln(), epsilon = 1e-12);
    assert_close(&answer["marginals"], &[2.25 / 3.5, 0.5 / 3.5, 2.25 / 3.5, 2.0 / 3.5]);
    let log_probs = answer["log_probs"].as_array().unwrap();
    assert_close(&json!([log_probs[0]]), &[(0.25 / 3.5_f64).ln()]);
    assert_eq!(log_probs[1..], [json!(null), json!(null)]);
}

#[test]
fn a_plain_dpp() {
    let folder = Folder::with_pairs();
    folder.write("sets.json", "[[],[3],[0,2]]");
    let answer = folder.json("infer --features pairs.csv --sets sets.json");
    assert_abs_diff_eq!(log_z(&answer), 9_f64.ln(), epsilon = 1e-12);
    assert_close(&answer["marginals"], &[3.25 / 9.0, 1.0 / 9.0, 3.25 / 9.0, 4.0 / 9.0]);
    assert_close(&answer["log_probs"], &[-9_f64.ln(), (2.0 / 9.0_f64).ln(), -9_f64.ln()]);
}

#[test]
fn conditions() {
    let folder = Folder::with_pairs();
    let answer = folder.json(&format!("{INPUT} --k 2 --include 0"));
    assert_abs_diff_eq!(log_z(&answer), 2.25_f64.ln(), epsilon = 1e-12);
    assert_close(&answer["marginals"], &[1.0, 0.25 / 2.25, 1.0 / 2.25, 1.0 / 2.25]);
    let answer = folder.json(&format!("{INPUT} --k 2 --exclude 2"));
    assert_abs_diff_eq!(log_z(&answer), 1.25_f64.ln(), epsilon = 1e-12);
    assert_close(&answer["marginals"], &[1.0, 0.2, 0.0, 0.8]);
    let answer = folder.json(&format!("{INPUT} --include 1"));
    assert_abs_diff_eq!(log_z(&answer), 0.0, epsilon = 1e-12);
    assert_close(&answer["marginals"], &[0.25, 1.0, 0.25, 0.0]);
    let answer = folder.json(&format!("{INPUT} --quota 1,1 --include 2 --exclude 3"));
    assert_abs_diff_eq!(log_z(&answer), 1.25_f64.ln(), epsilon = 1e-12);
    assert_close(&answer["marginals"], &[0.8, 0.2, 1.0, 0.0]);
}

#[test]
fn people_get_tables() {
    let folder = Folder::with_pairs();
    folder.write("sets.json", "[[0,2],[1,3],[]]");
    let text = folder.text(&format!("{INPUT} --quota 1,1 --exclude 3 --sets sets.json"));
    for expected in [
        "1 item has probability 0",
        "expected in a set",
        "log-probability",
        "–∞",
        "-0.223144",
        "0.8000",
        "log Z     0.2231435513 ± ",
        "Partition-DPP of 2 items over 2 parts, from 4 items of 2 dimensions",
        "given     item 3 out",
        "on cpu in f64",
    ] {
        assert!(text.contains(expected), "'{expected}' is missing in\n{text}");
    }
    let text = folder.text("infer --features pairs.csv --k 1 --quiet");
    assert!(text.contains("log Z") && !text.contains("k-DPP") && !text.contains("part"), "{text}");
    let text = folder.text("infer --dataset digits --k 3 --include 5");
    assert!(text.contains("most probable") && text.contains("least probable"), "{text}");
    assert!(text.lines().count() < 40 && text.contains("1.0000"), "{text}");
}

#[test]
fn bad_sets() {
    let folder = Folder::with_pairs();
    let refuse = |text: &str, culprits: &[&str]| {
        folder.write("bad.json", text);
        folder.refuses(&format!("{INPUT} --k 2 --sets bad.json"), 2, &[&["bad.json"], culprits].concat());
    };
    refuse("", &["not JSON"]);
    refuse("[[0,1]", &["not JSON", "line 1"]);
    refuse("[[0,1]] 5", &["not JSON"]);
    refuse("7", &["a number", "list of lists"]);
    refuse("{\"sets\": []}", &["an object", "list of lists"]);
    refuse("[0, 1]", &["set 0", "a number"]);
    refuse("[[0,1], \"x\"]", &["set 1", "a string"]);
    refuse("[[0,1], null]", &["set 1", "null"]);
    refuse("[[0,1], [[2]]]", &["set 1", "a list"]);
    refuse("[[0], [1, -3]]", &["set 1", "-3"]);
    refuse("[[0], [1], [1.5]]", &["set 2", "1.5"]);
    refuse("[[99999999999999999999]]", &["set 0", "index"]);
    refuse("[[0], [4, 1]]", &["set 1", "item 4", "4 items"]);
    refuse("[[2, 0, 2]]", &["set 0", "item 2", "twice"]);
    folder.refuses(&format!("{INPUT} --sets gone.json"), 2, &["gone.json"]);
    folder.refuses(&format!("{INPUT} --sets ."), 2, &["."]);
    // An empty list of sets is not an error.
    folder.write("none.json", "[]");
    assert_eq!(folder.json(&format!("{INPUT} --sets none.json"))["log_probs"], json!([]));
}

#[test]
fn refused() {
    let folder = Folder::with_pairs();
    folder.refuses(&format!("{INPUT} --k 0"), 2, &["k is zero"]);
    folder.refuses(&format!("{INPUT} --k 3"), 2, &["k = 3", "rank"]);
    folder.refuses(&format!("{INPUT} --quota 0,0"), 2, &["quota", "zero"]);
    folder.refuses(
        &format!("{INPUT} --quota 2,1"),
        2,
        &["rank of the kernel, which is at most 2", "3 items"],
    );
    folder.refuses(&format!("{INPUT} --quota 1,1 --k 3"), 2, &["--quota", "--k"]);
    folder.refuses("infer --features pairs.csv --quota 1,1", 2, &["--quota", "--labels"]);
    folder.refuses("infer --k 2", 2, &["--features"]);
    folder.refuses("infer --features gone.csv --engine gpu", 2, &["gone.csv"]);
    folder.refuses(&format!("{INPUT} --k 0 --engine gpu"), 2, &["k is zero"]);
    folder.refuses(&format!("{INPUT} --engine gpu"), 3, &["graphics adapter"]);
}
