//! Labels, scores and ids in .parquet files, of every type.

use std::{fs::File, sync::Arc};

use arrow_array::{
    ArrayRef, BinaryArray, Date32Array, Decimal32Array, Decimal128Array, Decimal256Array, LargeStringArray,
    StringViewArray, TimestampMicrosecondArray,
};
use arrow_buffer::i256;
use parquet::{
    data_type::{FixedLenByteArray, FixedLenByteArrayType, Int32Type},
    file::writer::SerializedFileWriter,
    schema::parser::parse_message_type,
};

use super::{
    parquet::{labels, lists, rows, write},
    support::Folder,
};

fn parts(folder: &Folder, name: &str) -> serde_json::Value {
    let input = "sample --features features.csv --quota 1,1,1";
    folder.json(&format!("{input} --labels {name}.parquet --label-column kind"))["parts"].take()
}

#[test]
fn labels_of_many_types_are_read() {
    let folder = Folder::new();
    let numbers = || (0..9).map(|item| item % 3);
    let decimal =
        |scale: i8| numbers().map(move |part| i128::from(part) * 10_i128.pow(scale.unsigned_abs().into()));
    let tones: Vec<&[u8]> = labels().into_iter().map(str::as_bytes).collect();
    let days = ["2024-01-01", "2024-01-02", "2024-01-03"];
    let times = days.map(|day| format!("{day}T00:00:00"));
    let times = times.each_ref().map(String::as_str);
    let day = 86_400_000_000_i64;
    let decimals =
        |scale| Decimal128Array::from_iter_values(decimal(scale)).with_precision_and_scale(20, scale);
    let columns: Vec<(&str, ArrayRef, [&str; 3])> = vec![
        ("large", Arc::new(LargeStringArray::from(labels())), ["dark", "light", "medium"]),
        ("view", Arc::new(StringViewArray::from(labels())), ["dark", "light", "medium"]),
        ("bytes", Arc::new(BinaryArray::from(tones)), ["dark", "light", "medium"]),
        ("whole", Arc::new(decimals(0).unwrap()), ["0", "1", "2"]),
        ("cents", Arc::new(decimals(2).unwrap()), ["0", "1", "2"]),
        (
            "short",
            Arc::new(
                Decimal32Array::from_iter_values(numbers().map(|part| part * 10))
                    .with_precision_and_scale(5, 1)
                    .unwrap(),
            ),
            ["0", "1", "2"],
        ),
        (
            "long",
            Arc::new(
                Decimal256Array::from_iter_values(decimal(3).map(i256::from_i128))
                    .with_precision_and_scale(50, 3)
                    .unwrap(),
            ),
            ["0", "1", "2"],
        ),
        ("day", Arc::new(Date32Array::from_iter_values(numbers().map(|part| 19_723 + part))), days),
        (
            "time",
            Arc::new(TimestampMicrosecondArray::from_iter_values(
                numbers().map(|part| day * i64::from(19_723 + part)),
            )),
            times,
        ),
    ];
    for (name, column, expected) in columns {
        write(&folder, &format!("{name}.parquet"), vec![("kind", column)]);
        assert_eq!(parts(&folder, name), serde_json::json!(expected), "{name}");
    }
    let fractions = Decimal128Array::from_iter_values((0..9).map(|item| 100 + item));
    let fractions = fractions.with_precision_and_scale(9, 2).unwrap();
    write(&folder, "fractions.parquet", vec![("kind", Arc::new(fractions))]);
    let refuse = |name: &str, culprits: &[&str]| {
        let input = "sample --features features.csv --quota 1,1,1";
        folder.refuses(&format!("{input} --labels {name}.parquet"), 2, culprits);
    };
    refuse("fractions", &["row 1", "1.01", "integer"]);
    let bytes: Vec<&[u8]> = (0..9).map(|_| &[0xff_u8, 0xfe][..]).collect();
    write(&folder, "noise.parquet", vec![("kind", Arc::new(BinaryArray::from(bytes)))]);
    refuse("noise", &["noise.parquet", "'kind'", "Binary", "Utf8"]);
    write(&folder, "lists.parquet", vec![("kind", lists(&rows()))]);
    refuse("lists", &["lists.parquet", "'kind'", "neither text nor numbers"]);
    folder.refuses("sample --features . --k 1", 2, &["folder", "files"]);
}

#[test]
fn decimal_scores_and_uuids_are_read() {
    let folder = Folder::new();
    let schema = "message m {
        required int32 score (DECIMAL(9, 3));
        required fixed_len_byte_array(16) id (UUID);
    }";
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let file = File::create(folder.path("table.parquet")).unwrap();
    let mut writer = SerializedFileWriter::new(file, schema, Arc::default()).unwrap();
    let mut group = writer.next_row_group().unwrap();
    let mut column = group.next_column().unwrap().unwrap();
    let scores: Vec<i32> = (0..9).map(|item| 125 * item).collect();
    column.typed::<Int32Type>().write_batch(&scores, None, None).unwrap();
    column.close().unwrap();
    let mut column = group.next_column().unwrap().unwrap();
    let ids: Vec<FixedLenByteArray> = (0..9).map(|item| vec![item; 16].into()).collect();
    column.typed::<FixedLenByteArrayType>().write_batch(&ids, None, None).unwrap();
    column.close().unwrap();
    group.close().unwrap();
    writer.close().unwrap();
    folder.write("scores.csv", "score\n0\n0.125\n0.25\n0.375\n0.5\n0.625\n0.75\n0.875\n1\n");
    let answer = |scores: &str| {
        let mut answer =
            folder.json(&format!("map --features features.csv --k 2 --scores {scores} --score-column score"));
        answer["seconds"].take();
        answer
    };
    assert_eq!(answer("table.parquet"), answer("scores.csv"));
    let named =
        folder.json("map --features features.csv --k 2 --ids table.parquet --id-column id --include 3");
    let ids = named["ids"].to_string();
    assert!(ids.contains("03030303-0303-0303-0303-030303030303"), "{ids}");
}
