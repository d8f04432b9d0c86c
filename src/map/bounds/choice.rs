//! Which vectors x the relaxations range over, and the bound that a gradient gives.

use super::Problem;
use crate::map::Size;

/// 0 ≤ x ≤ 1 with Σ x_i = κ_l over every group, or any sum where the size is free.
#[derive(Clone, Debug)]
pub(super) struct Choices {
    /// The items of every group.
    pub(super) groups: Vec<Vec<usize>>,
    /// κ_l; `None` for any.
    pub(super) counts: Option<Vec<usize>>,
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
        let counts = (problem.size == Size::Fixed).then(|| problem.counts.clone());
        Self { groups, counts }
    }

    /// The largest of a linear function: the κ_l largest entries of every group, or all positive ones.
    pub(super) fn best(&self, gradient: &[f64]) -> Best {
        let mut best =
            Best { value: 0.0, regret: vec![0.0; gradient.len()], taken: vec![false; gradient.len()] };
        for (l, items) in self.groups.iter().enumerate() {
            let mut order = items.clone();
            order.sort_by(|&i, &j| gradient[j].total_cmp(&gradient[i]).then(i.cmp(&j)));
            let (taken, last, next) = match &self.counts {
                Some(counts) => {
                    let last = counts[l].checked_sub(1).map_or(f64::INFINITY, |at| gradient[order[at]]);
                    (counts[l], last, order.get(counts[l]).map_or(f64::NEG_INFINITY, |&item| gradient[item]))
                }
                None => (order.partition_point(|&item| gradient[item] > 0.0), 0.0, 0.0),
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

    /// A point well inside: κ_l / m_l, or ½.
    pub(super) fn centre(&self, len: usize) -> Vec<f64> {
        let mut x = vec![0.5; len];
        for (items, &count) in self.groups.iter().zip(self.counts.iter().flatten()) {
            items.iter().for_each(|&item| x[item] = count as f64 / items.len() as f64);
        }
        x
    }
}
