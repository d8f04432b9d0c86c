//! `--method estimated`.

use std::borrow::Cow;

use clap::Args;
use partition_dpp::{Engine, ImportanceSampler, Law, PartitionDpp, RidgeDpp, Sampler};

use crate::{
    compute::{SPEED, seconds_of},
    failure::Failure,
    law::number,
    output::numbers::{error, seconds},
    parse::positive,
};

/// The longest set-up, in seconds, that is done to predict what draws would take.
const LONG: f64 = 10.0;
/// The way out with any law.
const ANY_TIME: &str = "--method rejection has no budget";

/// Weighted draws.
#[derive(Args, Clone, Debug)]
pub(crate) struct EstimateArguments {
    /// Total variation error of the law to allow, as estimated from weighted draws; 1e-3 by default. Less costs more draws.
    #[arg(long, value_name = "E", value_parser = positive, allow_hyphen_values = true, help_heading = "Estimated draws (--method estimated)")]
    pub(crate) law_error: Option<f64>,
    /// Return every draw with the logarithm of its weight, instead of keeping some.
    #[arg(long, conflicts_with_all = ["law_error", "output"], help_heading = "Estimated draws (--method estimated)")]
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

/// What plain draws with an estimated error are predicted to cost.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EstimatedCost {
    pub(crate) law_error: f64,
    /// Weighted draws per sample.
    pub(crate) draws: f64,
    /// Operations per sample.
    pub(crate) operations: f64,
}

/// The command to type for fewer proposals: more of a set is added to what they propose.
fn larger_ridge(dpp: &RidgeDpp) -> String {
    format!("a larger ridge, as --ridge {}, may take fewer proposals", number(10.0 * dpp.delta()))
}

/// Seconds that the set-up of estimated draws is predicted to take.
pub(crate) fn set_up_seconds(dpp: &PartitionDpp) -> f64 {
    seconds_of(dpp.operations_of_estimates())
}

impl EstimateArguments {
    /// The ways that are left where exact draws take too long, with what a sample is predicted to take.
    pub(crate) fn ways_left(&self, law: &Law, engine: &Engine) -> Cow<'static, str> {
        let dpp = match law {
            Law::Quota(dpp) => dpp,
            Law::Ridge(dpp) if dpp.partition().parts() > 1 => {
                return format!("{ANY_TIME}, {}", larger_ridge(dpp)).into();
            }
            Law::Ridge(dpp) | Law::IndependentRidge(dpp) => return larger_ridge(dpp).into(),
            _ => return ANY_TIME.into(),
        };
        let take = |operations: f64| format!("about {} a sample", seconds(operations / SPEED));
        let set_up = set_up_seconds(dpp);
        // What is only advised is not worth a long wait.
        let cost = if set_up > LONG { Ok(None) } else { self.cost(dpp, engine) };
        let estimated = match cost {
            _ if set_up > LONG => format!("--method estimated takes about {} to set up", seconds(set_up)),
            Ok(Some(EstimatedCost { law_error, operations, .. })) => {
                format!(
                    "--method estimated takes {}, its law off by about {}",
                    take(operations),
                    error(law_error)
                )
            }
            _ => "--method estimated --weighted draws with weights".into(),
        };
        if dpp.quota().exact_counts().is_none() {
            return format!("{ANY_TIME}, {estimated}").into();
        }
        let sweep = seconds(dpp.operations_of_a_sweep() / SPEED);
        format!(
            "{ANY_TIME}, {estimated}, --method mcmc takes about {sweep} for every sweep between samples, its law unknown, --independent draws from every part by itself"
        )
        .into()
    }

    /// The cost for a law; `None` where nothing is left to choose.
    pub(crate) fn cost(&self, dpp: &PartitionDpp, engine: &Engine) -> Result<Option<EstimatedCost>, Failure> {
        let sampler = self.sampler(&dpp.importance_sampler(engine)?)?;
        let draws = sampler.predicted_proposals();
        let law_error = sampler.law_error();
        let cost = |operations| EstimatedCost { law_error, draws, operations };
        Ok(sampler.predicted_operations().map(cost))
    }
}
