//! Rows as kernel functions read them: scaled, centred, in f64. All similarities read rows here.

#![expect(clippy::inline_always, reason = "vectors exist only inside their dispatch")]

use pulp::{Arch, Simd, WithSimd};

use crate::{
    Features,
    data::{Scalar, with_rows},
    engine::row_kernels::{CHUNK, ChunkedRow, chunks, push_chunks},
    linalg::power_of_two_near,
    parallel::map_ordered,
};

/// Rows of one task.
const TASK: usize = 4096;
/// Rows whose mean is the centre.
const CENTRE_OF: usize = 4096;

/// The rows s a_i − c.
#[derive(Clone, Debug)]
pub(super) struct RowReader<'a> {
    features: Features<'a>,
    /// s, a power of two.
    scale: f64,
    /// c.
    centre: Vec<f64>,
}

impl<'a> RowReader<'a> {
    /// The rows as they are.
    pub(super) fn plain(features: &Features<'a>) -> Self {
        Self { features: features.clone(), scale: 1.0, centre: vec![0.0; features.dims()] }
    }

    /// Rows with entries below 1, about a centre near the data. Distances do not depend on the centre, but what ‖x‖² and
    /// x·y lose when they are subtracted does.
    pub(super) fn centred(features: &Features<'a>) -> Self {
        let scale = power_of_two_near(features.max_abs()).recip();
        let step = features.items().div_ceil(CENTRE_OF);
        let (mut centre, mut row) = (vec![0.0; features.dims()], vec![0.0; features.dims()]);
        let sampled = features.items().div_ceil(step) as f64;
        for item in (0..features.items()).step_by(step) {
            features.read_row(item, scale, &mut row);
            centre.iter_mut().zip(&row).for_each(|(centre, x)| *centre += x / sampled);
        }
        Self { features: features.clone(), scale, centre }
    }

    pub(super) fn features(&self) -> &Features<'a> {
        &self.features
    }

    pub(super) fn scale(&self) -> f64 {
        self.scale
    }

    /// Writes the row of an item.
    pub(super) fn read(&self, item: usize, out: &mut [f64]) {
        with_rows!(self.features.values(), rows => {
            let scale = self.scale * self.features.weight(item);
            let (row, centre) = (rows.row(item), &self.centre[..]);
            Arch::new().dispatch(Read { row, scale, centre, out });
        });
    }

    /// Appends the row of an item in the form that [`dots`](Self::dots) takes.
    pub(super) fn push(&self, item: usize, out: &mut Vec<[f64; CHUNK]>) {
        let mut row = vec![0.0; self.features.dims()];
        self.read(item, &mut row);
        push_chunks(&row, out);
    }

    /// Chunks of a row.
    pub(super) fn width(&self) -> usize {
        chunks(self.features.dims())
    }

    /// The inner products of an item's row with others.
    pub(super) fn dots(&self, item: usize, others: &[[f64; CHUNK]], buffer: &mut Vec<f64>, out: &mut [f64]) {
        buffer.resize(self.features.dims(), 0.0);
        self.read(item, buffer);
        dots(buffer, others, self.width(), out);
    }

    /// ‖s a_i − c‖² of every item.
    pub(super) fn norms(&self) -> Vec<f64> {
        let items = self.features.items();
        let of_task = |task: usize| {
            let (mut buffer, mut row) = (Vec::new(), Vec::new());
            let norm = |item: usize| {
                row.clear();
                self.push(item, &mut row);
                let mut norm = [0.0];
                // The sum that `dots` makes: a row is at distance 0 from its copies.
                self.dots(item, &row, &mut buffer, &mut norm);
                norm[0]
            };
            (task * TASK..items.min((task + 1) * TASK)).map(norm).collect::<Vec<f64>>()
        };
        map_ordered(items.div_ceil(TASK), of_task).concat()
    }

    pub(super) fn prefetch(&self, item: usize) {
        self.features.prefetch_row(item);
    }
}

struct Read<'a, T> {
    row: &'a [T],
    scale: f64,
    centre: &'a [f64],
    out: &'a mut [f64],
}

impl<T: Scalar> WithSimd for Read<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        for ((out, &x), &c) in self.out.iter_mut().zip(self.row).zip(self.centre) {
            *out = x.wide() * self.scale - c;
        }
    }
}

/// The inner products of a row with others, which stand `stride` chunks apart and may go on beyond the row.
pub(super) fn dots(row: &[f64], others: &[[f64; CHUNK]], stride: usize, out: &mut [f64]) {
    Arch::new().dispatch(Dots { row, others, stride, out });
}

struct Dots<'a> {
    row: &'a [f64],
    others: &'a [[f64; CHUNK]],
    stride: usize,
    out: &'a mut [f64],
}

impl WithSimd for Dots<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { row, others, stride, out } = self;
        let width = chunks(row.len());
        let row = ChunkedRow::new(row);
        let other = |at: usize| &others[at * stride..at * stride + width];
        let (fours, rest) = out.as_chunks_mut::<4>();
        let whole = 4 * fours.len();
        for (at, four) in fours.iter_mut().enumerate() {
            *four = row.dots(simd, [other(4 * at), other(4 * at + 1), other(4 * at + 2), other(4 * at + 3)]);
        }
        for (at, one) in rest.iter_mut().enumerate() {
            [*one] = row.dots(simd, [other(whole + at)]);
        }
    }
}
