//! Pages and row groups of .parquet files, in every encoding.

use std::{fs::File, sync::Arc};

use arrow_array::{
    Array, ArrayRef, FixedSizeListArray, Float16Array, Float32Array, Float64Array, Int32Array, ListArray,
    RecordBatch,
    builder::{Float32Builder, ListBuilder},
};
use arrow_buffer::OffsetBuffer;
use arrow_schema::Field;
use half::f16;
use parquet::{
    arrow::ArrowWriter,
    basic::{Compression, Encoding, ZstdLevel},
    file::{
        metadata::{
            ColumnChunkMetaDataBuilder, ParquetMetaDataBuilder, ParquetMetaDataReader, ParquetMetaDataWriter,
        },
        properties::{WriterProperties, WriterPropertiesBuilder, WriterVersion},
        writer::SerializedFileWriter,
    },
};

use super::support::Folder;

const ROWS: usize = 3000;
const DIMS: usize = 11;

/// Small integers, which every type holds, with many repetitions.
fn numbers() -> Vec<f32> {
    let number = |at: usize| (at.wrapping_mul(2_654_435_761) >> 7) % 401;
    (0..ROWS * DIMS).map(|at| u16::try_from(number(at)).unwrap().into()).map(|x: f32| x - 200.0).collect()
}

fn list_of(values: ArrayRef, dims: usize) -> ArrayRef {
    let lengths = OffsetBuffer::from_lengths(std::iter::repeat_n(dims, values.len() / dims));
    let item = Arc::new(Field::new("item", values.data_type().clone(), true));
    Arc::new(ListArray::new(item, lengths, values, None))
}

fn fixed_list_of(values: ArrayRef) -> ArrayRef {
    let item = Arc::new(Field::new("item", values.data_type().clone(), false));
    Arc::new(FixedSizeListArray::new(item, i32::try_from(DIMS).unwrap(), values, None))
}

fn write(folder: &Folder, name: &str, batch: &RecordBatch, properties: WriterProperties) {
    let file = File::create(folder.path(name)).unwrap();
    let mut writer = ArrowWriter::try_new(file, batch.schema(), Some(properties)).unwrap();
    writer.write(batch).unwrap();
    writer.close().unwrap();
}

/// Writes pages of about a hundred rows.
fn pages() -> WriterPropertiesBuilder {
    WriterProperties::builder().set_data_page_row_count_limit(97).set_write_batch_size(60)
}

fn write_npy(folder: &Folder, name: &str, (rows, columns): (usize, usize), kind: &str, bytes: &[u8]) {
    let header = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': ({rows}, {columns}), }}");
    let header = format!("{header:117}\n");
    let length = u16::try_from(header.len()).unwrap().to_le_bytes();
    folder.write(name, [b"\x93NUMPY\x01\x00", &length[..], header.as_bytes(), bytes].concat());
}

fn bytes_of(numbers: &[f32]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

fn draws(folder: &Folder, input: &str) -> serde_json::Value {
    let mut drawn = Vec::new();
    for threads in [1, 3] {
        let arguments = format!("sample --features {input} --k 5 --samples 4 --threads {threads}");
        drawn.push(folder.json(&arguments)["samples"].take());
    }
    assert_eq!(drawn[0], drawn[1], "{input}");
    drawn.swap_remove(0)
}

#[test]
fn every_encoding_reads_as_npy_does() {
    let folder = Folder::new();
    let numbers = numbers();
    let single: ArrayRef = Arc::new(Float32Array::from(numbers.clone()));
    let double: ArrayRef = Arc::new(Float64Array::from_iter_values(numbers.iter().map(|&x| x.into())));
    let half: ArrayRef = Arc::new(Float16Array::from_iter_values(numbers.iter().map(|&x| f16::from_f32(x))));
    write_npy(&folder, "f32.npy", (ROWS, DIMS), "<f4", &bytes_of(&numbers));
    let halves = numbers.iter().flat_map(|&x| f16::from_f32(x).to_le_bytes());
    write_npy(&folder, "f16.npy", (ROWS, DIMS), "<f2", &halves.collect::<Vec<_>>());
    let (expected, of_halves) = (draws(&folder, "f32.npy"), draws(&folder, "f16.npy"));
    let column = |at: usize| -> ArrayRef {
        let values = numbers.iter().skip(at).step_by(DIMS);
        #[expect(clippy::cast_possible_truncation, reason = "they are integers")]
        match at % 3 {
            0 => Arc::new(Float32Array::from_iter_values(values.copied())),
            1 => Arc::new(Int32Array::from_iter_values(values.map(|&x| x as i32))),
            _ => Arc::new(Float64Array::from_iter_values(values.map(|&x| x.into()))),
        }
    };
    let names: Vec<String> = (0..DIMS).map(|at| format!("c{at}")).collect();
    let mut columns: Vec<_> =
        names.iter().enumerate().map(|(at, name)| (name.as_str(), column(at))).collect();
    columns.extend([
        ("single", list_of(single.clone(), DIMS)),
        ("fixed", fixed_list_of(single)),
        ("double", list_of(double, DIMS)),
        ("half", list_of(half.clone(), DIMS)),
        ("fixed-half", fixed_list_of(half)),
    ]);
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let second = WriterVersion::PARQUET_2_0;
    for (name, properties) in [
        ("usual", WriterProperties::builder()),
        ("groups", WriterProperties::builder().set_max_row_group_row_count(Some(701))),
        ("pages", pages()),
        ("plain", pages().set_dictionary_enabled(false).set_compression(Compression::SNAPPY)),
        ("small-dictionary", pages().set_dictionary_page_size_limit(100)),
        ("split", pages().set_dictionary_enabled(false).set_encoding(Encoding::BYTE_STREAM_SPLIT)),
        ("second", pages().set_writer_version(second).set_dictionary_enabled(false)),
        ("second-dictionary", pages().set_writer_version(second).set_max_row_group_row_count(Some(1300))),
        (
            "second-zstd",
            pages().set_writer_version(second).set_compression(Compression::ZSTD(ZstdLevel::default())),
        ),
    ] {
        let file = format!("{name}.parquet");
        write(&folder, &file, &batch, properties.build());
        for column in ["single", "fixed", "double"] {
            let drawn = draws(&folder, &format!("{file} --embedding-column {column}"));
            assert_eq!(drawn, expected, "{name} {column}");
        }
        for column in ["half", "fixed-half"] {
            let drawn = draws(&folder, &format!("{file} --embedding-column {column}"));
            assert_eq!(drawn, of_halves, "{name} {column}");
        }
        let drawn = draws(&folder, &format!("{file} --embedding-columns {}", names.join(",")));
        assert_eq!(drawn, expected, "{name}, columns");
    }
}

#[test]
fn many_columns_are_read_in_blocks() {
    let (folder, numbers) = (Folder::new(), numbers());
    let dims = 150;
    write_npy(&folder, "wide.npy", (ROWS * DIMS / dims, dims), "<f4", &bytes_of(&numbers));
    let names: Vec<String> = (0..dims).map(|at| format!("c{at}")).collect();
    let column = |at: usize| -> ArrayRef {
        Arc::new(Float32Array::from_iter_values(numbers.iter().skip(at).step_by(dims).copied()))
    };
    let columns = names.iter().enumerate().map(|(at, name)| (name, column(at)));
    write(&folder, "wide.parquet", &RecordBatch::try_from_iter(columns).unwrap(), pages().build());
    let drawn = draws(&folder, &format!("wide.parquet --embedding-columns {}", names.join(",")));
    assert_eq!(drawn, draws(&folder, "wide.npy"));
}

/// Lists of three values. `change` replaces some of them; null stands for four nulls.
fn lists(rows: usize, change: impl Fn(usize) -> Option<Vec<Option<f32>>>) -> ArrayRef {
    let mut list = ListBuilder::new(Float32Builder::new());
    for row in 0..rows {
        match change(row) {
            Some(values) if values == [None, None, None, None] => list.append_null(),
            Some(values) => list.append_value(values),
            None => list.append_value([Some(row as f32), Some(2.0), Some(1.0)]),
        }
    }
    Arc::new(list.finish())
}

#[test]
fn the_first_row_at_fault_is_named_wherever_it_is() {
    let folder = Folder::new();
    let null = || vec![None; 4];
    let one = |row: usize| Some(row as f32);
    for (name, other, culprit) in [
        ("null", null(), "there is no list"),
        ("empty", vec![], "the list is empty"),
        ("short", vec![one(1), one(2)], "the list has 2 values; the list in row 0 has 3"),
        ("long", vec![one(1); 6], "the list has 6 values; the list in row 0 has 3"),
        ("hole", vec![one(1), None, one(3)], "a value of the list is missing"),
        ("nan", vec![one(1), Some(f32::NAN), one(3)], "column 1"),
        ("infinite", vec![one(1), one(2), Some(f32::INFINITY)], "column 2"),
    ] {
        for at in [1, 299, 300, 1234, 2999] {
            // Also change a later one.
            let changed = |row: usize| (row == at || row == 2999).then(|| other.clone());
            let batch = RecordBatch::try_from_iter([("v", lists(ROWS, changed))]).unwrap();
            for (kind, properties) in
                [("pages", pages()), ("groups", pages().set_max_row_group_row_count(Some(300)))]
            {
                let file = format!("{name}-{kind}.parquet");
                write(&folder, &file, &batch, properties.build());
                let row = format!("row {at}");
                folder.refuses(&format!("sample --features {file} --k 1"), 2, &[&file, &row, culprit]);
            }
        }
    }
    let short = |row: usize| (row == 7).then(|| vec![one(1), one(2)]);
    let long = |row: usize| (row == 8).then(|| vec![one(1); 4]);
    let both = |row: usize| short(row).or_else(|| long(row));
    let batch = RecordBatch::try_from_iter([("v", lists(ROWS, both))]).unwrap();
    write(&folder, "even.parquet", &batch, pages().build());
    folder.refuses("sample --features even.parquet --k 1", 2, &["row 7", "2 values"]);
}

#[test]
fn gaps_in_columns_are_named() {
    let folder = Folder::new();
    let gap = |at: usize| -> ArrayRef {
        Arc::new((0..ROWS).map(|row| (row != at).then_some(row as f64)).collect::<Float64Array>())
    };
    let batch = RecordBatch::try_from_iter([("a", gap(ROWS)), ("b", gap(1701)), ("c", gap(1650))]).unwrap();
    for (name, properties) in [("pages", pages()), ("groups", pages().set_max_row_group_row_count(Some(300)))]
    {
        let file = format!("{name}.parquet");
        write(&folder, &file, &batch, properties.build());
        let refuse = |columns: &str, culprits: &[&str]| {
            let arguments = format!("sample --features {file} --embedding-columns {columns} --k 1");
            folder.refuses(&arguments, 2, culprits);
        };
        refuse("a,b", &[&file, "row 1701", "'b'", "there is no value"]);
        refuse("c,a", &[&file, "row 1650", "'c'", "there is no value"]);
    }
}

#[test]
fn row_groups_may_be_of_any_size() {
    let folder = Folder::new();
    let whole = lists(60, |_| None);
    let batch = |range: std::ops::Range<usize>| {
        RecordBatch::try_from_iter([("v", whole.slice(range.start, range.len()))]).unwrap()
    };
    write(&folder, "one.parquet", &batch(0..60), WriterProperties::default());
    let file = File::create(folder.path("many.parquet")).unwrap();
    let mut writer = ArrowWriter::try_new(file, batch(0..1).schema(), None).unwrap();
    for range in [0..1, 1..2, 2..40, 40..47, 47..60] {
        writer.write(&batch(range)).unwrap();
        writer.flush().unwrap();
    }
    writer.close().unwrap();
    let answer =
        |file: &str| folder.json(&format!("sample --features {file} --k 2 --samples 9"))["samples"].take();
    assert_eq!(answer("many.parquet"), answer("one.parquet"));

    // Without row groups, and with an empty one.
    let schema = parquet::schema::parser::parse_message_type(
        "message m { optional group v (LIST) { repeated group list { optional float element; } } }",
    );
    let schema = Arc::new(schema.unwrap());
    for groups in [0, 1] {
        let file = File::create(folder.path("hollow.parquet")).unwrap();
        let mut writer = SerializedFileWriter::new(file, Arc::clone(&schema), Arc::default()).unwrap();
        for _ in 0..groups {
            let mut group = writer.next_row_group().unwrap();
            while let Some(column) = group.next_column().unwrap() {
                column.close().unwrap();
            }
            group.close().unwrap();
        }
        writer.close().unwrap();
        folder.refuses(
            "sample --features hollow.parquet --k 1",
            2,
            &["hollow.parquet", "the file has no rows"],
        );
    }
    let empty =
        RecordBatch::try_from_iter([("x", Arc::new(Float32Array::from(Vec::<f32>::new())) as ArrayRef)]);
    write(&folder, "empty.parquet", &empty.unwrap(), WriterProperties::default());
    let refused = "sample --features empty.parquet --embedding-columns x --k 1";
    folder.refuses(refused, 2, &["empty.parquet", "the file has no rows"]);
}

/// The offsets of columns in a file may be anything.
#[test]
fn columns_at_negative_places_are_refused() {
    let folder = Folder::new();
    let batch = RecordBatch::try_from_iter([("v", lists(20, |_| None))]).unwrap();
    write(&folder, "good.parquet", &batch, WriterProperties::builder().set_dictionary_enabled(false).build());
    let good =
        ParquetMetaDataReader::new().parse_and_finish(&File::open(folder.path("good.parquet")).unwrap());
    let good = good.unwrap();
    let changes: [fn(ColumnChunkMetaDataBuilder) -> ColumnChunkMetaDataBuilder; 3] = [
        |column| column.set_data_page_offset(-4),
        |column| column.set_dictionary_page_offset(Some(-4)),
        |column| column.set_total_compressed_size(-4),
    ];
    for change in changes {
        let mut metadata = good.clone().into_builder();
        let groups = metadata.take_row_groups().into_iter().map(|group| {
            let column = change(group.column(0).clone().into_builder()).build().unwrap();
            group.into_builder().set_column_metadata(vec![column]).build().unwrap()
        });
        let metadata =
            groups.collect::<Vec<_>>().into_iter().fold(metadata, ParquetMetaDataBuilder::add_row_group);
        let mut bytes = b"PAR1".to_vec();
        ParquetMetaDataWriter::new(&mut bytes, &metadata.build()).finish().unwrap();
        folder.write("broken.parquet", bytes);
        let culprits = ["broken.parquet", "'v'", "negative offset in row group 0"];
        folder.refuses("sample --features broken.parquet --k 1", 2, &culprits);
        folder.refuses("sample --features features.csv --labels broken.parquet --quota 1", 2, &culprits);
    }
}

/// A page header that claims another version.
#[test]
fn broken_headers_of_pages_are_told() {
    let folder = Folder::new();
    let batch = RecordBatch::try_from_iter([("v", lists(20, |_| None))]).unwrap();
    let version = WriterProperties::builder().set_writer_version(WriterVersion::PARQUET_2_0);
    let properties = version.set_dictionary_enabled(false).set_max_row_group_row_count(Some(10)).build();
    write(&folder, "good.parquet", &batch, properties);
    let file = File::open(folder.path("good.parquet")).unwrap();
    let metadata = ParquetMetaDataReader::new().parse_and_finish(&file).unwrap();
    let start = usize::try_from(metadata.row_group(1).column(0).data_page_offset()).unwrap();
    let mut bytes = std::fs::read(folder.path("good.parquet")).unwrap();
    // The field of the type and its value.
    assert_eq!(bytes[start..start + 2], [0x15, 6]);
    bytes[start + 1] = 0;
    folder.write("broken.parquet", bytes);
    folder.refuses("sample --features broken.parquet --k 1", 2, &["broken.parquet"]);
}

/// The reader does not count columns that hold nothing.
#[test]
fn columns_without_values_are_refused() {
    let folder = Folder::new();
    let schema = "message m { optional group g {} optional double x; }";
    let schema = Arc::new(parquet::schema::parser::parse_message_type(schema).unwrap());
    let file = File::create(folder.path("hollow.parquet")).unwrap();
    let writer = SerializedFileWriter::new(file, schema, Arc::default()).unwrap();
    writer.close().unwrap();
    let refused = "sample --features hollow.parquet --embedding-columns x --k 1";
    folder.refuses(refused, 2, &["hollow.parquet", "a column holds no values"]);
}
