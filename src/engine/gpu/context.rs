//! The device: opening it, commands under error scopes, and what it was seen to do.

use std::sync::{
    Arc, Mutex, PoisonError,
    atomic::{AtomicU64, Ordering},
};

use super::{
    buffers::{Lease, Pool},
    kernels::{KERNELS, Kernel, Pipelines},
    options::{GpuOptions, Patch, interface},
};
use crate::{
    DeviceProblem, Error, Result,
    engine::{EngineInfo, Precision},
};

/// A device with its pipelines and buffers.
#[derive(Debug)]
pub(super) struct Context {
    pub(super) device: wgpu::Device,
    pub(super) queue: wgpu::Queue,
    pub(super) precision: Precision,
    pub(super) pool: Pool,
    /// Bytes that can be bound at a time.
    pub(super) largest_binding: u64,
    pub(super) workgroup_memory: u64,
    pub(super) patches: Vec<Patch>,
    most_groups: u32,
    info: EngineInfo,
    pipelines: Pipelines,
    lost: Arc<Mutex<Option<String>>>,
    dispatches: [AtomicU64; KERNELS],
}

impl Context {
    /// Opens an adapter with all its limits.
    pub(super) fn open(options: &GpuOptions) -> Result<Self> {
        let adapter = options.choose()?;
        let info = adapter.get_info();
        let precision = options.precision_on(&info.name, adapter.features())?;
        let wanted = wgpu::Features::SHADER_F64 & adapter.features();
        let request = wgpu::DeviceDescriptor {
            label: Some("pdpp"),
            required_features: wanted,
            required_limits: adapter.limits(),
            experimental_features: wgpu::ExperimentalFeatures::disabled(),
            memory_hints: wgpu::MemoryHints::Performance,
            trace: wgpu::Trace::Off,
        };
        let (device, queue) = pollster::block_on(adapter.request_device(&request)).map_err(|error| {
            Error::Device(DeviceProblem::NoAdapter { reason: format!("{}: {error}", info.name) })
        })?;
        let name = interface(info.backend);
        Ok(Self::with(device, queue, EngineInfo { name, adapter: Some(info.name), precision }, options))
    }

    /// On a device that somebody else opened.
    pub(super) fn on(device: wgpu::Device, queue: wgpu::Queue, options: &GpuOptions) -> Result<Self> {
        let info = device.adapter_info();
        let precision = options.precision_on(&info.name, device.features())?;
        let name = interface(info.backend);
        Ok(Self::with(device, queue, EngineInfo { name, adapter: Some(info.name), precision }, options))
    }

    fn with(device: wgpu::Device, queue: wgpu::Queue, info: EngineInfo, options: &GpuOptions) -> Self {
        let limits = device.limits();
        let lost = Arc::new(Mutex::new(None));
        let told = Arc::clone(&lost);
        device.set_device_lost_callback(move |reason, message| {
            let reason = if message.is_empty() { format!("{reason:?}") } else { message };
            *told.lock().unwrap_or_else(PoisonError::into_inner) = Some(reason);
        });
        let largest = limits.max_storage_buffer_binding_size.min(limits.max_buffer_size);
        Self {
            precision: info.precision,
            pool: Pool::default(),
            // Whole rows of four values of 8 bytes fit at least.
            largest_binding: largest.min(options.largest_binding()).max(256),
            workgroup_memory: limits.max_compute_workgroup_storage_size.into(),
            patches: options.patches(),
            most_groups: limits.max_compute_workgroups_per_dimension,
            pipelines: Pipelines::default(),
            dispatches: std::array::from_fn(|_| AtomicU64::new(0)),
            device,
            queue,
            info,
            lost,
        }
    }

    pub(super) fn info(&self) -> EngineInfo {
        self.info.clone()
    }

    /// Dispatches so far.
    pub(super) fn dispatches(&self, kernel: Kernel) -> u64 {
        self.dispatches[kernel as usize].load(Ordering::Relaxed)
    }

    /// Does something with the device; whatever the device has to say against it becomes an error.
    pub(super) fn checked<T>(&self, what: &'static str, work: impl FnOnce() -> Result<T>) -> Result<T> {
        self.check_lost()?;
        let memory = self.device.push_error_scope(wgpu::ErrorFilter::OutOfMemory);
        let internal = self.device.push_error_scope(wgpu::ErrorFilter::Internal);
        let validation = self.device.push_error_scope(wgpu::ErrorFilter::Validation);
        let outcome = work();
        let validation = pollster::block_on(validation.pop());
        let internal = pollster::block_on(internal.pop());
        let memory = pollster::block_on(memory.pop());
        if outcome.is_err() {
            // A device tells that it is lost only when it is asked for news.
            self.device.poll(wgpu::PollType::Poll).ok();
        }
        self.check_lost()?;
        if memory.is_some() {
            return Err(Error::Device(DeviceProblem::Memory { what, bytes: self.pool.last_request() }));
        }
        match internal.or(validation) {
            Some(error) => {
                Err(Error::Device(DeviceProblem::Refused { what, message: one_line(&error.to_string()) }))
            }
            None => outcome,
        }
    }

    fn check_lost(&self) -> Result<()> {
        match &*self.lost.lock().unwrap_or_else(PoisonError::into_inner) {
            Some(reason) => Err(Error::Device(DeviceProblem::Lost { reason: reason.clone() })),
            None => Ok(()),
        }
    }

    /// Records a dispatch of so many workgroups: binding 0 are the parameters, the others follow.
    pub(super) fn dispatch(
        &self,
        work: &mut Work,
        kernel: Kernel,
        parameters: &[u32],
        bindings: &[wgpu::BindingResource<'_>],
        groups: usize,
    ) -> Result<()> {
        let pipeline = self.pipelines.get(self, kernel)?;
        let parameters = work.hold(self.uniform(parameters));
        let mut entries = vec![wgpu::BindGroupEntry { binding: 0, resource: parameters.as_entire_binding() }];
        entries.extend(
            (1..)
                .zip(bindings)
                .map(|(binding, resource)| wgpu::BindGroupEntry { binding, resource: resource.clone() }),
        );
        let group = self.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some(kernel.label()),
            layout: &pipeline.get_bind_group_layout(0),
            entries: &entries,
        });
        let (x, y) = self.shape(groups)?;
        let mut pass = work.encoder.begin_compute_pass(&wgpu::ComputePassDescriptor {
            label: Some(kernel.label()),
            timestamp_writes: None,
        });
        pass.set_pipeline(pipeline);
        pass.set_bind_group(0, &group, &[]);
        pass.dispatch_workgroups(x, y, 1);
        self.dispatches[kernel as usize].fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    /// So many workgroups in two dimensions: shaders count x + y · (number along x).
    fn shape(&self, groups: usize) -> Result<(u32, u32)> {
        let most = self.most_groups as usize;
        let y = groups.div_ceil(most).max(1);
        let x = groups.div_ceil(y).max(1);
        match (u32::try_from(x), u32::try_from(y)) {
            (Ok(x), Ok(y)) if y <= self.most_groups => Ok((x, y)),
            _ => Err(Error::Device(DeviceProblem::Limit {
                what: "a dispatch",
                needed: groups as u64,
                limit: u64::from(self.most_groups).pow(2),
            })),
        }
    }

    pub(super) fn work(&self) -> Work {
        let label = Some("pdpp");
        Work {
            encoder: self.device.create_command_encoder(&wgpu::CommandEncoderDescriptor { label }),
            held: Vec::new(),
        }
    }

    pub(super) fn submit(&self, work: Work) -> wgpu::SubmissionIndex {
        self.queue.submit([work.encoder.finish()])
    }
}

/// Commands that are recorded, not yet submitted.
#[derive(Debug)]
pub(super) struct Work {
    pub(super) encoder: wgpu::CommandEncoder,
    /// Buffers that must not be written again before that.
    held: Vec<Lease>,
}

impl Work {
    /// Keeps a buffer from being used for anything else until the commands are submitted.
    pub(super) fn hold(&mut self, lease: Lease) -> wgpu::Buffer {
        let buffer = (*lease).clone();
        self.held.push(lease);
        buffer
    }
}

/// The driver's words without line breaks.
fn one_line(message: &str) -> String {
    message.split_whitespace().collect::<Vec<_>>().join(" ")
}
