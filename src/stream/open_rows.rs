//! The rows of a batch that may be chosen.

use super::{
    batch::{ScaledRows, log_factor, scale},
    plan::PlanPart,
};
use crate::{Error, Features, Partition, Result};

/// The rows of some parts of a batch, multiplied by 2^−order of their part when they are read.
#[derive(Debug)]
pub(super) struct OpenRows<'b> {
    features: &'b Features,
    partition: &'b Partition,
    /// For every group, its part in the batch and its order.
    groups: Vec<(usize, i64)>,
}

impl<'b> OpenRows<'b> {
    /// `groups` lists parts of the batch with their orders.
    pub(super) fn new(features: &'b Features, partition: &'b Partition, groups: Vec<(usize, i64)>) -> Self {
        Self { features, partition, groups }
    }

    /// The rows of the parts that a plan knows and may choose from, with the positions of these parts in the plan;
    /// `None` if there are no such rows.
    pub(super) fn of_plan(
        features: &'b Features,
        partition: &'b Partition,
        dims: usize,
        known: &[(&PlanPart, bool)],
    ) -> Result<Option<(Self, Vec<u32>)>> {
        if features.dims() != dims {
            return Err(Error::Shape { what: "a row", expected: dims, found: features.dims() });
        }
        let (mut groups, mut parts) = (Vec::new(), Vec::new());
        for (part, name) in partition.names().iter().enumerate() {
            if partition.size(part) == 0 {
                continue;
            }
            let Some(at) = known.iter().position(|(known, _)| known.name == *name) else {
                let known = known.iter().map(|(part, _)| part.name.clone()).collect();
                return Err(Error::UnknownPart { name: name.clone(), known });
            };
            if known[at].1 {
                groups.push((part, known[at].0.order));
                #[expect(clippy::cast_possible_truncation, reason = "far fewer parts")]
                parts.push(at as u32);
            }
        }
        Ok((!parts.is_empty()).then(|| (Self::new(features, partition, groups), parts)))
    }

    /// All of these rows, for an engine.
    pub(super) fn scaled(&self) -> Result<ScaledRows<'b>> {
        ScaledRows::new(self.features, self.partition, &self.groups)
    }

    /// The rows of a group.
    pub(super) fn members(&self, group: usize) -> &'b [u32] {
        self.partition.members(self.groups[group].0)
    }

    /// Writes a row of a group, scaled as in [`scaled`](Self::scaled).
    pub(super) fn read(&self, group: usize, item: u32, out: &mut [f64]) {
        let (item, order) = (item as usize, self.groups[group].1);
        let factor = if self.features.is_weighted() {
            log_factor(self.features, item, order).exp()
        } else {
            scale(order)
        };
        self.features.read_stored(item, factor, out);
    }
}
