//! Conditions on items, and the choices that they leave.

use super::{FreeItems, Sets};
use crate::{Error, Partition, Quota, Result, Subset};

/// Items that a set must have, and items that it must not have.
#[derive(Clone, Debug)]
pub(crate) struct Conditions {
    /// m.
    items: usize,
    /// Ascending.
    included: Vec<u32>,
    /// Ascending, disjoint from the included items.
    excluded: Vec<u32>,
}

/// The items left to choose from in a part, and how many to choose.
#[derive(Clone, Debug)]
pub(crate) struct OpenPart {
    pub(crate) part: usize,
    pub(crate) items: FreeItems,
    /// The smallest and largest number to choose in addition to the included items.
    pub(crate) low: usize,
    pub(crate) high: usize,
}

/// The items left to choose from, and how many to choose in addition to the included items.
#[derive(Clone, Debug)]
pub(crate) struct Left {
    /// All parts, including those that allow no more items.
    pub(crate) parts: Vec<OpenPart>,
    pub(crate) total: Option<usize>,
}

impl Conditions {
    /// No conditions on `items` items.
    pub(crate) fn none(items: usize) -> Self {
        Self { items, included: Vec::new(), excluded: Vec::new() }
    }

    pub(crate) fn include(&mut self, items: &[usize]) -> Result<()> {
        add_sorted(&mut self.included, items, self.items)?;
        self.check_disjoint()
    }

    pub(crate) fn exclude(&mut self, items: &[usize]) -> Result<()> {
        add_sorted(&mut self.excluded, items, self.items)?;
        self.check_disjoint()
    }

    fn check_disjoint(&self) -> Result<()> {
        let both = self.included.iter().find(|item| self.excluded.binary_search(item).is_ok());
        both.map_or(Ok(()), |&item| Err(Error::IncludedAndExcluded { item: item as usize }))
    }

    /// The conditions on the items of a part.
    pub(crate) fn of_part(&self, partition: &Partition, part: usize) -> Self {
        let of_part = |items: &[u32]| {
            items.iter().copied().filter(|&item| partition.part_of(item as usize) == part).collect()
        };
        Self { items: self.items, included: of_part(&self.included), excluded: of_part(&self.excluded) }
    }

    /// The included items, ascending.
    pub(crate) fn included(&self) -> &[u32] {
        &self.included
    }

    /// The excluded items, ascending.
    pub(crate) fn excluded(&self) -> &[u32] {
        &self.excluded
    }

    pub(crate) fn excludes(&self, item: usize) -> bool {
        u32::try_from(item).is_ok_and(|item| self.excluded.binary_search(&item).is_ok())
    }

    /// The number of included items in every part.
    pub(crate) fn included_by(&self, partition: &Partition) -> Vec<usize> {
        let mut counts = vec![0; partition.parts()];
        self.included.iter().for_each(|&item| counts[partition.part_of(item as usize)] += 1);
        counts
    }

    /// Whether there are no conditions.
    pub(crate) fn is_empty(&self) -> bool {
        self.included.is_empty() && self.excluded.is_empty()
    }

    fn is_free(&self, item: u32) -> bool {
        self.included.binary_search(&item).is_err() && self.excluded.binary_search(&item).is_err()
    }

    /// The items that are neither included nor excluded.
    pub(crate) fn free_items(&self) -> FreeItems {
        if self.is_empty() {
            return FreeItems::All(self.items);
        }
        #[expect(clippy::cast_possible_truncation, reason = "items are counted in 32 bits")]
        let all = 0..self.items as u32;
        FreeItems::Listed(all.filter(|&item| self.is_free(item)).collect())
    }

    /// The free items of a part.
    pub(crate) fn free_members(&self, partition: &Partition, part: usize) -> FreeItems {
        if self.is_empty() {
            return FreeItems::Part(partition.clone(), part);
        }
        let members = partition.members(part).iter().copied();
        FreeItems::Listed(members.filter(|&item| self.is_free(item)).collect())
    }
}

impl Left {
    /// The choices that the conditions leave for these sets.
    ///
    /// # Errors
    /// The errors of [`of_size`](Self::of_size) and [`of_quota`](Self::of_quota).
    pub(crate) fn of(sets: &Sets, conditions: &Conditions) -> Result<Self> {
        match sets {
            Sets::OfAnySize => {
                let items = conditions.free_items();
                Ok(Self { parts: vec![OpenPart { part: 0, low: 0, high: items.len(), items }], total: None })
            }
            Sets::OfSize(k) => Self::of_size(*k, conditions),
            Sets::Quota(partition, quota) => Self::of_quota(partition, quota, conditions),
        }
    }

    /// The choices left for sets of k items.
    ///
    /// # Errors
    /// [`Error::SizeBelowIncluded`], [`Error::SizeAboveItems`].
    pub(crate) fn of_size(k: usize, conditions: &Conditions) -> Result<Self> {
        let included = conditions.included().len();
        let Some(left) = k.checked_sub(included) else {
            return Err(Error::SizeBelowIncluded { k, included });
        };
        let free = conditions.free_items();
        let items = free.len() + included;
        if k > items {
            return Err(Error::SizeAboveItems { k, items });
        }
        Ok(Self { parts: vec![OpenPart { part: 0, items: free, low: left, high: left }], total: Some(left) })
    }

    /// The choices left for sets that meet a quota.
    ///
    /// # Errors
    /// [`Error::QuotaBelowIncluded`], [`Error::QuotaAbovePartSize`], [`Error::SizeBelowIncluded`],
    /// [`Error::TotalOutsideRanges`].
    pub(crate) fn of_quota(partition: &Partition, quota: &Quota, conditions: &Conditions) -> Result<Self> {
        let included = conditions.included_by(partition);
        let ranges = quota.low().iter().zip(quota.high());
        let parts = included.iter().zip(ranges).enumerate().map(|(part, (&included, (&low, &high)))| {
            OpenPart::new(partition, part, conditions, included, [low, high])
        });
        let parts = parts.collect::<Result<Vec<_>>>()?;
        let Some(total) = quota.total() else { return Ok(Self { parts, total: None }) };
        let included = conditions.included().len();
        let Some(left) = total.checked_sub(included) else {
            return Err(Error::SizeBelowIncluded { k: total, included });
        };
        let low: usize = parts.iter().map(|part| part.low).sum();
        let high: usize = parts.iter().map(|part| part.high).sum();
        if !(low..=high).contains(&left) {
            return Err(Error::TotalOutsideRanges { total, low: low + included, high: high + included });
        }
        Ok(Self { parts, total: Some(left) })
    }

    /// The parts that allow more items.
    pub(crate) fn open(self) -> Vec<OpenPart> {
        self.parts.into_iter().filter(|part| part.high > 0).collect()
    }
}

impl OpenPart {
    fn new(
        partition: &Partition,
        part: usize,
        conditions: &Conditions,
        included: usize,
        [low, high]: [usize; 2],
    ) -> Result<Self> {
        let name = || partition.names()[part].clone();
        let Some(more) = high.checked_sub(included) else {
            return Err(Error::QuotaBelowIncluded { part: name(), quota: high, included });
        };
        if more == 0 {
            return Ok(Self { part, items: FreeItems::Listed([].into()), low: 0, high: 0 });
        }
        let items = conditions.free_members(partition, part);
        let size = items.len() + included;
        if low > size {
            return Err(Error::QuotaAbovePartSize { part: name(), quota: low, size });
        }
        Ok(Self { part, low: low.saturating_sub(included), high: more.min(items.len()), items })
    }
}

/// Adds items to an ascending list, which may already contain some of them.
fn add_sorted(list: &mut Vec<u32>, items: &[usize], count: usize) -> Result<()> {
    let subset = Subset::new(items.to_vec(), count)?;
    #[expect(clippy::cast_possible_truncation, reason = "items are counted in 32 bits")]
    list.extend(subset.iter().map(|item| item as u32));
    list.sort_unstable();
    list.dedup();
    Ok(())
}
