//! How many items of every group, and in all.

/// From `low` to `high` items of every group, and from `least` to `most` in all.
///
/// Every bound is reached by some counts that meet all others: a part whose count is fixed by the rest has `low` =
/// `high`. Fixed counts and sets of any size are special cases.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) low: Vec<usize>,
    pub(crate) high: Vec<usize>,
    pub(crate) least: usize,
    pub(crate) most: usize,
}

/// What one more item of a group would be to a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Demand {
    /// Too many, or one that others need the room for.
    Full,
    /// Welcome where it adds something.
    Optional,
    /// One of those that are missing.
    Needed,
}

impl Counts {
    /// So many of every group.
    pub(crate) fn exactly(counts: Vec<usize>) -> Self {
        let total = counts.iter().sum();
        Self { low: counts.clone(), high: counts, least: total, most: total }
    }

    /// The ranges that remain of some once they have narrowed each other; `None` where they contradict each other.
    fn within(low: &[usize], high: &[usize], least: usize, most: usize) -> Option<Self> {
        let (lows, highs): (usize, usize) = (low.iter().sum(), high.iter().sum());
        let (least, most) = (least.max(lows), most.min(highs));
        if least > most || low.iter().zip(high).any(|(low, high)| low > high) {
            return None;
        }
        let narrowed = |(&low, &high): (&usize, &usize)| {
            (low.max(least.saturating_sub(highs - high)), high.min(most - (lows - low)))
        };
        let (low, high) = low.iter().zip(high).map(narrowed).unzip();
        Some(Self { low, high, least, most })
    }

    /// What is possible with so many items in every group, of which so many can be independent.
    pub(crate) fn limited(&self, members: &[usize], dims: usize) -> Option<Self> {
        let high: Vec<usize> =
            self.high.iter().zip(members).map(|(&high, &members)| high.min(members)).collect();
        Self::within(&self.low, &high, self.least, self.most.min(dims))
    }

    /// The counts of what is left out of so many items.
    pub(crate) fn left_out(&self, members: &[usize]) -> Self {
        let without =
            |counts: &[usize]| members.iter().zip(counts).map(|(members, count)| members - count).collect();
        let total: usize = members.iter().sum();
        Self {
            low: without(&self.high),
            high: without(&self.low),
            least: total - self.most,
            most: total - self.least,
        }
    }

    /// What is left to choose beside one more item of a group.
    pub(crate) fn take(&mut self, group: usize) {
        let Self { low, high, least, most } = self;
        for count in [&mut low[group], &mut high[group], least, most] {
            *count = count.saturating_sub(1);
        }
    }

    /// Whether every group has only one count.
    pub(crate) fn is_fixed(&self) -> bool {
        self.low == self.high
    }

    /// Whether sets have all the same number of items.
    pub(crate) fn is_of_one_size(&self) -> bool {
        self.least == self.most
    }

    /// Whether a set with these counts is one of those to choose from.
    pub(crate) fn allow(&self, counts: &[usize]) -> bool {
        let within = |(count, (low, high)): (&usize, (&usize, &usize))| (low..=high).contains(&count);
        counts.iter().zip(self.low.iter().zip(&self.high)).all(within)
            && (self.least..=self.most).contains(&counts.iter().sum())
    }

    /// How many items a set with these counts has less than any of those to choose from.
    pub(crate) fn missing(&self, counts: &[usize]) -> usize {
        let (missing, committed) = self.commitment(counts);
        missing + self.least.saturating_sub(committed)
    }

    /// How many items are missing of groups, and how many there are once they are there.
    fn commitment(&self, counts: &[usize]) -> (usize, usize) {
        let missing = self.low.iter().zip(counts).map(|(low, count)| low.saturating_sub(*count)).sum();
        (missing, missing + counts.iter().sum::<usize>())
    }

    /// What one more item of every group would be to a set with these counts.
    pub(crate) fn demands(&self, counts: &[usize]) -> Vec<Demand> {
        let (_, committed) = self.commitment(counts);
        let demand = |group: usize| {
            if counts[group] < self.low[group] {
                Demand::Needed
            } else if counts[group] >= self.high[group] || committed >= self.most {
                Demand::Full
            } else if committed < self.least {
                Demand::Needed
            } else {
                Demand::Optional
            }
        };
        (0..counts.len()).map(demand).collect()
    }

    /// Whether an allowed set with these counts may exchange an item of one group for one of another; just lose one, or
    /// just gain one.
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
