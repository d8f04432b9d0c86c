//! Reasons why weighted draws do not allow an estimate.

/// The reason why nothing can be estimated.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum EstimateProblem {
    /// Every draw reached a part that had no items left to pick.
    #[error("none of {draws} draws met the quota: the first picks left a part with nothing to pick")]
    DeadEnds {
        /// The number of draws.
        draws: u64,
    },
    /// A few draws have most of the weight.
    #[error(
        "the weights of draws vary too much to estimate the error: their tail index is {pareto_k:.2}, and estimates are reliable up to {trusted}"
    )]
    HeavyWeights {
        /// k̂; infinite if too few draws have any weight to estimate it.
        pareto_k: f64,
        /// The largest k̂ at which estimates can be trusted.
        trusted: f64,
    },
    /// A chain has too few draws for diagnostics.
    #[error("{draws} draws per chain are too few for diagnostics of mixing; {needed} are needed")]
    TooFewDraws {
        /// Draws of the shortest chain.
        draws: usize,
        /// Draws needed.
        needed: usize,
    },
    /// More Markov chains than can run together.
    #[error("{chains} chains are more than the {limit} that run together; ask for fewer")]
    TooManyChains {
        /// Requested chains.
        chains: usize,
        /// The largest number of chains.
        limit: usize,
    },
    /// A confidence that is not a probability between 0 and 1.
    #[error("the confidence is {confidence}; it must lie between 0 and 1")]
    Confidence {
        /// The requested confidence.
        confidence: f64,
    },
    /// An interval would take too many proposals.
    #[error(
        "an interval this narrow may take {} proposals, {operations:.0e} operations in all; the budget is {budget:.0e}",
        crate::error::words::large(*proposals, 2)
    )]
    IntervalBudget {
        /// Predicted number of proposals.
        proposals: f64,
        /// The operations that they take.
        operations: f64,
        /// The budget of operations.
        budget: f64,
    },
    /// No cap on the weights leaves as little weight above it as requested.
    #[error(
        "a law error of {wanted:.0e} cannot be reached: the weights of draws vary too much; ask for a larger one"
    )]
    Unreachable {
        /// The requested law error.
        wanted: f64,
    },
}
