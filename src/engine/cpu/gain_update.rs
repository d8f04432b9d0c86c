//! `gain_update`: c = A q, d ← d − c∘c and the largest d of every group, in one pass; `row_norms`: the initial d.

use pulp::{Arch, Simd, WithSimd};

use super::blocks::{AHEAD, Task, split, tasks};
use crate::{
    Features, Result,
    data::{Scalar, StoredRows, with_rows},
    engine::{
        GainTable, Items, Rows, Top,
        row_kernels::{CHUNK, ChunkedRow, push_chunks, row_norm_in},
        sealed::Sealed,
    },
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

/// A gain table with its rows.
#[derive(Debug)]
pub(super) struct CpuGains<'a> {
    rows: Rows<'a>,
    /// Gains by group.
    gains: Vec<Vec<f64>>,
    /// Whether each group is open.
    open: Vec<bool>,
    /// Group and position of rows removed since the last update.
    removed: Vec<(usize, usize)>,
}

impl<'a> CpuGains<'a> {
    /// Creates a table with these gains, which are listed group by group.
    pub(super) fn new(rows: &Rows<'a>, gains: &[f64]) -> Self {
        let mut rest = gains;
        let mut groups = Vec::with_capacity(rows.groups().len());
        for group in rows.groups() {
            let (own, others) = rest.split_at(group.items.len());
            groups.push(own.to_vec());
            rest = others;
        }
        Self { open: vec![true; groups.len()], removed: Vec::new(), rows: rows.clone(), gains: groups }
    }
}

impl Sealed for CpuGains<'_> {}

impl GainTable for CpuGains<'_> {
    fn update(&mut self, direction: Option<&[f64]>) -> Result<Vec<Vec<Top>>> {
        let Self { rows, gains, open, removed } = self;
        removed.drain(..).for_each(|(group, position)| gains[group][position] = f64::NEG_INFINITY);
        let tops = gain_update(rows, gains, open, direction);
        Ok(tops.into_iter().map(|top| top.into_iter().collect()).collect())
    }

    fn remove(&mut self, group: usize, position: usize) {
        self.removed.push((group, position));
    }

    fn close(&mut self, group: usize) {
        self.open[group] = false;
    }

    fn read(&self) -> Result<Vec<Vec<f64>>> {
        Ok(self.gains.clone())
    }
}

fn gain_update(
    rows: &Rows<'_>,
    groups: &mut [Vec<f64>],
    open: &[bool],
    direction: Option<&[f64]>,
) -> Vec<Option<Top>> {
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

/// The rows of a task, with prefetching.
#[derive(Clone, Copy)]
pub(super) struct Run<'a> {
    features: &'a Features,
    items: Items<'a>,
    start: usize,
    /// The rows to prefetch, if they are listed and no cache holds them.
    listed: &'a [u32],
    scale: f64,
}

/// Bytes of features that the cache of a core may hold. For these, prefetching takes longer than reading.
const CACHED: usize = 1 << 20;

impl<'a> Run<'a> {
    pub(super) fn new(rows: &Rows<'a>, task: &Task) -> Self {
        let group = rows.groups()[task.group];
        let features = rows.features();
        let listed = match group.items {
            Items::Listed(items) if features.items() * features.row_bytes() > CACHED => {
                &items[task.start..task.end]
            }
            _ => &[],
        };
        Self { features, items: group.items, start: task.start, listed, scale: group.scale }
    }

    /// The factor of the row at a position of the task.
    #[inline]
    pub(super) fn factor(&self, at: usize) -> f64 {
        self.scale * self.features.weight(self.items.at(self.start + at))
    }

    /// The values of the row at a position of the task.
    #[inline]
    pub(super) fn row<'v, T: Scalar>(&self, values: &'v StoredRows<T>, at: usize) -> &'v [T] {
        if let Some(&item) = self.listed.get(at + AHEAD) {
            values.prefetch(item as usize);
        }
        values.row(self.items.at(self.start + at))
    }
}

struct RowNorms<'a, T: Scalar> {
    run: Run<'a>,
    values: &'a StoredRows<T>,
    out: &'a mut [f64],
}

impl<T: Scalar> WithSimd for RowNorms<'_, T> {
    type Output = ();

    #[expect(clippy::inline_always, reason = "vectors exist only inside their dispatch")]
    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        for (at, out) in self.out.iter_mut().enumerate() {
            *out = row_norm_in(simd, self.run.row(self.values, at), self.run.factor(at));
        }
    }
}

struct GainUpdate<'a, T: Scalar> {
    run: Run<'a>,
    values: &'a StoredRows<T>,
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
            let along = self.run.factor(position) * dot;
            *gain -= along * along;
            if *gain > top.gain {
                top = Top { position, gain: *gain };
            }
        }
        (top.gain > f64::NEG_INFINITY).then_some(top)
    }
}
