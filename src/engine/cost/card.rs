//! The rates of a GPU.

use super::{
    HostRates,
    steps::{Place, Step},
};
use crate::engine::Precision;

/// What kind of GPU an adapter is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "kebab-case"))]
#[non_exhaustive]
pub enum CardKind {
    /// A card with its own memory.
    Discrete,
    /// A part of the processor, which shares its memory.
    Integrated,
    /// A card lent by a hypervisor.
    Virtual,
    /// A driver that computes on the CPU.
    Software,
    /// Anything else.
    Other,
}

/// What a GPU does in a second, in one precision.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct CardRates {
    /// What it is.
    pub kind: CardKind,
    /// The precision.
    pub precision: Precision,
    /// Bytes brought to its memory or back, as they are stored. Where memory is shared this is the speed of a copy.
    pub upload: f64,
    /// Bytes that its kernels read and write.
    pub memory: f64,
    /// Floating-point operations of products of matrices.
    pub products: f64,
    /// Seconds of a submission that does nothing, and of waiting for it.
    pub latency: f64,
    /// Seconds to open it and to compile its shaders.
    pub opening: f64,
}

/// Whether a card is open, and has the rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It has to be opened.
    Closed,
    /// It is open, but the rows have to be brought there.
    Open,
    /// It has the rows.
    Resident,
}

/// Seconds to open a card and to compile its shaders.
pub(super) const OPENING: f64 = 0.3;
/// Columns of a matrix that a pass over rows multiplies by at a time.
const COLUMNS: f64 = 64.0;
/// The share of the rate of products that determinants and draws reach in a workgroup's memory, and in a card's.
const FACTORISATIONS: [f64; 2] = [0.2, 0.03];
/// Bytes of a workgroup's memory.
const WORKGROUP: f64 = 32_768.0;

impl CardRates {
    /// What a good card of its kind reaches: enough to tell whether it is worth opening, where it can be measured.
    #[must_use]
    pub fn estimated(kind: CardKind, precision: Precision) -> Self {
        let [upload, memory, single, double, latency] = match kind {
            CardKind::Discrete | CardKind::Virtual => [12e9, 1e12, 2e13, 5e12, 5e-5],
            CardKind::Integrated | CardKind::Other => [15e9, 1e11, 3e12, 2e11, 5e-5],
            CardKind::Software => [5e9, 1e10, 5e9, 5e9, 1e-4],
        };
        let products = if precision == Precision::F32 { single } else { double };
        Self { kind, precision, upload, memory, products, latency, opening: OPENING }
    }

    /// Whether a step runs on the card.
    pub(super) fn runs(&self, place: Place) -> bool {
        match place {
            Place::Host => false,
            Place::Card => true,
            Place::CardInDouble => self.precision == Precision::F64,
        }
    }

    fn width(&self) -> f64 {
        if self.precision == Precision::F32 { 4.0 } else { 8.0 }
    }

    /// Seconds of a step. Reading and computing overlap.
    pub(super) fn seconds(&self, step: Step, host: &HostRates) -> f64 {
        match step {
            Step::Dots { rows, count } => {
                // A number per row is read and written.
                let bytes = rows.bytes() + 2.0 * self.width() * rows.items;
                count * (bytes / self.memory).max(2.0 * rows.values() / self.products)
            }
            Step::Products { rows, columns, count } => {
                let reading = rows.bytes() * (columns / COLUMNS).ceil() / self.memory;
                count * reading.max(2.0 * rows.values() * columns / self.products)
            }
            Step::Values { count } => 2.0 * count / self.products,
            Step::Answers { count } => self.width() * count / self.upload + host.seconds(step),
            Step::Nodes { rank, count } => {
                let fits = 2.0 * self.width() * rank * rank <= WORKGROUP;
                let share = FACTORISATIONS[usize::from(!fits)];
                count * 8.0 / 3.0 * rank.powi(3) / (share * self.products)
            }
            Step::Updates { bytes } => bytes / self.memory,
            Step::Tables { values, words } => (self.width() * values + 4.0 * words) / self.upload,
            Step::Workgroups { values, operations } => {
                let reading = self.width() * values / self.memory;
                reading.max(operations / (FACTORISATIONS[0] * self.products))
            }
            Step::Waits { count } => count * self.latency,
            // These are never there.
            Step::Eigen { .. } | Step::Choices { .. } | Step::Alone { .. } => host.seconds(step),
        }
    }
}
