//! Picks by scanning all items: the classical step, best when the rank is close to m.

use rand::{Rng, RngExt};

use crate::linalg::kernels::{add_scaled, dot, scale, transposed_product};

/// V, the m×r matrix of eigenvectors of the kernel (rows whitened), row-major.
#[derive(Debug)]
pub(crate) struct ElementaryScan {
    whitened: Vec<f64>,
    rank: usize,
}

#[derive(Debug, Default)]
pub(crate) struct ElementaryScratch {
    /// V_J, m×k, row-major.
    rows: Vec<f64>,
    /// ‖residual of row i‖².
    residuals: Vec<f64>,
    /// Orthonormal directions used up so far.
    directions: Vec<f64>,
    along: Vec<f64>,
    direction: Vec<f64>,
}

impl ElementaryScan {
    pub(super) fn new(whitened: Vec<f64>, rank: usize) -> Self {
        Self { whitened, rank }
    }

    /// Picks items until the chosen eigenvectors are used up or `keep` refuses one.
    ///
    /// Item i is next with probability ∝ d_i, the squared norm of what row i of V_J has beyond
    /// the rows picked; d_i ← d_i − (v_i·q)² after each pick with direction q.
    pub(super) fn draw<R: Rng + ?Sized>(
        &self,
        chosen: &[usize],
        rng: &mut R,
        scratch: &mut ElementaryScratch,
        picks: &mut Vec<u32>,
        mut keep: impl FnMut(u32) -> bool,
    ) -> bool {
        let size = chosen.len();
        if size == 0 {
            return true;
        }
        let ElementaryScratch { rows, residuals, directions, along, direction } = scratch;
        rows.clear();
        for row in self.whitened.chunks_exact(self.rank) {
            rows.extend(chosen.iter().map(|&j| row[j]));
        }
        residuals.clear();
        residuals.extend(rows.chunks_exact(size).map(|row| dot(row, row)));
        directions.clear();
        along.resize(residuals.len(), 0.0);
        for picked in 0..size {
            let item = pick(residuals, rng);
            #[expect(clippy::cast_possible_truncation, reason = "items are counted in 32 bits")]
            picks.push(item as u32);
            if !keep(picks[picked]) {
                return false;
            }
            if picked + 1 == size {
                break;
            }
            unit_residual(&rows[item * size..(item + 1) * size], directions, direction);
            transposed_product(rows, direction, along);
            for (residual, along) in residuals.iter_mut().zip(along.iter()) {
                *residual = (*residual - along * along).max(0.0);
            }
            residuals[item] = 0.0;
            directions.extend_from_slice(direction);
        }
        true
    }
}

/// An index with probability in proportion to its weight.
fn pick<R: Rng + ?Sized>(weights: &[f64], rng: &mut R) -> usize {
    let total: f64 = weights.iter().sum();
    let mut left = rng.random::<f64>() * total;
    let mut last = 0;
    for (index, &weight) in weights.iter().enumerate() {
        if weight > 0.0 {
            if left < weight {
                return index;
            }
            left -= weight;
            last = index;
        }
    }
    last
}

/// What `row` has beyond the orthonormal `directions`, as a unit vector.
fn unit_residual(row: &[f64], directions: &[f64], out: &mut Vec<f64>) {
    out.clear();
    out.extend_from_slice(row);
    for _ in 0..2 {
        for direction in directions.chunks_exact(row.len()) {
            let along = dot(direction, out);
            add_scaled(out, -along, direction);
        }
    }
    let norm = dot(out, out).sqrt();
    scale(out, norm.recip());
}
