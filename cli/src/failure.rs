//! What can go wrong, as one line of text and an exit status.

use std::{
    io,
    path::{Path, PathBuf},
};

use partition_dpp::{Error, map::Termination, watch::Ended};

/// The exit status of an interrupted program: 128 and the number of the signal.
const INTERRUPTED: u8 = 130;

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
    Library(Error),
    /// The answer would cost too much.
    #[error("{source}; {advice}")]
    Budget {
        /// The library's reason.
        source: Error,
        /// What the command line can do about it.
        advice: &'static str,
    },
    /// The answer would take too much memory.
    #[error("{needed} of memory are needed, {limit} are {rule}: {plan}")]
    Memory {
        /// What is needed.
        needed: String,
        /// What there is.
        limit: String,
        /// Why no more.
        rule: &'static str,
        /// What for.
        plan: String,
    },
    /// Chains would take too long.
    #[error(
        "--burn-in, --thin, --samples and --chains ask for {moves:.1e} moves of the chains, where {limit:.0e} are the most; ask for less"
    )]
    Moves {
        /// Moves asked for.
        moves: f64,
        /// Moves made at most.
        limit: f64,
    },
    /// A signal cannot be caught.
    #[error("signals cannot be caught: {0}")]
    Signal(String),
    /// No set with all items that were asked for is found; what was found is not shown.
    #[error(
        "{termination}: no set of {asked} items has been found whose determinant is not zero in f64, only one of {found}"
    )]
    Incomplete {
        /// Why no more were found.
        termination: Termination,
        /// Items of the answer, with those that must be in.
        found: usize,
        /// Items asked for.
        asked: usize,
    },
    /// The best set found is none that can be told from one of probability zero.
    #[error("no set has been found whose determinant can be told from zero in f64")]
    Vanishing,
    /// The answer is predicted to take too long.
    #[error("{predicted}, more than the budget of {budget} s: --budget {enough} allows it{advice}")]
    Slow {
        /// What is predicted.
        predicted: String,
        /// The budget.
        budget: f64,
        /// A budget that is enough.
        enough: f64,
        /// What else the command line can do about it.
        advice: &'static str,
    },
    /// Ctrl-C or a time limit; nothing is printed.
    #[error("{0}: nothing is printed")]
    Abandoned(Ended),
    /// Ctrl-C; the best answer so far is printed.
    #[error("interrupted: what is printed is the best so far")]
    Interrupted,
    /// Ctrl-C; what was done is written.
    #[error("interrupted: {done} of {of} parts are in the report")]
    Stopped {
        /// Parts that were finished.
        done: usize,
        /// Parts that were asked for.
        of: usize,
    },
    /// Ctrl-C or a time limit; what was drawn is printed.
    #[error("{ended}: {done} of {of} samples are printed")]
    StoppedSampling {
        /// Which of them.
        ended: Ended,
        /// Samples that were drawn.
        done: u64,
        /// Samples that were asked for.
        of: u64,
    },
    /// Standard output cannot be written to.
    #[error("standard output: {0}")]
    Output(io::Error),
}

impl Failure {
    /// Exit status: 2 for what was asked or where it was to be written, 3 no device, 4 a budget refused or used up, 130
    /// interrupted.
    pub(crate) fn status(&self) -> u8 {
        match self {
            Failure::Library(
                Error::ProposalBudget { .. } | Error::RangeProposalBudget { .. } | Error::NodeBudget { .. },
            )
            | Failure::Budget { .. }
            | Failure::Slow { .. }
            | Failure::Memory { .. }
            | Failure::Moves { .. }
            | Failure::Abandoned(Ended::TimeLimit)
            | Failure::StoppedSampling { ended: Ended::TimeLimit, .. } => 4,
            Failure::Incomplete { termination, .. } if *termination != Termination::RankExhausted => 4,
            Failure::Library(Error::Device(_)) => 3,
            Failure::Abandoned(_)
            | Failure::Interrupted
            | Failure::Stopped { .. }
            | Failure::StoppedSampling { .. } => INTERRUPTED,
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
            _ => source.into(),
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        match error {
            Error::Ended(ended) => Failure::Abandoned(ended),
            _ => Failure::Library(error),
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
