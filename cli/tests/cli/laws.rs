//! Draws under each law, and the statements about them.

use serde_json::{Value, json};

use super::support::Folder;

const INPUT: &str = "--features features.csv --labels labels.csv";

fn keys(answer: &Value) -> Vec<&str> {
    answer.as_object().unwrap().keys().map(String::as_str).collect()
}

fn sets(answer: &Value) -> Vec<Vec<usize>> {
    serde_json::from_value(answer["samples"].clone()).unwrap()
}

#[test]
fn a_partition_dpp_meets_its_quota() {
    let folder = Folder::new();
    let answer = folder.sample(&format!("{INPUT} --quota 1,1,1 --samples 50 --seed 7"));
    // serde_json sorts keys when it reads; their order in the text is checked below.
    let expected = [
        "acceptance_bound",
        "adapter",
        "backend",
        "bound",
        "engine",
        "engine_reason",
        "exactness",
        "law_error",
        "method",
    ];
    let rest = ["parts", "precision", "proposals", "quota", "samples", "seconds", "seed"];
    assert_eq!(keys(&answer), [&expected[..], &rest[..]].concat());
    assert_eq!(keys(&answer["seconds"]), ["sampling", "setup"]);
    assert_eq!(answer["parts"], json!(["dark", "light", "medium"]));
    assert_eq!(answer["quota"], json!([1, 1, 1]));
    assert_eq!((&answer["method"], &answer["engine"]), (&json!("rejection"), &json!("cpu")));
    assert_eq!((&answer["adapter"], &answer["backend"]), (&Value::Null, &Value::Null));
    assert_eq!((&answer["precision"], &answer["seed"]), (&json!("f64"), &json!(7)));
    assert!(answer["proposals"].as_u64().unwrap() >= 50);
    let bound = answer["acceptance_bound"].as_f64().unwrap();
    assert!(bound > 0.0 && bound <= 1.0);
    assert_eq!(sets(&answer).len(), 50);
    for set in sets(&answer) {
        let mut parts: Vec<usize> = set.iter().map(|item| item % 3).collect();
        parts.sort_unstable();
        assert_eq!(parts, [0, 1, 2], "{set:?}");
        assert!(set.is_sorted(), "{set:?}");
    }
}

#[test]
fn the_fields_come_in_the_order_of_the_contract() {
    let folder = Folder::new();
    let output = folder.pdpp(&format!("sample {INPUT} --quota 1,1,1 --json")).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let fields = [
        "{\"samples\"",
        "parts",
        "quota",
        "method",
        "engine",
        "adapter",
        "backend",
        "engine_reason",
        "precision",
    ];
    let fields =
        fields.iter().chain(&["seed", "proposals", "acceptance_bound", "seconds", "setup", "sampling"]);
    assert!(fields.map(|field| text.find(field).unwrap()).is_sorted(), "{text}");
}

#[test]
fn a_k_dpp_says_its_size() {
    let folder = Folder::new();
    let answer = folder.sample("--features features.csv --k 2 --samples 5");
    assert_eq!((&answer["k"], &answer["quota"], &answer["parts"]), (&json!(2), &json!([]), &json!([])));
    assert_eq!((&answer["method"], &answer["proposals"]), (&json!("spectral"), &json!(5)));
    assert_eq!(answer["acceptance_bound"], json!(1.0));
    assert!(sets(&answer).iter().all(|set| set.len() == 2));
}

#[test]
fn a_plain_dpp_is_any_size() {
    let folder = Folder::new();
    let answer = folder.sample("--features features.csv --samples 200");
    assert_eq!((&answer["quota"], &answer["method"]), (&json!([]), &json!("spectral")));
    assert!(answer.get("k").is_none());
    let sizes: Vec<usize> = sets(&answer).iter().map(Vec::len).collect();
    assert!(sizes.contains(&2) && sizes.contains(&3), "{sizes:?}");
}

#[test]
fn independent_k_dpps_meet_the_quota_too() {
    let folder = Folder::new();
    // Rank 3 allows three items from each part separately, though not together.
    let answer = folder.sample(&format!("{INPUT} --quota 2,2,2 --independent --samples 9"));
    assert_eq!((&answer["quota"], &answer["method"]), (&json!([2, 2, 2]), &json!("spectral")));
    for set in sets(&answer) {
        assert!((0..3).all(|part| set.iter().filter(|&item| item % 3 == part).count() == 2), "{set:?}");
    }
}

#[test]
fn quotas_by_name_and_by_position_agree() {
    let folder = Folder::new();
    let by_position = folder.sample(&format!("{INPUT} --quota 1,0,2 --samples 20"));
    let by_name = folder.sample(&format!("{INPUT} --quota medium=2,dark=1 --samples 20"));
    assert_eq!(by_position["samples"], by_name["samples"]);
    assert_eq!(by_name["quota"], json!([1, 0, 2]));
}

#[test]
fn threads_do_not_change_the_answer() {
    let folder = Folder::new();
    let sample = |threads| {
        let arguments = "--dataset digits --quota 1,1,1,1,1,0,0,0,0,0 --samples 100 --seed 3";
        folder.sample(&format!("{arguments} --threads {threads}"))
    };
    let (one, two) = (sample(1), sample(2));
    assert_eq!(one["samples"], two["samples"]);
    assert_eq!(one["proposals"], two["proposals"]);
    let other_seed = folder.sample("--dataset digits --quota 1,1,1,1,1,0,0,0,0,0 --samples 100 --seed 4");
    assert_ne!(one["samples"], other_seed["samples"]);
}

#[test]
fn people_get_a_table() {
    let folder = Folder::new();
    let output = folder.pdpp(&format!("sample {INPUT} --quota 1,1,1 --samples 25")).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    for expected in
        ["dark (1)", "… and 5 more", "Partition-DPP", "rejection on cpu in f64, seed 0", "guaranteed"]
    {
        assert!(text.contains(expected), "'{expected}' is missing in\n{text}");
    }
    assert!(output.stderr.is_empty());
    let output = folder.pdpp(&format!("sample {INPUT} --quota 1,1,1 --quiet")).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("dark (1)") && !text.contains("seed"), "{text}");
}

#[test]
fn parts_without_quota_or_too_many_parts_get_no_column() {
    let folder = Folder::new();
    let output = folder.pdpp(&format!("sample {INPUT} --quota light=1")).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("light (1)") && !text.contains("dark"), "{text}");
    let items: Vec<String> = (0..13).map(|item| format!("1,{item}\n")).collect();
    let labels: Vec<String> = (0..13).map(|item| format!("part{item}\n")).collect();
    folder.write("many.csv", items.concat());
    folder.write("parts.csv", format!("part\n{}", labels.concat()));
    let output = folder.pdpp("sample --features many.csv --labels parts.csv --k 2").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("items") && !text.contains("part0"), "{text}");
}

#[test]
fn a_closed_pipe_is_no_panic() {
    let folder = Folder::new();
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_pdpp"))
        .args("sample --dataset digits --k 5 --samples 20000 --json".split(' '))
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .current_dir(folder.path(""))
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(
        output.status.success() && output.stderr.is_empty(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

#[test]
fn help_and_version_are_no_errors() {
    let folder = Folder::new();
    for arguments in ["--help", "--version", "sample --help", "sample -h"] {
        let output = folder.pdpp(arguments).output().unwrap();
        assert!(
            output.status.success() && !output.stdout.is_empty() && output.stderr.is_empty(),
            "{arguments}"
        );
    }
}
