//! Whether to use a device for a job.

use super::{AdapterSummary, Gpu, GpuOptions, rates, summaries};
use crate::engine::{
    Precision,
    cost::{CardKind, CardRates, Comparison, EngineReason, HostRates, Job, Standing},
};

/// Whether to take an adapter by default: hardware with f64, whose results are those of the CPU up to rounding.
fn is_one_to_take(adapter: &AdapterSummary) -> bool {
    adapter.kind != CardKind::Software && adapter.has_double_precision
}

/// A device for a job, if one is predicted to be faster than the CPU; and why, or why not.
pub(in crate::engine) fn worthwhile(job: &Job) -> (Option<Gpu>, EngineReason) {
    if let Some(reason) = EngineReason::short(job) {
        return (None, reason);
    }
    let host = match HostRates::measured() {
        Ok(host) => host,
        Err(error) => return (None, EngineReason::NotMeasured(error.to_string())),
    };
    if let Some(reason) = EngineReason::predicted_short(job, &host) {
        return (None, reason);
    }
    let adapters = summaries();
    let Some(at) = AdapterSummary::taken_unasked(&adapters) else { return (None, EngineReason::NoCard) };
    let adapter = &adapters[at];
    let expected = rates::known(adapter, Precision::F64)
        .unwrap_or_else(|| CardRates::estimated(adapter.kind, Precision::F64));
    let before = Comparison::of(job, &host, &expected, Standing::Closed);
    if !before.prefers_gpu() {
        return (None, EngineReason::Predicted(before));
    }
    let options = GpuOptions::default().with_adapter(&adapter.name).with_precision(Precision::F64);
    let gpu = match Gpu::new(&options) {
        Ok(gpu) => gpu,
        // A device that does not open, or whose f64 is inaccurate, is not used.
        Err(error) => return (None, EngineReason::Failed(error.to_string())),
    };
    match gpu.rates() {
        Ok(rates) => {
            let comparison = Comparison::of(job, &host, &rates, Standing::Open);
            (Some(gpu).filter(|_| comparison.prefers_gpu()), EngineReason::Predicted(comparison))
        }
        Err(error) => (None, EngineReason::MeasuringFailed(error.to_string())),
    }
}

impl AdapterSummary {
    /// Index of the adapter that [`engine::auto`](crate::engine::auto) takes where it is predicted to be faster than the
    /// CPU.
    #[must_use]
    pub fn taken_unasked(adapters: &[Self]) -> Option<usize> {
        adapters.iter().position(is_one_to_take)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn adapter(kind: CardKind, has_double_precision: bool) -> AdapterSummary {
        AdapterSummary {
            name: format!("{kind:?}"),
            interface: "vulkan".to_owned(),
            driver: String::new(),
            kind,
            is_software: kind == CardKind::Software,
            is_discrete: kind == CardKind::Discrete,
            has_double_precision,
            largest_binding: 1 << 27,
            workgroup_memory: 1 << 15,
        }
    }

    #[test]
    fn only_hardware_with_f64_is_taken() {
        use CardKind::{Discrete, Integrated, Software};
        let others = [adapter(Software, true), adapter(Discrete, false), adapter(Integrated, false)];
        assert_eq!(AdapterSummary::taken_unasked(&others), None);
        let all = [&others[..], &[adapter(Integrated, true)]].concat();
        assert_eq!(AdapterSummary::taken_unasked(&all), Some(3));
    }
}
