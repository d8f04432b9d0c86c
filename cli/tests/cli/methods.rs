//! Methods of drawing from a Partition-DPP, and the plans that announce their cost.

use std::collections::BTreeSet;

use approx::assert_abs_diff_eq;
use serde_json::json;

use super::support::Folder;

const INPUT: &str = "--features pairs.csv --labels ab.csv";

#[test]
fn every_method_draws_the_same_sets() {
    let folder = Folder::with_pairs();
    for method in ["auto", "rejection", "interpolation", "per-candidate"] {
        let answer = folder.sample(&format!("{INPUT} --quota 1,1 --samples 200 --method {method}"));
        let sets: BTreeSet<Vec<usize>> = serde_json::from_value(answer["samples"].clone()).unwrap();
        // Items 1 and 3 are parallel.
        assert_eq!(sets, [vec![0, 2], vec![0, 3], vec![1, 2]].into(), "{method}");
        if method != "auto" {
            assert_eq!(answer["method"], json!(method));
        }
        if method != "rejection" && method != "auto" {
            assert_eq!((&answer["proposals"], &answer["acceptance_bound"]), (&json!(200), &json!(1.0)));
        }
    }
}

#[test]
fn people_learn_which_method_and_why() {
    let folder = Folder::with_pairs();
    let sample = |method| folder.text(&format!("sample {INPUT} --quota 1,1 --method {method}"));
    let text = sample("rejection");
    assert!(text.contains("method    rejection on cpu") && text.contains("why       asked for"), "{text}");
    let text = sample("interpolation");
    assert!(text.contains("method    interpolation on cpu") && text.contains("proposals none"), "{text}");
    let text = sample("auto");
    assert!(text.contains("operations per sample predicted"), "{text}");
    let text = folder.text("sample --dataset digits --quota 1,1,1,1,1,1,1,1,1,1");
    assert!(text.contains("method    rejection") && text.contains("exceeds its budget"), "{text}");
    let text = folder.text(&format!("sample {INPUT} --k 2"));
    assert!(text.contains("nothing is ever rejected") && !text.contains("why"), "{text}");
}

#[test]
fn how_far_draws_may_be_from_the_law() {
    let folder = Folder::with_pairs();
    for law in [
        "--k 2",
        "",
        "--quota 1,1 --method rejection",
        "--quota 1,1 --method interpolation",
        "--quota ..1,1..",
    ] {
        let command = format!("{INPUT} {law}");
        let answer = folder.sample(&command);
        let law_error = answer["law_error"].as_f64().unwrap();
        assert!(answer["exactness"] == json!("exact") && law_error > 0.0 && law_error < 1e-11, "{answer}");
        let text = folder.text(&format!("sample {command}"));
        assert!(text.contains("exactness exact; law error ") && text.contains("(total variation)"), "{text}");
    }
    let settled = folder.sample(&format!("{INPUT} --quota 1,1 --include 0,2"));
    assert_eq!((&settled["exactness"], &settled["law_error"]), (&json!("exact"), &json!(0.0)));
}

#[test]
fn the_plan_as_json() {
    let folder = Folder::with_pairs();
    let text = folder.text(&format!("sample {INPUT} --quota 1,1 --method interpolation --plan --json"));
    let fields = [
        "{\"method\"",
        "choice",
        "proposals",
        "nodes",
        "rejection_cost",
        "interpolation_cost",
        "per_candidate_cost",
    ];
    assert!(fields.iter().map(|field| text.find(field).unwrap()).is_sorted(), "{text}");
    let plan: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!((&plan["method"], &plan["choice"]), (&json!("interpolation"), &json!("requested")));
    // Three phases for the total and two for the other part, half of them kept; k^k/k! · Πκ!/κ^κ = 2 proposals.
    assert_eq!(plan["nodes"], json!(3.0));
    assert_abs_diff_eq!(plan["proposals"].as_f64().unwrap(), 2.0, epsilon = 1e-9);
    assert!(plan["rejection_cost"].as_f64().unwrap() > 0.0);
    assert!(plan["interpolation_cost"].as_f64().unwrap() > 0.0);
    assert_eq!(folder.sample(&format!("{INPUT} --quota 1,1 --plan"))["choice"], json!("cheaper"));
    let many = folder.sample("--dataset digits --quota 1,1,1,1,1,1,1,1,1,1 --plan");
    assert_eq!((&many["method"], &many["choice"]), (&json!("rejection"), &json!("within-budget")));
    let ways = many["ways"].as_array().unwrap();
    let of = |method: &str| ways.iter().filter(|way| way["method"] == method).collect::<Vec<_>>();
    let promises = [("rejection", 5, "exact"), ("interpolation", 1, "exact"), ("per-candidate", 1, "exact")];
    for (method, count, exactness) in
        promises.into_iter().chain([("estimated", 1, "estimated"), ("mcmc", 1, "unknown")])
    {
        assert_eq!(of(method).len(), count, "{many}");
        for way in of(method) {
            assert_eq!(way["exactness"], exactness, "{way}");
            assert!(
                way["operations"].as_f64().unwrap() > 0.0 && way["memory"].as_u64().unwrap() > 0,
                "{way}"
            );
        }
    }
}

/// Refusals name the remaining methods, with their cost.
#[test]
fn refusals_say_what_other_ways_take() {
    let folder = Folder::new();
    let four = "sample --dataset digits --quota 4,4,4,4,4,4,4,4,4,4 --budget 0.001";
    folder.refuses(
        four,
        4,
        &[
            "--budget 44",
            "--method estimated takes about",
            "a sample; the distribution is off by about 1e-3",
            "--method mcmc takes about",
            "--independent",
        ],
    );
    let ranges =
        "sample --dataset digits --quota 4..5,4..5,4..5,4..5,4..5,4..5,4..5,4..5,4..5,4..5 --budget 0.001";
    folder.refuses(ranges, 4, &["under these ranges takes about", "--method estimated takes about"]);
}

#[test]
fn laws_without_a_choice_say_so() {
    let folder = Folder::with_pairs();
    let expected = |method: &str| {
        json!({
            "method": method, "choice": "only", "proposals": null, "nodes": null,
            "rejection_cost": null, "interpolation_cost": null, "per_candidate_cost": null,
            "seconds": null, "bounds": [], "ways": [],
        })
    };
    for law in ["", "--k 2", "--quota 1,1 --independent"] {
        let mut plan = folder.sample(&format!("{INPUT} {law} --plan"));
        assert!(plan.as_object_mut().unwrap().remove("memory").is_some());
        assert_eq!(plan, expected("spectral"), "{law}");
        let text = folder.text(&format!("sample {INPUT} {law} --plan"));
        assert!(text.contains("spectral") && text.contains("leaves no choice"), "{text}");
    }
    let settled = format!("{INPUT} --quota 1,1 --include 0,2 --plan");
    let mut plan = folder.sample(&settled);
    plan.as_object_mut().unwrap().remove("memory");
    assert_eq!(plan, expected("settled"));
    assert!(folder.text(&format!("sample {settled}")).contains("nothing is left to choose"));
}

#[test]
fn the_plan_for_people() {
    let folder = Folder::with_pairs();
    let text = folder.text(&format!("sample {INPUT} --quota 1,1 --plan"));
    for expected in [
        "operations per sample",
        "2.00 proposals",
        "3.00 nodes",
        "mcmc",
        "memory",
        "why",
        "Partition-DPP",
        "given",
    ] {
        let there = text.contains(expected);
        assert_eq!(there, expected != "given", "'{expected}' in\n{text}");
    }
    let text = folder.text(&format!("sample {INPUT} --quota 1,1 --plan --quiet"));
    assert!(text.contains("method") && !text.contains("Partition-DPP"), "{text}");
    // A plan is refused if a sample would be.
    folder.refuses(&format!("sample {INPUT} --quota 2,1 --plan"), 2, &["above the rank", "--independent"]);
}

#[test]
fn what_does_not_fit_into_memory_is_refused_with_the_plan() {
    let folder = Folder::new();
    folder.write("many.npy", super::support::npy("<f4", "(5000, 40)", &vec![1_u8; 4 * 5000 * 40]));
    let law = "sample --features many.npy --k 1";
    let memory = folder.json(&format!("{law} --plan"))["memory"].clone();
    let number = |name: &str| memory[name].as_u64().unwrap();
    assert_eq!(number("mapped"), 4 * 5000 * 40);
    let uses: u64 = memory["uses"].as_object().unwrap().values().map(|bytes| bytes.as_u64().unwrap()).sum();
    assert_eq!(number("needed"), uses);
    assert!(number("needed") >= 24 * 5000 && number("limit") > number("needed"), "{memory}");
    let text = folder.text(&format!("{law} --plan --memory 2GB"));
    for part in ["memory    ", "of 2000.0 MB allowed by --memory", "stay in their files", "tables of items"] {
        assert!(text.contains(part), "{part} is not in {text}");
    }
    folder.refuses(
        &format!("{law} --memory 100kB"),
        4,
        &["needed", "0.1 MB are allowed by --memory", "tables"],
    );
    folder.refuses(&format!("{law} --memory lots"), 2, &["--memory"]);
}
