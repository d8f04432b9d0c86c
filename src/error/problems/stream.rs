//! Faults of what engines ship between processes.

/// What is wrong with bytes, totals or trials.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum StreamProblem {
    /// Bytes that are not of this kind.
    #[error("these bytes are not {what}")]
    Foreign {
        /// What was expected.
        what: &'static str,
    },
    /// Bytes of another version of the layout.
    #[error(
        "these bytes are {what} in version {found} of the format; this library reads version {supported}"
    )]
    Version {
        /// What was expected.
        what: &'static str,
        /// The version found.
        found: u32,
        /// The version that is read.
        supported: u32,
    },
    /// The wrong number of bytes.
    #[error("{what} should take {expected} bytes; there are {found}")]
    Length {
        /// What was expected.
        what: &'static str,
        /// The number of bytes that the header states.
        expected: u64,
        /// The number found.
        found: u64,
    },
    /// Bytes that were changed on the way.
    #[error("the bytes of {what} are corrupt: their checksum or their contents are wrong")]
    Corrupt {
        /// What was expected.
        what: &'static str,
    },
    /// What was made for one plan is used with another.
    #[error("{what} belongs to another plan")]
    OtherPlan {
        /// What does not belong.
        what: &'static str,
    },
    /// Gram matrices in different coordinates.
    #[error("the Gram matrices have different coordinates: some batches were read with another frame")]
    OtherFrame,
    /// Batches that would draw with the same random numbers.
    #[error("several batches have the number {number}; every batch needs a different number")]
    RepeatedBatch {
        /// The number.
        number: u64,
    },
    /// Labels that read alike, but are text in one batch and a number or a truth value in another.
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
    /// Leverages that were kept are not those of the rows that came.
    #[error("the rows of batch {number} have changed since their leverages were computed")]
    ChangedRows {
        /// The number of the batch.
        number: u64,
    },
    /// More or fewer trials than asked for.
    #[error("{found} trials came, but {expected} were asked for")]
    TrialCount {
        /// Trials asked for.
        expected: u64,
        /// Trials that came.
        found: u64,
    },
    /// More trials than are drawn together.
    #[error("{count} trials are more than the {limit} that fit into one request; ask for fewer at a time")]
    TooManyTrials {
        /// Trials asked for.
        count: u64,
        /// The most of one request.
        limit: u64,
    },
    /// Trials that nobody has asked for.
    #[error("trials came that were not asked for")]
    NotAsked,
}
