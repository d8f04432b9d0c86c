//! `--method estimated`.

use clap::Args;
use partition_dpp::{Engine, ImportanceSampler, Law, PartitionDpp, RidgeDpp, Sampler};

use super::method::INDEPENDENT;
use crate::{
    compute::{SPEED, seconds_of},
    failure::Failure,
    law::number,
    output::numbers::{error, seconds},
    parse::positive,
};

/// The longest set-up, in seconds, that is run to predict the cost of draws.
const LONG: f64 = 10.0;
/// The way out for every law.
const ANY_TIME: &str = "--method rejection has no budget";

/// Weighted draws.
#[derive(Args, Clone, Debug)]
pub(crate) struct EstimateArguments {
    /// Error of --method estimated to allow [default: 1e-3]
    ///
    /// The total variation distance between the distribution of the samples and the exact one, as estimated from
    /// weighted draws. Smaller errors take more draws per sample.
    #[arg(long, value_name = "E", value_parser = positive, allow_hyphen_values = true, help_heading = "Method")]
    pub(crate) law_error: Option<f64>,
    /// Return all draws of --method estimated, with the logarithms of their weights
    #[arg(
        long,
        conflicts_with_all = ["law_error", "output"],
        help_heading = "Method",
        hide_short_help = true
    )]
    pub(crate) weighted: bool,
}

impl EstimateArguments {
    /// Refuses options of estimated draws by another method.
    pub(crate) fn check_unused(&self) -> Result<(), Failure> {
        let given = [("--law-error", self.law_error.is_some()), ("--weighted", self.weighted)];
        let given = given.iter().find(|(_, given)| *given);
        given.map_or(Ok(()), |(name, _)| Err(Failure::Arguments(format!("{name} needs --method estimated"))))
    }

    /// The sampler of plain draws.
    pub(crate) fn sampler(&self, weighted: &ImportanceSampler) -> Result<Sampler, Failure> {
        Ok(weighted.sampler(self.law_error.unwrap_or(1e-3))?)
    }
}

/// The predicted cost of plain draws with an estimated error.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EstimatedCost {
    pub(crate) law_error: f64,
    /// Weighted draws per sample.
    pub(crate) draws: f64,
    /// Operations per sample.
    pub(crate) operations: f64,
}

/// The option to type for fewer proposals: with a larger ridge proposals are accepted more often.
fn larger_ridge(dpp: &RidgeDpp) -> String {
    format!("--ridge {}, a larger one, may take fewer proposals", number(10.0 * dpp.delta()))
}

/// Seconds that the set-up of estimated draws is predicted to take.
pub(crate) fn set_up_seconds(dpp: &PartitionDpp) -> f64 {
    seconds_of(dpp.operations_of_estimates())
}

impl EstimateArguments {
    /// The ways out if exact draws take too long, with the predicted time of a sample.
    pub(crate) fn ways_left(&self, law: &Law, engine: &Engine) -> Vec<String> {
        let dpp = match law {
            Law::Quota(dpp) => dpp,
            Law::Ridge(dpp) if dpp.partition().parts() > 1 => {
                return vec![ANY_TIME.into(), larger_ridge(dpp)];
            }
            Law::Ridge(dpp) | Law::IndependentRidge(dpp) => return vec![larger_ridge(dpp)],
            _ => return vec![ANY_TIME.into()],
        };
        let take = |operations: f64| format!("about {} a sample", seconds(operations / SPEED));
        let set_up = set_up_seconds(dpp);
        // Advice is not worth a long wait.
        let cost = if set_up > LONG { Ok(None) } else { self.cost(dpp, engine) };
        let estimated = match cost {
            _ if set_up > LONG => format!("--method estimated takes about {} to set up", seconds(set_up)),
            Ok(Some(EstimatedCost { law_error, operations, .. })) => {
                format!(
                    "--method estimated takes {}; the distribution is off by about {}",
                    take(operations),
                    error(law_error)
                )
            }
            _ => "--method estimated --weighted draws with weights".into(),
        };
        if dpp.quota().exact_counts().is_none() {
            return vec![ANY_TIME.into(), estimated];
        }
        let sweep = seconds(dpp.operations_of_a_sweep() / SPEED);
        let chains = format!(
            "--method mcmc takes about {sweep} per sweep between samples; the distribution is approximate"
        );
        vec![ANY_TIME.into(), estimated, chains, INDEPENDENT.into()]
    }

    /// The cost for a law; `None` if nothing is left to choose.
    pub(crate) fn cost(&self, dpp: &PartitionDpp, engine: &Engine) -> Result<Option<EstimatedCost>, Failure> {
        let sampler = self.sampler(&dpp.importance_sampler(engine)?)?;
        let draws = sampler.predicted_proposals();
        let law_error = sampler.law_error();
        let cost = |operations| EstimatedCost { law_error, draws, operations };
        Ok(sampler.predicted_operations().map(cost))
    }
}
