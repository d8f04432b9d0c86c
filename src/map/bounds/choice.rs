//! Which vectors x the relaxations range over, and the largest of a linear function over them.

use super::Problem;
use crate::map::Size;

/// 0 ≤ x ≤ 1 with Σ x_i = κ_l over every group, or where the size is free Σ x_i at most the rank.
#[derive(Clone, Debug)]
pub(super) struct Choices {
    /// The items of every group.
    pub(super) groups: Vec<Vec<usize>>,
    /// κ_l; `None` where the size is free.
    pub(super) counts: Option<Vec<usize>>,
    /// The largest Σ x_i where the size is free, if it is less than the number of items: sets of more items
    /// than the rank have determinant 0.
    pub(super) most: Option<usize>,
}

/// What a linear function is worth at best, and what it costs to choose otherwise.
#[derive(Clone, Debug)]
pub(super) struct Best {
    /// max g·x.
    pub(super) value: f64,
    /// By how much the maximum falls if an item is forced in (or, if it is in, out): nothing for ties.
    pub(super) regret: Vec<f64>,
    /// Whether an item is in at the maximum.
    pub(super) taken: Vec<bool>,
}

impl Choices {
    pub(super) fn of(problem: &Problem) -> Self {
        let mut groups = vec![Vec::new(); problem.counts.len()];
        (0..problem.len()).for_each(|item| groups[problem.group(item)].push(item));
        let free = problem.size == Size::Free;
        let counts = (!free).then(|| problem.counts.clone());
        let most = (free && problem.dims() < problem.len()).then_some(problem.dims());
        Self { groups, counts, most }
    }

    /// The largest of a linear function: the κ_l largest entries of every group, or the positive ones.
    pub(super) fn best(&self, gradient: &[f64]) -> Best {
        let mut best =
            Best { value: 0.0, regret: vec![0.0; gradient.len()], taken: vec![false; gradient.len()] };
        for (l, items) in self.groups.iter().enumerate() {
            let mut order = items.clone();
            order.sort_by(|&i, &j| gradient[j].total_cmp(&gradient[i]).then(i.cmp(&j)));
            // An item outside would have to beat the last one inside, and that the first one outside.
            let at = |rank: usize, otherwise: f64| order.get(rank).map_or(otherwise, |&item| gradient[item]);
            let (taken, last, next) = if let Some(counts) = &self.counts {
                let last = counts[l].checked_sub(1).map_or(f64::INFINITY, |rank| at(rank, f64::INFINITY));
                (counts[l], last, at(counts[l], f64::NEG_INFINITY))
            } else {
                let most = self.most.unwrap_or(order.len());
                let positive = order.partition_point(|&item| gradient[item] > 0.0);
                let last = most.checked_sub(1).map_or(f64::INFINITY, |rank| at(rank, 0.0).max(0.0));
                (positive.min(most), last, at(most, 0.0).max(0.0))
            };
            for (rank, &item) in order.iter().enumerate() {
                best.taken[item] = rank < taken;
                if rank < taken {
                    best.value += gradient[item];
                    best.regret[item] = gradient[item] - next;
                } else {
                    best.regret[item] = last - gradient[item];
                }
            }
        }
        best
    }

    /// A point well inside: κ_l / m_l, or half of what is allowed.
    pub(super) fn centre(&self, len: usize) -> Vec<f64> {
        let mut x = vec![0.5 * self.most.unwrap_or(len) as f64 / len as f64; len];
        for (items, &count) in self.groups.iter().zip(self.counts.iter().flatten()) {
            items.iter().for_each(|&item| x[item] = count as f64 / items.len() as f64);
        }
        x
    }
}
