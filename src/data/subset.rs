//! Subsets, the results of samplers and solvers.

use std::fmt;

use crate::{Error, Partition, Result};

/// Distinct items in ascending order.
///
/// ```
/// # fn main() -> Result<(), partition_dpp::Error> {
/// let subset = partition_dpp::Subset::new(vec![7, 2], 10)?;
/// assert_eq!(subset.as_slice(), [2, 7]);
/// assert!(subset.contains(7));
/// # Ok(()) }
/// ```
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Subset(Box<[usize]>);

impl Subset {
    /// Sorts and checks indices into a ground set of `items` items.
    ///
    /// # Errors
    /// - [`Error::ItemOutOfRange`] if an index is `items` or more;
    /// - [`Error::RepeatedItem`] if an item is repeated.
    pub fn new(mut chosen: Vec<usize>, items: usize) -> Result<Self> {
        chosen.sort_unstable();
        if let Some(&item) = chosen.last().filter(|&&item| item >= items) {
            return Err(Error::ItemOutOfRange { item, items });
        }
        if let Some(pair) = chosen.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(Error::RepeatedItem { item: pair[0] });
        }
        Ok(Self(chosen.into()))
    }

    /// Takes distinct items in any order.
    pub(crate) fn from_distinct(mut chosen: Vec<u32>) -> Self {
        chosen.sort_unstable();
        debug_assert!(chosen.windows(2).all(|pair| pair[0] < pair[1]), "an item was chosen twice");
        Self(chosen.into_iter().map(|item| item as usize).collect())
    }

    /// The items, ascending.
    #[must_use]
    pub fn as_slice(&self) -> &[usize] {
        &self.0
    }

    /// The items, ascending.
    pub fn iter(&self) -> std::iter::Copied<std::slice::Iter<'_, usize>> {
        self.0.iter().copied()
    }

    /// Number of items.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether the subset is empty; a draw from a plain DPP may be.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether the subset contains `item`.
    #[must_use]
    pub fn contains(&self, item: usize) -> bool {
        self.0.binary_search(&item).is_ok()
    }

    /// The number of items of each part.
    ///
    /// # Panics
    /// If the partition has too few items for the largest index of the subset.
    #[must_use]
    pub fn part_counts(&self, partition: &Partition) -> Vec<usize> {
        let mut counts = vec![0; partition.parts()];
        for item in self {
            counts[partition.part_of(item)] += 1;
        }
        counts
    }
}

impl fmt::Debug for Subset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.iter()).finish()
    }
}

impl fmt::Display for Subset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, item) in self.0.iter().enumerate() {
            if i > 0 {
                f.write_str(" ")?;
            }
            write!(f, "{item}")?;
        }
        Ok(())
    }
}

impl<'a> IntoIterator for &'a Subset {
    type Item = usize;
    type IntoIter = std::iter::Copied<std::slice::Iter<'a, usize>>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl IntoIterator for Subset {
    type Item = usize;
    type IntoIter = std::vec::IntoIter<usize>;

    fn into_iter(self) -> Self::IntoIter {
        Vec::from(self).into_iter()
    }
}

impl From<Subset> for Vec<usize> {
    fn from(subset: Subset) -> Self {
        subset.0.into_vec()
    }
}

impl AsRef<[usize]> for Subset {
    fn as_ref(&self) -> &[usize] {
        &self.0
    }
}
