//! Failures of commands: one line of text, ways out on further lines, and an exit status.

use std::{
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

/// Ways out if the weights of draws vary too much.
const BY_WEIGHTS: &[&str] = &[
    "--method estimated --weighted draws with weights",
    "--method mcmc draws approximately, by Markov chains",
];

/// A failed command.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// No command; the help is printed instead of a message.
    #[error("{help}")]
    NoCommand { help: String },
    /// A command line that cannot be parsed.
    #[error("{problem}")]
    Usage { problem: String, ways: Vec<String> },
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
    #[error("{source}")]
    Budget { source: Error, ways: Vec<String> },
    /// The answer would take too much memory.
    #[error("{needed} of memory are needed, but only {limit} are {rule}: {plan}")]
    Memory { needed: String, limit: String, rule: &'static str, plan: String, ways: Vec<String> },
    /// Chains would take too long.
    #[error(
        "--burn-in, --thin, --samples and --chains ask for {moves:.1e} moves of the chains, more than the limit of {limit:.0e}"
    )]
    Moves { moves: f64, limit: f64, ways: Vec<String> },
    /// A signal cannot be caught.
    #[error("signals cannot be caught: {0}")]
    Signal(String),
    /// The search found no set of the size asked for; the smaller set is not printed.
    #[error(
        "{termination}: found no set of {asked} items with a nonzero determinant in f64, only one of {found}"
    )]
    Incomplete {
        termination: Termination,
        /// Items of the smaller set, included items among them.
        found: usize,
        asked: usize,
    },
    /// No set can be chosen, but under another law one can.
    #[error("{source}")]
    Impossible { source: Error, ways: Vec<String> },
    /// The best set found cannot be distinguished from a set of probability zero.
    #[error("no set found has a determinant that f64 can distinguish from zero")]
    Vanishing,
    /// The answer is predicted to take too long.
    #[error("{predicted}, more than the budget of {budget} s")]
    Slow { predicted: String, budget: f64, ways: Vec<String> },
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
    /// Ctrl-C or a time limit; the samples drawn so far are the answer; text shows the first few.
    #[error("{ended}: {done} of {of} samples were drawn")]
    StoppedSampling { ended: Ended, done: u64, of: u64 },
    /// No value of --by has an answer.
    #[error("none of the {count} values of --by has an answer; the first, {value}: {first}")]
    NoneSolved { count: usize, value: String, first: String, status: u8 },
    /// Ctrl-C or a time limit; the answer so far is printed; text shows the first few.
    #[error("{ended}: {done} of {of} values of --by have an answer")]
    StoppedBy { ended: Ended, done: usize, of: usize },
    /// Standard output cannot be written to.
    #[error("standard output: {0}")]
    Output(io::Error),
}

impl Failure {
    /// The exit status: 2 for bad input or output, 3 for a GPU, 4 for a budget, 130 for an interruption.
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

    /// Ways out, one per line, each with what to type.
    pub(crate) fn ways(&self) -> &[String] {
        match self {
            Failure::Usage { ways, .. }
            | Failure::Budget { ways, .. }
            | Failure::Impossible { ways, .. }
            | Failure::Memory { ways, .. }
            | Failure::Moves { ways, .. }
            | Failure::Slow { ways, .. } => ways,
            _ => &[],
        }
    }

    /// Adds ways out of a lack of memory.
    pub(crate) fn with_ways(mut self, more: &[&str]) -> Self {
        if let Failure::Memory { ways, .. } = &mut self {
            ways.extend(lines(more));
        }
        self
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

    /// Adds ways out to errors about a budget.
    pub(crate) fn advise(ways: &'static [&'static str]) -> impl Fn(Error) -> Self {
        move |source| match (&source, source.kind()) {
            (Error::Estimate(_), _) => source.into(),
            (_, ErrorKind::Budget) => Failure::Budget { source, ways: lines(ways) },
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
                ways: lines(&["ask for fewer items in --quota, or use other parts"]),
            },
            Error::Estimate(_) => Failure::Budget { source: error, ways: lines(BY_WEIGHTS) },
            _ => Failure::Library(error),
        }
    }
}

fn lines(ways: &[&str]) -> Vec<String> {
    ways.iter().map(|&way| way.to_owned()).collect()
}

/// The message, with the path in front unless it contains it already.
fn in_file(path: &Path, source: &Error) -> String {
    match source {
        Error::Io { .. } | Error::Npy { .. } => source.to_string(),
        _ => format!("{}: {source}", path.display()),
    }
}
