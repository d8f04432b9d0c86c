//! What a law chooses from once some items must be in and others out.

use std::borrow::Cow;

use faer::Mat;

use super::{Features, Subset};
use crate::{
    Error, Estimate, Result,
    linalg::{OrthonormalBasis, column, complement, kernels::dot},
};

/// The items that are still free to be chosen, and what their features have beyond those of the items
/// that must be included.
///
/// ```text
/// det(K_{T∪R}) = det(K_T) · det(K'_R),   K' = A' A'ᵀ,  A' = A − π_{span A_T}(A)
/// ```
///
/// (Schur): a law conditioned to include T is the same kind of law on the rows projected off the span
/// of A_T. Rows are never copied: the projection is n×(n−t) and multiplies what multiplies the rows.
#[derive(Clone, Debug)]
pub(crate) struct GroundSet<'a> {
    features: Features<'a>,
    /// T, ascending.
    included: Vec<u32>,
    /// Ascending.
    excluded: Vec<u32>,
    residual: Option<Residual>,
}

/// Items that may still be chosen.
#[derive(Clone, Debug)]
pub(crate) enum FreeItems<'a> {
    /// All items 0..m.
    All(usize),
    /// The items listed, ascending.
    Listed(Cow<'a, [u32]>),
}

impl FreeItems<'_> {
    pub(crate) fn len(&self) -> usize {
        match self {
            FreeItems::All(count) => *count,
            FreeItems::Listed(items) => items.len(),
        }
    }
}

/// The subspace orthogonal to the included rows.
#[derive(Clone, Debug)]
struct Residual {
    span: OrthonormalBasis,
    /// Orthonormal, n×(n−t).
    basis: Mat<f64>,
    /// ln det K_T.
    log_det: Estimate<f64>,
}

impl<'a> GroundSet<'a> {
    pub(crate) fn new(features: Features<'a>) -> Self {
        Self { features, included: Vec::new(), excluded: Vec::new(), residual: None }
    }

    /// Includes more items.
    pub(crate) fn include(&mut self, items: &[usize]) -> Result<()> {
        merge(&mut self.included, items, self.features.items())?;
        self.check_disjoint()?;
        self.residual = Residual::of(&self.features, &self.included)?;
        Ok(())
    }

    /// Excludes more items.
    pub(crate) fn exclude(&mut self, items: &[usize]) -> Result<()> {
        merge(&mut self.excluded, items, self.features.items())?;
        self.check_disjoint()
    }

    fn check_disjoint(&self) -> Result<()> {
        let both = self.included.iter().find(|item| self.excluded.binary_search(item).is_ok());
        both.map_or(Ok(()), |&item| Err(Error::IncludedAndExcluded { item: item as usize }))
    }

    pub(crate) fn features(&self) -> &Features<'a> {
        &self.features
    }

    /// T, ascending.
    pub(crate) fn included(&self) -> &[u32] {
        &self.included
    }

    pub(crate) fn excludes(&self, item: usize) -> bool {
        u32::try_from(item).is_ok_and(|item| self.excluded.binary_search(&item).is_ok())
    }

    /// The items that are neither included nor excluded.
    pub(crate) fn free_items(&self) -> FreeItems<'static> {
        if self.is_whole() {
            return FreeItems::All(self.features.items());
        }
        #[expect(clippy::cast_possible_truncation, reason = "items are counted in 32 bits")]
        let all = 0..self.features.items() as u32;
        FreeItems::Listed(all.filter(|&item| self.is_free(item)).collect())
    }

    /// The free ones of some items.
    pub(crate) fn free_members<'m>(&self, members: &'m [u32]) -> FreeItems<'m> {
        FreeItems::Listed(if self.is_whole() {
            Cow::Borrowed(members)
        } else {
            members.iter().copied().filter(|&item| self.is_free(item)).collect()
        })
    }

    /// Whether every item is free.
    pub(crate) fn is_whole(&self) -> bool {
        self.included.is_empty() && self.excluded.is_empty()
    }

    fn is_free(&self, item: u32) -> bool {
        self.included.binary_search(&item).is_err() && self.excluded.binary_search(&item).is_err()
    }

    /// An orthonormal basis, n×(n−t), of what is orthogonal to the included rows; `None` for everything.
    pub(crate) fn beyond(&self) -> Option<&Mat<f64>> {
        self.residual.as_ref().map(|residual| &residual.basis)
    }

    /// Dimensions left beyond the included rows.
    pub(crate) fn dims_left(&self) -> usize {
        self.beyond().map_or(self.features.dims(), Mat::ncols)
    }

    /// ln det K_T, 0 for the empty set.
    pub(crate) fn log_det_included(&self) -> Estimate<f64> {
        self.residual.as_ref().map_or(Estimate { value: 0.0, error: 0.0 }, |residual| residual.log_det)
    }

    /// The unit vector of what a row has beyond the included ones, in coordinates of the subspace left;
    /// `None` if it has nothing there.
    pub(crate) fn unit_residual(&self, row: &[f64]) -> Option<Vec<f64>> {
        let mut unit = row.to_vec();
        OrthonormalBasis::normalise(&mut unit)?;
        if let Some(Residual { span, basis, .. }) = &self.residual {
            span.remove_from(&mut unit)?;
            // Rounding along the span would count as one more dimension.
            unit = (0..basis.ncols()).map(|j| dot(column(basis.as_ref(), j), &unit)).collect();
            OrthonormalBasis::normalise(&mut unit)?;
        }
        Some(unit)
    }

    /// What the included rows span.
    pub(crate) fn span(&self) -> OrthonormalBasis {
        let nothing = || OrthonormalBasis::new(self.features.dims());
        self.residual.as_ref().map_or_else(nothing, |residual| residual.span.clone())
    }
}

impl Residual {
    fn of(features: &Features<'_>, included: &[u32]) -> Result<Option<Self>> {
        if included.is_empty() {
            return Ok(None);
        }
        let mut span = OrthonormalBasis::new(features.dims());
        let log_det = log_volume(features, included.iter().map(|&item| item as usize), &mut span)
            .map_err(|item| Error::DependentItems { item })?;
        let basis = complement(span.as_matrix());
        Ok(Some(Self { span, basis, log_det }))
    }
}

/// ln det K_S, and a basis of the span; the first item that depends on those before it where the
/// determinant is zero.
fn log_volume(
    features: &Features<'_>,
    items: impl Iterator<Item = usize>,
    span: &mut OrthonormalBasis,
) -> std::result::Result<Estimate<f64>, usize> {
    let mut row = vec![0.0; features.dims()];
    let mut log_det = Estimate { value: 0.0, error: 0.0 };
    for item in items {
        features.read_row(item, 1.0, &mut row);
        let log_norm = OrthonormalBasis::normalise(&mut row).ok_or(item)?;
        let residual = span.extend(&row).ok_or(item)?;
        log_det.value += 2.0 * (log_norm + residual.ln());
        // What is left of a unit row is off by a few roundings of the row.
        log_det.error += f64::EPSILON * (8.0 / residual + log_det.value.abs());
    }
    Ok(log_det)
}

/// ln det K_S by orthogonalising the rows of S; −∞ where they are dependent (unit rows that agree to 1e-12
/// count as dependent).
///
/// # Cost
/// O(n|S|²).
pub(crate) fn log_determinant(features: &Features<'_>, subset: &Subset) -> f64 {
    log_determinant_estimate(features, subset).value
}

/// The same with its rounding error.
pub(crate) fn log_determinant_estimate(features: &Features<'_>, subset: &Subset) -> Estimate<f64> {
    let mut span = OrthonormalBasis::new(features.dims());
    let nothing = Estimate { value: f64::NEG_INFINITY, error: 0.0 };
    log_volume(features, subset.iter(), &mut span).unwrap_or(nothing)
}

/// Adds a list of items, sorted and checked, to an ascending list.
fn merge(list: &mut Vec<u32>, items: &[usize], count: usize) -> Result<()> {
    let subset = Subset::new(items.to_vec(), count)?;
    #[expect(clippy::cast_possible_truncation, reason = "items are counted in 32 bits")]
    list.extend(subset.iter().map(|item| item as u32));
    list.sort_unstable();
    list.dedup();
    Ok(())
}
