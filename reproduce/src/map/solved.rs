//! The most diverse set from every solver, and bounds on the optimum.

use std::time::Duration;

use nalgebra::DMatrix;
use partition_dpp::{
    Engine, Features, KDpp, Watch,
    map::{
        BranchAndBound, Greedy, LocalSearch, Objective, Restarts, Solution, Solver, Termination, UpperBound,
    },
};

use crate::failure::Failure;

/// The solutions of one problem, as logarithms of determinants.
#[derive(Clone, Debug)]
pub(super) struct Solved {
    pub(super) size: usize,
    pub(super) greedy: f64,
    /// The result of one climb from the greedy set, which is the paper's method.
    pub(super) climbed: f64,
    pub(super) swaps: u64,
    /// The best of several climbs.
    pub(super) restarted: Solution,
    /// The optimum, if it was searched for and proven.
    pub(super) optimal: Option<f64>,
    /// An upper bound on the determinants of all sets.
    pub(super) upper_bound: f64,
}

/// The effort of the solvers.
#[derive(Clone, Debug)]
pub(super) struct Effort {
    pub(super) restarts: u64,
    pub(super) seed: u64,
    /// The time limit for the bounds.
    pub(super) limit: Duration,
    pub(super) exact: bool,
    /// Ends every solver. The caller then discards the part.
    pub(super) watch: Watch,
}

impl Solved {
    /// Returns the gap between the bound and the best set found.
    pub(super) fn gap(&self) -> f64 {
        (self.upper_bound - self.restarted.log_det).max(0.0)
    }
}

/// Runs all solvers on sets of a given size.
pub(super) fn solve_size(features: &Features, size: usize, effort: Effort) -> Result<Solved, Failure> {
    solve(&KDpp::new(features, size)?, size, effort)
}

/// Runs all solvers on a model.
pub(super) fn solve(model: &impl Objective, size: usize, effort: Effort) -> Result<Solved, Failure> {
    let Effort { restarts, seed, limit, exact, watch } = effort;
    let engine = Engine::cpu().watched(&watch);
    let greedy = Greedy::default().solve(model, &engine)?;
    let climbed = LocalSearch::default().solve(model, &engine)?;
    let again = LocalSearch::default().with_restarts(Restarts::Count(restarts)).with_seed(seed);
    let again = again.solve(model, &engine)?;
    let bounding = Engine::cpu().watched(&watch.clone().within(limit));
    let mut upper_bound = UpperBound::default().certify(model, &bounding)?.upper_bound;
    let mut optimal = None;
    if exact {
        let best = BranchAndBound::default().solve(model, &engine)?;
        if best.termination == Termination::Optimal {
            optimal = Some(best.log_det);
            upper_bound = best.upper_bound.unwrap_or(upper_bound).min(upper_bound);
        }
    }
    Ok(Solved {
        size,
        greedy: greedy.log_det,
        climbed: climbed.log_det,
        swaps: climbed.stats.swaps,
        restarted: again,
        optimal,
        upper_bound,
    })
}

/// The eigenvalues of K, for the paper's condition number.
#[derive(Clone, Debug)]
pub(super) struct Spectrum {
    /// All m eigenvalues, largest first.
    eigenvalues: Vec<f64>,
}

impl Spectrum {
    pub(super) fn of(features: &Features) -> Self {
        let (items, dims) = (features.items(), features.dims());
        let rows = DMatrix::from_row_iterator(items, dims, (0..items).flat_map(|item| features.row(item)));
        let kernel = &rows * rows.transpose();
        let mut eigenvalues: Vec<f64> = kernel.symmetric_eigenvalues().iter().map(|x| x.max(0.0)).collect();
        eigenvalues.sort_by(|a, b| b.total_cmp(a));
        Self { eigenvalues }
    }

    /// Returns κ(A) = λ_1 / mean of λ_k … λ_m.
    pub(super) fn condition(&self, size: usize) -> f64 {
        let rest = &self.eigenvalues[size - 1..];
        self.eigenvalues[0] * rest.len() as f64 / rest.iter().sum::<f64>()
    }

    /// Returns the bound of theorem 4.1: ln of the largest factor between the optimum and local search,
    /// min(2 ln k!, k ln κ(A)).
    pub(super) fn guarantee(&self, size: usize) -> f64 {
        let log_factorial: f64 = (1..=size).map(|i| (i as f64).ln()).sum();
        (2.0 * log_factorial).min(size as f64 * self.condition(size).ln())
    }
}

/// Returns the mean and the standard deviation.
pub(super) fn mean_and_deviation(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let variance = values.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / (count - 1.0).max(1.0);
    (mean, variance.sqrt())
}
