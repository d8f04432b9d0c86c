//! Several files as one ground set.

use super::support::{FEATURES, Folder, LABELS, feature_values, npy};

/// Makes features and labels in two files each, the second from item 4 on.
fn folder() -> Folder {
    let folder = Folder::new();
    let rows: Vec<&str> = FEATURES.lines().collect();
    folder.write("front.csv", rows[..4].join("\n"));
    folder.write("back.csv", rows[4..].join("\n"));
    let labels: Vec<&str> = LABELS.lines().skip(1).collect();
    folder.write("front-labels.csv", format!("tone\n{}\n", labels[..4].join("\n")));
    folder.write(
        "back-labels.csv",
        format!(
            "id,tone\n{}\n",
            labels[4..]
                .join("\n")
                .replace("light", "5,light")
                .replace("dark", "6,dark")
                .replace("medium", "7,medium")
        ),
    );
    folder
}

#[test]
fn shards_answer_as_one_file_does() {
    let folder = folder();
    for command in ["sample --samples 50", "infer", "map"] {
        let answer = |input: &str| {
            let mut answer = folder.json(&format!("{command} {input} --quota 1,1,1"));
            answer["seconds"].take();
            answer
        };
        let whole = answer("--features features.csv --labels labels.csv");
        let labels = "--labels front-labels.csv back-labels.csv --label-column tone";
        assert_eq!(answer(&format!("--features front.csv back.csv {labels}")), whole);
        assert_eq!(answer("--features front.csv back.csv --labels labels.csv"), whole);
        assert_eq!(answer(&format!("--features features.csv {labels}")), whole);
    }
}

#[test]
fn labels_of_both_formats_are_one_list() {
    let folder = folder();
    folder.write("numbers.npy", npy("<i8", "(4,)", &[10_i64, 2, 2, 10].map(i64::to_le_bytes).concat()));
    folder.write("more.npy", npy("<i4", "(5,)", &[2_i32, 10, 2, 10, 2].map(i32::to_le_bytes).concat()));
    folder.write("more.csv", "n\n2\n10\n2\n10\n2\n");
    for more in ["more.npy", "more.csv"] {
        let answer =
            folder.sample(&format!("--features features.csv --labels numbers.npy {more} --quota 2,1"));
        assert_eq!(answer["parts"], serde_json::json!(["2", "10"]), "{more}");
    }
}

#[test]
fn shards_that_do_not_fit_are_named() {
    let folder = folder();
    folder.write("wide.csv", "1,2,3,4\n");
    folder.write("half.npy", npy("<f4", "(9, 3)", &[0; 108]));
    folder.write("single.npy", npy("<f8", "(9, 3)", &feature_values()));
    folder.refuses(
        "sample --features front.csv wide.csv --k 2",
        2,
        &["wide.csv", "4 values", "front.csv", "3 values"],
    );
    folder.refuses("sample --features front.csv half.npy --k 2", 2, &["half.npy", "f32", "front.csv", "f64"]);
    folder.refuses("sample --features front.csv none.csv --k 2", 2, &["none.csv"]);
    folder.refuses(
        "sample --features front.csv back.csv --labels front-labels.csv --quota 1,1,1",
        2,
        &["front-labels.csv", "4 labels", "9 items", "2 files from front.csv on"],
    );
    folder.refuses(
        "sample --features front.csv --labels front-labels.csv back-labels.csv --quota 1,1,1",
        2,
        &["back-labels.csv", "2 columns"],
    );
    folder.refuses(
        "sample --features front.csv --multi-label --labels front-labels.csv back-labels.csv --quota 1",
        2,
        &["--multi-label needs one file"],
    );
}
