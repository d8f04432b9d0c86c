//! Text that names no option.

/// The reason why a text is no quota, count, method or bound.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{problem}")]
pub struct ParseError {
    problem: String,
}

impl ParseError {
    pub(crate) fn new(problem: String) -> Self {
        Self { problem }
    }

    /// An option that has no variant with this name.
    pub(crate) fn unknown(what: &str, name: &str, known: &[&str]) -> Self {
        Self { problem: format!("there is no {what} '{name}'; there are {}", known.join(", ")) }
    }
}
