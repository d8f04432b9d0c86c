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
    #[command(flatten)]
    pub(crate) conditions: ConditionArguments,
    /// Search each part separately, ignoring similarity across parts
    ///
    /// "log_det" is then the sum over the parts.
    #[arg(long, requires = "quota", help_heading = "Selection")]
    pub(crate) independent: bool,
    #[command(flatten)]
    pub(crate) output: OutputArguments,
    #[command(flatten)]
    pub(crate) rows: RowsArguments,
    /// Plot the set among all items, as .png or .svg
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) plot: Option<PlotFile>,
    /// Show the mean distance of items to the nearest chosen one
    ///
    /// With --similarity rbf only.
    #[arg(long, conflicts_with = "by", help_heading = "Output")]
    pub(crate) explained: bool,
    /// Plot set and bound of --solver exact over time, as .png or .svg
    #[arg(long, value_name = "FILE", help_heading = "Output", conflicts_with = "by", hide_short_help = true)]
    pub(crate) plot_search: Option<PlotFile>,
    /// greedy, local-search, exact, coverage and others
    ///
    /// How to search for the best set.
    #[arg(long, value_enum, value_name = "SOLVER", default_value_t, help_heading = "Method")]
    pub(crate) solver: SolverChoice,
    /// Bound how much better any other set can be
    ///
    /// May take as long as --time-limit again, or 5 seconds if that is longer. With --time-limit, and up to about 5 000
    /// items, branch and bound lowers the bound until the time is over. A better set replaces the answer.
    #[arg(long, help_heading = "Method")]
    pub(crate) certify: bool,
    /// Find a D-optimal design: rows that estimate a linear model best
    ///
    /// --k or --quota asks for at least as many rows as there are columns. Columns are used as given, so a model with an
    /// intercept needs a column of ones. Parts are blocks.
    #[arg(long, help_heading = "Method")]
    pub(crate) design: bool,
    /// Items that --solver coverage covers: parts or all [default: parts]
    ///
    /// Every chosen item covers the items of its part, or all items.
    #[arg(long, value_enum, value_name = "WHAT", help_heading = "Method")]
    pub(crate) coverage: Option<Represented>,
    /// Number of random items per part that --solver coverage chooses from
    ///
    /// The set still covers all items. Use it for parts of more than about ten thousand items. Without --labels, N items
    /// are taken in all.
    #[arg(long, value_name = "N", value_parser = candidates, help_heading = "Method", hide_short_help = true)]
    pub(crate) candidates: Option<usize>,
    /// Smallest improvement of a swap in local search [default: 1e-9]
    ///
    /// A swap must multiply the determinant by more than 1 + E/k.
    #[arg(
        long,
        value_name = "E",
        value_parser = positive,
        allow_hyphen_values = true,
        help_heading = "Method",
        hide_short_help = true
    )]
    pub(crate) epsilon: Option<f64>,
    /// Start --solver exact from the set in this file
    ///
    /// An answer of pdpp map --json, or a JSON list of items.
    #[arg(long, value_name = "FILE", conflicts_with = "by", help_heading = "Method", hide_short_help = true)]
    pub(crate) warm: Option<PathBuf>,
    /// Continue the search of --solver exact from this file, and save it there
    ///
    /// The state of the search is written at the end, and also after --time-limit and Ctrl-C. If the file exists, --warm
    /// is not read.
    #[arg(long, value_name = "FILE", conflicts_with = "by", help_heading = "Method", hide_short_help = true)]
    pub(crate) resume: Option<PathBuf>,
    /// Stop after this many seconds with the best set found so far
    ///
    /// With --by, the time per value. Local search restarts until then, for 1 second by default, or until it finds
    /// nothing new. Coverage swaps items until then. With 0, or with --by, both end as soon as no swap improves the set.
    /// A search that ends at a limit may give another set in the next run.
    #[arg(long, value_name = "SECONDS", value_parser = seconds, allow_hyphen_values = true, help_heading = "Computation")]
    pub(crate) time_limit: Option<Duration>,
    #[command(flatten)]
    pub(crate) compute: ComputeArguments,
}

/// How to search for the best set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum SolverChoice {
    /// Adds the item that increases the determinant most, one by one.
    Greedy,
    /// Greedy, then swaps as long as they improve the set, from many starts.
    #[default]
    LocalSearch,
    /// Double greedy, with one decision per item; for sets of any size.
    SymmetricGreedy,
    /// A continuous relaxation, rounded; for sets of any size.
    Softmax,
    /// Covers all items with similar ones instead of using determinants.
    Coverage,
    /// Branch and bound: the best set, with a proof.
    Exact,
}

fn candidates(text: &str) -> Result<usize, String> {
    within(text, u32::MAX as usize, "items")
}

impl MapArguments {
    /// The task of the solver, for predictions of its time.
    pub(crate) fn task(&self) -> Task {
        /// The climbs of a search with restarts; fast ones are more.
        const CLIMBS: usize = 10;
        match self.solver {
            SolverChoice::Greedy => Task::Greedy,
            SolverChoice::LocalSearch if self.time_limit.is_some_and(|limit| limit.is_zero()) => {
                Task::LocalSearch(1)
            }
            SolverChoice::LocalSearch | SolverChoice::Exact => Task::LocalSearch(CLIMBS),
            // Coverage runs on the CPU.
            SolverChoice::SymmetricGreedy | SolverChoice::Softmax | SolverChoice::Coverage => Task::SetUp,
        }
    }
}

impl fmt::Display for SolverChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.to_possible_value().map_or(Ok(()), |value| f.write_str(value.get_name()))
    }
}
