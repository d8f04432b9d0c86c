//! Whether to use a device for features of a size.

use super::{AdapterSummary, Gpu, GpuOptions, summaries};
use crate::{Features, engine::Precision};

/// Number of passes of a solver over the features, about one per item picked. Set-up of samplers takes three or four,
/// local search a hundred.
const PASSES: f64 = 16.0;
/// Seconds to open a device and compile its shaders.
const OPENING: f64 = 0.3;
/// Bytes per second in f64 converted and uploaded to a device.
const UPLOAD: f64 = 2.7e9;
/// Bytes per second that a pass reads on a slow discrete card, and on the CPU.
const DEVICE: f64 = 100e9;
const CPU: f64 = 10e9;
/// Seconds from the end of a pass to its results on the host.
const ANSWER: f64 = 3e-4;

/// Whether uploading this many values in f64 and computing on the device takes less time than the CPU: from about 36
/// million on.
fn pays(values: usize) -> bool {
    let bytes = 8.0 * values as f64;
    let device = OPENING + bytes / UPLOAD + PASSES * (ANSWER + bytes / DEVICE);
    device < PASSES * bytes / CPU
}

/// Whether to take an adapter by default: a discrete GPU with f64. Integrated ones share the CPU's memory, whose
/// bandwidth limits passes.
fn is_one_to_take(adapter: &AdapterSummary) -> bool {
    adapter.is_discrete && adapter.has_double_precision
}

/// A device for features of this size, if one is worth its overhead.
pub(in crate::engine) fn worthwhile(features: &Features<'_>) -> Option<Gpu> {
    if !pays(features.items().saturating_mul(features.dims())) {
        return None;
    }
    let adapters = summaries();
    let adapter = &adapters[AdapterSummary::taken_unasked(&adapters)?];
    // A device that does not open, or whose f64 is inaccurate, is not used.
    let options = GpuOptions::default().with_adapter(&adapter.name).with_precision(Precision::F64);
    Gpu::new(&options).ok()
}

impl AdapterSummary {
    /// Index of the adapter that [`engine::auto`](crate::engine::auto) takes if the features are large enough.
    #[must_use]
    pub fn taken_unasked(adapters: &[Self]) -> Option<usize> {
        adapters.iter().position(is_one_to_take)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn adapter(kind: wgpu::DeviceType, has_double_precision: bool) -> AdapterSummary {
        AdapterSummary {
            name: format!("{kind:?}"),
            interface: "vulkan".to_owned(),
            driver: String::new(),
            is_software: kind == wgpu::DeviceType::Cpu,
            is_discrete: kind == wgpu::DeviceType::DiscreteGpu,
            has_double_precision,
            largest_binding: 1 << 27,
            workgroup_memory: 1 << 15,
        }
    }

    #[test]
    fn only_a_discrete_gpu_with_f64_is_taken() {
        use wgpu::DeviceType::{Cpu, DiscreteGpu, IntegratedGpu, Other, VirtualGpu};
        let others = [Cpu, IntegratedGpu, Other, VirtualGpu].map(|kind| adapter(kind, true));
        assert_eq!(AdapterSummary::taken_unasked(&others), None);
        assert_eq!(AdapterSummary::taken_unasked(&[adapter(DiscreteGpu, false)]), None);
        let all = [&others[..], &[adapter(DiscreteGpu, false), adapter(DiscreteGpu, true)]].concat();
        assert_eq!(AdapterSummary::taken_unasked(&all), Some(5));
    }

    #[test]
    fn features_must_be_worth_the_upload() {
        // The CPU passes over four million values sixteen times before a device is open.
        assert!(!pays(0) && !pays(1 << 22) && !pays(30_000_000));
        assert!(pays(40_000_000) && pays(1_000_000 * 64));
    }
}
