//! `map --solver coverage`: sets that cover all items.

use approx::assert_abs_diff_eq;
use partition_dpp::{
    Engine, Features, Partition, Quota, Sets,
    map::{Coverage, KernelModel, Solution, Solver},
    similarity::{Bandwidth, DotKernel, KernelFunction, RbfKernel},
};
use serde_json::{Value, json};

use super::support::Folder;

const ITEMS: usize = 30;
const INPUT: &str = "--features rows.csv --labels parts.csv";
const COVERAGE: &str = "--solver coverage --time-limit 0";

fn features() -> Features {
    let values: Vec<f64> = (0..ITEMS * 2).map(|at| 0.4 + (12.9898 * (at + 1) as f64).sin()).collect();
    Features::from_rows(ITEMS, 2, values).unwrap()
}

fn scores() -> Vec<f64> {
    (0..ITEMS).map(|item| (1.1 * item as f64).sin() + 1.0).collect()
}

fn partition() -> Partition {
    Partition::of((0..ITEMS).map(|item| item % 3)).unwrap()
}

/// Makes a folder with `rows.csv`, `parts.csv` and `scores.csv`.
fn folder() -> Folder {
    let (folder, features) = (Folder::new(), features());
    let row = |item| features.row(item).iter().map(f64::to_string).collect::<Vec<_>>().join(",") + "\n";
    folder.write("rows.csv", (0..ITEMS).map(row).collect::<String>());
    let part = |item: usize| format!("{},{}\n", item % 3, item / 15);
    folder.write("parts.csv", format!("part,user\n{}", (0..ITEMS).map(part).collect::<String>()));
    let lines: Vec<String> = scores().iter().map(f64::to_string).collect();
    folder.write("scores.csv", format!("score\n{}\n", lines.join("\n")));
    folder
}

/// Options and their meaning: the kernel, the sets, the coverage, and the diversity if there are scores.
type Case<'a> = (&'a str, &'a dyn KernelFunction, &'a Sets, Coverage, Option<f64>);

fn solve(kernel: &dyn KernelFunction, sets: &Sets, coverage: Coverage, scores: Option<f64>) -> Solution {
    let model = KernelModel::over(kernel, sets).unwrap().including(&[4]).unwrap().excluding(&[7]).unwrap();
    let model = match scores {
        Some(diversity) => model.with_scores(&self::scores(), diversity).unwrap(),
        None => model,
    };
    coverage.with_swaps().solve(&model, &Engine::cpu()).unwrap()
}

#[test]
fn answers_are_those_of_the_library() {
    let (folder, features, partition) = (folder(), features(), partition());
    let median = Bandwidth::Median.of(&features).unwrap();
    let unit = DotKernel::new(&features.with_unit_rows().unwrap());
    let rbf = |bandwidth| RbfKernel::new(&features, Bandwidth::Exactly(bandwidth)).unwrap();
    let quota = Quota::new(&partition, [2, 1, 3]).unwrap();
    let ranges = Quota::new(&partition, [1..=3, 0..=3, 1..=3]).unwrap().with_total(6).unwrap();
    let [by_quota, by_ranges] = [quota, ranges].map(|quota| Sets::Quota(partition.clone(), quota));
    let parts = || Coverage::within(&partition);
    let cases: [Case<'_>; 6] = [
        ("--similarity cosine --quota 2,1,3", &unit, &by_quota, parts(), None),
        ("--quota 2,1,3 --coverage all", &DotKernel::new(&features), &by_quota, Coverage::of_all(), None),
        ("--similarity rbf --quota 1..3,0..3,1..3 --k 6", &rbf(median / 3.0), &by_ranges, parts(), None),
        ("--similarity rbf --bandwidth 0.7 --k 9", &rbf(0.7), &Sets::OfSize(9), parts(), None),
        ("--similarity cosine --k 4 --scores scores.csv", &unit, &Sets::OfSize(4), parts(), Some(0.5)),
        (
            "--similarity cosine --scores scores.csv --diversity 0.9",
            &unit,
            &Sets::OfAnySize,
            parts(),
            Some(0.9),
        ),
    ];
    for (options, kernel, sets, coverage, scored) in cases {
        let command = format!("map {INPUT} --label-column part {COVERAGE} --include 4 --exclude 7 {options}");
        let (found, expected) = (folder.json(&command), solve(kernel, sets, coverage, scored));
        let covered = expected.covered.unwrap();
        assert_eq!(found["set"], json!(expected.subset.as_slice()), "{options}");
        assert_eq!(found["guarantee"], json!(covered.guarantee), "{options}");
        let coverage = found["coverage"].as_f64().unwrap();
        assert_abs_diff_eq!(coverage, covered.total, epsilon = 1e-9);
        assert_eq!(found["termination"], "locally-optimal");
        assert_eq!(found["log_det"].is_null(), expected.log_det.is_infinite(), "{found}");
        if let Some(diversity) = scored {
            let total: f64 = expected.subset.iter().map(|item| scores()[item]).sum();
            let objective = (1.0 - diversity) * total + diversity * coverage;
            assert_abs_diff_eq!(found["objective"].as_f64().unwrap(), objective, epsilon = 1e-9);
        }
    }
}

#[test]
fn every_value_has_its_own_cover() {
    let folder = folder();
    let law = format!("{COVERAGE} --similarity cosine --quota 1,1,1");
    let input = "--features rows.csv --labels parts.csv --label-column part --by user";
    let found = folder.json(&format!("map {input} {law}"));
    let excluded = |from: usize| (from..from + 15).map(|item| item.to_string()).collect::<Vec<_>>().join(",");
    for (value, others) in [(0, 15), (1, 0)] {
        let own: Vec<u64> = serde_json::from_value(found["sets"][value].clone()).unwrap();
        assert!(own.iter().all(|&item| item / 15 == value as u64) && own.len() == 3);
        // Excluded items must be covered, too, so the best set may change.
        let whole =
            folder.json(&format!("map {INPUT} --label-column part {law} --exclude {}", excluded(others)));
        assert!(found["covers"][value]["coverage"].as_f64() < whole["coverage"].as_f64());
        assert_eq!(found["covers"][value]["guarantee"], whole["guarantee"]);
    }
    assert!(folder.text(&format!("map {input} {law}")).contains("covers"));
}

/// Fewer items to choose from, all items to cover.
#[test]
fn candidates_are_drawn_from_every_part() {
    let folder = folder();
    let law = format!("--label-column part --similarity cosine --quota 2,2,2 {COVERAGE}");
    let all = folder.json(&format!("map {INPUT} {law}"));
    let few = folder.json(&format!("map {INPUT} {law} --candidates 4"));
    let [all_covered, few_covered] = [&all, &few].map(|answer| answer["coverage"].as_f64().unwrap());
    assert!(few_covered < all_covered && few_covered > 0.8 * all_covered, "{few_covered}, {all_covered}");
    assert!(few["guarantee"].is_null() && few["set"] != all["set"]);
    let enough = folder.json(&format!("map {INPUT} {law} --candidates 10"));
    assert_eq!((&enough["set"], &enough["guarantee"]), (&all["set"], &all["guarantee"]));
    let open = format!("map {INPUT} --label-column part --similarity cosine --quota 1..,1..,1.. {COVERAGE}");
    assert_eq!(folder.json(&format!("{open} --candidates 2"))["set"].as_array().unwrap().len(), 6);
    // The chosen number of items, plus the included ones.
    let only = folder.json(&format!("map {INPUT} {law} --candidates 1 --include 3"));
    let chosen: Vec<u64> = serde_json::from_value(only["set"].clone()).unwrap();
    assert!(chosen.contains(&3) && chosen.len() == 6);
}

#[test]
fn texts_say_what_is_covered() {
    let folder = folder();
    let parts =
        folder.text(&format!("map {INPUT} --label-column part --similarity cosine --quota 2,2,2 {COVERAGE}"));
    for words in [
        "covers ",
        "per item, by chosen items of its part",
        "proven    at least 0.6321 of the largest coverage",
        "log det   none",
    ] {
        assert!(parts.contains(words), "'{words}' is missing in {parts}");
    }
    let all = folder.text("map --features rows.csv --similarity rbf --k 3 --solver coverage");
    for words in ["by any chosen item\nproven    at least 0.6321", "coverage on cpu"] {
        assert!(all.contains(words), "'{words}' is missing in {all}");
    }
}

#[test]
fn what_is_of_determinants_is_refused() {
    let folder = folder();
    for (options, words) in [
        ("--solver coverage --k 3 --represent all", "takes no --represent"),
        ("--solver coverage --k 3 --ridge 0.1", "needs none"),
        ("--solver coverage --k 3 --certify", "states its guarantee"),
        ("--solver coverage --quota 1,1,1 --independent", "covers every part by itself"),
        ("--solver coverage --k 3 --scores scores.csv --diversity 0", "leaves nothing to cover"),
        ("--solver coverage --k 3 --engine gpu", "the CPU"),
        ("--solver coverage", "--quota, --k or --scores"),
        ("--solver coverage --k 3 --epsilon 0.1", "local-search"),
        ("--solver greedy --k 2 --coverage all", "--coverage is for --solver coverage"),
        ("--solver greedy --k 2 --candidates 5", "--candidates is for --solver coverage"),
        ("--solver coverage --k 2 --candidates 0", "--candidates"),
    ] {
        folder.refuses(&format!("map {INPUT} --label-column part {options}"), 2, &[words]);
    }
    folder.refuses(
        "map --features rows.csv --k 3 --solver coverage --coverage parts",
        2,
        &["needs --labels"],
    );
    // Dependent items may be included, although rows of two numbers allow no determinant of five items.
    let found = folder.json(&format!("map {INPUT} --label-column part --k 5 {COVERAGE} --include 0,1,3"));
    assert!(found["log_det"].is_null() && found["set"].as_array().unwrap().len() == 5);
    folder.refuses(&format!("map {INPUT} --label-column part --k 3 --include 0,1,3"), 2, &["rank"]);
    let found: Value = folder.json(&format!("map {INPUT} --label-column part --k 2 --solver greedy"));
    assert!(found.get("coverage").is_none() && found.get("guarantee").is_none());
}
