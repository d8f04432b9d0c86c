//! The command line, as data: which commands there are.

use clap::{Parser, Subcommand};

#[cfg(feature = "gpu")]
use crate::{bench::BenchArguments, devices::DevicesArguments};
use crate::{
    counts::CountsArguments, infer::InferArguments, map::MapArguments, reproduce::ReproduceArguments,
    sample::SampleArguments,
};

/// What `--help` says of exit statuses.
const EXIT_STATUS: &str = "Exit status:
  0    the answer is on standard output
  2    bad arguments, bad input, a file that cannot be written, or a question without an answer:
       a quota that no set meets, k above the rank, no set found that has all items asked for
  3    no graphics adapter where one was asked for, or its failure
  4    refused, for it would exceed a budget: of proposals, nodes, moves, time or memory
  130  interrupted by Ctrl-C; what was found until then is printed where that makes sense
With 2, 3 and 4 standard output stays empty and one line on standard error says what is wrong.";

/// Small, diverse, representative subsets under quotas.
#[derive(Debug, Parser)]
#[command(name = "pdpp", version, about, disable_help_subcommand = true, arg_required_else_help = false)]
#[command(after_long_help = EXIT_STATUS)]
pub(crate) struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// One variant per command, one folder per variant.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Draw subsets.
    ///
    /// From a Partition-DPP with --quota, a k-DPP with --k, independent k-DPPs with --quota and --independent, a
    /// plain DPP with none of them. Ranges in --quota leave the total open, unless --k fixes it.
    #[command(after_long_help = EXIT_STATUS)]
    Sample(SampleArguments),
    /// Probabilities: the normaliser log Z, of every item to be chosen, of given sets.
    ///
    /// Under a Partition-DPP with --quota, a k-DPP with --k, a plain DPP with neither.
    #[command(after_long_help = EXIT_STATUS)]
    Infer(InferArguments),
    /// The most diverse set: the one whose determinant is largest.
    ///
    /// That meets --quota, of --k items, or of any size with neither. Ranges in --quota leave the total open, unless --k
    /// fixes it.
    #[command(after_long_help = EXIT_STATUS)]
    Map(MapArguments),
    /// How many items of each part a k-DPP chooses by itself, and how likely it is to meet a quota by chance.
    ///
    /// With --k, or --quota, whose total is then k; with both they must agree. A plain DPP if --quota has ranges and
    /// there is no --k.
    #[command(after_long_help = EXIT_STATUS)]
    Counts(CountsArguments),
    /// The CPU against a GPU, over a grid of sizes; answers are checked.
    #[cfg(feature = "gpu")]
    #[command(after_long_help = EXIT_STATUS)]
    Bench(BenchArguments),
    /// The tables and figures of Kathuria and Deshpande (2016), computed again: a report, tables, figures.
    #[command(after_long_help = EXIT_STATUS)]
    Reproduce(ReproduceArguments),
    /// What could compute here: graphics adapters, and which one `--engine auto` would take.
    #[cfg(feature = "gpu")]
    Devices(DevicesArguments),
}
