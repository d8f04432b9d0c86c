//! Threads and engines.

mod arguments;

use std::{any::Any, panic};

#[cfg(feature = "gpu")]
use partition_dpp::engine::{
    Precision,
    gpu::{GpuOptions, summaries},
};
use partition_dpp::{Engine, engine::Job};
#[cfg(not(feature = "gpu"))]
use partition_dpp::{Error, error::DeviceProblem};

pub(crate) use self::arguments::{ComputeArguments, EngineChoice, PrecisionChoice};
use crate::{catch_panic::is_caught, failure::Failure};

/// Operations per second of a core, as plans count them; a proposal rejected early counts as a whole one.
pub(crate) const SPEED: f64 = 1e10;

/// The predicted seconds of this many operations on all threads.
pub(crate) fn seconds_of(operations: f64) -> f64 {
    operations / SPEED / rayon::current_num_threads() as f64
}

/// Sets the number of threads and refuses a precision that the CPU does not compute in.
pub(crate) fn prepare(arguments: &ComputeArguments) -> Result<(), Failure> {
    if arguments.precision == PrecisionChoice::F32 && arguments.engine != EngineChoice::Gpu {
        let sentence =
            "--precision f32: the CPU engine computes in f64; omit --precision, or use --engine gpu";
        return Err(Failure::Arguments(sentence.into()));
    }
    if let Some(threads) = arguments.threads {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.into());
        pool.build_global().map_err(|error| Failure::Arguments(format!("--threads {threads}: {error}")))?;
    }
    Ok(())
}

/// Silences panics that are answered: those [contained](crate::contain), and the one that wgpu raises when a driver resets
/// the device, which the library catches and returns as an error.
pub(crate) fn quiet_resets() {
    let usual = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        if !is_reset(info.payload()) && !is_caught() {
            usual(info);
        }
    }));
}

fn is_reset(panic: &(dyn Any + Send)) -> bool {
    panic.downcast_ref::<String>().is_some_and(|message| message.starts_with("Error in Device::poll"))
}

/// An engine, and why it was taken.
pub(crate) struct OpenEngine {
    pub(crate) engine: Engine,
    /// One sentence; `None` for an engine that was asked for.
    pub(crate) reason: Option<String>,
}

/// Opens the engine for a job; called once all input has been read and checked.
pub(crate) fn open_engine(arguments: &ComputeArguments, job: &Job) -> Result<OpenEngine, Failure> {
    let engine = match arguments.engine {
        EngineChoice::Auto => {
            let chosen = Engine::auto(job);
            return Ok(OpenEngine { engine: chosen.engine, reason: Some(chosen.reason) });
        }
        EngineChoice::Cpu => Engine::cpu(),
        EngineChoice::Gpu => open_device(arguments.precision)?,
    };
    Ok(OpenEngine { engine, reason: None })
}

/// Opens a GPU.
#[cfg(feature = "gpu")]
pub(crate) fn open_device(precision: PrecisionChoice) -> Result<Engine, Failure> {
    Ok(Engine::gpu(&gpu_options(precision))?)
}

/// Opens a GPU.
#[cfg(not(feature = "gpu"))]
pub(crate) fn open_device(_: PrecisionChoice) -> Result<Engine, Failure> {
    let reason = "this pdpp is built without its feature gpu".into();
    Err(Failure::Library(Error::Device(DeviceProblem::NoAdapter { reason })))
}

/// The GPU to time: the one asked for, or a hardware GPU.
pub(crate) fn device_to_time(arguments: &ComputeArguments) -> Result<Option<Engine>, Failure> {
    #[cfg(feature = "gpu")]
    let there = || summaries().iter().any(|adapter| !adapter.is_software);
    #[cfg(not(feature = "gpu"))]
    let there = || false;
    match arguments.engine {
        EngineChoice::Gpu => open_device(arguments.precision).map(Some),
        EngineChoice::Auto if there() => open_device(arguments.precision).map(Some),
        EngineChoice::Auto | EngineChoice::Cpu => Ok(None),
    }
}

#[cfg(feature = "gpu")]
pub(crate) fn gpu_options(precision: PrecisionChoice) -> GpuOptions {
    match precision {
        PrecisionChoice::Auto => GpuOptions::default(),
        PrecisionChoice::F32 => GpuOptions::default().with_precision(Precision::F32),
        PrecisionChoice::F64 => GpuOptions::default().with_precision(Precision::F64),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_resets_are_kept_quiet() {
        assert!(is_reset(&String::from("Error in Device::poll: Parent device is lost")));
        assert!(!is_reset(&String::from("index out of bounds")) && !is_reset(&"index out of bounds"));
    }
}
