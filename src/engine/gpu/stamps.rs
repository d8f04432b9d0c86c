//! Time stamps at both ends of passes, which measure how long a device was busy.

use std::{
    sync::atomic::{AtomicU32, Ordering},
    time::Duration,
};

use super::{Gpu, context::Context};
use crate::Result;

/// The number of passes that can be timed before their stamps are read.
const PASSES: u32 = wgpu::QUERY_SET_MAX_QUERIES / 2;
/// Bytes of a stamp.
const STAMP: u64 = 8;

/// The stamps of passes, and the numbers of passes recorded and submitted.
#[derive(Debug)]
pub(super) struct Stamps {
    set: wgpu::QuerySet,
    recorded: AtomicU32,
    submitted: AtomicU32,
}

impl Stamps {
    /// Creates the stamps; `None` on a device without the feature.
    pub(super) fn new(device: &wgpu::Device) -> Option<Self> {
        let descriptor = wgpu::QuerySetDescriptor {
            label: Some("pdpp.stamps"),
            ty: wgpu::QueryType::Timestamp,
            count: 2 * PASSES,
        };
        device.features().contains(wgpu::Features::TIMESTAMP_QUERY).then(|| Self {
            set: device.create_query_set(&descriptor),
            recorded: AtomicU32::new(0),
            submitted: AtomicU32::new(0),
        })
    }

    /// The stamps of one more pass, if it can be timed.
    pub(super) fn of_pass(&self) -> Option<wgpu::ComputePassTimestampWrites<'_>> {
        let pass = self.recorded.fetch_add(1, Ordering::Relaxed);
        (pass < PASSES).then_some(wgpu::ComputePassTimestampWrites {
            query_set: &self.set,
            beginning_of_pass_write_index: Some(2 * pass),
            end_of_pass_write_index: Some(2 * pass + 1),
        })
    }
}

impl Context {
    /// Counts the passes of a submission.
    pub(super) fn count_passes(&self, passes: u32) {
        if let Some(stamps) = &self.stamps {
            stamps.submitted.fetch_add(passes, Ordering::Relaxed);
        }
    }

    fn busy(&self) -> Result<Option<Duration>> {
        let Some(stamps) = &self.stamps else { return Ok(None) };
        let passes = stamps.recorded.swap(0, Ordering::Relaxed);
        // A pass that was not submitted still has the stamps of an earlier pass.
        if stamps.submitted.swap(0, Ordering::Relaxed) != passes || passes > PASSES {
            return Ok(None);
        }
        if passes == 0 {
            return Ok(Some(Duration::ZERO));
        }
        let usage = wgpu::BufferUsages::QUERY_RESOLVE | wgpu::BufferUsages::COPY_SRC;
        let bytes = 2 * u64::from(passes) * STAMP;
        let resolved = self.pool.take(&self.device, usage, bytes);
        let mut work = self.work("time stamps");
        work.encoder().resolve_query_set(&stamps.set, 0..2 * passes, &resolved, 0);
        let found = self.download(work, &[(&resolved, 0, bytes)])?.concat();
        let stamps: Vec<u64> = bytemuck::pod_collect_to_vec(&found);
        let ticks: u64 = stamps.as_chunks().0.iter().map(|[began, ended]| ended.saturating_sub(*began)).sum();
        let seconds = ticks as f64 * f64::from(self.queue.get_timestamp_period()) * 1e-9;
        Ok(Some(Duration::from_secs_f64(seconds)))
    }
}

impl Gpu {
    /// The time that the device has computed since the last call, without transfers and the host's time.
    ///
    /// Time stamps around passes measure it ([`GpuOptions::with_time_stamps`](super::GpuOptions::with_time_stamps)).
    ///
    /// Returns `None` without time stamps, after more passes than there are stamps, or if a pass was not submitted,
    /// for example after an error. No other thread may use the device between two calls.
    ///
    /// # Errors
    /// Errors of any verb.
    pub fn busy(&self) -> Result<Option<Duration>> {
        let context = self.context();
        context.checked("time stamps", || context.busy())
    }
}
