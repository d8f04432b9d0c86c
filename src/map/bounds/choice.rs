//! The feasible set of the relaxations, and the maximum of a linear function over it.

use super::Subproblem;
use crate::{engine::Demand, map::Place, model::Counts};

/// 0 ≤ x ≤ 1, with Σ x_i in a range over every group and over all items.
#[derive(Clone, Debug)]
pub(super) struct Choices {
    /// The items of every group.
    pub(super) groups: Vec<Vec<usize>>,
    /// The counts, limited by the numbers of items and the rank.
    pub(super) counts: Counts,
}

/// The maximum of a linear function, and the cost of other choices.
#[derive(Clone, Debug)]
pub(super) struct LinearMaximum {
    /// max g·x.
    pub(super) value: f64,
    /// The decrease of the maximum if an item is forced in (or, if it is in, out); 0 for ties.
    pub(super) regret: Vec<f64>,
    /// Whether an item is in at the maximum.
    pub(super) taken: Vec<bool>,
}

/// The items that are in at the maximum of a linear function, group by group.
pub(super) struct Ends {
    /// The items of every group by descending gradient.
    orders: Vec<Vec<usize>>,
    /// The number of items of each group that are in.
    counts: Vec<usize>,
    /// The gradient of the item that one forced in replaces; ∞ if it cannot be in.
    pub(super) last: Vec<f64>,
    /// The gradient of the item that replaces one forced out; −∞ if it cannot be out.
    next: Vec<f64>,
}

impl Ends {
    /// The items that are in, and the first item of every group that is out.
    pub(super) fn with_next(&self) -> Vec<usize> {
        let of_group = |(order, &count): (&Vec<usize>, &usize)| {
            order.iter().take(count + 1).copied().collect::<Vec<_>>()
        };
        self.orders.iter().zip(&self.counts).flat_map(of_group).collect()
    }
}

/// The items with the largest x: as many of every group as are needed, and others above ½.
pub(crate) fn with_largest(places: &[Place], counts: &Counts, x: &[f64]) -> Vec<Place> {
    let above: Vec<f64> = x.iter().map(|x| x - 0.5).collect();
    let taken = Choices::among(places, counts.clone()).best(&above).taken;
    places.iter().zip(taken).filter(|(_, taken)| *taken).map(|(&place, _)| place).collect()
}

impl Choices {
    /// The choices of a feasible subproblem.
    pub(super) fn of(problem: &Subproblem) -> Self {
        let counts = problem.counts.limited(&problem.members(), problem.dims);
        Self::among(&problem.places, counts.unwrap_or_else(|| problem.counts.clone()))
    }

    /// The choices among these items, with these counts for every group.
    pub(super) fn among(places: &[Place], counts: Counts) -> Self {
        let mut groups = vec![Vec::new(); counts.low.len()];
        places.iter().enumerate().for_each(|(item, place)| groups[place.group].push(item));
        Self { groups, counts }
    }

    /// The maximum of a linear function.
    ///
    /// It takes the largest entries that every group needs, then the largest of any group while they are positive or
    /// the total needs them (greedy, exact for nested sums).
    pub(super) fn best(&self, gradient: &[f64]) -> LinearMaximum {
        let Ends { orders, counts, last, next } = self.ends(gradient);
        let mut best = LinearMaximum {
            value: 0.0,
            regret: vec![0.0; gradient.len()],
            taken: vec![false; gradient.len()],
        };
        for (l, order) in orders.iter().enumerate() {
            for (rank, &item) in order.iter().enumerate() {
                best.taken[item] = rank < counts[l];
                if best.taken[item] {
                    best.value += gradient[item];
                    best.regret[item] = gradient[item] - next[l];
                } else {
                    best.regret[item] = last[l] - gradient[item];
                }
            }
        }
        best
    }

    pub(super) fn ends(&self, gradient: &[f64]) -> Ends {
        let descending = |items: &Vec<usize>| {
            let mut order = items.clone();
            order.sort_by(|&i, &j| gradient[j].total_cmp(&gradient[i]).then(i.cmp(&j)));
            order
        };
        let orders: Vec<Vec<usize>> = self.groups.iter().map(descending).collect();
        let value = |l: usize, rank: usize| orders[l].get(rank).map(|&item| gradient[item]);
        let counts = self.taken(&value);
        // One more or one fewer item in a group changes another group, or the total.
        let allowed = &self.counts;
        let total: usize = counts.iter().sum();
        let all = 0..counts.len();
        let last_of =
            |l: usize| counts[l].checked_sub(1).and_then(|rank| value(l, rank)).unwrap_or(f64::INFINITY);
        let next_of = |l: usize| value(l, counts[l]).unwrap_or(f64::NEG_INFINITY);
        let least = if total < allowed.most { 0.0 } else { f64::INFINITY };
        let least = all.clone().filter(|&l| counts[l] > allowed.low[l]).map(last_of).fold(least, f64::min);
        let greatest = if total > allowed.least { 0.0 } else { f64::NEG_INFINITY };
        let greatest =
            all.clone().filter(|&l| counts[l] < allowed.high[l]).map(next_of).fold(greatest, f64::max);
        let last = |l: usize| {
            let own = last_of(l);
            if counts[l] < allowed.high[l] { own.min(least) } else { own }
        };
        let next = |l: usize| {
            let own = next_of(l);
            if counts[l] > allowed.low[l] { own.max(greatest) } else { own }
        };
        let (last, next) = all.map(|l| (last(l), next(l))).unzip();
        Ends { orders, counts, last, next }
    }

    /// The number of entries of every group that are in at the maximum.
    ///
    /// `value` returns a group's entries in descending order.
    fn taken(&self, value: &impl Fn(usize, usize) -> Option<f64>) -> Vec<usize> {
        let mut counts = self.counts.low.clone();
        if self.counts.is_fixed() {
            return counts;
        }
        loop {
            let demands = self.counts.demands(&counts);
            let mut best: Option<(usize, f64)> = None;
            for (l, &demand) in demands.iter().enumerate() {
                let Some(value) = value(l, counts[l]) else { continue };
                let wanted = demand == Demand::Needed || demand == Demand::Optional && value > 0.0;
                if wanted && best.is_none_or(|(_, known)| value > known) {
                    best = Some((l, value));
                }
            }
            let Some((l, _)) = best else { return counts };
            counts[l] += 1;
        }
    }

    /// Sums of the groups well inside the ranges: halfway between the least and the greatest total.
    pub(super) fn centre_sums(&self) -> Vec<f64> {
        let Counts { low, high, least, most, .. } = &self.counts;
        let (lows, highs): (usize, usize) = (low.iter().sum(), high.iter().sum());
        let aim = 0.5 * (least + most) as f64;
        let share = if highs > lows { (aim - lows as f64) / (highs - lows) as f64 } else { 0.0 };
        low.iter().zip(high).map(|(&low, &high)| low as f64 + share * (high - low) as f64).collect()
    }

    /// The point with these sums whose entries are equal in every group.
    pub(super) fn centre(&self, len: usize) -> Vec<f64> {
        let mut x = vec![0.0; len];
        for (items, sum) in self.groups.iter().zip(self.centre_sums()) {
            items.iter().for_each(|&item| x[item] = sum / items.len() as f64);
        }
        x
    }

    /// Sums of the groups near the given ones, at some distance from every bound.
    pub(super) fn sums_inside(&self, sums: &[f64]) -> Vec<f64> {
        /// The distance from a bound as a fraction of the way to the centre.
        const SHARE: f64 = 0.2;
        let Counts { low, high, least, most, .. } = &self.counts;
        let centre = self.centre_sums();
        let inside = |bound: usize, centre: f64| bound as f64 + SHARE * (centre - bound as f64);
        // Sums of 0 and of all items already follow from the bounds of each x.
        let floor = |l: usize| if low[l] == 0 { 0.0 } else { inside(low[l], centre[l]) };
        let ceiling = |l: usize| {
            if high[l] == self.groups[l].len() { high[l] as f64 } else { inside(high[l], centre[l]) }
        };
        let floors: Vec<f64> = (0..sums.len()).map(floor).collect();
        let ceilings: Vec<f64> = (0..sums.len()).map(ceiling).collect();
        let mut moved: Vec<f64> = (0..sums.len())
            .map(|l| if low[l] == high[l] { low[l] as f64 } else { sums[l].max(floors[l]).min(ceilings[l]) })
            .collect();
        let aim: f64 = centre.iter().sum();
        let total: f64 = moved.iter().sum();
        let (from, to) = (inside(*least, aim), inside(*most, aim));
        let binds = (*least > low.iter().sum(), *most < high.iter().sum());
        let (ends, target) = match binds {
            (_, true) if total > to => (floors, to),
            (true, _) if total < from => (ceilings, from),
            _ => return moved,
        };
        let end: f64 = ends.iter().sum();
        let share = (target - end) / (total - end);
        moved.iter_mut().zip(&ends).for_each(|(sum, end)| *sum = end + share * (*sum - end));
        moved
    }

    /// The choices of the items left out.
    pub(super) fn complement(&self) -> Self {
        let members: Vec<usize> = self.groups.iter().map(Vec::len).collect();
        Self { groups: self.groups.clone(), counts: self.counts.left_out(&members) }
    }
}
