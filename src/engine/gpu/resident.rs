//! Rows that stay on the device between calls.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use super::{
    buffers::{Lease, size_of},
    context::Context,
};
use crate::engine::{Group, Items, Rows};

/// Values that a shader reads at a time: rows are padded to a multiple of it.
pub(super) const QUAD: usize = 4;
/// Rows of a chunk are a multiple of this, the tile of the shaders.
pub(super) const TILE: usize = 256;

/// Rows and columns of a block of a product.
pub(super) const BLOCK: usize = 64;

/// The scaled rows s·a_i of one group, in chunks that can be bound.
#[derive(Debug)]
pub(super) struct DeviceGroup {
    pub(super) chunks: Vec<Chunk>,
    /// Rows, in groups of four values: the last may be filled up with zeros.
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

/// The groups that were used before.
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
    /// A group on the device: from before, or uploaded now. Those of features that are gone make room first.
    pub(super) fn group(&self, context: &Context, rows: &Rows<'_>, group: usize) -> Arc<DeviceGroup> {
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
            return Arc::clone(&known.group);
        }
        let group = Arc::new(upload(context, rows, group));
        let (features, items) = (Arc::downgrade(features), KnownItems::of(items));
        known.push(Known { features, items, scale, group: Arc::clone(&group) });
        group
    }

    /// All groups of some rows.
    pub(super) fn groups(&self, context: &Context, rows: &Rows<'_>) -> Vec<Arc<DeviceGroup>> {
        (0..rows.groups().len()).map(|group| self.group(context, rows, group)).collect()
    }

    /// Forgets all groups: their memory is free once nobody uses it.
    pub(super) fn clear(&self) {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

/// Rows that fit in one binding.
pub(super) fn rows_per_binding(context: &Context, bytes_per_row: usize) -> usize {
    let fit = usize::try_from(context.largest_binding).unwrap_or(usize::MAX) / bytes_per_row.max(1);
    // Indices of shaders have 32 bits.
    let fit = fit.min((u32::MAX as usize >> 1) / bytes_per_row.max(1));
    if fit > TILE { fit / TILE * TILE } else { fit.max(1) }
}

/// Values converted at a time.
const PIECE: usize = 1 << 21;

fn upload(context: &Context, rows: &Rows<'_>, group: usize) -> DeviceGroup {
    let Group { items, scale } = rows.groups()[group];
    let features = rows.features();
    let dims = features.dims();
    let quads = dims.div_ceil(QUAD);
    let pitch = quads * QUAD;
    let most = rows_per_binding(context, pitch * size_of(context.precision));
    let piece = (PIECE / pitch).max(1);
    let mut values = vec![0.0; piece.min(items.len()) * pitch];
    let chunk = |start: usize| {
        let len = most.min(items.len() - start);
        let buffer = context.reals(len * pitch);
        for first in (0..len).step_by(piece) {
            let count = piece.min(len - first);
            for (at, row) in values[..count * pitch].chunks_exact_mut(pitch).enumerate() {
                features.read_row(items.at(start + first + at), scale, &mut row[..dims]);
            }
            context.write(&buffer, first * pitch, &values[..count * pitch]);
            // These travel while the next are converted.
            context.queue.submit([]);
        }
        Chunk { start, len, rows: buffer }
    };
    DeviceGroup { chunks: (0..items.len()).step_by(most).map(chunk).collect(), quads }
}

/// A vector in the layout of rows.
pub(super) fn padded(vector: &[f64]) -> Vec<f64> {
    let mut padded = vector.to_vec();
    padded.resize(vector.len().next_multiple_of(QUAD), 0.0);
    padded
}

/// The columns of an n×r matrix in the layout of products: a row per feature, filled up with zeros both ways.
pub(super) fn padded_factor(factor: faer::MatRef<'_, f64>, weight: f64) -> Vec<f64> {
    let (rows, columns) = (factor.nrows().next_multiple_of(QUAD), factor.ncols().next_multiple_of(QUAD));
    let mut padded = vec![0.0; rows * columns];
    for j in 0..factor.ncols() {
        for i in 0..factor.nrows() {
            padded[i * columns + j] = weight * factor[(i, j)];
        }
    }
    padded
}
