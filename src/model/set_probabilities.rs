//! Probabilities of sets, given the normaliser.

use super::{GroundSet, log_determinant_estimate};
use crate::{Error, Estimate, Partition, PartitionDpp, Quota, Result, Subset};

/// The logarithm of probability zero.
pub(crate) const IMPOSSIBLE: Estimate<f64> = Estimate { value: f64::NEG_INFINITY, error: 0.0 };

/// ln Pr(S) = ln det(K_S) − ln Z for the sets that a law allows.
#[derive(Debug)]
pub(crate) struct SetProbabilities {
    pub(crate) ground: GroundSet,
    pub(crate) constraint: Constraint,
    pub(crate) log_z: Estimate<f64>,
}

/// The sets that have a positive probability.
#[derive(Debug)]
pub(crate) enum Constraint {
    AnySize,
    Size(usize),
    Quota(Partition, Quota),
}

impl SetProbabilities {
    pub(crate) fn under_quota(dpp: &PartitionDpp, log_z: Estimate<f64>) -> Self {
        let constraint = Constraint::Quota(dpp.partition().clone(), dpp.quota().clone());
        Self { ground: dpp.ground().clone(), constraint, log_z }
    }

    /// ln Pr(S), with the errors of both terms.
    ///
    /// # Errors
    /// [`Error::ItemOutOfRange`] if the set has items beyond the ground set.
    pub(crate) fn log_probability(&self, subset: &Subset) -> Result<Estimate<f64>> {
        let items = self.ground.features().items();
        if let Some(item) = subset.iter().find(|&item| item >= items) {
            return Err(Error::ItemOutOfRange { item, items });
        }
        if !self.allows(subset) {
            return Ok(IMPOSSIBLE);
        }
        Ok(self.relative_to_all(log_determinant_estimate(self.ground.given(), subset)))
    }

    /// Divides by Z, in the log domain.
    pub(super) fn relative_to_all(&self, log: Estimate<f64>) -> Estimate<f64> {
        if log.value.is_infinite() {
            return log;
        }
        let value = log.value - self.log_z.value;
        Estimate { value, error: log.error + self.log_z.error + f64::EPSILON * value.abs() }
    }

    fn allows(&self, subset: &Subset) -> bool {
        self.ground.included().iter().all(|&item| subset.contains(item as usize))
            && !subset.iter().any(|item| self.ground.conditions().excludes(item))
            && match &self.constraint {
                Constraint::AnySize => true,
                Constraint::Size(k) => subset.len() == *k,
                Constraint::Quota(partition, quota) => quota.allows(&subset.part_counts(partition)),
            }
    }
}
