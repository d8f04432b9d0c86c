//! A deterministic start of chains.

use crate::{
    PartitionDpp,
    engine::Items,
    linalg::OrthonormalBasis,
    model::{FreeItems, GroundSet, feasibility},
};

/// A set that meets the quota, group after group, by matroid intersection.
pub(super) fn certain(dpp: &PartitionDpp, counts: &[usize]) -> Option<Vec<u32>> {
    let (ground, total) = (dpp.ground(), counts.iter().sum());
    let elements: Vec<Vec<(u32, Vec<f64>)>> =
        dpp.groups().iter().map(|group| spanning(ground, group, total)).collect();
    let bases: Vec<Vec<Vec<f64>>> =
        elements.iter().map(|elements| elements.iter().map(|(_, unit)| unit.clone()).collect()).collect();
    let found = feasibility::complete(&bases, &vec![0; counts.len()], counts, ground.dims_left())?;
    let items = found.iter().zip(&elements);
    Some(items.flat_map(|(taken, elements)| taken.iter().map(|&at| elements[at].0)).collect())
}

/// Items of a group that span the group, or as many dimensions as needed.
fn spanning(ground: &GroundSet, group: &FreeItems, most: usize) -> Vec<(u32, Vec<f64>)> {
    let (mut span, mut elements) = (ground.span(), Vec::new());
    for item in Items::from(group).iter() {
        if elements.len() == most.min(ground.dims_left()) {
            break;
        }
        let mut row = ground.features().row(item);
        let unit = OrthonormalBasis::normalise(&mut row).and_then(|_| span.extend(&row));
        #[expect(clippy::cast_possible_truncation, reason = "items are counted in 32 bits")]
        let element = unit.and_then(|_| Some((item as u32, ground.unit_residual(&row)?)));
        elements.extend(element);
    }
    elements
}
