//! Inclusion probabilities from weighted draws.

use faer::{Accum, Mat, Par, linalg::matmul::matmul};

use super::{BoundedScratch, outside::trace, rows::RowScratch, weighted::WeightedLaw};
use crate::linalg::{
    column, column_mut, independent_qr,
    kernels::{add_scaled, dot},
    transposed_duals,
};

/// Sums over weighted draws S, from which the inclusion probabilities of all items follow.
///
/// Given all of S but its item i, an item j of the same part comes in its place with a probability that does not depend on i:
///
/// ```text
/// Pr(j | S∖i) = ‖R_{S∖i} x_j‖² / tr(R_{S∖i} G_l)
/// Pr(j ∈ S) = Σ_S w_S Σ_{i∈S∩P_l} Pr(j | S∖i) / Σ_S w_S
/// ```
///
/// with the projection R_{S∖i} off the other items of S. It is R_S + d dᵀ with the direction d of the vector that is dual
/// to x_i in the span of S, so that the sums over draws are one form for every part. Averages of such probabilities vary
/// less than counts of items (Rao and Blackwell).
#[derive(Clone, Debug)]
pub(in crate::sample) struct InclusionSums {
    /// Of every group, without the part that is a multiple of the identity, …
    forms: Vec<Mat<f64>>,
    /// … which is this.
    identity: Vec<f64>,
    /// Σ w.
    weight: f64,
}

impl InclusionSums {
    pub(in crate::sample) fn new(law: &WeightedLaw) -> Self {
        let (groups, rank) = (law.grams.len(), law.roots.len());
        Self { forms: vec![Mat::zeros(rank, rank); groups], identity: vec![0.0; groups], weight: 0.0 }
    }

    /// Adds the draw in `scratch`, whose weight is positive.
    pub(in crate::sample) fn add(&mut self, law: &WeightedLaw, weight: f64, scratch: &mut BoundedScratch) {
        self.weight += weight;
        let Some(rows) = law.rows(scratch) else { return };
        // Rounding alone keeps dependent items apart: the weight is a rounding error.
        let Some((factors, _)) = independent_qr(rows.as_ref()) else { return };
        let q = factors.compute_thin_Q();
        let rank = q.nrows();
        let mut inside = Mat::zeros(rank, rank);
        matmul(inside.as_mut(), Accum::Replace, q.as_ref(), q.transpose(), 1.0, Par::Seq);
        let duals = transposed_duals(&factors, q.as_ref()).transpose().to_owned();
        let mut first = 0;
        for &(group, count) in scratch.buffers.counts.iter().filter(|(_, count)| *count > 0) {
            let gram = &law.grams[group];
            let taken: f64 =
                (0..rank).map(|j| dot(column(gram.as_ref(), j), column(inside.as_ref(), j))).sum();
            let outside = (trace(gram) - taken).max(0.0);
            let mut sum = 0.0;
            for i in first..first + count {
                let dual = column(duals.as_ref(), i);
                let image = (0..rank).map(|j| dual[j] * dot(column(gram.as_ref(), j), dual));
                let square = dot(dual, dual);
                let share = weight / (outside + image.sum::<f64>() / square);
                sum += share;
                for (j, &along) in dual.iter().enumerate() {
                    add_scaled(column_mut(self.forms[group].as_mut(), j), share * along / square, dual);
                }
            }
            self.identity[group] += sum;
            for j in 0..rank {
                let out = column_mut(self.forms[group].as_mut(), j);
                add_scaled(out, -sum, column(inside.as_ref(), j));
            }
            first += count;
        }
    }

    /// Adds the sums of other draws.
    pub(in crate::sample) fn extend(&mut self, other: &Self) {
        for (form, other) in self.forms.iter_mut().zip(&other.forms) {
            *form += other;
        }
        for (sum, other) in self.identity.iter_mut().zip(&other.identity) {
            *sum += other;
        }
        self.weight += other.weight;
    }

    /// Σ w.
    pub(in crate::sample) fn weight(&self) -> f64 {
        self.weight
    }

    /// M_l with Pr(j ∈ S) = x_jᵀ M_l x_j for the items of every group.
    pub(in crate::sample) fn forms(&self) -> Vec<Mat<f64>> {
        let form = |(form, identity): (&Mat<f64>, &f64)| {
            Mat::from_fn(form.nrows(), form.ncols(), |i, j| {
                (form[(i, j)] + if i == j { *identity } else { 0.0 }) / self.weight
            })
        };
        self.forms.iter().zip(&self.identity).map(form).collect()
    }
}

impl WeightedLaw {
    /// The rows x_i of the items drawn, one a column; `None` if there are none.
    fn rows(&self, scratch: &mut BoundedScratch) -> Option<Mat<f64>> {
        let buffers = &scratch.buffers;
        let mut rows = Mat::zeros(self.roots.len(), buffers.items.len());
        let groups = buffers.counts.iter().flat_map(|&(group, count)| std::iter::repeat_n(group, count));
        let mut raw = RowScratch::default();
        for (at, (group, &item)) in groups.zip(&buffers.items).enumerate() {
            let row = column_mut(rows.as_mut(), at);
            self.law.rows.read_item(group, item, &mut raw, row);
            row.iter_mut().zip(&self.roots).for_each(|(value, root)| *value *= root);
        }
        (rows.ncols() > 0).then_some(rows)
    }
}
