//! What is known of a group of rows.

use faer::{Mat, MatRef};

use super::{Prepared, REGULAR};
use crate::{
    Features,
    engine::{Group, Items},
    linalg,
};

/// The least of a Gram matrix that may be left after excluding rows, or beyond included ones: four digits are lost there.
const LEFT: f64 = 1e-4;
/// Excluded rows are read again, if they are at most this fraction of a part.
const FEW: f64 = 0.05;

/// A group of rows that consists of all rows of some parts but a few.
pub(super) struct Known<'r> {
    prepared: &'r Prepared,
    group: Group<'r>,
    parts: Vec<KnownPart>,
}

/// What a group has of a part.
struct KnownPart {
    part: usize,
    /// What rows of the group are to those that are known, ρ.
    ratio: f64,
    /// The rows of the part that are not in the group.
    missing: Vec<u32>,
}

impl<'r> Known<'r> {
    pub(super) fn of(prepared: &'r Prepared, features: &Features, group: Group<'r>) -> Option<Self> {
        if !features.has_rows_of(&prepared.features) {
            return None;
        }
        let partition = &prepared.partition;
        let mut parts: Vec<Option<KnownPart>> = (0..partition.parts()).map(|_| None).collect();
        let log_ratio = |item: usize| features.log_weight(item) - prepared.features.log_weight(item);
        for item in group.items.iter() {
            let part = partition.part_of(item);
            let known = parts[part].get_or_insert_with(|| {
                let ratio = group.scale / prepared.scales[part] * log_ratio(item).exp();
                KnownPart { part, ratio, missing: Vec::new() }
            });
            if features.is_weighted() || prepared.features.is_weighted() {
                let ratio = group.scale / prepared.scales[part] * log_ratio(item).exp();
                // Weights within a part are others.
                if (ratio - known.ratio).abs() > 1e-14 * ratio {
                    return None;
                }
            }
        }
        let mut parts: Vec<KnownPart> = parts.into_iter().flatten().collect();
        for known in &mut parts {
            known.missing = missing(partition.members(known.part), group.items);
            let most = FEW * partition.size(known.part) as f64 + 8.0;
            if known.missing.len() as f64 > most {
                return None;
            }
        }
        Some(Self { prepared, group, parts })
    }

    /// The Gram matrix of the rows, or of their components in an orthonormal basis; `None` if too few digits of it are
    /// left.
    pub(super) fn gram(&self, basis: Option<MatRef<'_, f64>>) -> Option<Mat<f64>> {
        let dims = self.prepared.features.dims();
        let mut sum = Mat::zeros(dims, dims);
        let mut row = vec![0.0; dims];
        for KnownPart { part, ratio, missing } in &self.parts {
            let mut gram = self.prepared.grams[*part].clone();
            for &item in missing {
                self.prepared.features.read_row(item as usize, self.prepared.scales[*part], &mut row);
                for j in 0..dims {
                    (0..dims).for_each(|i| gram[(i, j)] -= row[i] * row[j]);
                }
            }
            let known = &self.prepared.grams[*part];
            if (0..dims).any(|j| gram[(j, j)] < LEFT * known[(j, j)]) {
                return None;
            }
            sum += faer::Scale(ratio * ratio) * gram;
        }
        let Some(basis) = basis else { return Some(sum) };
        let trace: f64 = (0..dims).map(|j| sum[(j, j)]).sum();
        let projected = basis.transpose() * sum * basis;
        let is_left = |j: usize| projected[(j, j)] >= LEFT * trace / dims as f64;
        (0..projected.nrows()).all(is_left).then_some(projected)
    }

    /// Upper bounds of ‖Fᵀ b_i‖² for the rows b_i of the group; `None` if they cannot be had.
    pub(super) fn add_bounds(&self, factor: MatRef<'_, f64>, out: &mut Vec<f64>) -> Option<()> {
        let prepared = self.prepared;
        let mut largest = vec![0.0; prepared.partition.parts()];
        for KnownPart { part, ratio, .. } in &self.parts {
            let gram = &prepared.grams[*part];
            let trace: f64 = (0..gram.nrows()).map(|j| gram[(j, j)]).sum();
            let form = factor.transpose() * (gram * factor)
                + faer::Scale(REGULAR * trace) * (factor.transpose() * factor);
            largest[*part] = ratio * ratio * linalg::eigen(form.as_ref()).ok()?.values[0];
        }
        let bound = |item: usize| largest[prepared.partition.part_of(item)] * prepared.leverages[item];
        out.extend(self.group.items.iter().map(bound));
        Some(())
    }
}

/// The members of a part that are not among the items, both ascending.
fn missing(members: &[u32], items: Items<'_>) -> Vec<u32> {
    let Items::Listed(listed) = items else { return Vec::new() };
    if listed.len() == members.len()
        && listed.first() == members.first()
        && listed.as_ptr() == members.as_ptr()
    {
        return Vec::new();
    }
    let mut listed = listed.iter().copied().peekable();
    let is_missing = |member: &&u32| {
        while listed.next_if(|item| item < *member).is_some() {}
        listed.next_if_eq(*member).is_none()
    };
    members.iter().filter(is_missing).copied().collect()
}
