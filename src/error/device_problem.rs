//! What can be wrong with a graphics device.

/// What is wrong with a graphics device.
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
    #[error("{adapter} has no 64-bit arithmetic in shaders; f32 and the CPU are there")]
    NoDoublePrecision {
        /// The adapter's name.
        adapter: String,
    },
    /// The adapter's 64-bit arithmetic is not accurate enough: division, which Vulkan promises in single precision only,
    /// or something else that was tried when it was opened.
    #[error(
        "{adapter} has 64-bit arithmetic, but its {operation} is off by {error:.1e} (relative): compute in f32 (--precision f32), or on the CPU (--engine cpu)"
    )]
    InaccurateDoublePrecision {
        /// The adapter's name.
        adapter: String,
        /// What was tried.
        operation: &'static str,
        /// The largest relative error.
        error: f64,
    },
    /// The device was lost or taken away: nothing more can be computed on it.
    #[error("the graphics device was lost: {reason}")]
    Lost {
        /// What the driver says.
        reason: String,
    },
    /// The device has too little memory.
    #[error("the graphics device has no room for {bytes} bytes more ({what})")]
    Memory {
        /// What the memory is for.
        what: &'static str,
        /// How many bytes were asked for.
        bytes: u64,
    },
    /// Something exceeds a limit of the device.
    #[error("{what} needs {needed}, the graphics device allows {limit}")]
    Limit {
        /// What is too large.
        what: &'static str,
        /// What it needs.
        needed: u64,
        /// What there is.
        limit: u64,
    },
    /// The device did not finish in time. It is not used again.
    #[error("the graphics device did not finish {what} within {seconds} s; it is not used again")]
    TimedOut {
        /// The verb at work.
        what: &'static str,
        /// The time limit, in seconds.
        seconds: f64,
    },
    /// The device found infinity, or what is no number.
    #[error(
        "the graphics device found numbers that are not finite ({what}): compute in f64 (--precision f64), or on the CPU (--engine cpu)"
    )]
    NotFinite {
        /// The verb at work.
        what: &'static str,
    },
    /// Numbers of more different sizes than single precision can hold.
    #[error(
        "single precision cannot hold {what} {value:.1e}: compute in f64 (--precision f64), or on the CPU (--engine cpu)"
    )]
    SinglePrecision {
        /// What it cannot hold, up to the number.
        what: &'static str,
        /// The number.
        value: f64,
    },
    /// The device refused a command.
    #[error("the graphics device refused {what}: {message}")]
    Refused {
        /// The verb at work.
        what: &'static str,
        /// What the driver or its validation says.
        message: String,
    },
}
