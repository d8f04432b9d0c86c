//! `pdpp infer`.

mod answer;
mod arguments;
mod estimated;
mod json;
mod text;

use std::{
    io::Write,
    time::{Duration, Instant},
};

use partition_dpp::{Engine, Inference, Law, Subset, Watch, data::LabelCopies, engine::Task};

use self::answer::Inferred;
pub(crate) use self::arguments::InferArguments;
use crate::{
    compute::{self, OpenEngine},
    failure::Failure,
    input::{Input, Reading, Shares, sets, too_many_for},
    interrupt,
    law::{LawRequest, Question, RIDGE_WAYS, Wanted},
    memory::{Limit, Use},
    output,
    progress::Progress,
};

/// The way out if a budget is exceeded.
const WAYS: &[&str] =
    &["--method estimated computes estimates with standard errors, for any number of parts"];

/// Runs the command.
pub(crate) fn run(arguments: &InferArguments, out: &mut dyn Write) -> Result<(), Failure> {
    compute::prepare(&arguments.compute)?;
    arguments.check()?;
    let watch = interrupt::within(arguments.time_limit);
    let progress = Progress::new(arguments.output.quiet);
    let (limit, used_for) = (Limit::of(None), Use::Products);
    let reading = Reading { limit, used_for, progress: &progress, watch: &watch };
    let input = Input::read(&arguments.input, reading)?;
    input.refuse_scores_alone()?;
    let sets = match &arguments.sets {
        Some(path) => sets::read(path, input.items())?,
        None => Vec::new(),
    };
    let law = LawRequest::of(&arguments.law, &input)?;
    let conditions = arguments.conditions.by_index(&input)?;
    progress.stage("computing");
    let started = Instant::now();
    let watch = progress.shown(&watch, Progress::computed);
    let model = law.model(&input, &conditions, (&Engine::cpu().watched(&watch), Wanted::Probabilities))?;
    let task = if arguments.estimates.are_wanted() { Task::SetUp } else { Task::Inference };
    let job = law.job(&input.features, task);
    let OpenEngine { engine, reason } = compute::open_engine(&arguments.compute, &job)?;
    let unlimited = engine.watched(&progress.shown(&Watch::default(), Progress::computed));
    let engine = engine.watched(&watch);
    let mut inferred = match &model {
        Law::Quota(dpp) if arguments.estimates.are_wanted() => {
            estimated::infer(dpp, arguments, input.copies.as_ref(), sets, (&unlimited, &watch))?
        }
        _ if arguments.estimates.are_wanted() => return Err(too_many_for("--method estimated")),
        _ => {
            let ways = if let Law::Ridge(_) = model { RIDGE_WAYS } else { WAYS };
            let inference = model.inference(&engine).map_err(Failure::advise(ways))?;
            inferred(&inference, input.copies.as_ref(), sets)?
        }
    };
    (inferred.time, inferred.engine_reason) = (started.elapsed(), reason);
    // Sets of items are not sets of copies.
    if !inferred.sets.is_empty() && input.copies.is_none() {
        inferred.explained = input.explained(&inferred.sets, Shares::ByPart, &watch)?;
    }
    progress.finish();
    // From here on Ctrl-C and the time limit no longer suppress the answer.
    interrupt::flag();
    let question = Question { input: &input, law: &law, conditions: &conditions };
    if arguments.output.json {
        json::print(&question, &inferred, out)?;
    } else {
        output::print(out, &text::render(&question, &inferred, arguments.output.quiet))?;
    }
    inferred.estimated.map_or(Ok(()), |estimated| estimated.check())
}

fn inferred(
    inference: &Inference,
    copies: Option<&LabelCopies>,
    sets: Vec<Subset>,
) -> Result<Inferred, Failure> {
    let of_set = |set: &Subset| match copies {
        Some(copies) => inference.log_probability_of_items(copies, set),
        None => inference.log_probability(set),
    };
    let (log_z, marginals) = (inference.log_partition_function(), inference.inclusion_probabilities()?);
    let log_probs = sets.iter().map(of_set).collect::<Result<_, _>>()?;
    let (estimated, engine) = (None, inference.engine());
    let (engine_reason, time) = (None, Duration::ZERO);
    let explained = None;
    Ok(Inferred { log_z, marginals, sets, log_probs, explained, estimated, engine, engine_reason, time })
}
