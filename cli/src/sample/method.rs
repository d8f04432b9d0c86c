//! The method that draws.

use partition_dpp::{Engine, Law, Method, PartitionDpp, Sampler, SamplerOptions, error::ErrorKind};

use super::{
    answer::{Planned, PlannedDrawer},
    arguments::{BoundChoice, MethodChoice, SampleArguments},
    estimate::set_up_seconds,
    forecast::BUDGET,
    ways::Way,
};
use crate::{failure::Failure, input::too_many_for};

/// The ways out if a budget is exceeded.
pub(super) const WAYS: &[&str] = &[
    "--method rejection has no budget",
    "--method estimated draws with an estimated error",
    "--method mcmc draws approximately, by Markov chains",
    INDEPENDENT,
];
/// The way out that changes the distribution.
pub(super) const INDEPENDENT: &str = "--independent draws from every part by itself";

/// Refuses methods for laws other than Partition-DPPs, and options of chains without chains.
pub(super) fn check(arguments: &SampleArguments) -> Result<(), Failure> {
    let has_ranges = arguments.law.quota.as_ref().is_some_and(|quota| quota.has_ranges);
    let counts_only =
        !matches!(arguments.method, MethodChoice::Auto | MethodChoice::Rejection | MethodChoice::Estimated);
    if has_ranges && counts_only {
        let method = arguments.method;
        let sentence = format!(
            "--method {method} takes no ranges in --quota: use --method rejection or --method estimated"
        );
        return Err(Failure::Arguments(sentence));
    }
    let no_choice = arguments.law.quota.is_none() || arguments.independent;
    if arguments.method != MethodChoice::Auto && no_choice {
        let method = arguments.method;
        return Err(Failure::Arguments(format!(
            "--method {method} draws from Partition-DPPs: it needs --quota and excludes --independent"
        )));
    }
    let rejects = matches!(arguments.method, MethodChoice::Auto | MethodChoice::Rejection);
    if arguments.bound != BoundChoice::Auto && (no_choice || !rejects) {
        return Err(Failure::Arguments(
            "--bound needs --quota with --method rejection, and excludes --independent".into(),
        ));
    }
    if arguments.method != MethodChoice::Mcmc {
        arguments.chains.check_unused()?;
    }
    if arguments.method == MethodChoice::Estimated { Ok(()) } else { arguments.estimate.check_unused() }
}

/// The method that would draw from a law, as the set-up decides.
pub(super) fn plan(law: &Law, arguments: &SampleArguments, engine: &Engine) -> Result<Planned, Failure> {
    let chains = SamplerOptions::from(Method::Rejection);
    let options = arguments.options().unwrap_or(chains);
    let sampler = sampler(law, (arguments, options), engine)?;
    // A law without freedom has no plan.
    let of_law = match law {
        Law::Quota(dpp) if dpp.quota().exact_counts().is_some() => dpp.plan(Method::Rejection)?,
        _ => None,
    };
    let drawer = match (sampler.plan().or(of_law.as_ref()), arguments.method) {
        (plan, MethodChoice::Estimated) => PlannedDrawer::Estimated(plan.cloned()),
        (Some(plan), MethodChoice::Mcmc) => PlannedDrawer::Chains(plan.clone()),
        (Some(plan), _) => PlannedDrawer::Choice(plan.clone()),
        (None, _) => PlannedDrawer::Only(sampler.algorithm()),
    };
    let estimated = match law {
        Law::Quota(dpp) if skips_estimates(dpp, arguments) => None,
        Law::Quota(dpp) => match arguments.estimate.cost(dpp, engine) {
            Err(failure) if arguments.method == MethodChoice::Estimated => return Err(failure),
            cost => cost.ok().flatten(),
        },
        _ => None,
    };
    let bounds = sampler.bounds().to_vec();
    let ways = Way::all(law, &bounds, of_law.as_ref(), estimated);
    Ok(Planned { drawer, bounds, estimated, ways })
}

/// Whether the set-up of estimated draws would exceed the budget, unless the user asked for them.
fn skips_estimates(dpp: &PartitionDpp, arguments: &SampleArguments) -> bool {
    let budget = arguments.budget.unwrap_or(BUDGET).as_secs_f64();
    arguments.method != MethodChoice::Estimated && set_up_seconds(dpp) > budget
}

pub(super) fn sampler(
    law: &Law,
    (arguments, options): (&SampleArguments, SamplerOptions),
    engine: &Engine,
) -> Result<Sampler, Failure> {
    let choice = arguments.method;
    let insisted = matches!(choice, MethodChoice::Rejection | MethodChoice::Estimated);
    let unlimited = if insisted { options.with_proposal_budget(f64::INFINITY) } else { options };
    let sampler = match law {
        Law::Ridge(_) if !matches!(choice, MethodChoice::Auto | MethodChoice::Rejection) => {
            return Err(too_many_for(&format!("--method {choice}")));
        }
        Law::Ridge(dpp) => dpp.sampler(unlimited, engine),
        Law::Quota(dpp) if dpp.quota().exact_counts().is_none() => dpp.sampler(unlimited, engine),
        _ => law.sampler(options, engine),
    };
    sampler.map_err(|source| match source.kind() {
        ErrorKind::Budget => {
            let ways = arguments.estimate.ways_left(law, engine);
            Failure::Budget { source, ways }
        }
        _ => source.into(),
    })
}
