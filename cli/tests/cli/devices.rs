//! `pdpp devices`, and the other commands on the devices that it lists.

#![allow(clippy::print_stderr, reason = "a test that is skipped says so")]

use approx::abs_diff_eq;
use serde_json::{Value, json};

use crate::support::Folder;

const MAP: &str =
    "map --dataset digits --quota 1,1,1,1,1,1,1,1,1,1 --solver local-search --time-limit 0 --json";

/// Returns the adapters of this machine. Prints a note if there are none, which `PDPP_REQUIRE_GPU` forbids.
pub(crate) fn adapters() -> Vec<Value> {
    let output = Folder::new().pdpp_with_adapters("devices --json").output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    let devices: Vec<Value> = serde_json::from_slice(&output.stdout).unwrap();
    if devices.is_empty() {
        assert!(std::env::var_os("PDPP_REQUIRE_GPU").is_none(), "PDPP_REQUIRE_GPU is set, but there is none");
        eprintln!("SKIPPED: no graphics adapter");
    }
    devices
}

#[test]
fn a_machine_without_adapters_says_so() {
    let output = Folder::new().pdpp("devices").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert!(text.contains("no graphics adapter") && text.contains("the CPU"), "{text}");
}

/// Without a folder for sockets, the search for a compositor is not an error.
#[test]
fn adapters_are_listed_in_silence() {
    let folder = Folder::new();
    for arguments in ["devices", "sample --dataset digits --k 3 --engine gpu"] {
        let mut command = folder.pdpp_with_adapters(arguments);
        let output = command.env_remove("XDG_RUNTIME_DIR").output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(!stderr.contains("XDG_RUNTIME_DIR"), "{stderr}");
    }
}

#[test]
fn adapters_are_listed_and_compute() {
    let devices = adapters();
    let Some(first) = devices.first() else { return };
    let name = first["name"].as_str().unwrap();
    let text = Folder::new().pdpp_with_adapters("devices").output().unwrap().stdout;
    assert!(String::from_utf8(text).unwrap().contains(name));
    let answer = |arguments: &str| -> Value {
        let output = Folder::new().pdpp_with_adapters(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).unwrap()
    };
    let on_cpu = answer(&format!("{MAP} --engine cpu"));
    assert_eq!(
        [&on_cpu["engine"], &on_cpu["adapter"], &on_cpu["backend"]],
        [&json!("cpu"), &Value::Null, &Value::Null]
    );
    for precision in if first["f64"] == true { &["f32", "f64"][..] } else { &["f32"] } {
        let found = answer(&format!("{MAP} --engine gpu --precision {precision}"));
        assert_eq!(
            [&found["engine"], &found["adapter"], &found["backend"]],
            [&json!("gpu"), &first["name"], &first["interface"]]
        );
        assert_eq!(found["set"], on_cpu["set"], "{precision}");
        let log_dets = [&found, &on_cpu].map(|answer| answer["log_det"].as_f64().unwrap());
        assert!(abs_diff_eq!(log_dets[0], log_dets[1], epsilon = 1e-9), "{precision}: {log_dets:?}");
        let drawn = answer(&format!(
            "sample --dataset digits --k 5 --samples 3 --json --engine gpu --precision {precision}"
        ));
        assert_eq!((&drawn["engine"], &drawn["precision"]), (&json!("gpu"), &json!(precision)));
        assert_eq!(drawn["samples"].as_array().unwrap().len(), 3);
    }
}
