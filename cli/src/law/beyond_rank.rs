//! The ways out where the rank of the kernel allows no set.

use partition_dpp::{
    Error,
    similarity::{Bandwidth, Rbf},
};

use super::LawRequest;
use crate::{
    failure::Failure,
    input::{Input, MOST_WITH_RIDGE, Scored, Similarity, suggested_ridge},
};

impl LawRequest {
    /// Adds the ways out, in the words to type, to an error about the rank. None of them is in use already.
    pub(super) fn beyond_rank(&self, input: &Input, failure: Failure) -> Failure {
        let Failure::Library(source) = failure else { return failure };
        let wanted = match source {
            Error::SizeAboveRank { k, .. } => k,
            Error::Infeasible { quota, .. } | Error::InfeasibleBeyondIncluded { quota, .. } => quota,
            Error::DependentItems { .. } => 0,
            _ => return Failure::Library(source),
        };
        let ways = self.ways_beyond_rank(input, wanted);
        let allow = if ways.len() == 1 { "allows" } else { "allow" };
        let what = if wanted == 0 { "dependent items" } else { "more" };
        match &ways[..] {
            [] => Failure::Library(source),
            ways => Failure::Impossible { source, advice: format!("{} {allow} {what}", ways.join(" and ")) },
        }
    }

    fn ways_beyond_rank(&self, input: &Input, wanted: usize) -> Vec<String> {
        let (rows, comparison) = (input.features.items(), &input.comparison);
        let ridge = match comparison.ridge {
            None => "--ridge auto".to_owned(),
            // The rank of a kernel with a ridge shows that the ridge is lost in rounding.
            Some(delta) => {
                let suggested = suggested_ridge(comparison.similarity, &input.features);
                format!("--ridge {}", number(suggested.max(100.0 * delta)))
            }
        };
        // Scores alone take no ridge.
        if input.scored.as_ref().is_some_and(Scored::decide_alone) {
            return vec![format!("--diversity 0.1 {ridge}")];
        }
        let mut ways = Vec::new();
        // An item would be chosen for several of its labels.
        let takes_ridge =
            input.copies.is_none() && (rows <= MOST_WITH_RIDGE || !self.has_ranges_with_total());
        if takes_ridge {
            ways.push(ridge);
        }
        if comparison.stands_for.is_some() {
            ways.push("a smaller --representation".into());
        }
        // A kernel that is given as a matrix has errors, too.
        let is_kernel = input.kernel_error.is_some();
        let landmarks = Rbf::new(Bandwidth::Median).landmarks(rows);
        match (comparison.similarity, comparison.landmarks) {
            // Fewer were found than asked for where the others add nothing.
            (Similarity::Rbf, Some(found))
                if found < rows && found >= comparison.asked_landmarks.unwrap_or(landmarks) =>
            {
                ways.push(format!("--landmarks {}", rows.min(2 * wanted)));
            }
            (Similarity::Dot | Similarity::Cosine, _) if !is_kernel => ways.push("--similarity rbf".into()),
            _ => {}
        }
        ways
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
