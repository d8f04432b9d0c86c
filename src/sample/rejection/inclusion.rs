//! Inclusion probabilities from weighted draws.

use faer::{Accum, Mat, MatMut, MatRef, Par, linalg::matmul::matmul};

use super::{BoundedScratch, outside::trace, rows::RowScratch, weighted::WeightedLaw};
use crate::linalg::{
    column, column_mut, independent_qr,
    kernels::{add_scaled, dot},
    transposed_duals,
};

/// Sums over weighted draws S that give the inclusion probabilities of all items.
///
/// Given all of S except its item i, an item j of the same part takes the place of i with a probability that does not
/// depend on i:
///
/// ```text
/// Pr(j | S∖i) = ‖R_{S∖i} x_j‖² / tr(R_{S∖i} G_l)
/// Pr(j ∈ S) = Σ_S w_S Σ_{i∈S∩P_l} Pr(j | S∖i) / Σ_S w_S
/// ```
///
/// Here R_{S∖i} is the projection off the other items of S. It equals R_S + d dᵀ, where d is the direction of the
/// vector that is dual to x_i in the span of S. The sums over draws are therefore one form per part. Averages of such
/// probabilities vary less than counts of items (Rao and Blackwell).
///
/// Draws are added in blocks, so that every Gram matrix and every form is read once per block, in matrix products.
#[derive(Clone, Debug)]
pub(in crate::sample) struct InclusionSums {
    /// The form of every group, one r²-vector each, without its multiple of the identity.
    forms: Mat<f64>,
    /// The multiple of the identity in every form.
    identity: Vec<f64>,
    /// Σ w.
    weight: f64,
    /// Draws that are not yet in the forms.
    block: Vec<Drawn>,
}

/// Draws per block, which take as much memory as the forms of this many groups.
const BLOCK: usize = 16;

/// A draw with its weight.
#[derive(Clone, Debug)]
struct Drawn {
    weight: f64,
    counts: Vec<(usize, usize)>,
    /// A basis of the span, and the vectors dual to the rows, as columns.
    basis: Mat<f64>,
    duals: Mat<f64>,
}

impl InclusionSums {
    pub(in crate::sample) fn new(law: &WeightedLaw) -> Self {
        let (groups, rank) = (law.groups(), law.roots.len());
        let (forms, identity) = (Mat::zeros(rank * rank, groups), vec![0.0; groups]);
        Self { forms, identity, weight: 0.0, block: Vec::new() }
    }

    /// Adds the draw in `scratch`, whose weight is positive.
    pub(in crate::sample) fn add(&mut self, law: &WeightedLaw, weight: f64, scratch: &mut BoundedScratch) {
        self.weight += weight;
        let Some(rows) = law.rows(scratch) else { return };
        // Only rounding keeps dependent items apart, so the weight is a rounding error.
        let Some((factors, _)) = independent_qr(rows.as_ref()) else { return };
        let basis = factors.compute_thin_Q();
        let duals = transposed_duals(&factors, basis.as_ref()).transpose().to_owned();
        let counts = scratch.buffers.counts.iter().copied().filter(|(_, count)| *count > 0).collect();
        self.block.push(Drawn { weight, counts, basis, duals });
        if self.block.len() == BLOCK.min(self.identity.len()) {
            self.settle(law);
        }
    }

    /// Adds the draws of the block to the forms.
    pub(in crate::sample) fn settle(&mut self, law: &WeightedLaw) {
        let Self { forms, identity, block, .. } = self;
        if block.is_empty() {
            return;
        }
        let (rank, grams) = (law.roots.len(), law.grams());
        let mut insides = Mat::zeros(rank * rank, block.len());
        for (at, drawn) in block.iter().enumerate() {
            let inside = as_square(&mut insides, at, rank);
            matmul(inside, Accum::Replace, &drawn.basis, drawn.basis.transpose(), 1.0, Par::Seq);
        }
        let taken = grams.transpose() * &insides;
        let mut sums = Mat::<f64>::zeros(block.len(), identity.len());
        let mut members = vec![Vec::new(); identity.len()];
        for (at, drawn) in block.iter().enumerate() {
            let mut first = 0;
            for &(group, count) in &drawn.counts {
                members[group].extend((first..first + count).map(|pick| (at, pick)));
                first += count;
            }
        }
        for (group, members) in members.iter().enumerate().filter(|(_, members)| !members.is_empty()) {
            let gram = MatRef::from_column_major_slice(column(grams, group), rank, rank);
            let mut duals = Mat::zeros(rank, members.len());
            for (to, &(at, pick)) in members.iter().enumerate() {
                column_mut(duals.as_mut(), to).copy_from_slice(column(block[at].duals.as_ref(), pick));
            }
            let (whole, images) = (trace(gram), gram * &duals);
            let mut scaled = Mat::zeros(rank, members.len());
            for (to, &(at, _)) in members.iter().enumerate() {
                let dual = column(duals.as_ref(), to);
                let square = dot(dual, dual);
                let outside = (whole - taken[(group, at)]).max(0.0);
                let share = block[at].weight / (outside + dot(dual, column(images.as_ref(), to)) / square);
                sums[(at, group)] += share;
                add_scaled(column_mut(scaled.as_mut(), to), share / square, dual);
            }
            let form = as_square(forms, group, rank);
            matmul(form, Accum::Add, &scaled, duals.transpose(), 1.0, Par::Seq);
            identity[group] += sums.col(group).iter().sum::<f64>();
        }
        matmul(forms.as_mut(), Accum::Add, &insides, &sums, -1.0, Par::Seq);
        block.clear();
    }

    /// Adds the sums of other draws; both are [settled](Self::settle).
    pub(in crate::sample) fn extend(&mut self, other: &Self) {
        self.forms += &other.forms;
        for (sum, other) in self.identity.iter_mut().zip(&other.identity) {
            *sum += other;
        }
        self.weight += other.weight;
    }

    /// Σ w.
    pub(in crate::sample) fn weight(&self) -> f64 {
        self.weight
    }

    /// M_l with Pr(j ∈ S) = x_jᵀ M_l x_j for the items of a group.
    pub(in crate::sample) fn form(&self, group: usize) -> Mat<f64> {
        let values = column(self.forms.as_ref(), group);
        let rank = values.len().isqrt();
        let form = MatRef::from_column_major_slice(values, rank, rank);
        Mat::from_fn(rank, rank, |i, j| {
            (form[(i, j)] + if i == j { self.identity[group] } else { 0.0 }) / self.weight
        })
    }
}

/// A column of r² numbers as a square matrix.
fn as_square(matrix: &mut Mat<f64>, at: usize, rank: usize) -> MatMut<'_, f64> {
    MatMut::from_column_major_slice_mut(column_mut(matrix.as_mut(), at), rank, rank)
}

impl WeightedLaw {
    /// The rows x_i of the items drawn, as columns; `None` if nothing is drawn.
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
