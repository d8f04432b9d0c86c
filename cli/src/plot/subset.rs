//! A subset among all items.

use std::fmt;

use partition_dpp::Subset;
use pdpp_plot::SubsetPlot;

use super::PlotFile;
use crate::{failure::Failure, input::Input, law::LawRequest};

/// The most entries of a quota that a title shows.
const MOST_ENTRIES: usize = 18;

/// The subset that a plot shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shown {
    /// The first of some exact samples.
    FirstSample,
    /// The first of some approximate samples.
    FirstApproximateSample,
    /// The most diverse set found.
    BestFound,
}

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Shown::FirstSample => "the first sample",
            Shown::FirstApproximateSample => "the first sample, approximate",
            Shown::BestFound => "the best set found",
        })
    }
}

/// Plots a subset and writes the file.
pub(crate) fn draw(
    file: &PlotFile,
    input: &Input,
    law: &LawRequest,
    subset: &Subset,
    shown: Shown,
) -> Result<(), Failure> {
    let title = title(law, input.features.items());
    file.save(&SubsetPlot::new(input.ground_set(), subset, title, &shown.to_string()))
}

fn title(law: &LawRequest, items: usize) -> String {
    let drawn = match law.sets.quota() {
        Some((_, quota)) if law.is_independent => {
            format!("independent k-DPPs, quota {}", list(quota.low()))
        }
        Some((_, quota)) if !law.has_ranges => format!("Partition-DPP, quota {}", list(quota.low())),
        _ => law.to_string(),
    };
    format!("{drawn}, m = {items}")
}

fn list(counts: &[usize]) -> String {
    if counts.len() > MOST_ENTRIES {
        return format!("of {} items over {} parts", counts.iter().sum::<usize>(), counts.len());
    }
    counts.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
}
