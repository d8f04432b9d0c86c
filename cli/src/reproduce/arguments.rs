//! The arguments of `pdpp reproduce`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use pdpp_reproduce::Part;

use crate::compute::ComputeArguments;

/// The experiments to repeat, their data, and where to write the results.
#[derive(Args, Debug)]
pub(crate) struct ReproduceArguments {
    /// timing, yale, corel, map-synthetic, map-debates or all
    #[arg(value_enum, value_name = "PART")]
    pub(crate) part: ReproducePart,
    /// Folder of the data sets yaleb, corel16k, corel5k and debates2012
    ///
    /// A missing data set is named and skipped, or replaced by the built-in digits.
    #[arg(long, value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,
    /// Folder for the report; created if necessary
    ///
    /// It gets report.html, one .csv file per table and one .svg file per figure.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
    /// Seed of all draws and random instances
    #[arg(long, value_name = "S", default_value_t = 2016)]
    pub(crate) seed: u64,
    /// Number of random instances per synthetic set
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..=1000))]
    pub(crate) instances: u64,
    #[command(flatten)]
    pub(crate) compute: ComputeArguments,
    /// Show no progress
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

/// The experiments of the paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReproducePart {
    /// Seconds per sample and acceptance rates, by problem size.
    Timing,
    /// Faces under three lights: k-DPPs are skewed, Partition-DPPs are not.
    Yale,
    /// Images with several labels: independent k-DPPs choose some of them twice.
    Corel,
    /// Greedy and local search on random points.
    MapSynthetic,
    /// Greedy and local search on statements of debates.
    MapDebates,
    /// All parts.
    All,
}

impl ReproducePart {
    /// The parts of the report.
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
