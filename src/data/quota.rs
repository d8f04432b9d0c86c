//! The allowed number of items of each part, and in total.

use std::{
    ops::{RangeFrom, RangeFull, RangeInclusive, RangeToInclusive},
    sync::Arc,
};

use crate::{Error, Partition, Result};

/// The number of items of one part: a count, or a range with both ends included.
///
/// It is made from `2`, `1..=3`, `..=3`, `1..` or `..`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CountRange {
    pub(super) low: usize,
    pub(super) high: usize,
}

impl From<usize> for CountRange {
    fn from(count: usize) -> Self {
        Self { low: count, high: count }
    }
}

impl From<RangeInclusive<usize>> for CountRange {
    fn from(range: RangeInclusive<usize>) -> Self {
        Self { low: *range.start(), high: *range.end() }
    }
}

impl From<RangeToInclusive<usize>> for CountRange {
    fn from(range: RangeToInclusive<usize>) -> Self {
        Self { low: 0, high: range.end }
    }
}

impl From<RangeFrom<usize>> for CountRange {
    fn from(range: RangeFrom<usize>) -> Self {
        Self { low: range.start, high: usize::MAX }
    }
}

impl From<RangeFull> for CountRange {
    fn from(_: RangeFull) -> Self {
        Self { low: 0, high: usize::MAX }
    }
}

impl From<&usize> for CountRange {
    fn from(count: &usize) -> Self {
        Self::from(*count)
    }
}

impl From<&RangeInclusive<usize>> for CountRange {
    fn from(range: &RangeInclusive<usize>) -> Self {
        Self::from(range.clone())
    }
}

/// Between lo_l and hi_l items of part l, both included, and k items in total if the total is fixed.
///
/// Exact counts κ = (κ_1 … κ_p) are ranges of one count each. They fix the total k = Σκ_l.
///
/// ```
/// # fn main() -> Result<(), partition_dpp::Error> {
/// use partition_dpp::{CountRange, Partition, Quota};
/// let partition = Partition::from_labels(&["dark", "light", "light", "dark", "light"])?;
/// let exact = Quota::new(&partition, [1, 2])?;
/// assert_eq!(exact, Quota::named(&partition, [("light", 2), ("dark", 1)])?);
/// assert_eq!(exact.total(), Some(3));
/// let ranges = Quota::new(&partition, [CountRange::from(..=1), (1..=3).into()])?.with_total(3)?;
/// assert!(ranges.allows(&[1, 2]) && !ranges.allows(&[0, 2]) && !ranges.allows(&[2, 1]));
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Quota {
    pub(super) low: Vec<usize>,
    /// At most the size of each part.
    pub(super) high: Vec<usize>,
    /// Set if every count is exact, or by `with_total`.
    pub(super) total: Option<usize>,
    /// The names of the parts that the quota was made for.
    pub(super) parts: Arc<[String]>,
}

impl Quota {
    /// Takes one count or range per part, in the order of [`Partition::names`].
    ///
    /// A range may end above the size of its part.
    ///
    /// # Errors
    /// - [`Error::QuotaLength`] if the number of entries is wrong;
    /// - [`Error::EmptyRange`] if a range begins above its end;
    /// - [`Error::QuotaAbovePartSize`] if a part has too few items;
    /// - [`Error::Nothing`] if no item may be chosen.
    pub fn new<C: Into<CountRange>>(
        partition: &Partition,
        counts: impl IntoIterator<Item = C>,
    ) -> Result<Self> {
        let sizes: Vec<usize> = (0..partition.parts()).map(|part| partition.size(part)).collect();
        let counts: Vec<CountRange> = counts.into_iter().map(Into::into).collect();
        Self::over(partition.shared_names(), &sizes, &counts)
    }

    /// The quota for parts with these names and sizes.
    fn over(parts: Arc<[String]>, sizes: &[usize], counts: &[CountRange]) -> Result<Self> {
        if counts.len() != parts.len() {
            return Err(Error::QuotaLength { parts: parts.to_vec(), entries: counts.len() });
        }
        for (part, (&range, &size)) in counts.iter().zip(sizes).enumerate() {
            let name = || parts[part].clone();
            check_range(range, name)?;
            let low = range.low;
            if low > size {
                return Err(Error::QuotaAbovePartSize { part: name(), quota: low, size });
            }
        }
        let low: Vec<usize> = counts.iter().map(|count| count.low).collect();
        let high: Vec<usize> = counts.iter().zip(sizes).map(|(count, &size)| count.high.min(size)).collect();
        Self::of_ranges(low, high, parts)
    }

    /// Takes nonempty ranges.
    pub(super) fn of_ranges(low: Vec<usize>, high: Vec<usize>, parts: Arc<[String]>) -> Result<Self> {
        if high.iter().all(|&high| high == 0) {
            return Err(Error::Nothing { what: "the whole quota" });
        }
        let total = (low == high).then(|| low.iter().sum());
        Ok(Self { low, high, total, parts })
    }

    /// Takes entries by part name; parts that are not named get no items.
    ///
    /// # Errors
    /// - [`Error::UnknownPart`] if no part has a given name;
    /// - [`Error::RepeatedPart`] if a name is given twice;
    /// - the errors of [`Quota::new`].
    pub fn named<N: AsRef<str>, C: Into<CountRange>>(
        partition: &Partition,
        counts: impl IntoIterator<Item = (N, C)>,
    ) -> Result<Self> {
        let sizes: Vec<usize> = (0..partition.parts()).map(|part| partition.size(part)).collect();
        Self::named_over(partition.shared_names(), &sizes, counts)
    }

    /// [`named`](Self::named) for parts with these names and sizes.
    pub(crate) fn named_over<N: AsRef<str>, C: Into<CountRange>>(
        parts: Arc<[String]>,
        sizes: &[usize],
        counts: impl IntoIterator<Item = (N, C)>,
    ) -> Result<Self> {
        let mut entries: Vec<Option<CountRange>> = vec![None; parts.len()];
        for (name, count) in counts {
            let name = name.as_ref();
            let Some(part) = parts.iter().position(|known| known == name) else {
                return Err(Error::UnknownPart { name: name.to_owned(), known: parts.to_vec() });
            };
            if entries[part].replace(count.into()).is_some() {
                return Err(Error::RepeatedPart { name: name.to_owned() });
            }
        }
        let entry = |entry: Option<CountRange>| entry.unwrap_or(CountRange::from(0));
        let counts: Vec<CountRange> = entries.into_iter().map(entry).collect();
        Self::over(parts, sizes, &counts)
    }

    /// The same count or range for every part.
    ///
    /// # Errors
    /// The errors of [`Quota::new`].
    pub fn each(partition: &Partition, count: impl Into<CountRange>) -> Result<Self> {
        Self::new(partition, vec![count.into(); partition.parts()])
    }

    /// Fixes the total number of items.
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

    /// The smallest count of every part.
    #[must_use]
    pub fn low(&self) -> &[usize] {
        &self.low
    }

    /// The largest count of every part, at most the size of the part.
    #[must_use]
    pub fn high(&self) -> &[usize] {
        &self.high
    }

    /// κ, if every range is a single count.
    #[must_use]
    pub fn exact_counts(&self) -> Option<&[usize]> {
        (self.low == self.high).then_some(&self.low)
    }

    /// k, if it is fixed by [`with_total`](Quota::with_total) or by exact counts.
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

    /// Checks that the quota was made for this partition, or for one with the same part names and large enough parts.
    ///
    /// # Errors
    /// - [`Error::QuotaLength`], [`Error::QuotaOfOtherParts`] if the parts differ;
    /// - [`Error::QuotaAbovePartSize`] if a part has too few items.
    pub(crate) fn check(&self, partition: &Partition) -> Result<()> {
        if self.parts.len() != partition.parts() {
            return Err(Error::QuotaLength { parts: partition.names().to_vec(), entries: self.parts.len() });
        }
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

/// Rejects a range that begins above its end.
pub(super) fn check_range(CountRange { low, high }: CountRange, part: impl Fn() -> String) -> Result<()> {
    if low > high { Err(Error::EmptyRange { part: part(), low, high }) } else { Ok(()) }
}
