//! `pdpp map --similarity rbf` on the kernel itself, compared with the same kernel given as a matrix.

use std::fmt::Write;

use approx::assert_abs_diff_eq;
use serde_json::{Value, json};

use super::support::{Folder, npy};

const ITEMS: usize = 60;

fn rows() -> Vec<[f64; 2]> {
    let spread = |i: usize, step: f64| 4.0 * (step * (i + 1) as f64).fract();
    (0..ITEMS).map(|i| [spread(i, 0.618_033_988_7), spread(i, 0.754_877_666_2)]).collect()
}

/// Makes points of the plane, their Gaussian kernel of bandwidth 0.7, labels in three parts, and scores.
fn planar() -> Folder {
    let folder = Folder::new();
    let (rows, mut kernel) = (rows(), String::new());
    for x in &rows {
        let entry = |y: &[f64; 2]| {
            let square = (x[0] - y[0]).powi(2) + (x[1] - y[1]).powi(2);
            (-square / (2.0 * 0.7 * 0.7)).exp().to_string()
        };
        let line: Vec<String> = rows.iter().map(entry).collect();
        writeln!(kernel, "{}", line.join(",")).unwrap();
    }
    folder.write("kernel.csv", kernel);
    let lines = |line: &dyn Fn(usize) -> String| (0..ITEMS).map(line).collect::<Vec<_>>().join("\n");
    folder.write("plane.csv", lines(&|i| format!("{},{}", rows[i][0], rows[i][1])));
    folder.write("parts.csv", format!("part\n{}\n", lines(&|i| ["a", "b", "c"][i * i % 7 % 3].to_string())));
    folder.write("points.csv", format!("points\n{}\n", lines(&|i| (7 * i % 13).to_string())));
    folder
}

const RBF: &str = "--features plane.csv --similarity rbf --bandwidth 0.7";

fn number(answer: &Value, key: &str) -> f64 {
    answer[key].as_f64().unwrap_or_else(|| panic!("{key} is missing in {answer}"))
}

#[test]
fn sets_are_those_of_the_same_matrix() {
    let folder = planar();
    let labels = "--labels parts.csv";
    let mut noticed = 0;
    for law in [
        "--k 12 --include 3",
        "--k 12 --scores points.csv",
        &format!("{labels} --quota 3,0,4 --scores points.csv --diversity 0.4"),
        &format!("{labels} --quota a=3,b=5,c=4 --include 3,7 --exclude 0,50"),
        &format!("{labels} --quota 1..3,..4,2 --scores points.csv --diversity 0.9"),
        &format!("{labels} --quota 1..3,..9,2..4 --k 10 --include 11"),
        &format!("{labels} --quota equal --k 9 --scores points.csv"),
        &format!("{labels} --quota 3,2,4 --independent --scores points.csv --exclude 8"),
        "--scores points.csv",
        "--scores points.csv --diversity 0.8 --include 0,1",
    ] {
        for solver in ["greedy", "local-search --time-limit 0"] {
            let found = folder.json(&format!("map {RBF} --solver {solver} {law}"));
            let expected = folder.json(&format!("map --kernel kernel.csv --solver {solver} {law}"));
            // Features of less than full rank give other sets, which the check notices.
            let other = folder.json(&format!("map {RBF} --landmarks 14 --solver {solver} {law}"));
            assert!(0.0 < number(&found, "kernel_error") && number(&found, "kernel_error") < 1e-14, "{law}");
            assert!(number(&other, "kernel_error") > 1e-4);
            noticed += usize::from(other["set"] != found["set"]);
            // Local search on a matrix also swaps two items at once.
            if solver == "greedy" {
                assert_eq!(found["set"], expected["set"], "{law}");
                assert_eq!(found["termination"], expected["termination"], "{law}");
            }
            let [own, dense] = [&found, &expected].map(|answer| number(answer, "log_det"));
            assert!(own <= dense + 1e-6, "{law}: {own}, {dense}");
            if found["set"] == expected["set"] {
                for key in ["log_det", "objective", "score_total", "log_det_similarity"] {
                    if expected.get(key).is_some() {
                        assert_abs_diff_eq!(number(&found, key), number(&expected, key), epsilon = 1e-6);
                    }
                }
            }
            // A kernel of pairs has no rows whose lengths could be explained.
            let keys = |answer: &Value| {
                let keys = answer.as_object().unwrap().keys().cloned();
                keys.filter(|key| !key.starts_with("explained")).collect::<Vec<_>>()
            };
            assert_eq!(keys(&found), keys(&other));
        }
    }
    assert!(noticed > 10, "{noticed} of 20");
}

#[test]
fn solvers_that_need_features_have_them() {
    let folder = planar();
    for solver in
        ["--solver exact --time-limit 1 --k 3", "--certify --time-limit 1 --k 3", "--landmarks 9 --k 3"]
    {
        let found = folder.json(&format!("map {RBF} {solver}"));
        assert!(number(&found, "kernel_error") > 0.0, "{solver}");
        assert_eq!(found["upper_bound"].is_null(), solver.contains("landmarks"), "{solver}");
    }
    let sampled = folder.json(&format!("sample {RBF} --k 5"));
    assert!(number(&sampled, "kernel_error") > 0.0);
    // Only scores: the kernel plays no role.
    let top = folder.json(&format!("map {RBF} --k 4 --scores points.csv --diversity 0"));
    assert_abs_diff_eq!(number(&top, "score_total"), 48.0, epsilon = 0.0);
}

#[test]
fn people_read_how_items_are_compared() {
    let folder = planar();
    let text = |arguments: &str| folder.text(arguments);
    let exact = text(&format!("map {RBF} --k 20 --solver greedy --scores points.csv"));
    let law = "law       k-DPP, k = 20, from 60 items of 2 dimensions, rbf similarity of bandwidth 0.7000, scores at diversity 0.5\n";
    assert!(exact.contains(&format!("{law}kernel    exact, computed from pairs of items\n")), "{exact}");
    let features = text(&format!("sample {RBF} --k 5 --landmarks 20"));
    let law = "from 60 items of 2 dimensions, rbf similarity of bandwidth 0.7000 by 20 landmarks\nkernel    approximate";
    assert!(features.contains(law), "{features}");
    let cosine =
        text("infer --features plane.csv --k 2 --similarity cosine --scores points.csv --diversity 1");
    assert!(cosine.contains("of 2 dimensions, cosine similarity, scores at diversity 1\n"), "{cosine}");
    let dot = text("map --features plane.csv --k 2");
    assert!(dot.contains("of 2 dimensions\n") && !dot.contains("kernel"), "{dot}");
}

#[test]
fn copies_of_an_item_are_chosen_once() {
    let folder = planar();
    let labels: Vec<&str> = (0..ITEMS).map(|i| ["1,1", "1,0", "0,1"][i % 3]).collect();
    folder.write("multi.csv", format!("a,b\n{}\n", labels.join("\n")));
    let input = format!("{RBF} --labels multi.csv --multi-label --quota 10,10 --scores points.csv");
    for solver in ["greedy", "local-search"] {
        let found = folder.json(&format!("map {input} --solver {solver}"));
        let mut set: Vec<usize> = serde_json::from_value(found["set"].clone()).unwrap();
        set.dedup();
        assert_eq!(set.len(), 20, "{found}");
    }
}

#[test]
fn what_cannot_be_chosen_is_refused() {
    let folder = planar();
    folder.write("twins.csv", "0,0\n0,0\n1,1\n1,1\n");
    let twins = "--features twins.csv --similarity rbf --bandwidth 1";
    for (arguments, status, culprits) in [
        (format!("{RBF} --k 61"), 2, vec!["61", "60 items"]),
        (format!("{RBF} --k 2 --include 60"), 2, vec!["item 60", "60 items"]),
        (format!("{RBF} --k 2 --include 3 --exclude 3"), 2, vec!["item 3"]),
        (
            format!("{RBF} --labels parts.csv --quota 2,0,0 --independent --include 4"),
            2,
            vec!["part c", "asks for 0"],
        ),
        (format!("{RBF} --k 2 --engine gpu"), 2, vec!["--engine gpu", "--similarity rbf", "--landmarks"]),
        (format!("{twins} --k 3"), 2, vec!["rank", "3 items", "2"]),
        (format!("{twins} --k 2 --include 0,1"), 2, vec!["item 1"]),
    ] {
        for solver in ["greedy", "local-search"] {
            folder.refuses(&format!("map {arguments} --solver {solver}"), status, &culprits);
        }
    }
    // A table of 2 000 000 × 2 000 000 numbers.
    folder.write("long.npy", npy("<f4", "(2000000, 1)", &vec![0; 8_000_000]));
    let long = "--features long.npy --similarity rbf --bandwidth 1";
    let table = ["memory", "2000000 items", "--landmarks"];
    folder.refuses(&format!("map {long}"), 4, &table);
    folder.refuses(&format!("map {long} --k 1000000 --solver greedy"), 4, &table);
    assert_eq!(folder.json(&format!("map {long} --k 1"))["set"], json!([0]));
}
