//! How many items of each part.

use std::sync::Arc;

use crate::{Error, Partition, Result};

/// κ = (κ₁ … κ_p): the number of items to choose from each part, k = Σκ_l in total.
///
/// ```
/// # fn main() -> Result<(), partition_dpp::Error> {
/// use partition_dpp::{Partition, Quota};
/// let partition = Partition::from_labels(&["dark", "light", "light", "dark", "light"])?;
/// let quota = Quota::new(&partition, &[1, 2])?;
/// assert_eq!(quota, Quota::named(&partition, [("light", 2), ("dark", 1)])?);
/// assert_eq!(quota.total(), 3);
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quota {
    counts: Vec<usize>,
    /// Names of the parts it was made for.
    parts: Arc<[String]>,
}

impl Quota {
    /// One entry per part, in the order of [`Partition::names`].
    ///
    /// # Errors
    /// - [`Error::QuotaLength`] for the wrong number of entries;
    /// - [`Error::QuotaAbovePartSize`] where a part has too few items;
    /// - [`Error::Nothing`] if all entries are zero.
    pub fn new(partition: &Partition, counts: &[usize]) -> Result<Self> {
        if counts.len() != partition.parts() {
            return Err(Error::QuotaLength { parts: partition.names().to_vec(), entries: counts.len() });
        }
        for (part, &quota) in counts.iter().enumerate() {
            let size = partition.size(part);
            if quota > size {
                let part = partition.names()[part].clone();
                return Err(Error::QuotaAbovePartSize { part, quota, size });
            }
        }
        if counts.iter().all(|&count| count == 0) {
            return Err(Error::Nothing { what: "the whole quota" });
        }
        Ok(Self { counts: counts.to_vec(), parts: partition.shared_names() })
    }

    /// Entries by part name; parts not named get zero.
    ///
    /// # Errors
    /// - [`Error::UnknownPart`] for a name that no label has;
    /// - [`Error::RepeatedPart`] for a name given twice;
    /// - those of [`Quota::new`].
    pub fn named<N: AsRef<str>>(
        partition: &Partition,
        counts: impl IntoIterator<Item = (N, usize)>,
    ) -> Result<Self> {
        let entries = by_name(partition, counts)?;
        let counts: Vec<usize> = entries.into_iter().map(Option::unwrap_or_default).collect();
        Self::new(partition, &counts)
    }

    /// The same number of items of every part.
    ///
    /// # Errors
    /// Those of [`Quota::new`].
    pub fn each(partition: &Partition, count: usize) -> Result<Self> {
        Self::new(partition, &vec![count; partition.parts()])
    }

    /// Entries in the order of the parts.
    #[must_use]
    pub fn counts(&self) -> &[usize] {
        &self.counts
    }

    /// Checks that the quota was made for this partition, or one with the same parts and room.
    ///
    /// # Errors
    /// - [`Error::QuotaOfOtherParts`] if the parts have other names;
    /// - those of [`Quota::new`].
    pub(crate) fn check(&self, partition: &Partition) -> Result<()> {
        if self.parts[..] != *partition.names() && self.parts.len() == partition.parts() {
            return Err(Error::QuotaOfOtherParts {
                quota: self.parts.to_vec(),
                parts: partition.names().to_vec(),
            });
        }
        Self::new(partition, &self.counts).map(|_| ())
    }

    /// k = Σκ_l.
    #[must_use]
    pub fn total(&self) -> usize {
        self.counts.iter().sum()
    }
}

/// Entries in the order of the parts; none for parts not named.
pub(super) fn by_name<N: AsRef<str>, T: Clone>(
    partition: &Partition,
    named: impl IntoIterator<Item = (N, T)>,
) -> Result<Vec<Option<T>>> {
    let mut entries = vec![None; partition.parts()];
    for (name, entry) in named {
        let name = name.as_ref();
        let Some(part) = partition.names().iter().position(|known| known == name) else {
            return Err(Error::UnknownPart { name: name.to_owned(), known: partition.names().to_vec() });
        };
        if entries[part].replace(entry).is_some() {
            return Err(Error::RepeatedPart { name: name.to_owned() });
        }
    }
    Ok(entries)
}
