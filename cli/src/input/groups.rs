//! `--by`: the items that share a value of a column.

use std::path::Path;

use super::{Format, Id, Input, InputArguments, arguments::Column, check_count, format, is_parquet, labels};
use crate::failure::Failure;

/// The values of a column in order of first appearance, and the items that have each.
#[derive(Debug)]
pub(crate) struct Groups {
    values: Vec<String>,
    /// Whether all values are integers that JSON writes as numbers.
    are_integers: bool,
    /// Items grouped by value, ascending inside a group, and where each group ends.
    items: Vec<u32>,
    ends: Vec<usize>,
}

impl Groups {
    /// Reads a column of the features' .parquet files, or of those of the labels.
    pub(crate) fn read(arguments: &InputArguments, name: &str, input: &Input) -> Result<Self, Failure> {
        let features = &arguments.source.features[..];
        let files = match &arguments.labels[..] {
            _ if !features.is_empty() && features.iter().all(|path| is_parquet(path)) => features,
            labels if !labels.is_empty() && labels.iter().all(|path| has_columns(path)) => labels,
            _ => {
                let sentence =
                    "--by needs a column: features in .parquet files, or --labels in .csv or .parquet files";
                return Err(Failure::Arguments(sentence.into()));
            }
        };
        let (values, kinds) = labels::kinds(Column { files, name: Some(name) }, input.items())?;
        check_count(&input.features, features, ("values", kinds.len()), files)?;
        Ok(Self::new(values, &kinds))
    }

    fn new(values: Vec<String>, kinds: &[u32]) -> Self {
        let mut ends = vec![0; values.len() + 1];
        kinds.iter().for_each(|&kind| ends[kind as usize + 1] += 1);
        for group in 0..values.len() {
            ends[group + 1] += ends[group];
        }
        let mut next = ends.clone();
        let mut items = vec![0; kinds.len()];
        for (item, &kind) in (0..).zip(kinds) {
            items[next[kind as usize]] = item;
            next[kind as usize] += 1;
        }
        let are_integers = values.iter().all(|value| value.parse::<i64>().is_ok());
        Self { values, are_integers, items, ends }
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

fn has_columns(path: &Path) -> bool {
    matches!(format(path), Ok(Format::Csv | Format::Parquet))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_keep_their_order() {
        let groups = Groups::new(vec!["7".into(), "3".into(), "11".into()], &[0, 1, 0, 2, 1, 0]);
        assert_eq!(groups.len(), 3);
        let items: Vec<&[u32]> = (0..3).map(|group| groups.items(group)).collect();
        assert_eq!(items, [&[0, 2, 5][..], &[1, 4], &[3]]);
        assert!(matches!(groups.json(2), Id::Integer(11)));
    }
}
