//! Whether to use a device for a job.

use super::{AdapterSummary, Gpu, GpuOptions, rates, summaries};
use crate::engine::{
    Precision,
    cost::{Chosen, Compared, Job, OPENING, Rates, Seconds},
};

/// The engine that is predicted to be faster for a job.
pub(in crate::engine) fn worthwhile(job: &Job) -> Chosen {
    faster(job).unwrap_or_else(Chosen::cpu)
}

/// A device that is predicted to be faster than the CPU; otherwise why there is none.
fn faster(job: &Job) -> Result<Chosen, String> {
    let at_most = Rates::slowest_cpu().time_of(job).seconds();
    if at_most < OPENING {
        return Err(format!(
            "the CPU takes at most {}, a GPU {} to open",
            Seconds(at_most),
            Seconds(OPENING)
        ));
    }
    let cpu =
        Rates::of_cpu().map_err(|error| format!("the rates of the CPU could not be measured: {error}"))?;
    let cpu = cpu.time_of(job);
    if cpu.seconds() < OPENING {
        let (time, opening) = (Seconds(cpu.seconds()), Seconds(OPENING));
        return Err(format!("the CPU is predicted to take {time}, a GPU takes {opening} to open"));
    }
    let adapters = summaries();
    let at = AdapterSummary::taken_unasked(&adapters).ok_or("there is no GPU that computes in f64")?;
    let adapter = &adapters[at];
    let compare = |rates: &Rates| {
        let compared = Compared { gpu: rates.time_of(job), cpu };
        if compared.gpu.seconds() < cpu.seconds() { Ok(compared) } else { Err(compared.to_string()) }
    };
    compare(&rates::known(adapter).unwrap_or_else(|| Rates::of_good_gpu(adapter.is_discrete)))?;
    let options = GpuOptions::default().with_adapter(&adapter.name).with_precision(Precision::F64);
    // A device that does not open, or whose f64 is inaccurate, is not used.
    let gpu = Gpu::new(&options).map_err(|error| format!("the GPU failed when it was opened: {error}"))?;
    let rates =
        rates::of(&gpu).map_err(|error| format!("the GPU failed when its rates were measured: {error}"))?;
    let reason = compare(&rates.open())?.to_string();
    Ok(Chosen { engine: gpu.into(), reason })
}

impl AdapterSummary {
    /// Index of the adapter that [`Engine::auto`](crate::Engine::auto) takes where it is predicted to be faster than the CPU:
    /// hardware with f64, whose results are those of the CPU up to rounding.
    #[must_use]
    pub fn taken_unasked(adapters: &[Self]) -> Option<usize> {
        adapters.iter().position(|adapter| !adapter.is_software && adapter.has_double_precision)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn adapter(is_software: bool, is_discrete: bool, has_double_precision: bool) -> AdapterSummary {
        AdapterSummary {
            name: String::new(),
            interface: "vulkan".to_owned(),
            driver: String::new(),
            is_software,
            is_discrete,
            has_double_precision,
            largest_binding: 1 << 27,
            workgroup_memory: 1 << 15,
        }
    }

    #[test]
    fn only_hardware_with_f64_is_taken() {
        let others = [adapter(true, false, true), adapter(false, true, false), adapter(false, false, false)];
        assert_eq!(AdapterSummary::taken_unasked(&others), None);
        let all = [&others[..], &[adapter(false, false, true)]].concat();
        assert_eq!(AdapterSummary::taken_unasked(&all), Some(3));
    }
}
