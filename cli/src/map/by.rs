//! `pdpp map --by`.

use std::{
    io::Write,
    time::{Duration, Instant},
};

use comfy_table::Cell;
use partition_dpp::{
    Engine, Subset, Watch,
    engine::{EngineInfo, Task},
    map::{Covered, Solution, Termination},
    slates::Slate,
    watch::Ended,
};
use serde::Serialize;

use super::{
    answer::Cover,
    arguments::{MapArguments, SolverChoice},
    check_complete, coverage, kernel,
    search::Search,
};
use crate::{
    by::{self, Answered, Each, Errors, GreedySets, Problems, Seconds},
    compute,
    failure::Failure,
    input::{Id, Worth},
    interrupt,
    law::{Question, Wanted},
    memory::Limit,
    output::{
        self,
        numbers::decimals,
        table::{MOST_ROWS, more, new_table, right},
    },
    progress::Progress,
    rows::Rows,
};

/// The set of one problem, in items of the whole input.
struct Best {
    set: Subset,
    log_det: f64,
    covered: Option<Covered>,
    termination: Termination,
}

/// The engines that solved the problems.
struct SolvedBy {
    engine: EngineInfo,
    /// The number of problems that a GPU left to the CPU; `None` without a GPU.
    left: Option<u64>,
}

/// Refuses options that do not go with many problems.
pub(super) fn check(arguments: &MapArguments) -> Result<(), Failure> {
    if !is_greedy(arguments) {
        by::check_engine(&arguments.compute, "with --by a GPU takes only --solver greedy")?;
    }
    if arguments.certify {
        return Err(Failure::Arguments("--certify bounds one problem and excludes --by".into()));
    }
    Ok(())
}

fn is_greedy(arguments: &MapArguments) -> bool {
    arguments.solver == SolverChoice::Greedy && !arguments.independent
}

/// The engine of greedy sets; everything else is the CPU's.
fn open_engine(arguments: &MapArguments, problems: &Problems<'_>) -> Result<Engine, Failure> {
    if !is_greedy(arguments) || problems.beyond_slates().is_some() {
        return Ok(Engine::cpu());
    }
    let (requests, items) = (problems.groups.len(), problems.input.items());
    let task = Task::Slates { requests, candidates: items.div_ceil(requests.max(1)) };
    let job = problems.law.job(&problems.input.features, task);
    Ok(compute::open_engine(&arguments.compute, &job)?.engine)
}

/// Solves the problems, and prints their sets.
pub(super) fn run(
    arguments: &MapArguments,
    (problems, reading): (&Problems<'_>, Duration),
    rows: Option<&Rows<'_>>,
    progress: &Progress,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    problems.check_memory(Limit::of(None))?;
    if let Some(only) = problems.beyond_slates() {
        by::check_engine(&arguments.compute, &format!("with --by a GPU takes only {only}"))?;
    }
    let engine = open_engine(arguments, problems)?;
    let started = Instant::now();
    let watch = Watch::default().stopped_by(interrupt::flag());
    let slates =
        if is_greedy(arguments) { problems.solve_greedily(&engine, (progress, &watch))? } else { None };
    let (solved, left): (Each<Best>, _) = if let Some(GreedySets { each, left }) = slates {
        (each.into_iter().map(|slate| complete(problems, slate?)).collect(), left)
    } else {
        let one = |_, question: &Question<'_>, items: &[usize]| one(arguments, question, items);
        (problems.each((progress, &watch), one), None)
    };
    let by = SolvedBy { engine: engine.info(), left };
    let seconds = Seconds { reading: reading.as_secs_f64(), solving: started.elapsed().as_secs_f64() };
    progress.finish();
    let errors = Errors::of(&problems.groups, &solved)?;
    if let Some(rows) = rows {
        let none = Subset::new(Vec::new(), problems.input.items())?;
        let sets: Vec<Subset> = solved
            .iter()
            .map(|best| best.as_ref().map_or_else(|_| none.clone(), |best| best.set.clone()))
            .collect();
        rows.write(problems.input, &sets)?;
    }
    if arguments.output.json {
        let mut answer = Answer::new(arguments, problems, &solved, (&errors, seconds));
        answer.answered = answer.answered.by_engine(&by.engine, by.left);
        output::print_json(out, &answer)?;
    } else {
        output::print(out, &text((arguments, &by), problems, &solved, (&errors, seconds)))?;
    }
    errors.end(&watch)
}

/// A greedy set, if it is complete.
fn complete(problems: &Problems<'_>, slate: Slate<Vec<u32>>) -> Result<Best, Failure> {
    let Slate { items, missing, log_det, .. } = slate;
    let found = items.len();
    if missing > 0 {
        let termination = Termination::RankExhausted;
        return Err(Failure::Incomplete { termination, found, asked: found + missing });
    }
    let items = items.into_iter().map(|item| item as usize).collect();
    let termination = Termination::QuotaMet;
    Ok(Best { set: Subset::new(items, problems.input.items())?, log_det, covered: None, termination })
}

/// The best set of one problem by any solver.
fn one(arguments: &MapArguments, question: &Question<'_>, items: &[usize]) -> Result<Best, Failure> {
    let Question { input, law, conditions } = *question;
    let progress = Progress::new(true);
    let engine = Engine::cpu();
    let search = Search::new(&engine, arguments, &progress, items.len()).of_many();
    let solution = if arguments.solver == SolverChoice::Coverage {
        coverage::search(&search, question)?
    } else if let Some(kernel) = input.kernel_of_pairs(&input.conditions(conditions)?, &Engine::cpu())? {
        kernel::check_solver(arguments)?;
        kernel::check_memory(arguments, input.features.items(), law.most(input.features.items()))?;
        search.on_kernel(&law.kernel_models(&*kernel, input, conditions)?)?
    } else {
        let model = law.model(input, conditions, (&Engine::cpu(), Wanted::BestSet))?;
        search.on_rows(&model, input)?
    };
    if solution.termination == Termination::Interrupted {
        return Err(Failure::Abandoned(Ended::Interrupted));
    }
    check_complete(&solution, input.scored.as_ref())?;
    let Solution { subset, log_det, covered, termination, .. } = solution;
    Ok(Best { set: by::whole(&subset, items)?, log_det, covered, termination })
}

/// One JSON object: a contract that scripts rely on.
#[derive(Serialize)]
struct Answer<'a> {
    #[serde(flatten)]
    answered: Answered<'a>,
    sets: Vec<Option<&'a [usize]>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ids: Option<Vec<Option<Vec<Id<'a>>>>>,
    /// By value; only of a solver that covers items.
    #[serde(skip_serializing_if = "Option::is_none")]
    covers: Option<Vec<Option<Cover>>>,
    log_dets: Vec<Option<f64>>,
    /// By value; without scores there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    worths: Option<Vec<Option<Worth>>>,
    terminations: Vec<Option<String>>,
    solver: String,
}

impl<'a> Answer<'a> {
    fn new(
        arguments: &MapArguments,
        problems: &'a Problems<'_>,
        solved: &'a [Result<Best, Failure>],
        (errors, seconds): (&'a Errors<'_>, Seconds),
    ) -> Self {
        let input = problems.input;
        let each = || solved.iter().map(|one| one.as_ref().ok());
        let ids = input.ids.is_some();
        Self {
            answered: Answered::new(problems, errors, seconds),
            sets: each().map(|best| Some(best?.set.as_slice())).collect(),
            ids: ids.then(|| each().map(|best| input.ids_of(&best?.set)).collect()),
            covers: (arguments.solver == SolverChoice::Coverage)
                .then(|| each().map(|best| best?.covered.map(Cover::from)).collect()),
            log_dets: each().map(|best| Some(best?.log_det)).collect(),
            worths: input.scored.as_ref().map(|scored| {
                each()
                    .map(|best| {
                        best.map(|best| scored.worth(best.set.as_slice(), best.log_det, best.covered))
                    })
                    .collect()
            }),
            terminations: each().map(|best| Some(best?.termination.to_string().replace(' ', "-"))).collect(),
            solver: arguments.solver.to_string(),
        }
    }
}

/// A row for each of the first few values.
fn text(
    (arguments, by): (&MapArguments, &SolvedBy),
    problems: &Problems<'_>,
    solved: &[Result<Best, Failure>],
    found: (&Errors<'_>, Seconds),
) -> String {
    let covers = arguments.solver == SolverChoice::Coverage;
    let mut table = new_table(vec!["by", if covers { "covers" } else { "log det" }, "items"]);
    for (group, best) in solved.iter().enumerate().take(MOST_ROWS) {
        let (worth, items) = match best {
            Ok(best) => {
                let worth = best.covered.map_or(best.log_det, |covered| covered.total);
                (decimals(worth), by::listed(problems.input, &best.set))
            }
            Err(_) => ("–".into(), "–".into()),
        };
        table.add_row([Cell::new(problems.groups.value(group)), right(worth), Cell::new(items)]);
    }
    let mut text = format!("{}\n{}", table.trim_fmt(), more(solved.len()));
    let how = match by.left {
        Some(left) => format!("{} solver, on {}, {left} by the CPU", arguments.solver, by.engine),
        None => format!("{} solver", arguments.solver),
    };
    text.push_str(&problems.after(found, &how, (&arguments.output, &arguments.rows)));
    text
}
