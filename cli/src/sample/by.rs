//! `pdpp sample --by`.

use std::{
    io::Write,
    time::{Duration, Instant},
};

use comfy_table::Cell;
use partition_dpp::{Engine, Subset, Watch, slates::SlateSamples};
use serde::Serialize;

use super::{
    arguments::{BoundChoice, MethodChoice, SampleArguments},
    forecast::Forecast,
    method,
};
use crate::{
    by::{self, Answered, Each, Errors, Problems, Seconds},
    failure::Failure,
    input::Id,
    interrupt,
    law::{Question, Wanted},
    memory::Limit,
    output::{
        self,
        table::{MOST_ROWS, more, new_table, right},
    },
    progress::Progress,
    rows::Rows,
};

/// The samples of one problem, in items of the whole input.
struct Samples {
    subsets: Vec<Subset>,
    law_error: f64,
}

/// Refuses what many problems do not have.
pub(super) fn check(arguments: &SampleArguments) -> Result<(), Failure> {
    by::check_engine(&arguments.compute, "sample --by does not draw on a GPU")?;
    if arguments.plan {
        return Err(Failure::Arguments("--plan describes one problem and excludes --by".into()));
    }
    if matches!(arguments.method, MethodChoice::Estimated | MethodChoice::Mcmc) {
        let sentence = format!("--method {} draws for one problem and excludes --by", arguments.method);
        return Err(Failure::Arguments(sentence));
    }
    Ok(())
}

/// Draws from all problems, and prints the samples.
pub(super) fn run(
    arguments: &SampleArguments,
    (problems, reading): (&Problems<'_>, Duration),
    rows: Option<&Rows<'_>>,
    (progress, watch): (&Progress, &Watch),
    out: &mut dyn Write,
) -> Result<(), Failure> {
    problems.check_memory(Limit::of(arguments.memory))?;
    interrupt::flag();
    let started = Instant::now();
    let any = arguments.method == MethodChoice::Auto && arguments.bound == BoundChoice::Auto;
    let asked = (arguments.samples, arguments.seed);
    let drawn = if any && !arguments.independent {
        problems.sample_proposals(asked, (progress, watch))?
    } else {
        None
    };
    let solved: Each<Samples> = match drawn {
        Some(drawn) => {
            let samples = |SlateSamples { subsets, law_error, .. }| Samples { subsets, law_error };
            drawn.into_iter().map(|drawn| drawn.map(samples)).collect()
        }
        None => problems.each((progress, watch), |group, question, items| {
            one(arguments, (group, question), items, watch)
        }),
    };
    let seconds = Seconds { reading: reading.as_secs_f64(), solving: started.elapsed().as_secs_f64() };
    progress.finish();
    let errors = Errors::of(&problems.groups, &solved)?;
    if let Some(rows) = rows {
        let none =
            vec![Subset::new(Vec::new(), problems.input.items())?; usize::try_from(asked.0).unwrap_or(0)];
        let subsets = solved.iter().flat_map(|one| one.as_ref().map_or(&none, |samples| &samples.subsets));
        rows.write(problems.input, &subsets.cloned().collect::<Vec<_>>())?;
    }
    if arguments.output.json {
        output::print_json(out, &Answer::new(arguments, problems, &solved, (&errors, seconds)))?;
    } else {
        output::print(out, &text(arguments, problems, &solved, (&errors, seconds)))?;
    }
    errors.end(watch)
}

/// The samples of one problem by any exact method. Draw d of problem g has number 2³² g + d.
fn one(
    arguments: &SampleArguments,
    (group, question): (usize, &Question<'_>),
    items: &[usize],
    watch: &Watch,
) -> Result<Samples, Failure> {
    let Question { input, law, conditions } = *question;
    let Some(options) = arguments.options() else { unreachable!("other methods are refused before") };
    let engine = Engine::cpu().watched(watch);
    let model = law.model(input, conditions, (&engine, Wanted::Draws))?;
    let sampler = method::sampler(&model, (arguments, options), &engine)?;
    if let Some(forecast) = Forecast::after(&sampler, arguments.samples) {
        forecast.check(arguments, Vec::new)?;
    }
    let first = (group as u64) << 32;
    let drawn = sampler.sample_watched(first..first + arguments.samples, arguments.seed, watch)?;
    if let Some(ended) = drawn.ended() {
        return Err(Failure::Abandoned(ended));
    }
    let subsets = drawn.subsets().iter().map(|subset| by::whole(subset, items)).collect::<Result<_, _>>()?;
    Ok(Samples { subsets, law_error: sampler.law_error() })
}

/// One JSON object: a contract that scripts rely on.
#[derive(Serialize)]
struct Answer<'a> {
    #[serde(flatten)]
    answered: Answered<'a>,
    samples: Vec<Option<Vec<&'a [usize]>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ids: Option<Vec<Option<Vec<Vec<Id<'a>>>>>>,
    exactness: &'static str,
    /// The largest of all.
    law_error: f64,
    method: String,
    precision: &'static str,
    seed: u64,
}

impl<'a> Answer<'a> {
    fn new(
        arguments: &SampleArguments,
        problems: &'a Problems<'_>,
        solved: &'a [Result<Samples, Failure>],
        (errors, seconds): (&'a Errors<'_>, Seconds),
    ) -> Self {
        let input = problems.input;
        let each = || solved.iter().map(|one| one.as_ref().ok());
        let of_samples = |samples: &'a Samples| samples.subsets.iter().map(Subset::as_slice).collect();
        Self {
            answered: Answered::new(problems, errors, seconds),
            samples: each().map(|samples| samples.map(of_samples)).collect(),
            ids: input.ids.is_some().then(|| {
                let all = |samples: &'a Samples| {
                    samples.subsets.iter().map(|subset| input.ids_of(subset)).collect()
                };
                each().map(|samples| samples.and_then(all)).collect()
            }),
            exactness: "exact",
            law_error: each().flatten().map(|samples| samples.law_error).fold(0.0, f64::max),
            method: arguments.method.to_string(),
            precision: "f64",
            seed: arguments.seed,
        }
    }
}

/// A row for each of the first few samples.
fn text(
    arguments: &SampleArguments,
    problems: &Problems<'_>,
    solved: &[Result<Samples, Failure>],
    found: (&Errors<'_>, Seconds),
) -> String {
    let mut table = new_table(vec!["by", "sample", "items"]);
    let value = |group: usize| Cell::new(problems.groups.value(group));
    let rows = solved.iter().enumerate().flat_map(|(group, one)| match one {
        Ok(samples) => (samples.subsets.iter().enumerate())
            .map(|(draw, subset)| [value(group), right(draw), Cell::new(by::listed(problems.input, subset))])
            .collect(),
        Err(_) => vec![[value(group), right("–"), Cell::new("–")]],
    });
    rows.take(MOST_ROWS).for_each(|row| {
        table.add_row(row);
    });
    let count = solved.iter().map(|one| one.as_ref().map_or(1, |samples| samples.subsets.len())).sum();
    let mut text = format!("{}\n{}", table.trim_fmt(), more(count));
    let how = format!("exact, seed {}", arguments.seed);
    text.push_str(&problems.after(found, &how, (&arguments.output, &arguments.rows)));
    text
}
