//! Rows as all kernel functions read them: scaled, in f64.

#![expect(clippy::inline_always, reason = "vectors exist only inside their dispatch")]

use pulp::{Arch, Simd, WithSimd};

use crate::{
    Features,
    data::{Scalar, with_rows},
    engine::row_kernels::{CHUNK, ChunkedRow, chunks},
    linalg::power_of_two_near,
    parallel::map_ordered,
};

/// Rows per task.
const TASK: usize = 4096;
/// The largest scaled entry, far below the overflow of a difference.
const LARGEST: f64 = 1.07e301;

/// The rows s a_i in whole chunks, padded with zeros.
#[derive(Clone, Debug)]
pub(super) struct RowReader {
    features: Features,
    /// s, a power of two.
    scale: f64,
}

impl RowReader {
    /// The rows as they are.
    pub(super) fn plain(features: &Features) -> Self {
        Self { features: features.clone(), scale: 1.0 }
    }

    /// Rows in units of about this length, unless that overflows.
    pub(super) fn in_units_of(features: &Features, length: f64) -> Self {
        let most = power_of_two_near(LARGEST / features.max_abs().max(f64::MIN_POSITIVE)) / 2.0;
        Self { features: features.clone(), scale: power_of_two_near(length).recip().min(most) }
    }

    pub(super) fn features(&self) -> &Features {
        &self.features
    }

    pub(super) fn scale(&self) -> f64 {
        self.scale
    }

    /// Chunks per row.
    pub(super) fn width(&self) -> usize {
        chunks(self.features.dims())
    }

    /// Writes the row of one item.
    pub(super) fn read(&self, item: usize, out: &mut [[f64; CHUNK]]) {
        with_rows!(self.features.values(), rows => {
            let scale = self.scale * self.features.weight(item);
            Arch::new().dispatch(Read { row: rows.row(item), scale, out: out.as_flattened_mut() });
        });
    }

    /// Appends the row of one item.
    pub(super) fn push(&self, item: usize, out: &mut Vec<[f64; CHUNK]>) {
        let start = out.len();
        out.resize(start + self.width(), [0.0; CHUNK]);
        self.read(item, &mut out[start..]);
    }

    /// The inner products of an item's row with others.
    pub(super) fn dots(
        &self,
        item: usize,
        others: &[[f64; CHUNK]],
        buffer: &mut Vec<[f64; CHUNK]>,
        out: &mut [f64],
    ) {
        buffer.clear();
        self.push(item, buffer);
        dots(buffer, others, self.width(), out);
    }

    /// The squared distances of an item's row to others.
    pub(super) fn squared_distances(
        &self,
        item: usize,
        others: &[[f64; CHUNK]],
        buffer: &mut Vec<[f64; CHUNK]>,
        out: &mut [f64],
    ) {
        buffer.clear();
        self.push(item, buffer);
        squared_distances([buffer], others, [out]);
    }

    /// ‖s a_i‖² of every item.
    pub(super) fn norms(&self) -> Vec<f64> {
        let items = self.features.items();
        let of_task = |task: usize| {
            let (mut buffer, mut row) = (Vec::new(), Vec::new());
            let norm = |item: usize| {
                row.clear();
                self.push(item, &mut row);
                let mut norm = [0.0];
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
    out: &'a mut [f64],
}

impl<T: Scalar> WithSimd for Read<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        for (out, &x) in self.out.iter_mut().zip(self.row) {
            *out = x.wide() * self.scale;
        }
    }
}

/// The inner products of a row with others.
///
/// The others start `stride` chunks apart and may be longer than the row.
pub(super) fn dots(row: &[[f64; CHUNK]], others: &[[f64; CHUNK]], stride: usize, out: &mut [f64]) {
    Arch::new().dispatch(Dots { row, others, stride, out });
}

struct Dots<'a> {
    row: &'a [[f64; CHUNK]],
    others: &'a [[f64; CHUNK]],
    stride: usize,
    out: &'a mut [f64],
}

impl WithSimd for Dots<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { row, others, stride, out } = self;
        let other = |at: usize| &others[at * stride..at * stride + row.len()];
        let row = ChunkedRow::new(row.as_flattened());
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

/// The squared distances of some rows to others.
///
/// They do not depend on how many are computed together. Subtracting first keeps every digit of a small distance
/// between large rows.
pub(super) fn squared_distances<const I: usize>(
    rows: [&[[f64; CHUNK]]; I],
    others: &[[f64; CHUNK]],
    out: [&mut [f64]; I],
) {
    Arch::new().dispatch(SquaredDistances { rows, others, out });
}

struct SquaredDistances<'a, const I: usize> {
    rows: [&'a [[f64; CHUNK]]; I],
    others: &'a [[f64; CHUNK]],
    out: [&'a mut [f64]; I],
}

impl<const I: usize> WithSimd for SquaredDistances<'_, I> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { rows, others, mut out } = self;
        let width = rows[0].len();
        let other = |at: usize| &others[at * width..(at + 1) * width];
        let count = out[0].len();
        let whole = count - count % 4;
        for at in (0..whole).step_by(4) {
            let sums = sums_of_squares(simd, rows, [other(at), other(at + 1), other(at + 2), other(at + 3)]);
            for i in 0..I {
                out[i][at..at + 4].copy_from_slice(&sums[i]);
            }
        }
        for (at, own) in (whole..count).map(|at| (at, sums_of_squares(simd, rows, [other(at)]))) {
            for (out, [sum]) in out.iter_mut().zip(own) {
                out[at] = sum;
            }
        }
    }
}

/// Σ (x − y)² of every pair.
#[inline(always)]
fn sums_of_squares<S: Simd, const I: usize, const D: usize>(
    simd: S,
    x: [&[[f64; CHUNK]]; I],
    y: [&[[f64; CHUNK]]; D],
) -> [[f64; D]; I] {
    let width = x[0].len();
    let mut sums = [[simd.splat_f64s(0.0); D]; I];
    // Loops, since closures might be compiled without the machine's vector instructions.
    for at in 0..width {
        for d in 0..D {
            let (y, _) = S::as_simd_f64s(&y[d][at]);
            for i in 0..I {
                let (x, _) = S::as_simd_f64s(&x[i][at]);
                for (&x, &y) in x.iter().zip(y) {
                    let difference = simd.sub_f64s(x, y);
                    sums[i][d] = simd.mul_add_e_f64s(difference, difference, sums[i][d]);
                }
            }
        }
    }
    let mut squares = [[0.0; D]; I];
    for i in 0..I {
        for d in 0..D {
            squares[i][d] = simd.reduce_sum_f64s(sums[i][d]);
        }
    }
    squares
}
