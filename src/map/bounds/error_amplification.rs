//! The amplification of rounding errors by projecting rows off nearly dependent ones.

use faer::Mat;

use crate::{
    linalg::{OrthonormalBasis, column, column_mut, dual_basis, kernels},
    map::{
        Candidates,
        rounding::{VANISHING, of_orthogonalisation, of_sum},
    },
};

/// The effect of errors in the included rows on the residuals of all others.
pub(super) struct ErrorAmplification {
    included: Option<Included>,
    /// The distance of the rows from the data, up to a rotation of all, as a fraction of their lengths.
    ///
    /// It is positive for wide features, which are compressed, and for weighted ones.
    compressed: f64,
}

/// The t included rows.
struct Included {
    /// w_i with w_i·u_j = 1 for i = j and 0 otherwise, in the span of the unit rows u_i; `None` if rounding hides
    /// them.
    duals: Option<Mat<f64>>,
    /// An upper bound of the distance of the rows from the computed span.
    error: f64,
    /// An upper bound of the sine of the angle by which the span is off.
    sine: f64,
    /// The error of the coordinates beyond the span, as a fraction of the row's length.
    projecting: f64,
}

impl ErrorAmplification {
    pub(super) fn of(candidates: &Candidates<'_>) -> Self {
        let (features, included) = (candidates.features(), candidates.ground.included());
        let compressed = candidates
            .ground
            .compressed_from()
            .map_or(0.0, |dims| of_orthogonalisation(dims, candidates.features().items()));
        // Weights and their products with entries are rounded.
        let weighted = if features.is_weighted() { 2.0 * f64::EPSILON } else { 0.0 };
        let compressed = compressed + weighted;
        if included.is_empty() {
            return Self { included: None, compressed };
        }
        let (dims, count) = (features.dims(), included.len());
        let mut units = Mat::zeros(dims, count);
        for (at, &item) in included.iter().enumerate() {
            let unit = column_mut(units.as_mut(), at);
            features.read_stored(item as usize, 1.0, unit);
            OrthonormalBasis::normalise(unit);
        }
        let duals = dual_basis(units.as_ref()).map(|(duals, ..)| duals);
        // Errors from computing the span and its orthogonal complement.
        let error = 2.0 * of_orthogonalisation(dims, count) + compressed;
        let norm = |dual: &[f64]| kernels::dot(dual, dual).sqrt();
        let sine = duals.as_ref().map_or(1.0, |duals| {
            2.0 * error * (0..count).map(|i| norm(column(duals.as_ref(), i))).sum::<f64>()
        });
        // Every coordinate is a sum over all entries of its row.
        let projecting = of_sum(dims) * (dims as f64).sqrt();
        Self { included: Some(Included { duals, error, sine, projecting }), compressed }
    }

    /// The error of a row's residual beyond the included rows, up to a rotation of all.
    ///
    /// The computation follows [`include`](super::Subproblem::include), with several included rows at once.
    pub(super) fn error_of(&self, row: &[f64]) -> f64 {
        let length = kernels::dot(row, row).sqrt();
        if row.iter().all(|&x| x == 0.0) {
            return 0.0;
        }
        let own = length * self.compressed + VANISHING;
        let Some(Included { duals, error, sine, projecting }) = &self.included else { return own };
        let (along, bend) = match duals {
            Some(duals) if *sine < 1.0 => {
                let along = |i: usize| kernels::dot(column(duals.as_ref(), i), row).abs();
                ((0..duals.ncols()).map(along).sum::<f64>() * 2.0 * error, sine * sine)
            }
            // Nothing is known about the span.
            _ => (length, 2.0),
        };
        along.min(length) + length * (bend + projecting) + own
    }

    /// The largest error of any row, as a fraction of its length.
    pub(super) fn most(&self) -> f64 {
        let of = |Included { sine, projecting, .. }: &Included| {
            if *sine < 1.0 { 2.0 * sine + sine * sine + projecting } else { 3.0 + projecting }
        };
        self.included.as_ref().map_or(0.0, of) + self.compressed
    }
}
