//! Laws of a kernel that is computed from pairs of items.

use partition_dpp::{Error, Partition, Quota, map::KernelModel, similarity::KernelFunction};

use super::LawRequest;
use crate::{
    failure::Failure,
    input::{Conditions, Input},
};

impl LawRequest {
    /// The models to maximise: one, or one per part.
    pub(crate) fn kernel_models<'k>(
        &self,
        kernel: &'k dyn KernelFunction,
        input: &Input,
        conditions: &Conditions,
    ) -> Result<Vec<KernelModel<'k>>, Failure> {
        let conditions = input.conditions(conditions)?;
        let models = match self.sets.quota() {
            Some((partition, quota)) if self.is_independent => {
                of_parts(kernel, partition, quota, &conditions)
            }
            _ => KernelModel::over(kernel, &self.sets).map(|model| vec![(model, conditions)]),
        };
        let scored = input.scored.as_ref().map(|scored| (input.of_rows(&scored.scores), scored.diversity));
        let complete = |(model, conditions): (KernelModel<'k>, Conditions)| {
            let model = model.including(&conditions.include)?.excluding(&conditions.exclude)?;
            match &scored {
                Some((scores, diversity)) => model.with_scores(scores, *diversity),
                None => Ok(model),
            }
        };
        let models = models.and_then(|models| models.into_iter().map(complete).collect());
        models.map_err(|error| input.blame_items(error))
    }

    /// The largest number of items of a set, out of this many rows; of the set of one part if parts are independent.
    pub(crate) fn most(&self, rows: usize) -> usize {
        match self.sets.quota() {
            Some((_, quota)) if self.is_independent => quota.high().iter().copied().max().unwrap_or_default(),
            _ => self.sets.most(rows),
        }
    }
}

/// Models of every part that is to have items, with the conditions on its items.
fn of_parts<'k>(
    kernel: &'k dyn KernelFunction,
    partition: &Partition,
    quota: &Quota,
    conditions: &Conditions,
) -> Result<Vec<(KernelModel<'k>, Conditions)>, Error> {
    let mut models = Vec::new();
    for (part, &count) in quota.low().iter().enumerate() {
        let within = |items: &[usize]| -> Vec<usize> {
            // Items that do not exist are left for the model to refuse.
            let is_within = |item: &usize| *item >= partition.items() || partition.part_of(*item) == part;
            items.iter().copied().filter(is_within).collect()
        };
        let own = Conditions { include: within(&conditions.include), exclude: within(&conditions.exclude) };
        if count > 0 {
            let counts = (0..partition.parts()).map(|other| if other == part { count } else { 0 });
            models.push((KernelModel::new(kernel, partition, &Quota::new(partition, counts)?)?, own));
        } else if let Some(&item) = own.include.first().filter(|item| **item < partition.items()) {
            let (part, included) = (partition.names()[partition.part_of(item)].clone(), own.include.len());
            return Err(Error::QuotaBelowIncluded { part, quota: 0, included });
        }
    }
    Ok(models)
}
