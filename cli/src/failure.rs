//! What can go wrong, as one line of text and an exit status.

use std::{
    io,
    path::{Path, PathBuf},
};

use partition_dpp::{Error, Termination};

/// The exit status of an interrupted program: 128 and the number of the signal.
pub(crate) const INTERRUPTED: u8 = 130;

/// A failed command.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// Arguments that do not fit together.
    #[error("{0}")]
    Arguments(String),
    /// A file that does not hold what it should.
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
    /// The answer would cost too much.
    #[error("{source}; {advice}")]
    Budget {
        /// The library's reason.
        source: Error,
        /// What the command line can do about it.
        advice: &'static str,
    },
    /// Ctrl-C cannot be caught.
    #[error("Ctrl-C cannot be caught: {0}")]
    Signal(ctrlc::Error),
    /// The answer lacks items that were asked for; it is out.
    #[error("{termination}: what is printed has {found} of the {asked} items asked for")]
    Incomplete {
        /// Why no more were found.
        termination: Termination,
        /// Items of the answer, with those that must be in.
        found: usize,
        /// Items asked for.
        asked: usize,
    },
    /// Somebody pressed Ctrl-C; the best answer so far is out.
    #[error("interrupted: what is printed is the best so far")]
    Interrupted,
    /// Somebody pressed Ctrl-C; what was done is out.
    #[error("interrupted: {done} of {of} parts are in the report")]
    Stopped {
        /// Parts that were finished.
        done: usize,
        /// Parts that were asked for.
        of: usize,
    },
    /// Standard output cannot be written to.
    #[error("standard output: {0}")]
    Output(io::Error),
}

impl Failure {
    /// Exit status: 2 bad input, 3 no device, 4 a budget refused, 130 interrupted; 1 for what is nobody's fault here.
    pub(crate) fn status(&self) -> u8 {
        match self {
            Failure::Library(
                Error::ProposalBudget { .. } | Error::RangeProposalBudget { .. } | Error::NodeBudget { .. },
            )
            | Failure::Budget { .. } => 4,
            Failure::Library(
                Error::NoAdapter { .. }
                | Error::NoDoublePrecision { .. }
                | Error::DeviceLost { .. }
                | Error::DeviceMemory { .. }
                | Error::DeviceLimit { .. }
                | Error::Device { .. },
            ) => 3,
            Failure::Interrupted | Failure::Stopped { .. } => INTERRUPTED,
            Failure::Output(_) | Failure::Signal(_) | Failure::Incomplete { .. } => 1,
            _ => 2,
        }
    }

    /// A problem with a file.
    pub(crate) fn file(path: &Path, problem: impl Into<String>) -> Self {
        Failure::File { path: path.to_owned(), problem: problem.into() }
    }

    /// A file that the system would not open, read or write.
    pub(crate) fn io(path: &Path, error: &io::Error) -> Self {
        Failure::file(path, error.to_string())
    }

    /// Adds the file's name to the library's reason.
    pub(crate) fn in_file(path: &Path) -> impl Fn(Error) -> Self + '_ {
        move |source| Failure::InFile { path: path.to_owned(), source }
    }

    /// Adds advice where a budget is refused.
    pub(crate) fn advise(advice: &'static str) -> impl Fn(Error) -> Self {
        move |source| match source {
            Error::ProposalBudget { .. } | Error::RangeProposalBudget { .. } | Error::NodeBudget { .. } => {
                Failure::Budget { source, advice }
            }
            _ => Failure::Library(source),
        }
    }
}

/// Some errors know their file, the others get its name in front.
fn in_file(path: &Path, source: &Error) -> String {
    match source {
        Error::Io { .. } | Error::Npy { .. } => source.to_string(),
        _ => format!("{}: {source}", path.display()),
    }
}

impl From<clap::Error> for Failure {
    /// The message without usage and hints at help, folded to one line.
    fn from(error: clap::Error) -> Self {
        let text = error.render().to_string();
        let text = text.split("\n\nUsage:").next().unwrap_or_default();
        let text = text.split("\n\nFor more information").next().unwrap_or_default();
        let text = text.trim().trim_start_matches("error: ").replace("\n\n", "; ");
        Failure::Arguments(text.split_whitespace().collect::<Vec<_>>().join(" "))
    }
}
