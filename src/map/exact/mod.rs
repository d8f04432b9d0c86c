//! Exact solving: branch and bound.

mod branch;
mod improve;
mod incumbent;
mod root;
mod search;
mod state;
#[cfg(test)]
mod tests;

use std::time::Duration;

pub(super) use improve::improve;
pub(super) use state::{Left, State};

use super::{Objective, Solution, Solver, Watch};
use crate::{Error, Result, engine::Engine};

/// The best set of all, with a proof: branch and bound on concave relaxations.
///
/// ```text
/// max ln det(K_S)  over the S of the model,  with  upper_bound − log_det ≤ tolerance
/// ```
///
/// A node of the tree has some items in and some out. In: the other rows are projected off theirs (Schur). The
/// node ends when its bound is not above the best set so far; else what the bound settles is settled (an item
/// whose forced inclusion or exclusion would lower the bound that far), and the item of which the relaxation is
/// least sure is tried in and out. The node with the largest bound comes first, so the gap shrinks all the time.
/// The relaxation is whichever of those of [`UpperBound`](crate::map::UpperBound) is best at the root.
///
/// Of ground sets of more than 400 items the bound of the whole is used to leave out what cannot matter.
///
/// # Cost
/// Exponential in the worst case. The 63 stations of the benchmark C63 take a second or so, and at most some
/// hundred nodes, for each of the sizes 2 … 62. A thousand items in the span of a few dozen features may take
/// any time once k is more than ten: set a limit. 8m'n bytes for the m' items that the bound of the whole leaves, as
/// much again for every node that is looked at (one per thread), and up to 24m' for every open node.
///
/// # Numerics
/// f64. Every bound has a margin for what rounding may have taken from it (see [`UpperBound`](crate::map::UpperBound));
/// where rows agree to more than ten digits that margin, and with it the gap of an optimal set, may exceed the tolerance.
/// The set does not depend on the number of threads, unless a time limit or a stop cuts the run. Of sets with
/// equal determinants among those met the first in the order of items is returned.
///
/// # Examples
/// ```
/// # fn main() -> Result<(), partition_dpp::Error> {
/// use partition_dpp::{Features, KDpp, engine, map::{BranchAndBound, Termination, Solver}};
/// let features = Features::from_rows(4, 2, vec![2.0, 0.0, 1.9, 0.1, 0.0, 1.0, 1.0, 1.2])?;
/// let solution = BranchAndBound::default().solve(&KDpp::new(&features, 2)?, &engine::Cpu)?;
/// assert_eq!(solution.subset.as_slice(), [0, 3]);
/// assert_eq!(solution.termination, Termination::Optimal);
/// assert!(solution.gap().unwrap() <= 1e-6);
/// # Ok(()) }
/// ```
///
/// # Source
/// Ko, Lee and Queyranne, *An exact algorithm for maximum entropy sampling* (1995); Anstreicher, *Efficient
/// solution of maximum-entropy sampling problems* (2020), for fixing and the choice of relaxations.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BranchAndBound {
    tolerance: f64,
    time_limit: Option<Duration>,
}

impl Default for BranchAndBound {
    fn default() -> Self {
        Self { tolerance: 1e-6, time_limit: None }
    }
}

impl BranchAndBound {
    /// Sets that are better by less than this, in ln det, need not be found (1e-6 unless told).
    ///
    /// # Errors
    /// [`Error::NotPositive`].
    pub fn with_tolerance(self, tolerance: f64) -> Result<Self> {
        if tolerance.is_finite() && tolerance > 0.0 {
            Ok(Self { tolerance, ..self })
        } else {
            Err(Error::NotPositive { what: "the tolerance", value: tolerance })
        }
    }

    /// Ends the search after this time with the best set so far and a bound.
    #[must_use]
    pub fn with_time_limit(self, limit: Duration) -> Self {
        Self { time_limit: Some(limit), ..self }
    }
}

impl<M: Objective> Solver<M> for BranchAndBound {
    /// The best set of a model.
    ///
    /// # Errors
    /// Those of the engine; [`Error::Eigen`].
    fn solve_watched(&self, model: &M, engine: &dyn Engine, watch: &Watch<'_>) -> Result<Solution> {
        let clock = watch.start(self.time_limit);
        let candidates = model.candidates();
        let Some(above) = candidates.ground.above()? else {
            return root::Run::new(&candidates, &candidates, engine, self.tolerance, &clock).solve();
        };
        let bounded = model.candidates_below(&above);
        root::Run::new(&candidates, &bounded, engine, self.tolerance, &clock).solve()
    }
}
