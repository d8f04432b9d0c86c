//! `pdpp sample`.

mod answer;
mod arguments;
mod by;
mod chains;
mod draw;
mod estimate;
mod forecast;
mod instalments;
mod json;
mod memory;
mod method;
mod mixing;
mod plan;
mod text;
mod ways;

use std::{io::Write, time::Instant};

use partition_dpp::Engine;

pub(crate) use self::arguments::SampleArguments;
use self::{arguments::MethodChoice, draw::Run, memory::Memory};
use crate::{
    by::Problems,
    compute::{self, OpenEngine},
    failure::Failure,
    input::{Input, Reading, Shares},
    interrupt,
    law::{LawRequest, Question, Wanted},
    memory::{Limit, Use},
    output, plot,
    progress::Progress,
};

/// Runs the command.
pub(crate) fn run(arguments: &SampleArguments, out: &mut dyn Write) -> Result<(), Failure> {
    compute::prepare(&arguments.compute)?;
    let watch = interrupt::within(arguments.time_limit);
    method::check(arguments)?;
    if let Some(file) = &arguments.plot {
        file.check()?;
    }
    arguments.rows.check()?;
    let plot = arguments.plot.as_ref().map(|file| ("--plot", file.path()));
    let rows = arguments.rows.output.as_ref().map(|file| ("--output", file.path()));
    arguments.input.refuse_replacing(&plot.into_iter().chain(rows).collect::<Vec<_>>(), None)?;
    if arguments.by.by.is_some() {
        by::check(arguments)?;
    }
    let began = Instant::now();
    let limit = Limit::of(arguments.memory);
    let progress = Progress::new(arguments.output.quiet);
    let reading = Reading { limit, used_for: Use::Products, progress: &progress, watch: &watch };
    let input = Input::read(&arguments.input, reading)?;
    input.refuse_scores_alone()?;
    let rows = arguments.rows.open(&arguments.input)?;
    let law = LawRequest::of(&arguments.law, &input)?;
    let law = if arguments.independent { law.independent()? } else { law };
    if arguments.method == MethodChoice::Mcmc {
        arguments.chains.check(arguments.samples, law.sets.least())?;
    }
    let conditions = arguments.by.conditions(&arguments.conditions, &input)?;
    if let Some(column) = &arguments.by.by {
        let question = Question { input: &input, law: &law, conditions: &conditions };
        let problems = Problems::read(column, &arguments.input, question)?;
        return by::run(arguments, (&problems, began.elapsed()), rows.as_ref(), (&progress, &watch), out);
    }
    progress.stage("setting up");
    let started = Instant::now();
    let host = Engine::cpu().watched(&progress.shown(&watch, Progress::computed));
    let model = law.model(&input, &conditions, (&host, Wanted::Draws))?;
    let question = Question { input: &input, law: &law, conditions: &conditions };
    let memory = Memory::of(&model, arguments, law.sets.least(), limit)?;
    memory.check()?;
    let job = law.job(&input.features, arguments.task());
    let OpenEngine { engine, reason } = compute::open_engine(&arguments.compute, &job)?;
    let engine = engine.watched(&progress.shown(&watch, Progress::computed));
    if arguments.plan {
        let planned = method::plan(&model, arguments, &engine)?;
        progress.finish();
        return plan::write(&question, &planned, &memory, arguments, out);
    }
    let run = Run { arguments, progress: &progress, watch, setup_began: started };
    let mut drawn = run.draw_from(&model, &engine)?;
    if arguments.explained || arguments.input.weighing.represent.is_some() {
        progress.stage("comparing with all rows");
        let shares = if arguments.explained { Shares::ByPart } else { Shares::OfAll };
        let watch = run.watch.clone().stopped_by(interrupt::flag());
        drawn.explained = input.explained(&drawn.subsets, shares, &watch)?;
        if arguments.explained {
            drawn.mean_distances = input.mean_distances(&drawn.subsets, &watch)?;
        }
    }
    progress.finish();
    if let Some(ended) = drawn.ended.filter(|_| drawn.subsets.is_empty()) {
        return Err(Failure::Abandoned(ended));
    }
    // Files are written first, so that a failure leaves standard output empty.
    if let Some(rows) = &rows {
        rows.write(&input, &drawn.subsets)?;
    }
    if let (Some(file), Some(first)) = (&arguments.plot, drawn.subsets.first()) {
        plot::draw(file, &input, &law, first, drawn.drawer.into())?;
    }
    if arguments.output.json {
        output::print_json(out, &json::Answer::new(&question, &drawn, arguments.seed, reason.as_deref()))?;
    } else {
        output::print(out, &text::render(&question, &drawn, arguments))?;
    }
    let (done, of) = (drawn.draws(), arguments.samples);
    drawn.ended.map_or(Ok(()), |ended| Err(Failure::StoppedSampling { ended, done, of }))
}
