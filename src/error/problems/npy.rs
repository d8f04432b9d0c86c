//! Problems with .npy files.

use crate::error::words;

/// The problem with a .npy file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NpyProblem {
    /// The file does not begin with the magic bytes of .npy files.
    #[error("not a .npy file")]
    Header,
    /// The path names something that cannot be mapped into memory, such as a folder or a pipe.
    #[error("this is {0}; a .npy file is mapped into memory and must be a regular file")]
    NotAFile(&'static str),
    /// The version of the format is not supported.
    #[error("version {major}.{minor} of the .npy format is not supported; 1.0, 2.0 and 3.0 are")]
    Version {
        /// Major version.
        major: u8,
        /// Minor version.
        minor: u8,
    },
    /// The header cannot be parsed.
    #[error("the .npy header cannot be read: {reason}{}", shown(header))]
    Malformed {
        /// The reason.
        reason: String,
        /// The header, cut to fit a message.
        header: String,
    },
    /// The array's shape is not (rows, columns).
    #[error("the array has {}; 2 are needed (rows, columns)", words::counted(*.0, "dimension"))]
    Dimensions(usize),
    /// The array's shape is not (values).
    #[error("the array has {}; 1 is needed, with one value per item", words::counted(*.0, "dimension"))]
    NotAList(usize),
    /// The element type is neither an integer nor a floating-point type.
    #[error("elements of type {0} cannot be read; booleans, integers and floating-point numbers can")]
    Type(String),
    /// The element type is not an integer type.
    #[error("elements of type {0} are not integers")]
    NotIntegers(String),
    /// An element is not a value of its type.
    #[error("an element cannot be read: {0}")]
    Element(String),
    /// The file ends before the array does.
    #[error("the file is truncated: the header declares {expected} bytes of data, the file has {found}")]
    Truncated {
        /// Bytes that the header declares.
        expected: u64,
        /// Bytes in the file.
        found: u64,
    },
}

fn shown(header: &str) -> String {
    if header.is_empty() { String::new() } else { format!(" (it is {header})") }
}
