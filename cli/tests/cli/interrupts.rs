//! Ctrl-C: finished work is printed, nothing is left half done, and the status shows the interruption.
#![cfg(unix)]

use serde_json::Value;

use super::{
    support::{Folder, npy},
    terminal::{counted, numbers},
};

const DIGITS: &str = "sample --dataset digits --quota 1,1,1,1,1,1,1,1,1,1 --samples 5000000";

#[test]
fn samples_drawn_so_far_are_printed() {
    let folder = Folder::new();
    let before = folder.files();
    for method in ["rejection", "mcmc"] {
        let arguments = format!("{DIGITS} --method {method} --json --engine cpu --plot plot.svg");
        let output = folder.interrupted(&arguments, |shown| counted(shown, "/5000000", 1));
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(130), "{stderr}");
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
        let count = answer["samples"].as_array().unwrap().len();
        assert!(count > 0);
        assert_eq!(stderr, format!("error: interrupted: {count} of 5000000 samples were drawn\n"));
        // Only the complete plot of the first one exists.
        let plot = std::fs::read_to_string(folder.path("plot.svg")).unwrap();
        assert!(plot.trim_end().ends_with("</svg>"));
        std::fs::remove_file(folder.path("plot.svg")).unwrap();
        assert_eq!(folder.files(), before);
    }
}

/// Text output shows the first few of them.
#[test]
fn the_samples_drawn_so_far_are_counted() {
    let folder = Folder::new();
    let output = folder.interrupted(DIGITS, |shown| counted(shown, "/5000000", 100));
    let (text, stderr) =
        (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    let more = text.lines().find_map(|line| line.strip_prefix("… and ")).unwrap();
    let more: u64 = more.strip_suffix(" more; --json prints all").unwrap().parse().unwrap();
    assert_eq!(stderr, format!("error: interrupted: {} of 5000000 samples were drawn\n", more + 20));
}

#[test]
fn a_run_that_has_nothing_yet_prints_nothing() {
    let folder = Folder::new();
    let before = folder.files();
    // Minutes of determinants.
    let arguments = "infer --dataset digits --quota 2,2,2,2,2,2,2,2,2,2 --engine cpu --json";
    let output = folder.interrupted(arguments, |shown| shown.contains("computing: "));
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(stderr, "error: interrupted: nothing is printed\n");
    assert_eq!((output.status.code(), output.stdout.len()), (Some(130), 0));
    assert_eq!(folder.files(), before);
}

/// One draw of a few million proposals, one of a hundred thousand sweeps, and an endless burn-in.
#[test]
fn a_draw_at_work_is_given_up() {
    const SIXES: &str = "sample --dataset digits --quota 6,6,6,6,6,6,6,6,6,6 --engine cpu --json";
    let folder = Folder::new();
    let before = folder.files();
    for (method, stage) in [
        ("rejection", "sampling"),
        ("mcmc --burn-in 1 --thin 100000", "sampling"),
        ("mcmc --burn-in 100000000", "burning in"),
    ] {
        let arguments = format!("{SIXES} --method {method} --plot plot.svg");
        let output = folder.interrupted(&arguments, |shown| shown.contains(stage));
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(stderr, "error: interrupted: nothing is printed\n", "{method}");
        assert_eq!((output.status.code(), output.stdout.len()), (Some(130), 0), "{method}");
        assert_eq!(folder.files(), before, "{method}");
    }
}

/// The length is printed before the burn-in begins.
#[test]
fn long_burn_ins_are_foretold() {
    let folder = Folder::new();
    let arguments =
        "sample --dataset digits --quota 6,6,6,6,6,6,6,6,6,6 --engine cpu --method mcmc --burn-in 100000000";
    let output = folder
        .interrupted(arguments, |shown| shown.contains("note: --method mcmc is predicted to take at least"));
    assert_eq!(output.status.code(), Some(130));
}

#[test]
fn counts_print_nothing() {
    let folder = Folder::new();
    let arguments = "counts --dataset digits --k 4 --engine cpu";
    let output = folder.interrupted(arguments, |shown| shown.contains("computing: "));
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(stderr, "error: interrupted: nothing is printed\n");
    assert_eq!((output.status.code(), output.stdout.len()), (Some(130), 0));
}

#[test]
fn the_best_set_of_a_kernel_so_far_is_printed() {
    let folder = Folder::new();
    // Half a second of picks, then many seconds of swaps.
    let value = |at: u32| ((f64::from(at).powi(2) * 0.754_877_666_246_693).fract() * 4096.0).floor() / 64.0;
    let values: Vec<u8> = (0..32_000).flat_map(|at| value(at).to_le_bytes()).collect();
    folder.write("many.npy", npy("<f8", "(8000, 4)", &values));
    let arguments = "map --features many.npy --similarity rbf --bandwidth 8 --k 800 --time-limit 0 --json";
    // The step count restarts when swaps begin.
    let swaps = |shown: &str| !numbers(shown, " steps,").is_sorted();
    let output = folder.interrupted(arguments, swaps);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(stderr, "error: interrupted: the best set so far is printed\n");
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(answer["set"].as_array().unwrap().len(), 800);
    assert_eq!((output.status.code(), &answer["termination"]), (Some(130), &Value::from("interrupted")));
}
