//! Exact solving: branch and bound.

mod branch;
mod incumbent;
mod root;
mod search;
mod state;

use std::time::Duration;

use super::{Objective, Solution, Watch};
use crate::{Error, Result, engine::Engine};

/// The best set of all, with a proof: branch and bound on concave relaxations.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BranchAndBound {
    tolerance: f64,
    time_limit: Option<Duration>,
}

impl Default for BranchAndBound {
    fn default() -> Self {
        Self { tolerance: 1e-6, time_limit: None }
    }
}

impl BranchAndBound {
    /// Sets that are better by less than this, in ln det, need not be found (1e-6 unless told).
    ///
    /// # Errors
    /// [`Error::NotPositive`].
    pub fn with_tolerance(self, tolerance: f64) -> Result<Self> {
        if tolerance.is_finite() && tolerance > 0.0 {
            Ok(Self { tolerance, ..self })
        } else {
            Err(Error::NotPositive { what: "the tolerance", value: tolerance })
        }
    }

    /// Ends the search after this time with the best set so far and a bound.
    #[must_use]
    pub fn with_time_limit(self, limit: Duration) -> Self {
        Self { time_limit: Some(limit), ..self }
    }

    /// The best set of a model.
    ///
    /// # Errors
    /// Those of the engine; [`Error::Eigen`].
    pub fn solve(&self, model: &impl Objective, engine: &dyn Engine) -> Result<Solution> {
        self.solve_watched(model, engine, &Watch::default())
    }

    /// The same; can be stopped, and tells how far it is.
    ///
    /// # Errors
    /// As [`solve`](Self::solve).
    pub fn solve_watched(
        &self,
        model: &impl Objective,
        engine: &dyn Engine,
        watch: &Watch<'_>,
    ) -> Result<Solution> {
        let clock = watch.start(self.time_limit);
        root::solve(&model.candidates(), engine, self.tolerance, &clock)
    }
}
