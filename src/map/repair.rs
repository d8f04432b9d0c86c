//! Meeting a quota where greedy picks have taken the rank that a part needs.

use super::{Candidates, Place, Termination, pivots::Picked};
use crate::{linalg::OrthonormalBasis, polynomial::feasibility};

/// Rearranges picks that ended short of the quota along augmenting paths, where that is possible; tells how
/// many items were replaced.
///
/// # Cost
/// Reads rows of every part until they span what the part spans: O(m_l n r) where they span less than the
/// quota could need.
pub(super) fn complete(candidates: &Candidates<'_>, picked: &mut Picked) -> usize {
    if picked.termination != Termination::RankExhausted {
        return 0;
    }
    let total = candidates.total();
    let mut elements: Vec<Vec<(Place, Vec<f64>)>> = Vec::new();
    for group in 0..candidates.groups.len() {
        elements.push(spanning_rows(candidates, group, &picked.places, total));
    }
    let bases: Vec<Vec<Vec<f64>>> =
        elements.iter().map(|rows| rows.iter().map(|(_, row)| row.clone()).collect()).collect();
    let chosen: Vec<usize> = (0..candidates.groups.len())
        .map(|group| picked.places.iter().filter(|place| place.group == group).count())
        .collect();
    let dims = candidates.ground.dims_left();
    let Some(found) = feasibility::complete(&bases, &chosen, &candidates.counts, dims) else { return 0 };
    let places: Vec<Place> = found
        .iter()
        .enumerate()
        .flat_map(|(group, rows)| rows.iter().map(move |&row| (group, row)))
        .map(|(group, row)| elements[group][row].0)
        .collect();
    let kept = picked.places.iter().filter(|place| places.contains(place)).count();
    let replaced = picked.places.len() - kept;
    picked.places = places;
    picked.termination = Termination::QuotaMet;
    replaced
}

/// The picks of a group, then more of its rows until they span what the group spans: unit vectors beyond the
/// included items.
fn spanning_rows(
    candidates: &Candidates<'_>,
    group: usize,
    picks: &[Place],
    limit: usize,
) -> Vec<(Place, Vec<f64>)> {
    let (features, ground) = (candidates.features(), candidates.ground);
    let mut basis = OrthonormalBasis::new(ground.dims_left());
    let own = picks.iter().copied().filter(|place| place.group == group);
    let others = (0..candidates.groups[group].len()).map(|position| Place { group, position });
    let mut rows = Vec::new();
    for place in own.chain(others) {
        if rows.len() == limit.min(ground.dims_left()) {
            break;
        }
        // A pick that comes up again depends on itself.
        if let Some(unit) = ground.unit_residual(&features.row(candidates.item(place)))
            && basis.extend(&unit).is_some()
        {
            rows.push((place, unit));
        }
    }
    rows
}
