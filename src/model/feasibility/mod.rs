//! Feasibility: whether some set with a positive determinant meets a quota.
//!
//! By Rado's theorem, a quota is infeasible exactly if some parts J together span fewer dimensions than the quota
//! takes items from them. Rank does not depend on the scale of rows, so all decisions are made on unit rows.

mod matroid_intersection;

pub(crate) use matroid_intersection::complete;

use super::GroundSet;
use crate::{Error, engine::Items, linalg::OrthonormalBasis};

/// The number of rows of a part to try per row needed.
const TRIES: usize = 4;

/// Unit rows of one part that span it, limited to the number that could ever be needed.
pub(crate) type PartBasis = Vec<Vec<f64>>;

/// The criterion of dependence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Dependence {
    /// Unit rows are dependent if a residual is below 1e-12, so that no draw depends on rounding.
    #[default]
    Numerical,
    /// Rows are dependent in exact arithmetic, as is required to state that a probability is zero.
    Exact,
}

/// Parts (by position) that together span fewer dimensions than their quotas need.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Violation {
    pub(crate) parts: Vec<usize>,
    pub(crate) rank: usize,
    pub(crate) quota: usize,
}

impl Violation {
    /// Converts the violation to an error with the names of the parts.
    pub(crate) fn into_error(self, ground: &GroundSet, name: impl Fn(usize) -> String) -> Error {
        let Self { parts, rank, quota } = self;
        let parts = parts.into_iter().map(name).collect();
        if ground.included().is_empty() {
            Error::Infeasible { parts, rank, quota }
        } else {
            Error::InfeasibleBeyondIncluded { parts, rank, quota }
        }
    }
}

/// The first rows of a part, at most `limit`, that are independent of each other and of the included items. Each is
/// given as the unit vector of its residual beyond the included items, in n−t coordinates.
///
/// # Cost
/// O(n·limit²) for generic rows; O(m_l·n·rank) if the rank of the part is below `limit`.
pub(crate) fn part_basis(ground: &GroundSet, items: Items<'_>, limit: usize) -> PartBasis {
    let features = ground.features();
    let mut row = vec![0.0; features.dims()];
    let limit = limit.min(ground.dims_left());
    let mut basis = ground.span();
    let mut rows = PartBasis::new();
    for item in items.iter() {
        if rows.len() == limit {
            break;
        }
        features.read_stored(item, 1.0, &mut row);
        let unit = OrthonormalBasis::normalise(&mut row).and_then(|_| basis.extend(&row));
        rows.extend(unit.and_then(|_| ground.unit_residual(&row)));
    }
    rows
}

/// Whether taking the first independent rows of each part gives a set with these counts. If so, no search is needed;
/// `false` is inconclusive.
///
/// # Cost
/// O(n k²) if nearly all rows are independent, as is usual.
pub(crate) fn has_independent_rows<'i>(
    ground: &GroundSet,
    parts: impl Iterator<Item = (Items<'i>, usize)>,
) -> bool {
    let features = ground.features();
    let (mut row, mut basis) = (vec![0.0; features.dims()], ground.span());
    for (items, count) in parts {
        let mut left = count;
        for item in items.iter().take(TRIES * count) {
            if left == 0 {
                break;
            }
            features.read_stored(item, 1.0, &mut row);
            let unit = OrthonormalBasis::normalise(&mut row);
            left -= usize::from(unit.and_then(|_| basis.extend(&row)).is_some());
        }
        if left > 0 {
            return false;
        }
    }
    true
}

/// Checks a quota against the bases of the parts. The violation names a minimal set of parts that cannot meet it.
pub(crate) fn check(bases: &[PartBasis], quota: &[usize], dims: usize) -> Result<(), Violation> {
    let Err(mut parts) = matroid_intersection::common_independent_set(bases, quota, dims) else {
        return Ok(());
    };
    // Nearly dependent rows may end the search without a proven violation. All parts together may still violate the
    // quota.
    if !violates(bases, quota, dims, &parts) {
        parts = (0..bases.len()).filter(|&part| quota[part] > 0).collect();
        if !violates(bases, quota, dims, &parts) {
            return Ok(());
        }
    }
    // Drop every part that the violation does not need.
    let mut at = 0;
    while at < parts.len() {
        let mut without = parts.clone();
        without.remove(at);
        if violates(bases, quota, dims, &without) {
            parts = without;
        } else {
            at += 1;
        }
    }
    let (rank, asked) = demand(bases, quota, dims, &parts);
    Err(Violation { parts, rank, quota: asked })
}

fn violates(bases: &[PartBasis], quota: &[usize], dims: usize, parts: &[usize]) -> bool {
    let (rank, asked) = demand(bases, quota, dims, parts);
    rank < asked
}

/// The joint rank of these parts, and the number of items that the quota takes from them.
fn demand(bases: &[PartBasis], quota: &[usize], dims: usize, parts: &[usize]) -> (usize, usize) {
    let mut basis = OrthonormalBasis::new(dims);
    for &part in parts {
        for row in &bases[part] {
            basis.extend(row);
        }
    }
    (basis.len(), parts.iter().map(|&part| quota[part]).sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unit(dims: usize, axis: usize) -> Vec<f64> {
        (0..dims).map(|j| if j == axis { 1.0 } else { 0.0 }).collect()
    }

    #[test]
    fn names_the_smallest_violating_parts() {
        // Parts 0 and 2 lie in the same plane, part 1 in another.
        let bases =
            vec![vec![unit(5, 0), unit(5, 1)], vec![unit(5, 2), unit(5, 3)], vec![unit(5, 0), unit(5, 1)]];
        assert_eq!(check(&bases, &[1, 2, 1], 5), Ok(()));
        let violation = Violation { parts: vec![0, 2], rank: 2, quota: 3 };
        assert_eq!(check(&bases, &[2, 1, 1], 5), Err(violation));
        let violation = Violation { parts: vec![1], rank: 2, quota: 3 };
        assert_eq!(check(&bases, &[1, 3, 1], 5), Err(violation));
    }

    #[test]
    fn augments_where_greedy_is_stuck() {
        // Greedy takes e0 for part 0, and part 1 has only e0. The exchange must move part 0 to e1.
        let bases = vec![vec![unit(2, 0), unit(2, 1)], vec![unit(2, 0)]];
        assert_eq!(check(&bases, &[1, 1], 2), Ok(()));
        // A chain of exchanges over many parts.
        let parts = 14;
        let bases: Vec<PartBasis> =
            (0..parts)
                .map(|l| {
                    if l + 1 < parts {
                        vec![unit(parts, l), unit(parts, l + 1)]
                    } else {
                        vec![unit(parts, 0)]
                    }
                })
                .collect();
        assert_eq!(check(&bases, &vec![1; parts], parts), Ok(()));
        // One more part, on axis 3: parts 13, 0, 1, 2 and the new part share four axes.
        let mut more = bases;
        more.push(vec![unit(parts, 3)]);
        let violation = check(&more, &vec![1; parts + 1], parts).unwrap_err();
        assert_eq!(violation, Violation { parts: vec![0, 1, 2, 13, 14], rank: 4, quota: 5 });
    }

    #[test]
    fn agrees_with_rado_on_random_subspaces() {
        // Rows are random axes, so ranks are numbers of distinct axes and Rado's condition can be enumerated.
        let mut state = 12345_u64;
        let mut next = |bound: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % bound
        };
        let (dims, parts) = (8, 4);
        let mut infeasible = 0;
        for _ in 0..500 {
            let bases: Vec<PartBasis> = (0..parts)
                .map(|_| {
                    let mut axes: Vec<usize> = (0..=next(4)).map(|_| next(dims)).collect();
                    axes.sort_unstable();
                    axes.dedup();
                    axes.into_iter().map(|axis| unit(dims, axis)).collect()
                })
                .collect();
            let quota: Vec<usize> = (0..parts).map(|_| 1 + next(2)).collect();
            let feasible = (1_usize..1 << parts).all(|mask| {
                let parts: Vec<usize> = (0..parts).filter(|l| mask >> l & 1 == 1).collect();
                !violates(&bases, &quota, dims, &parts)
            });
            match check(&bases, &quota, dims) {
                Ok(()) => assert!(feasible),
                Err(violation) => {
                    assert!(!feasible);
                    assert!(violation.rank < violation.quota);
                    infeasible += 1;
                }
            }
        }
        assert!((100..400).contains(&infeasible), "the cases must be mixed: {infeasible}");
    }
}
