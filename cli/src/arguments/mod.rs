//! The command line, as data.

#[cfg(feature = "gpu")]
mod bench;
mod chains;
mod map;
mod reproduce;

use std::{path::PathBuf, time::Duration};

#[cfg(feature = "gpu")]
pub(crate) use bench::BenchArguments;
use bytesize::ByteSize;
pub(crate) use chains::ChainArguments;
use clap::{Args, Parser, Subcommand, ValueEnum};
use map::seconds;
pub(crate) use map::{MapArguments, SolverChoice};
use partition_dpp::Method;
pub(crate) use reproduce::ReproduceArguments;

use crate::{plot::PlotFile, quota::QuotaRequest};

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

/// One variant per command, one module per variant.
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
    /// The processor against a graphics processor, over a grid of sizes; answers are checked.
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

/// The arguments of `pdpp devices`.
#[cfg(feature = "gpu")]
#[derive(Args, Debug)]
pub(crate) struct DevicesArguments {
    /// Print a JSON list on one line.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Which items there are: exactly one source.
#[derive(Args, Debug)]
#[group(id = "source", required = true, multiple = false)]
pub(crate) struct Source {
    /// Feature matrix, one item per row: .npy, or .csv (a first row that is not all numbers is a header). Of several
    /// files the items are counted through.
    #[arg(long, value_name = "FILE", num_args = 1.., help_heading = "Input")]
    pub(crate) features: Vec<PathBuf>,
    /// Likelihood kernel, one row and column per item: .npy, or .csv without a header.
    #[arg(long, value_name = "FILE", help_heading = "Input")]
    pub(crate) kernel: Option<PathBuf>,
    /// A data set that is built in, labels included.
    #[arg(long, value_name = "NAME", help_heading = "Input")]
    pub(crate) dataset: Option<Dataset>,
}

/// The data sets that are built in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Dataset {
    /// 1797 handwritten digits of 8×8 pixels, ten classes.
    Digits,
}

/// Items and their parts.
#[derive(Args, Debug)]
pub(crate) struct InputArguments {
    /// The items.
    #[command(flatten)]
    pub(crate) source: Source,
    /// The part of each item: .csv with a header line, or one-dimensional .npy of integers; one file or several. Parts
    /// are ordered numerically if all labels are integers, else lexicographically.
    #[arg(long, value_name = "FILE", num_args = 1.., conflicts_with = "dataset", help_heading = "Input")]
    pub(crate) labels: Vec<PathBuf>,
    /// The column of a .csv of labels that has several; with --multi-label a list of columns, as in sky,sun,tree.
    #[arg(
        long,
        value_name = "NAME",
        requires = "labels",
        allow_hyphen_values = true,
        help_heading = "Input"
    )]
    pub(crate) label_column: Option<String>,
    /// Items with any number of labels: --labels has one 0/1 column per label (after a first column called item that
    /// counts from 0, if there is one). An item counts for one of its labels in a set; quotas are of labels.
    #[arg(long, help_heading = "Input")]
    pub(crate) multi_label: bool,
}

/// What computes, and how.
#[derive(Args, Debug)]
pub(crate) struct ComputeArguments {
    /// What does the arithmetic.
    #[arg(long, value_enum, value_name = "ENGINE", default_value_t, help_heading = "Computation")]
    pub(crate) engine: EngineChoice,
    /// Precision of the arithmetic.
    #[arg(long, value_enum, value_name = "PRECISION", default_value_t, help_heading = "Computation")]
    pub(crate) precision: PrecisionChoice,
    /// Threads to use; all of the machine's unless given. Results do not depend on it.
    #[arg(long, value_name = "T", help_heading = "Computation", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) threads: Option<u16>,
}

/// Which engine to use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum EngineChoice {
    /// A graphics processor with f64 for much data, else the processor.
    #[default]
    Auto,
    /// The processor.
    Cpu,
    /// A graphics processor.
    Gpu,
}

/// Which precision to compute in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum PrecisionChoice {
    /// 64-bit where the engine has it.
    #[default]
    Auto,
    /// 32-bit.
    F32,
    /// 64-bit.
    F64,
}

/// What comes out.
#[derive(Args, Debug)]
pub(crate) struct OutputArguments {
    /// Print one JSON object on one line.
    #[arg(long, help_heading = "Output")]
    pub(crate) json: bool,
    /// Print the answer only: no progress, no summary.
    #[arg(long, help_heading = "Output")]
    pub(crate) quiet: bool,
}

/// How many items, of which parts.
#[derive(Args, Debug)]
pub(crate) struct LawArguments {
    /// Items to choose of each part: 2,1,2 in the order of the parts, or dark=2,light=1 by name (0 for the others).
    /// An entry may be a range that includes its ends: 2..4, ..3, 1.., or .. for any number.
    #[arg(long, value_name = "QUOTA", allow_hyphen_values = true, help_heading = "Law")]
    pub(crate) quota: Option<QuotaRequest>,
    /// Items to choose in all; besides --quota it is the total of ranges, or agrees with the numbers.
    #[arg(long, value_name = "K", help_heading = "Law")]
    pub(crate) k: Option<usize>,
}

/// Items that are settled beforehand.
#[derive(Args, Clone, Debug)]
pub(crate) struct ConditionArguments {
    /// Items that must be in: 3,17 by position in the input, the first being 0.
    #[arg(long, value_name = "I,J", value_delimiter = ',', value_parser = index, allow_hyphen_values = true, help_heading = "Law")]
    pub(crate) include: Vec<usize>,
    /// Items that must not be in.
    #[arg(long, value_name = "I,J", value_delimiter = ',', value_parser = index, allow_hyphen_values = true, help_heading = "Law")]
    pub(crate) exclude: Vec<usize>,
}

fn index(text: &str) -> Result<usize, String> {
    text.trim().parse().map_err(|_| format!("'{text}' is not the index of an item"))
}

fn samples(text: &str) -> Result<u64, String> {
    chains::within(text, 1_000_000_000, "samples")
}

/// `pdpp sample`.
#[derive(Args, Debug)]
pub(crate) struct SampleArguments {
    /// The items.
    #[command(flatten)]
    pub(crate) input: InputArguments,
    /// What is drawn from.
    #[command(flatten)]
    pub(crate) law: LawArguments,
    /// One k-DPP per part, blind to likeness across parts.
    #[arg(long, requires = "quota", help_heading = "Law")]
    pub(crate) independent: bool,
    /// What is settled.
    #[command(flatten)]
    pub(crate) conditions: ConditionArguments,
    /// Subsets to draw.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = samples)]
    pub(crate) samples: u64,
    /// Seed of the random numbers: the same seed draws the same subsets.
    #[arg(long, value_name = "S", default_value_t = 0)]
    pub(crate) seed: u64,
    /// How to draw from a Partition-DPP; every method is exact, but mcmc.
    #[arg(long, value_enum, value_name = "METHOD", default_value_t)]
    pub(crate) method: MethodChoice,
    /// How chains run.
    #[command(flatten)]
    pub(crate) chains: ChainArguments,
    /// Say which method would draw, why, at what predicted cost, and in how much memory; draw nothing.
    #[arg(long, conflicts_with = "plot")]
    pub(crate) plan: bool,
    /// Memory that may be taken, as in 400MB, beside features that stay in their files; what is free unless given.
    #[arg(long, value_name = "SIZE", help_heading = "Computation")]
    pub(crate) memory: Option<ByteSize>,
    /// Seconds that exact draws under a quota may take, as predicted: more are refused before they begin. 300 unless given;
    /// --method rejection asks nobody.
    #[arg(long, value_name = "SECONDS", value_parser = seconds, allow_hyphen_values = true, help_heading = "Computation")]
    pub(crate) budget: Option<Duration>,
    /// Stop after so many seconds with the samples drawn by then.
    #[arg(long, value_name = "SECONDS", value_parser = seconds, allow_hyphen_values = true, help_heading = "Computation")]
    pub(crate) time_limit: Option<Duration>,
    /// What computes.
    #[command(flatten)]
    pub(crate) compute: ComputeArguments,
    /// What comes out.
    #[command(flatten)]
    pub(crate) output: OutputArguments,
    /// Draw the first subset among all items, to a .png or .svg file.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) plot: Option<PlotFile>,
}

/// How to draw from a Partition-DPP.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum MethodChoice {
    /// Rejection or interpolation, whichever is predicted to cost less; refused if both cost too much.
    #[default]
    Auto,
    /// Tilted rejection, whatever it costs.
    Rejection,
    /// Item by item, from probabilities by interpolation.
    Interpolation,
    /// The same with one determinant per item and node: slow, to compare with.
    PerCandidate,
    /// Exchange chains, for any number of parts: approximate, with diagnostics.
    Mcmc,
}

impl From<MethodChoice> for Method {
    fn from(choice: MethodChoice) -> Self {
        match choice {
            MethodChoice::Auto => Method::Auto,
            MethodChoice::Rejection => Method::Rejection,
            MethodChoice::Interpolation => Method::Interpolation,
            MethodChoice::PerCandidate => Method::PerCandidate,
            MethodChoice::Mcmc => Method::Mcmc,
        }
    }
}

/// `pdpp infer`.
#[derive(Args, Debug)]
pub(crate) struct InferArguments {
    /// The items.
    #[command(flatten)]
    pub(crate) input: InputArguments,
    /// Whose probabilities.
    #[command(flatten)]
    pub(crate) law: LawArguments,
    /// What is settled.
    #[command(flatten)]
    pub(crate) conditions: ConditionArguments,
    /// Sets whose probabilities are wanted: a JSON list of lists of indices, as in `[[0,5],[3,17]]`.
    #[arg(long, value_name = "FILE", help_heading = "Input")]
    pub(crate) sets: Option<PathBuf>,
    /// Stop after so many seconds without an answer.
    #[arg(long, value_name = "SECONDS", value_parser = seconds, allow_hyphen_values = true, help_heading = "Computation")]
    pub(crate) time_limit: Option<Duration>,
    /// What computes.
    #[command(flatten)]
    pub(crate) compute: ComputeArguments,
    /// What comes out.
    #[command(flatten)]
    pub(crate) output: OutputArguments,
}

/// `pdpp counts`.
#[derive(Args, Debug)]
pub(crate) struct CountsArguments {
    /// The items.
    #[command(flatten)]
    pub(crate) input: InputArguments,
    /// The size, and the quota whose probability is wanted.
    #[command(flatten)]
    pub(crate) law: LawArguments,
    /// What is settled.
    #[command(flatten)]
    pub(crate) conditions: ConditionArguments,
    /// Stop after so many seconds without an answer.
    #[arg(long, value_name = "SECONDS", value_parser = seconds, allow_hyphen_values = true, help_heading = "Computation")]
    pub(crate) time_limit: Option<Duration>,
    /// What computes.
    #[command(flatten)]
    pub(crate) compute: ComputeArguments,
    /// What comes out.
    #[command(flatten)]
    pub(crate) output: OutputArguments,
}
