//! The greedy algorithm, one pass over all rows per pick.

use super::{
    Candidates, Objective, Place, Solution, Solver, Watch,
    pivots::{Gains, Picked, Pivots},
    plain_gains::PlainGains,
    repair,
    watch::Clock,
};
use crate::{
    Result,
    engine::{Engine, Rows},
};

/// Pick after pick the item that multiplies the determinant most, of parts that are not full.
///
/// ```text
/// d_i = ‖a_i − π_S(a_i)‖²,   i* = argmax d_i,   q = unit residual of a_i*,   d_i ← d_i − (a_i·q)²
/// ```
///
/// This is Cholesky decomposition of K with pivoting; neither K nor its factor is ever formed, only the gains
/// and the directions q. A [`Dpp`](crate::Dpp) stops where no gain exceeds 1, a [`PartitionDpp`](crate::PartitionDpp) under ranges without a
/// total where besides no part lacks items; room is kept for those that it lacks. Of equal gains the lowest item is
/// picked. Where a pick has taken the rank that a part needs, items are rearranged once to meet the quota.
///
/// # Cost
/// 2mn operations and one pass over A a pick; 8 bytes per item.
///
/// # Numerics
/// f64. Where subtraction has eaten eight digits of the largest gain, all gains are computed anew from the
/// rows and the directions (2mn² operations, at most a few times).
///
/// # Examples
/// ```
/// # fn main() -> Result<(), partition_dpp::Error> {
/// use partition_dpp::{Features, KDpp, engine, map::{Greedy, Solver}};
/// let features = Features::from_rows(4, 2, vec![2.0, 0.0, 1.9, 0.1, 0.0, 1.0, 1.0, 1.0])?;
/// let solution = Greedy::default().solve(&KDpp::new(&features, 2)?, &engine::Cpu)?;
/// assert_eq!(solution.subset.as_slice(), [0, 2]);
/// assert!((solution.log_det - 4.0_f64.ln()).abs() < 1e-12);
/// # Ok(()) }
/// ```
///
/// # Source
/// Çivril and Magdon-Ismail, *On selecting a maximum volume sub-matrix* (2009), for the guarantee; Chen, Zhang
/// and Zhou, *Fast greedy MAP inference for determinantal point processes* (2018), on a dense kernel.
#[derive(Clone, Copy, Debug, Default)]
pub struct Greedy {}

impl<M: Objective> Solver<M> for Greedy {
    /// The greedy set of a model.
    ///
    /// When stopped, quotas are met at once with the items whose gains were largest when last known, as far as these
    /// are independent.
    ///
    /// # Errors
    /// Those of the engine.
    fn solve_watched(&self, model: &M, engine: &dyn Engine, watch: &Watch<'_>) -> Result<Solution> {
        let candidates = model.candidates();
        let rows = candidates.rows();
        let gains = PlainGains::new(engine, &rows);
        solve(&candidates, engine, &rows, gains, &watch.start(None))
    }
}

/// Greedy picks from these gains, and repair where they exhaust a part's rank.
pub(super) fn solve(
    candidates: &Candidates<'_>,
    engine: &dyn Engine,
    rows: &Rows<'_>,
    gains: impl Gains,
    clock: &Clock<'_>,
) -> Result<Solution> {
    let included = candidates.ground.log_det_included().value;
    let ended = |picked: &Picked| {
        let log_det = included + picked.log_gains.iter().sum::<f64>();
        clock.report(log_det, None, picked.places.len() as u64);
        clock.ended()
    };
    let mut picked = Pivots::new(candidates, engine, rows, gains, &[], &[])?.run(&ended)?;
    let repairs = repair::complete(candidates, engine, rows, &mut picked, clock)?;
    let mut solution = Solution::new(candidates, &picked.places, picked.termination, engine);
    solution.stats.gains = picked.log_gains;
    solution.stats.repairs = repairs;
    Ok(solution)
}

/// The greedy set, repaired where that is possible.
pub(super) fn places(
    candidates: &Candidates<'_>,
    engine: &dyn Engine,
    rows: &Rows<'_>,
    gains: impl Gains,
    clock: &Clock<'_>,
) -> Result<Vec<Place>> {
    let mut picked = Pivots::new(candidates, engine, rows, gains, &[], &[])?.run(&|_| clock.ended())?;
    repair::complete(candidates, engine, rows, &mut picked, clock)?;
    Ok(picked.places)
}
