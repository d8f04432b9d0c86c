//! How projecting rows off nearly dependent ones amplifies rounding errors.

use faer::Mat;

use crate::{
    linalg::{OrthonormalBasis, column, column_mut, dual_basis, kernels},
    map::{
        Candidates,
        rounding::{VANISHING, of_orthogonalisation, of_sum},
    },
};

/// How errors of the included rows affect the residuals of all others.
pub(super) struct ErrorAmplification {
    included: Option<Included>,
    /// How far rows may be from the data's, up to a rotation of all, as a fraction of their lengths: of wide features,
    /// which are compressed.
    compressed: f64,
}

/// The t included rows.
struct Included {
    /// w_i with w_i·u_j = 1 for i = j and 0 otherwise, in the span of the unit rows u_i; `None` if rounding hides them.
    duals: Option<Mat<f64>>,
    /// The distance of the rows from the computed span, at most.
    error: f64,
    /// The sine of the angle by which that span is off, at most.
    sine: f64,
    /// The error of coordinates beyond the span, as a fraction of a row.
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
        // From computing the span, and its orthogonal complement.
        let error = 2.0 * of_orthogonalisation(dims, count) + compressed;
        let norm = |dual: &[f64]| kernels::dot(dual, dual).sqrt();
        let sine = duals.as_ref().map_or(1.0, |duals| {
            2.0 * error * (0..count).map(|i| norm(column(duals.as_ref(), i))).sum::<f64>()
        });
        // Every coordinate is a sum over a row.
        let projecting = of_sum(dims) * (dims as f64).sqrt();
        Self { included: Some(Included { duals, error, sine, projecting }), compressed }
    }

    /// The error of a row's residual beyond the included rows, up to a rotation of all.
    ///
    /// As in [`include`](super::Subproblem::include), for several included rows at once.
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
            // Nothing is known of the span.
            _ => (length, 2.0),
        };
        along.min(length) + length * (bend + projecting) + own
    }

    /// The largest error, as a fraction of a row's length.
    pub(super) fn most(&self) -> f64 {
        let of = |Included { sine, projecting, .. }: &Included| {
            if *sine < 1.0 { 2.0 * sine + sine * sine + projecting } else { 3.0 + projecting }
        };
        self.included.as_ref().map_or(0.0, of) + self.compressed
    }
}
