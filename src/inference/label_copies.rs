//! Probabilities of items that have one copy per label.

use std::{collections::BTreeMap, ops::Range};

use super::{Constraint, IMPOSSIBLE, Inference, Of, SetProbabilities};
use crate::{
    Error, Estimate, Partition, Quota, Result, Subset, data::LabelCopies, model::log_determinant_estimate,
};

impl Inference {
    /// ln Pr that the chosen copies are of exactly these items, with any labels, and its error; −∞ if that is impossible.
    ///
    /// ```text
    /// Pr(T) = N(T) · det(K_T) / Z
    /// ```
    ///
    /// with N(T) the number of allowed ways to take one copy of every item of T; they all have the same determinant.
    ///
    /// # Cost
    /// O(n|T|²); under a quota also |T| times the labels of an item times the reachable vectors of counts, at most
    /// Π(κ_l + 1).
    ///
    /// # Errors
    /// - [`Error::LabelCount`] for a law over another number of copies;
    /// - [`Error::ItemOutOfRange`] for a set of other items.
    ///
    /// # Examples
    /// ```
    /// # fn main() -> Result<(), partition_dpp::Error> {
    /// use partition_dpp::{Engine, Features, PartitionDpp, Quota, Subset, data::LabelCopies};
    /// let items = Features::from_rows(3, 2, vec![1.0, 0.0, 1.0, 2.0, 1.0, 1.0])?;
    /// let copies = LabelCopies::from_labels(&[vec!["a", "b"], vec!["a", "b"], vec!["b"]])?;
    /// let quota = Quota::new(copies.partition(), &[1, 1])?;
    /// let features = copies.features(&items)?;
    /// let inference =
    ///     PartitionDpp::new(&features, copies.partition(), &quota)?.inference(&Engine::cpu())?;
    /// // {0,1} has determinant 4 and two ways to be labelled; {0,2} and {1,2} have 1 and one way.
    /// let log_prob = inference.log_probability_of_items(&copies, &Subset::new(vec![0, 1], 3)?)?;
    /// assert!((log_prob.value - (8.0 / 10.0_f64).ln()).abs() <= log_prob.error);
    /// # Ok(()) }
    /// ```
    pub fn log_probability_of_items(&self, copies: &LabelCopies, items: &Subset) -> Result<Estimate<f64>> {
        match &self.of {
            Of::Rows(of) => of.sets.log_probability_of_items(copies, items),
            Of::Ridge(_) => {
                Err(Error::NotForLaw("with a ridge, a set has no probability whose labels are left open"))
            }
        }
    }
}

impl SetProbabilities {
    /// As [`Inference::log_probability_of_items`].
    pub(crate) fn log_probability_of_items(
        &self,
        copies: &LabelCopies,
        items: &Subset,
    ) -> Result<Estimate<f64>> {
        let (known, labels) = (self.ground.features().items(), copies.partition().items());
        if known != labels {
            return Err(Error::LabelCount { items: known, labels });
        }
        if let Some(item) = items.iter().find(|&item| item >= copies.items()) {
            return Err(Error::ItemOutOfRange { item, items: copies.items() });
        }
        if !self.ground.included().iter().all(|&copy| items.contains(copies.item_of(copy as usize))) {
            return Ok(IMPOSSIBLE);
        }
        let choices: Vec<_> = items.iter().map(|item| self.choices(copies.copies_of(item))).collect();
        let one_of_each = choices.iter().filter_map(|copies| copies.first().copied()).collect();
        let log_ways = self.log_ways(&choices);
        let log_det = log_determinant_estimate(self.ground.given(), &Subset::new(one_of_each, known)?);
        let (value, error) = (log_ways.value + log_det.value, log_ways.error + log_det.error);
        Ok(self.relative_to_all(Estimate { value, error }))
    }

    /// The copies of an item that may be chosen: the included one, or all that are not excluded.
    fn choices(&self, of_item: Range<usize>) -> Vec<usize> {
        let included = self.ground.included().iter().map(|&copy| copy as usize);
        match included.into_iter().find(|copy| of_item.contains(copy)) {
            Some(copy) => vec![copy],
            None => of_item.filter(|&copy| !self.ground.conditions().excludes(copy)).collect(),
        }
    }

    /// The logarithm of the number of allowed ways to take one copy of every item.
    fn log_ways(&self, choices: &[Vec<usize>]) -> Estimate<f64> {
        let all: f64 = choices.iter().map(|copies| (copies.len() as f64).ln()).sum();
        let share = match &self.constraint {
            Constraint::AnySize => Estimate { value: 1.0, error: 0.0 },
            Constraint::Size(k) if choices.len() == *k => Estimate { value: 1.0, error: 0.0 },
            Constraint::Size(_) => return IMPOSSIBLE,
            Constraint::Quota(partition, quota) => share_meeting(partition, quota, choices),
        };
        if share.value <= 0.0 {
            return IMPOSSIBLE;
        }
        let rounding = f64::EPSILON * (choices.len() + 1) as f64 * all.max(1.0);
        Estimate { value: all + share.value.ln(), error: share.error / share.value + rounding }
    }
}

/// The share of all ways with allowed counts. Shares do not overflow, as numbers of ways might.
fn share_meeting(partition: &Partition, quota: &Quota, choices: &[Vec<usize>]) -> Estimate<f64> {
    let mut shares = BTreeMap::from([(vec![0; partition.parts()], 1.0)]);
    for copies in choices {
        let mut next = BTreeMap::new();
        for (counts, share) in &shares {
            for part in copies.iter().map(|&copy| partition.part_of(copy)) {
                if counts[part] < quota.high()[part] {
                    let mut counts = counts.clone();
                    counts[part] += 1;
                    *next.entry(counts).or_insert(0.0) += share / copies.len() as f64;
                }
            }
        }
        shares = next;
    }
    // Without subtraction every division and addition costs one rounding relative to the sum.
    let roundings = shares.len() + choices.iter().map(|copies| copies.len() + 1).sum::<usize>();
    let value = shares.iter().filter(|(counts, _)| quota.allows(counts)).map(|(_, share)| share).sum();
    Estimate { value, error: roundings as f64 * f64::EPSILON * value }
}
