//! Failures of a GPU.

/// Why a GPU cannot be used, or failed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DeviceProblem {
    /// No graphics adapter can be used.
    #[error("no graphics adapter can be used: {reason}")]
    NoAdapter {
        /// Why.
        reason: String,
    },
    /// The adapter computes in single precision only.
    #[error(
        "{adapter} has no 64-bit arithmetic in shaders: compute in f32 (--precision f32), or on the CPU (--engine cpu)"
    )]
    NoDoublePrecision {
        /// The adapter's name.
        adapter: String,
    },
    /// The adapter's arithmetic is not accurate enough. Opening a device tests sums, products, quotients, roots, conversions and
    /// inner products: Vulkan guarantees division in single precision only, and drivers have flaws.
    #[error(
        "{adapter} has {bits}-bit arithmetic, but its {operation} is off by {error:.1e} (relative): compute {}on the CPU (--engine cpu)",
        if *bits == 64 { "in f32 (--precision f32), or " } else { "" }
    )]
    Inaccurate {
        /// The adapter's name.
        adapter: String,
        /// Bits of the numbers tested.
        bits: usize,
        /// The operation tested.
        operation: &'static str,
        /// The largest relative error.
        error: f64,
    },
    /// The device was lost or removed, and is not used again.
    #[error("the GPU was lost: {reason}")]
    Lost {
        /// The driver's message.
        reason: String,
    },
    /// The device is out of memory.
    #[error("out of device memory: cannot allocate {bytes} bytes for {what}")]
    Memory {
        /// What the memory is for.
        what: &'static str,
        /// Bytes requested.
        bytes: u64,
    },
    /// Something exceeds a limit of the device.
    #[error("{what} needs {needed}, the GPU allows {limit}")]
    Limit {
        /// What is too large.
        what: &'static str,
        /// The size needed.
        needed: u64,
        /// The device's limit.
        limit: u64,
    },
    /// The device did not finish in time. It is not used again.
    #[error("the GPU did not finish {what} within {seconds} s; it is not used again")]
    TimedOut {
        /// The verb that ran.
        what: &'static str,
        /// The time limit, in seconds.
        seconds: f64,
    },
    /// The device computed an infinite value or NaN.
    #[error(
        "the GPU computed a value that is not finite ({what}): compute in f64 (--precision f64), or on the CPU (--engine cpu)"
    )]
    NotFinite {
        /// The verb that ran.
        what: &'static str,
    },
    /// A number that is outside the range of single precision.
    #[error(
        "single precision cannot hold {what} {value:.1e}: compute in f64 (--precision f64), or on the CPU (--engine cpu)"
    )]
    SinglePrecision {
        /// Description of the number, put in front of it.
        what: &'static str,
        /// The number.
        value: f64,
    },
    /// The device refused a command.
    #[error("the GPU refused {what}: {message}")]
    Refused {
        /// The verb that ran.
        what: &'static str,
        /// The message of the driver or of validation.
        message: String,
    },
}
