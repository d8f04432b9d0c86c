//! Which method draws, as asked for.

use partition_dpp::{Algorithm, Method, Sampler, engine::Engine};

use super::{
    answer::Planned,
    arguments::{MethodChoice, SampleArguments},
};
use crate::{failure::Failure, law::Model, quota::QuotaRequest};

/// What to do where a budget is exceeded.
pub(super) const ADVICE: &str =
    "--method rejection draws whatever it costs, --method mcmc soon and approximately";

/// The same under ranges.
const RANGE_ADVICE: &str = "--method rejection draws whatever it costs";

/// Only Partition-DPPs leave a choice of method, and only chains have options.
pub(super) fn check(arguments: &SampleArguments) -> Result<(), Failure> {
    let has_ranges = arguments.law.quota.as_ref().is_some_and(QuotaRequest::has_ranges);
    if has_ranges && arguments.independent {
        let sentence = "--independent needs one number per part: independent k-DPPs have no ranges";
        return Err(Failure::Arguments(sentence.into()));
    }
    if has_ranges && !matches!(arguments.method, MethodChoice::Auto | MethodChoice::Rejection) {
        let method = Method::from(arguments.method);
        let sentence = format!("--method {method} needs one number per part: ranges are drawn by rejection");
        return Err(Failure::Arguments(sentence));
    }
    let no_choice = arguments.law.quota.is_none() || arguments.independent;
    if arguments.method != MethodChoice::Auto && no_choice {
        let method = Method::from(arguments.method);
        return Err(Failure::Arguments(format!(
            "--method {method} draws from Partition-DPPs: it needs --quota, and no --independent"
        )));
    }
    if arguments.method == MethodChoice::Mcmc { Ok(()) } else { arguments.chains.check_unused() }
}

/// What would draw from a model.
pub(super) fn plan(model: &Model<'_>, method: Method) -> Result<Planned, Failure> {
    let dpp = match model {
        Model::PartitionDpp(dpp) => dpp,
        Model::RangeDpp(_) => return Ok(Planned::Only(Algorithm::TiltedRejection)),
        _ => return Ok(Planned::Only(Algorithm::Spectral)),
    };
    let plan = dpp.plan(method).map_err(Failure::advise(ADVICE))?;
    Ok(plan.map_or(Planned::Only(Algorithm::Settled), Planned::Choice))
}

/// What draws from a model.
pub(super) fn sampler<'a>(
    model: &Model<'a>,
    method: Method,
    engine: &'a dyn Engine,
) -> Result<Sampler<'a>, Failure> {
    let sampler = match model {
        Model::PartitionDpp(dpp) => dpp.sampler(method, engine),
        Model::RangeDpp(dpp) if method == Method::Rejection => {
            dpp.clone().with_proposal_budget(f64::INFINITY).sampler(engine)
        }
        Model::RangeDpp(dpp) => return dpp.sampler(engine).map_err(Failure::advise(RANGE_ADVICE)),
        Model::IndependentKDpps(dpps) => dpps.sampler(engine),
        Model::KDpp(dpp) => dpp.sampler(engine),
        Model::Dpp(dpp) => dpp.sampler(engine),
    };
    sampler.map_err(Failure::advise(ADVICE))
}
