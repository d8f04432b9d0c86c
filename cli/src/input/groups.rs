//! `--by`: items grouped by their value in a column.

use std::path::{Path, PathBuf};

use super::{
    Format, Id, Input, InputArguments, arguments::Column, check_count, format, is_parquet, labels,
    parquet::ParquetFile,
};
use crate::failure::Failure;

/// The values of a column in order of first appearance, and the items that have each.
#[derive(Debug)]
pub(crate) struct Groups {
    values: Vec<String>,
    /// Whether all values are integers that JSON writes as numbers.
    are_integers: bool,
    /// The value of every item.
    of: Vec<u32>,
    /// Items grouped by value, ascending inside a group, and where each group ends.
    items: Vec<u32>,
    ends: Vec<usize>,
}

impl Groups {
    /// Reads a column from the .parquet files of features, or from the files of labels.
    pub(crate) fn read(arguments: &InputArguments, name: &str, input: &Input) -> Result<Self, Failure> {
        let features = &arguments.source.features[..];
        let with_columns =
            |files: &[PathBuf]| !files.is_empty() && files.iter().all(|path| has_columns(path));
        let files = match &arguments.labels[..] {
            _ if features.first().is_some_and(|path| is_parquet(path)) && holds(features, name)? => features,
            labels if with_columns(labels) => labels,
            _ if features.first().is_some_and(|path| is_parquet(path)) => features,
            _ => {
                let sentence =
                    "--by needs a column: features in .parquet files, or --labels in .csv or .parquet files";
                return Err(Failure::Arguments(sentence.into()));
            }
        };
        let (values, kinds) = labels::kinds(Column { files, name: Some(name) }, input.items(), "value")?;
        check_count(&input.features, features, ("values", kinds.len()), files)?;
        Ok(Self::new(values, kinds))
    }

    fn new(values: Vec<String>, of: Vec<u32>) -> Self {
        let mut ends = vec![0; values.len() + 1];
        of.iter().for_each(|&value| ends[value as usize + 1] += 1);
        for group in 0..values.len() {
            ends[group + 1] += ends[group];
        }
        let mut next = ends.clone();
        let mut items = vec![0; of.len()];
        for (item, &value) in (0..).zip(&of) {
            items[next[value as usize]] = item;
            next[value as usize] += 1;
        }
        let is_integer =
            |value: &String| value.parse::<i64>().is_ok_and(|number| number.to_string() == *value);
        let are_integers = values.iter().all(is_integer);
        Self { values, are_integers, of, items, ends }
    }

    /// The number of an item's value.
    pub(crate) fn of(&self, item: usize) -> usize {
        self.of[item] as usize
    }

    /// The most items that have the same value.
    pub(crate) fn largest(&self) -> usize {
        self.ends.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap_or(0)
    }

    /// Number of values.
    pub(crate) fn len(&self) -> usize {
        self.values.len()
    }

    /// A value, as text.
    pub(crate) fn value(&self, group: usize) -> &str {
        &self.values[group]
    }

    /// A value, for JSON.
    pub(crate) fn json(&self, group: usize) -> Id<'_> {
        match self.value(group).parse() {
            Ok(number) if self.are_integers => Id::Integer(number),
            _ => Id::Text(self.value(group)),
        }
    }

    /// The items that have a value, ascending.
    pub(crate) fn items(&self, group: usize) -> &[u32] {
        &self.items[self.ends[group]..self.ends[group + 1]]
    }
}

/// Whether files have a column, as the first one shows.
fn holds(files: &[PathBuf], name: &str) -> Result<bool, Failure> {
    files.first().map_or(Ok(false), |first| Ok(ParquetFile::open(first)?.has(name)))
}

fn has_columns(path: &Path) -> bool {
    matches!(format(path), Ok(Format::Csv | Format::Parquet))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_keep_their_order() {
        let groups = Groups::new(vec!["7".into(), "3".into(), "11".into()], vec![0, 1, 0, 2, 1, 0]);
        assert_eq!(groups.len(), 3);
        let items: Vec<&[u32]> = (0..3).map(|group| groups.items(group)).collect();
        assert_eq!(items, [&[0, 2, 5][..], &[1, 4], &[3]]);
        assert!(matches!(groups.json(2), Id::Integer(11)));
        assert_eq!((groups.of(3), groups.largest()), (2, 3));
        let text = Groups::new(vec!["7".into(), "07".into()], vec![0, 1]);
        assert!(matches!(text.json(0), Id::Text("7")));
    }
}
