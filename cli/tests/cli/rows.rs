//! `--output`: the rows of chosen items, in .csv and .parquet files.

use std::{fs, fs::File, sync::Arc};

use approx::assert_abs_diff_eq;
use arrow_array::{
    Array, ArrayRef, BooleanArray, Decimal128Array, DictionaryArray, Int64Array, RecordBatch, StringArray,
    StructArray, TimestampMicrosecondArray, UInt64Array,
    cast::AsArray,
    types::{Float64Type, Int32Type, Int64Type, UInt64Type},
};
use arrow_schema::{DataType, Field};
use arrow_select::{concat::concat_batches, take::take};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use super::{
    parquet::{labels, lists, rows, text, write},
    support::{Folder, npy},
};

/// Returns the samples of the JSON output item by item: the number of the sample and the item.
fn chosen(samples: &serde_json::Value) -> Vec<(i64, i64)> {
    let samples: Vec<Vec<i64>> = serde_json::from_value(samples.clone()).unwrap();
    let pairs =
        samples.into_iter().zip(0..).flat_map(|(items, sample)| items.into_iter().map(move |i| (sample, i)));
    pairs.collect()
}

fn read(folder: &Folder, name: &str) -> RecordBatch {
    let file = File::open(folder.path(name)).unwrap();
    let builder = ParquetRecordBatchReaderBuilder::try_new(file).unwrap();
    let schema = builder.schema().clone();
    let batches = builder.build().unwrap().collect::<Result<Vec<_>, _>>().unwrap();
    concat_batches(&schema, &batches).unwrap()
}

fn names(table: &RecordBatch) -> Vec<String> {
    table.schema().fields().iter().map(|field| field.name().clone()).collect()
}

fn integers(table: &RecordBatch, name: &str) -> Vec<i64> {
    table.column_by_name(name).unwrap().as_primitive::<Int64Type>().values().to_vec()
}

/// Columns of many types for a range of items; every third price is missing.
fn shop(range: std::ops::Range<usize>) -> Vec<(&'static str, ArrayRef)> {
    let tone: DictionaryArray<Int32Type> = labels()[range.clone()].iter().copied().collect();
    let whole = |item: usize| i64::try_from(item).unwrap();
    let at = TimestampMicrosecondArray::from_iter_values(range.clone().map(|item| 1_000_000 * whole(item)));
    let price = range.clone().map(|item| (item % 3 > 0).then_some(i128::try_from(item).unwrap() * 125));
    let price = price.collect::<Decimal128Array>().with_precision_and_scale(10, 2).unwrap();
    let even: BooleanArray = range.clone().map(|item| Some(item % 2 == 0)).collect();
    let place: ArrayRef = Arc::new(Int64Array::from_iter_values(range.clone().map(whole)));
    let place = StructArray::from(vec![(Arc::new(Field::new("row", DataType::Int64, false)), place)]);
    let names: Vec<String> = range.clone().map(|item| format!("thing, {item}")).collect();
    let item = Int64Array::from_iter_values(range.clone().map(|item| 100 + whole(item)));
    vec![
        ("name", Arc::new(StringArray::from(names)) as ArrayRef),
        ("vector", lists(&rows()[range])),
        ("tone", Arc::new(tone)),
        ("at", Arc::new(at.with_timezone("UTC"))),
        ("price", Arc::new(price)),
        ("even", Arc::new(even)),
        ("place", Arc::new(place)),
        ("item", Arc::new(item)),
    ]
}

#[test]
fn rows_of_parquet_files_keep_their_columns() {
    let folder = Folder::new();
    write(&folder, "a.parquet", shop(0..5));
    write(&folder, "b.parquet", shop(5..9));
    let input = "--features a.parquet b.parquet --label-column tone --quota 1,1,1";
    let answer = folder.json(&format!("sample {input} --samples 7 --output out.parquet"));
    let table = read(&folder, "out.parquet");
    let kept = ["sample", "item", "name", "tone", "at", "price", "even", "place", "item_2"];
    assert_eq!(names(&table), kept);
    let pairs: Vec<(i64, i64)> =
        integers(&table, "sample").into_iter().zip(integers(&table, "item")).collect();
    assert_eq!(pairs, chosen(&answer["samples"]));
    let at = UInt64Array::from_iter_values(pairs.iter().map(|&(_, item)| u64::try_from(item).unwrap()));
    for (name, whole) in shop(0..9).into_iter().filter(|(name, _)| *name != "vector") {
        let name = if name == "item" { "item_2" } else { name };
        let found = table.column_by_name(name).unwrap();
        let expected = take(&whole, &at, None).unwrap();
        assert_eq!(found.data_type(), expected.data_type(), "{name}");
        match found.as_any_dictionary_opt() {
            // The values may have other numbers.
            Some(_) => {
                let words = |array: &ArrayRef| -> Vec<String> {
                    let array = array.as_dictionary::<Int32Type>().downcast_dict::<StringArray>().unwrap();
                    array.into_iter().map(|word| word.unwrap().to_owned()).collect()
                };
                assert_eq!(words(found), words(&expected));
            }
            None => assert_eq!(found, &expected, "{name}"),
        }
    }

    folder.json(&format!("map {input} --include 8 --output all.parquet --with-embeddings"));
    let table = read(&folder, "all.parquet");
    assert_eq!(names(&table)[..4], ["sample", "item", "name", "vector"]);
    assert_eq!(integers(&table, "sample"), [0, 0, 0]);
    let at = table.column(1).as_primitive::<Int64Type>().values().iter().position(|&item| item == 8);
    let vector = table.column_by_name("vector").unwrap().as_list::<i32>().value(at.unwrap());
    assert_eq!(vector.to_data(), lists(&rows()).as_list::<i32>().value(8).to_data());

    folder.json(&format!("map {input} --include 8 --exclude 0,3,1,7 --output out.csv"));
    let text = fs::read_to_string(folder.path("out.csv")).unwrap();
    let (first, last) = (text.lines().next().unwrap(), text.lines().last().unwrap());
    assert_eq!(first, kept.join(","));
    assert_eq!(last, "0,8,\"thing, 8\",medium,1970-01-01T00:00:08Z,10.00,true,{row: 8},108");
    assert!(text.contains("thing, 6\",dark,1970-01-01T00:00:06Z,,true,"), "{text}");
}

#[test]
fn labels_and_ids_of_files_of_their_own_are_kept() {
    let folder = Folder::new();
    folder.write("meta.csv", "tone,url\nd,u0\nl,u1\nm,u2\nd,u3\nl,u4\nm,u5\nd,u6\nl,u7\nm,u8\n");
    let large: Vec<u8> = (0..9).flat_map(|id| (u64::MAX - id).to_le_bytes()).collect();
    folder.write("ids.npy", npy("<u8", "(9,)", &large));
    let values: Vec<u8> = rows().into_iter().flatten().flat_map(f32::to_le_bytes).collect();
    folder.write("features.npy", npy("<f4", "(9, 3)", &values));
    let input = "--features features.npy --labels meta.csv --label-column tone --ids ids.npy --quota 1,1,1";
    folder.json(&format!("map {input} --include 0,1,2 --output out.csv"));
    let expected = "sample,item,tone,url,id\n0,0,d,u0,18446744073709551615\n0,1,l,u1,18446744073709551614\n0,2,m,u2,18446744073709551613\n";
    assert_eq!(fs::read_to_string(folder.path("out.csv")).unwrap(), expected);

    folder.json(&format!("sample {input} --samples 3 --with-embeddings --output out.pq"));
    let table = read(&folder, "out.pq");
    assert_eq!(names(&table), ["sample", "item", "tone", "url", "id", "f0", "f1", "f2"]);
    assert_eq!(table.num_rows(), 9);
    let ids = table.column_by_name("id").unwrap().as_primitive::<UInt64Type>();
    let f1 = table.column_by_name("f1").unwrap().as_primitive::<Float64Type>();
    for (row, item) in integers(&table, "item").into_iter().enumerate() {
        let item = usize::try_from(item).unwrap();
        assert_eq!(ids.value(row), u64::MAX - item as u64);
        assert_abs_diff_eq!(f1.value(row), f64::from(rows()[item][1]), epsilon = 0.0);
    }

    let labels: Vec<u8> = (0..9_i32).flat_map(|item| (item % 3).to_le_bytes()).collect();
    folder.write("labels.npy", npy("<i4", "(9,)", &labels));
    folder.json("map --features features.npy --labels labels.npy --quota 1,0,0 --include 6 --output out.csv");
    assert_eq!(fs::read_to_string(folder.path("out.csv")).unwrap(), "sample,item,label\n0,6,0\n");
    folder.json("map --features features.npy --k 1 --include 6 --output out.csv");
    assert_eq!(fs::read_to_string(folder.path("out.csv")).unwrap(), "sample,item\n0,6\n");
    folder.json("sample --dataset digits --quota 1,0,0,0,0,0,0,0,0,0 --include 0 --output out.csv");
    assert_eq!(fs::read_to_string(folder.path("out.csv")).unwrap(), "sample,item,label\n0,0,0\n");
}

#[test]
fn scores_are_kept_and_embeddings_are_those_given() {
    let folder = Folder::new();
    folder.write("scores.csv", "rating,by\n3,x\n1,y\n0,x\n5,y\n2,x\n4,y\n-1,x\n2.5,y\n0.5,x\n");
    let input = "--features features.csv --scores scores.csv --score-column rating --k 2 --include 1,3";
    for similarity in ["dot", "dot --ridge 0.3", "cosine", "rbf", "rbf --landmarks 5"] {
        let arguments = format!("map {input} --similarity {similarity} --with-embeddings --output out.csv");
        folder.json(&arguments);
        let found = fs::read_to_string(folder.path("out.csv")).unwrap();
        let features: Vec<&str> = super::support::FEATURES.lines().collect();
        let mut lines = found.lines();
        let columns: Vec<String> = (0..features[1].split(',').count()).map(|at| format!("f{at}")).collect();
        assert_eq!(lines.next().unwrap(), format!("sample,item,rating,by,{}", columns.join(",")));
        for (item, row) in [(1, "1"), (3, "5")] {
            let numbers: Vec<f64> =
                lines.next().unwrap().split(',').skip(4).map(|x| x.parse().unwrap()).collect();
            let given: Vec<f64> = features[item].split(',').map(|x| x.parse().unwrap()).collect();
            assert_eq!(numbers, given, "{similarity}: item {item} of score {row}");
        }
    }
}

#[test]
fn copies_of_an_item_are_rows_of_it() {
    let folder = Folder::new();
    folder.write("multi.csv", "a,b\n1,1\n0,1\n1,0\n0,1\n1,0\n0,0\n0,1\n1,1\n1,0\n");
    let input = "--features features.csv --labels multi.csv --multi-label --quota 1,1 --with-embeddings";
    let answer = folder.json(&format!("sample {input} --samples 20 --output out.parquet"));
    let table = read(&folder, "out.parquet");
    let pairs: Vec<(i64, i64)> =
        integers(&table, "sample").into_iter().zip(integers(&table, "item")).collect();
    assert_eq!(pairs, chosen(&answer["samples"]));
    assert_eq!(names(&table), ["sample", "item", "a", "b", "f0", "f1", "f2"]);
    let f0 = table.column_by_name("f0").unwrap().as_primitive::<Float64Type>();
    for (row, (_, item)) in pairs.into_iter().enumerate() {
        let item = usize::try_from(item).unwrap();
        assert_abs_diff_eq!(f0.value(row), f64::from(rows()[item][0]), epsilon = 0.0);
    }
}

#[test]
fn what_cannot_be_written_is_refused() {
    let folder = Folder::new();
    let map = |options: &str, status, culprits: &[&str]| {
        folder.refuses(&format!("map {options}"), status, culprits);
    };
    map("--features features.csv --k 2 --output out.json", 2, &["--output", ".csv or .parquet"]);
    map("--features features.csv --k 2 --output out", 2, &["--output", ".csv or .parquet"]);
    map("--features features.csv --k 2 --with-embeddings", 2, &["--output"]);
    map("--features features.csv --k 2 --output none/out.csv", 2, &["the rows cannot be written", "folder"]);
    map("--features features.csv --k 2 --output ./features.csv", 2, &["features.csv", "input"]);
    folder.write("scores.csv", "score\n1\n2\n3\n4\n5\n6\n7\n8\n9\n");
    map(
        "--features features.csv --scores scores.csv --k 2 --output ./scores.csv",
        2,
        &["scores.csv", "input"],
    );
    map("--kernel features.csv --k 2 --output out.csv --with-embeddings", 2, &["--kernel"]);
    folder.refuses("sample --features features.csv --k 2 --plan --output out.csv", 2, &["--plan"]);

    let some = |columns: &[&str], range| -> Vec<_> {
        shop(range).into_iter().filter(|(name, _)| columns.contains(name)).collect()
    };
    write(&folder, "a.parquet", some(&["vector", "tone", "even"], 0..5));
    write(&folder, "fewer.parquet", some(&["vector", "tone"], 5..9));
    write(&folder, "more.parquet", some(&["vector", "tone", "even", "price"], 5..9));
    let mut other = some(&["vector", "tone"], 5..9);
    other.push(("even", text(&["a", "b", "c", "d"])));
    write(&folder, "other.parquet", other);
    let with = |second: &str, culprits: &[&str]| {
        map(&format!("--features a.parquet {second} --k 2 --output out.csv"), 2, culprits);
    };
    with("fewer.parquet", &["fewer.parquet", "no column 'even'", "a.parquet"]);
    with("more.parquet", &["more.parquet", "'price'", "not in a.parquet"]);
    with("other.parquet", &["other.parquet", "'even'", "Utf8", "Boolean"]);
    with("features.csv", &["features.csv"]);
    assert!(!folder.path("out.csv").exists());

    let mut turned = some(&["vector", "tone", "even"], 5..9);
    turned.reverse();
    write(&folder, "turned.parquet", turned);
    folder.json("map --features a.parquet turned.parquet --k 1 --include 8 --output out.csv");
    assert_eq!(
        fs::read_to_string(folder.path("out.csv")).unwrap(),
        "sample,item,tone,even\n0,8,medium,true\n"
    );
}

#[cfg(unix)]
#[test]
fn links_are_followed_and_pipes_written_to() {
    let folder = Folder::new();
    folder.write("target.csv", "old");
    std::os::unix::fs::symlink("target.csv", folder.path("link.csv")).unwrap();
    folder.json("map --features features.csv --k 1 --include 6 --output link.csv");
    assert_eq!(fs::read_to_string(folder.path("target.csv")).unwrap(), "sample,item\n0,6\n");
    assert!(folder.path("link.csv").is_symlink());
    std::os::unix::fs::symlink("/dev/stdout", folder.path("out.csv")).unwrap();
    let printed = folder.text("map --features features.csv --k 1 --include 6 --quiet --output out.csv");
    assert!(printed.contains("sample,item\n0,6\n"), "{printed}");
    assert!(folder.path("out.csv").is_symlink());
}
