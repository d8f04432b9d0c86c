//! `row_forms`: ‖F_lᵀ a_i‖² for every row.

use faer::MatRef;

use super::blocks::{Factor, split, tasks};
use crate::{
    engine::Rows,
    linalg::{column, kernels::dot},
    parallel::map_ordered_mut,
};

pub(super) fn row_forms(rows: &Rows<'_>, factors: &[MatRef<'_, f64>]) -> Vec<f64> {
    let mut forms = vec![0.0; rows.len()];
    let factors: Vec<Factor<'_>> = factors.iter().map(|&factor| Factor::new(factor)).collect();
    let tasks = tasks(rows);
    map_ordered_mut(split(rows, &tasks, &mut forms, 1), |index, mut out| {
        let task = &tasks[index];
        let factor = factors[task.group];
        let mut image = factor.image_buffer();
        task.for_each_block(rows, |block| {
            let mut image = image.as_mut().subcols_mut(0, block.ncols());
            factor.apply(block, 1.0, image.as_mut());
            let (own, rest) = std::mem::take(&mut out).split_at_mut(block.ncols());
            for (j, form) in own.iter_mut().enumerate() {
                let row = column(image.as_ref(), j);
                *form = dot(row, row);
            }
            out = rest;
        });
    });
    forms
}
