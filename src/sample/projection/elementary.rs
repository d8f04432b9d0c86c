//! Picks by scanning all items: the classical algorithm, best if the rank is close to m.

use rand::{Rng, RngExt};

use crate::{
    engine::Rows,
    linalg::{
        kernels::{add_scaled, add_squares, subtract_squares, sum},
        orthonormalise,
    },
};

/// The number of items whose weights are summed together in the search.
const BLOCK: usize = 64;

/// V, the m×r matrix of eigenvectors of the kernel, column-major.
#[derive(Debug)]
pub(crate) struct ElementaryScan {
    vectors: Vec<f64>,
    /// The item of each entry of an eigenvector.
    items: Vec<u32>,
}

#[derive(Debug, Default)]
pub(crate) struct ElementaryScratch {
    /// ‖residual of row i‖².
    residuals: Vec<f64>,
    blocks: Vec<f64>,
    /// Orthonormal directions of the picks so far, in the coordinates of the chosen eigenvectors.
    directions: Vec<f64>,
    direction: Vec<f64>,
    /// Every item's component along the last direction.
    along: Vec<f64>,
}

impl ElementaryScan {
    /// Transposes the rows of V, which are given item by item.
    pub(super) fn new(rows: &Rows<'_>, whitened_rows: &[f64], rank: usize) -> Self {
        #[expect(clippy::cast_possible_truncation, reason = "items are counted in 32 bits")]
        let items: Vec<u32> = rows.iter().map(|(item, _)| item as u32).collect();
        let count = items.len();
        let mut vectors = vec![0.0; whitened_rows.len()];
        for (position, row) in whitened_rows.chunks_exact(rank).enumerate() {
            for (j, &value) in row.iter().enumerate() {
                vectors[j * count + position] = value;
            }
        }
        Self { vectors, items }
    }

    fn vector(&self, j: usize) -> &[f64] {
        &self.vectors[j * self.items.len()..(j + 1) * self.items.len()]
    }

    /// Picks items until the chosen eigenvectors are used up or `keep` rejects one.
    ///
    /// Item i is next with probability ∝ d_i, the squared residual of row i of V_J beyond the rows picked. After each
    /// pick with direction q, d_i ← d_i − (v_i·q)².
    pub(super) fn draw<R: Rng + ?Sized>(
        &self,
        chosen: &[usize],
        rng: &mut R,
        scratch: &mut ElementaryScratch,
        picks: &mut Vec<u32>,
        mut keep: impl FnMut(u32) -> bool,
    ) -> bool {
        let ElementaryScratch { residuals, blocks, directions, direction, along } = scratch;
        residuals.clear();
        residuals.resize(self.items.len(), 0.0);
        for &j in chosen {
            add_squares(residuals, self.vector(j));
        }
        directions.clear();
        for picked in 0..chosen.len() {
            let position = pick(residuals, blocks, rng);
            picks.push(self.items[position]);
            if !keep(picks[picked]) {
                return false;
            }
            if picked + 1 == chosen.len() {
                break;
            }
            direction.clear();
            direction.extend(chosen.iter().map(|&j| self.vector(j)[position]));
            orthonormalise(direction, directions, |_, _| ());
            along.clear();
            along.resize(self.items.len(), 0.0);
            for (&j, &q) in chosen.iter().zip(direction.iter()) {
                add_scaled(along, q, self.vector(j));
            }
            subtract_squares(residuals, along);
            residuals[position] = 0.0;
            directions.extend_from_slice(direction);
        }
        true
    }
}

/// An index with probability in proportion to its weight: the block first, then the index.
fn pick<R: Rng + ?Sized>(weights: &[f64], blocks: &mut Vec<f64>, rng: &mut R) -> usize {
    blocks.clear();
    blocks.extend(weights.chunks(BLOCK).map(sum));
    let mut left = rng.random::<f64>() * sum(blocks);
    let block = search(blocks, &mut left);
    let start = block * BLOCK;
    start + search(&weights[start..weights.len().min(start + BLOCK)], &mut left)
}

/// Returns the index at which the running sum of the weights exceeds `left`, and leaves the remainder in `left`. If
/// rounding leaves a little beyond the end, it is the last index of positive weight.
fn search(weights: &[f64], left: &mut f64) -> usize {
    let mut last = 0;
    for (index, &weight) in weights.iter().enumerate() {
        if weight > 0.0 {
            if *left < weight {
                return index;
            }
            *left -= weight;
            last = index;
        }
    }
    // If the search continues inside the last index, the rest belongs to it.
    *left = 0.0;
    last
}
