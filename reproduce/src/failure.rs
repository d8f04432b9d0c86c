//! The errors of this crate.

use std::path::{Path, PathBuf};

use partition_dpp::Error;
use pdpp_plot::DrawingError;

/// The reason why a part could not be computed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Failure {
    /// A file of the data is at fault.
    #[error("{}: {problem}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The fault.
        problem: String,
    },
    /// The library refuses the contents of a file.
    #[error("{}", in_file(path, source))]
    InFile {
        /// The file.
        path: PathBuf,
        /// The library's reason.
        source: Error,
    },
    /// The library refuses the request.
    #[error(transparent)]
    Library(#[from] Error),
    /// A figure cannot be drawn.
    #[error("the figure {name} cannot be drawn: {source}")]
    Figure {
        /// The name of the figure.
        name: &'static str,
        /// The reason.
        source: DrawingError,
    },
    /// The watch ended the work between two steps.
    #[error("interrupted")]
    Interrupted,
}

impl Failure {
    /// Creates an error about a file.
    pub(crate) fn file(path: &Path, problem: impl Into<String>) -> Self {
        Failure::File { path: path.to_owned(), problem: problem.into() }
    }

    /// Adds the file's name to the library's reason.
    pub(crate) fn in_file(path: &Path) -> impl Fn(Error) -> Self + '_ {
        move |source| Failure::InFile { path: path.to_owned(), source }
    }
}

/// Returns the message, preceded by the path unless the message contains it already.
fn in_file(path: &Path, source: &Error) -> String {
    match source {
        Error::Io { .. } | Error::Npy { .. } => source.to_string(),
        _ => format!("{}: {source}", path.display()),
    }
}
