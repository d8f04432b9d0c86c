//! An independent sampler: the textbook two phases from a singular value decomposition of the
//! weighted features, with faults that can be planted.

use nalgebra::DMatrix;
use rand::{RngExt, SeedableRng, rngs::StdRng};

/// What to do wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    None,
    /// Picks are weighted as if the part weights were not there.
    UntiltedAcceptance,
    /// A column is dropped after a pick without rotating the picked row out of the rest.
    NoHouseholder,
}

/// k-DPP of weighted rows, rejected until the counts fit.
pub struct Naive {
    /// Left singular vectors, one row of length r per item.
    vectors: Vec<Vec<f64>>,
    /// e[j][c]: elementary symmetric polynomial of degree c of the first j eigenvalues.
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
            vectors: (0..items).map(|i| alive.iter().map(|&j| u[(i, j)]).collect()).collect(),
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

    fn project(&self, chosen: &[usize], rng: &mut StdRng) -> Option<Vec<usize>> {
        let k = chosen.len();
        let mut rows: Vec<f64> = self.vectors.iter().flat_map(|row| chosen.iter().map(|&j| row[j])).collect();
        let mut norms: Vec<f64> = rows.chunks_exact(k).map(|row| row.iter().map(|x| x * x).sum()).collect();
        if self.fault == Fault::UntiltedAcceptance {
            norms.iter_mut().zip(&self.labels).for_each(|(norm, &l)| *norm /= self.weights[l]);
        }
        let (mut set, mut left) = (Vec::new(), self.quota.clone());
        for pick in 0..k {
            let mut at = rng.random::<f64>() * norms.iter().sum::<f64>();
            let item = norms.iter().position(|norm| {
                at -= norm;
                at < 0.0
            })?;
            left[self.labels[item]] = left[self.labels[item]].checked_sub(1)?;
            set.push(item);
            if self.fault == Fault::NoHouseholder {
                for (row, norm) in rows.chunks_exact_mut(k).zip(&mut norms) {
                    row[pick] = 0.0;
                    *norm = row.iter().map(|x| x * x).sum();
                }
                norms[item] = 0.0;
                continue;
            }
            // Project the picked row out of all rows.
            let mut q = rows[item * k..(item + 1) * k].to_vec();
            let norm = q.iter().map(|x| x * x).sum::<f64>().sqrt();
            q.iter_mut().for_each(|x| *x /= norm);
            for (i, (row, norm)) in rows.chunks_exact_mut(k).zip(&mut norms).enumerate() {
                let along: f64 = row.iter().zip(&q).map(|(x, q)| x * q).sum();
                row.iter_mut().zip(&q).for_each(|(x, q)| *x -= along * q);
                *norm = row.iter().map(|x| x * x).sum();
                if self.fault == Fault::UntiltedAcceptance {
                    *norm /= self.weights[self.labels[i]];
                }
            }
            norms[item] = 0.0;
        }
        Some(set)
    }
}
