//! Best-improvement swaps from a given set to a local optimum.

use super::{
    SearchSpace,
    ahead::{Replayed, Stride, replay},
    chosen::Chosen,
    exchange,
    swap::MadeSwap,
};
use crate::{
    Result,
    engine::BestSwap,
    map::{Place, Stats, Termination, watch::Clock},
};

/// Swaps after which all numbers are recomputed from the data.
pub(super) const REFRESH: usize = 64;
/// Numbers are recomputed when the gains by the table and by the rows differ by this fraction.
pub(super) const DRIFT: f64 = 1e-8;

/// The end of a climb.
#[derive(Clone, Debug)]
pub(in crate::map) struct Climb {
    pub(in crate::map) places: Vec<Place>,
    /// ln det K of the set with the included items, from the data.
    pub(in crate::map) log_det: f64,
    /// [`LocallyOptimal`](Termination::LocallyOptimal), [`RankExhausted`](Termination::RankExhausted) for a start of
    /// dependent rows, or the clock's reason.
    pub(in crate::map) termination: Termination,
}

/// Climbs until no swap multiplies the determinant by more than 1 + ε/k; never ends below the start. Reports sets that
/// are better than `known`.
///
/// Numbers are updated swap by swap and recomputed from the data after [`REFRESH`] swaps, when they drift, and before
/// the climb concludes that no swap improves. A set counts as better only if its determinant computed from the data is.
/// If swaps with a predicted gain within the rounding error did not improve it, the climb returns to the best set and
/// recomputes after every swap.
pub(in crate::map) fn climb(
    space: &SearchSpace<'_>,
    start: Vec<Place>,
    known: f64,
    clock: &Clock,
    stats: &mut Stats,
) -> Result<Climb> {
    if let Some(termination) = clock.ended() {
        return Ok(Climb { log_det: space.candidates.log_det(&start), places: start, termination });
    }
    let Some(mut chosen) = Chosen::new(space, &start)? else {
        let termination = Termination::RankExhausted;
        return Ok(Climb { places: start, log_det: f64::NEG_INFINITY, termination });
    };
    let mut best = Climb { places: start, log_det: chosen.log_det, termination: Termination::LocallyOptimal };
    let (mut patience, mut stride) = (REFRESH, Stride::default());
    loop {
        let (reached, ended) = ascend(space, chosen, (patience, &mut stride), clock, stats)?;
        if let Some(termination) = ended {
            // Recomputing all numbers would take as long as many swaps.
            let log_det = reached.as_ref().map_or(f64::NEG_INFINITY, |set| space.candidates.log_det(set));
            return Ok(match reached {
                Some(places) if log_det > best.log_det => Climb { places, log_det, termination },
                _ => Climb { termination, ..best },
            });
        }
        let Some(reached) = reached else { return Ok(best) };
        let fresh = Chosen::new(space, &reached)?;
        // The residuals of rows that are dependent in all digits are rounding errors.
        let is_real = |fresh: &Chosen<'_>| space.candidates.log_det(&fresh.places()) > f64::NEG_INFINITY;
        let better = fresh.filter(|fresh| fresh.log_det > best.log_det && is_real(fresh));
        if let Some(fresh) = &better {
            best = Climb { places: fresh.places(), log_det: fresh.log_det, ..best };
            if best.log_det > known {
                clock.report(best.log_det, None, stats.evaluations);
            }
        }
        (chosen, patience) = match better {
            Some(fresh) => (fresh, REFRESH),
            None if patience == 1 => return Ok(best),
            None => match Chosen::new(space, &best.places)? {
                Some(again) => (again, 1),
                None => return Ok(best),
            },
        };
    }
}

/// Makes up to `patience` swaps from fresh numbers, as many at a time as the stride and the engine allow. Returns
/// the set reached, `None` without a swap, and the clock's reason if it ended the climb.
fn ascend(
    space: &SearchSpace<'_>,
    mut chosen: Chosen<'_>,
    (patience, stride): (usize, &mut Stride),
    clock: &Clock,
    stats: &mut Stats,
) -> Result<(Option<Vec<Place>>, Option<Termination>)> {
    let mut made: Option<MadeSwap> = None;
    let mut moves = 0;
    while moves < patience {
        let reached = |chosen: &Chosen<'_>| (moves > 0).then(|| chosen.places());
        if let Some(ended) = clock.ended() {
            return Ok((reached(&chosen), Some(ended)));
        }
        let most = stride.of(patience - moves);
        if let Some(ahead) = chosen.swaps_ahead(made.as_ref(), most)? {
            stride.follow(&ahead);
            match replay(&mut chosen, &ahead, moves, stats) {
                Replayed::On { swaps, last } => (moves, made) = (moves + swaps, last),
                Replayed::Reached(places) => return Ok((Some(places), None)),
                Replayed::NoneLeft => return conclude(space, &chosen, clock, stats),
            }
            continue;
        }
        let swaps = chosen.best_swaps(made.as_ref())?;
        stats.evaluations += chosen.neighbours();
        match best_step(space, &chosen, &swaps) {
            Some(Step::Swap { group, swap }) => {
                let weighed = chosen.weigh(group, swap);
                let drifted = (weighed.ratio - swap.ratio).abs() > DRIFT * swap.ratio;
                if moves > 0 && (drifted || !space.improves(weighed.ratio)) {
                    return Ok((reached(&chosen), None));
                }
                made = Some(chosen.make(weighed));
                stats.swaps += 1;
                moves += 1;
                stride.grow();
            }
            Some(Step::Anew(places)) => {
                let resized = places.len() != chosen.counts().iter().sum::<usize>();
                *(if resized { &mut stats.resizes } else { &mut stats.swaps }) += 1;
                return Ok((Some(places), clock.ended()));
            }
            None if moves > 0 => return Ok((reached(&chosen), None)),
            None => return conclude(space, &chosen, clock, stats),
        }
    }
    Ok((Some(chosen.places()), None))
}

/// Returns the set after the best exchange of two or three parts, for a set with fresh numbers that no swap improves.
fn conclude(
    space: &SearchSpace<'_>,
    chosen: &Chosen<'_>,
    clock: &Clock,
    stats: &mut Stats,
) -> Result<(Option<Vec<Place>>, Option<Termination>)> {
    let places = exchange::best_exchange(space, chosen, clock, stats)?;
    stats.exchanges += u64::from(places.is_some());
    Ok((places, clock.ended()))
}

/// A step of a climb.
enum Step {
    /// A swap inside a group.
    Swap { group: usize, swap: BestSwap },
    /// A change of the counts of groups, after which all numbers are recomputed.
    Anew(Vec<Place>),
}

fn best_step(space: &SearchSpace<'_>, chosen: &Chosen<'_>, swaps: &[Option<BestSwap>]) -> Option<Step> {
    let mut best: Option<(usize, BestSwap)> = None;
    for (group, swap) in swaps.iter().enumerate() {
        let Some(swap) = *swap else { continue };
        if space.improves(swap.ratio) && best.is_none_or(|(_, best)| swap.ratio > best.ratio) {
            best = Some((group, swap));
        }
    }
    let ratio = best.map_or(0.0, |(_, swap)| swap.ratio);
    if let Some(places) = removal(space, chosen, ratio) {
        return Some(Step::Anew(places));
    }
    let (group, swap) = best?;
    let leaving = chosen.offers[group][swap.slot].leaving;
    if leaving.is_some_and(|(from, _)| from == group) {
        return Some(Step::Swap { group, swap });
    }
    let mut places = chosen.places();
    if let Some((from, slot)) = leaving {
        let left = Place { group: from, position: chosen.slots[from][slot] };
        places.retain(|&place| place != left);
    }
    places.push(Place { group, position: swap.position });
    Some(Step::Anew(places))
}

/// The set without the item whose removal improves most, if it improves more than `ratio`.
fn removal(space: &SearchSpace<'_>, chosen: &Chosen<'_>, ratio: f64) -> Option<Vec<Place>> {
    let (allowed, counts) = (&space.candidates.counts, chosen.counts());
    let groups = (0..counts.len()).filter(|&group| allowed.allow_move(&counts, Some(group), None));
    let slots = groups.flat_map(|group| (0..counts[group]).map(move |slot| (group, slot)));
    let mut best: Option<(f64, Place)> = None;
    for (group, slot) in slots {
        let scale = space.rows.groups()[group].scale;
        let factor = chosen.weight(group, slot) * scale * scale;
        if best.is_none_or(|(known, _)| factor > known) {
            best = Some((factor, Place { group, position: chosen.slots[group][slot] }));
        }
    }
    let (removed, worst) = best?;
    let improves = space.improves(removed) && removed > ratio;
    improves.then(|| chosen.places().into_iter().filter(|&place| place != worst).collect())
}
