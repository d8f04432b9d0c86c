//! Engine, precision and threads.

use clap::{Args, ValueEnum};

/// Engine, precision and threads.
#[derive(Args, Debug)]
pub(crate) struct ComputeArguments {
    /// The engine that computes.
    #[arg(long, value_enum, value_name = "ENGINE", default_value_t, help_heading = "Computation")]
    pub(crate) engine: EngineChoice,
    /// Precision of the arithmetic.
    #[arg(long, value_enum, value_name = "PRECISION", default_value_t, help_heading = "Computation")]
    pub(crate) precision: PrecisionChoice,
    /// Number of threads; by default all that the machine has. Results do not depend on it.
    #[arg(long, value_name = "T", help_heading = "Computation", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) threads: Option<u16>,
}

/// Which engine to use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum EngineChoice {
    /// A GPU with f64 where it is predicted to be faster, otherwise the CPU.
    #[default]
    Auto,
    /// The CPU.
    Cpu,
    /// A GPU.
    Gpu,
}

/// Which precision to compute in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum PrecisionChoice {
    /// f64 where the engine has it, otherwise f32.
    #[default]
    Auto,
    /// Single precision.
    F32,
    /// Double precision.
    F64,
}
