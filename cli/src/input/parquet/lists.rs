//! Embeddings: a column of lists of numbers, all of one length.

use half::f16;
use partition_dpp::Features;
use rayon::prelude::*;

use super::{
    Numbers, ParquetFile,
    matrix::Feature,
    row_groups::{Memory, RowGroup},
    values::Stored,
};
use crate::{
    failure::Failure,
    memory::{Limit, Use},
};

/// Values read at a time: their levels and they themselves stay in the cache.
const CHUNK: usize = 1 << 15;

/// A column of lists, and where its values are.
#[derive(Clone, Copy, Debug)]
pub(super) struct ListColumn {
    pub(super) column: usize,
    pub(super) leaf: usize,
    numbers: Numbers,
}

impl ParquetFile {
    /// The rows of a column of lists of floating-point numbers: the only one, unless it is named.
    pub(in crate::input) fn embeddings(
        &self,
        name: Option<&str>,
        limit: &mut Limit,
        made: Use,
    ) -> Result<Features, Failure> {
        let list = self.list_column(name)?;
        match list.numbers {
            Numbers::F16 => self.lists::<f16>(list, limit, made),
            Numbers::F64 => self.lists::<f64>(list, limit, made),
            _ => self.lists::<f32>(list, limit, made),
        }
    }

    pub(super) fn list_column(&self, name: Option<&str>) -> Result<ListColumn, Failure> {
        if let Some(name) = name {
            let column = self.find(name)?;
            let problem = "does not hold lists of floating-point numbers";
            return self.as_list(column).ok_or_else(|| self.problem(column, problem));
        }
        let mut lists = (0..self.names.len()).filter_map(|column| self.as_list(column));
        match (lists.next(), lists.next()) {
            (Some(list), None) => Ok(list),
            (Some(first), Some(second)) => {
                let [first, second] = [first, second].map(|list| &self.names[list.column]);
                let problem = format!(
                    "columns '{first}' and '{second}' hold lists of numbers; choose one with --embedding-column"
                );
                Err(Failure::file(&self.path, problem))
            }
            (None, _) => {
                let listed = super::columns::list(self.names.iter().map(String::as_str).collect());
                let problem = format!(
                    "no column holds lists of floating-point numbers; name columns of numbers with --embedding-columns (the columns are {listed})"
                );
                Err(Failure::file(&self.path, problem))
            }
        }
    }

    /// A column as one of lists, if it is one.
    fn as_list(&self, column: usize) -> Option<ListColumn> {
        let mut leaves = self.leaves(column);
        let (Some(leaf), None) = (leaves.next(), leaves.next()) else { return None };
        let descriptor = self.descriptor(leaf);
        let numbers = Numbers::of(&descriptor)?;
        let is_real = matches!(numbers, Numbers::F16 | Numbers::F32 | Numbers::F64);
        (is_real && descriptor.max_rep_level() == 1).then_some(ListColumn { column, leaf, numbers })
    }

    fn lists<T: Stored + Feature>(
        &self,
        list: ListColumn,
        limit: &mut Limit,
        made: Use,
    ) -> Result<Features, Failure> {
        let dims = self.length_of_first(list)?;
        let pages = self.pages(list);
        let memory = Memory { limit, made, ahead: self.bytes_ahead(list, &pages) };
        self.features(dims, memory, |groups: &mut [(RowGroup, &mut [T])]| {
            let others = self.read_pieces(list, dims, &pages, groups);
            // What is unusual is read with all its levels, and what is wrong is found.
            let others = groups.par_iter_mut().enumerate().filter(|(at, _)| others.contains(at));
            let read = others.map(|(_, (group, out))| self.read_lists(list, *group, dims, out));
            // The first row at fault, whichever thread finds it.
            read.collect::<Vec<_>>().into_iter().collect()
        })
    }

    /// Reads the lists of a row group, whatever their encoding, and says what is wrong with them.
    fn read_lists<T: Stored>(
        &self,
        list: ListColumn,
        RowGroup { group, first_row, .. }: RowGroup,
        dims: usize,
        out: &mut [T],
    ) -> Result<(), Failure> {
        let mut reader = self.reader::<T::Physical>(group, list.leaf)?;
        let whole = self.descriptor(list.leaf).max_def_level();
        let (mut definitions, mut repetitions, mut values) = (Vec::new(), Vec::new(), Vec::new());
        let mut done = 0;
        for out in out.chunks_mut((CHUNK / dims).max(1) * dims) {
            definitions.clear();
            repetitions.clear();
            values.clear();
            let wanted = out.len() / dims;
            let read =
                reader.read_records(wanted, Some(&mut definitions), Some(&mut repetitions), &mut values);
            let (found, ..) = read.map_err(|error| self.failure(&error))?;
            if found < wanted {
                let row = first_row + done + found;
                return Err(self.row_problem(list.column, row, "the file ends before this row"));
            }
            let is_row = |levels: &[i16]| levels[0] == 0 && levels[1..].iter().all(|&level| level == 1);
            let are_whole = definitions.iter().all(|&level| level == whole)
                && repetitions.len() == out.len()
                && repetitions.chunks_exact(dims).all(is_row);
            if !are_whole {
                return Err(self.unlike_row(list, first_row + done, dims, &definitions, &repetitions));
            }
            out.iter_mut().zip(&values).for_each(|(out, value)| *out = T::of(value));
            done += wanted;
        }
        Ok(())
    }

    /// Says which of some rows has no list, or one of another length.
    fn unlike_row(
        &self,
        list: ListColumn,
        first_row: usize,
        dims: usize,
        definitions: &[i16],
        repetitions: &[i16],
    ) -> Failure {
        let (root, leaf) = (self.metadata.parquet_schema().get_column_root(list.leaf), list.leaf);
        let whole = self.descriptor(leaf).max_def_level();
        // One level for the list itself, if it may be null.
        let list_level = i16::from(root.is_optional());
        let starts = (0..repetitions.len()).filter(|&at| repetitions[at] == 0);
        let ends = starts.clone().skip(1).chain([repetitions.len()]);
        for (row, (start, end)) in starts.zip(ends).enumerate() {
            let levels = &definitions[start..end];
            let problem = match levels.iter().find(|level| **level != whole) {
                Some(&level) if level < list_level => "there is no list".to_owned(),
                Some(&level) if level == list_level => "the list is empty".to_owned(),
                Some(_) => "a value of the list is missing".to_owned(),
                None if levels.len() == dims => continue,
                None => format!("the list has {} values where that of row 0 has {dims}", levels.len()),
            };
            return self.row_problem(list.column, first_row + row, &problem);
        }
        self.problem(list.column, "has lists of different lengths")
    }

    /// Number of values of the list of the first row.
    fn length_of_first(&self, list: ListColumn) -> Result<usize, Failure> {
        let Some(group) = (0..self.table().num_row_groups()).find(|&group| self.rows_of(group) > 0) else {
            return Err(Failure::file(&self.path, "the file has no rows"));
        };
        match list.numbers {
            Numbers::F16 => self.length_in::<f16>(list, group),
            Numbers::F64 => self.length_in::<f64>(list, group),
            _ => self.length_in::<f32>(list, group),
        }
    }

    fn length_in<T: Stored>(&self, list: ListColumn, group: usize) -> Result<usize, Failure> {
        let mut reader = self.reader::<T::Physical>(group, list.leaf)?;
        let (mut definitions, mut repetitions, mut values) = (Vec::new(), Vec::new(), Vec::new());
        let read = reader.read_records(1, Some(&mut definitions), Some(&mut repetitions), &mut values);
        read.map_err(|error| self.failure(&error))?;
        let whole = self.descriptor(list.leaf).max_def_level();
        if definitions.is_empty() || definitions.iter().any(|&level| level != whole) {
            return Err(self.unlike_row(list, 0, definitions.len(), &definitions, &repetitions));
        }
        Ok(definitions.len())
    }
}
