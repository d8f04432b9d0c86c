//! The device: opening it, and running commands under error scopes.

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use super::{
    arithmetic,
    buffers::{Pool, size_of},
    options::{GpuOptions, Patch, interface},
    pace::Pace,
    shaders::{Pipelines, SHADERS, Shader},
    stamps::Stamps,
    submissions::{Submissions, one_line},
    traffic::Counters,
    trusted::Checks,
    waiting::block_on,
    witness::Witness,
};
use crate::{
    Error, Result,
    engine::{EngineInfo, Precision},
    error::DeviceProblem,
};

/// The default time limit of one submission.
const TIME_LIMIT: Duration = Duration::from_secs(60);

/// A device with its pipelines and buffers.
#[derive(Debug)]
pub(super) struct Context {
    pub(super) device: wgpu::Device,
    pub(super) queue: wgpu::Queue,
    pub(super) precision: Precision,
    pub(super) pool: Pool,
    /// The most bytes in a binding.
    pub(super) largest_binding: u64,
    pub(super) workgroup_memory: u64,
    /// The most bytes of rows that stay on the device.
    pub(super) row_memory: u64,
    pub(super) patches: Vec<Patch>,
    pub(super) checks: Checks,
    pub(super) witness: Option<Witness>,
    pub(super) stamps: Option<Stamps>,
    pub(super) pace: Pace,
    pub(super) submissions: Submissions,
    pub(super) counters: Counters,
    /// The most workgroups along a dimension of a dispatch.
    pub(super) most_groups: u32,
    /// The alignment of parameters in their buffer.
    pub(super) alignment: usize,
    info: EngineInfo,
    pub(super) pipelines: Pipelines,
    /// The reason why the device is lost, if it is.
    lost: Arc<Mutex<Option<String>>>,
    /// Whether the device may still run commands that are no longer awaited.
    given_up: AtomicBool,
    pub(super) dispatches: [AtomicU64; SHADERS],
}

impl Context {
    /// Opens an adapter with all its limits.
    pub(super) fn open(options: &GpuOptions) -> Result<Self> {
        let adapter = options.choose()?;
        let info = adapter.get_info();
        let precision = options.precision_on(&info.name, adapter.features())?;
        let wanted = options.features() & adapter.features();
        let request = wgpu::DeviceDescriptor {
            label: Some("pdpp"),
            required_features: wanted,
            required_limits: adapter.limits(),
            experimental_features: wgpu::ExperimentalFeatures::disabled(),
            memory_hints: wgpu::MemoryHints::Performance,
            trace: wgpu::Trace::Off,
        };
        let (device, queue) = block_on(adapter.request_device(&request)).map_err(|error| {
            Error::Device(DeviceProblem::NoAdapter { reason: format!("{}: {error}", info.name) })
        })?;
        let opened = Self::with(device, queue, &info, precision, options).tried(&info, options)?;
        opened.listen();
        Ok(opened)
    }

    /// Uses a device of the application, which keeps its own callbacks. A lost device is noticed only when it is
    /// used.
    pub(super) fn on(device: wgpu::Device, queue: wgpu::Queue, options: &GpuOptions) -> Result<Self> {
        let info = device.adapter_info();
        let precision = options.precision_on(&info.name, device.features())?;
        Self::with(device, queue, &info, precision, options).tried(&info, options)
    }

    /// Falls back to single precision if f64 is inaccurate.
    fn tried(self, info: &wgpu::AdapterInfo, options: &GpuOptions) -> Result<Self> {
        let Some((operation, error)) = arithmetic::flaw(&self)? else { return Ok(self) };
        if self.precision == Precision::F32 || options.insists_on_double() {
            let (adapter, bits) = (info.name.clone(), 8 * size_of(self.precision));
            return Err(DeviceProblem::Inaccurate { adapter, bits, operation, error }.into());
        }
        Self::with(self.device.clone(), self.queue.clone(), info, Precision::F32, options)
            .tried(info, options)
    }

    fn with(
        device: wgpu::Device,
        queue: wgpu::Queue,
        info: &wgpu::AdapterInfo,
        precision: Precision,
        options: &GpuOptions,
    ) -> Self {
        let limits = device.limits();
        let largest = limits.max_storage_buffer_binding_size.min(limits.max_buffer_size);
        Self {
            precision,
            pool: Pool::default(),
            // Rows of four values of 8 bytes always fit.
            largest_binding: largest.min(options.largest_binding.unwrap_or(u64::MAX)).max(256),
            workgroup_memory: limits.max_compute_workgroup_storage_size.into(),
            row_memory: options.row_memory.unwrap_or(u64::MAX),
            patches: options.patches.clone(),
            checks: options.checks(),
            witness: options.rewrite.map(|rewrite| Witness::new(&device, rewrite)),
            stamps: if options.has_time_stamps { Stamps::new(&device) } else { None },
            pace: Pace::of(info.device_type, precision, options.longest_dispatch),
            submissions: Submissions::new(options.time_limit.unwrap_or(TIME_LIMIT)),
            counters: Counters::default(),
            most_groups: limits.max_compute_workgroups_per_dimension,
            alignment: limits.min_uniform_buffer_offset_alignment as usize,
            info: EngineInfo {
                name: interface(info.backend).into(),
                // Browsers may keep the name to themselves.
                adapter: Some(info.name.clone()).filter(|name| !name.is_empty()),
                precision,
            },
            pipelines: Pipelines::default(),
            lost: Arc::default(),
            given_up: AtomicBool::new(false),
            dispatches: std::array::from_fn(|_| AtomicU64::new(0)),
            device,
            queue,
        }
    }

    /// Registers callbacks for a lost device and for errors outside all scopes, on which wgpu would panic.
    fn listen(&self) {
        let lost = Arc::clone(&self.lost);
        self.device.set_device_lost_callback(move |reason, message| {
            let reason = if message.is_empty() { format!("{reason:?}") } else { one_line(&message) };
            lost.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(reason);
        });
        let lost = Arc::clone(&self.lost);
        self.device.on_uncaptured_error(Arc::new(move |error: wgpu::Error| {
            let reason = one_line(&error.to_string());
            lost.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(reason);
        }));
    }

    pub(super) fn info(&self) -> EngineInfo {
        self.info.clone()
    }

    /// The number of dispatches of a shader so far.
    pub(super) fn dispatches(&self, shader: Shader) -> u64 {
        self.dispatches[shader as usize].load(Ordering::Relaxed)
    }

    /// Runs work under error scopes, and returns the device's errors.
    pub(super) fn checked<T>(&self, what: &'static str, work: impl FnOnce() -> Result<T>) -> Result<T> {
        self.check_lost()?;
        let scopes =
            [wgpu::ErrorFilter::OutOfMemory, wgpu::ErrorFilter::Internal, wgpu::ErrorFilter::Validation]
                .map(|filter| self.device.push_error_scope(filter));
        let outcome = work();
        self.check_scopes(what, scopes, outcome.as_ref().err())?;
        outcome
    }

    /// Closes the scopes of work that ended, with `failure` if it failed, and returns the device's error.
    fn check_scopes(
        &self,
        what: &'static str,
        [memory, internal, validation]: [wgpu::ErrorScopeGuard; 3],
        failure: Option<&Error>,
    ) -> Result<()> {
        // The innermost scope first.
        let popped = (validation.pop(), internal.pop(), memory.pop());
        let (validation, internal, memory) =
            block_on(async { (popped.0.await, popped.1.await, popped.2.await) });
        if let Some(Error::Device(DeviceProblem::TimedOut { .. })) = failure {
            return Ok(());
        }
        let error = internal.or(validation);
        if failure.is_some() || memory.is_some() || error.is_some() {
            // A device reports that it is lost only when it is polled.
            self.ask();
        }
        self.check_lost()?;
        if memory.is_some() {
            // Buffers that could not be created must not be reused.
            self.pool.clear();
            return Err(Error::Device(DeviceProblem::Memory { what, bytes: self.pool.last_request() }));
        }
        if let Some(error) = error {
            return Err(Error::Device(DeviceProblem::Refused {
                what,
                message: one_line(&error.to_string()),
            }));
        }
        if let Some(Error::Device(DeviceProblem::Lost { reason })) = failure {
            self.lose(reason);
        }
        Ok(())
    }

    /// An error if the device is lost.
    pub(super) fn check_lost(&self) -> Result<()> {
        match &*self.lost.lock().unwrap_or_else(PoisonError::into_inner) {
            Some(reason) => Err(Error::Device(DeviceProblem::Lost { reason: reason.clone() })),
            None => Ok(()),
        }
    }

    pub(super) fn lose(&self, reason: &str) {
        self.lost.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_with(|| reason.to_owned());
    }

    /// Abandons the device, which may still be at work or in an unknown state.
    pub(super) fn give_up(&self, reason: &str) {
        self.lose(reason);
        self.given_up.store(true, Ordering::Relaxed);
    }
}

impl Drop for Context {
    /// Leaks the queue of an abandoned device, since dropping it would wait for the device, possibly forever.
    fn drop(&mut self) {
        if self.given_up.load(Ordering::Relaxed) {
            std::mem::forget((self.device.clone(), self.queue.clone()));
        }
    }
}
