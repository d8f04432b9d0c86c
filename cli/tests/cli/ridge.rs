//! A ridge: sets of any size, for few items and for many.

use approx::assert_abs_diff_eq;
use serde_json::Value;

use super::support::Folder;

const DIGITS: &str = "--dataset digits --ridge 0.5";

fn numbers(answer: &Value, key: &str) -> Vec<f64> {
    serde_json::from_value(answer[key].clone()).unwrap()
}

#[test]
fn few_items_have_the_ridge_as_features() {
    let folder = Folder::new();
    let input = "--features features.csv --labels labels.csv";
    folder.refuses(
        &format!("sample {input} --k 7"),
        2,
        &[
            "above the rank",
            "\n  --ridge auto allows larger sets (under a second)\n",
            "\n  --similarity rbf allows larger sets (",
            "\n  pdpp map --solver coverage needs no rank (",
        ],
    );
    let law = format!("{input} --ridge 0.1 --quota 3,2,2");
    let drawn = folder.json(&format!("sample {law} --samples 5 --method interpolation"));
    assert_eq!((drawn["samples"].as_array().unwrap().len(), &drawn["exactness"]), (5, &"exact".into()));
    let best = folder.json(&format!("map {law} --solver exact"));
    assert_eq!(best["set"].as_array().unwrap().len(), 7);
    assert!(best["gap"].as_f64().unwrap() < 1e-6);
    // A larger ridge makes all sets of a size more similar in probability.
    let all = folder.json(&format!("infer {input} --ridge 1e9 --k 3"));
    numbers(&all, "marginals").into_iter().for_each(|p| assert_abs_diff_eq!(p, 1.0 / 3.0, epsilon = 1e-6));
}

/// The advice in a message is not already in use, and it works.
#[test]
fn ways_beyond_the_rank() {
    let folder = Folder::new();
    folder.write("scores.csv", "score\n1\n2\n3\n4\n5\n6\n7\n8\n9\n");
    folder.write("line.csv", "1,0\n2,0\n0,1\n");
    folder.write("line-labels.csv", "part\na\na\nb\n");
    folder.write("kernel.csv", "1,1,0\n1,1,0\n0,0,1\n");
    let refused = |arguments: &str| {
        let output = folder.pdpp(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments}");
        String::from_utf8(output.stderr).unwrap()
    };
    let rbf = "--features features.csv --similarity rbf --bandwidth 1 --landmarks";
    let [by_three, best_by_three] = ["sample", "map"].map(|command| format!("{command} {rbf} 3 --k 4"));
    for (command, old, ways) in [
        ("sample --features features.csv --k 7", "", "--ridge auto|--similarity rbf"),
        ("map --features features.csv --similarity cosine --k 7", "", "--ridge auto"),
        (&by_three[..], "--landmarks 3", "--ridge auto|--landmarks 8"),
        (&best_by_three[..], "--landmarks 3", "--ridge auto|--landmarks 8"),
        (
            "map --features features.csv --scores scores.csv --diversity 0 --k 7",
            "--diversity 0",
            "--diversity 0.1 --ridge auto",
        ),
        ("sample --features line.csv --labels line-labels.csv --quota 2,1", "", "--ridge auto"),
        ("sample --features features.csv --include 0,1,3 --k 3", "", "--ridge auto"),
        ("infer --kernel kernel.csv --k 3", "", "--ridge"),
        // All items are landmarks already.
        ("sample --features line.csv --similarity rbf --bandwidth 1e12 --k 3", "", "--ridge auto"),
    ] {
        let message = refused(command);
        for way in ways.split('|') {
            assert!(message.contains(way), "{command}: {message}");
            let way = if way == "--ridge" { "--ridge auto" } else { way };
            let is_added = old.is_empty() || way.starts_with("--ridge");
            folder.text(&if is_added { format!("{command} {way}") } else { command.replace(old, way) });
        }
        let in_use =
            command.contains("rbf") || command.contains("--kernel") || command.contains("--diversity");
        assert!(!in_use || !message.contains("--similarity rbf"), "{command}: {message}");
        let covers = message.contains("pdpp map --solver coverage");
        let taken = !command.starts_with("infer") && !command.contains("--diversity 0");
        assert_eq!(covers, message.contains("above the rank") && taken, "{message}");
        if covers {
            folder.text(&format!("{} --solver coverage", command.replacen("sample", "map", 1)));
        }
    }
}

/// Checks both representations, on either side of the number of items at which laws become mixtures.
#[test]
fn many_items_are_mixtures_of_the_same_law() {
    let folder = Folder::new();
    let line = |item: usize| format!("{},{}\n", (0.7 * item as f64).sin(), (0.3 * item as f64).cos());
    let score = |item: usize| format!("{}\n", 0.3 * (1.1 * item as f64).sin());
    for (name, items) in [("few", 1000), ("many", 1001)] {
        folder.write(&format!("{name}.csv"), (0..items).map(line).collect::<String>());
        folder.write(
            &format!("{name}-scores.csv"),
            format!("score\n{}", (0..items).map(score).collect::<String>()),
        );
    }
    for scored in [false, true] {
        let of = |name: &str, rest: &str| {
            let scores = if scored { format!("--scores {name}-scores.csv") } else { String::new() };
            folder.json(&format!("infer --features {name}.csv {scores} --ridge 0.2 --k 5 {rest}"))
        };
        // Without the last item, both are the same law.
        let (few, many) = (of("few", ""), of("many", "--exclude 1000"));
        assert_abs_diff_eq!(few["log_z"].as_f64().unwrap(), many["log_z"].as_f64().unwrap(), epsilon = 1e-9);
        let (few, many) = (numbers(&few, "marginals"), numbers(&many, "marginals"));
        few.iter().zip(&many).for_each(|(few, many)| assert_abs_diff_eq!(*few, *many, epsilon = 1e-10));
    }
}

/// Solves with features that have the ridge, and by pairs of items.
#[test]
fn solvers_find_the_same_sets_either_way() {
    let folder = Folder::new();
    let line = |item: usize| format!("{},{}\n", 2.0 + (0.7 * item as f64).sin(), (0.3 * item as f64).cos());
    let score = |item: usize| format!("{}\n", (1.1 * item as f64).sin());
    for (rows, scores, items) in [("few.csv", "few-scores.csv", 1000), ("many.csv", "many-scores.csv", 1001)]
    {
        folder.write(rows, (0..items).map(line).collect::<String>());
        folder.write(scores, format!("score\n{}", (0..items).map(score).collect::<String>()));
    }
    for similarity in ["dot", "cosine"] {
        for solver in ["greedy", "local-search --time-limit 0"] {
            let of = |name: &str, rest: &str| {
                let law = format!("--similarity {similarity} --ridge 0.2 --k 5 --solver {solver} {rest}");
                folder.json(&format!("map --features {name}.csv --scores {name}-scores.csv {law}"))
            };
            let (few, many) = (of("few", ""), of("many", "--exclude 1000"));
            assert_eq!(few["set"], many["set"], "{similarity} {solver}");
            for key in ["log_det", "log_det_similarity", "score_total", "objective"] {
                assert_abs_diff_eq!(few[key].as_f64().unwrap(), many[key].as_f64().unwrap(), epsilon = 1e-9);
            }
        }
    }
    let many = "map --features many.csv --ridge 0.2 --k 5";
    folder.refuses(&format!("{many} --certify"), 2, &["--ridge with --certify", "at most 1000 items"]);
    folder.refuses(
        &format!("{many} --solver exact"),
        2,
        &["--ridge with --solver exact", "at most 1000 items"],
    );
}

#[test]
fn more_digits_than_pixels() {
    let folder = Folder::new();
    let drawn = folder.json(&format!("sample {DIGITS} --quota equal --k 80 --include 3,4 --samples 2"));
    let samples: Vec<Vec<usize>> = serde_json::from_value(drawn["samples"].clone()).unwrap();
    assert!(samples.iter().all(|set| set.len() == 80 && set.contains(&3) && set.contains(&4)));
    assert_eq!((&drawn["method"], &drawn["exactness"]), (&"rejection".into(), &"exact".into()));
    let again =
        folder.json(&format!("sample {DIGITS} --quota equal --k 80 --include 3,4 --samples 2 --threads 1"));
    assert_eq!(drawn["samples"], again["samples"]);
    let found = folder.json(&format!("infer {DIGITS} --k 70"));
    assert_abs_diff_eq!(numbers(&found, "marginals").iter().sum::<f64>(), 70.0, epsilon = 1e-8);
}

/// Sets of any size, independent parts, and quotas by chance, for many items.
#[test]
fn laws_without_a_quota_of_many_items() {
    let folder = Folder::new();
    let free = folder.json(&format!("sample {DIGITS} --samples 400"));
    assert_eq!((&free["method"], &free["proposals"]), (&"spectral".into(), &400.into()));
    let expected: f64 = numbers(&folder.json(&format!("infer {DIGITS}")), "marginals").iter().sum();
    let sizes = free["samples"].as_array().unwrap().iter().map(|set| set.as_array().unwrap().len());
    // The expectation is about 640, with a standard deviation of about 20.
    assert_abs_diff_eq!(sizes.sum::<usize>() as f64 / 400.0, expected, epsilon = 6.0);
    let ranges = "--quota 3..,..,..,..,..,..,..,..,..,..";
    let wide = folder.json(&format!("sample {DIGITS} {ranges} --samples 20"));
    assert!(wide["acceptance_bound"].as_f64().unwrap() > 0.2 && wide["bound"].is_null());

    let one_each = "--quota 1,1,1,1,1,1,1,1,1,1";
    let apart = folder.json(&format!("sample {DIGITS} {one_each} --independent --samples 3"));
    assert!(apart["samples"].as_array().unwrap().iter().all(|set| set.as_array().unwrap().len() == 10));

    let total = "--quota 2..,..,..,..,..,..,..,..,..,.. --k 12";
    let [met, all] =
        [total, "--k 12"].map(|law| folder.json(&format!("infer {DIGITS} {law}"))["log_z"].as_f64().unwrap());
    let chance = folder.json(&format!("counts {DIGITS} {total}"));
    assert_abs_diff_eq!(chance["quota_prob"].as_f64().unwrap(), (met - all).exp(), epsilon = 1e-9);
    let text = folder.text(&format!("counts {DIGITS} {total}"));
    assert!(text.contains("not listed: a ridge of many items"), "{text}");
}

#[test]
fn what_a_ridge_of_many_items_refuses() {
    let folder = Folder::new();
    let one_each = "--quota 1,1,1,1,1,1,1,1,1,1";
    for (arguments, what) in [
        (format!("sample {DIGITS} {one_each} --method mcmc"), "--method mcmc"),
        (format!("sample {DIGITS} {one_each} --method interpolation"), "--method interpolation"),
        (format!("counts {DIGITS} --k 10"), "counts without --quota"),
        (format!("counts {DIGITS} {one_each} --method estimated"), "--method estimated"),
    ] {
        folder.refuses(&arguments, 2, &["--ridge with", what, "at most 1000 items"]);
    }
    let total = "--quota 0..9,..,..,..,..,..,..,..,..,.. --k 12";
    folder.refuses(&format!("sample {DIGITS} {total}"), 2, &["a ridge under a total", "exact count"]);
    let input = "sample --features features.csv --labels labels.csv --quota 1,1,1";
    for delta in ["0", "-1", "nan", "inf", "x"] {
        folder.refuses(&format!("{input} --ridge {delta}"), 2, &["--ridge", "is not a positive number"]);
    }
}
