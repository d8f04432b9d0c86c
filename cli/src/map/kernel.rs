//! Solvers on a kernel that is computed from pairs of items.

use std::time::{Duration, Instant};

use partition_dpp::{
    Engine,
    map::{Greedy, KernelModel, Solution, Solver, Termination},
};

use super::{
    arguments::{MapArguments, SolverChoice},
    search::{Search, TIME_LIMIT, union},
};
use crate::{
    compute::EngineChoice,
    failure::Failure,
    input::too_many_for,
    memory::{Limit, Use},
};

/// Bytes of a table of the greedy algorithm up to which it is in f64.
const SMALL: u64 = 256 << 20;

/// How the search uses the features.
pub(super) fn features_used(arguments: &MapArguments) -> Use {
    let MapArguments { input, law, solver, certify, .. } = arguments;
    let weighing = &input.weighing;
    let by_pairs = searches_pairs(*solver) && !certify;
    // A set of any size may have as many items as there are features.
    let sized = law.k.is_some() || law.quota.is_some();
    if *solver == SolverChoice::Coverage {
        Use::Covers
    } else if weighing.takes_pairs() && by_pairs && weighing.diversity != Some(0.0) {
        Use::Pairs
    } else if sized {
        Use::Rows
    } else {
        Use::Products
    }
}

fn searches_pairs(solver: SolverChoice) -> bool {
    matches!(solver, SolverChoice::Greedy | SolverChoice::LocalSearch)
}

/// Refuses what needs features with the ridge, of many items.
pub(super) fn check_solver(arguments: &MapArguments) -> Result<(), Failure> {
    if !searches_pairs(arguments.solver) {
        return Err(too_many_for(&format!("--solver {}", arguments.solver)));
    }
    if arguments.certify { Err(too_many_for("--certify")) } else { Ok(()) }
}

/// Refuses a GPU, which has no kernels of pairs.
pub(super) fn check_engine(arguments: &MapArguments) -> Result<(), Failure> {
    if features_used(arguments) == Use::Pairs && arguments.compute.engine == EngineChoice::Gpu {
        let sentence =
            "--engine gpu: --similarity rbf is computed on the CPU unless --landmarks makes features of it";
        return Err(Failure::Arguments(sentence.into()));
    }
    Ok(())
}

/// Refuses a table of items by chosen items that does not fit into memory.
pub(super) fn check_memory(arguments: &MapArguments, items: usize, most: usize) -> Result<(), Failure> {
    let searches = arguments.solver == SolverChoice::LocalSearch && arguments.time_limit.is_some();
    let bytes = if searches { wide(items, most) } else { least(items, most) };
    Limit::of(None).check(bytes, || {
        format!(
            "{items} items are compared with up to {most} chosen ones; --landmarks R compares them with R items"
        )
    })
}

/// Bytes of a table in f64.
fn wide(items: usize, most: usize) -> u64 {
    8_u64.saturating_mul(items as u64).saturating_mul(most as u64)
}

/// Bytes of the greedy algorithm's table, which is in f32 if it is large.
fn least(items: usize, most: usize) -> u64 {
    match wide(items, most) {
        small if small <= SMALL => small,
        large => large / 2,
    }
}

impl Search<'_> {
    /// The best set found of each model, as one; they share the time limit.
    pub(super) fn on_kernel(&self, models: &[KernelModel<'_>]) -> Result<Solution, Failure> {
        #[expect(clippy::cast_possible_truncation, reason = "there are fewer parts than items")]
        let share = |limit: Duration| limit / models.len().max(1) as u32;
        let given = self.given.map(share);
        union(models.iter().map(|model| match (self.arguments.solver, given) {
            (SolverChoice::Greedy, _) => self.greedy(model),
            (_, Some(limit)) => self.climb(model, Some(limit).filter(|limit| !limit.is_zero())),
            (_, None) => self.greedy_and_climb(model, share(TIME_LIMIT)),
        }))
    }

    fn greedy(&self, model: &KernelModel<'_>) -> Result<Solution, Failure> {
        Ok(Greedy::default().solve(model, &self.searching(&Engine::cpu(), None))?)
    }

    /// Local search, which the limit may end before the greedy set is complete.
    fn climb(&self, model: &KernelModel<'_>, limit: Option<Duration>) -> Result<Solution, Failure> {
        Ok(self.local_search().solve(model, &self.searching(&Engine::cpu(), limit))?)
    }

    /// The greedy set, however long it takes, and swaps in what it leaves of the time.
    fn greedy_and_climb(&self, model: &KernelModel<'_>, limit: Duration) -> Result<Solution, Failure> {
        let started = Instant::now();
        let mut greedy = self.greedy(model)?;
        if greedy.termination == Termination::Interrupted || greedy.missing > 0 {
            return Ok(greedy);
        }
        let left = limit.saturating_sub(started.elapsed());
        greedy.termination = Termination::TimeLimit;
        if left.is_zero() {
            return Ok(greedy);
        }
        let climbed = self.climb(model, Some(left))?;
        Ok(if climbed.log_det >= greedy.log_det { climbed } else { greedy })
    }
}
