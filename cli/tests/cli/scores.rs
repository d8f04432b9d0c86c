//! Scores with diversity, and similarities: their objective and their refusals.

use approx::assert_abs_diff_eq;
use serde_json::Value;

use super::support::{Folder, npy};

const SCORES: &str = "score\n3\n1\n0\n5\n2\n4\n-1\n2.5\n0.5\n";

fn scored() -> Folder {
    let folder = Folder::new();
    folder.write("scores.csv", SCORES);
    folder
}

fn answer(folder: &Folder, arguments: &str) -> Value {
    let law = "--features features.csv --labels labels.csv --quota 1,1,1";
    folder.json(&format!("{arguments} {law}"))
}

fn number(answer: &Value, key: &str) -> f64 {
    answer[key].as_f64().unwrap_or_else(|| panic!("{key} is missing in {answer}"))
}

#[test]
fn the_objective_weighs_scores_against_diversity() {
    let folder = scored();
    let scores: Vec<f64> = SCORES.lines().skip(1).map(|line| line.parse().unwrap()).collect();
    let plain = answer(&folder, "map --solver exact");
    assert!(plain.get("objective").is_none() && plain.get("score_total").is_none());
    let mut last = f64::INFINITY;
    for diversity in [0.0, 0.1, 0.5, 0.9, 1.0] {
        let found =
            answer(&folder, &format!("map --solver exact --scores scores.csv --diversity {diversity}"));
        let set: Vec<usize> = serde_json::from_value(found["set"].clone()).unwrap();
        let total: f64 = set.iter().map(|&item| scores[item]).sum();
        assert_abs_diff_eq!(number(&found, "score_total"), total, epsilon = 1e-12);
        let similarity = number(&found, "log_det_similarity");
        let objective = (1.0 - diversity) * total + diversity * similarity;
        assert_abs_diff_eq!(number(&found, "objective"), objective, epsilon = 1e-9);
        // More diversity means lower scores.
        assert!(total <= last, "{total} at {diversity}");
        last = total;
        if diversity <= 0.0 {
            assert_eq!(set, [3, 5, 7]);
        }
        if diversity >= 1.0 {
            assert_eq!(found["set"], plain["set"]);
            assert_abs_diff_eq!(number(&found, "log_det"), number(&plain, "log_det"), epsilon = 1e-12);
        }
    }
    let half = answer(&folder, "map --solver exact --scores scores.csv");
    let named = answer(&folder, "map --solver exact --scores scores.csv --diversity 0.5");
    assert_eq!((&half["set"], &half["objective"]), (&named["set"], &named["objective"]));
}

#[test]
fn scores_come_from_any_file() {
    let folder = scored();
    let scores: Vec<f64> = SCORES.lines().skip(1).map(|line| line.parse().unwrap()).collect();
    let bytes: Vec<u8> = scores.iter().flat_map(|score| score.to_le_bytes()).collect();
    folder.write("scores.npy", npy("<f8", "(9,)", &bytes));
    folder.write(
        "table.csv",
        SCORES
            .replace("score", "id,score")
            .replace('\n', "\n7,")
            .trim_end_matches("7,")
            .replacen("7,id", "id", 1),
    );
    let expected = answer(&folder, "infer --scores scores.csv");
    for source in ["--scores scores.npy", "--scores table.csv --score-column score"] {
        assert_eq!(
            answer(&folder, &format!("infer {source}"))["marginals"],
            expected["marginals"],
            "{source}"
        );
    }
    let sampled = answer(&folder, "sample --samples 5 --scores scores.npy");
    assert_eq!(answer(&folder, "sample --samples 5 --scores scores.csv")["samples"], sampled["samples"]);
}

#[test]
fn cosines_are_dot_products_of_unit_rows() {
    let folder = Folder::new();
    let unit = |line: &str| {
        let row: Vec<f64> = line.split(',').map(|cell| cell.parse().unwrap()).collect();
        let length = row.iter().map(|x| x * x).sum::<f64>().sqrt();
        row.iter().map(|x| (x / length).to_string()).collect::<Vec<_>>().join(",")
    };
    let rows: Vec<String> = super::support::FEATURES.lines().map(unit).collect();
    folder.write("unit.csv", rows.join("\n"));
    let law = "--labels labels.csv --quota 1,1,1";
    let cosine = folder.json(&format!("infer --features features.csv --similarity cosine {law}"));
    let unit = folder.json(&format!("infer --features unit.csv {law}"));
    let marginals =
        |answer: &Value| -> Vec<f64> { serde_json::from_value(answer["marginals"].clone()).unwrap() };
    for (a, b) in marginals(&cosine).iter().zip(marginals(&unit)) {
        assert_abs_diff_eq!(*a, b, epsilon = 1e-12);
    }
    assert_abs_diff_eq!(number(&cosine, "log_z"), number(&unit, "log_z"), epsilon = 1e-12);
}

#[test]
fn bad_scores_are_refused_in_a_sentence() {
    let folder = scored();
    folder.write("few.csv", "score\n1\n2\n");
    folder.write("nan.csv", SCORES.replace("2.5", "nan"));
    folder.write("text.csv", SCORES.replace("2.5", "high"));
    folder.write("wide.npy", npy("<f8", "(3, 3)", &[0; 72]));
    folder.write("zero.csv", "0,0\n1,0\n");
    let law = "--features features.csv --labels labels.csv --quota 1,1,1";
    for (arguments, culprits) in [
        ("--scores few.csv", vec!["few.csv", "2 scores", "9 items"]),
        ("--scores nan.csv", vec!["nan.csv", "row 7", "NaN", "finite"]),
        ("--scores text.csv", vec!["text.csv", "'high' is not a number"]),
        ("--scores wide.npy", vec!["wide.npy", "2 dimensions"]),
        ("--scores scores.csv --score-column points", vec!["no column 'points'", "score"]),
        ("--scores scores.csv --diversity 1.5", vec!["--diversity", "from 0"]),
        ("--scores scores.csv --diversity=-1", vec!["--diversity", "from 0"]),
        ("--diversity 0.5", vec!["--scores", "--score-column"]),
        ("--score-column score", vec!["--score-column needs --scores"]),
    ] {
        folder.refuses(&format!("map {law} {arguments}"), 2, &culprits);
    }
    for command in ["sample", "infer"] {
        folder.refuses(
            &format!("{command} {law} --scores scores.csv --diversity 0"),
            2,
            &["--diversity 0", "pdpp map"],
        );
    }
    folder.refuses("sample --features zero.csv --k 1 --similarity cosine", 2, &["item 0", "zero"]);
}
