//! Swaps of one or several items: their effect on the determinant, and the update of the basis.

use super::basis::Basis;
use crate::linalg::{
    INDEPENDENCE_TOLERANCE,
    kernels::{add_scaled, dot, scale, subtract_outer_products, subtract_product, transposed_product},
    orthonormalise,
};

/// Residuals whose square is below this fraction of the row's are projected a second time, to remove rounding errors
/// in the span.
const CANCELLED: f64 = 0.01;

/// Buffers of one swap of b items I for b items J, reused from swap to swap.
#[derive(Clone, Debug, Default)]
pub(super) struct SwapBuffers {
    slots: Vec<usize>,
    items: Vec<u32>,
    /// Orthonormal basis U of the leaving duals, b columns.
    leaving: Vec<f64>,
    /// Rows of J, b columns.
    rows: Vec<f64>,
    /// Wᵀa_j, one column per j.
    coefficients: Vec<f64>,
    /// Uᵀa_j, one column per j.
    along: Vec<f64>,
    /// V, orthonormal; the residual of J beyond S∖I is V T.
    entering: Vec<f64>,
    /// T, upper triangular, by columns.
    triangle: Vec<f64>,
    /// Wᵀu and the coefficients of V, for the update.
    beta: Vec<f64>,
    gamma: Vec<f64>,
    log_ratio: f64,
}

impl Basis {
    /// ln det(K_{S∖I∪J}) − ln det(K_S); −∞ if the new set is dependent.
    ///
    /// ```text
    /// v_j = a_j − π_{span(S∖I)}(a_j) = (a_j − A_Sᵀ Wᵀ a_j) + U Uᵀ a_j
    /// ratio = det(V_Jᵀ V_J) · det(W_Iᵀ W_I)
    /// ```
    ///
    /// # Cost
    /// 4nk + 4nb operations per entering item; k counts the included items.
    pub(super) fn weigh(&self, swap: &mut SwapBuffers, moves: impl Iterator<Item = (usize, u32)>) -> f64 {
        swap.clear(moves);
        let known = |swap: &SwapBuffers, at: usize| {
            let item = swap.items[at];
            let stays = self.items.iter().position(|&other| other == item);
            stays.is_some_and(|slot| !swap.slots.contains(&slot)) || swap.items[..at].contains(&item)
        };
        if (0..swap.items.len()).any(|at| known(swap, at)) {
            return f64::NEG_INFINITY;
        }
        for at in 0..swap.slots.len() {
            swap.leave(self, swap.slots[at]);
        }
        for at in 0..swap.slots.len() {
            if !swap.enter(self, at) {
                return f64::NEG_INFINITY;
            }
        }
        swap.log_ratio
    }

    /// Makes the swap that was weighed last.
    ///
    /// ```text
    /// w_l ← w_l − U β_l − V T⁻ᵀ (A_J w_l − A_J U β_l),   β_l = Uᵀ w_l;   the duals of J are V T⁻ᵀ
    /// ```
    ///
    /// # Cost
    /// 6nk operations per item.
    pub(super) fn make(&mut self, swap: &mut SwapBuffers) {
        let (dims, count, size) = (self.dims(), self.items.len(), swap.slots.len());
        swap.update_coefficients(&self.duals, dims, count);
        let SwapBuffers { slots, items, leaving, rows, entering, triangle, beta, gamma, log_ratio, .. } =
            swap;
        for at in 0..size {
            let (own, numbers) = (at * dims..(at + 1) * dims, at * count..(at + 1) * count);
            let (u, v) = (&leaving[own.clone()], &entering[own]);
            subtract_outer_products(&mut self.duals, [u, v], [&beta[numbers.clone()], &gamma[numbers]]);
        }
        // V T⁻ᵀ, from the last column to the first.
        for at in (0..size).rev() {
            let (head, tail) = entering.split_at_mut((at + 1) * dims);
            let own = &mut head[at * dims..];
            for (later, dual) in (at + 1..size).zip(tail.chunks_exact(dims)) {
                add_scaled(own, -triangle[later * size + at], dual);
            }
            scale(own, triangle[at * size + at].recip());
        }
        for (at, &slot) in slots.iter().enumerate() {
            let (from, to) = (at * dims..(at + 1) * dims, slot * dims..(slot + 1) * dims);
            self.duals[to.clone()].copy_from_slice(&entering[from.clone()]);
            self.rows[to].copy_from_slice(&rows[from]);
            self.items[slot] = items[at];
        }
        self.log_det += *log_ratio;
    }
}

impl SwapBuffers {
    fn clear(&mut self, moves: impl Iterator<Item = (usize, u32)>) {
        self.slots.clear();
        self.items.clear();
        for (slot, item) in moves {
            self.slots.push(slot);
            self.items.push(item);
        }
        let Self { leaving, entering, rows, along, coefficients, triangle, .. } = self;
        [leaving, entering, rows, along, coefficients, triangle].into_iter().for_each(Vec::clear);
        self.log_ratio = 0.0;
    }

    /// Adds the dual of a leaving item.
    fn leave(&mut self, basis: &Basis, slot: usize) {
        let mut direction = basis.dual(slot).to_vec();
        let norm = orthonormalise(&mut direction, &self.leaving, |_, _| ());
        self.log_ratio += 2.0 * norm.ln();
        self.leaving.extend_from_slice(&direction);
    }

    /// Adds the residual of an entering item beyond the rows that stay; `false` if it is zero.
    fn enter(&mut self, basis: &Basis, at: usize) -> bool {
        let (dims, count, size) = (basis.dims(), basis.items.len(), self.slots.len());
        self.rows.resize((at + 1) * dims, 0.0);
        let row = &mut self.rows[at * dims..];
        basis.features.read_row(self.items[at] as usize, basis.scale(self.slots[at]), row);
        let whole = dot(row, row);
        self.coefficients.resize((at + 1) * count, 0.0);
        let coefficients = &mut self.coefficients[at * count..];
        transposed_product(&basis.duals, row, coefficients);
        let mut left = row.to_vec();
        subtract_product(&mut left, &basis.rows, coefficients);
        if dot(&left, &left) < CANCELLED * whole {
            let mut again = vec![0.0; count];
            transposed_product(&basis.duals, &left, &mut again);
            subtract_product(&mut left, &basis.rows, &again);
            add_scaled(coefficients, 1.0, &again);
        }
        for direction in self.leaving.chunks_exact(dims) {
            let along = dot(direction, row);
            add_scaled(&mut left, along, direction);
            self.along.push(along);
        }
        self.triangle.resize((at + 1) * size, 0.0);
        let triangle = &mut self.triangle[at * size..];
        let norm = orthonormalise(&mut left, &self.entering, |s, along| triangle[s] += along);
        triangle[at] = norm;
        self.entering.extend_from_slice(&left);
        self.log_ratio += 2.0 * norm.ln();
        // Rows that agree to twelve digits count as one.
        norm > INDEPENDENCE_TOLERANCE * whole.sqrt()
    }

    /// β_l and T⁻ᵀ (A_J w_l − A_J U β_l) for every column l.
    fn update_coefficients(&mut self, duals: &[f64], dims: usize, count: usize) {
        let Self { slots, leaving, coefficients, along, triangle, beta, gamma, .. } = self;
        let size = slots.len();
        beta.resize(size * count, 0.0);
        gamma.resize(size * count, 0.0);
        for (direction, beta) in leaving.chunks_exact(dims).zip(beta.chunks_exact_mut(count)) {
            transposed_product(duals, direction, beta);
        }
        for at in 0..size {
            let (known, rest) = gamma.split_at_mut(at * count);
            let own = &mut rest[..count];
            own.copy_from_slice(&coefficients[at * count..(at + 1) * count]);
            for (along, beta) in along[at * size..].iter().zip(beta.chunks_exact(count)) {
                add_scaled(own, -along, beta);
            }
            for (t, known) in triangle[at * size..].iter().zip(known.chunks_exact(count)) {
                add_scaled(own, -t, known);
            }
            scale(own, triangle[at * size + at].recip());
        }
    }
}
