//! Pictures.

use std::fs;

use super::support::{Folder, begins_with};

const PNG_SIGNATURE: &[u8] = b"\x89PNG\r\n\x1a\n";

#[test]
fn png_and_svg() {
    let folder = Folder::new();
    let inputs = [
        "--features features.csv --labels labels.csv --quota 1,1,1",
        "--features features.csv --k 2",
        "--features features.csv",
        "--dataset digits --quota 2,1,1,1,1,1,1,1,1,1",
    ];
    for input in inputs {
        folder.pdpp(&format!("sample {input} --plot plot.png")).assert().success();
        assert!(begins_with(&folder.path("plot.png"), PNG_SIGNATURE), "{input}");
        folder.pdpp(&format!("sample {input} --plot plot.SVG")).assert().success();
        let svg = fs::read_to_string(folder.path("plot.SVG")).unwrap();
        assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"), "{input}");
        assert!(svg.contains("DPP") && svg.contains("principal component 1"), "{input}");
    }
    assert_eq!(folder.files(), ["features.csv", "labels.csv", "plot.SVG", "plot.png"]);
}

#[test]
fn degenerate_clouds_are_drawn() {
    let folder = Folder::new();
    folder.write("line.csv", "1\n2\n3\n");
    folder.write("points.csv", "1,2\n1,2\n1,2\n");
    folder.write("huge.csv", "1e300,2e300\n-1e300,3e300\n5e299,0\n");
    folder.write("tiny.csv", "1e-300,2e-300\n-1e-300,3e-300\n5e-301,0\n");
    for name in ["line.csv", "points.csv", "huge.csv", "tiny.csv"] {
        folder.pdpp(&format!("sample --features {name} --k 1 --plot plot.svg")).assert().success();
    }
}

#[test]
fn json_is_the_same_beside_a_plot() {
    let folder = Folder::new();
    let answer = folder.sample("--dataset digits --k 3 --plot plot.svg");
    assert_eq!(answer["samples"], folder.sample("--dataset digits --k 3")["samples"]);
}

#[test]
fn nothing_is_left_of_a_plot_that_fails() {
    let folder = Folder::new();
    folder.refuses("sample --features features.csv --k 2 --plot plot.jpg", 2, &["plot.jpg", ".png"]);
    folder.refuses("sample --features features.csv --k 2 --plot plot", 2, &["plot"]);
    folder.refuses(
        "sample --features features.csv --k 2 --plot nowhere/plot.png",
        2,
        &["nowhere/plot.png", "folder"],
    );
    folder.refuses("sample --features features.csv --k 9 --plot plot.png", 2, &["k = 9"]);
    folder.refuses("sample --features gone.csv --k 2 --plot plot.png", 2, &["gone.csv"]);
}
