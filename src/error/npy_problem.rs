//! What can be wrong with a .npy file.

/// What is wrong with a .npy file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NpyProblem {
    /// The header is not a .npy header.
    #[error("not a .npy file")]
    Header,
    /// The array's shape is not (rows, columns).
    #[error("the array has {0} dimensions where 2 are needed (rows, columns)")]
    Dimensions(usize),
    /// The element type is neither an integer nor a floating-point type.
    #[error("elements of type {0} cannot be read; integer and floating-point types can")]
    Type(String),
    /// The file ends before the array does.
    #[error("the file is truncated: the header promises {expected} bytes of data, {found} are there")]
    Truncated {
        /// Bytes promised.
        expected: u64,
        /// Bytes found.
        found: u64,
    },
}
