//! The arguments of `pdpp map`.

use std::{fmt, path::PathBuf, time::Duration};

use clap::{Args, ValueEnum};
use partition_dpp::engine::Task;

use crate::{
    by::ByArguments,
    compute::ComputeArguments,
    input::{ConditionArguments, InputArguments, Represented},
    law::LawArguments,
    output::OutputArguments,
    parse::{positive, seconds, within},
    plot::PlotFile,
    rows::RowsArguments,
};

/// `pdpp map`.
#[derive(Args, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "they are flags of the command line")]
pub(crate) struct MapArguments {
    #[command(flatten)]
    pub(crate) input: InputArguments,
    #[command(flatten)]
    pub(crate) by: ByArguments,
    #[command(flatten)]
    pub(crate) law: LawArguments,
    /// Search every part by itself, blind to similarity across parts; "log_det" is the sum over the parts.
    #[arg(long, requires = "quota", help_heading = "Law")]
    pub(crate) independent: bool,
    #[command(flatten)]
    pub(crate) conditions: ConditionArguments,
    /// How to search.
    #[arg(long, value_enum, value_name = "SOLVER", default_value_t)]
    pub(crate) solver: SolverChoice,
    /// Find a D-optimal design instead: the rows from which a linear model in the columns is estimated best. Of --k rows, at
    /// least as many as columns, or of a --quota over blocks. Column by column as given: add one of ones for an intercept.
    #[arg(long)]
    pub(crate) design: bool,
    /// Which items a chosen one covers by --solver coverage: those of its part (the default), or all.
    #[arg(long, value_enum, value_name = "WHAT")]
    pub(crate) coverage: Option<Represented>,
    /// Let --solver coverage choose among so many items of every part, drawn at random; of all items without --labels. The
    /// set covers all items as before. For parts of more than some ten thousand items.
    #[arg(long, value_name = "N", value_parser = candidates)]
    pub(crate) candidates: Option<usize>,
    /// Local search swaps items as long as that multiplies the determinant by more than 1 + E/k; 1e-9 by default.
    #[arg(long, value_name = "E", value_parser = positive, allow_hyphen_values = true)]
    pub(crate) epsilon: Option<f64>,
    /// Bound the determinant of every set from above, and state how far the answer can be from the best. May take
    /// as long as --time-limit once more, or 5 seconds if that is longer. With a --time-limit, and up to some thousand items,
    /// branch and bound lowers the bound for as long as it may, and a better set replaces the answer.
    #[arg(long)]
    pub(crate) certify: bool,
    /// Begin --solver exact at the set of this file: an answer of pdpp map --json, or a list of items.
    #[arg(long, value_name = "FILE", conflicts_with = "by")]
    pub(crate) warm: Option<PathBuf>,
    /// Continue the search of --solver exact that this file holds, if it exists. Where the search stands is written to it at the
    /// end, also after --time-limit and Ctrl-C. If it exists, --warm is not read.
    #[arg(long, value_name = "FILE", conflicts_with = "by")]
    pub(crate) resume: Option<PathBuf>,
    /// With --similarity rbf also state the mean distance of items to the nearest chosen one.
    #[arg(long, conflicts_with = "by")]
    pub(crate) explained: bool,
    /// Stop after this many seconds, for every value of --by, with the best set so far. Local search restarts until then (1 second by default) or
    /// until it finds nothing new, and coverage swaps items; with 0, or with --by, they end where no swap improves. A search that a
    /// limit cuts short may differ from run to run.
    #[arg(long, value_name = "SECONDS", value_parser = seconds, allow_hyphen_values = true)]
    pub(crate) time_limit: Option<Duration>,
    #[command(flatten)]
    pub(crate) compute: ComputeArguments,
    #[command(flatten)]
    pub(crate) output: OutputArguments,
    #[command(flatten)]
    pub(crate) rows: RowsArguments,
    /// Plot the set among all items, as a .png or .svg file.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) plot: Option<PlotFile>,
    /// Plot over time how --solver exact finds its set and lowers its bound, as a .png or .svg file.
    #[arg(long, value_name = "FILE", help_heading = "Output", conflicts_with = "by")]
    pub(crate) plot_search: Option<PlotFile>,
}

/// How to search for the best set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum SolverChoice {
    /// Item by item, each time the one that increases the determinant most.
    Greedy,
    /// Greedy, then swaps as long as they improve, from many starts.
    #[default]
    LocalSearch,
    /// Double greedy: one decision per item. For sets of any size.
    SymmetricGreedy,
    /// A continuous relaxation, rounded. For sets of any size.
    Softmax,
    /// Not by the determinant: item by item, each time the one by which all items gain most similarity to the set, then
    /// swaps. For sets that stand for all items.
    Coverage,
    /// Branch and bound: the best set, with a proof that no other is better by more than 1e-9 in log det, or by rounding.
    Exact,
}

fn candidates(text: &str) -> Result<usize, String> {
    within(text, u32::MAX as usize, "items")
}

impl MapArguments {
    /// What the solver computes, for predictions of its time.
    pub(crate) fn task(&self) -> Task {
        /// Climbs of a search with restarts; more where they are fast.
        const CLIMBS: usize = 10;
        match self.solver {
            SolverChoice::Greedy => Task::Greedy,
            SolverChoice::LocalSearch if self.time_limit.is_some_and(|limit| limit.is_zero()) => {
                Task::LocalSearch(1)
            }
            SolverChoice::LocalSearch | SolverChoice::Exact => Task::LocalSearch(CLIMBS),
            // Coverage is the CPU's.
            SolverChoice::SymmetricGreedy | SolverChoice::Softmax | SolverChoice::Coverage => Task::SetUp,
        }
    }
}

impl fmt::Display for SolverChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.to_possible_value().map_or(Ok(()), |value| f.write_str(value.get_name()))
    }
}
