//! How `pdpp map` ends: empty answers, incomplete ones, proofs, Ctrl-C.

use serde_json::{Value, json};

use crate::support::Folder;

#[test]
fn an_empty_set_is_an_answer() {
    let folder = Folder::new();
    folder.write("short.csv", "0.5\n");
    folder.write("labels.csv", "part\na\n");
    for solver in ["greedy", "local-search", "exact"] {
        for labels in ["", "--labels labels.csv"] {
            let text = folder.text(&format!("map --features short.csv {labels} --solver {solver} --certify"));
            assert!(text.starts_with("set       (empty)\nlog det   0.000000\n"), "{text}");
            assert!(text.contains("from 1 item of 1 dimension\n"), "{text}");
        }
    }
}

#[test]
fn a_gap_of_rounding_is_none() {
    let folder = Folder::with_pairs();
    // There is only one set to choose.
    let text = folder.text("map --features pairs.csv --k 2 --exclude 0,1 --solver greedy --certify");
    assert!(text.contains("; within rounding of the optimum\n") && !text.contains("gap"), "{text}");
}

#[test]
fn a_set_that_lacks_items_is_no_answer() {
    let folder = Folder::new();
    // Next to the others, the third row vanishes when it is squared.
    folder.write("range.csv", "1e82,0,0\n0,1e82,1e81\n1e-83,1e-83,2e-83\n");
    for rest in ["", "--json", "--certify", "--plot plot.png"] {
        let arguments = format!("map --features range.csv --k 3 --solver greedy {rest}");
        folder.refuses(&arguments, 2, &["rank exhausted", "no set of 3 items", "only one of 2"]);
    }
    assert_eq!(folder.json("map --features range.csv --k 2 --solver greedy")["set"], json!([0, 1]));
}

#[cfg(unix)]
#[test]
fn ctrl_c_during_a_certificate_ends_with_what_is_known() {
    let folder = Folder::new();
    let number = |at: u32| (f64::from(at) * f64::from(at) * 0.37).sin();
    let row = |i: u32| (0..300).map(|j| number(300 * i + j).to_string()).collect::<Vec<_>>().join(",");
    folder.write("many.csv", (0..300).map(row).collect::<Vec<_>>().join("\n"));
    let arguments = "map --features many.csv --k 150 --solver greedy --certify --time-limit 500 --json";
    let output = folder.interrupted(arguments, |shown| shown.contains("at most "));
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(130), "{stderr}");
    assert_eq!(stderr, "error: interrupted: the best set so far is printed\n");
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(found["set"].as_array().unwrap().len(), 150);
    assert!(found["gap"].as_f64().unwrap() > 0.0, "{found}");
}
