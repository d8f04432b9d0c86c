//! Problems with data that engines send between processes.

/// The problem with bytes, totals or trials.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum StreamProblem {
    /// The bytes are not of the expected kind.
    #[error("these bytes are not {what}")]
    Foreign {
        /// The expected kind of data.
        what: &'static str,
    },
    /// The bytes are of another version of the layout.
    #[error(
        "these bytes are {what} in version {found} of the format; this library reads version {supported}"
    )]
    Version {
        /// The expected kind of data.
        what: &'static str,
        /// The version found.
        found: u32,
        /// The supported version.
        supported: u32,
    },
    /// The number of bytes is wrong.
    #[error("{what} should take {expected} bytes; there are {found}")]
    Length {
        /// The expected kind of data.
        what: &'static str,
        /// The number of bytes that the header states.
        expected: u64,
        /// The number found.
        found: u64,
    },
    /// The bytes were changed on the way.
    #[error("the bytes of {what} are corrupt: their checksum or their contents are wrong")]
    Corrupt {
        /// The expected kind of data.
        what: &'static str,
    },
    /// Data made for one plan is used with another.
    #[error("{what} belongs to another plan")]
    OtherPlan {
        /// The data that does not belong.
        what: &'static str,
    },
    /// The Gram matrices are in different coordinates.
    #[error("the Gram matrices have different coordinates: some batches were read with another frame")]
    OtherFrame,
    /// Several batches would draw with the same random numbers.
    #[error("several batches have the number {number}; every batch needs a different number")]
    RepeatedBatch {
        /// The number.
        number: u64,
    },
    /// Labels have the same text, but are strings in one batch and numbers or booleans in another.
    #[error("the labels \"{label}\" are text in some batches and not in others")]
    MixedLabels {
        /// The label, as text.
        label: String,
    },
    /// The leverages of all batches do not sum to the rank.
    #[error(
        "the leverages of the batches sum to {found}, not to the rank {expected}: a batch is missing, counted twice, or has changed"
    )]
    Leverages {
        /// Their sum.
        found: f64,
        /// The rank.
        expected: f64,
    },
    /// Stored leverages do not match the rows received.
    #[error("the rows of batch {number} have changed since their leverages were computed")]
    ChangedRows {
        /// The number of the batch.
        number: u64,
    },
    /// There are more or fewer trials than requested.
    #[error("{found} trials came, but {expected} were asked for")]
    TrialCount {
        /// Requested trials.
        expected: u64,
        /// Trials received.
        found: u64,
    },
    /// More trials are requested than can be drawn together.
    #[error("{count} trials are more than the {limit} that fit into one request; ask for fewer at a time")]
    TooManyTrials {
        /// Requested trials.
        count: u64,
        /// The largest number of trials in one request.
        limit: u64,
    },
    /// There are trials that were not requested.
    #[error("trials came that were not asked for")]
    NotAsked,
}
