//! The items and their parts.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// Where the items come from: exactly one source.
#[derive(Args, Debug)]
#[group(id = "source", required = true, multiple = false)]
pub(crate) struct Source {
    /// Feature matrix, one item per row: .npy, or .csv (a first row that is not all numbers is a header). Items
    /// are numbered consecutively across several files.
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
    /// The part of each item, from one or several files: .csv with a header line, or one-dimensional .npy of integers.
    /// Parts are ordered numerically if all labels are integers, otherwise lexicographically.
    #[arg(long, value_name = "FILE", num_args = 1.., conflicts_with = "dataset", help_heading = "Input")]
    pub(crate) labels: Vec<PathBuf>,
    /// The column of labels, if a .csv has several; with --multi-label a list of columns, as in sky,sun,tree.
    #[arg(
        long,
        value_name = "NAME",
        requires = "labels",
        allow_hyphen_values = true,
        help_heading = "Input"
    )]
    pub(crate) label_column: Option<String>,
    /// Items may have several labels: --labels has one 0/1 column per label, after an optional first column named item
    /// that counts from 0. In a set an item counts for one of its labels, and quotas count labels.
    #[arg(long, help_heading = "Input")]
    pub(crate) multi_label: bool,
}
