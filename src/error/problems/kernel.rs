//! Problems with kernels that are functions of two items.

/// The reason why a kernel function cannot be used.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum KernelProblem {
    /// A value is NaN or infinite.
    #[error("the kernel of items {row} and {column} is {value}; every value must be finite")]
    NotFinite {
        /// One item.
        row: usize,
        /// The other.
        column: usize,
        /// The value.
        value: f64,
    },
    /// A value on the diagonal is negative.
    #[error("the kernel of items {item} and {item} is {value}; the diagonal must not be negative")]
    NegativeDiagonal {
        /// The item.
        item: usize,
        /// The value.
        value: f64,
    },
    /// The median distance of rows cannot serve as a bandwidth.
    #[error(
        "the median distance of {pairs} pairs of rows is {median}, because most rows are equal or there are too few: set a bandwidth, or remove duplicates"
    )]
    NoMedianDistance {
        /// Pairs compared.
        pairs: usize,
        /// Their median distance.
        median: f64,
    },
}
