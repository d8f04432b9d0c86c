//! The greedy algorithm.

use super::{
    Candidates, Objective, Place, Solution, Solver,
    greedy_loop::Picked,
    lazy_gains::LazyGains,
    pivots::{Gains, Pivots},
    plain_gains::PlainGains,
    repair,
    watch::Clock,
};
use crate::{
    Result,
    engine::{Engine, Rows, in_double},
};

/// Repeatedly picks the item that multiplies the determinant most, from the parts that are not full.
///
/// ```text
/// d_i = ‖a_i − π_S(a_i)‖²,   i* = argmax d_i,   q = unit residual of a_i*,   d_i ← d_i − (a_i·q)²
/// ```
///
/// This is the pivoted Cholesky decomposition of K. Only the gains d and the directions q are stored, neither K nor
/// its factor. A [`Dpp`](crate::Dpp) stops when no gain exceeds 1. A [`PartitionDpp`](crate::PartitionDpp) under
/// ranges without a total does the same, but first meets the least count of every part, for which it keeps room. Ties
/// go to the lowest item. If the picks exhaust the rank that a part needs, some are replaced once at the end to meet
/// the quota.
///
/// Gains never rise, so the CPU skips an item while its last known gain is below the current gain of another: most
/// rows are read for few picks. A GPU updates all gains at every pick, and picks without the host.
///
/// # Cost
/// On the CPU, mn operations for the first gains, then 2n for every item and direction that could matter: about a
/// third of them for Gaussian rows with m = 10⁶, n = 64, k = 50. 16 bytes per item. On a GPU, 2mn operations and one
/// pass over A per pick.
///
/// # Numerics
/// f64. When subtraction has cancelled eight digits of the largest gain, all gains are recomputed from the rows and
/// the directions (2mn² operations, at most a few times).
///
/// # Examples
/// ```
/// # fn main() -> Result<(), partition_dpp::Error> {
/// use partition_dpp::{Engine, Features, KDpp, map::{Greedy, Solver}};
/// let features = Features::from_rows(4, 2, vec![2.0, 0.0, 1.9, 0.1, 0.0, 1.0, 1.0, 1.0])?;
/// let solution = Greedy::default().solve(&KDpp::new(&features, 2)?, &Engine::cpu())?;
/// assert_eq!(solution.subset.as_slice(), [0, 2]);
/// assert!((solution.log_det - 4.0_f64.ln()).abs() < 1e-12);
/// # Ok(()) }
/// ```
///
/// # Source
/// Çivril and Magdon-Ismail, *On selecting a maximum volume sub-matrix* (2009), for the guarantee; Chen, Zhang
/// and Zhou, *Fast greedy MAP inference for determinantal point processes* (2018), on a dense kernel; Minoux (1978)
/// for laziness; Hemmi, Oki, Sakaue, Fujii and Iwata, *Lazy and fast greedy MAP inference for determinantal point
/// process* (2022).
#[derive(Clone, Copy, Debug, Default)]
pub struct Greedy {}

impl<M: Objective> Solver<M> for Greedy {
    /// Returns the greedy set of a model.
    ///
    /// A stopped run fills the quota with the items whose last known gains are largest, as long as they are
    /// independent.
    ///
    /// # Errors
    /// Errors of the engine.
    fn solve(&self, model: &M, engine: &Engine) -> Result<Solution> {
        let (engine, watch) = engine.apart();
        let candidates = model.candidates();
        let (rows, clock) = (candidates.rows(), watch.start());
        if engine.picks_ahead() {
            return solve(&candidates, engine, &rows, PlainGains::new(engine, &rows), &clock);
        }
        let engine = in_double(engine);
        solve(&candidates, engine, &rows, LazyGains::new(engine, &rows), &clock)
    }
}

/// Picks greedily using these gains, and repairs the picks if they exhaust a part's rank.
fn solve(
    candidates: &Candidates<'_>,
    engine: &Engine,
    rows: &Rows<'_>,
    gains: impl Gains,
    clock: &Clock,
) -> Result<Solution> {
    let included = candidates.ground.log_det_included().value;
    let ended = |picked: &Picked| {
        let log_det = included + picked.gains.iter().sum::<f64>();
        clock.report(log_det, None, picked.places.len() as u64);
        clock.ended()
    };
    let mut picked = Pivots::pick(candidates, engine, rows, gains, &[], &[], &ended)?;
    let repairs = repair::complete(candidates, engine, rows, &mut picked, clock)?;
    let mut solution = Solution::new(candidates, &picked.places, picked.termination, engine);
    solution.stats.gains = picked.gains;
    solution.stats.repairs = repairs;
    Ok(solution)
}

/// The greedy set, repaired if possible.
pub(super) fn places(
    candidates: &Candidates<'_>,
    engine: &Engine,
    rows: &Rows<'_>,
    gains: impl Gains,
    clock: &Clock,
) -> Result<Vec<Place>> {
    let mut picked = Pivots::pick(candidates, engine, rows, gains, &[], &[], &|_| clock.ended())?;
    repair::complete(candidates, engine, rows, &mut picked, clock)?;
    Ok(picked.places)
}

#[cfg(test)]
mod tests;
