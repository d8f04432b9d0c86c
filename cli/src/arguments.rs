//! The commands of the command line.

use clap::{Parser, Subcommand};

#[cfg(feature = "gpu")]
use crate::{bench::BenchArguments, devices::DevicesArguments};
use crate::{
    counts::CountsArguments, infer::InferArguments, map::MapArguments, reproduce::ReproduceArguments,
    sample::SampleArguments,
};

/// The exit statuses, as `--help` lists them.
const EXIT_STATUS: &str = "Exit status:
  0    the answer is on standard output
  2    bad arguments, bad input, a file that cannot be written, or a question without an answer:
       a quota that no set meets, k above the rank, no set of the size asked for
  3    no GPU where one was asked for, or a GPU that failed
  4    refused: over a budget of proposals, nodes, moves, time or memory
  130  interrupted by Ctrl-C; the samples drawn so far, or the best set so far, are printed
With 2, 3 and 4 standard output stays empty and one line on standard error states the problem.";

/// Small, diverse, representative subsets under quotas.
#[derive(Debug, Parser)]
#[command(name = "pdpp", version, about, disable_help_subcommand = true, arg_required_else_help = false)]
#[command(after_long_help = EXIT_STATUS)]
pub(crate) struct Arguments {
    /// The command to run.
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
    /// Compute probabilities: the normaliser log Z, the inclusion probability of every item, the probabilities of sets.
    ///
    /// Under a Partition-DPP with --quota, a k-DPP with --k, a plain DPP with neither.
    #[command(after_long_help = EXIT_STATUS)]
    Infer(InferArguments),
    /// Find the most diverse set: the one whose determinant is largest.
    ///
    /// Among the sets that meet --quota, of --k items, or of any size with neither. Ranges in --quota leave the total
    /// open, unless --k fixes it.
    #[command(after_long_help = EXIT_STATUS)]
    Map(MapArguments),
    /// Compute the part counts of a k-DPP without a quota, and the probability that it meets a quota by chance.
    ///
    /// k is --k, or the total of --quota; if both are given, they must agree. If --quota has ranges and --k is absent,
    /// the law is a plain DPP.
    #[command(after_long_help = EXIT_STATUS)]
    Counts(CountsArguments),
    /// Compare the CPU with a GPU over a grid of sizes, and check the answers.
    #[cfg(feature = "gpu")]
    #[command(after_long_help = EXIT_STATUS)]
    Bench(BenchArguments),
    /// Reproduce the tables and figures of Kathuria and Deshpande (2016).
    #[command(after_long_help = EXIT_STATUS)]
    Reproduce(ReproduceArguments),
    /// List the GPUs of this machine, and which one `--engine auto` takes.
    #[cfg(feature = "gpu")]
    Devices(DevicesArguments),
}
