//! Repairs greedy picks that fell short of a quota because they exhausted the rank that a part needs.

use super::{
    Candidates, Place, Termination, greedy_loop::Picked, pivots::Pivots, plain_gains::PlainGains,
    watch::Clock,
};
use crate::{
    Result,
    engine::{Engine, Rows},
    model::{
        Counts,
        feasibility::{self, PartBasis},
    },
};

/// Replaces picks that ended short of the quota along augmenting paths, if possible.
///
/// Returns the number of replaced items, 0 if the clock ends the search.
///
/// # Cost
/// Up to k passes over the rows: replacements are picked greedily, part by part.
pub(super) fn complete(
    candidates: &Candidates<'_>,
    engine: &Engine,
    rows: &Rows<'_>,
    picked: &mut Picked,
    clock: &Clock,
) -> Result<usize> {
    let groups = candidates.groups.len();
    if picked.termination != Termination::RankExhausted || groups == 1 {
        return Ok(0);
    }
    let mut elements = Vec::with_capacity(groups);
    for group in 0..groups {
        elements.push(spanning_rows(candidates, engine, rows, group, &picked.places, clock)?);
    }
    if let Some(termination) = clock.ended() {
        picked.termination = termination;
        return Ok(0);
    }
    let bases: Vec<PartBasis> =
        elements.iter().map(|rows| rows.iter().map(|(_, unit)| unit.clone()).collect()).collect();
    let counts = candidates.counts_of(&picked.places);
    let dims = candidates.ground.dims_left();
    let quota = nearest(&candidates.counts, &counts, &bases, dims);
    if candidates.counts.missing(&quota) > 0 {
        return Ok(0);
    }
    let chosen: Vec<usize> = counts.iter().zip(&quota).map(|(&count, &quota)| count.min(quota)).collect();
    let Some(found) = feasibility::complete(&bases, &chosen, &quota, dims) else { return Ok(0) };
    let places: Vec<Place> = found
        .iter()
        .zip(&elements)
        .flat_map(|(taken, elements)| taken.iter().map(|&at| elements[at].0))
        .collect();
    let replaced = picked.places.iter().filter(|place| !places.contains(place)).count();
    picked.places = places;
    picked.termination = Termination::QuotaMet;
    Ok(replaced)
}

/// Allowed counts of independent rows near the picked counts.
///
/// The least count of every group is raised towards the picked count, and then until the total is reached. Counts of
/// independent rows form a polymatroid, so they can be raised one after the other.
fn nearest(allowed: &Counts, picked: &[usize], bases: &[PartBasis], dims: usize) -> Vec<usize> {
    let mut counts = allowed.low.clone();
    let mut raise = |upto: &[usize], most: usize| {
        for (group, &upto) in upto.iter().enumerate() {
            while counts[group] < upto.min(allowed.high[group]) && counts.iter().sum::<usize>() < most {
                counts[group] += 1;
                if feasibility::check(bases, &counts, dims).is_err() {
                    counts[group] -= 1;
                    break;
                }
            }
        }
    };
    raise(picked, allowed.most);
    raise(&allowed.high, allowed.least);
    counts
}

/// The picks of a group and further greedy picks, which together span the group or as much as the quota could need.
///
/// Each comes with the unit vector of its residual beyond the included items.
fn spanning_rows(
    candidates: &Candidates<'_>,
    engine: &Engine,
    rows: &Rows<'_>,
    group: usize,
    picks: &[Place],
    clock: &Clock,
) -> Result<Vec<(Place, Vec<f64>)>> {
    let members = candidates.groups[group].clone();
    let most = members.len().min(candidates.ground.dims_left()).min(candidates.counts.most);
    let counts = Counts::exactly(&[most]);
    let alone = Candidates { groups: vec![members], counts, ..*candidates };
    let rows = Rows::with_scales(rows.features(), vec![rows.groups()[group]]);
    let own: Vec<Place> =
        picks.iter().filter(|place| place.group == group).map(|&place| Place { group: 0, ..place }).collect();
    let gains = PlainGains::new(engine, &rows);
    let others = Pivots::pick(&alone, engine, &rows, gains, &own, &[], &|_| clock.ended())?.places;
    let spanning = own.into_iter().chain(others).filter_map(|place| {
        let unit = candidates.ground.unit_residual(&candidates.features().row(alone.item(place)))?;
        Some((Place { group, ..place }, unit))
    });
    Ok(spanning.collect())
}
