//! Core-sets that travel.

use super::bytes::{Kind, Reader, Writer};
use crate::{Result, map::CoreSet};

const KIND: Kind = Kind { tag: *b"CORE", what: "a core-set" };

impl CoreSet {
    /// In bytes, to be sent to another process.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Writer::default();
        out.usize(self.dims).u64s(self.batch.as_slice());
        out.f64s(&self.rows).f64s(&self.log_weights).usizes(&self.items);
        self.labels.iter().zip(&self.texts).for_each(|(label, &kind)| {
            out.text(label).kind(kind);
        });
        out.finish(KIND)
    }

    /// From the bytes of [`to_bytes`](CoreSet::to_bytes).
    ///
    /// # Errors
    /// [`Error::Stream`](crate::Error::Stream) for bytes that are truncated, of another version, or of something else.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let mut input = Reader::open(bytes, KIND)?;
        let (dims, batch, rows) = (input.usize()?, input.u64s()?, input.f64s()?);
        input.check(batch.len() <= 1)?;
        let (log_weights, items) = (input.f64s()?, input.usizes()?);
        let labels = items.iter().map(|_| Ok((input.text()?, input.kind()?))).collect::<Result<Vec<_>>>()?;
        let (labels, texts) = labels.into_iter().unzip();
        input.check(items.len().checked_mul(dims) == Some(rows.len()) && log_weights.len() == items.len())?;
        input.check(rows.iter().chain(&log_weights).all(|value| value.is_finite()))?;
        input.finish()?;
        Ok(Self { dims, batch: batch.first().copied(), rows, log_weights, items, labels, texts })
    }
}
