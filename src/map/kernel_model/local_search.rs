//! Local search on the columns of a kernel.

use super::{
    super::{LocalSearch, Solution, Solver, Stats, Termination, watch::Clock},
    KernelModel,
    greedy::{Picked, pick},
    swaps::Swaps,
    visits::Update,
};
use crate::{Error, Result, Watch, engine::Engine};

/// Swaps after which all numbers are computed from the kernel again.
const SWAPS: u64 = 64;

impl Solver<KernelModel<'_>> for LocalSearch {
    /// The greedy set of a kernel function, improved by swaps of one item until none multiplies the determinant by more
    /// than 1 + ε/k. Sets that may have several sizes also gain or lose an item. There are no restarts and no swaps of two
    /// parts at once; [`Stats::swaps`](super::super::Stats::swaps) counts the swaps.
    ///
    /// # Cost
    /// That of greedy, mk entries of K and 2mk² operations at the start, m entries and 8mk operations per swap; 8mk bytes.
    ///
    /// # Errors
    /// [`Error::NotPositive`] for an ε that is not positive; [`Error::Kernel`] for entries that are not finite.
    fn solve_watched(&self, model: &KernelModel<'_>, _: &dyn Engine, watch: &Watch<'_>) -> Result<Solution> {
        let epsilon = self.epsilon;
        if !(epsilon > 0.0 && epsilon.is_finite()) {
            return Err(Error::NotPositive { what: "epsilon", value: epsilon });
        }
        let clock = watch.start(self.time_limit);
        let greedy = pick(model, Update::Needed, &clock)?;
        if greedy.termination == Termination::RankExhausted || model.counts.most == 0 {
            return Ok(greedy.solution(model));
        }
        climb(model, greedy, epsilon, &clock)
    }
}

fn climb(model: &KernelModel<'_>, greedy: Picked<'_>, epsilon: f64, clock: &Clock<'_>) -> Result<Solution> {
    let mut stats = Stats { gains: greedy.log_gains, ..Stats::default() };
    let mut places = greedy.places;
    let improves = |ratio: f64| ratio - 1.0 > epsilon / model.counts.most.max(1) as f64;
    // A set counts as better only if its determinant computed from the kernel is.
    let mut best = f64::NEG_INFINITY;
    let mut kept: Option<Swaps<'_, '_>> = None;
    loop {
        let fresh = Swaps::new(model, &places)?;
        let Some(mut set) = fresh.filter(|set| set.factor.log_det() > best) else {
            // Rounding had called a worse set better.
            let Some(set) = kept else { unreachable!("greedy picks are independent") };
            return Ok(model.solution(&set.places, &set.factor, Termination::LocallyOptimal, stats));
        };
        best = set.factor.log_det();
        let factor_of = set.places.clone();
        let mut swaps = 0;
        let ended = loop {
            clock.report(best, None, stats.evaluations);
            if let Some(ended) = clock.ended() {
                break Some(ended);
            }
            stats.evaluations += 1;
            let Some(made) = set.best().filter(|made| improves(made.ratio)) else { break None };
            match (made.leaving, made.entering) {
                (Some(slot), Some(entering)) if swaps + 1 < SWAPS => {
                    set.swap(slot, entering)?;
                    stats.swaps += 1;
                    swaps += 1;
                }
                _ => {
                    set.places = set.after(made);
                    if made.leaving.is_some() && made.entering.is_some() {
                        stats.swaps += 1;
                    } else {
                        stats.resizes += 1;
                    }
                    swaps = SWAPS;
                    break None;
                }
            }
        };
        if swaps == 0 {
            let termination = ended.unwrap_or(Termination::LocallyOptimal);
            return Ok(model.solution(&set.places, &set.factor, termination, stats));
        }
        places = std::mem::replace(&mut set.places, factor_of);
        kept = Some(set);
    }
}
