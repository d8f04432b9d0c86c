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
    /// One k-DPP per part, blind to similarity across parts.
    #[arg(long, requires = "quota", help_heading = "Law")]
    pub(crate) independent: bool,
    #[command(flatten)]
    pub(crate) conditions: ConditionArguments,
    /// Number of subsets to draw, for every value of --by.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = samples)]
    pub(crate) samples: u64,
    /// Seed of the random numbers: the same seed draws the same subsets.
    #[arg(long, value_name = "S", default_value_t = 0)]
    pub(crate) seed: u64,
    /// How to draw from a Partition-DPP. Every method but estimated and mcmc is exact.
    #[arg(long, value_enum, value_name = "METHOD", default_value_t)]
    pub(crate) method: MethodChoice,
    /// What rejection accepts proposals against. The law is the same; the cost is not.
    #[arg(long, value_enum, value_name = "BOUND", default_value_t)]
    pub(crate) bound: BoundChoice,
    #[command(flatten)]
    pub(crate) estimate: EstimateArguments,
    #[command(flatten)]
    pub(crate) chains: ChainArguments,
    /// Draw nothing; state which method would draw, why, at what predicted cost, and in how much memory.
    #[arg(long, conflicts_with_all = ["plot", "output"])]
    pub(crate) plan: bool,
    /// State how well every subset stands for the rest: the share of the squared length of all rows that it explains, and
    /// with --json that of every part's. With --represent the first is stated anyway. With --similarity rbf also the mean
    /// distance of items to the nearest chosen one.
    #[arg(long, conflicts_with = "by")]
    pub(crate) explained: bool,
    /// Memory to use at most, as in 400MB, not counting memory-mapped features; by default the free memory.
    #[arg(long, value_name = "SIZE", help_heading = "Computation")]
    pub(crate) memory: Option<ByteSize>,
    /// Refuse exact draws under a quota that are predicted to take more seconds than this; 300 by default. --method
    /// rejection ignores it.
    #[arg(long, value_name = "SECONDS", value_parser = seconds, allow_hyphen_values = true, help_heading = "Computation")]
    pub(crate) budget: Option<Duration>,
    /// Stop after this many seconds with the samples drawn so far.
    #[arg(long, value_name = "SECONDS", value_parser = seconds, allow_hyphen_values = true, help_heading = "Computation")]
    pub(crate) time_limit: Option<Duration>,
    #[command(flatten)]
    pub(crate) compute: ComputeArguments,
    #[command(flatten)]
    pub(crate) output: OutputArguments,
    #[command(flatten)]
    pub(crate) rows: RowsArguments,
    /// Plot the first subset among all items, as a .png or .svg file.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) plot: Option<PlotFile>,
}

/// How to draw from a Partition-DPP.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum MethodChoice {
    /// Rejection or interpolation, whichever is predicted to cost less; refused if both exceed their budgets.
    #[default]
    Auto,
    /// Rejection, whatever it costs.
    Rejection,
    /// Item by item, from conditional probabilities by interpolation.
    Interpolation,
    /// As interpolation, with one determinant per item and node; slow, for comparison.
    PerCandidate,
    /// Independent draws for any number of parts, whose law is off by an estimated error.
    Estimated,
    /// Swap chains, for any number of parts; approximate, with diagnostics.
    Mcmc,
}

impl MethodChoice {
    /// The library's method; `None` for those that are not exact.
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
    /// Whichever is predicted to cost least.
    #[default]
    Auto,
    /// A k-DPP with weighted parts proposes; best for few parts with large quotas.
    Tilted,
    /// Independent items propose; the cheapest proposal.
    Hadamard,
    /// The k-DPP of every part proposes.
    Fischer,
    /// Part after part, each beyond the items before.
    Block,
    /// Item after item, each beyond the items before.
    Sequential,
    /// Two halves of the items, each drawn by itself; best for many parts.
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
    /// What the method computes, for predictions of its time.
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
