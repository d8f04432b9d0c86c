//! The items that a law chooses from, given included and excluded items.

use faer::Mat;

use super::{
    Conditions, FreeItems,
    log_determinant::{factor_error, log_volume},
};
use crate::{
    Error, Estimate, Features, Result,
    data::{compress_if_wide, compression_rounding},
    linalg::{OrthonormalBasis, column, complement, exact_rank, kernels::dot},
};

/// The free items, and the residuals of their features beyond the features of the included items.
///
/// ```text
/// det(K_{T∪R}) = det(K_T) · det(K'_R),   K' = A' A'ᵀ,  A' = A − π_{span A_T}(A)
/// ```
///
/// By the Schur complement, a law conditioned to include T is the same kind of law on the rows projected off the span
/// of A_T. Rows are never copied: the n×(n−t) projection is applied to the matrices that multiply the rows.
#[derive(Clone, Debug)]
pub(crate) struct GroundSet {
    /// The given features.
    given: Features,
    /// The features used in computations.
    features: Features,
    /// The conditions, including T, the included items.
    conditions: Conditions,
    residual: Residual,
    /// ln det of a set under the given features minus ln det under `features`; `None` if no weights are narrowed.
    log_shift: Option<f64>,
}

/// The residuals of the rows beyond the included ones.
#[derive(Clone, Debug)]
enum Residual {
    /// The whole rows, as no item is included.
    Whole,
    /// The components of the rows in a subspace.
    Within(Subspace),
    /// The features themselves, which are triangular coordinates of the residuals, with this rank.
    Graded { rank: usize, log_det: Estimate<f64> },
}

/// The subspace orthogonal to the included rows.
#[derive(Clone, Debug)]
struct Subspace {
    span: OrthonormalBasis,
    /// An orthonormal basis, n×(n−t).
    basis: Mat<f64>,
    /// ln det K_T.
    log_det: Estimate<f64>,
    /// The smallest relative residual of an included row beyond the previous ones.
    least: f64,
}

impl GroundSet {
    /// A ground set of free items. Wide features (n > m) are compressed.
    pub(crate) fn new(given: &Features) -> Result<Self> {
        let features = compress_if_wide(given)?;
        let (conditions, residual) = (Conditions::none(given.items()), Residual::Whole);
        Ok(Self { given: given.clone(), features, conditions, residual, log_shift: None })
    }

    /// The same items with features that have other weights. They lower ln det of the relevant sets by `log_shift`.
    pub(super) fn with_features(&self, features: Features, log_shift: f64) -> Self {
        Self { features, log_shift: Some(log_shift), ..self.clone() }
    }

    /// Restores the given weights if weights are narrowed.
    pub(super) fn restore_weights(&mut self) -> Result<()> {
        if self.log_shift.take().is_some() {
            self.features = self.features.reweighted(self.given.log_weights())?;
        }
        Ok(())
    }

    /// Whether the weights differ from the given ones.
    pub(crate) fn is_narrowed(&self) -> bool {
        self.log_shift.is_some()
    }

    /// ln det under the given features minus ln det under [`features`](Self::features): the same for all relevant
    /// sets, and at least as large for any other.
    pub(crate) fn log_shift(&self) -> f64 {
        self.log_shift.unwrap_or(0.0)
    }

    /// The same ground set with rows in triangular coordinates of their residuals.
    pub(super) fn in_coordinates(&self, features: Features, rank: usize, log_det: Estimate<f64>) -> Self {
        Self { features, residual: Residual::Graded { rank, log_det }, ..self.clone() }
    }

    /// Includes more items.
    pub(crate) fn include(&mut self, items: &[usize]) -> Result<()> {
        self.conditions.include(items)?;
        self.restore_weights()?;
        self.residual = Residual::of(&self.features, self.included())?;
        Ok(())
    }

    /// Excludes more items.
    pub(crate) fn exclude(&mut self, items: &[usize]) -> Result<()> {
        self.conditions.exclude(items)
    }

    /// The same ground set under these conditions.
    pub(crate) fn under(&self, conditions: &Conditions) -> Result<Self> {
        let mut under = Self { conditions: conditions.clone(), ..self.clone() };
        under.restore_weights()?;
        under.residual = Residual::of(&under.features, under.included())?;
        Ok(under)
    }

    /// The given features.
    pub(crate) fn given(&self) -> &Features {
        &self.given
    }

    /// Features with the same K up to rounding, and n ≤ m.
    pub(crate) fn features(&self) -> &Features {
        &self.features
    }

    /// The number of features before compression, if the given features were wide.
    pub(crate) fn compressed_from(&self) -> Option<usize> {
        let dims = self.given.dims();
        (dims > self.given.items()).then_some(dims)
    }

    /// Whether rows are in triangular coordinates, in which every entry is accurate relative to its column.
    pub(crate) fn is_graded(&self) -> bool {
        matches!(self.residual, Residual::Graded { .. })
    }

    /// The error of a row beyond the rounding of its entries, in units of ε times its length.
    pub(crate) fn row_rounding(&self) -> f64 {
        let dims = self.given.dims() as f64;
        let compressed = self.compressed_from().map_or(0.0, compression_rounding);
        match &self.residual {
            Residual::Whole => compressed,
            Residual::Within(Subspace { least, .. }) => compressed + dims / least,
            Residual::Graded { .. } => 0.0,
        }
    }

    /// Returns, for features that factor a kernel, a ground set whose kernel is an upper bound of the given one:
    ///
    /// ```text
    /// K ⪯ B Bᵀ,   B = [A, diag(√r_i)],   r_i ≥ ‖K − A Aᵀ‖ in units of the size of row i
    /// ```
    ///
    /// # Cost
    /// O(m³) time and 16m² bytes, as in computing the factor.
    pub(crate) fn above(&self) -> Result<Option<GroundSet>> {
        let Some(residual) = self.given.residual() else { return Ok(None) };
        let (items, rank) = (self.given.items(), self.given.dims());
        let mut values = vec![0.0; items * (rank + items)];
        for (item, row) in values.chunks_exact_mut(rank + items).enumerate() {
            self.given.read_stored(item, 1.0, &mut row[..rank]);
            row[rank + item] = residual.root_of_row(&row[..rank]);
        }
        let rows = Features::from_rows(items, rank + items, values)?;
        let above = GroundSet::new(&rows.weighted_as(&self.given, 0..items)?)?.under(&self.conditions)?;
        let narrowed = above.features.clone().weighted_as(&self.features, 0..items)?;
        Ok(Some(GroundSet { features: narrowed, log_shift: self.log_shift, ..above }))
    }

    pub(crate) fn conditions(&self) -> &Conditions {
        &self.conditions
    }

    /// T, ascending.
    pub(crate) fn included(&self) -> &[u32] {
        self.conditions.included()
    }

    /// The items that are neither included nor excluded.
    pub(crate) fn free_items(&self) -> FreeItems {
        self.conditions.free_items()
    }

    /// An orthonormal basis, n×(n−t), of the orthogonal complement of the included rows; `None` if it is the whole
    /// space.
    pub(crate) fn beyond(&self) -> Option<&Mat<f64>> {
        self.subspace().map(|subspace| &subspace.basis)
    }

    fn subspace(&self) -> Option<&Subspace> {
        if let Residual::Within(subspace) = &self.residual { Some(subspace) } else { None }
    }

    /// The number of dimensions left beyond the included rows.
    pub(crate) fn dims_left(&self) -> usize {
        match &self.residual {
            Residual::Whole => self.features.dims(),
            Residual::Within(subspace) => subspace.basis.ncols(),
            Residual::Graded { rank, .. } => *rank,
        }
    }

    /// The rank of these rows beyond the included ones, in exact arithmetic.
    pub(crate) fn exact_rank_beyond(&self, items: impl Iterator<Item = usize>) -> usize {
        let included = self.included().iter().map(|&item| item as usize);
        let rows = included.chain(items).map(|item| self.given.row(item));
        exact_rank(rows).saturating_sub(self.included().len())
    }

    /// ln det K_T, with the shift of narrowed weights added. ln det K_T is 0 for the empty set.
    pub(crate) fn log_det_included(&self) -> Estimate<f64> {
        let log_det = match &self.residual {
            Residual::Whole => Estimate { value: 0.0, error: 0.0 },
            Residual::Within(Subspace { log_det, .. }) | Residual::Graded { log_det, .. } => *log_det,
        };
        let shift = self.log_shift();
        Estimate { value: log_det.value + shift, error: log_det.error + f64::EPSILON * shift.abs() }
    }

    /// The unit vector of a row's residual beyond the included rows, in coordinates of the remaining subspace; `None`
    /// if the residual is zero.
    pub(crate) fn unit_residual(&self, row: &[f64]) -> Option<Vec<f64>> {
        let mut unit = row.to_vec();
        OrthonormalBasis::normalise(&mut unit)?;
        if let Some(Subspace { span, basis, .. }) = self.subspace() {
            span.remove_from(&mut unit)?;
            // Rounding errors along the span would count as an additional dimension.
            unit = (0..basis.ncols()).map(|j| dot(column(basis.as_ref(), j), &unit)).collect();
            OrthonormalBasis::normalise(&mut unit)?;
        }
        Some(unit)
    }

    /// The span of the included rows.
    pub(crate) fn span(&self) -> OrthonormalBasis {
        let nothing = || OrthonormalBasis::new(self.features.dims());
        self.subspace().map_or_else(nothing, |subspace| subspace.span.clone())
    }
}

impl Residual {
    fn of(features: &Features, included: &[u32]) -> Result<Self> {
        if included.is_empty() {
            return Ok(Self::Whole);
        }
        let mut span = OrthonormalBasis::new(features.dims());
        let items = included.iter().map(|&item| item as usize);
        let volume = log_volume(features, items, &mut span).map_err(|item| Error::DependentItems { item })?;
        let basis = complement(span.as_matrix());
        let mut log_det = volume.log_det;
        let mut items = included.iter().map(|&item| item as usize);
        log_det.error += factor_error(features, items.clone());
        if let Some(item) = items.next_back()
            && log_det.error == f64::INFINITY
        {
            // They may be dependent in the kernel.
            return Err(Error::DependentItems { item });
        }
        Ok(Self::Within(Subspace { span, basis, log_det, least: volume.least }))
    }
}
