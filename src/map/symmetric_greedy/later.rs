//! The residual of an item beyond all undecided and all kept items.
//!
//! The rows are orthogonalised from the last to the first, which gives directions q_1, q_2, …, each from one item.
//! The items after item t span q_1 … q_{t−1}, so they vanish in the coordinates q_t, q_{t+1}, …. Only the kept items
//! have entries there: their *tails*. The tail of item t has only one such coordinate.

use crate::{
    linalg::{OrthonormalBasis, kernels::dot},
    map::{Candidates, Place, watch::Clock},
};

/// The items that do not depend on those after them.
pub(super) struct Later {
    /// The items, the last one first.
    pub(super) items: Vec<Item>,
    span: OrthonormalBasis,
    included: usize,
}

/// An item that does not depend on those after it.
pub(super) struct Item {
    pub(super) position: usize,
    /// Its row as a unit vector, and the logarithm of its norm.
    pub(super) unit: Vec<f64>,
    pub(super) log_norm: f64,
    /// The norm of its unit vector's residual beyond later and included items, which is its tail's only coordinate.
    pub(super) beyond_later: f64,
}

impl Later {
    /// Finds these items, or as many from the end as the clock allows.
    pub(super) fn of(candidates: &Candidates<'_>, order: Vec<usize>, clock: &Clock) -> Self {
        let mut span = candidates.ground.span();
        let included = span.len();
        let mut items = Vec::new();
        for position in order.into_iter().rev() {
            if span.len() == candidates.features().dims() || clock.ended().is_some() {
                break;
            }
            let item = candidates.item(Place { group: 0, position });
            let mut unit = candidates.features().row(item);
            let Some(log_norm) = OrthonormalBasis::normalise(&mut unit) else { continue };
            let log_norm = log_norm + candidates.features().log_weight(item);
            if let Some(beyond_later) = span.extend(&unit) {
                items.push(Item { position, unit, log_norm, beyond_later });
            }
        }
        Self { items, span, included }
    }

    /// The direction of the item at this position.
    pub(super) fn direction(&self, at: usize) -> &[f64] {
        self.span.direction(self.included + at)
    }
}

/// The tails T of the items kept, as the triangular factor C of their Gram matrix, T Tᵀ = C Cᵀ.
#[derive(Default)]
pub(super) struct KeptTails {
    units: Vec<Vec<f64>>,
    /// Rows of C up to the diagonal.
    factor: Vec<Vec<f64>>,
}

impl KeptTails {
    /// The next coordinate of every tail.
    pub(super) fn products(&self, direction: &[f64]) -> Vec<f64> {
        self.units.iter().map(|unit| dot(unit, direction)).collect()
    }

    /// Extends every tail by one coordinate.
    ///
    /// Returns the squared residual of the unit vector of that coordinate beyond the tails: 1 / (1 + cᵀ(T Tᵀ)⁻¹c), as
    /// a product of cosines, without cancellation.
    pub(super) fn extend_by(&mut self, coordinate: &[f64]) -> f64 {
        let mut rotations: Vec<(f64, f64)> = Vec::with_capacity(self.factor.len());
        let mut alone = 1.0;
        for (row, &next) in self.factor.iter_mut().zip(coordinate) {
            let mut rest = next;
            for (entry, (cosine, sine)) in row.iter_mut().zip(&rotations) {
                (*entry, rest) = (cosine * *entry + sine * rest, cosine * rest - sine * *entry);
            }
            let Some(diagonal) = row.last_mut() else { continue };
            let length = diagonal.hypot(rest);
            let cosine = *diagonal / length;
            rotations.push((cosine, rest / length));
            alone *= cosine * cosine;
            *diagonal = length;
        }
        alone
    }

    /// Keeps an item whose tail is one coordinate. `left` is the norm of the tail's residual beyond the other tails.
    pub(super) fn push(&mut self, unit: &[f64], products: &[f64], coordinate: f64, left: f64) {
        let mut row: Vec<f64> = Vec::with_capacity(products.len() + 1);
        for (known, &product) in self.factor.iter().zip(products) {
            let entry = (coordinate * product - dot(&known[..row.len()], &row)) / known[row.len()];
            row.push(entry);
        }
        row.push(left);
        self.factor.push(row);
        self.units.push(unit.to_vec());
    }
}
