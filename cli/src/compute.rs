//! Threads and engines.

use std::{any::Any, panic};

use partition_dpp::{
    Features,
    engine::{
        self, Engine, Precision,
        gpu::{Gpu, GpuOptions},
    },
};

use crate::{
    arguments::{ComputeArguments, EngineChoice, PrecisionChoice},
    failure::Failure,
};

/// Sets the number of threads and refuses a precision that the processor does not compute in.
pub(crate) fn prepare(arguments: &ComputeArguments) -> Result<(), Failure> {
    if arguments.precision == PrecisionChoice::F32 && arguments.engine != EngineChoice::Gpu {
        let sentence =
            "--precision f32: the CPU engine computes in f64; leave --precision out, or say --engine gpu";
        return Err(Failure::Arguments(sentence.into()));
    }
    if let Some(threads) = arguments.threads {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.into());
        pool.build_global().map_err(|error| Failure::Arguments(format!("--threads {threads}: {error}")))?;
    }
    Ok(())
}

/// Says nothing of the panic that wgpu raises where a driver resets the device: the library catches it, and the error it
/// becomes is the one line to print.
pub(crate) fn quiet_resets() {
    let usual = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        if !is_reset(info.payload()) {
            usual(info);
        }
    }));
}

fn is_reset(panic: &(dyn Any + Send)) -> bool {
    panic.downcast_ref::<String>().is_some_and(|message| message.starts_with("Error in Device::poll"))
}

/// Opens the engine; called once all input has been read and checked.
pub(crate) fn open_engine(
    arguments: &ComputeArguments,
    features: &Features<'_>,
) -> Result<Box<dyn Engine>, Failure> {
    match arguments.engine {
        EngineChoice::Auto => Ok(engine::auto(features)),
        EngineChoice::Cpu => Ok(Box::new(engine::Cpu)),
        EngineChoice::Gpu => Ok(Box::new(Gpu::new(&gpu_options(arguments.precision))?)),
    }
}

/// A device in the precision asked for.
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
