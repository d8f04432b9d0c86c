//! One swap: its gain, and its update of all numbers.

use super::chosen::{Chosen, Offer};
use crate::{
    engine::{BestSwap, SwapUpdate},
    linalg::{
        column, column_mut,
        kernels::{add_scaled, dot, scale},
    },
};

/// A swap that has not been made yet.
pub(super) struct WeighedSwap {
    group: usize,
    swap: BestSwap,
    row: Vec<f64>,
    /// w_l·b for every column.
    coefficients: Vec<f64>,
    /// M_il for every column l, where i leaves.
    products: Vec<f64>,
    /// The dual vector of the entering item.
    entering: Vec<f64>,
    /// The factor of the determinant, from rows and duals.
    pub(super) ratio: f64,
}

impl Chosen<'_> {
    /// The row b of an item, w_l·b for every column, and its residual beyond the chosen rows.
    fn beyond(&self, group: usize, position: usize) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
        let (features, members) = (self.space.rows.features(), self.space.rows.groups()[group]);
        let mut row = vec![0.0; features.dims()];
        features.read_row(members.items.at(position), members.scale, &mut row);
        let mut coefficients = vec![0.0; self.duals.ncols()];
        let mut residual = row.clone();
        // Twice, to remove what rounding leaves in the span.
        for _ in 0..2 {
            for (l, coefficient) in coefficients.iter_mut().enumerate() {
                let along = dot(self.dual(l), &residual);
                add_scaled(&mut residual, -along, column(self.rows.as_ref(), l));
                *coefficient += along;
            }
        }
        (row, coefficients, residual)
    }

    /// The factor by which a swap or an addition multiplies the determinant, from the rows and their dual basis.
    pub(super) fn ratio(&self, group: usize, swap: BestSwap) -> f64 {
        let Offer { leaving, factor, .. } = self.offers[group][swap.slot];
        if leaving.is_some() {
            return factor * factor * self.weigh(group, swap).ratio;
        }
        let (_, _, residual) = self.beyond(group, swap.position);
        dot(&residual, &residual) * self.addition_weight(group)
    }

    /// Computes what a swap would change, from the entering row and W; the ratio is for scaled rows.
    ///
    /// ```text
    /// r = b_j − π_S(b_j),   ρ = M_ii ‖r‖² + C_ij²,   w' = (M_ii r + C_ij w_i) / ρ
    /// ```
    pub(super) fn weigh(&self, group: usize, swap: BestSwap) -> WeighedSwap {
        let (row, coefficients, residual) = self.beyond(group, swap.position);
        let leaving = self.offers[group][swap.slot].column;
        let columns = self.duals.ncols();
        let products: Vec<f64> = (0..columns).map(|l| dot(self.dual(l), self.dual(leaving))).collect();
        let (weight, along) = (products[leaving], coefficients[leaving]);
        let ratio = weight * dot(&residual, &residual) + along * along;
        let mut entering = residual;
        scale(&mut entering, weight);
        add_scaled(&mut entering, along, self.dual(leaving));
        scale(&mut entering, ratio.recip());
        WeighedSwap { group, swap, row, coefficients, products, entering, ratio }
    }

    /// Makes a swap inside a group; returns the update for the table.
    ///
    /// ```text
    /// w_l ← w_l − α_l w_i − γ_l w',   α_l = M_il / M_ii,   γ_l = w_l·b_j − α_l w_i·b_j
    /// ```
    pub(super) fn make(&mut self, weighed: WeighedSwap) -> MadeSwap {
        let WeighedSwap { group, swap, row, coefficients, products, entering, ratio } = weighed;
        let at = self.offers[group][swap.slot].column;
        let leaving = self.dual(at).to_vec();
        let factors: Vec<[f64; 2]> = (0..self.duals.ncols())
            .map(|l| {
                let alpha = products[l] / products[at];
                if l == at { [1.0, -1.0] } else { [alpha, coefficients[l] - alpha * coefficients[at]] }
            })
            .collect();
        for (l, &[alpha, gamma]) in factors.iter().enumerate() {
            let dual = column_mut(self.duals.as_mut(), l);
            if l == at {
                dual.copy_from_slice(&entering);
            } else {
                add_scaled(dual, -alpha, &leaving);
                add_scaled(dual, -gamma, &entering);
            }
        }
        column_mut(self.rows.as_mut(), at).copy_from_slice(&row);
        let leaving_position = std::mem::replace(&mut self.slots[group][swap.slot], swap.position);
        let offered = |&Offer { column, factor, .. }: &Offer| factors[column].map(|along| factor * along);
        MadeSwap {
            group,
            leaving_position,
            entering_position: swap.position,
            leaving,
            entering,
            factors: self.offers.iter().map(|offers| offers.iter().map(offered).collect()).collect(),
            residual_gain: products[at].recip(),
            residual_loss: ratio / products[at],
        }
    }
}

/// A swap that was made.
pub(super) struct MadeSwap {
    group: usize,
    leaving_position: usize,
    entering_position: usize,
    leaving: Vec<f64>,
    entering: Vec<f64>,
    factors: Vec<Vec<[f64; 2]>>,
    residual_gain: f64,
    residual_loss: f64,
}

impl MadeSwap {
    pub(super) fn update(&self) -> SwapUpdate<'_> {
        SwapUpdate {
            group: self.group,
            leaving_position: self.leaving_position,
            entering_position: self.entering_position,
            leaving: &self.leaving,
            entering: &self.entering,
            factors: &self.factors,
            residual_gain: self.residual_gain,
            residual_loss: self.residual_loss,
        }
    }
}

#[cfg(test)]
mod tests {
    use approx::{assert_abs_diff_eq, assert_relative_eq};

    use super::*;
    use crate::{
        Features, KDpp,
        engine::Engine,
        map::{Objective, Place, local_search::SearchSpace},
    };

    /// Compares updated numbers with the numbers of the same sets built from the data.
    #[test]
    fn updated_numbers_are_those_of_the_data() {
        let (items, dims, k) = (60, 12, 8);
        let values: Vec<f64> = (0..items * dims).map(|i| (0.73 * f64::from(i * i)).sin()).collect();
        let features = Features::from_rows(60, 12, values).unwrap();
        // The included item takes part in every projection, and never leaves.
        let model = KDpp::new(&features, k).unwrap().including(&[5]).unwrap();
        let candidates = model.candidates();
        let rows = candidates.rows();
        let space =
            SearchSpace { candidates: &candidates, engine: Engine::host(), rows: &rows, epsilon: 1e-9 };
        let start: Vec<Place> = (0..7).map(|i| Place { group: 0, position: 8 * i }).collect();
        let mut updated = Chosen::new(&space, &start).unwrap().unwrap();
        updated.best_swaps(None).unwrap();
        let mut log_det = updated.log_det;
        for step in 0..20 {
            let swap = BestSwap { slot: step % 7, position: 1 + (step * 17) % 55, ratio: 0.0 };
            if updated.slots[0].contains(&swap.position) {
                continue;
            }
            let weighed = updated.weigh(0, swap);
            log_det += weighed.ratio.ln();
            let made = updated.make(weighed);
            let best = updated.best_swaps(Some(&made)).unwrap()[0].unwrap();
            let mut fresh = Chosen::new(&space, &updated.places()).unwrap().unwrap();
            assert_abs_diff_eq!(fresh.log_det, log_det, epsilon = 1e-9);
            let expected = fresh.best_swaps(None).unwrap()[0].unwrap();
            assert_eq!((best.slot, best.position), (expected.slot, expected.position));
            for slot in 0..7 {
                let expected = fresh.weight(0, slot);
                assert_abs_diff_eq!(updated.weight(0, slot), expected, epsilon = 1e-9 * expected);
                for position in 0..rows.len() {
                    let of = |chosen: &Chosen<'_>| {
                        let numbers = &chosen.table.read().unwrap()[0];
                        (numbers.coefficients[(slot, position)], numbers.residuals[position])
                    };
                    let ((c, d), (x, y)) = (of(&updated), of(&fresh));
                    assert_abs_diff_eq!(c, x, epsilon = 1e-9 * (1.0 + x.abs()));
                    // Equal infinities pass.
                    assert_relative_eq!(d, y, epsilon = 1e-9, max_relative = 0.0);
                }
            }
        }
    }
}
