//! Options for opening a GPU, and the choice of an adapter.

use std::time::Duration;

use super::{trusted::Checks, waiting::block_on, witness::Rewrite};
use crate::{Error, Result, engine::Precision, error::DeviceProblem};

/// Options for opening a GPU.
#[derive(Clone, Debug, Default)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(default, deny_unknown_fields)
)]
pub struct GpuOptions {
    adapter: Option<String>,
    precision: Option<Precision>,
    pub(super) largest_binding: Option<u64>,
    pub(super) longest_dispatch: Option<Duration>,
    pub(super) time_limit: Option<Duration>,
    #[cfg_attr(feature = "serde", serde(skip))]
    checks: Checks,
    pub(super) row_memory: Option<u64>,
    #[cfg_attr(feature = "serde", serde(skip))]
    pub(super) has_time_stamps: bool,
    #[cfg_attr(feature = "serde", serde(skip))]
    pub(super) patches: Vec<Patch>,
    #[cfg_attr(feature = "serde", serde(skip))]
    pub(super) rewrite: Option<Rewrite>,
}

/// The share of a device's memory, in percent, beyond which it counts as full.
const MEMORY_SHARE: u8 = 90;

/// A change of a shader's source, for tests that must fail.
#[derive(Clone, Copy, Debug)]
pub(super) struct Patch {
    pub(super) verb: &'static str,
    pub(super) from: &'static str,
    pub(super) to: &'static str,
}

impl GpuOptions {
    /// Takes the first adapter whose name contains this text, ignoring case.
    #[must_use]
    pub fn with_adapter(self, name: impl Into<String>) -> Self {
        Self { adapter: Some(name.into()), ..self }
    }

    /// Computes in this precision. The default is f64 if the adapter supports it accurately, otherwise f32.
    #[must_use]
    pub fn with_precision(self, precision: Precision) -> Self {
        Self { precision: Some(precision), ..self }
    }

    /// Binds at most this many bytes at a time, even if the adapter allows more. Larger arrays are cut into chunks.
    #[must_use]
    pub fn with_largest_binding(self, bytes: u64) -> Self {
        Self { largest_binding: Some(bytes), ..self }
    }

    /// Cuts work so that a dispatch takes no longer than this on a slow card (50 GB/s; 500 GFLOP/s in f32, 16 in
    /// f64).
    ///
    /// Drivers reset a device that computes for seconds without a break. The default is 100 ms. A longer time saves
    /// fast cards some microseconds per dispatch.
    #[must_use]
    pub fn with_longest_dispatch(self, longest: Duration) -> Self {
        Self { longest_dispatch: Some(longest), ..self }
    }

    /// Abandons a device that does not finish commands within this time, with [`TimedOut`](DeviceProblem::TimedOut).
    ///
    /// The limit applies to a second of work on a slow card, not to a whole verb. The default is one minute.
    #[must_use]
    pub fn with_time_limit(self, limit: Duration) -> Self {
        Self { time_limit: Some(limit), ..self }
    }

    /// Makes the driver check every index in every shader, even if a test proves that it is in bounds.
    ///
    /// Results are the same; products take up to twice as long.
    #[must_use]
    pub fn with_checked_shaders(self) -> Self {
        Self { checks: Checks::Everywhere, ..self }
    }

    /// Times passes on the device if it supports this ([`Gpu::busy`](super::Gpu::busy)).
    #[must_use]
    pub fn with_time_stamps(self) -> Self {
        Self { has_time_stamps: true, ..self }
    }

    /// Rewrites shaders, given by name and source, for tests that record their indices.
    #[doc(hidden)]
    #[must_use]
    pub fn with_witness(self, rewrite: fn(&str, &str) -> String) -> Self {
        Self { rewrite: Some(rewrite), ..self }
    }

    /// Keeps at most this many bytes of feature rows on the device; by default, as many as its memory holds.
    ///
    /// Other rows are uploaded chunk by chunk whenever they are used.
    #[must_use]
    pub fn with_row_memory(self, bytes: u64) -> Self {
        Self { row_memory: Some(bytes), ..self }
    }

    /// Replaces a text in a verb's shader, for tests that plant faults.
    #[doc(hidden)]
    #[must_use]
    pub fn with_patch(mut self, verb: &'static str, from: &'static str, to: &'static str) -> Self {
        self.patches.push(Patch { verb, from, to });
        self
    }

    /// The run-time checks of shaders. Changed sources are always checked.
    pub(super) fn checks(&self) -> Checks {
        if self.patches.is_empty() && self.rewrite.is_none() { self.checks } else { Checks::Everywhere }
    }

    /// The device features to enable, in addition to the features that every adapter has.
    pub(super) fn features(&self) -> wgpu::Features {
        let stamps = wgpu::Features::TIMESTAMP_QUERY;
        wgpu::Features::SHADER_F64 | if self.has_time_stamps { stamps } else { wgpu::Features::empty() }
    }

    /// Whether f64 was requested explicitly.
    pub(super) fn insists_on_double(&self) -> bool {
        self.precision == Some(Precision::F64)
    }

    /// The precision on an adapter.
    pub(super) fn precision_on(&self, name: &str, features: wgpu::Features) -> Result<Precision> {
        let double = features.contains(wgpu::Features::SHADER_F64);
        match self.precision {
            Some(Precision::F64) if !double => {
                Err(Error::Device(DeviceProblem::NoDoublePrecision { adapter: name.to_owned() }))
            }
            Some(precision) => Ok(precision),
            None if double => Ok(Precision::F64),
            None => Ok(Precision::F32),
        }
    }

    /// Chooses the adapter for these options; hardware comes before software.
    pub(super) fn choose(&self) -> Result<wgpu::Adapter> {
        let mut adapters = adapters();
        if adapters.is_empty() {
            let reason = if cfg!(target_arch = "wasm32") {
                "the browser offers none"
            } else {
                "no driver offers one (Vulkan, Metal, or DirectX 12 with dxcompiler.dll)"
            };
            return Err(Error::Device(DeviceProblem::NoAdapter { reason: reason.to_owned() }));
        }
        let names: Vec<String> = adapters.iter().map(|adapter| adapter.get_info().name).collect();
        if let Some(wanted) = &self.adapter {
            let wanted = wanted.to_lowercase();
            adapters.retain(|adapter| adapter.get_info().name.to_lowercase().contains(&wanted));
        }
        // If f64 was requested, prefer an adapter that supports it.
        let double = |adapter: &wgpu::Adapter| adapter.features().contains(wgpu::Features::SHADER_F64);
        let lacking = |adapter: &wgpu::Adapter| self.insists_on_double() && !double(adapter);
        adapters.into_iter().min_by_key(|adapter| (lacking(adapter), rank(adapter))).ok_or_else(|| {
            let wanted = self.adapter.as_deref().unwrap_or_default();
            Error::Device(DeviceProblem::NoAdapter {
                reason: format!("no name contains {wanted:?}; there are {}", names.join(", ")),
            })
        })
    }
}

/// An adapter of this machine.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct AdapterSummary {
    /// Its name.
    pub name: String,
    /// The backend: `vulkan`, `metal`, `dx12` or `webgpu`.
    pub interface: String,
    /// The driver, with its version.
    pub driver: String,
    /// Whether it is a software adapter.
    pub is_software: bool,
    /// Whether it is a GPU with its own memory.
    pub is_discrete: bool,
    /// Whether it reports f64. The accuracy of f64 is tested when the adapter is opened.
    pub has_double_precision: bool,
    /// The largest array that can be bound at a time, in bytes.
    pub largest_binding: u64,
    /// Workgroup memory, in bytes.
    pub workgroup_memory: u64,
}

/// All adapters of this machine. Unless an adapter is named, an engine takes the first that fits.
#[must_use]
pub fn summaries() -> Vec<AdapterSummary> {
    let mut adapters = adapters();
    adapters.sort_by_key(rank);
    adapters.iter().map(AdapterSummary::of).collect()
}

/// The order of preference: discrete GPUs come first, software adapters last.
fn rank(adapter: &wgpu::Adapter) -> u8 {
    match adapter.get_info().device_type {
        wgpu::DeviceType::DiscreteGpu => 0,
        wgpu::DeviceType::IntegratedGpu => 1,
        wgpu::DeviceType::VirtualGpu => 2,
        wgpu::DeviceType::Other => 3,
        wgpu::DeviceType::Cpu => 4,
    }
}

impl AdapterSummary {
    pub(super) fn of(adapter: &wgpu::Adapter) -> Self {
        let (info, limits) = (adapter.get_info(), adapter.limits());
        Self {
            interface: interface(info.backend).to_owned(),
            driver: driver_of(&info),
            is_software: info.device_type == wgpu::DeviceType::Cpu,
            is_discrete: info.device_type == wgpu::DeviceType::DiscreteGpu,
            has_double_precision: adapter.features().contains(wgpu::Features::SHADER_F64),
            largest_binding: limits.max_storage_buffer_binding_size,
            workgroup_memory: limits.max_compute_workgroup_storage_size.into(),
            name: info.name,
        }
    }
}

/// The driver, with its version.
pub(super) fn driver_of(info: &wgpu::AdapterInfo) -> String {
    format!("{} {}", info.driver, info.driver_info).trim().to_owned()
}

/// The name of a backend.
pub(super) fn interface(backend: wgpu::Backend) -> &'static str {
    match backend {
        wgpu::Backend::Vulkan => "vulkan",
        wgpu::Backend::Metal => "metal",
        wgpu::Backend::Dx12 => "dx12",
        wgpu::Backend::Gl => "gl",
        wgpu::Backend::BrowserWebGpu => "webgpu",
        wgpu::Backend::Noop => "noop",
    }
}

fn adapters() -> Vec<wgpu::Adapter> {
    let mut descriptor = wgpu::InstanceDescriptor::new_without_display_handle();
    descriptor.backends = wgpu::Backends::PRIMARY;
    // The older compiler, which needs no library, rejects some of the shaders.
    descriptor.backend_options.dx12.shader_compiler = wgpu::Dx12Compiler::default_dynamic_dxc();
    let mut descriptor = descriptor.with_env();
    // Beyond its own memory, a driver may silently use the host's memory. Rows are streamed before that happens.
    descriptor.memory_budget_thresholds.for_resource_creation = Some(MEMORY_SHARE);
    let instance = wgpu::Instance::new(descriptor);
    block_on(instance.enumerate_adapters(wgpu::Backends::all()))
}
