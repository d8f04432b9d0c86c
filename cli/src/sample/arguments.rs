//! The arguments of `pdpp sample`.

use std::{fmt, time::Duration};

use bytesize::ByteSize;
use clap::{Args, ValueEnum};
use partition_dpp::Method;

use super::chains::ChainArguments;
use crate::{
    compute::ComputeArguments,
    input::{ConditionArguments, InputArguments},
    law::LawArguments,
    output::OutputArguments,
    parse::{seconds, within},
    plot::PlotFile,
};

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
    /// Forced items.
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
    /// --method rejection ignores it.
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

impl MethodChoice {
    /// The library's method; `None` for chains.
    pub(crate) fn exact(self) -> Option<Method> {
        match self {
            MethodChoice::Auto => Some(Method::Auto),
            MethodChoice::Rejection => Some(Method::Rejection),
            MethodChoice::Interpolation => Some(Method::Interpolation),
            MethodChoice::PerCandidate => Some(Method::PerCandidate),
            MethodChoice::Mcmc => None,
        }
    }
}

impl fmt::Display for MethodChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.exact() {
            Some(method) => method.fmt(f),
            None => f.write_str("mcmc"),
        }
    }
}

fn samples(text: &str) -> Result<u64, String> {
    within(text, 1_000_000_000, "samples")
}
