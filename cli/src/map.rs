//! `pdpp map`.

use std::{
    io::Write,
    time::{Duration, Instant},
};

use partition_dpp::{
    BranchAndBound, Dpp, ItemOrder, LazyGreedy, LocalSearch, Objective, Restarts, Softmax, Solution,
    SymmetricGreedy, UpperBound, Watch, engine::Engine,
};

use crate::{
    arguments::{MapArguments, SolverChoice},
    compute,
    failure::Failure,
    input::Input,
    interrupt,
    law::{Law, Model},
    memory::{Limit, Use},
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
    /// Time of everything but reading.
    pub(crate) time: Duration,
}

/// How long a local search goes on unless told.
const TIME_LIMIT: Duration = Duration::from_secs(1);
/// How long a certificate may take at least.
const CERTIFICATE_LIMIT: Duration = Duration::from_secs(5);

/// Runs the command.
pub(crate) fn run(arguments: &MapArguments, out: &mut dyn Write) -> Result<(), Failure> {
    compute::prepare(&arguments.compute)?;
    check_solver(arguments)?;
    if let Some(file) = &arguments.plot {
        file.check()?;
    }
    let progress = Progress::new(arguments.output.quiet);
    progress.stage("reading");
    // Sets of any size may have as many items as there are features.
    let sized = arguments.law.k.is_some() || arguments.law.quota.is_some();
    let made = if sized { Use::Rows } else { Use::Products };
    let input = Input::read(&arguments.input, Limit::of(None), made)?;
    let law = Law::of(&arguments.law, &input)?;
    let model = law.model(&input, &arguments.conditions)?;
    let engine = compute::open_engine(&arguments.compute, &input.features)?;
    progress.stage("searching");
    let started = Instant::now();
    let stop = Watch::default().stopped_by(interrupt::flag());
    let run = Run { engine: engine.as_ref(), arguments, progress: &progress, stop };
    let solution = run.search(&model)?;
    let found = Found { solution, solver: arguments.solver, time: started.elapsed() };
    progress.finish();
    check_complete(&found.solution)?;
    // The plot comes before any output, so that a plot that fails leaves standard output empty.
    if let Some(file) = &arguments.plot {
        plot::draw(file, &input, &law, &found.solution.subset, plot::Shown::BestFound)?;
    }
    let question = Question { input: &input, law: &law, conditions: &arguments.conditions };
    output::map::write(&question, &found, arguments, out)?;
    if interrupt::raised() { Err(Failure::Interrupted) } else { Ok(()) }
}

/// A set that lacks items is no answer, unless Ctrl-C has asked for what there is.
fn check_complete(solution: &Solution) -> Result<(), Failure> {
    let (missing, found, termination) = (solution.missing, solution.subset.len(), solution.termination);
    if missing == 0 || interrupt::raised() {
        return Ok(());
    }
    Err(Failure::Incomplete { termination, found, asked: found + missing })
}

/// Options that a solver has no use for are refused.
fn check_solver(arguments: &MapArguments) -> Result<(), Failure> {
    let MapArguments { solver, law, epsilon, certify, time_limit, .. } = arguments;
    let any_size = matches!(solver, SolverChoice::SymmetricGreedy | SolverChoice::Softmax);
    if any_size && (law.k.is_some() || law.quota.is_some()) {
        let sentence = format!("--solver {solver} finds sets of any size: it takes neither --quota nor --k");
        return Err(Failure::Arguments(sentence));
    }
    if epsilon.is_some() && *solver != SolverChoice::LocalSearch {
        let sentence = format!("--epsilon is for --solver local-search; --solver {solver} has no use for it");
        return Err(Failure::Arguments(sentence));
    }
    let unlimited = matches!(solver, SolverChoice::Greedy | SolverChoice::SymmetricGreedy);
    if time_limit.is_some() && unlimited && !certify {
        let sentence = format!("--time-limit: --solver {solver} has no use for it without --certify");
        return Err(Failure::Arguments(sentence));
    }
    Ok(())
}

/// What every search shares.
struct Run<'a> {
    engine: &'a dyn Engine,
    arguments: &'a MapArguments,
    progress: &'a Progress,
    /// By Ctrl-C.
    stop: Watch<'static>,
}

impl Run<'_> {
    fn search(&self, model: &Model<'_>) -> Result<Solution, Failure> {
        match model {
            Model::PartitionDpp(dpp) => self.certified(dpp, self.solve(dpp)?),
            Model::RangeDpp(dpp) => self.certified(dpp, self.solve(dpp)?),
            Model::KDpp(dpp) => self.certified(dpp, self.solve(dpp)?),
            Model::Dpp(dpp) => self.certified(dpp, self.solve_any_size(dpp)?),
            // The arguments leave no way to ask for them.
            Model::IndependentKDpps(_) => {
                Err(Failure::Arguments("independent k-DPPs are for sampling only".into()))
            }
        }
    }

    fn solve(&self, model: &impl Objective) -> Result<Solution, Failure> {
        let (engine, limit) = (self.engine, self.arguments.time_limit);
        let report = |step| self.progress.searched(&step);
        let watch = self.stop.reporting_to(&report);
        Ok(match self.arguments.solver {
            SolverChoice::Exact => {
                let solver = BranchAndBound::default();
                let solver = limit.map_or(solver, |limit| solver.with_time_limit(limit));
                solver.solve_watched(model, engine, &watch)?
            }
            SolverChoice::Greedy => LazyGreedy::default().solve_watched(model, engine, &watch)?,
            _ => self.local_search(limit.unwrap_or(TIME_LIMIT)).solve_watched(model, engine, &watch)?,
        })
    }

    fn solve_any_size(&self, dpp: &Dpp<'_>) -> Result<Solution, Failure> {
        let report = |step| self.progress.searched(&step);
        let watch = self.stop.reporting_to(&report);
        match self.arguments.solver {
            SolverChoice::SymmetricGreedy => {
                let solver = SymmetricGreedy::default().with_order(ItemOrder::GreedyBasisLast);
                Ok(solver.solve_watched(dpp, self.engine, &watch)?)
            }
            SolverChoice::Softmax => {
                let softmax = Softmax::default();
                let limit = self.arguments.time_limit;
                let softmax = limit.map_or(softmax, |limit| softmax.with_time_limit(limit));
                Ok(softmax.solve_watched(dpp, self.engine, &watch)?)
            }
            _ => self.solve(dpp),
        }
    }

    /// A time limit of zero means one climb, to its end.
    fn local_search(&self, limit: Duration) -> LocalSearch {
        let search = LocalSearch::default();
        let search = self.arguments.epsilon.map_or(search, |epsilon| search.with_epsilon(epsilon));
        if limit.is_zero() {
            return search;
        }
        search.with_restarts(Restarts::UntilTimeLimit).with_time_limit(limit)
    }

    /// Adds a bound, if one is wanted and none is known, and if the set is one that it bounds.
    fn certified(&self, model: &impl Objective, solution: Solution) -> Result<Solution, Failure> {
        if !self.arguments.certify || solution.upper_bound.is_some() || solution.missing > 0 {
            return Ok(solution);
        }
        let limit = self.arguments.time_limit.unwrap_or_default().max(CERTIFICATE_LIMIT);
        let report = |step| self.progress.bounded(&step, solution.log_det);
        let watch = self.stop.reporting_to(&report);
        let bound = UpperBound::default().with_time_limit(limit);
        let certificate = bound.certify_watched(model, self.engine, &watch)?;
        Ok(solution.certified(&certificate))
    }
}
