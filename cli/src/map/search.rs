//! The solvers, and bounds.

use std::time::Duration;

use partition_dpp::{
    Dpp, Watch,
    engine::Engine,
    map::{
        BranchAndBound, ItemOrder, LazyGreedy, LocalSearch, Objective, Restarts, Softmax, Solution, Solver,
        SymmetricGreedy, UpperBound,
    },
};

use super::arguments::{MapArguments, SolverChoice};
use crate::{failure::Failure, law::Model, progress::Progress};

/// The default time limit of local search.
const TIME_LIMIT: Duration = Duration::from_secs(1);
/// The least time limit of a certificate.
const CERTIFICATE_LIMIT: Duration = Duration::from_secs(5);

/// What all searches share.
pub(super) struct Search<'a> {
    pub(super) engine: &'a dyn Engine,
    pub(super) arguments: &'a MapArguments,
    pub(super) progress: &'a Progress,
    /// Stopped by Ctrl-C.
    pub(super) stop: Watch<'static>,
}

impl Search<'_> {
    /// The best set found, with a bound if one is asked for.
    pub(super) fn run(&self, model: &Model<'_>) -> Result<Solution, Failure> {
        match model {
            Model::PartitionDpp(dpp) => self.certified(dpp, self.solve(dpp)?),
            Model::KDpp(dpp) => self.certified(dpp, self.solve(dpp)?),
            Model::Dpp(dpp) => self.certified(dpp, self.solve_any_size(dpp)?),
            // The arguments cannot ask for them.
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

    /// Local search with restarts; with a time limit of zero, one climb.
    fn local_search(&self, limit: Duration) -> LocalSearch {
        let search = LocalSearch::default();
        let search = self.arguments.epsilon.map_or(search, |epsilon| search.with_epsilon(epsilon));
        if limit.is_zero() {
            return search;
        }
        search.with_restarts(Restarts::UntilTimeLimit).with_time_limit(limit)
    }

    /// Adds a bound if one is asked for, none is known yet, and the set is complete.
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
