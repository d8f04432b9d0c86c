//! .parquet files: embeddings, labels, ids, and errors.

use std::{fs::File, sync::Arc};

use arrow_array::{
    ArrayRef, BooleanArray, DictionaryArray, FixedSizeListArray, Float32Array, Float64Array, Int64Array,
    ListArray, RecordBatch, StringArray,
    builder::{Float32Builder, ListBuilder},
    types::{Float32Type, Float64Type, Int32Type},
};
use arrow_schema::{DataType, Field};
use parquet::{arrow::ArrowWriter, file::properties::WriterProperties};

use super::support::{FEATURES, Folder, LABELS};

pub(crate) type Column<'a> = (&'a str, ArrayRef);

pub(crate) fn rows() -> Vec<Vec<f32>> {
    let row = |line: &str| line.split(',').map(|cell| cell.parse().unwrap()).collect();
    FEATURES.lines().map(row).collect()
}

pub(crate) fn labels() -> Vec<&'static str> {
    LABELS.lines().skip(1).collect()
}

pub(crate) fn lists(rows: &[Vec<f32>]) -> ArrayRef {
    let wrap = |row: &Vec<f32>| Some(row.iter().copied().map(Some).collect::<Vec<_>>());
    Arc::new(ListArray::from_iter_primitive::<Float32Type, _, _>(rows.iter().map(wrap)))
}

pub(crate) fn text(cells: &[&str]) -> ArrayRef {
    Arc::new(StringArray::from(cells.to_vec()))
}

fn ids() -> Vec<String> {
    (0..9).map(|item| format!("item-{item}")).collect()
}

/// Writes a table in row groups of four rows.
pub(crate) fn write(folder: &Folder, name: &str, columns: Vec<Column<'_>>) {
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let file = File::create(folder.path(name)).unwrap();
    let properties = WriterProperties::builder().set_max_row_group_row_count(Some(4)).build();
    let mut writer = ArrowWriter::try_new(file, batch.schema(), Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
}

fn answer(folder: &Folder, arguments: &str) -> serde_json::Value {
    let mut answer = folder.json(arguments);
    answer["seconds"].take();
    answer
}

#[test]
fn all_kinds_of_columns_answer_as_csv_does() {
    let folder = Folder::new();
    let flat: Vec<f32> = rows().concat();
    let item = Arc::new(Field::new("item", DataType::Float32, true));
    let fixed = FixedSizeListArray::new(item, 3, Arc::new(Float32Array::from(flat.clone())), None);
    let double =
        rows().into_iter().map(|row| Some(row.into_iter().map(|x| Some(x.into())).collect::<Vec<_>>()));
    let double = ListArray::from_iter_primitive::<Float64Type, _, _>(double);
    let kind: DictionaryArray<Int32Type> = labels().into_iter().collect();
    for (name, embedding) in
        [("list", lists(&rows())), ("fixed", Arc::new(fixed)), ("double", Arc::new(double))]
    {
        let columns = vec![("tone", Arc::new(kind.clone()) as ArrayRef), ("vector", embedding)];
        write(&folder, &format!("{name}.parquet"), columns);
    }
    let column = |at: usize| flat.iter().skip(at).step_by(3).copied();
    let integers: Int64Array = column(1).map(|x| x.to_string().parse::<i64>().ok()).collect();
    let booleans: BooleanArray = rows().iter().map(|row| Some(row[0] > 1.5)).collect();
    let columns: Vec<Column<'_>> = vec![
        ("x", Arc::new(Float32Array::from_iter_values(column(0)))),
        ("y", Arc::new(integers)),
        ("z", Arc::new(Float64Array::from_iter_values(column(2).map(f64::from)))),
        ("large", Arc::new(booleans)),
        ("tone", text(&labels())),
    ];
    write(&folder, "columns.parquet", columns);
    for command in ["sample --samples 20", "infer", "map --certify"] {
        let law = "--quota 1,1,1";
        let expected =
            answer(&folder, &format!("{command} --features features.csv --labels labels.csv {law}"));
        for input in [
            "--features list.parquet --label-column tone",
            "--features fixed.parquet --label-column tone",
            "--features double.parquet --label-column tone",
            "--features double.parquet --labels list.parquet --label-column tone",
            "--features list.parquet --labels labels.csv",
            "--features features.csv --labels columns.parquet --label-column tone",
            "--features columns.parquet --embedding-columns x,y,z --label-column tone",
        ] {
            assert_eq!(answer(&folder, &format!("{command} {input} {law}")), expected, "{input}");
        }
    }
    let counts = answer(
        &folder,
        "sample --features list.parquet --labels columns.parquet --label-column large --quota 2,1",
    );
    assert_eq!(counts["parts"], serde_json::json!(["false", "true"]));
}

#[test]
fn shards_are_one_table() {
    let folder = Folder::new();
    let (rows, labels, ids) = (rows(), labels(), ids());
    for (name, range) in [("a", 0..5), ("b", 5..6), ("c", 6..9)] {
        let ids: Vec<&str> = ids[range.clone()].iter().map(String::as_str).collect();
        let columns =
            vec![("id", text(&ids)), ("vector", lists(&rows[range.clone()])), ("tone", text(&labels[range]))];
        write(&folder, &format!("{name}.parquet"), columns);
    }
    let shards = "--features a.parquet b.parquet c.parquet --label-column tone";
    let whole =
        answer(&folder, "sample --features features.csv --labels labels.csv --quota 1,1,1 --samples 9");
    assert_eq!(answer(&folder, &format!("sample {shards} --quota 1,1,1 --samples 9")), whole);

    let named = answer(&folder, &format!("sample {shards} --id-column id --quota 1,1,1 --samples 9"));
    assert_eq!(named["samples"], whole["samples"]);
    for (samples, ids) in named["samples"].as_array().unwrap().iter().zip(named["ids"].as_array().unwrap()) {
        let of = |item: &serde_json::Value| format!("item-{item}").into();
        let expected: Vec<serde_json::Value> = samples.as_array().unwrap().iter().map(of).collect();
        assert_eq!(ids.as_array().unwrap(), &expected);
    }
    let by_id = "--include-ids item-7 --exclude-ids item-0,item-4";
    let by_index =
        answer(&folder, &format!("map {shards} --id-column id --quota 1,1,1 --include 7 --exclude 0,4"));
    assert_eq!(answer(&folder, &format!("map {shards} --id-column id --quota 1,1,1 {by_id}")), by_index);
    let table = folder.text(&format!("map {shards} --id-column id --quota 1,1,1"));
    assert!(table.contains("item-"), "{table}");
}

#[test]
fn ids_come_from_files_of_their_own() {
    let folder = Folder::new();
    folder.write("ids.csv", format!("id\n{}\n", ids().join("\n")));
    let numbers: Int64Array = (100..109).map(Some).collect();
    write(&folder, "numbers.parquet", vec![("number", Arc::new(numbers))]);
    let by_text = answer(&folder, "map --features features.csv --ids ids.csv --k 2 --include-ids item-8");
    assert_eq!(by_text["ids"][1], "item-8");
    let by_number =
        answer(&folder, "map --features features.csv --ids numbers.parquet --k 2 --include-ids 108");
    assert_eq!(by_number["ids"][1], 108);
    folder.write("twice.csv", "id\na\nb\nb\nc\nd\ne\nf\ng\nh\n");
    folder.refuses(
        "map --features features.csv --ids twice.csv --k 2 --include-ids b",
        2,
        &["items 1 and 2", "'b'"],
    );
    folder.refuses(
        "map --features features.csv --ids twice.csv --k 2 --exclude-ids z",
        2,
        &["no item", "'z'"],
    );
    folder.refuses("map --features features.csv --k 2 --include-ids z", 2, &["--ids", "--id-column"]);
    folder.write("few.csv", "id\na\nb\n");
    folder.refuses("map --features features.csv --ids few.csv --k 2", 2, &["2 ids", "9 items"]);
}

#[test]
fn quotas_are_shared_out() {
    let folder = Folder::new();
    let input = "--features features.csv --labels labels.csv";
    folder.write("uneven.csv", "tone\na\na\na\na\na\na\nb\nb\nc\n");
    let uneven = "--features features.csv --labels uneven.csv";
    for (input, quota, counts) in
        [(input, "equal --k 2", [1, 1, 0]), (uneven, "proportional --k 3", [2, 1, 0])]
    {
        let output = folder.pdpp(&format!("sample {input} --quota {quota} --json")).output().unwrap();
        let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(answer["quota"], serde_json::json!(counts));
        let notes = String::from_utf8(output.stderr).unwrap();
        assert!(notes.contains("gives no items to 1 of 3 parts: "), "{notes}");
    }
    folder.refuses(&format!("sample {input} --quota equal"), 2, &["--quota equal", "--k"]);
    folder.refuses(&format!("sample {input} --quota equal --k 10"), 2, &["k = 10", "9 items"]);
}

#[test]
fn what_is_wrong_is_named() {
    let folder = Folder::new();
    let mut list = ListBuilder::new(Float32Builder::new());
    (0..5).for_each(|_| list.append_value([Some(1.0), Some(2.0)]));
    list.append_null();
    let missing: ArrayRef = Arc::new(list.finish());
    let mut list = ListBuilder::new(Float32Builder::new());
    (0..2).for_each(|_| list.append_value([Some(1.0), Some(2.0)]));
    list.append_value([Some(1.0), None]);
    let hole: ArrayRef = Arc::new(list.finish());
    let pairs = |rows: &[&[f32]]| lists(&rows.iter().map(|row| row.to_vec()).collect::<Vec<_>>());
    let uneven = pairs(&[&[1.0, 2.0], &[3.0, 4.0], &[5.0, 6.0], &[7.0, 8.0], &[9.0]]);
    for (name, column, culprits) in [
        ("uneven", uneven, ["row 4", "1 values", "has 2"]),
        ("missing", missing, ["row 5", "'vector'", "no list"]),
        ("hole", hole, ["row 2", "'vector'", "missing"]),
        ("hollow", pairs(&[&[], &[]]), ["row 0", "'vector'", "empty"]),
        ("nan", pairs(&[&[1.0, 2.0], &[1.0, f32::NAN]]), ["row 1", "column 1", "NaN"]),
        ("none", pairs(&[]), ["none.parquet", "no rows", ""]),
        ("words", text(&["a", "b"]), ["no column holds lists", "--embedding-columns", "vector"]),
    ] {
        write(&folder, &format!("{name}.parquet"), vec![("vector", column)]);
        folder.refuses(&format!("sample --features {name}.parquet --k 1"), 2, &culprits);
    }
    let fractions: ArrayRef = Arc::new(Float64Array::from(vec![2.0, 1.5]));
    let gaps: ArrayRef = Arc::new(StringArray::from(vec![Some("a"), None]));
    let two = pairs(&[&[1.0, 2.0], &[3.0, 4.0]]);
    let columns = vec![("v", two.clone()), ("w", two), ("fraction", fractions), ("gap", gaps)];
    write(&folder, "several.parquet", columns);
    let refuse = |options: &str, culprits: &[&str]| {
        folder.refuses(&format!("sample --features several.parquet {options}"), 2, culprits);
    };
    refuse("--k 1", &["'v'", "'w'", "--embedding-column"]);
    refuse("--embedding-column x --k 1", &["'x'", "v, w, fraction, gap"]);
    refuse("--embedding-column gap --k 1", &["'gap'", "lists"]);
    refuse("--embedding-columns v --k 1", &["'v'", "--embedding-column"]);
    refuse("--embedding-columns gap --k 1", &["'gap'", "numbers"]);
    refuse("--embedding-columns fraction,v --embedding-column v --k 1", &["--embedding-column"]);
    refuse("--embedding-column v --label-column fraction --quota 1,1", &["row 1", "1.5"]);
    refuse("--embedding-column v --label-column gap --quota 1,1", &["row 1", "no value"]);
    refuse("--embedding-column v --label-column w --quota 1,1", &["'w'", "text"]);
    refuse("--embedding-column v --labels several.parquet --quota 1,1", &["4 columns", "--label-column"]);
    folder.refuses(
        "sample --features features.csv --embedding-column v --k 1",
        2,
        &["features.csv", ".parquet"],
    );
    folder.refuses("sample --features features.csv --id-column v --k 1", 2, &["--id-column", "--ids"]);
    folder.refuses("sample --kernel several.parquet --k 1", 2, &["several.parquet", "kernel"]);
    folder.refuses(
        "infer --multi-label --features features.csv --labels several.parquet",
        2,
        &["--multi-label", ".csv"],
    );
}

#[test]
fn files_that_are_not_parquet_are_refused() {
    let folder = Folder::new();
    write(&folder, "good.parquet", vec![("vector", lists(&rows()))]);
    let good = std::fs::read(folder.path("good.parquet")).unwrap();
    folder.write("text.parquet", "hello");
    folder.write("empty.parquet", "");
    for (number, share) in [1, 3, 5, 7].into_iter().enumerate() {
        let name = format!("short-{number}.parquet");
        folder.write(&name, &good[..good.len() * share / 8]);
        folder.refuses(&format!("sample --features {name} --k 1"), 2, &[&name]);
    }
    folder.refuses("sample --features text.parquet --k 1", 2, &["text.parquet", "not a .parquet file"]);
    folder.refuses("sample --features empty.parquet --k 1", 2, &["empty.parquet"]);
    folder.refuses("sample --features gone.parquet --k 1", 2, &["gone.parquet"]);
    std::fs::create_dir(folder.path("folder.parquet")).unwrap();
    folder.refuses("sample --features folder.parquet --k 1", 2, &["folder.parquet", "regular file"]);
    // Broken pages: for any changed byte, there is an answer or a one-sentence error.
    for at in (4..good.len() - 8).step_by(7) {
        let mut broken = good.clone();
        broken[at] ^= 0x55;
        folder.write("broken.parquet", &broken);
        let output = folder.pdpp("sample --features broken.parquet --k 1").output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        let whole = output.status.code() == Some(0) && stderr.is_empty();
        let refused = matches!(output.status.code(), Some(2 | 4)) && stderr.lines().count() == 1;
        assert!(whole || refused, "byte {at}: {:?} {stderr}", output.status);
    }
}

#[test]
fn spaces_around_labels_and_ids_do_not_count() {
    let folder = Folder::new();
    let spaced = ["cat", " cat", "cat ", "dog", "\tdog", "dog\n", " cat dog ", "cat dog", "cat"];
    let ids = [" a", "b ", "c", "d", "e", "f", "g", "h", "i"];
    write(
        &folder,
        "all.parquet",
        vec![("embedding", lists(&rows())), ("tone", text(&spaced)), ("id", text(&ids))],
    );
    let cells = |cells: &[&str]| format!("\"{}\"\n", cells.join("\"\n\""));
    folder.write("tone.csv", format!("tone\n{}", cells(&spaced)));
    folder.write("id.csv", format!("id\n{}", cells(&ids)));
    let quota = "--quota cat=1,dog=1 --include-ids a";
    let parquet = "--features all.parquet --label-column tone --id-column id";
    let csv = "--features features.csv --labels tone.csv --ids id.csv";
    let found = answer(&folder, &format!("map {parquet} {quota}"));
    assert_eq!(found, answer(&folder, &format!("map {csv} {quota}")));
    assert_eq!(found["ids"][0], "a");
    let parts = folder.sample(&format!("{parquet} --quota cat=1,dog=1"))["parts"].clone();
    assert_eq!(parts, serde_json::json!(["cat", "cat dog", "dog"]));
    // By the same values.
    let by = |input: &str| {
        let answer = folder.json(&format!("map {input} --by tone --k 1"));
        (answer["by"].clone(), answer["sets"].clone())
    };
    assert_eq!(by("--features all.parquet"), by("--features features.csv --labels tone.csv"));
}
