//! A folder of small files, in which `pdpp` runs.

use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use approx::abs_diff_eq;
use assert_cmd::Command;
use serde_json::Value;
use tempfile::TempDir;

/// Nine items with three features.
pub(crate) const FEATURES: &str = "1,0,0\n0,1,0\n0,0,1\n1,1,0\n0,1,1\n1,0,1\n1,1,1\n2,1,0\n0,1,2\n";
/// Their labels, in three parts.
pub(crate) const LABELS: &str = "tone\ndark\nlight\nmedium\ndark\nlight\nmedium\ndark\nlight\nmedium\n";
/// Four items with two features. Determinants: {0,1} ¼, {0,2} 1, {0,3} 1, {1,2} ¼, {1,3} 0, {2,3} 1. Of single items:
/// 1, ½, 1, 2.
pub(crate) const PAIRS: &str = "1,0\n0.5,0.5\n0,1\n1,1\n";

/// The time after which a hanging command is killed: long after the slowest machine would have finished.
pub(crate) const DEAD_LINE: Duration = Duration::from_secs(600);

/// A folder that is deleted after the test.
pub(crate) struct Folder(TempDir);

impl Folder {
    /// Makes a folder with `features.csv` and `labels.csv`.
    pub(crate) fn new() -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        folder.write("features.csv", FEATURES);
        folder.write("labels.csv", LABELS);
        folder
    }

    /// Writes a file.
    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        fs::write(self.path(name), bytes).unwrap();
    }

    /// Writes `cycle.csv` and `parts.csv`: `size` parts of two unit rows, each sharing a row with the previous and
    /// the next
    /// part. Of the 2^size choices of one row from every part, two have a positive determinant.
    pub(crate) fn write_cycle(&self, size: usize) {
        let unit = |axis: usize| {
            let entries = (0..size).map(|j| u8::from(j == axis % size).to_string());
            entries.collect::<Vec<_>>().join(",") + "\n"
        };
        let rows = (0..size).flat_map(|part| [unit(part), unit(part + 1)]);
        self.write("cycle.csv", rows.collect::<String>());
        let labels = (0..2 * size).map(|item| format!("{}\n", item / 2));
        self.write("parts.csv", format!("part\n{}", labels.collect::<String>()));
    }

    /// Returns the path of a file.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Returns the names of all files, sorted.
    pub(crate) fn files(&self) -> Vec<String> {
        let names = fs::read_dir(self.0.path()).unwrap().map(|entry| entry.unwrap().file_name());
        let mut names: Vec<String> = names.map(|name| name.into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// Returns `pdpp` with arguments separated by spaces, as on a machine without a graphics adapter.
    pub(crate) fn pdpp(&self, arguments: &str) -> Command {
        let mut command = self.pdpp_with_adapters(arguments);
        // Drivers of this interface are never looked for.
        command.env("WGPU_BACKEND", "gl");
        command
    }

    /// Returns `pdpp` with the adapters of this machine.
    pub(crate) fn pdpp_with_adapters(&self, arguments: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_pdpp"));
        command.current_dir(self.0.path()).args(arguments.split_whitespace());
        command
    }

    /// Makes a folder that also has [`PAIRS`] in `pairs.csv` and their labels in `ab.csv`.
    pub(crate) fn with_pairs() -> Self {
        let folder = Self::new();
        folder.write("pairs.csv", PAIRS);
        folder.write("ab.csv", "part\na\na\nb\nb\n");
        folder
    }

    /// Returns the JSON that `pdpp sample … --json` prints.
    pub(crate) fn sample(&self, arguments: &str) -> Value {
        self.json(&format!("sample {arguments}"))
    }

    /// Returns the JSON that `pdpp … --json` prints on one line, with nothing on standard error.
    pub(crate) fn json(&self, arguments: &str) -> Value {
        let stdout = self.text(&format!("{arguments} --json"));
        assert_eq!(stdout.lines().count(), 1, "{stdout}");
        serde_json::from_str(&stdout).unwrap()
    }

    /// Returns the output of a command that succeeds, with nothing on standard error.
    pub(crate) fn text(&self, arguments: &str) -> String {
        let output = self.pdpp(arguments).output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success() && stderr.is_empty(), "{arguments}: {stderr}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// Checks that a command fails according to the contract, with one line that names all the culprits.
    pub(crate) fn refuses(&self, arguments: &str, status: i32, culprits: &[&str]) {
        let before = self.files();
        let output = self.pdpp(arguments).timeout(DEAD_LINE).output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(status), "{arguments}: {stderr}");
        assert!(output.stdout.is_empty(), "{arguments}: {}", String::from_utf8_lossy(&output.stdout));
        assert!(is_one_failure(&stderr), "{arguments}: {stderr}");
        assert!(stderr.starts_with("error: ") && stderr.ends_with('\n'), "{arguments}: {stderr}");
        for culprit in culprits {
            assert!(stderr.contains(culprit), "{arguments}: '{culprit}' is missing in: {stderr}");
        }
        assert_eq!(self.files(), before, "{arguments}: files were left behind");
    }
}

/// Whether a text is one line of error, and one indented line per way out.
pub(crate) fn is_one_failure(stderr: &str) -> bool {
    let mut lines = stderr.lines();
    lines.next().is_some_and(|line| line.starts_with("error: ")) && lines.all(|line| line.starts_with("  "))
}

/// Returns time limits that double each time: on any machine, one of them is long enough.
pub(crate) fn seconds() -> impl Iterator<Item = u64> {
    (0..8).map(|power| 1 << power)
}

/// Returns a .npy file from a type, a shape and the bytes of the elements.
pub(crate) fn npy(descr: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    let mut header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}");
    while (10 + header.len() + 1) % 64 != 0 {
        header.push(' ');
    }
    header.push('\n');
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend(u16::try_from(header.len()).unwrap().to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(data);
    bytes
}

/// Returns the numbers of [`FEATURES`].
pub(crate) fn feature_values() -> Vec<u8> {
    FEATURES.split([',', '\n']).filter(|cell| !cell.is_empty()).map(|cell| cell.parse().unwrap()).collect()
}

/// Whether a file begins with these bytes.
pub(crate) fn begins_with(path: &Path, start: &[u8]) -> bool {
    fs::read(path).unwrap().starts_with(start)
}

/// Checks a list of numbers to within 1e-12.
pub(crate) fn assert_close(found: &Value, expected: &[f64]) {
    let numbers: Vec<f64> = serde_json::from_value(found.clone()).unwrap();
    assert_eq!(numbers.len(), expected.len(), "{found}");
    for (number, expected) in numbers.iter().zip(expected) {
        assert!(abs_diff_eq!(number, expected, epsilon = 1e-12), "{found} is not {expected:?}");
    }
}
