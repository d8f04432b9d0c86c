//! The sets that a law allows.

use crate::{Partition, Quota};

/// The sets that a law allows, before conditions.
///
/// # Examples
/// ```
/// # fn main() -> Result<(), partition_dpp::Error> {
/// use partition_dpp::{Partition, Quota, Sets};
/// let partition = Partition::from_labels(&["a", "a", "b"])?;
/// let quota = Quota::new(&partition, [1..=2, 0..=1])?;
/// assert_eq!(Sets::Quota(partition, quota).least(), 1);
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub enum Sets {
    /// Sets of any size.
    OfAnySize,
    /// Sets of this many items.
    OfSize(usize),
    /// Sets that meet a quota.
    Quota(Partition, Quota),
}

impl Sets {
    /// The parts and the quota, if any.
    #[must_use]
    pub fn quota(&self) -> Option<(&Partition, &Quota)> {
        if let Self::Quota(partition, quota) = self { Some((partition, quota)) } else { None }
    }

    /// The smallest number of items of a set.
    #[must_use]
    pub fn least(&self) -> usize {
        match self {
            Self::OfAnySize => 0,
            Self::OfSize(k) => *k,
            Self::Quota(_, quota) => quota.total().unwrap_or_else(|| quota.low().iter().sum()),
        }
    }

    /// The largest number of items of a set; `items` if sets may have any size.
    #[must_use]
    pub fn most(&self, items: usize) -> usize {
        match self {
            Self::OfAnySize => items,
            Self::OfSize(k) => *k,
            Self::Quota(_, quota) => quota.total().unwrap_or_else(|| quota.high().iter().sum()),
        }
    }
}
