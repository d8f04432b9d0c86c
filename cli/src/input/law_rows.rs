//! The rows of a law: the rows of the similarity, mapped to represent others, with a ridge and with scores.

use partition_dpp::{
    Engine, Error, Features, Partition, Subset, Watch,
    map::KernelModel,
    similarity::{Bandwidth, DotKernel, KernelFunction, RbfKernel, Representation},
};
use rayon::prelude::*;

use super::{
    Conditions, Input, InputArguments, Scored,
    choices::Represented,
    weighing::{Similar, Similarity, StandsFor},
};
use crate::{failure::Failure, memory::Limit};

/// Up to this many items the ridge is a feature of every row; of more, laws are mixtures that need no such features.
pub(crate) const MOST_WITH_RIDGE: usize = 1000;

/// The shares of squared length that sets explain.
#[derive(Debug)]
pub(crate) struct Explained {
    /// Of all rows.
    pub(crate) total: Vec<f64>,
    /// The shares of every part, if they are wanted and items have labels.
    pub(crate) by_part: Option<Vec<Vec<f64>>>,
}

/// Which of these are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shares {
    OfAll,
    ByPart,
}

/// Refuses what is only for features that have the ridge.
pub(crate) fn too_many_for(what: &str) -> Failure {
    Failure::Arguments(format!("--ridge with {what} takes at most {MOST_WITH_RIDGE} items"))
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
    /// Refuses a map of copies that no longer repel each other, and one that does not fit into memory.
    pub(super) fn check_map(self, limit: Limit) -> Result<Self, Failure> {
        let Some(StandsFor { what, .. }) = self.comparison.stands_for else { return Ok(self) };
        if self.copies.is_some() && what == Represented::Parts {
            let sentence = "--represent parts would choose an item for several of its labels: with --multi-label take \
                            --represent all";
            return Err(Failure::Arguments(sentence.into()));
        }
        let (items, rank) = (self.features.items() as u64, self.rank() as u64);
        let parts = match &self.partition {
            Some(partition) if what == Represented::Parts => {
                (0..partition.parts()).map(|part| partition.members(part).len() as u64).collect()
            }
            _ => vec![items],
        };
        // Sums of the parts of many rows and of all, and some maps with working copies.
        let many = parts.iter().filter(|&&rows| rows >= rank).count() as u64;
        let widest = parts.iter().max().map_or(0, |&rows| rows.min(rank));
        let at_once = parts.len().min(16) as u64;
        let squares = 8_u64.saturating_mul(rank).saturating_mul((many + 1) * rank + 4 * at_once * widest);
        let parts = parts.len();
        limit.check(squares.saturating_add(8 * items * rank), || {
            format!(
                "{items} rows of {rank} numbers, and products of these in {parts} parts, stand for others"
            )
        })?;
        Ok(self)
    }

    /// The rows of a law. Kernels of pairs and laws with a separate ridge apply scores themselves.
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

    /// All rows as one part.
    pub(crate) fn one_part(&self) -> Result<Partition, Failure> {
        Ok(Partition::of((0..self.features.items()).map(|_| "all"))?)
    }

    /// Number of parts; 1 without labels.
    pub(crate) fn parts(&self) -> usize {
        self.partition.as_ref().map_or(1, Partition::parts)
    }

    /// The most dimensions that rows can span.
    fn rank(&self) -> usize {
        self.features.items().min(self.features.dims())
    }

    /// How well sets represent all rows, and the rows of every part if that is wanted; `None` once the watch has ended the
    /// work.
    pub(crate) fn explained(
        &self,
        subsets: &[Subset],
        shares: Shares,
        watch: &Watch,
    ) -> Result<Option<Explained>, Failure> {
        if watch.check().is_err() {
            return Ok(None);
        }
        let partition = match (shares, &self.partition) {
            (Shares::ByPart, Some(partition)) => partition.clone(),
            _ => self.one_part()?,
        };
        let engine = Engine::cpu().watched(watch);
        // Sums over the rows, unless they take more memory than the rows, or more time than they save.
        let are_small = partition.parts() * self.rank() <= self.features.items();
        let found = if self.comparison.is_of_pairs() {
            let kernel = self.similarity()?;
            let model = KernelModel::of_any_size(&*kernel)?;
            subsets.iter().map(|subset| model.explained(subset, &partition, &engine)).collect()
        } else if are_small && subsets.len() > 1 {
            Representation::new(&self.features, &partition, &engine).and_then(|sums| {
                let of_set = |subset| {
                    watch.check()?;
                    sums.explained_by_part(subset)
                };
                subsets.par_iter().map(of_set).collect::<Result<Vec<_>, Error>>()
            })
        } else {
            subsets.iter().map(|subset| self.features.explained(subset, &partition, &engine)).collect()
        };
        let found = match found {
            Err(Error::Ended(_)) => return Ok(None),
            found => found?,
        };
        let (total, by_part) = found.into_iter().map(|one| (one.total, one.by_part)).unzip();
        let by_part = (self.partition.is_some() && shares == Shares::ByPart).then_some(by_part);
        Ok(Some(Explained { total, by_part }))
    }

    /// The mean distance of all items to the nearest one of each set, where distances are what is compared; `None` once the
    /// watch has ended the work.
    pub(crate) fn mean_distances(
        &self,
        subsets: &[Subset],
        watch: &Watch,
    ) -> Result<Option<Vec<f64>>, Failure> {
        if self.comparison.similarity != Similarity::Rbf {
            return Ok(None);
        }
        let engine = Engine::cpu().watched(watch);
        let of_set =
            |subset: &Subset| match Subset::new(self.items_of(subset).into_owned(), self.given.items()) {
                // Nothing is near an empty set.
                Ok(items) if items.is_empty() => Ok(f64::INFINITY),
                Ok(items) => self.given.mean_distance_to(&items, &engine),
                Err(error) => Err(error),
            };
        match subsets.iter().map(of_set).collect::<Result<Vec<f64>, Error>>() {
            Err(Error::Ended(_)) => Ok(None),
            found => Ok(Some(found?)),
        }
    }

    /// The similarity of pairs of rows, as it is before a map, a ridge and scores.
    pub(crate) fn similarity(&self) -> Result<Box<dyn KernelFunction>, Failure> {
        Ok(match self.gaussian()? {
            Some(gaussian) => Box::new(gaussian),
            None => Box::new(DotKernel::new(&self.features)),
        })
    }

    /// The kernel of pairs of rows, if it is more than dot products of features.
    pub(crate) fn kernel_of_pairs(
        &self,
        conditions: &Conditions,
        engine: &Engine,
    ) -> Result<Option<Box<dyn KernelFunction>>, Failure> {
        Ok(match (self.gaussian()?, self.ridge) {
            (Some(gaussian), Some(delta)) => Some(Box::new(gaussian.with_ridge(delta)?)),
            (Some(gaussian), None) => Some(Box::new(gaussian)),
            (None, Some(delta)) => {
                let rows = self.rows_of_law(conditions, engine)?;
                Some(Box::new(DotKernel::new(&rows).with_ridge(delta)?))
            }
            (None, None) => None,
        })
    }

    /// The Gaussian kernel, if it is computed from pairs of rows.
    fn gaussian(&self) -> Result<Option<RbfKernel>, Failure> {
        let bandwidth = self.comparison.bandwidth.filter(|_| self.comparison.is_of_pairs());
        let of = |bandwidth| RbfKernel::new(&self.features, Bandwidth::Exactly(bandwidth));
        Ok(bandwidth.map(of).transpose()?)
    }
}
