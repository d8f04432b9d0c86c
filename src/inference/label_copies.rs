//! Probabilities of items that have one copy per label.

use std::{collections::BTreeMap, ops::Range};

use super::{Constraint, Inference};
use crate::{Error, LabelCopies, Partition, Result, Subset, data::log_determinant};

impl Inference<'_> {
    /// ln Pr that the chosen copies are of exactly these items, with whatever labels; −∞ where that cannot be.
    ///
    /// ```text
    /// Pr(T) = N(T) · det(K_T) / Z
    /// ```
    ///
    /// with N(T) the number of ways to take one copy of every item of T that the law allows: they all have the
    /// same determinant.
    ///
    /// # Cost
    /// O(n|T|²); under a quota also |T| times the labels of an item times the vectors of counts that can be
    /// reached, Π(κ_l + 1) at most.
    ///
    /// # Errors
    /// - [`Error::LabelCount`] for a law over another number of copies;
    /// - [`Error::ItemOutOfRange`] for a set of other items.
    ///
    /// # Examples
    /// ```
    /// # fn main() -> Result<(), partition_dpp::Error> {
    /// use partition_dpp::{Features, LabelCopies, PartitionDpp, Quota, Subset, engine};
    /// let items = Features::from_rows(3, 2, vec![1.0, 0.0, 1.0, 2.0, 1.0, 1.0])?;
    /// let copies = LabelCopies::from_labels(&[vec!["a", "b"], vec!["a", "b"], vec!["b"]])?;
    /// let quota = Quota::new(copies.partition(), &[1, 1])?;
    /// let features = copies.features(&items)?;
    /// let inference =
    ///     PartitionDpp::new(&features, copies.partition(), &quota)?.inference(&engine::Cpu)?;
    /// // {0,1} has determinant 4 and two ways to be labelled; {0,2} and {1,2} have 1 and one way.
    /// let log_prob = inference.log_probability_of_items(&copies, &Subset::new(vec![0, 1], 3)?)?;
    /// assert!((log_prob - (8.0 / 10.0_f64).ln()).abs() < 1e-12);
    /// # Ok(()) }
    /// ```
    pub fn log_probability_of_items(&self, copies: &LabelCopies, items: &Subset) -> Result<f64> {
        let (known, labels) = (self.ground.features().items(), copies.partition().items());
        if known != labels {
            return Err(Error::LabelCount { items: known, labels });
        }
        if let Some(item) = items.iter().find(|&item| item >= copies.items()) {
            return Err(Error::ItemOutOfRange { item, items: copies.items() });
        }
        if !self.ground.included().iter().all(|&copy| items.contains(copies.item_of(copy as usize))) {
            return Ok(f64::NEG_INFINITY);
        }
        let choices: Vec<_> = items.iter().map(|item| self.choices(copies.copies_of(item))).collect();
        let one_of_each = choices.iter().filter_map(|copies| copies.first().copied()).collect();
        let log_det = log_determinant(self.ground.features(), &Subset::new(one_of_each, known)?);
        Ok(self.log_ways(&choices) + log_det - self.log_z.value)
    }

    /// The copies of an item that may be chosen: the one that must be in, or all that need not be out.
    fn choices(&self, of_item: Range<usize>) -> Vec<usize> {
        let included = self.ground.included().iter().map(|&copy| copy as usize);
        match included.into_iter().find(|copy| of_item.contains(copy)) {
            Some(copy) => vec![copy],
            None => of_item.filter(|&copy| !self.ground.excludes(copy)).collect(),
        }
    }

    /// The logarithm of the number of ways to take one copy of every item that the law allows.
    fn log_ways(&self, choices: &[Vec<usize>]) -> f64 {
        let all: f64 = choices.iter().map(|copies| (copies.len() as f64).ln()).sum();
        match &self.constraint {
            Constraint::AnySize => all,
            Constraint::Size(k) if choices.len() == *k => all,
            Constraint::Size(_) => f64::NEG_INFINITY,
            Constraint::Counts(partition, quota) => {
                all + share_meeting(partition, quota.counts(), |counts| counts == quota.counts(), choices)
                    .ln()
            }
            Constraint::Ranges(partition, quota) => {
                all + share_meeting(partition, quota.high(), |counts| quota.allows(counts), choices).ln()
            }
        }
    }
}

/// The share of all ways that has allowed counts, `most` of each part: no sum of shares overflows, as numbers of ways
/// might.
fn share_meeting(
    partition: &Partition,
    most: &[usize],
    allowed: impl Fn(&[usize]) -> bool,
    choices: &[Vec<usize>],
) -> f64 {
    let mut shares = BTreeMap::from([(vec![0; partition.parts()], 1.0)]);
    for copies in choices {
        let mut next = BTreeMap::new();
        for (counts, share) in &shares {
            for part in copies.iter().map(|&copy| partition.part_of(copy)) {
                if counts[part] < most[part] {
                    let mut counts = counts.clone();
                    counts[part] += 1;
                    *next.entry(counts).or_insert(0.0) += share / copies.len() as f64;
                }
            }
        }
        shares = next;
    }
    shares.iter().filter(|(counts, _)| allowed(counts)).map(|(_, share)| share).sum()
}
