//! Failures of a GPU.

/// The reason why a GPU cannot be used, or failed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DeviceProblem {
    /// No graphics adapter can be used.
    #[error("no graphics adapter can be used: {reason}")]
    NoAdapter {
        /// The reason.
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
    /// The adapter's arithmetic is not accurate enough.
    ///
    /// Opening a device tests sums, products, quotients, roots, conversions and inner products: Vulkan guarantees the
    /// accuracy of division only in single precision, and drivers have bugs.
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
        /// The purpose of the memory.
        what: &'static str,
        /// Bytes requested.
        bytes: u64,
    },
    /// A request exceeds a limit of the device.
    #[error("{what} needs {needed}, the GPU allows {limit}")]
    Limit {
        /// The thing that is too large.
        what: &'static str,
        /// The size needed.
        needed: u64,
        /// The device's limit.
        limit: u64,
    },
    /// The device did not finish in time; it is not used again.
    #[error("the GPU did not finish {what} within {seconds} s; it is not used again")]
    TimedOut {
        /// The verb that ran.
        what: &'static str,
        /// The time limit, in seconds.
        seconds: f64,
    },
    /// The device computed an infinite value or NaN.
    #[error(
        "the GPU computed a value that is not finite ({what}): compute {}on the CPU (--engine cpu)",
        if *bits == 32 { "in f64 (--precision f64), or " } else { "" }
    )]
    NotFinite {
        /// The verb that ran.
        what: &'static str,
        /// Bits of the device's numbers.
        bits: usize,
    },
    /// A number is outside the range of single precision.
    #[error(
        "single precision cannot hold {what} {value:.1e}: compute in f64 (--precision f64), or on the CPU (--engine cpu)"
    )]
    SinglePrecision {
        /// A description of the number, which precedes it in the message.
        what: &'static str,
        /// The number.
        value: f64,
    },
    /// The device rejected a command.
    #[error("the GPU refused {what}: {message}")]
    Refused {
        /// The verb that ran.
        what: &'static str,
        /// The message of the driver or of validation.
        message: String,
    },
}
