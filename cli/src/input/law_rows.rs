//! The rows that a law is over: those of the similarity, mapped to stand for others, with a ridge and with scores.

use partition_dpp::{
    Engine, Features, Partition, Subset,
    similarity::{Bandwidth, DotKernel, Explained, KernelFunction, RbfKernel, Representation},
};

use super::{
    Conditions, Input, InputArguments, Scored,
    choices::Represented,
    weighing::{Similar, StandsFor},
};
use crate::{failure::Failure, memory::Limit};

/// Up to this many items the ridge is a feature of every row; of more, laws are mixtures that need no such features.
pub(crate) const MOST_WITH_RIDGE: usize = 1000;

/// Refuses what is only for features that have the ridge.
pub(crate) fn too_many_for(what: &str) -> Failure {
    Failure::Arguments(format!("--ridge with {what} takes at most {MOST_WITH_RIDGE} items"))
}

/// Refuses a map of copies that no longer repel each other, and mapped rows that do not fit into memory.
pub(super) fn check_map(arguments: &InputArguments, similar: &Similar, limit: Limit) -> Result<(), Failure> {
    let Some(StandsFor { what, .. }) = similar.comparison.stands_for else { return Ok(()) };
    if arguments.multi_label && what == Represented::Parts {
        let sentence = "--represent parts would choose an item for several of its labels: with --multi-label take \
                        --represent all";
        return Err(Failure::Arguments(sentence.into()));
    }
    let (items, dims) = (similar.features.items() as u64, similar.features.dims() as u64);
    limit.check(8 * items * dims, || format!("the rows of {items} items are mapped to stand for others"))
}

/// The rows with the ridge that is asked for, and the ridge if it stays apart from them.
pub(super) fn ridged(
    arguments: &InputArguments,
    similar: Similar,
    limit: Limit,
) -> Result<(Similar, Option<f64>), Failure> {
    let Some(ridge) = arguments.weighing.ridge else { return Ok((similar, None)) };
    let refused = |what: &str| Err(Failure::Arguments(format!("--ridge takes no {what}")));
    if arguments.multi_label {
        return refused("--multi-label: an item would be chosen for several of its labels");
    }
    if arguments.weighing.diversity == Some(0.0) {
        return refused("--diversity 0: scores alone decide");
    }
    let Similar { features, kernel_error, comparison } = similar;
    let delta = ridge.of(comparison.similarity, &features);
    let comparison = comparison.with_ridge(delta, &features);
    let few = features.items() <= MOST_WITH_RIDGE || arguments.source.kernel.is_some();
    let is_apart = comparison.is_of_pairs() || !few;
    if !is_apart {
        let (items, dims) = (features.items() as u64, features.dims() as u64);
        limit.check(8 * items * (items + dims), || format!("the rows of {items} items with a ridge"))?;
    }
    Ok((Similar { features, kernel_error, comparison }, is_apart.then_some(delta)))
}

impl Input {
    /// The rows of a law. Kernels of pairs and laws with a ridge apart have scores of their own.
    pub(crate) fn rows_of_law(&self, conditions: &Conditions, engine: &Engine) -> Result<Features, Failure> {
        let rows = self.mapped(conditions, engine)?;
        if self.ridge.is_some() || self.comparison.is_of_pairs() {
            return Ok(rows);
        }
        let rows = match self.comparison.ridge {
            Some(delta) => rows.with_ridge(delta)?,
            None => rows,
        };
        match self.scored.as_ref().filter(|scored| !scored.decide_alone()) {
            Some(Scored { scores, diversity }) => Ok(rows.with_scores(&self.of_rows(scores), *diversity)?),
            None => Ok(rows),
        }
    }

    /// The rows mapped to stand for others, if that is asked for.
    fn mapped(&self, conditions: &Conditions, engine: &Engine) -> Result<Features, Failure> {
        let Some(StandsFor { what, rho, with_excluded }) = self.comparison.stands_for else {
            return Ok(self.features.clone());
        };
        let excluded = if with_excluded { &[][..] } else { &conditions.exclude };
        let partition = match (what, &self.partition) {
            (Represented::Parts, Some(partition)) => partition.clone(),
            _ => self.one_part()?,
        };
        let representation = Representation::without(&self.features, &partition, excluded, engine)?;
        Ok(representation.features(rho, engine)?)
    }

    fn one_part(&self) -> Result<Partition, Failure> {
        Ok(Partition::of((0..self.features.items()).map(|_| "all"))?)
    }

    /// What tells of many sets how well they stand for all rows, and for those of every part; `None` for a kernel of pairs.
    pub(crate) fn representation(&self, engine: &Engine) -> Result<Option<Representation>, Failure> {
        if self.comparison.is_of_pairs() {
            return Ok(None);
        }
        let partition = self.partition.clone().map_or_else(|| self.one_part(), Ok)?;
        Ok(Some(Representation::new(&self.features, &partition, engine)?))
    }

    /// How well a set stands for all rows, and for those of every part; `None` for a kernel of pairs.
    pub(crate) fn explained(&self, subset: &Subset, engine: &Engine) -> Result<Option<Explained>, Failure> {
        if self.comparison.is_of_pairs() {
            return Ok(None);
        }
        let partition = self.partition.clone().map_or_else(|| self.one_part(), Ok)?;
        Ok(Some(self.features.explained(subset, &partition, engine)?))
    }

    /// The kernel of pairs of rows, if it is more than dot products of features.
    pub(crate) fn kernel_of_pairs(
        &self,
        conditions: &Conditions,
        engine: &Engine,
    ) -> Result<Option<Box<dyn KernelFunction>>, Failure> {
        let features = &self.features;
        let rbf = |bandwidth| RbfKernel::new(features, Bandwidth::Exactly(bandwidth));
        let bandwidth = self.comparison.bandwidth.filter(|_| self.comparison.is_of_pairs());
        Ok(match (bandwidth, self.ridge) {
            (Some(bandwidth), Some(delta)) => Some(Box::new(rbf(bandwidth)?.with_ridge(delta)?)),
            (Some(bandwidth), None) => Some(Box::new(rbf(bandwidth)?)),
            (None, Some(delta)) => {
                let rows = self.rows_of_law(conditions, engine)?;
                Some(Box::new(DotKernel::new(&rows).with_ridge(delta)?))
            }
            (None, None) => None,
        })
    }
}
