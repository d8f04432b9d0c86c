//! The map of the rows of one part.

use faer::{Accum, Mat, MatMut, MatRef, Par, linalg::matmul::matmul};

use crate::{
    Features, Result,
    linalg::{
        self, Eigen, column,
        kernels::{self, dot},
    },
};

/// Rows per matrix product: as many as fit in the cache.
const BLOCK: usize = 256;

/// Rows this much shorter than the map could make them are mapped again.
///
/// Rounding then does not change their direction.
const SHORT: f64 = 1e-3;

/// a ↦ U W Vᵀ a, where V are the eigenvectors of a Gram matrix, and U is V or the identity.
#[derive(Clone, Debug)]
pub(crate) struct Map {
    vectors: Mat<f64>,
    /// The diagonal of W, descending.
    weights: Vec<f64>,
    form: Form,
}

#[derive(Clone, Debug)]
enum Form {
    /// All eigenvectors: U, and the product V W Uᵀ.
    Product { into: Mat<f64>, factor: Mat<f64> },
    /// The eigenvectors of few rows, with U = V, and the factor for all that is orthogonal to them.
    Few { rest: f64 },
}

impl Map {
    /// c G^(ρ/2) for a Gram matrix of any scale; the identity if there are no rows, or only zero rows.
    pub(crate) fn new(gram: MatRef<'_, f64>, rho: f64) -> Result<Self> {
        let Eigen { values, vectors } = linalg::eigen(gram)?;
        let largest = values.first().copied().unwrap_or_default();
        let weights = if largest > 0.0 { weights(&values, rho) } else { vec![1.0; values.len()] };
        Ok(Self::of(vectors, weights))
    }

    /// The same map from fewer rows than they have dimensions.
    ///
    /// The rows are the columns of a matrix A. The eigenvectors of A Aᵀ in their span come from A = Q R and R Rᵀ.
    pub(super) fn of_few(columns: MatRef<'_, f64>, rho: f64) -> Result<Self> {
        let factors = columns.qr();
        let Eigen { mut values, vectors } =
            linalg::eigen((factors.thin_R() * factors.thin_R().transpose()).as_ref())?;
        if values.first().is_none_or(|&largest| largest <= 0.0) {
            return Ok(Self {
                vectors: Mat::zeros(columns.nrows(), 0),
                weights: Vec::new(),
                form: Form::Few { rest: 1.0 },
            });
        }
        values.resize(columns.nrows(), 0.0);
        let mut weights = weights(&values, rho);
        let rest = weights[vectors.ncols()];
        weights.truncate(vectors.ncols());
        Ok(Self { vectors: factors.compute_thin_Q() * vectors, weights, form: Form::Few { rest } })
    }

    /// The map with these eigenvectors of a Gram matrix, and the factor for each.
    pub(crate) fn of(vectors: Mat<f64>, weights: Vec<f64>) -> Self {
        Self::into(vectors.clone(), vectors, weights)
    }

    fn into(vectors: Mat<f64>, into: Mat<f64>, weights: Vec<f64>) -> Self {
        let factor = linalg::scale_columns(vectors.as_ref(), &weights) * into.transpose();
        Self { vectors, weights, form: Form::Product { into, factor } }
    }

    /// The same map up to a rotation, in the coordinates of the eigenvectors.
    pub(crate) fn rotated(self) -> Self {
        let dims = self.weights.len();
        Self::into(self.vectors, Mat::identity(dims, dims), self.weights)
    }

    pub(crate) fn vectors(&self) -> MatRef<'_, f64> {
        self.vectors.as_ref()
    }

    pub(crate) fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// The largest factor by which a row becomes longer.
    pub(super) fn most(&self) -> f64 {
        self.weights.first().copied().unwrap_or(1.0)
    }

    /// Writes some mapped rows to their places among the rows from item `first` on.
    ///
    /// `scale` is a power of two that brings rows near 1.
    pub(super) fn write(
        &self,
        (features, scale): (&Features, f64),
        items: &[u32],
        first: usize,
        out: &mut [f64],
    ) {
        let dims = features.dims();
        let [mut rows, mut images] = [(); 2].map(|()| vec![0.0; BLOCK.min(items.len()) * dims]);
        for items in items.chunks(BLOCK) {
            let (rows, images) = (&mut rows[..items.len() * dims], &mut images[..items.len() * dims]);
            for (&item, row) in items.iter().zip(rows.chunks_exact_mut(dims)) {
                features.read_stored(item as usize, scale, row);
            }
            let block = MatRef::from_column_major_slice(rows, dims, items.len());
            self.apply_to_all(block, MatMut::from_column_major_slice_mut(images, dims, items.len()));
            for ((&item, row), image) in items.iter().zip(rows.chunks(dims)).zip(images.chunks_mut(dims)) {
                if dot(image, image) < (SHORT * self.most()).powi(2) * dot(row, row) {
                    self.apply(row, image);
                }
                let place = (item as usize - first) * dims;
                let scaled = image.iter().map(|value| value / scale);
                out[place..place + dims].iter_mut().zip(scaled).for_each(|(out, value)| *out = value);
            }
        }
    }

    /// Maps the columns of a matrix.
    fn apply_to_all(&self, columns: MatRef<'_, f64>, mut images: MatMut<'_, f64>) {
        match &self.form {
            Form::Product { factor, .. } => {
                matmul(images, Accum::Replace, factor.transpose(), columns, 1.0, Par::Seq);
            }
            Form::Few { rest } => {
                let mut along = self.vectors.transpose() * columns;
                for column in along.col_iter_mut() {
                    column.iter_mut().zip(&self.weights).for_each(|(along, weight)| *along *= weight - rest);
                }
                images.copy_from(columns * faer::Scale(*rest));
                matmul(images, Accum::Add, &self.vectors, &along, 1.0, Par::Seq);
            }
        }
    }

    /// Maps one row in the coordinates of the eigenvectors, so that small components keep their digits.
    fn apply(&self, row: &[f64], image: &mut [f64]) {
        let (into, rest) = match &self.form {
            Form::Product { into, .. } => (into, 0.0),
            Form::Few { rest } => (&self.vectors, *rest),
        };
        image.iter_mut().zip(row).for_each(|(image, value)| *image = rest * value);
        for (j, weight) in self.weights.iter().enumerate() {
            let along = dot(column(self.vectors.as_ref(), j), row);
            kernels::add_scaled(image, (weight - rest) * along, column(into.as_ref(), j));
        }
    }
}

/// c (λ / λ_1)^(ρ/2) for eigenvalues λ, descending, with the c that preserves Σ λ.
fn weights(values: &[f64], rho: f64) -> Vec<f64> {
    // Smaller eigenvalues are rounding of the largest.
    let least = values.len() as f64 * f64::EPSILON;
    let powers: Vec<f64> =
        values.iter().map(|value| (value / values[0]).max(least).powf(rho / 2.0)).collect();
    let before: f64 = values.iter().map(|value| value.max(0.0)).sum();
    let after: f64 = values.iter().zip(&powers).map(|(value, power)| value.max(0.0) * power * power).sum();
    let factor = (before / after).sqrt();
    powers.into_iter().map(|power| factor * power).collect()
}
