//! Copies rows of features into memory that the device reads.

use std::ops::Range;

use bytemuck::cast_slice;
use wgpu::WriteOnly;

use super::{
    exponents::{NONE, exponent, exponent_of_product, scaled},
    shaders::RowType,
};
use crate::{
    Features,
    data::{
        stored_rows::StoredRows,
        values::{Scalar, fold_lanes, with_rows},
    },
    engine::Items,
    parallel::map_ordered_mut,
};

/// Bytes that a thread reads at a time.
const TASK: usize = 1 << 20;
/// Bytes that are read twice, for values and for exponents, and stay in the cache.
const BLOCK: usize = 1 << 14;

/// Larger in magnitude than every exponent except the exponent of zero.
const MOST: i16 = 2000;

/// The form in which rows are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// a_i.
    Plain,
    /// q_i a_i / 2ᵉ, with the exponent e of its largest entry.
    Normalised,
}

/// A copy of rows to the device.
#[derive(Clone, Copy, Debug)]
pub(super) struct Filling<'f> {
    pub(super) features: &'f Features,
    pub(super) items: Items<'f>,
    pub(super) row_type: RowType,
    /// The number of values per row on the device. Values beyond the features are zero.
    pub(super) pitch: usize,
    pub(super) form: Form,
}

/// The largest magnitude in a row of finite values.
fn largest<T: Scalar>(row: &[T]) -> f64 {
    const LANES: usize = 16;
    if T::NAME != RowType::F32.name() {
        return T::largest_magnitude(row).unwrap_or(f64::INFINITY);
    }
    let row: &[f32] = cast_slice(row);
    // Without a check for finite values, and in lanes, this takes little time compared with the copy.
    let (head, tail) = row.as_chunks::<LANES>();
    let larger = |most: f32, x: f32| if x > most { x } else { most };
    let mut most = [0.0_f32; LANES];
    for chunk in head {
        most.iter_mut().zip(chunk).for_each(|(most, x)| *most = larger(*most, x.abs()));
    }
    tail.iter().fold(fold_lanes(most, larger), |most, x| larger(most, x.abs())).into()
}

impl Filling<'_> {
    /// Whether all rows are far enough inside the range of single precision for products with factors.
    pub(super) fn fits_single(&self, exponents: &[i16]) -> bool {
        /// The exponents of stored rows: 2³⁶ over the smallest and 2⁻⁴⁰ over the largest are normal numbers.
        const RANGE: Range<i16> = -89..80;
        if self.features.is_weighted() {
            let fits = |item| {
                let size = exponent(self.features.max_abs_of_stored(item));
                size == NONE || RANGE.contains(&size)
            };
            self.items.iter().all(fits)
        } else {
            exponents.iter().all(|&exponent| exponent == NONE || RANGE.contains(&exponent))
        }
    }

    /// Computes the exponents of the rows from `first` on.
    pub(super) fn exponents(&self, first: usize, exponents: &mut [i16]) {
        let rows = (TASK / (self.pitch * self.row_type.width())).max(1);
        map_ordered_mut(exponents.chunks_mut(rows).collect(), |task, exponents: &mut [i16]| {
            for (at, exponent) in exponents.iter_mut().enumerate() {
                *exponent = self.exponent(first + task * rows + at);
            }
        });
    }

    fn exponent(&self, position: usize) -> i16 {
        let item = self.items.at(position);
        exponent_of_product(self.features.max_abs_of_stored(item), self.features.weight(item))
    }

    /// Writes some rows, and the exponents of the first of them, as many as there is room for.
    pub(super) fn fill(&self, rows: Range<usize>, out: WriteOnly<'_, [u8]>, exponents: &mut [i16]) {
        with_rows!(self.features.values(), stored => self.fill_from(stored, rows, out, exponents));
    }

    fn fill_from<T: Scalar>(
        &self,
        stored: &StoredRows<T>,
        rows: Range<usize>,
        mut out: WriteOnly<'_, [u8]>,
        exponents: &mut [i16],
    ) {
        let row_bytes = self.pitch * self.row_type.width();
        let block = (BLOCK / row_bytes).max(1);
        for start in rows.clone().step_by(block) {
            let own = start..rows.end.min(start + block);
            let at = start - rows.start;
            let bytes = out.slice(at * row_bytes..(at + own.len()) * row_bytes);
            if T::NAME == self.row_type.name() && self.form == Form::Plain {
                self.copy(stored, own.clone(), bytes);
            } else {
                self.convert(stored, own.clone(), bytes);
            }
            for (exponent, position) in exponents.iter_mut().skip(at).zip(own) {
                let item = self.items.at(position);
                *exponent = exponent_of_product(largest(stored.row(item)), self.features.weight(item));
            }
        }
    }

    /// Copies rows that are stored as they are, as many as possible at a time.
    fn copy<T: Scalar>(&self, stored: &StoredRows<T>, rows: Range<usize>, mut out: WriteOnly<'_, [u8]>) {
        let (dims, row_bytes) = (self.features.dims(), self.pitch * size_of::<T>());
        let mut next = rows.start;
        while next < rows.end {
            let from = (next - rows.start) * row_bytes;
            let item = self.items.at(next);
            let follow = matches!(self.items, Items::All(_)) && dims == self.pitch;
            let values = if follow {
                let values = stored.from(item);
                &values[..values.len().min((rows.end - next) * dims)]
            } else {
                stored.row(item)
            };
            let bytes: &[u8] = cast_slice(values);
            out.slice(from..from + bytes.len()).copy_from_slice(bytes);
            let count = values.len() / dims;
            out.slice(from + bytes.len()..from + count * row_bytes).fill(0);
            next += count;
        }
    }

    /// Converts rows to single precision.
    fn convert<T: Scalar>(&self, stored: &StoredRows<T>, rows: Range<usize>, mut out: WriteOnly<'_, [u8]>) {
        let row_bytes = self.pitch * size_of::<f32>();
        let mut narrow = vec![0.0_f32; self.pitch];
        for (at, position) in rows.enumerate() {
            let item = self.items.at(position);
            let row = stored.row(item);
            match self.form {
                Form::Plain => {
                    T::narrow(row, 1.0, &mut narrow);
                }
                Form::Normalised => {
                    let (largest, weight) =
                        (T::largest_magnitude(row).unwrap_or(0.0), self.features.weight(item));
                    let size = exponent(largest).max(-MOST);
                    let weight = scaled(weight, -i32::from(exponent(weight).max(-MOST)));
                    for (narrow, value) in narrow.iter_mut().zip(row) {
                        #[expect(clippy::cast_possible_truncation, reason = "the device's precision")]
                        let value = (scaled(value.wide(), -i32::from(size)) * weight) as f32;
                        *narrow = value;
                    }
                }
            }
            out.slice(at * row_bytes..(at + 1) * row_bytes).copy_from_slice(cast_slice(&narrow));
        }
    }
}
