//! `part_grams`: G_l = Σ b_i b_iᵀ, one pass over the rows.

use faer::{
    Accum, Mat, MatRef, Par,
    linalg::matmul::triangular::{self, BlockStructure},
};

use super::blocks::{Factor, Task, tasks};
use crate::{
    engine::{RowMap, Rows},
    parallel::fold_ordered,
};

/// Maximum number of partial sums in memory at a time.
pub(super) const WAVE: usize = 32;

pub(super) fn part_grams(rows: &Rows<'_>, map: Option<&RowMap<'_>>) -> Vec<Mat<f64>> {
    let size = map.map_or(rows.features().dims(), |map| map.factor.ncols());
    let mut grams = vec![Mat::<f64>::zeros(size, size); rows.groups().len()];
    let tasks = tasks(rows);
    let partial = |index: usize| gram_of(&tasks[index], rows, map, size);
    fold_ordered(tasks.len(), WAVE, partial, |index, gram| grams[tasks[index].group] += gram);
    grams.iter_mut().for_each(mirror_lower);
    grams
}

/// Returns the lower half of the Gram matrix of one task.
fn gram_of(task: &Task, rows: &Rows<'_>, map: Option<&RowMap<'_>>, size: usize) -> Mat<f64> {
    let mut gram = Mat::zeros(size, size);
    let mut map = map.map(|map| {
        let factor = Factor::new(map.factor);
        (factor, map.weights[task.group], factor.image_buffer())
    });
    task.for_each_block(rows, |block| match &mut map {
        Some((factor, weight, image)) => {
            let mut image = image.as_mut().subcols_mut(0, block.ncols());
            factor.apply(block, *weight, image.as_mut());
            add_gram(&mut gram, image.as_ref());
        }
        None => add_gram(&mut gram, block),
    });
    gram
}

fn add_gram(gram: &mut Mat<f64>, block: MatRef<'_, f64>) {
    triangular::matmul(
        gram,
        BlockStructure::TriangularLower,
        Accum::Add,
        block,
        BlockStructure::Rectangular,
        block.transpose(),
        BlockStructure::Rectangular,
        1.0,
        Par::Seq,
    );
}

fn mirror_lower(gram: &mut Mat<f64>) {
    for j in 1..gram.ncols() {
        for i in 0..j {
            gram[(i, j)] = gram[(j, i)];
        }
    }
}
