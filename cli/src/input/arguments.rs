//! The items and their parts.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::{cache, is_parquet, weighing::WeighingArguments};
use crate::{
    failure::Failure,
    parse::positive,
    replacing::{Written, refuse_replacing},
};

/// The source of the items: exactly one of these.
#[derive(Args, Debug)]
#[group(id = "source", required = true, multiple = false)]
pub(crate) struct Source {
    /// Features, one item per row, from .npy, .csv or .parquet files
    ///
    /// The first row of a .csv file is a header if it is not all numbers. A .parquet file holds the features in one
    /// column of lists of numbers, or in the columns named by --embedding-columns. Several files are read as one, with
    /// the items numbered consecutively.
    #[arg(long, value_name = "FILE", num_args = 1.., help_heading = "Input")]
    pub(crate) features: Vec<PathBuf>,
    /// Similarity matrix instead of features, from a .npy or .csv file
    ///
    /// The likelihood kernel, with one row and one column per item. A .csv file must not have a header.
    #[arg(long, value_name = "FILE", help_heading = "Input")]
    pub(crate) kernel: Option<PathBuf>,
    /// Built-in data set with labels: digits
    #[arg(long, value_name = "NAME", help_heading = "Input")]
    pub(crate) dataset: Option<Dataset>,
}

/// The built-in data sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Dataset {
    /// 1797 handwritten digits of 8×8 pixels, in ten classes.
    Digits,
}

/// Items and their parts.
#[derive(Args, Debug)]
pub(crate) struct InputArguments {
    #[command(flatten)]
    pub(crate) source: Source,
    /// Part of each item, from .csv, .npy or .parquet files
    ///
    /// A .csv file must have a header line, a .npy file must hold a one-dimensional array of integers. Spaces around a
    /// label are ignored. Parts are in numeric order if all labels are integers, otherwise in lexicographic order.
    #[arg(long, value_name = "FILE", num_args = 1.., conflicts_with = "dataset", help_heading = "Input")]
    pub(crate) labels: Vec<PathBuf>,
    /// Column of the labels, in the files of --labels or in .parquet features
    ///
    /// Needed if a file of --labels has several columns, or to read labels from the .parquet files of --features. With
    /// --multi-label, a list of columns, as in sky,sun,tree.
    #[arg(
        long,
        value_name = "NAME",
        conflicts_with = "dataset",
        allow_hyphen_values = true,
        help_heading = "Input"
    )]
    pub(crate) label_column: Option<String>,
    /// Name of each item, from .csv, .npy or .parquet files
    ///
    /// A .csv file must have a header line, a .npy file must hold a one-dimensional array of integers. Answers then
    /// contain ids, and --include-ids and --exclude-ids accept them.
    #[arg(long, value_name = "FILE", num_args = 1.., conflicts_with = "dataset", help_heading = "Input")]
    pub(crate) ids: Vec<PathBuf>,
    /// Column of the ids, in the files of --ids or in .parquet features
    ///
    /// Needed if a file of --ids has several columns, or to read ids from the .parquet files of --features.
    #[arg(
        long,
        value_name = "NAME",
        conflicts_with = "dataset",
        allow_hyphen_values = true,
        help_heading = "Input"
    )]
    pub(crate) id_column: Option<String>,
    /// Read several labels per item, from one 0/1 column per label
    ///
    /// The file of --labels has one 0/1 column per label. An optional first column named item holds the index of the
    /// item, counted from 0. In a set an item counts for one of its labels, and quotas count labels.
    #[arg(long, help_heading = "Input")]
    pub(crate) multi_label: bool,
    /// Column of .parquet features that holds lists of numbers
    ///
    /// Needed if a file has several such columns.
    #[arg(
        long,
        value_name = "NAME",
        requires = "features",
        allow_hyphen_values = true,
        help_heading = "Input",
        hide_short_help = true
    )]
    pub(crate) embedding_column: Option<String>,
    /// Columns of .parquet features that hold one number each, as in A,B,C
    #[arg(
        long,
        value_name = "NAMES",
        value_delimiter = ',',
        requires = "features",
        conflicts_with = "embedding_column",
        allow_hyphen_values = true,
        help_heading = "Input",
        hide_short_help = true
    )]
    pub(crate) embedding_columns: Vec<String>,
    /// Rounding errors to allow in --kernel [default: 1e-10]
    ///
    /// The matrix may differ from a symmetric and positive semidefinite one by this fraction of its largest entry and
    /// eigenvalue. The default is about 1e-7 if the file holds f32. Eigenvalues smaller than that count as zero.
    #[arg(
        long,
        value_name = "T",
        conflicts_with_all = ["features", "dataset"],
        value_parser = positive,
        allow_hyphen_values = true,
        help_heading = "Input",
        hide_short_help = true
    )]
    pub(crate) kernel_tolerance: Option<f64>,
    #[command(flatten)]
    pub(crate) weighing: WeighingArguments,
}

/// A column of one or several files.
#[derive(Clone, Copy, Debug)]
pub(super) struct Column<'a> {
    pub(super) files: &'a [PathBuf],
    /// `None` for the only column of each file.
    pub(super) name: Option<&'a str>,
}

impl InputArguments {
    /// All files that are read.
    fn files(&self) -> impl Iterator<Item = &PathBuf> {
        let Source { features, kernel, .. } = &self.source;
        let tables = self.labels.iter().chain(&self.ids).chain(&self.weighing.scores);
        features.iter().chain(kernel).chain(tables)
    }

    /// Refuses options, `written` and --cache, that would replace an input file, the file `read` or each other's files.
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

    /// The column of labels, if any are given.
    pub(super) fn label_source(&self) -> Result<Option<Column<'_>>, Failure> {
        self.column(&self.labels, self.label_column.as_deref(), ["--labels", "--label-column"])
    }

    /// The column of ids, if any are given.
    pub(super) fn id_source(&self) -> Result<Option<Column<'_>>, Failure> {
        self.column(&self.ids, self.id_column.as_deref(), ["--ids", "--id-column"])
    }

    /// The column of scores, if any are given.
    pub(super) fn score_source(&self) -> Result<Option<Column<'_>>, Failure> {
        let WeighingArguments { scores, score_column, .. } = &self.weighing;
        self.column(scores, score_column.as_deref(), ["--scores", "--score-column"])
    }

    /// A column of separate files, or of the .parquet files of features.
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
