//! Pooled buffers, and uploads and downloads of values in the device's precision.

use std::{
    ops::Deref,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use wgpu::BufferUsages;

use super::{context::Context, recording::Work, waiting};
use crate::{Error, Result, engine::Precision, error::DeviceProblem};

/// The most bytes of buffers kept for reuse.
const KEPT: u64 = 1 << 30;
/// Buffer sizes are multiples of this.
const GRAIN: u64 = 256;
/// Buffers up to this size may be reused for smaller ones.
const SMALL: u64 = 1 << 16;
/// Bytes of the number at the end of a readback.
const RECEIPT: u64 = 4;
/// Bytes converted and uploaded at a time.
const PIECE: usize = 1 << 24;

const STORAGE: BufferUsages =
    BufferUsages::STORAGE.union(BufferUsages::COPY_DST).union(BufferUsages::COPY_SRC);
const READBACK: BufferUsages = BufferUsages::MAP_READ.union(BufferUsages::COPY_DST);

/// The number that stands for infinity in shaders, since WGSL has no literal for it. Its negative stands for −∞.
fn highest(precision: Precision) -> f64 {
    match precision {
        Precision::F32 => 3.0e38_f32.into(),
        Precision::F64 => 1.0e308,
    }
}

/// Bytes per value.
pub(super) fn size_of(precision: Precision) -> usize {
    match precision {
        Precision::F32 => 4,
        Precision::F64 => 8,
    }
}

/// Free buffers by use and size.
#[derive(Debug, Default)]
pub(super) struct Pool {
    free: Arc<Mutex<Vec<wgpu::Buffer>>>,
    last_request: AtomicU64,
}

/// A buffer that returns to the pool when it is dropped.
#[derive(Debug)]
pub(super) struct Lease {
    buffer: wgpu::Buffer,
    /// The pool; `None` for a buffer that must not be reused.
    free: Option<Arc<Mutex<Vec<wgpu::Buffer>>>>,
}

impl Deref for Lease {
    type Target = wgpu::Buffer;

    fn deref(&self) -> &wgpu::Buffer {
        &self.buffer
    }
}

impl Lease {
    /// A buffer that is freed, rather than kept for reuse.
    pub(super) fn for_one_use(mut self) -> Self {
        self.free = None;
        self
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        let Some(free) = &self.free else { return };
        let mut free = free.lock().unwrap_or_else(PoisonError::into_inner);
        if free.iter().map(wgpu::Buffer::size).sum::<u64>() + self.buffer.size() <= KEPT {
            free.push(self.buffer.clone());
        }
    }
}

impl Pool {
    /// The size of the last request, in bytes.
    pub(super) fn last_request(&self) -> u64 {
        self.last_request.load(Ordering::Relaxed)
    }

    /// Frees all unused buffers.
    pub(super) fn clear(&self) {
        self.free.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    pub(super) fn take(&self, device: &wgpu::Device, usage: BufferUsages, bytes: u64) -> Lease {
        let size = bytes.max(1).next_multiple_of(GRAIN);
        self.last_request.store(size, Ordering::Relaxed);
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        // Large buffers must fit exactly, because a binding of the whole buffer must stay within the limit.
        let largest = if size <= SMALL { 2 * size } else { size };
        let fits =
            |buffer: &wgpu::Buffer| buffer.usage() == usage && (size..=largest).contains(&buffer.size());
        let buffer = match free.iter().position(fits) {
            Some(at) => free.swap_remove(at),
            None => device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("pdpp"),
                size,
                usage,
                mapped_at_creation: false,
            }),
        };
        Lease { buffer, free: Some(Arc::clone(&self.free)) }
    }
}

impl Context {
    /// A buffer for shaders.
    pub(super) fn storage(&self, bytes: u64) -> Lease {
        self.pool.take(&self.device, STORAGE, bytes)
    }

    /// A buffer for this many values.
    pub(super) fn reals(&self, count: usize) -> Lease {
        self.storage((count * size_of(self.precision)) as u64)
    }

    /// Writes values at an offset of a buffer in the device's precision. −∞ is written as the number that stands for
    /// it.
    ///
    /// # Errors
    /// [`DeviceProblem::SinglePrecision`] if a value overflows f32, [`DeviceProblem::NotFinite`] if it overflows f64.
    pub(super) fn write(&self, buffer: &wgpu::Buffer, first: usize, values: &[f64]) -> Result<()> {
        let width = size_of(self.precision);
        let highest = highest(self.precision);
        let fits = |x: &f64| x.abs() < highest || *x == f64::NEG_INFINITY;
        if let Some(&value) = values.iter().find(|x| !fits(x)) {
            let problem = match self.precision {
                Precision::F32 => DeviceProblem::SinglePrecision { what: "a number of size", value },
                Precision::F64 => self.not_finite("the input"),
            };
            return Err(problem.into());
        }
        for (piece, values) in values.chunks(PIECE / width).enumerate() {
            let offset = (first * width + piece * PIECE) as u64;
            match self.precision {
                Precision::F32 => {
                    #[expect(clippy::cast_possible_truncation, reason = "the device's precision")]
                    let narrow: Vec<f32> = values.iter().map(|x| x.max(-highest) as f32).collect();
                    self.send_bytes(buffer, offset, bytemuck::cast_slice(&narrow));
                }
                Precision::F64 => {
                    let finite: Vec<f64> = values.iter().map(|x| x.max(-highest)).collect();
                    self.send_bytes(buffer, offset, bytemuck::cast_slice(&finite));
                }
            }
        }
        Ok(())
    }

    /// Uploads values into a buffer.
    ///
    /// # Errors
    /// Errors of [`write`](Self::write).
    pub(super) fn uploaded(&self, values: &[f64]) -> Result<Lease> {
        let buffer = self.reals(values.len());
        self.write(&buffer, 0, values)?;
        Ok(buffer)
    }

    /// Uploads words into a buffer.
    pub(super) fn uploaded_words(&self, words: &[u32]) -> Lease {
        let bytes: &[u8] = bytemuck::cast_slice(words);
        let buffer = self.storage(bytes.len() as u64);
        for (piece, bytes) in bytes.chunks(PIECE).enumerate() {
            self.send_bytes(&buffer, (piece * PIECE) as u64, bytes);
        }
        buffer
    }

    /// Downloads ranges of buffers, by offset and length in bytes, after all recorded commands.
    pub(super) fn download(&self, work: Work, parts: &[(&wgpu::Buffer, u64, u64)]) -> Result<Vec<Vec<u8>>> {
        self.downloaded(work, parts, |found| found.iter().map(|part| part.to_vec()).collect())
    }

    /// Downloads ranges of buffers, by offset and length in bytes, after all recorded commands, and passes them to
    /// `read`.
    pub(super) fn downloaded<T>(
        &self,
        mut work: Work,
        parts: &[(&wgpu::Buffer, u64, u64)],
        read: impl FnOnce(&[&[u8]]) -> T,
    ) -> Result<T> {
        let total: u64 = parts.iter().map(|(_, _, len)| len).sum();
        if total == 0 {
            self.submit(work)?;
            return Ok(read(&vec![&[][..]; parts.len()]));
        }
        // A driver may report success for a lost device. The number at the end proves that everything before it was
        // computed.
        let receipt = self.submissions.receipt().to_le_bytes();
        let number = self.storage(RECEIPT);
        self.send_bytes(&number, 0, &receipt);
        let mut staging = self.pool.take(&self.device, READBACK, total + RECEIPT);
        let parts = [parts, &[(&*number, 0, RECEIPT)]].concat();
        let mut at = 0;
        for &(buffer, offset, len) in &parts {
            if len > 0 {
                work.encoder().copy_buffer_to_buffer(buffer, offset, &staging, at, len);
            }
            at += len;
        }
        let what = work.what;
        let submission = self.submit(work)?;
        // The buffer must not be reused until it is unmapped.
        let free = staging.free.take();
        let outcome = self.mapped(what, submission, &staging, total + RECEIPT, |view| {
            let (mut rest, mut found) = (view, Vec::with_capacity(parts.len()));
            for &(_, _, len) in &parts {
                #[expect(clippy::cast_possible_truncation, reason = "the bytes are in memory")]
                let (part, more) = rest.split_at(len as usize);
                found.push(part);
                rest = more;
            }
            let is_last = found.pop() == Some(&receipt[..]);
            is_last.then(|| read(&found))
        });
        if outcome.is_ok() {
            staging.free = free;
        }
        let reason = || format!("it answered {what} without computing it");
        outcome?.ok_or_else(|| Error::Device(DeviceProblem::Lost { reason: reason() }))
    }

    /// Passes the first bytes of a buffer to `read`, after a submission.
    fn mapped<T>(
        &self,
        what: &'static str,
        submission: u64,
        staging: &wgpu::Buffer,
        total: u64,
        read: impl FnOnce(&[u8]) -> T,
    ) -> Result<T> {
        let failed = |message: String| Error::Device(DeviceProblem::Refused { what, message });
        let (tell, told) = waiting::channel();
        // The receiver is gone if the wait below failed.
        staging.map_async(wgpu::MapMode::Read, ..total, move |outcome| drop(tell.send(outcome)));
        let outcome = waiting::answer(self, what, submission, told)?;
        outcome.map_err(|error| failed(error.to_string()))?;
        let view = staging.get_mapped_range(..total).map_err(|error| failed(error.to_string()))?;
        let found = read(&view);
        self.counters.downloaded.fetch_add(total, Ordering::Relaxed);
        drop(view);
        staging.unmap();
        Ok(found)
    }

    /// Reads the device's numbers from these bytes. All must be finite.
    ///
    /// # Errors
    /// [`DeviceProblem::NotFinite`] if a number is not finite.
    pub(super) fn values(&self, what: &'static str, bytes: &[u8]) -> Result<Vec<f64>> {
        let values = self.widened(bytes);
        if values.iter().all(|x| x.abs() < highest(self.precision)) {
            return Ok(values);
        }
        Err(self.not_finite(what).into())
    }

    /// Reads the device's numbers into `out`, each multiplied by a factor. Returns whether all are finite.
    pub(super) fn scaled(&self, bytes: &[u8], factor: f64, out: &mut [f64]) -> bool {
        fn fill<const W: usize>(
            (bytes, factor, out): (&[u8], f64, &mut [f64]),
            read: impl Fn([u8; W]) -> f64,
            highest: f64,
        ) -> bool {
            let mut are_finite = true;
            for (out, bytes) in out.iter_mut().zip(bytes.as_chunks::<W>().0) {
                let x = read(*bytes);
                are_finite &= x.abs() < highest;
                *out = x * factor;
            }
            are_finite
        }
        let (given, highest) = ((bytes, factor, out), highest(self.precision));
        match self.precision {
            Precision::F32 => fill(given, |bytes| f32::from_ne_bytes(bytes).into(), highest),
            Precision::F64 => fill(given, f64::from_ne_bytes, highest),
        }
    }

    /// Reads the device's numbers from these bytes. All must be finite or −∞.
    pub(super) fn values_or_lowest(&self, what: &'static str, bytes: &[u8]) -> Result<Vec<f64>> {
        let highest = highest(self.precision);
        let mut values = self.widened(bytes);
        for x in &mut values {
            if x.to_bits() == (-highest).to_bits() {
                *x = f64::NEG_INFINITY;
            } else if !x.is_finite() || x.abs() >= highest {
                return Err(self.not_finite(what).into());
            }
        }
        Ok(values)
    }

    /// The error for an infinite value or NaN.
    pub(super) fn not_finite(&self, what: &'static str) -> DeviceProblem {
        DeviceProblem::NotFinite { what, bits: 8 * size_of(self.precision) }
    }

    /// Reads all numbers, in f64.
    pub(super) fn widened(&self, bytes: &[u8]) -> Vec<f64> {
        match self.precision {
            Precision::F32 => {
                bytemuck::pod_collect_to_vec::<u8, f32>(bytes).into_iter().map(f64::from).collect()
            }
            Precision::F64 => bytemuck::pod_collect_to_vec(bytes),
        }
    }
}
