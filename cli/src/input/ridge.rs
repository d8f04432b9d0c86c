//! A ridge: a number added to the similarity of every item with itself.

use partition_dpp::similarity::{Bandwidth, DotKernel, KernelFunction, RbfKernel};

use super::{Input, InputArguments, weighing::Similar};
use crate::{failure::Failure, memory::Limit};

/// Up to this many items the ridge is a feature of every row; of more, laws are mixtures that need no such features.
pub(crate) const MOST_WITH_RIDGE: usize = 1000;

/// Refuses what is only for features that have the ridge.
pub(crate) fn too_many_for(what: &str) -> Failure {
    Failure::Arguments(format!("--ridge with {what} takes at most {MOST_WITH_RIDGE} items"))
}

/// Rows with their ridge, or the ridge that they lack.
#[derive(Debug)]
pub(super) struct Weighed {
    pub(super) similar: Similar,
    pub(super) ridge: Option<f64>,
}

impl Weighed {
    /// Whether rows are to have the weights of scores.
    pub(super) fn takes_weights(&self) -> bool {
        self.ridge.is_none() && !self.similar.comparison.is_of_pairs()
    }
}

/// Adds the ridge that the arguments ask for, if they do.
pub(super) fn weighed(
    arguments: &InputArguments,
    similar: Similar,
    limit: Limit,
) -> Result<Weighed, Failure> {
    let Some(delta) = arguments.weighing.ridge else { return Ok(Weighed { similar, ridge: None }) };
    let refused = |what: &str| Err(Failure::Arguments(format!("--ridge takes no {what}")));
    if arguments.multi_label {
        return refused("--multi-label: an item would be chosen for several of its labels");
    }
    if arguments.weighing.diversity == Some(0.0) {
        return refused("--diversity 0: scores alone decide");
    }
    let Similar { features, kernel_error, comparison } = similar;
    let comparison = comparison.with_ridge(delta, &features);
    let few = features.items() <= MOST_WITH_RIDGE || arguments.source.kernel.is_some();
    if comparison.is_of_pairs() || !few {
        return Ok(Weighed { similar: Similar { features, kernel_error, comparison }, ridge: Some(delta) });
    }
    let (items, dims) = (features.items() as u64, features.dims() as u64);
    limit.check(8 * items * (items + dims), || format!("the rows of {items} items with a ridge"))?;
    let features = features.with_ridge(delta)?;
    Ok(Weighed { similar: Similar { features, kernel_error, comparison }, ridge: None })
}

impl Input {
    /// The kernel of pairs of rows, if it is more than dot products of features.
    pub(crate) fn kernel_of_pairs(&self) -> Result<Option<Box<dyn KernelFunction>>, Failure> {
        let features = &self.features;
        let rbf = |bandwidth| RbfKernel::new(features, Bandwidth::Exactly(bandwidth));
        Ok(match (self.comparison.exact_bandwidth(), self.ridge) {
            (Some(bandwidth), Some(delta)) => Some(Box::new(rbf(bandwidth)?.with_ridge(delta)?)),
            (Some(bandwidth), None) => Some(Box::new(rbf(bandwidth)?)),
            (None, Some(delta)) => Some(Box::new(DotKernel::new(features).with_ridge(delta)?)),
            (None, None) => None,
        })
    }
}
