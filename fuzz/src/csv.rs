//! Reads any text as a .csv file of features, of a kernel or of labels, and as a file of sets.

use partition_dpp::Subset;
use pdpp::fuzzing::{csv_features, csv_kernel, csv_labels, csv_multi_labels, json_sets};

use crate::common::check_sentence;

/// The names of columns to read.
const COLUMNS: [Option<&str>; 5] = [None, Some("class"), Some(""), Some("a,b"), Some("item,class,é")];
/// The number of items that sets refer to.
const ITEMS: usize = 9;

pub fn run(text: &[u8]) {
    for read in [csv_features, csv_kernel] {
        match read(text) {
            Ok((rows, columns, values)) => {
                assert!(rows > 0 && columns > 0 && rows * columns == values.len(), "{rows}×{columns}");
                assert_eq!(same(&values), same(&written_and_read(columns, &values)));
            }
            Err(sentence) => check_sentence(&sentence),
        }
    }
    // One column per execution.
    let column = COLUMNS[text.len() % COLUMNS.len()];
    match csv_labels(text, column) {
        Ok(partition) => {
            let sizes: usize = (0..partition.parts()).map(|part| partition.size(part)).sum();
            assert!(partition.items() > 0 && sizes == partition.items());
            assert!(partition.names().iter().all(|name| !name.is_empty()));
        }
        Err(sentence) => check_sentence(&sentence),
    }
    match csv_multi_labels(text, column) {
        Ok(copies) => assert!(copies.items() > 0),
        Err(sentence) => check_sentence(&sentence),
    }
    match json_sets(text, ITEMS) {
        Ok(sets) => assert!(sets.iter().flat_map(Subset::iter).all(|item| item < ITEMS)),
        Err(sentence) => check_sentence(&sentence),
    }
}

/// Returns the bits of the values, equal for all NaNs.
fn same(values: &[f64]) -> Vec<u64> {
    values.iter().map(|x| if x.is_nan() { f64::NAN.to_bits() } else { x.to_bits() }).collect()
}

fn written_and_read(columns: usize, values: &[f64]) -> Vec<f64> {
    let row = |row: &[f64]| row.iter().map(f64::to_string).collect::<Vec<_>>().join(",");
    let text: Vec<String> = values.chunks_exact(columns).map(row).collect();
    csv_kernel(text.join("\n").as_bytes()).expect("numbers").2
}
