//! What can be wrong with a .npy file.

/// What is wrong with a .npy file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NpyProblem {
    /// The file does not begin as .npy files do.
    #[error("not a .npy file")]
    Header,
    /// What has the name is no file that could be mapped into memory.
    #[error("this is {0}; a .npy file is mapped into memory and must be a regular file")]
    NotAFile(&'static str),
    /// A version of the format that is not known.
    #[error("version {major}.{minor} of the .npy format is not known; 1.0, 2.0 and 3.0 are")]
    Version {
        /// Before the point.
        major: u8,
        /// After the point.
        minor: u8,
    },
    /// The header is one of a .npy file, but cannot be understood.
    #[error("the .npy header cannot be read: {reason}{}", shown(header))]
    Malformed {
        /// Why not.
        reason: String,
        /// The header, or as much of it as a message can hold.
        header: String,
    },
    /// The array's shape is not (rows, columns).
    #[error("the array has {0} dimensions where 2 are needed (rows, columns)")]
    Dimensions(usize),
    /// The element type is neither an integer nor a floating-point type.
    #[error("elements of type {0} cannot be read; booleans, integers and floating-point numbers can")]
    Type(String),
    /// The element type is no integer type.
    #[error("elements of type {0} are not integers")]
    NotIntegers(String),
    /// An element is no value of its type.
    #[error("an element cannot be read: {0}")]
    Element(String),
    /// The file ends before the array does.
    #[error("the file is truncated: the header promises {expected} bytes of data, {found} are there")]
    Truncated {
        /// Bytes promised.
        expected: u64,
        /// Bytes found.
        found: u64,
    },
}

fn shown(header: &str) -> String {
    if header.is_empty() { String::new() } else { format!(" (it is {header})") }
}
