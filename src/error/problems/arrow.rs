//! Problems with Arrow arrays.

/// The problem with an Arrow array.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ArrowProblem {
    /// Features cannot be read from this type.
    #[error("features are lists of f16, f32 or f64, or columns of numbers; these are {0}")]
    NotFeatures(String),
    /// Features cannot be read from a column of this type.
    #[error("column {column} holds {kind}, not numbers")]
    NotNumbers {
        /// Name of the column.
        column: String,
        /// Its type.
        kind: String,
    },
    /// Labels cannot be read from this type.
    #[error("labels are text, booleans, integers, or dictionaries of them; these are {0}")]
    NotLabels(String),
    /// A row has no list, or no label.
    #[error("row {row} has no value")]
    NoValue {
        /// The row.
        row: usize,
    },
    /// A feature is missing.
    #[error("the value in row {row}, column {column} is missing")]
    NoFeature {
        /// The row.
        row: usize,
        /// The column, or the position in the list.
        column: usize,
    },
    /// Lists differ in length.
    #[error("the list in row {row} has {found} values; the list in row 0 has {expected}")]
    ListLength {
        /// The row.
        row: usize,
        /// Length of its list.
        found: usize,
        /// Length of the first list.
        expected: usize,
    },
}
