//! Starts of climbs: the greedy set, kicks of the best set, and greedy completions of random items.

use rand::{RngExt, SeedableRng, seq::SliceRandom};
use rand_chacha::ChaCha8Rng;

use super::SearchSpace;
use crate::{
    Result,
    engine::Demand,
    linalg::OrthonormalBasis,
    map::{
        Place,
        greedy_loop::Picked,
        lazy_gains::LazyGains,
        pivots::{Gains, Pivots},
        plain_gains::PlainGains,
        repair,
        watch::Clock,
    },
};

/// With at least this many rows the lazy greedy algorithm is faster on the CPU.
const LAZY: usize = 1 << 14;
/// One in this many restarts begins at random items, the others at the best set.
const SCATTER_EVERY: u64 = 4;
/// A kick removes at most two items more than this.
const KICK: usize = 6;

/// Completes `start` greedily without `barred` items, and repairs the picks if they exhaust a part's rank; also returns
/// the number of repairs.
pub(super) fn complete(
    space: &SearchSpace<'_>,
    start: &[Place],
    barred: &[Place],
    clock: &Clock,
) -> Result<(Picked, usize)> {
    let &SearchSpace { engine, rows, .. } = space;
    let on_device = engine.picks_ahead();
    let mut picked = if on_device || rows.len() < LAZY {
        run(space, PlainGains::new(engine, rows), start, barred, clock)?
    } else {
        run(space, LazyGains::new(engine, rows), start, barred, clock)?
    };
    picked.places.splice(0..0, start.iter().copied());
    let repairs = repair::complete(space.candidates, engine, rows, &mut picked, clock)?;
    Ok((picked, repairs))
}

fn run(
    space: &SearchSpace<'_>,
    gains: impl Gains,
    start: &[Place],
    barred: &[Place],
    clock: &Clock,
) -> Result<Picked> {
    let &SearchSpace { candidates, engine, rows, .. } = space;
    Pivots::pick(candidates, engine, rows, gains, start, barred, &|_| clock.ended())
}

/// The start of a restart, which depends on the seed, its number and the best set so far; `None` if there is no such
/// set.
///
/// One in four completes random items greedily. The others remove a few random items from the best set and complete the
/// rest greedily from other items.
pub(super) fn restart(
    space: &SearchSpace<'_>,
    best: &[Place],
    seed: u64,
    number: u64,
    clock: &Clock,
) -> Result<Option<Vec<Place>>> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(number);
    let (start, barred) = if number.is_multiple_of(SCATTER_EVERY) {
        (scatter(space, &mut rng), Vec::new())
    } else {
        kick(space, best, &mut rng)
    };
    let (picked, _) = complete(space, &start, &barred, clock)?;
    let candidates = space.candidates;
    let whole = candidates.counts.missing(&candidates.counts_of(&picked.places)) == 0;
    Ok(whole.then_some(picked.places))
}

/// Removes a few random items from a set; also returns the ones that must not return.
fn kick(space: &SearchSpace<'_>, best: &[Place], rng: &mut ChaCha8Rng) -> (Vec<Place>, Vec<Place>) {
    let mut spare = space.spare();
    let mut movable: Vec<usize> = (0..best.len()).filter(|&at| spare[best[at].group] > 0).collect();
    if movable.is_empty() {
        return (best.to_vec(), Vec::new());
    }
    let count = rng.random_range(1..=movable.len().min(2 + KICK));
    movable.shuffle(rng);
    movable.truncate(count);
    let left = (0..best.len()).filter(|at| !movable.contains(at)).map(|at| best[at]).collect();
    let bar = |&at: &usize| {
        let place = best[at];
        let barred = spare[place.group] > 0;
        spare[place.group] = spare[place.group].saturating_sub(1);
        barred.then_some(place)
    };
    (left, movable.iter().filter_map(bar).collect())
}

/// Random independent items that some allowed set contains, judged by the counts alone.
fn scatter(space: &SearchSpace<'_>, rng: &mut ChaCha8Rng) -> Vec<Place> {
    let candidates = space.candidates;
    let of_group = |(group, &count): (usize, &usize)| std::iter::repeat_n(group, count);
    let mut groups: Vec<usize> = candidates.counts.high.iter().enumerate().flat_map(of_group).collect();
    let count = rng.random_range(0..=groups.len());
    groups.shuffle(rng);
    let mut span = candidates.ground.span();
    let mut places: Vec<Place> = Vec::new();
    let mut counts = vec![0; candidates.groups.len()];
    for group in groups.into_iter().take(count) {
        if candidates.counts.demands(&counts)[group] == Demand::Full {
            continue;
        }
        let position = rng.random_range(0..candidates.groups[group].len());
        let place = Place { group, position };
        let mut row = candidates.features().row(candidates.item(place));
        if OrthonormalBasis::normalise(&mut row).is_some() && span.extend(&row).is_some() {
            places.push(place);
            counts[group] += 1;
        }
    }
    places
}
