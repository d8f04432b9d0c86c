//! The same numbers from every format are the same items.

use serde_json::json;

use super::support::{FEATURES, Folder, feature_values, npy};

const DRAW: &str = "--k 2 --samples 20 --seed 1";

#[test]
fn csv_with_and_without_header() {
    let folder = Folder::new();
    folder.write("headed.csv", format!("red,green,blue\n{FEATURES}"));
    folder.write("spaced.csv", FEATURES.replace(',', " , ").replace('\n', "\r\n"));
    let plain = folder.sample(&format!("--features features.csv {DRAW}"));
    for name in ["headed.csv", "spaced.csv"] {
        let other = folder.sample(&format!("--features {name} {DRAW}"));
        assert_eq!(plain["samples"], other["samples"], "{name}");
    }
}

#[test]
fn npy_of_several_types() {
    let folder = Folder::new();
    let values = feature_values();
    let bytes = |of: fn(u8) -> Vec<u8>| values.iter().flat_map(|&value| of(value)).collect::<Vec<u8>>();
    let files = [
        ("<f8", bytes(|value| f64::from(value).to_le_bytes().to_vec())),
        ("<f4", bytes(|value| f32::from(value).to_le_bytes().to_vec())),
        (">f8", bytes(|value| f64::from(value).to_be_bytes().to_vec())),
        ("<i2", bytes(|value| i16::from(value).to_le_bytes().to_vec())),
        ("|u1", bytes(|value| vec![value])),
        ("=f8", bytes(|value| f64::from(value).to_ne_bytes().to_vec())),
        ("f4", bytes(|value| f32::from(value).to_ne_bytes().to_vec())),
    ];
    let plain = folder.sample(&format!("--features features.csv {DRAW}"));
    for (descr, data) in files {
        folder.write("features.npy", npy(descr, "(9, 3)", &data));
        let other = folder.sample(&format!("--features features.npy {DRAW}"));
        assert_eq!(plain["samples"], other["samples"], "{descr}");
    }
}

#[test]
fn kernels_of_both_formats() {
    let folder = Folder::new();
    folder.write("kernel.csv", "2,1,0\n1,2,0\n0,0,3\n");
    let values: Vec<u8> =
        [2_f64, 1., 0., 1., 2., 0., 0., 0., 3.].iter().flat_map(|v| v.to_le_bytes()).collect();
    folder.write("kernel.npy", npy("<f8", "(3, 3)", &values));
    let csv = folder.sample(&format!("--kernel kernel.csv {DRAW}"));
    let npy = folder.sample(&format!("--kernel kernel.npy {DRAW}"));
    assert_eq!(csv["samples"], npy["samples"]);
    folder.write("parts.csv", "part\n1\n1\n2\n");
    let answer = folder.sample("--kernel kernel.csv --labels parts.csv --quota 1,1");
    assert_eq!(answer["samples"][0][1], json!(2));
}

#[test]
fn integer_labels_are_ordered_by_number() {
    let folder = Folder::new();
    folder.write("numbers.csv", "part\n10\n2\n-1\n10\n2\n-1\n10\n2\n-1\n");
    let answer = folder.sample("--features features.csv --labels numbers.csv --quota 1,0,0");
    assert_eq!(answer["parts"], json!(["-1", "2", "10"]));
    assert_eq!(answer["samples"][0][0].as_u64().unwrap() % 3, 2);
    let data: Vec<u8> = [10_i64, 2, -1].repeat(3).iter().flat_map(|label| label.to_le_bytes()).collect();
    folder.write("numbers.npy", npy("<i8", "(9,)", &data));
    let from_npy = folder.sample("--features features.csv --labels numbers.npy --quota 1,0,0");
    assert_eq!((&answer["parts"], &answer["samples"]), (&from_npy["parts"], &from_npy["samples"]));
    folder.write("truth.npy", npy("?", "(9,)", &[1, 0, 0, 1, 0, 1, 1, 0, 1]));
    let answer = folder.sample("--features features.csv --labels truth.npy --quota 0,1");
    assert_eq!(answer["parts"], json!(["0", "1"]));
    assert!([0, 3, 5, 6, 8].contains(&answer["samples"][0][0].as_u64().unwrap()), "{answer}");
    // A single label that is not an integer makes all labels text.
    folder.write("mixed.csv", "part\n10\n2\nx\n10\n2\nx\n10\n2\nx\n");
    let answer = folder.sample("--features features.csv --labels mixed.csv --quota 1,0,0");
    assert_eq!(answer["parts"], json!(["10", "2", "x"]));
}

#[test]
fn one_column_of_several() {
    let folder = Folder::new();
    let rows = "a,x\nb,y\na,y\n".repeat(3);
    folder.write("table.csv", format!("first,second\n{rows}"));
    let arguments = "--features features.csv --labels table.csv --quota 1,0 --label-column";
    assert_eq!(folder.sample(&format!("{arguments} first"))["parts"], json!(["a", "b"]));
    assert_eq!(folder.sample(&format!("{arguments} second"))["parts"], json!(["x", "y"]));
}

#[test]
fn digits_bring_their_labels() {
    let folder = Folder::new();
    let answer = folder.sample("--dataset digits --quota 3=1,7=2");
    assert_eq!(answer["parts"], json!(["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"]));
    assert_eq!(answer["quota"], json!([0, 0, 0, 1, 0, 0, 0, 2, 0, 0]));
}

#[test]
fn kernels_are_read_within_their_rounding() {
    let folder = Folder::new();
    // Rows of FEATURES divided by their lengths, multiplied in f32: eigenvalues down to −1e-7.
    let values: Vec<f32> = feature_values().into_iter().map(f32::from).collect();
    let units: Vec<Vec<f32>> = values
        .chunks(3)
        .map(|row| row.iter().map(|x| x / row.iter().map(|x| x * x).sum::<f32>().sqrt()).collect())
        .collect();
    let product = |a: &Vec<f32>, b: &Vec<f32>| a.iter().zip(b).map(|(x, y)| x * y).sum::<f32>();
    let kernel: Vec<f32> = units.iter().flat_map(|a| units.iter().map(move |b| product(a, b))).collect();
    let single: Vec<u8> = kernel.iter().flat_map(|x| x.to_le_bytes()).collect();
    let double: Vec<u8> = kernel.iter().flat_map(|x| f64::from(*x).to_le_bytes()).collect();
    folder.write("single.npy", npy("<f4", "(9, 9)", &single));
    folder.write("double.npy", npy("<f8", "(9, 9)", &double));
    let row = |row: &[f32]| row.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
    folder.write("kernel.csv", kernel.chunks(9).map(row).collect::<Vec<_>>().join("\n"));
    for command in ["sample --k 3", "map --k 3", "infer --k 3", "counts --labels labels.csv --k 3"] {
        let answer = folder.json(&format!("{command} --kernel single.npy"));
        let error = answer["kernel_error"].as_f64().unwrap();
        assert!(0.0 < error && error < 1e-6, "{command}: {error}");
        for kernel in ["double.npy", "kernel.csv"] {
            let refused = format!("{command} --kernel {kernel}");
            folder.refuses(&refused, 2, &[kernel, "not positive semidefinite", "tolerance"]);
            folder.json(&format!("{refused} --kernel-tolerance 1e-6"));
        }
    }
    let text = folder.text("map --k 3 --kernel single.npy");
    assert!(text.contains("relative error"), "{text}");
    folder.refuses("map --k 4 --kernel single.npy", 2, &["k = 4", "3"]);
    folder.refuses(
        "map --k 2 --features features.csv --kernel-tolerance 1e-6",
        2,
        &["--kernel-tolerance", "--features"],
    );
    folder.refuses(
        "map --k 2 --kernel single.npy --kernel-tolerance 0",
        2,
        &["--kernel-tolerance", "positive"],
    );
}

#[test]
fn headers_that_may_be_rows_are_named() {
    let folder = Folder::new();
    let note = |first_line: &str| {
        folder.write("headed.csv", format!("{first_line}\n1,2,3\n4,5,7\n"));
        let output = folder.pdpp("sample --features headed.csv --k 1").output().unwrap();
        assert!(output.status.success(), "{first_line}");
        assert!(String::from_utf8(output.stdout).unwrap().contains("from 2 items"), "{first_line}");
        String::from_utf8(output.stderr).unwrap()
    };
    for (first_line, cell, column) in [
        ("1_000,2,3", "1_000", 0),
        ("1,0x10,3", "0x10", 1),
        ("1,2,\"1,5\"", "1,5", 2),
        ("1,two,3", "two", 1),
        ("1_000,2_000,3_000", "1_000", 0),
        ("1,-.5.,red", "-.5.", 1),
    ] {
        let text = note(first_line);
        let place =
            format!("line 1 is read as a header, because '{cell}' in column {column} is not a number");
        assert!(text.starts_with("note: headed.csv: ") && text.contains(&place), "{first_line}: {text}");
        assert_eq!(text.lines().count(), 1, "{text}");
    }
    for first_line in ["red,green,blue", "x1,x2,x3", "1,green,blue", ",a,b"] {
        assert_eq!(note(first_line), "", "{first_line}");
    }
    folder.write("one.csv", "x\n1\n2\n");
    assert!(folder.text("sample --features one.csv --k 1").contains("from 2 items"));
}
