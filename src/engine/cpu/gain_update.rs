//! `gain_update`: c = A q, d ← d − c∘c and the largest d of every group, in one pass; `row_norms`:
//! the d to start from.

use pulp::{Arch, Simd, WithSimd};

use super::blocks::{AHEAD, Task, split, tasks};
use crate::{
    data::{Scalar, StoredRows, with_rows},
    engine::row_kernels::{CHUNK, ChunkedRow, push_chunks, row_norm_in},
    engine::{GainTable, Items, Rows, Top},
    parallel::map_ordered_mut,
};

pub(super) fn row_norms(rows: &Rows<'_>) -> Vec<f64> {
    let mut norms = vec![0.0; rows.len()];
    let tasks = tasks(rows);
    map_ordered_mut(split(rows, &tasks, &mut norms, 1), |index, out| {
        let run = Run::new(rows, &tasks[index]);
        with_rows!(rows.features().values(), values => Arch::new().dispatch(RowNorms { run, values, out }));
    });
    norms
}

pub(super) fn gain_update(
    rows: &Rows<'_>,
    table: &mut GainTable,
    direction: Option<&[f64]>,
) -> Vec<Option<Top>> {
    let GainTable { values, open, removed } = table;
    let groups = values.host();
    removed.drain(..).for_each(|(group, position)| groups[group][position] = f64::NEG_INFINITY);
    let tasks: Vec<Task> = tasks(rows).into_iter().filter(|task| open[task.group]).collect();
    let chunked = direction.map(|direction| {
        let mut chunked = Vec::new();
        push_chunks(direction, &mut chunked);
        chunked
    });
    let mut gains: Vec<&mut [f64]> = groups.iter_mut().map(|gains| &mut gains[..]).collect();
    let slices = tasks.iter().map(|task| {
        let (slice, rest) = std::mem::take(&mut gains[task.group]).split_at_mut(task.len());
        gains[task.group] = rest;
        slice
    });
    let found = map_ordered_mut(slices.collect(), |index, gains| {
        let Some(direction) = &chunked else { return Top::of(gains) };
        let run = Run::new(rows, &tasks[index]);
        with_rows!(rows.features().values(), values => {
            Arch::new().dispatch(GainUpdate { run, values, direction, gains })
        })
    });
    let mut tops = vec![None; rows.groups().len()];
    for (task, found) in tasks.iter().zip(found) {
        let top = found.map(|top: Top| Top { position: top.position + task.start, ..top });
        Top::keep_larger(&mut tops[task.group], top);
    }
    tops
}

/// The rows of a task, fetched ahead.
#[derive(Clone, Copy)]
pub(super) struct Run<'a> {
    items: Items<'a>,
    start: usize,
    end: usize,
    pub(super) scale: f64,
}

impl<'a> Run<'a> {
    pub(super) fn new(rows: &Rows<'a>, task: &Task) -> Self {
        let group = rows.groups()[task.group];
        Self { items: group.items, start: task.start, end: task.end, scale: group.scale }
    }

    /// The values of the row at a position of the task.
    #[inline]
    pub(super) fn row<'v, T: Scalar>(&self, values: &'v StoredRows<'_, T>, at: usize) -> &'v [T] {
        if let Items::Listed(items) = self.items
            && self.start + at + AHEAD < self.end
        {
            values.prefetch(items[self.start + at + AHEAD] as usize);
        }
        values.row(self.items.at(self.start + at))
    }
}

struct RowNorms<'a, T: Scalar> {
    run: Run<'a>,
    values: &'a StoredRows<'a, T>,
    out: &'a mut [f64],
}

impl<T: Scalar> WithSimd for RowNorms<'_, T> {
    type Output = ();

    #[expect(clippy::inline_always, reason = "vectors exist only inside their dispatch")]
    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        for (at, out) in self.out.iter_mut().enumerate() {
            *out = row_norm_in(simd, self.run.row(self.values, at), self.run.scale);
        }
    }
}

struct GainUpdate<'a, T: Scalar> {
    run: Run<'a>,
    values: &'a StoredRows<'a, T>,
    direction: &'a [[f64; CHUNK]],
    gains: &'a mut [f64],
}

impl<T: Scalar> WithSimd for GainUpdate<'_, T> {
    type Output = Option<Top>;

    #[expect(clippy::inline_always, reason = "vectors exist only inside their dispatch")]
    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Option<Top> {
        let mut top = Top { position: 0, gain: f64::NEG_INFINITY };
        for (position, gain) in self.gains.iter_mut().enumerate() {
            let row = ChunkedRow::new(self.run.row(self.values, position));
            let [dot] = row.dots(simd, [self.direction]);
            let along = self.run.scale * dot;
            *gain -= along * along;
            if *gain > top.gain {
                top = Top { position, gain: *gain };
            }
        }
        (top.gain > f64::NEG_INFINITY).then_some(top)
    }
}
