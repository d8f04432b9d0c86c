//! `whiten_rows`: w_l Fᵀ a_i for every row.

use super::blocks::{Factor, tasks};
use crate::{
    engine::{RowMap, Rows},
    linalg::column,
    parallel::fold_ordered,
};

/// Tasks whose results are held at a time.
const WAVE: usize = 8;

pub(super) fn whiten_rows(rows: &Rows<'_>, map: &RowMap<'_>) -> Vec<f64> {
    let width = map.factor.ncols();
    let mut whitened = Vec::with_capacity(rows.len() * width);
    let factor = Factor::new(map.factor);
    let tasks = tasks(rows);
    let partial = |index: usize| {
        let task = &tasks[index];
        let mut image = factor.image_buffer();
        let mut out = Vec::with_capacity(task.len() * width);
        task.for_each_block(rows, |block| {
            let mut image = image.as_mut().subcols_mut(0, block.ncols());
            factor.apply(block, map.weights[task.group], image.as_mut());
            (0..image.ncols()).for_each(|j| out.extend_from_slice(column(image.as_ref(), j)));
        });
        out
    };
    fold_ordered(tasks.len(), WAVE, partial, |_, values| whitened.extend(values));
    whitened
}
