//! The solvers of models.

use std::time::Duration;

use partition_dpp::{
    Dpp, Engine, KDpp, Law, PartitionDpp, Watch,
    engine::Task,
    map::{
        BranchAndBound, Greedy, LocalSearch, Restarts, Softmax, Solver, SymmetricGreedy, Termination,
        TopScores, UpperBound,
    },
};
use pyo3::{Borrowed, exceptions::PyKeyboardInterrupt, prelude::*};

use crate::{
    engines::EngineChoice,
    errors::{OrRaise, refused},
    interruptible::interruptible,
    models::Model,
    numbers, rows,
    solution::Solution,
};

/// A solver by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SolverChoice {
    Greedy,
    LocalSearch,
    Exact,
    SymmetricGreedy,
    Softmax,
    Coverage,
}

impl<'py> FromPyObject<'_, 'py> for SolverChoice {
    type Error = PyErr;

    fn extract(name: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        Ok(match &*numbers::word(&name) {
            "greedy" => Self::Greedy,
            "local-search" => Self::LocalSearch,
            "exact" => Self::Exact,
            "symmetric-greedy" => Self::SymmetricGreedy,
            "softmax" => Self::Softmax,
            "coverage" => Self::Coverage,
            other => {
                let known = "\"greedy\", \"local-search\", \"exact\", \"symmetric-greedy\", \"softmax\" and \"coverage\"";
                return Err(refused(format!("the solver \"{other}\" is none of {known}")));
            }
        })
    }
}

impl SolverChoice {
    fn task(self) -> Task {
        match self {
            Self::Greedy => Task::Greedy,
            _ => Task::LocalSearch(1),
        }
    }

    /// The solvers that a time limit ends; greedy sets are always completed.
    fn limited(self, limit: Option<Duration>) -> Option<Duration> {
        limit.filter(|_| !matches!(self, Self::Greedy | Self::SymmetricGreedy))
    }

    /// The solver, for models of any kind.
    fn of<M>(self, limit: Option<Duration>) -> Option<Box<dyn Solver<M> + Send + Sync>>
    where
        Greedy: Solver<M>,
        LocalSearch: Solver<M>,
        BranchAndBound: Solver<M>,
    {
        Some(match self {
            Self::Greedy => Box::new(Greedy::default()),
            Self::LocalSearch => Box::new(local_search(limit)),
            Self::Exact => Box::new(BranchAndBound::default()),
            Self::SymmetricGreedy | Self::Softmax | Self::Coverage => return None,
        })
    }
}

/// Local search with restarts until the limit; without one a single climb.
pub(crate) fn local_search(limit: Option<Duration>) -> LocalSearch {
    let search = LocalSearch::default();
    limit.map_or(search, |_| search.with_restarts(Restarts::UntilTimeLimit))
}

/// A watch that this limit ends, too.
pub(crate) fn within(watch: &Watch, limit: Option<Duration>) -> Watch {
    limit.map_or_else(|| watch.clone(), |limit| watch.clone().within(limit))
}

/// A limit in seconds.
pub(crate) fn limit(seconds: Option<f64>) -> PyResult<Option<Duration>> {
    let wrong = |seconds| refused(format!("a time limit of {seconds} seconds: it must be a positive number"));
    let of = |seconds: f64| match Duration::try_from_secs_f64(seconds) {
        Ok(limit) if !limit.is_zero() => Ok(limit),
        _ => Err(wrong(seconds)),
    };
    seconds.map(of).transpose()
}

/// A solution, unless a signal cut the search short.
pub(crate) fn whole(found: partition_dpp::map::Solution) -> PyResult<Solution> {
    if found.termination == Termination::Interrupted {
        return Err(PyKeyboardInterrupt::new_err(()));
    }
    Ok(Solution(found))
}

#[pymethods]
impl Model {
    /// Searches for the most probable set.
    #[pyo3(signature = (solver = SolverChoice::LocalSearch, *, time_limit = None, certify = false,
        engine = EngineChoice::Auto, progress = None))]
    #[pyo3(
        text_signature = "($self, solver='local-search', *, time_limit=None, certify=False, engine='auto', \
        progress=None)"
    )]
    fn solve(
        &self,
        py: Python<'_>,
        solver: SolverChoice,
        #[pyo3(from_py_with = numbers::time_limit)] time_limit: Option<f64>,
        #[pyo3(from_py_with = numbers::certify)] certify: bool,
        engine: EngineChoice,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Solution> {
        let limit = limit(time_limit)?;
        let engine = self.engine(engine, solver.task())?;
        let by_size = |name| refused(format!("the solver \"{name}\" finds sets of any size: it takes a Dpp"));
        let needed = || match solver {
            SolverChoice::SymmetricGreedy => by_size("symmetric-greedy"),
            _ => by_size("softmax"),
        };
        if solver == SolverChoice::Coverage {
            return Err(refused("the solver \"coverage\" takes a KernelModel"));
        }
        let limits = [solver.limited(limit), limit];
        let found = match &self.law {
            Law::Quota(dpp) => {
                let solver = solver.of::<PartitionDpp>(limit).ok_or_else(needed)?;
                solve(py, dpp, &*solver, &engine, limits, certify, progress)?
            }
            Law::Size(dpp) => {
                let solver = solver.of::<KDpp>(limit).ok_or_else(needed)?;
                solve(py, dpp, &*solver, &engine, limits, certify, progress)?
            }
            Law::AnySize(dpp) => {
                let solver: Box<dyn Solver<Dpp> + Send + Sync> = match (solver.of(limit), solver) {
                    (Some(solver), _) => solver,
                    (None, SolverChoice::Softmax) => Box::new(Softmax::default()),
                    (None, _) => Box::new(SymmetricGreedy::default()),
                };
                solve(py, dpp, &*solver, &engine, limits, certify, progress)?
            }
            _ => {
                return Err(refused("solvers take a ridge with a KernelModel, or in Features that have it"));
            }
        };
        whole(found)
    }

    /// The items with the largest scores that the law allows; similarity is ignored.
    fn top_scores(&self, py: Python<'_>, scores: &Bound<'_, PyAny>) -> PyResult<Solution> {
        let scores = rows::numbers(scores, "scores")?;
        let top = TopScores::new(scores);
        let found = interruptible(py, None, |_| match &self.law {
            Law::Quota(dpp) => Some(top.solve(dpp, &Engine::cpu())),
            Law::Size(dpp) => Some(top.solve(dpp, &Engine::cpu())),
            Law::AnySize(dpp) => Some(top.solve(dpp, &Engine::cpu())),
            _ => None,
        })?;
        whole(found.ok_or_else(|| refused("top scores take no ridge"))?.or_raise()?)
    }
}

/// The least time that a certificate is given.
const CERTIFICATE: Duration = Duration::from_secs(5);

/// Within two limits: of the search, and the one asked for.
fn solve<M: partition_dpp::map::Objective + Sync>(
    py: Python<'_>,
    model: &M,
    solver: &(dyn Solver<M> + Send + Sync),
    engine: &Engine,
    limits: [Option<Duration>; 2],
    certify: bool,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<partition_dpp::map::Solution> {
    let found = interruptible(py, progress, |watch| {
        let found = solver.solve(model, &engine.watched(&within(&watch, limits[0])))?;
        if !certify || found.upper_bound.is_some() || found.missing > 0 {
            return Ok(found);
        }
        let bounding = within(&watch, Some(limits[1].unwrap_or_default().max(CERTIFICATE)));
        let certificate = UpperBound::default().certify(model, &engine.watched(&bounding))?;
        Ok(found.certified(&certificate))
    })?;
    found.or_raise()
}
