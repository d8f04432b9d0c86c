//! `--multi-label`: laws over copies and answers about items, against hand-computed numbers.

use std::collections::BTreeMap;

use approx::assert_abs_diff_eq;
use serde_json::{Value, json};

use super::support::{Folder, assert_close, npy};

/// Five items with two features. Determinants of pairs: {0,1} 1, {0,2} 1, {0,4} 4, {1,2} 1, {1,4} 0, {2,4} 4. Of
/// single items: 1, 1, 2, 5, 4.
const ITEMS: &str = "1,0\n0,1\n1,1\n2,1\n0,2\n";
/// a: 0, 2, 4; b: 0, 1, 2; c: none.
const TABLE: &str = "item,b,a,c\n0,1,1,0\n1,1,0,0\n2,1,1,0\n3,0,0,0\n4,0,1,0\n";

const INPUT: &str = "--features items.csv --labels table.csv --multi-label";

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("items.csv", ITEMS);
    folder.write("table.csv", TABLE);
    folder
}

fn log_z(answer: &Value) -> f64 {
    answer["log_z"].as_f64().unwrap()
}

/// Sets of one item from a and another from b, Z = 12: {0,1} and {1,2} one way, {0,2} two ways, {0,4} and {2,4} one
/// way.
#[test]
fn probabilities_are_of_items() {
    let folder = folder();
    folder.write("sets.json", "[[0,1],[0,2],[4,2],[1,4],[0,3],[0,1,2]]");
    let answer = folder.json(&format!("infer {INPUT} --quota 1,1 --sets sets.json"));
    assert_abs_diff_eq!(log_z(&answer), 12_f64.ln(), epsilon = 1e-12);
    assert_close(&answer["marginals"], &[7.0 / 12.0, 2.0 / 12.0, 7.0 / 12.0, 0.0, 8.0 / 12.0]);
    let log_probs = answer["log_probs"].as_array().unwrap();
    assert_close(&json!(log_probs[..3]), &[1.0, 2.0, 4.0].map(|weight: f64| (weight / 12.0).ln()));
    assert_eq!(log_probs[3..], [json!(null), json!(null), json!(null)]);
    // With any labels, {0,2} has four ways and {0,4} has two.
    folder.write("sets.json", "[[0,2],[0,4],[0]]");
    let answer = folder.json(&format!("infer {INPUT} --k 2 --sets sets.json"));
    assert_abs_diff_eq!(log_z(&answer), 24_f64.ln(), epsilon = 1e-12);
    let log_probs = answer["log_probs"].as_array().unwrap();
    assert_close(&json!(log_probs[..2]), &[(4.0 / 24.0_f64).ln(), (8.0 / 24.0_f64).ln()]);
    assert_eq!(log_probs[2], json!(null));
}

#[test]
fn probabilities_in_words_name_all_labels() {
    let folder = folder();
    let text = folder.text(&format!("infer {INPUT} --quota 1,1"));
    for words in ["a, b", "0.6667", "1 item has probability 0", "5 items, one copy per label (6),"] {
        assert!(text.contains(words), "'{words}' is missing in {text}");
    }
}

#[test]
fn samples_are_of_items() {
    let folder = folder();
    let answer = folder.sample(&format!("{INPUT} --quota a=1,b=1 --samples 1000 --seed 2"));
    assert_eq!((&answer["parts"], &answer["quota"]), (&json!(["a", "b"]), &json!([1, 1])));
    let samples: Vec<[usize; 2]> = serde_json::from_value(answer["samples"].clone()).unwrap();
    // Exactly the possible sets: no item twice, and none without a label.
    let mut found = samples.clone();
    found.sort_unstable();
    found.dedup();
    assert_eq!(found, [[0, 1], [0, 2], [0, 4], [1, 2], [2, 4]]);
    let share = samples.iter().filter(|set| set[1] == 4).count() as f64 / 1000.0;
    assert!((share - 8.0 / 12.0).abs() < 5.0 * (8.0 / 12.0 * 4.0 / 12.0 / 1000_f64).sqrt(), "{share}");
    let text = folder.text(&format!("sample {INPUT} --quota 1,1 --samples 20"));
    assert!(text.contains("a (1)") && text.contains("repeats   none"), "{text}");
}

/// Both parts take item 0 with probability 1/7 · 1/4, item 2 with 2/7 · 2/4.
#[test]
fn independent_samples_may_have_an_item_twice() {
    let folder = folder();
    let answer = folder.sample(&format!("{INPUT} --quota 1,1 --independent --samples 10000"));
    let samples: Vec<[usize; 2]> = serde_json::from_value(answer["samples"].clone()).unwrap();
    let twice = samples.iter().filter(|set| set[0] == set[1]).count();
    let exact = 5.0 / 28.0;
    let sigmas = (twice as f64 - 10_000.0 * exact) / (10_000.0 * exact * (1.0 - exact)).sqrt();
    assert!(sigmas.abs() < 5.0, "{twice}: {sigmas} σ");
    let text = folder.text(&format!("sample {INPUT} --quota 1,1 --independent --samples 10000"));
    let repeats = format!("repeats   {twice}, in {twice} of 10000 samples");
    assert!(text.contains(&repeats), "'{repeats}' is missing in {text}");
}

#[test]
fn the_most_diverse_set_is_of_items() {
    let folder = folder();
    for solver in ["greedy", "local-search --time-limit 0", "exact"] {
        let answer = folder.json(&format!("map {INPUT} --quota 1,1 --solver {solver}"));
        assert_eq!(answer["set"], json!([0, 4]), "{solver}");
        assert_abs_diff_eq!(answer["log_det"].as_f64().unwrap(), 4_f64.ln(), epsilon = 1e-12);
    }
    let text = folder.text(&format!("map {INPUT} --quota 1,1 --exclude 0"));
    let of = |part: &str| -> Vec<String> {
        let row = text.lines().find(|line| line.trim_start().starts_with(part)).unwrap();
        row.split_whitespace().map(str::to_owned).collect()
    };
    assert_eq!(
        (of("a "), of("b ")),
        (
            ["a", "1", "4", "1.000"].map(String::from).to_vec(),
            ["b", "1", "2", "1.000"].map(String::from).to_vec()
        )
    );
}

/// Of a total of 24, two copies of part a weigh 9, and two of part b weigh 3.
#[test]
fn counts_are_of_labels() {
    let folder = folder();
    let answer = folder.json(&format!("counts {INPUT} --quota 1,1"));
    let probs: Vec<&Value> =
        answer["counts"].as_array().unwrap().iter().map(|entry| &entry["prob"]).collect();
    let counts: Vec<&Value> =
        answer["counts"].as_array().unwrap().iter().map(|entry| &entry["count"]).collect();
    assert_eq!(json!(counts), json!([[0, 2], [1, 1], [2, 0]]));
    assert_close(&json!(probs), &[3.0 / 24.0, 0.5, 9.0 / 24.0]);
    assert_close(&json!([answer["quota_prob"]]), &[0.5]);
}

#[test]
fn an_item_is_out_with_all_its_labels() {
    let folder = folder();
    let answer = folder.json(&format!("infer {INPUT} --quota 1,1 --exclude 2"));
    assert_abs_diff_eq!(log_z(&answer), 5_f64.ln(), epsilon = 1e-12);
    assert_close(&answer["marginals"], &[1.0, 0.2, 0.0, 0.0, 0.8]);
    let answer = folder.json(&format!("counts {INPUT} --quota 1,1 --exclude 2,3"));
    // Pairs of copies: {0,4} 4 in a; {0,1} 1 in b; {0,1} 1 and {0,4} 4 across.
    assert_close(&json!([answer["quota_prob"]]), &[0.5]);
    let answer = folder.sample(&format!("{INPUT} --quota 1,1 --samples 100 --exclude 2"));
    assert!(
        answer["samples"]
            .as_array()
            .unwrap()
            .iter()
            .all(|set| *set == json!([0, 1]) || *set == json!([0, 4]))
    );
}

#[test]
fn an_item_with_one_label_may_be_in() {
    let folder = folder();
    folder.write("sets.json", "[[0,4],[0,1]]");
    let answer = folder.json(&format!("infer {INPUT} --quota 1,1 --include 4 --sets sets.json"));
    assert_close(&answer["marginals"], &[0.5, 0.0, 0.5, 0.0, 1.0]);
    assert_close(&json!([answer["log_probs"][0]]), &[0.5_f64.ln()]);
    assert_eq!(answer["log_probs"][1], json!(null));
    let answer = folder.sample(&format!("{INPUT} --k 2 --include 4 --samples 50"));
    assert!(answer["samples"].as_array().unwrap().iter().all(|set| set[1] == json!(4)));
}

#[test]
fn columns_may_be_chosen() {
    let folder = folder();
    let answer = folder.json(&format!("infer {INPUT} --label-column b --quota 2"));
    assert_close(&answer["marginals"], &[2.0 / 3.0, 2.0 / 3.0, 2.0 / 3.0, 0.0, 0.0]);
    let all = folder.json(&format!("infer {INPUT} --quota 1,1"));
    let both = folder.json(&format!("infer {INPUT} --quota 1,1 --label-column b,a"));
    assert_eq!(all["marginals"], both["marginals"]);
    // Without a counted column, and with numeric labels.
    folder.write("table.csv", "10,9\n1,1\n1,0\n1,1\n0,0\n0,1\n");
    let answer = folder.sample(&format!("{INPUT} --quota 9=1,10=1"));
    assert_eq!(answer["parts"], json!(["9", "10"]));
    let numbers = folder.json(&format!("infer {INPUT} --quota 1,1"));
    assert_eq!(all["marginals"], numbers["marginals"]);
    // A label may be called item.
    folder.write("table.csv", "item,a\n1,1\n1,0\n1,1\n0,0\n0,1\n");
    let called = folder.json(&format!("infer {INPUT} --label-column item,a --quota 1,1"));
    assert_eq!(all["marginals"], called["marginals"]);
}

#[test]
fn bad_tables_are_refused() {
    let folder = folder();
    let refuse = |table: &str, more: &str, culprits: &[&str]| {
        folder.write("table.csv", table);
        folder.refuses(&format!("sample {INPUT} --k 1 {more}"), 2, culprits);
    };
    let cell = ["table.csv", "row 2, column 2", "line 4", "'2' under a"];
    refuse(&TABLE.replace("2,1,1,0", "2,1,2,0"), "", &cell);
    refuse(&TABLE.replace("2,1,1,0", "2,1,,0"), "", &["table.csv", "row 2, column 2", "'' under a"]);
    refuse(&TABLE.replace("2,1,1,0", "3,1,1,0"), "", &["table.csv", "row 2, column 0", "'3'", "0, 1, 2"]);
    refuse(&TABLE.replace("2,1,1,0", "2,1,1"), "", &["table.csv", "row 2", "3 cells"]);
    refuse(TABLE, "--label-column a,d", &["table.csv", "no column 'd'", "b, a, c"]);
    refuse(TABLE, "--label-column a,b,a", &["--label-column", "a twice"]);
    refuse(TABLE, "--label-column c", &["table.csv", "labels is empty"]);
    refuse("a,a\n1,0\n", "", &["table.csv", "columns 0 and 1 have the same name, a"]);
    refuse("item\n0\n1\n2\n3\n4\n", "", &["table.csv", "labels is empty"]);
    refuse("", "", &["table.csv", "empty"]);
    refuse("a\n1\n0\n1\n", "", &["table.csv", "3 labels", "5 items", "items.csv"]);
    refuse("1,1\n1,0\n1,1\n0,0\n", "", &["table.csv", "columns 0 and 1 have the same name, 1"]);
    refuse("a,b\n1,1\n1,0\n1,1\n0,0\n", "", &["table.csv", "4 labels", "header"]);
    folder.write("table.npy", npy("|u1", "(5, 2)", &[1; 10]));
    folder.refuses("sample --features items.csv --labels table.npy --multi-label", 2, &["table.npy", ".csv"]);
}

#[test]
fn plots_name_items() {
    let folder = folder();
    for command in ["sample", "map"] {
        folder.text(&format!("{command} {INPUT} --quota a=2 --include 4 --exclude 0 --plot plot.svg"));
        let plot = std::fs::read_to_string(folder.path("plot.svg")).unwrap();
        // Group texts by font size: names of items have their own size.
        let mut texts: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for text in plot.split("<text ").skip(1) {
            let size = text.split("font-size=\"").nth(1).unwrap().split('"').next().unwrap();
            let content = text.split_once('>').unwrap().1.split("</text>").next().unwrap();
            texts.entry(size).or_default().push(content.trim());
        }
        // The copies of items 2 and 4 are rows 3 and 5.
        assert!(texts.values().any(|texts| *texts == ["2", "4"]), "{command}: {texts:?}");
    }
}

#[test]
fn what_makes_no_sense_is_refused() {
    let folder = folder();
    folder.refuses("sample --features items.csv --multi-label", 2, &["--multi-label", "--labels"]);
    folder.refuses("sample --dataset digits --multi-label", 2, &["--multi-label", "--labels"]);
    for command in ["sample", "map", "infer", "counts"] {
        let refuse = |more: &str, culprits: &[&str]| {
            folder.refuses(&format!("{command} {INPUT} --quota 1,1 {more}"), 2, culprits);
        };
        refuse("--include 0", &["--include 0", "2 labels", "a, b"]);
        refuse("--include 3", &["--include 3", "no label"]);
        refuse("--include 1,4", &["linearly dependent: item 4"]);
        refuse("--include 5", &["item 5", "5 items"]);
        refuse("--exclude 5", &["item 5", "5 items"]);
        refuse("--exclude 1,1", &["item 1", "twice"]);
        refuse("--include 4 --exclude 4", &["item 4", "included and excluded"]);
    }
    folder.refuses(&format!("sample {INPUT} --quota c=1"), 2, &["part c", "a, b"]);
    folder.write("sets.json", "[[0,5]]");
    folder.refuses(&format!("infer {INPUT} --quota 1,1 --sets sets.json"), 2, &["sets.json", "item 5"]);
}
