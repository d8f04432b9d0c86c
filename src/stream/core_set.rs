//! Core-sets that travel.

use super::bytes::{Kind, Reader, Writer};
use crate::{Result, map::CoreSet};

const KIND: Kind = Kind { tag: *b"CORE", what: "a core-set" };

impl CoreSet {
    /// In bytes, to be sent to another process.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Writer::default();
        out.usize(self.dims).u64(self.batch).f64s(&self.rows).f64s(&self.log_weights).usizes(&self.items);
        self.labels.iter().for_each(|label| {
            out.text(label);
        });
        out.finish(KIND)
    }

    /// From the bytes of [`to_bytes`](CoreSet::to_bytes).
    ///
    /// # Errors
    /// [`Error::Stream`](crate::Error::Stream) for bytes that are truncated, of another version, or of something else.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let mut input = Reader::open(bytes, KIND)?;
        let (dims, batch, rows) = (input.usize()?, input.u64()?, input.f64s()?);
        let (log_weights, items) = (input.f64s()?, input.usizes()?);
        let labels = items.iter().map(|_| input.text()).collect::<Result<Vec<_>>>()?;
        input.check(items.len().checked_mul(dims) == Some(rows.len()) && log_weights.len() == items.len())?;
        input.check(rows.iter().chain(&log_weights).all(|value| value.is_finite()))?;
        input.finish()?;
        Ok(Self { dims, batch, rows, log_weights, items, labels })
    }
}
