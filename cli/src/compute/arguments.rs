//! What computes, and how.

use clap::{Args, ValueEnum};

/// What computes, and how.
#[derive(Args, Debug)]
pub(crate) struct ComputeArguments {
    /// What does the arithmetic.
    #[arg(long, value_enum, value_name = "ENGINE", default_value_t, help_heading = "Computation")]
    pub(crate) engine: EngineChoice,
    /// Precision of the arithmetic.
    #[arg(long, value_enum, value_name = "PRECISION", default_value_t, help_heading = "Computation")]
    pub(crate) precision: PrecisionChoice,
    /// Threads to use; all of the machine's unless given. Results do not depend on it.
    #[arg(long, value_name = "T", help_heading = "Computation", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) threads: Option<u16>,
}

/// Which engine to use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum EngineChoice {
    /// A GPU with f64 for much data, else the CPU.
    #[default]
    Auto,
    /// The processor.
    Cpu,
    /// A GPU.
    Gpu,
}

/// Which precision to compute in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum PrecisionChoice {
    /// 64-bit where the engine has it.
    #[default]
    Auto,
    /// 32-bit.
    F32,
    /// 64-bit.
    F64,
}
