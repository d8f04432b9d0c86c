//! A set with the numbers from which the gain of every exchange follows.

use faer::{Mat, MatRef};

use super::{
    Problem,
    basis::{dual_basis, read_rows},
    exchange::Made,
};
use crate::{
    Result,
    engine::{BestSwap, Precision, SwapTable},
    linalg::{column, kernels::dot},
    map::{Place, Size},
};

/// Bounds of the weight of an addition: beyond them it is good or bad in any case.
const WEIGHTS: (f64, f64) = (1e-280, 1e280);

/// The set, its rows b_i = s a_i, their dual basis W (w_i·b_j = 1 for i = j and 0 otherwise, inside their
/// span), and the engine's table of C and d.
pub(super) struct Chosen<'c> {
    pub(super) problem: &'c Problem<'c>,
    /// Positions of the chosen items, by group and slot.
    pub(super) slots: Vec<Vec<usize>>,
    /// First column of each group; included items come before all.
    pub(super) first: Vec<usize>,
    /// Included rows, the chosen rows of each group; for sets of any size a column of zeros besides.
    pub(super) rows: Mat<f64>,
    /// W, columns as above.
    pub(super) duals: Mat<f64>,
    /// An orthonormal basis of what is orthogonal to the rows.
    pub(super) complement: Mat<f64>,
    pub(super) table: SwapTable,
    /// ln det K of the set with the included items, as it was built.
    pub(super) log_det: f64,
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
    pub(super) fn table_duals(&self, group: usize) -> MatRef<'_, f64> {
        let additions = usize::from(self.problem.candidates.size == Size::Free);
        self.duals.as_ref().subcols(self.first[group], self.slots[group].len() + additions)
    }

    /// M_ii of every slot, and that of additions.
    fn weights(&self) -> Vec<Vec<f64>> {
        let of_group = |(group, slots): (usize, &Vec<usize>)| {
            let mut weights: Vec<f64> = (0..slots.len()).map(|slot| self.weight(group, slot)).collect();
            if self.problem.candidates.size == Size::Free {
                weights.push(self.addition_weight(group));
            }
            weights
        };
        self.slots.iter().enumerate().map(of_group).collect()
    }

    /// M of the slot of additions: undoes the scale of a group.
    pub(super) fn addition_weight(&self, group: usize) -> f64 {
        let scale = self.problem.rows.groups()[group].scale;
        (scale * scale).recip().clamp(WEIGHTS.0, WEIGHTS.1)
    }

    pub(super) fn weight(&self, group: usize, slot: usize) -> f64 {
        let dual = self.dual(self.column(group, slot));
        dot(dual, dual)
    }

    /// The best exchange of every group; a slot beyond the last means an addition.
    pub(super) fn best_swaps(&mut self, made: Option<&Made>) -> Result<Vec<Option<BestSwap>>> {
        let weights = self.weights();
        let update = made.map(Made::update);
        let found =
            self.problem.engine.swap_gains(self.problem.rows, &mut self.table, update.as_ref(), &weights)?;
        let precise = self.problem.engine.info().precision == Precision::F64;
        let best = |(group, leading): (usize, Vec<BestSwap>)| {
            let exact = |swap: BestSwap| {
                if precise { swap } else { BestSwap { ratio: self.ratio(group, swap), ..swap } }
            };
            leading
                .into_iter()
                .map(exact)
                .reduce(|best, swap| if swap.ratio > best.ratio { swap } else { best })
        };
        Ok(found.into_iter().enumerate().map(best).collect())
    }
}
