//! The commands of the command line, and the layout of their help.

use std::sync::LazyLock;

use clap::{Arg, ArgAction, Id, Parser, Subcommand};

#[cfg(feature = "gpu")]
use crate::{bench::BenchArguments, devices::DevicesArguments};
use crate::{
    counts::CountsArguments, examples, generate::GenerateArguments, infer::InferArguments, map::MapArguments,
    reproduce::ReproduceArguments, sample::SampleArguments,
};

/// The exit statuses, as `--help` lists them.
pub(crate) const EXIT_STATUS: &str = "Exit status:
  0    the answer is on standard output; of map also the best set found when its time is up
  2    bad arguments, bad input, a file that cannot be written, or a question without an answer:
       a quota that no set meets, k above the rank, no set of the size asked for
  3    no GPU although one was asked for, or a GPU that failed
  4    over a budget of proposals, nodes, moves, time or memory
  130  interrupted by Ctrl-C
Standard error states the problem on one line, then ways out on indented lines. Standard output is
empty then, except after Ctrl-C or a time limit: the samples so far, or the best set so far, are
printed.";

/// The version, the commit that releases are built from, and the features.
static LONG_VERSION: LazyLock<String> = LazyLock::new(|| {
    let commit = option_env!("PDPP_COMMIT").map_or_else(String::new, |commit| format!(" ({commit})"));
    let features = if cfg!(feature = "gpu") { "gpu" } else { "none" };
    format!("{}{commit}\nfeatures: {features}", env!("CARGO_PKG_VERSION"))
});

/// The headings of options, in the order of `-h` and `--help`.
const HEADINGS: [&str; 6] =
    ["Input", "Selection", "Output", "Similarity and scores", "Method", "Computation"];

/// Pick small, diverse subsets of your data, with a quota per group
///
/// Draws from determinantal point processes, finds the most diverse set, and computes probabilities.
#[derive(Debug, Parser)]
#[command(name = "pdpp", version, long_version = LONG_VERSION.as_str(), arg_required_else_help = true)]
#[command(
    after_help = "Run 'pdpp COMMAND -h' for the options of a command, and --help for details and examples."
)]
#[command(after_long_help = examples::followed_by(examples::ALL, EXIT_STATUS), mut_subcommands(arranged))]
pub(crate) struct Arguments {
    /// The command to run.
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// One variant per command, one folder per variant.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Draw random diverse subsets
    ///
    /// Draws from a Partition-DPP with --quota, from a k-DPP with --k, from independent k-DPPs with --quota and
    /// --independent, and otherwise from a plain DPP. Ranges in --quota leave the total open, unless --k fixes it.
    #[command(after_help = "Run 'pdpp sample --help' for all options and examples.")]
    #[command(after_long_help = examples::followed_by(examples::SAMPLE, EXIT_STATUS))]
    Sample(SampleArguments),
    /// Find the most diverse subset
    ///
    /// Finds the set with the largest determinant among all sets that meet --quota, of --k items, or else of any size.
    /// Ranges in --quota leave the total open, unless --k fixes it.
    #[command(after_help = "Run 'pdpp map --help' for all options and examples.")]
    #[command(after_long_help = examples::followed_by(examples::MAP, EXIT_STATUS))]
    Map(MapArguments),
    /// Compute the probabilities of items and sets
    ///
    /// Computes the normaliser log Z, the inclusion probability of every item, and the probabilities of given sets,
    /// under a Partition-DPP with --quota, a k-DPP with --k, and otherwise a plain DPP.
    #[command(after_help = "Run 'pdpp infer --help' for all options and examples.")]
    #[command(after_long_help = examples::followed_by(examples::INFER, EXIT_STATUS))]
    Infer(InferArguments),
    /// Compute how many items of each part a k-DPP chooses
    ///
    /// Computes the distribution of the part counts of a k-DPP without a quota, and the probability that it meets
    /// --quota by chance. k is --k or the total of --quota; if both are given, they must agree. With ranges in
    /// --quota and without --k, the sets come from a plain DPP.
    #[command(after_help = "Run 'pdpp counts --help' for all options and examples.")]
    #[command(after_long_help = examples::followed_by(examples::COUNTS, EXIT_STATUS))]
    Counts(CountsArguments),
    /// Time the CPU and a GPU over a grid of sizes, and compare their answers
    #[cfg(feature = "gpu")]
    #[command(after_help = "Run 'pdpp bench --help' for all options and examples.")]
    #[command(after_long_help = examples::followed_by(examples::BENCH, EXIT_STATUS))]
    Bench(BenchArguments),
    /// Reproduce the tables and figures of Kathuria and Deshpande (2016)
    #[command(after_help = "Run 'pdpp reproduce --help' for all options and examples.")]
    #[command(after_long_help = examples::followed_by(examples::REPRODUCE, EXIT_STATUS))]
    Reproduce(ReproduceArguments),
    /// List the GPUs of this machine, and the one that --engine auto takes
    #[cfg(feature = "gpu")]
    #[command(after_long_help = examples::followed_by(examples::DEVICES, EXIT_STATUS))]
    Devices(DevicesArguments),
    /// Print shell completions, man pages or the reference of all commands
    #[command(hide = true)]
    Generate(GenerateArguments),
}

/// Orders options by heading, and moves the descriptions of possible values from `-h` to `--help`.
///
/// clap lists headings by their first options, and commands share structs with options of several headings.
fn arranged(command: clap::Command) -> clap::Command {
    let help = Arg::new("help").short('h').long("help").action(ArgAction::Help);
    let help = help.help("Print this summary, or details and examples with --help").help_heading("Output");
    let help = help.long_help("Print details and examples, or a summary with -h");
    let has_headings = command.get_arguments().any(|argument| argument.get_help_heading() == Some("Output"));
    let command = if has_headings { command.disable_help_flag(true).arg(help) } else { command };
    let of_heading = |heading: &&str| -> Vec<Id> {
        let all = command.get_arguments().filter(|argument| argument.get_help_heading() == Some(heading));
        all.map(|argument| argument.get_id().clone()).collect()
    };
    let ids: Vec<Id> = HEADINGS.iter().flat_map(of_heading).collect();
    ids.iter().fold(command.mut_args(describe_values), |command, id| command.mut_arg(id, |argument| argument))
}

/// Moves the descriptions of possible values to the end of the long help: `-h` has no room for them.
fn describe_values(argument: Arg) -> Arg {
    let values = argument.get_possible_values();
    let described = values.iter().filter_map(|value| Some((value.get_name(), value.get_help()?)));
    let lines: Vec<String> = described.map(|(name, help)| format!("- {name}: {help}")).collect();
    if lines.is_empty() {
        return argument;
    }
    let text = argument.get_long_help().or(argument.get_help()).map(ToString::to_string);
    let text = format!("{}\n\nPossible values:\n{}", text.unwrap_or_default(), lines.join("\n"));
    argument.hide_possible_values(true).long_help(text)
}
