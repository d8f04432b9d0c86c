//! `row_forms`: ‖F_lᵀ a_i‖² for every row.

use faer::MatRef;

use super::blocks::{Factor, tasks};
use crate::{
    engine::Rows,
    linalg::{column, kernels::dot},
    parallel::fold_ordered,
};

/// Tasks whose results are held at a time.
const WAVE: usize = 32;

pub(super) fn row_forms(rows: &Rows<'_>, factors: &[MatRef<'_, f64>]) -> Vec<f64> {
    let mut forms = Vec::with_capacity(rows.len());
    let factors: Vec<Factor<'_>> = factors.iter().map(|&factor| Factor::new(factor)).collect();
    let tasks = tasks(rows);
    let partial = |index: usize| {
        let task = &tasks[index];
        let factor = factors[task.group];
        let mut image = factor.image_buffer();
        let mut out = Vec::with_capacity(task.len());
        task.for_each_block(rows, |block| {
            let mut image = image.as_mut().subcols_mut(0, block.ncols());
            factor.apply(block, 1.0, image.as_mut());
            out.extend((0..image.ncols()).map(|j| {
                let row = column(image.as_ref(), j);
                dot(row, row)
            }));
        });
        out
    };
    fold_ordered(tasks.len(), WAVE, partial, |_, values| forms.extend(values));
    forms
}
