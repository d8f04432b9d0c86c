//! The ways out if the rank of the kernel allows no set.

use partition_dpp::{
    Error, Sets,
    similarity::{Bandwidth, Rbf},
};

use super::LawRequest;
use crate::{
    compute::seconds_of,
    failure::Failure,
    input::{Input, MOST_WITH_RIDGE, Scored, Similarity, suggested_ridge},
    output::numbers::seconds,
};

/// The purpose of a law.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// Draws of sets.
    Draws,
    /// The best set.
    BestSet,
    /// Probabilities.
    Probabilities,
}

/// A way out: the words to type, and the predicted seconds.
struct Way {
    words: String,
    /// Its effect.
    remark: &'static str,
    seconds: Option<f64>,
}

impl Way {
    fn new(words: impl Into<String>, operations: f64) -> Self {
        Self { words: words.into(), remark: "", seconds: Some(seconds_of(operations)) }
    }

    /// Without a prediction.
    fn just(words: impl Into<String>) -> Self {
        Self { words: words.into(), remark: "", seconds: None }
    }

    fn that(self, remark: &'static str) -> Self {
        Self { remark, ..self }
    }

    fn describe(&self) -> String {
        let Self { words, remark, seconds: time } = self;
        match time {
            None => format!("{words} {remark}"),
            Some(time) if *time < 1.0 => format!("{words} {remark} (under a second)"),
            Some(time) => format!("{words} {remark} (about {})", seconds(*time)),
        }
    }
}

impl Wanted {
    /// Operations for sets of `size` among `rows` rows.
    fn operations(self, rows: usize, dims: usize, size: usize) -> f64 {
        /// Weighted draws that predict the cost of exact ones.
        const PILOT: f64 = 64.0;
        let (rows, dims, size) = (rows as f64, dims as f64, size as f64);
        // Sums over the rows, and their eigenvectors.
        let set_up = 2.0 * rows * dims * dims + 25.0 * dims.powi(3);
        match self {
            Self::Draws => {
                let steps = dims * size * (1.0 + size / dims) + 5.0 * dims * dims;
                set_up + PILOT * size * steps
            }
            // Picks, each compared with all rows.
            Self::BestSet => 2.0 * rows * size * dims + rows * size * size,
            Self::Probabilities => set_up,
        }
    }
}

impl LawRequest {
    /// Adds the ways out, in the words to type, to an error about the rank. Leaves out those in use already.
    pub(super) fn beyond_rank(&self, input: &Input, wanted: Wanted, failure: Failure) -> Failure {
        let Failure::Library(source) = failure else { return failure };
        let size = match source {
            Error::SizeAboveRank { k, .. } => k,
            Error::Infeasible { quota, .. } | Error::InfeasibleBeyondIncluded { quota, .. } => quota,
            Error::DependentItems { .. } => 0,
            _ => return Failure::Library(source),
        };
        let remark = if size == 0 { "allows dependent items" } else { "allows larger sets" };
        let ways = self.ways_beyond_rank(input, wanted, size).into_iter();
        let mut ways: Vec<Way> = ways.map(|way| way.that(remark)).collect();
        if ways.is_empty() {
            return Failure::Library(source);
        }
        if let Error::SizeAboveRank { rank, .. } = source {
            self.add_ways_without(input, wanted, rank, &mut ways);
        }
        Failure::Impossible { source, ways: ways.iter().map(Way::describe).collect() }
    }

    fn ways_beyond_rank(&self, input: &Input, wanted: Wanted, size: usize) -> Vec<Way> {
        let (rows, dims, comparison) = (input.features.items(), input.features.dims(), &input.comparison);
        let ridge = match comparison.ridge {
            None => "--ridge auto".to_owned(),
            // The rank of a kernel with a ridge shows that the ridge is lost in rounding.
            Some(delta) => {
                let suggested = suggested_ridge(comparison.similarity, &input.features);
                format!("--ridge {}", number(suggested.max(100.0 * delta)))
            }
        };
        // Without diversity there is no ridge.
        if input.scored.as_ref().is_some_and(Scored::decide_alone) {
            return vec![Way::just(format!("--diversity 0.1 {ridge}"))];
        }
        let mut ways = Vec::new();
        // An item would be chosen for several of its labels.
        let takes_ridge =
            input.copies.is_none() && (rows <= MOST_WITH_RIDGE || !self.has_ranges_with_total());
        if takes_ridge {
            // For few items the ridge adds one feature per row.
            let dims = if rows <= MOST_WITH_RIDGE { rows + dims } else { dims };
            ways.push(Way::new(ridge, wanted.operations(rows, dims, size)));
        }
        if comparison.stands_for.is_some() {
            ways.push(Way::just("a smaller --representation"));
        }
        // A kernel that is given as a matrix has an error, too.
        let is_kernel = input.kernel_error.is_some();
        let landmarks = Rbf::new(Bandwidth::Median).landmarks(rows);
        match (comparison.similarity, comparison.landmarks) {
            // Fewer were found than asked for if the others add nothing.
            (Similarity::Rbf, Some(found))
                if found < rows && found >= comparison.asked_landmarks.unwrap_or(landmarks) =>
            {
                let more = rows.min(2 * size);
                ways.push(Way::new(format!("--landmarks {more}"), wanted.operations(rows, more, size)));
            }
            (Similarity::Dot | Similarity::Cosine, _) if !is_kernel => {
                // The search for a best set computes the kernel itself.
                let features = 3.0 * rows as f64 * dims as f64 * landmarks as f64;
                let operations = match wanted {
                    Wanted::BestSet => wanted.operations(rows, dims, size),
                    _ => features + wanted.operations(rows, landmarks, size),
                };
                ways.push(Way::new("--similarity rbf", operations));
            }
            _ => {}
        }
        ways
    }

    /// Adds the ways out of commands that find sets: every part by itself, if that is within the rank, and coverage, which
    /// needs no rank.
    fn add_ways_without(&self, input: &Input, wanted: Wanted, rank: usize, ways: &mut Vec<Way>) {
        if wanted == Wanted::Probabilities || self.is_independent {
            return;
        }
        let comparison = &input.comparison;
        let by_det = comparison.stands_for.is_some() || comparison.ridge.is_some();
        let scores_alone = input.scored.as_ref().is_some_and(Scored::decide_alone);
        let (rows, dims) = (input.features.items(), input.features.dims());
        let most = match &self.sets {
            Sets::Quota(_, quota) if !self.has_ranges => quota.low().iter().copied().max(),
            _ => None,
        };
        if let Some(most) = most.filter(|&most| most <= rank) {
            let way = Way::new("--independent", wanted.operations(rows, dims, most));
            ways.push(way.that("chooses from every part by itself"));
        }
        if input.copies.is_none() && !by_det && !scores_alone {
            let sizes = input
                .partition
                .as_ref()
                .map_or(vec![rows], |parts| (0..parts.parts()).map(|part| parts.size(part)).collect());
            let pairs: f64 = sizes.iter().map(|&size| (size as f64).powi(2)).sum();
            // Items are compared again when they may be picked.
            let way = Way::new("pdpp map --solver coverage", 4.0 * pairs * dims as f64);
            ways.push(way.that("needs no rank"));
        }
    }

    fn has_ranges_with_total(&self) -> bool {
        self.has_ranges && self.sets.quota().is_some_and(|(_, quota)| quota.total().is_some())
    }
}

/// A number to type.
pub(crate) fn number(value: f64) -> String {
    if (1e-3..1e6).contains(&value) {
        let text = format!("{value:.6}");
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        format!("{value:e}")
    }
}

#[cfg(test)]
mod tests {
    use super::number;

    #[test]
    fn numbers_to_type() {
        let cases =
            [(0.01, "0.01"), (100.0, "100"), (1.0, "1"), (0.001, "0.001"), (1e-9, "1e-9"), (1e7, "1e7")];
        for (value, text) in cases {
            assert_eq!(number(value), text);
        }
    }
}
