//! Features of any size, the same in every run.

use partition_dpp::{Features, Partition, PartitionDpp, Quota, Result};

/// m, n, k and p.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Size {
    pub(crate) items: usize,
    pub(crate) dims: usize,
    pub(crate) k: usize,
    pub(crate) parts: usize,
}

/// f32 features with entries in (−1, 1), in parts by turns, with a quota of k over them as evenly as can be.
#[derive(Debug)]
pub(super) struct BenchCase {
    pub(super) size: Size,
    pub(super) features: Features,
    pub(super) partition: Partition,
    pub(super) quota: Quota,
}

impl BenchCase {
    pub(super) fn new(size: Size) -> Result<Self> {
        let Size { items, dims, k, parts } = size;
        let values: Vec<f32> = (0..items * dims).map(|at| entry(at as u64)).collect();
        let features = Features::from_rows(items, dims, values)?;
        let partition = Partition::from_labels(&(0..items).map(|item| item % parts).collect::<Vec<usize>>())?;
        let counts: Vec<usize> = (0..parts).map(|part| k / parts + usize::from(part < k % parts)).collect();
        let quota = Quota::new(&partition, &counts)?;
        Ok(Self { size, features, partition, quota })
    }

    pub(super) fn model(&self) -> Result<PartitionDpp> {
        PartitionDpp::new(&self.features, &self.partition, &self.quota)
    }
}

/// Steele, Lea and Flood's SplitMix64 of a counter.
fn entry(at: u64) -> f32 {
    let mut z = at.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    let bits = (z ^ (z >> 31)) >> 40;
    #[expect(clippy::cast_precision_loss, reason = "24 bits")]
    let entry = bits as f32 / (1_u64 << 23) as f32 - 1.0;
    entry
}
