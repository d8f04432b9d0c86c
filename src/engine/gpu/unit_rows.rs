//! Rows of unit length on the device, from which draws take their trials.

use std::collections::VecDeque;

use super::{
    buffers::{Lease, size_of},
    context::Context,
    stored::rows_per_binding,
    words,
};
use crate::{Result, parallel::map_ordered};

/// The most buffers that shaders read rows from.
const BUFFERS: usize = 3;
/// The number of values computed at a time, and the number of rows per task.
const VALUES: usize = 1 << 20;
const TASK: usize = 256;
/// The most submissions that hold memory on the host while they wait for the device: half a gigabyte.
const MOST_SENT: usize = 64;

/// Rows of the same number of values, in up to three buffers.
#[derive(Debug)]
pub(super) struct UnitRows {
    buffers: Vec<Lease>,
    pub(super) at_a_time: usize,
}

impl UnitRows {
    /// Whether so many rows fit into the buffers.
    pub(super) fn fit(context: &Context, items: usize, width: usize) -> bool {
        let bytes = width.saturating_mul(size_of(context.precision));
        bytes as u64 <= context.largest_binding && items.div_ceil(rows_per_binding(context, bytes)) <= BUFFERS
    }

    /// Uploads the rows, of `width` values each. They need no digits beyond the device's.
    pub(super) fn upload(
        context: &Context,
        items: usize,
        width: usize,
        unit_row: &(dyn Fn(u32, &mut [f64]) + Sync),
    ) -> Result<Self> {
        let at_a_time = rows_per_binding(context, width * size_of(context.precision)).min(items);
        let mut sent = VecDeque::new();
        let upload = |start: usize| {
            let end = items.min(start + at_a_time);
            let buffer = context.reals((end - start) * width);
            let piece = (VALUES / width).next_multiple_of(TASK);
            for first in (start..end).step_by(piece) {
                let last = end.min(first + piece);
                let rows = map_ordered((last - first).div_ceil(TASK), |task| {
                    let start = first + task * TASK;
                    let mut values = vec![0.0; (last.min(start + TASK) - start) * width];
                    for (position, row) in (start..).zip(values.chunks_exact_mut(width)) {
                        unit_row(words(position), row);
                    }
                    values
                });
                context.write(&buffer, (first - start) * width, &rows.concat())?;
                // The upload overlaps with the computation of the next rows.
                context.send_off(&mut sent, MOST_SENT)?;
            }
            Ok(buffer)
        };
        let buffers = (0..items).step_by(at_a_time).map(upload).collect::<Result<_>>()?;
        Ok(Self { buffers, at_a_time })
    }

    /// The buffers as shaders bind them. The first one stands for those that no row is in.
    pub(super) fn buffers(&self) -> [&wgpu::Buffer; BUFFERS] {
        std::array::from_fn(|number| &**self.buffers.get(number).unwrap_or(&self.buffers[0]))
    }
}
