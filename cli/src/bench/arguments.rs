//! The arguments of `pdpp bench`.

use std::path::PathBuf;

use clap::Args;

use crate::{compute::PrecisionChoice, plot::PlotFile};

/// The sizes to measure, and the files to write.
#[derive(Args, Debug)]
pub(crate) struct BenchArguments {
    /// Numbers of items.
    #[arg(long, value_name = "M,M", value_delimiter = ',', default_value = "10000,100000")]
    pub(crate) items: Vec<usize>,
    /// Numbers of features.
    #[arg(long, value_name = "N,N", value_delimiter = ',', default_value = "64")]
    pub(crate) dims: Vec<usize>,
    /// Numbers of items to choose.
    #[arg(long, value_name = "K,K", value_delimiter = ',', default_value = "12")]
    pub(crate) k: Vec<usize>,
    /// Numbers of parts.
    #[arg(long, value_name = "P,P", value_delimiter = ',', default_value = "2")]
    pub(crate) parts: Vec<usize>,
    /// Precision of the GPU.
    #[arg(long, value_enum, value_name = "PRECISION", default_value_t)]
    pub(crate) precision: PrecisionChoice,
    /// Write all numbers to a .csv file.
    #[arg(long, value_name = "FILE")]
    pub(crate) csv: Option<PathBuf>,
    /// Plot the times, as a .png or .svg file.
    #[arg(long, value_name = "FILE")]
    pub(crate) plot: Option<PlotFile>,
    /// Show no progress.
    #[arg(long, short)]
    pub(crate) quiet: bool,
}
