//! Part counts against hand-computed numbers.

use serde_json::{Value, json};

use super::support::{Folder, assert_close};

const INPUT: &str = "counts --features pairs.csv --labels ab.csv";

/// Checks the counts and their probabilities.
fn check(answer: &Value, expected: &[([usize; 2], f64)]) {
    let entries = answer["counts"].as_array().unwrap();
    let field = |name: &str| entries.iter().map(|entry| entry[name].clone()).collect::<Value>();
    assert_eq!(field("count"), expected.iter().map(|(count, _)| json!(count)).collect::<Value>());
    assert_close(&field("prob"), &expected.iter().map(|(_, prob)| *prob).collect::<Vec<_>>());
}

#[test]
fn a_k_dpp() {
    let folder = Folder::with_pairs();
    let text = folder.text(&format!("{INPUT} --k 2 --json"));
    let fields = ["{\"counts\":[{\"count\":[", "\"prob\":", "quota_prob", "engine"];
    let fields = fields.iter().chain(&["adapter", "backend", "engine_reason", "precision"]);
    assert!(fields.map(|field| text.find(field).unwrap()).is_sorted(), "{text}");
    let answer: Value = serde_json::from_str(&text).unwrap();
    assert_eq!((answer.as_object().unwrap().len(), &answer["quota_prob"]), (7, &json!(null)));
    assert_eq!(answer["counts"][0].as_object().unwrap().len(), 2);
    assert_eq!((&answer["engine"], &answer["precision"]), (&json!("cpu"), &json!("f64")));
    check(&answer, &[([0, 2], 1.0 / 3.5), ([1, 1], 2.25 / 3.5), ([2, 0], 0.25 / 3.5)]);
    check(&folder.json(&format!("{INPUT} --k 1")), &[([0, 1], 3.0 / 4.5), ([1, 0], 1.5 / 4.5)]);
}

#[test]
fn the_quota_by_chance() {
    let folder = Folder::with_pairs();
    for size in ["", "--k 2"] {
        let answer = folder.json(&format!("{INPUT} --quota 1,1 {size}"));
        assert_close(&json!([answer["quota_prob"]]), &[2.25 / 3.5]);
        assert_eq!(answer["counts"].as_array().unwrap().len(), 3);
    }
    // Two parallel rows are never chosen together.
    folder.write("parallel.csv", "1,0\n2,0\n0,1\n1,1\n");
    let answer = folder.json("counts --features parallel.csv --labels ab.csv --quota a=2");
    assert_eq!(answer["quota_prob"], json!(0.0));
}

#[test]
fn conditions() {
    let folder = Folder::with_pairs();
    let answer = folder.json(&format!("{INPUT} --quota 1,1 --include 0"));
    assert_close(&json!([answer["quota_prob"]]), &[2.0 / 2.25]);
    check(&answer, &[([1, 1], 2.0 / 2.25), ([2, 0], 0.25 / 2.25)]);
    let answer = folder.json(&format!("{INPUT} --quota b=2 --exclude 1"));
    assert_close(&json!([answer["quota_prob"]]), &[1.0 / 3.0]);
    check(&answer, &[([0, 2], 1.0 / 3.0), ([1, 1], 2.0 / 3.0)]);
    // Nothing is random, or there is no quota to meet.
    let answer = folder.json(&format!("{INPUT} --quota 1,1 --include 0,1"));
    assert_eq!(answer["quota_prob"], json!(0.0));
    check(&answer, &[([2, 0], 1.0)]);
}

#[test]
fn people_get_a_table() {
    let folder = Folder::with_pairs();
    let text = folder.text(&format!("{INPUT} --quota 1,1"));
    // The most probable counts come first.
    assert!(["0.6429", "0.2857", "0.0714"].map(|p| text.find(p).unwrap()).is_sorted(), "{text}");
    for expected in [
        "mean      a: 0.786, b: 1.214",
        "quota     1,1: probability 0.6429 by chance, one set in 1.56",
        "law       k-DPP, k = 2",
        "on cpu in f64",
    ] {
        assert!(text.contains(expected), "'{expected}' is missing in\n{text}");
    }
    let text = folder.text(&format!("{INPUT} --k 2 --quiet"));
    assert!(text.contains("mean") && !text.contains("quota") && !text.contains("cpu"), "{text}");
}

#[test]
fn long_and_wide_tables_are_cut() {
    let folder = Folder::new();
    let items: Vec<String> = (0..13).map(|item| format!("1,{item}\n")).collect();
    let labels =
        |parts: usize| (0..13).map(|item| format!("part{}\n", item % parts)).collect::<Vec<_>>().concat();
    folder.write("many.csv", items.concat());
    folder.write("thirteen.csv", format!("part\n{}", labels(13)));
    let text = folder.text("counts --features many.csv --labels thirteen.csv --k 2");
    assert!(text.contains("items of each part") && text.contains("more; --json prints all"), "{text}");
    folder.write("two.csv", format!("part\n{}", labels(2)));
    let text = folder.text("counts --features many.csv --labels two.csv --k 2");
    assert!(text.contains("part0") && !text.contains("more;"), "{text}");
}

#[test]
fn refused() {
    let folder = Folder::with_pairs();
    folder.refuses(INPUT, 2, &["--k", "--quota"]);
    folder.refuses(&format!("{INPUT} --k 0"), 2, &["k is zero"]);
    folder.refuses(&format!("{INPUT} --k 3"), 2, &["k = 3", "rank"]);
    folder.refuses(&format!("{INPUT} --quota 0,0"), 2, &["quota", "zero"]);
    folder.refuses(&format!("{INPUT} --quota 1,1 --k 1"), 2, &["2 items", "--k", "1"]);
    folder.refuses(&format!("{INPUT} --quota 1,1,1"), 2, &["3 entries", "2 parts"]);
    folder.refuses("counts --features pairs.csv --k 2", 2, &["--labels"]);
    folder.refuses("counts --features pairs.csv --quota 1,1", 2, &["--labels"]);
    folder.refuses(&format!("{INPUT} --k 2 --engine gpu"), 3, &["graphics adapter"]);
}
