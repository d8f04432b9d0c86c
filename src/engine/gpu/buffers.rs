//! Buffers, pooled; values in the device's precision, up and down.

use std::{
    ops::Deref,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use wgpu::BufferUsages;

use super::context::{Context, Work};
use crate::{DeviceProblem, Error, Result, engine::Precision};

/// Bytes of buffers that are kept for reuse.
const KEPT: u64 = 1 << 30;
/// Buffers are a whole number of these.
const GRAIN: u64 = 256;
/// Buffers up to this size may be reused for less.
const SMALL: u64 = 1 << 16;
/// Bytes converted and handed to the queue at a time.
const PIECE: usize = 1 << 24;

const STORAGE: BufferUsages =
    BufferUsages::STORAGE.union(BufferUsages::COPY_DST).union(BufferUsages::COPY_SRC);
const READBACK: BufferUsages = BufferUsages::MAP_READ.union(BufferUsages::COPY_DST);

/// What stands for −∞ in a precision: WGSL has no literal for it.
pub(super) fn lowest(precision: Precision) -> f64 {
    match precision {
        Precision::F32 => (-3.0e38_f32).into(),
        Precision::F64 => -1.0e308,
    }
}

/// Bytes of a value.
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

/// A buffer that goes back to the pool when it is dropped.
#[derive(Debug)]
pub(super) struct Lease {
    buffer: wgpu::Buffer,
    free: Arc<Mutex<Vec<wgpu::Buffer>>>,
}

impl Deref for Lease {
    type Target = wgpu::Buffer;

    fn deref(&self) -> &wgpu::Buffer {
        &self.buffer
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        if free.iter().map(wgpu::Buffer::size).sum::<u64>() + self.buffer.size() <= KEPT {
            free.push(self.buffer.clone());
        }
    }
}

impl Pool {
    /// Bytes asked for last.
    pub(super) fn last_request(&self) -> u64 {
        self.last_request.load(Ordering::Relaxed)
    }

    /// Gives all free buffers back to the device.
    pub(super) fn clear(&self) {
        self.free.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    fn take(&self, device: &wgpu::Device, usage: BufferUsages, bytes: u64) -> Lease {
        let size = bytes.max(1).next_multiple_of(GRAIN);
        self.last_request.store(size, Ordering::Relaxed);
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        // Large ones must fit exactly: what is bound as a whole must stay within the limit.
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
        Lease { buffer, free: Arc::clone(&self.free) }
    }
}

impl Context {
    /// A buffer for shaders.
    pub(super) fn storage(&self, bytes: u64) -> Lease {
        self.pool.take(&self.device, STORAGE, bytes)
    }

    /// A buffer for so many values.
    pub(super) fn reals(&self, count: usize) -> Lease {
        self.storage((count * size_of(self.precision)) as u64)
    }

    /// The parameters of a dispatch.
    pub(super) fn uniform(&self, words: &[u32]) -> Lease {
        let mut words = words.to_vec();
        // Uniform structures are whole vectors.
        words.resize(words.len().next_multiple_of(4), 0);
        let usage = BufferUsages::UNIFORM | BufferUsages::COPY_DST;
        let bytes = bytemuck::cast_slice(&words);
        let buffer = self.pool.take(&self.device, usage, bytes.len() as u64);
        self.queue.write_buffer(&buffer, 0, bytes);
        buffer
    }

    /// Writes values, from the given one of a buffer on, in the device's precision; −∞ as what stands for it.
    pub(super) fn write(&self, buffer: &wgpu::Buffer, first: usize, values: &[f64]) {
        let width = size_of(self.precision);
        let lowest = lowest(self.precision);
        for (piece, values) in values.chunks(PIECE / width).enumerate() {
            let offset = (first * width + piece * PIECE) as u64;
            match self.precision {
                Precision::F32 => {
                    #[expect(clippy::cast_possible_truncation, reason = "the device's precision")]
                    let narrow: Vec<f32> = values.iter().map(|x| x.max(lowest) as f32).collect();
                    self.queue.write_buffer(buffer, offset, bytemuck::cast_slice(&narrow));
                }
                Precision::F64 => {
                    let finite: Vec<f64> = values.iter().map(|x| x.max(lowest)).collect();
                    self.queue.write_buffer(buffer, offset, bytemuck::cast_slice(&finite));
                }
            }
        }
    }

    /// A buffer with these values.
    pub(super) fn uploaded(&self, values: &[f64]) -> Lease {
        let buffer = self.reals(values.len());
        self.write(&buffer, 0, values);
        buffer
    }

    /// Reads parts of buffers: offset and length in bytes; everything recorded comes first.
    pub(super) fn download(
        &self,
        mut work: Work,
        what: &'static str,
        parts: &[(&wgpu::Buffer, u64, u64)],
    ) -> Result<Vec<Vec<u8>>> {
        let total: u64 = parts.iter().map(|(_, _, len)| len).sum();
        if total == 0 {
            self.submit(work);
            return Ok(vec![Vec::new(); parts.len()]);
        }
        let staging = self.pool.take(&self.device, READBACK, total);
        let mut at = 0;
        for &(buffer, offset, len) in parts {
            if len > 0 {
                work.encoder.copy_buffer_to_buffer(buffer, offset, &staging, at, len);
            }
            at += len;
        }
        let index = self.submit(work);
        let (tell, told) = std::sync::mpsc::channel();
        // Nobody listens if the wait below has failed.
        staging.map_async(wgpu::MapMode::Read, ..total, move |outcome| drop(tell.send(outcome)));
        let failed = |message: String| Error::Device(DeviceProblem::Refused { what, message });
        let wait = wgpu::PollType::Wait { submission_index: Some(index), timeout: None };
        self.device.poll(wait).map_err(|error| failed(error.to_string()))?;
        match told.recv() {
            Ok(Ok(())) => {}
            Ok(Err(error)) => return Err(failed(error.to_string())),
            Err(_) => return Err(failed("the device did not answer".to_owned())),
        }
        let view = staging.get_mapped_range(..total).map_err(|error| failed(error.to_string()))?;
        let mut found = Vec::with_capacity(parts.len());
        let mut start = 0;
        for &(_, _, len) in parts {
            #[expect(clippy::cast_possible_truncation, reason = "the bytes are in memory")]
            let end = start + len as usize;
            found.push(view[start..end].to_vec());
            start = end;
        }
        drop(view);
        staging.unmap();
        Ok(found)
    }

    /// Values of the device from bytes; what stands for −∞ as that.
    pub(super) fn values(&self, bytes: &[u8]) -> Vec<f64> {
        let lowest = lowest(self.precision);
        let value = |x: f64| if x <= lowest { f64::NEG_INFINITY } else { x };
        match self.precision {
            Precision::F32 => {
                bytemuck::pod_collect_to_vec::<u8, f32>(bytes).into_iter().map(|x| value(x.into())).collect()
            }
            Precision::F64 => bytemuck::pod_collect_to_vec::<u8, f64>(bytes).into_iter().map(value).collect(),
        }
    }
}
