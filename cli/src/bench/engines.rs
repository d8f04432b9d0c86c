//! The engines that are timed: the CPU, and a GPU in each of its precisions.

use clap::ValueEnum;
use partition_dpp::{
    Engine, Error,
    engine::{
        Precision,
        gpu::{Gpu, GpuOptions, summaries},
        low_level::Rates,
    },
    error::DeviceProblem,
};
use sysinfo::{CpuRefreshKind, RefreshKind, System};

use super::{
    answer::{Timed, name_of},
    arguments::BenchArguments,
    tasks::Task,
};
use crate::{compute::PrecisionChoice, failure::Failure};

/// An engine, with its device.
pub(super) struct Contender {
    pub(super) engine: Engine,
    pub(super) gpu: Option<Gpu>,
    pub(super) timed: Timed,
}

/// The CPU and the GPU, or the reason why there is no GPU. Fails if an adapter that was asked for is missing.
pub(super) fn open(arguments: &BenchArguments) -> Result<(Vec<Contender>, Option<String>), Failure> {
    let is_asked_for = arguments.adapter.is_some() || arguments.precision != PrecisionChoice::Auto;
    let options = GpuOptions::default().with_time_stamps();
    let options = match &arguments.adapter {
        Some(name) => options.with_adapter(name),
        None => options,
    };
    let mut contenders = vec![cpu()?];
    let first = match arguments.precision {
        PrecisionChoice::Auto => gpu(&options),
        PrecisionChoice::F32 => gpu(&options.clone().with_precision(Precision::F32)),
        PrecisionChoice::F64 => gpu(&options.clone().with_precision(Precision::F64)),
    };
    let first = match first {
        Err(Error::Device(DeviceProblem::NoAdapter { .. })) if !is_asked_for => {
            return Ok((contenders, Some("no graphics adapter on this machine".to_owned())));
        }
        first => first?,
    };
    let name = first.timed.adapter.clone().unwrap_or_default();
    if first.timed.is_software && !is_asked_for {
        let why = format!("{name} is software, which says nothing about GPUs; --adapter times it");
        return Ok((contenders, Some(why)));
    }
    let has_double = first.engine.info().precision == Precision::F64;
    contenders.push(first);
    if arguments.precision == PrecisionChoice::Auto && has_double {
        contenders.push(gpu(&options.with_adapter(&name).with_precision(Precision::F32))?);
    }
    for contender in &mut contenders {
        // Rates of a software adapter take long, and say nothing.
        if let Some(gpu) = contender.gpu.as_ref().filter(|_| !contender.timed.is_software) {
            contender.timed.peaks = Some(gpu.measured_rates()?.into());
        }
    }
    Ok((contenders, None))
}

fn cpu() -> Result<Contender, Error> {
    let peaks = Some(Rates::of_cpu()?.into());
    let timed = Timed { name: "cpu", adapter: None, backend: None, driver: None, is_software: false, peaks };
    Ok(Contender { engine: Engine::cpu(), gpu: None, timed })
}

fn gpu(options: &GpuOptions) -> Result<Contender, Error> {
    let gpu = Gpu::new(options)?;
    let (engine, info) = (gpu.engine(), gpu.engine().info());
    let summary = summaries().into_iter().find(|known| Some(&known.name) == info.adapter.as_ref());
    let timed = Timed {
        name: name_of(info.precision),
        adapter: info.adapter,
        backend: Some(info.name),
        is_software: summary.as_ref().is_some_and(|summary| summary.is_software),
        driver: summary.map(|summary| summary.driver),
        peaks: None,
    };
    Ok(Contender { engine, gpu: Some(gpu), timed })
}

/// The tasks asked for, or all.
pub(super) fn tasks(asked: &[Task]) -> Vec<Task> {
    if asked.is_empty() { Task::value_variants().to_vec() } else { asked.to_vec() }
}

/// The system's name of its CPU.
pub(super) fn cpu_name() -> String {
    let with = RefreshKind::nothing().with_cpu(CpuRefreshKind::nothing());
    let system = System::new_with_specifics(with);
    system.cpus().first().map_or_else(|| "unknown".to_owned(), |cpu| cpu.brand().trim().to_owned())
}
