//! An independent sampler with faults that can be planted.
//!
//! It runs the textbook's two phases on a singular value decomposition of the weighted features.

use nalgebra::DMatrix;
use rand::{RngExt, SeedableRng, rngs::StdRng};

/// A fault to plant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    None,
    /// Picks are weighted without the part weights.
    UntiltedAcceptance,
    /// A column is dropped after a pick without rotating the picked row out of the rest.
    NoHouseholder,
}

/// A sampler from the k-DPP of weighted rows that rejects sets until the counts match the quota.
pub struct Naive {
    /// Left singular vectors, each with one entry per item.
    vectors: Vec<Vec<f64>>,
    /// e[j][c]: the elementary symmetric polynomial of degree c in the first j eigenvalues.
    elementary: Vec<Vec<f64>>,
    values: Vec<f64>,
    weights: Vec<f64>,
    labels: Vec<usize>,
    quota: Vec<usize>,
    fault: Fault,
}

impl Naive {
    pub fn new(
        rows: &[f64],
        items: usize,
        weights: &[f64],
        labels: &[usize],
        quota: &[usize],
        fault: Fault,
    ) -> Self {
        let dims = rows.len() / items;
        let tilted = DMatrix::from_fn(items, dims, |i, j| rows[i * dims + j] * weights[labels[i]].sqrt());
        let svd = tilted.svd(true, false);
        let (u, s) = (svd.u.unwrap(), svd.singular_values);
        let alive: Vec<usize> = (0..s.len()).filter(|&j| s[j] > 1e-12 * s[0]).collect();
        let values: Vec<f64> = alive.iter().map(|&j| (s[j] / s[0]).powi(2)).collect();
        let k: usize = quota.iter().sum();
        let mut elementary = vec![vec![0.0; k + 1]; values.len() + 1];
        elementary[0][0] = 1.0;
        for j in 0..values.len() {
            elementary[j + 1][0] = 1.0;
            for c in 1..=k {
                elementary[j + 1][c] = elementary[j][c] + values[j] * elementary[j][c - 1];
            }
        }
        Self {
            vectors: alive.iter().map(|&j| (0..items).map(|i| u[(i, j)]).collect()).collect(),
            elementary,
            values,
            weights: weights.to_vec(),
            labels: labels.to_vec(),
            quota: quota.to_vec(),
            fault,
        }
    }

    /// Draws with seeds `seed + draw`.
    pub fn sample_many(&self, count: u64, seed: u64) -> Vec<Vec<usize>> {
        (0..count).map(|draw| self.sample(&mut StdRng::seed_from_u64(seed + draw))).collect()
    }

    pub fn sample(&self, rng: &mut StdRng) -> Vec<usize> {
        loop {
            let chosen = self.eigenvectors(rng);
            if let Some(mut set) = self.project(&chosen, rng) {
                set.sort_unstable();
                return set;
            }
        }
    }

    fn eigenvectors(&self, rng: &mut StdRng) -> Vec<usize> {
        let mut left: usize = self.quota.iter().sum();
        let mut chosen = Vec::new();
        for j in (0..self.values.len()).rev() {
            if left == 0 {
                break;
            }
            let take = self.values[j] * self.elementary[j][left - 1] / self.elementary[j + 1][left];
            if rng.random::<f64>() < take {
                chosen.push(j);
                left -= 1;
            }
        }
        chosen
    }

    /// Picks items in proportion to their remaining squared norms, or returns `None` if a part overflows.
    fn project(&self, chosen: &[usize], rng: &mut StdRng) -> Option<Vec<usize>> {
        let columns: Vec<&[f64]> = chosen.iter().map(|&j| &self.vectors[j][..]).collect();
        let mut norms = vec![0.0; self.labels.len()];
        columns.iter().for_each(|column| subtract_squares(&mut norms, column, -1.0));
        let (mut set, mut left) = (Vec::new(), self.quota.clone());
        let mut directions: Vec<Vec<f64>> = Vec::new();
        let mut along = vec![0.0; norms.len()];
        for pick in 0..columns.len() {
            let item = self.pick(&norms, rng)?;
            left[self.labels[item]] = left[self.labels[item]].checked_sub(1)?;
            set.push(item);
            if self.fault == Fault::NoHouseholder {
                subtract_squares(&mut norms, columns[pick], 1.0);
            } else {
                let mut q: Vec<f64> = columns.iter().map(|column| column[item]).collect();
                for direction in directions.iter().chain(&directions) {
                    let along: f64 = q.iter().zip(direction).map(|(x, d)| x * d).sum();
                    q.iter_mut().zip(direction).for_each(|(x, d)| *x -= along * d);
                }
                let length = q.iter().map(|x| x * x).sum::<f64>().sqrt();
                q.iter_mut().for_each(|x| *x /= length);
                along.fill(0.0);
                for (column, q) in columns.iter().zip(&q) {
                    along.iter_mut().zip(*column).for_each(|(a, x)| *a += q * x);
                }
                subtract_squares(&mut norms, &along, 1.0);
                directions.push(q);
            }
            norms[item] = 0.0;
        }
        Some(set)
    }

    fn pick(&self, norms: &[f64], rng: &mut StdRng) -> Option<usize> {
        let weight = |item: usize| match self.fault {
            Fault::UntiltedAcceptance => norms[item] / self.weights[self.labels[item]],
            _ => norms[item],
        };
        let mut at = rng.random::<f64>() * (0..norms.len()).map(weight).sum::<f64>();
        (0..norms.len()).find(|&item| {
            at -= weight(item);
            at < 0.0
        })
    }
}

fn subtract_squares(norms: &mut [f64], column: &[f64], factor: f64) {
    norms.iter_mut().zip(column).for_each(|(norm, x)| *norm = (*norm - factor * x * x).max(0.0));
}
