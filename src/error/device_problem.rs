//! What can be wrong with a graphics device.

/// What is wrong with a graphics device.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
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
    /// The device refused a command.
    #[error("the graphics device refused {what}: {message}")]
    Refused {
        /// The verb at work.
        what: &'static str,
        /// What the driver or its validation says.
        message: String,
    },
}
