//! The current set of a chain: its rows and their dual basis.

use faer::MatRef;

use crate::{
    Features,
    linalg::{independent_qr, kernels::dot, orthonormalise, transposed_duals},
};

/// Rows of the items S, and W with W ᵀ A_Sᵀ = I in the span of those rows.
///
/// ```text
/// M = K_S⁻¹ = WᵀW,   1/M_ii = the squared residual of row i beyond the others
/// ```
///
/// Rounding in W grows with the condition number of A_S; in K_S⁻¹ itself it would grow with the square.
#[derive(Clone, Debug)]
pub(super) struct Basis {
    pub(super) features: Features,
    /// Items by column: first the ones that may leave, then the included ones.
    pub(super) items: Vec<u32>,
    /// The scale of the row in each column; a power of two.
    scales: Vec<f64>,
    /// The scaled rows as columns.
    pub(super) rows: Vec<f64>,
    /// W.
    pub(super) duals: Vec<f64>,
    /// ln det of the scaled rows.
    pub(super) log_det: f64,
}

impl Basis {
    /// Computes the basis from the data; `None` for dependent rows.
    pub(super) fn new(features: &Features, items: Vec<u32>, scales: Vec<f64>) -> Option<Self> {
        let dims = features.dims();
        if items.len() > dims {
            return None;
        }
        let mut rows = vec![0.0; items.len() * dims];
        for ((&item, &scale), row) in items.iter().zip(&scales).zip(rows.chunks_exact_mut(dims)) {
            features.read_row(item as usize, scale, row);
        }
        let (duals, log_det) = dual_basis(&rows, dims)?;
        Some(Self { features: features.clone(), items, scales, rows, duals, log_det })
    }

    /// The basis with these items in place of the ones that may leave, and the same included items.
    pub(super) fn at(&self, items: &[u32]) -> Option<Self> {
        let items = [items, &self.items[items.len()..]].concat();
        Self::new(&self.features, items, self.scales.clone())
    }

    /// Recomputes W from the rows and returns the drift of ln det. Does nothing if the rows count as dependent.
    pub(super) fn refresh(&mut self) -> f64 {
        let Some((duals, log_det)) = dual_basis(&self.rows, self.dims()) else { return 0.0 };
        let drift = (log_det - self.log_det).abs();
        (self.duals, self.log_det) = (duals, log_det);
        drift
    }

    /// The error of W in one entry: |w_i·a_i − 1|.
    pub(super) fn staleness(&self, slot: usize) -> f64 {
        (dot(self.row(slot), self.dual(slot)) - 1.0).abs()
    }

    pub(super) fn dims(&self) -> usize {
        self.features.dims()
    }

    pub(super) fn scale(&self, slot: usize) -> f64 {
        self.scales[slot]
    }

    pub(super) fn row(&self, slot: usize) -> &[f64] {
        &self.rows[slot * self.dims()..(slot + 1) * self.dims()]
    }

    pub(super) fn dual(&self, slot: usize) -> &[f64] {
        &self.duals[slot * self.dims()..(slot + 1) * self.dims()]
    }

    /// ln det K_S of the unscaled rows.
    pub(super) fn log_determinant(&self) -> f64 {
        self.log_det - 2.0 * self.scales.iter().map(|scale| scale.ln()).sum::<f64>()
    }

    /// The log-volume of the rows in these columns beyond all others: ln det(K_S) − ln det(K without them).
    pub(super) fn log_volume_beyond_others(&self, slots: std::ops::Range<usize>) -> f64 {
        let mut log_volume = 0.0;
        let mut directions: Vec<f64> = Vec::with_capacity(slots.len() * self.dims());
        for slot in slots {
            let mut left = self.dual(slot).to_vec();
            let norm = orthonormalise(&mut left, &directions, |_, _| ());
            log_volume -= 2.0 * (norm.ln() + self.scales[slot].ln());
            directions.extend_from_slice(&left);
        }
        log_volume
    }
}

/// W = Q R⁻ᵀ and ln det from the columns B = Q R; `None` for dependent columns.
fn dual_basis(rows: &[f64], dims: usize) -> Option<(Vec<f64>, f64)> {
    let count = rows.len() / dims;
    let (factors, log_det) = independent_qr(MatRef::from_column_major_slice(rows, dims, count))?;
    let transposed = transposed_duals(&factors, factors.compute_thin_Q().as_ref());
    let duals = (0..count).flat_map(|l| (0..dims).map(move |i| (l, i))).map(|at| transposed[at]).collect();
    Some((duals, log_det))
}
