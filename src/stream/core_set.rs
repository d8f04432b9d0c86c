//! Core-sets that are sent between processes.

use super::Batch;
use crate::{Engine, Result, bytes::Kind, map::CoreSet};

const KIND: Kind = Kind { tag: *b"PDPPCORE", what: "a core-set" };

impl CoreSet {
    /// Selects items of a batch with local search; an empty batch gives an empty core-set.
    ///
    /// Send them to the process that unites core-sets, see [`to_bytes`](CoreSet::to_bytes).
    ///
    /// # Errors
    /// The errors of [`by_local_search`](CoreSet::by_local_search).
    ///
    /// ```
    /// # fn main() -> Result<(), partition_dpp::Error> {
    /// use partition_dpp::{Engine, Features, Partition, map::CoreSet, stream::Batch};
    /// let features = Features::from_rows(3, 2, vec![1.0, 0.0, 2.0, 0.0, 0.0, 1.0])?;
    /// let batch = Batch::new(7, &features, &Partition::from_labels(&["cat", "cat", "dog"])?)?;
    /// let core_set = CoreSet::from_bytes(&CoreSet::of_batch(&batch, 1, &Engine::cpu())?.to_bytes())?;
    /// assert_eq!((core_set.batch(), core_set.items()), (7, &[1, 2][..]));
    /// # Ok(()) }
    /// ```
    pub fn of_batch(batch: &Batch, total: usize, engine: &Engine) -> Result<Self> {
        let core = match batch.content() {
            Some((features, partition)) => {
                let core = Self::by_local_search(features, partition, total, engine)?;
                let texts = core.items.iter().map(|&item| batch.is_text(partition.part_of(item))).collect();
                Self { texts, ..core }
            }
            None => Self::empty(0),
        };
        Ok(Self { batch: Some(batch.number()), ..core })
    }

    /// Serialises to bytes, to be sent to another process.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let Self { dims, batch, rows, log_weights, items, labels, texts } = self;
        KIND.write(&(dims, batch, rows, log_weights, items, labels, texts))
    }

    /// Deserialises the bytes of [`to_bytes`](CoreSet::to_bytes).
    ///
    /// # Errors
    /// [`Error::Stream`](crate::Error::Stream) if the bytes are truncated, of another version, or not a core-set.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let (dims, batch, rows, log_weights, items, labels, texts) = KIND.read(bytes)?;
        let core = Self { dims, batch, rows, log_weights, items, labels, texts };
        let count = core.items.len();
        KIND.check([core.log_weights.len(), core.labels.len(), core.texts.len()] == [count; 3])?;
        KIND.check(count.checked_mul(dims) == Some(core.rows.len()))?;
        KIND.check(core.rows.iter().chain(&core.log_weights).all(|value| value.is_finite()))?;
        Ok(core)
    }
}
