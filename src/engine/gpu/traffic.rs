//! Traffic between the host and the device.

use std::{
    ops::Sub,
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use super::{context::Context, shaders::Shader};
use crate::{Error, Result, error::DeviceProblem};

/// Bytes and commands between the host and a GPU: the cost of its work apart from the shaders, on any card.
///
/// The traffic of some work is the value of [`Gpu::traffic`](super::Gpu::traffic) after it minus the value before it.
///
/// ```
/// # fn main() -> Result<(), partition_dpp::Error> {
/// use partition_dpp::{Features, KDpp, engine::gpu::{Gpu, GpuOptions}, map::{Greedy, Solver}};
/// let Ok(gpu) = Gpu::new(&GpuOptions::default()) else { return Ok(()) };
/// let values: Vec<f32> = (0..4000).map(|i| (i as f32 * 0.37).sin()).collect();
/// let model = KDpp::new(&Features::from_rows(1000, 4, values)?, 2)?;
/// Greedy::default().solve(&model, &gpu.engine())?;
/// let before = gpu.traffic();
/// Greedy::default().solve(&model, &gpu.engine())?;
/// // The rows are there already.
/// assert!((gpu.traffic() - before).uploaded < 16_000);
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Traffic {
    /// Bytes written by the host, including parameters of shaders.
    pub uploaded: u64,
    /// Bytes read by the host.
    pub downloaded: u64,
    /// Runs of shaders.
    pub dispatches: u64,
    /// Submissions of command lists.
    pub submissions: u64,
    /// The number of times that the host waited for the device.
    pub waits: u64,
}

impl Sub for Traffic {
    type Output = Self;

    /// The traffic since `before`.
    fn sub(self, before: Self) -> Self {
        Self {
            uploaded: self.uploaded - before.uploaded,
            downloaded: self.downloaded - before.downloaded,
            dispatches: self.dispatches - before.dispatches,
            submissions: self.submissions - before.submissions,
            waits: self.waits - before.waits,
        }
    }
}

/// The traffic so far.
#[derive(Debug, Default)]
pub(super) struct Counters {
    uploaded: AtomicU64,
    pub(super) downloaded: AtomicU64,
    pub(super) submissions: AtomicU64,
    pub(super) waits: AtomicU64,
    /// Nanoseconds spent copying rows into memory that the device reads.
    filling: AtomicU64,
}

impl Counters {
    pub(super) fn add_filling(&self, time: Duration) {
        let nanoseconds = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        self.filling.fetch_add(nanoseconds, Ordering::Relaxed);
    }

    pub(super) fn filling(&self) -> Duration {
        Duration::from_nanos(self.filling.load(Ordering::Relaxed))
    }
}

impl Context {
    /// Writes bytes to a buffer. All uploads go through this or [`staging`](Self::staging).
    pub(super) fn send_bytes(&self, buffer: &wgpu::Buffer, offset: u64, bytes: &[u8]) {
        self.counters.uploaded.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        self.queue.write_buffer(buffer, offset, bytes);
    }

    /// Memory that the device copies into a buffer once it is filled and dropped.
    ///
    /// # Errors
    /// [`DeviceProblem::Memory`] if the memory is not available.
    pub(super) fn staging(
        &self,
        buffer: &wgpu::Buffer,
        offset: u64,
        bytes: wgpu::BufferSize,
    ) -> Result<wgpu::QueueWriteBufferView> {
        let Some(view) = self.queue.write_buffer_with(buffer, offset, bytes) else {
            self.check_lost()?;
            let bytes = bytes.get();
            return Err(Error::Device(DeviceProblem::Memory { what: "an upload", bytes }));
        };
        self.counters.uploaded.fetch_add(bytes.get(), Ordering::Relaxed);
        Ok(view)
    }

    /// Submits commands, possibly none. All submissions go through this.
    pub(super) fn hand_over(&self, commands: Option<wgpu::CommandBuffer>) -> wgpu::SubmissionIndex {
        self.counters.submissions.fetch_add(1, Ordering::Relaxed);
        self.queue.submit(commands)
    }

    pub(super) fn traffic(&self) -> Traffic {
        let of = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let Counters { uploaded, downloaded, submissions, waits, .. } = &self.counters;
        Traffic {
            uploaded: of(uploaded),
            downloaded: of(downloaded),
            dispatches: Shader::ALL.iter().map(|&shader| self.dispatches(shader)).sum(),
            submissions: of(submissions),
            waits: of(waits),
        }
    }
}
