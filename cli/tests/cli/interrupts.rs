//! Ctrl-C: what was done is printed, nothing is half done, and the status says so.
#![cfg(unix)]

use std::{
    process::{Command, Output, Stdio},
    thread::sleep,
    time::Duration,
};

use serde_json::Value;

use super::support::Folder;

const DIGITS: &str = "sample --dataset digits --quota 1,1,1,1,1,1,1,1,1,1 --samples 1000000000";

/// What a run leaves that is interrupted after some time.
fn interrupted(folder: &Folder, arguments: &str, after: Duration) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pdpp"));
    command.args(arguments.split(' ')).current_dir(folder.path("."));
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    sleep(after);
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    child.wait_with_output().unwrap()
}

#[test]
fn samples_drawn_so_far_are_printed() {
    let folder = Folder::new();
    let before = folder.files();
    for method in ["rejection", "mcmc"] {
        let arguments = format!("{DIGITS} --method {method} --json --engine cpu --plot plot.svg");
        let output = interrupted(&folder, &arguments, Duration::from_secs(3));
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(130), "{stderr}");
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
        let count = answer["samples"].as_array().unwrap().len();
        assert!(count > 0);
        assert_eq!(stderr, format!("error: interrupted: {count} of 1000000000 samples are printed\n"));
        // The plot of the first one is there, whole, and nothing else.
        let plot = std::fs::read_to_string(folder.path("plot.svg")).unwrap();
        assert!(plot.trim_end().ends_with("</svg>"));
        std::fs::remove_file(folder.path("plot.svg")).unwrap();
        assert_eq!(folder.files(), before);
    }
}

#[test]
fn a_run_that_has_nothing_yet_prints_nothing() {
    let folder = Folder::new();
    let before = folder.files();
    // Minutes of determinants.
    let arguments = "infer --dataset digits --quota 2,2,2,2,2,2,2,2,2,2 --engine cpu --json";
    let output = interrupted(&folder, arguments, Duration::from_millis(500));
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(stderr, "error: interrupted: nothing is printed\n");
    assert_eq!((output.status.code(), output.stdout.len()), (Some(130), 0));
    assert_eq!(folder.files(), before);
}
