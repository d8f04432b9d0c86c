//! `pdpp map`.

use std::time::{Duration, Instant};

use partition_dpp::{
    BranchAndBound, Dpp, ItemOrder, LazyGreedy, LocalSearch, Objective, Restarts, Softmax, Solution,
    SymmetricGreedy, Termination, UpperBound, Watch,
    engine::{Engine, EngineInfo},
};

use crate::{
    arguments::{MapArguments, SolverChoice},
    compute,
    failure::Failure,
    input::Input,
    interrupt,
    law::{Law, Model},
    output::{self, Question},
    plot,
    progress::Progress,
};

/// What was found, and how.
#[derive(Debug)]
pub(crate) struct Found {
    /// The set, and what is known of it.
    pub(crate) solution: Solution,
    /// What found it.
    pub(crate) solver: SolverChoice,
    /// What computed.
    pub(crate) engine: EngineInfo,
    /// Time of everything but reading.
    pub(crate) time: Duration,
}

/// How long a local search goes on unless told.
const TIME_LIMIT: Duration = Duration::from_secs(1);

/// Runs the command.
pub(crate) fn run(arguments: &MapArguments) -> Result<(), Failure> {
    compute::prepare(&arguments.compute)?;
    check_solver(arguments)?;
    if let Some(file) = &arguments.plot {
        file.check_folder()?;
    }
    let progress = Progress::new(arguments.output.quiet);
    progress.stage("reading");
    let input = Input::read(&arguments.input)?;
    let law = Law::of(&arguments.law, &input)?;
    let model = law.model(&input.features, &arguments.conditions)?;
    let engine = compute::open_engine(arguments.compute.engine)?;
    progress.stage("searching");
    let started = Instant::now();
    let report = |step| progress.searched(&step);
    let watch = Watch::default().stopped_by(interrupt::flag()?).reporting_to(&report);
    let solution = search(&model, engine.as_ref(), arguments, &watch)?;
    let found = Found { solution, solver: arguments.solver, engine: engine.info(), time: started.elapsed() };
    progress.finish();
    // The plot comes before any output, so that a plot that fails leaves standard output empty.
    if let Some(file) = &arguments.plot {
        plot::draw(file, &input, &law, &found.solution.subset)?;
    }
    let question = Question { input: &input, law: &law, conditions: &arguments.conditions };
    output::map::write(&question, &found, arguments)?;
    match found.solution.termination {
        Termination::Interrupted => Err(Failure::Interrupted),
        _ => Ok(()),
    }
}

/// Options that a solver has no use for are refused.
fn check_solver(arguments: &MapArguments) -> Result<(), Failure> {
    let MapArguments { solver, law, epsilon, .. } = arguments;
    let any_size = matches!(solver, SolverChoice::SymmetricGreedy | SolverChoice::Softmax);
    if any_size && (law.k.is_some() || law.quota.is_some()) {
        let sentence = format!("--solver {solver} finds sets of any size: it takes neither --quota nor --k");
        return Err(Failure::Arguments(sentence));
    }
    if epsilon.is_some() && *solver != SolverChoice::LocalSearch {
        let sentence = format!("--epsilon is for --solver local-search; --solver {solver} has no use for it");
        return Err(Failure::Arguments(sentence));
    }
    Ok(())
}

fn search(
    model: &Model<'_>,
    engine: &dyn Engine,
    arguments: &MapArguments,
    watch: &Watch<'_>,
) -> Result<Solution, Failure> {
    match model {
        Model::PartitionDpp(dpp) => solve(dpp, engine, arguments, watch),
        Model::KDpp(dpp) => solve(dpp, engine, arguments, watch),
        Model::Dpp(dpp) => match arguments.solver {
            SolverChoice::SymmetricGreedy | SolverChoice::Softmax => {
                let solution = solve_any_size(dpp, engine, arguments, watch)?;
                certify(solution, dpp, engine, arguments, watch)
            }
            _ => solve(dpp, engine, arguments, watch),
        },
        // The arguments leave no way to ask for them.
        Model::IndependentKDpps(_) => {
            Err(Failure::Arguments("independent k-DPPs are for sampling only".into()))
        }
    }
}

fn solve(
    model: &impl Objective,
    engine: &dyn Engine,
    arguments: &MapArguments,
    watch: &Watch<'_>,
) -> Result<Solution, Failure> {
    let limit = arguments.time_limit;
    let solution = match arguments.solver {
        SolverChoice::Exact => {
            let solver = BranchAndBound::default();
            let solver = limit.map_or(solver, |limit| solver.with_time_limit(limit));
            solver.solve_watched(model, engine, watch)?
        }
        SolverChoice::Greedy => LazyGreedy::default().solve(model, engine)?,
        _ => local_search(arguments, limit.unwrap_or(TIME_LIMIT)).solve_watched(model, engine, watch)?,
    };
    certify(solution, model, engine, arguments, watch)
}

/// A time limit of zero means one climb, to its end.
fn local_search(arguments: &MapArguments, limit: Duration) -> LocalSearch {
    let search = LocalSearch::default();
    let search = arguments.epsilon.map_or(search, |epsilon| search.with_epsilon(epsilon));
    if limit.is_zero() {
        return search;
    }
    search.with_restarts(Restarts::UntilTimeLimit).with_time_limit(limit)
}

fn solve_any_size(
    dpp: &Dpp<'_>,
    engine: &dyn Engine,
    arguments: &MapArguments,
    watch: &Watch<'_>,
) -> Result<Solution, Failure> {
    if arguments.solver == SolverChoice::SymmetricGreedy {
        return Ok(SymmetricGreedy::default().with_order(ItemOrder::GreedyBasisLast).solve(dpp, engine)?);
    }
    let softmax = Softmax::default();
    let softmax = arguments.time_limit.map_or(softmax, |limit| softmax.with_time_limit(limit));
    Ok(softmax.solve_watched(dpp, engine, watch)?)
}

/// Adds a bound, if one is wanted and none is known.
fn certify(
    solution: Solution,
    model: &impl Objective,
    engine: &dyn Engine,
    arguments: &MapArguments,
    watch: &Watch<'_>,
) -> Result<Solution, Failure> {
    if !arguments.certify || solution.upper_bound.is_some() {
        return Ok(solution);
    }
    let certificate = UpperBound::default().certify_watched(model, engine, watch)?;
    Ok(solution.certified(&certificate))
}
