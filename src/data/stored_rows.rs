//! Rows of one type, in one or several pieces.

use std::sync::Arc;

use prefetch_index::prefetch_index;

use super::values::{Scalar, Storage};
use crate::parallel::map_ordered;

/// The rows of a feature matrix, shard by shard, each row-major.
#[derive(Clone, Debug)]
pub struct StoredRows<T: Scalar> {
    dims: usize,
    shards: Arc<[Storage<T>]>,
    /// The index of the first row of every shard.
    starts: Arc<[usize]>,
}

impl<T: Scalar> StoredRows<T> {
    /// Takes shards that hold whole rows.
    pub(crate) fn new(dims: usize, shards: Vec<Storage<T>>) -> Self {
        let rows = |shard: &Storage<T>| shard.as_slice().len() / dims;
        let starts = shards.iter().scan(0, |next, shard| {
            let start = *next;
            *next += rows(shard);
            Some(start)
        });
        Self { dims, starts: starts.collect(), shards: shards.into() }
    }

    /// The rows of several matrices with rows of the same length.
    pub(crate) fn concatenate(all: &[&Self]) -> Self {
        let dims = all.first().map_or(1, |rows| rows.dims);
        Self::new(dims, all.iter().flat_map(|rows| rows.shards.iter().cloned()).collect())
    }

    /// The shard of a row, and the offset of the row in it.
    #[inline]
    fn place(&self, item: usize) -> (&[T], usize) {
        match &*self.shards {
            [only] => (only.as_slice(), item * self.dims),
            shards => {
                let shard = self.starts.partition_point(|&start| start <= item) - 1;
                (shards[shard].as_slice(), (item - self.starts[shard]) * self.dims)
            }
        }
    }

    /// The row of an item.
    #[inline]
    pub(crate) fn row(&self, item: usize) -> &[T] {
        let (shard, start) = self.place(item);
        &shard[start..start + self.dims]
    }

    /// The values from a row to the end of its shard.
    #[cfg(feature = "gpu")]
    pub(crate) fn from(&self, item: usize) -> &[T] {
        let (shard, start) = self.place(item);
        &shard[start..]
    }

    /// Prefetches a row into the CPU cache.
    #[inline]
    pub(crate) fn prefetch(&self, item: usize) {
        let (shard, start) = self.place(item);
        // Rows need not start at a cache line, so the last value may be on an extra line.
        for offset in (0..self.dims).step_by(64 / size_of::<T>()).chain([self.dims - 1]) {
            prefetch_index(shard, start + offset);
        }
    }

    /// The bytes held in memory, and the bytes in memory-mapped files.
    pub(crate) fn footprint(&self) -> (u64, u64) {
        self.shards.iter().fold((0, 0), |(held, mapped), shard| {
            let bytes = size_of_val(shard.as_slice()) as u64;
            if shard.is_mapped() { (held, mapped + bytes) } else { (held + bytes, mapped) }
        })
    }

    /// The name of the type.
    #[expect(clippy::unused_self, reason = "known by its values")]
    pub(crate) fn scalar(&self) -> &'static str {
        T::NAME
    }

    /// The largest |value|, or the row and column of the first value that is not finite. It takes one pass without
    /// branches.
    pub(crate) fn largest_magnitude(&self) -> Result<f64, (usize, usize)> {
        const CHUNK: usize = 1 << 18;
        let mut largest: f64 = 0.0;
        for (shard, start) in self.shards.iter().zip(&*self.starts) {
            let values = shard.as_slice();
            let chunks: Vec<&[T]> = values.chunks(CHUNK).collect();
            let maxima = map_ordered(chunks.len(), |chunk| T::largest_magnitude(chunks[chunk]));
            if let Some(bad) = maxima.iter().position(Option::is_none) {
                let at = chunks[bad].iter().position(|value| !value.is_finite()).unwrap_or_default();
                let at = bad * CHUNK + at;
                return Err((start + at / self.dims, at % self.dims));
            }
            largest = maxima.into_iter().flatten().fold(largest, f64::max);
        }
        Ok(largest)
    }
}
