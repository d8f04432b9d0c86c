//! Features of any size, the same in every run.

use partition_dpp::{Features, Partition, PartitionDpp, Quota, Result};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::Serialize;

use super::arguments::ValueType;

/// m, n, k and p.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Size {
    pub(crate) items: usize,
    pub(crate) dims: usize,
    pub(crate) k: usize,
    pub(crate) parts: usize,
}

/// Features with entries in [−1, 1), in parts by turns, with a quota of k over them as evenly as can be.
#[derive(Debug)]
pub(super) struct BenchCase {
    pub(super) size: Size,
    pub(super) values: ValueType,
    pub(super) features: Features,
    pub(super) partition: Partition,
    pub(super) quota: Quota,
}

impl BenchCase {
    pub(super) fn new(size: Size, values: ValueType) -> Result<Self> {
        let Size { items, dims, k, parts } = size;
        let mut rng = ChaCha8Rng::seed_from_u64(0);
        let numbers = (0..items * dims).map(|_| rng.random_range(-1.0..1.0_f32));
        let features = match values {
            ValueType::F16 => {
                Features::from_rows(items, dims, numbers.map(half::f16::from_f32).collect::<Vec<_>>())
            }
            ValueType::F32 => Features::from_rows(items, dims, numbers.collect::<Vec<_>>()),
            ValueType::F64 => Features::from_rows(items, dims, numbers.map(f64::from).collect::<Vec<_>>()),
        }?;
        let partition = Partition::from_labels(&(0..items).map(|item| item % parts).collect::<Vec<usize>>())?;
        let counts: Vec<usize> = (0..parts).map(|part| k / parts + usize::from(part < k % parts)).collect();
        let quota = Quota::new(&partition, &counts)?;
        Ok(Self { size, values, features, partition, quota })
    }

    pub(super) fn model(&self) -> Result<PartitionDpp> {
        PartitionDpp::new(&self.features, &self.partition, &self.quota)
    }
}
