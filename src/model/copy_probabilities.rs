//! Probabilities of items that have one copy per label, given the normaliser.

use std::{collections::BTreeMap, ops::Range};

use super::{
    log_determinant_estimate,
    set_probabilities::{Constraint, IMPOSSIBLE, SetProbabilities},
};
use crate::{Error, Estimate, Partition, Quota, Result, Subset, data::LabelCopies};

impl SetProbabilities {
    /// Implements [`Inference::log_probability_of_items`](crate::Inference::log_probability_of_items).
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

    /// The copies of an item that may be chosen: the included copy, or all copies that are not excluded.
    fn choices(&self, of_item: Range<usize>) -> Vec<usize> {
        let included = self.ground.included().iter().map(|&copy| copy as usize);
        match included.into_iter().find(|copy| of_item.contains(copy)) {
            Some(copy) => vec![copy],
            None => of_item.filter(|&copy| !self.ground.conditions().excludes(copy)).collect(),
        }
    }

    /// The logarithm of the number of allowed ways to choose one copy of every item.
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

/// The fraction of all ways whose counts are allowed. Unlike numbers of ways, fractions cannot overflow.
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
    // Nothing is subtracted, so every division and addition costs one rounding error relative to the sum.
    let roundings = shares.len() + choices.iter().map(|copies| copies.len() + 1).sum::<usize>();
    let value = shares.iter().filter(|(counts, _)| quota.allows(counts)).map(|(_, share)| share).sum();
    Estimate { value, error: roundings as f64 * f64::EPSILON * value }
}
