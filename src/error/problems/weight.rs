//! Problems with the weights of rows.

/// The reason why rows cannot be weighted.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum WeightProblem {
    /// A score or a logarithm of a weight is NaN or infinite.
    #[error("the score of item {item} is {value}; every score must be finite")]
    NotFinite {
        /// The item.
        item: usize,
        /// The score, or ln q_i.
        value: f64,
    },
    /// A weight is so large that rounding loses the length of the row.
    #[error(
        "the score of item {item} weights its row by e^({value:e}); beyond e^±4294967296 rounding loses the lengths of rows: subtract a common number from all scores, bring the diversity closer to 1, or exclude the item"
    )]
    TooLarge {
        /// The item.
        item: usize,
        /// ln q_i.
        value: f64,
    },
    /// The weights of the items that matter span more decades than f64 can hold when squared.
    #[error(
        "the scores span too many decades: the items that matter have weights that f64 cannot hold together, or nearly dependent rows; bring the scores closer together, or the diversity closer to 1"
    )]
    Spread,
    /// The diversity is outside (0, 1].
    #[error("the diversity is {value}; it must be above 0 and at most 1; at 0 only scores matter")]
    Diversity {
        /// The value.
        value: f64,
    },
    /// A row of zeros has no direction.
    #[error("the row of item {item} is zero: it has no cosine similarity. Exclude the item")]
    ZeroRow {
        /// The item.
        item: usize,
    },
}
