//! Quotas that are met by rounding alone.

use crate::{
    PartitionDpp,
    engine::{Group, Items},
    linalg::{INDEPENDENCE_TOLERANCE, kernels::dot},
    polynomial::feasibility,
};

/// ln of what Σ det(K_S) over all sets that meet the quota can be at most, where parts span less than it asks but for
/// their last digits; `None` where they span enough.
///
/// ```text
/// det(K_S) ≤ det(K_T) · Π_{i∈S∖T} ‖a_i‖² · ((1 + ε)^q − 1)²
/// ```
///
/// for q unit rows that are within ε of a subspace of fewer dimensions.
pub(super) fn log_mass_at_most(dpp: &PartitionDpp<'_>) -> Option<f64> {
    let ground = dpp.ground();
    let counts = dpp.free_counts();
    let limit = counts.iter().sum();
    let basis = |part: &_| feasibility::part_basis(ground, Items::from(part), limit);
    let bases: Vec<_> = dpp.open().iter().map(|part| basis(&part.items)).collect();
    let violation = feasibility::check(&bases, &counts, ground.dims_left()).err()?;
    let volume = 2.0 * violation.quota as f64 * INDEPENDENCE_TOLERANCE;
    let rows = dpp.rows();
    let mut row = vec![0.0; rows.features().dims()];
    // The sum over all choices of κ rows of Π ‖a_i‖² is no more than (Σ ‖a_i‖²)^κ / κ!.
    let mut of_part = |(group, &count): (&Group<'_>, &usize)| {
        let mut square = |item: usize| {
            rows.features().read_row(item, group.scale, &mut row);
            dot(&row, &row)
        };
        let sum: f64 = group.items.iter().map(&mut square).sum();
        let each = |pick: usize| sum.ln() - 2.0 * group.scale.ln() - (pick as f64 + 1.0).ln();
        (0..count).map(each).sum::<f64>()
    };
    let lengths: f64 = rows.groups().iter().zip(&counts).map(&mut of_part).sum();
    let included = ground.log_det_included();
    Some(included.value + included.error + lengths + 2.0 * volume.ln())
}
