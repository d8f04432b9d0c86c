//! The arguments of `pdpp sample`.

use std::{fmt, time::Duration};

use bytesize::ByteSize;
use clap::{Args, ValueEnum};
use partition_dpp::{Method, SamplerOptions, engine::Task, sample::Bound};

use super::{chains::ChainArguments, estimate::EstimateArguments};
use crate::{
    by::ByArguments,
    compute::ComputeArguments,
    input::{ConditionArguments, InputArguments},
    law::LawArguments,
    output::OutputArguments,
    parse::{seconds, within},
    plot::PlotFile,
    rows::RowsArguments,
};

/// `pdpp sample`.
#[derive(Args, Debug)]
pub(crate) struct SampleArguments {
    #[command(flatten)]
    pub(crate) input: InputArguments,
    #[command(flatten)]
    pub(crate) by: ByArguments,
    #[command(flatten)]
    pub(crate) law: LawArguments,
    /// Number of subsets to draw
    ///
    /// With --by, the number per value.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = samples, help_heading = "Selection")]
    pub(crate) samples: u64,
    /// Seed of the random numbers
    ///
    /// The same seed draws the same subsets.
    #[arg(long, value_name = "S", default_value_t = 0, help_heading = "Selection")]
    pub(crate) seed: u64,
    #[command(flatten)]
    pub(crate) conditions: ConditionArguments,
    /// Draw from one k-DPP per part, ignoring similarity across parts
    #[arg(long, requires = "quota", help_heading = "Selection")]
    pub(crate) independent: bool,
    #[command(flatten)]
    pub(crate) output: OutputArguments,
    #[command(flatten)]
    pub(crate) rows: RowsArguments,
    /// Plot the first subset among all items, as .png or .svg
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) plot: Option<PlotFile>,
    /// Show how much of all rows each subset explains
    ///
    /// The share of the squared length of all rows that the chosen rows explain, with --json also for each part. With
    /// --similarity rbf also the mean distance of items to the nearest chosen one. With --represent the share of all
    /// rows is shown anyway.
    #[arg(long, conflicts_with = "by", help_heading = "Output")]
    pub(crate) explained: bool,
    /// How to draw: rejection, interpolation, estimated or mcmc
    ///
    /// For sets under --quota. All methods except estimated and mcmc are exact.
    #[arg(long, value_enum, value_name = "METHOD", default_value_t, help_heading = "Method")]
    pub(crate) method: MethodChoice,
    /// Show which method would draw, and why, and draw nothing
    ///
    /// Lists the predicted cost and memory of every method.
    #[arg(long, conflicts_with_all = ["plot", "output"], help_heading = "Method")]
    pub(crate) plan: bool,
    /// Bound that rejection accepts proposals against
    ///
    /// The bound changes the cost of a sample, not the distribution.
    #[arg(
        long,
        value_enum,
        value_name = "BOUND",
        default_value_t,
        help_heading = "Method",
        hide_short_help = true
    )]
    pub(crate) bound: BoundChoice,
    #[command(flatten)]
    pub(crate) estimate: EstimateArguments,
    #[command(flatten)]
    pub(crate) chains: ChainArguments,
    /// Stop after this many seconds and print the samples drawn so far
    #[arg(long, value_name = "SECONDS", value_parser = seconds, allow_hyphen_values = true, help_heading = "Computation")]
    pub(crate) time_limit: Option<Duration>,
    /// Fail if exact draws are predicted to take more seconds [default: 300]
    ///
    /// Applies to draws under a quota, except with --method rejection.
    #[arg(long, value_name = "SECONDS", value_parser = seconds, allow_hyphen_values = true, help_heading = "Computation")]
    pub(crate) budget: Option<Duration>,
    /// Memory to use at most, as in 400MB [default: the free memory]
    ///
    /// Memory-mapped features are not counted.
    #[arg(long, value_name = "SIZE", help_heading = "Computation")]
    pub(crate) memory: Option<ByteSize>,
    #[command(flatten)]
    pub(crate) compute: ComputeArguments,
}

/// How to draw from a Partition-DPP.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum MethodChoice {
    /// Rejection or interpolation, the one that is predicted to cost less.
    #[default]
    Auto,
    /// Rejection, without a limit of cost.
    Rejection,
    /// Item by item, from conditional probabilities.
    Interpolation,
    /// Like interpolation, with one determinant per item and node; for comparison.
    PerCandidate,
    /// Independent draws for any number of parts, with an estimated error.
    Estimated,
    /// Markov chains for any number of parts; approximate, with diagnostics.
    Mcmc,
}

impl MethodChoice {
    /// The library's method; `None` for methods that are not exact.
    pub(crate) fn exact(self) -> Option<Method> {
        match self {
            MethodChoice::Auto => Some(Method::Auto),
            MethodChoice::Rejection => Some(Method::Rejection),
            MethodChoice::Interpolation => Some(Method::Interpolation),
            MethodChoice::PerCandidate => Some(Method::PerCandidate),
            MethodChoice::Estimated | MethodChoice::Mcmc => None,
        }
    }
}

/// The bound of rejection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum BoundChoice {
    /// The one that is predicted to cost least.
    #[default]
    Auto,
    /// Proposes from a k-DPP with weighted parts; best for few parts with large quotas.
    Tilted,
    /// Proposes independent items; the cheapest proposal.
    Hadamard,
    /// Proposes from one k-DPP per part.
    Fischer,
    /// Proposes part after part, orthogonal to the items before.
    Block,
    /// Proposes item after item, orthogonal to the items before.
    Sequential,
    /// Proposes two halves of the set, each drawn exactly; best for many parts.
    Halves,
}

impl From<BoundChoice> for Bound {
    fn from(choice: BoundChoice) -> Self {
        match choice {
            BoundChoice::Auto => Bound::Auto,
            BoundChoice::Tilted => Bound::Tilted,
            BoundChoice::Hadamard => Bound::Hadamard,
            BoundChoice::Halves => Bound::Halves,
            BoundChoice::Fischer => Bound::Fischer,
            BoundChoice::Block => Bound::Block,
            BoundChoice::Sequential => Bound::Sequential,
        }
    }
}

impl SampleArguments {
    /// The task of the method, for predictions of its time.
    pub(crate) fn task(&self) -> Task {
        let samples = usize::try_from(self.samples).unwrap_or(usize::MAX);
        match self.method {
            MethodChoice::Interpolation | MethodChoice::PerCandidate => Task::Interpolation(samples),
            _ => Task::SetUp,
        }
    }

    /// The library's options; `None` for methods that are not exact.
    pub(crate) fn options(&self) -> Option<SamplerOptions> {
        let method = self.method.exact()?;
        Some(SamplerOptions::from(method).with_bound(self.bound.into()))
    }
}

impl fmt::Display for MethodChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.exact() {
            Some(method) => method.fmt(f),
            None if *self == MethodChoice::Estimated => f.write_str("estimated"),
            None => f.write_str("mcmc"),
        }
    }
}

fn samples(text: &str) -> Result<u64, String> {
    within(text, 1_000_000_000, "samples")
}
