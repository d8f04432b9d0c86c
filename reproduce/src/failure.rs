//! What can go wrong.

use std::path::{Path, PathBuf};

use partition_dpp::Error;
use pdpp_plot::DrawingError;

/// Why a part could not be computed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Failure {
    /// A file of the data that does not hold what it should.
    #[error("{}: {problem}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// The library refuses what a file holds.
    #[error("{}", in_file(path, source))]
    InFile {
        /// The file.
        path: PathBuf,
        /// The library's reason.
        source: Error,
    },
    /// The library refuses the question.
    #[error(transparent)]
    Library(#[from] Error),
    /// A figure that cannot be drawn.
    #[error("the figure {name} cannot be drawn: {source}")]
    Figure {
        /// Its name.
        name: &'static str,
        /// The reason.
        source: DrawingError,
    },
    /// The watch ended the work between two steps.
    #[error("interrupted")]
    Interrupted,
}

impl Failure {
    /// A problem with a file.
    pub(crate) fn file(path: &Path, problem: impl Into<String>) -> Self {
        Failure::File { path: path.to_owned(), problem: problem.into() }
    }

    /// Adds the file's name to the library's reason.
    pub(crate) fn in_file(path: &Path) -> impl Fn(Error) -> Self + '_ {
        move |source| Failure::InFile { path: path.to_owned(), source }
    }
}

/// Some errors know their file, the others get its name in front.
fn in_file(path: &Path, source: &Error) -> String {
    match source {
        Error::Io { .. } | Error::Npy { .. } => source.to_string(),
        _ => format!("{}: {source}", path.display()),
    }
}
