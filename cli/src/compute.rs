//! Threads and engines.

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
