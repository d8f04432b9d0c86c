//! Rows of features on the device, in the type in which they are stored.

use std::{
    collections::VecDeque,
    sync::{PoisonError, RwLock},
};

use super::{
    buffers::{Lease, size_of},
    context::Context,
    exponents::NONE,
    filling::{Filling, Form},
    range::QUAD,
    recording::Work,
    resident::{Selection, TILE},
    shaders::RowType,
};
use crate::{Features, Result, clock::Instant, engine::Precision, parallel::map_ordered_mut};

/// The most bytes of rows in a chunk. The device works on one chunk while the next is uploaded.
const CHUNK: usize = 1 << 28;
/// Bytes that a thread uploads at a time.
const TASK: usize = 1 << 22;
/// Tasks between two submissions.
const TOGETHER: usize = 8;
/// The most submissions that hold memory on the host while they wait for the device: half a gigabyte.
const MOST_SENT: usize = 16;

/// Rows of one feature matrix, in chunks that can be bound.
///
/// In f64, rows are stored with the values and the type of the features: f16, f32 or f64. Tiles multiply rows by
/// their scales and weights when they read them. In single precision, f64 becomes f32. Rows beyond the range of f32
/// are stored with their weights, each divided by a power of two.
#[derive(Debug)]
pub(super) struct Stored {
    pub(super) row_type: RowType,
    /// Values per row in groups of four, the last group padded with zeros.
    pub(super) quads: usize,
    pub(super) form: Form,
    selection: Selection,
    chunk_rows: usize,
    /// The chunks that stay on the device.
    chunks: Vec<RwLock<Option<Lease>>>,
    /// The exponent of the largest entry of every weighted row, in single precision.
    exponents: Vec<i16>,
    /// The number of chunks that stay until the features are dropped. The device has no room for the other chunks,
    /// which are uploaded for one use.
    staying: usize,
}

impl Stored {
    /// Stores the rows of a selection. As many chunks stay on the device as fit into `room` bytes. In single
    /// precision, rows are uploaded immediately.
    ///
    /// # Errors
    /// Errors of the device.
    pub(super) fn new(
        context: &Context,
        features: &Features,
        selection: Selection,
        room: u64,
    ) -> Result<Self> {
        let quads = features.dims().div_ceil(QUAD);
        let row_type = row_type(context.precision, features);
        let most = rows_per_binding(context, quads * QUAD * size_of(context.precision));
        let fit = CHUNK / (quads * QUAD * size_of(context.precision));
        let items = selection.items().len();
        let chunk_rows = most.min((fit / TILE).max(1) * TILE).min(items.max(1).next_multiple_of(TILE));
        let chunk_bytes = (chunk_rows * quads * QUAD * row_type.width()) as u64;
        let staying = usize::try_from(room / chunk_bytes).unwrap_or(usize::MAX);
        let chunks = (0..items.div_ceil(chunk_rows)).map(|_| RwLock::default()).collect();
        let mut stored = Self {
            row_type,
            quads,
            form: Form::Plain,
            selection,
            chunk_rows,
            chunks,
            exponents: Vec::new(),
            staying,
        };
        if context.precision == Precision::F32 {
            stored.narrow(context, features)?;
        }
        Ok(stored)
    }

    /// Uploads all chunks in single precision, and keeps the exponents of their rows.
    fn narrow(&mut self, context: &Context, features: &Features) -> Result<()> {
        let items = self.selection.items();
        let mut exponents = vec![NONE; items.len()];
        let filling =
            Filling { features, items, row_type: self.row_type, pitch: self.pitch(), form: self.form };
        for (chunk, exponents) in exponents.chunks_mut(self.chunk_rows).enumerate() {
            if chunk < self.staying {
                let buffer = self.upload(context, &filling, chunk, exponents)?;
                *self.chunks[chunk].write().unwrap_or_else(PoisonError::into_inner) = Some(buffer);
            } else {
                filling.exponents(chunk * self.chunk_rows, exponents);
            }
        }
        if !filling.fits_single(&exponents) {
            self.form = Form::Normalised;
            self.row_type = RowType::F32;
            self.chunks = self.chunks.iter().map(|_| RwLock::default()).collect();
        }
        self.exponents = exponents;
        Ok(())
    }

    /// The rows of a chunk, uploaded if necessary. `work` holds chunks that do not stay on the device.
    ///
    /// # Errors
    /// Errors of the device.
    pub(super) fn chunk(
        &self,
        context: &Context,
        features: &Features,
        work: &mut Work,
        chunk: usize,
    ) -> Result<wgpu::Buffer> {
        if let Some(rows) = &*self.chunks[chunk].read().unwrap_or_else(PoisonError::into_inner) {
            return Ok((**rows).clone());
        }
        let filling = Filling {
            features,
            items: self.selection.items(),
            row_type: self.row_type,
            pitch: self.pitch(),
            form: self.form,
        };
        let rows = self.upload(context, &filling, chunk, &mut [])?;
        if chunk >= self.staying {
            return Ok(work.hold(rows));
        }
        // Another thread may have been faster, since no lock is held while threads copy.
        let mut kept = self.chunks[chunk].write().unwrap_or_else(PoisonError::into_inner);
        Ok((**kept.get_or_insert(rows)).clone())
    }

    /// The number of values per row.
    fn pitch(&self) -> usize {
        self.quads * QUAD
    }

    fn upload(
        &self,
        context: &Context,
        filling: &Filling<'_>,
        chunk: usize,
        exponents: &mut [i16],
    ) -> Result<Lease> {
        let first = chunk * self.chunk_rows;
        let count = self.chunk_rows.min(filling.items.len() - first);
        let row_bytes = self.pitch() * self.row_type.width();
        let rows = context.storage((count * row_bytes) as u64);
        let each = (TASK / row_bytes).max(1);
        let mut sent = VecDeque::new();
        let mut rest = exponents;
        for start in (0..count).step_by(each * TOGETHER) {
            let mut tasks = Vec::new();
            for start in (start..count.min(start + each * TOGETHER)).step_by(each) {
                let own = start..count.min(start + each);
                let (exponents, others) = rest.split_at_mut(own.len().min(rest.len()));
                rest = others;
                let Some(bytes) = wgpu::BufferSize::new((own.len() * row_bytes) as u64) else { continue };
                let staging = context.staging(&rows, (own.start * row_bytes) as u64, bytes)?;
                tasks.push((staging, first + own.start..first + own.end, exponents));
            }
            let fill = |(mut staging, own, exponents): (wgpu::QueueWriteBufferView, _, &mut [i16])| {
                filling.fill(own, staging.slice(..), exponents);
                staging
            };
            let begun = Instant::now();
            let filled = map_ordered_mut(tasks, |_, task| fill(task));
            context.counters.add_filling(begun.elapsed());
            // They are dropped by the thread that collects errors.
            drop(filled);
            // The copy to the device overlaps with filling the next values.
            context.send_off(&mut sent, MOST_SENT)?;
        }
        Ok(rows)
    }

    /// Whether all chunks stay on the device.
    pub(super) fn stays(&self) -> bool {
        self.staying >= self.chunks.len()
    }

    /// Bytes of the rows that stay on the device.
    pub(super) fn bytes(&self) -> u64 {
        let rows = self.len().min(self.staying.saturating_mul(self.chunk_rows));
        (rows * self.pitch() * self.row_type.width()) as u64
    }

    /// The number of rows.
    pub(super) fn len(&self) -> usize {
        self.selection.items().len()
    }

    /// The item of this row.
    pub(super) fn item(&self, row: usize) -> usize {
        self.selection.items().at(row)
    }

    /// The number of chunks, and the number of rows per chunk, except perhaps in the last.
    pub(super) fn chunks(&self) -> (usize, usize) {
        (self.chunks.len(), self.chunk_rows)
    }

    /// The exponent of this row, in single precision.
    pub(super) fn exponent(&self, row: usize) -> i16 {
        self.exponents[row]
    }
}

fn row_type(precision: Precision, features: &Features) -> RowType {
    match (features.scalar(), precision) {
        ("f16", _) => RowType::F16,
        ("f64", Precision::F64) => RowType::F64,
        _ => RowType::F32,
    }
}

/// The number of rows that fit in one binding.
pub(super) fn rows_per_binding(context: &Context, bytes_per_row: usize) -> usize {
    let fit = usize::try_from(context.largest_binding).unwrap_or(usize::MAX) / bytes_per_row.max(1);
    // Shaders use 32-bit indices.
    let fit = fit.min((u32::MAX as usize >> 1) / bytes_per_row.max(1));
    if fit > TILE { fit / TILE * TILE } else { fit.max(1) }
}
