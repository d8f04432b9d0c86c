//! Enumeration of every law on at most 16 items, from determinants alone.

use std::collections::BTreeMap;

/// The probability of every set.
pub type Law = BTreeMap<Vec<usize>, f64>;

/// Computes det(K_S) for any S, from the features or a dense kernel.
pub struct Determinants {
    rows: Vec<Vec<f64>>,
    dense: bool,
}

impl Determinants {
    pub fn of_features(rows: Vec<Vec<f64>>) -> Self {
        Self { rows, dense: false }
    }

    pub fn of_kernel(rows: Vec<Vec<f64>>) -> Self {
        Self { rows, dense: true }
    }

    pub fn items(&self) -> usize {
        self.rows.len()
    }

    /// Returns det(K_S): the squared volume by Gram–Schmidt for features, or by elimination for a kernel.
    pub fn det(&self, set: &[usize]) -> f64 {
        if self.dense { self.minor(set) } else { self.squared_volume(set) }
    }

    fn squared_volume(&self, set: &[usize]) -> f64 {
        let mut basis: Vec<Vec<f64>> = Vec::new();
        let mut volume = 1.0;
        for &item in set {
            let mut row = self.rows[item].clone();
            let whole = dot(&row, &row);
            for _ in 0..2 {
                for b in &basis {
                    let along = dot(b, &row);
                    row.iter_mut().zip(b).for_each(|(x, b)| *x -= along * b);
                }
            }
            let left = dot(&row, &row);
            if left <= 1e-24 * whole || whole == 0.0 {
                return 0.0;
            }
            volume *= left;
            row.iter_mut().for_each(|x| *x /= left.sqrt());
            basis.push(row);
        }
        volume
    }

    #[expect(clippy::needless_range_loop, reason = "two rows of one matrix")]
    fn minor(&self, set: &[usize]) -> f64 {
        let mut a: Vec<Vec<f64>> =
            set.iter().map(|&i| set.iter().map(|&j| self.rows[i][j]).collect()).collect();
        let mut det = 1.0;
        for p in 0..a.len() {
            let best = (p..a.len()).max_by(|&i, &j| a[i][p].abs().total_cmp(&a[j][p].abs())).unwrap();
            if best != p {
                a.swap(p, best);
                det = -det;
            }
            det *= a[p][p];
            if a[p][p] == 0.0 {
                return 0.0;
            }
            for i in p + 1..a.len() {
                let factor = a[i][p] / a[p][p];
                for j in p..a.len() {
                    a[i][j] -= factor * a[p][j];
                }
            }
        }
        det.max(0.0)
    }

    /// Returns the law over the sets that `allowed` accepts, and ln of its normaliser.
    pub fn law(&self, weight: impl Fn(&[usize]) -> f64, allowed: impl Fn(&[usize]) -> bool) -> (Law, f64) {
        assert!(self.items() <= 16);
        let mut law = Law::new();
        for mask in 0_u32..1 << self.items() {
            let set: Vec<usize> = (0..self.items()).filter(|i| mask >> i & 1 == 1).collect();
            if allowed(&set) {
                let weight = self.det(&set) * weight(&set);
                if weight > 0.0 {
                    law.insert(set, weight);
                }
            }
        }
        let total: f64 = law.values().sum();
        law.values_mut().for_each(|p| *p /= total);
        (law, total.ln())
    }

    pub fn dpp(&self) -> Law {
        self.law(|_| 1.0, |_| true).0
    }

    pub fn k_dpp(&self, k: usize) -> Law {
        self.law(|_| 1.0, |set| set.len() == k).0
    }

    pub fn partition_dpp(&self, labels: &[usize], quota: &[usize]) -> (Law, f64) {
        self.law(|_| 1.0, |set| counts(set, labels, quota.len()) == quota)
    }

    /// Returns the product of one κ_l-DPP per part.
    pub fn independent(&self, labels: &[usize], quota: &[usize]) -> Law {
        let part = |l: usize| -> Law {
            self.law(|_| 1.0, |set| set.len() == quota[l] && set.iter().all(|&i| labels[i] == l)).0
        };
        let mut product = Law::from([(Vec::new(), 1.0)]);
        for l in 0..quota.len() {
            let part = part(l);
            product = product
                .iter()
                .flat_map(|(set, p)| {
                    part.iter().map(move |(more, q)| {
                        let mut joint = [&set[..], more].concat();
                        joint.sort_unstable();
                        (joint, p * q)
                    })
                })
                .collect();
        }
        product
    }
}

/// Returns the number of items of a set in each part.
pub fn counts(set: &[usize], labels: &[usize], parts: usize) -> Vec<usize> {
    let mut counts = vec![0; parts];
    set.iter().for_each(|&i| counts[labels[i]] += 1);
    counts
}

/// Returns Pr(i ∈ S) for every item.
pub fn marginals(law: &Law, items: usize) -> Vec<f64> {
    let mut out = vec![0.0; items];
    for (set, p) in law {
        set.iter().for_each(|&i| out[i] += p);
    }
    out
}

pub fn dot(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(x, y)| x * y).sum()
}
