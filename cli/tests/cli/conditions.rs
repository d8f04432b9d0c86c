//! `--include` and `--exclude`, under every law.

use serde_json::Value;

use super::support::Folder;

const INPUT: &str = "--features features.csv --labels labels.csv";
const PAIRS: &str = "--features pairs.csv --labels ab.csv";
const LAWS: [&str; 4] = ["", "--k 2", "--quota 1,1,0", "--quota 1,1,0 --independent"];

fn sets(answer: &Value) -> Vec<Vec<usize>> {
    serde_json::from_value(answer["samples"].clone()).unwrap()
}

#[test]
fn samples_keep_to_them() {
    let folder = Folder::new();
    for law in LAWS {
        let answer = folder.sample(&format!("{INPUT} {law} --include 3 --exclude 4,7 --samples 100"));
        let sets = sets(&answer);
        assert!(sets.iter().all(|set| set.contains(&3)), "{law}");
        assert!(!sets.iter().flatten().any(|item| [4, 7].contains(item)), "{law}");
    }
}

#[test]
fn people_are_reminded() {
    let folder = Folder::new();
    let text = folder.text(&format!("sample {INPUT} --k 2 --include 3 --exclude 7,4"));
    assert!(text.contains("given     item 3 in; items 7 4 out\n"), "{text}");
    let all = "0,1,2,3,4,5,6,7,8,9,10,11";
    let text = folder.text(&format!("sample --dataset digits --k 2 --exclude {all}"));
    assert!(text.contains("given     items 0 1 2 3 4 5 6 7 8 9 … (12 in all) out\n"), "{text}");
}

#[test]
fn nothing_left_to_choose_is_no_error() {
    let folder = Folder::with_pairs();
    for law in ["--k 2", "--quota 1,1", "--quota 1,1 --independent"] {
        let answer = folder.sample(&format!("{PAIRS} {law} --include 0,2 --samples 3"));
        assert_eq!(sets(&answer), vec![vec![0, 2]; 3], "{law}");
    }
    // A part that is needed whole is settled, too.
    let text = folder.text(&format!("sample {PAIRS} --quota a=2"));
    assert!(text.contains("settled") && text.contains("nothing is left to choose"), "{text}");
    assert!(!text.contains("why"), "{text}");
}

#[test]
fn bad_items_are_named() {
    let folder = Folder::new();
    let commands = LAWS.map(|law| format!("sample {law}"));
    let more = ["infer", "infer --k 2", "infer --quota 1,1,0", "counts --k 2", "counts --quota 1,1,0"];
    for command in commands.iter().map(String::as_str).chain(more) {
        let refuse = |conditions: &str, culprits: &[&str]| {
            folder.refuses(&format!("{command} {INPUT} {conditions}"), 2, culprits);
        };
        refuse("--include x", &["'x'", "--include"]);
        refuse("--exclude 0,-1", &["'-1'", "--exclude"]);
        refuse("--exclude -1", &["'-1'", "--exclude"]);
        refuse("--include 1.5", &["'1.5'"]);
        refuse("--include 0,,1", &["''"]);
        refuse("--include 9", &["item 9", "9 items"]);
        refuse("--exclude 0,99", &["item 99"]);
        refuse("--include 1,1", &["item 1", "twice"]);
        refuse("--exclude 1,1", &["item 1", "twice"]);
        refuse("--include 0 --exclude 1,0", &["item 0", "included and excluded"]);
    }
}

#[test]
fn impossible_conditions() {
    let folder = Folder::with_pairs();
    let refuse = |law: &str, conditions: &str, culprits: &[&str]| {
        for command in ["sample", "infer"] {
            folder.refuses(&format!("{command} {PAIRS} {law} {conditions}"), 2, culprits);
        }
    };
    refuse("--k 1", "--include 0,1", &["2 items", "k = 1"]);
    refuse("--k 2", "--include 1,3", &["dependent", "item 3"]);
    refuse("", "--include 1,3", &["dependent", "item 3"]);
    refuse("--k 2", "--exclude 0,1,2", &["k = 2", "the 1 item"]);
    refuse("--k 2", "--exclude 0,2", &["k = 2", "rank"]);
    refuse("--quota 1,1", "--include 1,3", &["dependent", "item 3"]);
    refuse("--quota 1,1", "--include 0,1", &["2 items", "part a", "1"]);
    refuse("--quota 1,1", "--include 1 --exclude 2", &["no set can meet the quota", "part b"]);
    refuse("--quota 1,1", "--exclude 0,1", &["part a", "0"]);
    refuse("--quota a=2", "--exclude 1", &["2 items of part a", "1"]);
    folder.refuses(&format!("counts {PAIRS} --k 1 --include 0,1"), 2, &["2 items", "k = 1"]);
    folder.refuses(&format!("counts {PAIRS} --k 2 --exclude 0,2"), 2, &["k = 2", "rank"]);
    let independent = format!("sample {PAIRS} --quota 1,1 --independent");
    folder.refuses(&format!("{independent} --include 0,1"), 2, &["2 items", "part a"]);
    folder.refuses(&format!("{independent} --exclude 0,1"), 2, &["part a"]);
}
