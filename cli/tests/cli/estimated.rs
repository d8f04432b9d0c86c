//! `--method estimated`.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::StandardNormal;
use serde_json::{Value, json};

use super::support::{DEAD_LINE, Folder, seconds};

const INPUT: &str = "--features pairs.csv --labels ab.csv --quota 1,1 --method estimated";
const DIGITS: &str = "--dataset digits --quota 4,4,4,4,4,4,4,4,4,4 --method estimated";

fn number(answer: &Value, name: &str) -> f64 {
    answer[name].as_f64().unwrap_or_else(|| panic!("{name}: {answer}"))
}

#[test]
fn plain_draws() {
    let folder = Folder::with_pairs();
    let answer = folder.sample(&format!("{INPUT} --samples 200"));
    assert_eq!((&answer["method"], &answer["exactness"]), (&json!("estimated"), &json!("estimated")));
    assert!(number(&answer, "law_error") <= 1e-3, "{answer}");
    assert_eq!(answer["samples"].as_array().unwrap().len(), 200);
    assert!(answer.get("log_weights").is_none());
    let (log_z, error) = (number(&answer, "log_z"), number(&answer, "log_z_se"));
    assert!((log_z - 2.25_f64.ln()).abs() < 5.0 * error, "{answer}");
    assert!(number(&answer, "effective_share") > 0.5 && number(&answer, "pareto_k") < 0.7, "{answer}");
    // The same seed gives the same subsets.
    assert_eq!(answer["samples"], folder.sample(&format!("{INPUT} --samples 200"))["samples"]);
    let text = folder.text(&format!("sample {INPUT} --samples 3"));
    for part in ["method    estimated on cpu", "exactness estimated; law error", "weights   effective share"]
    {
        assert!(text.contains(part), "{text}");
    }
    let ranges =
        "sample --features pairs.csv --labels ab.csv --quota 1..2,0..1 --method estimated --law-error 1e-2";
    assert!(folder.text(ranges).contains("exactness estimated; law error"));
}

#[test]
fn weighted_draws() {
    let folder = Folder::with_pairs();
    let answer = folder.sample(&format!("{INPUT} --samples 100 --weighted"));
    assert_eq!((&answer["exactness"], &answer["law_error"]), (&json!("estimated"), &json!(null)));
    let logs = answer["log_weights"].as_array().unwrap();
    let mean = logs.iter().map(|log| log.as_f64().unwrap().exp()).sum::<f64>() / number(&answer, "proposals");
    assert!((mean.ln() - number(&answer, "log_z")).abs() < 1e-9, "{answer}");
    assert_eq!(logs.len(), answer["samples"].as_array().unwrap().len());
    assert!(
        folder.text(&format!("sample {INPUT} --weighted")).contains("averages by weights are over the law")
    );
}

#[test]
fn probabilities() {
    let folder = Folder::with_pairs();
    folder.write("sets.json", "[[0, 2], [1, 3]]");
    let answer = folder.json(&format!("infer {INPUT} --sets sets.json --standard-error 0.005 --seed 3"));
    let (log_z, error) = (number(&answer, "log_z"), number(&answer, "log_z_se"));
    assert!((log_z - 2.25_f64.ln()).abs() < 5.0 * error && error <= 0.005, "{answer}");
    assert!(number(&answer, "log_z_upper") >= 2.25_f64.ln(), "{answer}");
    assert_eq!(answer["exactness"], json!("estimated"));
    for (item, exact) in [2.0 / 2.25, 0.25 / 2.25, 1.25 / 2.25, 1.0 / 2.25].into_iter().enumerate() {
        let (p, error) = (&answer["marginals"][item], &answer["marginals_se"][item]);
        assert!((p.as_f64().unwrap() - exact).abs() < 7.0 * error.as_f64().unwrap(), "{answer}");
    }
    assert!((answer["log_probs"][0].as_f64().unwrap() + log_z).abs() < 1e-9, "{answer}");
    assert_eq!(answer["log_probs"][1], json!(null));
    let text = folder.text(&format!("infer {INPUT}"));
    assert!(text.contains("(standard error), at most") && text.contains("draws     "), "{text}");
    assert_eq!(answer["log_z_interval"], json!(null));
    let within = format!("infer {INPUT} --within 0.05 --confidence 0.99");
    let interval = &folder.json(&within)["log_z_interval"];
    let (low, high) = (number(interval, "low"), number(interval, "high"));
    assert!(low <= 2.25_f64.ln() && 2.25_f64.ln() <= high && high - low <= 0.1 + 1e-9, "{interval}");
    assert!(number(interval, "proposals") >= number(interval, "acceptances"), "{interval}");
    let text = folder.text(&within);
    assert!(text.contains("which covers log Z with probability 0.99 (proven; "), "{text}");
    let chance = "counts --features pairs.csv --labels ab.csv --quota 1,1";
    let (exact, estimate) = (folder.json(chance), folder.json(&format!("{chance} --method estimated")));
    let off = (number(&exact, "quota_prob") - number(&estimate, "quota_prob")).abs();
    assert!(off < 5.0 * number(&estimate, "quota_prob_se"), "{exact} {estimate}");
}

#[test]
fn time_limits_end_draws_but_not_the_answer() {
    let folder = Folder::new();
    // A limit that passes before the set-up ends leaves an error. The first limit that leaves time for draws ends
    // them.
    let answer = seconds().find_map(|limit| {
        let command = format!("infer {DIGITS} --standard-error 1e-9 --time-limit {limit} --json");
        let output = folder.pdpp(&command).timeout(DEAD_LINE).output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        let late = "error: the time limit passed: nothing is printed\n";
        assert!(if output.stdout.is_empty() { stderr == late } else { stderr.is_empty() }, "{stderr}");
        serde_json::from_slice::<Value>(&output.stdout).ok()
    });
    let answer = answer.unwrap();
    assert_eq!(answer["ended"], json!("the time limit passed"), "{answer}");
    assert!(number(&answer, "log_z_se") > 1e-9 && number(&answer, "draws") >= 2.0, "{answer}");
}

#[test]
fn plans_compare_it_with_exact_methods() {
    let folder = Folder::new();
    let text = folder.text(&format!("sample {DIGITS} --plan"));
    assert!(
        text.contains("method    estimated") && text.contains("off by about") && text.contains("exact"),
        "{text}"
    );
    let exact = "--dataset digits --quota 4,4,4,4,4,4,4,4,4,4 --plan";
    let plan = folder.sample(exact);
    assert_eq!(plan["method"], json!("rejection"));
    assert!(number(&plan["estimated"], "operations") < 1e-3 * number(&plan, "rejection_cost"), "{plan}");
}

#[test]
fn what_does_not_fit_is_refused() {
    let folder = Folder::with_pairs();
    let input = "--features pairs.csv --labels ab.csv";
    folder.refuses(&format!("sample {input} --quota 1,1 --law-error 0.1"), 2, &["--method estimated"]);
    folder.refuses(&format!("sample {input} --quota 1,1 --weighted"), 2, &["--method estimated"]);
    folder.refuses(&format!("sample {INPUT} --law-error 0"), 2, &["positive"]);
    folder.refuses(&format!("sample {INPUT} --bound block"), 2, &["--bound"]);
    folder.refuses(&format!("sample {INPUT} --burn-in 3"), 2, &["--method mcmc"]);
    folder.refuses(&format!("sample {input} --k 2 --method estimated"), 2, &["--quota"]);
    folder.refuses(&format!("infer {input} --k 2 --method estimated"), 2, &["--quota"]);
    folder.refuses(&format!("infer {input} --quota 1,1 --seed 1"), 2, &["--method estimated"]);
    folder.refuses(&format!("infer {input} --quota 1,1 --standard-error 1"), 2, &["--method estimated"]);
}

/// Edges of a bipartite graph with weights over many decades; each vertex on the left is a part.
#[test]
fn heavy_weights_have_ways_out() {
    let folder = Folder::new();
    let (size, mut rows, mut labels) = (48, String::new(), "part\n".to_owned());
    let normals = ChaCha8Rng::seed_from_u64(1).sample_iter::<f64, _>(StandardNormal);
    for (edge, normal) in normals.take(size * size).enumerate() {
        let cells =
            (0..size).map(|right| if right == edge % size { normal.exp().to_string() } else { "0".into() });
        rows.push_str(&(cells.collect::<Vec<_>>().join(",") + "\n"));
        labels.extend([&(edge / size).to_string(), "\n"]);
    }
    folder.write("edges.csv", rows);
    folder.write("left.csv", labels);
    let quota = vec!["1"; size].join(",");
    let input = format!("--features edges.csv --labels left.csv --quota {quota} --method estimated");
    folder.refuses(&format!("sample {input}"), 4, &["tail index", "--weighted"]);
    assert!(folder.text(&format!("sample {input} --weighted --samples 2000")).contains("log Z"));
}

/// Compares with exact values to four digits, computed once by other means: from the determinants at all 5¹⁰ fifth
/// roots of unity, around weights at which two items of every part are expected.
#[test]
fn four_of_every_digit() {
    const LOG_Z: f64 = 407.4038;
    // The values of every 45th item.
    const EXACT: [f64; 40] = [
        0.01628, 0.02311, 0.01769, 0.02226, 0.01467, 0.01598, 0.01725, 0.02220, 0.01231, 0.01429, 0.01815,
        0.02282, 0.02175, 0.02463, 0.03299, 0.03547, 0.02247, 0.02664, 0.02167, 0.02484, 0.02627, 0.01649,
        0.02195, 0.02542, 0.03608, 0.02609, 0.01848, 0.02228, 0.02774, 0.02390, 0.01453, 0.02067, 0.02434,
        0.02780, 0.01785, 0.02729, 0.01771, 0.02761, 0.03495, 0.02544,
    ];
    let folder = Folder::new();
    let found = folder.json(&format!("infer {DIGITS} --standard-error 0.005 --seed 3"));
    let off = (number(&found, "log_z") - LOG_Z).abs();
    assert!(off < 4.0 * number(&found, "log_z_se"), "{off}");
    let numbers = |name: &str| -> Vec<f64> { serde_json::from_value(found[name].clone()).unwrap() };
    let (marginals, errors) = (numbers("marginals"), numbers("marginals_se"));
    let off: Vec<f64> = (EXACT.iter().enumerate())
        .map(|(at, exact)| (marginals[45 * at] - exact) / errors[45 * at])
        .collect();
    let square = off.iter().map(|off| off * off).sum::<f64>() / off.len() as f64;
    assert!(square < 1.8 && off.iter().all(|off| off.abs() < 5.0), "{square}: {off:?}");
}

/// Ctrl-C ends the draws. Their estimates are printed, with the status of an interruption. Fewer than 32 draws give
/// no
/// estimate.
#[cfg(unix)]
#[test]
fn interrupted_estimates_are_printed() {
    let folder = Folder::new();
    for command in ["infer", "counts"] {
        let endless = format!("{command} {DIGITS} --standard-error 1e-9 --json");
        let output = folder.interrupted(&endless, |shown| super::terminal::counted(shown, " draws,", 64));
        assert_eq!(output.status.code(), Some(130), "{output:?}");
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(answer["ended"], json!("interrupted"), "{answer}");
        assert!(number(&answer, "draws") >= 32.0 && number(&answer, "effective_share") > 0.1);
    }
}
