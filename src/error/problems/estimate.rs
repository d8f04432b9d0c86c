//! Why weighted draws tell too little.

/// Why nothing can be estimated.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum EstimateProblem {
    /// Every draw came to a part of which no item was left to pick.
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
        /// k̂; infinite where too few draws have any weight to tell.
        pareto_k: f64,
        /// The most that it may be.
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
    /// More Markov chains than run together.
    #[error("{chains} chains are more than the {limit} that run together; ask for fewer")]
    TooManyChains {
        /// Chains asked for.
        chains: usize,
        /// The most chains.
        limit: usize,
    },
    /// A probability of covering that is none.
    #[error("the confidence is {confidence}; it must lie between 0 and 1")]
    Confidence {
        /// The confidence asked for.
        confidence: f64,
    },
    /// An interval takes too many proposals.
    #[error(
        "an interval this narrow may take {} proposals, {operations:.0e} operations in all; the budget is {budget:.0e}",
        crate::error::words::large(*proposals, 2)
    )]
    IntervalBudget {
        /// Proposals as predicted.
        proposals: f64,
        /// Their operations.
        operations: f64,
        /// The budget of operations.
        budget: f64,
    },
    /// No cap of the weights leaves as little above it as wanted.
    #[error(
        "a law error of {wanted:.0e} cannot be reached: the weights of draws vary too much; ask for a larger one"
    )]
    Unreachable {
        /// The law error wanted.
        wanted: f64,
    },
}
