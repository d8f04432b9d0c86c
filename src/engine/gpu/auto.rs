//! The choice between the CPU and a device for a job.

use super::{AdapterSummary, Gpu, GpuOptions, grid_determinants, pace::Pace, rates, slates, summaries};
use crate::engine::{
    Precision,
    cost::{Bytes, Chosen, Compared, Job, OPENING, Rates, Seconds, Time},
};

/// Returns the engine that is predicted to be faster for a job.
pub(in crate::engine) fn worthwhile(job: &Job) -> Chosen {
    faster(job).unwrap_or_else(Chosen::cpu)
}

/// Returns a device that is predicted to be faster than the CPU, or the reason why there is none.
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
    let limits = Limits::of(adapter);
    let compare = |rates: &Rates| compared(job, cpu, rates, &limits);
    compare(&rates::known(adapter).unwrap_or_else(|| Rates::of_good_gpu(adapter.is_discrete)))?;
    let options = GpuOptions::default().with_adapter(&adapter.name).with_precision(Precision::F64);
    // A device is not used if it does not open, or if its f64 is inaccurate.
    let gpu = Gpu::new(&options).map_err(|error| format!("the GPU failed when it was opened: {error}"))?;
    let rates =
        rates::of(&gpu).map_err(|error| format!("the GPU failed when its rates were measured: {error}"))?;
    let reason = compare(&rates.open())?.to_string();
    Ok(Chosen { engine: gpu.into(), reason })
}

/// Returns the predicted times if a device with these rates is faster, otherwise why it is not used.
fn compared(job: &Job, cpu: Time, rates: &Rates, limits: &Limits) -> Result<Compared, String> {
    limits.allow(job)?;
    let compared = Compared { gpu: rates.time_of(job), cpu };
    if compared.gpu.seconds() < cpu.seconds() { Ok(compared) } else { Err(compared.to_string()) }
}

/// The limits of a device that do not depend on its speed.
#[derive(Clone, Copy, Debug)]
struct Limits {
    /// The largest array that can be bound at a time, in bytes.
    largest_binding: f64,
    pace: Pace,
}

impl Limits {
    fn of(adapter: &AdapterSummary) -> Self {
        let kind =
            if adapter.is_discrete { wgpu::DeviceType::DiscreteGpu } else { wgpu::DeviceType::IntegratedGpu };
        Self { largest_binding: adapter.largest_binding as f64, pace: Pace::of(kind, Precision::F64, None) }
    }

    /// An error if the device cannot do the job, or would leave it to the host.
    fn allow(&self, job: &Job) -> Result<(), String> {
        if let Some([rows, parts]) = job.matrix_of_a_node() {
            let bytes = 16.0 * (rows * rows) as f64;
            if bytes > self.largest_binding {
                let (needed, most) = (Bytes(bytes), Bytes(self.largest_binding));
                return Err(format!("a matrix of a node takes {needed}, the GPU binds at most {most}"));
            }
            if !grid_determinants::are_taken(rows, parts) {
                return Err(format!("the GPU would leave matrices of {rows} rows to the CPU"));
            }
        }
        let Some(slates) = job.slate_shape() else { return Ok(()) };
        if slates::are_taken(&self.pace, &slates) {
            return Ok(());
        }
        Err(format!(
            "the GPU would leave slates of {} items in {} parts, chosen among {} candidates, to the CPU",
            slates.picks, slates.parts, slates.candidates
        ))
    }
}

impl AdapterSummary {
    /// The index of the adapter that [`Engine::auto`](crate::Engine::auto) uses if it predicts a gain over the CPU.
    ///
    /// It is the first hardware adapter with f64. Its results equal those on the CPU up to rounding.
    #[must_use]
    pub fn taken_unasked(adapters: &[Self]) -> Option<usize> {
        adapters.iter().position(|adapter| !adapter.is_software && adapter.has_double_precision)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::cost::{GpuRates, Task};

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

    /// Sixteen cores of a workstation.
    const CPU: Rates = Rates { read: 4e10, multiply: 8e11, eliminate: [8e10, 1.2e11], gpu: None };

    /// Five made-up devices in f64: for a data centre, a workstation and games, one integrated with the CPU, and a
    /// remote one. The rates are for reading, products, small and large matrices and uploads, then the microseconds
    /// of a wait. The last number is the largest binding.
    const CARDS: [([f64; 6], u64); 5] = [
        ([1.4e12, 7.8e12, 9e11, 6e10, 6.6e9, 75.0], 1 << 31),
        ([6e11, 4e12, 5e11, 4e10, 1.2e10, 50.0], 1 << 31),
        ([9e11, 6e11, 8e10, 2e10, 2.4e10, 60.0], 1 << 30),
        ([6e10, 3e10, 5e9, 2e9, 1.5e10, 40.0], 1 << 27),
        ([4e11, 3e11, 4e10, 1e10, 2.5e9, 300.0], 1 << 27),
    ];

    fn card(of: usize) -> (Rates, Limits) {
        let ([read, multiply, small, large, upload, wait], binding) = CARDS[of];
        let gpu = Some(GpuRates { upload, latency: 1e-6 * wait, opening: OPENING });
        let summary = AdapterSummary { largest_binding: binding, ..adapter(false, of != 3, true) };
        (Rates { read, multiply, eliminate: [small, large], gpu }, Limits::of(&summary))
    }

    fn jobs() -> impl Iterator<Item = Job> {
        let slates = |requests, candidates| Task::Slates { requests, candidates };
        let tasks = [
            Task::Passes(16),
            Task::SetUp,
            Task::Normaliser,
            Task::Inference,
            Task::Interpolation(100),
            Task::Greedy,
            Task::LocalSearch(10),
            slates(100_000, 200),
            slates(1000, 100_000),
        ];
        tasks.into_iter().flat_map(|task| {
            let of_dims = move |dims| {
                let of_parts = move |parts| {
                    [1000, 100_000, 10_000_000].map(|items| {
                        Job::of_size(items, dims, 4, task).with_parts(parts).with_picks(12.max(parts))
                    })
                };
                [1, 3, 300].into_iter().flat_map(of_parts)
            };
            [16, 64, 512, 4096].into_iter().flat_map(of_dims)
        })
    }

    /// A device is used if its own time, with nothing left to the host, is the shorter one. Every device is used for
    /// some jobs and refused for others.
    #[test]
    fn of_five_devices_each_is_taken_where_it_is_faster_and_does_the_work() {
        for of in 0..CARDS.len() {
            let (rates, limits) = card(of);
            let mut counts = [0, 0, 0];
            for job in jobs() {
                let cpu = CPU.time_of(&job);
                let (taken, allowed) = (compared(&job, cpu, &rates, &limits), limits.allow(&job));
                let is_faster = rates.time_of(&job).seconds() < cpu.seconds();
                assert_eq!(taken.is_ok(), allowed.is_ok() && is_faster, "{of}: {job:?}");
                counts[if allowed.is_err() { 0 } else { 1 + usize::from(is_faster) }] += 1;
                if let Err(reason) = taken {
                    let expected =
                        if allowed.is_err() { "the GPU binds at most|to the CPU" } else { ", the CPU " };
                    assert!(expected.split('|').any(|part| reason.contains(part)), "{reason}");
                }
            }
            assert!(counts.iter().all(|&count| count > 0), "{of}: {counts:?}");
        }
    }

    /// A hand computation of log Z of 10⁶ × 512 for 12 picks from 3 parts. There are 9 · √12 + 16 = 48 nodes for the
    /// total, times 5² for the other dimensions. Half of 65 % of them are used: 390 nodes of 8/3 · 512³ operations,
    /// 1.396e11. The CPU computes 12.5 lines of 32 · 512³ and 390 nodes of 7 · 512², 5.440e10. The Gram matrix takes
    /// 2 · 512² · 10⁶ = 5.243e11, which outweighs reading. The CPU takes 0.655 + 0.453 = 1.109 s. The data-centre
    /// card opens in 0.3 s, receives 2.048 GB in 0.310 s, multiplies in 0.067 s and eliminates in 2.327 s, with 3
    /// waits: 3.005 s.
    #[test]
    fn large_matrices_of_nodes_stay_on_the_cpu() {
        let job = |dims| Job::of_size(1_000_000, dims, 4, Task::Normaliser).with_parts(3).with_picks(12);
        let (rates, limits) = card(0);
        let (large, cpu) = (job(512), CPU.time_of(&job(512)));
        assert!((cpu.seconds() / 1.109 - 1.0).abs() < 1e-3, "{}", cpu.seconds());
        let gpu = rates.time_of(&large).seconds();
        assert!((gpu / 3.005 - 1.0).abs() < 1e-3, "{gpu}");
        let reason = compared(&large, cpu, &rates, &limits).err().unwrap_or_default();
        let expected = "the GPU would take 3.0 s (0.3 s of it to open it, 0.3 s of it to bring 2.0 GB there), the CPU 1.1 s";
        assert_eq!(reason, expected);
    }

    /// A node takes 16 · 4096² bytes = 268 MB, and a binding of 128 MiB holds 134 MB. Loops over 2048² entries of two
    /// parts are too long. Workgroups cannot hold the counts of 300 parts.
    #[test]
    fn what_a_device_cannot_do_is_left_to_the_cpu() {
        let (_, small) = card(3);
        let (_, large) = card(0);
        let nodes = |dims| Job::of_size(1_000_000, dims, 4, Task::Inference).with_parts(2).with_picks(8);
        let refused = small.allow(&nodes(4096)).err().unwrap_or_default();
        assert_eq!(refused, "a matrix of a node takes 268 MB, the GPU binds at most 134 MB");
        let refused = large.allow(&nodes(2048)).err().unwrap_or_default();
        assert_eq!(refused, "the GPU would leave matrices of 2048 rows to the CPU");
        assert!(small.allow(&nodes(1536)).is_ok());
        let slates = |parts, candidates| {
            let task = Task::Slates { requests: 1000, candidates };
            Job::of_size(1_000_000, 64, 4, task).with_parts(parts).with_picks(12)
        };
        assert!(large.allow(&slates(256, 200)).is_ok());
        assert!(large.allow(&slates(300, 200)).is_err() && large.allow(&slates(4, 100_000)).is_err());
    }
}
