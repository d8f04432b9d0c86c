//! All checks of a law.

use partition_dpp::{Engine, Law, Method, Projection, Result, Sampler, SamplerOptions};

use super::{Constraint, Examined, Parts, Problem, answers, chain, draws, ridge, solvers};

fn law(parts: &Parts, problem: &Problem) -> Result<Law> {
    let is_independent = matches!(problem.constraint, Constraint::Independent(_));
    let new = if is_independent { Law::independent } else { Law::new };
    new(&parts.features, &parts.sets, None)?.including(&problem.include)?.excluding(&problem.exclude)
}

/// Returns every exact sampler of a law.
pub(super) fn samplers(law: &Law, engine: &Engine) -> Vec<(&'static str, Result<Sampler>)> {
    match law {
        Law::Quota(dpp) if dpp.quota().exact_counts().is_some() => {
            let methods = [Method::Rejection, Method::Interpolation, Method::PerCandidate];
            let names = ["rejection", "interpolation", "per-candidate"];
            names.into_iter().zip(methods.map(|method| dpp.sampler(method, engine))).collect()
        }
        _ => {
            let ways = [("leverage", Projection::Leverage), ("elementary", Projection::Elementary)];
            let make = |how| law.sampler(SamplerOptions::default().with_projection(how), engine);
            ways.into_iter().map(|(name, how)| (name, make(how))).collect()
        }
    }
}

/// Runs all checks.
pub(super) fn look(examined: &mut Examined<'_>) {
    let problem = examined.problem;
    let made = match Parts::of(problem) {
        Ok(made) => made,
        Err(error) => {
            if examined.law.is_some() {
                examined.report.refuse("input", &error);
            }
            return;
        }
    };
    let model = match law(&made, problem) {
        Ok(model) => model,
        Err(error) => {
            if examined.law.is_some() {
                examined.report.refuse("model", &error);
            }
            return;
        }
    };
    ridge::look(examined);
    answers::inference(examined, &model);
    answers::part_counts(examined, &model, &made);
    if examined.effort.draws > 0 {
        draws::samplers(examined, &model);
    }
    if let (Law::Quota(dpp), true) = (&model, examined.effort.paths > 0)
        && dpp.quota().exact_counts().is_some()
    {
        chain::conditionals(examined, dpp);
    }
    if examined.effort.solvers {
        match &model {
            Law::AnySize(dpp) => {
                solvers::any_size(examined, dpp);
                solvers::solve(examined, dpp);
            }
            Law::Size(dpp) => solvers::solve(examined, dpp),
            Law::Quota(dpp) => solvers::solve(examined, dpp),
            _ => {}
        }
    }
}
