//! `pdpp map`.

mod answer;
mod arguments;
mod by;
mod coverage;
mod design;
mod exact;
mod history;
mod json;
mod kernel;
mod search;
mod text;

use std::{io::Write, slice, time::Instant};

use partition_dpp::{Engine, Watch, map::Solution};

pub(crate) use self::arguments::MapArguments;
use self::{answer::Found, arguments::SolverChoice, search::Search};
use crate::{
    by::Problems,
    compute::{self, OpenEngine},
    failure::Failure,
    input::{Input, Reading, Scored, Shares},
    interrupt,
    law::{LawRequest, Question, Wanted},
    memory::Limit,
    output, plot,
    progress::Progress,
};

/// Runs the command.
pub(crate) fn run(arguments: &MapArguments, out: &mut dyn Write) -> Result<(), Failure> {
    compute::prepare(&arguments.compute)?;
    check_solver(arguments)?;
    coverage::check(arguments)?;
    design::check(arguments)?;
    exact::check(arguments)?;
    kernel::check_engine(arguments)?;
    if let Some(file) = &arguments.plot {
        file.check()?;
    }
    arguments.rows.check()?;
    let plot = arguments.plot.as_ref().map(|file| ("--plot", file.path()));
    let rows = arguments.rows.output.as_ref().map(|file| ("--output", file.path()));
    let search = arguments.plot_search.as_ref().map(|file| ("--plot-search", file.path()));
    let resume = arguments.resume.as_deref().map(|file| ("--resume", file));
    let written = [plot, rows, search, resume].into_iter().flatten().collect::<Vec<_>>();
    arguments.input.refuse_replacing(&written, None)?;
    if arguments.by.by.is_some() {
        by::check(arguments)?;
    }
    let (began, progress) = (Instant::now(), Progress::new(arguments.output.quiet));
    let used_for = kernel::features_used(arguments);
    let (limit, watch) = (Limit::of(None), interrupt::within(None));
    let input =
        Input::read(&arguments.input, Reading { limit, used_for, progress: &progress, watch: &watch })?;
    let rows = arguments.rows.open(&arguments.input)?;
    let law = LawRequest::of(&arguments.law, &input)?;
    let law = if arguments.independent { law.independent()? } else { law };
    let law = LawRequest { is_design: arguments.design, ..law };
    let conditions = arguments.by.conditions(&arguments.conditions, &input)?;
    let question = Question { input: &input, law: &law, conditions: &conditions };
    if let Some(column) = &arguments.by.by {
        let problems = Problems::read(column, &arguments.input, question)?;
        return by::run(arguments, (&problems, began.elapsed()), rows.as_ref(), &progress, out);
    }
    let found = find(arguments, &question, &progress)?;
    progress.finish();
    check_complete(&found.solution, input.scored.as_ref())?;
    // Files are written first, so that a failure leaves standard output empty.
    if let Some(rows) = &rows {
        rows.write(&input, slice::from_ref(&found.solution.subset))?;
    }
    if let Some(file) = &arguments.plot {
        plot::draw(file, &input, &law, &found.solution.subset, plot::Shown::BestFound)?;
    }
    if let Some(file) = &arguments.plot_search {
        history::draw(file, &found.history, &format!("{law}, m = {}", input.features.items()))?;
    }
    if arguments.output.json {
        output::print_json(out, &json::Answer::new(&question, &found))?;
    } else {
        output::print(out, &text::render(&question, &found, arguments))?;
    }
    if interrupt::raised() { Err(Failure::Interrupted) } else { Ok(()) }
}

/// Searches for the best set.
fn find(arguments: &MapArguments, question: &Question<'_>, progress: &Progress) -> Result<Found, Failure> {
    let Question { input, law, conditions } = *question;
    let rows = input.features.items();
    let found = |solution: Solution, started: Instant, engine_reason| {
        let time = started.elapsed();
        let subset = slice::from_ref(&solution.subset);
        let watch = Watch::default().stopped_by(interrupt::flag());
        let explained = input.explained(subset, Shares::ByPart, &watch)?;
        let distances = if arguments.explained { input.mean_distances(subset, &watch)? } else { None };
        let mean_distance = distances.and_then(|means| means.first().copied());
        let solver = arguments.solver;
        let history = Vec::new();
        Ok(Found {
            solution,
            explained,
            mean_distance,
            efficiency: None,
            history,
            solver,
            time,
            engine_reason,
        })
    };
    if arguments.design {
        let job = law.job(&input.features, arguments.task());
        let OpenEngine { engine, reason } = compute::open_engine(&arguments.compute, &job)?;
        progress.stage("searching");
        let (started, solver) = (Instant::now(), arguments.solver);
        let search = Search::new(&engine, arguments, progress, rows);
        let (solution, efficiency) = search.design(question)?;
        let history = search.history.moments();
        let time = started.elapsed();
        let (explained, mean_distance, engine_reason) = (None, None, reason);
        return Ok(Found {
            solution,
            explained,
            mean_distance,
            efficiency,
            history,
            solver,
            time,
            engine_reason,
        });
    }
    if arguments.solver == SolverChoice::Coverage {
        progress.stage("searching");
        let started = Instant::now();
        let engine = Engine::cpu();
        let search = Search::new(&engine, arguments, progress, rows);
        return found(coverage::search(&search, question)?, started, None);
    }
    let host = Engine::cpu().watched(&progress.shown(&interrupt::within(None), Progress::computed));
    if let Some(kernel) = input.kernel_of_pairs(&input.conditions(conditions)?, &host)? {
        kernel::check_solver(arguments)?;
        kernel::check_memory(arguments, input.features.items(), law.most(input.features.items()))?;
        let models = law.kernel_models(&*kernel, input, conditions)?;
        progress.stage("searching");
        let started = Instant::now();
        let solution = Search::new(&Engine::cpu(), arguments, progress, rows).on_kernel(&models)?;
        return found(solution, started, None);
    }
    let model = law.model(input, conditions, (&host, Wanted::BestSet))?;
    let job = law.job(&input.features, arguments.task());
    let OpenEngine { engine, reason } = compute::open_engine(&arguments.compute, &job)?;
    progress.stage("searching");
    let started = Instant::now();
    let search = Search::new(&engine, arguments, progress, rows);
    let found = found(search.on_rows(&model, input)?, started, reason)?;
    Ok(Found { history: search.history.moments(), ..found })
}

/// Refuses a set that lacks items, unless Ctrl-C asked for the best set so far.
fn check_complete(solution: &Solution, scored: Option<&Scored>) -> Result<(), Failure> {
    let (missing, found, termination) = (solution.missing, solution.subset.len(), solution.termination);
    if interrupt::raised() {
        return Ok(());
    }
    if missing == 0 {
        let by_det = solution.covered.is_none() && !scored.is_some_and(Scored::decide_alone);
        let vanishes = by_det && solution.log_det == f64::NEG_INFINITY;
        return if vanishes { Err(Failure::Vanishing) } else { Ok(()) };
    }
    Err(Failure::Incomplete { termination, found, asked: found + missing })
}

/// Refuses options that the solver does not use.
fn check_solver(arguments: &MapArguments) -> Result<(), Failure> {
    let MapArguments { solver, law, epsilon, certify, time_limit, .. } = arguments;
    let any_size = matches!(solver, SolverChoice::SymmetricGreedy | SolverChoice::Softmax);
    if any_size && (law.k.is_some() || law.quota.is_some()) {
        let sentence = format!("--solver {solver} finds sets of any size: it takes neither --quota nor --k");
        return Err(Failure::Arguments(sentence));
    }
    if epsilon.is_some() && *solver != SolverChoice::LocalSearch {
        let sentence = format!("--epsilon is for --solver local-search; --solver {solver} does not use it");
        return Err(Failure::Arguments(sentence));
    }
    let unlimited = matches!(solver, SolverChoice::Greedy | SolverChoice::SymmetricGreedy);
    if time_limit.is_some() && unlimited && !certify {
        let sentence = format!("--time-limit: --solver {solver} does not use it without --certify");
        return Err(Failure::Arguments(sentence));
    }
    Ok(())
}
