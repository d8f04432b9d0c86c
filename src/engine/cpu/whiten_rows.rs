//! `whiten_rows`: w_l Fᵀ a_i for every row.

use super::blocks::{Factor, split, tasks};
use crate::{
    engine::{RowMap, Rows},
    linalg::column,
    parallel::map_ordered_mut,
};

pub(super) fn whiten_rows(rows: &Rows<'_>, map: &RowMap<'_>) -> Vec<f64> {
    let width = map.factor.ncols();
    let mut whitened = vec![0.0; rows.len() * width];
    let factor = Factor::new(map.factor);
    let tasks = tasks(rows);
    map_ordered_mut(split(rows, &tasks, &mut whitened, width), |index, mut out| {
        let task = &tasks[index];
        let mut image = factor.image_buffer();
        task.for_each_block(rows, |block| {
            let mut image = image.as_mut().subcols_mut(0, block.ncols());
            factor.apply(block, map.weights[task.group], image.as_mut());
            let (own, rest) = std::mem::take(&mut out).split_at_mut(block.ncols() * width);
            for (j, row) in own.chunks_exact_mut(width.max(1)).enumerate() {
                row.copy_from_slice(column(image.as_ref(), j));
            }
            out = rest;
        });
    });
    whitened
}
