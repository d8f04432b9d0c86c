//! Bad input: status 2, one line that names the culprit, lines that say what to type, and nothing else.

use super::support::{Folder, npy};

const INPUT: &str = "sample --features features.csv --labels labels.csv";

#[test]
fn arguments() {
    let folder = Folder::new();
    let refuse = |arguments: &str, culprits: &[&str]| folder.refuses(arguments, 2, culprits);
    refuse("smaple", &["smaple"]);
    refuse("sample", &["--features", "--kernel", "--dataset"]);
    refuse("sample --features features.csv --dataset digits", &["--features", "--dataset"]);
    refuse("sample --dataset digist", &["digist"]);
    refuse("sample --dataset digits --labels labels.csv", &["--labels", "--dataset"]);
    refuse("sample --features features.csv --label-column tone", &["--labels"]);
    refuse("sample --features features.csv --k two", &["two", "--k", "not a whole number", "as in --k 5"]);
    refuse("sample --features features.csv --k -1", &["-1"]);
    refuse("sample --features features.csv --samples 0", &["0", "--samples"]);
    refuse("sample --features features.csv --seed x", &["x", "--seed"]);
    refuse("sample --features features.csv --seed -1", &["-1", "--seed", "negative"]);
    refuse("sample --features features.csv -k 2", &["'-k'", "write --k"]);
    refuse("map --features features.csv --k 2 --seed 1", &["--seed is an option of pdpp sample"]);
    refuse("infer --features features.csv --k 2 --samples 3", &["--samples is an option of pdpp sample"]);
    refuse("sample --features features.csv --threads 0", &["0", "--threads"]);
    refuse("sample --features features.csv --threads 60000", &["60000", "--threads"]);
    refuse("sample --features features.csv --engine tpu", &["tpu"]);
    refuse("sample --features features.csv --frobnicate", &["--frobnicate"]);
    refuse("sample --features features.csv --precision f32", &["f32", "f64"]);
    refuse("sample --features features.csv --method rejection", &["--method", "--quota"]);
    refuse("sample --features features.csv --independent", &["--quota"]);
    refuse(
        "sample --features features.csv --k 2 --method interpolation",
        &["--method interpolation", "--quota"],
    );
    refuse(&format!("{INPUT} --quota 1,1,1 --method magic"), &["magic"]);
    refuse(
        &format!("{INPUT} --quota 1,1,1 --independent --method per-candidate"),
        &["--method per-candidate"],
    );
    refuse(&format!("{INPUT} --quota 1,1,1 --plan --plot plot.png"), &["--plan", "--plot"]);
    refuse(&format!("{INPUT} --quota 1,1,1 --k 4"), &["--quota asks for 3", "--k for 4"]);
    refuse(&format!("{INPUT} --quota 1,1,1 --independent --method rejection"), &["--independent"]);
}

#[test]
fn missing_devices_have_their_own_status() {
    let folder = Folder::new();
    folder.refuses("sample --features features.csv --engine gpu", 3, &["graphics adapter"]);
    // Input is checked first.
    folder.refuses("sample --features gone.csv --engine gpu", 2, &["gone.csv"]);
}

#[test]
fn budgets_have_their_own_status() {
    let folder = Folder::new();
    folder.write_cycle(30);
    let input = format!("--features cycle.csv --labels parts.csv --quota {}", ["1"; 30].join(","));
    folder.refuses(&format!("sample {input}"), 4, &["proposals", "--method rejection"]);
    folder.refuses(&format!("sample {input} --plan"), 4, &["proposals", "--method rejection"]);
    folder.refuses(&format!("sample {input} --method interpolation"), 4, &["nodes", "--method rejection"]);
    folder.refuses(&format!("sample {input} --method per-candidate"), 4, &["nodes", "--method rejection"]);
    folder.refuses(&format!("infer {input}"), 4, &["nodes", "--method estimated"]);
    folder.refuses(&format!("counts {input}"), 4, &["nodes", "--method estimated"]);
}

#[test]
fn quotas() {
    let folder = Folder::new();
    let refuse =
        |quota: &str, culprits: &[&str]| folder.refuses(&format!("{INPUT} --quota {quota}"), 2, culprits);
    refuse("1,x,1", &["'x'"]);
    refuse("1,-1,1", &["'-1'"]);
    refuse("dark=1,2", &["'2'"]);
    refuse("1,1", &["2 entries", "3 parts", "dark, light, medium"]);
    refuse("black=1", &["black", "dark, light, medium"]);
    refuse("dark=1,dark=1", &["dark", "twice"]);
    refuse("4,0,0", &["dark", "4", "3"]);
    refuse("0,0,0", &["quota", "zero"]);
    refuse("2,1,1", &["rank of the kernel, which is at most 3", "4 items"]);
    folder.refuses("sample --features features.csv --quota 1,1", 2, &["--quota", "--labels"]);
}

#[test]
fn sizes() {
    let folder = Folder::new();
    let refuse = |k: &str, culprits: &[&str]| {
        folder.refuses(&format!("sample --features features.csv --k {k}"), 2, culprits);
    };
    refuse("0", &["k", "zero"]);
    refuse("4", &["k = 4", "rank"]);
    refuse("10", &["k = 10", "9 items"]);
}

#[test]
fn csv_features() {
    let folder = Folder::new();
    let refuse = |text: &str, culprits: &[&str]| {
        folder.write("bad.csv", text);
        folder.refuses("sample --features bad.csv --k 1", 2, &[&["bad.csv"], culprits].concat());
    };
    refuse("", &["empty"]);
    refuse("\n\n", &["empty"]);
    refuse("a,b\n", &["no rows"]);
    refuse("1,2\n3\n", &["row 1", "1 cell;", "2"]);
    refuse("a,b\n1,2\n3,4,5\n", &["row 1", "3 cells", "2"]);
    refuse("1,2\n3,x\n", &["row 1, column 1", "line 2", "'x'"]);
    refuse("a,b\n1,2\n,4\n", &["row 1, column 0", "line 3", "empty"]);
    refuse("1,2\n3,nan\n", &["row 1, column 1", "NaN"]);
    refuse("a,b\n1,2\ninf,4\n", &["row 1, column 0", "inf"]);
    refuse(&format!("1,2\n3,{}\n", "y".repeat(500)), &["row 1, column 1", "yyy…"]);
    folder.write("bad.csv", b"1,2\n3,\xff\n");
    folder.refuses("sample --features bad.csv --k 1", 2, &["bad.csv", "row 1, column 1"]);
    folder.refuses("sample --features gone.csv --k 1", 2, &["gone.csv"]);
    folder.refuses("sample --features gone.npy --k 1", 2, &["gone.npy"]);
    folder.refuses("sample --features features.txt --k 1", 2, &["features.txt", ".npy", ".csv"]);
    folder.refuses("sample --features . --k 1", 2, &["this is a folder"]);
    std::fs::create_dir(folder.path("folder.csv")).unwrap();
    std::fs::create_dir(folder.path("folder.npy")).unwrap();
    for name in ["folder.csv", "folder.npy"] {
        folder.refuses(&format!("sample --features {name} --k 1"), 2, &[name, "this is a folder"]);
        folder.refuses(&format!("sample --kernel {name} --k 1"), 2, &[name, "this is a folder"]);
        folder.refuses(&format!("sample --dataset digits --labels {name}"), 2, &["--labels"]);
        folder.refuses(
            &format!("sample --features features.csv --labels {name} --quota 1"),
            2,
            &[name, "this is a folder"],
        );
    }
}

#[test]
fn npy_features() {
    let folder = Folder::new();
    let refuse = |bytes: &[u8], culprits: &[&str]| {
        folder.write("bad.npy", bytes);
        folder.refuses("sample --features bad.npy --k 1", 2, &[&["bad.npy"], culprits].concat());
    };
    refuse(b"", &["not a .npy file"]);
    refuse(b"hello", &["not a .npy file"]);
    refuse(&npy("<f8", "(2, 2)", &[0; 24]), &["truncated", "32", "24"]);
    refuse(&npy("<i4", "(2, 2)", &[0; 15]), &["truncated", "16", "15"]);
    refuse(&npy("<c16", "(1, 1)", &[0; 16]), &["c16", "complex numbers"]);
    refuse(&npy("<U1", "(1, 1)", &[0; 4]), &["U1", "text"]);
    refuse(&npy("|O", "(1, 1)", &[0; 8]), &["'|O'", "Python objects"]);
    refuse(&npy("<M8[s]", "(1, 1)", &[0; 8]), &["M8[s]", "dates"]);
    refuse(&npy("<f16", "(1, 1)", &[0; 16]), &["floating-point numbers of 16 bytes"]);
    refuse(&npy("<x9", "(1, 1)", &[0; 16]), &["the .npy header cannot be read", "<x9"]);
    refuse(&npy("<f8", "(2, -2)", &[0; 32]), &["the .npy header cannot be read", "negative", "(2, -2)"]);
    refuse(&npy("|b1", "(1, 2)", &[1, 7]), &["an element cannot be read", "bool", "7"]);
    let mut newer = npy("<f8", "(2, 2)", &[0; 32]);
    newer[6] = 4;
    refuse(&newer, &["version 4.0", "1.0, 2.0 and 3.0"]);
    refuse(&npy("<f8", "(4,)", &[0; 32]), &["1 dimension;", "2 are needed"]);
    refuse(&npy("<f8", "(0, 3)", &[]), &["empty"]);
    let infinite: Vec<u8> =
        [1.0, 2.0, 3.0, f64::INFINITY].iter().flat_map(|value| value.to_le_bytes()).collect();
    refuse(&npy("<f8", "(2, 2)", &infinite), &["row 1, column 1", "inf"]);
}

#[test]
fn kernels() {
    let folder = Folder::new();
    let refuse = |text: &str, culprits: &[&str]| {
        folder.write("bad.csv", text);
        folder.refuses("sample --kernel bad.csv --k 1", 2, &[&["bad.csv"], culprits].concat());
    };
    refuse("", &["empty"]);
    refuse("a,b\n1,0\n0,1\n", &["row 0, column 0", "'a'"]);
    refuse("1,0,0\n0,1,0\n", &["2 rows of 3 columns", "square"]);
    refuse("1,0.5\n0,1\n", &["not symmetric", "(0, 1)", "differ by 0.5"]);
    refuse("1,2\n2,1\n", &["not positive semidefinite"]);
    refuse("0,0\n0,0\n", &["zero"]);
    refuse("1,nan\nnan,1\n", &["row 0, column 1"]);
    folder.write("bad.npy", npy("<f8", "(1, 2)", &[0; 16]));
    folder.refuses("sample --kernel bad.npy --k 1", 2, &["bad.npy", "square"]);
}

#[test]
fn labels() {
    let folder = Folder::new();
    let refuse = |text: &str, more: &str, culprits: &[&str]| {
        folder.write("bad.csv", text);
        let arguments = format!("sample --features features.csv --labels bad.csv --quota 1,1 {more}");
        folder.refuses(&arguments, 2, &[&["bad.csv"], culprits].concat());
    };
    refuse("", "", &["empty"]);
    refuse("part\n", "", &["no labels"]);
    refuse("part\na\nb\n", "", &["2 labels", "9 items", "features.csv"]);
    refuse("a\nb\na\nb\na\nb\na\nb\na\n", "", &["8 labels", "header"]);
    refuse("one,two\na,b\n", "", &["2 columns", "one, two", "--label-column"]);
    refuse("one,two\na,b\n", "--label-column three", &["three", "one, two"]);
    refuse("one,one\na,b\n", "--label-column one", &["columns 0 and 1 have the same name, one"]);
    refuse("one,two,one\na,b,c\n", "--multi-label", &["columns 0 and 2 have the same name, one"]);
    refuse("item,,x,\n0,0,1,0\n", "--multi-label", &["column 1 has no name", "--label-column"]);
    refuse("item,,x,\n0,0,1,0\n", "--multi-label --label-column ,x", &["columns 1 and 3 have no name"]);
    refuse("one,,\na,b,c\n", "", &["3 columns (one, '', '')"]);
    refuse("one,two\na,b\nc\n", "--label-column one", &["row 1", "1 cell;"]);
    refuse("one,two\na,b\n,c\n", "--label-column one", &["row 1, column 0", "empty"]);
    folder.refuses("sample --features features.csv --labels gone.csv --quota 1,1", 2, &["gone.csv"]);
    folder.refuses("sample --features features.csv --labels labels.txt --quota 1,1", 2, &["labels.txt"]);
}

#[test]
fn npy_labels() {
    let folder = Folder::new();
    let refuse = |bytes: &[u8], more: &str, culprits: &[&str]| {
        folder.write("bad.npy", bytes);
        let arguments = format!("sample --features features.csv --labels bad.npy --quota 1,1 {more}");
        folder.refuses(&arguments, 2, &[&["bad.npy"], culprits].concat());
    };
    refuse(b"hello", "", &["not a .npy file"]);
    refuse(&npy("<i8", "(9,)", &[0; 70]), "", &["truncated", "72 bytes", "the file has 70"]);
    refuse(&npy("<i8", "(3, 3)", &[0; 72]), "", &["2 dimensions"]);
    refuse(&npy("<f8", "(9,)", &[0; 72]), "", &["f8", "integers"]);
    refuse(&npy("<U2", "(9,)", &[0; 72]), "", &["U2", ".csv"]);
    refuse(&npy("<i8", "(9,)", &[0; 72]), "--label-column x", &["column x"]);
    refuse(&npy("|u1", "(5,)", &[0; 5]), "", &["5 labels", "9 items"]);
    refuse(&npy("|u1", "(0,)", &[]), "", &["no labels"]);
}

#[test]
fn a_message_is_one_line_for_any_file() {
    let folder = Folder::new();
    folder.write("bad.csv", "1,2\n3,\"a\nb\"\n");
    folder.refuses("sample --features bad.csv --k 1", 2, &["row 1, column 1", "a b"]);
}

#[test]
fn many_columns_are_few_in_a_message() {
    let folder = Folder::new();
    let names: Vec<String> = (0..2001).map(|column| format!("c{column}")).collect();
    folder.write("wide.csv", format!("{}\n", names.join(",")));
    let refuse = |rest: &str, culprits: &[&str]| {
        let arguments = format!("sample --features features.csv --labels wide.csv --quota 1 {rest}");
        folder.refuses(&arguments, 2, culprits);
    };
    refuse("", &["2001 columns (c0, c1, ", ", c9, … and 1 991 more); choose one"]);
    refuse(
        "--label-column c1999x",
        &["no column 'c1999x'; the columns are c1999, c199, ", "… and 1 991 more"],
    );
    folder.write("many.csv", format!("part\n{}\n", names[..9].join("\n")));
    folder.write("parts.csv", format!("x\n{}\n", names.join("\n")));
    folder.write("items.csv", "1,2\n".repeat(2001));
    folder.refuses(
        "sample --features items.csv --labels parts.csv --quota c1999x=1",
        2,
        &["names part c1999x", "the parts are c1999, ", "… and 1 991 more"],
    );
    folder.refuses(
        "sample --features items.csv --labels parts.csv --quota 1,1",
        2,
        &["2 entries for 2001 parts: c0, ", "… and 1 991 more"],
    );
}

#[test]
fn names_may_begin_with_a_hyphen() {
    let folder = Folder::new();
    folder.write("signed.csv", "-x,y\n-9,1\n2,1\n-9,1\n2,1\n-9,1\n2,1\n-9,1\n2,1\n-9,1\n");
    let input = "--features features.csv --labels signed.csv --label-column -x";
    for quota in ["-9=1..,2=1", "-9=1,2=1"] {
        let answer = folder.sample(&format!("{input} --quota {quota}"));
        assert_eq!(answer["parts"], serde_json::json!(["-9", "2"]), "{quota}");
    }
}

#[cfg(unix)]
#[test]
fn pipes_are_no_npy_files() {
    let folder = Folder::new();
    let pipe = folder.path("pipe.npy");
    assert!(std::process::Command::new("mkfifo").arg(pipe).status().unwrap().success());
    folder.refuses("sample --features pipe.npy --k 1", 2, &["pipe.npy", "this is a pipe"]);
    folder.refuses("sample --features features.csv --labels pipe.npy --quota 1", 2, &["this is a pipe"]);
    std::os::unix::fs::symlink("/dev/zero", folder.path("zero.npy")).unwrap();
    folder.refuses("sample --kernel zero.npy --k 1", 2, &["zero.npy", "this is a device"]);
}

#[test]
fn exit_statuses_are_documented() {
    let folder = Folder::new();
    for command in ["", "sample ", "infer ", "map ", "counts ", "bench ", "reproduce "] {
        let help = folder.text(&format!("{command}--help"));
        assert!(
            ["Exit status:", "  0 ", "  2 ", "  3 ", "  4 ", "  130 "].iter().all(|line| help.contains(line)),
            "{help}"
        );
    }
}
