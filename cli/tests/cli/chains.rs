//! `pdpp sample --method mcmc` is approximate, and every answer says so.

use std::{collections::BTreeSet, fs};

use serde_json::json;

use super::support::Folder;

const INPUT: &str = "--features pairs.csv --labels ab.csv --quota 1,1 --method mcmc";
const DIGITS: &str = "sample --dataset digits --quota 1,1,1,1,1,1,1,1,1,1 --method mcmc";

#[test]
fn chains_draw_sets_of_the_law_with_their_diagnostics() {
    let folder = Folder::with_pairs();
    let answer = folder.sample(&format!("{INPUT} --samples 2000 --burn-in 10 --thin 2 --chains 2"));
    let sets: Vec<Vec<usize>> = serde_json::from_value(answer["samples"].clone()).unwrap();
    assert_eq!(sets.len(), 2000);
    let kinds: BTreeSet<&Vec<usize>> = sets.iter().collect();
    assert_eq!(kinds, [&vec![0, 2], &vec![0, 3], &vec![1, 2]].into());
    assert_eq!((&answer["method"], &answer["exactness"]), (&json!("mcmc"), &json!("unknown")));
    let mixing = &answer["mixing"];
    assert_eq!([&mixing["chains"], &mixing["burn_in"], &mixing["thin"]], [&json!(2), &json!(10), &json!(2)]);
    let diagnostics = &mixing["diagnostics"];
    let number = |name: &str| diagnostics[name].as_f64().unwrap();
    assert!(number("worst_r_hat") < 1.05 && number("fewest_effective_samples") > 100.0, "{diagnostics}");
    // Determinants 1, 1, ¼: the mean of ln det is (ln ¼) / 9.
    let mean = diagnostics["log_det"]["mean"].as_f64().unwrap();
    assert!((mean + 4.0_f64.ln() / 9.0).abs() < 0.05, "{mean}");
    assert_eq!(diagnostics["parts"][1]["part"], json!("b"));
    let proposed: u64 = (0..2).map(|at| diagnostics["moves"][at]["proposed"].as_u64().unwrap()).sum();
    let others = diagnostics["other_sets"]["proposed"].as_u64().unwrap();
    assert_eq!(json!(proposed + others), answer["proposals"]);
    assert!(others > 0);
    assert_eq!(answer.get("law_error"), Some(&json!(null)));
    // Exact draws state how far rounding takes them from the law.
    let exact = folder.sample("--features pairs.csv --labels ab.csv --quota 1,1");
    assert!(exact["exactness"] == json!("exact") && exact.get("mixing").is_none(), "{exact}");
    let law_error = exact["law_error"].as_f64().unwrap();
    assert!(law_error > 0.0 && law_error < 1e-12, "{exact}");
}

#[test]
fn the_same_seed_gives_the_same_draws_for_any_number_of_threads() {
    let folder = Folder::new();
    let draw = |rest: &str| folder.json(&format!("{DIGITS} --samples 50 {rest}"))["samples"].clone();
    let first = draw("--seed 3 --threads 1");
    assert_eq!(first, draw("--seed 3 --threads 2"));
    assert_ne!(first, draw("--seed 4"));
    assert_ne!(first, draw("--seed 3 --chains 3"));
    assert_ne!(first, draw("--seed 3 --burn-in 99"));
}

#[test]
fn every_output_is_labelled_approximate() {
    let folder = Folder::new();
    let text = folder.text(&format!("{DIGITS} --samples 400"));
    for line in [
        "method    mcmc on cpu",
        "exactness unknown: approximate",
        "chains    4, 100 sweeps of burn-in",
        "R\u{302} at most 1.",
    ] {
        assert!(text.contains(line), "{line} is not in {text}");
    }
    assert!(folder.text(&format!("{DIGITS} --plan")).contains("approximate"));
    let few = folder.text(DIGITS);
    assert!(few.contains("approximate") && few.contains("mixing    unknown: "), "{few}");
    let plot = folder.path("plot.svg");
    folder.text(&format!("{DIGITS} --plot {}", plot.display()));
    assert!(fs::read_to_string(&plot).unwrap().contains("the first sample, approximate"));
    let exact = DIGITS.replace(" --method mcmc", "");
    folder.text(&format!("{exact} --plot {}", plot.display()));
    assert!(!fs::read_to_string(&plot).unwrap().contains("approximate"));
}

#[test]
fn a_law_with_nothing_left_to_choose_needs_no_chains() {
    let folder = Folder::with_pairs();
    let answer = folder
        .sample("--features pairs.csv --labels ab.csv --quota 1,1 --include 0,2 --method mcmc --samples 3");
    assert_eq!(answer["samples"], json!([[0, 2], [0, 2], [0, 2]]));
}

#[test]
fn options_of_chains_need_chains() {
    let folder = Folder::with_pairs();
    let input = "sample --features pairs.csv --labels ab.csv";
    let refused = |rest: &str, sentence: &str| folder.refuses(&format!("{input} {rest}"), 2, &[sentence]);
    refused("--quota 1,1 --thin 3", "--thin needs --method mcmc");
    refused("--quota 1,1 --method rejection --chains 2", "--chains needs --method mcmc");
    refused("--quota 1,1 --method mcmc --thin 0", "at least one sweep");
    refused("--quota 1,1 --method mcmc --thin often", "'often' is neither a number of sweeps nor auto");
    refused("--quota 1,1 --method mcmc --chains 0", "--chains");
    refused("--k 2 --method mcmc", "--method mcmc draws from Partition-DPPs");
}
