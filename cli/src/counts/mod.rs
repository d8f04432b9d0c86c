//! `pdpp counts`.

mod answer;
mod arguments;
mod json;
mod model;
mod text;

use std::{io::Write, time::Instant};

use partition_dpp::{Engine, Quota, Sets, engine::Task};

pub(crate) use self::arguments::CountsArguments;
use self::{
    answer::Counted,
    model::{With, counts, with_ridge},
};
use crate::{
    compute::{self, OpenEngine},
    failure::Failure,
    input::{Input, Reading, too_many_for},
    interrupt,
    law::{LawRequest, Question, Wanted},
    memory::{Limit, Use},
    output,
    progress::Progress,
};

/// Runs the command.
pub(crate) fn run(arguments: &CountsArguments, out: &mut dyn Write) -> Result<(), Failure> {
    compute::prepare(&arguments.compute)?;
    let watch = interrupt::within(arguments.time_limit);
    if arguments.law.k.is_none() && arguments.law.quota.is_none() {
        return Err(Failure::Arguments("counts needs --k, the number of items, or --quota".into()));
    }
    arguments.estimates.check(arguments.law.quota.is_some())?;
    arguments.input.refuse_replacing(&[], None)?;
    let progress = Progress::new(arguments.output.quiet);
    let (limit, used_for) = (Limit::of(None), Use::Products);
    let reading = Reading { limit, used_for, progress: &progress, watch: &watch };
    let input = Input::read(&arguments.input, reading)?;
    input.refuse_scores_alone()?;
    let Some(partition) = &input.partition else {
        return Err(Failure::Arguments("counts needs --labels, the part of each item".into()));
    };
    let k = arguments.law.k;
    let quota = arguments.law.quota.as_ref().map(|request| request.resolve(partition, k)).transpose()?;
    let total = quota.as_ref().and_then(Quota::total);
    let law = LawRequest::from(k.or(total).map_or(Sets::OfAnySize, Sets::OfSize));
    let conditions = arguments.conditions.by_index(&input)?;
    progress.stage("computing");
    let started = Instant::now();
    let watch = progress.shown(&watch, Progress::computed);
    let host = Engine::cpu().watched(&watch);
    let job = law.job(&input.features, Task::Normaliser).with_parts(partition.parts());
    let OpenEngine { engine, reason } = compute::open_engine(&arguments.compute, &job)?;
    let engine = engine.watched(&watch);
    let with = With { estimates: &arguments.estimates, engine: &engine, watch: &watch };
    let (counts, quota) = if input.ridge.is_some() {
        let Some(quota) = &quota else { return Err(too_many_for("counts without --quota")) };
        let met = LawRequest::from(Sets::Quota(partition.clone(), quota.clone()));
        with_ridge(&met.model(&input, &conditions, (&host, Wanted::Probabilities))?, quota, with)?
    } else {
        counts(
            &law.model(&input, &conditions, (&host, Wanted::Probabilities))?,
            (partition, quota.as_ref()),
            with,
        )?
    };
    let (engine, time) = (engine.info(), started.elapsed());
    let counted = Counted { partition, law: counts, quota, engine, engine_reason: reason, time };
    progress.finish();
    // From here on Ctrl-C and the time limit no longer suppress the answer.
    interrupt::flag();
    let question = Question { input: &input, law: &law, conditions: &conditions };
    if arguments.output.json {
        output::print_json(out, &json::Answer::new(&question, &counted))?;
    } else {
        output::print(out, &text::render(&question, &counted, arguments.output.quiet))?;
    }
    counted.quota.and_then(|(_, chance)| chance.draws).map_or(Ok(()), |draws| draws.check())
}
