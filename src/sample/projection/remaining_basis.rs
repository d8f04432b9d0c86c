//! The unused span of the chosen eigenvectors while items are picked by trials, for any source of trials.

use rand::{Rng, RngExt};

use crate::linalg::kernels::{reflect_and_drop_last, transposed_product};

/// Trials per pick after which rounding must have corrupted the eigenvectors, in units of the expected number. With
/// intact eigenvectors, all of them fail once in e⁶⁴ picks.
const PATIENCE: f64 = 64.0;

/// B, the chosen eigenvectors beyond the rows picked so far.
///
/// A row of length √h is tried with probability in proportion to h, and scaled by 1/√h. It is picked with probability
/// ‖Bᵀ row‖²; B then loses the direction of the row.
#[derive(Debug, Default)]
pub(crate) struct RemainingBasis {
    /// B, column-major.
    basis: Vec<f64>,
    /// Bᵀ a of the current trial; becomes the Householder vector. One entry per column of B.
    image: Vec<f64>,
    product: Vec<f64>,
}

impl RemainingBasis {
    /// Begins with these columns, of `dims` entries each.
    pub(crate) fn begin<'c>(&mut self, dims: usize, columns: impl Iterator<Item = &'c [f64]>) {
        self.basis.clear();
        let mut count = 0;
        for column in columns {
            self.basis.extend_from_slice(column);
            count += 1;
        }
        self.image.resize(count, 0.0);
        self.product.resize(dims, 0.0);
    }

    /// Begins with the `dims` unit vectors.
    pub(crate) fn begin_with_units(&mut self, dims: usize) {
        self.basis.clear();
        self.basis.resize(dims * dims, 0.0);
        self.basis.iter_mut().step_by(dims + 1).for_each(|entry| *entry = 1.0);
        self.image.resize(dims, 0.0);
        self.product.resize(dims, 0.0);
    }

    /// Number of columns, which is the number of picks to come.
    pub(crate) fn columns(&self) -> usize {
        self.image.len()
    }

    /// The most trials for the next pick; on average, it takes `total`/columns.
    pub(crate) fn most_trials(&self, total: f64) -> u64 {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "about 64 r, or saturating"
        )]
        let most = (PATIENCE * (1.0 + total / self.columns() as f64)) as u64;
        most
    }

    /// Returns ‖Bᵀ row‖ if a coin accepts the row, which it does with probability ‖Bᵀ row‖².
    pub(crate) fn accept<R: Rng + ?Sized>(&mut self, row: &[f64], rng: &mut R) -> Option<f64> {
        let acceptance = transposed_product(&self.basis, row, &mut self.image);
        (rng.random::<f64>() < acceptance).then(|| acceptance.sqrt())
    }

    /// Removes the direction of the last accepted row from B; `norm` is ‖Bᵀ row‖.
    pub(crate) fn use_up(&mut self, norm: f64) {
        // Householder: rotate the columns of B so that the last is along Bᵀa, then drop it.
        let Some(last) = self.image.last_mut() else { return };
        let along = *last;
        *last += norm.copysign(along);
        let tau = 1.0 / (norm * (norm + along.abs()));
        reflect_and_drop_last(&mut self.basis, &self.image, tau, &mut self.product);
        self.image.pop();
    }
}
