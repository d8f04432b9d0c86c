//! The residual of the factor of a kernel, item by item.

use super::{GroundSet, log_determinant::Duals};
use crate::{Features, data::Residual};

/// K − A Aᵀ over the items of a ground set, beyond the included ones.
#[derive(Clone, Debug)]
pub(crate) struct Lacking<'g> {
    given: &'g Features,
    residual: Residual,
    included: Duals,
}

impl GroundSet {
    /// The residual of the factor; `None` for features that are not the factor of a kernel.
    pub(crate) fn lacking(&self) -> Option<Lacking<'_>> {
        let given = self.given();
        let residual = given.residual()?;
        let included = Duals::of(given, self.included().iter().map(|&item| item as usize));
        Some(Lacking { given, residual, included })
    }

    /// An upper bound on the trace of K − A Aᵀ over these items, beyond the included ones; 0 for features.
    pub(crate) fn beyond_rank(&self, items: impl Iterator<Item = usize>) -> f64 {
        self.lacking().map_or(0.0, |lacking| items.map(|item| lacking.of(item)).sum())
    }
}

impl Lacking<'_> {
    /// An upper bound on entry (i, i). The residuals of included items contribute through the coefficients of the
    /// projection, which are large if included items are nearly dependent.
    ///
    /// ```text
    /// e_iᵀ C E Cᵀ e_i ≤ (√r_i + Σ_t |c_it| √r_t)²,   a_i = Σ_t c_it a_t + what is beyond
    /// ```
    pub(crate) fn of(&self, item: usize) -> f64 {
        let (own, included) = self.roots(item);
        (own + included).powi(2)
    }

    /// The two terms of the square root of [`of`](Self::of): √r_i, and the contribution of the projection.
    pub(crate) fn roots(&self, item: usize) -> (f64, f64) {
        let (row, weight) = (self.given.row(item), self.given.weight(item));
        let root = |row: &[f64]| self.residual.root_of_row(row);
        (weight * root(&row), weight * self.included.combined(&row, root))
    }
}
