//! The method that draws.

use partition_dpp::{
    Method, Sampler, SamplerOptions,
    engine::Engine,
    sample::{Algorithm, Plan},
};

use super::{
    answer::Planned,
    arguments::{MethodChoice, SampleArguments},
};
use crate::{failure::Failure, input::too_many_for, law::Model, quota::QuotaRequest};

/// The way out where a budget is exceeded.
pub(super) const ADVICE: &str = "--method rejection has no budget, --method mcmc is fast but approximate, --independent draws from every part by itself";

/// The way out under ranges.
const RANGE_ADVICE: &str = "--method rejection has no budget";

/// Refuses methods for laws other than Partition-DPPs, and options of chains without chains.
pub(super) fn check(arguments: &SampleArguments) -> Result<(), Failure> {
    let has_ranges = arguments.law.quota.as_ref().is_some_and(QuotaRequest::has_ranges);
    if has_ranges && !matches!(arguments.method, MethodChoice::Auto | MethodChoice::Rejection) {
        let method = arguments.method;
        let sentence = format!("--method {method} needs one number per part: ranges are drawn by rejection");
        return Err(Failure::Arguments(sentence));
    }
    let no_choice = arguments.law.quota.is_none() || arguments.independent;
    if arguments.method != MethodChoice::Auto && no_choice {
        let method = arguments.method;
        return Err(Failure::Arguments(format!(
            "--method {method} draws from Partition-DPPs: it needs --quota, and no --independent"
        )));
    }
    if arguments.method == MethodChoice::Mcmc { Ok(()) } else { arguments.chains.check_unused() }
}

/// The method that would draw from a model.
pub(super) fn plan(model: &Model<'_>, choice: MethodChoice) -> Result<Planned, Failure> {
    let dpp = match model {
        Model::PartitionDpp(dpp) => dpp,
        Model::Ridge(_) => return Ok(Planned::Only(Algorithm::Rejection)),
        _ => return Ok(Planned::Only(Algorithm::Spectral)),
    };
    if dpp.quota().exact_counts().is_none() {
        return Ok(Planned::Only(Algorithm::Rejection));
    }
    let (method, planned): (_, fn(Plan) -> Planned) = match choice.exact() {
        Some(method) => (method, Planned::Choice),
        None => (Method::Rejection, Planned::Chains),
    };
    let plan = dpp.plan(method).map_err(Failure::advise(ADVICE))?;
    Ok(plan.map_or(Planned::Only(Algorithm::Settled), planned))
}

pub(super) fn sampler<'a>(
    model: &Model<'a>,
    method: Method,
    engine: &'a dyn Engine,
) -> Result<Sampler<'a>, Failure> {
    let options = SamplerOptions::from(method);
    let insisted = method == Method::Rejection;
    let unlimited = if insisted { options.with_proposal_budget(f64::INFINITY) } else { options };
    let advice = if insisted { ADVICE } else { RANGE_ADVICE };
    let sampler = match model {
        Model::PartitionDpp(dpp) if dpp.quota().exact_counts().is_none() => {
            return dpp.sampler(unlimited, engine).map_err(Failure::advise(advice));
        }
        Model::Ridge(dpp) => {
            if !matches!(method, Method::Auto | Method::Rejection) {
                return Err(too_many_for(&format!("--method {method}")));
            }
            return dpp.sampler(unlimited, engine).map_err(Failure::advise(advice));
        }
        Model::PartitionDpp(dpp) => dpp.sampler(options, engine),
        Model::IndependentKDpps(dpps) => dpps.sampler(options, engine),
        Model::KDpp(dpp) => dpp.sampler(options, engine),
        Model::Dpp(dpp) => dpp.sampler(options, engine),
    };
    sampler.map_err(Failure::advise(ADVICE))
}
