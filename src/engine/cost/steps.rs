//! The steps of a job, and their time.

use super::{CardRates, HostRates, Standing};

/// Rows that a step reads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct RowCount {
    pub(super) items: f64,
    pub(super) dims: f64,
    /// Bytes of a stored value.
    pub(super) width: f64,
    /// Number of groups that they are in.
    pub(super) parts: f64,
}

impl RowCount {
    pub(super) fn values(&self) -> f64 {
        self.items * self.dims
    }

    pub(super) fn bytes(&self) -> f64 {
        self.values() * self.width
    }

    /// The rows of one of the groups.
    pub(super) fn of_one(&self) -> Self {
        Self { items: self.items / self.parts, ..*self }
    }
}

/// A step of a job.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Step {
    /// Passes that multiply every row by a vector and update a number per row.
    Dots { rows: RowCount, count: f64 },
    /// Passes that multiply every row by a matrix with so many columns, or sum outer products of rows.
    Products { rows: RowCount, columns: f64, count: f64 },
    /// Values in the cache multiplied by a vector's, by all threads.
    Values { count: f64 },
    /// So many of these rows of so many bytes read wherever they are, one after another, by all threads.
    Alone { items: f64, bytes: f64, count: f64 },
    /// Numbers that reach the caller's memory.
    Answers { count: f64 },
    /// Eigen-decompositions of symmetric matrices, one by one.
    Eigen { size: f64, count: f64 },
    /// Determinants of complex matrices. An inverse counts as [`INVERSE`].
    Nodes { rank: f64, count: f64 },
    /// Complex matrices of nodes read or changed, one by one.
    Updates { bytes: f64 },
    /// Random choices, and tables for them.
    Choices { steps: f64 },
    /// Values, in the card's precision, and words of 4 bytes that a card needs besides the rows.
    Tables { values: f64, words: f64 },
    /// Problems that each have a workgroup of a card: values that they read, and operations in its memory.
    Workgroups { values: f64, operations: f64 },
    /// Waits for all threads, or for a card.
    Waits { count: f64 },
}

/// Determinants that take as long as an inverse: 8r³ operations against 8/3·r³.
pub(super) const INVERSE: f64 = 3.0;

/// Where a step runs if there is a card.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// On the host: it is small and delicate.
    Host,
    /// On the card.
    Card,
    /// On the card if it computes in f64, otherwise on the host: it determines a law.
    CardInDouble,
}

/// A predicted time, in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Prediction {
    /// Opening the card.
    pub opening: f64,
    /// Bringing the rows to the card.
    pub upload: f64,
    /// Bytes of these rows.
    pub uploaded_bytes: f64,
    /// Everything else.
    pub computing: f64,
}

impl Prediction {
    /// All of it.
    #[must_use]
    pub fn seconds(&self) -> f64 {
        self.opening + self.upload + self.computing
    }
}

/// The time of steps on the CPU.
pub(super) fn on_cpu(steps: &[(Place, Step)], host: &HostRates) -> Prediction {
    let computing = steps.iter().map(|&(_, step)| host.seconds(step)).sum();
    Prediction { computing, ..Prediction::default() }
}

/// The time of steps on a card, and of what remains on the host.
pub(super) fn on_card(
    steps: &[(Place, Step)],
    rows: RowCount,
    host: &HostRates,
    card: &CardRates,
    standing: Standing,
) -> Prediction {
    let seconds = |&(place, step): &(Place, Step)| {
        if card.runs(place) { card.seconds(step, host) } else { host.seconds(step) }
    };
    let computing = steps.iter().map(seconds).sum();
    let opening = if standing == Standing::Closed { card.opening } else { 0.0 };
    let uploaded_bytes = if standing == Standing::Resident { 0.0 } else { rows.bytes() };
    Prediction { opening, upload: uploaded_bytes / card.upload, uploaded_bytes, computing }
}
