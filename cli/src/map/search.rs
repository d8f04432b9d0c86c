//! The solvers, and bounds.

use std::time::Duration;

use partition_dpp::{
    Dpp, Engine, IndependentKDpps, Law, Watch,
    map::{
        self, BranchAndBound, Greedy, ItemOrder, LocalSearch, Objective, Restarts, Softmax, Solution, Solver,
        SymmetricGreedy, Termination, TopScores, UpperBound,
    },
    watch,
};

use super::{
    arguments::{MapArguments, SolverChoice},
    history::History,
};
use crate::{failure::Failure, input::Input, interrupt, progress::Progress};

/// The default time limit of local search.
pub(super) const TIME_LIMIT: Duration = Duration::from_secs(1);
/// The least time limit of a certificate.
const CERTIFICATE_LIMIT: Duration = Duration::from_secs(5);

/// The most items among which a certificate is searched for.
const MOST_SEARCHED: usize = 5_000;

/// The common state of all searches.
#[derive(Clone)]
pub(super) struct Search<'a> {
    pub(super) engine: &'a Engine,
    pub(super) arguments: &'a MapArguments,
    pub(super) progress: &'a Progress,
    /// Stopped by Ctrl-C.
    pub(super) stop: Watch,
    /// The time limit of a search.
    limit: Option<Duration>,
    /// The time limit that is asked for.
    pub(super) given: Option<Duration>,
    /// The time limit of a certificate.
    pub(super) certificate: Duration,
    /// The number of rows.
    pub(super) items: usize,
    pub(super) history: History,
}

impl<'a> Search<'a> {
    pub(super) fn new(
        engine: &'a Engine,
        arguments: &'a MapArguments,
        progress: &'a Progress,
        items: usize,
    ) -> Self {
        let stop = Watch::default().stopped_by(interrupt::flag());
        let limit = arguments.time_limit;
        let certificate = limit.unwrap_or_default().max(CERTIFICATE_LIMIT);
        // Searches that improve a set have their own limit.
        let limit = if improves(arguments.solver) { limit.or(Some(TIME_LIMIT)) } else { limit };
        let given = arguments.time_limit;
        let history = History::default();
        Self { engine, arguments, progress, stop, limit, given, certificate, items, history }
    }

    /// For one of many problems: swaps end where none improves, unless there is a time limit.
    pub(super) fn of_many(self) -> Self {
        if !improves(self.arguments.solver) {
            return self;
        }
        let limit = self.given.or(Some(Duration::ZERO));
        Self { limit, given: limit, ..self }
    }

    /// The best set found; the top scores where these alone decide.
    pub(super) fn on_rows(&self, law: &Law, input: &Input) -> Result<Solution, Failure> {
        match input.scored.as_ref().filter(|scored| scored.decide_alone()) {
            Some(scored) => self.top_scores(law, &input.of_rows(&scored.scores)),
            None => self.run(law),
        }
    }

    /// The best set found, with a bound if one is asked for.
    fn run(&self, law: &Law) -> Result<Solution, Failure> {
        match law {
            Law::Quota(dpp) => self.certified(dpp, self.solve(dpp)?),
            Law::Size(dpp) => self.certified(dpp, self.solve(dpp)?),
            Law::AnySize(dpp) => self.certified(dpp, self.solve_any_size(dpp)?),
            Law::Independent(dpps) => self.part_by_part(dpps),
            _ => unreachable!("solvers take the kernel of pairs"),
        }
    }

    /// The top scores, for every solver.
    fn top_scores(&self, law: &Law, scores: &[f64]) -> Result<Solution, Failure> {
        let (top, engine) = (TopScores::new(scores), self.engine);
        Ok(match law {
            Law::Quota(dpp) => top.solve(dpp, engine)?,
            Law::Size(dpp) => top.solve(dpp, engine)?,
            Law::AnySize(dpp) => top.solve(dpp, engine)?,
            Law::Independent(dpps) => union(dpps.parts().iter().map(|part| Ok(top.solve(part, engine)?)))?,
            _ => unreachable!("a ridge takes no diversity of 0"),
        })
    }

    /// The best set of every part; they share the time limit.
    fn part_by_part(&self, dpps: &IndependentKDpps) -> Result<Solution, Failure> {
        let parts = dpps.parts();
        #[expect(clippy::cast_possible_truncation, reason = "there are fewer parts than items")]
        let share = |limit: Duration| limit / parts.len() as u32;
        let each =
            Search { limit: self.limit.map(share), certificate: share(self.certificate), ..self.clone() };
        union(parts.iter().map(|part| each.certified(part, each.solve(part)?)))
    }

    /// The engine under the watch of this search, whose progress is shown, for this long if there is a limit.
    pub(super) fn searching(&self, engine: &Engine, limit: Option<Duration>) -> Engine {
        let history = self.history.clone();
        let keeps = self.arguments.solver == SolverChoice::Exact;
        let show = move |progress: &Progress, step: &watch::Progress| {
            if keeps {
                history.add(step);
            }
            progress.searched(step);
        };
        engine.watched(&self.progress.shown(&self.watch(limit), show))
    }

    /// The CPU under the watch of this search, for a set that covers items.
    pub(super) fn covering(&self) -> Engine {
        let limit = self.limit.filter(|limit| !limit.is_zero());
        Engine::cpu().watched(&self.progress.shown(&self.watch(limit), Progress::covered))
    }

    pub(super) fn watch(&self, limit: Option<Duration>) -> Watch {
        let stop = self.stop.clone();
        limit.map_or(stop.clone(), |limit| stop.within(limit))
    }

    fn solve(&self, model: &impl Objective) -> Result<Solution, Failure> {
        let engine = |limit| self.searching(self.engine, limit);
        Ok(match self.arguments.solver {
            SolverChoice::Exact => self.exact(model)?,
            SolverChoice::Greedy => Greedy::default().solve(model, &engine(None))?,
            _ => self.restarting().solve(model, &engine(self.limit()))?,
        })
    }

    /// The time limit of a search; none for a single climb.
    pub(super) fn limit(&self) -> Option<Duration> {
        self.limit.filter(|limit| self.arguments.solver == SolverChoice::Exact || !limit.is_zero())
    }

    /// Local search that restarts until its time limit, if it has one.
    pub(super) fn restarting(&self) -> LocalSearch {
        self.local_search().with_restarts(Restarts::UntilTimeLimit)
    }

    fn solve_any_size(&self, dpp: &Dpp) -> Result<Solution, Failure> {
        match self.arguments.solver {
            SolverChoice::SymmetricGreedy => {
                let solver = SymmetricGreedy::default().with_order(ItemOrder::GreedyBasisLast);
                Ok(solver.solve(dpp, &self.searching(self.engine, None))?)
            }
            SolverChoice::Softmax => {
                Ok(Softmax::default().solve(dpp, &self.searching(self.engine, self.limit))?)
            }
            _ => self.solve(dpp),
        }
    }

    pub(super) fn local_search(&self) -> LocalSearch {
        let search = LocalSearch::default();
        self.arguments.epsilon.map_or(search, |epsilon| search.with_epsilon(epsilon))
    }

    /// Adds a bound if one is asked for, none is known yet, and the set is complete.
    fn certified(&self, model: &impl Objective, solution: Solution) -> Result<Solution, Failure> {
        if !self.arguments.certify || solution.upper_bound.is_some() || solution.missing > 0 {
            return Ok(solution);
        }
        let log_det = solution.log_det;
        let watch = self.stop.clone().within(self.certificate);
        let watch = self.progress.shown(&watch, move |progress, step| progress.bounded(step, log_det));
        let engine = self.engine.watched(&watch);
        if self.given.is_some_and(|limit| !limit.is_zero()) && self.items <= MOST_SEARCHED {
            let mut tree = map::Search::from_set(&solution.subset);
            let proven = BranchAndBound::default().solve_from(model, &engine, &mut tree)?;
            let is_optimal = proven.termination == Termination::Optimal;
            if is_optimal || proven.log_det > log_det {
                return Ok(proven);
            }
            let mut solution = solution;
            solution.upper_bound = proven.upper_bound;
            return Ok(solution);
        }
        let certificate = UpperBound::default().certify(model, &engine)?;
        Ok(solution.certified(&certificate))
    }
}

/// Whether the solver improves a set for as long as it may.
fn improves(solver: SolverChoice) -> bool {
    matches!(solver, SolverChoice::LocalSearch | SolverChoice::Coverage)
}

/// The sets of all parts as one.
pub(super) fn union(solved: impl Iterator<Item = Result<Solution, Failure>>) -> Result<Solution, Failure> {
    let union = Solution::union(solved.collect::<Result<Vec<_>, _>>()?);
    union.ok_or_else(|| Failure::Arguments("there are no parts".into()))
}
