//! How many items of each part, from least to most.

use std::{ops::RangeInclusive, sync::Arc};

use super::quota::by_name;
use crate::{Error, Partition, Result};

/// Between lo_l and hi_l items of part l, both included; and k in total, if that is fixed.
///
/// ```
/// # fn main() -> Result<(), partition_dpp::Error> {
/// use partition_dpp::{Partition, RangeQuota};
/// let partition = Partition::from_labels(&["dark", "light", "light", "dark", "light"])?;
/// let quota = RangeQuota::new(&partition, &[0..=1, 1..=3])?.with_total(3)?;
/// assert!(quota.allows(&[1, 2]) && !quota.allows(&[0, 2]) && !quota.allows(&[2, 1]));
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RangeQuota {
    low: Vec<usize>,
    high: Vec<usize>,
    total: Option<usize>,
    /// Names of the parts it was made for.
    parts: Arc<[String]>,
}

impl RangeQuota {
    /// One range per part, in the order of [`Partition::names`]; a range may end above the size of its part.
    ///
    /// # Errors
    /// - [`Error::QuotaLength`] for the wrong number of entries;
    /// - [`Error::EmptyRange`] for a range that begins above its end;
    /// - [`Error::QuotaAbovePartSize`] where a part has too few items;
    /// - [`Error::Nothing`] if no item may be chosen.
    pub fn new(partition: &Partition, ranges: &[RangeInclusive<usize>]) -> Result<Self> {
        if ranges.len() != partition.parts() {
            return Err(Error::QuotaLength { parts: partition.names().to_vec(), entries: ranges.len() });
        }
        for (part, range) in ranges.iter().enumerate() {
            let (low, high, size) = (*range.start(), *range.end(), partition.size(part));
            let name = || partition.names()[part].clone();
            if low > high {
                return Err(Error::EmptyRange { part: name(), low, high });
            }
            if low > size {
                return Err(Error::QuotaAbovePartSize { part: name(), quota: low, size });
            }
        }
        let low: Vec<usize> = ranges.iter().map(|range| *range.start()).collect();
        let within =
            |(part, range): (usize, &RangeInclusive<usize>)| (*range.end()).min(partition.size(part));
        let high: Vec<usize> = ranges.iter().enumerate().map(within).collect();
        if high.iter().all(|&high| high == 0) {
            return Err(Error::Nothing { what: "the whole quota" });
        }
        Ok(Self { low, high, total: None, parts: partition.shared_names() })
    }

    /// Ranges by part name; nothing of parts not named.
    ///
    /// # Errors
    /// - [`Error::UnknownPart`] for a name that no label has;
    /// - [`Error::RepeatedPart`] for a name given twice;
    /// - those of [`RangeQuota::new`].
    pub fn named<N: AsRef<str>>(
        partition: &Partition,
        ranges: impl IntoIterator<Item = (N, RangeInclusive<usize>)>,
    ) -> Result<Self> {
        let entries = by_name(partition, ranges)?;
        let ranges: Vec<_> = entries.into_iter().map(|range| range.unwrap_or(0..=0)).collect();
        Self::new(partition, &ranges)
    }

    /// Fixes the number of items in all.
    ///
    /// # Errors
    /// [`Error::TotalOutsideRanges`] if the ranges do not allow it.
    pub fn with_total(self, total: usize) -> Result<Self> {
        let (low, high) = (self.low.iter().sum(), self.high.iter().sum());
        if !(low..=high).contains(&total) {
            return Err(Error::TotalOutsideRanges { total, low, high });
        }
        Ok(Self { total: Some(total), ..self })
    }

    /// The least of every part.
    #[must_use]
    pub fn low(&self) -> &[usize] {
        &self.low
    }

    /// The most of every part, never more than it has.
    #[must_use]
    pub fn high(&self) -> &[usize] {
        &self.high
    }

    /// k, if it is fixed.
    #[must_use]
    pub fn total(&self) -> Option<usize> {
        self.total
    }

    /// Whether a set with these counts is allowed.
    #[must_use]
    pub fn allows(&self, counts: &[usize]) -> bool {
        let within = |(part, count): (usize, &usize)| (self.low[part]..=self.high[part]).contains(count);
        counts.len() == self.low.len()
            && counts.iter().enumerate().all(within)
            && self.total.is_none_or(|total| counts.iter().sum::<usize>() == total)
    }

    /// Checks that it was made for a partition with these parts.
    ///
    /// # Errors
    /// [`Error::QuotaOfOtherParts`] otherwise; [`Error::QuotaAbovePartSize`] where a part has less room.
    pub(crate) fn check(&self, partition: &Partition) -> Result<()> {
        if self.parts[..] != *partition.names() {
            let (quota, parts) = (self.parts.to_vec(), partition.names().to_vec());
            return Err(Error::QuotaOfOtherParts { quota, parts });
        }
        let tight = (0..partition.parts()).find(|&part| self.low[part] > partition.size(part));
        tight.map_or(Ok(()), |part| {
            let name = partition.names()[part].clone();
            Err(Error::QuotaAbovePartSize { part: name, quota: self.low[part], size: partition.size(part) })
        })
    }
}
