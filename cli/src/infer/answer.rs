//! The answer of `pdpp infer`.

use std::time::Duration;

use partition_dpp::{Error, Estimate, Subset, engine::EngineInfo, sample::LogInterval, watch::Ended};

use crate::{estimates::Draws, failure::Failure, input::Explained};

/// Probabilities under a law. Errors of estimates are standard errors.
#[derive(Debug)]
pub(crate) struct Inferred {
    /// ln Z.
    pub(crate) log_z: Estimate<f64>,
    /// Inclusion probability of each row.
    pub(crate) marginals: Estimate<Vec<f64>>,
    pub(crate) sets: Vec<Subset>,
    /// ln Pr of each set.
    pub(crate) log_probs: Vec<Estimate<f64>>,
    /// How well each set represents all rows and the rows of every part; `None` if rows are copies of items.
    pub(crate) explained: Option<Explained>,
    /// The other results of estimates; `None` if probabilities are exact.
    pub(crate) estimated: Option<Estimated>,
    pub(crate) engine: EngineInfo,
    /// Why it was taken, unless it was asked for.
    pub(crate) engine_reason: Option<String>,
    /// Total time without reading.
    pub(crate) time: Duration,
}

impl Inferred {
    /// The largest error of a log-probability; 0 without sets.
    pub(crate) fn largest_log_prob_error(&self) -> f64 {
        self.log_probs.iter().map(|log| log.error).fold(0.0, f64::max)
    }
}

/// The results of estimates other than probabilities.
#[derive(Debug)]
pub(crate) struct Estimated {
    /// Standard error of the inclusion probability of each row.
    pub(crate) marginals_se: Vec<f64>,
    /// An upper bound of ln Z that is proven.
    pub(crate) log_z_upper: f64,
    /// The proven interval of ln Z, if requested, or the reason why there is none.
    pub(crate) interval: Option<Result<LogInterval, Error>>,
    pub(crate) draws: Draws,
}

impl Estimated {
    /// The reason why draws or the interval are missing.
    pub(crate) fn ended(&self) -> Option<String> {
        let of_interval = || Some(self.interval.as_ref()?.as_ref().err()?.to_string());
        self.draws.ended.map(|ended| ended.to_string()).or_else(of_interval)
    }

    /// An interruption ends the command with its own status.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        match self.interval {
            Some(Err(Error::Ended(Ended::Interrupted))) => Err(Failure::InterruptedEstimate),
            _ => self.draws.check(),
        }
    }
}
