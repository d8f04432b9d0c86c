//! `swap_table`: C = WᵀAᵀ in tiles.

use faer::{Mat, MatRef};

use super::blocks::{Factor, TILE, Task, tasks};
use crate::{
    engine::{Rows, SwapNumbers},
    linalg::column,
    parallel::map_ordered_mut,
};

/// A swap table with its rows.
#[derive(Debug)]
pub(super) struct CpuSwaps<'a> {
    pub(super) rows: Rows<'a>,
    pub(super) groups: Vec<SwapGroup>,
}

/// One group of a table: tiles of [`TILE`] items, each with `slots` runs of [`TILE`] coefficients.
#[derive(Clone, Debug)]
pub(super) struct SwapGroup {
    /// Number of chosen items of the group.
    pub(super) slots: usize,
    /// C, in tiles.
    pub(super) coefficients: Vec<f64>,
    /// d, in tiles: −∞ for chosen items and padding.
    pub(super) residuals: Vec<f64>,
}

impl SwapGroup {
    /// Creates groups with zero coefficients and these residuals, which are listed group by group.
    fn empty(rows: &Rows<'_>, slots: &[usize], residuals: &[f64]) -> Vec<Self> {
        let mut start = 0;
        let groups = rows.groups().iter().zip(slots).map(|(group, &slots)| {
            let len = group.items.len();
            let padded = len.next_multiple_of(TILE);
            let mut own = residuals[start..start + len].to_vec();
            own.resize(padded, f64::NEG_INFINITY);
            start += len;
            Self { slots, coefficients: vec![0.0; slots * padded], residuals: own }
        });
        groups.collect()
    }

    pub(super) fn read(&self, len: usize) -> SwapNumbers {
        let coefficient = |slot: usize, item: usize| {
            self.coefficients[(item / TILE * self.slots + slot) * TILE + item % TILE]
        };
        SwapNumbers {
            coefficients: Mat::from_fn(self.slots, len, coefficient),
            residuals: self.residuals[..len].to_vec(),
        }
    }
}

pub(super) fn swap_table<'a>(rows: &Rows<'a>, duals: &[MatRef<'_, f64>], residuals: &[f64]) -> CpuSwaps<'a> {
    let slots: Vec<usize> = duals.iter().map(MatRef::ncols).collect();
    let mut groups = SwapGroup::empty(rows, &slots, residuals);
    let tasks = tasks(rows);
    map_ordered_mut(split(&tasks, &mut groups), |index, (coefficients, _)| {
        let task = &tasks[index];
        let factor = Factor::new(duals[task.group]);
        let slots = slots[task.group];
        if slots == 0 {
            return;
        }
        let mut image = factor.image_buffer();
        let mut tiles = coefficients.chunks_exact_mut(TILE * slots);
        task.for_each_block(rows, |block| {
            let mut image = image.as_mut().subcols_mut(0, block.ncols());
            factor.apply(block, 1.0, image.as_mut());
            for start in (0..image.ncols()).step_by(TILE) {
                let items = start..image.ncols().min(start + TILE);
                let Some(tile) = tiles.next() else { unreachable!("tiles cover the task") };
                for (lane, item) in items.enumerate() {
                    let lanes = tile[lane..].iter_mut().step_by(TILE);
                    lanes.zip(column(image.as_ref(), item)).for_each(|(out, &x)| *out = x);
                }
            }
        });
    });
    CpuSwaps { rows: rows.clone(), groups }
}

/// Splits the table into the coefficients and residuals of every task. Tasks start at multiples of a tile.
pub(super) fn split<'a>(tasks: &[Task], groups: &'a mut [SwapGroup]) -> Vec<(&'a mut [f64], &'a mut [f64])> {
    let mut rest: Vec<(usize, &mut [f64], &mut [f64])> = groups
        .iter_mut()
        .map(|SwapGroup { slots, coefficients, residuals }| {
            (*slots, &mut coefficients[..], &mut residuals[..])
        })
        .collect();
    let mut slices = Vec::with_capacity(tasks.len());
    for task in tasks {
        let padded = task.len().next_multiple_of(TILE);
        let (slots, coefficients, residuals) = &mut rest[task.group];
        let own = std::mem::take(coefficients).split_at_mut(*slots * padded);
        let own_residuals = std::mem::take(residuals).split_at_mut(padded);
        slices.push((own.0, own_residuals.0));
        (*coefficients, *residuals) = (own.1, own_residuals.1);
    }
    slices
}
