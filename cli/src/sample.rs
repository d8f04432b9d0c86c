//! `pdpp sample`.

use std::time::{Duration, Instant};

use partition_dpp::{
    Dpp, IndependentKDpps, KDpp, Method, Partition, PartitionDpp, Quota, Sampler, Samples, engine::Engine,
};

use crate::{
    arguments::{MethodChoice, SampleArguments},
    compute,
    failure::Failure,
    input::Input,
    output::{self, Summary},
    plot,
    progress::Progress,
};

/// What is drawn from.
#[derive(Clone, Debug)]
pub(crate) enum Law<'a> {
    /// A DPP conditioned on its part counts.
    PartitionDpp {
        /// The parts.
        partition: &'a Partition,
        /// How many items of each part.
        quota: Quota,
        /// How to draw.
        method: Method,
    },
    /// One k-DPP per part.
    IndependentKDpps {
        /// The parts.
        partition: &'a Partition,
        /// How many items of each part.
        quota: Quota,
    },
    /// A DPP conditioned on its size.
    KDpp {
        /// The size.
        k: usize,
    },
    /// A DPP.
    Dpp,
}

/// What was drawn, by whom and how fast.
#[derive(Debug)]
pub(crate) struct Drawn {
    /// The subsets.
    pub(crate) samples: Samples,
    /// The algorithm that drew them.
    pub(crate) algorithm: String,
    /// The engine that did the set-up.
    pub(crate) engine: &'static str,
    /// The precision of its arithmetic.
    pub(crate) precision: String,
    /// Time of the set-up.
    pub(crate) setup: Duration,
    /// Time of the draws.
    pub(crate) sampling: Duration,
}

/// Runs the command.
pub(crate) fn run(arguments: &SampleArguments) -> Result<(), Failure> {
    compute::prepare(&arguments.compute)?;
    check_method(arguments)?;
    if let Some(file) = &arguments.output.plot {
        file.check_folder()?;
    }
    let progress = Progress::new(arguments.output.quiet);
    progress.stage("reading");
    let input = Input::read(&arguments.input)?;
    let law = Law::of(arguments, &input)?;
    let engine = compute::open_engine(arguments.compute.engine)?;
    progress.stage("setting up");
    let drawn = law.draw(&input, engine.as_ref(), arguments, &progress);
    progress.finish();
    let drawn = drawn?;
    // The plot comes before any output, so that a plot that fails leaves standard output empty.
    if let Some(file) = &arguments.output.plot {
        plot::draw(file, &input, &law, &drawn.samples.subsets()[0])?;
    }
    let summary = Summary { input: &input, law: &law, drawn: &drawn, seed: arguments.seed };
    output::write(&summary, &arguments.output)
}

/// Only Partition-DPPs leave a choice of method.
fn check_method(arguments: &SampleArguments) -> Result<(), Failure> {
    let no_choice = arguments.quota.is_none() || arguments.independent;
    if arguments.method == MethodChoice::Rejection && no_choice {
        let sentence = "--method rejection draws from Partition-DPPs: it needs --quota, and no --independent";
        return Err(Failure::Arguments(sentence.into()));
    }
    Ok(())
}

impl<'a> Law<'a> {
    fn of(arguments: &SampleArguments, input: &'a Input) -> Result<Self, Failure> {
        let Some(request) = &arguments.quota else {
            return Ok(arguments.k.map_or(Law::Dpp, |k| Law::KDpp { k }));
        };
        let Some(partition) = &input.partition else {
            let sentence = "--quota needs --labels, the part of each item";
            return Err(Failure::Arguments(sentence.into()));
        };
        let quota = request.resolve(partition)?;
        Ok(if arguments.independent {
            Law::IndependentKDpps { partition, quota }
        } else {
            Law::PartitionDpp { partition, quota, method: arguments.method.into() }
        })
    }

    /// How many items of each part; empty for the laws without a quota.
    pub(crate) fn quota(&self) -> &[usize] {
        match self {
            Law::PartitionDpp { quota, .. } | Law::IndependentKDpps { quota, .. } => quota.counts(),
            Law::KDpp { .. } | Law::Dpp => &[],
        }
    }

    fn draw(
        &self,
        input: &Input,
        engine: &dyn Engine,
        arguments: &SampleArguments,
        progress: &Progress,
    ) -> Result<Drawn, Failure> {
        let started = Instant::now();
        let features = &input.features;
        let draw = |sampler: Sampler<'_>| draw(&sampler, arguments, progress, started.elapsed());
        Ok(match self {
            Law::PartitionDpp { partition, quota, method } => {
                draw(PartitionDpp::new(features, partition, quota)?.sampler(*method, engine)?)
            }
            Law::IndependentKDpps { partition, quota } => {
                draw(IndependentKDpps::new(features, partition, quota)?.sampler(engine)?)
            }
            Law::KDpp { k } => draw(KDpp::new(features, *k)?.sampler(engine)?),
            Law::Dpp => draw(Dpp::new(features)?.sampler(engine)?),
        })
    }
}

fn draw(sampler: &Sampler<'_>, arguments: &SampleArguments, progress: &Progress, setup: Duration) -> Drawn {
    let started = Instant::now();
    progress.steps(arguments.samples);
    let samples =
        draw_in_instalments(sampler, arguments.samples, arguments.seed, |done| progress.reached(done));
    Drawn {
        samples,
        algorithm: sampler.algorithm().to_string(),
        engine: sampler.engine().name,
        precision: sampler.engine().precision.to_string(),
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
    use partition_dpp::{Features, engine::Cpu};

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
