//! The ways out where the rank of the kernel allows no set.

use partition_dpp::{
    Error,
    similarity::{Bandwidth, Rbf},
};

use super::LawRequest;
use crate::{
    failure::Failure,
    input::{Input, MOST_WITH_RIDGE, Scored, Similarity},
};

/// Rows whose lengths a ridge is suggested by.
const FIRST: usize = 1000;

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
        // The rank of a kernel with a ridge shows that the ridge is lost in rounding.
        let delta = suggested_ridge(input).max(comparison.ridge.map_or(0.0, |delta| 100.0 * delta));
        let ridge = format!("--ridge {}", number(delta));
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

/// About a hundredth of the similarity of an item with itself.
fn suggested_ridge(input: &Input) -> f64 {
    let own = match input.comparison.similarity {
        Similarity::Cosine | Similarity::Rbf => 1.0,
        Similarity::Dot => {
            let rows = input.features.items().min(FIRST);
            let square = |row| input.features.row(row).iter().map(|x| x * x).sum::<f64>();
            (0..rows).map(square).sum::<f64>() / rows as f64
        }
    };
    let hundredth = 0.01 * own;
    // False for NaN, and what overflows.
    if hundredth > 0.0 && hundredth.is_finite() { 10_f64.powf(hundredth.log10().floor()) } else { 0.01 }
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
