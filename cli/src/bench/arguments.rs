//! The arguments of `pdpp bench`.

use std::{num::NonZeroUsize, path::PathBuf};

use clap::{Args, ValueEnum};

use super::tasks::Task;
use crate::{compute::PrecisionChoice, plot::PlotFile};

/// The sizes to measure, and the files to write.
#[derive(Args, Debug)]
pub(crate) struct BenchArguments {
    /// Numbers of items
    #[arg(long, value_name = "M,M", value_delimiter = ',', default_value = "10000,100000")]
    pub(crate) items: Vec<usize>,
    /// Numbers of features
    #[arg(long, value_name = "N,N", value_delimiter = ',', default_value = "64")]
    pub(crate) dims: Vec<usize>,
    /// Numbers of items to choose
    #[arg(long, value_name = "K,K", value_delimiter = ',', default_value = "12")]
    pub(crate) k: Vec<usize>,
    /// Numbers of parts
    #[arg(long, value_name = "P,P", value_delimiter = ',', default_value = "2")]
    pub(crate) parts: Vec<usize>,
    /// Type of the stored features: f16, f32 or f64
    #[arg(long, value_enum, value_name = "TYPE", default_value_t)]
    pub(crate) values: ValueType,
    /// Tasks to measure, as in norms,gram [default: all]
    #[arg(long, value_enum, value_name = "TASK,TASK", value_delimiter = ',')]
    pub(crate) task: Vec<Task>,
    /// Number of timed runs per task, after a first one
    #[arg(long, value_name = "N", default_value = "5")]
    pub(crate) repeat: NonZeroUsize,
    /// Name of the GPU to measure, or a part of it [default: the first]
    #[arg(long, value_name = "NAME")]
    pub(crate) adapter: Option<String>,
    /// Precision of the GPU: auto, f32 or f64
    ///
    /// With auto, a GPU that supports f64 is measured in both precisions.
    #[arg(long, value_enum, value_name = "PRECISION", default_value_t)]
    pub(crate) precision: PrecisionChoice,
    /// Print one JSON object on one line
    ///
    /// It also describes the machine and its measured rates.
    #[arg(long)]
    pub(crate) json: bool,
    /// Write all numbers to a .csv file
    #[arg(long, value_name = "FILE")]
    pub(crate) csv: Option<PathBuf>,
    /// Plot the times, as .png or .svg
    #[arg(long, value_name = "FILE")]
    pub(crate) plot: Option<PlotFile>,
    /// Show no progress
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

/// The type of the stored features.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum ValueType {
    /// Half precision.
    F16,
    /// Single precision.
    #[default]
    F32,
    /// Double precision.
    F64,
}

impl ValueType {
    /// The size of a value in bytes.
    pub(super) fn bytes(self) -> usize {
        match self {
            Self::F16 => 2,
            Self::F32 => 4,
            Self::F64 => 8,
        }
    }
}
