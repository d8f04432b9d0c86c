//! Traces of the parts outside the span of the items picked so far.

use faer::{Mat, MatRef};

use super::{elementary::ElementaryTable, whitening::eigenvalues};
use crate::linalg::{
    column,
    kernels::{add_scaled, dot},
    span::Span,
};

/// tr(P Ĝ_l) of the current group, with P = I − Q Qᵀ.
#[derive(Debug, Default)]
pub(super) struct Outside {
    /// Q Qᵀ over the directions seen.
    projector: Vec<f64>,
    seen: usize,
    trace: f64,
    /// Traces below this are rounding errors.
    least: f64,
}

/// Traces below this fraction of the whole trace, per dimension, count as zero: dead ends.
const ROUNDING: f64 = 16.0 * f64::EPSILON;

impl Outside {
    pub(super) fn clear(&mut self) {
        self.seen = 0;
    }

    pub(super) fn trace(&self) -> f64 {
        if self.trace > self.least { self.trace } else { 0.0 }
    }

    /// Computes the trace of a group.
    pub(super) fn enter(&mut self, span: &Span, gram: &Mat<f64>) {
        self.trace = trace(gram.as_ref());
        self.least = ROUNDING * gram.nrows() as f64 * self.trace;
        if span.size() > 0 {
            self.catch_up(span, gram.nrows());
            let columns = self.projector.chunks_exact(gram.nrows()).enumerate();
            self.trace -= columns.map(|(j, own)| dot(column(gram.as_ref(), j), own)).sum::<f64>();
        }
    }

    /// Adds the new directions to the projector.
    fn catch_up(&mut self, span: &Span, rank: usize) {
        if self.seen == 0 {
            self.projector.clear();
            self.projector.resize(rank * rank, 0.0);
        }
        for direction in span.directions()[self.seen * rank..].chunks_exact(rank) {
            for (column, &q) in self.projector.chunks_exact_mut(rank).zip(direction) {
                add_scaled(column, q, direction);
            }
        }
        self.seen = span.size();
    }

    /// Subtracts the last direction added from the trace.
    pub(super) fn leave(&mut self, span: &Span, gram: &Mat<f64>) {
        let rank = gram.nrows();
        let direction = &span.directions()[(span.size() - 1) * rank..];
        let form = |j: usize| direction[j] * dot(column(gram.as_ref(), j), direction);
        self.trace -= (0..rank).map(form).sum::<f64>();
    }
}

pub(super) fn trace(gram: MatRef<'_, f64>) -> f64 {
    (0..gram.nrows()).map(|j| gram[(j, j)]).sum()
}

/// ln e_count of the eigenvalues of P Ĝ_l P.
pub(super) fn log_symmetric(span: &Span, gram: &Mat<f64>, count: usize) -> f64 {
    let (rank, size) = (gram.nrows(), span.size());
    let q = MatRef::from_column_major_slice(span.directions(), rank, size);
    // P Ĝ P = Ĝ − Q Xᵀ − X Qᵀ with X = Ĝ Q − ½ Q (Qᵀ Ĝ Q)
    let image = gram * q;
    let inner = q.transpose() * &image;
    let half = &image - q * (inner * faer::Scale(0.5));
    let cross = q * half.transpose();
    let outside = gram - &cross - cross.transpose();
    match count {
        1 => trace(outside.as_ref()).max(0.0).ln(),
        2 => (0.5 * (trace(outside.as_ref()).powi(2) - outside.squared_norm_l2())).max(0.0).ln(),
        // If the eigenvalues do not converge, nothing is proposed.
        _ => match eigenvalues(&outside) {
            Ok(values) => ElementaryTable::new(&values, count).log(usize::MAX, count),
            Err(_) => f64::NEG_INFINITY,
        },
    }
}
