//! Local search on the columns of a kernel.

use super::{
    super::{LocalSearch, Solution, Solver, Stats, Termination, watch::Clock},
    KernelModel,
    greedy::{Factored, pick},
    swaps::Swaps,
};
use crate::{Error, Result, engine::Engine};

/// The number of swaps after which all numbers are computed from the kernel again.
const SWAPS: u64 = 64;

impl Solver<KernelModel<'_>> for LocalSearch {
    /// Returns the greedy set of a kernel function, improved by swaps of one item until none multiplies the
    /// determinant by more than 1 + ε/k.
    ///
    /// Sets that may have several sizes also gain or lose an item. There are no restarts and no exchanges of several
    /// parts; [`Stats::swaps`](super::super::Stats::swaps) counts the swaps.
    ///
    /// # Cost
    /// The cost of greedy, plus mk entries of K and 2mk² operations at the start, m entries and 8mk operations per
    /// swap; 8mk bytes.
    ///
    /// # Errors
    /// [`Error::NotPositive`] if ε is not positive; [`Error::Kernel`] if entries are not finite.
    fn solve(&self, model: &KernelModel<'_>, engine: &Engine) -> Result<Solution> {
        let epsilon = self.epsilon;
        if !(epsilon > 0.0 && epsilon.is_finite()) {
            return Err(Error::NotPositive { what: "epsilon", value: epsilon });
        }
        let clock = engine.apart().1.start();
        let greedy = pick(model, &clock)?;
        if greedy.picked.termination == Termination::RankExhausted || model.counts.most == 0 {
            return Ok(greedy.solution(model));
        }
        climb(model, greedy, epsilon, &clock)
    }
}

fn climb(model: &KernelModel<'_>, greedy: Factored<'_>, epsilon: f64, clock: &Clock) -> Result<Solution> {
    let mut stats = Stats { gains: greedy.picked.gains, ..Stats::default() };
    let improves = |ratio: f64| ratio - 1.0 > epsilon / model.counts.most.max(1) as f64;
    let (mut places, mut factor) = (greedy.picked.places, greedy.factor);
    let termination = loop {
        let mut set = match Swaps::new(model, &places, &factor, clock)? {
            Ok(set) => set,
            Err(ended) => break ended,
        };
        let mut moves = 0;
        let ended = loop {
            clock.report(model.log_det(&factor), None, stats.evaluations);
            if let Some(ended) = clock.ended() {
                break Some(ended);
            }
            stats.evaluations += 1;
            let Some(made) = set.best().filter(|made| improves(made.ratio)) else { break None };
            moves += 1;
            match (made.leaving, made.entering) {
                (Some(slot), Some(entering)) => {
                    stats.swaps += 1;
                    if moves < SWAPS {
                        set.swap(slot, entering)?;
                        continue;
                    }
                }
                _ => stats.resizes += 1,
            }
            set.places = set.after(made);
            break None;
        };
        if moves == 0 {
            break ended.unwrap_or(Termination::LocallyOptimal);
        }
        // The new set must have a larger determinant when computed from the kernel. Updated numbers can be wrong by
        // rounding.
        let better = model.factor_of(&set.places)?.filter(|new| model.log_det(new) > model.log_det(&factor));
        let Some(better) = better else { break Termination::LocallyOptimal };
        (places, factor) = (set.places, better);
        if let Some(ended) = ended {
            break ended;
        }
    };
    Ok(model.solution(&places, model.log_det(&factor), termination, stats))
}
