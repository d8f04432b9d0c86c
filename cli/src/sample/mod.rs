//! `pdpp sample`.

mod forecast;
mod instalments;

use std::{
    io::Write,
    time::{Duration, Instant},
};

pub(crate) use forecast::{BUDGET, Forecast, seconds};
use instalments::in_instalments;
use partition_dpp::{
    Algorithm, ChainDiagnostics, ChainSamples, Chains, Ended, Error, Exactness, Method, Plan, Sampler,
    Subset, Watch,
    engine::{Engine, EngineInfo, Watched},
};

use crate::{
    arguments::{MethodChoice, SampleArguments},
    compute,
    failure::Failure,
    input::Input,
    interrupt,
    law::{Law, Model},
    memory::{Limit, Memory, Use},
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
    /// How far they may be from the law, in total variation; none where that is not known.
    pub(crate) law_error: Option<f64>,
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
    /// Why there are fewer than asked for, if there are.
    pub(crate) ended: Option<Ended>,
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
pub(crate) fn run(arguments: &SampleArguments, out: &mut dyn Write) -> Result<(), Failure> {
    compute::prepare(&arguments.compute)?;
    let watch = interrupt::within(arguments.time_limit);
    check_method(arguments)?;
    if let Some(file) = &arguments.plot {
        file.check()?;
    }
    let limit = Limit::of(arguments.memory);
    let progress = Progress::new(arguments.output.quiet);
    progress.stage("reading");
    let input = Input::read(&arguments.input, limit, Use::Products)?;
    let law = Law::of(&arguments.law, &input)?;
    let law = if arguments.independent { law.independent() } else { law };
    if arguments.method == MethodChoice::Mcmc {
        arguments.chains.check(arguments.samples, law.least_size())?;
    }
    progress.stage("setting up");
    let started = Instant::now();
    let model = law.model(&input, &arguments.conditions)?;
    let question = Question { input: &input, law: &law, conditions: &arguments.conditions };
    let memory = Memory::of(&model, arguments, law.least_size(), limit)?;
    if arguments.plan {
        let planned = plan(&model, arguments.method.into())?;
        progress.finish();
        return output::plan::write(&question, &planned, &memory, arguments, out);
    }
    memory.check()?;
    if let Some(forecast) = Forecast::before(&model, arguments)? {
        forecast.check(arguments)?;
    }
    let engine = compute::open_engine(&arguments.compute, &input.features)?;
    let report = |reached| progress.computed(&reached);
    let engine = Watched::new(engine.as_ref(), watch.reporting_to(&report));
    let run = Run { arguments, progress: &progress, watch, setup_began: started };
    let drawn = match &model {
        // Where nothing is left to choose there are no chains to run.
        Model::PartitionDpp(dpp)
            if arguments.method == MethodChoice::Mcmc && dpp.plan(Method::Mcmc)?.is_some() =>
        {
            run.draw_by_chains(&dpp.chains(&arguments.chains.options(), &engine)?)?
        }
        _ => {
            let sampler = sampler(&model, arguments.method.into(), &engine)?;
            if let Some(forecast) = Forecast::after(&sampler, arguments.samples) {
                forecast.check(arguments)?;
            }
            run.draw(&sampler)?
        }
    };
    progress.finish();
    let (done, of) = (drawn.subsets.len() as u64, arguments.samples);
    if let Some(ended) = drawn.ended.filter(|_| done == 0) {
        return Err(Failure::Abandoned(ended));
    }
    // The plot comes before any output, so that a plot that fails leaves standard output empty.
    if let (Some(file), Some(first)) = (&arguments.plot, drawn.subsets.first()) {
        plot::draw(file, &input, &law, first, drawn.algorithm.into())?;
    }
    output::sample::write(&question, &drawn, arguments, out)?;
    drawn.ended.map_or(Ok(()), |ended| Err(Failure::StoppedSampling { ended, done, of }))
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

/// What every way to draw shares.
struct Run<'a> {
    arguments: &'a SampleArguments,
    progress: &'a Progress,
    watch: Watch<'static>,
    setup_began: Instant,
}

impl Run<'_> {
    fn draw(&self, sampler: &Sampler<'_>) -> Result<Drawn, Failure> {
        let Run { arguments, watch, .. } = self;
        let setup = self.setup_began.elapsed();
        interrupt::flag();
        let started = Instant::now();
        let mut samples = sampler.sample_range(0..0, arguments.seed);
        let mut done = 0;
        // Sixteen draws are one task of the library's; each thread gets one at the start.
        let first = 16 * rayon::current_num_threads() as u64;
        let ended = in_instalments(arguments.samples, first, self.progress, |end| {
            samples.extend(sampler.sample_watched(done..end, arguments.seed, watch)?);
            done = end;
            Ok(samples.ended())
        })?;
        Ok(Drawn {
            proposals: samples.proposals(),
            acceptance_bound: samples.acceptance_bound(),
            subsets: samples.into_iter().collect(),
            algorithm: sampler.algorithm(),
            law_error: (sampler.algorithm().exactness() == Exactness::Exact).then(|| sampler.law_error()),
            plan: sampler.plan().cloned(),
            mixing: None,
            engine: sampler.engine().clone(),
            setup,
            sampling: started.elapsed(),
            ended,
        })
    }

    fn draw_by_chains(&self, chains: &Chains<'_>) -> Result<Drawn, Failure> {
        let setup = self.setup_began.elapsed();
        self.progress.stage("burning in");
        let started = Instant::now();
        let mut run = chains.start_watched(self.arguments.seed, &self.watch)?;
        // Before, there is nothing to print.
        interrupt::flag();
        let first = 16 * chains.options().chains() as u64;
        let ended = in_instalments(self.arguments.samples, first, self.progress, |end| {
            Ok(run.extend_watched(end - run.draws(), &self.watch))
        })?;
        let samples: ChainSamples = run.into_samples();
        let mixing = Mixing {
            chains: samples.chains(),
            burn_in: chains.options().burn_in(),
            thin: samples.thin(),
            diagnostics: samples.diagnostics(),
        };
        Ok(Drawn {
            proposals: samples.proposals(),
            acceptance_bound: 0.0,
            subsets: samples.into_iter().collect(),
            algorithm: Algorithm::Mcmc,
            law_error: None,
            plan: None,
            mixing: Some(mixing),
            engine: chains.engine().clone(),
            setup,
            sampling: started.elapsed(),
            ended,
        })
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
        let ended = in_instalments(1000, 7, &Progress::new(true), |end| {
            parts.extend(sampler.sample_range(ends[ends.len() - 1]..end, 3));
            ends.push(end);
            Ok(None)
        });
        assert_eq!(ended.unwrap(), None);
        assert_eq!((whole.subsets(), whole.proposals()), (parts.subsets(), parts.proposals()));
        assert_eq!((ends[1], ends[ends.len() - 1]), (7, 1000));
    }
}
