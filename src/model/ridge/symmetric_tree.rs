//! Elementary symmetric polynomials of weights with some weights left out, and draws in proportion to products.

use std::collections::HashMap;

use rand::{Rng, RngExt};

use crate::{linalg::log_sum, parallel::map_ordered};

/// The number of weights in a leaf.
const LEAF: usize = 32;

/// A binary tree with ln e_0 … ln e_h of the weights below every node, for h up to `high`.
///
/// ```text
/// e_r(d) = Σ_{|F| = r} Π_{i∈F} d_i,   e_r(d ∪ d') = Σ_a e_a(d) e_{r−a}(d')
/// ```
///
/// # Cost
/// O(m·high) time and 16m·high/32 bytes for the tree. Leaving out t weights and drawing take O(t·high²·log m).
#[derive(Clone, Debug)]
pub(super) struct SymmetricTree {
    /// ln d_i.
    logs: Vec<f64>,
    high: usize,
    /// The levels from the leaves to the root.
    levels: Vec<Vec<Polynomial>>,
}

/// ln e_0, ln e_1, ….
type Polynomial = Vec<f64>;

/// The nodes of a tree that change if weights are left out.
#[derive(Debug)]
pub(super) struct Without<'t> {
    tree: &'t SymmetricTree,
    /// Positions of the weights left out, ascending.
    left_out: Vec<usize>,
    changed: HashMap<(usize, usize), Polynomial>,
}

impl SymmetricTree {
    pub(super) fn new(logs: Vec<f64>, high: usize) -> Self {
        let leaves = map_ordered(logs.len().div_ceil(LEAF), |leaf| {
            let members = &logs[leaf * LEAF..logs.len().min((leaf + 1) * LEAF)];
            members.iter().fold(vec![0.0], |sums, log| extended(&sums, *log, high))
        });
        // Without weights, only e_0 = 1 is nonzero.
        let mut levels = vec![if leaves.is_empty() { vec![vec![0.0]] } else { leaves }];
        while let Some(below) = levels.last().filter(|level| level.len() > 1) {
            let level = below.chunks(2).map(|pair| match pair {
                [left, right] => product(left, right, high),
                rest => rest[0].clone(),
            });
            levels.push(level.collect());
        }
        Self { logs, high, levels }
    }

    /// The bytes held.
    pub(super) fn bytes(&self) -> u64 {
        let sums = self.levels.iter().flatten().map(Vec::len).sum::<usize>();
        8 * (self.logs.len() + sums) as u64
    }

    /// ln e_r of all weights; −∞ if r exceeds their number.
    pub(super) fn log_sum(&self, r: usize) -> f64 {
        coefficient(&self.levels[self.levels.len() - 1][0], r)
    }

    /// The tree without the weights at these positions.
    pub(super) fn without(&self, mut left_out: Vec<usize>) -> Without<'_> {
        left_out.sort_unstable();
        let mut without = Without { tree: self, left_out, changed: HashMap::new() };
        let mut nodes: Vec<usize> = without.left_out.iter().map(|position| position / LEAF).collect();
        for level in 0..self.levels.len() {
            nodes.dedup();
            for &node in &nodes {
                let sums = if level == 0 {
                    without
                        .members(node)
                        .fold(vec![0.0], |sums, at| extended(&sums, self.logs[at], self.high))
                } else {
                    without.joined(level, node)
                };
                without.changed.insert((level, node), sums);
            }
            nodes.iter_mut().for_each(|node| *node /= 2);
        }
        without
    }

    /// The positions of the `count` largest weights.
    pub(super) fn largest(&self, count: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.logs.len()).collect();
        order.sort_by(|&a, &b| self.logs[b].total_cmp(&self.logs[a]));
        order.truncate(count);
        order
    }
}

impl Without<'_> {
    /// ln e_r.
    pub(super) fn log_sum(&self, r: usize) -> f64 {
        coefficient(self.polynomial(self.tree.levels.len() - 1, 0), r)
    }

    /// Draws r positions with probability in proportion to the product of their weights.
    pub(super) fn draw<R: Rng + ?Sized>(&self, r: usize, rng: &mut R) -> Vec<usize> {
        let mut drawn = Vec::with_capacity(r);
        let mut nodes = vec![(self.tree.levels.len() - 1, 0, r)];
        while let Some((level, node, r)) = nodes.pop() {
            if r == 0 {
                continue;
            }
            if level == 0 {
                self.draw_from_leaf(node, r, rng, &mut drawn);
                continue;
            }
            let (left, right) = (2 * node, 2 * node + 1);
            let of_right = |count: usize| match self.tree.levels[level - 1].get(right) {
                Some(_) => coefficient(self.polynomial(level - 1, right), count),
                None if count == 0 => 0.0,
                None => f64::NEG_INFINITY,
            };
            let logs: Vec<f64> =
                (0..=r).map(|a| coefficient(self.polynomial(level - 1, left), a) + of_right(r - a)).collect();
            let to_left = choose(&logs, rng);
            nodes.push((level - 1, right, r - to_left));
            nodes.push((level - 1, left, to_left));
        }
        drawn
    }

    fn draw_from_leaf<R: Rng + ?Sized>(&self, leaf: usize, r: usize, rng: &mut R, drawn: &mut Vec<usize>) {
        let (members, logs) = (self.members(leaf).collect::<Vec<_>>(), &self.tree.logs);
        // rest[j] holds the sums of the members from j on.
        let mut rest = vec![vec![0.0]];
        for &at in members.iter().rev() {
            rest.push(extended(&rest[rest.len() - 1], logs[at], r));
        }
        rest.reverse();
        let mut left = r;
        for (j, &at) in members.iter().enumerate() {
            if left == 0 {
                return;
            }
            let taken = logs[at] + coefficient(&rest[j + 1], left - 1);
            if choose(&[coefficient(&rest[j + 1], left), taken], rng) == 1 {
                drawn.push(at);
                left -= 1;
            }
        }
    }

    /// The positions of a leaf that are not left out.
    fn members(&self, leaf: usize) -> impl Iterator<Item = usize> {
        let end = self.tree.logs.len().min((leaf + 1) * LEAF);
        (leaf * LEAF..end).filter(|at| self.left_out.binary_search(at).is_err())
    }

    fn joined(&self, level: usize, node: usize) -> Polynomial {
        let left = self.polynomial(level - 1, 2 * node);
        match self.tree.levels[level - 1].get(2 * node + 1) {
            Some(_) => product(left, self.polynomial(level - 1, 2 * node + 1), self.tree.high),
            None => left.clone(),
        }
    }

    fn polynomial(&self, level: usize, node: usize) -> &Polynomial {
        self.changed.get(&(level, node)).unwrap_or(&self.tree.levels[level][node])
    }
}

fn coefficient(sums: &[f64], r: usize) -> f64 {
    sums.get(r).copied().unwrap_or(f64::NEG_INFINITY)
}

/// The sums with one more weight.
fn extended(sums: &[f64], log: f64, high: usize) -> Polynomial {
    let with = |r: usize| {
        let taken = if r == 0 { f64::NEG_INFINITY } else { coefficient(sums, r - 1) + log };
        log_sum(&[coefficient(sums, r), taken])
    };
    (0..=sums.len().min(high)).map(with).collect()
}

fn product(left: &[f64], right: &[f64], high: usize) -> Polynomial {
    let sum = |r: usize| {
        let terms: Vec<f64> = (r.saturating_sub(right.len() - 1)..=r.min(left.len() - 1))
            .map(|a| left[a] + right[r - a])
            .collect();
        log_sum(&terms)
    };
    (0..=(left.len() + right.len() - 2).min(high)).map(sum).collect()
}

/// Draws an index with probability in proportion to e^log.
pub(super) fn choose<R: Rng + ?Sized>(logs: &[f64], rng: &mut R) -> usize {
    let whole = log_sum(logs);
    let mut left = rng.random::<f64>();
    let mut last = 0;
    for (at, log) in logs.iter().enumerate() {
        let probability = (log - whole).exp();
        if probability > 0.0 {
            last = at;
            if left < probability {
                break;
            }
            left -= probability;
        }
    }
    last
}

#[cfg(test)]
mod tests {
    use approx::assert_relative_eq;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    use super::*;

    fn logs(count: usize) -> Vec<f64> {
        (0..count).map(|i| (1.3 * i as f64).sin() * 4.0).collect()
    }

    /// The sums by plain recursion.
    fn sums(logs: impl Iterator<Item = f64>, high: usize) -> Vec<f64> {
        let mut sums = vec![0.0; high + 1];
        sums[0] = 1.0;
        for log in logs {
            (1..=high).rev().for_each(|r| sums[r] += sums[r - 1] * log.exp());
        }
        sums
    }

    #[test]
    fn sums_without_some() {
        for (count, left_out) in [(5, vec![]), (33, vec![32]), (200, vec![3, 199, 64, 65]), (64, vec![0, 63])]
        {
            let logs = logs(count);
            let tree = SymmetricTree::new(logs.clone(), 4);
            let without = tree.without(left_out.clone());
            let kept = (0..count).filter(|at| !left_out.contains(at)).map(|at| logs[at]);
            let (all, some) = (sums(logs.iter().copied(), 4), sums(kept, 4));
            for r in 0..=4 {
                assert_relative_eq!(tree.log_sum(r), all[r].ln(), epsilon = 1e-12);
                assert_relative_eq!(without.log_sum(r), some[r].ln(), epsilon = 1e-12);
            }
        }
        assert!(SymmetricTree::new(vec![0.0; 2], 4).log_sum(3).is_infinite());
    }

    /// Inclusion probabilities of draws are w_i e_{r−1}(others) / e_r.
    #[test]
    fn draws_are_in_proportion_to_products() {
        let (logs, left_out, r, draws) = (logs(70), vec![1, 40], 3, 40_000);
        let tree = SymmetricTree::new(logs.clone(), 3);
        let without = tree.without(left_out.clone());
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let mut seen = vec![0.0; 70];
        for _ in 0..draws {
            let drawn = without.draw(r, &mut rng);
            assert!(drawn.len() == r && drawn.iter().all(|at| !left_out.contains(at)));
            drawn.into_iter().for_each(|at| seen[at] += 1.0);
        }
        for at in (0..70).filter(|at| !left_out.contains(at)) {
            let others = (0..70).filter(|i| *i != at && !left_out.contains(i)).map(|i| logs[i]);
            let p = (logs[at] + sums(others, 2)[2].ln() - without.log_sum(3)).exp();
            let deviation = (seen[at] - p * f64::from(draws)) / (p * (1.0 - p) * f64::from(draws)).sqrt();
            assert!(deviation.abs() < 4.5, "position {at}: {deviation}");
        }
    }
}
