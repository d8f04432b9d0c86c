//! Drawing: independent samples, or chains.

use std::time::Instant;

use partition_dpp::{
    Engine, Error, ImportanceSampler, Law, Method, PartitionDpp, Sampler, Watch,
    error::EstimateProblem,
    mcmc::{ChainSamples, Chains},
    sample::Algorithm,
};

use super::{
    answer::{Drawer, Drawn, Mixing},
    arguments::{MethodChoice, SampleArguments},
    estimate::set_up_seconds,
    forecast::Forecast,
    instalments::in_instalments,
    method,
};
use crate::{
    compute::seconds_of,
    failure::Failure,
    input::too_many_for,
    interrupt,
    output::{self, numbers::seconds},
    progress::Progress,
};

/// The predicted seconds from which a note is printed for a method asked for by name.
const LONG: f64 = 20.0;

/// The common state of all ways to draw.
pub(super) struct Run<'a> {
    pub(super) arguments: &'a SampleArguments,
    pub(super) progress: &'a Progress,
    pub(super) watch: Watch,
    pub(super) setup_began: Instant,
}

impl Run<'_> {
    /// Draws by the method asked for, unless its predicted time exceeds the budget.
    pub(super) fn draw_from(&self, law: &Law, engine: &Engine) -> Result<Drawn, Failure> {
        let arguments = self.arguments;
        let Some(options) = arguments.options() else {
            let Law::Quota(dpp) = law else {
                // Those without parts are refused before.
                return Err(too_many_for(&format!("--method {}", arguments.method)));
            };
            self.foretell(dpp);
            if arguments.method == MethodChoice::Estimated {
                return self.draw_estimated(&dpp.importance_sampler(engine)?);
            }
            // Chains need something to choose.
            return if dpp.plan(Method::Rejection)?.is_some() {
                self.draw_by_chains(&dpp.chains(&arguments.chains.options(), engine)?)
            } else {
                self.draw(&dpp.sampler(Method::Rejection, engine)?)
            };
        };
        let sampler = method::sampler(law, (arguments, options), engine)?;
        if let Some(forecast) = Forecast::after(&sampler, arguments.samples) {
            forecast.check(arguments, || arguments.estimate.ways_left(law, engine))?;
        }
        self.draw(&sampler)
    }

    /// Prints a note if a method that was asked for by name is predicted to take long.
    fn foretell(&self, dpp: &PartitionDpp) {
        let arguments = self.arguments;
        let predicted = match arguments.method {
            MethodChoice::Mcmc => {
                seconds_of(arguments.chains.sweeps(arguments.samples) * dpp.operations_of_a_sweep())
            }
            _ if arguments.estimate.weighted => 0.0,
            _ => set_up_seconds(dpp),
        };
        if predicted > LONG && !arguments.output.quiet {
            let method = arguments.method;
            let way = if method == MethodChoice::Estimated {
                "; --weighted draws at once, with weights"
            } else {
                ""
            };
            output::note(&format!(
                "--method {method} is predicted to take at least {}{way}",
                seconds(predicted)
            ));
        }
    }

    /// Draws with an estimated error, or with weights.
    fn draw_estimated(&self, sampler: &ImportanceSampler) -> Result<Drawn, Failure> {
        let estimate = &self.arguments.estimate;
        if estimate.weighted { self.draw_weighted(sampler) } else { self.draw(&estimate.sampler(sampler)?) }
    }

    /// Draws samples without weights.
    fn draw(&self, sampler: &Sampler) -> Result<Drawn, Failure> {
        let Run { arguments, watch, .. } = self;
        let setup = self.setup_began.elapsed();
        interrupt::flag();
        let started = Instant::now();
        let mut samples = sampler.sample_range(0..0, arguments.seed);
        let mut done = 0;
        // The library draws in tasks of sixteen; each thread gets one at the start.
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
            drawer: Drawer::Sampler(sampler.algorithm()),
            bounds: sampler.bounds().to_vec(),
            law_error: Some(sampler.law_error()),
            plan: sampler.plan().cloned(),
            mixing: None,
            estimate: sampler.pilot().copied(),
            log_weights: None,
            engine: sampler.engine().clone(),
            setup,
            sampling: started.elapsed(),
            explained: None,
            mean_distances: None,
            ended,
        })
    }

    /// Draws samples with weights.
    fn draw_weighted(&self, sampler: &ImportanceSampler) -> Result<Drawn, Failure> {
        let Run { arguments, watch, .. } = self;
        let setup = self.setup_began.elapsed();
        interrupt::flag();
        let started = Instant::now();
        let mut samples = sampler.sample_many(0, arguments.seed);
        let (mut done, first) = (0, 16 * rayon::current_num_threads() as u64);
        let ended = in_instalments(arguments.samples, first, self.progress, |end| {
            samples.extend(sampler.sample_watched(done..end, arguments.seed, watch));
            done = end;
            Ok(samples.ended())
        })?;
        if samples.subsets().is_empty() && ended.is_none() {
            let source = Error::from(EstimateProblem::DeadEnds { draws: samples.draws() });
            return Err(source.into());
        }
        Ok(Drawn {
            proposals: samples.draws(),
            acceptance_bound: 1.0,
            subsets: samples.subsets().to_vec(),
            drawer: Drawer::Sampler(Algorithm::Estimated),
            bounds: Vec::new(),
            law_error: None,
            plan: None,
            mixing: None,
            estimate: Some(samples.statistics()),
            log_weights: Some(samples.log_weights().to_vec()),
            engine: sampler.engine(),
            setup,
            sampling: started.elapsed(),
            explained: None,
            mean_distances: None,
            ended,
        })
    }

    /// Draws by Markov chains.
    fn draw_by_chains(&self, chains: &Chains) -> Result<Drawn, Failure> {
        let setup = self.setup_began.elapsed();
        self.progress.stage("burning in");
        let started = Instant::now();
        let mut run = chains.start_watched(self.arguments.seed, &self.watch)?;
        // Before this point Ctrl-C has nothing to print.
        interrupt::flag();
        let first = 16 * chains.options().chains() as u64;
        let ended = in_instalments(self.arguments.samples, first, self.progress, |end| {
            Ok(run.extend_watched(end - run.draws(), &self.watch))
        })?;
        let samples: ChainSamples = run.into_samples();
        let mixing = Mixing {
            chains: samples.chains(),
            burn_in: samples.burn_in(),
            asked: chains.options().burn_in(),
            thin: samples.thin(),
            diagnostics: samples.diagnostics(),
        };
        Ok(Drawn {
            proposals: samples.proposals(),
            acceptance_bound: 0.0,
            subsets: samples.into_iter().collect(),
            drawer: Drawer::Chains,
            bounds: Vec::new(),
            law_error: None,
            plan: None,
            mixing: Some(mixing),
            estimate: None,
            log_weights: None,
            engine: chains.engine().clone(),
            setup,
            sampling: started.elapsed(),
            explained: None,
            mean_distances: None,
            ended,
        })
    }
}
