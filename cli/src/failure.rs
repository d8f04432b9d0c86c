//! Failures of commands: one line of text, and an exit status.

use std::{
    borrow::Cow,
    io,
    path::{Path, PathBuf},
};

use partition_dpp::{
    Error,
    error::{ErrorKind, EstimateProblem},
    map::Termination,
    watch::Ended,
};

/// The exit status of an interrupted program: 128 and the number of the signal.
const INTERRUPTED: u8 = 130;

/// A failed command.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// Arguments that do not fit together.
    #[error("{0}")]
    Arguments(String),
    /// A file at fault.
    #[error("{}: {problem}", path.display())]
    File { path: PathBuf, problem: String },
    /// The library refuses the contents of a file.
    #[error("{}", in_file(path, source))]
    InFile { path: PathBuf, source: Error },
    /// The library refuses the question.
    #[error(transparent)]
    Library(Error),
    /// The answer would cost too much.
    #[error("{source}; {advice}")]
    Budget { source: Error, advice: Cow<'static, str> },
    /// The answer would take too much memory.
    #[error("{needed} of memory are needed, but only {limit} are {rule}: {plan}")]
    Memory { needed: String, limit: String, rule: &'static str, plan: String },
    /// Chains would take too long.
    #[error(
        "--burn-in, --thin, --samples and --chains ask for {moves:.1e} moves of the chains, above the limit of {limit:.0e}; ask for less"
    )]
    Moves { moves: f64, limit: f64 },
    /// A signal cannot be caught.
    #[error("signals cannot be caught: {0}")]
    Signal(String),
    /// The search found no set of the size asked for; the smaller set is not printed.
    #[error(
        "{termination}: found no set of {asked} items whose determinant is not zero in f64, only one of {found}"
    )]
    Incomplete {
        termination: Termination,
        /// Items of the smaller set, included items among them.
        found: usize,
        asked: usize,
    },
    /// No set can be chosen, but under another law one can.
    #[error("{source}; {advice}")]
    Impossible { source: Error, advice: String },
    /// The best set found is none that can be told from one of probability zero.
    #[error("no set has been found whose determinant can be told from zero in f64")]
    Vanishing,
    /// The answer is predicted to take too long.
    #[error("{predicted}, more than the budget of {budget} s: {enough}{advice}")]
    Slow { predicted: String, budget: f64, enough: String, advice: Cow<'static, str> },
    /// Ctrl-C or a time limit; nothing is printed.
    #[error("{0}: nothing is printed")]
    Abandoned(Ended),
    /// Ctrl-C; the best answer so far is printed.
    #[error("interrupted: the best set so far is printed")]
    Interrupted,
    /// Ctrl-C; estimates from the draws so far are printed.
    #[error("interrupted: the estimates are from the draws so far")]
    InterruptedEstimate,
    /// Ctrl-C; the finished parts are written.
    #[error("interrupted: {done} of {of} parts are in the report")]
    Stopped { done: usize, of: usize },
    /// Ctrl-C or a time limit; the samples drawn so far are the answer, of which text shows the first few.
    #[error("{ended}: {done} of {of} samples were drawn")]
    StoppedSampling { ended: Ended, done: u64, of: u64 },
    /// No value of --by has an answer.
    #[error("none of the {count} values of --by has an answer; the first, {value}: {first}")]
    NoneSolved { count: usize, value: String, first: String, status: u8 },
    /// Ctrl-C or a time limit; what is known so far is the answer, of which text shows the first few.
    #[error("{ended}: {done} of {of} values of --by have an answer")]
    StoppedBy { ended: Ended, done: usize, of: usize },
    /// Standard output cannot be written to.
    #[error("standard output: {0}")]
    Output(io::Error),
}

impl Failure {
    /// Exit status: 2 for bad input or output, 3 for a GPU, 4 for a budget, 130 for an interruption.
    pub(crate) fn status(&self) -> u8 {
        match self {
            Failure::Library(error) if error.kind() == ErrorKind::Budget => 4,
            Failure::Budget { .. }
            | Failure::Slow { .. }
            | Failure::Memory { .. }
            | Failure::Moves { .. }
            | Failure::Abandoned(Ended::TimeLimit)
            | Failure::StoppedSampling { ended: Ended::TimeLimit, .. }
            | Failure::StoppedBy { ended: Ended::TimeLimit, .. } => 4,
            Failure::NoneSolved { status, .. } => *status,
            Failure::Incomplete { termination, .. } if *termination != Termination::RankExhausted => 4,
            Failure::Library(Error::Device(_)) => 3,
            Failure::Abandoned(_)
            | Failure::Interrupted
            | Failure::InterruptedEstimate
            | Failure::Stopped { .. }
            | Failure::StoppedBy { .. }
            | Failure::StoppedSampling { .. } => INTERRUPTED,
            _ => 2,
        }
    }

    /// A fault of a file.
    pub(crate) fn file(path: &Path, problem: impl Into<String>) -> Self {
        Failure::File { path: path.to_owned(), problem: problem.into() }
    }

    /// An error of the system with a file.
    pub(crate) fn io(path: &Path, error: &io::Error) -> Self {
        Failure::file(path, error.to_string())
    }

    /// Adds the file's name to the library's reason.
    pub(crate) fn in_file(path: &Path) -> impl Fn(Error) -> Self + '_ {
        move |source| Failure::InFile { path: path.to_owned(), source }
    }

    /// Adds advice to errors that refuse a budget.
    pub(crate) fn advise(advice: impl Into<Cow<'static, str>>) -> impl Fn(Error) -> Self {
        let advice = advice.into();
        move |source| match (&source, source.kind()) {
            (Error::Estimate(_), _) => source.into(),
            (_, ErrorKind::Budget) => Failure::Budget { source, advice: advice.clone() },
            _ => source.into(),
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        match error {
            Error::Ended(ended) => Failure::Abandoned(ended),
            Error::Estimate(EstimateProblem::DeadEnds { .. }) => Failure::Budget {
                source: error,
                advice: "other parts or a smaller quota may leave more choice".into(),
            },
            Error::Estimate(_) => Failure::Budget {
                source: error,
                advice: "--weighted draws with weights, --method mcmc draws approximately".into(),
            },
            _ => Failure::Library(error),
        }
    }
}

/// The message, with the path in front unless it contains it already.
fn in_file(path: &Path, source: &Error) -> String {
    match source {
        Error::Io { .. } | Error::Npy { .. } => source.to_string(),
        _ => format!("{}: {source}", path.display()),
    }
}

impl From<clap::Error> for Failure {
    /// The message without the usage and the hint at `--help`, on one line.
    fn from(error: clap::Error) -> Self {
        let text = error.render().to_string();
        let text = text.split("\n\nUsage:").next().unwrap_or_default();
        let text = text.split("\n\nFor more information").next().unwrap_or_default();
        let text = text.trim().trim_start_matches("error: ").replace("\n\n", "; ");
        Failure::Arguments(text.split_whitespace().collect::<Vec<_>>().join(" "))
    }
}
