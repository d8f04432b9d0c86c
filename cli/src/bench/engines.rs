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

/// The CPU, and the GPU if there is one; otherwise why not. An error if what was asked for is missing.
pub(super) fn open(arguments: &BenchArguments) -> Result<(Vec<Contender>, Option<String>), Failure> {
    let is_asked_for = arguments.adapter.is_some() || arguments.precision != PrecisionChoice::Auto;
    let precisions = match arguments.precision {
        PrecisionChoice::F32 => vec![Precision::F32],
        PrecisionChoice::F64 => vec![Precision::F64],
        PrecisionChoice::Auto => vec![Precision::F64, Precision::F32],
    };
    let mut contenders = vec![cpu()?];
    for precision in precisions {
        match gpu(arguments, precision) {
            Ok(contender) if contender.timed.is_software && !is_asked_for => {
                let name = contender.timed.adapter.unwrap_or_default();
                let why = format!("{name} is software, which says nothing about GPUs; --adapter times it");
                return Ok((contenders, Some(why)));
            }
            Ok(contender) => contenders.push(contender),
            Err(Error::Device(DeviceProblem::NoAdapter { .. })) if !is_asked_for => {
                return Ok((contenders, Some("no graphics adapter on this machine".to_owned())));
            }
            Err(Error::Device(
                DeviceProblem::NoDoublePrecision { .. } | DeviceProblem::Inaccurate { .. },
            )) if arguments.precision == PrecisionChoice::Auto && precision == Precision::F64 => {}
            Err(error) => return Err(error.into()),
        }
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

fn gpu(arguments: &BenchArguments, precision: Precision) -> Result<Contender, Error> {
    let options = GpuOptions::default().with_precision(precision);
    let options = match &arguments.adapter {
        Some(name) => options.with_adapter(name),
        None => options,
    };
    let gpu = Gpu::new(&options)?;
    let (engine, info) = (gpu.engine(), gpu.engine().info());
    let summary = summaries().into_iter().find(|known| Some(&known.name) == info.adapter.as_ref());
    let timed = Timed {
        name: name_of(precision),
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

/// What the system calls its CPU.
pub(super) fn cpu_name() -> String {
    let with = RefreshKind::nothing().with_cpu(CpuRefreshKind::nothing());
    let system = System::new_with_specifics(with);
    system.cpus().first().map_or_else(|| "unknown".to_owned(), |cpu| cpu.brand().trim().to_owned())
}
