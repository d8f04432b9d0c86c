//! Rows that stay on the device between calls.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use super::{
    buffers::{Lease, size_of},
    context::Context,
    pace::Load,
    range::{QUAD, check_row, unit_of_rows},
};
use crate::{
    Result,
    engine::{Group, Items, Precision, Rows, rows::largest},
};

/// Rows of a chunk are a multiple of this, the tile of the shaders.
pub(super) const TILE: usize = 256;

/// Rows and columns of a block of a product.
pub(super) const BLOCK: usize = 64;

/// The scaled rows s·a_i of one group, divided by `unit`, in chunks that can be bound.
#[derive(Debug)]
pub(super) struct DeviceGroup {
    pub(super) chunks: Vec<Chunk>,
    /// A power of two.
    pub(super) unit: f64,
    /// Rows, in groups of four values, the last padded with zeros.
    pub(super) quads: usize,
}

/// Some rows of a group.
#[derive(Debug)]
pub(super) struct Chunk {
    /// Position of the first.
    pub(super) start: usize,
    pub(super) len: usize,
    pub(super) rows: Lease,
}

/// The groups uploaded before.
#[derive(Debug, Default)]
pub(super) struct Resident {
    known: Mutex<Vec<Known>>,
}

#[derive(Debug)]
struct Known {
    features: Weak<()>,
    items: KnownItems,
    scale: f64,
    group: Arc<DeviceGroup>,
}

#[derive(Debug, PartialEq, Eq)]
enum KnownItems {
    All(usize),
    Listed(Vec<u32>),
}

impl KnownItems {
    fn of(items: Items<'_>) -> Self {
        match items {
            Items::All(count) => Self::All(count),
            Items::Listed(items) => Self::Listed(items.to_vec()),
        }
    }

    fn are(&self, items: Items<'_>) -> bool {
        match (self, items) {
            (Self::All(known), Items::All(count)) => *known == count,
            (Self::Listed(known), Items::Listed(items)) => known == items,
            _ => false,
        }
    }
}

impl Resident {
    /// A group on the device, uploaded if necessary. Groups of dropped features are freed first.
    ///
    /// # Errors
    /// Those of the device, and [`SinglePrecision`](crate::error::DeviceProblem::SinglePrecision).
    pub(super) fn group(&self, context: &Context, rows: &Rows<'_>, group: usize) -> Result<Arc<DeviceGroup>> {
        let Group { items, scale } = rows.groups()[group];
        let features = rows.features().identity();
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|known| known.features.strong_count() > 0);
        let same = |known: &&Known| {
            std::ptr::eq(known.features.as_ptr(), Arc::as_ptr(features))
                && known.scale.to_bits() == scale.to_bits()
                && known.items.are(items)
        };
        if let Some(known) = known.iter().find(same) {
            return Ok(Arc::clone(&known.group));
        }
        let group = Arc::new(upload(context, rows, group)?);
        let (features, items) = (Arc::downgrade(features), KnownItems::of(items));
        known.push(Known { features, items, scale, group: Arc::clone(&group) });
        Ok(group)
    }

    /// All groups of some rows.
    ///
    /// # Errors
    /// Those of [`group`](Self::group).
    pub(super) fn groups(&self, context: &Context, rows: &Rows<'_>) -> Result<Vec<Arc<DeviceGroup>>> {
        (0..rows.groups().len()).map(|group| self.group(context, rows, group)).collect()
    }

    /// Forgets all groups; their memory is freed with its last user.
    pub(super) fn clear(&self) {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

/// The number of rows that fit in one binding.
pub(super) fn rows_per_binding(context: &Context, bytes_per_row: usize) -> usize {
    let fit = usize::try_from(context.largest_binding).unwrap_or(usize::MAX) / bytes_per_row.max(1);
    // Indices of shaders have 32 bits.
    let fit = fit.min((u32::MAX as usize >> 1) / bytes_per_row.max(1));
    if fit > TILE { fit / TILE * TILE } else { fit.max(1) }
}

/// Values converted at a time.
const PIECE: usize = 1 << 21;

fn upload(context: &Context, rows: &Rows<'_>, group: usize) -> Result<DeviceGroup> {
    let Group { items, scale } = rows.groups()[group];
    let features = rows.features();
    let dims = features.dims();
    let quads = dims.div_ceil(QUAD);
    let pitch = quads * QUAD;
    let most = rows_per_binding(context, pitch * size_of(context.precision));
    let piece = (PIECE / pitch).max(1);
    let unit = unit_of_rows(context.precision, || scale * largest(features, items));
    let mut values = vec![0.0; piece.min(items.len()) * pitch];
    let chunk = |start: usize| -> Result<Chunk> {
        let len = most.min(items.len() - start);
        let buffer = context.reals(len * pitch);
        for first in (0..len).step_by(piece) {
            let count = piece.min(len - first);
            for (at, row) in values[..count * pitch].chunks_exact_mut(pitch).enumerate() {
                features.read_row(items.at(start + first + at), scale, &mut row[..dims]);
                if context.precision == Precision::F32 {
                    row.iter_mut().for_each(|x| *x /= unit);
                    check_row(row)?;
                }
            }
            context.write(&buffer, first * pitch, &values[..count * pitch])?;
            // The upload overlaps with the conversion of the next values.
            context.hand_over(None);
        }
        Ok(Chunk { start, len, rows: buffer })
    };
    let chunks = (0..items.len()).step_by(most).map(chunk).collect::<Result<_>>()?;
    Ok(DeviceGroup { chunks, unit, quads })
}

/// The load of a product of rows with a vector, a tile of rows per workgroup.
pub(super) fn tiles(precision: Precision, rows: usize, quads: usize) -> Load {
    let values = (TILE * quads * QUAD) as f64;
    Load { groups: rows.div_ceil(TILE), flops: 2.0 * values, bytes: values * size_of(precision) as f64 }
}

/// The load of a product of rows with a matrix of this many columns, a block of rows and columns per workgroup.
pub(super) fn blocks(precision: Precision, rows: usize, quads: usize, columns: usize) -> Load {
    let terms = (quads * QUAD) as f64;
    let (side, width) = (BLOCK as f64, size_of(precision) as f64);
    Load {
        groups: rows.div_ceil(BLOCK) * columns.div_ceil(BLOCK),
        flops: 2.0 * side * side * terms,
        bytes: (2.0 * side * terms + side * side) * width,
    }
}
