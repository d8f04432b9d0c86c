//! A ridge: a number added to the similarity of every item with itself.

use partition_dpp::Features;

use super::InputArguments;
use crate::{failure::Failure, memory::Limit};

/// Up to this many items the ridge is a feature of every row; of more, laws are mixtures that need no such features.
const FEW: usize = 1000;

/// Refuses what is only for features that have the ridge.
pub(crate) fn too_many_for(what: &str) -> Failure {
    Failure::Arguments(format!("--ridge with {what} takes at most {FEW} items"))
}

/// Rows with their ridge, or the ridge that they lack.
#[derive(Debug)]
pub(super) struct Ridged {
    pub(super) features: Features<'static>,
    pub(super) apart: Option<f64>,
}

/// Adds the ridge that the arguments ask for, if they do.
pub(super) fn ridged(
    arguments: &InputArguments,
    features: Features<'static>,
    limit: Limit,
) -> Result<Ridged, Failure> {
    let Some(delta) = arguments.weighing.ridge else { return Ok(Ridged { features, apart: None }) };
    let refused = |what: &str| Err(Failure::Arguments(format!("--ridge takes no {what}")));
    if arguments.multi_label {
        return refused("--multi-label: an item would be chosen for several of its labels");
    }
    if arguments.weighing.diversity == Some(0.0) {
        return refused("--diversity 0: scores alone decide");
    }
    let (items, dims) = (features.items() as u64, features.dims() as u64);
    if features.items() > FEW && arguments.source.kernel.is_none() {
        return Ok(Ridged { features, apart: Some(delta) });
    }
    limit.check(8 * items * (items + dims), || format!("the rows of {items} items with a ridge"))?;
    Ok(Ridged { features: features.with_ridge(delta)?, apart: None })
}
