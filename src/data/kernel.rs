//! Dense kernels, factored into features.

use faer::{Mat, MatRef};

use super::{Features, Scalar};
use crate::{Error, Result, linalg};

/// A dense likelihood kernel K (m×m, symmetric, positive semidefinite), factored into features.
///
/// ```text
/// K = U Λ Uᵀ = A Aᵀ,  A = U Λ^½  (m×r)
/// ```
///
/// # Cost
/// O(m³) time; 8m² bytes for K and 8mr for the factor.
///
/// # Numerics
/// K must be symmetric within 1e-10 of the largest |entry|, and its smallest eigenvalue above −1e-10 of the largest.
/// Eigenvalues below m·ε of the largest (2.2e-16·m) count as zero. So do rows of A whose length is within the
/// rounding of A, m·ε of its largest singular value; an item with K_ii = 0 has a row of zeros. The error of every
/// answer includes ‖K − A Aᵀ‖.
///
/// # Rounded kernels
/// Values in f32 or f16, such as products of embeddings, describe a semidefinite kernel only up to their rounding.
/// The rounding of entry (i, j) is taken as at most 4ε √(K_ii K_jj), with the ε of their type. K must then be
/// symmetric within 8ε of the largest |entry|, and its smallest eigenvalue above −4ε tr K.
///
/// Such a kernel, or one with a tolerance ([`from_dense_within`](Self::from_dense_within)), is replaced by the
/// nearest semidefinite kernel whose eigenvalues stand out from the observed rounding: eigenvalues up to −2λ, for the
/// most negative eigenvalue λ, also count as zero. Models then use this kernel A Aᵀ, answers state their errors with
/// respect to it, and [`error`](Self::error) is its distance from K.
///
/// ```
/// # fn main() -> Result<(), partition_dpp::Error> {
/// let kernel = partition_dpp::Kernel::from_dense(2, &[2.0, 1.0, 1.0, 2.0])?;
/// assert_eq!(kernel.features().items(), 2);
/// assert_eq!(kernel.rank(), 2);
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct Kernel {
    features: Features,
    error: f64,
}

impl Kernel {
    /// Takes m·m values in row-major order.
    ///
    /// The values are f64 or, with an allowance for rounding, f32 or `half::f16`.
    ///
    /// # Errors
    /// - [`Error::Empty`], [`Error::Shape`], [`Error::NotFinite`] as in [`Features::from_rows`];
    /// - [`Error::Asymmetric`] with the worst pair;
    /// - [`Error::NotPositiveSemidefinite`] with the smallest eigenvalue;
    /// - [`Error::ZeroKernel`] if no eigenvalue is positive.
    pub fn from_dense<T: Scalar>(items: usize, values: &[T]) -> Result<Self> {
        Self::factor(&Features::from_rows(items, items, values)?, Rounding::of_type::<T>())
    }

    /// Takes a kernel with a given tolerance, for values of any type.
    ///
    /// The kernel must be symmetric within `tolerance` of the largest |entry|, and its eigenvalues must be above
    /// −`tolerance` of the largest.
    ///
    /// ```
    /// # fn main() -> Result<(), partition_dpp::Error> {
    /// use partition_dpp::Kernel;
    /// let measured = [1.0, 1.0001, 1.0001, 1.0];
    /// assert!(Kernel::from_dense(2, &measured).is_err());
    /// let kernel = Kernel::from_dense_within(2, &measured, 1e-3)?;
    /// assert_eq!(kernel.rank(), 1);
    /// assert!(kernel.error() < 1e-4);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// The errors of [`Kernel::from_dense`]; [`Error::NotPositive`] if the tolerance is not a positive number.
    pub fn from_dense_within<T: Scalar>(items: usize, values: &[T], tolerance: f64) -> Result<Self> {
        let rounding = Rounding::within(tolerance)?;
        Self::factor(&Features::from_rows(items, items, values)?, rounding)
    }

    /// Opens an m×m .npy file: f32 and f16 are taken as [rounded](Self#rounded-kernels), all other types as f64.
    ///
    /// # Errors
    /// The errors of [`Features::open_npy`] and [`Kernel::from_dense`]; [`Error::Shape`] if the array is not square.
    #[cfg(feature = "npy")]
    pub fn open_npy(path: impl AsRef<std::path::Path>) -> Result<Self> {
        let array = square(path)?;
        // Integers are exact in any type that they are converted to.
        let rounding = match array.float_bytes() {
            Some(2) => Rounding::of_type::<half::f16>(),
            Some(4) => Rounding::of_type::<f32>(),
            _ => Rounding::Double,
        };
        Self::factor(&array.into_features()?, rounding)
    }

    /// Opens an m×m .npy file, with the tolerance of [`from_dense_within`](Self::from_dense_within).
    ///
    /// # Errors
    /// The errors of [`Kernel::open_npy`] and [`Kernel::from_dense_within`].
    #[cfg(feature = "npy")]
    pub fn open_npy_within(path: impl AsRef<std::path::Path>, tolerance: f64) -> Result<Self> {
        let rounding = Rounding::within(tolerance)?;
        Self::factor(&square(path)?.into_features()?, rounding)
    }

    /// Takes a kernel of this rank whose diagonal is exactly 1 and whose entries are off by at most `rounding`. No
    /// row of the factor is longer than 1.
    pub(crate) fn of_unit_diagonal(
        items: usize,
        values: Vec<f64>,
        (rounding, rank): (f64, usize),
    ) -> Result<Self> {
        let matrix = Features::from_rows(items, items, values)?;
        Self::factor(&matrix, Rounding::OfUnitDiagonal { entry: rounding, rank })
    }

    fn factor(matrix: &Features, rounding: Rounding) -> Result<Self> {
        let items = matrix.items();
        let mut kernel = Mat::<f64>::zeros(items, items);
        for item in 0..items {
            // Column i of a symmetric matrix is its row i.
            matrix.read_row(item, 1.0, linalg::column_mut(kernel.as_mut(), item));
        }
        check_symmetry(kernel.as_ref(), rounding)?;
        let sizes = equilibrate(&mut kernel);
        let largest_size = sizes.iter().copied().fold(0.0, f64::max);
        let eigen = linalg::eigen(kernel.as_ref())?;
        let (largest, smallest) = (eigen.values[0], eigen.values[items - 1]);
        let tolerance = rounding.of_eigenvalues(largest.abs(), eigen.values.iter().sum());
        if smallest < -tolerance || largest < 0.0 {
            let unit = largest_size * largest_size;
            let (eigenvalue, tolerance) = (smallest * unit, tolerance * unit);
            return Err(Error::NotPositiveSemidefinite { eigenvalue, tolerance });
        }
        let floor = rounding.floor(items as f64 * f64::EPSILON * largest, smallest);
        let rank = eigen.values.iter().take_while(|&&value| value > floor).count();
        if rank == 0 {
            return Err(Error::ZeroKernel);
        }
        let roots: Vec<f64> = eigen.values[..rank].iter().map(|value| value.sqrt()).collect();
        let mut factor = linalg::scale_columns(eigen.vectors.subcols(0, rank), &roots);
        // For an item of variance zero, the entries of eigenvectors are rounding errors.
        let negligible = items as f64 * f64::EPSILON * roots[0];
        for i in 0..items {
            let length = linalg::norm((0..rank).map(|j| factor[(i, j)]));
            if kernel[(i, i)].max(0.0).sqrt().min(length) <= negligible {
                (0..rank).for_each(|j| factor[(i, j)] = 0.0);
            }
            if let Rounding::OfUnitDiagonal { .. } = rounding {
                // Shorter by as many rounding errors as a product of rows may add.
                let root = kernel[(i, i)].sqrt();
                let ratio = (1.0 - 16.0 * f64::EPSILON) * root / length.max(root);
                (0..rank).for_each(|j| factor[(i, j)] *= ratio);
            }
        }
        let residual = rounding.residual(kernel.as_ref(), factor.as_ref(), largest);
        let residual = Residual { size: largest_size, ..residual };
        let omitted: f64 = eigen.values[rank..].iter().map(|value| value.abs()).sum();
        let error = omitted / eigen.values.iter().map(|value| value.abs()).sum::<f64>();
        let entries = (0..items).flat_map(|i| (0..rank).map(move |j| (i, j)));
        let factor = entries.map(|(i, j)| factor[(i, j)] * sizes[i]).collect::<Vec<_>>();
        let features = Features::from_rows(items, rank, factor)?.with_residual(Some(residual));
        Ok(Self { features, error })
    }

    /// A with A Aᵀ = K, one column per positive eigenvalue.
    #[must_use]
    pub fn features(&self) -> &Features {
        &self.features
    }

    /// Number of eigenvalues that count as positive.
    #[must_use]
    pub fn rank(&self) -> usize {
        self.features.dims()
    }

    /// The relative error of A Aᵀ: the sum of |λ| over the eigenvalues that count as zero, divided by the sum of |λ|
    /// over all eigenvalues.
    ///
    /// If no eigenvalue is negative, this is the relative error of the trace.
    #[must_use]
    pub fn error(&self) -> f64 {
        self.error
    }
}

/// The rounding of a kernel's values.
#[derive(Clone, Copy, Debug)]
enum Rounding {
    /// The rounding of f64. The error of the factor is part of the errors of answers.
    Double,
    /// The rounding of f64, with a unit diagonal and other entries that are off by at most `entry`. Both are part of
    /// the errors of answers. `rank` is the rank of the kernel without rounding.
    OfUnitDiagonal { entry: f64, rank: usize },
    /// This fraction of √(K_ii K_jj) for entry (i, j), so that ‖E‖ ≤ ‖E‖_F is at most this fraction of the trace.
    OfEntries(f64),
    /// This fraction of the largest |entry|, and of the largest eigenvalue.
    Within(f64),
}

/// The default tolerance, as a fraction of the largest |entry| and of the largest eigenvalue.
const DOUBLE_TOLERANCE: f64 = 1e-10;

impl Rounding {
    /// A few rounding errors: sums of products in the values' own precision are off by more than one.
    fn of_type<T: Scalar>() -> Self {
        match size_of::<T>() {
            2 => Self::OfEntries(4.0 * 2_f64.powi(-10)),
            4 => Self::OfEntries(4.0 * f64::from(f32::EPSILON)),
            _ => Self::Double,
        }
    }

    fn within(tolerance: f64) -> Result<Self> {
        if tolerance.is_finite() && tolerance > 0.0 {
            return Ok(Self::Within(tolerance));
        }
        Err(Error::NotPositive { what: "the tolerance of the kernel", value: tolerance })
    }

    /// The largest |K_ij − K_ji| allowed, as a fraction of the largest |entry|.
    fn of_symmetry(self) -> f64 {
        match self {
            Self::Double | Self::OfUnitDiagonal { .. } => DOUBLE_TOLERANCE,
            Self::OfEntries(fraction) => 2.0 * fraction,
            Self::Within(tolerance) => tolerance,
        }
    }

    /// How far below zero an eigenvalue may be.
    fn of_eigenvalues(self, largest: f64, trace: f64) -> f64 {
        match self {
            Self::Double | Self::OfUnitDiagonal { .. } => DOUBLE_TOLERANCE * largest,
            Self::OfEntries(fraction) => fraction * trace,
            Self::Within(tolerance) => tolerance * largest,
        }
    }

    /// The threshold below which an eigenvalue counts as zero: the rounding of f64, and any other rounding observed.
    fn floor(self, of_double: f64, smallest: f64) -> f64 {
        match self {
            Self::Double | Self::OfUnitDiagonal { .. } => of_double,
            Self::OfEntries(_) | Self::Within(_) => of_double.max(-2.0 * smallest),
        }
    }

    /// The residual of the factor, if rows have size 1.
    fn residual(self, kernel: MatRef<'_, f64>, factor: MatRef<'_, f64>, largest: f64) -> Residual {
        let (items, rank) = factor.shape();
        match self {
            Self::Double => {
                let row = |i: usize| (0..items).map(|j| kernel[(i, j)]).collect::<Vec<f64>>();
                // If all items are in the rank, the factor has no error.
                let dims = if rank < items { linalg::exact_rank((0..items).map(row)) } else { items };
                let relative = residual(kernel, factor, largest);
                Residual { relative, size: 1.0, left_out: dims.saturating_sub(rank) }
            }
            Self::OfUnitDiagonal { entry, rank: whole } => {
                let relative = residual(kernel, factor, largest) + items as f64 * entry * kernel[(0, 0)];
                // Rounding may hide dimensions from the rank of the matrix.
                Residual { relative, size: 1.0, left_out: whole.saturating_sub(rank) }
            }
            // The law is defined by the factor, so only its products have rounding errors.
            Self::OfEntries(_) | Self::Within(_) => {
                Residual { relative: product_rounding(items, largest), size: 1.0, left_out: 0 }
            }
        }
    }
}

/// The error of the factor of a kernel: |K − A Aᵀ| ≤ `relative`, in units of the rows' sizes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Residual {
    /// A bound on ‖D⁻¹ (K − A Aᵀ) D⁻¹‖, with D the sizes of the rows.
    relative: f64,
    /// The largest size.
    size: f64,
    /// The number of dimensions of K that A lacks.
    pub(crate) left_out: usize,
}

impl Residual {
    pub(super) fn max(self, other: Self) -> Self {
        Self {
            relative: self.relative.max(other.relative),
            size: self.size.max(other.size),
            left_out: self.left_out + other.left_out,
        }
    }

    /// The residual after rows change, if K − A Aᵀ becomes at most `factor` times as large. `rows` holds each row
    /// before and after the change.
    pub(crate) fn amplified(self, factor: f64, rows: impl Iterator<Item = (Vec<f64>, Vec<f64>)>) -> Self {
        // The same, except that only the sizes of the rows count.
        let unit = Self { relative: 1.0, ..self };
        let ratio = |(before, after): (Vec<f64>, Vec<f64>)| {
            let is_zero = before.iter().all(|x| x.abs() <= 0.0);
            if is_zero { 1.0 } else { unit.root_of_row(&before) / unit.root_of_row(&after) }
        };
        let shortened = rows.map(ratio).fold(1.0, f64::max);
        Self { relative: factor * shortened * shortened * self.relative, ..self }
    }

    /// `relative` times the squared size of a row of A.
    pub(crate) fn of_row(self, row: &[f64]) -> f64 {
        self.root_of_row(row).powi(2)
    }

    /// The square root of [`of_row`](Self::of_row).
    pub(crate) fn root_of_row(self, row: &[f64]) -> f64 {
        let norm = linalg::norm(row.iter().copied());
        if norm == 0.0 {
            // Its variance is subnormal.
            return f64::MIN_POSITIVE.sqrt();
        }
        // Rounding may have shortened the row after its size was computed.
        let ratio = 1.001 * norm / self.size;
        self.relative.sqrt() * self.size * rounded_size(ratio)
    }
}

/// The size of a row relative to the longest.
///
/// Rows at most a thousandth as long as the longest get their own size, a power of 16 no smaller than the row. This
/// way small rows are not mistaken for rounding errors, and no size exceeds the longest.
fn rounded_size(ratio: f64) -> f64 {
    if 0.0 < ratio && ratio < 2_f64.powi(-10) { (4.0 * (ratio.log2() / 4.0).ceil()).exp2() } else { 1.0 }
}

/// K ← D⁻¹ K D⁻¹; returns D, powers of two.
fn equilibrate(kernel: &mut Mat<f64>) -> Vec<f64> {
    // A subnormal variance has too few digits for correlations.
    let length = |variance: f64| if variance < f64::MIN_POSITIVE { 0.0 } else { variance.sqrt() };
    let lengths: Vec<f64> = (0..kernel.nrows()).map(|i| length(kernel[(i, i)])).collect();
    let longest = lengths.iter().fold(0.0, |most, length| f64::max(most, *length));
    let unit = linalg::power_of_two_near(longest);
    let size = |length: &f64| if longest > 0.0 { unit * rounded_size(length / unit) } else { 1.0 };
    let sizes: Vec<f64> = lengths.iter().map(size).collect();
    *kernel = Mat::from_fn(kernel.nrows(), kernel.ncols(), |i, j| kernel[(i, j)] / sizes[i] / sizes[j]);
    sizes
}

/// A bound on ‖K − A Aᵀ‖: its computed value plus the rounding of the product.
fn residual(kernel: MatRef<'_, f64>, factor: MatRef<'_, f64>, largest: f64) -> f64 {
    (kernel - factor * factor.transpose()).norm_l2() + product_rounding(kernel.nrows(), largest)
}

fn product_rounding(items: usize, largest: f64) -> f64 {
    4.0 * f64::EPSILON * (items as f64).sqrt() * largest
}

/// Opens a .npy file whose shape is square.
#[cfg(feature = "npy")]
fn square(path: impl AsRef<std::path::Path>) -> Result<super::NpyArray> {
    let array = super::NpyArray::open(path)?;
    if let &[rows, columns] = array.shape() {
        let size = |size| usize::try_from(size).unwrap_or(usize::MAX);
        check_square(size(rows), size(columns))?;
    }
    Ok(array)
}

pub(super) fn check_square(rows: usize, columns: usize) -> Result<()> {
    if rows == columns {
        return Ok(());
    }
    Err(Error::Shape { what: "a row of the kernel (it must be square)", expected: rows, found: columns })
}

fn check_symmetry(kernel: MatRef<'_, f64>, rounding: Rounding) -> Result<()> {
    let (mut worst, mut row, mut column, mut largest) = (0.0, 0, 0, 0.0);
    for j in 0..kernel.ncols() {
        for i in 0..=j {
            let gap = f64::abs(kernel[(i, j)] - kernel[(j, i)]);
            largest = f64::max(largest, kernel[(i, j)].abs());
            if gap > worst {
                (worst, row, column) = (gap, i, j);
            }
        }
    }
    let tolerance = rounding.of_symmetry() * largest;
    if worst > tolerance {
        return Err(Error::Asymmetric { row, column, gap: worst, tolerance });
    }
    Ok(())
}
