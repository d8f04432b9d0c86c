//! Lists, read in pieces of some pages each, by all threads at once.

use parquet::column::page::PageReader;
use rayon::prelude::*;

use super::{
    ParquetFile,
    lists::ListColumn,
    row_groups::RowGroup,
    values::{Stored, Values},
};
use crate::contain::contain;

/// Pieces for every thread: few enough that looking for their pages costs nothing.
const PIECES: usize = 4;

/// The pages of a column in a row group, by their numbers of values.
#[derive(Debug)]
pub(super) struct Pages(Vec<usize>);

/// Pages that follow one another.
struct Piece<'m, T> {
    /// Which of the row groups to be read.
    at: usize,
    group: usize,
    first_page: usize,
    out: &'m mut [T],
}

impl ParquetFile {
    /// Where the values of lists are, by row group. Pages that cannot be found are left out; reading them says why.
    pub(super) fn pages(&self, list: ListColumn) -> Vec<Pages> {
        let of_group = |group| {
            let (mut pages, mut sizes) = (self.page_reader(group, list.leaf).ok()?, Vec::new());
            while let Some(page) = pages.peek_next_page().ok()? {
                if !page.is_dict {
                    sizes.push(page.num_levels?);
                }
                pages.skip_next_page().ok()?;
            }
            Some(sizes)
        };
        let groups = (0..self.table().num_row_groups()).into_par_iter();
        // The reader takes headers of pages for whole when it looks ahead.
        let of_group = |group| contain(|| of_group(group)).flatten();
        groups.map(|group| Pages(of_group(group).unwrap_or_default())).collect()
    }

    /// Bytes of the pages that are read at once, about: each thread has one as it is stored and one decompressed.
    pub(super) fn bytes_ahead(&self, list: ListColumn, pages: &[Pages]) -> u64 {
        let of_group = |(group, Pages(sizes)): (usize, &Pages)| {
            let column = self.table().row_group(group).column(list.leaf);
            let bytes = [column.uncompressed_size(), column.compressed_size()];
            let bytes = bytes.map(|bytes| u128::try_from(bytes).unwrap_or(0)).iter().sum::<u128>();
            let (largest, all) = (sizes.iter().max().map_or(1, |&size| size), sizes.iter().sum::<usize>());
            u64::try_from(bytes * largest as u128 / all.max(largest) as u128).unwrap_or(u64::MAX)
        };
        let largest = pages.iter().enumerate().map(of_group).max().unwrap_or(0);
        let count: usize = pages.iter().map(|Pages(sizes)| sizes.len().max(1)).sum();
        largest.saturating_mul(rayon::current_num_threads().min(count) as u64)
    }

    /// Reads lists of `dims` values each; returns which of the row groups are not as simple as that.
    pub(super) fn read_pieces<T: Stored>(
        &self,
        list: ListColumn,
        dims: usize,
        pages: &[Pages],
        groups: &mut [(RowGroup, &mut [T])],
    ) -> Vec<usize> {
        let total: usize = groups.iter().map(|(_, out)| out.len()).sum();
        let target = total.div_ceil(PIECES * rayon::current_num_threads()).max(1);
        let (mut pieces, mut others) = (Vec::new(), Vec::new());
        for (at, (RowGroup { group, .. }, out)) in groups.iter_mut().enumerate() {
            let Pages(sizes) = &pages[*group];
            if sizes.iter().try_fold(0_usize, |sum, &size| sum.checked_add(size)) != Some(out.len()) {
                others.push(at);
                continue;
            }
            let (mut rest, mut first_page, mut length) = (&mut **out, 0, 0);
            for (page, size) in sizes.iter().enumerate() {
                length += size;
                if length >= target || page + 1 == sizes.len() {
                    let (own, later) = rest.split_at_mut(length);
                    pieces.push(Piece { at, group: *group, first_page, out: own });
                    (rest, first_page, length) = (later, page + 1, 0);
                }
            }
        }
        let read = |Piece { at, group, first_page, out }: Piece<'_, T>| {
            let is_read = self.page_reader(group, list.leaf).ok().and_then(|reader| {
                let mut values = Values::new(Box::new(reader), self.descriptor(list.leaf), dims);
                values.skip(first_page).ok()?;
                values.read(out).ok()
            });
            (is_read != Some(true)).then_some(at)
        };
        let failed: Vec<_> = pieces.into_par_iter().map(read).collect();
        others.extend(failed.into_iter().flatten());
        others.sort_unstable();
        others.dedup();
        others
    }
}

#[cfg(test)]
mod tests {
    use std::{fs::File, sync::Arc};

    use arrow_array::{
        ArrayRef, RecordBatch,
        builder::{FixedSizeListBuilder, Float32Builder, ListBuilder},
    };
    use parquet::{
        arrow::ArrowWriter,
        basic::Encoding,
        file::properties::{WriterProperties, WriterVersion},
    };

    use super::*;

    const ROWS: usize = 900;
    const DIMS: usize = 5;

    /// How many row groups of a file of these lists are not read in pieces.
    fn others(lists: ArrayRef, properties: WriterProperties) -> usize {
        let path = tempfile::Builder::new().suffix(".parquet").tempfile().unwrap().into_temp_path();
        let batch = RecordBatch::try_from_iter([("v", lists)]).unwrap();
        let mut writer =
            ArrowWriter::try_new(File::create(&path).unwrap(), batch.schema(), Some(properties)).unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();
        let file = ParquetFile::open(&path).unwrap();
        let (mut values, mut groups, mut first_row) = (vec![0_f32; file.rows() * DIMS], Vec::new(), 0);
        let mut rest = &mut values[..];
        for group in 0..file.table().num_row_groups() {
            let rows = file.rows_of(group);
            let (own, others) = rest.split_at_mut(rows * DIMS);
            groups.push((RowGroup { group, first_row, rows }, own));
            (rest, first_row) = (others, first_row + rows);
        }
        let list = file.list_column(None).unwrap();
        file.read_pieces(list, DIMS, &file.pages(list), &mut groups).len()
    }

    fn lists(length_of: impl Fn(usize) -> usize) -> ArrayRef {
        let mut lists = ListBuilder::new(Float32Builder::new());
        (0..ROWS).for_each(|row| lists.append_value((0..length_of(row)).map(|at| Some((row + at) as f32))));
        Arc::new(lists.finish())
    }

    #[test]
    fn whole_lists_are_read_in_pieces() {
        let mut fixed = FixedSizeListBuilder::new(Float32Builder::new(), i32::try_from(DIMS).unwrap());
        for row in 0..ROWS {
            fixed.values().append_slice(&[row as f32; DIMS]);
            fixed.append(true);
        }
        let fixed: ArrayRef = Arc::new(fixed.finish());
        let pages = || WriterProperties::builder().set_data_page_row_count_limit(70).set_write_batch_size(50);
        let plain = || pages().set_dictionary_enabled(false);
        for properties in [
            WriterProperties::builder(),
            pages(),
            plain(),
            plain().set_writer_version(WriterVersion::PARQUET_2_0),
            pages().set_max_row_group_row_count(Some(200)),
            plain().set_encoding(Encoding::BYTE_STREAM_SPLIT),
        ] {
            assert_eq!(others(Arc::clone(&fixed), properties.clone().build()), 0);
            assert_eq!(others(lists(|_| DIMS), properties.build()), 0);
        }
        let groups = || pages().set_max_row_group_row_count(Some(200)).build();
        let short = |row: usize| DIMS - usize::from(row == 250);
        assert_eq!(others(lists(short), groups()), 1);
        // As many values as there should be.
        let both = |row: usize| DIMS - usize::from(row == 250) + usize::from(row == 270);
        assert_eq!(others(lists(both), groups()), 1);
    }
}
