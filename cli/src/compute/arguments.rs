//! Engine, precision and threads.

use clap::{Args, ValueEnum};

/// Engine, precision and threads.
#[derive(Args, Debug)]
pub(crate) struct ComputeArguments {
    /// Where to compute: auto, cpu or gpu
    #[arg(long, value_enum, value_name = "ENGINE", default_value_t, help_heading = "Computation")]
    pub(crate) engine: EngineChoice,
    /// Precision of the arithmetic: auto, f32 or f64
    #[arg(
        long,
        value_enum,
        value_name = "PRECISION",
        default_value_t,
        help_heading = "Computation",
        hide_short_help = true
    )]
    pub(crate) precision: PrecisionChoice,
    /// Number of threads [default: all of the machine]
    ///
    /// Results do not depend on it.
    #[arg(long, value_name = "T", help_heading = "Computation", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) threads: Option<u16>,
}

/// The engine to use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum EngineChoice {
    /// A GPU with f64 if it is predicted to be faster, otherwise the CPU.
    #[default]
    Auto,
    /// The CPU.
    Cpu,
    /// A GPU.
    Gpu,
}

/// The precision to compute in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum PrecisionChoice {
    /// f64 if the engine supports it, otherwise f32.
    #[default]
    Auto,
    /// Single precision.
    F32,
    /// Double precision.
    F64,
}
