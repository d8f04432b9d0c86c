//! Some of the items as a new ground set.

use super::{CountRange, Features, Partition, Quota, values::with_rows};
use crate::{Error, Result};

impl Features {
    /// The rows of these items, copied in this order, with their weights.
    ///
    /// ```
    /// # fn main() -> Result<(), partition_dpp::Error> {
    /// use partition_dpp::Features;
    /// let features = Features::from_rows(3, 2, vec![1.0_f32, 0.0, 0.0, 1.0, 2.0, 3.0])?;
    /// assert_eq!(features.restricted_to(&[2, 0])?.row(0), [2.0, 3.0]);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// [`Error::Empty`] if there are no items; [`Error::ItemOutOfRange`].
    pub fn restricted_to(&self, items: &[usize]) -> Result<Features> {
        check(items, self.items())?;
        let rows: Result<Features> = with_rows!(self.values(), rows => {
            let values: Vec<_> = items.iter().flat_map(|&item| rows.row(item)).copied().collect();
            Features::from_rows(items.len(), self.dims(), values)
        });
        rows?.with_residual(self.residual()).weighted_as(self, items.iter().copied())
    }
}

impl Partition {
    /// The parts of these items, in this order. The part names stay the same, and some parts may be empty.
    ///
    /// # Errors
    /// [`Error::Empty`] if there are no items; [`Error::ItemOutOfRange`].
    pub fn restricted_to(&self, items: &[usize]) -> Result<Self> {
        check(items, self.items())?;
        let parts = items.iter().map(|&item| self.part_of_items()[item]).collect();
        Ok(Self::group(self.shared_names(), parts))
    }
}

impl Quota {
    /// The same ranges and total for other items in parts with the same names.
    ///
    /// Ranges end at the sizes of the new parts.
    ///
    /// # Errors
    /// - [`Error::QuotaLength`], [`Error::QuotaOfOtherParts`] if the names differ;
    /// - [`Error::QuotaAbovePartSize`], [`Error::TotalOutsideRanges`] if there are too few items;
    /// - [`Error::Nothing`] if every part that may have items is empty.
    pub fn fitted_to(&self, partition: &Partition) -> Result<Self> {
        self.check(partition)?;
        let ranges = self.low().iter().zip(self.high()).map(|(&low, &high)| CountRange::from(low..=high));
        let fitted = Self::new(partition, ranges)?;
        match self.total() {
            Some(total) => fitted.with_total(total),
            None => Ok(fitted),
        }
    }
}

fn check(chosen: &[usize], items: usize) -> Result<()> {
    if chosen.is_empty() {
        return Err(Error::Empty { what: "the list of items" });
    }
    let beyond = chosen.iter().find(|&&item| item >= items);
    beyond.map_or(Ok(()), |&item| Err(Error::ItemOutOfRange { item, items }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn some_items_keep_their_rows_weights_and_parts() {
        let features = Features::from_rows(4, 2, vec![1.0_f32, 0.0, 0.0, 1.0, 2.0, 3.0, 4.0, 5.0]).unwrap();
        let features = features.with_scores(&[0.0, 1.0, 2.0, 3.0], 0.5).unwrap();
        let some = features.restricted_to(&[3, 1]).unwrap();
        assert_eq!((some.items(), some.row(0), some.row(1)), (2, vec![4.0, 5.0], vec![0.0, 1.0]));
        assert_eq!(some.log_weights(), [1.5, 0.5]);
        let partition = Partition::from_labels(&["a", "b", "a", "c"]).unwrap();
        let own = partition.restricted_to(&[3, 1]).unwrap();
        assert_eq!((own.names(), own.size(0), own.members(1)), (partition.names(), 0, &[1][..]));
        let quota = Quota::new(&partition, [0..=2, 0..=1, 1..=1]).unwrap().with_total(2).unwrap();
        let fitted = quota.fitted_to(&own).unwrap();
        assert_eq!((fitted.high(), fitted.total()), (&[0, 1, 1][..], Some(2)));
        let short = partition.restricted_to(&[0, 1]).unwrap();
        assert!(matches!(quota.fitted_to(&short), Err(Error::QuotaAbovePartSize { size: 0, .. })));
        assert!(matches!(features.restricted_to(&[4]), Err(Error::ItemOutOfRange { item: 4, items: 4 })));
        assert!(matches!(partition.restricted_to(&[]), Err(Error::Empty { .. })));
    }
}
