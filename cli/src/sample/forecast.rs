//! The predicted time of samples, and its budget.

use std::time::Duration;

use partition_dpp::{Method, Sampler, sample::Plan};

use super::{
    arguments::{MethodChoice, SampleArguments},
    estimate::EstimatedCost,
};
use crate::{
    compute::SPEED,
    failure::Failure,
    output::numbers::{large, seconds},
};

/// The default of `--budget`.
pub(crate) const BUDGET: Duration = Duration::from_secs(300);

/// The predicted cost of samples.
#[derive(Clone, Debug)]
pub(crate) struct Forecast {
    /// The method and its cost per sample, in words.
    effort: String,
    samples: u64,
    /// Seconds per sample on one thread.
    pub(crate) each: f64,
    /// Seconds for all samples on all threads.
    pub(crate) total: f64,
}

impl Forecast {
    /// The forecast of a plan.
    pub(crate) fn of_plan(plan: &Plan, samples: u64) -> Self {
        let effort = match plan.method {
            Method::Rejection => format!("by rejection takes about {} proposals", large(plan.proposals, 2)),
            method => format!("by {method} may take {} nodes", large(plan.nodes, 2)),
        };
        Self::new(effort, plan.operations(), samples)
    }

    /// The forecast of draws with an estimated error.
    pub(crate) fn of_estimates(cost: &EstimatedCost, samples: u64) -> Self {
        let effort = format!("takes about {:.2} weighted draws", cost.draws);
        Self::new(effort, cost.operations, samples)
    }

    /// The forecast after the set-up.
    pub(crate) fn after(sampler: &Sampler, samples: u64) -> Option<Self> {
        if let Some(plan) = sampler.plan() {
            return Some(Self::of_plan(plan, samples));
        }
        let proposals = sampler.bounds().first()?.proposals;
        let effort = format!("under these ranges takes about {} proposals", large(proposals, 2));
        Some(Self::new(effort, sampler.predicted_operations()?, samples))
    }

    fn new(effort: String, operations: f64, samples: u64) -> Self {
        let each = operations / SPEED;
        let threads = samples.min(rayon::current_num_threads() as u64).max(1);
        Self { effort, samples, each, total: each * samples as f64 / threads as f64 }
    }

    /// Refuses to exceed the budget, unless the user names a method.
    pub(crate) fn check(
        &self,
        arguments: &SampleArguments,
        ways_left: impl FnOnce() -> Vec<String>,
    ) -> Result<(), Failure> {
        let budget = arguments.budget.unwrap_or(BUDGET).as_secs_f64();
        if self.total <= budget || arguments.method != MethodChoice::Auto {
            return Ok(());
        }
        let (samples, effort, each) = (self.samples, &self.effort, seconds(self.each));
        let all = if samples == 1 {
            String::new()
        } else {
            format!(", {samples} samples about {} in all", seconds(self.total))
        };
        let predicted = format!("a sample {effort} and about {each}{all}");
        let fewer = samples > 1 && self.each <= budget;
        let others =
            if fewer { vec!["--samples N with fewer samples takes less time".into()] } else { ways_left() };
        let ways = enough(self.total).into_iter().chain(others).collect();
        Err(Failure::Slow { predicted, budget, ways })
    }
}

/// The option that allows this many seconds, unless they are too many.
fn enough(seconds: f64) -> Option<String> {
    /// About thirty million years; more is not a duration.
    const MOST: f64 = 1e15;
    (seconds < MOST).then(|| format!("--budget {} allows this time", seconds.ceil()))
}
