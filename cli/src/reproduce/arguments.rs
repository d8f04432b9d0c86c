//! The arguments of `pdpp reproduce`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use pdpp_reproduce::Part;

use crate::compute::ComputeArguments;

/// What to compute again, from what, and where to write it.
#[derive(Args, Debug)]
pub(crate) struct ReproduceArguments {
    /// Which part of the paper.
    #[arg(value_enum, value_name = "PART")]
    pub(crate) part: ReproducePart,
    /// Folder of the data sets: yaleb, corel16k, corel5k, debates2012. What is missing is skipped by name, or shown on
    /// the digits that are built in.
    #[arg(long, value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,
    /// Folder for report.html, a .csv file per table and an .svg file per figure; made if it is not there.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
    /// Seed of all draws and instances.
    #[arg(long, value_name = "S", default_value_t = 2016)]
    pub(crate) seed: u64,
    /// Random instances of each synthetic set.
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..=1000))]
    pub(crate) instances: u64,
    /// What computes; a GPU is timed beside the CPU.
    #[command(flatten)]
    pub(crate) compute: ComputeArguments,
    /// No progress.
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

/// The experiments of the paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReproducePart {
    /// Seconds per sample, what rejection accepts, how both grow.
    Timing,
    /// Faces in three lights: k-DPPs are skewed, Partition-DPPs are not.
    Yale,
    /// Images with several labels: independent k-DPPs choose one twice.
    Corel,
    /// Greedy and local search on random points.
    MapSynthetic,
    /// Greedy and local search on statements of debates.
    MapDebates,
    /// All of them.
    All,
}

impl ReproducePart {
    /// What is computed.
    pub(crate) fn parts(self) -> &'static [Part] {
        match self {
            ReproducePart::Timing => &[Part::Timing],
            ReproducePart::Yale => &[Part::Yale],
            ReproducePart::Corel => &[Part::Corel],
            ReproducePart::MapSynthetic => &[Part::MapSynthetic],
            ReproducePart::MapDebates => &[Part::MapDebates],
            ReproducePart::All => &Part::ALL,
        }
    }
}
