//! `pdpp sample`.

mod instalments;

use std::time::{Duration, Instant};

use instalments::in_instalments;
use partition_dpp::{
    Algorithm, ChainDiagnostics, ChainSamples, Chains, Error, Method, Plan, Sampler, Subset,
    engine::{Engine, EngineInfo},
};

use crate::{
    arguments::{MethodChoice, SampleArguments},
    compute,
    failure::Failure,
    input::Input,
    interrupt,
    law::{Law, Model},
    memory::{self, Memory},
    output::{self, Question},
    plot,
    progress::Progress,
    quota::QuotaRequest,
};

/// What was drawn, by whom and how fast.
#[derive(Debug)]
pub(crate) struct Drawn {
    /// The subsets.
    pub(crate) subsets: Vec<Subset>,
    /// Proposals made for all of them together.
    pub(crate) proposals: u64,
    /// The probability of acceptance promised before drawing.
    pub(crate) acceptance_bound: f64,
    /// The algorithm that drew them.
    pub(crate) algorithm: Algorithm,
    /// Why, where there was a choice.
    pub(crate) plan: Option<Plan>,
    /// How well chains have mixed, where chains drew.
    pub(crate) mixing: Option<Mixing>,
    /// The engine that did the set-up.
    pub(crate) engine: EngineInfo,
    /// Time of the set-up.
    pub(crate) setup: Duration,
    /// Time of the draws.
    pub(crate) sampling: Duration,
}

/// What chains tell about themselves.
#[derive(Debug)]
pub(crate) struct Mixing {
    /// Number of chains.
    pub(crate) chains: usize,
    /// Sweeps before the first draw.
    pub(crate) burn_in: usize,
    /// Sweeps from draw to draw.
    pub(crate) thin: usize,
    /// What there is to see, or that there are too few draws.
    pub(crate) diagnostics: Result<ChainDiagnostics, Error>,
}

/// What would be drawn with.
#[derive(Clone, Debug)]
pub(crate) enum Planned {
    /// The method that was asked for or chosen.
    Choice(Plan),
    /// The law leaves no choice.
    Only(Algorithm),
}

/// What to do where a budget is exceeded.
pub(crate) const ADVICE: &str =
    "--method rejection draws whatever it costs, --method mcmc soon and approximately";

/// The same under ranges.
const RANGE_ADVICE: &str = "--method rejection draws whatever it costs";

/// Runs the command.
pub(crate) fn run(arguments: &SampleArguments) -> Result<(), Failure> {
    compute::prepare(&arguments.compute)?;
    check_method(arguments)?;
    if let Some(file) = &arguments.plot {
        file.check_folder()?;
    }
    // What is read counts as needed, so it must not be missing from what is free.
    let free = memory::available();
    let progress = Progress::new(arguments.output.quiet);
    progress.stage("reading");
    let input = Input::read(&arguments.input)?;
    let law = Law::of(&arguments.law, &input)?;
    let law = if arguments.independent { law.independent() } else { law };
    progress.stage("setting up");
    let started = Instant::now();
    let model = law.model(&input, &arguments.conditions)?;
    let question = Question { input: &input, law: &law, conditions: &arguments.conditions };
    let memory = Memory::of(&model, arguments, free)?;
    if arguments.plan {
        let planned = plan(&model, arguments.method.into())?;
        progress.finish();
        return output::plan::write(&question, &planned, &memory, &arguments.output);
    }
    memory.check()?;
    let engine = compute::open_engine(&arguments.compute, &input.features)?;
    let drawn = match &model {
        // Where nothing is left to choose there are no chains to run.
        Model::PartitionDpp(dpp)
            if arguments.method == MethodChoice::Mcmc && dpp.plan(Method::Mcmc)?.is_some() =>
        {
            let chains = dpp.chains(&arguments.chains.options(), engine.as_ref())?;
            draw_by_chains(&chains, arguments, &progress, started)
        }
        _ => {
            let sampler = sampler(&model, arguments.method.into(), engine.as_ref())?;
            draw(&sampler, arguments, &progress, started)
        }
    };
    progress.finish();
    // The plot comes before any output, so that a plot that fails leaves standard output empty.
    if let (Some(file), Some(first)) = (&arguments.plot, drawn.subsets.first()) {
        plot::draw(file, &input, &law, first, drawn.algorithm.into())?;
    }
    output::sample::write(&question, &drawn, arguments)?;
    let (done, of) = (drawn.subsets.len() as u64, arguments.samples);
    if done < of { Err(Failure::StoppedSampling { done, of }) } else { Ok(()) }
}

/// Only Partition-DPPs leave a choice of method, and only chains have options.
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
    if arguments.method == MethodChoice::Mcmc { Ok(()) } else { arguments.chains.check_unused() }
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
        Model::RangeDpp(dpp) => return dpp.sampler(engine).map_err(Failure::advise(RANGE_ADVICE)),
        Model::IndependentKDpps(dpps) => dpps.sampler(engine),
        Model::KDpp(dpp) => dpp.sampler(engine),
        Model::Dpp(dpp) => dpp.sampler(engine),
    };
    sampler.map_err(Failure::advise(ADVICE))
}

fn draw(
    sampler: &Sampler<'_>,
    arguments: &SampleArguments,
    progress: &Progress,
    setup_began: Instant,
) -> Drawn {
    let setup = setup_began.elapsed();
    interrupt::flag();
    let started = Instant::now();
    let mut samples = sampler.sample_range(0..0, arguments.seed);
    let mut done = 0;
    // Sixteen draws are one task of the library's; each thread gets one at the start.
    let first = 16 * rayon::current_num_threads() as u64;
    in_instalments(arguments.samples, first, progress, |end| {
        samples.extend(sampler.sample_range(done..end, arguments.seed));
        done = end;
    });
    Drawn {
        proposals: samples.proposals(),
        acceptance_bound: samples.acceptance_bound(),
        subsets: samples.into_iter().collect(),
        algorithm: sampler.algorithm(),
        plan: sampler.plan().cloned(),
        mixing: None,
        engine: sampler.engine().clone(),
        setup,
        sampling: started.elapsed(),
    }
}

fn draw_by_chains(
    chains: &Chains<'_>,
    arguments: &SampleArguments,
    progress: &Progress,
    setup_began: Instant,
) -> Drawn {
    let setup = setup_began.elapsed();
    progress.stage("burning in");
    let started = Instant::now();
    let mut run = chains.start(arguments.seed);
    // Before, there is nothing to print.
    interrupt::flag();
    let first = 16 * chains.options().chains() as u64;
    in_instalments(arguments.samples, first, progress, |end| run.extend(end - run.draws()));
    let samples: ChainSamples = run.into_samples();
    let mixing = Mixing {
        chains: samples.chains(),
        burn_in: chains.options().burn_in(),
        thin: samples.thin(),
        diagnostics: samples.diagnostics(),
    };
    Drawn {
        proposals: samples.proposals(),
        acceptance_bound: 0.0,
        subsets: samples.into_iter().collect(),
        algorithm: Algorithm::Mcmc,
        plan: None,
        mixing: Some(mixing),
        engine: chains.engine().clone(),
        setup,
        sampling: started.elapsed(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use partition_dpp::{Features, KDpp, Samples, engine::Cpu};

    #[test]
    fn instalments_are_sample_many() {
        let features = Features::from_rows(4, 2, vec![1.0, 0.0, 0.5, 0.5, 0.0, 1.0, 1.0, 1.0]).unwrap();
        let model = KDpp::new(&features, 2).unwrap();
        let sampler = model.sampler(&Cpu).unwrap();
        let whole = sampler.sample_many(1000, 3);
        let mut parts: Samples = sampler.sample_range(0..0, 3);
        let mut ends = vec![0];
        in_instalments(1000, 7, &Progress::new(true), |end| {
            parts.extend(sampler.sample_range(ends[ends.len() - 1]..end, 3));
            ends.push(end);
        });
        assert_eq!((whole.subsets(), whole.proposals()), (parts.subsets(), parts.proposals()));
        assert_eq!((ends[1], ends[ends.len() - 1]), (7, 1000));
    }
}
