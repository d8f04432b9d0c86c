//! Threads and engines.

use partition_dpp::engine::{self, Engine};

use crate::{
    arguments::{ComputeArguments, EngineChoice, PrecisionChoice},
    failure::Failure,
};

/// Sets the number of threads and refuses a precision that no engine of this build computes in.
pub(crate) fn prepare(arguments: &ComputeArguments) -> Result<(), Failure> {
    if arguments.precision == PrecisionChoice::F32 && arguments.engine != EngineChoice::Gpu {
        let sentence = "--precision f32: the CPU engine computes in f64; leave --precision out, or say f64";
        return Err(Failure::Arguments(sentence.into()));
    }
    if let Some(threads) = arguments.threads {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.into());
        pool.build_global().map_err(|error| Failure::Arguments(format!("--threads {threads}: {error}")))?;
    }
    Ok(())
}

/// Opens the engine; called once all input has been read and checked.
pub(crate) fn open_engine(choice: EngineChoice) -> Result<Box<dyn Engine>, Failure> {
    match choice {
        EngineChoice::Auto => Ok(engine::auto()),
        EngineChoice::Cpu => Ok(Box::new(engine::Cpu)),
        EngineChoice::Gpu => {
            Err(Failure::Device("--engine gpu: there is no GPU engine in this build".into()))
        }
    }
}
