//! Exact solving: branch and bound.

mod branch;
mod improve;
mod incumbent;
mod problem;
mod root;
mod saved;
mod search;
mod state;
#[cfg(test)]
mod tests;

pub(super) use improve::improve;
pub(super) use incumbent::Incumbent;
pub(super) use problem::{Judge, Problem};
pub use saved::Search;
pub(super) use search::{OpenNodes, search};
pub(super) use state::{Left, Node, State};

use super::{LocalSearch, Objective, Solution, Solver};
use crate::{Error, Result, engine::Engine};

/// The default tolerance in ln det.
///
/// It exceeds the rounding of most bounds, so sets as good as the best one count as ties.
const TOLERANCE: f64 = 1e-9;

/// Finds the best set, with a proof: branch and bound on concave relaxations.
///
/// ```text
/// max ln det(K_S)  over the S of the model,  with  upper_bound − log_det ≤ tolerance
/// ```
///
/// A node of the tree includes some items, off whose rows the others are projected (Schur), and excludes some. It is
/// fathomed if its bound is not above the best set so far. Otherwise an item is forced in or out if the opposite
/// choice would lower the bound that far, and the node branches on the item whose decision should lower the bound
/// most.
///
/// The node with the largest bound comes first, so the gap shrinks steadily. Once open nodes take 1 GiB, the search
/// goes deep instead. The relaxation is the one of [`UpperBound`](crate::map::UpperBound) that is best at the root.
///
/// With more than 400 items, those that the bound of the whole ground set rules out are left out first.
///
/// # Cost
/// Exponential in the worst case. The 63 stations of the benchmark C63 take about a second, and at most a few hundred
/// nodes, for each of the sizes 2 … 62. A thousand items with a few dozen features may take any amount of time once k
/// exceeds ten: set a limit.
///
/// Memory: 8m'n bytes for the m' items that the bound of the whole leaves, the same for every node in progress (one
/// per thread), and up to 32m' for every open node. Open nodes take at most 1 GiB plus one path of nodes.
///
/// # Numerics
/// f64. Every bound includes a margin for rounding (see [`UpperBound`](crate::map::UpperBound)): about 10⁻¹³ for rows
/// far from each other, 10⁻¹⁰ for the factor of a kernel. If rows agree to many digits, the margin may exceed the
/// tolerance, and the run ends with [`Termination::Rounding`](crate::map::Termination::Rounding).
///
/// The set does not depend on the number of threads, unless a time limit or a stop cuts the run short. Ties between
/// sets found go to the first in the order of items.
///
/// # Examples
/// ```
/// # fn main() -> Result<(), partition_dpp::Error> {
/// use partition_dpp::{Engine, Features, KDpp, map::{BranchAndBound, Solver, Termination}};
/// let features = Features::from_rows(4, 2, vec![2.0, 0.0, 1.9, 0.1, 0.0, 1.0, 1.0, 1.2])?;
/// let solution = BranchAndBound::default().solve(&KDpp::new(&features, 2)?, &Engine::cpu())?;
/// assert_eq!(solution.subset.as_slice(), [0, 3]);
/// assert_eq!(solution.termination, Termination::Optimal);
/// assert!(solution.gap().unwrap() <= 1e-9);
/// # Ok(()) }
/// ```
///
/// # Source
/// Ko, Lee and Queyranne, *An exact algorithm for maximum entropy sampling* (1995); Anstreicher, *Efficient
/// solution of maximum-entropy sampling problems* (2020), for fixing and the choice of relaxations.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(default, deny_unknown_fields)
)]
pub struct BranchAndBound {
    #[cfg_attr(feature = "serde", serde(deserialize_with = "checked_tolerance"))]
    tolerance: Option<f64>,
}

/// Reads a tolerance with the check of [`BranchAndBound::with_tolerance`].
#[cfg(feature = "serde")]
fn checked_tolerance<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
    let tolerance: Option<f64> = serde::Deserialize::deserialize(deserializer)?;
    tolerance
        .map_or(Ok(()), |tolerance| BranchAndBound::default().with_tolerance(tolerance).map(drop))
        .map_err(serde::de::Error::custom)?;
    Ok(tolerance)
}

impl BranchAndBound {
    /// Sets the tolerance: the search ends when it has proven that no set is better by more than this in ln det.
    ///
    /// The default is 1e-9.
    ///
    /// Without an explicit tolerance, a run also counts as optimal if rounding leaves a gap of at most 1e-9 per item
    /// of the set. Larger tolerances save little: benchmarks take as many nodes with 1e-6.
    ///
    /// # Errors
    /// [`Error::NotPositive`].
    pub fn with_tolerance(self, tolerance: f64) -> Result<Self> {
        if tolerance.is_finite() && tolerance > 0.0 {
            Ok(Self { tolerance: Some(tolerance) })
        } else {
            Err(Error::NotPositive { what: "the tolerance", value: tolerance })
        }
    }
}

impl BranchAndBound {
    /// Finds the best set of a model, from the current state of a search.
    ///
    /// If the watch of the engine ends the run, the search can be continued later. A finished search only repeats its
    /// answer.
    ///
    /// # Errors
    /// Errors of the engine; [`Error::Eigen`]; [`Error::Stream`] if the search is for another model.
    pub fn solve_from<M: Objective>(
        &self,
        model: &M,
        engine: &Engine,
        search: &mut Search,
    ) -> Result<Solution> {
        let (engine, watch) = engine.apart();
        if search.is_new() {
            let quiet = engine.watched(&watch.without_reports());
            let start = LocalSearch::default().solve(model, &quiet)?;
            // A set cut short by the time limit is no start for a search that continues.
            if start.missing == 0 && start.log_det.is_finite() {
                search.keep(&start.subset);
            }
        }
        let clock = watch.start();
        let candidates = model.candidates();
        let above = candidates.ground.above()?;
        let bounded =
            above.as_ref().map_or_else(|| candidates.clone(), |above| model.candidates_below(above));
        let size = candidates.ground.included().len() + candidates.counts.most;
        let tolerances = self.tolerances(size);
        root::Run::new(&candidates, &bounded, engine, tolerances, &clock).solve(search)
    }

    /// The tolerances of the search and of its answer, which includes rounding, for sets of at most `most` items.
    pub(super) fn tolerances(self, most: usize) -> [f64; 2] {
        self.tolerance.map_or([TOLERANCE, TOLERANCE * most.max(1) as f64], |tolerance| [tolerance; 2])
    }
}

impl<M: Objective> Solver<M> for BranchAndBound {
    /// Finds the best set of a model.
    ///
    /// If the watch of the engine ends the run, returns the best set so far, with a bound.
    ///
    /// # Errors
    /// Errors of the engine; [`Error::Eigen`].
    fn solve(&self, model: &M, engine: &Engine) -> Result<Solution> {
        self.solve_from(model, engine, &mut Search::default())
    }
}
