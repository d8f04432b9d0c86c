//! Work that would take too long is refused at once or ends at its time limit, and the command says so.

use std::process::Output;

use serde_json::Value;

use super::support::{DEAD_LINE, Folder, is_one_failure, seconds};

/// Uses nearly all directions of the features, and the shortest ones need exact arithmetic.
const SIXES: &str = "sample --dataset digits --quota 6,6,6,6,6,6,6,6,6,6 --engine cpu";
/// Takes almost the default budget for one sample.
const LONG: &str = "sample --dataset digits --quota 6,6,6,6,6,6,5,5,5,5 --engine cpu";

/// Returns the status and both outputs of a command that must end by itself.
fn ended(folder: &Folder, arguments: &str) -> (Option<i32>, String, String) {
    let Output { status, stdout, stderr } = folder.pdpp(arguments).timeout(DEAD_LINE).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (status.code(), text(stdout), text(stderr))
}

/// Returns the single line of a command that is refused for its budget, with nothing on standard output.
fn refused(folder: &Folder, arguments: &str) -> String {
    let (status, stdout, stderr) = ended(folder, arguments);
    assert_eq!((status, &stdout[..]), (Some(4), ""), "{arguments}: {stderr}");
    assert!(is_one_failure(&stderr), "{arguments}: {stderr}");
    stderr
}

#[test]
fn hopeless_quotas_are_refused_with_a_forecast() {
    let folder = Folder::new();
    let line = refused(&folder, SIXES);
    for part in ["4.50e6 proposals", "about 4", "the budget of 300 s", "--budget ", "--method mcmc"] {
        assert!(line.contains(part), "'{part}' in {line}");
    }
    // Many small samples: fewer would do.
    let many =
        "sample --dataset digits --quota 2,2,2,2,2,2,2,2,2,2 --samples 1000000 --engine cpu --threads 1";
    let line = refused(&folder, many);
    for part in ["1000000 samples about ", "e2 proposals", " in all", "fewer samples"] {
        assert!(line.contains(part), "'{part}' in {line}");
    }
    let line = refused(&folder, &format!("{} --budget 0.0001", many.replace("1000000", "1")));
    assert!(line.contains("budget of 0.0001 s"), "{line}");
}

#[test]
fn large_budgets_and_methods_by_name_go_ahead() {
    let folder = Folder::new();
    for more in ["--budget 1e9", "--method rejection", "--method rejection --budget 1"] {
        let (status, stdout, stderr) = ended(&folder, &format!("{SIXES} {more} --time-limit 1 --json"));
        assert_eq!((status, &stdout[..]), (Some(4), ""), "{more}: {stderr}");
        assert_eq!(stderr, "error: the time limit passed: nothing is printed\n", "{more}");
    }
    let plan = folder.json(&format!("{LONG} --plan --samples 10 --threads 2"));
    let seconds = |name: &str| plan["seconds"][name].as_f64().unwrap();
    assert!((seconds("total") - 5.0 * seconds("sample")).abs() < 1e-6 * seconds("total"), "{plan}");
    assert!((seconds("budget") - 300.0).abs() < 1e-9 && seconds("total") > 300.0, "{plan}");
    let text = folder.text(&format!("{LONG} --plan --budget 17"));
    assert!(text.contains("time      about 2") && text.contains("the budget is 17 s"), "{text}");
}

#[test]
fn samples_drawn_in_time_are_printed() {
    let folder = Folder::new();
    let before = folder.files();
    let law = "sample --dataset digits --quota 1,1,1,1,1,1,1,1,1,1 --samples 5000000 --engine cpu --json";
    for method in ["rejection", "mcmc --burn-in 1"] {
        // A limit that passes before the first draw leaves only an error.
        let in_time = seconds().find_map(|limit| {
            let command = format!("{law} --method {method} --time-limit {limit}");
            let (status, stdout, stderr) = ended(&folder, &command);
            assert_eq!(status, Some(4), "{stderr}");
            let late = "error: the time limit passed: nothing is printed\n";
            assert!(!stdout.is_empty() || stderr == late, "{stderr}");
            (!stdout.is_empty()).then_some((stdout, stderr))
        });
        let (stdout, stderr) = in_time.unwrap();
        let answer: Value = serde_json::from_str(&stdout).unwrap();
        let count = answer["samples"].as_array().unwrap().len();
        assert!(count > 0);
        assert_eq!(stderr, format!("error: the time limit passed: {count} of 5000000 samples were drawn\n"));
    }
    assert_eq!(folder.files(), before);
}

#[test]
fn time_limits_end_what_has_no_answer() {
    let folder = Folder::new();
    for command in ["infer --dataset digits --quota 2,2,2,2,2,2,2,2,2,2", "counts --dataset digits --k 4"] {
        let (status, stdout, stderr) = ended(&folder, &format!("{command} --engine cpu --time-limit 1"));
        assert_eq!((status, &stdout[..]), (Some(4), ""), "{command}: {stderr}");
        assert!(stderr.contains("time limit"), "{command}: {stderr}");
    }
    folder.refuses(&format!("{SIXES} --time-limit soon"), 2, &["--time-limit", "'soon'", "seconds"]);
    folder.refuses(&format!("{SIXES} --budget -1"), 2, &["--budget", "'-1'", "seconds"]);
    // A generous limit changes nothing.
    let input = "--features features.csv --labels labels.csv --quota 1,1,1";
    let infer = |more: &str| folder.json(&format!("infer {input} {more}"))["marginals"].clone();
    assert_eq!(infer("--time-limit 3600"), infer(""));
    let sample = |more: &str| folder.json(&format!("sample {input} {more}"))["samples"].clone();
    assert_eq!(sample("--time-limit 1e18 --samples 20"), sample("--samples 20"));
}

/// Next to the row of 1e73, the others are lost to rounding in f64, and no set of three was ever proposed.
#[test]
fn ranges_beyond_the_digits_of_one_scale_are_answered() {
    let folder = Folder::new();
    folder.write(
        "outlier.csv",
        "-1.3e73,-3.8e73,7.9e72,1.1e73,-1.2e73\n-0.85,-0.90,0.36,0.22,0.93\n-1.9,0.99,0.5,0.74,1.0\n\
         1.6,0.027,0.34,-0.28,0.19\n-0.29,-0.54,-0.69,0.15,-0.65\n",
    );
    folder.write("one.csv", "c\n0\n0\n0\n0\n0\n");
    let law = "--features outlier.csv --labels one.csv --quota 3..5 --engine cpu";
    let (status, stdout, stderr) = ended(&folder, &format!("sample {law} --samples 200 --json"));
    assert_eq!((status, &stderr[..]), (Some(0), ""));
    let drawn: Value = serde_json::from_str(&stdout).unwrap();
    let samples: Vec<Vec<usize>> = serde_json::from_value(drawn["samples"].clone()).unwrap();
    assert!(samples.iter().all(|set| (3..=5).contains(&set.len())), "{stdout}");
    let marginals = folder.json(&format!("infer {law}"))["marginals"].clone();
    let marginals: Vec<f64> = serde_json::from_value(marginals).unwrap();
    for (item, probability) in marginals.iter().enumerate() {
        let share = samples.iter().filter(|set| set.contains(&item)).count() as f64 / 200.0;
        // At most five standard deviations.
        assert!((share - probability).abs() < 0.18, "{item}: {share} {probability}");
    }
}
