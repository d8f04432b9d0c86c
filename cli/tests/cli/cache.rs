//! `--cache`: features of `--similarity rbf` in a file.

use std::fs;

use super::support::Folder;

const RBF: &str =
    "map --features features.csv --similarity rbf --bandwidth 1.3 --landmarks 8 --k 4 --solver exact";

fn answer(folder: &Folder, arguments: &str) -> serde_json::Value {
    let mut answer = folder.json(arguments);
    answer["seconds"].take();
    answer["history"].take();
    answer
}

/// Returns the answer of a command that reports on standard error that the cache is made again.
fn answer_with_note(folder: &Folder, arguments: &str) -> serde_json::Value {
    let output = folder.pdpp(&format!("{arguments} --json")).output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{stderr}");
    assert!(stderr.starts_with("note: rbf.npy was made of another input"), "{stderr}");
    assert_eq!(stderr.lines().count(), 1, "{stderr}");
    let mut answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    answer["seconds"].take();
    answer["history"].take();
    answer
}

fn cache(folder: &Folder) -> Vec<u8> {
    fs::read(folder.path("rbf.npy")).unwrap()
}

#[test]
fn features_are_made_once_and_read_again() {
    let folder = Folder::new();
    let expected = answer(&folder, RBF);
    let before = folder.files();
    let cached = format!("{RBF} --cache rbf.npy");
    assert_eq!(answer(&folder, &cached), expected);
    let made = cache(&folder);
    let mut files = [before, vec!["rbf.npy".into(), "rbf.npy.json".into()]].concat();
    files.sort();
    assert_eq!(folder.files(), files);
    assert_eq!(&made[..6], b"\x93NUMPY");

    // Values are doubled and the description is kept: the existing cache is read, not made again.
    let header = made.len() - 9 * 8 * 4;
    let doubled: Vec<u8> = made[header..]
        .as_chunks()
        .0
        .iter()
        .flat_map(|bytes| (2.0 * f32::from_le_bytes(*bytes)).to_le_bytes())
        .collect();
    let text = fs::read_to_string(folder.path("rbf.npy.json")).unwrap();
    folder.write("rbf.npy", [&made[..header], &doubled].concat());
    folder.refuses(&cached, 2, &["rbf.npy", "rbf.npy.json describes", "remove"]);
    folder.write("rbf.npy", &made);
    assert_eq!(answer(&folder, &cached), expected);
    let other = text.replace("\"kernel_error\": ", "\"kernel_error\": 0.125, \"was\": ");
    folder.write("rbf.npy.json", other);
    assert_eq!(answer(&folder, &cached)["kernel_error"], 0.125);
    assert_eq!(cache(&folder), made);

    // The same rows from another file.
    folder.write("rbf.npy.json", text);
    folder.write("copy.csv", super::support::FEATURES);
    assert_eq!(answer(&folder, &cached.replace("features.csv", "copy.csv")), expected);
    assert_eq!(cache(&folder), made);
}

#[test]
fn another_input_makes_it_again() {
    let folder = Folder::new();
    let mut last = answer(&folder, &format!("{RBF} --cache rbf.npy"));
    folder.write("other.csv", super::support::FEATURES.replace("2,1,0", "2,1,3"));
    folder.write("turned.csv", super::support::FEATURES.lines().rev().collect::<Vec<_>>().join("\n"));
    for change in [
        ("--bandwidth 1.3", "--bandwidth 1.4"),
        ("--bandwidth 1.3", "--bandwidth median"),
        ("--landmarks 8", "--landmarks 7"),
        ("features.csv", "other.csv"),
        ("features.csv", "turned.csv"),
    ] {
        let arguments = RBF.replace(change.0, change.1);
        let expected = answer(&folder, &arguments);
        assert_ne!(expected, last, "{arguments}");
        let cached = format!("{arguments} --cache rbf.npy");
        assert_eq!(answer_with_note(&folder, &cached), expected, "{arguments}");
        assert_eq!(answer(&folder, &cached), expected, "{arguments}");
        last = expected;
    }
    assert_eq!(folder.files().iter().filter(|name| name.starts_with("rbf")).count(), 2);
}

#[test]
fn files_of_others_stay_as_they_are() {
    let folder = Folder::new();
    let cached = format!("{RBF} --cache rbf.npy");
    let refuse = |culprits: &[&str]| {
        let before = folder.files();
        folder.refuses(&cached, 2, culprits);
        assert_eq!(folder.files(), before);
    };
    folder.write("rbf.npy", "mine");
    refuse(&["rbf.npy", "not made by --cache"]);
    assert_eq!(cache(&folder), b"mine");
    fs::remove_file(folder.path("rbf.npy")).unwrap();
    folder.write("rbf.npy.json", "{\"mine\": 1}");
    refuse(&["rbf.npy.json", "does not describe a cache"]);
    fs::remove_file(folder.path("rbf.npy.json")).unwrap();

    answer(&folder, &cached);
    let made = cache(&folder);
    folder.write("rbf.npy", &made[..made.len() - 40]);
    refuse(&["rbf.npy", "broken"]);
    folder.write("rbf.npy", made);
    let own = "map --features rbf.npy --similarity rbf --k 4 --cache rbf.npy";
    folder.refuses(own, 2, &["rbf.npy", "input"]);

    folder.refuses(&format!("{RBF} --cache gone/rbf.npy"), 2, &["gone/rbf.npy", "folder"]);
    folder.refuses(&format!("{RBF} --cache /dev/null"), 2, &["/dev/null"]);
    folder.refuses("map --features features.csv --k 2 --cache rbf.npy", 2, &["--cache", "--similarity rbf"]);
}

#[test]
fn the_whole_kernel_is_not_kept() {
    let folder = Folder::new();
    let whole = RBF.replace("--landmarks 8 ", "");
    let expected = answer(&folder, &whole);
    let output = folder.pdpp(&format!("{whole} --cache rbf.npy --json")).output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success() && stderr.starts_with("note: --cache is not used"), "{stderr}");
    let mut found: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    found["seconds"].take();
    found["history"].take();
    assert_eq!(found, expected);
    assert!(!folder.path("rbf.npy").exists());
}

/// Simulates a full disk.
#[cfg(unix)]
#[test]
fn nothing_is_left_of_a_cache_that_does_not_fit() {
    let folder = Folder::new();
    let rows: Vec<String> = (0..600).map(|row| format!("{row},{}", row % 7)).collect();
    folder.write("many.csv", rows.join("\n"));
    let before = folder.files();
    let script = "ulimit -f 32 && exec \"$0\" map --features many.csv --similarity rbf --k 2 --cache rbf.npy";
    let mut command = assert_cmd::Command::new("sh");
    command.args(["-c", script, env!("CARGO_BIN_EXE_pdpp")]).current_dir(folder.path("."));
    let output = command.env("WGPU_BACKEND", "gl").output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(stderr.starts_with("error: rbf.npy: the cache cannot be written: "), "{stderr}");
    assert_eq!(folder.files(), before);
}
