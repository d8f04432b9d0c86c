//! `--method estimated`.

use std::time::Duration;

use partition_dpp::{Engine, Error, Estimate, MonteCarlo, PartitionDpp, Subset, Watch, data::LabelCopies};

use super::{
    answer::{Estimated, Inferred},
    arguments::InferArguments,
};
use crate::{estimates::Draws, failure::Failure, interrupt};

/// Probabilities by weighted draws; the time limit and Ctrl-C end the draws, not the answer.
pub(super) fn infer(
    dpp: &PartitionDpp,
    arguments: &InferArguments,
    copies: Option<&LabelCopies>,
    sets: Vec<Subset>,
    (engine, watch): (&Engine, &Watch),
) -> Result<Inferred, Failure> {
    let sampler = dpp.importance_sampler(engine)?;
    // From here on Ctrl-C and the time limit end the draws.
    interrupt::flag();
    let options = arguments.estimates.options();
    let found = sampler.inference(options, watch)?;
    let draws =
        Draws { statistics: found.statistics(), ended: found.ended(), wanted: options.standard_error() };
    let of_interval = |options| match dpp.log_partition_interval(options, &engine.watched(watch)) {
        // The draws made so far are an answer.
        Err(error @ (Error::Ended(_) | Error::Estimate(_))) => Ok(Err(error)),
        found => found.map(Ok),
    };
    let interval = arguments.interval().map(of_interval).transpose()?;
    let of_set = |set: &Subset| {
        let log = match copies {
            Some(copies) => found.log_probability_of_items(copies, set),
            None => found.log_probability(set),
        };
        log.map(|MonteCarlo { value, standard_error }| Estimate { value, error: standard_error })
    };
    let log_probs = sets.iter().map(of_set).collect::<Result<_, _>>()?;
    let (log_z, marginals) = (found.log_partition_function(), found.inclusion_probabilities()?);
    let largest = marginals.standard_error.iter().copied().fold(0.0, f64::max);
    Ok(Inferred {
        log_z: Estimate { value: log_z.value, error: log_z.standard_error },
        marginals: Estimate { value: marginals.value, error: largest },
        sets,
        log_probs,
        explained: None,
        estimated: Some(Estimated {
            marginals_se: marginals.standard_error,
            log_z_upper: found.log_upper_bound(),
            interval,
            draws,
        }),
        engine: found.engine(),
        engine_reason: None,
        time: Duration::ZERO,
    })
}
