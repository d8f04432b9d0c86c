//! The number of items that a set may have, in every group and in total.

use crate::engine::{Demand, RemainingCounts};

/// Bounds on counts: from `low` to `high` items of every group, and from `least` to `most` in total.
///
/// The ranges are narrowed: every bound is attained by some allowed counts, and a group whose count is determined by
/// the rest has `low` = `high`. Fixed counts and sets of any size are special cases.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) low: Vec<usize>,
    pub(crate) high: Vec<usize>,
    pub(crate) least: usize,
    pub(crate) most: usize,
    /// Whether the upper end of a group is implied by the lower ends of the others.
    open_above: Vec<bool>,
}

impl Counts {
    /// Narrows ranges to the counts that the other ranges and the total leave possible. If they contradict each
    /// other, the upper ends are raised.
    pub(crate) fn new(low: &[usize], high: &[usize], least: usize, most: usize) -> Self {
        let (lows, highs): (usize, usize) = (low.iter().sum(), high.iter().sum());
        let left = |low: usize| most.saturating_sub(lows - low);
        let open_above = low.iter().zip(high).map(|(&low, &high)| high >= left(low)).collect();
        let narrow = |(&low, &high): (&usize, &usize)| {
            let at_least = low.max(least.saturating_sub(highs - high));
            (at_least, high.min(left(low)).max(at_least))
        };
        let (low, high) = low.iter().zip(high).map(narrow).unzip();
        let least = least.max(lows);
        Self { low, high, least, most: most.min(highs).max(least), open_above }
    }

    /// Ranges with this total, or with at most `dims` items if the total is free.
    pub(crate) fn in_ranges(low: &[usize], high: &[usize], total: Option<usize>, dims: usize) -> Self {
        let (least, most) = total.map_or((0, dims), |total| (total, total));
        Self::new(low, high, least, most)
    }

    /// One count for every group.
    pub(crate) fn exactly(counts: &[usize]) -> Self {
        let total = counts.iter().sum();
        Self::new(counts, counts, total, total)
    }

    /// The counts possible if the groups have `members` items and at most `dims` of these are independent; `None` if
    /// no counts are possible.
    pub(crate) fn limited(&self, members: &[usize], dims: usize) -> Option<Self> {
        let high: Vec<usize> =
            self.high.iter().zip(members).map(|(&high, &members)| high.min(members)).collect();
        let (lows, highs): (usize, usize) = (self.low.iter().sum(), high.iter().sum());
        let (least, most) = (self.least.max(lows), self.most.min(dims).min(highs));
        let possible = least <= most && self.low.iter().zip(&high).all(|(low, high)| low <= high);
        possible.then(|| Self::new(&self.low, &high, least, most))
    }

    /// The counts of the items left out, if the groups have `members` items.
    pub(crate) fn left_out(&self, members: &[usize]) -> Self {
        let without =
            |counts: &[usize]| members.iter().zip(counts).map(|(members, count)| members - count).collect();
        let (low, high): (Vec<usize>, Vec<usize>) = (without(&self.high), without(&self.low));
        let total: usize = members.iter().sum();
        Self::new(&low, &high, total - self.most, total - self.least)
    }

    /// Reduces the counts by one item of a group.
    pub(crate) fn take(&mut self, group: usize) {
        let Self { low, high, least, most, .. } = self;
        for count in [&mut low[group], &mut high[group], least, most] {
            *count = count.saturating_sub(1);
        }
    }

    /// Whether every group has only one count.
    pub(crate) fn is_fixed(&self) -> bool {
        self.low == self.high
    }

    /// The counts, if every group has only one possible count.
    pub(crate) fn exact(&self) -> Option<&[usize]> {
        self.is_fixed().then_some(&self.low)
    }

    /// The size of all sets, if all have the same size.
    pub(crate) fn total(&self) -> Option<usize> {
        (self.least == self.most).then_some(self.least)
    }

    /// Whether the upper end of a group is implied by the lower ends of the others, so that it need not be checked.
    pub(crate) fn is_open_above(&self, group: usize) -> bool {
        self.open_above[group]
    }

    /// Whether a set may have these counts.
    pub(crate) fn allow(&self, counts: &[usize]) -> bool {
        let within = |(count, (low, high)): (&usize, (&usize, &usize))| (low..=high).contains(&count);
        counts.iter().zip(self.low.iter().zip(&self.high)).all(within)
            && (self.least..=self.most).contains(&counts.iter().sum())
    }

    /// The number of items that a set with these counts still needs.
    pub(crate) fn missing(&self, counts: &[usize]) -> usize {
        let (missing, committed) = self.commitment(counts);
        missing + self.least.saturating_sub(committed)
    }

    /// The number of items that groups still need, and the total after adding them.
    fn commitment(&self, counts: &[usize]) -> (usize, usize) {
        let missing = self.low.iter().zip(counts).map(|(low, count)| low.saturating_sub(*count)).sum();
        (missing, missing + counts.iter().sum::<usize>())
    }

    /// The demand of a set with these counts for one more item of every group.
    pub(crate) fn demands(&self, counts: &[usize]) -> Vec<Demand> {
        let remaining = self.remaining(counts);
        (0..counts.len()).map(|group| remaining.demand(group)).collect()
    }

    /// The counts that a set with these counts can still add.
    pub(crate) fn remaining(&self, counts: &[usize]) -> RemainingCounts {
        let (_, committed) = self.commitment(counts);
        let left = |ends: &[usize]| {
            ends.iter().zip(counts).map(|(end, count)| end.saturating_sub(*count)).collect::<Vec<_>>()
        };
        RemainingCounts {
            needed: left(&self.low),
            room: left(&self.high),
            least: self.least.saturating_sub(committed),
            most: self.most.saturating_sub(committed),
        }
    }

    /// Whether an allowed set with these counts may lose an item of one group, gain an item of one, or swap two.
    pub(crate) fn allow_move(
        &self,
        counts: &[usize],
        leaving: Option<usize>,
        entering: Option<usize>,
    ) -> bool {
        let lose = |group: usize| counts[group] > self.low[group];
        let gain = |group: usize| counts[group] < self.high[group];
        let total = || counts.iter().sum::<usize>();
        match (leaving, entering) {
            (Some(leaving), Some(entering)) => leaving == entering || lose(leaving) && gain(entering),
            (Some(leaving), None) => lose(leaving) && total() > self.least,
            (None, Some(entering)) => gain(entering) && total() < self.most,
            (None, None) => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_narrow_each_other() {
        let counts = Counts::in_ranges(&[0, 1, 0], &[5, 4, 9], Some(3), 8);
        assert_eq!((&counts.low[..], &counts.high[..]), (&[0, 1, 0][..], &[2, 3, 2][..]));
        assert!((0..3).all(|group| counts.is_open_above(group)));
        let counts = Counts::in_ranges(&[0, 1], &[2, 2], Some(4), 8);
        assert_eq!(counts.exact(), Some(&[2, 2][..]));
        let counts = Counts::in_ranges(&[0, 3], &[9, 4], None, 5);
        assert_eq!((&counts.high[..], counts.total()), (&[2, 4][..], None));
        assert!(counts.is_open_above(0) && !counts.is_open_above(1));
        assert_eq!(Counts::in_ranges(&[1, 2], &[1, 2], None, 9).total(), Some(3));
    }

    #[test]
    fn what_is_left_out_is_counted_from_the_other_end() {
        let counts = Counts::in_ranges(&[0, 1], &[2, 2], Some(3), 8);
        let left_out = counts.left_out(&[4, 5]);
        assert_eq!(
            (&left_out.low[..], &left_out.high[..], left_out.total()),
            (&[2, 3][..], &[3, 4][..], Some(6))
        );
    }

    #[test]
    fn nothing_is_possible_above_the_rank() {
        let counts = Counts::exactly(&[2, 1]);
        assert_eq!(counts.limited(&[3, 3], 3), Some(counts.clone()));
        assert_eq!((counts.limited(&[3, 3], 2), counts.limited(&[1, 3], 3)), (None, None));
    }
}
