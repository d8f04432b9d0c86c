//! The items and their parts.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::{cache, is_parquet, weighing::WeighingArguments};
use crate::{
    failure::Failure,
    parse::positive,
    replacing::{Written, refuse_replacing},
};

/// Where the items come from: exactly one source.
#[derive(Args, Debug)]
#[group(id = "source", required = true, multiple = false)]
pub(crate) struct Source {
    /// Feature matrix, one item per row: .npy, .csv (a first row that is not all numbers is a header), or .parquet with a
    /// column of lists of numbers. Items are numbered consecutively across several files.
    #[arg(long, value_name = "FILE", num_args = 1.., help_heading = "Input")]
    pub(crate) features: Vec<PathBuf>,
    /// Likelihood kernel, one row and column per item: .npy, or .csv without a header.
    #[arg(long, value_name = "FILE", help_heading = "Input")]
    pub(crate) kernel: Option<PathBuf>,
    /// A built-in data set, with its labels.
    #[arg(long, value_name = "NAME", help_heading = "Input")]
    pub(crate) dataset: Option<Dataset>,
}

/// The built-in data sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Dataset {
    /// 1797 handwritten digits of 8×8 pixels, ten classes.
    Digits,
}

/// Items and their parts.
#[derive(Args, Debug)]
pub(crate) struct InputArguments {
    #[command(flatten)]
    pub(crate) source: Source,
    /// How far from symmetric and positive semidefinite --kernel may be, as a fraction of its largest entry and
    /// eigenvalue; by default the rounding of its values: about 1e-7 in f32, else 1e-10. Eigenvalues that cannot be
    /// told from rounding count as zero.
    #[arg(
        long,
        value_name = "T",
        conflicts_with_all = ["features", "dataset"],
        value_parser = positive,
        allow_hyphen_values = true,
        help_heading = "Input"
    )]
    pub(crate) kernel_tolerance: Option<f64>,
    /// The column of a .parquet file that holds the features as lists of numbers, if there are several.
    #[arg(
        long,
        value_name = "NAME",
        requires = "features",
        allow_hyphen_values = true,
        help_heading = "Input"
    )]
    pub(crate) embedding_column: Option<String>,
    /// Columns of a .parquet file that hold one feature each: A,B,C.
    #[arg(
        long,
        value_name = "NAMES",
        value_delimiter = ',',
        requires = "features",
        conflicts_with = "embedding_column",
        allow_hyphen_values = true,
        help_heading = "Input"
    )]
    pub(crate) embedding_columns: Vec<String>,
    /// The part of each item, from one or several files: .csv with a header line, one-dimensional .npy of integers, or
    /// .parquet. Spaces around a label do not count. Parts are ordered numerically if all labels are integers, otherwise
    /// lexicographically.
    #[arg(long, value_name = "FILE", num_args = 1.., conflicts_with = "dataset", help_heading = "Input")]
    pub(crate) labels: Vec<PathBuf>,
    /// The column of labels, if a file has several; without --labels, of the .parquet files of features. With
    /// --multi-label a list of columns, as in sky,sun,tree.
    #[arg(
        long,
        value_name = "NAME",
        conflicts_with = "dataset",
        allow_hyphen_values = true,
        help_heading = "Input"
    )]
    pub(crate) label_column: Option<String>,
    /// What the items are called: .csv with a header line, one-dimensional .npy of integers, or .parquet. Answers then
    /// hold ids, and --include-ids and --exclude-ids take them.
    #[arg(long, value_name = "FILE", num_args = 1.., conflicts_with = "dataset", help_heading = "Input")]
    pub(crate) ids: Vec<PathBuf>,
    /// The column of ids, if a file has several; without --ids, of the .parquet files of features.
    #[arg(
        long,
        value_name = "NAME",
        conflicts_with = "dataset",
        allow_hyphen_values = true,
        help_heading = "Input"
    )]
    pub(crate) id_column: Option<String>,
    #[command(flatten)]
    pub(crate) weighing: WeighingArguments,
    /// Items may have several labels: --labels has one 0/1 column per label, after an optional first column named item
    /// that counts from 0. In a set an item counts for one of its labels, and quotas count labels.
    #[arg(long, help_heading = "Input")]
    pub(crate) multi_label: bool,
}

/// A column of one or several files.
#[derive(Clone, Copy, Debug)]
pub(super) struct Column<'a> {
    pub(super) files: &'a [PathBuf],
    /// `None` for the only one of each file.
    pub(super) name: Option<&'a str>,
}

impl InputArguments {
    /// All files that are read.
    fn files(&self) -> impl Iterator<Item = &PathBuf> {
        let Source { features, kernel, .. } = &self.source;
        let tables = self.labels.iter().chain(&self.ids).chain(&self.weighing.scores);
        features.iter().chain(kernel).chain(tables)
    }

    /// Refuses options that would replace a file of the input, or `read`, or each other's: `written` and --cache.
    pub(crate) fn refuse_replacing(
        &self,
        written: &[Written<'_>],
        read: Option<&PathBuf>,
    ) -> Result<(), Failure> {
        let cache = self.weighing.cache.as_deref();
        let described = cache.map(cache::beside);
        let of_cache = cache.into_iter().chain(described.as_deref()).map(|path| ("--cache", path));
        let written: Vec<Written<'_>> = written.iter().copied().chain(of_cache).collect();
        refuse_replacing(&written, self.files().chain(read).map(PathBuf::as_path))
    }

    /// Where labels are read from, if there are any.
    pub(super) fn label_source(&self) -> Result<Option<Column<'_>>, Failure> {
        self.column(&self.labels, self.label_column.as_deref(), ["--labels", "--label-column"])
    }

    /// Where ids are read from, if there are any.
    pub(super) fn id_source(&self) -> Result<Option<Column<'_>>, Failure> {
        self.column(&self.ids, self.id_column.as_deref(), ["--ids", "--id-column"])
    }

    /// Where scores are read from, if there are any.
    pub(super) fn score_source(&self) -> Result<Option<Column<'_>>, Failure> {
        let WeighingArguments { scores, score_column, .. } = &self.weighing;
        self.column(scores, score_column.as_deref(), ["--scores", "--score-column"])
    }

    /// A column of files of its own, or of those of the features if these have columns.
    fn column<'a>(
        &'a self,
        own: &'a [PathBuf],
        name: Option<&'a str>,
        [of_files, of_column]: [&str; 2],
    ) -> Result<Option<Column<'a>>, Failure> {
        if !own.is_empty() {
            return Ok(Some(Column { files: own, name }));
        }
        let features = &self.source.features[..];
        match name {
            None => Ok(None),
            Some(_) if features.is_empty() || features.iter().any(|path| !is_parquet(path)) => {
                let sentence = format!("{of_column} needs {of_files}, or features in .parquet files");
                Err(Failure::Arguments(sentence))
            }
            Some(_) => Ok(Some(Column { files: features, name })),
        }
    }
}
