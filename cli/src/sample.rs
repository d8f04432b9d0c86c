//! `pdpp sample`.

use std::time::{Duration, Instant};

use partition_dpp::{
    Algorithm, Method, Plan, Sampler, Samples,
    engine::{Engine, EngineInfo},
};

use crate::{
    arguments::{MethodChoice, SampleArguments},
    compute,
    failure::Failure,
    input::Input,
    law::{Law, Model},
    output::{self, Question},
    plot,
    progress::Progress,
    quota::QuotaRequest,
};

/// What was drawn, by whom and how fast.
#[derive(Debug)]
pub(crate) struct Drawn {
    /// The subsets.
    pub(crate) samples: Samples,
    /// The algorithm that drew them.
    pub(crate) algorithm: Algorithm,
    /// Why, where there was a choice.
    pub(crate) plan: Option<Plan>,
    /// The engine that did the set-up.
    pub(crate) engine: EngineInfo,
    /// Time of the set-up.
    pub(crate) setup: Duration,
    /// Time of the draws.
    pub(crate) sampling: Duration,
}

/// What would be drawn with.
#[derive(Clone, Debug)]
pub(crate) enum Planned {
    /// The method that was asked for or chosen.
    Choice(Plan),
    /// The law leaves no choice.
    Only(Algorithm),
}

const ADVICE: &str = "--method rejection draws whatever it costs";

/// Runs the command.
pub(crate) fn run(arguments: &SampleArguments) -> Result<(), Failure> {
    compute::prepare(&arguments.compute)?;
    check_method(arguments)?;
    if let Some(file) = &arguments.plot {
        file.check_folder()?;
    }
    let progress = Progress::new(arguments.output.quiet);
    progress.stage("reading");
    let input = Input::read(&arguments.input)?;
    let law = Law::of(&arguments.law, &input)?;
    let law = if arguments.independent { law.independent() } else { law };
    progress.stage("setting up");
    let started = Instant::now();
    let model = law.model(&input, &arguments.conditions)?;
    let question = Question { input: &input, law: &law, conditions: &arguments.conditions };
    if arguments.plan {
        let planned = plan(&model, arguments.method.into())?;
        progress.finish();
        return output::plan::write(&question, &planned, &arguments.output);
    }
    let engine = compute::open_engine(&arguments.compute, &input.features)?;
    let sampler = sampler(&model, arguments.method.into(), engine.as_ref())?;
    let drawn = draw(&sampler, arguments, &progress, started.elapsed());
    progress.finish();
    // The plot comes before any output, so that a plot that fails leaves standard output empty.
    if let Some(file) = &arguments.plot {
        plot::draw(file, &input, &law, &drawn.samples.subsets()[0])?;
    }
    output::sample::write(&question, &drawn, arguments)
}

/// Only Partition-DPPs leave a choice of method.
fn check_method(arguments: &SampleArguments) -> Result<(), Failure> {
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
    Ok(())
}

fn plan(model: &Model<'_>, method: Method) -> Result<Planned, Failure> {
    let dpp = match model {
        Model::PartitionDpp(dpp) => dpp,
        Model::RangeDpp(_) => return Ok(Planned::Only(Algorithm::TiltedRejection)),
        _ => return Ok(Planned::Only(Algorithm::Spectral)),
    };
    let plan = dpp.plan(method).map_err(Failure::advise(ADVICE))?;
    Ok(plan.map_or(Planned::Only(Algorithm::Settled), Planned::Choice))
}

fn sampler<'a>(model: &Model<'a>, method: Method, engine: &'a dyn Engine) -> Result<Sampler<'a>, Failure> {
    let sampler = match model {
        Model::PartitionDpp(dpp) => dpp.sampler(method, engine),
        Model::RangeDpp(dpp) if method == Method::Rejection => {
            dpp.clone().with_proposal_budget(f64::INFINITY).sampler(engine)
        }
        Model::RangeDpp(dpp) => dpp.sampler(engine),
        Model::IndependentKDpps(dpps) => dpps.sampler(engine),
        Model::KDpp(dpp) => dpp.sampler(engine),
        Model::Dpp(dpp) => dpp.sampler(engine),
    };
    sampler.map_err(Failure::advise(ADVICE))
}

fn draw(sampler: &Sampler<'_>, arguments: &SampleArguments, progress: &Progress, setup: Duration) -> Drawn {
    let started = Instant::now();
    progress.steps(arguments.samples);
    let samples =
        draw_in_instalments(sampler, arguments.samples, arguments.seed, |done| progress.reached(done));
    Drawn {
        samples,
        algorithm: sampler.algorithm(),
        plan: sampler.plan().cloned(),
        engine: sampler.engine().clone(),
        setup,
        sampling: started.elapsed(),
    }
}

/// The subsets of `sample_many`, with a report about ten times a second.
fn draw_in_instalments(sampler: &Sampler<'_>, count: u64, seed: u64, report: impl Fn(u64)) -> Samples {
    const LONG: Duration = Duration::from_millis(50);
    // Sixteen draws are one task of the library's; each thread gets one at the start.
    let mut instalment = 16 * rayon::current_num_threads() as u64;
    let mut done = instalment.min(count);
    let mut samples = sampler.sample_range(0..done, seed);
    while done < count {
        report(done);
        let started = Instant::now();
        let next = done.saturating_add(instalment).min(count);
        samples.extend(sampler.sample_range(done..next, seed));
        done = next;
        if started.elapsed() < LONG {
            instalment = instalment.saturating_mul(2);
        }
    }
    samples
}

#[cfg(test)]
mod tests {
    use super::*;
    use partition_dpp::{Features, KDpp, engine::Cpu};

    #[test]
    fn instalments_are_sample_many() {
        let features = Features::from_rows(4, 2, vec![1.0, 0.0, 0.5, 0.5, 0.0, 1.0, 1.0, 1.0]).unwrap();
        let model = KDpp::new(&features, 2).unwrap();
        let sampler = model.sampler(&Cpu).unwrap();
        let whole = sampler.sample_many(1000, 3);
        let parts = draw_in_instalments(&sampler, 1000, 3, |_| {});
        assert_eq!(whole.subsets(), parts.subsets());
        assert_eq!(whole.proposals(), parts.proposals());
    }
}
