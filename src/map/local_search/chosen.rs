//! A set with the numbers from which the gain of every exchange follows.

use faer::{Mat, MatRef, Par, linalg::triangular_solve::solve_upper_triangular_in_place};

use super::Problem;
use crate::{
    Result,
    engine::{BestSwap, SwapTable, SwapUpdate},
    linalg::{
        column, column_mut,
        kernels::{add_scaled, dot, scale},
        power_of_two_near,
    },
    map::{Place, Size},
};

/// Rows that agree to twelve digits are one row, as everywhere in this library.
const DEPENDENT: f64 = 1e-12;
/// Bounds of the weight of an addition: beyond them it is good or bad in any case.
const WEIGHTS: (f64, f64) = (1e-280, 1e280);

/// The set, its rows b_i = s a_i, their dual basis W (w_i·b_j = 1 for i = j and 0 otherwise, inside their
/// span), and the engine's table of C and d.
pub(super) struct Chosen<'c> {
    problem: &'c Problem<'c>,
    /// Positions of the chosen items, by group and slot.
    pub(super) slots: Vec<Vec<usize>>,
    /// First column of each group; included items come before all.
    first: Vec<usize>,
    /// Included rows, the chosen rows of each group; for sets of any size a column of zeros besides.
    rows: Mat<f64>,
    /// W, columns as above.
    duals: Mat<f64>,
    /// An orthonormal basis of what is orthogonal to the rows.
    pub(super) complement: Mat<f64>,
    table: SwapTable,
    /// ln det K of the set with the included items, as it was built.
    pub(super) log_det: f64,
}

/// An exchange inside a group, not yet made.
pub(super) struct Exchange {
    group: usize,
    swap: BestSwap,
    row: Vec<f64>,
    /// w_l·b for every column.
    coefficients: Vec<f64>,
    /// M_il for every column, i the one that leaves.
    products: Vec<f64>,
    /// The dual vector of what enters.
    entering: Vec<f64>,
    /// By how much the determinant is multiplied, from rows and duals.
    pub(super) ratio: f64,
}

impl<'c> Chosen<'c> {
    /// All numbers from the data; `None` where the rows are dependent.
    ///
    /// # Cost
    /// 2mn² operations: n − k for the residuals and k for the table, times 2mn.
    pub(super) fn new(problem: &'c Problem<'c>, places: &[Place]) -> Result<Option<Self>> {
        let mut slots = vec![Vec::new(); problem.rows.groups().len()];
        places.iter().for_each(|place| slots[place.group].push(place.position));
        let included = problem.candidates.ground.included().len();
        let first = slots.iter().scan(included, |next, slots| {
            *next += slots.len();
            Some(*next - slots.len())
        });
        let first = first.collect();
        let Some((rows, log_det)) = read_rows(problem, &slots) else { return Ok(None) };
        let Some((mut duals, complement, log_volume)) = dual_basis(rows.as_ref()) else { return Ok(None) };
        let mut rows = rows;
        if problem.candidates.size == Size::Free {
            // The slot of additions: M = 1, C = 0.
            rows.resize_with(rows.nrows(), rows.ncols() + 1, |_, _| 0.0);
            duals.resize_with(duals.nrows(), duals.ncols() + 1, |_, _| 0.0);
        }
        let factors = vec![complement.as_ref(); slots.len()];
        let mut residuals = if complement.ncols() > 0 {
            problem.engine.row_forms(problem.rows, &factors)?
        } else {
            vec![0.0; problem.rows.len()]
        };
        let mut start = 0;
        for (group, slots) in problem.rows.groups().iter().zip(&slots) {
            slots.iter().for_each(|position| residuals[start + position] = f64::NEG_INFINITY);
            start += group.items.len();
        }
        let mut chosen = Self {
            problem,
            slots,
            first,
            rows,
            duals,
            complement,
            table: SwapTable::default(),
            log_det: log_det + log_volume,
        };
        let duals: Vec<_> = (0..chosen.slots.len()).map(|group| chosen.table_duals(group)).collect();
        chosen.table = problem.engine.swap_table(problem.rows, &duals, &residuals)?;
        Ok(Some(chosen))
    }

    pub(super) fn places(&self) -> Vec<Place> {
        let of_group = |(group, slots): (usize, &Vec<usize>)| {
            slots.iter().map(move |&position| Place { group, position }).collect::<Vec<_>>()
        };
        self.slots.iter().enumerate().flat_map(of_group).collect()
    }

    /// The column of a slot.
    pub(super) fn column(&self, group: usize, slot: usize) -> usize {
        self.first[group] + slot
    }

    /// The dual vectors of the free items, all groups.
    pub(super) fn free_duals(&self) -> MatRef<'_, f64> {
        let (first, count) = (self.first[0], self.slots.iter().map(Vec::len).sum());
        self.duals.as_ref().subcols(first, count)
    }

    pub(super) fn dual(&self, column_index: usize) -> &[f64] {
        column(self.duals.as_ref(), column_index)
    }

    /// The dual vectors of a group's slots, that of additions last.
    fn table_duals(&self, group: usize) -> MatRef<'_, f64> {
        let additions = usize::from(self.problem.candidates.size == Size::Free);
        self.duals.as_ref().subcols(self.first[group], self.slots[group].len() + additions)
    }

    /// M_ii of every slot, and that of additions.
    fn weights(&self) -> Vec<Vec<f64>> {
        let of_group = |(group, slots): (usize, &Vec<usize>)| {
            let mut weights: Vec<f64> = (0..slots.len()).map(|slot| self.weight(group, slot)).collect();
            if self.problem.candidates.size == Size::Free {
                let scale = self.problem.rows.groups()[group].scale;
                weights.push((scale * scale).recip().clamp(WEIGHTS.0, WEIGHTS.1));
            }
            weights
        };
        self.slots.iter().enumerate().map(of_group).collect()
    }

    pub(super) fn weight(&self, group: usize, slot: usize) -> f64 {
        let dual = self.dual(self.column(group, slot));
        dot(dual, dual)
    }

    /// The best exchange of every group; a slot beyond the last means an addition.
    pub(super) fn best_swaps(&mut self, made: Option<&Made>) -> Result<Vec<Option<BestSwap>>> {
        let weights = self.weights();
        let update = made.map(Made::update);
        self.problem.engine.swap_gains(self.problem.rows, &mut self.table, update.as_ref(), &weights)
    }

    /// What an exchange would change, from the row of what enters and W.
    ///
    /// ```text
    /// r = b_j − π_S(b_j),   ρ = M_ii ‖r‖² + C_ij²,   w' = (M_ii r + C_ij w_i) / ρ
    /// ```
    pub(super) fn exchange(&self, group: usize, swap: BestSwap) -> Exchange {
        let (features, members) = (self.problem.rows.features(), self.problem.rows.groups()[group]);
        let mut row = vec![0.0; features.dims()];
        features.read_row(members.items.at(swap.position), members.scale, &mut row);
        let leaving = self.column(group, swap.slot);
        let columns = self.duals.ncols();
        let mut coefficients = vec![0.0; columns];
        let mut residual = row.clone();
        // Once more, for what rounding has left in the span.
        for _ in 0..2 {
            for (l, coefficient) in coefficients.iter_mut().enumerate() {
                let along = dot(self.dual(l), &residual);
                add_scaled(&mut residual, -along, column(self.rows.as_ref(), l));
                *coefficient += along;
            }
        }
        let products: Vec<f64> = (0..columns).map(|l| dot(self.dual(l), self.dual(leaving))).collect();
        let (weight, along) = (products[leaving], coefficients[leaving]);
        let ratio = weight * dot(&residual, &residual) + along * along;
        let mut entering = residual;
        scale(&mut entering, weight);
        add_scaled(&mut entering, along, self.dual(leaving));
        scale(&mut entering, ratio.recip());
        Exchange { group, swap, row, coefficients, products, entering, ratio }
    }

    /// Makes an exchange; what the table has to be told.
    ///
    /// ```text
    /// w_l ← w_l − α_l w_i − γ_l w',   α_l = M_il / M_ii,   γ_l = w_l·b_j − α_l w_i·b_j
    /// ```
    pub(super) fn make(&mut self, exchange: Exchange) -> Made {
        let Exchange { group, swap, row, coefficients, products, entering, ratio } = exchange;
        let at = self.column(group, swap.slot);
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
        let columns = |group: usize| self.first[group]..self.first[group] + self.table_duals(group).ncols();
        Made {
            group,
            leaving_position,
            entering_position: swap.position,
            leaving,
            entering,
            factors: (0..self.slots.len()).map(|group| factors[columns(group)].to_vec()).collect(),
            residual_gain: products[at].recip(),
            residual_loss: ratio / products[at],
        }
    }
}

/// An exchange that was made.
pub(super) struct Made {
    group: usize,
    leaving_position: usize,
    entering_position: usize,
    leaving: Vec<f64>,
    entering: Vec<f64>,
    factors: Vec<Vec<[f64; 2]>>,
    residual_gain: f64,
    residual_loss: f64,
}

impl Made {
    fn update(&self) -> SwapUpdate<'_> {
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

/// Scaled rows of the included and the chosen items as columns, and −ln of the squared scales; `None` where
/// there are too many to be independent.
fn read_rows(problem: &Problem<'_>, slots: &[Vec<usize>]) -> Option<(Mat<f64>, f64)> {
    let features = problem.rows.features();
    let included = problem.candidates.ground.included();
    let count = included.len() + slots.iter().map(Vec::len).sum::<usize>();
    if count > features.dims() {
        return None;
    }
    let of_included = included.iter().map(|&item| {
        let magnitude = features.max_abs_of(&[item]);
        (item as usize, power_of_two_near(magnitude).recip())
    });
    let of_group = |(group, slots): (usize, &Vec<usize>)| {
        let members = problem.rows.groups()[group];
        slots.iter().map(move |&position| (members.items.at(position), members.scale)).collect::<Vec<_>>()
    };
    let chosen = slots.iter().enumerate().flat_map(of_group);
    let mut rows = Mat::zeros(features.dims(), count);
    let mut log_det = 0.0;
    for (at, (item, scale)) in of_included.chain(chosen).enumerate() {
        features.read_row(item, scale, column_mut(rows.as_mut(), at));
        log_det -= 2.0 * scale.ln();
    }
    Some((rows, log_det))
}

/// W = Q R⁻ᵀ from B = Q R, what is orthogonal to Q, and ln det BᵀB; `None` for dependent columns.
fn dual_basis(rows: MatRef<'_, f64>) -> Option<(Mat<f64>, Mat<f64>, f64)> {
    let (dims, count) = (rows.nrows(), rows.ncols());
    let factors = rows.qr();
    let triangle = factors.thin_R();
    let mut log_volume = 0.0;
    for j in 0..count {
        let (left, whole) = (triangle[(j, j)].abs(), column(rows, j));
        // Negated, so that what is not a number counts as dependent.
        if !(left > DEPENDENT * dot(whole, whole).sqrt()) {
            return None;
        }
        log_volume += 2.0 * left.ln();
    }
    let basis = factors.compute_Q();
    let mut duals = basis.subcols(0, count).transpose().to_owned();
    solve_upper_triangular_in_place(triangle, duals.as_mut(), Par::Seq);
    let complement = basis.subcols(count, dims - count).to_owned();
    Some((duals.transpose().to_owned(), complement, log_volume))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Features, KDpp, Objective, engine::Cpu};

    /// Exchanges by updates alone, against the same sets built from the data.
    #[test]
    fn updated_numbers_are_those_of_the_data() {
        let (items, dims, k) = (60, 12, 8);
        let values: Vec<f64> = (0..items * dims).map(|i| (0.73 * f64::from(i * i)).sin()).collect();
        let features = Features::from_rows(60, 12, values).unwrap();
        // One item must be in: it takes part in every projection, and never leaves.
        let model = KDpp::new(&features, k).unwrap().including(&[5]).unwrap();
        let candidates = model.candidates();
        let rows = candidates.rows();
        let problem = Problem { candidates: &candidates, engine: &Cpu, rows: &rows, epsilon: 1e-9 };
        let start: Vec<Place> = (0..7).map(|i| Place { group: 0, position: 8 * i }).collect();
        let mut updated = Chosen::new(&problem, &start).unwrap().unwrap();
        updated.best_swaps(None).unwrap();
        let mut log_det = updated.log_det;
        for step in 0..20 {
            let swap = BestSwap { slot: step % 7, position: 1 + (step * 17) % 55, ratio: 0.0 };
            if updated.slots[0].contains(&swap.position) {
                continue;
            }
            let exchange = updated.exchange(0, swap);
            log_det += exchange.ratio.ln();
            let made = updated.make(exchange);
            let best = updated.best_swaps(Some(&made)).unwrap()[0].unwrap();
            let mut fresh = Chosen::new(&problem, &updated.places()).unwrap().unwrap();
            assert!((fresh.log_det - log_det).abs() < 1e-9, "{} {log_det}", fresh.log_det);
            let expected = fresh.best_swaps(None).unwrap()[0].unwrap();
            assert_eq!((best.slot, best.position), (expected.slot, expected.position));
            for slot in 0..7 {
                let (found, expected) = (updated.weight(0, slot), fresh.weight(0, slot));
                assert!((found / expected - 1.0).abs() < 1e-9, "M: {found} {expected}");
                for position in 0..rows.len() {
                    let of = |chosen: &Chosen<'_>| {
                        let x = chosen.table.coefficient(0, slot, position);
                        (x, chosen.table.residual(0, position))
                    };
                    let ((c, d), (x, y)) = (of(&updated), of(&fresh));
                    assert!((c - x).abs() < 1e-9 * (1.0 + x.abs()), "C: {c} {x}");
                    assert!(d.to_bits() == y.to_bits() || (d - y).abs() < 1e-9, "d: {d} {y}");
                }
            }
        }
    }
}
